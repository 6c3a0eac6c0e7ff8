"""A few steps on a ring of any size: every bit depends on few inputs, so trying those proves it for every ring.

The rules must look the same at every position: arrays of one length w, indices `i`, `i%w+1`, `(i-2)%w+1` and the like
for i in 1..w. A state of a ring repeats along the whole line of integers, and so does the next one. So what holds at
position 0 of the line, for all values of the inputs that can have reached it, holds at every position of every ring.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from bitwright.program import ensures
from bitwright.program.algorithm import Algorithm
from bitwright.program.ensures import Combined, Constant, Expression, Named, Negation, names_in
from bitwright.program.text import syntax
from bitwright.program.text.lets import plain_lets
from bitwright.program.text.parser import parse_statements
from bitwright.proofs.function.affine import IndexForm, NoChainError, SizeReader, outside, statements
from bitwright.text.scanner import Token

MOST_INPUTS = 20  # bits that may reach a position
Bit = tuple[str, int]  # array, position


@dataclass(frozen=True)
class RingRule:
    """A rule at position 0: the values of its block, and what it writes."""

    on: frozenset[str]
    block: frozenset[str]
    writes: tuple[Bit, ...]


class Ring:
    """Rules on a ring; raises NoChainError for a text that is none."""

    def __init__(self, text: str, lets: Mapping[str, int]) -> None:
        tree = parse_statements(text)
        self.numbers = {**plain_lets(text), **lets}
        extents = {
            extent.token.text if isinstance(extent, syntax.Name) else ""
            for item in tree.statements
            if isinstance(item, syntax.BitsDeclaration)
            for _, several in item.items
            for extent in (several or (None,))
        }
        if len(extents) != 1 or not extents <= set(self.numbers):
            raise NoChainError("not all arrays have the one length of a ring")
        (self.size,) = extents
        fixed = {name: value for name, value in self.numbers.items() if name != self.size}
        self.reader = SizeReader(tree, self.size, fixed)
        self.block_of: dict[str, frozenset[str]] = {}
        self.rules: list[RingRule] = []
        self.words: dict[str, dict[str, str]] = {"input": {}, "output": {}}
        self.steps: int | None = None
        lines = list(statements(tree))
        for item in lines:
            if isinstance(item, syntax.Block):
                self._block(item)
        for item in lines:
            self._line(item)
        if not self.words["output"]:
            raise NoChainError("a ring needs an output line")
        if self.steps is None:
            raise NoChainError("a ring needs a fixed number of steps")

    def _block(self, item: syntax.Block) -> None:
        index = self._through(item.clauses, item.token)
        members = [(member.token.text, self._shift(member, index)) for member in item.members]
        if any(shift for _, shift in members) or len({name for name, _ in members}) < len(members):
            outside(item.token, "the bits of a block stand at different positions of the ring")
        for name, _ in members:
            self.block_of[name] = frozenset(name for name, _ in members)

    def _line(self, item: syntax.Statement) -> None:
        if isinstance(item, syntax.WhenClause):
            self._rule(item)
        elif isinstance(item, syntax.PortLine):
            for member in item.members if item.token.text == "input" and not item.name else item.members[:1]:
                if member.parts or (item.name and len(item.members) > 1):
                    outside(item.token, "a number on a ring is a whole array")
                self.words[item.token.text][item.name.text if item.name else member.token.text] = member.token.text
        elif isinstance(item, syntax.Count) and item.token.text == "steps":
            form = self.reader.form(item.value, {})
            if form.size:
                outside(item.token, "the number of steps depends on the size of the ring")
            self.steps = form.constant
        elif isinstance(item, syntax.Start | syntax.Halt):
            outside(item.token, f"'{item.token.text}' on a ring")

    def _rule(self, item: syntax.WhenClause) -> None:
        index = self._through(item.clauses, item.token)
        choices: list[list[dict[str, int]]] = []
        for test in item.tests:
            name = test.left.token.text
            if self._shift(test.left, index):
                outside(test.left.token, "a rule asks about another position of the ring")
            if test.right is None:
                choices.append([{name: 0}, {name: 1}])
            elif isinstance(test.right, syntax.BitRef):
                other = test.right.token.text
                if self._shift(test.right, index):
                    outside(test.right.token, "a rule asks about another position of the ring")
                choices.append([{name: value, other: value if test.same else 1 - value} for value in (0, 1)])
            else:
                value = self.reader.form(test.right, {})
                if not value.fixed:
                    outside(test.left.token, "a value that depends on the position")
                choices.append([{name: value.constant if test.same else 1 - value.constant}])
        writes = tuple((target.token.text, self._shift(target, index)) for target in item.targets)
        for choice in product(*choices):
            values = {name: value for part in choice for name, value in part.items()}
            block = self.block_of[next(iter(values))]
            on = frozenset(name for name, value in values.items() if value)
            self.rules.append(RingRule(on, block, writes))

    def _through(self, clauses: syntax.Clauses, place: Token) -> str:
        """The index of `for i in 1..w`."""
        if len(clauses.ranges) != 1 or clauses.conditions:
            outside(place, f"not one line for all positions, as in: for i in 1..{self.size}")
        (item,) = clauses.ranges
        if self.reader.form(item.first, {}) != IndexForm(0, 1) or self.reader.form(item.last, {}) != IndexForm(1, 0):
            outside(item.token, f"the range of a ring is 1..{self.size}")
        return item.token.text

    def _shift(self, bit: syntax.BitRef, index: str) -> int:
        """The distance of `x[i]`, `x[i%w+1]` or `x[(i-2)%w+1]` from position i."""
        part = bit.parts[0] if len(bit.parts) == 1 else None
        if part is None or part.first is None or part.first is not part.last:
            outside(bit.token, f"{bit.token.text} is given no single index")
        found = self.turned(_plain(part.first), index)
        if found is None:
            outside(bit.token, f"this index is no place on a ring of {self.size}")
        return found

    def turned(self, part: Expression, index: str) -> int | None:
        """k where an index is the place k beyond `index`, round the ring."""
        if part == Named(index):
            return 0
        if isinstance(part, Combined) and part.sign == "+" and part.right == Constant(1):
            rest = part.left
            if isinstance(rest, Combined) and rest.sign == "%" and rest.right == Named(self.size):
                form = _affine(rest.left)
                return form.constant + 1 if form is not None and form.index == {index: 1} else None
        return None

    def after(self, state: set[Bit]) -> set[Bit]:
        """One step on the line of integers, of a state with finitely many bits on."""
        found: set[Bit] = set()
        places = {at for _, at in state}
        for rule in self.rules:
            for at in places:
                if {name for name in rule.block if (name, at) in state} == rule.on:
                    found |= {(name, at + shift) for name, shift in rule.writes}
        return found

    @property
    def far(self) -> int:
        return max([abs(shift) for rule in self.rules for _, shift in rule.writes], default=0)


def ring_violation(text: str, algorithm: Algorithm, lets: Mapping[str, int]) -> tuple[int, str]:
    """How many inputs were tried, and what is wrong, or nothing; raises NoChainError for what is no such ring."""
    ring = Ring(text, lets)
    if any(not rule.on for rule in ring.rules):
        raise NoChainError("a rule matches where all bits are off")
    assert ring.steps is not None
    tried = 0
    for line in algorithm.ensures:
        count, wrong = _violation(ring, line)
        tried += count
        if wrong:
            return tried, wrong
    return tried, ""


def _violation(ring: Ring, line: ensures.EnsureLine) -> tuple[int, str]:
    if len(line.ranges) != 1 or line.ranges[0].first != Constant(1) or line.ranges[0].last != Named(ring.size):
        raise NoChainError(f"a line about a ring is one for i in 1..{ring.size}")
    index = line.ranges[0].name
    bits: dict[Named, tuple[bool, str, int]] = {}
    constants: dict[str, Any] = {}
    for name in names_in(line.truth):
        if name.index is None:
            if name.text not in (index, ring.size):
                form = ring.reader.forms.get(name.text)
                if not isinstance(form, IndexForm) or form.size:
                    raise NoChainError(f"'{name.text}' in a line about a ring")
                constants[name.text] = form.constant
            continue
        entered = name.entered or name.text not in ring.words["output"]
        shift = ring.turned(name.index, index)
        array = ring.words["input" if entered else "output"].get(name.text)
        if shift is None or array is None:
            raise NoChainError(f"{ensures.shown(name)} is no bit of the ring")
        bits[name] = entered, array, shift
    if any(part.text in (index, ring.size) for part in _outside_indices(line.truth)):
        raise NoChainError(f"'{index}' and '{ring.size}' stand in indices only")
    steps, far = ring.steps or 0, ring.far
    reached = {shift for entered, _, shift in bits.values() if not entered}
    inputs = {(array, shift) for entered, array, shift in bits.values() if entered}
    inputs |= {
        (array, at + k)
        for at in reached
        for k in range(-steps * far, steps * far + 1)
        for array in ring.words["input"].values()
    }
    if len(inputs) > MOST_INPUTS:
        raise NoChainError(f"{len(inputs)} input bits reach a position in {steps} steps; the most is {MOST_INPUTS}")
    free = sorted(inputs)
    for chosen in product((0, 1), repeat=len(free)):
        start = {bit for bit, on in zip(free, chosen, strict=True) if on}
        state = start
        for _ in range(steps):
            state = ring.after(state)
        values = {
            name: int((array, shift) in (start if entered else state)) for name, (entered, array, shift) in bits.items()
        }
        if not _value(line.truth, values, constants):
            return 1 << len(free), f"{line} is not true"
    return 1 << len(free), ""


def _value(part: Expression, bits: Mapping[Named, int], constants: Mapping[str, int]) -> Any:
    if isinstance(part, Constant):
        return part.value
    if isinstance(part, Named):
        return constants[part.text] if part.index is None else bits[part]
    if isinstance(part, Negation):
        return not _value(part.body, bits, constants)
    return ensures.combined(part.sign, _value(part.left, bits, constants), _value(part.right, bits, constants))


def _outside_indices(part: Expression) -> list[Named]:
    if isinstance(part, Named):
        return [part] if part.index is None else []
    if isinstance(part, Negation):
        return _outside_indices(part.body)
    return [] if isinstance(part, Constant) else _outside_indices(part.left) + _outside_indices(part.right)


def _plain(part: syntax.Expression) -> Expression:
    """An index of a rule in the form that lines have."""
    if isinstance(part, syntax.Number):
        return Constant(part.value)
    if isinstance(part, syntax.Name):
        return Named(part.token.text)
    if isinstance(part, syntax.Operation):
        return Combined(part.token.text, _plain(part.left), _plain(part.right))
    return outside(part.token, "digits(...) on a ring")


def _affine(part: Expression) -> IndexForm | None:
    """An index plus or minus a number."""
    if isinstance(part, Constant):
        return IndexForm(0, part.value)
    if isinstance(part, Named):
        return IndexForm(0, 0, {part.text: 1})
    if isinstance(part, Combined) and part.sign in "+-":
        left, right = _affine(part.left), _affine(part.right)
        return None if left is None or right is None else left.plus(right, 1 if part.sign == "+" else -1)
    return None
