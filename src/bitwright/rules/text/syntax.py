"""The syntax tree of a rule file, before indices have values. See docs/reference/rule-text.md for the grammar."""

from __future__ import annotations

from dataclasses import dataclass

from bitwright.common.scanner import Token
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.expressions import Combined, Expression, IndexRange


@dataclass(frozen=True, slots=True)
class IndexPart:
    """One index of a bit: `i+1` (first is last), `1..l`, or `*` (both are None)."""

    first: Expression | None
    last: Expression | None


@dataclass(frozen=True, slots=True)
class BitRef:
    token: Token
    parts: tuple[IndexPart, ...]  # empty for a bare name
    path: tuple[str, ...] = ()  # ("far", "all") for `far.all.g`; used in node programs only

    @property
    def key(self) -> str:
        """The name with its path."""
        return ".".join((*self.path, self.token.text))


@dataclass(frozen=True, slots=True)
class Test:
    """`bit = value`, `bit != value`, a comparison of two bits (`right` is a BitRef), or `bit = *` (None)."""

    left: BitRef
    same: bool
    right: BitRef | Expression | None


@dataclass(frozen=True, slots=True)
class Clauses:
    """`for i in a..b, j in c..d if i < j`, which defines the rows of a statement."""

    ranges: tuple[IndexRange, ...] = ()
    conditions: tuple[Combined, ...] = ()  # comparisons


# Statements; `token` is the first keyword, `text` the source text.


@dataclass(frozen=True, slots=True)
class Let:
    token: Token
    name: Token
    value: Expression


@dataclass(frozen=True, slots=True)
class BitsDeclaration:
    token: Token
    items: tuple[tuple[Token, tuple[Expression, ...]], ...]
    place: str = "node"  # `port bits` and `whole bits` occur in node programs only


@dataclass(frozen=True, slots=True)
class _Members:
    token: Token
    members: tuple[BitRef, ...]
    clauses: Clauses
    text: str


class Block(_Members):
    """`block p[i] q[i] for i in 1..l`."""


class Cell(_Members):
    """`cell p[i] c[i] for i in 1..l`."""


class Start(_Members):
    """`start flag x[1]`."""


@dataclass(frozen=True, slots=True)
class WhenClause:
    token: Token
    tests: tuple[Test, ...]
    targets: tuple[BitRef, ...]
    clauses: Clauses
    text: str
    also: bool = False  # whether it adds to templates of earlier lines


MARKS = ("unique", "positive", "one")  # requirements on node inputs


@dataclass(frozen=True, slots=True)
class PortLine:
    """An input or output number, such as `input p q` or `output sum = c[l] p`.

    In node programs also `input unique id = r`, `input positive weight = w`, `input one source = x, all.g[*]`, `output
    level = v if x`, and `not r` for the complement of a number, `place p` for one-hot bits.
    """

    token: Token
    name: Token | None
    members: tuple[BitRef, ...]
    signed: bool = False
    marks: tuple[Token, ...] = ()  # of MARKS
    also: tuple[BitRef, ...] = ()  # additional bits with the same value
    where: BitRef | None = None
    way: Token | None = None  # `not` or `place`


@dataclass(frozen=True, slots=True)
class Chain:
    """`chain e -> z`: at the last port of a node, `next.e` is the bit z of the node."""

    token: Token
    link: BitRef
    end: BitRef


@dataclass(frozen=True, slots=True)
class GraphLine:
    """`graph simple, degree 8`: requirements on the graph of a node program."""

    token: Token
    words: tuple[Token, ...]
    degree: Expression | None


@dataclass(frozen=True, slots=True)
class Count:
    """`steps`, `matches` or `examples`, followed by a number."""

    token: Token
    value: Expression


@dataclass(frozen=True, slots=True)
class Halt:
    token: Token
    bit: BitRef | None  # None for a fixed point


@dataclass(frozen=True, slots=True)
class Ensure:
    """A claim, introduced by `where`, `ensure` or `invariant`."""

    token: Token
    line: EnsureLine


Statement = (
    Let | BitsDeclaration | Block | Cell | WhenClause | Start | PortLine | Chain | GraphLine | Count | Halt | Ensure
)  # fmt: skip
