"""The words of an SBN program as its instructions ask for them: declared, made on first use, or constant and shared."""

from __future__ import annotations

from collections.abc import Sequence

from bitwright.bits import shorten
from bitwright.machines.assembly.names import Meaning, Names
from bitwright.machines.sbn.code import MAX_SIZE, wrap
from bitwright.text.macros import Operand, Statement
from bitwright.text.problems import GiveUpError
from bitwright.text.scanner import Token


class SbnWords:
    """Words are numbered as they are declared, then as instructions first use them."""

    def __init__(self, names: Names, width: int, declared: Sequence[Statement], aliases: Sequence[Statement]) -> None:
        self.names, self.problems, self.width = names, names.problems, width
        self.aliases = {names.declared(item).text: names.name(item, item.operands[1]) for item in aliases}
        self.values: list[int] = []
        self.addresses: dict[str, int] = {}
        self._constants: dict[int, int] = {}  # by value; nothing writes to them, since no name leads to them
        for item in declared:
            value = item.operands[1]
            try:
                start = self._fitting(names.plain(item, value), value.origin)
            except GiveUpError:
                start = 0
            self.addresses[names.declared(item).text] = self._new(start, value.origin)

    def of(self, operand: Operand, statement: Statement, written: bool = False) -> int:
        """The address of the word that an operand means; 0, with a problem, where it means none."""
        tokens, pooled, origin = operand
        if not pooled and len(tokens) == 1 and tokens[0].key in self.addresses:  # nearly always
            return self.addresses[tokens[0].key]
        try:
            if operand.name is not None:
                return self._named(operand.name, origin)
            if not pooled:
                raise self.problems.stop(origin, f"a word is needed here, found {operand}; write #5 for the constant 5")
            if written and origin.line:  # the operations that every program has know what they do
                raise self.problems.stop(origin, f"a constant cannot be changed, found {operand}; give a word's name")
            return self._constant(operand, origin if origin.line else statement.token)
        except GiveUpError:
            return 0

    def ports(self, directive: str, statements: Sequence[Statement]) -> tuple[str, ...]:
        """The names after .in or .out, each a word of its own."""
        found: dict[str, None] = {}
        fed: dict[int, str] = {}
        for token in (operand.tokens[0] for item in statements for operand in item.operands):
            address = self._known(token)
            if token.text in found:
                self.problems.at(token, f"'{token.text}' is listed twice; '{directive}' takes a word once")
            elif directive == ".in" and address in fed:
                both = f"'{token.text}' and '{fed[address]}'"
                self.problems.at(token, f"{both} are the same word; only one of them can be an input")
            elif address is not None:
                found[token.text], fed[address] = None, token.text
        return tuple(found)

    def exported(self) -> dict[str, int]:
        """The names that users of the program know words by."""
        known = {name: address for name, address in self.addresses.items() if not name.startswith("@")}
        for alias, word in self.aliases.items():
            if word.text in self.aliases:
                self.problems.at(word, f"'{word.text}' is an alias itself; name the word that it stands for")
            elif (address := self._known(word)) is not None:
                known[alias] = address
        return known

    def _named(self, token: Token, origin: Token) -> int:
        """A word by its name; a name that nothing declares is a word from now on."""
        key = self.aliases.get(token.text, token).key
        if key not in self.addresses:
            meaning = self.names.meanings.get(key, Meaning("a word"))
            if meaning.what in ("a label", "a constant"):
                advice = f"write #{token.text}" if meaning.what == "a constant" else "a word needs another name"
                raise self.problems.stop(origin, f"a word is needed here, but '{token.text}' is {meaning}; {advice}")
            self.addresses[key] = self._new(0, origin)
        return self.addresses[key]

    def _known(self, token: Token) -> int | None:
        """The address of a word that is declared or used, or None with a problem."""
        name = self.aliases.get(token.text, token).text
        if name in self.addresses:
            return self.addresses[name]
        if name in self.names.meanings and name not in self.aliases:
            self.problems.at(token, f"a word is needed here, but '{name}' is {self.names.meanings[name]}")
        elif token.text not in self.aliases and name not in self.names.already_reported:
            known = (word for word in self.addresses if not word.startswith("@"))
            hint = self.problems.hint(name, known) or "; declare it with .word, or use it in an instruction"
            self.problems.at(token, f"unknown word '{name}'{hint}")
        return None

    def _constant(self, operand: Operand, place: Token) -> int:
        """The one word that holds this value and is never written.

        Where an operation negates what it was given, that must fit a word, and its negative wraps.
        """
        sign, *given = operand.tokens
        if sign.line == 0 and any(token.line for token in given):
            value = self._fitting(self.names.number(operand._replace(tokens=tuple(given))), place)
            value = wrap(-value, self.width)
        else:
            value = self._fitting(self.names.number(operand), place)
        if value not in self._constants:
            self._constants[value] = self._new(value, place)
        return self._constants[value]

    def _fitting(self, value: int, place: Token) -> int:
        low, high = -(2 ** (self.width - 1)), 2 ** (self.width - 1) - 1
        if not low <= value <= high:
            bits = f"{self.width} bit{'s' if self.width > 1 else ''}"
            message = f"{shorten(value)} does not fit in {bits}, {low} to {high}; change it or .width"
            raise self.problems.stop(place, message)
        return value

    def _new(self, value: int, place: Token) -> int:
        if len(self.values) == MAX_SIZE:
            self.problems.at(place, f"a program has at most {MAX_SIZE:,} words; use fewer names and constants")
        self.values.append(value)
        return len(self.values) - 1
