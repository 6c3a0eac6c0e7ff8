"""Expands statements into an Algorithm: resolves names, evaluates indices, and collects all problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Literal, TypeVar

import numpy as np

from bitwright.common.errors import Problem, ProgramError
from bitwright.common.scanner import MAX_PROBLEMS, Token, WrongError
from bitwright.rules.algorithm import FIXED_POINT, STATED, Algorithm, Halt, Word, count_problems, port_problems, stated
from bitwright.rules.assemble import BitFamily, Picks, RuleFamily, assemble
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.expressions import Expression, Named
from bitwright.rules.families import WrittenAt
from bitwright.rules.layout import MAX_BITS, IntArray, Layout
from bitwright.rules.program import Program
from bitwright.rules.text import syntax
from bitwright.rules.text.lexer import TOO_MANY
from bitwright.rules.text.parser import SyntaxTree
from bitwright.rules.text.rows import Budget, Rows

MAX_WORK = 30_000_000  # default limit; a million templates need about five million
_ALTERNATIVES = 256  # most combinations of bit comparisons in one rule


Kind = TypeVar("Kind", bound=syntax.Statement)
Item = TypeVar("Item")
Result = TypeVar("Result")


class Expansion:
    rest_as_cells = False  # whether each block outside all cells becomes a cell

    def __init__(self, tree: SyntaxTree, work: int, given: Mapping[str, int], needs_rules: bool = True) -> None:
        self.tree, self.given, self.needs_rules = tree, given, needs_rules
        self.problems = list(tree.problems)
        self.check()
        self.budget = Budget(work)
        self.lets: dict[str, int] = {}
        self.declared: dict[str, WrittenAt] = {}
        self.layout = Layout(())

    def check(self) -> None:
        """Raises all problems found so far, before they cause others in the next stage."""
        if self.problems:
            raise ProgramError(self.problems)

    def algorithm(self, name: str, description: str) -> Algorithm:
        self.let_values()
        self.declare_bits()
        parts = self.parts()
        inputs, outputs, start, counts, halt = self.ports_and_ends(self.inputs, self.output)
        program = self.assemble(*parts)
        self.note_all(count_problems(program, counts["matches"], counts["examples"]))

        def ensured(item: syntax.Ensure) -> EnsureLine:
            return stated(item.line, program, inputs, outputs, self.lets, item.token.text)

        lines = [(item, self.attempt(ensured, item)) for item in self.each(syntax.Ensure)]
        self.check()
        fields: dict[str, Any] = {
            field: tuple(line for item, line in lines if line and item.token.text == word) for word, field in STATED
        }
        return Algorithm(
            name=name,
            program=program,
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            start=start,
            steps=counts["steps"],
            halt=halt,
            description=description,
            matches=counts["matches"],
            examples=counts["examples"],
            **fields,
        )

    def let_values(self) -> tuple[int, ...]:
        """Evaluates the `let` lines; raises the first problem, since later lines may depend on it."""
        for item in self.each(syntax.Let):
            self.attempt(self.let, item)
            self.check()
        return tuple(self.lets[item.name.text] for item in self.each(syntax.Let))

    def ports_and_ends(
        self, inputs: Callable[[syntax.PortLine], list[Item]], output: Callable[[syntax.PortLine], list[Item]]
    ) -> tuple[list[Item], list[Item], tuple[int, ...], dict[str, int | None], Halt]:
        """Returns the inputs, outputs, start bits, counts by keyword, and halting condition."""
        ports: Any = [
            [word for port in self.each(syntax.PortLine, kind) for word in self.attempt(read, port) or ()]
            for kind, read in (("input", inputs), ("output", output))
        ]
        start = {bit for item in self.each(syntax.Start) for bit in self.attempt(self.start, item) or ()}
        self.note_all(port_problems(self.layout, ports[0], ports[1], start))
        counts = {
            word: next((self.attempt(self.count, item) for item in self.only_one(syntax.Count, word)), None)
            for word in ("steps", "matches", "examples")
        }
        halt = next((self.attempt(self.halt, item) for item in self.only_one(syntax.Halt)), None)
        return *ports, tuple(sorted(start)), counts, halt

    # Declarations.

    def let(self, item: syntax.Let) -> None:
        name = item.name.text
        if name in self.lets:
            raise WrongError(item.name, f"'{name}' already has a value ({self.lets[name]})")
        self.lets[name] = self.given[name] if name in self.given else self.number(item.value)

    def declare_bits(self) -> None:
        shapes: list[tuple[str, tuple[int, ...]]] = []
        for item in self.each(syntax.BitsDeclaration):
            for token, extents in item.items:
                shape = self.attempt(lambda pair: self.shape(*pair), (token, extents))
                if shape is None:
                    continue
                if token.text in self.declared:
                    self.problems.append(token.problem(f"'{token.text}' is declared twice"))
                else:
                    self.declared[token.text] = WrittenAt(token.text, token.line, token.column)
                    shapes.append((token.text, shape))
        self.layout = Layout.of(shapes)
        if not shapes and not self.problems:
            self.problems.append(Problem(1, 1, "no bits are declared; start with a line such as: bits p[4] q[4]"))
        if self.layout.size > MAX_BITS:
            token = self.tree.statements[0].token
            self.problems.append(token.problem(f"a program may have up to {MAX_BITS:,} bits, got {self.layout.size:,}"))
        self.check()

    def shape(self, token: Token, extents: tuple[Expression, ...]) -> tuple[int, ...]:
        if token.text in self.lets:
            raise WrongError(token, f"'{token.text}' is already a number; choose another name for the bits")
        shape, size = [], 1
        for extent in extents:
            value = self.number(extent)
            if value < 1:
                raise WrongError(token, f"a dimension of '{token.text}' must be at least 1, got {value}")
            shape.append(value)
            size *= value
        if size > MAX_BITS:
            raise WrongError(token, f"'{token.text}' has {size:,} bits, but a program may have at most {MAX_BITS:,}")
        return tuple(shape)

    # Blocks and rules.

    def parts(self) -> tuple[list[BitFamily], list[RuleFamily], list[BitFamily]]:
        """Returns the blocks, rules and cells."""
        blocks = [block for item in self.each(syntax.Block) for block in self.attempt(self.blocks, item) or ()]
        rules = [rule for item in self.each(syntax.WhenClause) for rule in self.attempt(self.rules, item) or ()]
        cells = [cell for item in self.each(syntax.Cell) for cell in self.attempt(self.cells, item) or ()]
        self.check_places(blocks, rules)
        return blocks, rules, cells

    def assemble(self, blocks: Sequence[BitFamily], rules: Sequence[RuleFamily], cells: Sequence[BitFamily]) -> Program:
        """Builds the program from its parts."""
        self.check()
        if self.needs_rules and not any(rule.count for rule in rules):
            first = next(iter(self.each(syntax.WhenClause)), None)
            line, column = (first.token.line, first.token.column) if first else (1, 1)
            cause = "the rules produce no templates" if first else "there are no rules"
            self.problems.append(Problem(line, column, f"{cause}; add a line such as: when p[1]=1 write q[1]"))
            self.check()
        return assemble(
            self.layout,
            [*blocks, *self.more_blocks()],
            rules,
            self.declared,
            needs_rules=self.needs_rules,
            cells=cells,
            rest_as_cells=self.rest_as_cells,
        )

    def check_places(self, blocks: Sequence[BitFamily], rules: Sequence[RuleFamily]) -> None:
        """Reports rules with invalid targets; ordinary programs have none."""

    def more_blocks(self) -> list[BitFamily]:
        """Returns the blocks that have no line in the text."""
        return []

    def blocks(self, item: syntax.Block | syntax.Cell) -> list[BitFamily]:
        rows, origin = self.rows_of(item)
        return [BitFamily(rows.count, self.picks(rows, item.members, origin), origin)]

    def cells(self, item: syntax.Cell) -> list[BitFamily]:
        return self.blocks(item)

    def rules(self, item: syntax.WhenClause) -> list[RuleFamily]:
        rows, origin = self.rows_of(item)
        targets = self.picks(rows, item.targets, origin, written=True)
        choices = [self.alternatives(rows, test, origin) for test in item.tests]
        if 2 ** sum(len(choice) > 1 for choice in choices) > _ALTERNATIVES:
            raise WrongError(item.token, "a rule may have at most 8 comparisons between bits and open bits")
        families = []
        for choice in product(*choices):
            literals = [literal for alternative in choice for literal in alternative]
            when = _joined(picks for picks, _ in literals)
            values = np.concatenate([values for _, values in literals])
            self.budget.spend(len(values) + len(targets.rows), item.token)
            families.append(
                RuleFamily(rows.count, when, values, targets, origin, silent=not item.targets, also=item.also)
            )
        return families

    def alternatives(self, rows: Rows, test: syntax.Test, origin: WrittenAt) -> list[list[tuple[Picks, IntArray]]]:
        """Returns the alternatives of a test: one for `bit = value`, two for `bit = bit` or `bit = *`."""
        left = rows.pick(test.left, origin)
        right = test.right
        if right is None:
            if len(left.rows) != rows.count:
                raise WrongError(test.left.token, "'=*' takes a single bit")
            return [[(left, np.full(rows.count, value))] for value in (0, 1)]
        if isinstance(right, Named) and right.text in self.layout:
            right = syntax.BitRef(right.token, ())
        if isinstance(right, syntax.BitRef):
            other = rows.pick(right, origin)
            if len(left.rows) != rows.count or len(other.rows) != rows.count:
                raise WrongError(test.left.token, "only single bits can be compared with each other")
            return [
                [(left, np.full(rows.count, value)), (other, np.full(rows.count, value if test.same else 1 - value))]
                for value in (0, 1)
            ]
        values = rows.each(right)
        wrong = np.flatnonzero((values != 0) & (values != 1))
        if len(wrong):
            row = int(wrong[0])
            message = f"a bit is 0 or 1, but {test.left.token} is compared with {int(values[row])}{origin.at(row)}"
            raise WrongError(test.left.token, f"{message}; compare a number bit by bit: x[1]=n%2 x[2]=n//2%2")
        return [[(left, (values if test.same else 1 - values)[left.rows])]]

    # Inputs, outputs, start and end.

    def inputs(self, port: syntax.PortLine) -> list[Word]:
        port = self.with_bits(port)
        self.check_ordinary(port)
        if port.name:
            return [self.word(port.name.text, port)]
        words = []
        for member in port.members:
            if member.parts:
                form = f"name it, for example: input a = {member.token.text}[...]"
                raise WrongError(member.token, f"an unnamed input must be a whole array; {form}")
            words.append(self.word(member.token.text, syntax.PortLine(port.token, None, (member,), port.signed)))
        return words

    def output(self, port: syntax.PortLine) -> list[Word]:
        port = self.with_bits(port)
        self.check_ordinary(port)
        single = port.members[0].token.text if len(port.members) == 1 else "value"
        return [self.word(port.name.text if port.name else single, port)]

    def with_bits(self, port: syntax.PortLine) -> syntax.PortLine:
        """Treats words such as `unique` and `not` as bits if the text declares bits with these names."""
        if port.way and port.way.text in self.layout:
            port = replace(port, way=None, members=(syntax.BitRef(port.way, ()), *port.members))
        count = len(port.marks)
        while port.name is None and count and port.marks[count - 1].text in self.layout:
            count -= 1
        bits = (syntax.BitRef(mark, ()) for mark in port.marks[count:])
        return replace(port, marks=port.marks[:count], members=(*bits, *port.members))

    def check_ordinary(self, port: syntax.PortLine) -> None:
        """Rejects features that only node programs have."""
        word = port.marks[0] if port.marks else port.way
        feature = str(word) if word else "','" if port.also else "'if'" if port.where else ""
        if feature:
            hint = "; separate bits and numbers with spaces" if feature == "','" else ""
            raise WrongError(port.token, f"{feature} is only allowed in node programs, which run on graphs{hint}")

    def word(self, name: str, port: syntax.PortLine) -> Word:
        """Builds a number from its pieces, given most significant first."""
        rows, bits = self.rows(), []
        for member in reversed(port.members):
            declared = rows.declared(member, whole=True)
            if not member.parts and len(declared.shape) > 1:
                raise WrongError(member.token, f"{declared} is not a single number; choose a row, such as [1,*]")
            bits.extend(rows.pick(member, WrittenAt(""), whole=True).bits.tolist())
        if not bits:
            form = f"{port.members[0].token.text}[1..4]"
            raise WrongError(port.token, f"'{name}' has no bits; a range must ascend, as in {form}")
        if len(set(bits)) < len(bits):
            raise WrongError(port.token, f"'{name}' contains the same bit twice")
        return Word(name, tuple(bits), port.signed)

    def start(self, item: syntax.Start) -> list[int]:
        rows, origin = self.rows_of(item)
        return [int(bit) for bit in self.picks(rows, item.members, origin).bits]

    def note_all(self, problems: Iterable[tuple[str, str]]) -> None:
        """Reports problems at the last line with each keyword."""
        for word, message in problems:
            *_, token = (item.token for item in self.tree.statements if item.token.text == word)
            self.problems.append(token.problem(message))

    def count(self, item: syntax.Count) -> int:
        value = self.number(item.value)
        if value < 0:
            raise WrongError(item.token, f"{item.token.text} must be 0 or more, got {value}")
        return value

    def halt(self, item: syntax.Halt) -> int | Literal["fixed point"]:
        if item.bit is None:
            return FIXED_POINT
        bits = self.rows().pick(item.bit, WrittenAt("")).bits.tolist()
        if len(bits) != 1:
            raise WrongError(item.token, "'halt when' takes a single bit")
        return int(bits[0])

    # Helpers.

    def each(self, kind: type[Kind], word: str | None = None) -> Iterable[Kind]:
        return (s for s in self.tree.statements if isinstance(s, kind) and word in (None, s.token.text))

    def only_one(self, kind: type[Kind], word: str | None = None) -> list[Kind]:
        items = list(self.each(kind, word))
        self.problems.extend(s.token.problem(f"'{s.token.text}' may appear only once") for s in items[1:])
        return items[:1]

    def attempt(self, read: Callable[[Item], Result], item: Item) -> Result | None:
        """Returns the result of `read` for a statement; on failure, reports the problem and returns None."""
        try:
            return read(item)
        except WrongError as error:
            self.problems.append(error.problem)
            if len(self.problems) >= MAX_PROBLEMS:
                raise ProgramError([*self.problems, Problem(0, 0, TOO_MANY)]) from None
            return None

    def rows(self) -> Rows:
        return Rows(self.lets, self.layout, self.budget)

    def rows_of(self, item: syntax.Block | syntax.Cell | syntax.WhenClause | syntax.Start) -> tuple[Rows, WrittenAt]:
        rows = self.rows()
        rows.expand(item.clauses)
        return rows, WrittenAt(item.text, item.token.line, item.token.column, indices=rows.indices)

    def picks(
        self, rows: Rows, references: tuple[syntax.BitRef, ...], origin: WrittenAt, written: bool = False
    ) -> Picks:
        return _joined(rows.pick(reference, origin, written=written) for reference in references)

    def number(self, expression: Expression) -> int:
        return int(self.rows().evaluate(expression))


def _joined(parts: Iterable[Picks]) -> Picks:
    collected = [Picks(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)), *parts]
    return Picks(np.concatenate([p.rows for p in collected]), np.concatenate([p.bits for p in collected]))
