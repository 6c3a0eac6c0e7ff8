"""Blocks without a language are sessions, rule text, or plain: each line in the colours of what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from pygments.lexer import Lexer
from pygments.lexers import PythonLexer
from pygments.token import Comment, Generic, Token, _TokenType

from bitwright.pages.lexer import STATEMENTS, RuleTextLexer

YES = "CERTIFIED|EXACT|HOLDS|INFERRED|DETERMINED|certified|exact"
NO = "REFUTED|NOT EXACT|NOT PROVED|CONTRADICTION|DOES NOT HOLD|NO FAMILY|NOT DECIDED"
VERDICTS = re.compile(rf"^({YES})\b|^({NO})\b")
Piece = tuple[int, _TokenType, str]


class SessionLexer(Lexer):
    """Commands behind `$ ` and what they print; files that `cat` shows in their own language; or rule text alone."""

    name = "bitwright session"
    aliases: ClassVar[list[str]] = ["bw-session"]
    filenames: ClassVar[list[str]] = []
    url = ""

    def get_tokens_unprocessed(self, text: str) -> Iterator[Piece]:
        if not re.search(r"^\$ ", text, re.MULTILINE):
            yield from self._plain(text)
            return
        shown: Lexer | None = None
        at = 0
        for line in text.splitlines(keepends=True):
            if line.startswith("$ "):
                yield at, Generic.Prompt, "$ "
                yield from _typed(line[2:], at + 2)
                shown = _shown(line)
            elif shown is not None:
                yield from _at(shown, line, at)
            else:
                yield from _output(line, at)
            at += len(line)

    def _plain(self, text: str) -> Iterator[Piece]:
        rules = re.search(rf"^\s*({'|'.join(STATEMENTS)}) \S", text, re.MULTILINE)
        if rules and not re.search(r"^\s*(\w+ +=|[{|]|make |pip |ray |curl |bitwright )", text, re.MULTILINE):
            yield from _at(RuleTextLexer(), text, 0)
        else:
            yield 0, Token.Text, text


def _shown(line: str) -> Lexer | None:
    """The language of the file that a command shows."""
    found = re.fullmatch(r"\$ cat \S+\.(bw|py)\s*", line)
    return {"bw": RuleTextLexer(), "py": PythonLexer()}[found[1]] if found else None


def _at(lexer: Lexer, text: str, place: int) -> Iterator[Piece]:
    for index, kind, value in lexer.get_tokens_unprocessed(text):
        yield place + index, kind, value


def _typed(command: str, at: int) -> Iterator[Piece]:
    """A command, and the comment behind it."""
    words, mark, comment = command.partition("  # ")
    yield at, Token.Text, words
    if mark:
        yield at + len(words), Comment.Single, mark + comment


def _output(line: str, at: int) -> Iterator[Piece]:
    found = VERDICTS.match(line)
    if found:
        yield at, Generic.Inserted if found[1] else Generic.Deleted, found[0]
        yield at + found.end(), Generic.Output, line[found.end() :]
    elif line.startswith("bitwright: "):
        yield at, Generic.Error, line
    else:
        yield at, Generic.Output, line


def setup(app: Any) -> dict[str, bool]:
    app.add_lexer("bw-session", SessionLexer)
    app.add_lexer("bw", RuleTextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
