"""The `cell` lines of rule text, and what a Builder and `check` say of cells."""

from __future__ import annotations

import pytest

from bitwright import Algorithm, Builder, ProgramError, addition, multiplication, parse
from bitwright.machines.subleq import DIALECTS, Shape, machine_v
from bitwright.program import parse_node_program, span
from bitwright.program.cells import check_same_order
from bitwright.program.text.doubts import doubts

ADDITION = """\
let l = 4
bits p[l] q[l] c[l]
block p[i] q[i] for i in 1..l
block c[i] for i in 1..l
when p[i]!=q[i] write p[i] for i in 1..l
when p[i]=1 q[i]=1 write c[i] for i in 1..l
when c[i]=1 write q[i+1] for i in 1..l-1
when c[l]=1 write c[l]
input p q
"""


def named_cells(algorithm: Algorithm) -> list[list[list[str]]]:
    """The bits of each block of each cell."""
    program = algorithm.program
    cells = program.cells
    return [[program.block_names(block) for block in cells.members(cell).tolist()] for cell in range(len(cells))]


def test_a_cell_has_the_blocks_of_its_bits_in_the_order_in_which_they_are_named() -> None:
    assert named_cells(parse(ADDITION + "cell c[i] q[i] p[i] for i in 1..l"))[:2] == [
        [["c[1]"], ["p[1]", "q[1]"]],
        [["c[2]"], ["p[2]", "q[2]"]],
    ]


def test_without_cell_lines_every_block_is_a_cell() -> None:
    algorithm = parse(ADDITION)
    assert algorithm.program.grouped is None
    assert named_cells(algorithm) == [[algorithm.program.block_names(b)] for b in range(algorithm.program.blocks)]


def test_for_and_if_choose_rows_as_for_blocks() -> None:
    text = ADDITION + "cell p[i] c[i] p[i+1] c[i+1] for i in 1..l if i % 2 = 1"
    assert [len(cell) for cell in named_cells(parse(text))] == [4, 4]


def test_a_line_is_a_family_of_cells() -> None:
    families = parse(ADDITION + "cell p[i] for i in 1..l\ncell c[i] for i in 1..l").program.cells.families
    assert families.labels == ("cell p[i] for i in 1..l", "cell c[i] for i in 1..l")
    assert families.places == ("line 10", "line 11")
    assert families.of.tolist() == [0] * 4 + [1] * 4
    assert families.index.tolist() == [0, 1, 2, 3] * 2


def test_cells_count_neither_in_the_id_nor_in_equality() -> None:
    plain, grouped = parse(ADDITION), parse(ADDITION + "cell p[i] c[i] for i in 1..l")
    assert plain.program == grouped.program
    assert plain.program.id == grouped.program.id


def test_the_canonical_text_names_every_bit_of_every_cell_in_order() -> None:
    plain, grouped = parse(ADDITION), parse(ADDITION + "cell c[i] q[i] for i in 1..l")
    lines = ["cell c[1] q[1] p[1]", "cell c[2] q[2] p[2]", "cell c[3] q[3] p[3]", "cell c[4] q[4] p[4]"]
    assert [line for line in grouped.text_lines() if line.startswith("cell ")] == lines
    assert [line for line in grouped.text_lines() if line not in lines] == list(plain.text_lines())
    again = parse(grouped.text())
    assert again.text() == grouped.text()
    assert again.program.kinds.kinds == grouped.program.kinds.kinds != plain.program.kinds.kinds


@pytest.mark.parametrize(
    "algorithm", [addition(3), multiplication(2), Algorithm("V", machine_v(Shape(8, 5, DIALECTS["plain"])).program)]
)
def test_text_keeps_the_kinds_of_cells(algorithm: Algorithm) -> None:
    again = parse(algorithm.text()).program
    assert again.kinds.kinds == algorithm.program.kinds.kinds
    assert again.grouped is not None


def test_the_text_of_a_node_program_keeps_its_cells() -> None:
    text = "bits x y z\nblock x y\nblock z\ncell z y\nwhen y=1 write far.x z\nwhen z=1 write y far.x"
    program = parse_node_program(text)
    assert "cell z y x" in list(program.text_lines())
    again = parse_node_program(program.text())
    assert again.text() == program.text()
    assert again.kinds == program.kinds


def test_a_builder_names_its_line() -> None:
    b = Builder()
    p, i = b.bits("p", 3), span(1, 3)
    b.block(p[i])
    b.when(p[i] == 1).write(p[i])
    b.cell(p[1], p[2])
    b.cell(p[2])
    with pytest.raises(ProgramError) as refusal:
        b.build()
    messages = [problem.message for problem in refusal.value.problems]
    assert messages[0] == "the block p[3] is in no cell; add a 'cell' for it"
    assert messages[1].startswith("the block p[2] is in two cells; test_cell_lines.py:")


# Cells that nearly agree.

SWAPPED = "cell p[1] c[1]\ncell p[2] c[2]\ncell c[3] p[3]\ncell p[4] c[4]"


def test_check_names_two_cells_that_differ_only_in_order() -> None:
    text = ADDITION + SWAPPED
    (doubt,) = (doubt for doubt in doubts(text, parse(text)) if "cells" in doubt.message)
    assert str(doubt) == (
        "12:1: the cells p[1], c[1] and c[3], p[3] differ only in the order of their blocks, and so are of two kinds; "
        "name their blocks in one order"
    )


@pytest.mark.parametrize("cells", ["", "cell p[i] c[i] for i in 1..l", "cell c[i] p[i] for i in 1..l"])
def test_no_warning_where_the_order_is_the_same(cells: str) -> None:
    assert not [doubt for doubt in doubts(ADDITION + cells, parse(ADDITION + cells)) if "cells" in doubt.message]


def kinds_of(rules: str) -> Algorithm:
    """Two cells of three one-bit blocks; the first cell writes as `rules` say, the second by its own."""
    head = "bits x[3] y[3] t[9]\nblock x[i] for i in 1..3\nblock y[i] for i in 1..3\nblock t[i] for i in 1..9\n"
    return parse(head + rules + "\ncell x[*]\ncell y[*]\ncell t[i] for i in 1..9")


def test_kinds_that_only_look_alike_block_by_block_are_not_called_the_same() -> None:
    # x: two ports shared in a row (1-2, 2-3); y: the same in another order (1-2, 1-3).
    chain = "when x[1]=1 write t[1]\nwhen x[2]=1 write t[1] t[2]\nwhen x[3]=1 write t[2]\n"
    other = "when y[1]=1 write t[3] t[4]\nwhen y[2]=1 write t[3]\nwhen y[3]=1 write t[4]"
    assert check_same_order(kinds_of(chain + other).program.kinds.kinds) is not None
    different = "when y[1]=1 write t[3] t[4]\nwhen y[2]=1 write t[3] t[4]\nwhen y[3]=1 write t[5]"
    assert check_same_order(kinds_of(chain + different).program.kinds.kinds) is None


def test_symmetric_blocks_are_tried_in_every_order() -> None:
    """Rings of six blocks that look alike one by one: one ring of six is not two of three, whatever the order."""

    def ring(name: str, pairs: list[tuple[int, int]], first: int) -> str:
        lines = []
        for block in range(1, 7):
            ports = [first + at for at, pair in enumerate(pairs) if block in pair]
            lines.append(f"when {name}[{block}]=1 write {' '.join(f't[{port}]' for port in ports)}")
        return "\n".join(lines) + "\n"

    def program(*rings: list[tuple[int, int]]) -> Algorithm:
        head = "bits x[6] y[6] t[12]\nblock x[i] for i in 1..6\nblock y[i] for i in 1..6\nblock t[i] for i in 1..12\n"
        rules = "".join(ring(name, pairs, first) for name, pairs, first in zip("xy", rings, (1, 7), strict=True))
        return parse(head + rules + "cell x[*]\ncell y[*]\ncell t[i] for i in 1..12")

    six = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (1, 6)]
    shuffled = [(1, 4), (4, 2), (2, 6), (6, 3), (3, 5), (5, 1)]
    two_of_three = [(1, 2), (2, 3), (1, 3), (4, 5), (5, 6), (4, 6)]
    assert check_same_order(program(six, shuffled).program.kinds.kinds) is not None
    assert check_same_order(program(six, two_of_three).program.kinds.kinds) is None


def test_check_names_a_line_whose_cells_mix_families() -> None:
    """Blocks of one and of two bits in one line; blocks alike from several lines are no reason to warn."""
    head = "bits p[4] q\nblock p[1]\nblock p[2]\nblock p[3] p[4]\nblock q\nwhen p[1]=1 write p[2]\nwhen q=1 write q\n"
    head += "when p[2]=1 write p[1]\nwhen p[3]=1 p[4]=1 write p[3]\ninput p q\n"
    text = head + "cell p[i] for i in 1..3\ncell q"
    (doubt,) = (doubt for doubt in doubts(text, parse(text)) if "cells" in doubt.message)
    assert str(doubt) == (
        "11:1: the cells p[1] and p[3], p[4] of this line mix families of blocks (1 bit; 2 bits), and so cannot be of "
        "one kind; give them lines of their own"
    )
    more = head + "cell p[1]\ncell p[i] q for i in 2..2\ncell p[3]"
    assert not [doubt for doubt in doubts(more, parse(more)) if "mix" in doubt.message]
    count = ADDITION + "cell p[i] c[i] for i in 2..l\ncell p[1]\ncell c[1]"
    assert not [doubt for doubt in doubts(count, parse(count)) if "mix" in doubt.message]
