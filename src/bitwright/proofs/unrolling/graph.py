"""And-inverter graphs, in which every conjunction is built once and constants are folded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

FALSE, TRUE = 0, 1  # literals; the literal of node n is 2n, its negation 2n + 1
Literal = int


class AndGraph:
    """The nodes of a graph in the order of their creation: inputs, and conjunctions of two earlier literals.

    >>> graph = AndGraph()
    >>> a, b = graph.input(), graph.input()
    >>> graph.both(a, b) == graph.both(b, a), graph.both(a, a ^ 1) == FALSE
    (True, True)
    """

    def __init__(self) -> None:
        self.left: list[Literal] = [0]  # the first operand of each node; 0 for inputs and the constant
        self.right: list[Literal] = [0]  # the second operand
        self.inputs: list[int] = []  # the nodes that are inputs
        self._known: dict[tuple[Literal, Literal], Literal] = {}

    def __len__(self) -> int:
        return len(self.left)

    def input(self) -> Literal:
        """Adds an input and returns its literal."""
        self.inputs.append(len(self.left))
        self.left.append(0)
        self.right.append(0)
        return 2 * len(self.left) - 2

    def both(self, a: Literal, b: Literal) -> Literal:
        """Returns a and b."""
        if a > b:
            a, b = b, a
        if a == FALSE or a == b ^ 1:
            return FALSE
        if a in (TRUE, b):
            return b
        literal = self._known.get((a, b))
        if literal is None:
            literal = self._known[a, b] = 2 * len(self.left)
            self.left.append(a)
            self.right.append(b)
        return literal

    def either(self, a: Literal, b: Literal) -> Literal:
        """Returns a or b."""
        return self.both(a ^ 1, b ^ 1) ^ 1

    def differ(self, a: Literal, b: Literal) -> Literal:
        """Returns a xor b; negations of the arguments are moved outside, which lets all four forms share nodes."""
        sign = (a ^ b) & 1
        a, b = a & ~1, b & ~1
        return self.either(self.both(a ^ 1, b), self.both(a, b ^ 1)) ^ sign

    def choose(self, condition: Literal, then: Literal, otherwise: Literal) -> Literal:
        """Returns `then` if the condition is true, and `otherwise` if it is false."""
        if then == otherwise:
            return then
        return self.either(self.both(condition, then), self.both(condition ^ 1, otherwise))

    def all(self, literals: Iterable[Literal]) -> Literal:
        """Returns whether all literals are true."""
        result = TRUE
        for literal in literals:
            result = self.both(result, literal)
        return result

    def any(self, literals: Iterable[Literal]) -> Literal:
        """Returns whether any literal is true."""
        return self.all(literal ^ 1 for literal in literals) ^ 1

    def evaluate(self, given: Sequence[int], ones: int = 1) -> list[int]:
        """Returns the value of every node for these input values, in order; bit-parallel with `ones` = 0b11..1."""
        values, left, right = [0] * len(self.left), self.left, self.right
        for node, value in zip(self.inputs, given, strict=True):
            values[node] = value
        for node in range(1, len(left)):
            if b := right[node]:
                a = left[node]
                values[node] = (values[a >> 1] ^ (ones if a & 1 else 0)) & (values[b >> 1] ^ (ones if b & 1 else 0))
        return values

    def cone(self, literals: Iterable[Literal]) -> list[int]:
        """Returns the nodes on which these literals depend, in order."""
        seen, ahead = set(), [literal >> 1 for literal in literals]
        while ahead:
            node = ahead.pop()
            if node and node not in seen:
                seen.add(node)
                if self.right[node]:
                    ahead += (self.left[node] >> 1, self.right[node] >> 1)
        return sorted(seen)
