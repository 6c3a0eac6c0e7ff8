"""SUBLEQ assembly text to a flat list of labels, words and settings: lines are read, and macros expanded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bitwright.machines.assembler_text import TooManyProblemsError, lines_of, names_in
from bitwright.machines.subleq.text import Notes, Operand, Token, UnreadableError, tokens_of, unquoted

MAX_STATEMENTS = 1 << 18  # after expansion
_MAX_NESTING = 32
SETTINGS = (".words", ".width", ".dialect")
_FORMS = {
    "subleq": "subleq a, b, or subleq a, b, c",
    ".data": ".data 1, -1, 'a', \"text\"",
    ".space": ".space 10",
    ".const": ".const SIZE, 10",
    ".words": ".words 256",
    ".width": ".width 16",
    ".dialect": ".dialect howerj",
    ".macro": ".macro NAME a, b",
    ".end": ".end",
}

# What every program may use, written in the language itself. Z is a word that is 0 before and after each of them.
PRELUDE = """
.macro sub a, b
    subleq a, b
.end
.macro jmp target
    subleq Z, Z, target
.end
.macro clr x
    subleq x, x
.end
.macro jle x, target        ; to target if x is 0 or less; x stays
    subleq Z, x, target
.end
.macro inc x
    subleq #-1, x
.end
.macro dec x
    subleq #1, x
.end
.macro add a, b             ; b = b + a
    subleq a, Z
    subleq Z, b
    subleq Z, Z
.end
.macro mov a, b             ; b = a, also where the two are one
    subleq a, Z
    subleq b, b
    subleq Z, b
    subleq Z, Z
.end
.macro halt
    subleq Z, Z, -1
.end
.macro in x                 ; for dialects with io
    subleq -1, x
.end
.macro out x
    subleq x, -1
.end
"""


@dataclass(frozen=True, slots=True)
class Label:
    token: Token


@dataclass(frozen=True, slots=True)
class Statement:
    """An operation, a directive or the call of a macro."""

    name: Token
    operands: tuple[Operand, ...]


Item = Label | Statement


@dataclass(slots=True)
class Macro:
    name: Token
    parameters: tuple[str, ...]
    body: list[Item] = field(default_factory=list)


class Source:
    """What a text says: items with all macros expanded."""

    def __init__(self, text: str, notes: Notes) -> None:
        self._notes, self._scope, self._count = notes, 0, 0
        self._macros: dict[str, Macro] = {}
        self._read(PRELUDE, prelude=True)
        self.items = self._expanded(self._read(text), 0)

    # Reading.

    def _read(self, text: str, prelude: bool = False) -> list[Item]:
        items: list[Item] = []
        macro: Macro | None = None
        for number, line in enumerate(lines_of(text), start=0 if prelude else 1):
            try:
                tokens = tokens_of(line, number, self._notes)
                for item in self._line(tokens):
                    directive = item.name.text if isinstance(item, Statement) else ""
                    if directive == ".macro":
                        macro = self._opened(item, macro)  # type: ignore[arg-type]
                    elif directive == ".end":
                        if macro is None:
                            raise self._notes.stop(tokens[0], "'.end' without a '.macro' above it; remove it")
                        macro = None
                    else:
                        (items if macro is None else macro.body).append(item)
            except UnreadableError:
                self._notes.excused.update(names_in(line))
                if line.split()[:1] == [".macro"]:
                    macro = Macro(Token("end", "", number, 1), ())  # without a name: its lines belong to nothing
        if macro is not None and macro.name.text:
            self._notes.at(macro.name, f"macro {macro.name} has no '.end'; add one behind its last line")
        return items

    def _line(self, tokens: list[Token]) -> Iterator[Item]:
        while tokens[0].kind == "name" and tokens[1].text == ":":
            yield Label(tokens[0])
            tokens = tokens[2:]
        first, end = tokens[0], tokens[-1]
        if first is end:
            return
        if first.kind not in ("name", "directive"):
            raise self._notes.stop(first, f"a line starts with a label, an operation or a directive, found {first}")
        if first.kind == "directive" and first.text not in _FORMS:
            known = ", ".join(form for form in _FORMS if form.startswith("."))
            raise self._notes.stop(first, f"unknown directive {first}; use one of {known}")
        yield Statement(first, tuple(self._operands(tokens[1:], end)))

    def _operands(self, tokens: Sequence[Token], end: Token) -> Iterator[Operand]:
        piece: list[Token] = []
        for token in tokens:
            if token.text != "," and token is not end:
                piece.append(token)
                continue
            if not piece and token is end and tokens[0] is end:
                return
            pooled = bool(piece) and piece[0].text == "#"
            if len(piece) <= pooled:
                raise self._notes.stop(token, f"an operand is missing before {token}")
            yield Operand(tuple(piece[pooled:]), pooled)
            piece = []

    def _opened(self, item: Statement, current: Macro | None) -> Macro:
        """`.macro NAME a, b`: the name and the first parameter stand side by side."""
        notes, tokens = self._notes, [token for operand in item.operands for token in operand.tokens]
        if current is not None:
            raise notes.stop(item.name, f"a macro cannot stand inside a macro; close {current.name} with .end")
        if not tokens or any(token.kind != "name" or token.text.startswith("@") for token in tokens):
            raise notes.stop(item.name, f"a macro needs a name and names of parameters (the form: {_FORMS['.macro']})")
        name, *parameters = tokens
        macro = Macro(name, tuple(token.text for token in parameters))
        if len(set(macro.parameters)) < len(parameters):
            notes.at(name, f"macro {name} has two parameters of one name")
        if name.text == "subleq" or name.text in self._macros:
            notes.at(name, f"{name} is an operation already; choose another name for the macro")
        self._macros[name.text] = macro
        return macro

    # Expanding.

    def _expanded(self, items: Sequence[Item], depth: int) -> list[Item]:
        found: list[Item] = []
        for item in items:
            macro = None if isinstance(item, Label) else self._macros.get(item.name.text)
            if isinstance(item, Label) or macro is None:
                found.append(item)
                continue
            try:
                found += self._call(item, macro, depth)
            except UnreadableError:
                continue
        return found

    def _call(self, call: Statement, macro: Macro, depth: int) -> list[Item]:
        notes, count = self._notes, len(macro.parameters)
        if len(call.operands) != count:
            form = f"{macro.name.text} {', '.join(macro.parameters)}"
            noun = f"operand{'s' * (count != 1)}"
            raise notes.stop(
                call.name, f"{call.name} takes {count} {noun}, got {len(call.operands)} (the form: {form})"
            )
        if depth >= _MAX_NESTING:
            notes.at(call.name, f"macros call each other more than {_MAX_NESTING} deep, here {call.name}")
            raise TooManyProblemsError  # nothing of it would end
        self._scope += 1
        self._count += len(macro.body)
        if self._count > MAX_STATEMENTS:
            notes.at(call.name, f"a program has at most {MAX_STATEMENTS:,} lines, macros expanded")
            raise TooManyProblemsError
        given, scope = dict(zip(macro.parameters, call.operands, strict=True)), self._scope
        body: list[Item] = []
        for item in macro.body:
            if isinstance(item, Label):
                operand = Operand((item.token,)).substituted(given, scope, notes)
                if len(operand.tokens) != 1 or operand.first.kind != "name":
                    raise notes.stop(call.name, f"{item.token} is a label in this macro and must be given a name")
                body.append(Label(operand.first))
            else:
                operands = tuple(operand.substituted(given, scope, notes) for operand in item.operands)
                body.append(Statement(item.name, operands))
        return self._expanded(body, depth + 1)


def form_of(name: str) -> str:
    """How an operation or directive is written."""
    return _FORMS[name]


def text_of(operand: Operand, notes: Notes) -> str | None:
    """The text of an operand that is a string in quotes."""
    if len(operand.tokens) == 1 and operand.first.kind == "string":
        return unquoted(operand.first, notes)
    return None
