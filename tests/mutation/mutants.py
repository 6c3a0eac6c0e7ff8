"""Small mistakes to make in a source text, one at a time: the text that has it is a mutant, which tests should notice.

Each is an edit of the text, found through its syntax tree: another comparison, operator, constant or word between
conditions, a negated condition, a lost `not` or minus sign, `return None`, a statement that is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

# Each operator, and the one that takes its place.
_OTHER = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "|"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.MatMult: ("@", "+"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
_NEGATED = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)  # whose other operator is the negation
_LEFT_ALONE = (ast.JoinedStr, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)  # messages, and what tests never see


@dataclass(frozen=True)
class Mutant:
    """One edit: characters `begin` to `end` of a file become `text`."""

    file: str
    line: int
    function: str  # the qualified name of the one that it is in, or ""
    begin: int
    end: int
    old: str
    text: str

    @property
    def id(self) -> str:
        return sha256(f"{self.file} {self.begin} {self.end} {self.text}".encode()).hexdigest()[:16]

    @property
    def change(self) -> str:
        return f"{' '.join(self.old.split())[:60]} -> {self.text[:60]}"

    def apply(self, source: str) -> str:
        assert source[self.begin : self.end] == self.old
        return source[: self.begin] + self.text + source[self.end :]


def mutants(file: str, source: str) -> list[Mutant]:
    """Every mutant of a file that is still Python."""
    return [mutant for mutant in _Finder(file, source).all() if _compiles(mutant.apply(source))]


def _compiles(source: str) -> bool:
    try:
        compile(source, "", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _is_negated_anyway(test: ast.expr) -> bool:
    """A condition that another mutant negates, or one that is for type checkers only."""
    match test:
        case ast.Compare(ops=[op]):
            return isinstance(op, _NEGATED)
        case ast.Name(id="TYPE_CHECKING") | ast.UnaryOp(op=ast.Not()):
            return True
    return False


class _Finder:
    def __init__(self, file: str, source: str) -> None:
        self.file, self.source = file, source
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def all(self) -> Iterator[Mutant]:
        yield from self.walk(ast.parse(self.source), "", "")

    def walk(self, node: ast.AST, function: str, prefix: str) -> Iterator[Mutant]:
        """`function`: the one around; `prefix`: what stands before the names of those defined here."""
        for begin, end, text in self.edits(node):
            line = getattr(node, "lineno", 1)
            yield Mutant(self.file, line, function, begin, end, self.source[begin:end], text)
        if isinstance(node, _LEFT_ALONE):
            return
        children: list[ast.AST] = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.ClassDef):
            children, prefix = list(node.body), f"{prefix}{node.name}."
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = f"{prefix}{node.name}"
            children, prefix = [*node.args.defaults, *node.body], f"{function}.<locals>."
        elif isinstance(node, ast.AnnAssign):
            children = [] if node.value is None else [node.value]
        for child in children:
            yield from self.walk(child, function, prefix)

    def edits(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        match node:
            case (
                ast.Compare(left=left, ops=[op], comparators=[right])
                | ast.BinOp(left=left, op=op, right=right)
                | ast.BoolOp(op=op, values=[left, right, *_])
            ):
                yield from self.between(left, right, *_OTHER[type(op)])
            case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
                yield self.begin(node), self.begin(operand), ""
            case ast.Constant(value=bool() as value):
                yield *self.span(node), str(not value)
            case ast.Constant(value=int() | float() as value):
                yield *self.span(node), f"({value + 1})"
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                if not _is_negated_anyway(test):
                    yield *self.span(test), f"not ({self.source[slice(*self.span(test))]})"
            case ast.Return(value=ast.AST() as value) if not isinstance(value, ast.Constant):
                yield *self.span(value), "None"
            case ast.Assign() | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
                yield *self.span(node), "pass"
            case ast.Expr(value=ast.Call()):
                yield *self.span(node), "pass"

    def between(self, left: ast.AST, right: ast.AST, old: str, new: str) -> Iterator[tuple[int, int, str]]:
        """The operator, which the tree has no place for: it stands between its operands, perhaps with brackets."""
        begin, end = self.span(left)[1], self.begin(right)
        at = self.source.find(old, begin, end)
        if at >= 0:
            yield at, at + len(old), new

    def begin(self, node: ast.AST) -> int:
        return self.span(node)[0]

    def span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.expr | ast.stmt)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.place(node.lineno, node.col_offset), self.place(node.end_lineno, node.end_col_offset)

    def place(self, line: int, column: int) -> int:
        """Where a line and a column, in bytes of UTF-8 as trees count them, are in the text."""
        start = self.lines[line - 1]
        text = self.source[start : self.lines[line]]
        return start + len(text.encode()[:column].decode())
