"""One family of exceptions: every message says what was given, what is allowed, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from math import log10
from os import PathLike
from typing import TypeVar


class BitwrightError(Exception):
    """Anything bitwright refuses to do; the message is one line meant for a person, whatever it quotes.

    >>> from bitwright import addition, run
    >>> try:
    ...     run(addition(4), p=99, q=1)
    ... except BitwrightError as error:
    ...     print(error)
    input p must fit in 4 bits, got 99, which needs 7
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


class InputError(BitwrightError):
    """A value, a name or a file that cannot be used as it was given.

    >>> from bitwright import addition
    >>> addition(0)
    Traceback (most recent call last):
    ...
    bitwright.common.errors.InputError: bits must be between 1 and 1,000,000, got 0
    """


class TrainCellsError(InputError):
    """Something that a network of the program's cells can do; the command line adds how to train one."""


class OtherKindError(TrainCellsError):
    """A program with a cell of a kind that a network does not know."""


class EffortError(InputError):
    """Something that would take too long, or too much memory; it may well be true."""


class BitwrightWarning(UserWarning):
    """Something that can hardly be meant, though it can be done; Python's `warnings` decide what becomes of it.

    >>> from warnings import catch_warnings
    >>> from bitwright import parse
    >>> with catch_warnings(record=True, action="always") as caught:
    ...     _ = parse("bits x y\\nblock x\\nblock y\\nwhen y=1 write x\\nwhen x=1 write x\\ninput x")
    >>> print(caught[0].message)
    program:4:1: this rule never matches: y can never be on, since no input, no start and no rule that can match sets it
    """


class ProofError(BitwrightError):
    """A certificate that claims what does not hold: the answer no, and not a bad input.

    >>> from bitwright import addition, certify
    >>> try:
    ...     certify(addition(4)).check(addition(5))
    ... except ProofError as error:
    ...     print(str(error)[:38])
    the certificate is for another program
    """

    def __init__(self, message: str, **about: str) -> None:
        super().__init__(message)
        self.about = about  # the program that was checked: name, of, program_id

    def to_dict(self) -> dict[str, object]:
        """The answer as `bitwright certify --check --json` prints it."""
        return {"holds": False, "certified": False, "reason": str(self), **self.about}


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake in a program, at a place in its text (or in the Python that built it).

    >>> print(Problem(3, 7, "there are no bits 'q'"))
    3:7: there are no bits 'q'
    """

    line: int
    column: int
    message: str
    place: str = ""

    def __str__(self) -> str:
        where = self.place or (f"{self.line}:{self.column}" if self.line else "")
        return f"{where}: {self.message}" if where else self.message


class ProgramError(BitwrightError):
    """All problems of a program, found before any work starts.

    >>> from bitwright import parse
    >>> try:
    ...     parse("bits p[2]\\nblock p[1] q\\nwhen p[1]=1 write p[3]")
    ... except ProgramError as error:
    ...     for problem in error.problems:
    ...         print(problem)
    2:12: unknown bit 'q'; declare it with bits
    3:19: index out of range: p[3], declared as p[2]
    """

    def __init__(self, problems: Iterable[Problem], source: str = "") -> None:
        # in the order of the text; what concerns the program as a whole stands behind what has a place
        self.problems: tuple[Problem, ...] = tuple(sorted(set(problems), key=lambda p: (not (p.line or p.place), p)))
        self.source = source
        super().__init__(self._summary())

    def __reduce__(self) -> tuple[type[ProgramError], tuple[tuple[Problem, ...], str]]:
        return type(self), (self.problems, self.source)  # so that it comes whole out of a worker process

    def _summary(self) -> str:
        first = self.problems[0]
        where = f"{self.source}:" if self.source and first.line else f"{self.source}: " if self.source else ""
        more = len(self.problems) - 1
        tail = f" (and {counted(more, 'more problem')})" if more else ""
        return f"{where}{first}{tail}"


@contextmanager
def problems_of(path: str | PathLike[str]) -> Iterator[None]:
    """Says of the problems of a program that come up meanwhile which file they are in."""
    try:
        yield
    except ProgramError as error:
        raise ProgramError(error.problems, printable(str(path))) from None


_spelling: list[Callable[[str], str]] = []  # how the person who is told spells options; the last one counts


def option(name: str) -> str:
    """What an option is called where it was given: `sizes` in Python, `--sizes` on the command line."""
    return _spelling[-1](name) if _spelling else name


@contextmanager
def spelling(spell: Callable[[str], str]) -> Iterator[None]:
    """Lets messages name options in this way meanwhile."""
    _spelling.append(spell)
    try:
        yield
    finally:
        _spelling.pop()


def printable(text: str) -> str:
    """Text without line breaks, escape codes and the like, so that a message stays one line."""
    return text if text.isprintable() else "".join(ch if ch.isprintable() else "?" for ch in text)


def shorten(value: int | str, most: int = 40) -> str:
    """A value that fits into one line of an error message."""
    if isinstance(value, int):
        if value.bit_length() > 130:
            return f"a number of {value.bit_length():,} bits"
        value = str(value)
    value = printable(value)
    return value if len(value) <= most else f"{value[: most - 3]}..."


_LONGEST_COMPARED, _MOST_COMPARED = 100, 1_000  # comparing two texts takes as long as the product of their lengths


def short_repr(result: object) -> str:
    """The class of a result and the beginning of what it prints, in one line: what its `__repr__` gives."""
    text = "; ".join(line for line in str(result).splitlines() if not line.startswith(" "))
    return f"<{type(result).__name__}: {text if len(text) <= 160 else text[:157] + '...'}>"


class Report:
    """A result that a person reads: a sentence, and rows below it; at a prompt it is the beginning, in one line.

    A class gives both, or the lines of its `report`.
    """

    @property
    def sentence(self) -> str:
        """The result, in a line."""
        return next(iter(self.report()))

    def rows(self) -> Iterable[str]:
        """What is printed below the sentence."""
        return ()

    def report(self) -> Iterable[str]:
        """All lines."""
        return [self.sentence, *self.rows()]

    def __str__(self) -> str:
        return "\n".join(self.report())

    __repr__ = short_repr


def suggestion(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'addition'?` when something known is close to `word`, else nothing; long words are not compared.

    >>> suggestion("adition", ["addition", "permutation"])
    "; did you mean 'addition'?"
    """
    if len(word) > _LONGEST_COMPARED:
        return ""
    candidates = [name for name in islice(known, _MOST_COMPARED) if len(name) <= _LONGEST_COMPARED]
    close = get_close_matches(word, candidates, n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""


Choice = TypeVar("Choice", bound=str)


def check_choice(what: str, word: object, known: Sequence[Choice]) -> Choice:
    """The known word that `word` is; raises InputError for any other.

    >>> check_choice("colour", "red", ["red", "green"])
    'red'
    """
    for one in known:
        if word == one:
            return one
    choices = " or ".join([", ".join(known[:-1]), *known[-1:]] if len(known) > 1 else known)
    raise InputError(f"there is no {what} '{shorten(str(word))}'; choose {choices}{suggestion(str(word), known)}")


def thousandths(number: float) -> str:
    """A number with three decimals, or as many digits as show that it is not zero.

    >>> thousandths(0.24812), thousandths(-0.00004), thousandths(-0.0)
    ('0.248', '-4e-05', '0.000')
    """
    return f"{number:.1g}" if 0 < abs(number) < 0.0005 else f"{number + 0.0:.3f}"


def counted(number: int, what: str, many: str = "") -> str:
    """`1 bit`, `2 bits`, `1,024 bits`: a number and what it counts; `many` where that is not `what` and an s."""
    return f"{readable(number)} {what if number == 1 else many or what + 's'}"


def readable(number: int, most: int = 10**40) -> str:
    """`1,024`, or `about 10^61` for counts above `most`, whose digits nobody reads."""
    return f"{number:,}" if number <= most else f"about 10^{int(log10(number))}"


def listing(items: Sequence[str], most: int = 5) -> str:
    """`a, b, c and 7 more`: a list that stays readable however long it is."""
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[:most])} and {len(items) - most:,} more"


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of a table as lines of text, each column as wide as its widest cell.

    >>> columns([["name", "bits"], ["p", "10"]])
    ['name  bits', 'p     10']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
