"""Splits rule text into statements, each a list of tokens; a statement may span several lines."""

from __future__ import annotations

import re

from bitwright.common.bits import shorten
from bitwright.common.errors import Problem
from bitwright.common.scanner import MAX_PROBLEMS, Token, lines_of
from bitwright.rules.ensure_text import SCANNER

MAX_NUMBER = 2**31  # any two such numbers can be added or multiplied in 64 bits
_FIRST_WORDS = "let bits block when input output start steps halt matches examples"
_LATER_WORDS = "cell chain graph group use end"  # newer keywords, which can also name bits and numbers
_MORE = ("port", "whole", "also", "where", "ensure", "invariant")
STATEMENTS = (*_FIRST_WORDS.replace("block", "block cell").split(), *_LATER_WORDS.split()[1:], *_MORE)

TOO_MANY = "too many problems; the rest of the text was not read"
_STRANGE = ("other", "joint")  # a joint remains only in the last line
_WORDS, _LATER = ("|".join(words.split()) for words in (_FIRST_WORDS, _LATER_WORDS))
_STATEMENT = re.compile(
    rf"[ \t]*(?:(?:{_WORDS})\b|where\b|ensure\b|invariant\b|(?:{_LATER})[ \t]+[A-Za-z_]"
    r"|(?:port|whole)[ \t]+bits\b|also[ \t]+when\b)"
)


def tokenize(text: str, problems: list[Problem]) -> list[list[Token]]:
    """Splits a text into statements, each closed with a token of kind `end`.

    A line continues after a backslash or inside brackets, but an unclosed bracket does not absorb the statements below
    it. A statement with an invalid character is reported and omitted.
    """
    statements: list[list[Token]] = []
    current: list[Token] = []
    depth, joined = 0, False
    for line, source in enumerate(lines_of(text), start=1):
        if len(problems) >= MAX_PROBLEMS:
            problems.append(Problem(line, 1, TOO_MANY))
            return statements
        if current and not joined and (depth == 0 or _STATEMENT.match(source)):
            _close(current, statements, problems)
            current, depth = [], 0
        pieces = SCANNER.pieces(source, line)
        for token in pieces:
            if token.kind == "sign":
                depth = max(0, depth + (token.text in "([") - (token.text in ")]"))
        if joined or not current or len(pieces) > 1:  # an empty line does not move the end of the statement
            current[-2 if joined else -1 :] = pieces  # replaces the end of the line above
        joined = len(pieces) > 1 and pieces[-2].kind == "joint"
    _close(current, statements, problems)
    return statements


def _close(tokens: list[Token], statements: list[list[Token]], problems: list[Problem]) -> None:
    strange = next((token for token in tokens if token.kind in _STRANGE), None)
    if strange is not None:  # one problem per statement is enough
        problems.append(strange.problem(f"unexpected character {shorten(strange.text[0])!r}"))
    elif len(tokens) > 1:
        statements.append(tokens)
