"""What the names of an assembly text stand for: each has one meaning, and constants and labels have a value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from bitwright.machines.assembly.reading import InstructionSet, Source
from bitwright.machines.assembly.values import value_of
from bitwright.text.macros import Item, Label, Operand, Statement, names_of
from bitwright.text.problems import GiveUpError, Problems
from bitwright.text.scanner import Token


class Meaning(NamedTuple):
    """What a name is, and where that is said."""

    what: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.what} ({self.why})" if self.why else self.what


class Names:
    """The meanings of all names of a text; the values of constants and labels, once they are known."""

    def __init__(self, language: InstructionSet, source: Source, problems: Problems) -> None:
        self.language, self.problems, self.already_reported = language, problems, source.already_reported
        self.meanings = {name: Meaning(*meaning) for name, meaning in language.reserved.items()}
        self.constants: dict[str, int | None] = {}  # None where what is wrong with the value has been noted
        self.labels: dict[str, int] = {}

    # Meanings.

    def declare(self, items: Iterable[Item]) -> list[Item]:
        """Gives names their meanings, in the order of the text; leaves out directives for a name that has one."""
        kept: list[Item] = []
        for item in items:
            try:
                if isinstance(item, Label):
                    kept.append(item)  # also a second one, so that jumps to it are no problem of their own
                    self._mean(item.token, "a label")
                    continue
                if item.name in self.language.declares:
                    self._mean(self.declared(item), self.language.declares[item.name])
                kept.append(item)
            except GiveUpError:
                continue
        return kept

    def declared(self, statement: Statement) -> Token:
        """The name that a directive declares: its first operand."""
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
        """`.const NAME value`: from here on the name has this value."""
        name = self.declared(statement).key
        try:
            self.constants[name] = self.plain(statement, statement.operands[1])
        except GiveUpError:
            self.constants[name] = None

    def plain(self, statement: Statement, operand: Operand) -> int:
        """The number that a directive is given."""
        if operand.pooled or (self.language.directives_declare and operand.text[0] == "@"):
            form = self.language.forms[statement.name].text
            raise self.problems.stop(operand.origin, f"expected a number, found {operand} (the form is: {form})")
        return self.number(operand)

    def number(self, operand: Operand) -> int:
        """A value that does not depend on addresses: of numbers and of constants that are defined above."""

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
        """A value of numbers, constants and labels."""

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
    """Where to tell of a name: at the operand, if that has nothing else but signs."""
    return operand.origin if all(one is token or one.kind == "sign" for one in operand.tokens) else token
