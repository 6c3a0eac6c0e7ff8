"""Highlights rule text with Pygments; Sphinx, nbconvert and rich find the lexer as `bw` or by the file suffix."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, Text

STATEMENTS = (
    *("let", "bits", "block", "cell", "when", "also", "input", "output", "start", "steps", "halt", "matches"),
    *("ensure", "invariant", "examples", "chain", "graph", "group", "end", "use"),
)
INSIDE = ("write", "nothing", "for", "in", "if", "and", "or", "not", "mod", "at", "fixed", "point", "place", "digits")
KINDS = ("signed", "unique", "positive", "one", "port", "whole", "simple", "connected", "directed", "degree")
PATHS = ("far", "all", "back", "next", "every", "north", "south", "west", "east")


class RuleTextLexer(RegexLexer):  # type: ignore[misc]  # Pygments has no types
    """Lexer of the .bw rule text."""

    name = "bitwright rule text"
    aliases: ClassVar[list[str]] = ["bw", "bitwright"]
    filenames: ClassVar[list[str]] = ["*.bw"]
    mimetypes: ClassVar[list[str]] = ["text/x-bitwright"]
    url = ""
    tokens: ClassVar[dict[str, list[object]]] = {
        "root": [
            (r"\s+", Text),
            (r"#.*$", Comment.Single),
            (rf"\b({'|'.join(PATHS)})(\.)(?=[a-z_])", bygroups(Keyword.Pseudo, Punctuation)),
            (words(STATEMENTS, prefix=r"\b", suffix=r"\b"), Keyword),
            (words(INSIDE, prefix=r"\b", suffix=r"\b"), Keyword.Reserved),
            (words(KINDS, prefix=r"\b", suffix=r"\b"), Keyword.Type),
            (r"\b(nodes|ports)\b", Name.Builtin),
            (r"\d+", Number.Integer),
            (r"[A-Za-z_]\w*(?=\[)", Name.Variable),
            (r"[A-Za-z_]\w*", Name),
            (r"->|=>|==|!=|<=|>=|\.\.|//|[-+*%^=<>]", Operator),
            (r"[][(),:.\\]", Punctuation),
            (r".", Text),
        ]
    }
