"""The words of a program as its instructions ask for them: declared, made on first use, or constant and shared."""

from __future__ import annotations

from bitwright.machines.assembler_names import Names
from bitwright.machines.assembler_syntax import Declaration, Operand, Role
from bitwright.machines.assembler_text import END_OF_PROGRAM, Kind, Problems, Token
from bitwright.machines.sbn import wrap

MAX_WORDS = 65_536


class Words:
    """Words are numbered as they are declared, then as instructions first use them."""

    def __init__(self, names: Names, problems: Problems) -> None:
        self.names, self.problems = names, problems
        self.values: list[int] = []
        self.addresses: dict[str, int] = {}
        self._constants: dict[int, int] = {}  # by value; nothing writes to them, since no name leads to them
        self._scratch: int | None = None  # zero before and after every operation that uses it
        for name, value in names.words.items():
            self.addresses[name] = self._new(names.fitting(value) or 0, value.token)

    def of(self, operand: Operand, role: Role) -> int:
        """The address of the word that an operand means; 0, with a problem, where it means none."""
        if operand.kind is Kind.NAME:
            return self._named(operand)
        if operand.kind is Kind.NUMBER:
            self.problems.at(
                operand.token, f"a word is needed here, found {operand.token}; write #5 for the constant 5"
            )
        elif role is Role.WRITE:
            self.problems.at(operand.token, f"a constant cannot be changed, found {operand.token}; give a word's name")
        else:
            value = self.names.fitting(operand)
            return 0 if value is None else self.constant(value, operand.token)
        return 0

    def negative(self, operand: Operand) -> int:
        """The constant word that holds the negative of a constant operand (which wraps, like every subtraction)."""
        value = self.names.fitting(operand)
        return 0 if value is None else self.constant(wrap(-value, self.names.width), operand.token)

    def constant(self, value: int, token: Token) -> int:
        """The one word that holds this value and is never written."""
        if value not in self._constants and self.names.fits(value, token):
            self._constants[value] = self._new(value, token)
        return self._constants.get(value, 0)

    def scratch(self, token: Token) -> int:
        """The word that built-in operations use, and leave at 0."""
        if self._scratch is None:
            self._scratch = self._new(0, token)
        return self._scratch

    def ports(self, declarations: list[Declaration], directive: str) -> tuple[str, ...]:
        """The names after .in or .out, each a word of its own."""
        found: dict[str, None] = {}
        fed: dict[int, str] = {}
        for token in (t for item in declarations if item.directive.text == directive for t in item.operands):
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
        for alias, word in self.names.aliases.items():
            if word.text in self.names.aliases:
                self.problems.at(word, f"'{word.text}' is an alias itself; name the word that it stands for")
            elif (address := self._known(word)) is not None:
                known[alias] = address
        return known

    def _named(self, operand: Operand) -> int:
        """A word by its name; a name that nothing declares is a word from now on."""
        alias = self.names.aliases.get(operand.body)
        key = operand.key if alias is None else alias.text
        if key not in self.addresses:
            what, place = self.names.declared.get(key, ("a label" if key == END_OF_PROGRAM else "", operand.token))
            if what in ("a label", "a constant"):
                line = f" (line {place.line})" if place is not operand.token else ""
                advice = f"write #{operand.body}" if what == "a constant" else "a word needs another name"
                message = f"a word is needed here, but '{operand.body}' is {what}{line}; {advice}"
                self.problems.at(operand.token, message)
                return 0
            self.addresses[key] = self._new(0, operand.token)
        return self.addresses[key]

    def _known(self, token: Token) -> int | None:
        """The address of a word that is declared or used, or None with a problem."""
        alias = self.names.aliases.get(token.text)
        name = token.text if alias is None else alias.text
        if name in self.addresses:
            return self.addresses[name]
        if name in self.names.declared and name not in self.names.aliases:
            what, place = self.names.declared[name]
            self.problems.at(token, f"a word is needed here, but '{name}' is {what} (line {place.line})")
        elif alias is None and name not in self.names.excused:
            known = (word for word in self.addresses if not word.startswith("@"))
            hint = self.problems.hint(name, known) or "; declare it with .word, or use it in an instruction"
            self.problems.at(token, f"unknown word '{name}'{hint}")
        return None

    def _new(self, value: int, token: Token) -> int:
        if len(self.values) == MAX_WORDS:
            self.problems.at(token, f"a program has at most {MAX_WORDS:,} words; use fewer names and constants")
        self.values.append(value)
        return len(self.values) - 1
