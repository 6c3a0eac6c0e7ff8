"""The `cell` lines of rule text, and what a Builder and `check` say of cells."""

import pytest

from bitwright import Algorithm, Builder, ProgramError, addition, multiplication, parse
from bitwright.machines.subleq import DIALECTS, Shape, machine_v
from bitwright.rules import parse_node_program, span

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
    assert messages[0] == "the block p[3] is not in any cell; add a 'cell' for it"
    assert messages[1].startswith("the block p[2] is in two cells; test_cell_lines.py:")
