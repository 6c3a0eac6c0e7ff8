"""Pictures of traces show the states they are made of."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from bitwright import Builder, InputError, addition, parse, run
from bitwright.pages import choose_columns, trace_svg, trace_text
from bitwright.pages.drawing import text_width
from bitwright.rules.trace import Trace

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def trace() -> Trace:
    return run(addition(6), p=37, q=45, record=True).trace


def test_text_shows_every_state(trace: Trace) -> None:
    lines = list(trace_text(trace))
    assert len(lines) == len(trace) + 1
    for step, line in enumerate(lines[1:]):
        number, matches, *arrays = line.split()
        assert (int(number), int(matches)) == (step, len(trace.matches(step)))
        shown = [int(array.replace("·", "0"), 2) for array in arrays]
        assert shown == [trace.number(step, name) for name in ("p", "q", "c")]


def test_svg_draws_a_cell_for_every_bit_that_is_on(trace: Trace) -> None:
    picture = ElementTree.fromstring(trace_svg(trace, "a <title> & more", reading="sum", readings=["x"] * len(trace)))
    cells = sum(path.attrib["d"].count("M") for path in picture.iter(f"{SVG}path"))
    assert cells == np.count_nonzero(trace.states())
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert "a <title> & more" in texts
    assert {"p", "q", "c", "sum"} <= set(texts)


def test_svg_cells_stand_in_the_right_place(trace: Trace) -> None:
    path = next(ElementTree.fromstring(trace_svg(trace, names=["p"])).iter(f"{SVG}path")).attrib["d"]
    corners = {(int(x), int(y)) for x, y in re.findall(r"M(\d+) (\d+)", path)}
    left, top = 46, 64
    expected = {
        (left + 12 * (5 - bit), top + 12 * step)
        for step in range(len(trace))
        for bit in range(6)
        if trace.number(step, "p") >> bit & 1
    }
    assert corners == expected


def test_columns_of_higher_rank_show_one_row_each() -> None:
    program = parse("bits m[2,3] f\nblock m[i,*] for i in 1..2\nblock f\nwhen f=1 write m[*,*]").program
    columns = choose_columns(program)
    assert [column.heading for column in columns] == ["m[1]", "m[2]", "f"]
    assert [column.bits for column in columns] == [(2, 1, 0), (5, 4, 3), (6,)]


def test_only_some_names(trace: Trace) -> None:
    assert next(iter(trace_text(trace, ["c", "p"]))).split() == ["step", "n", "c", "p"]
    with pytest.raises(InputError, match="no bits called 'x'"):
        list(trace_text(trace, ["x"]))


def test_pictures_too_large_are_refused() -> None:
    b = Builder()
    x = b.bits("x", 20_001)
    b.block(x[np.arange(1, 20_002)])
    b.when(x[1] == 1).write(x[1])
    with pytest.raises(InputError, match="at most 20,000 bits"):
        choose_columns(b.build())


def test_a_title_wider_than_its_picture_is_not_cut() -> None:
    done = run(addition(1), p=1, q=1, record=True)
    plain, titled = (
        ElementTree.fromstring(trace_svg(done.trace, title)) for title in ("", "a title of many words " * 6)
    )
    assert float(titled.attrib["width"]) > float(plain.attrib["width"])
    assert float(titled.attrib["width"]) > text_width("a title of many words " * 6, 15)
