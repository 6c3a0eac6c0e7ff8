"""The notebooks in examples/, run from top to bottom. `python -m tests.notebooks` runs all and keeps what they show."""

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))

# What is the same on every machine, but for the last digits of what was added up in floating point.
PASSING = re.compile(r"\b[0-9a-f]{64}\b")
NUMBER = re.compile(r"[-+]?\d+\.\d+")


def executed(path: Path) -> Any:
    """A notebook as it is after a fresh run, without times, versions and what only repeats a picture as text.

    Its cells run in this process, in a shell of their own, as in a kernel: torch takes seconds to load.
    """
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    with _shell() as run:
        for number, cell in enumerate(code_cells(notebook), start=1):
            cell.execution_count, cell.outputs = number, run(cell.source, number)
    return notebook


@contextmanager
def _shell() -> Iterator[Callable[[str, int], list[Any]]]:
    """What gives the outputs of one cell after the other."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from nbformat.v4 import new_output
    from traitlets.config import Config

    def run(source: str, number: int) -> list[Any]:
        with shell.display_trap, capture_output() as captured:  # in this order, so that the capture has the last word
            shell.run_cell(source, store_history=True).raise_error()
        found = [new_output("stream", name="stdout", text=captured.stdout)] if captured.stdout else []
        for shown in captured.outputs:
            data = dict(shown.data)
            if {"text/html", "image/svg+xml"} & set(data):
                data.pop("text/plain", None)
            found.append(new_output("execute_result", data, execution_count=number))
        return found

    before = Path.cwd()
    with tempfile.TemporaryDirectory() as own:
        shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}), ipython_dir=own)
        try:
            os.chdir(EXAMPLES)
            yield run
        finally:
            os.chdir(before)
            shell.restore_sys_module_state()
            InteractiveShell.clear_instance()


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
