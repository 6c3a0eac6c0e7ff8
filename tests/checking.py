"""The checkers of `sceptic/`, run as scripts in this process: starting Python takes longer than what they do."""

import runpy
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest

SCEPTIC = Path(__file__).parents[1] / "sceptic"


class Checked(NamedTuple):
    """The exit code of a script, and what it printed."""

    code: int
    out: str
    err: str


def checked(script: str, *arguments: str | Path) -> Checked:
    """Runs a script as `python SCRIPT ARGUMENTS` would; the modules beside it are loaded anew each time."""
    code: int | str | None = 0
    before = set(sys.modules)
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [script, *map(str, arguments)])
        patch.syspath_prepend(SCEPTIC)
        try:
            runpy.run_path(str(SCEPTIC / script), run_name="__main__")
        except SystemExit as end:
            code = end.code
        finally:
            for name in set(sys.modules) - before:
                if SCEPTIC in Path(getattr(sys.modules[name], "__file__", None) or "").parents:
                    del sys.modules[name]
    if isinstance(code, str):
        return Checked(1, out.getvalue(), f"{err.getvalue()}{code}\n")
    return Checked(code or 0, out.getvalue(), err.getvalue())
