"""What a rule file consists of, before any index has a value. See docs/rule-text.md for the grammar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from bitwright.text.scanner import Token

# Expressions over whole numbers.


@dataclass(frozen=True, slots=True)
class Number:
    token: Token
    value: int


@dataclass(frozen=True, slots=True)
class Name:
    token: Token


@dataclass(frozen=True, slots=True)
class Operation:
    token: Token  # the operator
    left: Expression
    right: Expression


Expression = Number | Name | Operation


@dataclass(frozen=True, slots=True)
class ComparedNumbers:
    token: Token
    left: Expression
    right: Expression


# Bits.


@dataclass(frozen=True, slots=True)
class IndexPart:
    """One index of a bit: `i+1` (first is last), `1..l`, or `*` (both None)."""

    first: Expression | None
    last: Expression | None


@dataclass(frozen=True, slots=True)
class BitRef:
    token: Token
    parts: tuple[IndexPart, ...]  # empty for a bare name


@dataclass(frozen=True, slots=True)
class Test:
    """`bit = value`, `bit != value`, or the same between two bits (`right` is then a BitRef)."""

    left: BitRef
    same: bool
    right: BitRef | Expression


@dataclass(frozen=True, slots=True)
class IndexRange:
    token: Token  # the index's name
    first: Expression
    last: Expression


@dataclass(frozen=True, slots=True)
class Clauses:
    """`for i in a..b, j in c..d if i < j`: which rows a statement stands for."""

    ranges: tuple[IndexRange, ...] = ()
    conditions: tuple[ComparedNumbers, ...] = ()


# Statements; `token` is the keyword that opens one, `text` how it was written.


@dataclass(frozen=True, slots=True)
class Let:
    token: Token
    name: Token
    value: Expression


@dataclass(frozen=True, slots=True)
class BitsDeclaration:
    token: Token
    items: tuple[tuple[Token, tuple[Expression, ...]], ...]


@dataclass(frozen=True, slots=True)
class Block:
    token: Token
    members: tuple[BitRef, ...]
    clauses: Clauses
    text: str


@dataclass(frozen=True, slots=True)
class Cell:
    token: Token
    members: tuple[BitRef, ...]
    clauses: Clauses
    text: str


@dataclass(frozen=True, slots=True)
class When:
    token: Token
    tests: tuple[Test, ...]
    targets: tuple[BitRef, ...]
    clauses: Clauses
    text: str


@dataclass(frozen=True, slots=True)
class Start:
    token: Token
    members: tuple[BitRef, ...]
    clauses: Clauses
    text: str


@dataclass(frozen=True, slots=True)
class PortLine:
    """`input p q`, `output sum = c[l] p`: numbers that enter or leave."""

    token: Token
    name: Token | None
    members: tuple[BitRef, ...]
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """`steps`, `matches` or `examples` and a number."""

    token: Token
    value: Expression


@dataclass(frozen=True, slots=True)
class Halt:
    token: Token
    bit: BitRef | None  # None: at a fixed point


class PlainLine(NamedTuple):
    """`when p[1]=1 write q[1]` or `block p[1] q[1]`: a line without indices, not yet taken apart."""

    line: int
    column: int
    source: str
    left: str  # its conditions, or the bits of the block
    right: str  # what it writes

    def text(self) -> str:
        """The statement as it was written, without its comment."""
        return " ".join(self.source.partition("#")[0].split())


@dataclass(frozen=True, slots=True)
class PlainLines:
    """Plain lines with nothing between them."""

    token: Token
    blocks: list[PlainLine]
    rules: list[PlainLine]


Statement = Let | BitsDeclaration | Block | Cell | When | Start | PortLine | Count | Halt | PlainLines
