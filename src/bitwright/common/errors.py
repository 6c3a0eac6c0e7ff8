"""Exceptions whose messages state what was given, what is allowed, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from difflib import get_close_matches
from itertools import islice
from math import isfinite, log10
from os import PathLike
from typing import TypeVar


class BitwrightError(Exception):
    """The base of all errors raised by bitwright; its message is always one readable line.

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
    """Raised for an invalid value, name or file.

    >>> from bitwright import addition
    >>> addition(0)
    Traceback (most recent call last):
    ...
    bitwright.common.errors.InputError: bits must be between 1 and 1,000,000, got 0
    """


class TrainCellsError(InputError):
    """Raised if a network trained on cells would work; the command line explains how to train one."""


class OtherKindError(TrainCellsError):
    """Raised for a program with a kind of cell that the network was not trained on."""


class EffortError(InputError):
    """Raised if a computation would take too much time or memory; the claim itself may still be true."""


class BitwrightWarning(UserWarning):
    """Issued for valid input that is probably a mistake; Python's `warnings` filters apply.

    >>> from warnings import catch_warnings
    >>> from bitwright import parse
    >>> with catch_warnings(record=True, action="always") as caught:
    ...     _ = parse("bits x y\\nblock x\\nblock y\\nwhen y=1 write x\\nwhen x=1 write x\\ninput x")
    >>> print(caught[0].message)
    program:4:1: this rule never matches: y can never be on, because no input, 'start' line or matching rule sets it
    """


class ProofError(BitwrightError):
    """Raised when a certificate's claim does not hold, not for invalid input.

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
        """Returns the result in the form `bitwright certify --check --json` prints."""
        return {"holds": False, "certified": False, "reason": str(self), **self.about}


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake in a program, with its position in the text or in the Python code that built it.

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
    """Raised with all problems of a program, before any work starts.

    >>> from bitwright import parse
    >>> try:
    ...     parse("bits p[2]\\nblock p[1] q\\nwhen p[1]=1 write p[3]")
    ... except ProgramError as error:
    ...     for problem in error.problems:
    ...         print(problem)
    2:12: unknown bit 'q'; declare it with 'bits'
    3:19: index out of range: p[3], declared as p[2]
    """

    def __init__(self, problems: Iterable[Problem], source: str = "") -> None:
        # in text order; problems of the whole program come last
        self.problems: tuple[Problem, ...] = tuple(sorted(set(problems), key=lambda p: (not (p.line or p.place), p)))
        self.source = source
        super().__init__(self._summary())

    def __reduce__(self) -> tuple[type[ProgramError], tuple[tuple[Problem, ...], str]]:
        return type(self), (self.problems, self.source)  # worker processes return it pickled

    def _summary(self) -> str:
        first = self.problems[0]
        where = f"{self.source}:" if self.source and first.line else f"{self.source}: " if self.source else ""
        more = len(self.problems) - 1
        tail = f" (and {counted(more, 'more problem')})" if more else ""
        return f"{where}{first}{tail}"


@contextmanager
def problems_of(path: str | PathLike[str]) -> Iterator[None]:
    """Adds the file name to program errors raised inside this context."""
    try:
        yield
    except ProgramError as error:
        raise ProgramError(error.problems, printable(str(path))) from None


_spelling: list[Callable[[str], str]] = []  # how messages spell options; the last entry applies


def option(name: str) -> str:
    """Returns the name of an option as the user typed it: `sizes` in Python, `--sizes` on the command line."""
    return _spelling[-1](name) if _spelling else name


@contextmanager
def spelling(spell: Callable[[str], str]) -> Iterator[None]:
    """Sets how messages spell options inside this context."""
    _spelling.append(spell)
    try:
        yield
    finally:
        _spelling.pop()


def printable(text: str) -> str:
    """Replaces line breaks, escape codes and similar characters, to keep a message on one line."""
    return text if text.isprintable() else "".join(ch if ch.isprintable() else "?" for ch in text)


def shorten(value: int | str, most: int = 40) -> str:
    """Shortens a value to fit on one line of an error message."""
    if isinstance(value, int):
        if value.bit_length() > 130:
            return f"a number of {value.bit_length():,} bits"
        value = str(value)
    value = printable(value)
    return value if len(value) <= most else f"{value[: most - 3]}..."


_LONGEST_COMPARED, _MOST_COMPARED = 100, 1_000  # comparing two texts takes as long as the product of their lengths


def short_repr(result: object) -> str:
    """Returns a one-line `__repr__`: the class of a result and the beginning of its printed text."""
    text = "; ".join(line for line in str(result).splitlines() if not line.startswith(" "))
    return f"<{type(result).__name__}: {text if len(text) <= 160 else text[:157] + '...'}>"


class Report:
    """A printable result: a sentence with rows below it, shortened to one line in its `repr`.

    Subclasses define `sentence` and `rows`, or override `report`.
    """

    @property
    def sentence(self) -> str:
        """The result in one line."""
        return next(iter(self.report()))

    def rows(self) -> Iterable[str]:
        """Returns the lines below the sentence; none by default."""
        return ()

    def report(self) -> Iterable[str]:
        """Returns all lines of the report."""
        return [self.sentence, *self.rows()]

    def __str__(self) -> str:
        return "\n".join(self.report())

    __repr__ = short_repr


def suggestion(word: str, known: Iterable[str]) -> str:
    """Returns `; did you mean 'addition'?` if a known word is close to `word`, or an empty string.

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
    """Returns `word` if it is one of the known words; raises InputError for any other value.

    >>> check_choice("colour", "red", ["red", "green"])
    'red'
    """
    for choice in known:
        if word == choice:
            return choice
    choices = " or ".join([", ".join(known[:-1]), *known[-1:]] if len(known) > 1 else known)
    raise InputError(f"there is no {what} '{shorten(str(word))}'; choose {choices}{suggestion(str(word), known)}")


def thousandths(number: float) -> str:
    """Formats a number with three decimals, or with one significant digit if those would show zero.

    >>> thousandths(0.24812), thousandths(-0.00004), thousandths(-0.0)
    ('0.248', '-4e-05', '0.000')
    """
    return f"{number:.1g}" if 0 < abs(number) < 0.0005 else f"{number + 0.0:.3f}"


def rounded_down(number: float, digits: int = 3) -> str:
    """Formats a lower bound with a few significant digits, rounded down to remain a lower bound.

    >>> rounded_down(9.99784), rounded_down(0.49975585), rounded_down(-1.7651)
    ('9.99', '0.499', '-1.77')
    """
    if not isfinite(number):
        return f"{number:g}"
    return f"{float(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(number)):.{digits}g}"


def counted(number: int, what: str, many: str = "") -> str:
    """Formats a count as `1 bit`, `2 bits` or `1,024 bits`; `many` gives an irregular plural."""
    return f"{readable(number)} {what if number == 1 else many or what + 's'}"


def readable(number: int, most: int = 10**40) -> str:
    """Formats a count as `1,024`, or as `about 10^61` above `most`."""
    return f"{number:,}" if number <= most else f"about 10^{int(log10(number))}"


def listing(items: Sequence[str], most: int = 5) -> str:
    """Formats a list of any length as `a, b, c and 7 more`."""
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[:most])} and {len(items) - most:,} more"


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Formats the rows of a table as lines of text, each column as wide as its widest cell.

    >>> columns([["name", "bits"], ["p", "10"]])
    ['name  bits', 'p     10']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
