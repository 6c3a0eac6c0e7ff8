"""Parses tokens to statements, one method per line of the grammar in docs/reference/rule-text.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from bitwright.common.bits import shorten
from bitwright.common.errors import Problem, suggestion
from bitwright.common.scanner import END, MAX_PROBLEMS, Token, WrongError
from bitwright.rules.ensure_text import MAX_CLAUSES, ExpressionReader, read_tokens
from bitwright.rules.expressions import DIGITS, Combined, Constant, Expression, Named
from bitwright.rules.layout import KEYWORDS
from bitwright.rules.text import syntax
from bitwright.rules.text.groups import without_groups
from bitwright.rules.text.lexer import MAX_NUMBER, STATEMENTS, TOO_MANY, tokenize

COMPASS = (
    *((way,) for way in ("north", "south", "west", "east")),
    *((row, column) for row in ("north", "south") for column in ("west", "east")),
)
PATHS = (("far",), ("all",), ("far", "all"), ("back",), ("next",), ("every",), *COMPASS)  # from a rule to its targets
GRAPH_WORDS = ("simple", "connected", "directed", "degree")
_FORMS = {
    "let": "let l = 4",
    "bits": "bits p[l] q[l] flag",
    "port": "port bits heard s[l]",
    "whole": "whole bits done",
    "chain": "chain e -> z",
    "graph": "graph simple, connected, degree 8",
    "block": "block p[i] q[i] for i in 1..l",
    "cell": "cell p[i] c[i] for i in 1..l",
    "when": "when p[i]=0 q[i]=1 write p[i] for i in 1..l",
    "also": "also when p[i]=0 q[i]=1 write q[i] for i in 1..l",
    "input": "input p q, or input a = p",
    "output": "output p, or output sum = c[l] p",
    "start": "start flag x[1]",
    "steps": "steps 2*l",
    "matches": "matches 2*l",
    "examples": "examples 4*l",
    "where": "where b < m",
    "ensure": "ensure sum == p + q",
    "invariant": "invariant p + q + 2*c == in.p + in.q, or invariant at done: sum == in.p",
    "halt": "halt when flag, or halt at fixed point",
}


@dataclass
class SyntaxTree:
    """The valid statements of a text, and the problems in the rest."""

    statements: list[syntax.Statement] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def is_node_program(self) -> bool:
        """Whether the text uses features of node programs."""
        return any(
            isinstance(item, syntax.Chain | syntax.GraphLine)
            or (isinstance(item, syntax.BitsDeclaration) and item.place != "node")
            or (isinstance(item, syntax.WhenClause) and any(target.path for target in item.targets))
            for item in self.statements
        )


def parse_statements(text: str) -> SyntaxTree:
    """Parses every statement; reports and skips invalid ones."""
    tree = SyntaxTree()
    try:
        lines = without_groups(tokenize(text, tree.problems))
    except WrongError as error:
        tree.problems.append(error.problem)
        return tree
    for tokens in lines:
        try:
            tree.statements.append(_Line(tokens).statement())
        except WrongError as error:
            tree.problems.append(error.problem)
            if len(tree.problems) >= MAX_PROBLEMS:
                tree.problems.append(tokens[0].problem(TOO_MANY))
                break
    return tree


class _Line(ExpressionReader):
    """Parses one statement from its tokens, with two tokens of lookahead."""

    most_signs = 200
    form = ""  # an example of the statement, for messages

    # Token level.

    def name(self, expected: str) -> Token:
        if self.next.kind != "name":
            raise self.refuse(expected)
        if self.next.text in KEYWORDS:
            message = f"'{self.next.text}' is a keyword; choose another name (for example: {self.form})"
            raise WrongError(self.next, message)
        if len(self.next.text) > 64:
            raise WrongError(self.next, f"a name may have at most 64 characters, got {len(self.next.text)}")
        return self.take()

    def refuse(self, expected: str, hint: str = "") -> WrongError:
        known = [word for word in sorted(KEYWORDS) if word not in STATEMENTS]
        typo = self.next.kind == "name" and self.next.text not in KEYWORDS
        hint = hint or (suggestion(self.next.text, known) if typo else "")
        return super().refuse(expected, f"{hint} (for example: {self.form})")

    def text(self) -> str:
        """Returns the statement on one line, as written; words remain separate even if they come from a group."""
        pairs = list(pairwise(self.tokens[:-1]))
        in_order = all((before.line, before.column) < (token.line, token.column) for before, token in pairs)
        pieces = [self.tokens[0].text]
        for before, token in pairs:
            words = token.kind != "sign" and (before.kind != "sign" or before.text in ")]")
            space = token.line == before.line and token.column > before.column + len(before.text)
            pieces.append(" " * (words or (in_order and space)) + token.text)
        return "".join(pieces)

    # Statement level.

    def statement(self) -> syntax.Statement:
        token = self.take()
        readers: dict[str, Callable[[Token], syntax.Statement]] = {
            "let": self.let,
            "bits": self.bits,
            "block": self.members,
            "cell": self.members,
            "port": self.bits_elsewhere,
            "whole": self.bits_elsewhere,
            "chain": self.link,
            "graph": self.graph,
            "when": self.when,
            "also": self.also,
            "input": self.port,
            "output": self.port,
            "start": self.members,
            "steps": self.count,
            "matches": self.count,
            "examples": self.count,
            "halt": self.halt,
            "where": self.ensure,
            "ensure": self.ensure,
            "invariant": self.ensure,
        }
        if token.text not in readers:
            hint = suggestion(token.text, STATEMENTS) or f"; a line must start with one of {', '.join(STATEMENTS)}"
            raise WrongError(token, f"unknown statement {token}{hint}")
        self.form = _FORMS[token.text]
        statement = readers[token.text](token)
        if self.next.kind != END:
            raise self.refuse("the end of the line")
        return statement

    def let(self, token: Token) -> syntax.Let:
        name = self.name("a name")
        self.expect("=")
        return syntax.Let(token, name, self.expression())

    def bits_elsewhere(self, token: Token) -> syntax.BitsDeclaration:
        self.expect("bits")
        return self.bits(token)

    def bits(self, token: Token) -> syntax.BitsDeclaration:
        items: list[tuple[Token, tuple[Expression, ...]]] = []
        while not items or self.next.kind == "name":
            name = self.name("a name")
            extents: list[Expression] = []
            if self.accept("["):
                extents.append(self.expression())
                while self.accept(","):
                    extents.append(self.expression())
                    self.check_count(extents, "an array may have", "dimensions")
                self.expect("]")
            items.append((name, tuple(extents)))
        return syntax.BitsDeclaration(token, tuple(items), "node" if token.text == "bits" else token.text)

    def members(self, token: Token) -> syntax.Block | syntax.Cell | syntax.Start:
        kinds: dict[str, type[syntax.Block | syntax.Cell | syntax.Start]] = {
            "block": syntax.Block,
            "cell": syntax.Cell,
            "start": syntax.Start,
        }
        return kinds[token.text](token, self.references(), self.clauses(), self.text())

    def also(self, token: Token) -> syntax.WhenClause:
        self.expect("when")
        return replace(self.when(token), also=True)

    def when(self, token: Token) -> syntax.WhenClause:
        self.form = _FORMS["when"]
        tests = [self.test()]
        while not self.accept("write"):
            self.accept("and")
            if self.next.kind != "name" or self.next.text in KEYWORDS:
                raise self.refuse("another condition or 'write'")
            tests.append(self.test())
        targets = () if self.accept("nothing") else self.references()
        return syntax.WhenClause(token, tuple(tests), targets, self.clauses(), self.text())

    def test(self) -> syntax.Test:
        left = self.reference()
        same = self.accept("=") is not None
        if not same and not self.accept("!="):
            if not left.parts and (hint := suggestion(left.token.text, ["write"])):
                raise WrongError(left.token, f"expected 'write', found {left.token}{hint}")
            raise self.refuse(f"'=' or '!=' after {left.token}")
        if same and self.accept("*"):
            return syntax.Test(left, same, None)
        bit = self.next.kind == "name" and self.tokens[self.at + 1].text == "["
        return syntax.Test(left, same, self.reference() if bit else self.expression())

    def port(self, token: Token) -> syntax.PortLine:
        signed = self._named("signed") and self.accept("signed") is not None
        marks: list[Token] = []
        while (mark := self.word_before_a_name(*syntax.MARKS)) is not None:
            marks.append(mark)
        name = None
        if self.next.kind == "name" and not self._named(self.next.text):
            name = self.take()  # '=' follows, so even a keyword can be a name here
            self.take()
        way = self.word_before_a_name("not", "place")
        members = self.references()
        also = self.references() if self.accept(",") else ()
        where = self.reference() if self.accept("if") else None
        return syntax.PortLine(token, name, members, signed, tuple(marks), also, where, way)

    def link(self, token: Token) -> syntax.Chain:
        link = self.reference()
        self.expect("->")
        return syntax.Chain(token, link, self.reference())

    def graph(self, token: Token) -> syntax.GraphLine:
        words: list[Token] = []
        degree: Expression | None = None
        while not words or self.accept(","):
            words.append(self.name("a word"))
            if words[-1].text not in GRAPH_WORDS:
                hint = suggestion(words[-1].text, GRAPH_WORDS) or f"; choose from {', '.join(GRAPH_WORDS)}"
                raise WrongError(words[-1], f"unknown graph property {words[-1]}{hint}")
            if words[-1].text == "degree":
                degree = self.expression()
        return syntax.GraphLine(token, tuple(words), degree)

    def word_before_a_name(self, *words: str) -> Token | None:
        """Takes one of these words if a name follows; otherwise the word is itself a name."""
        return self.take() if self.next.text in words and self.tokens[self.at + 1].kind == "name" else None

    def _named(self, word: str) -> bool:
        """Returns whether the next token is this word, and not a port name before '='."""
        return self.next.text == word and self.tokens[self.at + 1].text != "="

    def count(self, token: Token) -> syntax.Count:
        return syntax.Count(token, self.expression())

    def halt(self, token: Token) -> syntax.Halt:
        if self.accept("when"):
            return syntax.Halt(token, self.reference())
        for word in ("at", "fixed", "point"):
            self.expect(word)
        return syntax.Halt(token, None)

    def ensure(self, token: Token) -> syntax.Ensure:
        try:
            line = read_tokens(self.tokens[self.at :], token.text == "invariant")
        except WrongError as error:
            raise WrongError(error.token, f"{error.message} (for example: {self.form})") from None
        self.at = len(self.tokens) - 1
        return syntax.Ensure(token, line)

    # Inside a statement.

    def index_name(self) -> Token:
        return self.name("an index")

    def references(self) -> tuple[syntax.BitRef, ...]:
        references = [self.reference()]
        while self.next.kind == "name" and self.next.text not in KEYWORDS:
            references.append(self.reference())
        return tuple(references)

    def reference(self) -> syntax.BitRef:
        token = first = self.name("a bit")
        path: list[str] = []
        while self.accept("."):
            path.append(token.text)
            token = self.name("a bit")
        if path and tuple(path) not in PATHS:
            valid = ", ".join(".".join(way) + ".x" for way in PATHS)
            raise WrongError(first, f"unknown path '{shorten('.'.join(path))}'; valid paths are {valid}")
        parts: list[syntax.IndexPart] = []
        if self.accept("["):
            parts.append(self.part())
            while self.accept(","):
                parts.append(self.part())
            self.expect("]")
        return syntax.BitRef(token, tuple(parts), tuple(path))

    def part(self) -> syntax.IndexPart:
        if self.accept("*"):
            return syntax.IndexPart(None, None)
        first = self.expression()
        return syntax.IndexPart(first, self.expression() if self.accept("..") else first)

    def clauses(self) -> syntax.Clauses:
        ranges = self.ranges(self.expression)
        conditions: list[Combined] = []
        while self.accept("and") if conditions else self.accept("if"):
            left = self.expression()
            if self.next.text not in ("<", "<=", ">", ">=", "=", "!="):
                raise self.refuse("a comparison such as '<'")
            sign = self.take()
            conditions.append(Combined("==" if sign.text == "=" else sign.text, left, self.expression(), sign))
            self.check_count(conditions, "'if' may have", "conditions")
        return syntax.Clauses(ranges, tuple(conditions))

    def check_count(self, items: Sequence[object], subject: str, noun: str) -> None:
        """Rejects too many items, since each is evaluated for every row."""
        if len(items) > MAX_CLAUSES:
            raise WrongError(self.next, f"{subject} at most {MAX_CLAUSES} {noun}")

    # Expressions.

    def expression(self) -> Expression:
        self.signs = 0
        number = self.next.kind == "number" and self.tokens[self.at + 1].text in ("]", ",", "")  # the common case
        result: Expression = self.atom() if number else self.sum()
        return result

    def atom(self) -> Expression:
        token = self.next
        if token.kind == "number":
            if len(token.text) > 10 or int(token.text) >= MAX_NUMBER:
                raise WrongError(token, f"a number must be below 2^31, got {token}")
            return Constant(int(self.take().text), token)
        digits = self.take() if token.text == "digits" and self.tokens[self.at + 1].text == "(" else None
        if opened := self.accept("("):
            inner: Expression = self.nested(opened, self.sum)
            self.expect(")")
            return Combined(DIGITS, Constant(2), inner, digits) if digits else inner
        if token.kind == "name" and token.text not in KEYWORDS:
            return Named(token.text, token=self.take())
        raise self.refuse("a number or a name")
