"""Assembly text to tokens, each with its line and column; and the collector of problems that all readers share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import islice

from bitwright.bits import shorten
from bitwright.errors import Problem, ProgramError, suggestion

MAX_NAME = 64
MAX_LINE = 10_000
END_OF_PROGRAM = "halt"  # the label behind the last instruction; no word and no other label may be called so
_MAX_PROBLEMS = 1_000  # a text with more is no program at all, and need not fill the memory
_MAX_HINTS, _MAX_CANDIDATES = 50, 1_000  # looking for similar names is slow; nobody reads more of them


class Kind(Enum):
    """What a piece of text is, by its form alone."""

    NAME = "a name"
    NUMBER = "a number"  # or the negative of a constant's name, such as -STEP
    CONSTANT = "a constant word"  # such as #5, #-1 or #STEP
    DIRECTIVE = "a directive"
    COLON = "a colon"
    END = "the end of the line"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text, and where it stands."""

    kind: Kind
    text: str
    line: int
    column: int

    def problem(self, message: str) -> Problem:
        return Problem(self.line, self.column, message)

    def __str__(self) -> str:
        return f"'{shorten(self.text)}'" if self.text else self.kind.value


class TooManyProblemsError(Exception):
    """Raised to stop reading a text that has nothing but problems."""


class Problems:
    """All problems of a text, each noted once."""

    def __init__(self) -> None:
        self._found: dict[Problem, None] = {}
        self._hints = 0

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, problem: Problem) -> None:
        self._found[problem] = None
        if len(self._found) > _MAX_PROBLEMS:
            stop = f"more than {_MAX_PROBLEMS:,} problems; the rest of the text was not read"
            self._found[Problem(problem.line, problem.column, stop)] = None
            raise TooManyProblemsError

    def at(self, token: Token, message: str) -> None:
        self.add(token.problem(message))

    def hint(self, word: str, known: Iterable[str]) -> str:
        """`; did you mean 'loop'?`, as long as there are few problems."""
        self._hints += 1
        return suggestion(word, list(islice(known, _MAX_CANDIDATES))) if self._hints <= _MAX_HINTS else ""

    def error(self, source: str) -> ProgramError:
        return ProgramError(self._found, source)


_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_VALUE = rf"-?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+|{_NAME})"
_PIECE = re.compile(r"[ \t\r\f]+|;.*|:|[^ \t\r\f;:]+")
_FORMS = (
    (Kind.NAME, re.compile(rf"@?{_NAME}")),
    (Kind.NUMBER, re.compile(_VALUE)),
    (Kind.CONSTANT, re.compile(rf"#{_VALUE}")),
    (Kind.DIRECTIVE, re.compile(r"\.[A-Za-z]+")),
    (Kind.COLON, re.compile(":")),
)
_NUMBERS = (Kind.NUMBER, Kind.CONSTANT)
_MAX_DIGITS = MAX_NAME + 2  # 0b and a binary digit for each bit of the widest word
_LEGAL = re.compile(r"[A-Za-z0-9_@#.-]*")


def is_name(text: str) -> bool:
    """Whether a word or a label of a program may be called so."""
    return bool(re.fullmatch(_NAME, text)) and len(text) <= MAX_NAME and text != END_OF_PROGRAM


def lines_of(text: str) -> Iterator[str]:
    """The lines of a text, one at a time, for a hostile text may have very many."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def names_in(line: str) -> list[str]:
    """Whatever looks like a name in a line that cannot be read otherwise."""
    return re.findall(rf"@?{_NAME}", line.partition(";")[0])


def tokens_of(text: str, line: int, problems: Problems) -> list[Token] | None:
    """The tokens of a line, closed by an END token; None where the line has a piece that cannot be read."""
    if len(text) > MAX_LINE:
        problems.add(Problem(line, 1, f"a line has at most {MAX_LINE:,} characters, got {len(text):,}; split it"))
        return None
    tokens: list[Token] = []
    end = len(text) + 1
    for piece in _PIECE.finditer(text):
        column, word = piece.start() + 1, piece.group()
        if word[0] == ";":
            end = min(end, column)
        elif word[0] not in " \t\r\f":
            kind = next((kind for kind, form in _FORMS if form.fullmatch(word)), None)
            if kind is None or len(word.lstrip("@#-")) > (_MAX_DIGITS if kind in _NUMBERS else MAX_NAME):
                problems.add(_unreadable(word, line, column))
                return None
            tokens.append(Token(kind, word, line, column))
    return [*tokens, Token(Kind.END, "", line, end)]


def _unreadable(word: str, line: int, column: int) -> Problem:
    legal = len(_LEGAL.match(word).group())  # type: ignore[union-attr]  # it matches the empty text too
    if legal < len(word):
        message = f"unexpected character {shorten(word[legal])!r}; operands are separated by spaces"
        return Problem(line, column + legal, message)
    if len(word) > MAX_NAME:
        return Problem(line, column, f"'{shorten(word)}' is too long; a name has at most {MAX_NAME} characters")
    return Problem(line, column, f"'{shorten(word)}' is neither a name, nor a number such as 5, -1, 0x1f or 0b101")
