"""The sizes that a program is looked at in: those of --sizes, or the one of --let, of --bits or of the file itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.cli.targets import find_algorithm, given_lets
from bitwright.errors import BitwrightError, InputError, OtherKindError, counted

if TYPE_CHECKING:
    from bitwright.program import Algorithm
    from bitwright.program.pattern import Pattern

MOST_SIZES = 10_000
_FEW_TEMPLATES = 20_000  # of a program that is small enough to look at some other sizes of it as well
_FEW_LETS = 4
_FEW_SIZES, _MANY_SIZES = 64, 512  # up to which they are tried, one after the other, before they are advised
_SIZES = "bitwright.sizes"  # where a command line keeps what --sizes says


@dataclass(frozen=True)
class Sized:
    """A program in one size, and which: `4` bits, `D=1`; None where it has no size to choose."""

    algorithm: Algorithm
    size: str | None


@dataclass(frozen=True)
class Sizes:
    """A program in some sizes, and all of them in words such as `1..64` or `l=1..64,k=3`."""

    text: str | None
    programs: tuple[Sized, ...]

    @property
    def graphs(self) -> str | None:
        """Of a node program the graphs that these programs stand for: `every graph`, or those of some sizes."""
        from bitwright.program import NodeSchema
        from bitwright.program.graph.node_program import graphs_of

        found = {one.algorithm.node_program for one in self.programs if isinstance(one.algorithm, NodeSchema)}
        return graphs_of([one for one in found if one is not None]) if found else None


def at_size(name: str, size: str | None) -> str:
    """`k2 at D=1`, `addition at 4 bits`: a program in these sizes."""
    if size is None:
        return f"{name} as it is"
    if ".." in size:
        return f"{name} at the sizes {size}"
    return f"{name} at {size if '=' in size else counted(int(size), 'bit')}"


def in_sizes(target: str, algorithm: Algorithm, sizes: str | None, order: str | None = None) -> Sizes:
    """The algorithm, or it in every one of these sizes; of a node program, what has its kinds of cells."""
    asked = {part.partition("=")[0].strip() for part in (sizes or "").split(",") if "=" in part}
    for name in asked & set(given_lets()):
        raise InputError(f"{name} is given twice, by --sizes and --let")
    if sizes is not None and (context := click.get_current_context(silent=True)) is not None:
        context.meta[_SIZES] = sizes
    return _in_sizes(target, algorithm, sizes, order)


def asked_sizes() -> str | None:
    """What --sizes said of the program of this command line."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(_SIZES)


def _in_sizes(target: str, algorithm: Algorithm, sizes: str | None, order: str | None = None) -> Sizes:
    from bitwright.api.programs import SIZED
    from bitwright.program import NodeSchema

    is_node = isinstance(algorithm, NodeSchema) and algorithm.node_program is not None
    if sizes is None:
        text = _own_size(target, algorithm, order)
        return Sizes(text, tuple(Sized(one, text) for one in _graphs(algorithm)))
    if is_node and "=" not in sizes:
        raise InputError(
            "the sizes of a node program are those of a 'let' line, such as --sizes l=1..8; leave out --sizes"
        )
    if Path(target).suffix.lower() == ".bw":
        return _of_rules(target, sizes)
    if "=" in sizes or target not in SIZED or order is not None:
        raise InputError(
            f"--sizes 1..64 goes with {', '.join(SIZED)}, whose size is a bit length, and --sizes l=1..64 with "
            "rule files"
        )
    numbers = _range(sizes)
    return Sizes(_text(numbers), tuple(Sized(find_algorithm(target, size), str(size)) for size in numbers))


def missing_kinds(
    target: str, algorithm: Algorithm, pattern: Pattern, order: str | None, tile: int
) -> Iterator[tuple[str, str | None]]:
    """Sizes near to this one that have cells which a pattern lacks, and the --sizes that bring them, if some do.

    Of a rule file the first such size of each of its numbers; few are tried.
    """
    from bitwright.engines.cells.wiring import tile_of

    if algorithm.program.templates > _FEW_TEMPLATES:
        return
    for name, value in list(_numbers(target, algorithm, order).items())[:_FEW_LETS]:
        for size in sorted({1, 2, 3, value - 1, value + 1, value + 2} - {value}):
            asked = f"{name}={size}" if name else str(size)
            try:
                other = _in_sizes(target, algorithm, asked).programs
                for one in other:
                    tile_of(one.algorithm.program, pattern)
            except OtherKindError:
                yield asked, _range_to_train(target, algorithm, name, max(value, size), other, tile)
                break
            except BitwrightError:  # the program does not exist in this size
                continue


def training_command(target: str, algorithm: Algorithm, order: str | None = None) -> str:
    """The command that trains a network with all cells of this program, in the sizes that are asked for.

    It names many sizes only where these were seen to have all its cells.
    """
    sizes, lets = asked_sizes(), given_lets()
    if sizes is None and algorithm.program.templates <= _FEW_TEMPLATES:
        for name, value in list(_numbers(target, algorithm, order).items())[:1]:
            sizes = _range_to_train(target, algorithm, name, value)
    words = [] if sizes is None else ["--sizes", sizes]
    varied = {part.partition("=")[0] for part in (sizes or "").split(",")}
    words += [word for name, value in lets.items() if name not in varied for word in ("--let", f"{name}={value}")]
    if order is not None:
        words += ["--order", order]
    elif sizes is None and (bits := _numbers(target, algorithm, order).get("")) is not None:
        words += ["--bits", str(bits)]
    return " ".join(["bitwright train", target, "--cells", *words, "-o FILE"])


def _numbers(target: str, algorithm: Algorithm, order: str | None) -> dict[str, int]:
    """What the size of a program is: the numbers of a rule file, or the bit length of a shipped one, without a name."""
    from bitwright.api.plain_sizes import plain_lets
    from bitwright.api.programs import SIZED

    if Path(target).suffix.lower() == ".bw":
        return {**plain_lets(Path(target)), **given_lets()}
    return {"": len(algorithm.inputs[0].bits)} if target in SIZED and order is None else {}


def _range_to_train(
    target: str, algorithm: Algorithm, name: str, value: int, others: Sequence[Sized] = (), tile: int = 1
) -> str | None:
    """Sizes from the smallest that exists which have all cells of this program and the others; None if none do.

    Kinds of cells rarely change beyond some size, so not all up to `value` are taken if fewer will do.
    """
    from bitwright.api.cells import pattern_of
    from bitwright.engines.cells.wiring import tile_of

    prefix = f"{name}=" if name else ""
    wanted = [*_graphs(algorithm), *(one.algorithm for one in others)]
    for least in range(1, 5):
        try:
            _in_sizes(target, algorithm, f"{prefix}{least}")
        except BitwrightError:
            continue
        break
    for most in sorted({min(max(8, value), _FEW_SIZES), min(max(8, value), _MANY_SIZES)}):
        sizes = f"{prefix}{least}..{most}"
        try:
            found = [one.algorithm.program for one in _in_sizes(target, algorithm, sizes).programs]
            pattern = pattern_of(found, tile)
            for one in wanted:
                tile_of(one.program, pattern)
        except BitwrightError:  # some size does not exist, or a cell is not among them
            continue
        return sizes
    return None


def _own_size(target: str, algorithm: Algorithm, order: str | None) -> str | None:
    return _joined(_numbers(target, algorithm, order)) or None


def _joined(numbers: Mapping[str, int]) -> str:
    return ",".join(f"{name}={value}" if name else str(value) for name, value in numbers.items())


def _of_rules(target: str, sizes: str) -> Sizes:
    """A rule file with other numbers: `l=1..64`, or `l=1..64,k=3`."""
    from bitwright.api.plain_sizes import plain_lets
    from bitwright.program.text.files import load_any

    own = plain_lets(Path(target))
    asked: dict[str, range] = {}
    for part in sizes.split(","):
        name, equals, numbers = part.partition("=")
        if not equals:
            known = next(iter(own), None)
            such = f"write --sizes {known}={part.strip()}" if known else "and this file has none"
            raise InputError(f"the sizes of a rule file are those of a 'let' line; {such}")
        if name.strip() in asked:
            raise InputError(f"{name.strip()} is given twice, by --sizes")
        asked[name.strip()] = _range(numbers)
    several = [name for name, numbers in asked.items() if len(numbers) > 1]
    if len(several) > 1:
        raise InputError(f"--sizes goes over one number, got ranges of {' and '.join(several)}")
    varied = several[0] if several else next(iter(asked))
    fixed = {name: numbers[0] for name, numbers in asked.items()} | {
        name: value for name, value in {**own, **given_lets()}.items() if name not in asked
    }
    found: list[Sized] = []
    for size in asked[varied]:
        numbers_now = {**fixed, varied: size}
        found += [Sized(one, _joined(numbers_now)) for one in _graphs(load_any(target, numbers_now))]
    rest = _joined({name: value for name, value in fixed.items() if name != varied})
    return Sizes(f"{varied}={_text(asked[varied])}" + (f",{rest}" if rest else ""), tuple(found))


def _graphs(found: object) -> list[Algorithm]:
    """A program; of a node program those that have all its kinds of cells."""
    from bitwright.program import Algorithm, NodeProgram, NodeSchema

    if isinstance(found, NodeSchema) and found.node_program is not None:
        found = found.node_program
    if isinstance(found, NodeProgram):
        return list(found.schemas())
    assert isinstance(found, Algorithm)
    return [found]


def _range(text: str) -> range:
    """`1..64`, or one number."""
    found = re.fullmatch(r"(-?\d{1,18})(?:\.\.(\d{1,18}))?", text.strip(), re.ASCII)
    if found is None:
        raise InputError(f"--sizes is a range such as 1..64, got '{text[:40]}'")
    first, last = int(found[1]), int(found[2] or found[1])
    if first != last and not 1 <= first <= last < first + MOST_SIZES:  # one may be anything that --let may
        raise InputError(f"--sizes goes from at least 1 up, over at most {MOST_SIZES:,} sizes, got {text.strip()}")
    return range(first, last + 1)


def _text(numbers: range) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}..{numbers[-1]}"
