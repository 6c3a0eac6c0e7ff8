"""What the names of an assembly text stand for: numbers, words and labels, each declared once."""

from __future__ import annotations

from bitwright.bits import shorten
from bitwright.machines.assembler_syntax import Declaration, Item, Label, Operand, Source, Statement, operand_of
from bitwright.machines.assembler_text import END_OF_PROGRAM, Kind, Problems, Token
from bitwright.machines.sbn import MAX_WIDTH

DEFAULT_WIDTH = 8
_DECLARES = {".const": "a constant", ".word": "a word", ".alias": "an alias"}
_BUILT_IN = {"mov": (4, 2), "add": (3, 1)}  # instructions with a word, and with a constant; the others are one


class Names:
    """The width, constants, declared words, aliases and labels of one text."""

    def __init__(self, source: Source, items: list[Item], problems: Problems) -> None:
        self.problems, self.excused = problems, source.excused
        self.declared: dict[str, tuple[str, Token]] = {}  # what a name is, and where it says so
        self._declare(source.declarations, [item for item in items if isinstance(item, Label)])
        self.constants: dict[str, int | None] = {}  # None where the value is a problem already reported
        for name, value in self._declarations(".const", source):
            self.constants[name] = self.number(operand_of(value))
        self.width = self._width([item for item in source.declarations if item.directive.text == ".width"])
        self.words = {name: operand_of(value) for name, value in self._declarations(".word", source)}
        self.aliases = dict(self._declarations(".alias", source))  # to the token that names the word
        self.labels: dict[str, int] = {}
        self.instructions = 0
        for item in items:
            if isinstance(item, Statement):
                self.instructions += size_of(item)
            else:
                self.labels.setdefault(item.key, self.instructions)
        self.labels[END_OF_PROGRAM] = self.instructions

    # Numbers.

    def number(self, operand: Operand) -> int | None:
        """The value of a number or of a constant's name; None, with a problem, where it has none."""
        body = operand.body
        if body[0].isdigit():
            return operand.sign * int(body, 0 if body[:2].lower() in ("0x", "0b") else 10)
        if body in self.constants:
            value = self.constants[body]
            return None if value is None else operand.sign * value
        if body in self.declared:
            what, token = self.declared[body]
            reason = "is defined further down" if what == "a constant" else f"is {what} (line {token.line})"
            self.problems.at(operand.token, f"a number is needed here, but '{body}' {reason}")
        elif body not in self.excused:
            hint = self.problems.hint(body, self.constants) or "; give it a value with .const"
            self.problems.at(operand.token, f"unknown constant '{body}'{hint}")
        return None

    def fitting(self, operand: Operand) -> int | None:
        """The value, if it fits a word."""
        value = self.number(operand)
        return value if value is not None and self.fits(value, operand.token) else None

    def fits(self, value: int, token: Token) -> bool:
        low, high = -(2 ** (self.width - 1)), 2 ** (self.width - 1) - 1
        if low <= value <= high:
            return True
        bits = f"{self.width} bit{'s' if self.width > 1 else ''}"
        self.problems.at(token, f"{shorten(value)} does not fit in {bits}, {low} to {high}; change it or .width")
        return False

    # Declarations.

    def _declare(self, declarations: list[Declaration], labels: list[Label]) -> None:
        """Gives every name its one meaning, the first in the order of the text."""
        found = [(item.operands[0], item.operands[0].text, _DECLARES.get(item.directive.text)) for item in declarations]
        found += [(label.token, label.key, "a label") for label in labels]
        for token, name, what in sorted(found, key=lambda entry: (entry[0].line, entry[0].column)):
            if what is not None:
                first, place = self.declared.setdefault(name, (what, token))
                if place is not token:
                    line = f"line {place.line}"
                    self.problems.at(token, f"'{token.text}' is already {first} ({line}); choose another name")

    def _declarations(self, directive: str, source: Source) -> list[tuple[str, Token]]:
        """Name and other operand of these directives, without names that something above them has taken."""
        pairs = [item.operands for item in source.declarations if item.directive.text == directive]
        return [(name.text, other) for name, other in pairs if self.declared[name.text][1] is name]

    def _width(self, given: list[Declaration]) -> int:
        for item in given[1:]:
            self.problems.at(item.directive, f"'.width' is given twice; line {given[0].directive.line} has it too")
        value = self.number(operand_of(given[0].operands[0])) if given else DEFAULT_WIDTH
        if value is not None and not 1 <= value <= MAX_WIDTH:
            message = f"a word has between 1 and {MAX_WIDTH} bits, got {shorten(value)}"
            self.problems.at(given[0].operands[0], message)
            value = None
        return MAX_WIDTH if value is None else value  # nothing more is reported for a width that is wrong itself


def size_of(statement: Statement) -> int:
    """How many instructions an operation becomes."""
    with_word, with_constant = _BUILT_IN.get(statement.operation.text, (1, 1))
    return with_constant if statement.operands and statement.operands[0].kind is Kind.CONSTANT else with_word
