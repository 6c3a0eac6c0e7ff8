"""Kinds of cells: by their definition, at every size, and whatever things are called."""

import random
from collections.abc import Iterable
from itertools import chain

import numpy as np
import pytest
from cases import for_each
from long import LONG
from programs import EXAMPLES

from bitwright import Algorithm, InputError, Program, addition, multiplication, parse, permutation
from bitwright.rules import load
from bitwright.rules.cells import CellKinds, Cells, Kind, cell_kinds
from bitwright.rules.families import Families
from bitwright.rules.pattern import Pattern, read_pattern

Numbers = tuple[int, int, int]


def numbers(kinds: Iterable[Kind]) -> Numbers:
    """How many kinds there are, their examples K, their local states."""
    listed = list(kinds)
    return len(listed), sum(kind.templates for kind in listed), sum(kind.local_states for kind in listed)


def kinds_of(algorithm: Algorithm) -> set[Kind]:
    return set(algorithm.program.kinds.kinds)


# Which kinds arise at which sizes.


def test_every_permutation_has_one_kind() -> None:
    for bits in range(1, 41):
        order = random.Random(bits).sample(range(1, bits + 1), bits)
        assert kinds_of(permutation(order)) == {Kind(((1, (1,)),), ((0,),))}


@for_each(
    ("name", "first", "all_sizes", "from_size"),
    [
        ("addition", (1, 4, 8), (2, 8, 16), 2),
        ("addition-counter", (2, 5, 10), (3, 9, 18), 2),
        ("comparison", (2, 10, 16), (2, 10, 16), 1),
        ("gray", (1, 4, 8), (1, 4, 8), 1),
        ("multiplication", (3, 22, 214), (5, 33, 345), 2),
        ("permutation", (1, 1, 2), (1, 1, 2), 1),
        ("rule110", (1, 6, 12), (1, 6, 12), 1),
        ("subtraction", (1, 3, 6), (2, 6, 12), 2),
    ],
)
def test_examples_have_the_same_kinds_at_all_sizes(
    name: str, first: Numbers, all_sizes: Numbers, from_size: int
) -> None:
    def at(size: int) -> set[Kind]:
        return kinds_of(load(EXAMPLES / f"{name}.bw", {"w" if name == "rule110" else "l": size}))

    small = [at(size) for size in range(1, 41 if LONG else 9)]
    assert numbers(small[0]) == first
    assert numbers(small[from_size - 1]) == all_sizes
    assert all(found == small[from_size - 1] for found in small[from_size - 1 :])
    union = set.union(*small)
    assert union == small[-1]
    assert all(at(size) <= union for size in (13, 33, 64, *[*range(41, 65), 200] * LONG))


# The definition, word by word.


def by_definition(program: Program, cells: Cells) -> list[Kind | None]:
    """Of each cell: a table with the bits and configurations of each block, and its distinct non-zero columns."""
    found: list[Kind | None] = []
    for cell in range(len(cells)):
        blocks: list[tuple[int, tuple[int, ...]]] = []
        local: list[int] = []  # templates of the cell, in order
        for block in cells.members(cell).tolist():
            members = program.block_members(block).tolist()
            if cells.bit_place is not None:
                members.sort(key=lambda bit: cells.bit_place[bit])
            rows = []
            for template in np.flatnonzero(program.template_block == block).tolist():
                config = int(program.template_config[template])
                value = {bit: config >> place & 1 for place, bit in enumerate(program.block_members(block).tolist())}
                rows.append((sum(value[bit] << place for place, bit in enumerate(members)), template))
            if rows:
                rows.sort()
                blocks.append((len(members), tuple(config for config, _ in rows)))
                local += [template for _, template in rows]
        columns = {
            tuple(number for number, template in enumerate(local) if bit in program.writes(template))
            for bit in range(program.bits)
        } - {()}
        found.append(Kind(tuple(blocks), tuple(sorted(columns))) if blocks else None)
    return found


def check_against_the_definition(program: Program, cells: Cells) -> CellKinds:
    found, wanted = cell_kinds(program, cells), by_definition(program, cells)
    assert found.kinds == tuple(sorted({kind for kind in wanted if kind is not None}))
    assert [None if kind < 0 else found.kinds[kind] for kind in found.of.tolist()] == wanted
    assert found.counts.tolist() == [wanted.count(kind) for kind in found.kinds]
    wires = set(zip(found.wire_cell.tolist(), found.wire_port.tolist(), found.wire_bit.tolist(), strict=True))
    assert len(wires) == len(found.wire_cell)
    # A template sets just the bits to which the ports that it writes are wired.
    for template in range(program.templates):
        cell = int(cells.of_block[program.template_block[template]])
        number = int(found.template[template])
        assert found.order[found.first_template[cell] + number] == template
        ports = {port for port, of in enumerate(found.kinds[found.of[cell]].ports) if number in of}
        assert {bit for x, port, bit in wires if x == cell and port in ports} == set(program.writes(template).tolist())
    return found


def random_program(rng: random.Random) -> Program:
    names = [f"x[{bit}]" for bit in range(1, rng.choice((1, 3, 9, 14)) + 1)]
    shuffled, blocks = rng.sample(names, len(names)), []
    while shuffled:
        size = rng.choice((1, 1, 1, 2, 3))
        blocks.append(shuffled[:size])
        shuffled = shuffled[size:]
    written = [rng.sample(names, rng.randint(1, min(3, len(names)))) for _ in range(2)]  # so that columns repeat
    templates = [
        (number, config, rng.choice(written))
        for number, block in enumerate(blocks)
        for config in rng.sample(range(1 << len(block)), rng.randint(0, 2))
    ]
    return Program.from_tables(names, blocks, templates or [(0, 1, names[:1])])


def random_cells(rng: random.Random, program: Program) -> Cells:
    blocks = rng.sample(range(program.blocks), program.blocks)
    cuts = sorted(rng.sample(range(1, program.blocks), rng.randint(0, program.blocks - 1)))
    start = np.array([0, *cuts, program.blocks])
    count = len(start) - 1
    place = None
    if rng.random() < 0.5:
        place = np.empty(program.bits, dtype=np.int64)
        for block in range(program.blocks):
            members = program.block_members(block)
            place[members] = rng.sample(range(len(members)), len(members))
    families = Families(np.zeros(count, dtype=np.int64), np.arange(count), ("cell",), ("line 1",))
    return Cells(start, np.array(blocks), families, place)


def test_kinds_are_what_their_definition_says() -> None:
    rng = random.Random(16)
    shared = 0
    for _ in range(300 if LONG else 100):
        program = random_program(rng)
        for cells in (program.cells, random_cells(rng, program)):
            shared += bool((check_against_the_definition(program, cells).counts > 1).any())
    assert shared > 30  # programs in which cells have a kind in common


@pytest.mark.parametrize("tile", [1, 2, 3])
def test_kinds_of_the_algorithms_are_what_their_definition_says(tile: int) -> None:
    for algorithm in (addition(5, counter=True), multiplication(3), load(EXAMPLES / "rule110.bw", {"w": 5})):
        check_against_the_definition(algorithm.program, algorithm.program.cells.tiled(tile))


def test_a_cell_without_templates_is_of_no_kind() -> None:
    program = parse("bits p q\nblock p\nblock q\nwhen p=1 write q\ncell p\ncell q").program
    assert program.kinds.of.tolist() == [0, -1]
    assert program.kinds.counts.tolist() == [1]


# Names, declarations and orders.

ROWS = """\
let l = 6
bits {bits}
block a[i] b[i] for i in 1..l
block borrow[i] for i in 1..l
when a[i]=1 b[i]=0 write a[i]           for i in 1..l
when a[i]=0 b[i]=1 write a[i] borrow[i] for i in 1..l
when borrow[i]=1   write b[i+1]         for i in 1..l-1
when borrow[l]=1   write borrow[l]
cell a[i] borrow[i] for i in 1..l
"""


def test_the_order_of_declarations_does_not_count() -> None:
    orders = ("a[l] b[l] borrow[l]", "borrow[l] b[l] a[l]", "b[l] a[l]\nbits borrow[l]", "b[l] borrow[l] a[l]")
    programs = [parse(ROWS.format(bits=order)).program for order in orders]
    assert len({program.id for program in programs}) == len(orders)
    assert len({program.kinds.kinds for program in programs}) == 1
    assert programs[0].kinds.kinds == load(EXAMPLES / "subtraction.bw").program.kinds.kinds


def test_names_do_not_count() -> None:
    text = ROWS.format(bits="a[l] b[l] borrow[l]")
    renamed = text.replace("borrow", "zz").replace("a[", "xx[").replace("b[", "aa[")
    assert parse(renamed).program.kinds.kinds == parse(text).program.kinds.kinds


RING = """\
let w = 8
bits x[w]
block x[i] for i in 1..w
when x[2*i]=1 write x[(2*i)%w+1] for i in 1..w//2
when x[(2*i)%w+1]=1 write x[2*i] x[(2*i)%w+1] for i in 1..w//2
"""


def test_a_ring_has_one_kind_across_its_seam_when_cells_name_their_blocks_in_one_order() -> None:
    right = parse(RING + "cell x[2*i] x[(2*i)%w+1] for i in 1..w//2").program  # the last cell is x[8] x[1]
    assert right.cells.members(3).tolist() == [7, 0]
    assert numbers(right.kinds.kinds) == (1, 2, 4)
    declared = parse(RING + "cell x[2*i] x[2*i+1] for i in 1..w//2-1\ncell x[1] x[w]").program
    assert len(declared.kinds.kinds) == 2


# Tiles.


@for_each("bits", [1, 2, 3, 7, 8, 9])
@for_each("tile", [1, 2, 3, 4, 20])
def test_tiles_are_neighbours_and_the_last_takes_what_is_left(bits: int, tile: int) -> None:
    cells = addition(bits, counter=True).program.cells
    tiled = cells.tiled(tile)
    for family in range(2):
        line = [cells.members(cell).tolist() for cell in cells.families.members(family)]
        wanted = [list(chain.from_iterable(line[at : at + tile])) for at in range(0, len(line), tile)]
        mine = tiled.families.members(family)
        assert [tiled.members(cell).tolist() for cell in mine] == wanted
        assert tiled.families.index[mine].tolist() == list(range(len(wanted)))
    assert tiled.families.labels == cells.families.labels
    assert sorted(tiled.blocks.tolist()) == list(range(len(cells.blocks)))


def test_a_tile_has_at_least_one_cell() -> None:
    with pytest.raises(InputError, match=r"least.*1.*0"):
        addition(3).program.cells.tiled(0)


# Patterns.


@pytest.mark.parametrize("tile", [1, 2])
def test_a_pattern_is_read_back_from_its_own_text(tile: int) -> None:
    for algorithm in (addition(4), multiplication(2), load(EXAMPLES / "rule110.bw", {"w": 4})):
        program = algorithm.program
        pattern = Pattern.of(cell_kinds(program, program.cells.tiled(tile)).kinds)
        small = pattern.program
        texts = [small.template_text(template) for template in range(small.templates)]
        assert read_pattern(list(small.layout.names), texts) == pattern
        assert read_pattern(list(small.layout.names), texts[:-1]) != pattern
        assert small.templates == sum(kind.templates for kind in pattern.kinds)


def test_the_text_of_another_program_is_no_pattern() -> None:
    program = addition(3).program
    texts = [program.template_text(template) for template in range(program.templates)]
    assert read_pattern(list(program.layout.names), texts) is None
    assert read_pattern([], []) is None


def test_one_cell_of_each_kind_is_of_that_kind() -> None:
    """The pattern's program, grouped by kind, has the kinds it was made of."""
    pattern = Pattern.of(multiplication(3).program.kinds.kinds)
    small = pattern.program
    lines = []
    for number, kind in enumerate(pattern.kinds, 1):
        blocks = " ".join(f"kind{number}_block{place}[1]" for place in range(1, len(kind.blocks) + 1))
        lines += [f"cell {blocks}", *(f"cell kind{number}_port[{port}]" for port in range(1, len(kind.ports) + 1))]
    grouped = parse("\n".join([*small.text_lines(), *lines])).program
    assert grouped.kinds.kinds == pattern.kinds
