"""SUBLEQ assembly (.sq) to an image; docs/subleq.md has the grammar. All problems of a text are raised together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bitwright.bits import printable
from bitwright.errors import InputError, ProgramError
from bitwright.machines.assembler_text import TooManyProblemsError
from bitwright.machines.subleq.dialect import MAX_ADDRESS_BITS, find_dialect
from bitwright.machines.subleq.image import no_ports
from bitwright.machines.subleq.source import SETTINGS, Label, Source, Statement, form_of, text_of
from bitwright.machines.subleq.text import Expression, Notes, Operand, Token, UnreadableError
from bitwright.program.text.files import read_text

ZERO = "Z"  # a word that every program may use, and must leave at 0
MAX_WORDS = 1 << MAX_ADDRESS_BITS


@dataclass(frozen=True)
class Assembly:
    """An image, and what its text says about the machine it is for."""

    image: list[int]
    labels: dict[str, int]
    words: int | None = None
    width: int | None = None
    dialect: str | None = None
    description: str = ""
    ports: int = 0  # instructions with an operand of -1

    def doubts(self) -> list[str]:
        """What the text can hardly mean, though it is well formed; one line each."""
        dialect = None if self.dialect is None else find_dialect(self.dialect)
        return [no_ports(dialect, self.ports)] if dialect and not dialect.io and self.ports else []


def load_sq(path: str | Path) -> Assembly:
    """The program in a .sq file; raises InputError for the file, ProgramError for what it says."""
    path = Path(path)
    try:
        return assemble_sq(read_text(path, ".sq"))
    except ProgramError as error:
        raise ProgramError(error.problems, printable(str(path))) from None


def assemble_sq(text: str) -> Assembly:
    """The image that a text describes.

    >>> assemble_sq("loop: dec n" + chr(10) + "jmp loop" + chr(10) + "n: .data 7").image
    [8, 6, 3, 7, 7, 0, 7, 0, 1]
    """
    notes = Notes()
    try:
        assembly = _Layout(text, notes).assembled()
    except (TooManyProblemsError, UnreadableError):
        assembly = None
    if assembly is None or notes.problems:
        raise notes.problems.error("")
    return assembly


class _Layout:
    """Gives every word its address, then every word its value."""

    def __init__(self, text: str, notes: Notes) -> None:
        self.notes, self.text = notes, text
        self.names: dict[str, int] = {}
        self.constants: dict[str, int] = {}
        self.settings: dict[str, int | str] = {}
        self.code: list[tuple[int, Statement]] = []
        self.pool: dict[int, int] = {}  # value to address
        self.size = 0
        for item in Source(text, notes).items:
            try:
                self._place(item)
            except UnreadableError:
                if isinstance(item, Statement) and item.name.text == ".const" and item.operands:
                    notes.excused.add(item.operands[0].first.text)

    # First pass: addresses.

    def _place(self, item: Label | Statement) -> None:
        if isinstance(item, Label):
            self._define(item.token, self.size, self.names)
            return
        name, operands = item.name.text, item.operands
        if name == ".const":
            self._constant(item)
        elif name in SETTINGS:
            self._setting(item)
        elif name == ".space":
            self._count(item, 1, 1)
            count = self._value(operands[0], self.size, early=True)
            if not 0 <= count <= MAX_WORDS:
                raise self.notes.stop(item.name, f".space takes 0 to {MAX_WORDS:,} words, got {count}")
            self._grow(count, item.name)
        elif name == ".data":
            self._count(item, 1, None)
            self.code.append((self.size, item))
            texts = [text_of(operand, self.notes) for operand in operands]
            self._grow(sum(1 if text is None else len(text) for text in texts), item.name)
        elif name == "subleq":
            self._count(item, 2, 3)
            self.code.append((self.size, item))
            self._grow(3, item.name)
        elif name in self.notes.excused:
            raise UnreadableError
        else:
            hint = self.notes.problems.hint(name, ("subleq", "sub", "jmp", "clr", "jle", "inc", "dec", "add", "mov"))
            raise self.notes.stop(item.name, f"there is no operation {item.name}{hint}; a label ends with ':'")

    def _grow(self, count: int, token: Token) -> None:
        self.size += count
        if self.size > MAX_WORDS:
            raise self.notes.stop(token, f"a program has at most {MAX_WORDS:,} words")

    def _define(self, token: Token, value: int, among: dict[str, int]) -> None:
        if token.key in self.names or token.key in self.constants or token.text == ZERO:
            raise self.notes.stop(token, f"{token} is defined already; choose another name")
        among[token.key] = value

    def _constant(self, item: Statement) -> None:
        self._count(item, 2, 2)
        name, value = item.operands
        if len(name.tokens) != 1 or name.first.kind != "name":
            raise self.notes.stop(name.first, f"expected a name, found {name.first} (the form: {form_of('.const')})")
        self._define(name.first, self._value(value, self.size, early=True), self.constants)

    def _setting(self, item: Statement) -> None:
        self._count(item, 1, 1)
        name, operand = item.name.text, item.operands[0]
        if name in self.settings:
            raise self.notes.stop(item.name, f"{item.name} stands here a second time; remove one of them")
        if name != ".dialect":
            self.settings[name] = self._value(operand, self.size, early=True)
            return
        text = "".join(token.text for token in operand.tokens)
        try:
            self.settings[name] = find_dialect(text).name
        except InputError as error:
            raise self.notes.stop(operand.first, str(error)) from None

    # Second pass: values.

    def assembled(self) -> Assembly:
        zero = self.size
        self.names[ZERO] = zero
        image: dict[int, int] = {}
        uses_zero, ports = False, 0
        for at, item in self.code:
            try:
                values = self._words(item, at)
            except UnreadableError:
                continue
            image.update(enumerate(values, start=at))
            ports += item.name.text == "subleq" and -1 in values[:2]
            uses_zero = uses_zero or any(token.key == ZERO for operand in item.operands for token in operand.tokens)
        if not self.code and not self.notes.problems:
            raise self.notes.stop(Token("end", "", 1, 1), "there is no word; add a line such as: subleq a, b")
        last = max([self.size, *(address + 1 for address in self.pool.values()), zero + uses_zero])
        words = [image.get(at, 0) for at in range(last)]
        for value, address in self.pool.items():
            words[address] = value
        found = self.settings
        return Assembly(
            image=words,
            labels={name: at for name, at in self.names.items() if not name.startswith("@") and name != ZERO},
            words=found.get(".words"),  # type: ignore[arg-type]
            width=found.get(".width"),  # type: ignore[arg-type]
            dialect=found.get(".dialect"),  # type: ignore[arg-type]
            description=_opening_comment(self.text),
            ports=ports,
        )

    def _words(self, item: Statement, at: int) -> list[int]:
        if item.name.text == "subleq":
            values = [self._value(operand, at) for operand in item.operands]
            return [*values, at + 3] if len(values) == 2 else values
        values = []
        for operand in item.operands:
            text = text_of(operand, self.notes)
            values += [self._value(operand, at + len(values))] if text is None else [ord(letter) for letter in text]
        return values

    def _value(self, operand: Operand, here: int, early: bool = False) -> int:
        """What an operand stands for; with `early`, only what is known before addresses are."""

        def value_of(token: Token) -> int:
            if token.key in self.constants:
                return self.constants[token.key]
            if not early and token.key in self.names:
                return self.names[token.key]
            if token.text in self.notes.excused:
                raise UnreadableError
            known = [*self.constants, *(() if early else self.names)]
            why = "must be a constant that is defined above" if early else "is not defined"
            raise self.notes.stop(token, f"{token} {why}{self.notes.problems.hint(token.text, known)}")

        value = Expression(operand.tokens, value_of, here, self.notes).value()
        if not -(2**63) <= value < 2**64:
            raise self.notes.stop(operand.first, "this value fits no word of any machine")
        if not operand.pooled:
            return value
        if early:
            raise self.notes.stop(operand.first, "a '#' word has no address yet here; write the number itself")
        return self.pool.setdefault(value, self.size + 1 + len(self.pool))

    def _count(self, item: Statement, least: int, most: int | None) -> None:
        count: int = len(item.operands)
        if count < least or (most is not None and count > most):
            takes = f"{least} or more" if most is None else str(least) if least == most else f"{least} or {most}"
            noun, form = f"operand{'s' * (takes != '1')}", form_of(item.name.text)
            raise self.notes.stop(item.name, f"{item.name} takes {takes} {noun}, got {count} (the form: {form})")


def _opening_comment(text: str) -> str:
    """The comment lines at the top of a text, as one paragraph."""
    block = re.match(r"(?:[ \t]*;[^\n]*\n?)*", text)
    lines: Sequence[str] = block.group().splitlines() if block else []
    return " ".join(line.strip().lstrip(";").strip() for line in lines).strip()
