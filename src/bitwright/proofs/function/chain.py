"""Reads rule text as a chain: a letter at each position, wires only between neighbours, and five classes of positions.

The classes are first, second, middle, last but one and last (1 to 5). The bits, rules, start bits and inputs of each
class are read from the rules at small sizes. By `affine.reach` they depend only on a position's distances from both
ends, up to a margin m. Sizes up to 4m+8 therefore cover every case; if the classes are the same at all of them, they
are the same at every size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from bitwright.proofs.function.affine import (
    NoChainError,
    Reach,
    SizeReader,
    reach,
)
from bitwright.rules.algorithm import FIXED_POINT, Algorithm, Word
from bitwright.rules.expressions import Expression
from bitwright.rules.text import RuleText, syntax

FIRST, SECOND, MIDDLE, BEFORE, LAST = CLASSES = (1, 2, 3, 4, 5)
FOLLOWS = {0: (1,), 1: (2,), 2: (3,), 3: (3, 4), 4: (5,), 5: ()}  # 0 stands for the start of the word
SHORTEST = 5  # positions, for one of each class
MAX_MARGIN = 8
MAX_TRACKS = 24
FEW = 4  # a number with at most this many bits may have them anywhere near the ends


@dataclass(frozen=True, order=True)
class ChainRule:
    """A rule for letters whose bits in `mask` are `value`: the bits to write left, here, right and in globals."""

    mask: int
    value: int
    to_left: int = 0
    here: int = 0
    to_right: int = 0
    to_globals: int = 0


@dataclass(frozen=True)
class ClassOf:
    """The tracks, rules, start bits and input bits of the positions of one class."""

    present: int  # mask of the tracks with a bit here
    rules: tuple[ChainRule, ...]
    start: int  # bits that are on at the start
    free: int  # bits set by an input


@dataclass(frozen=True)
class PlaceWeights:
    """A number in a chain: the sum of weight * 2^position over its bits on tracks, with positions from 0.

    A number stored in a few bits near the ends, or in globals, has plain weights instead.
    """

    tracks: Mapping[int, Mapping[int, Fraction]]  # class, track: weight
    few: Mapping[tuple[int, int], int] = field(default_factory=dict)  # (class or 0, track or global): weight
    first: int | None = None  # position of its lowest bit, if bit k is at position first + k-1 of one track
    track: int | None = None  # that track


@dataclass(frozen=True)
class ChainProgram:
    """A program as a chain. Bit t of a letter is `tracks[t]` at its position, bit t of the globals is `globals[t]`."""

    rules: RuleText
    size: str  # the `let` name that determines the length
    unit: int  # the length is size * unit + extra
    extra: int
    tracks: tuple[str, ...]
    places: tuple[tuple[str, int, int, int], ...]  # for each track (array, g, s, d): bit g*k - s is at position k - d
    globals: tuple[str, ...]
    classes: Mapping[int, ClassOf]
    global_rules: tuple[ChainRule, ...]
    start_globals: int
    inputs: Mapping[str, PlaceWeights]
    outputs: Mapping[str, PlaceWeights]
    steps: tuple[int, int] | None  # (a, b): a * length + b
    halt: tuple[int, int] | str | None  # (class or 0 for a global, track), or "fixed point"
    first: int  # the first size at which no array is empty
    sizes: tuple[int, ...]  # the sizes at which the classes were read
    numbers: Mapping[str, int]  # the other plain numbers of the text, which do not change
    forms: Mapping[str, tuple[int, int]]  # all numbers as (a, b) for a * size + b

    @cached_property
    def fixed(self) -> Mapping[str, int]:
        """The numbers of the text that do not depend on the size."""
        constants = {name: constant for name, (rate, constant) in self.forms.items() if not rate}
        return self.rules.fixed(constants)

    def length(self, size: int) -> int:
        """Returns the number of positions at a size."""
        return size * self.unit + self.extra


def read_chain(rules: RuleText, lets: Mapping[str, int] | None = None) -> ChainProgram:
    """Returns a rule text as a chain at every size; raises NoChainError with the reason if it is not a chain."""
    numbers = {**rules.numbers, **(lets or {})}
    reader = SizeReader(rules, size := size_of(rules, numbers), numbers)
    del numbers[size]
    found = reach(reader, rules.tree.statements)
    if found.margin > MAX_MARGIN:
        raise NoChainError(f"indices must be at most {MAX_MARGIN} from an end or a position, got {found.margin}")
    top = 4 * found.margin + 8
    first_size = reader.first()
    read = []
    for value in range(first_size, top // found.unit + 1):
        algorithm = rules.at_or_none({**(lets or {}), size: value})
        if algorithm is not None:
            read.append(_Instance(algorithm, value, found))
    if not read or read[-1].size * found.unit < top - found.unit:
        raise NoChainError(f"the text is not a program at {size} = {top // found.unit}")
    shift = {track: by for group in _shifts(read) for track, by in group.items()}
    tracks = tuple(dict.fromkeys(track for instance in read for track, _ in instance.raw.values()))
    if len(tracks) > MAX_TRACKS:
        raise NoChainError(f"a position can have at most {MAX_TRACKS} bits, got {len(tracks)}")
    views = [_ChainView(instance, tracks, shift) for instance in read]
    first, extra = _the_same(views, found)
    return ChainProgram(
        rules=rules,
        size=size,
        unit=found.unit,
        extra=extra,
        tracks=tracks,
        places=tuple(_place(track, found, shift[track] + first.low) for track in tracks),
        globals=first.globals,
        classes=first.classes,
        global_rules=first.global_rules,
        start_globals=first.start_globals,
        inputs=first.inputs,
        outputs=first.outputs,
        steps=_steps(reader, found.unit, extra, first.halt == FIXED_POINT),
        halt=first.halt,
        first=first_size,
        sizes=tuple(view.instance.size for view in views if view.length >= SHORTEST),
        numbers=numbers,
        forms=reader.forms,
    )


def size_of(rules: RuleText, numbers: Mapping[str, int]) -> str:
    """Returns the only plain number of the text on which the lengths of arrays depend."""
    candidates = []
    for name in numbers:
        reader = SizeReader(rules, name, numbers)
        if any(_depends(reader, extent) for extents in rules.extents.values() for extent in extents):
            candidates.append(name)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise NoChainError(f"the lengths of the arrays depend on several numbers: {', '.join(candidates)}")
    raise NoChainError("no array has a length that depends on a `let` line; declare one, such as 'let l = 8'")


def _depends(reader: SizeReader, extent: Expression) -> bool:
    try:
        return reader.form(extent).size != 0
    except NoChainError:
        return True


class _Instance:
    """The rules at one size, with the track and position of every bit."""

    def __init__(self, algorithm: Algorithm, size: int, found: Reach) -> None:
        self.algorithm, self.size = algorithm, size
        self.raw: dict[int, tuple[str, int]] = {}  # bit: its track, and its position before tracks are shifted
        self.globals: list[int] = []
        for item in algorithm.program.layout.fields:
            growth = found.growth[item.name]
            for place, bit in enumerate(item.bits().tolist(), start=1):
                if growth == 0:
                    self.globals.append(bit)
                else:
                    position = -(-place // growth)
                    sub = growth * position - place
                    self.raw[bit] = (f"{item.name}.{sub}" if growth > 1 else item.name, position)
        self.blocks = [algorithm.program.block_members(b).tolist() for b in range(algorithm.program.blocks)]


def _shifts(read: Sequence[_Instance]) -> list[dict[str, int]]:
    """Returns groups of tracks that share blocks, each with the shift that puts all bits of a block at one position."""
    groups: list[dict[str, int]] = []
    for instance in read:
        for block in instance.blocks:
            placed = [instance.raw[bit] for bit in block if bit in instance.raw]
            for track, position in placed:
                _join(groups, placed[0][0], track, position - placed[0][1])
    return groups


def _join(groups: list[dict[str, int]], track: str, other: str, apart: int) -> None:
    """Records that in a block `other` is `apart` positions behind `track`."""
    first = next((group for group in groups if track in group), None)
    second = next((group for group in groups if other in group), None)
    if first is None:
        first = {track: 0}
        groups.append(first)
        second = first if track == other else second
    if second is first:
        if first.setdefault(other, first[track] + apart) != first[track] + apart:
            if track == other:
                raise NoChainError(f"a block contains bits of {track} at several positions")
            raise NoChainError(f"the distance between the bits of {track} and {other} differs between blocks")
    elif second is None:
        first[other] = first[track] + apart
    else:
        move = first[track] + apart - second[other]
        first.update({track: shift + move for track, shift in second.items()})
        groups.remove(second)


def _the_same(views: Sequence[_ChainView], found: Reach) -> tuple[_ChainView, int]:
    """Returns the chain at the first size, and the number of positions beyond size * unit.

    Raises NoChainError if the chain differs between sizes.
    """
    extra = {view.length - view.instance.size * found.unit for view in views}
    if len(extra) > 1:
        raise NoChainError(f"the number of positions is not a linear function of {found.size}")
    first, *others = [view for view in views if view.length >= SHORTEST]
    for view in others:
        for name in ("low", "classes", "global_rules", "start_globals", "inputs", "outputs", "halt", "globals"):
            if getattr(view, name) != getattr(first, name):
                sizes = f"{found.size} = {first.instance.size} and {found.size} = {view.instance.size}"
                raise NoChainError(f"the chains at {sizes} differ in their {_COMPARED[name]}")
    return first, extra.pop()


_COMPARED = {
    "low": "lowest positions",
    "classes": "rules, inputs or start bits at some class of positions",
    "global_rules": "rules of single bits",
    "start_globals": "single bits at the start",
    "inputs": "inputs",
    "outputs": "outputs",
    "halt": "halt bits",
    "globals": "single bits",
}


def _steps(reader: SizeReader, unit: int, extra: int, rests: bool) -> tuple[int, int] | None:
    """Returns the steps of a run as a * length + b, one less if it `rests`: a fixed point is only seen a step later."""
    for item in reader.rules.each(syntax.Count):
        if item.token.text == "steps":
            form = reader.form(item.value)
            if form.size % unit:
                raise NoChainError("the number of steps must grow by a multiple of the number of positions")
            rate = form.size // unit
            return rate, form.constant - rate * extra - rests
    return None


def _place(track: str, found: Reach, shift: int) -> tuple[str, int, int, int]:
    array, _, sub = track.partition(".")
    return array, found.growth[array], int(sub or 0), shift


class _ChainView:
    """The chain at one size: the contents of each class, with every bit at its track and position."""

    def __init__(self, instance: _Instance, tracks: tuple[str, ...], shift: Mapping[str, int]) -> None:
        self.instance = instance
        algorithm = instance.algorithm
        program = algorithm.program
        numbers = {track: number for number, track in enumerate(tracks)}
        places = {bit: (numbers[track], position - shift[track]) for bit, (track, position) in instance.raw.items()}
        self.low = low = min(position for _, position in places.values())
        self.place = {bit: (track, position - low) for bit, (track, position) in places.items()}
        self.length = 1 + max(position for _, position in self.place.values())
        self.global_place = {bit: number for number, bit in enumerate(instance.globals)}
        self.globals = tuple(program.layout.name_of(bit) for bit in instance.globals)
        if self.length < SHORTEST:
            return
        rules: dict[int, list[ChainRule]] = {position: [] for position in range(self.length)}
        global_rules = []
        for template in range(program.templates):
            members = program.block_members(int(program.template_block[template])).tolist()
            config = int(program.template_config[template])
            on = [bit for place, bit in enumerate(members) if config >> place & 1]
            targets = program.writes(template).tolist()
            inside = [bit for bit in members if bit in self.place]
            if inside and len(inside) < len(members):
                raise NoChainError(
                    f"a block mixes bits at a position with single bits: {program.template_text(template)}"
                )
            if inside:
                rules[self.place[members[0]][1]].append(
                    self._rule(members, on, targets, program.template_text(template))
                )
            else:
                if any(bit in self.place for bit in targets):
                    raise NoChainError(f"a single bit writes to a position: {program.template_text(template)}")
                of = self.global_place
                mask, value, here = (_mask(of[bit] for bit in bits) for bits in (members, on, targets))
                global_rules.append(ChainRule(mask, value, here=here))
        self.global_rules = tuple(sorted(global_rules))
        present, start, free = (
            [_mask(track for track, at in places if at == position) for position in range(self.length)]
            for places in (
                [*self.place.values()],
                [self.place[bit] for bit in algorithm.start if bit in self.place],
                [self.place[bit] for bit in algorithm.input_bits.tolist() if bit in self.place],
            )
        )
        self.classes: dict[int, ClassOf] = {}
        for position in range(self.length):
            found = ClassOf(present[position], tuple(sorted(rules[position])), start[position], free[position])
            if self.classes.setdefault(class_of(position, self.length), found) != found:
                raise NoChainError(f"two middle positions of a chain of {self.length} have different rules or bits")
        if any(bit in self.global_place for bit in algorithm.input_bits.tolist()):
            raise NoChainError("an input has a bit that is not at a position; use an array that grows with the size")
        self.start_globals = _mask(self.global_place[bit] for bit in algorithm.start if bit in self.global_place)
        self.inputs = {word.name: self._weights(word) for word in algorithm.inputs}
        self.outputs = {word.name: self._weights(word) for word in algorithm.outputs}
        self.halt = self._halt(algorithm)

    def _rule(self, members: list[int], on: list[int], targets: list[int], shown: str) -> ChainRule:
        position = self.place[members[0]][1]
        mask, value = (_mask(self.place[bit][0] for bit in bits) for bits in (members, on))
        to = {-1: 0, 0: 0, 1: 0}
        for track, at in (self.place[bit] for bit in targets if bit in self.place):
            if at - position not in to:
                raise NoChainError(f"a wire is longer than one position: {shown}")
            to[at - position] |= 1 << track
        beyond = _mask(self.global_place[bit] for bit in targets if bit in self.global_place)
        return ChainRule(mask, value, to[-1], to[0], to[1], beyond)

    def _weights(self, word: Word) -> PlaceWeights:
        """Returns the weights of a number; raises NoChainError if they differ within a class."""
        found: dict[int, dict[int, Fraction]] = {}
        if len(word.bits) <= FEW:
            places = [self._class_and_track(bit) for bit in word.bits]
            if all(kind != MIDDLE for kind, _ in places):
                signs = [1] * (len(places) - 1) + [-1 if word.signed else 1]
                few = {place: sign << k for k, (place, sign) in enumerate(zip(places, signs, strict=True))}
                return PlaceWeights({}, few)
        regular = True
        lowest = self.place.get(word.bits[0])
        for exponent, bit in enumerate(word.bits):
            sign = -1 if word.signed and bit == word.bits[-1] else 1
            if bit in self.global_place:
                raise NoChainError(f"'{word.name}' mixes bits at positions with single bits")
            track, position = self.place[bit]
            kind = class_of(position, self.length)
            weight = sign * Fraction(2) ** (exponent - position)
            if found.setdefault(kind, {}).setdefault(track, weight) != weight:
                raise NoChainError(f"the bits of '{word.name}' must be at successive positions, lowest first")
            regular = regular and lowest is not None and (track, position) == (lowest[0], lowest[1] + exponent)
        middle = {self.place[bit][0] for bit in word.bits if class_of(self.place[bit][1], self.length) == MIDDLE}
        named = set(word.bits)
        for bit, (track, position) in self.place.items():
            if track in middle and class_of(position, self.length) == MIDDLE and bit not in named:
                raise NoChainError(f"'{word.name}' must include all or none of the middle positions of its track")
        return PlaceWeights(found, {}, *((lowest[1], lowest[0]) if regular and lowest else (None, None)))

    def _halt(self, algorithm: Algorithm) -> tuple[int, int] | str | None:
        if algorithm.halt is None or algorithm.halt == FIXED_POINT:
            return algorithm.halt
        kind, track = self._class_and_track(int(algorithm.halt))
        if kind == MIDDLE:
            raise NoChainError("the bit that ends a run must be near an end, or a single bit")
        return kind, track

    def _class_and_track(self, bit: int) -> tuple[int, int]:
        """Returns the class and track of a bit at a position; for a global, 0 and its number."""
        if bit in self.global_place:
            return 0, self.global_place[bit]
        track, position = self.place[bit]
        return class_of(position, self.length), track


def class_of(position: int, length: int) -> int:
    """Returns the class of a position, counted from 0, in a chain of at least five positions."""
    if position < 2:
        return (FIRST, SECOND)[position]
    return {length - 1: LAST, length - 2: BEFORE}.get(position, MIDDLE)


def _mask(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in set(numbers))
