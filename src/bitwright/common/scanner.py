"""Splits text into tokens with line and column, and collects the problems of a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple, Protocol, TypeVar

from bitwright.common.bits import shorten
from bitwright.common.errors import Problem, ProgramError, suggestion

MAX_LINE = 10_000
NAME = r"[A-Za-z_][A-Za-z0-9_]*"
SPACE = r" \t\r\f"  # within a line
END = "end"  # the kind of the empty token that closes a line


class Token(NamedTuple):
    """A piece of text with its position."""

    kind: str
    text: str
    line: int
    column: int
    scope: int = 0  # the macro expansion that a local name belongs to; 0 outside macros

    @property
    def key(self) -> str:
        """The token's name; a local name differs in every expansion."""
        return f"{self.text}.{self.scope}" if self.scope else self.text

    def problem(self, message: str) -> Problem:
        return Problem(self.line, self.column, message)

    def __str__(self) -> str:
        return f"'{shorten(self.text)}'" if self.text else "the end of the line"


class WrongError(Exception):
    """A mistake in a statement, at a token."""

    def __init__(self, token: Token, message: str) -> None:
        super().__init__(message)
        self.token, self.message, self.problem = token, message, token.problem(message)


class Scanner:
    """Splits lines into tokens; tries `kinds` in order and rejects those in `refusals`, with an offset and a message.

    >>> scanner = Scanner({"name": "[a-z]+", "comment": ";.*", "other": "."}, {"other": lambda text: (0, "no name")})
    >>> [str(token) for token in scanner.tokens("one two ; three", 1, Problems())]
    ["'one'", "'two'", 'the end of the line']
    """

    def __init__(
        self, kinds: Mapping[str, str], refusals: Mapping[str, Callable[[str], tuple[int, str]]] | None = None
    ) -> None:
        forms = "|".join(f"(?P<{kind}>{form})" for kind, form in kinds.items())
        # also matches the end of a line; otherwise the search would restart at each space before it
        self._pieces = re.compile(rf"[{SPACE}]*+(?:{forms}|\Z)")
        self._refusals = refusals or {}

    def pieces(self, text: str, line: int) -> list[Token]:
        """Returns the tokens of a line without its comment, ending with an `end` token; applies no refusals."""
        tokens: list[Token] = []
        end = len(text)
        for match in self._pieces.finditer(text):
            kind = match.lastgroup
            if kind is None:
                break
            if kind == "comment":
                end = match.start(kind)
                break
            tokens.append(tuple.__new__(Token, (kind, match[kind], line, match.start(kind) + 1, 0)))  # the fastest way
        tokens.append(Token(END, "", line, end + 1))
        return tokens

    def tokens(self, text: str, line: int, problems: Problems) -> list[Token]:
        """Returns the tokens of a line of bounded length; skips the rest of the line at a refused token."""
        if len(text) > MAX_LINE:
            message = f"a line may have at most {MAX_LINE:,} characters, got {len(text):,}; split it"
            raise problems.stop(Token(END, "", line, 1), message)
        tokens = self.pieces(text, line)
        for token in tokens:
            if token.kind in self._refusals:
                further, message = self._refusals[token.kind](token.text)
                raise problems.stop(token._replace(column=token.column + further), message)
        return tokens


def lines_of(text: str) -> Iterator[str]:
    """Yields lines one at a time, because a malicious text may have very many."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def opening_comment(text: str, sign: str) -> str:
    """Returns the comment lines at the top of a text as one paragraph."""
    block = re.match(rf"(?:[ \t]*{sign}[^\n]*\n?)*", text)
    lines = block.group().splitlines() if block else []
    return " ".join(line.strip().lstrip(sign).strip() for line in lines).strip()


def unix_lines(text: str) -> str:
    """Replaces every line ending, including CR and CR LF, with LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


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
    """All problems of a text, without duplicates."""

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
