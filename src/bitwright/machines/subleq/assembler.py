"""Assembles SUBLEQ text (.sq) to images, as described in docs/reference/subleq.md; reports all problems together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, problems_of
from bitwright.common.scanner import (
    MAX_LINE,
    NAME,
    SPACE,
    GiveUpError,
    Problems,
    Scanner,
    opening_comment,
    without_problems,
)
from bitwright.machines.assembly import InstructionSet, read
from bitwright.machines.assembly.macros import Form, Label, Operand, Statement
from bitwright.machines.assembly.names import Names, text_of
from bitwright.machines.subleq.images import MAX_ADDRESS_BITS, find_dialect, no_ports
from bitwright.rules.text import read_text

ZERO = "Z"  # a scratch word of every program, 0 outside operations
MAX_WORDS = 1 << MAX_ADDRESS_BITS

# Operations of every program. Z is 0 before and after each.
_OPERATIONS = {
    "sub a, b": ["subleq a, b"],
    "jmp target": ["subleq Z, Z, target"],
    "clr x": ["subleq x, x"],
    "jle x, target": ["subleq Z, x, target"],
    "inc x": ["subleq #-1, x"],
    "dec x": ["subleq #1, x"],
    "add a, b": ["subleq a, Z", "subleq Z, b", "subleq Z, Z"],
    "mov a, b": ["subleq a, Z", "subleq b, b", "subleq Z, b", "subleq Z, Z"],  # correct even if both are the same word
    "halt": ["subleq Z, Z, -1"],
    "in x": ["subleq -1, x"],
    "out x": ["subleq x, -1"],
}


def _unreadable(text: str) -> tuple[int, str]:
    if text == '"':
        return 0, "this string is not closed; end it with a '\"' on the same line"
    if text == "'":
        return 0, "a character is a single letter in single quotes, such as 'a'; longer text needs double quotes"
    return 0, f"unexpected character {shorten(text)!r}"


_LONGEST = 66  # a binary number of 64 digits
SUBLEQ = InstructionSet(
    scanner=Scanner(
        {
            "comment": ";.*",
            "directive": r"\.[A-Za-z]+",
            "long": rf"@?[A-Za-z0-9_]{{{_LONGEST + 1},}}",
            "name": f"@?{NAME}",
            "number": "0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+",
            "character": r"'(?:\\.|[^'\\])'",
            "string": r'"(?:\\.|[^"\\])*"',
            "sign": r"[-+*(),:\#$]",
            "other": rf"[^{SPACE}]",
        },
        {
            "long": lambda text: (0, f"'{shorten(text)}' is too long; a name or number has at most 64 characters"),
            "other": _unreadable,
        },
    ),
    forms={
        "subleq": Form("subleq a, b, or subleq a, b, c", 2, 3),
        ".data": Form(".data 1, -1, 'a', \"text\"", 1, MAX_LINE),
        ".space": Form(".space 10", 1, 1),
        ".const": Form(".const SIZE, 10", 2, 2),
        ".words": Form(".words 256", 1, 1),
        ".width": Form(".width 16", 1, 1),
        ".dialect": Form(".dialect howerj", 1, 1),
    },
    prelude=_OPERATIONS,
    declares={".const": "a constant"},
    reserved={ZERO: ("a word", "which is 0 for every operation")},
    separator=", ",
    directives_declare=False,
    most_parameters=MAX_LINE,
    most_pieces=1 << 26,
)


@dataclass(frozen=True)
class Assembly:
    """An image, and the machine settings in its text."""

    image: list[int]
    labels: dict[str, int]
    words: int | None = None
    width: int | None = None
    dialect: str | None = None
    description: str = ""
    ports: int = 0  # instructions with an operand of -1

    def doubts(self) -> list[str]:
        """Returns warnings about a valid but probably incorrect text, one line each."""
        dialect = None if self.dialect is None else find_dialect(self.dialect)
        return [no_ports(dialect, self.ports)] if dialect and not dialect.io and self.ports else []


def load_sq(path: str | Path) -> Assembly:
    """Assembles a .sq file; raises InputError for the file, ProgramError for its contents."""
    path = Path(path)
    with problems_of(path):
        return assemble_sq(read_text(path, ".sq"))


def assemble_sq(text: str) -> Assembly:
    """Assembles a text to an image.

    >>> assemble_sq("loop: dec n" + chr(10) + "jmp loop" + chr(10) + "n: .data 7").image
    [8, 6, 3, 7, 7, 0, 7, 0, 1]
    """
    return without_problems(lambda problems: _Layout(text, problems).assembled(), "")


class _Layout:
    """Assigns addresses to all words, then computes their values."""

    def __init__(self, text: str, problems: Problems) -> None:
        self.text, self.problems = text, problems
        source = read(text, SUBLEQ, problems)
        self.names = Names(SUBLEQ, source, problems)
        self.settings: dict[str, int | str] = {}
        self.code: list[tuple[int, Statement]] = []
        self.pool: dict[int, int] = {}  # value to address
        self.size = 0
        for item in self.names.declare(source.items):
            try:
                if isinstance(item, Label):
                    self.names.labels.setdefault(item.token.key, self.size)
                else:
                    self._place(item)
            except GiveUpError:
                continue

    # First pass: addresses.

    def _place(self, item: Statement) -> None:
        name, operands = item.name, item.operands
        if name == "subleq":
            self._grow(3, item)
        elif name == ".data":
            texts = [text_of(operand, self.problems) for operand in operands]
            self._grow(sum(1 if text is None else len(text) for text in texts), item)
        elif name == ".const":
            self.names.constant(item)
            self._fitting(self.names.constants[operands[0].text] or 0, operands[1])
        elif name == ".space":
            count = self._early(item)
            if not 0 <= count <= MAX_WORDS:
                raise self.problems.stop(item.token, f".space takes 0 to {MAX_WORDS:,} words, got {count}")
            self._grow(count, item)
        else:
            self._setting(item)

    def _grow(self, count: int, item: Statement) -> None:
        if self.size + count > MAX_WORDS:
            raise self.problems.stop(item.token, f"a program may have at most {MAX_WORDS:,} words")
        if item.name != ".space":
            self.code.append((self.size, item))
        self.size += count

    def _setting(self, item: Statement) -> None:
        name, operand = item.name, item.operands[0]
        if name in self.settings:
            raise self.problems.stop(item.token, f"{item.token} is repeated; remove one of the two lines")
        if name != ".dialect":
            self.settings[name] = self._early(item)
            return
        try:
            self.settings[name] = find_dialect("".join(token.text for token in operand.tokens)).name
        except InputError as error:
            raise self.problems.stop(operand.origin, str(error)) from None

    def _early(self, item: Statement) -> int:
        """Returns a number that is needed before addresses are known."""
        return self._fitting(self.names.plain(item, item.operands[0]), item.operands[0])

    # Second pass: values.

    def assembled(self) -> Assembly:
        self.names.labels[ZERO] = self.size
        image = [0] * self.size
        uses_zero, ports = False, 0
        for at, item in self.code:
            values = self._words(item, at)
            image[at : at + len(values)] = values
            ports += item.name == "subleq" and -1 in values[:2]
            uses_zero = uses_zero or any(token.text == ZERO for operand in item.operands for token in operand.tokens)
        if not self.code and not self.problems:
            self.problems.note(1, 1, "the text has no word; add a line such as: subleq a, b")
        if uses_zero or self.pool:
            image += [0, *self.pool]
        found = self.settings
        return Assembly(
            image=image,
            labels={name: at for name, at in self.names.labels.items() if not name.startswith("@") and name != ZERO},
            words=found.get(".words"),  # type: ignore[arg-type]
            width=found.get(".width"),  # type: ignore[arg-type]
            dialect=found.get(".dialect"),  # type: ignore[arg-type]
            description=opening_comment(self.text, ";"),
            ports=ports,
        )

    def _words(self, item: Statement, at: int) -> list[int]:
        if item.name == "subleq":
            values = [self._word(operand, at) for operand in item.operands]
            return [*values, at + 3] if len(values) == 2 else values
        values = []
        for operand in item.operands:
            text = text_of(operand, self.problems)
            values += [self._word(operand, at + len(values))] if text is None else map(ord, text)
        return values

    def _word(self, operand: Operand, here: int) -> int:
        """Returns the value of an operand; reports a problem and returns 0 if it has none."""
        try:
            value = self._fitting(self.names.address(operand, here), operand)
        except GiveUpError:
            return 0
        return self.pool.setdefault(value, self.size + 1 + len(self.pool)) if operand.pooled else value

    def _fitting(self, value: int, operand: Operand) -> int:
        if not -(2**63) <= value < 2**64:
            raise self.problems.stop(operand.origin, "this value fits no word of any machine")
        return value
