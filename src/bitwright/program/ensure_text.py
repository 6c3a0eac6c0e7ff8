"""Tokens to the tree of an `ensure` or `invariant` line: `=>` binds loosest, then or, and, not, ==, + and *."""

from __future__ import annotations

from collections.abc import Sequence

from bitwright.errors import InputError, suggestion
from bitwright.program.ensures import (
    COMPARISONS,
    Combined,
    Constant,
    EnsureLine,
    Expression,
    LineRange,
    Named,
    Negation,
    WrongError,
)
from bitwright.text.scanner import END, NAME, Scanner, Token

ENSURE_SCANNER = Scanner(
    {
        "comment": r"\#.*",
        "name": NAME,
        "number": "[0-9]+",
        "sign": r"\.\.|==|=>|!=|<=|>=|//|[-+*%^()\[\],<>.:=]",
        "joint": r"\\\r?$",
        "other": r"[^ \t\r\f]",
    }
)
MAX_DEPTH = 50
MAX_SIGNS = 500
_WORDS = ("and", "or", "not", "mod", "for", "in", "at")
_FOREIGN = {
    "=": "; equality is ==",
    "/": "; division is //, which rounds down",
    "&": "; write and",
    "|": "; write or",
    "!": "; write not, or !=",
}


def read(text: str, invariant: bool = False) -> EnsureLine:
    """The statement that a text such as `sum == p + q` says; raises InputError with the column.

    >>> print(read("negative == (a < b)"))
    negative == (a < b)
    >>> read("sum = p + q")
    Traceback (most recent call last):
        ...
    bitwright.errors.InputError: column 5: expected the end of the line, found '='; equality is ==
    """
    if not isinstance(text, str):
        raise InputError(f"an ensure or invariant is a str such as 'sum == p + q', got a {type(text).__name__}")
    try:
        return read_tokens(ENSURE_SCANNER.pieces(text.replace("\n", " "), 1), invariant)
    except WrongError as error:
        raise InputError(f"column {error.token.column}: {error.message}") from None


def read_tokens(tokens: Sequence[Token], invariant: bool) -> EnsureLine:
    """The same from tokens, which a token of kind `end` closes; raises WrongError."""
    return _Reader(tokens).statement(invariant)


class _Reader:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens, self.at, self.depth, self.signs = tokens, 0, 0, 0

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.next
        self.at += token.kind != END
        return token

    def accept(self, *texts: str) -> Token | None:
        return self.take() if self.next.kind != END and self.next.text in texts else None

    def refuse(self, expected: str) -> WrongError:
        hint = _FOREIGN.get(self.next.text, "")
        if not hint and self.next.kind == "name":
            hint = suggestion(self.next.text, _WORDS)
        return WrongError(self.next, f"expected {expected}, found {self.next}{hint}")

    def expect(self, text: str) -> Token:
        token = self.accept(text)
        if token is None:
            raise self.refuse(f"'{text}'")
        return token

    def statement(self, invariant: bool) -> EnsureLine:
        where = None
        if invariant and self.accept("at"):
            where = self.name()
            self.expect(":")
        truth = self.implication()
        ranges: list[LineRange] = []
        while self.accept("for") or (ranges and self.accept(",")):
            token = self.plain_name("an index")
            self.expect("in")
            first = self.sum()
            self.expect("..")
            ranges.append(LineRange(token.text, first, self.sum(), token))
        if self.next.kind != END:
            raise self.refuse("the end of the line")
        return EnsureLine(truth, tuple(ranges), where)

    def deeper(self, token: Token) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise WrongError(token, f"an expression may nest at most {MAX_DEPTH} deep")

    def operation(self, token: Token, left: Expression, right: Expression) -> Combined:
        self.signs += 1
        if self.signs > MAX_SIGNS:
            raise WrongError(token, f"an expression may have at most {MAX_SIGNS} signs")
        return Combined("%" if token.text == "mod" else token.text, left, right, token)

    def implication(self) -> Expression:
        left = self.either()
        token = self.accept("=>")
        if token is None:
            return left
        self.deeper(token)
        right = self.implication()
        self.depth -= 1
        return self.operation(token, left, right)

    def either(self) -> Expression:
        left = self.both()
        while token := self.accept("or"):
            left = self.operation(token, left, self.both())
        return left

    def both(self) -> Expression:
        left = self.denied()
        while token := self.accept("and"):
            left = self.operation(token, left, self.denied())
        return left

    def denied(self) -> Expression:
        token = self.accept("not")
        if token is None:
            return self.comparison()
        self.deeper(token)
        body = self.denied()
        self.depth -= 1
        return Negation(body, token)

    def comparison(self) -> Expression:
        left = self.sum()
        token = self.accept(*COMPARISONS)
        if token is None:
            return left
        right = self.sum()
        if self.next.text in COMPARISONS:
            raise WrongError(self.next, f"one comparison at a time; write and between them, before {self.next}")
        return self.operation(token, left, right)

    def sum(self) -> Expression:
        left = self.product()
        while token := self.accept("+", "-"):
            left = self.operation(token, left, self.product())
        return left

    def product(self) -> Expression:
        left = self.signed()
        while token := self.accept("*", "//", "%", "mod"):
            left = self.operation(token, left, self.signed())
        return left

    def signed(self) -> Expression:
        minus = self.accept("-")
        if minus is None:
            return self.power()
        self.deeper(minus)
        body = self.signed()
        self.depth -= 1
        return Combined("-", Constant(0, minus), body, minus)

    def power(self) -> Expression:
        base = self.atom()
        sign = self.accept("^")
        if sign is None:
            return base
        self.deeper(sign)
        exponent = self.signed()
        self.depth -= 1
        return self.operation(sign, base, exponent)

    def atom(self) -> Expression:
        token = self.next
        if token.kind == "number":
            if len(token.text) > 1000:
                raise WrongError(token, "a number has at most 1,000 digits")
            return Constant(int(self.take().text), token)
        if opened := self.accept("("):
            self.deeper(opened)
            inner = self.implication()
            self.depth -= 1
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
                f"'{name.text}' is used as a function, and ensure lines have no functions; write one line for each "
                "case, such as ensure a >= b => m == a",
            )
        index = None
        if opened := self.accept("["):
            self.deeper(opened)
            index = self.sum()
            self.depth -= 1
            self.expect("]")
        return Named(name.text, entered, index, token)

    def plain_name(self, what: str) -> Token:
        if self.next.kind != "name" or self.next.text in _WORDS:
            raise self.refuse(what)
        if len(self.next.text) > 64:
            raise WrongError(self.next, "a name has at most 64 characters")
        return self.take()
