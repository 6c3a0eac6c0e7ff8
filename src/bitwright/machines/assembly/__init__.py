"""Parses assembly text for single-instruction computers into labels, statements and macros.

SBN and SUBLEQ share this parser; each provides its own instruction set.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from bitwright.common.scanner import END, NAME, GiveUpError, Problems, Scanner, Token, lines_of
from bitwright.machines.assembly.macros import Expander, Form, Item, Label, Macro, Operand, Statement, names_of

MAX_NAME = 64


@dataclass(frozen=True, eq=False)
class InstructionSet:
    """The properties in which assembly languages differ."""

    scanner: Scanner
    forms: Mapping[str, Form]  # the instruction, then the directives; those without text are for the prelude only
    prelude: Mapping[str, Sequence[str]]  # macros available to every program: head and body
    declares: Mapping[str, str]  # the kind of name that a directive's first operand declares
    reserved: Mapping[str, tuple[str, str]]  # the fixed meaning of each reserved name, and the reason
    separator: str  # operand separator: a comma, or empty if operands are single names and numbers
    directives_declare: bool  # directives are not code: they take no labels and cannot be in macros
    most_parameters: int
    most_pieces: int  # limit on names, numbers, signs and line ends in a text

    @property
    def instruction(self) -> str:
        return next(iter(self.forms))

    @property
    def directives(self) -> dict[str, Form]:
        """The directives of a text, including those common to all languages."""
        own = {name: form for name, form in self.forms.items() if name[0] == "." and form.text}
        example = f".macro NAME {self.separator.join('pq')}"
        return own | {".macro": Form(example, 1, 1 + self.most_parameters), ".end": Form(".end", 0, 0)}


@dataclass
class Source:
    """A parsed text: its labels and statements, with macros expanded."""

    items: list[Item] = field(default_factory=list)
    macros: dict[str, Macro] = field(default_factory=dict)
    bodies: list[list[Item]] = field(default_factory=list)  # of all macros, including invalid ones
    already_reported: set[str] = field(default_factory=set)  # names on rejected lines


def read(text: str, language: InstructionSet, problems: Problems) -> Source:
    """Parses every line and expands every macro; unreadable lines are reported and skipped."""
    reader = _LineReader(language, problems, prelude_of(language))
    reader.read(text)
    source = reader.source
    expander = Expander(language.forms, source.macros, language.separator, problems, source.already_reported)
    if language.directives_declare:
        for body in source.bodies:
            expander.check(body)
    source.items = expander.expand(source.items)
    return source


@lru_cache
def prelude_of(language: InstructionSet) -> Mapping[str, Macro]:
    """The operations that a language's prelude defines."""
    problems = Problems()
    reader = _LineReader(language, problems, None)
    for head, body in language.prelude.items():
        reader.read("\n".join([f".macro {head}", *body, ".end"]))
    assert not problems, problems.error("the prelude")
    return reader.source.macros


class _LineReader:
    """Parses line by line and tracks macro bodies; without a prelude it parses the prelude itself."""

    def __init__(self, language: InstructionSet, problems: Problems, prelude: Mapping[str, Macro] | None) -> None:
        self.language, self.problems, self.is_prelude = language, problems, prelude is None
        self.directives = language.directives
        self.source = Source(macros=dict(prelude or {}))
        self.macro: Macro | None = None

    def read(self, text: str) -> None:
        pieces, most, scan = 0, self.language.most_pieces, self.language.scanner.tokens
        for number, line in enumerate(lines_of(text), start=1):
            try:
                tokens = scan(line, 0 if self.is_prelude else number, self.problems)
                pieces += len(tokens)
                self.line(tokens)
            except GiveUpError:
                self.source.already_reported.update(re.findall(rf"@?{NAME}", line.partition(";")[0]))
                if self.macro is None and line.split()[:1] == [".macro"]:  # the body extends to .end
                    self.open(Macro(Token("name", "", number, 1), ()))
            if pieces > most:
                self.problems.note(number, 1, f"a text may have at most {most:,} names, numbers and lines; shorten it")
                break
        if self.macro is not None:
            what = f"macro {self.macro.name}" if self.macro.name.text else "this macro"
            self.problems.at(self.macro.name, f"{what} has no '.end'; add one after its last line")
            self.source.already_reported.update(name for item in self.macro.body for name in names_of(item))

    def line(self, tokens: list[Token]) -> None:
        at = 0
        while tokens[at].kind == "name" and tokens[at + 1].text == ":":
            self.keep(Label(self.label(tokens[at])))
            at += 2
        first = tokens[at]
        if first.kind == END:
            return
        if first.kind not in ("name", "directive") or first.text[0] == "@":
            form = f"an operation such as {self.language.instruction}, or a label and ':'"
            raise self.problems.stop(first, f"a line starts with {form}, found {first}")
        split = self.divided if self.language.separator == ", " else self.spaced
        statement = Statement(first.text, first, tuple(split(tokens[at + 1 :], first)), tokens[-1].column)
        if first.kind == "name":
            self.keep(statement)
        else:
            self.directive(statement, labelled=at > 0)

    def label(self, token: Token) -> Token:
        if self.macro is not None and self.language.directives_declare and token.text[0] != "@":
            raise self.problems.stop(token, f"a label inside a macro is local to it; call it '@{token.text}'")
        return token

    def keep(self, item: Item) -> None:
        (self.macro.body if self.macro is not None else self.source.items).append(item)

    # Operands.

    def spaced(self, tokens: list[Token], first: Token) -> list[Operand]:
        """Names and numbers separated by spaces, each with its signs; the last token is the end."""
        found: list[Operand] = []
        start = 0
        for at, token in enumerate(tokens):
            if token.kind in ("name", "number"):
                pooled = tokens[start].text == "#"
                found.append(Operand(tuple(tokens[start + pooled : at + 1]), pooled, tokens[start]))
                start = at + 1
            elif token.kind != END and token.text not in "#-":
                raise self.problems.stop(token, f"expected an operand of {first}, found {token}")
        return found

    def divided(self, tokens: list[Token], first: Token) -> list[Operand]:  # noqa: ARG002
        """Comma-separated expressions."""
        found: list[Operand] = []
        start = 0
        for at, token in enumerate(tokens):
            if token.text != "," and (token.kind != END or at == 0):
                continue
            pooled = tokens[start].text == "#"
            if start + pooled == at:
                raise self.problems.stop(token, f"an operand is missing before {token}")
            found.append(Operand(tuple(tokens[start + pooled : at]), pooled, tokens[start]))
            start = at + 1
        return found

    # Directives.

    def directive(self, statement: Statement, labelled: bool) -> None:
        name, token = statement.name, statement.token
        if name not in self.directives and not self.is_prelude:
            hint = self.problems.hint(name, self.directives) or f"; use one of {', '.join(self.directives)}"
            raise self.problems.stop(token, f"unknown directive {token}{hint}")
        if labelled and self.language.directives_declare:
            raise self.problems.stop(token, f"a label stands alone or before an instruction, not before {token}")
        if name == ".macro":
            self.open_macro(statement)
        elif name == ".end":
            if self.macro is None:
                raise self.problems.stop(token, "'.end' without a '.macro' above it; remove it")
            self.macro = None
            if statement.operands and self.language.directives_declare:
                message = f"'.end' takes 0 operands, got {len(statement.operands)} (the form is: .end)"
                raise self.problems.stop(statement.operands[0].origin, message)
        elif self.macro is not None and self.language.directives_declare and not self.is_prelude:
            raise self.problems.stop(token, f"'{name}' is not allowed inside a macro; write it before '.macro'")
        else:
            self.keep(statement)

    def open_macro(self, statement: Statement) -> None:
        """Parses `.macro NAME a, b`; a space separates the name from the first parameter."""
        problems, macros = self.problems, self.source.macros
        if self.macro is not None:
            message = f"macros cannot be nested; close {self.macro.name} with .end"
            raise problems.stop(statement.token, message)
        pieces = [
            Operand((token,), operand.pooled and at == 0, operand.origin if at == 0 else token)
            for operand in statement.operands
            for at, token in enumerate(operand.tokens)
        ]
        end = Token(END, "", statement.token.line, statement.end)
        name, parameters = (pieces[0].tokens[0] if pieces else end), pieces[1:]
        macro = Macro(name, tuple(piece.tokens[0].text for piece in parameters), prelude=self.is_prelude)
        self.open(macro)  # even an invalid macro extends to .end
        if not pieces or not _is_plain(pieces[0]):
            found, form = pieces[0] if pieces else name, self.directives[".macro"].text
            place = pieces[0].origin if pieces else name
            raise problems.stop(place, f"expected the name of a macro, found {found} (the form is: {form})")
        earlier = macros.get(name.text)
        if name.text in self.language.forms or (earlier is not None and earlier.prelude and not self.is_prelude):
            raise problems.stop(name, f"'{name.text}' is an operation already; choose another name for the macro")
        if earlier is not None and not self.is_prelude:
            message = f"macro '{name.text}' is already on line {earlier.name.line}; choose another name"
            raise problems.stop(name, message)
        if len(parameters) > self.language.most_parameters:
            most = self.language.most_parameters
            message = f"a macro may have at most {most} parameters, got {len(parameters):,}"
            raise problems.stop(parameters[most].origin, message)
        macro.takes_constant = self.is_prelude and parameters[:1] != [] and parameters[0].pooled
        for at, piece in enumerate(parameters):
            if not _is_plain(piece) and not macro.takes_constant:
                raise problems.stop(piece.origin, f"expected the name of a parameter, found {piece}")
            if piece.text in macro.parameters[:at]:
                raise problems.stop(piece.origin, f"parameter {piece} is repeated")
        macros[name.text + "#" * macro.takes_constant] = macro

    def open(self, macro: Macro) -> None:
        self.macro = macro
        self.source.bodies.append(macro.body)


def _is_plain(piece: Operand) -> bool:
    return piece.name is not None and piece.text[0] != "@"
