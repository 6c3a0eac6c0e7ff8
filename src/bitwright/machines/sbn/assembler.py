"""Assembles SBN text (.sbn) to code, as described in docs/reference/sbn.md."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from bitwright.common.bits import shorten
from bitwright.common.errors import problems_of
from bitwright.common.scanner import (
    MAX_LINE,
    SPACE,
    GiveUpError,
    Problems,
    Scanner,
    Token,
    WrongError,
    opening_comment,
    without_problems,
)
from bitwright.machines.assembly import MAX_NAME, InstructionSet, read
from bitwright.machines.assembly.macros import Form, Item, Label, Operand, Statement, names_of
from bitwright.machines.assembly.names import Meaning, Names
from bitwright.machines.sbn.code import MAX_SIZE, MAX_WIDTH, Code, Instruction, wrap
from bitwright.rules import ensures
from bitwright.rules.ensure_text import SCANNER, read_tokens
from bitwright.rules.text import read_text

END_OF_PROGRAM = "halt"  # the reserved label after the last instruction
USE = ".use"  # assigns the next addresses to these words; for the prelude only

# sbn #0 #-1 always jumps, since -1 - 0 is negative and stays -1. @scratch is 0 before and after each operation.
# For a constant #a, the operation can also use #-a.
_OPERATIONS = {
    "sub a b": ["sbn a b"],
    "clr x": ["sbn x x"],
    "jmp LABEL": ["sbn #0 #-1 LABEL"],
    "jneg x LABEL": [".use x", "sbn #0 x LABEL"],
    "inc x": [".use x", "sbn #-1 x"],
    "dec x": [".use x", "sbn #1 x"],
    "halt": ["sbn #0 #-1 halt"],
    "mov a b": [".use a b", "sbn a @scratch", "sbn b b", "sbn @scratch b", "sbn @scratch @scratch"],
    "mov #a b": [".use #-a", "sbn b b", "sbn #-a b"],
    "add a b": [".use a b", "sbn a @scratch", "sbn @scratch b", "sbn @scratch @scratch"],
    "add #a b": ["sbn #-a b"],
}

_SHORT = rf"[A-Za-z_][A-Za-z0-9_]{{0,{MAX_NAME - 1}}}"
_DIGITS = r"(?:0[xX][0-9a-fA-F]{1,64}|0[bB][01]{1,64}|[0-9]{1,66})"
_STOP = rf"(?=[{SPACE};:]|\Z)"  # a piece ends with space, a colon or a comment


def _unreadable(word: str) -> tuple[int, str]:
    legal = len(re.match(r"[A-Za-z0-9_@#.-]*", word)[0])  # type: ignore[index]  # the pattern also matches the empty text
    if legal < len(word):
        return legal, f"unexpected character {shorten(word[legal])!r}; operands are separated by spaces"
    if len(word) > MAX_NAME:
        return 0, f"'{shorten(word)}' is too long; a name has at most {MAX_NAME} characters"
    return 0, f"'{shorten(word)}' is neither a name, nor a number such as 5, -1, 0x1f or 0b101"


SBN = InstructionSet(
    scanner=Scanner(
        {
            "comment": ";.*",
            "name": rf"@?{_SHORT}{_STOP}",
            "number": rf"{_DIGITS}{_STOP}",
            "sign": rf":|\#(?=-?(?:{_DIGITS}|{_SHORT}){_STOP})|-(?=(?:{_DIGITS}|{_SHORT}){_STOP})",
            "directive": rf"\.[A-Za-z]{{1,{MAX_NAME}}}{_STOP}",
            "other": rf"[^{SPACE};:]+",
        },
        {"other": _unreadable},
    ),
    forms={
        "sbn": Form("sbn a b, or sbn a b LABEL", 2, 3),
        ".width": Form(".width 8", 1, 1),
        ".in": Form(".in a b", 1, MAX_LINE),
        ".out": Form(".out r", 1, MAX_LINE),
        ".word": Form(".word one 1", 2, 2),
        ".const": Form(".const STEP 5", 2, 2),
        ".alias": Form(".alias sum b", 2, 2),
        USE: Form("", 1, 2),
    },
    prelude=_OPERATIONS,
    declares={".const": "a constant", ".word": "a word", ".alias": "an alias"},
    reserved={END_OF_PROGRAM: ("a label", "the end of the program")},
    separator=" ",
    directives_declare=True,
    most_parameters=16,
    most_pieces=1_000_000,
)


class SbnWords:
    """Numbers the words of a program: declared words first, then words in the order of their first use."""

    def __init__(self, names: Names, width: int, declared: Sequence[Statement], aliases: Sequence[Statement]) -> None:
        self.names, self.problems, self.width = names, names.problems, width
        self.aliases = {names.declared(item).text: names.name(item, item.operands[1]) for item in aliases}
        self.values: list[int] = []
        self.addresses: dict[str, int] = {}
        self._constants: dict[int, int] = {}  # by value; they have no names, so nothing can write them
        for item in declared:
            value = item.operands[1]
            try:
                start = self._fitting(names.plain(item, value), value.origin)
            except GiveUpError:
                start = 0
            self.addresses[names.declared(item).text] = self._new(start, value.origin)

    def of(self, operand: Operand, statement: Statement, written: bool = False) -> int:
        """Returns the address of an operand's word; reports a problem and returns 0 if it has none."""
        tokens, pooled, origin = operand
        if not pooled and len(tokens) == 1 and tokens[0].key in self.addresses:  # the usual case
            return self.addresses[tokens[0].key]
        try:
            if operand.name is not None:
                return self._named(operand.name, origin)
            if not pooled:
                raise self.problems.stop(origin, f"a word is needed here, found {operand}; write #5 for the constant 5")
            if written and origin.line:  # prelude operations may do so
                raise self.problems.stop(origin, f"a constant cannot be changed, found {operand}; give a word's name")
            return self._constant(operand, origin if origin.line else statement.token)
        except GiveUpError:
            return 0

    def ports(self, directive: str, statements: Sequence[Statement]) -> tuple[str, ...]:
        """Returns the names after .in or .out, each for a different word."""
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
        """Returns the addresses of words by their public names."""
        known = {name: address for name, address in self.addresses.items() if not name.startswith("@")}
        for alias, word in self.aliases.items():
            if word.text in self.aliases:
                self.problems.at(word, f"'{word.text}' is an alias itself; name the word that it stands for")
            elif (address := self._known(word)) is not None:
                known[alias] = address
        return known

    def _named(self, token: Token, origin: Token) -> int:
        """Returns the address of a named word; an undeclared name becomes a new word."""
        key = self.aliases.get(token.text, token).key
        if key not in self.addresses:
            meaning = self.names.meanings.get(key, Meaning("a word"))
            if meaning.what in ("a label", "a constant"):
                advice = f"write #{token.text}" if meaning.what == "a constant" else "a word needs another name"
                raise self.problems.stop(origin, f"a word is needed here, but '{token.text}' is {meaning}; {advice}")
            self.addresses[key] = self._new(0, origin)
        return self.addresses[key]

    def _known(self, token: Token) -> int | None:
        """Returns the address of a declared or used word; reports a problem and returns None if there is none."""
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
        """Returns the address of a word with this value that is never written.

        If an operation negates its constant, the constant must fit a word, and its negative wraps.
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
            self.problems.at(place, f"a program may have at most {MAX_SIZE:,} words; use fewer names and constants")
        self.values.append(value)
        return len(self.values) - 1


DEFAULT_WIDTH = 8
_ENSURE = re.compile(r"^[ \t]*\.ensure(?![A-Za-z])([^\n]*)", re.MULTILINE)  # a line with its own grammar
_STEPS = (SBN.instruction, USE)


def load_sbn(path: str | Path) -> Code:
    """Assembles a .sbn file; raises InputError for the file, ProgramError for its contents."""
    path = Path(path)
    with problems_of(path):
        return assemble(read_text(path, ".sbn"), path.stem)


def assemble(text: str, name: str = "program") -> Code:
    """Assembles a text; raises ProgramError with every problem, by line and column.

    >>> assemble("loop: dec n" + chr(10) + "jneg n halt" + chr(10) + "jmp loop").sizes
    Sizes(instructions=3, words=4, width=8)
    """
    return without_problems(lambda problems: _SbnProgram(text, problems).code(name), name)


class _SbnProgram:
    """Resolves every name and label, then assembles every instruction."""

    def __init__(self, text: str, problems: Problems) -> None:
        self.text, self.problems = text, problems
        self.ensures: list[tuple[Token, ensures.EnsureLine]] = []
        source = read(_ENSURE.sub(self._ensure, text), SBN, problems)
        self.names = Names(SBN, source, problems)
        self.directives: dict[str, list[Statement]] = {name: [] for name in SBN.forms}
        self.steps: list[Statement] = []  # instructions, and directives that number their words
        self.size = 0
        for item in self.names.declare([item for item in source.items if self._is_sound(item)]):
            if isinstance(item, Label):
                self.names.labels.setdefault(item.token.key, self.size)
            elif item.name in _STEPS:
                self.steps.append(item)
                self.size += item.name != USE
            else:
                self.directives[item.name].append(item)
        self.names.labels[END_OF_PROGRAM] = self.size

    def code(self, name: str) -> Code | None:
        if self.size > MAX_SIZE:
            first = [item for item in self.steps if item.name != USE][MAX_SIZE]
            self.problems.at(first.token, f"a program may have at most {MAX_SIZE:,} instructions, got {self.size:,}")
            return None
        for item in self.directives[".const"]:
            self.names.constant(item)
        words = SbnWords(self.names, self._width(), self.directives[".word"], self.directives[".alias"])
        if not self.size and not self.problems:
            self.problems.note(1, 1, "the text has no instruction; add a line such as: sbn a b")
        pairs = []
        for item in self.steps:
            if item.name == USE:
                for operand in item.operands:
                    words.of(operand, item)
            else:
                pairs.append((words.of(item.operands[0], item), words.of(item.operands[1], item, written=True)))
        instructions = self._instructions(pairs, words)  # after all word names are known
        inputs, outputs = (words.ports(directive, self.directives[directive]) for directive in (".in", ".out"))
        exported = words.exported()
        lines = self._stated(inputs, outputs or tuple(exported), words.width)
        if self.problems:
            return None
        return Code(
            instructions=tuple(instructions),
            words=tuple(words.values),
            width=words.width,
            names=exported,
            inputs=inputs,
            outputs=outputs,
            labels={
                label: at for label, at in self.names.labels.items() if label != END_OF_PROGRAM and label[0] != "@"
            },
            name=name,
            description=opening_comment(self.text, ";"),
            ensures=lines,
        )

    def _ensure(self, found: re.Match[str]) -> str:
        """Parses a line such as `.ensure sum == a + b`, and removes its text."""
        line = self.text.count("\n", 0, found.start()) + 1
        start = found.start(1) - found.start()
        tokens = [
            token._replace(column=token.column + start) for token in SCANNER.pieces(found[1].partition(";")[0], line)
        ]
        try:
            self.ensures.append((tokens[0], read_tokens(tokens, invariant=False)))
        except WrongError as error:
            self.problems.at(error.token, error.message)
        return ""

    def _stated(self, inputs: Sequence[str], outputs: Sequence[str], width: int) -> tuple[ensures.EnsureLine, ...]:
        """Returns the ensure lines after checking their names; words have `width` bits."""
        scope = ensures.Scope(dict.fromkeys(inputs, width), dict.fromkeys(outputs, width), {"width": width})
        lets = {"width": width} if "width" not in {*inputs, *outputs} else {}
        for _, line in self.ensures if not self.problems else ():
            try:
                scope.check(line)
            except WrongError as error:
                self.problems.at(error.token, error.message)
        return tuple(line.with_lets(lets) for _, line in self.ensures)

    def _is_sound(self, item: Item) -> bool:
        """Returns whether the operands of a directive have the correct form."""
        if isinstance(item, Label) or item.name in _STEPS:
            return True
        numbers = {".width": 0, ".word": 1, ".const": 1}.get(item.name)
        try:
            for token in [self.names.name(item, given) for at, given in enumerate(item.operands) if at != numbers]:
                if token.text[0] == "@" and item.name != ".word":
                    message = f"'{token.text}' is local to the text; a name for others has no '@'"
                    raise self.problems.stop(token, message)
        except GiveUpError:
            self.names.already_reported.update(names_of(item))
            return False
        return True

    def _width(self) -> int:
        """Returns the width of words; the maximum if it is invalid, to avoid further messages."""
        given = self.directives[".width"]
        for item in given[1:]:
            self.problems.at(item.token, f"'.width' is repeated; its first use is on line {given[0].token.line}")
        try:
            value = self.names.plain(given[0], given[0].operands[0]) if given else DEFAULT_WIDTH
        except GiveUpError:
            return MAX_WIDTH
        if not 1 <= value <= MAX_WIDTH:
            message = f"a word must have between 1 and {MAX_WIDTH} bits, got {shorten(value)}"
            self.problems.at(given[0].operands[0].origin, message)
            return MAX_WIDTH
        return value

    def _instructions(self, pairs: list[tuple[int, int]], words: SbnWords) -> list[Instruction]:
        found = []
        steps = [item for item in self.steps if item.name != USE]
        for at, (item, (a, b)) in enumerate(zip(steps, pairs, strict=True), start=1):
            target = self._target(item.operands[2], words) if len(item.operands) == 3 else at
            found.append(Instruction(a, b, target))
        return found

    def _target(self, operand: Operand, words: SbnWords) -> int:
        """Returns the address of a label or number; reports a problem and returns 0 if there is none."""
        label, names, problems = operand.name, self.names, self.problems
        try:
            if label is not None:
                return names.labels[label.key] if label.key in names.labels else self._missing(operand, words)
            if operand.pooled:
                raise problems.stop(operand.origin, f"a label is needed here, found {operand}; labels have no '#'")
            value, most = names.number(operand), 2 ** max(1, self.size.bit_length()) - 1
            if not 0 <= value <= most:
                message = f"an address of this program lies between 0 and {most:,}, got {operand}"
                raise problems.stop(operand.origin, message)
        except GiveUpError:
            return 0
        return value

    def _missing(self, operand: Operand, words: SbnWords) -> int:
        name, problems, meanings = operand.tokens[0], self.problems, self.names.meanings
        hint = problems.hint(name.text, (label for label in self.names.labels if "." not in label))
        what = str(meanings.get(name.key, "a word" if name.key in words.addresses else ""))
        if what:
            problems.at(operand.origin, f"a label is needed here, but '{name.text}' is {what}{hint}")
        elif name.text not in self.names.already_reported:
            advice = hint or f"; put '{name.text}:' before an instruction"
            problems.at(operand.origin, f"unknown label '{name.text}'{advice}")
        return 0
