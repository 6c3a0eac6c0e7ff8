"""Tokens to declarations, instructions and macros: one method a line of the grammar in docs/sbn.md."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from bitwright.errors import Problem
from bitwright.machines.assembler_text import END_OF_PROGRAM, Kind, Problems, Token, lines_of, names_in, tokens_of

MAX_PIECES = 1_000_000  # names, numbers, signs and ends of lines; the largest program needs fewer
MAX_PARAMETERS = 16


class Role(Enum):
    """What an operation does with an operand."""

    READ = "reads this word"
    WRITE = "writes this word"
    TARGET = "goes to this label"


OPERATIONS: dict[str, tuple[Role, ...]] = {
    "sbn": (Role.READ, Role.WRITE, Role.TARGET),
    "sub": (Role.READ, Role.WRITE),
    "clr": (Role.WRITE,),
    "jmp": (Role.TARGET,),
    "jneg": (Role.WRITE, Role.TARGET),
    "inc": (Role.WRITE,),
    "dec": (Role.WRITE,),
    "halt": (),
    "mov": (Role.READ, Role.WRITE),
    "add": (Role.READ, Role.WRITE),
}
DIRECTIVES = {
    ".width": ".width 8",
    ".in": ".in a b",
    ".out": ".out r",
    ".word": ".word one 1",
    ".const": ".const STEP 5",
    ".alias": ".alias sum b",
    ".macro": ".macro NAME p q",
    ".end": ".end",
}
_FORMS = {
    "sbn": "sbn a b, or sbn a b LABEL",
    "sub": "sub a b",
    "clr": "clr x",
    "jmp": "jmp LABEL",
    "jneg": "jneg x LABEL",
    "inc": "inc x",
    "dec": "dec x",
    "halt": "halt",
    "mov": "mov a b",
    "add": "add a b",
}


@dataclass(frozen=True, slots=True)
class Operand:
    """What an operation is applied to; the token says where it was written, which may be the call of a macro."""

    kind: Kind
    sign: int  # of a number or a constant; 1 for a name
    body: str  # the digits or the name, without signs
    token: Token
    scope: int = 0  # which expansion of a macro a name with @ belongs to; 0 is the text outside of macros

    @property
    def key(self) -> str:
        """The name, different in every expansion for a name with @."""
        return scoped(self.body, self.scope)


@dataclass(frozen=True, slots=True)
class Label:
    token: Token
    scope: int = 0

    @property
    def key(self) -> str:
        return scoped(self.token.text, self.scope)


@dataclass(frozen=True, slots=True)
class Statement:
    """An instruction or the call of a macro."""

    operation: Token
    operands: tuple[Operand, ...]
    end: Token


@dataclass(frozen=True, slots=True)
class Declaration:
    directive: Token
    operands: tuple[Token, ...]


Item = Label | Statement


@dataclass(slots=True)
class Macro:
    name: Token
    parameters: tuple[str, ...]
    body: list[Item] = field(default_factory=list)


@dataclass
class Source:
    """What a text says, before anything is checked against anything else."""

    declarations: list[Declaration] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    macros: dict[str, Macro] = field(default_factory=dict)
    excused: set[str] = field(default_factory=set)  # names on lines that could not be read: not to be missed elsewhere


def read(text: str, problems: Problems) -> Source:
    """Reads every line; one that cannot be read is reported and left out, and reading goes on below it."""
    reader, pieces = _Reader(problems), 0
    for number, line in enumerate(lines_of(text), start=1):
        tokens = tokens_of(line, number, problems)
        if tokens is None:
            reader.skip(line, number)
        if tokens is None or not reader.line(tokens):
            reader.source.excused.update(names_in(line))
        pieces += len(tokens or ())
        if pieces > MAX_PIECES:
            problems.add(Problem(number, 1, f"a text has at most {MAX_PIECES:,} names, numbers and lines; shorten it"))
            break
    reader.close()
    return reader.source


def scoped(name: str, scope: int) -> str:
    """What tells a name with @ in one expansion of a macro from the same name in another."""
    return f"{name}.{scope}" if scope else name


def operand_of(token: Token) -> Operand:
    body = token.text.lstrip("#")
    return Operand(token.kind, -1 if body.startswith("-") else 1, body.lstrip("-"), token)


class _Reader:
    """Takes one line after the other, and knows whether it is inside a macro."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.source = Source()
        self.macro: Macro | None = None

    def line(self, tokens: list[Token]) -> bool:
        """Whether the line could be read; what it says is then part of the source."""
        at = 0
        while tokens[at].kind is Kind.NAME and tokens[at + 1].kind is Kind.COLON:
            if not self.label(tokens[at]):
                return False
            at += 2
        first, operands, end = tokens[at], tokens[at + 1 : -1], tokens[-1]
        if first is end:
            return True
        stray = next((token for token in operands if token.kind in (Kind.COLON, Kind.DIRECTIVE)), None)
        if first.kind not in (Kind.NAME, Kind.DIRECTIVE) or first.text.startswith("@"):
            return self.refuse(first, f"a line starts with an operation such as sbn, or a label and ':', found {first}")
        if stray is not None:
            return self.refuse(stray, f"expected an operand of {first}, found {stray}")
        if first.kind is Kind.NAME:
            return self.statement(first, operands, end)
        if at > 0:
            return self.refuse(first, f"a label stands alone or before an instruction, not before {first}")
        return self.directive(first, operands, end)

    def skip(self, text: str, line: int) -> None:
        """A line that has no tokens; if it was to open a macro, the lines up to .end belong to that all the same."""
        if text.split()[:1] == [".macro"] and self.macro is None:
            self.macro = Macro(Token(Kind.NAME, "", line, 1), ())

    def label(self, token: Token) -> bool:
        if token.text == END_OF_PROGRAM:
            return self.refuse(token, "'halt' is the label of the end of the program already; choose another name")
        if self.macro is not None and not token.text.startswith("@"):
            return self.refuse(token, f"a label inside a macro is local to it; call it '@{token.text}'")
        return self.keep(Label(token))

    def statement(self, operation: Token, operands: list[Token], end: Token) -> bool:
        roles = OPERATIONS.get(operation.text)
        if roles is not None:
            least = len(roles) - (operation.text == "sbn")
            if not self.count(operation.text, operands, end, least, len(roles), _FORMS[operation.text]):
                return False
        return self.keep(Statement(operation, tuple(operand_of(token) for token in operands), end))

    def keep(self, item: Item) -> bool:
        (self.macro.body if self.macro is not None else self.source.items).append(item)
        return True

    # Directives.

    def directive(self, first: Token, operands: list[Token], end: Token) -> bool:
        name = first.text
        if name not in DIRECTIVES:
            known = self.problems.hint(name, DIRECTIVES) or f"; use one of {', '.join(DIRECTIVES)}"
            return self.refuse(first, f"unknown directive {first}{known}")
        if name == ".macro":
            return self.open_macro(first, operands, end)
        if name == ".end":
            return self.close_macro(first, operands, end)
        if self.macro is not None:
            return self.refuse(first, f"'{name}' cannot stand inside a macro; write it before '.macro'")
        least, most = {".width": (1, 1), ".in": (1, None), ".out": (1, None)}.get(name, (2, 2))
        if not self.count(name, operands, end, least, most, DIRECTIVES[name]):
            return False
        numbers = {".width": (0,), ".word": (1,), ".const": (1,)}.get(name, ())
        for at, token in enumerate(operands):
            if at in numbers and not (token.kind is Kind.NUMBER or (token.kind is Kind.NAME and token.text[0] != "@")):
                return self.refuse(token, f"expected a number, found {token} (the form is: {DIRECTIVES[name]})")
            if at not in numbers and not self.name_operand(name, token):
                return False
        self.source.declarations.append(Declaration(first, tuple(operands)))
        return True

    def name_operand(self, directive: str, token: Token) -> bool:
        if token.kind is not Kind.NAME:
            return self.refuse(token, f"expected a name, found {token} (the form is: {DIRECTIVES[directive]})")
        if token.text == END_OF_PROGRAM:
            return self.refuse(token, f"'{token.text}' is the label of the end of the program; choose another name")
        if token.text.startswith("@") and directive != ".word":
            return self.refuse(token, f"'{token.text}' is local to the text; a name for others has no '@'")
        return True

    def open_macro(self, first: Token, operands: list[Token], end: Token) -> bool:
        if self.macro is not None:
            return self.refuse(first, f"a macro cannot stand inside a macro; close '{self.macro.name.text}' with .end")
        name, *parameters = operands or [end]
        self.macro = Macro(name, tuple(token.text for token in parameters))  # even a bad one owns the lines up to .end
        if name.kind is not Kind.NAME or name.text.startswith("@"):
            return self.refuse(
                name, f"expected the name of a macro, found {name} (the form is: {DIRECTIVES['.macro']})"
            )
        if name.text in OPERATIONS:
            return self.refuse(name, f"'{name.text}' is an operation already; choose another name for the macro")
        if name.text in self.source.macros:
            line = self.source.macros[name.text].name.line
            return self.refuse(name, f"macro '{name.text}' is already on line {line}; choose another name")
        if len(parameters) > MAX_PARAMETERS:
            extra = parameters[MAX_PARAMETERS]
            return self.refuse(extra, f"a macro has at most {MAX_PARAMETERS} parameters, got {len(parameters):,}")
        for at, token in enumerate(parameters):
            if token.kind is not Kind.NAME or token.text.startswith("@"):
                return self.refuse(token, f"expected the name of a parameter, found {token}")
            if token.text in self.macro.parameters[:at]:
                return self.refuse(token, f"parameter '{token.text}' is given twice")
        self.source.macros[name.text] = self.macro
        return True

    def close_macro(self, first: Token, operands: list[Token], end: Token) -> bool:
        if self.macro is None:
            return self.refuse(first, "'.end' without a '.macro' above it; remove it")
        self.macro = None
        return self.count(first.text, operands, end, 0, 0, first.text)

    def close(self) -> None:
        if self.macro is not None:
            name = self.macro.name
            self.problems.at(name, f"macro {name} has no '.end'; add one behind its last line")

    # Helpers.

    def count(self, name: str, operands: list[Token], end: Token, least: int, most: int | None, form: str) -> bool:
        if least <= len(operands) and (most is None or len(operands) <= most):
            return True
        allowed = f"{least}" if most == least else f"{least} or {most}" if most is not None else f"{least} or more"
        noun = "operand" if allowed == "1" else "operands"
        token = end if len(operands) < least else operands[most or 0]
        return self.refuse(token, f"'{name}' takes {allowed} {noun}, got {len(operands)} (the form is: {form})")

    def refuse(self, token: Token, message: str) -> bool:
        self.problems.at(token, message)
        return False
