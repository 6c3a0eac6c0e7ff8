"""Finds the blocks, families, cover and open writes of a program for every size from executions at a few sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from bitwright.common.files.executions import Executions
from bitwright.inference import Contradiction, Elimination, Evidence, find_contradiction
from bitwright.inference.families.atoms import Evidences
from bitwright.inference.families.blocks import Blocks, FittedBlocks, NoFamilyError, fit_arrays, fit_blocks
from bitwright.inference.families.joining import JoinedBlocks, Shape, join_blocks, larger_blocks, partition, together
from bitwright.inference.families.lines import Array, LineBounds
from bitwright.inference.families.space import (
    Cover,
    Sufficient,
    VersionSpace,
    cheapest_cover,
    sufficient,
    version_space,
)
from bitwright.rules import Layout
from bitwright.rules.tables import layout_of_names
from bitwright.runs.progress import Progress

_STEEPEST = 2  # largest |a| in an index
_MOST_JOINED = 20  # most choices of blocks to try
_MOST_GROWN = 8  # most larger choices to try if no index fits these
_MOST_LARGER = 60  # most larger blocks to try
_MOST_TOGETHER = 10  # most arrays that are read together at a position


@dataclass(frozen=True)
class Fitted:
    """A class of programs with a consistent member, the shortest such program, and its open writes."""

    evidence: Evidences
    cover: Cover
    needs: Sufficient
    space: VersionSpace  # at the deciding size, or beyond the largest size if the theorem does not apply

    @property
    def determined(self) -> bool:
        """Whether all programs of the class with these blocks are the same at every size."""
        unique = all(family.unique for family in self.evidence.families)
        return unique and self.space.determined and self.needs.size is not None


@dataclass(frozen=True)
class FoundFamilies:
    """The result of a search: a program, a contradiction at one size, or the reason for finding neither."""

    fitted: Fitted | None = None
    joined: JoinedBlocks | None = None  # the blocks, if the search determined them
    larger: str | None = None  # blocks of the same class that other programs may have
    contradiction: tuple[int, Contradiction] | None = None
    reason: str | None = None

    @property
    def unique_blocks(self) -> bool:
        """Whether no other blocks explain the states, because they were given or the smallest choice is unique."""
        return self.joined is None or (self.joined.unique and self.larger is None)


class _FamilySearch:
    def __init__(
        self,
        executions: Mapping[int, Executions],
        progress: Progress | None,
        halves: bool = False,
    ) -> None:
        self.executions, self.progress = executions, progress
        self.layouts: dict[int, Layout] = {size: layout_of_names(one.names) for size, one in executions.items()}
        self.arrays: list[Array] = fit_arrays(self.layouts, halves)

    def offsets(self) -> list[int]:
        """Returns the offsets to try, in order."""
        least = max([1, *(abs(one.length[1]) for array in self.arrays for one in array.dimensions if array.grows)])
        usual = sorted(self.executions)[-2]  # two sizes with positions between the bounds
        if usual < 2 * least + 2:
            raise NoFamilyError(f"offsets of {least} need executions at two sizes of at least {2 * least + 2}")
        return list(range(least, max(least, (usual - 2) // 2) + 1))

    def usable(self, bounds: LineBounds) -> dict[int, Executions]:
        """Returns the executions at sizes at which bounds do not cross."""
        return {size: one for size, one in self.executions.items() if size >= bounds.first}

    def joined(self, bounds: LineBounds, without: int | None = None) -> Iterator[JoinedBlocks]:
        """Yields blocks that explain all states, without those of one size if given."""
        usable = {size: one for size, one in self.usable(bounds).items() if size != without}
        seen: set[Shape] = set()
        for joined in join_blocks(self.arrays, self.layouts, usable, bounds, self.progress):
            if joined.joins not in seen:
                seen.add(joined.joins)
                yield joined

    def families(self, blocks: Mapping[int, Blocks], bounds: LineBounds) -> list[FittedBlocks]:
        """Returns the families with these blocks."""
        usable = {size: those for size, those in blocks.items() if size >= bounds.first}
        return fit_blocks(self.arrays, self.layouts, usable, bounds)

    def contradiction(self, families: list[FittedBlocks], size: int) -> Contradiction | None:
        """Returns a contradiction between the states of a size and these blocks, or None."""
        blocks = [bits for family in families for *_, bits in family.bits(self.arrays, self.layouts[size], size)]
        if sorted(bit for block in blocks for bit in block) != list(range(self.layouts[size].size)):
            raise NoFamilyError(
                f"the block families of the other sizes do not cover each bit of size {size} exactly once"
            )
        return find_contradiction(Elimination(Evidence(self.executions[size]), blocks))

    def fit(self, families: list[FittedBlocks], bounds: LineBounds) -> Fitted:
        """Returns the shortest program of a class."""
        evidence = self.evidence(families, bounds)
        cover = cheapest_cover(evidence)
        needs = sufficient(evidence, cover.terms)
        return Fitted(evidence, cover, needs, version_space(evidence, needs.size or max(self.executions) + 1))

    def with_blocks(self, blocks: Mapping[int, Blocks], offsets: list[int], coefficients: range) -> FoundFamilies:
        """Fits programs with the given blocks, or returns the first size at which no such rules explain the states."""
        first: NoFamilyError | None = None
        for bounds in (LineBounds(a, b) for b in offsets for a in coefficients):
            try:
                families = self.families(blocks, bounds)
                for size in self.usable(bounds):
                    if (wrong := self.contradiction(families, size)) is not None:
                        return FoundFamilies(contradiction=(size, wrong))
                return FoundFamilies(self.fit(families, bounds))
            except NoFamilyError as error:
                first = first or error
        raise first or NoFamilyError("no class to search")

    def with_joins(self, offsets: list[int], coefficients: range) -> FoundFamilies:
        """Fits programs with the smallest blocks that allow a fit."""
        first: NoFamilyError | None = None
        for b in offsets:
            hopeless: bool | None = None  # whether no blocks of bits at the same position fit
            for joined in self.choices(LineBounds(1, b)):
                if first is not None and hopeless is None:
                    hopeless = self.even_together(LineBounds(coefficients[-1], b)) is not None
                if hopeless and joined.at_one_place:
                    continue
                for bounds in (LineBounds(a, b) for a in coefficients):
                    try:
                        fitted = self.fit(self.families(joined.blocks, bounds), bounds)
                    except NoFamilyError as error:
                        first = first or error
                        continue
                    larger = self.undecided_blocks(joined, fitted) if joined.unique and fitted.determined else None
                    return FoundFamilies(fitted, joined, larger)
        raise first or NoFamilyError(
            "no blocks of at most 6 bits, joined in the same way at every position, explain all states"
        )

    def choices(self, bounds: LineBounds) -> Iterator[JoinedBlocks]:
        """Yields the smallest blocks that explain all states, then larger blocks whose indices may fit all sizes."""
        tried: list[JoinedBlocks] = []
        for joined in islice(self.joined(bounds), _MOST_JOINED):
            yield replace(joined, unique=joined.unique and not tried)
            tried.append(joined)
        for joined in tried[:1]:
            layouts = {size: self.layouts[size] for size in joined.blocks}
            larger = larger_blocks(self.arrays, layouts, bounds, joined.joins, joined.most)
            for blocks in islice(larger, _MOST_GROWN):
                yield replace(joined, blocks=blocks, unique=False)

    def groups(self) -> list[list[int]] | None:
        """Groups arrays with the same growth, which may be read together at every position; None if too many."""
        wide = {len(array.dimensions) for array in self.arrays if array.grows}
        found = [
            [n for n, array in enumerate(self.arrays) if array.grows and len(array.dimensions) == d]
            for d in sorted(wide)
        ]
        still = [n for n, array in enumerate(self.arrays) if not array.grows]
        return [*found, still] if all(len(group) <= _MOST_TOGETHER for group in (*found, still)) else None

    def joined_by(self, groups: Sequence[Sequence[int]], bounds: LineBounds) -> JoinedBlocks:
        """Returns the blocks of arrays that are read together at every position."""
        joins = together(self.arrays, groups)
        bits = {size: [array.bits(self.layouts[size]) for array in self.arrays] for size in self.usable(bounds)}
        blocks = {size: [list(block) for block in sorted(partition(own, size, joins))] for size, own in bits.items()}
        most = max(len(block) for block in blocks[max(blocks)])
        return JoinedBlocks(joins, blocks, max(2, most), unique=False)

    def even_together(self, bounds: LineBounds) -> str | None:
        """Returns why no program of a class fits, whatever bits at a position its blocks contain; None if one may fit.

        A program with smaller blocks is also a program with larger blocks, which have the union of their writes.
        """
        if (groups := self.groups()) is None:
            return None
        try:
            self.evidence(self.families(self.joined_by(groups, bounds).blocks, bounds), bounds)
        except NoFamilyError as error:
            return str(error)
        return None

    def evidence(self, families: list[FittedBlocks], bounds: LineBounds) -> Evidences:
        """Returns the evidence of all states for a class with these blocks."""
        return Evidences(self.arrays, families, bounds, self.usable(bounds), self.layouts)

    def with_groups(self, offsets: list[int], coefficients: range) -> FoundFamilies | None:
        """Fits blocks of all bits at a position, and removes arrays from them as long as a fit remains."""
        groups = self.groups()
        for bounds in (LineBounds(a, b) for b in offsets for a in coefficients):
            if groups is None or self.even_together(bounds) is not None:
                continue
            kept = [list(group) for group in groups]
            for group in kept:
                for number in list(group):
                    fewer = [[n for n in own if n != number] for own in kept]
                    try:
                        self.evidence(self.families(self.joined_by(fewer, bounds).blocks, bounds), bounds)
                    except NoFamilyError:
                        continue
                    group.remove(number)
            joined = self.joined_by(kept, bounds)
            return FoundFamilies(self.fit(self.families(joined.blocks, bounds), bounds), joined)
        return None

    def undecided_blocks(self, joined: JoinedBlocks, fitted: Fitted) -> str | None:
        """Names larger blocks of the class with which other programs fit or may fit; None if there are none."""
        bounds = fitted.evidence.bounds
        layouts = {size: self.layouts[size] for size in joined.blocks}
        ways = larger_blocks(self.arrays, layouts, bounds, joined.joins, joined.most)
        for number, blocks in enumerate(ways):
            try:
                families = self.families(blocks, bounds)
                decided = number < _MOST_LARGER and self.fit(families, bounds).determined
            except NoFamilyError:
                continue  # no program of the class has these blocks
            if not decided:
                known = {family.members for family in fitted.evidence.families}
                shown = next(family for family in families if family.members not in known)
                return " ".join(self.arrays[m].name for m in shown.members)
        return None

    def wrong_size(self, offset: int) -> tuple[int, Contradiction] | None:
        """Returns the size with the fewest states that contradict the unique blocks of all other sizes.

        Returns None if some blocks of the class explain all sizes, because the states are not at fault then.
        """
        bounds = LineBounds(1, offset)
        contradictions: list[tuple[int, Contradiction]] = []
        if next(self.joined(bounds), None) is not None:
            return None
        for size in self.usable(bounds):
            joined = next(self.joined(bounds, without=size), None)
            if joined is not None and joined.unique:
                wrong = self.contradiction(self.families(joined.blocks, bounds), size)
                if wrong is not None:
                    contradictions.append((size, wrong))
        return min(contradictions, key=lambda pair: pair[1].states, default=None)


def find_families(
    executions: Mapping[int, Executions],
    blocks: Mapping[int, Blocks] | None = None,
    progress: Progress | None = None,
    let: str = "l",
) -> FoundFamilies:
    """Returns the shortest program of the smallest consistent class; determines the blocks if they are not given."""
    coefficients = range(1, _STEEPEST + 1)
    first: NoFamilyError | None = None
    searches: list[tuple[_FamilySearch, list[int]]] = []
    for halves in (False, True):  # the second time with every second position as a separate array
        try:
            search = _FamilySearch(executions, progress, halves)
            if halves and not any(array.halved for array in search.arrays):
                break
            offsets = search.offsets()
            searches.append((search, offsets))
            if blocks is None:
                return search.with_joins(offsets, coefficients)
            return search.with_blocks(blocks, offsets, coefficients)
        except NoFamilyError as error:
            first = first or error
    reason = str(first)
    if blocks is None and searches:
        for search, offsets in searches:
            if (found := search.with_groups(offsets, coefficients)) is not None:
                return found
        search, offsets = searches[0]
        if (wrong := search.wrong_size(offsets[0])) is not None:
            return FoundFamilies(contradiction=wrong)
        if (why := search.even_together(LineBounds(coefficients[-1], offsets[-1]))) is not None:
            reason = f"{why}, even if all bits at a position are read together"
    if searches:
        most = searches[0][1][-1]
        reason += f" (indices a*i+b*{let}+c with |a| <= {coefficients[-1]} and |c| <= {most}; "
        reason += f"ranges and slices between b*{let}+c with |c| <= {most})"
    return FoundFamilies(reason=reason)
