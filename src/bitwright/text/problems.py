"""The problems of a text: collected, so that all of them are told together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from bitwright.errors import Problem, ProgramError, suggestion

MAX_PROBLEMS = 1_000  # a text with more is no program at all, and need not fill the memory
_MAX_HINTS = 50  # looking for similar names is slow; nobody reads more of them


class GiveUpError(Exception):
    """Raised to read no further in a line; what is wrong with it has been noted."""


class TooManyProblemsError(Exception):
    """Raised to read no further in a text, which has nothing but problems, or one that has no end."""


class Place(Protocol):
    """Whatever stands at a line and a column."""

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

    def at(self, place: Place, message: str) -> None:
        self.note(place.line, place.column, message)

    def stop(self, place: Place, message: str) -> GiveUpError:
        """Notes a problem; raise what this returns to give up the line."""
        self.at(place, message)
        return GiveUpError()

    def hint(self, word: str, known: Iterable[str]) -> str:
        """`; did you mean 'loop'?`, as long as there are few problems."""
        self._hints += 1
        return suggestion(word, known) if self._hints <= _MAX_HINTS else ""

    def error(self, source: str) -> ProgramError:
        return ProgramError(self._found, source)
