"""Diagrams show the program they are drawn from."""

import string
from xml.etree import ElementTree

import pytest

from bitwright import Builder, InputError, addition, multiplication, parse
from bitwright.machines import Sizes, machine_a, machine_b
from bitwright.rules import span
from paper.blocks import SBN_UNITS, block_drawing, block_kinds, links
from paper.drawing import drawing_svg, text_width


def test_kinds_and_links_of_addition() -> None:
    program = addition(5).program
    kinds, of = block_kinds(program)
    assert [(kind.names, kind.count) for kind in kinds] == [(("p", "q"), 5), (("c",), 5)]
    assert links(program, of) == {(0, 0): 10, (0, 1): 5, (1, 0): 4, (1, 1): 1}


@pytest.mark.parametrize("make", [machine_a, machine_b])
def test_every_kind_of_block_of_a_machine_has_a_box(make: object) -> None:
    assert callable(make)
    program = make(Sizes(3, 3, 3)).program
    kinds, _ = block_kinds(program)
    assert sum(kind.count for kind in kinds) == program.blocks
    picture = ElementTree.fromstring(drawing_svg(block_drawing(program, "a <machine>", SBN_UNITS)))
    texts = [text.text or "" for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert set(SBN_UNITS.values()) <= set(texts)
    assert "a <machine>" in texts
    words = {word for text in texts for word in text.split()}
    assert {name.partition("_")[2] or name for kind in kinds for name in kind.names} <= words
    counts = [int(text.split()[0]) for text in texts if text.endswith((" block", " blocks"))]
    assert counts == [kind.count for kind in kinds]


def test_every_link_is_an_arrow_in_the_colour_of_its_source_and_its_unit() -> None:
    program = machine_b(Sizes(3, 3, 3)).program
    kinds, of = block_kinds(program)
    found = links(program, of)
    drawing = block_drawing(program, "", SBN_UNITS)
    assert len(drawing.arrows) == len(found)
    said = {arrow.words.partition(":")[0]: arrow.colour for arrow in drawing.arrows}
    for (a, b), boxes in ((link, [drawing.boxes[end] for end in link]) for link in found):
        name = f"{' '.join(kinds[a].names)} → {' '.join(kinds[b].names)}"
        assert said[name] == boxes[0].colour
    by_unit = {kind.unit: box.colour for kind, box in zip(kinds, drawing.boxes, strict=False) if kind.unit in SBN_UNITS}
    assert len(set(by_unit.values())) == len(SBN_UNITS)
    legend = {box.colour for box in drawing.boxes[len(kinds) :]}
    assert legend == set(by_unit.values())


@pytest.mark.parametrize("title", ["", "short", "a title of many words " * 20, "one-word-without-an-end" * 12])
def test_titles_are_not_cut(title: str) -> None:
    drawing = block_drawing(addition(3).program, title, None)
    lines = [text for text in drawing.texts if text.size > 13]
    assert "".join(line.text for line in lines).replace(" ", "") == title.replace(" ", "")
    assert all(line.x + text_width(line.text, line.size) <= drawing.width for line in lines)


def test_programs_with_too_many_kinds_are_refused() -> None:
    b = Builder()
    letters = [b.bit(f"x{one}{two}") for one in string.ascii_lowercase for two in string.ascii_lowercase[:8]]
    for bit in letters:
        b.block(bit)
    b.when(letters[0] == 1).write(letters[1])
    with pytest.raises(InputError, match="at most 200 kinds"):
        block_drawing(b.build())


def test_arrays_whose_names_differ_by_a_number_are_not_one_kind() -> None:
    program = parse(
        "bits x1[2] x2[2]\nblock x1[i] for i in 1..2\nblock x2[*]\nwhen x1[i]=1 write x2[i] for i in 1..2"
    ).program
    kinds, of = block_kinds(program)
    assert [(kind.names, kind.count) for kind in kinds] == [(("x1",), 2), (("x2",), 1)]
    assert links(program, of) == {(0, 1): 2}


def test_arrays_of_one_family_are_drawn_as_one() -> None:
    b = Builder()
    low, high, top = b.bits("low", 4, family="tree"), b.bits("high", 2, family="tree"), b.bit("top")
    for level in (low[span(1, 4)], high[span(1, 2)], top):
        b.block(level)
    b.when(low[span(1, 4)] == 1).write(high[(span(1, 4) + 1) // 2])
    b.when(high[span(1, 2)] == 1).write(top)
    program = b.build()
    kinds, of = block_kinds(program)
    assert [(kind.names, kind.count) for kind in kinds] == [(("tree",), 6), (("top",), 1)]
    assert links(program, of) == {(0, 0): 4, (0, 1): 2}


def test_one_line_of_blocks_is_one_kind_whatever_its_rows_hold() -> None:
    program = parse(
        "bits x[3] y[3]\nblock y[i] x[1..i-1] for i in 1..2\nblock x[2..3] y[3]\nwhen y[2]=1 write y[1]"
    ).program
    kinds, of = block_kinds(program)
    assert [(kind.names, kind.count) for kind in kinds] == [(("x", "y"), 3)]
    assert of.tolist() == [0, 0, 0]


def test_a_written_out_program_has_the_kinds_of_its_families() -> None:
    program = multiplication(3).program
    written_out = parse("\n".join(program.text_lines())).program
    assert block_kinds(written_out)[0] == block_kinds(program)[0]
