"""A program in several sizes: `1..64`, `l=1..64,k=3`, or a range of Python's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from bitwright.bits import shorten
from bitwright.errors import BitwrightError, InputError, OtherKindError, counted, option
from bitwright.program import Algorithm, NodeProgram

if TYPE_CHECKING:
    from bitwright.program.pattern import Pattern

SizesAsked = str | int | range
MOST_SIZES = 10_000
BITS = "bits"  # the number of a shipped algorithm, which need not be named
_FEW_TEMPLATES = 20_000  # of a program small enough to look at other sizes of it as well
_FEW_NUMBERS = 4


@dataclass(frozen=True)
class AtSize:
    """A program in one size, and which: `4`, `D=1`; None where it has no size to choose."""

    algorithm: Algorithm
    size: str | None


@dataclass(frozen=True)
class InSizes:
    """A program in some sizes, and all of them in words such as `1..64` or `l=1..64,k=3`."""

    text: str | None
    programs: tuple[AtSize, ...]


def at_size(name: str, size: str | None) -> str:
    """`k2 at D=1`, `addition at 4 bits`: a program in these sizes."""
    if size is None:
        return f"{name} as it is"
    if ".." in size:
        return f"{name} at the sizes {size}"
    return f"{name} at {size if '=' in size else counted(int(size), 'bit')}"


def in_sizes(what: Algorithm | NodeProgram, sizes: SizesAsked | None = None) -> InSizes:
    """The program in each of these sizes; without any, as it is. A node program is given by its schemas."""
    own = numbers_of(what)
    if sizes is None:
        text = _joined(own) or None
        return InSizes(text, tuple(AtSize(one, text) for one in _by_cells(what)))
    if not own:
        raise InputError(
            f"{what.name} has no size to choose; {option('sizes')} goes with addition, multiplication and permutation "
            f"(1..64), and with rule files that have a 'let' line (l=1..64)"
        )
    asked = _asked(what, sizes)
    several = [name for name, numbers in asked.items() if len(numbers) > 1]
    if len(several) > 1:
        raise InputError(f"{option('sizes')} goes over one number, got ranges of {' and '.join(several)}")
    varied = several[0] if several else next(iter(asked))
    fixed = {**own, **{name: numbers[0] for name, numbers in asked.items()}}
    del fixed[varied]
    assert what.sizing is not None
    found: list[AtSize] = []
    for size in asked[varied]:
        now = {varied: size, **fixed}
        found += [AtSize(one, _joined(now)) for one in _by_cells(what.sizing.at(**now))]
    text = ",".join(filter(None, (_named(varied, _text(asked[varied])), _joined(fixed))))
    return InSizes(text, tuple(found))


def numbers_of(what: Algorithm | NodeProgram) -> dict[str, int]:
    """What the size of a program is, by name: the bit length of a shipped one, or the numbers of a rule text."""
    node = getattr(what, "node_program", None)
    sizing = (node or what).sizing
    return {} if sizing is None else dict(sizing.numbers)


def missing_kinds(what: Algorithm | NodeProgram, pattern: Pattern) -> Iterator[tuple[str, str]]:
    """Sizes near to this one that have cells which a pattern lacks, and the sizes that would bring them.

    Few are tried: of each number the first such size.
    """
    from bitwright.engines.cells.wiring import tile_of

    if isinstance(what, Algorithm) and what.program.templates > _FEW_TEMPLATES:
        return
    for name, value in islice(numbers_of(what).items(), _FEW_NUMBERS):
        for size in sorted({1, 2, 3, value - 1, value + 1, value + 2} - {value}):
            asked = _named(name, str(size))
            try:
                for one in in_sizes(what, asked).programs:
                    tile_of(one.algorithm.program, pattern)
            except OtherKindError:
                yield asked, sizes_to_train(what, name, value)
                break
            except BitwrightError:  # the program does not exist in this size
                continue


def sizes_to_train(what: Algorithm | NodeProgram, name: str, value: int) -> str:
    """Sizes from the smallest that exists; kinds of cells rarely change beyond some."""
    for least in range(1, 5):
        try:
            in_sizes(what, _named(name, str(least)))
        except BitwrightError:
            continue
        break
    return _named(name, f"{least}..{min(max(8, value), 64)}")


def _asked(what: Algorithm | NodeProgram, sizes: SizesAsked) -> dict[str, range]:
    """The values of each number that is named."""
    own = numbers_of(what)
    first = next(iter(own))
    if not isinstance(sizes, str):
        if isinstance(sizes, bool) or not isinstance(sizes, int | range) or (isinstance(sizes, range) and not sizes):
            raise InputError(
                f"{option('sizes')} is a range such as '1..64' or range(1, 65), got {shorten(repr(sizes))}"
            )
        return {first: _range(f"{sizes[0]}..{sizes[-1]}" if isinstance(sizes, range) else str(sizes))}
    if "=" not in sizes and BITS in own:
        return {BITS: _range(sizes)}
    asked: dict[str, range] = {}
    for part in sizes.split(","):
        name, equals, given = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise InputError(
                f"the sizes of a rule file are those of a 'let' line; write {option('sizes')} {first}={part.strip()}"
            )
        if name in asked:
            raise InputError(f"{name} is given twice, by {option('sizes')}")
        asked[name] = _range(given)
    return asked


def _by_cells(what: Algorithm | NodeProgram) -> list[Algorithm]:
    """A program; for a node program, its schemas."""
    node = getattr(what, "node_program", None) or what
    return list(node.schemas()) if isinstance(node, NodeProgram) else [what]  # type: ignore[list-item]


def _range(text: str) -> range:
    """`1..64`, or one number."""
    found = re.fullmatch(r"(-?\d{1,18})(?:\.\.(\d{1,18}))?", text.strip(), re.ASCII)
    if found is None:
        raise InputError(f"{option('sizes')} is a range such as 1..64, got '{text[:40]}'")
    first, last = int(found[1]), int(found[2] or found[1])
    if first != last and not 1 <= first <= last < first + MOST_SIZES:  # a single one may be anything a number may be
        raise InputError(
            f"{option('sizes')} goes from at least 1 up, over at most {MOST_SIZES:,} sizes, got {text.strip()}"
        )
    return range(first, last + 1)


def _joined(numbers: Mapping[str, int]) -> str:
    return ",".join(_named(name, str(value)) for name, value in numbers.items())


def _named(name: str, value: str) -> str:
    return value if name == BITS else f"{name}={value}"


def _text(numbers: range) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}..{numbers[-1]}"
