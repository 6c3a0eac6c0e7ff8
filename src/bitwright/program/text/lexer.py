"""Rule text to tokens, each with its line and column."""

from __future__ import annotations

import re
from enum import StrEnum

from bitwright.bits import shorten
from bitwright.errors import Problem
from bitwright.text.scanner import Token as Token

MAX_NUMBER = 2**31  # any two such numbers can be added or multiplied in 64 bits


class TokenKind(StrEnum):
    NAME = "name"
    NUMBER = "number"
    SIGN = "sign"
    END = "end"


_TOKEN = re.compile(
    r"(?P<space>[ \t\r\f]+|\\\r?\n)|(?P<comment>\#[^\n]*)|(?P<newline>\n)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>[0-9]+)"
    r"|(?P<sign>\.\.|!=|<=|>=|//|[-+*%^()\[\],=<>])"
)
_KINDS = {str(kind): kind for kind in TokenKind}


def tokenize(text: str, problems: list[Problem], broken: list[list[Token]]) -> list[list[Token]]:
    """The statements of a text: one list of tokens a line, each closed by an END token.

    A line goes on after a backslash or inside brackets. What no token starts with is a problem, and skipped.
    """
    statements: list[list[Token]] = []
    current: list[Token] = []
    line, line_start, depth, at, spoilt = 1, 0, 0, 0, False
    while at < len(text):
        found = _TOKEN.match(text, at)
        column = at - line_start + 1
        if found is None:  # one problem a line is enough, and the line says nothing more
            if not spoilt:
                problems.append(Problem(line, column, f"unexpected character {shorten(text[at])!r}"))
            spoilt, at = True, at + 1
            continue
        at = found.end()
        kind, piece = found.lastgroup, found.group()
        if kind == "newline":
            if depth == 0 or _STATEMENT.match(text, at):
                _close(broken if spoilt else statements, current, line, column)
                current, depth, spoilt = [], 0, False
        elif kind in _KINDS:
            depth = max(0, depth + (piece in "([") - (piece in ")]"))
            current.append(Token(_KINDS[kind], piece, line, column))
        if "\n" in piece:
            line, line_start = line + 1, at
    _close(broken if spoilt else statements, current, line, len(text) - line_start + 1)
    return statements


# A bracket left open must not swallow the statements below it.
_STATEMENT = re.compile(r"[ \t]*(?:let|bits|block|when|input|output|start|steps|halt|matches|examples)\b")


def _close(statements: list[list[Token]], current: list[Token], line: int, column: int) -> None:
    if current:
        statements.append([*current, Token(TokenKind.END, "", line, column)])
