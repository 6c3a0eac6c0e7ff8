"""How the work behind a request speaks of itself: how far it is, what is wrong with a program, its files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from bitwright.errors import BitwrightError, ProgramError

Files = dict[str, bytes]
MOST_PROBLEMS = 200  # that are listed; nobody reads more


class Progress(Protocol):
    """Told what is being done, how far it is, and what there is to show of it so far."""

    def __call__(self, phase: str, step: int = 0, limit: int = 0, **shown: Any) -> None: ...


def unheard(phase: str, step: int = 0, limit: int = 0, **shown: Any) -> None:
    """Progress that nobody waits for."""


def problems_in(error: BitwrightError) -> dict[str, object]:
    """The problems of a program by line and column; one of the whole has line 0."""
    found = [{"line": 0, "column": 0, "message": str(error)}]
    if isinstance(error, ProgramError):
        found = [{"line": p.line, "column": p.column, "message": p.message} for p in error.problems[:MOST_PROBLEMS]]
        return {"ok": False, "problems": found, "count": len(error.problems), "about": None}
    return {"ok": False, "problems": found, "count": 1, "about": None}


def attempt(make: Callable[[], dict[str, object]]) -> dict[str, object]:
    """What is made, or why it cannot be."""
    try:
        return make()
    except BitwrightError as error:
        return {"problem": str(error)}


def json_file(document: Mapping[str, object]) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
