"""The notebooks of examples/ as pages: text, code, and the outputs that are stored in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def pages(root: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((root / "examples").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "\n\n".join(part for cell in cells for part in _cell(cell))
        title, _, rest = text.partition("\n\n")
        note = f"This page is the notebook {{download}}`{path.name} <../../../examples/{path.name}>`."
        yield f"notebooks/{path.stem}.md", f"{title}\n\n{note}\n\n{rest}\n"


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"]).strip()
    if cell["cell_type"] == "markdown":
        yield source.replace("](../docs/", "](../../")
    elif cell["cell_type"] == "code":
        yield f"````python\n{source}\n````"
        for output in cell.get("outputs", []):
            yield _output(output.get("data", {"text/plain": output.get("text", "")}))


def _output(data: dict[str, Any]) -> str:
    """The first form that there is: pages before pictures, as in notebooks."""
    forms = ("text/html", "image/svg+xml", "image/png", "text/plain")
    form, text = next((form, "".join(data[form])) for form in forms if form in data)
    if form == "text/plain":
        return f"````none\n{text.rstrip()}\n````"
    if form == "image/png":
        text = f'<img alt="output" src="data:image/png;base64,{text.strip()}">'
    text = text.replace("<iframe ", '<iframe loading="lazy" ', 1)
    return f'````{{raw}} html\n<div class="notebook-output">{text}</div>\n````'
