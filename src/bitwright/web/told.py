"""What the work behind a request reports: progress, problems of a program, files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from bitwright.errors import BitwrightError, Problem, ProgramError

T = TypeVar("T")
Files = dict[str, bytes]
MOST_PROBLEMS = 200  # that are listed; nobody reads more


class Progress(Protocol):
    """A function that is called with the phase of the work, its progress, and what can be shown so far."""

    def __call__(self, phase: str, step: int = 0, limit: int = 0, **shown: Any) -> None: ...


def unheard(phase: str, step: int = 0, limit: int = 0, **shown: Any) -> None:
    """Ignores progress."""


def problems_in(error: BitwrightError) -> dict[str, object]:
    """The problems of a program by line and column; a problem of the whole program has line 0."""
    problems = error.problems if isinstance(error, ProgramError) else (Problem(0, 0, str(error)),)
    found = [{"line": p.line, "column": p.column, "message": p.message} for p in problems[:MOST_PROBLEMS]]
    return {"ok": False, "problems": found, "count": len(problems), "about": None}


def attempt(make: Callable[[], T]) -> T | str:
    """The result, or why there is none."""
    try:
        return make()
    except BitwrightError as error:
        return str(error)


def json_file(document: Mapping[str, object]) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
