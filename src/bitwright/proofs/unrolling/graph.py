"""An and-inverter graph: conjunctions and negations, each built once, with constants folded away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

FALSE, TRUE = 0, 1  # literals; the literal of node n is 2n, its negation 2n + 1
Literal = int


class AndGraph:
    """Nodes in the order of their creation: inputs, and conjunctions of two earlier literals.

    >>> graph = AndGraph()
    >>> a, b = graph.input(), graph.input()
    >>> graph.both(a, b) == graph.both(b, a), graph.both(a, a ^ 1) == FALSE
    (True, True)
    """

    def __init__(self) -> None:
        self.left: list[Literal] = [0]  # of a conjunction; an input and the constant have 0 twice
        self.right: list[Literal] = [0]
        self.inputs: list[int] = []  # nodes
        self._known: dict[tuple[Literal, Literal], Literal] = {}

    def __len__(self) -> int:
        return len(self.left)

    def input(self) -> Literal:
        """A new literal that may be either."""
        self.inputs.append(len(self.left))
        self.left.append(0)
        self.right.append(0)
        return 2 * len(self.left) - 2

    def both(self, a: Literal, b: Literal) -> Literal:
        """a and b."""
        if a > b:
            a, b = b, a
        if a == FALSE or a == b ^ 1:
            return FALSE
        if a in (TRUE, b):
            return b
        found = self._known.get((a, b))
        if found is None:
            found = self._known[a, b] = 2 * len(self.left)
            self.left.append(a)
            self.right.append(b)
        return found

    def either(self, a: Literal, b: Literal) -> Literal:
        """a or b."""
        return self.both(a ^ 1, b ^ 1) ^ 1

    def differ(self, a: Literal, b: Literal) -> Literal:
        """a xor b; the negations of its arguments are moved outside, so that it is built once."""
        sign = (a ^ b) & 1
        a, b = a & ~1, b & ~1
        return self.either(self.both(a ^ 1, b), self.both(a, b ^ 1)) ^ sign

    def choose(self, condition: Literal, then: Literal, otherwise: Literal) -> Literal:
        """`then` if the condition holds, else `otherwise`."""
        if then == otherwise:
            return then
        return self.either(self.both(condition, then), self.both(condition ^ 1, otherwise))

    def all(self, literals: Iterable[Literal]) -> Literal:
        """Whether all of them hold."""
        held = TRUE
        for literal in literals:
            held = self.both(held, literal)
        return held

    def any(self, literals: Iterable[Literal]) -> Literal:
        """Whether one of them holds."""
        return self.all(literal ^ 1 for literal in literals) ^ 1

    def evaluate(self, given: Sequence[int], ones: int = 1) -> list[int]:
        """The value of every node where the inputs, in order, have these values; bit-parallel with `ones` = 0b11..1."""
        values, left, right = [0] * len(self.left), self.left, self.right
        for node, value in zip(self.inputs, given, strict=True):
            values[node] = value
        for node in range(1, len(left)):
            if b := right[node]:
                a = left[node]
                values[node] = (values[a >> 1] ^ (ones if a & 1 else 0)) & (values[b >> 1] ^ (ones if b & 1 else 0))
        return values

    def cone(self, literals: Iterable[Literal]) -> list[int]:
        """The nodes that these literals depend on, in order."""
        seen, ahead = set(), [literal >> 1 for literal in literals]
        while ahead:
            node = ahead.pop()
            if node and node not in seen:
                seen.add(node)
                if self.right[node]:
                    ahead += (self.left[node] >> 1, self.right[node] >> 1)
        return sorted(seen)
