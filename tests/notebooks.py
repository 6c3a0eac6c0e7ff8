"""The notebooks in examples/, run from top to bottom. `python -m tests.notebooks` runs all and keeps what they show."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))

# What is the same on every machine, but for the last digits of what was added up in floating point.
PASSING = re.compile(r"\b[0-9a-f]{64}\b")
NUMBER = re.compile(r"[-+]?\d+\.\d+")


def executed(path: Path, patience: float | None = None, kernel: Any = None) -> Any:
    """A notebook as it is after a fresh run, without times, versions and what only repeats a picture as text.

    In a kernel that is there already its names are forgotten first; the modules that it has loaded stay.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    about = dict(notebook.metadata)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    client = NotebookClient(
        notebook,
        km=kernel,
        timeout=None if patience is None else int(patience),
        kernel_name="python3",
        resources={"metadata": {"path": EXAMPLES}},
        record_timing=False,
        coalesce_streams=True,  # however they arrive
    )
    client.execute()
    if kernel is not None:
        client.kc.stop_channels()
    del notebook.cells[0]
    notebook.metadata = about
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if {"text/html", "image/svg+xml"} & set(output.get("data", {})):
                output["data"].pop("text/plain", None)
    return notebook


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(notebook: Any) -> list[tuple[str, list[float]]]:
    """What every cell shows, to compare: text, and apart from it the numbers with a decimal point.

    Pages in frames are deflated: only that they are there is kept. Of pictures it is what is written in them.
    """
    return [_comparable("".join(_texts(cell))) for cell in code_cells(notebook)]


def _texts(cell: Any) -> list[str]:
    return [
        f"<{kind}>{_joined(text)}"
        for output in cell.outputs
        for kind, text in [("stream", output.get("text", "")), *sorted(output.get("data", {}).items())]
    ]


def _joined(text: Any) -> str:
    return text if isinstance(text, str) else "".join(text)


def _comparable(text: str) -> tuple[str, list[float]]:
    text = re.sub(r'srcdoc="[^"]*"', "srcdoc", text)
    text = re.sub(r"<svg.*?</svg>", lambda picture: " ".join(sorted(_words(picture[0]))), text, flags=re.DOTALL)
    text = PASSING.sub("sha256", text)
    return NUMBER.sub("number", text), [float(number) for number in NUMBER.findall(text)]


def _words(picture: str) -> list[str]:
    return re.findall(r">([^<>]*\w[^<>]*)<", re.sub(r"<style.*?</style>", "", picture, flags=re.DOTALL))


def main() -> None:
    import nbformat

    for path in NOTEBOOKS:
        notebook = executed(path)
        nbformat.validate(notebook)
        nbformat.write(notebook, path)
        print(path.name, f"{path.stat().st_size:,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
