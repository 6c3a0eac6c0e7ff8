"""Builds programs in Python code that reads like the boxes in the paper.

>>> from bitwright.rules import span
>>> b = Builder()
>>> p, q = b.bits("p", 4), b.bits("q", 4)
>>> i = span(1, 4)
>>> b.block(p[i], q[i])
>>> b.when(p[i] == 1, q[i] == 0).write(p[i])
>>> b.build()
<Program: 8 bits, 4 blocks, 4 templates>

An index such as `i` contains all its values at once, so one call creates an entire family of blocks or templates.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod
from os.path import basename

import numpy as np

from bitwright.common.bits import shorten, whole_number
from bitwright.common.errors import InputError, ProgramError
from bitwright.rules.algorithm import Word
from bitwright.rules.assemble import BitFamily, Picks, RuleFamily, assemble
from bitwright.rules.families import WrittenAt
from bitwright.rules.layout import KEYWORDS, MAX_BITS, NAME, Field, IntArray, Layout
from bitwright.rules.program import Program
from bitwright.rules.references import Bits, Condition, Ref, checked_conditions, checked_refs


def word(*pieces: Ref, name: str = "") -> Word:
    """Builds a number from bits, most significant piece first; p[1] is the lowest bit of `p[:]`.

    >>> b = Builder()
    >>> p, carry = b.bits("p", 3), b.bit("carry")
    >>> word(carry, p[:], name="sum")
    Word(name='sum', bits=(0, 1, 2, 3), signed=False)
    """
    pieces = checked_refs(pieces, "a number")
    bits = [int(bit) for piece in reversed(pieces) for bit in piece.bits.ravel()]
    if not bits:
        raise InputError(f"the number {name or 'without a name'} must have at least one bit")
    return Word(name or pieces[0].field.name, tuple(bits))


class Rule:
    """The conditions of a rule, which `write` completes."""

    def __init__(self, builder: Builder, conditions: tuple[Condition, ...], origin: WrittenAt) -> None:
        self._builder, self._conditions, self._origin = builder, conditions, origin

    def write(self, *targets: Ref) -> None:
        """Sets the bits that the templates of this rule turn on in the next state."""
        checked = checked_refs(targets, "write")
        if self not in self._builder._pending:
            raise InputError("a rule takes a single 'write'; pass all bits to it")
        self._builder._pending.remove(self)
        self._builder._rules += self._builder._families_of_rule(self._conditions, checked, self._origin)


class Builder:
    """Collects bits, blocks and rules; `build` reports all their problems at once.

    >>> b = Builder()
    >>> light, button = b.bit("light"), b.bit("button")
    >>> b.block(light, button)
    >>> b.when(light != button).write(light)
    >>> b.build()
    <Program: 2 bits, 1 block, 2 templates>
    """

    def __init__(self) -> None:
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._declared: dict[str, WrittenAt] = {}
        self._array_families: list[str] = []
        self._blocks: list[BitFamily] = []
        self._rules: list[RuleFamily] = []
        self._cells: list[BitFamily] = []
        self._rest_as_cells = False
        self._pending: list[Rule] = []
        self._size = 0

    def bits(self, name: str, *shape: int, family: str = "") -> Bits:
        """Declares an array of bits with the given shape.

        Diagrams draw arrays with the same `family` together, such as the levels of a tree.

        >>> p = Builder().bits("p", 3)
        >>> p[1], p[:]
        (<p[1]>, <p[1], p[2], p[3]>)
        """
        return Bits(self._declare(name, shape, family))

    def bit(self, name: str, family: str = "") -> Ref:
        """Declares a single bit.

        >>> Builder().bit("carry")
        <carry>
        """
        field = self._declare(name, (), family)
        return Ref(field, field.bits().reshape(1, 1))

    def block(self, *members: Ref) -> None:
        """Declares blocks, one for each value of the index of the members.

        >>> from bitwright.rules import span
        >>> b = Builder()
        >>> p, q, i = b.bits("p", 4), b.bits("q", 4), span(1, 4)
        >>> b.block(p[i], q[i])
        >>> b.when(p[i] == 1).write(q[i])
        >>> b.build()
        <Program: 8 bits, 4 blocks, 4 templates>
        """
        self._blocks.append(self._family("block", members))

    def cell(self, *members: Ref) -> None:
        """Declares cells, one for each value of the index; a cell contains the blocks of these bits, in this order.

        A network trained on one cell of each kind runs the program at every size with the same kinds.

        >>> from bitwright.rules import span
        >>> b = Builder()
        >>> p, q, i = b.bits("p", 4), b.bits("q", 4), span(1, 4)
        >>> b.block(p[i])
        >>> b.block(q[i])
        >>> b.when(p[i] == 1).write(q[i])
        >>> b.cell(p[i], q[i])
        >>> [str(kind) for kind in b.build().kinds.kinds]
        ['1 block, 1 example, 1 port, 2 local states']
        """
        self._cells.append(self._family("cell", members))

    def _family(self, what: str, members: Sequence[Ref]) -> BitFamily:
        members = checked_refs(members, f"a {what}")
        origin = _caller(" ".join((what, *dict.fromkeys(member.field.name for member in members))))
        count = _row_count(member.bits for member in members)
        return BitFamily(count, self._picks(members, count), origin)

    def rest_as_cells(self) -> None:
        """Makes every block that is in no `cell` a separate cell, in the family of its block.

        >>> b = Builder()
        >>> p, flag = b.bits("p", 2), b.bit("flag")
        >>> b.block(p[1])
        >>> b.block(p[2])
        >>> b.block(flag)
        >>> b.when(flag == 1).write(p[:])
        >>> b.cell(p[:])
        >>> b.rest_as_cells()
        >>> [b.build().cells.members(cell).tolist() for cell in range(2)]
        [[0, 1], [2]]
        """
        self._rest_as_cells = True

    def when(self, *conditions: Condition) -> Rule:
        """Starts a rule that matches if these bits have these values and the other bits of their block are 0.

        >>> b = Builder()
        >>> p = b.bits("p", 2)
        >>> b.block(p[:])
        >>> b.when(p[1] == 1).write(p[2])
        >>> b.build().template_text(0)
        'when p[1]=1 p[2]=0 write p[2]'
        """
        rule = Rule(self, checked_conditions(conditions), _caller("when"))
        self._pending.append(rule)
        return rule

    def build(self) -> Program:
        """Builds the program; raises ProgramError with every problem.

        >>> b = Builder()
        >>> p = b.bits("p", 2)
        >>> b.block(p[1])
        >>> try:
        ...     b.build()
        ... except ProgramError as error:
        ...     print(*(problem.message for problem in error.problems), sep="\\n")
        p[2] is not in any block; add a 'block' for it
        a program needs at least one template
        """
        problems = [rule._origin.problem("'when' without 'write'") for rule in self._pending]
        try:
            program = assemble(
                Layout.of([*self._shapes.items()]),
                self._blocks,
                self._rules,
                self._declared,
                needs_rules=not problems,
                array_families=self._array_families,
                cells=self._cells,
                rest_as_cells=self._rest_as_cells,
            )
        except ProgramError as error:
            raise ProgramError([*problems, *error.problems]) from None
        if problems:
            raise ProgramError(problems)
        return program

    def _declare(self, name: str, shape: tuple[int, ...], family: str) -> Field:
        if not isinstance(name, str):
            raise InputError(f"the name of bits must be a str, got {shorten(repr(name))}")
        if not NAME.fullmatch(name) or name in KEYWORDS:
            raise InputError(f"'{name}' cannot name bits; use letters, digits and _, and no keyword of rule text")
        if name in self._declared:
            raise InputError(f"'{name}' is declared twice; choose another name")
        shape = tuple(whole_number(extent, f"a dimension of '{name}'") for extent in shape)
        if any(extent < 1 for extent in shape):
            raise InputError(f"the dimensions of '{name}' must be at least 1, got {list(shape)}")
        if (size := prod(shape)) > MAX_BITS:
            raise InputError(f"'{name}' has {size:,} bits, but a program may have at most {MAX_BITS:,}")
        if self._size + size > MAX_BITS:
            raise InputError(f"with '{name}' the program has {self._size + size:,} bits; the limit is {MAX_BITS:,}")
        self._declared[name] = _caller("bits")
        self._array_families.append(family or name)
        self._shapes[name] = shape
        field = Field(name, shape, self._size)
        self._size += field.size
        return field

    def _families_of_rule(
        self, conditions: Sequence[Condition], targets: Sequence[Ref], origin: WrittenAt
    ) -> Iterator[RuleFamily]:
        """Yields templates, one per row, that write the targets if the bits have these values."""
        for choice in product(*(condition.alternatives for condition in conditions)):
            literals = [literal for alternative in choice for literal in alternative]
            tested = [ref for ref, _ in literals]
            count = _row_count([*(ref.bits for ref in (*tested, *targets)), *(values for _, values in literals)])
            spread = [np.broadcast_to(values, (count, ref.bits.shape[1])).ravel() for ref, values in literals]
            values = np.concatenate([np.zeros(0, dtype=np.int64), *spread])
            yield RuleFamily(count, self._picks(tested, count), values, self._picks(targets, count), origin)

    def _picks(self, refs: Sequence[Ref], count: int) -> Picks:
        rows, bits = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for ref in refs:
            if self._shapes.get(ref.field.name) != ref.field.shape:
                raise InputError(f"{ref.field} belongs to another builder")
            columns = ref.bits.shape[1]
            rows.append(np.arange(count).repeat(columns))
            bits.append(np.broadcast_to(ref.bits, (count, columns)).ravel())
        return Picks(np.concatenate(rows), np.concatenate(bits))


def _row_count(parts: Iterable[IntArray]) -> int:
    """Returns the number of rows of a line: the length of its longest part; every other part has this length or 1."""
    counts = {len(part) for part in parts}
    if len(counts - {1}) > 1:
        raise InputError(f"indices must have the same length, got lengths {sorted(counts - {1})}")
    return max(counts, default=0) if 0 not in counts else 0


def _caller(what: str) -> WrittenAt:
    """Returns the line of the user's Python code that called the builder, for messages."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return WrittenAt(what, frame.f_lineno, place=f"{basename(frame.f_code.co_filename)}:{frame.f_lineno}")
