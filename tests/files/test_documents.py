"""The strict reader against Python's own json: it takes what json writes, and nothing else."""

import json

import pytest
from cases import for_each
from hypothesis import given
from hypothesis import strategies as st

from bitwright.common.errors import InputError
from bitwright.common.files.documents import (
    MAX_DEPTH,
    each,
    flag,
    number,
    one_of,
    optional,
    parse,
    read_document,
    read_file,
    real,
    table,
    text,
    whole,
)

FIELDS = {
    "format": one_of("test 1"),
    "steps": whole(0, 100),
    "error": real(0, 1),
    "name": text(8),
    "done": flag(),
    "limit": optional(whole(1, 5)),
    "ns": each(whole(0, 9), most=3),
    "by": table(whole(0, 9), most=2),
}
GOOD = {
    "format": "test 1",
    "steps": 3,
    "error": 0.5,
    "name": "abc",
    "done": False,
    "limit": None,
    "ns": [1, 2],
    "by": {"a": 1},
}


def read(document: object) -> dict[str, object]:
    return read_document(json.dumps(document), "a.json", "a test", FIELDS)


def test_a_good_document_comes_back():
    assert read(GOOD) == GOOD


@for_each(
    ("name", "value", "wanted"),
    [
        ("format", "test 2", "'test 1'"),
        ("format", [["test 1"]], "'test 1'"),
        ("steps", True, "an integer from 0 to 100"),
        ("steps", 3.0, "an integer from 0 to 100"),
        ("steps", -1, "an integer from 0 to 100"),
        ("error", True, "a number from 0 to 1"),
        ("error", 1.5, "a number from 0 to 1"),
        ("name", "abcdefghi", "text of at most 8 characters"),
        ("done", 0, "true or false"),
        ("limit", 0, "null or an integer from 1 to 5"),
        ("ns", [1, "2"], "a list, each item an integer from 0 to 9"),
        ("ns", [1, 2, 3, 4], "a list of 0 to 3 items"),
        ("by", {"a": -1}, "an object, each value an integer from 0 to 9"),
        ("by", {"a": 1, "b": 1, "c": 1}, "an object of at most 2 entries"),
    ],
)
def test_a_wrong_value_is_named(name, value, wanted):
    with pytest.raises(InputError) as error:
        read({**GOOD, name: value})
    assert str(error.value).startswith(f"a.json is not a test: {name} must be {wanted}, got ")


def test_missing_and_unknown_fields_are_named():
    with pytest.raises(InputError, match=r"it lacks steps$"):
        read({name: value for name, value in GOOD.items() if name != "steps"})
    with pytest.raises(InputError, match="unknown"):
        read({**GOOD, "more": 1})


@for_each(
    ("data", "reason"),
    [
        ('{"a": 1, "a": 2}', "it has 'a' twice"),
        ('{"a": NaN}', "NaN is not allowed"),
        ('{"a": 1e999}', "the number 1e999 is too large"),
        ('{"a": ' + "9" * 10_000 + "}", "it may be truncated or damaged"),
        ('{"a": ' + "[" * 200_000, f"it is nested more than {MAX_DEPTH} deep"),
        ('{"a": ' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}", f"it is nested more than {MAX_DEPTH} deep"),
        ("[]", "it contains a list instead of an object"),
        (b"\xff\xfe\x00", "it may be truncated or damaged"),
    ],
)
def test_what_json_might_allow_is_refused(data, reason):
    with pytest.raises(InputError) as error:
        parse(data, "a.json", "a test")
    assert str(error.value) == f"a.json is not a test: {reason}"


def test_the_greatest_depth_is_allowed():
    parse('{"a": ' + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "}", "a.json", "a test")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_it_reads_what_json_reads(document):
    assert parse(json.dumps(document), "a.json", "a test") == document


def test_a_file_that_is_too_large_or_not_there(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    assert read_file(tmp_path / "a", 5) == b"12345"
    with pytest.raises(InputError, match=r"larger.*4"):
        read_file(tmp_path / "a", 4)
    with pytest.raises(InputError, match=r"read.*file"):
        read_file(tmp_path / "b", 4)


def test_a_number_fits_a_float() -> None:
    for good in (0, -1.5, 1e300, 10**300):
        assert number()(good) is None
    for bad in (10**400, -(10**400), float("inf"), float("nan"), True, "1"):
        assert number()(bad) == "a number"
