"""The notebooks of examples/ as pages: text, code, and the outputs that are stored in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def pages(root: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((root / "examples").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        parts = [part for cell in cells for part in _cell(cell)]
        note = f"This page is the notebook {{download}}`{path.name} <../../../examples/{path.name}>`."
        yield f"notebooks/{path.stem}.md", "\n\n".join([parts[0].split("\n\n")[0], note, *_rest(parts)]) + "\n"


def _rest(parts: list[str]) -> list[str]:
    """All but the title, which is the first line of the first cell."""
    return [*parts[0].split("\n\n")[1:], *parts[1:]]


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"]).strip()
    if cell["cell_type"] == "markdown":
        yield source
    elif cell["cell_type"] == "code":
        yield _fenced("python", source)
        for output in cell.get("outputs", []):
            yield from _output(output)


def _output(output: dict[str, Any]) -> Iterator[str]:
    if output["output_type"] == "stream":
        yield _fenced("none", "".join(output["text"]).rstrip())
    data = output.get("data", {})
    if "text/html" in data:  # before pictures, as notebooks do: a run is a page to step through, and the picture a part
        yield _raw("".join(data["text/html"]).replace("<iframe ", '<iframe loading="lazy" ', 1))
    elif "image/svg+xml" in data:
        yield _raw("".join(data["image/svg+xml"]))
    elif "image/png" in data:
        yield _raw(f'<img alt="output" src="data:image/png;base64,{"".join(data["image/png"]).strip()}">')
    elif "text/plain" in data:
        yield _fenced("none", "".join(data["text/plain"]).rstrip())


def _fenced(language: str, text: str) -> str:
    return f"````{language}\n{text}\n````"


def _raw(html: str) -> str:
    return f'````{{raw}} html\n<div class="notebook-output">{html}</div>\n````'
