"""A source as Python's own parser reads it (nothing runs it), what back ends make of it, and where problems stand."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.text.problems import GiveUpError, Problems

MAX_SOURCE = 100_000  # characters


@dataclass(frozen=True)
class BackEnd:
    """What a back end supports; the rest of the language is refused where it occurs."""

    name: str
    least_width: int
    most_width: int
    routines: bool  # functions, arrays, products, quotients, characters in and out
    expressions: str  # what expressions, assignments and statements may be, for messages
    assignments: str
    statements: str

    def check_width(self, width: int) -> None:
        if not self.least_width <= width <= self.most_width:
            allowed = f"between {self.least_width} and {self.most_width} bits"
            raise InputError(f"{self.name}a word has {allowed}, got {width}")


class SourceProblems(Problems):
    """Problems at nodes of Python's tree."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.lines = source.split("\n")

    def refuse(self, node: ast.AST, message: str) -> GiveUpError:
        """Notes what is wrong with a piece of the source; raise what this returns to give it up."""
        line, byte = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)  # Python counts bytes
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        self.note(line, len(text.encode()[:byte].decode(errors="ignore")) + 1, message)
        return GiveUpError()


def parse(source: str, problems: SourceProblems) -> ast.Module:
    """Python's own tree of a source; gives up a source that Python cannot parse."""
    if len(source) > MAX_SOURCE:
        raise problems.refuse(ast.Pass(), f"a source has at most {MAX_SOURCE:,} characters, got {len(source):,}")
    try:
        with warnings.catch_warnings():  # what Python would warn about is refused anyway
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        problems.note(error.lineno or 1, error.offset or 1, f"Python cannot read this: {shorten(error.msg, 100)}")
    except (ValueError, RecursionError, MemoryError):  # a null character, or nesting beyond Python's own limits
        problems.note(1, 1, "Python cannot read this: it has a null character or nests too deep")
    raise GiveUpError


def shown(node: ast.AST) -> str:
    """A piece of the source as it reads in a message."""
    try:
        return f"'{shorten(ast.unparse(node).partition(chr(10))[0])}'"
    except (RecursionError, ValueError):
        return f"a {type(node).__name__}"
