import numpy as np
import pytest
from cases import for_each
from facts import missing

from bitwright.common.errors import InputError
from bitwright.rules import Layout

LAYOUT = Layout.of([("flag", ()), ("p", (3,)), ("m", (2, 3)), ("cube", (2, 1, 2)), ("last", ())])
NAMES = [
    *("flag", "p[1]", "p[2]", "p[3]", "m[1,1]", "m[1,2]", "m[1,3]", "m[2,1]", "m[2,2]", "m[2,3]"),
    *("cube[1,1,1]", "cube[1,1,2]", "cube[2,1,1]", "cube[2,1,2]", "last"),
]


def test_bits_are_numbered_in_the_order_of_declaration_with_the_last_index_running_fastest() -> None:
    assert LAYOUT.size == len(NAMES)
    assert LAYOUT.names == NAMES
    assert [LAYOUT.name_of(bit) for bit in range(len(NAMES))] == NAMES
    assert [LAYOUT.bit(name) for name in NAMES] == list(range(len(NAMES)))
    assert [bit for field in LAYOUT.fields for bit in field.bits()] == list(range(len(NAMES)))


def test_fields_know_their_bits_and_how_they_were_declared() -> None:
    assert [str(field) for field in LAYOUT.fields] == ["flag", "p[3]", "m[2,3]", "cube[2,1,2]", "last"]
    assert [field.size for field in LAYOUT.fields] == [1, 3, 6, 4, 1]
    assert [LAYOUT.field_of(LAYOUT.bit(name)).name for name in NAMES] == [name.partition("[")[0] for name in NAMES]
    assert LAYOUT["m"].bits().tolist() == [4, 5, 6, 7, 8, 9]
    assert "m" in LAYOUT
    assert "x" not in LAYOUT


def test_indices_out_of_range_are_located_at_minus_1() -> None:
    rows, columns = np.array([0, 1, 1, 2, 2, 3, -1]), np.array([1, 0, 3, 4, 1, 1, 1])
    assert LAYOUT["m"].locate([rows, columns]).tolist() == [-1, -1, 6, -1, 7, -1, -1]


@for_each(
    ("name", "message"),
    [
        ("flg", "'flg' 'flag'"),
        ("p", "'p' 1 p[3]"),
        ("p[1,2]", "'p[1,2]' 1 p[3]"),
        ("flag[]", "'flag[]'"),
        ("p[0]", "'p[0]' p[3]"),
        ("m[1,4]", "'m[1,4]' m[2,3]"),
    ],
)
def test_what_names_no_bit_is_refused_with_the_way_out(name: str, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        LAYOUT.bit(name)
    assert missing(str(refusal.value), message) == []


@pytest.mark.parametrize("rank", [4, 64, 65, 200])
def test_any_rank_has_names(rank: int) -> None:
    layout = Layout.of([("x", (1,) * (rank - 1) + (2,))])
    ones = "1," * (rank - 1)
    assert [layout.name_of(0), layout.name_of(1)] == layout.names == [f"x[{ones}1]", f"x[{ones}2]"]
    assert [layout.bit(name) for name in layout.names] == [0, 1]
