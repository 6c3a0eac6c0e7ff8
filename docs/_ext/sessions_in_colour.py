"""Blocks without a language are sessions, rule text, or plain: each line in the colours of what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups, using
from pygments.lexers import PythonLexer
from pygments.token import Comment, Generic, Text, _TokenType

from bitwright.pages.lexer import STATEMENTS, RuleTextLexer

YES = r"(?:CERTIFIED|EXACT|HOLDS|INFERRED|DETERMINED|certified|exact)\b"
NO = r"(?:REFUTED|NOT EXACT|NOT PROVED|CONTRADICTION|DOES NOT HOLD|NO FAMILY|NOT DECIDED)\b"
OUTPUT = r"((?:(?!\$ ).*\n)*)"  # the lines up to the next command
RULES = re.compile(rf"^\s*({'|'.join(STATEMENTS)}) \S", re.MULTILINE)
OTHER = re.compile(r"^\s*(\w+ +=|[{|]|make |pip |ray |curl |bitwright )", re.MULTILINE)


class SessionLexer(RegexLexer):
    """Commands behind `$ ` and what they print; files that `cat` shows in their own language; or rule text alone."""

    name = "bitwright session"
    aliases: ClassVar[list[str]] = ["bw-session"]
    tokens: ClassVar[dict[str, list[object]]] = {
        "root": [
            *(
                (rf"^(\$ )(cat \S+\.{end}\s*\n)" + OUTPUT, bygroups(Generic.Prompt, Text, using(lexer)))
                for end, lexer in {"bw": RuleTextLexer, "py": PythonLexer}.items()
            ),
            (r"^(\$ )(.*?)(  # .*)?(\n)", bygroups(Generic.Prompt, Text, Comment.Single, Text)),
            (f"^{YES}", Generic.Inserted),
            (f"^{NO}", Generic.Deleted),
            (r"^bitwright: .*", Generic.Error),
            (r".+|\n", Generic.Output),
        ]
    }

    def get_tokens_unprocessed(self, text: str, stack: Any = ("root",)) -> Iterator[tuple[int, _TokenType, str]]:
        if re.search(r"^\$ ", text, re.MULTILINE):
            yield from super().get_tokens_unprocessed(text, stack)
        elif RULES.search(text) and not OTHER.search(text):
            yield from RuleTextLexer().get_tokens_unprocessed(text)
        else:
            yield 0, Text, text


def setup(app: Any) -> dict[str, bool]:
    app.add_lexer("bw-session", SessionLexer)
    app.add_lexer("bw", RuleTextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
