"""Parses `ensure` and `invariant` lines: `=>` binds loosest, followed by or, and, not, ==, + and *."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bitwright.common.errors import InputError, suggestion
from bitwright.common.scanner import END, NAME, Scanner, Token, WrongError
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.expressions import (
    COMPARISONS,
    Combined,
    Constant,
    Expression,
    IndexRange,
    Named,
    Negation,
)

SCANNER = Scanner(
    {
        "comment": r"\#.*",
        "name": NAME,
        "number": "[0-9]+",
        "sign": r"\.\.|==|=>|!=|<=|>=|//|->|[-+*%^()\[\],<>.:=]",
        "joint": r"\\\r?$",
        "other": r"[^ \t\r\f]",
    }
)
MAX_CLAUSES = 50  # indices and conditions of a statement, and dimensions of an array
_WORDS = ("and", "or", "not", "mod", "for", "in", "at")
_OTHER_LANGUAGES = {
    "=": "; use == for equality",
    "/": "; use //, which rounds down",
    "&": "; use 'and'",
    "|": "; use 'or'",
    "!": "; use 'not' or !=",
}


def read(text: str, invariant: bool = False) -> EnsureLine:
    """Parses text such as `sum == p + q`; raises InputError with the column.

    >>> print(read("negative == (a < b)"))
    negative == (a < b)
    >>> read("sum = p + q")
    Traceback (most recent call last):
        ...
    bitwright.common.errors.InputError: column 5: expected the end of the line, found '='; use == for equality
    """
    if not isinstance(text, str):
        raise InputError(f"an ensure or invariant line must be a str such as 'sum == p + q', got {type(text).__name__}")
    try:
        return read_tokens(SCANNER.pieces(text.replace("\n", " "), 1), invariant)
    except WrongError as error:
        raise InputError(f"column {error.token.column}: {error.message}") from None


def read_tokens(tokens: Sequence[Token], invariant: bool) -> EnsureLine:
    """Parses a statement from tokens that end with an `end` token; raises WrongError."""
    return EnsureReader(tokens).statement(invariant)


class ExpressionReader:
    """Parses sums, products and powers; subclasses define the atoms and names of their language."""

    products: tuple[str, ...] = ("*", "//", "%")
    most_signs, most_depth = 500, 50

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens, self.at, self.depth, self.signs = tokens, 0, 0, 0

    def atom(self) -> Any:
        """Parses a number, a name or an expression in parentheses."""
        raise NotImplementedError

    def index_name(self) -> Token:
        """Parses the name of an index."""
        raise NotImplementedError

    def refuse(self, expected: str, hint: str = "") -> WrongError:
        """Returns an error for the next token."""
        return WrongError(self.next, f"expected {expected}, found {self.next}{hint}")

    def negative(self, minus: Token, body: Any) -> Any:
        """Returns the tree of `-body`."""
        return Combined("-", Constant(0, minus), body, minus)

    def combined(self, sign: Token, left: Any, right: Any) -> Any:
        """Returns the tree of `left sign right`."""
        return Combined("%" if sign.text == "mod" else sign.text, left, right, sign)

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.next
        self.at += token.kind != END
        return token

    def accept(self, *texts: str) -> Token | None:
        token = self.tokens[self.at]
        if token.text not in texts:  # the end of a line has no text
            return None
        self.at += 1
        return token

    def expect(self, text: str) -> Token:
        if (token := self.accept(text)) is None:
            raise self.refuse(f"'{text}'")
        return token

    def ranges(self, expression: Callable[[], Any]) -> tuple[IndexRange, ...]:
        """Parses `for i in a..b, j in c..d`: at most `MAX_CLAUSES` ranges, since each is evaluated for every row."""
        ranges: list[IndexRange] = []
        while self.accept("for") or (ranges and self.accept(",")):
            token = self.index_name()
            self.expect("in")
            first = expression()
            self.expect("..")
            ranges.append(IndexRange(token.text, first, expression(), token))
            if len(ranges) > MAX_CLAUSES:
                raise WrongError(self.next, f"a statement may have at most {MAX_CLAUSES} indices")
        return tuple(ranges)

    def sum(self) -> Any:
        return self.chain(("+", "-"), self.product)

    def product(self) -> Any:
        return self.chain(self.products, self.signed)

    def signed(self) -> Any:
        minus = self.accept("-")
        return self.negative(minus, self.nested(minus, self.signed)) if minus else self.power()

    def power(self) -> Any:
        base = self.atom()
        sign = self.accept("^")
        return self.operation(sign, base, self.nested(sign, self.signed)) if sign else base

    def chain(self, signs: tuple[str, ...], part: Callable[[], Any]) -> Any:
        """Parses operators that associate to the left."""
        left = part()
        while sign := self.accept(*signs):
            left = self.operation(sign, left, part())
        return left

    def operation(self, sign: Token, left: Any, right: Any) -> Any:
        self.signs += 1
        if self.signs > self.most_signs:
            raise WrongError(sign, f"an expression may have at most {self.most_signs} operators")
        return self.combined(sign, left, right)

    def nested(self, token: Token, part: Callable[[], Any]) -> Any:
        self.depth += 1
        if self.depth > self.most_depth:
            raise WrongError(token, f"an expression may be nested at most {self.most_depth} levels deep")
        inner = part()
        self.depth -= 1
        return inner


class EnsureReader(ExpressionReader):
    """Parses an `ensure` or `invariant` line."""

    products = ("*", "//", "%", "mod")

    def refuse(self, expected: str, hint: str = "") -> WrongError:
        hint = hint or _OTHER_LANGUAGES.get(self.next.text, "")
        if not hint and self.next.kind == "name":
            hint = suggestion(self.next.text, _WORDS)
        return super().refuse(expected, hint)

    def statement(self, invariant: bool) -> EnsureLine:
        where = None
        if invariant and self.accept("at"):
            where = self.name()
            self.expect(":")
        truth = self.implication()
        ranges = self.ranges(self.sum)
        if self.next.kind != END:
            raise self.refuse("the end of the line")
        return EnsureLine(truth, ranges, where)

    def implication(self) -> Expression:
        left: Expression = self.chain(("or",), self.conjunction)
        sign = self.accept("=>")
        return self.operation(sign, left, self.nested(sign, self.implication)) if sign else left

    def conjunction(self) -> Any:
        return self.chain(("and",), self.denied)

    def denied(self) -> Expression:
        token = self.accept("not")
        return Negation(self.nested(token, self.denied), token) if token else self.comparison()

    def comparison(self) -> Expression:
        left: Expression = self.sum()
        sign = self.accept(*COMPARISONS)
        if sign is None:
            return left
        right = self.sum()
        if self.next.text in COMPARISONS:
            raise WrongError(self.next, f"comparisons cannot be chained; separate them with 'and' before {self.next}")
        result: Expression = self.operation(sign, left, right)
        return result

    def atom(self) -> Expression:
        token = self.next
        if token.kind == "number":
            if len(token.text) > 1000:
                raise WrongError(token, f"a number may have at most 1,000 digits, got {len(token.text):,}")
            return Constant(int(self.take().text), token)
        if opened := self.accept("("):
            inner: Expression = self.nested(opened, self.implication)
            self.expect(")")
            return inner
        return self.name()

    def name(self) -> Named:
        token = self.next
        entered = token.text == "in" and self.tokens[self.at + 1].text == "."
        if entered:
            self.at += 2
        name = self.plain_name("a number or a name")
        if self.next.text == "(":
            raise WrongError(
                name,
                f"'{name.text}' is called as a function, but ensure lines have no functions; write one line for each "
                "case, for example: ensure a >= b => m == a",
            )
        index = None
        if opened := self.accept("["):
            index = self.nested(opened, self.sum)
            self.expect("]")
        return Named(name.text, entered, index, token)

    def index_name(self) -> Token:
        return self.plain_name("an index")

    def plain_name(self, expected: str) -> Token:
        if self.next.kind != "name" or self.next.text in _WORDS:
            raise self.refuse(expected)
        if len(self.next.text) > 64:
            raise WrongError(self.next, f"a name may have at most 64 characters, got {len(self.next.text)}")
        return self.take()
