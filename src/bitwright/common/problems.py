"""Collects the problems of a text, so that all are reported together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Protocol, TypeVar

from bitwright.common.errors import Problem, ProgramError, suggestion

MAX_PROBLEMS = 1_000  # bounds memory for texts that are not programs
_MAX_HINTS = 50  # the search for similar names is slow


class GiveUpError(Exception):
    """Raised to skip the rest of a line after its problem has been noted."""


class TooManyProblemsError(Exception):
    """Raised to stop reading a text with too many problems, or one whose expansion does not end."""


Result = TypeVar("Result")


class TextPlace(Protocol):
    """Anything with a line and a column."""

    @property
    def line(self) -> int: ...

    @property
    def column(self) -> int: ...


class Problems:
    """All problems of a text, each noted once."""

    def __init__(self) -> None:
        self._found: dict[Problem, None] = {}
        self._hints = 0

    def __bool__(self) -> bool:
        return bool(self._found)

    def note(self, line: int, column: int, message: str) -> None:
        self._found[Problem(line, column, message)] = None
        if len(self._found) > MAX_PROBLEMS:
            stop = f"more than {MAX_PROBLEMS:,} problems; the rest of the text was not read"
            self._found[Problem(line, column, stop)] = None
            raise TooManyProblemsError

    def at(self, place: TextPlace, message: str) -> None:
        self.note(place.line, place.column, message)

    def stop(self, place: TextPlace, message: str) -> GiveUpError:
        """Notes a problem; raise the returned exception to skip the rest of the line."""
        self.at(place, message)
        return GiveUpError()

    def hint(self, word: str, known: Iterable[str]) -> str:
        """Returns `; did you mean 'loop'?`, unless there are many problems already."""
        self._hints += 1
        return suggestion(word, known) if self._hints <= _MAX_HINTS else ""

    def error(self, source: str) -> ProgramError:
        return ProgramError(self._found, source)


def without_problems(read: Callable[[Problems], Result | None], source: str) -> Result:
    """Returns the result of `read`; raises ProgramError if it noted problems or returned None."""
    problems, found = Problems(), None
    with suppress(TooManyProblemsError):
        found = read(problems)
    if found is None or problems:
        raise problems.error(source)
    return found
