import sys

import pytest
from cases import for_each
from hypothesis import given
from hypothesis import strategies as st

from bitwright.common import bits
from bitwright.common.bits import from_bits, parse_number, shorten, to_bits
from bitwright.common.errors import InputError

HUGE = st.integers(0, 2**4000) | st.integers(0, 300)


@given(HUGE, st.integers(0, 70))
def test_bits_are_the_binary_digits_from_the_lowest_up(value: int, spare: int) -> None:
    width = value.bit_length() + spare
    array = to_bits(value, width)
    assert array.dtype == bool
    assert array.shape == (width,)
    assert array.tolist() == [value >> place & 1 == 1 for place in range(width)]
    assert from_bits(array) == value


@for_each(
    ("value", "width", "message"),
    [
        (-1, 4, "x must be 0 or more, got -1"),
        (-(2**5000), 4, "x must be 0 or more, got a number of 5,001 bits"),
        (16, 4, "x must fit in 4 bits, got 16, which needs 5"),
        (2, 1, "x must fit in 1 bit, got 2, which needs 2"),
        (1, 0, "x must fit in 0 bits, got 1, which needs 1"),
        (2**9999, 1234, "x must fit in 1,234 bits, got a number of 10,000 bits, which needs 10,000"),
    ],
)
def test_a_number_that_does_not_fit_is_refused(value: int, width: int, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        to_bits(value, width, "x")
    assert str(refusal.value) == message


@given(st.integers(0, 2**4000) | st.integers(0, 300))
def test_numbers_are_read_in_base_2_and_16(value: int) -> None:
    assert parse_number(hex(value)) == parse_number(hex(value).upper()) == parse_number(bin(value)) == value
    assert parse_number(f"{value:#_x}") == parse_number(f"{value:#_b}") == value


@given(st.integers(0, 10**4000))
def test_numbers_are_read_in_base_10(value: int) -> None:
    assert parse_number(str(value)) == parse_number(f"  {value:_}\n") == parse_number(f"00{value}") == value


def test_decimal_numbers_may_be_longer_than_pythons_own_limit() -> None:
    limit = sys.get_int_max_str_digits()
    assert 0 < limit < 5000
    assert parse_number("9" * 5000) == 10**5000 - 1
    assert parse_number("1" + "_000" * 4000) == 10**12000
    assert sys.get_int_max_str_digits() == limit
    with pytest.raises(InputError):
        parse_number("9" * 5000 + "__1")
    assert sys.get_int_max_str_digits() == limit


@for_each(
    "text",
    [
        *("", " ", "\n", "x", "1.0", "1e3", "+5", "1 2", "0x", "0b", "0xg", "0b2", "0o7", "0x_", "0b_", "_1", "1_"),
        *("1__0", "--5", "- 5", "-", "٣", "５", "²", "1٣", "0x５", "⅕", "1\x002", "1\n2", "nan", "seven", "\u200b1"),
    ],
)
def test_what_is_no_number_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError, match="719") as refusal:
        parse_number(text, "x")
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize("prefix", ["", "0x", "0b"])
def test_a_number_of_too_many_digits_is_refused_unread(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits, "MAX_DIGITS", 1000)
    assert parse_number(prefix + "1" * (1000 - len(prefix))) > 0
    with pytest.raises(InputError, match=r"1,000.*1,001"):
        parse_number(prefix + "1" * (1001 - len(prefix)), "x")


@given(st.text(max_size=100) | st.integers(-(2**200), 2**200), st.integers(4, 60))
def test_shortened_values_fit_one_line(value: int | str, most: int) -> None:
    text = shorten(value, most)
    assert text.isprintable()
    assert len(text) <= most or text == f"a number of {value.bit_length()} bits"
    if isinstance(value, str) and value.isprintable() and len(value) <= most:
        assert text == value
