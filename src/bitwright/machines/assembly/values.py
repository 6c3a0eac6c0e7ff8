"""The value of an operand: + - * and brackets over numbers, characters, names and $, the address here."""

from __future__ import annotations

import re
from collections.abc import Callable

from bitwright.text.macros import Operand
from bitwright.text.problems import Problems
from bitwright.text.scanner import Token

_MAX_DEPTH = 100  # of brackets and signs
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", "'": "'", '"': '"'}


def value_of(operand: Operand, named: Callable[[Token], int], here: int, problems: Problems) -> int:
    """The value of an expression, with `named` for what its names stand for."""
    *signs, last = operand.tokens
    if last.kind == "number" and (not signs or (len(signs) == 1 and signs[0].text == "-")):  # nearly always
        return -_number(last.text) if signs else _number(last.text)
    if last.kind == "name" and not signs:
        return named(last)
    return _Expression(operand, named, here, problems).value()


def text_of(operand: Operand, problems: Problems) -> str | None:
    """The text of an operand that is a string in quotes."""
    first = operand.tokens[0]
    return _unquoted(first, problems) if first.kind == "string" and len(operand.tokens) == 1 else None


class _Expression:
    def __init__(self, operand: Operand, named: Callable[[Token], int], here: int, problems: Problems) -> None:
        self._tokens, self._at, self._depth = operand.tokens, 0, 0
        self._named, self._here, self._problems = named, here, problems

    def value(self) -> int:
        found = self._sum()
        if self._peek():
            token = self._tokens[self._at]
            raise self._problems.stop(token, f"expected + - * or ',', found {token}")
        return found

    def _peek(self) -> str:
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

    def _sum(self) -> int:
        found = self._product()
        while (sign := self._peek()) in ("+", "-"):
            self._at += 1
            found += self._product() if sign == "+" else -self._product()
        return found

    def _product(self) -> int:
        found = self._atom()
        while self._peek() == "*":
            self._at += 1
            found *= self._atom()
            if found.bit_length() > 1_000:
                raise self._problems.stop(self._tokens[0], "the value of this expression is too large for any word")
        return found

    def _atom(self) -> int:
        if self._at >= len(self._tokens):
            last = self._tokens[-1]
            raise self._problems.stop(last, f"something is missing behind {last}")
        token = self._tokens[self._at]
        self._at += 1
        if token.kind == "number":
            return _number(token.text)
        if token.kind == "character":
            return ord(_unquoted(token, self._problems))
        if token.kind == "name":
            return self._named(token)
        if token.text == "$":
            return self._here
        if token.text not in ("-", "("):
            raise self._problems.stop(token, f"expected a number, a name or '(', found {token}")
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._problems.stop(token, f"brackets and signs are nested more than {_MAX_DEPTH} deep")
        found = -self._atom() if token.text == "-" else self._sum()
        self._depth -= 1
        if token.text == "(":
            if self._peek() != ")":
                raise self._problems.stop(token, "this '(' is not closed")
            self._at += 1
        return found


def _number(text: str) -> int:
    return int(text) if text.isdigit() else int(text, 0)


def _unquoted(token: Token, problems: Problems) -> str:
    """What a character or a string in quotes stands for."""

    def escaped(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            raise problems.stop(token, f"there is no \\{match[1]}; use one of {' '.join(map(repr, _ESCAPES))}")
        return _ESCAPES[match[1]]

    return re.sub(r"\\(.)", escaped, token.text[1:-1])
