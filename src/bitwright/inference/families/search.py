"""From executions at a few sizes to a program for every size: blocks, families, the cover and what it leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bitwright.files.executions import Executions
from bitwright.inference.contradiction import Contradiction, find_contradiction
from bitwright.inference.elimination import Elimination, Evidence
from bitwright.inference.families.atoms import Evidences
from bitwright.inference.families.blocks import (
    Blocks,
    FittedBlocks,
    NoFamilyError,
    fit_arrays,
    fit_blocks,
)
from bitwright.inference.families.cover import SECONDS, Cover, cheapest_cover
from bitwright.inference.families.joining import join_blocks
from bitwright.inference.families.lines import Array, LineBounds
from bitwright.inference.families.space import Sufficient, VersionSpace, sufficient, version_space
from bitwright.inference.find_blocks import FoundBlocks, find_blocks
from bitwright.program import Layout
from bitwright.program.tables import layout_of_names
from bitwright.running.progress import Progress

_STEEPEST = 2  # coefficients |a| that are tried


@dataclass(frozen=True)
class Fitted:
    """A class of programs in which some fit, the shortest of them, and what the states leave open."""

    evidence: Evidences
    cover: Cover
    needs: Sufficient
    space: VersionSpace  # at the size that decides, or past the largest where the theorem does not say


@dataclass(frozen=True)
class FoundFamilies:
    """What executions of several sizes give: a program, a contradiction at one size, or the reason why neither."""

    searches: Mapping[int, FoundBlocks]
    fitted: Fitted | None = None
    joined: bool = False  # whether blocks are not those found at each size, so that they are families
    contradiction: tuple[int, Contradiction] | None = None
    reason: str | None = None


class _FamilySearch:
    def __init__(self, executions: Mapping[int, Executions]) -> None:
        self.executions = executions
        self.layouts: dict[int, Layout] = {size: layout_of_names(one.names) for size, one in executions.items()}
        self.arrays: list[Array] = fit_arrays(self.layouts)
        self._joined: dict[int, Mapping[int, Blocks] | None] = {}  # by offset

    def classes(self, coefficient: int | None, offset: int | None) -> Iterator[LineBounds]:
        """Classes in the order in which they are tried: offsets, then coefficients."""
        least = max([1, *(abs(array.length[1]) for array in self.arrays if array.length[0])])
        usual = sorted(self.executions)[-2]  # two sizes with positions between the bounds
        offsets = range(least, max(least, (usual - 2) // 2) + 1) if offset is None else [offset]
        coefficients = range(1, _STEEPEST + 1) if coefficient is None else [coefficient]
        for b in offsets:
            if b < least:
                raise NoFamilyError(f"a length has an offset of {least}, beyond {b}")
            if usual < 2 * b + 2:
                raise NoFamilyError(f"offsets of {b} need two sizes of at least {2 * b + 2}")
            for a in coefficients:
                yield LineBounds(a, b)

    def families(self, blocks: Mapping[int, Blocks], bounds: LineBounds) -> list[FittedBlocks]:
        """Families with these blocks, of the sizes at which bounds do not cross."""
        usable = {size: those for size, those in blocks.items() if size >= bounds.first}
        return fit_blocks(self.arrays, self.layouts, usable, bounds)

    def join(self, bounds: LineBounds) -> Mapping[int, Blocks]:
        """Blocks that are the same at every place and size."""
        if bounds.offset not in self._joined:
            usable = {size: one for size, one in self.executions.items() if size >= bounds.first}
            self._joined[bounds.offset] = join_blocks(self.arrays, self.layouts, usable, bounds)
        if (found := self._joined[bounds.offset]) is None:
            raise NoFamilyError("no blocks that are the same at every place and size explain all states")
        return found

    def contradiction(self, families: list[FittedBlocks], bounds: LineBounds) -> tuple[int, Contradiction] | None:
        """The first size at which no rules with these blocks explain the states."""
        for size, executions in self.executions.items():
            if size >= bounds.first:
                blocks = [bits for family in families for _, bits in family.bits(self.arrays, self.layouts[size], size)]
                if sorted(bit for block in blocks for bit in block) != list(range(self.layouts[size].size)):
                    raise NoFamilyError(f"the block families of the other sizes do not divide the bits of size {size}")
                found = find_contradiction(Elimination(Evidence(executions), blocks))
                if found is not None:
                    return size, found
        return None

    def fit(self, families: list[FittedBlocks], bounds: LineBounds, seconds: float) -> Fitted:
        """The shortest program of a class."""
        usable = {size: one for size, one in self.executions.items() if size >= bounds.first}
        evidence = Evidences(self.arrays, families, bounds, usable, self.layouts)
        cover = cheapest_cover(evidence, seconds)
        needs = sufficient(evidence, cover.terms)
        size = needs.size if needs.size is not None else max(self.executions) + 1
        return Fitted(evidence, cover, needs, version_space(evidence, size))


def find_families(
    executions: Mapping[int, Executions],
    blocks: Mapping[int, Blocks] | None = None,
    coefficient: int | None = None,
    offset: int | None = None,
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> FoundFamilies:
    """The shortest program of the smallest class in which one fits; blocks that are not given are looked for."""
    result = FoundFamilies({})
    try:
        search = _FamilySearch(executions)
        classes = list(search.classes(coefficient, offset))
        if blocks is None:
            found = {size: find_blocks(one, progress=progress) for size, one in executions.items()}
            blocks = {size: one.blocks for size, one in found.items() if one.blocks is not None}
            result = replace(result, searches=found)
        return replace(result, **_first_fit(search, blocks, classes, seconds, bool(result.searches)))  # type: ignore[arg-type]
    except NoFamilyError as error:
        hint = "; blocks were found at each size: more states may give others" if result.searches else ""
        return replace(result, reason=f"{error}{hint}")


def _first_fit(
    search: _FamilySearch, blocks: Mapping[int, Blocks], classes: list[LineBounds], seconds: float, find: bool
) -> dict[str, object]:
    """A fit; or a contradiction at a size whose blocks, found from wrong data, need not be those of the others."""
    first: NoFamilyError | None = None
    wrong: tuple[int, Contradiction] | None = None
    groups: list[Mapping[int, Blocks] | None] = [blocks] * (len(blocks) == len(search.executions))
    if find and (len(blocks) >= 3 or len(blocks) < len(search.executions)):
        groups += [{s: b for s, b in blocks.items() if s != out} for out in [None, *blocks]]
    for group in [*groups, *[None] * find]:  # None: blocks of all sizes at once
        for bounds in classes:
            try:
                chosen = group or search.join(bounds)
                if sum(size >= 2 * bounds.offset + 2 for size in chosen) < 2:
                    continue
                families = search.families(chosen, bounds)
                contradiction = search.contradiction(families, bounds)
                if contradiction is None:
                    return {"fitted": search.fit(families, bounds, seconds), "joined": group is not blocks}
                if wrong is None or contradiction[1].states < wrong[1].states:
                    wrong = contradiction
            except NoFamilyError as error:
                first = first or error
    if wrong is not None:
        return {"contradiction": wrong}
    raise first or NoFamilyError("no two sizes have blocks that explain their states")
