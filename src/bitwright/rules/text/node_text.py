"""Expands the rule text of node programs, which adds bits in three places, paths and chains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np

from bitwright.common.scanner import WrongError
from bitwright.rules.algorithm import FIXED_POINT, Word
from bitwright.rules.assemble import BitFamily, Picks, RuleFamily
from bitwright.rules.families import NumberedRows, WrittenAt
from bitwright.rules.graph.schema import NodeWord, Place, Schema
from bitwright.rules.layout import Layout
from bitwright.rules.text import syntax
from bitwright.rules.text.expand import MAX_WORK, Expansion
from bitwright.rules.text.parser import COMPASS, SyntaxTree

# Allowed writes: start place, path, target place.
REACH = {
    ("node", "", "node"), ("node", "", "whole"), ("port", "", "node"), ("port", "", "port"), ("port", "", "whole"),
    ("whole", "", "whole"), ("node", "far", "node"), ("node", "far", "port"), ("port", "far", "node"),
    ("port", "far", "port"), ("node", "back", "node"), ("node", "back", "port"), ("node", "all", "port"),
    ("port", "all", "port"), ("node", "far.all", "port"), ("port", "far.all", "port"), ("node", "next", "port"),
    ("port", "next", "port"), ("whole", "every", "node"), ("whole", "every", "port"),
}  # fmt: skip
BOARDS = {("node", ".".join(way), "node") for way in COMPASS}
REACH |= BOARDS
PLACES: tuple[Place, ...] = ("node", "port", "whole")


class NodeExpansion(Expansion):
    rest_as_cells = True  # targets with a path belong to no cell

    def __init__(self, tree: SyntaxTree, lets: Mapping[str, int], nodes: int, ports: int) -> None:
        super().__init__(tree, MAX_WORK, lets)
        self.lets |= {"nodes": nodes, "ports": ports}
        self.place: dict[str, Place] = {}
        self.targets: list[tuple[str, int]] = []

    def schema(self) -> Schema:
        self.let_values()
        self.declare_bits()
        parts = self.parts()
        inputs, outputs, start, counts, halt = self.ports_and_ends(self.node_words, self.node_words)
        for count in self.each(syntax.Count):
            if count.token.text != "steps":
                self.problems.append(count.token.problem(f"'{count.token.text}' is not allowed in node programs"))
        for line in self.each(syntax.Ensure):
            self.problems.append(line.token.problem(f"'{line.token.text}' is not allowed in node programs"))
        chains: dict[int, int] = {}
        for link in self.each(syntax.Chain):
            self.attempt(lambda chain: self.chain(chain, chains), link)
        requires, degree = self.required()
        program = self.assemble(*parts)
        return Schema(
            program=program,
            places=tuple(self.place[field.name] for field in self.layout.fields if "." not in field.name),
            targets=tuple(self.targets),
            chains=chains,
            inputs=tuple(inputs),
            outputs=tuple(outputs) or self.every_word(),
            start=start,
            steps=counts["steps"],
            halt=FIXED_POINT if halt is None and counts["steps"] is None else halt,
            requires=requires,
            degree=degree,
        )

    def let(self, item: syntax.Let) -> None:
        if item.name.text in ("nodes", "ports"):
            message = f"'{item.name.text}' is the number of {item.name.text} in the graph; choose another name"
            raise WrongError(item.name, message)
        super().let(item)

    # Bits by place, and a bit for every target with a path.

    def declare_bits(self) -> None:
        super().declare_bits()
        for item in self.each(syntax.BitsDeclaration):
            for token, _ in item.items:
                self.place.setdefault(token.text, item.place)  # type: ignore[arg-type]
        declared = [(field.name, field.shape) for field in self.layout.fields]
        used: dict[str, tuple[int, ...]] = {}
        for reference in self.references():
            if reference.path and reference.token.text in self.layout:
                path, field = ".".join(reference.path), self.layout[reference.token.text]
                if reference.key not in used:
                    used[reference.key] = field.shape
                    self.targets += [(path, bit) for bit in field.bits().tolist()]
        self.layout = Layout.of([*declared, *used.items()])

    def references(self) -> Iterable[syntax.BitRef]:
        for item in self.tree.statements:
            if isinstance(item, syntax.WhenClause):
                yield from item.targets
            elif isinstance(item, syntax.PortLine):
                yield from item.also

    @property
    def declared_count(self) -> int:
        """The number of declared bits."""
        return self.layout.size - len(self.targets)

    def place_of(self, bit: int) -> Place:
        return self.place[self.layout.field_of(bit).name]

    def more_blocks(self) -> list[BitFamily]:
        count = len(self.targets)
        return [BitFamily(count, Picks(np.arange(count), self.declared_count + np.arange(count)), WrittenAt("targets"))]

    def check_places(self, blocks: Sequence[BitFamily], rules: Sequence[RuleFamily]) -> None:
        number = np.array([PLACES.index(self.place_of(bit)) for bit in range(self.declared_count)], dtype=np.int64)
        for family in blocks:
            places = number[family.members.bits]
            first = np.zeros(family.count, dtype=np.int64)
            first[family.members.rows[::-1]] = places[::-1]
            if len(mixed := np.flatnonzero(places != first[family.members.rows])):
                self.note(
                    family,
                    int(family.members.rows[mixed[0]]),
                    "the bits of a block must all be in one place: node, port or whole",
                )
        for rule in rules:
            home = np.zeros(rule.count, dtype=np.int64)
            home[rule.when.rows[::-1]] = number[rule.when.bits[::-1]]
            seen: set[tuple[int, int]] = set()
            for row, bit in zip(rule.write.rows.tolist(), rule.write.bits.tolist(), strict=True):
                path, reached = self.targets[bit - self.declared_count] if bit >= self.declared_count else ("", bit)
                if (int(home[row]), bit) in seen:
                    continue
                seen.add((int(home[row]), bit))
                start, end = PLACES[home[row]], self.place_of(reached)
                if (start, path, end) not in REACH:
                    self.note(rule, row, _cannot(start, path, end, self.layout.name_of(reached)))
                    break

    def cells(self, item: syntax.Cell) -> list[BitFamily]:
        cells = super().cells(item)
        for family in cells:
            first: dict[int, Place] = {}
            for row, bit in zip(family.members.rows.tolist(), family.members.bits.tolist(), strict=True):
                if first.setdefault(row, self.place_of(bit)) != self.place_of(bit):
                    raise WrongError(item.token, "the blocks of a cell must all be in one place: node, port or whole")
        return cells

    def note(self, family: BitFamily | RuleFamily, row: int, message: str) -> None:
        self.problems.append(NumberedRows([(family.count, family.origin)]).problem(row, message))

    # Inputs, outputs and requirements on the graph.

    def node_words(self, port: syntax.PortLine) -> list[NodeWord]:
        port = self.with_bits(port)
        plain = syntax.PortLine(port.token, port.name, port.members, port.signed)
        found = super().inputs(plain) if port.token.text == "input" else super().output(plain)
        _check_word(port, found)
        where = None if port.where is None else self.single(port.where, "'if' takes a single bit")
        words = []
        for word in found:
            place = self.one_place(port, word.bits)
            also = [bit for reference in port.also for bit in self.also(place, reference)]
            if where is not None and self.place_of(where) != place:
                raise WrongError(port.token, f"'{word.name}' and the bit after 'if' must be in the same place")
            marks = {mark.text for mark in port.marks}
            if marks & {"unique", "one"} and place != "node":
                raise WrongError(port.token, "only inputs at nodes can be 'unique' or 'one'")
            words.append(
                NodeWord(
                    word.name,
                    place,
                    word.bits,
                    word.signed,
                    "unique" in marks,
                    tuple(also),
                    where,
                    port.way.text if port.way else "",  # type: ignore[arg-type]
                    "positive" in marks,
                    "one" in marks,
                )
            )
        return words

    def also(self, place: Place, reference: syntax.BitRef) -> list[int]:
        """Returns the additional bits that a one-bit input sets."""
        found: list[int] = self.picks(self.rows(), (reference,), WrittenAt(""), written=True).bits.tolist()
        for bit in found:
            path, reached = self.targets[bit - self.declared_count] if bit >= self.declared_count else ("", bit)
            if (place, path, self.place_of(reached)) not in REACH:
                who = {"node": "a node input", "port": "a port input", "whole": "an input of the whole graph"}
                message = _cannot(place, path, self.place_of(reached), self.layout.name_of(reached), who, "set")
                raise WrongError(reference.token, message)
        return found

    def one_place(self, port: syntax.PortLine, bits: Iterable[int]) -> Place:
        places = {self.place_of(bit) for bit in bits}
        if len(places) != 1:
            raise WrongError(port.token, "the bits of a number must all be in one place: node, port or whole")
        return places.pop()

    def every_word(self) -> tuple[NodeWord, ...]:
        """Returns every number and flag, the outputs of a text that declares none."""
        fields = (field for field in self.layout.fields if len(field.shape) <= 1 and "." not in field.name)
        return tuple(NodeWord(field.name, self.place[field.name], tuple(field.bits().tolist())) for field in fields)

    def halt(self, item: syntax.Halt) -> int | Literal["fixed point"]:
        bit = super().halt(item)
        if isinstance(bit, int) and self.place_of(bit) != "whole":
            raise WrongError(item.token, "'halt when' takes a bit of the whole graph; declare it with 'whole bits'")
        return bit

    def chain(self, item: syntax.Chain, chains: dict[int, int]) -> None:
        link, end = (self.single(bit, "a chain connects single bits") for bit in (item.link, item.end))
        if (self.place_of(link), self.place_of(end)) != ("port", "node"):
            raise WrongError(item.token, "a chain leads from a port bit to a node bit")
        if link in chains:
            ends = self.layout.name_of(chains[link])
            raise WrongError(item.token, f"the chain from {self.layout.name_of(link)} already ends in {ends}")
        chains[link] = end

    def single(self, reference: syntax.BitRef, message: str) -> int:
        bits = self.rows().pick(reference, WrittenAt("")).bits.tolist()
        if len(bits) != 1:
            raise WrongError(reference.token, message)
        return int(bits[0])

    def required(self) -> tuple[frozenset[str], int | None]:
        words: set[str] = set()
        degree = None
        for item in self.each(syntax.GraphLine):
            for word in item.words:
                if word.text in words:
                    self.problems.append(word.problem(f"{word} may appear only once"))
                words.add(word.text)
            if item.degree is not None:
                degree = self.attempt(self.number, item.degree)
                if degree is not None and degree < 0:
                    self.problems.append(item.token.problem(f"degree must be 0 or more, got {degree}"))
        return frozenset(words - {"degree"}), degree


def _check_word(port: syntax.PortLine, found: Sequence[Word]) -> None:
    """Rejects attributes that an input or output cannot have."""
    output = port.token.text == "output"
    problem = None
    marks = {mark.text for mark in port.marks}
    if output and marks:
        problem = f"{port.marks[0]} is only allowed for inputs"
    elif port.also and (output or len(found) != 1 or len(found[0].bits) != 1):
        problem = "only a one-bit input can set additional bits"
    elif port.where and not output:
        problem = "'if' is only allowed for outputs"
    elif port.way and port.way.text == "place" and port.signed:
        problem = "'place' counts from 1, so the number cannot be signed"
    elif "positive" in marks and port.signed:
        problem = "an input cannot be both 'positive' and 'signed'"
    elif "one" in marks and (len(found) != 1 or len(found[0].bits) != 1):
        problem = "'one' takes a one-bit input, which is set at a single node"
    if problem:
        raise WrongError(port.token, problem)


_RULES = {"node": "a node rule", "port": "a port rule", "whole": "a rule of the whole graph"}


def _cannot(
    start: Place, path: str, end: Place, name: str, who: Mapping[str, str] = _RULES, verb: str = "write"
) -> str:
    """Explains why a rule or an input cannot write a bit, and what is allowed instead."""
    bits = {"node": "a node bit", "port": "a port bit", "whole": "a bit of the whole graph"}
    allowed = [
        ".".join(filter(None, (way, name))) for begin, way, to in sorted(REACH - BOARDS) if (begin, to) == (start, end)
    ]
    written = ".".join(filter(None, (path, name)))
    instead = f"; {verb} {' or '.join(allowed)}" if allowed else ""
    return f"{who[start]} cannot {verb} {written}, because {name} is {bits[end]}{instead}"
