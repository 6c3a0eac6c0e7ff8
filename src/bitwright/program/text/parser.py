"""Tokens to statements: one method a line of the grammar in docs/reference/rule-text.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from bitwright.bits import shorten
from bitwright.errors import Problem, suggestion
from bitwright.program.ensure_text import read_tokens
from bitwright.program.ensures import WrongError
from bitwright.program.layout import KEYWORDS
from bitwright.program.text import syntax
from bitwright.program.text.forms import FOREIGN, FORMS, way_out
from bitwright.program.text.groups import has_groups, without_groups
from bitwright.program.text.lexer import MAX_NUMBER, STATEMENTS, TOO_MANY, tokenize
from bitwright.program.text.plain import split_plain
from bitwright.text.problems import MAX_PROBLEMS
from bitwright.text.scanner import END, Token

MAX_DEPTH = 50  # nested parentheses
MAX_CLAUSES = 50  # indices and conditions of a statement, and extents of an array
COMPASS = (
    *((way,) for way in ("north", "south", "west", "east")),
    *((row, column) for row in ("north", "south") for column in ("west", "east")),
)
PATHS = (
    ("far",),
    ("all",),
    ("far", "all"),
    ("back",),
    ("next",),
    ("every",),
    *COMPASS,
)  # from a rule to what it writes
GRAPH_WORDS = ("simple", "connected", "directed", "degree")


@dataclass
class SyntaxTree:
    """The statements that could be read, the problems, and the tokens of the lines that could not."""

    statements: list[syntax.Statement] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    broken: list[list[Token]] = field(default_factory=list)


def parse_statements(text: str, short_way: bool = True) -> SyntaxTree:
    """Reads every statement; one that cannot be read is reported and left out, and reading goes on below it.

    Without the short way for plain lines it gives the same, only later.
    """
    tree = SyntaxTree()
    rest, plain = split_plain(text) if short_way and not has_groups(text) else (text, {})
    for tokens in without_groups(tokenize(rest, tree.problems, tree.broken), tree.problems, tree.broken):
        try:
            run = plain.get(tokens[0].line)
            tree.statements.append(_Line(tokens).statement() if run is None else run)
        except _Refused as refusal:
            tree.problems.append(refusal.problem)
            tree.broken.append(tokens)
            if len(tree.problems) >= MAX_PROBLEMS:
                tree.problems.append(tokens[0].problem(TOO_MANY))
                break
    return tree


def parse_plain(plain: syntax.PlainLine) -> syntax.Statement:
    """A plain line in the long way, where it stands in its file."""
    (tokens,) = tokenize(plain.source, [], [])
    return _Line([token._replace(line=plain.line) for token in tokens]).statement()


class _Refused(Exception):  # noqa: N818
    def __init__(self, token: Token, message: str) -> None:
        self.problem = token.problem(message)


class _Line:
    """Reads one statement from its tokens, looking at most two tokens ahead."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens, self.at, self.depth, self.operators = tokens, 0, 0, 0

    # Token level.

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.next
        if token.kind != END:
            self.at += 1
        return token

    def accept(self, text: str) -> Token | None:
        return self.take() if self.next.text == text and self.next.kind != END else None

    def expect(self, text: str, form: str) -> Token:
        return self.accept(text) or self.refuse(f"expected '{text}'", form)

    def name(self, what: str, form: str) -> Token:
        if self.next.kind != "name":
            self.refuse(f"expected {what}", form)
        if self.next.text in KEYWORDS:
            raise _Refused(self.next, f"'{self.next.text}' is a word of the language; choose another name ({form})")
        if len(self.next.text) > 64:
            raise _Refused(self.next, "a name has at most 64 characters")
        return self.take()

    def refuse(self, expected: str, form: str, hint: str = "") -> Token:
        known = [word for word in sorted(KEYWORDS) if word not in STATEMENTS]
        typo = self.next.kind == "name" and self.next.text not in KEYWORDS
        hint = hint or (suggestion(self.next.text, known) if typo else "")
        raise _Refused(self.next, f"{expected}, found {self.next}{hint} (the form is: {form})")

    def text(self) -> str:
        """The statement as it was written, in one line; words are apart, wherever a group has them from."""
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
            "block": self.block,
            "cell": self.cell,
            "port": self.bits_elsewhere,
            "whole": self.bits_elsewhere,
            "chain": self.link,
            "graph": self.graph,
            "when": self.when,
            "also": self.also,
            "input": self.port,
            "output": self.port,
            "start": self.start,
            "steps": self.count,
            "matches": self.count,
            "examples": self.count,
            "halt": self.halt,
            "ensure": self.ensure,
            "invariant": self.ensure,
        }
        if token.text not in readers:
            hint = suggestion(token.text, STATEMENTS) or f"; a line starts with one of {', '.join(STATEMENTS)}"
            raise _Refused(token, f"unknown statement {token}{hint}")
        statement = readers[token.text](token)
        if self.next.kind != END:
            self.refuse("expected the end of the line", FORMS[token.text], way_out(self.next, token.text))
        return statement

    def let(self, token: Token) -> syntax.Let:
        form = FORMS["let"]
        name = self.name("a name", form)
        self.expect("=", form)
        return syntax.Let(token, name, self.expression(form))

    def bits_elsewhere(self, token: Token) -> syntax.BitsDeclaration:
        self.expect("bits", FORMS[token.text])
        return self.bits(token)

    def bits(self, token: Token) -> syntax.BitsDeclaration:
        form = FORMS[token.text]
        items: list[tuple[Token, tuple[syntax.Expression, ...]]] = []
        while not items or self.next.kind == "name":
            name = self.name("a name", form)
            extents: list[syntax.Expression] = []
            if self.accept("["):
                extents.append(self.expression(form))
                while self.accept(","):
                    extents.append(self.expression(form))
                    self.check_count(extents, "an array has", "extents")
                self.expect("]", form)
            items.append((name, tuple(extents)))
        return syntax.BitsDeclaration(token, tuple(items), "node" if token.text == "bits" else token.text)

    def block(self, token: Token) -> syntax.Block:
        members = self.references(FORMS["block"])
        return syntax.Block(token, members, self.clauses(FORMS["block"]), self.text())

    def cell(self, token: Token) -> syntax.Cell:
        members = self.references(FORMS["cell"])
        return syntax.Cell(token, members, self.clauses(FORMS["cell"]), self.text())

    def also(self, token: Token) -> syntax.WhenClause:
        self.expect("when", FORMS["also"])
        return replace(self.when(token), also=True)

    def when(self, token: Token) -> syntax.WhenClause:
        form = FORMS["when"]
        tests = [self.test(form)]
        while not self.accept("write"):
            self.accept("and")
            if self.next.kind != "name" or self.next.text in KEYWORDS:
                self.refuse("expected another condition or 'write'", form, way_out(self.next, "when"))
            tests.append(self.test(form))
        targets = () if self.accept("nothing") else self.references(form)
        if self.next.text in ("write", "when") and targets:
            self.refuse_foreign(targets[-1])
        return syntax.WhenClause(token, tuple(tests), targets, self.clauses(form), self.text())

    def test(self, form: str) -> syntax.Test:
        left = self.reference(form)
        same = self.accept("=") is not None
        if not same and not self.accept("!="):
            self.refuse_foreign(left)
            if not left.parts and (hint := suggestion(left.token.text, ["write"])):
                raise _Refused(left.token, f"expected 'write', found {left.token}{hint}")
            self.refuse(f"expected '=' or '!=' after {left.token}", form)
        if same and self.accept("*"):
            return syntax.Test(left, same, None)
        if self.next.kind == "name" and self.tokens[self.at + 1].text == "[":
            return syntax.Test(left, same, self.reference(form))
        return syntax.Test(left, same, self.expression(form))

    def refuse_foreign(self, reference: syntax.BitRef) -> None:
        """Raises for a word of other languages that was taken for a bit."""
        word = reference.token.text
        if not reference.parts and word in FOREIGN:
            raise _Refused(reference.token, f"there is no '{word}' in rules; {FOREIGN[word]}")

    def start(self, token: Token) -> syntax.Start:
        members = self.references(FORMS["start"])
        return syntax.Start(token, members, self.clauses(FORMS["start"]), self.text())

    def port(self, token: Token) -> syntax.PortLine:
        form = FORMS[token.text]
        signed = self._named("signed") and self.accept("signed") is not None
        marks: list[Token] = []
        while (mark := self.word_before_a_name(*syntax.MARKS)) is not None:
            marks.append(mark)
        name = None
        if self.next.kind == "name" and not self._named(self.next.text):
            name = self.take()  # behind it comes '=', so even a word of the language can be a name here
            self.take()
        way = self.word_before_a_name("not", "place")
        members = self.references(form)
        also = self.references(form) if self.accept(",") else ()
        where = self.reference(form) if self.accept("if") else None
        return syntax.PortLine(token, name, members, signed, tuple(marks), also, where, way)

    def link(self, token: Token) -> syntax.Chain:
        form = FORMS["chain"]
        link = self.reference(form)
        self.expect("->", form)
        return syntax.Chain(token, link, self.reference(form))

    def graph(self, token: Token) -> syntax.GraphLine:
        form = FORMS["graph"]
        words: list[Token] = []
        degree: syntax.Expression | None = None
        while not words or self.accept(","):
            words.append(self.name("a word", form))
            if words[-1].text not in GRAPH_WORDS:
                hint = suggestion(words[-1].text, GRAPH_WORDS) or f"; say {', '.join(GRAPH_WORDS)}"
                raise _Refused(words[-1], f"unknown kind of graph {words[-1]}{hint}")
            if words[-1].text == "degree":
                degree = self.expression(form)
        return syntax.GraphLine(token, tuple(words), degree)

    def word_before_a_name(self, *words: str) -> Token | None:
        """Takes one of these words if it stands before a name; alone it is a name itself."""
        return self.take() if self.next.text in words and self.tokens[self.at + 1].kind == "name" else None

    def _named(self, word: str) -> bool:
        """Whether the next token is this word, and not the name of a port in front of '='."""
        return self.next.text == word and self.tokens[self.at + 1].text != "="

    def count(self, token: Token) -> syntax.Count:
        return syntax.Count(token, self.expression(FORMS[token.text]))

    def halt(self, token: Token) -> syntax.Halt:
        form = FORMS["halt"]
        if self.accept("when"):
            return syntax.Halt(token, self.reference(form))
        for word in ("at", "fixed", "point"):
            self.expect(word, form)
        return syntax.Halt(token, None)

    def ensure(self, token: Token) -> syntax.Ensure:
        try:
            line = read_tokens(self.tokens[self.at :], token.text == "invariant")
        except WrongError as error:
            raise _Refused(error.token, f"{error.message} (the form is: {FORMS[token.text]})") from None
        self.at = len(self.tokens) - 1
        return syntax.Ensure(token, line)

    # Inside a statement.

    def references(self, form: str) -> tuple[syntax.BitRef, ...]:
        found = [self.reference(form)]
        while self.next.kind == "name" and self.next.text not in KEYWORDS:
            found.append(self.reference(form))
        return tuple(found)

    def reference(self, form: str) -> syntax.BitRef:
        token = first = self.name("a bit", form)
        path: list[str] = []
        while self.accept("."):
            path.append(token.text)
            token = self.name("a bit", form)
        if path and tuple(path) not in PATHS:
            known = ", ".join(".".join(one) + ".x" for one in PATHS)
            raise _Refused(first, f"there is no path '{shorten('.'.join(path))}'; the paths are {known}")
        parts: list[syntax.IndexPart] = []
        if self.accept("["):
            parts.append(self.part(form))
            while self.accept(","):
                parts.append(self.part(form))
            self.expect("]", form)
        return syntax.BitRef(token, tuple(parts), tuple(path))

    def part(self, form: str) -> syntax.IndexPart:
        if self.accept("*"):
            return syntax.IndexPart(None, None)
        first = self.expression(form)
        return syntax.IndexPart(first, self.expression(form) if self.accept("..") else first)

    def clauses(self, form: str) -> syntax.Clauses:
        ranges: list[syntax.IndexRange] = []
        while self.accept("for") or (ranges and self.accept(",")):
            name = self.name("an index", form)
            self.expect("in", form)
            first = self.expression(form)
            self.expect("..", form)
            ranges.append(syntax.IndexRange(name, first, self.expression(form)))
            self.check_count(ranges, "a statement has", "indices")
        conditions: list[syntax.ComparedNumbers] = []
        if self.accept("if"):
            conditions.append(self.comparison(form))
            while self.accept("and"):
                conditions.append(self.comparison(form))
                self.check_count(conditions, "'if' takes", "conditions")
        return syntax.Clauses(tuple(ranges), tuple(conditions))

    def check_count(self, found: Sequence[object], who: str, what: str) -> None:
        """Refuses more than a text can mean: each of them is worked out for every row."""
        if len(found) > MAX_CLAUSES:
            raise _Refused(self.next, f"{who} at most {MAX_CLAUSES} {what}")

    def comparison(self, form: str) -> syntax.ComparedNumbers:
        left = self.expression(form)
        if self.next.text not in ("<", "<=", ">", ">=", "=", "!="):
            self.refuse("expected a comparison such as '<'", form)
        return syntax.ComparedNumbers(self.take(), left, self.expression(form))

    # Expressions, loosest operator first.

    def expression(self, form: str) -> syntax.Expression:
        return self.chain(form, ("+", "-"), self.product)

    def product(self, form: str) -> syntax.Expression:
        return self.chain(form, ("*", "//", "%"), self.signed)

    def chain(self, form: str, signs: tuple[str, ...], read: Callable[[str], syntax.Expression]) -> syntax.Expression:
        left, length = read(form), 0
        while self.next.text in signs:
            left, length = syntax.Operation(self.take(), left, read(form)), length + 1
            self.operators += self.depth > 0
            if length > MAX_DEPTH or self.operators > 4 * MAX_DEPTH:
                raise _Refused(self.next, f"an expression may chain at most {MAX_DEPTH} of {' '.join(signs)}")
        return left

    def signed(self, form: str) -> syntax.Expression:
        if (minus := self.accept("-")) is None:
            return self.power(form)
        return syntax.Operation(minus, syntax.Number(minus, 0), self.nested(minus, form, self.signed))

    def power(self, form: str) -> syntax.Expression:
        base = self.atom(form)
        if (sign := self.accept("^")) is None:
            return base
        return syntax.Operation(sign, base, self.nested(sign, form, self.signed))

    def atom(self, form: str) -> syntax.Expression:
        token = self.next
        if token.kind == "number":
            if len(token.text) > 10 or int(token.text) >= MAX_NUMBER:
                raise _Refused(token, f"a number must be below 2^31, got {token}")
            return syntax.Number(self.take(), int(token.text))
        if opened := self.accept("("):
            inner = self.nested(opened, form, self.expression)
            self.expect(")", form)
            return inner
        if token.text == "digits" and self.tokens[self.at + 1].text == "(":
            self.take()
            opened = self.take()
            inner = self.nested(opened, form, self.expression)
            self.expect(")", form)
            return syntax.Digits(token, inner)
        if token.kind == "name" and token.text not in KEYWORDS:
            return syntax.Name(self.take())
        self.refuse("expected a number or a name", form)
        raise AssertionError  # refuse never returns

    def nested(self, token: Token, form: str, read: Callable[[str], syntax.Expression]) -> syntax.Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _Refused(token, f"an expression may nest at most {MAX_DEPTH} deep")
        inner = read(form)
        self.depth -= 1
        return inner
