"""A builder that reads like the paper's boxes, in Python.

>>> b = Builder()
>>> p, q = b.bits("p", 4), b.bits("q", 4)
>>> i = span(1, 4)
>>> b.block(p[i], q[i])
>>> b.when(p[i] == 1, q[i] == 0).write(p[i])
>>> b.build()
<Program: 8 bits, 4 blocks, 4 templates>

An index such as `i` holds all its values at once, so one call makes the whole family of blocks or templates.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path

import numpy as np

from bitwright.errors import InputError, Problem, ProgramError, counted
from bitwright.program.algorithm import Word
from bitwright.program.assemble import BlockFamily, Origin, Picks, RuleFamily, assemble
from bitwright.program.layout import KEYWORDS, NAME, Field, IntArray, Layout
from bitwright.program.program import Program

Index = int | IntArray | slice


def span(first: int, last: int) -> IntArray:
    """The indices first..last, both included: the paper's `for i in [l]` is `span(1, l)`."""
    return np.arange(first, last + 1, dtype=np.int64)


def grid(*ranges: tuple[int, int]) -> tuple[IntArray, ...]:
    """Several indices that run through all their combinations: `k, j = grid((1, words), (1, width))`."""
    axes = np.meshgrid(*(span(first, last) for first, last in ranges), indexing="ij")
    return tuple(axis.ravel() for axis in axes)


@dataclass(frozen=True, eq=False)
class Ref:
    """Bits chosen by an index: one row for each value of the index, one column for each bit chosen there."""

    field: Field
    bits: IntArray  # (rows or 1, columns), -1 where the index is out of range
    asked: tuple[IntArray, ...]  # the indices as given, broadcast to the shape of `bits`

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return _condition(self, other, same=True)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return _condition(self, other, same=False)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Condition:
    """Alternatives, each a list of (bits, values): `p[i] == q[i]` has two, `p[i] == 1` has one."""

    alternatives: tuple[tuple[tuple[Ref, IntArray], ...], ...]


class Bits:
    """A declared array of bits; indexing it from 1 gives a Ref, `x[:]` gives all of it."""

    def __init__(self, field: Field) -> None:
        self.field = field

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Ref:
        given = index if isinstance(index, tuple) else (index,)
        if len(given) != len(self.field.shape):
            raise InputError(
                f"{self.field} takes {counted(len(self.field.shape), 'index', 'indices')}, got {len(given)}"
            )
        columns = sum(isinstance(part, slice) for part in given)
        axes: list[IntArray] = []
        for part, extent in zip(given, self.field.shape, strict=True):
            if isinstance(part, slice):
                if part != slice(None):
                    raise InputError(f"{self.field} takes [:] for all of an index; write a span for a part of it")
                axes.append(span(1, extent))
            else:
                axes.append(_whole(part, f"an index of {self.field}"))
        slot, shaped = 1, []
        for part, axis in zip(given, axes, strict=True):
            shape = [1] * (1 + columns)
            if isinstance(part, slice):
                shape[slot] = -1
                slot += 1
            else:
                shape[0] = -1
            shaped.append(axis.reshape(shape))
        lengths = {len(axis) for part, axis in zip(given, axes, strict=True) if not isinstance(part, slice)} - {1}
        if len(lengths) > 1:
            raise InputError(f"{self.field} is given indices of different lengths: {sorted(lengths)}")
        full = np.broadcast_arrays(*shaped)
        asked = tuple(axis.reshape(axis.shape[0], prod(axis.shape[1:])) for axis in full)
        return Ref(self.field, self.field.locate(asked), asked)


def word(*pieces: Ref, name: str = "") -> Word:
    """A number made of these bits, the most significant piece first; `p[:]` is read with p[1] as its lowest bit."""
    bits = [int(bit) for piece in reversed(pieces) for bit in piece.bits.ravel()]
    if not bits:
        raise InputError(f"the number {name or 'without a name'} has no bits")
    if min(bits) < 0:
        raise InputError(f"the number {name or pieces[0].field.name} uses an index that is out of range")
    return Word(name or pieces[0].field.name, tuple(bits))


class Rule:
    """The left side of a rule, waiting for what it writes."""

    def __init__(self, builder: Builder, conditions: tuple[Condition, ...], origin: Origin) -> None:
        self._builder, self._conditions, self._origin = builder, conditions, origin

    def write(self, *targets: Ref) -> None:
        """The bits that the templates of this rule set in the next state."""
        if self not in self._builder._pending:
            raise InputError("a rule writes once; give all its bits to one 'write'")
        self._builder._pending.remove(self)
        self._builder._add_rule(self._conditions, targets, self._origin)


class Builder:
    """Collects bits, blocks and rules; `build` reports all their problems at once."""

    def __init__(self) -> None:
        self._shapes: list[tuple[str, tuple[int, ...]]] = []
        self._declared: dict[str, Origin] = {}
        self._blocks: list[BlockFamily] = []
        self._rules: list[RuleFamily] = []
        self._pending: list[Rule] = []
        self._problems: list[Problem] = []
        self._excused: set[str] = set()  # names in blocks that could not be made
        self._size = 0

    def bits(self, name: str, *shape: int) -> Bits:
        """Declares an array of bits of the given shape."""
        return Bits(self._declare(name, shape))

    def bit(self, name: str) -> Ref:
        """Declares a single bit."""
        field = self._declare(name, ())
        return Ref(field, field.bits().reshape(1, 1), ())

    def block(self, *members: Ref) -> None:
        """Declares blocks, one for each row of its members' index."""
        origin, before = _caller("block"), len(self._problems)
        count = self._rows(members, origin)
        if count is not None:
            self._blocks.append(BlockFamily(count, self._picks(members, count, origin), origin))
        if len(self._problems) > before:
            self._excused.update(member.field.name for member in members)

    def when(self, *conditions: Condition) -> Rule:
        """Starts a rule: the bits named here have these values, the other bits of their block are 0."""
        rule = Rule(self, conditions, _caller("when"))
        self._pending.append(rule)
        return rule

    def build(self) -> Program:
        """The program, or a ProgramError that lists every problem."""
        problems = [*self._problems, *(rule._origin.problem("'when' without 'write'") for rule in self._pending)]
        layout, incomplete = Layout.of(self._shapes), bool(problems)
        try:
            program = assemble(layout, self._blocks, self._rules, self._declared, self._excused, incomplete)
        except ProgramError as error:
            raise ProgramError([*problems, *error.problems]) from None
        if problems:
            raise ProgramError(problems)
        return program

    def _declare(self, name: str, shape: tuple[int, ...]) -> Field:
        if not NAME.fullmatch(name) or name in KEYWORDS:
            raise InputError(f"'{name}' cannot name bits: use letters, digits and _, and no word of the rule text")
        if name in self._declared:
            raise InputError(f"bits '{name}' are declared twice; choose another name")
        if any(extent < 1 for extent in shape):
            raise InputError(f"bits '{name}' need extents of at least 1, got {list(shape)}")
        self._declared[name] = _caller("bits")
        self._shapes.append((name, shape))
        field = Field(name, shape, self._size)
        self._size += field.size
        return field

    def _add_rule(self, conditions: Sequence[Condition], targets: Sequence[Ref], origin: Origin) -> None:
        for choice in product(*(condition.alternatives for condition in conditions)):
            literals = [literal for alternative in choice for literal in alternative]
            named = [ref for ref, _ in literals]
            count = self._rows([*named, *targets], origin, [values for _, values in literals])
            if count is None:
                return
            when = self._picks(named, count, origin)
            spread = [np.broadcast_to(v, (count, r.bits.shape[1])).ravel() for r, v in literals]
            values = np.concatenate([np.zeros(0, dtype=np.int64), *spread])
            write = self._picks(targets, count, origin)
            if len(when.bits) == len(values) and len(write.bits) == count * sum(r.bits.shape[1] for r in targets):
                self._rules.append(RuleFamily(count, when, values, write, origin))

    def _rows(self, refs: Sequence[Ref], origin: Origin, values: Sequence[IntArray] = ()) -> int | None:
        counts = {ref.bits.shape[0] for ref in refs} | {len(v) for v in values}
        wide = counts - {1}
        if len(wide) > 1:
            self._problems.append(origin.problem(f"indices of different lengths: {sorted(wide)}"))
            return None
        return wide.pop() if wide else 1 if counts else 0

    def _picks(self, refs: Sequence[Ref], count: int, origin: Origin) -> Picks:
        rows, bits = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for ref in refs:
            if (ref.field.name, ref.field.shape) not in self._shapes:
                self._problems.append(origin.problem(f"{ref.field} belongs to another builder"))
            outside = np.argwhere(ref.bits < 0)
            if len(outside):
                at = tuple(outside[0])
                index = ",".join(str(int(axis[at])) for axis in ref.asked)
                self._problems.append(
                    origin.problem(f"index out of range: {ref.field.name}[{index}], declared as {ref.field}")
                )
            full = np.broadcast_to(ref.bits, (count, ref.bits.shape[1]))
            rows.append(np.repeat(np.arange(count), full.shape[1]))
            bits.append(full.ravel())
        inside = np.concatenate(bits) >= 0
        return Picks(np.concatenate(rows)[inside], np.concatenate(bits)[inside])


def _condition(ref: Ref, other: object, same: bool) -> Condition:
    if isinstance(other, Ref):
        if ref.bits.shape[1] != 1 or other.bits.shape[1] != 1:
            raise InputError("only single bits can be compared with each other; use an index instead of [:]")
        zero, one = np.zeros((1, 1), dtype=np.int64), np.ones((1, 1), dtype=np.int64)
        first, second = (zero, one) if same else (one, zero)
        return Condition((((ref, zero), (other, first)), ((ref, one), (other, second))))
    values = _whole(other, f"what {ref.field.name} is compared with").reshape(-1, 1)
    if not np.isin(values, (0, 1)).all():
        raise InputError(f"a bit is 0 or 1, but {ref.field.name} is compared with {other}")
    return Condition((((ref, values if same else 1 - values),),))


def _whole(given: object, what: str) -> IntArray:
    array = np.atleast_1d(np.asarray(given))
    if array.size and (array.dtype.kind not in "biu" or array.ndim > 1):
        raise InputError(f"{what} must be a whole number or a row of them, got {given!r}")
    return array.astype(np.int64)


def _caller(what: str) -> Origin:
    """The line of the user's Python that made this call, for problem messages."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return Origin(what, frame.f_lineno, place=f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}")
