"""Parsed rule text, which builds programs at any size."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from bitwright.common.bits import shorten
from bitwright.common.errors import BitwrightError, InputError, listing, printable, suggestion
from bitwright.common.scanner import Token, opening_comment
from bitwright.rules.algorithm import Algorithm, Sizing
from bitwright.rules.expressions import Constant, Expression
from bitwright.rules.text import syntax
from bitwright.rules.text.expand import MAX_WORK, Expansion
from bitwright.rules.text.lexer import MAX_NUMBER
from bitwright.rules.text.parser import SyntaxTree, parse_statements

if TYPE_CHECKING:
    from bitwright.rules.graph.node_program import NodeProgram
    from bitwright.rules.graph.schema import Schema

_LONGEST = 1 << 20  # most characters in a cached text
_MOST, _LARGEST = 100_000, 20_000  # most templates in all cached programs of a text, and in each
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class RuleText:
    """Parsed rule text. A process parses each text once, and expands it once at each size.

    >>> rules = RuleText.of(chr(10).join(["let l = 2", "bits p[l]", "block p[*]", "when p[1]=1 write p[l]"]))
    >>> rules.numbers, rules.at({"l": 5})
    ({'l': 2}, Algorithm 'program': 5 bits, 1 block, 1 template)
    """

    text: str
    _programs: dict[tuple[tuple[str, int], ...], Algorithm] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, text: str) -> RuleText:
        """Parses a text; the methods that build programs raise its problems."""
        return _remembered(text) if len(text) <= _LONGEST else cls(text)

    def __reduce__(self) -> tuple[Any, ...]:
        return RuleText.of, (self.text,)

    @cached_property
    def tree(self) -> SyntaxTree:
        """Its valid statements, and the problems in the rest of the text."""
        return parse_statements(self.text)

    def each(self, kind: type[Kind]) -> Iterator[Kind]:
        """Returns the statements of one kind."""
        return (item for item in self.tree.statements if isinstance(item, kind))

    @property
    def description(self) -> str:
        """The comment at the top, as one paragraph."""
        return printable(opening_comment(self.text, "#"))

    # Numbers.

    @cached_property
    def lets(self) -> dict[str, Expression]:
        """The numbers that the text defines."""
        return {item.name.text: item.value for item in self.each(syntax.Let)}

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The numbers with literal values, from which the others are computed."""
        return {name: value.value for name, value in self.lets.items() if isinstance(value, Constant)}

    @cached_property
    def extents(self) -> dict[str, tuple[Expression, ...]]:
        """The dimensions of each array, empty for a single bit."""
        return {token.text: extents for item in self.each(syntax.BitsDeclaration) for token, extents in item.items}

    def mentions(self, names: Collection[str], without: Collection[str] = ()) -> set[str]:
        """Returns which of these names occur in the text, except in the `let` lines of the names in `without`.

        A name that does not occur cannot change the program. Bits and indices of the same name count too, so the result
        may contain names that have no influence, but never misses one that has.
        """
        items = self.tree.statements
        return set(names) & words_of(
            item for item in items if not (isinstance(item, syntax.Let) and item.name.text in without)
        )

    def fixed(self, values: Mapping[str, int]) -> dict[str, int]:
        """Returns which of these numbers the text uses outside their `let` lines."""
        used = words_of(item.value if isinstance(item, syntax.Let) else item for item in self.tree.statements)
        return {name: value for name, value in values.items() if name in used}

    def check_lets(self, program: str, lets: Mapping[str, int] | None) -> None:
        """Raises InputError for an invalid value, or for a name without a `let` line."""
        for name, value in (lets or {}).items():
            if not self.tree.problems and name not in self.lets:  # an invalid line may define it
                has = f"it defines {listing(list(self.lets))}" if self.lets else "it has no 'let' lines"
                raise InputError(f"{program} has no line 'let {shorten(name)}'; {has}{suggestion(name, self.lets)}")
            is_integer = isinstance(value, int) and not isinstance(value, bool)
            if not is_integer or abs(value) >= MAX_NUMBER:
                shown = shorten(value if is_integer else repr(value))
                raise InputError(f"the value of let {shorten(name)} must be an integer below 2^31, got {shown}")

    def sizing(self, name: str, lets: Mapping[str, int] | None = None) -> Sizing | None:
        """Returns the numbers of a program of this name, and the function that builds it at other sizes."""
        if not self.lets:
            return None
        return Sizing({**self.numbers, **(lets or {})}, partial(_again, self.text, name), self.text)

    # Programs.

    def at(
        self,
        lets: Mapping[str, int] | None = None,
        name: str = "program",
        work: int = MAX_WORK,
        needs_rules: bool = True,
    ) -> Algorithm:
        """Builds the algorithm, with these numbers in place of its own; raises ProgramError with all problems.

        `work` limits its rows, conditions and writes. With `needs_rules`, a text without rules is an error.
        """
        if self.tree.is_node_program:
            raise InputError("this is a node program, which runs on a graph; use parse_any")
        self.check_lets(name, lets)
        algorithm = self._programs.get(key := tuple(sorted({**self.numbers, **(lets or {})}.items())))
        if algorithm is None:
            algorithm = Expansion(self.tree, work, lets or {}, needs_rules).algorithm("program", self.description)
            if algorithm.program.templates <= _LARGEST and needs_rules:
                self._programs[key] = algorithm
                while sum(cached.program.templates for cached in self._programs.values()) > _MOST:
                    del self._programs[next(iter(self._programs))]
        return replace(algorithm, name=name, sizing=self.sizing(name, lets))

    def at_or_none(self, lets: Mapping[str, int]) -> Algorithm | None:
        """Builds the algorithm with these numbers; returns None if the text is not valid with them."""
        try:
            return self.at(lets)
        except BitwrightError:
            return None

    def schema(self, lets: Mapping[str, int], nodes: int, ports: int) -> Schema:
        """Builds a node program for graphs with this many nodes and ports; raises ProgramError with every problem."""
        from bitwright.rules.text.node_text import NodeExpansion

        return NodeExpansion(self.tree, lets, nodes, ports).schema()

    def program(self, lets: Mapping[str, int] | None = None, name: str = "program") -> Algorithm | NodeProgram:
        """Builds an algorithm, or a node program if the text uses features of node programs."""
        if not self.tree.is_node_program:
            return self.at(lets, name)
        from bitwright.rules.graph.node_program import NodeProgram

        return NodeProgram(name, self, dict(lets or {}))


_remembered = lru_cache(maxsize=16)(RuleText)


def _again(text: str, name: str, /, **lets: int) -> Algorithm | NodeProgram:
    return RuleText.of(text).program(lets, name)


def words_of(parts: Iterable[object]) -> set[str]:
    """Collects every word in parts of a syntax tree."""
    words: set[str] = set()
    queue = list(parts)
    while queue:
        part: Any = queue.pop()
        if isinstance(part, Token):
            words.add(part.text)
        elif isinstance(part, tuple | list):
            queue += part
        elif is_dataclass(part):
            queue += [getattr(part, name) for name in part.__dataclass_fields__]
    return words
