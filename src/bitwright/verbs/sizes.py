"""Opens programs at several sizes: `1..64`, `l=1..64,k=3`, or a Python range."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from bitwright.common.bits import shorten, whole_number
from bitwright.common.errors import EffortError, InputError, OtherKindError, ProofError, counted, option
from bitwright.common.lazy import is_a
from bitwright.rules import Algorithm, Program
from bitwright.rules.algorithm import MAX_EXAMPLES
from bitwright.verbs.open import check_tile, is_node_program, subject

if TYPE_CHECKING:
    from bitwright.proofs.kinds import KindsProof
    from bitwright.rules.algorithm import Sizing
    from bitwright.rules.cells import Tile
    from bitwright.rules.graph.node_program import NodeProgram
    from bitwright.rules.pattern import Pattern

    Subject: TypeAlias = Algorithm | Program | NodeProgram
    Programs: TypeAlias = Sequence[Algorithm | NodeProgram]
SizesAsked = str | int | Sequence[int]
EVERY = "all"
MOST_SIZES = 10_000
MOST_TEMPLATES = 1 << 23  # over all sizes: a minute or two of work, and about 2 GB
_NODES = "bitwright.rules.graph.node_program"
BITS = "bits"  # the size of a shipped algorithm, which may be left unnamed
_FEW_TEMPLATES = 20_000  # programs up to this size are also examined at other sizes
_REMEMBERED = 64  # proofs of kinds
_PROVED: dict[tuple[str, ...], KindsProof] = {}


@dataclass(frozen=True)
class InSizes:
    """Programs at several sizes, and these sizes as text, such as `1..64` or `l=1..64,k=3`."""

    text: str | None
    programs: tuple[Algorithm, ...]
    proof: KindsProof | None = None  # that these programs have every kind of cell that occurs at any size

    @property
    def graphs(self) -> str | None:
        """For a node program, the graphs that these programs represent: `every graph`, or graphs of certain sizes."""
        schemas: list[Any] = [one for one in self.programs if is_a(one, f"{_NODES}:NodeSchema")]
        if not schemas or self.proof is not None:
            return "every graph" if schemas else None
        from bitwright.rules.graph.node_program import graphs_of

        return graphs_of(list({schema.node_program for schema in schemas}))

    def check_covered_by(self, pattern: Pattern, name: str, tile: Tile | None) -> None:
        """Raises InputError unless a pattern has every kind of cell that occurs at any size."""
        if self.proof is None:
            return
        if tile not in (None, 1):
            raise InputError(
                f"{option('sizes')} all works only with single cells, not tiles; give sizes, such as 1..64"
            )
        for seen in self.proof.kinds:
            if seen.kind not in pattern.kinds:
                where = at_size(name, _text(seen.sizes))
                raise OtherKindError(f"{where}: this network has no cell like that of {seen.cell}")


def at_size(name: str, size: str | None) -> str:
    """Names a program with its sizes: `k2 at D=1`, `addition at 4 bits`."""
    if not size:
        return name
    if size == EVERY:
        return f"{name} at every size"
    if ".." in size:
        return f"{name} at the sizes {size}"
    return f"{name} at {size if '=' in size else counted(int(size), 'bit')}"


def size_of(what: Algorithm | NodeProgram) -> str | None:
    """Returns the size of a program, such as `4` or `l=1,k=3`; None for a program of fixed size."""
    return _text(what.sizing.numbers) or None if what.sizing is not None else None


def choose_pattern(algorithms: Sequence[Algorithm], tile: Tile, n: str | None, padding: int | None = None) -> Pattern:
    """Returns the pattern of the cells of all these programs, or of the whole state of one, for the limit."""
    from bitwright.rules.pattern import pattern_of

    whole_number(padding or 0, option("padding"), 0, MAX_EXAMPLES)
    if check_tile(tile) != "all" and n is not None:
        raise InputError(
            f"{option('n')} cannot be used with cells, where n is at most one match in each block of the cell"
        )
    return pattern_of([one.program for one in algorithms], tile)


def as_programs(what: Subject | Sequence[Subject]) -> list[Algorithm | NodeProgram]:
    """Returns one program or several as a list."""
    several: Sequence[Any] = what if isinstance(what, list | tuple) else [what]
    if not several:
        raise InputError("give at least one program")
    return [subject(one) for one in several]


def by_algorithm(programs: Programs) -> list[Algorithm]:
    """Returns these programs, with each node program replaced by schemas that have all its kinds of cells."""
    return [own for one in programs for own in (one.schemas() if is_node_program(one) else [one])]


def in_sizes(programs: Programs, sizes: SizesAsked | None = None) -> InSizes:
    """Returns a program at each of these sizes, or programs at their own sizes; a node program yields its schemas.

    `all` selects sizes that together have every kind of cell that occurs at any size.
    """
    if len(programs) > 1 and sizes is not None:
        raise InputError(f"{option('sizes')} works only with one program, got {len(programs):,}")
    if sizes is None and len(programs) > 1:
        return InSizes(None, tuple(by_algorithm(programs)))
    what = getattr(programs[0], "node_program", programs[0])  # which has all kinds, unlike a schema
    if sizes is None:
        return InSizes(size_of(what), tuple(by_algorithm([what])))
    if sizes == EVERY:
        return _at_every_size(what)
    own, sizing = numbers_of(what), what.sizing
    if sizing is None:
        raise InputError(
            f"{what.name} has a fixed size, got {option('sizes')} {shorten(str(sizes))}; leave it out, or use rule "
            "text with a line 'let l'"
        )
    asked = _ranges(what, sizes)
    several = [name for name, numbers in asked.items() if len(numbers) > 1]
    if len(several) > 1:
        raise InputError(f"{option('sizes')} takes a range of one number only, got ranges of {' and '.join(several)}")
    varied = several[0] if several else next(iter(asked))
    fixed = {name: value for name, value in own.items() if name not in asked}
    fixed |= {name: numbers[0] for name, numbers in asked.items() if name != varied}
    text = _text({varied: _written(asked[varied]), **fixed})
    found: list[Algorithm] = []
    for size in reversed(asked[varied]):  # the largest first, to estimate the work
        at = by_algorithm([sizing.at(**{**fixed, varied: size})])
        largest, many = sum(one.program.templates for one in at), len(asked[varied])
        if not found and largest * many // 2 > MOST_TEMPLATES:
            raise EffortError(
                f"the sizes {text} are too many to examine one by one: {many:,} programs of up to {largest:,} "
                f"templates; give fewer, or {option('sizes')} all, which proves the kinds of cells at every size"
            )
        found[:0] = at
    return InSizes(text, tuple(found))


def in_claimed_sizes(claimed: str | None, programs: Programs, sizes: SizesAsked | None) -> InSizes:
    """Returns the programs at the sizes that a certificate claims; raises ProofError if they do not exist at those."""
    if claimed is None:
        return in_sizes(programs, sizes)
    if sizes is not None and sizes != claimed and in_sizes(programs, sizes).text != claimed:
        raise InputError(
            f"the certificate claims the sizes {claimed}, which {option('check')} checks; leave out {option('sizes')}"
        )
    known = numbers_of(programs[0]) or (claimed == EVERY and is_node_program(programs[0]))
    if sizes is None and (len(programs) > 1 or not known):
        return in_sizes(programs)
    try:
        return in_sizes(programs, claimed)
    except EffortError:  # which does not refute the claim
        raise
    except InputError as error:
        raise ProofError(f"the certificate claims the sizes {claimed}, but {error}") from None


def at_every_size_or_own(what: Algorithm | NodeProgram) -> InSizes:
    """Returns the program at every size if that can be proved, otherwise at its own size."""
    try:
        return _at_every_size(what)
    except InputError:
        return in_sizes([what])


def _at_every_size(what: Algorithm | NodeProgram) -> InSizes:
    """Returns a program at sizes that together have every kind of cell, or the schemas of a node program."""
    what = getattr(what, "node_program", what)
    sizing, numbers, impossible = what.sizing, numbers_of(what), f"{option('sizes')} all is not possible"
    if not is_node_program(what):
        if sizing is None or sizing.text is None or not numbers:
            raise InputError(
                f"{option('sizes')} all works only with programs whose rule text has a size (a line 'let l')"
            )
        if not sizing.at().same_as(what):
            raise InputError(f"{impossible}: {what.name} differs from its rule text")
    proof = _prove_kinds(what, sizing)
    if proof.verdict != "proved":
        raise InputError(f"{impossible}: {proof.refusal}; name sizes, such as 1..64")
    if sizing is None or is_node_program(what):
        return InSizes(EVERY, tuple(by_algorithm([what])), proof)
    if numbers not in proof.about:
        raise InputError(
            f"{impossible}: the kinds of cells are proved for {proof.about}, and this program has {_text(numbers)}; "
            "name sizes, such as 1..64"
        )
    seen = [{BITS: next(iter(k.sizes.values()))} if BITS in numbers else dict(k.sizes) for k in proof.kinds]
    chosen = [one for at, one in enumerate(seen) if one not in seen[:at] and one != numbers]
    return InSizes(EVERY, (what, *(sizing.at(**one) for one in chosen)), proof)


def _prove_kinds(what: Algorithm | NodeProgram, sizing: Sizing | None) -> KindsProof:
    """Proves the kinds of a rule text for all sizes, once per process."""
    from bitwright.proofs.kinds import prove_kinds

    if sizing is None or sizing.text is None:
        return prove_kinds(what)
    key = (sizing.text, *sorted(sizing.numbers))
    if key not in _PROVED:
        if len(_PROVED) >= _REMEMBERED:
            _PROVED.clear()
        _PROVED[key] = prove_kinds(what)
    return _PROVED[key]


def numbers_of(what: Algorithm | NodeProgram) -> dict[str, int]:
    """Returns the numbers of a program's size: the bit length of a shipped one, or the `let` lines of rule text."""
    return {} if what.sizing is None else dict(what.sizing.numbers)


def missing_size(what: Algorithm, pattern: Pattern) -> str | None:
    """Returns a size at which a program has a kind of cell that a pattern lacks; None if none is known."""
    proof = at_every_size_or_own(what).proof if what.program.templates <= _FEW_TEMPLATES else None
    for seen in () if proof is None else proof.kinds:
        if seen.kind not in pattern.kinds:
            numbers = seen.sizes.values() if BITS in numbers_of(what) else ()
            return ",".join(map(str, numbers)) or _text(seen.sizes)
    return None


def _ranges(what: Algorithm | NodeProgram, sizes: SizesAsked) -> dict[str, range]:
    """Returns the values of each number in `sizes`."""
    own = numbers_of(what)
    first = next(iter(own), "l")
    if not isinstance(sizes, str):
        return {first: _range(_written(sizes))}
    if BITS in own and "=" in sizes and not sizes.startswith("bits="):
        raise InputError(
            f"the sizes of {what.name} must be bit lengths, such as {option('sizes')} 1..64, got {shorten(sizes)}"
        )
    if "=" not in sizes and len(own) == 1:
        return {first: _range(sizes)}
    asked: dict[str, range] = {}
    for part in sizes.split(","):
        name, equals, given = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise InputError(
                f"the sizes of {what.name} need the name of a 'let' line, such as {option('sizes')} "
                f"{first}={shorten(name)}"
            )
        if name in asked:
            raise InputError(f"{option('sizes')} gives {name} twice; leave out one of them")
        asked[name] = _range(given)
    return asked


def _written(sizes: Any) -> str:
    """Returns `4..6` for range(4, 7) and [4, 5, 6]; raises InputError for sizes that are not consecutive."""
    if type(sizes) is int:
        return str(sizes)
    several = isinstance(sizes, range | list | tuple) and len(sizes) and all(type(size) is int for size in sizes)
    if several and list(sizes) == list(range(sizes[0], sizes[-1] + 1)):
        return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]}..{sizes[-1]}"
    raise InputError(
        f"{option('sizes')} must be consecutive, such as '1..64', range(1, 65) or [4, 5, 6], got {shorten(repr(sizes))}"
    )


def _range(text: str) -> range:
    """Parses `1..64`, or a single number."""
    found = re.fullmatch(r"(-?\d{1,18})(?:\.\.(\d{1,18}))?", text.strip(), re.ASCII)
    if found is None:
        raise InputError(f"{option('sizes')} must be a range such as 1..64, got '{text[:40]}'")
    first, last = int(found[1]), int(found[2] or found[1])
    if first != last and not 1 <= first <= last < first + MOST_SIZES:  # a single number may have any value
        raise InputError(f"{option('sizes')} must be FROM..TO, 1 <= FROM <= TO < FROM + {MOST_SIZES:,}, got {text}")
    return range(first, last + 1)


def _text(numbers: Mapping[str, object]) -> str:
    return ",".join(str(value) if name == BITS else f"{name}={value}" for name, value in numbers.items())
