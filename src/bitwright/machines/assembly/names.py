"""Resolves the names of an assembly text and evaluates its operands.

An operand is an expression with + - * and parentheses over numbers, characters, names and $, the current address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from bitwright.common.scanner import END, MAX_LINE, GiveUpError, Problems, Token, WrongError
from bitwright.machines.assembly import InstructionSet, Source
from bitwright.machines.assembly.macros import Item, Label, Operand, Statement, names_of
from bitwright.rules.ensure_text import ExpressionReader

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", "'": "'", '"': '"'}


class Meaning(NamedTuple):
    """The meaning of a name, and its declaration."""

    what: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.what} ({self.why})" if self.why else self.what


class Names:
    """The meanings of all names of a text, and the values of constants and labels as they become known."""

    def __init__(self, language: InstructionSet, source: Source, problems: Problems) -> None:
        self.language, self.problems, self.already_reported = language, problems, source.already_reported
        self.meanings = {name: Meaning(*meaning) for name, meaning in language.reserved.items()}
        self.constants: dict[str, int | None] = {}  # None if a problem with the value is already reported
        self.labels: dict[str, int] = {}

    # Meanings.

    def declare(self, items: Iterable[Item]) -> list[Item]:
        """Declares names in text order; returns the items without repeated declarations."""
        kept: list[Item] = []
        for item in items:
            try:
                if isinstance(item, Label):
                    kept.append(item)  # also a repeated label, so that jumps to it are not reported as well
                    self._mean(item.token, "a label")
                    continue
                if item.name in self.language.declares:
                    self._mean(self.declared(item), self.language.declares[item.name])
                kept.append(item)
            except GiveUpError:
                continue
        return kept

    def declared(self, statement: Statement) -> Token:
        """Returns the name that a directive declares, its first operand."""
        return self.name(statement, statement.operands[0])

    def name(self, statement: Statement, operand: Operand) -> Token:
        if operand.name is None:
            form = self.language.forms[statement.name].text
            self.already_reported.update(names_of(statement))
            raise self.problems.stop(operand.origin, f"expected a name, found {operand} (the form is: {form})")
        return operand.name

    def _mean(self, token: Token, what: str) -> None:
        known = self.meanings.get(token.key)
        if known is not None:
            raise self.problems.stop(token, f"'{token.text}' is already {known}; choose another name")
        self.meanings[token.key] = Meaning(what, f"line {token.line}")

    # Values.

    def constant(self, statement: Statement) -> None:
        """Evaluates `.const NAME value`; the name is defined from here on."""
        name = self.declared(statement).key
        try:
            self.constants[name] = self.plain(statement, statement.operands[1])
        except GiveUpError:
            self.constants[name] = None

    def plain(self, statement: Statement, operand: Operand) -> int:
        """Returns the numeric argument of a directive."""
        if operand.pooled or (self.language.directives_declare and operand.text[0] == "@"):
            form = self.language.forms[statement.name].text
            raise self.problems.stop(operand.origin, f"expected a number, found {operand} (the form is: {form})")
        return self.number(operand)

    def number(self, operand: Operand) -> int:
        """Evaluates an operand of numbers and constants defined above it."""

        def named(token: Token) -> int:
            if token.key in self.constants:
                return self._known(self.constants[token.key])
            place = _place(token, operand)
            meaning = self.meanings.get(token.key)
            if meaning is not None:
                reason = "is defined further down" if meaning.what == "a constant" else f"is {meaning}"
                raise self.problems.stop(place, f"a number is needed here, but '{token.text}' {reason}")
            if token.text in self.already_reported:
                raise GiveUpError
            hint = self.problems.hint(token.text, self.constants) or "; give it a value with .const"
            raise self.problems.stop(place, f"unknown constant '{token.text}'{hint}")

        return value_of(operand, named, 0, self.problems)

    def address(self, operand: Operand, here: int) -> int:
        """Evaluates an operand of numbers, constants and labels."""

        def named(token: Token) -> int:
            if token.key in self.labels:
                return self.labels[token.key]
            if token.key in self.constants:
                return self._known(self.constants[token.key])
            if token.text in self.already_reported:
                raise GiveUpError
            hint = self.problems.hint(token.text, (name for name in (*self.constants, *self.labels) if "." not in name))
            self.already_reported.add(token.text)
            raise self.problems.stop(_place(token, operand), f"'{token.text}' is not defined{hint}")

        return value_of(operand, named, here, self.problems)

    def _known(self, value: int | None) -> int:
        if value is None:
            raise GiveUpError
        return value


def _place(token: Token, operand: Operand) -> Token:
    """Returns the position at which to report a name: the start of the operand if the rest of it is only signs."""
    return operand.origin if all(one is token or one.kind == "sign" for one in operand.tokens) else token


def value_of(operand: Operand, named: Callable[[Token], int], here: int, problems: Problems) -> int:
    """Evaluates an operand; `named` maps names to values."""
    *signs, last = operand.tokens
    if last.kind == "number" and (not signs or (len(signs) == 1 and signs[0].text == "-")):  # the usual case
        return -_number(last.text) if signs else _number(last.text)
    if last.kind == "name" and not signs:
        return named(last)
    return _Expression(operand, named, here, problems).value()


def text_of(operand: Operand, problems: Problems) -> str | None:
    """Returns the text of a quoted string; None for any other operand."""
    first = operand.tokens[0]
    return _unquoted(first, problems) if first.kind == "string" and len(operand.tokens) == 1 else None


class _Expression(ExpressionReader):
    """Evaluates an operand while parsing it."""

    products, most_signs, most_depth = ("*",), MAX_LINE, 100

    def __init__(self, operand: Operand, named: Callable[[Token], int], here: int, problems: Problems) -> None:
        super().__init__((*operand.tokens, operand.tokens[-1]._replace(kind=END, text="")))
        self._named, self._here, self._problems = named, here, problems

    def value(self) -> int:
        try:
            found: int = self.sum()
            if self.next.kind != END:
                raise WrongError(self.next, f"expected + - * or ',', found {self.next}")
        except WrongError as error:
            raise self._problems.stop(error.token, error.message) from None
        return found

    def negative(self, minus: Token, body: int) -> int:  # noqa: ARG002
        return -body

    def combined(self, sign: Token, left: int, right: int) -> int:
        found = left * right if sign.text == "*" else left + right if sign.text == "+" else left - right
        if found.bit_length() > 1_000:
            raise WrongError(self.tokens[0], "the value of this expression is too large for any word")
        return found

    def atom(self) -> int:
        token = self.take()
        if token.kind == END:
            raise WrongError(self.tokens[-2], f"something is missing after {self.tokens[-2]}")
        if token.kind == "number":
            return _number(token.text)
        if token.kind == "character":
            return ord(_unquoted(token, self._problems))
        if token.kind == "name":
            return self._named(token)
        if token.text == "$":
            return self._here
        if token.text != "(":
            raise WrongError(token, f"expected a number, a name or '(', found {token}")
        found: int = self.nested(token, self.sum)
        if self.accept(")") is None:
            raise WrongError(token, "this '(' is not closed")
        return found


def _number(text: str) -> int:
    return int(text) if text.isdigit() else int(text, 0)


def _unquoted(token: Token, problems: Problems) -> str:
    """Returns the text of a quoted character or string."""

    def escaped(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            raise problems.stop(token, f"unknown escape \\{match[1]}; use one of {' '.join(map(repr, _ESCAPES))}")
        return _ESCAPES[match[1]]

    return re.sub(r"\\(.)", escaped, token.text[1:-1])
