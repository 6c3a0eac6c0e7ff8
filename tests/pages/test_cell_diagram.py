"""Diagrams of cells: every kind once, every wire counted, no text over another."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from calling import Captured
from cases import for_each

from bitwright import InputError, NodeProgram, Program, addition, multiplication, parse, permutation
from bitwright.cli.main import main
from bitwright.machines import Sizes, machine_a, machine_b
from bitwright.machines.subleq import Shape, find_dialect, machine_v
from bitwright.pages import cell_diagram_svg
from bitwright.pages.cell_diagram import drawn_kinds

SVG = "{http://www.w3.org/2000/svg}"
EXAMPLES = Path(__file__).parents[2] / "examples"
RULES = sorted(path.stem for path in EXAMPLES.glob("*.bw"))


def example(name: str) -> Program:
    return parse((EXAMPLES / f"{name}.bw").read_text()).program


def all_programs() -> dict[str, Program]:
    return {
        **{f"{name}.bw": example(name) for name in RULES},
        "addition": addition(8).program,
        "multiplication": multiplication(10).program,
        "one bit": multiplication(1).program,
        "permutation": permutation([3, 1, 2]).program,
        "machine A": machine_a(Sizes(3, 5, 4)).program,
        "machine B": machine_b(Sizes(3, 5, 4)).program,
        "machine V": machine_v(Shape(32, 8, find_dialect("howerj"))).program,
        "written out": parse("\n".join(addition(3).program.text_lines())).program,
    }


PROGRAMS = all_programs()
every_program = for_each("name", PROGRAMS)


def show(capsys: Captured, *arguments: object) -> tuple[int, str]:
    code = main(["show", *map(str, arguments)])
    return code, capsys.readouterr().err


def texts(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def wires_one_by_one(program: Program) -> int:
    """A wire is a cell and a bit that some template of it sets."""
    cell_of = program.cells.of_block
    return len(
        {
            (int(cell_of[program.template_block[template]]), bit)
            for template in range(program.templates)
            for bit in program.writes(template).tolist()
        }
    )


@every_program
def test_every_kind_is_named_once_with_its_cells_and_every_wire_is_counted(name: str) -> None:
    program = PROGRAMS[name]
    told = texts(cell_diagram_svg(program, name))
    heads = [re.fullmatch(r"kind (\d+): ([\d,]+) cells?(, .*)?", text) for text in told]
    counts = {int(head[1]): int(head[2].replace(",", "")) for head in heads if head}
    assert sum(head is not None for head in heads) == len(counts) == len(program.kinds.kinds)
    assert [counts[number] for number in sorted(counts)] == program.kinds.counts.tolist()
    wires = sum(int(found.replace(",", "")) for text in told for found in re.findall(r"([\d,]+) wires?$", text)[:1])
    assert wires == 2 * wires_one_by_one(program)  # in the boxes, and once more in the title


def test_the_wires_of_addition() -> None:
    """A cell keeps p and its carry, and hands the carry to the next; the last has no next."""
    told = texts(cell_diagram_svg(addition(5).program, "addition"))
    assert told[0] == "addition: 5 cells of 2 kinds, 14 wires"
    assert told[told.index("kind 1: 4 cells, 1 to 4 of 5") :] == [
        *("kind 1: 4 cells, 1 to 4 of 5", "p[i] q[i] | c[i]", "p, c → same cell, 8 wires"),
        *("q → kind 1, next cell, 3 wires", "q → kind 2, next cell, 1 wire"),
        *("kind 2: 1 cell, last of 5", "p[5] q[5] | c[5]", "p, c → same cell, 2 wires"),
    ]


def relations(program: Program) -> set[tuple[str, str]]:
    return {(array, wires.relation) for kind in drawn_kinds(program) for wires in kind.wires for array in wires.arrays}


def test_which_cell_a_wire_leads_to() -> None:
    assert relations(example("gray")) == {("here", "same cell"), ("above", "previous cell"), ("gray", "same cell")}
    ring = {("left", "previous cell, in a ring"), ("centre", "same cell"), ("right", "next cell, in a ring")}
    assert relations(example("rule110")) == ring
    assert relations(permutation([3, 1, 4, 2]).program) == {("p", "one to one")}
    found = relations(multiplication(10).program)
    assert {("to_shift_left", "all cells"), ("multiplicand", "next cell"), ("multiplier", "previous cell")} <= found


def test_the_ends_of_a_chain_and_what_lies_between() -> None:
    told = texts(cell_diagram_svg(multiplication(10).program))
    heads = [text.partition(": ")[2] for text in told if re.match(r"kind \d+: ", text)]
    assert heads == ["1 cell, first of 20", "18 cells, 2 to 19 of 20", "1 cell, last of 20", "1 cell", "9 cells"]
    names = drawn_kinds(multiplication(10).program)[3].names
    assert names == (
        "multiplicand[i] to_shift_left[i] to_copy_to_sum_q[i] | sum_p[i] sum_q[i] | sum_c[i] | "
        "sum_counter[2*i-1] | sum_counter[2*i]",
    )


def test_bits_stand_in_the_order_in_which_their_cell_names_them() -> None:
    lines = ["bits a[2] b[2]", *(f"{line} for i in 1..2" for line in ("block a[i] b[i]", "cell b[i] a[i]"))]
    program = parse("\n".join([*lines, "when b[i]=1 write b[i] for i in 1..2"])).program
    assert drawn_kinds(program)[0].names == ("b[i] a[i]",)


def test_tiles_are_drawn_as_cells() -> None:
    told = texts(cell_diagram_svg(addition(8).program, "addition", tile=4))
    assert told[0].startswith("addition: 2 cells of 2 kinds, ")
    assert "p[1] q[1] | c[1] | p[2] q[2] | c[2] | p[3] q[3] | c[3] | p[4] q[4] |" in " ".join(told)


def test_cells_without_templates_have_no_kind() -> None:
    told = texts(cell_diagram_svg(parse("bits a b\nblock a\nblock b\nwhen a=1 write b").program, "a < b"))
    assert told[0] == "a < b: 1 cell of 1 kind, 1 wire"
    assert "b → cells without templates, 1 wire" in told


def arrows(svg: str) -> list[str]:
    return [title.text or "" for title in ElementTree.fromstring(svg).iter(f"{SVG}title")]


def test_arrows_lead_to_kinds_and_loops_stay_at_one() -> None:
    assert arrows(cell_diagram_svg(addition(5).program)) == [
        "kind 1: p, c → same cell, 8 wires; kind 1: q → kind 1, next cell, 3 wires",
        "kind 1: q → kind 2, next cell, 1 wire",
        "kind 2: p, c → same cell, 2 wires",
    ]


def test_of_a_node_program_bits_over_the_edge_are_those_of_their_kind(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "bfs.svg"
    assert show(capsys, EXAMPLES / "graphs" / "bfs.bw", "-o", path)[0] == 0
    told = texts(path.read_text())
    assert "far.w → kind 3, over the edge, 1 wire" in told
    assert "all.shut → kind 6, all ports, 1 wire" in told
    assert "next.s → kind 6, next port, 1 wire" in told
    assert "x w" in told[told.index("kind 3: 1 cell") + 1]
    assert show(capsys, EXAMPLES / "graphs" / "bfs.bw", "--tile", "1", "-o", tmp_path / "same.svg")[0] == 0
    assert path.read_text() == (tmp_path / "same.svg").read_text()


def test_on_a_board_bits_of_neighbours_are_those_of_their_kind() -> None:
    program = parse("bits x y\nblock x y\nwhen x=1 y=0 write north.x south.east.y\ninput source = x")
    assert isinstance(program, NodeProgram)
    (kind,) = drawn_kinds(program.schemas()[0].program)
    found = {(wires.target, wires.arrays, wires.relation) for wires in kind.wires}
    assert found == {(0, ("north.x",), "to the north"), (0, ("south.east.y",), "to the south-east")}


def test_too_many_kinds_are_refused() -> None:
    bits = [f"x{number}_{bit}" for number in range(201) for bit in range(8)]
    blocks = [bits[8 * number : 8 * number + 8] for number in range(201)]
    program = Program.from_tables(bits, blocks, [(number, number + 1, [bits[0]]) for number in range(201)])
    with pytest.raises(InputError, match="at most 200 kinds of cells, this program has 201"):
        cell_diagram_svg(program)


Box = tuple[float, float, float, float]  # left, top, right, bottom


def overlapping(boxes: list[tuple[str, Box]]) -> list[tuple[str, str]]:
    found = []
    for number, (one, (left, top, right, bottom)) in enumerate(boxes):
        for other, (x1, y1, x2, y2) in boxes[:number]:
            if left < x2 and x1 < right and top < y2 and y1 < bottom:
                found.append((other, one))
    return found


MEASURE = """() => [...document.querySelectorAll("text, rect")].map(item => {
    const box = item.getBBox();
    return [item.tagName, item.textContent, box.x, box.y, box.x + box.width, box.y + box.height];
})"""


@pytest.mark.parametrize("name", ["multiplication", "machine B", "machine V"])
def test_in_a_browser_texts_keep_within_their_boxes(browser: Any, name: str) -> None:
    page = browser.new_page()
    page.set_content(cell_diagram_svg(PROGRAMS[name], name))
    items = page.evaluate(MEASURE)
    page.close()
    boxes = [(text, (x1, y1 + 2, x2, y2 - 2)) for tag, text, x1, y1, x2, y2 in items if tag == "text"]
    rectangles = [tuple(place) for tag, _, *place in items if tag == "rect"]
    assert overlapping(boxes) == []
    assert overlapping([(str(place), place) for place in rectangles[1:]]) == []  # all but the page itself
    for text, (x1, y1, x2, y2) in boxes:
        for left, top, right, bottom in rectangles:
            inside = left <= x1 and x2 <= right and top <= y1 and y2 <= bottom
            outside = x2 <= left or right <= x1 or y2 <= top or bottom <= y1
            assert inside or outside, text


def test_show_draws_cells_where_blocks_are_grouped(capsys: Captured, tmp_path: Path) -> None:
    cells, default = tmp_path / "cells.svg", tmp_path / "default.svg"
    assert show(capsys, "addition", "--bits", 5, "--tile", "1", "-o", cells)[0] == 0
    assert show(capsys, "addition", "--bits", 5, "-o", default)[0] == 0
    assert cells.read_text() == default.read_text() == cell_diagram_svg(addition(5).program, "addition")
    tiled = tmp_path / "tiled.svg"
    assert show(capsys, "addition", "--bits", 8, "--tile", 4, "-o", tiled)[0] == 0
    assert tiled.read_text() == cell_diagram_svg(addition(8).program, "addition", 4)
