from dataclasses import dataclass
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from long import LONG

from bitwright.rules import FIXED_POINT, Algorithm, Builder, Layout, Program, Word, parse
from bitwright.rules.assemble import BitFamily, Picks, RuleFamily, WrittenAt, assemble

NAMES = ["p", "q", "flag", "a1", "_x", "Carry", "in_", "fort", "x" * 64]
Template = tuple[int, tuple[int, ...], tuple[int, ...]]  # block, the values of its bits, the bits it writes


@dataclass(frozen=True)
class Sketch:
    """A program as plain Python: shapes by name, blocks as lists of bits, templates."""

    shapes: list[tuple[str, tuple[int, ...]]]
    blocks: list[list[int]]
    templates: list[Template]
    spelled: list[list[int]]  # for each template, the places of its block that the rule names

    @property
    def size(self) -> int:
        return sum(len(block) for block in self.blocks)

    def families(self) -> tuple[list[BitFamily], list[RuleFamily]]:
        blocks = [BitFamily(1, _picks(block), WrittenAt("block")) for block in self.blocks]
        rules = [
            RuleFamily(
                1,
                _picks([self.blocks[block][place] for place in places]),
                np.array([values[place] for place in places]),
                _picks(writes),
                WrittenAt("when"),
            )
            for (block, values, writes), places in zip(self.templates, self.spelled, strict=True)
        ]
        return blocks, rules

    def assembled(self) -> Program:
        return assemble(Layout.of(self.shapes), *self.families())

    def built(self) -> Program:
        builder, refs = Builder(), []
        for name, shape in self.shapes:
            if shape:
                bits = builder.bits(name, *shape)
                refs += [bits[tuple(int(i) + 1 for i in at)] for at in np.ndindex(*shape)]
            else:
                refs.append(builder.bit(name))
        for block in self.blocks:
            builder.block(*(refs[bit] for bit in block))
        for (block, values, writes), places in zip(self.templates, self.spelled, strict=True):
            conditions = [refs[self.blocks[block][place]] == values[place] for place in places]
            builder.when(*conditions).write(*(refs[bit] for bit in writes))
        return builder.build()

    def matched(self, state: np.ndarray) -> set[tuple[frozenset[tuple[int, bool]], frozenset[int]]]:
        """Eq. (5) word for word: each template whose block holds exactly its configuration."""
        return {
            (frozenset((bit, bool(state[bit])) for bit in self.blocks[block]), frozenset(writes))
            for block, values, writes in self.templates
            if all(state[bit] == value for bit, value in zip(self.blocks[block], values, strict=True))
        }


def _picks(bits: list[int] | tuple[int, ...]) -> Picks:
    return Picks(np.zeros(len(bits), dtype=np.int64), np.array(bits, dtype=np.int64))


@st.composite
def sketches(draw: st.DrawFn) -> Sketch:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=4))
    shapes = [(name, tuple(draw(st.lists(st.integers(1, 5), max_size=2)))) for name in names]
    size = sum(int(np.prod(shape)) for _, shape in shapes)
    order = draw(st.permutations(range(size)))
    blocks: list[list[int]] = []
    while order:
        length = min(len(order), draw(st.sampled_from([1, 1, 2, 2, 3, 5, 8, 16])))
        blocks.append(order[:length])
        order = order[length:]
    templates: list[Template] = []
    spelled: list[list[int]] = []
    for number, block in enumerate(blocks):
        fewest = 1 if number == len(blocks) - 1 and not templates else 0
        configs = draw(st.sets(st.just(0) | st.integers(0, 2 ** len(block) - 1), min_size=fewest, max_size=5))
        for config in configs:
            values = tuple(config >> place & 1 for place in range(len(block)))
            writes = tuple(draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=4)))
            templates.append((number, values, writes))
            ones = {place for place, value in enumerate(values) if value}
            named = ones | draw(st.sets(st.integers(0, len(block) - 1), min_size=not ones, max_size=3))
            spelled.append(sorted(named))
    return Sketch(shapes, blocks, templates, spelled)


@st.composite
def states(draw: st.DrawFn, sketch: Sketch) -> np.ndarray:
    """A state in which about half the blocks hold the configuration of some template."""
    state = np.array(draw(st.lists(st.booleans(), min_size=sketch.size, max_size=sketch.size)))
    for block, values, _ in draw(st.lists(st.sampled_from(sketch.templates), max_size=6)):
        state[sketch.blocks[block]] = values
    return state


@st.composite
def algorithms(draw: st.DrawFn) -> Algorithm:
    program = draw(sketches()).assembled()
    names = st.sampled_from(["a", "b", "p", "value", "sum_1"])
    used: set[int] = set()
    inputs = []
    for name in draw(st.lists(names, unique=True, max_size=2)):
        free = sorted(set(range(program.bits)) - used)
        if free:
            inputs.append(Word(name, tuple(draw(st.lists(st.sampled_from(free), unique=True, min_size=1, max_size=5)))))
            used |= set(inputs[-1].bits)
    bits = st.integers(0, program.bits - 1)
    outputs = [
        Word(name, tuple(draw(st.lists(bits, unique=True, min_size=1, max_size=5))))
        for name in draw(st.lists(names, unique=True, min_size=1, max_size=3))
    ]
    return Algorithm(
        name="random",
        program=program,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        start=tuple(sorted(draw(st.sets(bits, max_size=4)) - used)),
        steps=draw(st.none() | st.integers(0, 2**31 - 1)),
        halt=draw(st.none() | st.just(FIXED_POINT) | bits),
        matches=draw(st.none() | st.integers(program.blocks, 2**31 - 1)),
        examples=draw(st.none() | st.integers(program.templates, 10**9)),
    )


@settings(max_examples=100 if LONG else 30)
@given(algorithms())
def test_the_text_of_an_algorithm_gives_it_back(algorithm: Algorithm) -> None:
    again = parse(algorithm.text())
    assert again.same_as(algorithm)
    assert again.program.id == algorithm.program.id
    assert again.text() == algorithm.text()


@settings(max_examples=60 if LONG else 20)
@given(sketches(), st.randoms(use_true_random=False))
def test_the_same_program_comes_from_the_builder_from_assemble_and_from_its_lines_in_any_order(
    sketch: Sketch, random: Random
) -> None:
    program = sketch.assembled()
    assert sketch.built() == program
    lines = [line.split() for line in program.text_lines()]
    declared = [line for line in lines if line[0] == "bits"]
    blocks = [["block", *random.sample(line[1:], len(line) - 1)] for line in lines if line[0] == "block"]
    others = blocks + [line for line in lines if line[0] == "when"]
    random.shuffle(others)
    assert parse("\n".join(map(" ".join, declared + others))).program == program


@settings(max_examples=150 if LONG else 40)
@given(st.data())
def test_matching_is_its_definition(data: st.DataObject) -> None:
    sketch = data.draw(sketches())
    program = sketch.assembled()
    for state in data.draw(st.lists(states(sketch), min_size=1, max_size=4)):
        found = program.match(state).tolist()
        assert found == sorted(set(found))
        described = {
            (
                frozenset((bit, bool(state[bit])) for bit in program.block_members(program.template_block[t]).tolist()),
                frozenset(program.writes(t).tolist()),
            )
            for t in found
        }
        assert described == sketch.matched(state)
        assert len(found) == len(described)


# Whatever the text, the answer is an algorithm or a list of problems.
