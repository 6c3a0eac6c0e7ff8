"""A few steps on a ring or torus of any size: every bit depends on few inputs, so trying those proves it for all.

The rules must look the same at every position. On a ring of w positions that means arrays of this length and indices
`i`, `i%w+1`, `(i-2)%w+1` and the like for i in 1..w; on a torus arrays of length h*w and indices `(y-1)*w+x`,
`y%h*w+(x-2)%w+1` and the like for y in 1..h, x in 1..w. A state of a ring repeats along the whole line of integers
(that of a torus over the plane), and so does the next one. So what holds at position 0 of the line, for all values of
the inputs that can have reached it, holds at every position of every ring.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from bitwright.common.scanner import Token
from bitwright.proofs.function.affine import MAX_ROWS, NoChainError, outside
from bitwright.proofs.sizes import CoveredSizes
from bitwright.rules.algorithm import Algorithm
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.expressions import Combined, Constant, Expression, Named, evaluate, names_in, shown
from bitwright.rules.text import RuleText, syntax

MOST_INPUTS = 16  # bits that may reach a position
Shift = tuple[int, ...]  # how far from a position, in each direction
Bit = tuple[str, Shift]  # array, position
Known = Mapping[str, int]


@dataclass
class RingBlock:
    """The arrays of a block, and by those of its bits that are on: what it writes."""

    arrays: frozenset[str]
    rules: dict[frozenset[str], set[Bit]] = field(default_factory=dict)


class Ring:
    """Rules on a ring or torus; raises NoChainError for a text that is none."""

    def __init__(self, rules: RuleText, lets: Mapping[str, int]) -> None:
        tree, numbers = rules.tree, {**rules.numbers, **lets}
        shapes = {_extent(extent) for several in rules.extents.values() for extent in (several or (None,))}
        self.sizes: tuple[str, ...] = shapes.pop() if len(shapes) == 1 else ()
        if not self.sizes or len(set(self.sizes)) < len(self.sizes) or not {*self.sizes} <= {*numbers}:
            raise NoChainError("not all arrays have the one length of a ring")
        self.numbers: dict[str, int] = {}  # those that do not depend on a size
        for name, expression in rules.lets.items():
            if name not in self.sizes:
                value = numbers.get(name, self._value(expression, self.numbers))
                if value is not None:
                    self.numbers[name] = value
        self.about = CoveredSizes(dict.fromkeys(self.sizes, 1), rules.fixed(self.numbers))
        self.blocks: list[RingBlock] = []
        self.block_of: dict[str, RingBlock] = {}
        self.words: dict[str, dict[str, str]] = {"input": {}, "output": {}}
        self.steps: int | None = None
        lines = tree.statements
        for item in lines:
            if isinstance(item, syntax.Block):
                self._block(item)
        for item in lines:
            self._line(item)
        if not self.words["output"]:
            raise NoChainError("a ring needs an output line")
        if self.steps is None:
            raise NoChainError("a ring needs a fixed number of steps")

    # Reading the text.

    def _block(self, item: syntax.Block) -> None:
        rows = list(self._rows(item.clauses, item.token))
        names = [member.token.text for member in item.members]
        moved = any(any(self._shift(member, indices)) for _, indices in rows for member in item.members)
        if len(rows) != 1 or moved or len(set(names)) < len(names) or set(names) & set(self.block_of):
            outside(item.token, "the bits of a block stand at different positions of the ring")
        self.blocks.append(RingBlock(frozenset(names)))
        self.block_of |= dict.fromkeys(names, self.blocks[-1])

    def _line(self, item: syntax.Statement) -> None:
        if isinstance(item, syntax.WhenClause):
            for known, indices in self._rows(item.clauses, item.token):
                self._rule(item, known, indices)
        elif isinstance(item, syntax.PortLine):
            for member in item.members if item.token.text == "input" and not item.name else item.members[:1]:
                if member.parts or (item.name and len(item.members) > 1):
                    outside(item.token, "a number on a ring is a whole array")
                self.words[item.token.text][item.name.text if item.name else member.token.text] = member.token.text
        elif isinstance(item, syntax.Count) and item.token.text == "steps":
            self.steps = self._value(item.value, self.numbers)
            if self.steps is None:
                outside(item.token, "the number of steps depends on the size of the ring")
        elif isinstance(item, syntax.Start | syntax.Halt):
            outside(item.token, f"'{item.token.text}' on a ring")

    def _rule(self, item: syntax.WhenClause, known: Known, indices: Iterable[str]) -> None:
        choices: list[list[dict[str, int]]] = []
        for test in item.tests:
            name = test.left.token.text
            bits = [test.left, *([test.right] if isinstance(test.right, syntax.BitRef) else [])]
            if any(any(self._shift(bit, indices)) for bit in bits):
                outside(test.left.token, "a rule asks about another position of the ring")
            if test.right is None:
                choices.append([{name: 0}, {name: 1}])
            elif isinstance(test.right, syntax.BitRef):
                other = test.right.token.text
                choices.append([{name: value, other: value if test.same else 1 - value} for value in (0, 1)])
            else:
                value = self._value(test.right, known)
                if value is None:
                    outside(test.left.token, "a value that depends on the position")
                choices.append([{name: value if test.same else 1 - value}])
        writes = {(target.token.text, self._shift(target, indices)) for target in item.targets}
        for choice in product(*choices):
            values = {name: value for part in choice for name, value in part.items()}
            on = frozenset(name for name, value in values.items() if value)
            self.block_of[next(iter(values))].rules.setdefault(on, set()).update(writes)

    def _rows(self, clauses: syntax.Clauses, place: Token) -> Iterator[tuple[Known, tuple[str, ...]]]:
        """Values of the indices of fixed ranges that the conditions allow, and the indices that go round the ring."""
        swept: dict[str, str] = {}  # by size
        fixed: dict[str, range] = {}
        for item in clauses.ranges:
            first, last = self._value(item.first, self.numbers), self._value(item.last, self.numbers)
            if first is not None and last is not None:
                fixed[item.name] = range(first, last + 1)
            elif first == 1 and isinstance(item.last, Named) and item.last.text in self.sizes:
                swept[item.last.text] = item.name
            else:
                outside(item.token, f"the range of a ring is 1..{self.sizes[0]}")
        if set(swept) != set(self.sizes) or len(swept) + len(fixed) < len(clauses.ranges):
            outside(place, f"not one line for all positions, as in: for i in 1..{self.sizes[0]}")
        for number, chosen in enumerate(product(*fixed.values())):
            if number >= MAX_ROWS:
                outside(place, f"ranges of fixed length stand for more than {MAX_ROWS:,} rows")
            known = {**self.numbers, **dict(zip(fixed, chosen, strict=True))}
            if all(self._allowed(condition, known) for condition in clauses.conditions):
                yield known, tuple(swept[size] for size in self.sizes)

    def _allowed(self, condition: Expression, known: Known) -> bool:
        if (value := self._value(condition, known)) is None:
            outside(condition.token, "a condition on a position of the ring")
        return bool(value)

    def _value(self, part: Expression, known: Known) -> int | None:
        """The value of an expression; None where it depends on a size or a position."""
        try:
            return int(evaluate(part, lambda name: known[name.text]))
        except (KeyError, ZeroDivisionError):
            return None

    def _shift(self, bit: syntax.BitRef, indices: Iterable[str]) -> Shift:
        """The distance of `x[i]`, `x[i%w+1]` or `x[(i-2)%w+1]` from position i."""
        part = bit.parts[0] if len(bit.parts) == 1 else None
        if part is None or part.first is None or part.first is not part.last:
            outside(bit.token, f"{bit.token.text} is given no single index")
        found = self.turned(part.first, tuple(indices))
        if found is None:
            outside(bit.token, f"this index is no place on a ring of {'*'.join(self.sizes)}")
        return found

    def turned(self, part: Expression, indices: tuple[str, ...]) -> Shift | None:
        """k where an index is the place k beyond `indices`, round the ring."""
        terms = _terms(part)
        if len(self.sizes) == 1:
            shift = _round(terms, indices[0], self.sizes[0], 1)
            return None if shift is None else (shift,)
        (height, width), (row, column) = self.sizes, indices
        rows = [one for one in terms if isinstance(one, Combined) and one.sign == "*" and one.right == Named(width)]
        if len(self.sizes) > 2 or len(rows) != 1:
            return None
        above = _round(_terms(rows[0].left), row, height, 0)
        beside = _round([one for one in terms if one is not rows[0]], column, width, 1)
        return None if above is None or beside is None else (above, beside)

    # Steps on the line of integers, or on the plane.

    def after(self, state: set[Bit]) -> set[Bit]:
        """One step of a state with finitely many bits on."""
        on: dict[tuple[int, Shift], set[str]] = {}
        numbers = {array: number for number, block in enumerate(self.blocks) for array in block.arrays}
        for array, at in state:
            on.setdefault((numbers[array], at), set()).add(array)
        found: set[Bit] = set()
        for (number, at), arrays in on.items():
            for array, shift in self.blocks[number].rules.get(frozenset(arrays), ()):
                found.add((array, _moved(at, shift)))
        return found

    def reaching(self, bits: Iterable[Bit]) -> set[Bit]:
        """All bits of the first state on which these of the last may depend."""
        wanted = set(bits)
        for _ in range(self.steps or 0):
            before: set[Bit] = set()
            for block in self.blocks:
                shifts = {write for writes in block.rules.values() for write in writes}
                for array, at in wanted:
                    for shift in (shift for name, shift in shifts if name == array):
                        before |= {(name, _moved(at, tuple(-k for k in shift))) for name in block.arrays}
            wanted = before
        return wanted


def ring_lemma(rules: RuleText, algorithm: Algorithm, lets: Mapping[str, int]) -> tuple[Ring, str]:
    """Proves all `ensure` lines on every ring; gives the ring, and how. Raises NoChainError where that fails."""
    ring = Ring(rules, lets)
    if any(frozenset() in block.rules for block in ring.blocks):
        raise NoChainError("a rule matches where all bits are off")
    tried = sum(_tried(ring, line) for line in algorithm.ensures)
    return ring, f"a finite lemma, {tried:,} neighbourhoods"


def _tried(ring: Ring, line: EnsureLine) -> int:
    """How many neighbourhoods there are; a line that is not true in one of them was met in no run."""
    indices = {item.last.text: item.name for item in line.ranges if isinstance(item.last, Named)}
    if set(indices) != set(ring.sizes) or any(item.first != Constant(1) for item in line.ranges):
        raise NoChainError(f"a line about a ring is one for i in 1..{ring.sizes[0]}")
    if len(line.ranges) != len(ring.sizes):
        raise NoChainError("one index for each size")
    own = tuple(indices[size] for size in ring.sizes)
    bits: dict[Named, tuple[bool, Bit]] = {}
    constants: dict[Named, int] = {}
    for name in names_in(line.truth, inside=False):
        if name.index is None:
            if name.text not in ring.numbers or name.entered:
                raise NoChainError(f"'{name.text}' in a line about a ring")
            constants[name] = ring.numbers[name.text]
            continue
        entered = name.entered or name.text not in ring.words["output"]
        shift = ring.turned(name.index, own)
        array = ring.words["input" if entered else "output"].get(name.text)
        if shift is None or array is None:
            raise NoChainError(f"{shown(name)} is no bit of the ring")
        bits[name] = entered, (array, shift)
    arrays = set(ring.words["input"].values())
    inputs = {bit for entered, bit in bits.values() if entered}
    reached = ring.reaching(bit for entered, bit in bits.values() if not entered)
    inputs |= {bit for bit in reached if bit[0] in arrays}
    if len(inputs) > MOST_INPUTS:
        raise NoChainError(
            f"{len(inputs)} input bits reach a position in {ring.steps} steps; the most is {MOST_INPUTS}"
        )
    free = sorted(inputs)
    for chosen in product((0, 1), repeat=len(free)):
        start = {bit for bit, on in zip(free, chosen, strict=True) if on}
        state = start
        for _ in range(ring.steps or 0):
            state = ring.after(state)
        values = {name: int(bit in (start if entered else state)) for name, (entered, bit) in bits.items()}
        if not evaluate(line.truth, (constants | values).__getitem__):
            raise NoChainError(f"{line} is not true in some neighbourhood")
    return 1 << len(free)


def _moved(at: Shift, by: Shift) -> Shift:
    return tuple(one + more for one, more in zip(at, by, strict=True))


def _extent(part: Expression | None) -> tuple[str, ...]:
    """The sizes of which a length is the product; none where it is something else."""
    if isinstance(part, Named):
        return (part.text,)
    if isinstance(part, Combined) and part.sign == "*":
        return _extent(part.left) + _extent(part.right)
    return ()


def _terms(part: Expression) -> list[Expression]:
    """The terms of a sum."""
    if isinstance(part, Combined) and part.sign == "+":
        return _terms(part.left) + _terms(part.right)
    if isinstance(part, Combined) and part.sign == "-":
        taken = [Constant(-one.value) for one in _terms(part.right) if isinstance(one, Constant)]
        if len(taken) == len(_terms(part.right)):
            return [*_terms(part.left), *taken]
    return [part]


def _round(terms: list[Expression], index: str, size: str, lowest: int) -> int | None:
    """k for `i`, or `(i + k-1) % w + 1`: a place counted from `lowest`, k beyond position i, which counts from 1."""
    rest = [one for one in terms if not isinstance(one, Constant)]
    constant = sum(one.value for one in terms if isinstance(one, Constant))
    if len(rest) != 1:
        return None
    (one,) = rest
    if one == Named(index):
        return 0 if constant == lowest - 1 else None
    if isinstance(one, Combined) and one.sign == "%" and one.right == Named(size) and constant == lowest:
        inner = _terms(one.left)
        shift = sum(term.value for term in inner if isinstance(term, Constant))
        return shift + 1 if [term for term in inner if not isinstance(term, Constant)] == [Named(index)] else None
    return None
