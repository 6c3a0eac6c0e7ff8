"""SUBLEQ assembly text: tokens, and expressions over numbers, labels and constants."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from bitwright.bits import shorten
from bitwright.errors import Problem
from bitwright.machines.assembler_text import MAX_LINE, MAX_NAME, Problems

_NAME = r"@?[A-Za-z_][A-Za-z0-9_]*"
_TOKEN = re.compile(
    rf"""(?P<space>[ \t\r\f]+) | (?P<comment>;.*) | (?P<directive>\.[A-Za-z]+) | (?P<name>{_NAME})
    | (?P<number>0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+) | (?P<character>'(?:\\.|[^'\\])')
    | (?P<string>"(?:\\.|[^"\\])*") | (?P<sign>[-+*(),:\#$])""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", "'": "'", '"': '"'}
_QUOTES = {  # where one begins what is neither a string nor a character
    '"': "this string is not closed; end it with a '\"' on the same line",
    "'": "a character is one letter between two ', such as 'a'; a text of several stands between two \"",
}
_MAX_DEPTH = 100  # of brackets


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text, where it stands, and which expansion of a macro a local name belongs to."""

    kind: str
    text: str
    line: int
    column: int
    scope: int = 0

    @property
    def key(self) -> str:
        """A name; local ones differ from expansion to expansion."""
        return f"{self.text}.{self.scope}" if self.text.startswith("@") else self.text

    def __str__(self) -> str:
        return f"'{shorten(self.text)}'" if self.text else "the end of the line"


Tokens = tuple[Token, ...]


class UnreadableError(Exception):
    """A line that cannot be read; what is wrong with it has been noted."""


class Notes:
    """Problems at tokens; `stop` notes one and gives up the line."""

    def __init__(self) -> None:
        self.problems = Problems()
        self.excused: set[str] = set()  # names in lines that could not be read; that they lack a meaning follows

    def at(self, token: Token, message: str) -> None:
        self.problems.add(Problem(token.line, token.column, message))

    def stop(self, token: Token, message: str) -> UnreadableError:
        self.at(token, message)
        return UnreadableError()


def tokens_of(text: str, line: int, notes: Notes) -> list[Token]:
    """The tokens of a line, closed by an empty one of kind `end`."""
    found, at = [], 0
    if len(text) > MAX_LINE:
        raise notes.stop(Token("end", "", line, 1), f"a line has at most {MAX_LINE:,} characters, got {len(text):,}")
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            token = Token("end", text[at], line, at + 1)
            raise notes.stop(token, _QUOTES.get(text[at]) or f"unexpected character {shorten(text[at])!r}")
        token = Token(match.lastgroup, match.group(), line, at + 1)
        if token.kind in ("name", "number") and len(token.text) > MAX_NAME + 2:
            raise notes.stop(token, f"{token} is too long; a name or number has at most {MAX_NAME} characters")
        if token.kind not in ("space", "comment"):
            found.append(token)
        at = match.end() if token.kind != "comment" else len(text)
    return [*found, Token("end", "", line, len(text) + 1)]


def unquoted(token: Token, notes: Notes) -> str:
    """What a character or a string in quotes stands for."""

    def escaped(match: re.Match[str]) -> str:
        if match.group(1) not in _ESCAPES:
            raise notes.stop(token, f"there is no \\{match.group(1)}; use one of {' '.join(map(repr, _ESCAPES))}")
        return _ESCAPES[match.group(1)]

    return re.sub(r"\\(.)", escaped, token.text[1:-1])


@dataclass(frozen=True, slots=True)
class Operand:
    """An expression, or with `pooled` a word of the program's own that holds its value."""

    tokens: Tokens
    pooled: bool = False

    @property
    def first(self) -> Token:
        return self.tokens[0]

    def substituted(self, given: dict[str, Operand], scope: int, notes: Notes) -> Operand:
        """The operand in the expansion of a macro: parameters replaced, local names made its own."""
        if len(self.tokens) == 1 and self.first.text in given and self.first.kind == "name":
            meant = given[self.first.text]
            if meant.pooled and self.pooled:
                raise notes.stop(self.first, f"{self.first} stands for a '#' word already")
            return Operand(meant.tokens, meant.pooled or self.pooled)
        tokens: list[Token] = []
        for token in self.tokens:
            meant_here = given.get(token.text) if token.kind == "name" else None
            if meant_here is None:
                own = token.kind == "name" and token.text.startswith("@") and not token.scope
                tokens.append(replace(token, scope=scope) if own else token)
            elif meant_here.pooled:
                raise notes.stop(token, f"{token} stands for a '#' word here, which is no part of an expression")
            else:
                opening, closing = (replace(token, kind="sign", text=sign) for sign in "()")
                tokens += [opening, *meant_here.tokens, closing]
        return Operand(tuple(tokens), self.pooled)


class Expression:
    """Evaluates the tokens of an operand: + - * and brackets, numbers, characters, names and $, the address here."""

    def __init__(self, tokens: Tokens, value_of: Callable[[Token], int], here: int, notes: Notes) -> None:
        self._tokens, self._at, self._value_of, self._here, self._notes = tokens, 0, value_of, here, notes
        self._depth = 0

    def value(self) -> int:
        found = self._sum()
        if self._peek() is not None:
            token = self._tokens[self._at]
            raise self._notes.stop(token, f"expected + - * or ',', found {token}")
        return found

    def _peek(self) -> str | None:
        return self._tokens[self._at].text if self._at < len(self._tokens) else None

    def _sum(self) -> int:
        found = self._product()
        while (sign := self._peek()) in ("+", "-"):
            self._at += 1
            found += self._product() if sign == "+" else -self._product()
        return found

    def _product(self) -> int:
        found = self._atom()
        while self._peek() == "*":
            self._at += 1
            found *= self._atom()
            if found.bit_length() > 1_000:
                raise self._notes.stop(self._tokens[0], "the value of this expression is too large for any word")
        return found

    def _atom(self) -> int:
        if self._at >= len(self._tokens):
            raise self._notes.stop(self._tokens[-1], f"something is missing behind {self._tokens[-1]}")
        token = self._tokens[self._at]
        self._at += 1
        if token.kind == "number":
            return int(token.text, 0) if not token.text.isdigit() else int(token.text)
        if token.kind == "character":
            return ord(unquoted(token, self._notes))
        if token.kind == "name":
            return self._value_of(token)
        if token.text == "$":
            return self._here
        if token.text in ("-", "("):
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise self._notes.stop(token, f"brackets and signs are nested more than {_MAX_DEPTH} deep")
            found = -self._atom() if token.text == "-" else self._sum()
            self._depth -= 1
            if token.text == "(":
                if self._peek() != ")":
                    raise self._notes.stop(token, "this '(' is not closed")
                self._at += 1
            return found
        raise self._notes.stop(token, f"expected a number, a name or '(', found {token}")
