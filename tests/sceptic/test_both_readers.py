"""Edited network files and certificates, shown to bitwright and to the sceptic: both take a file, or neither does."""

import json
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from altered import altered, places
from forged import forged, in_bytes, opened
from long import LONG
from two_readers import INFORMATION, Both

Case = tuple[str, bytes | str, bool]  # what was done, the file, and whether it is still sound
STEP = 1 if LONG else 5  # every case, or every fifth


def entries(header: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each tensor's entry with one thing altered."""
    for name, entry in header.items():
        (begin, end), (rows, columns) = entry["data_offsets"], entry["shape"]
        offsets = [True, end], [float(begin), end], [-1, end], [begin], [begin, end, end], [str(begin), end], None
        ranges = (
            [begin, 1 << 70],
            [begin, end + (1 << 64)],
            [end, begin],
            [begin, begin],
            [begin + 1, end],
            [0, end + 1],
        )
        for value in (*offsets, *ranges):
            if value != entry["data_offsets"]:
                yield f"{name} at {value}", {name: entry | {"data_offsets": value}}
        shapes = [True, rows * columns], [float(rows), columns], [-rows, -columns], [rows * columns], "12", None, []
        for shape in (*shapes, [rows, columns, 1], [str(rows), columns], [0, columns], [rows + (1 << 64), columns]):
            yield f"{name} of {shape}", {name: entry | {"shape": shape}}
        for kind in ("U8", "I16", "F32", "BOOL", "i8", None, 5):
            yield f"{name} of type {kind}", {name: entry | {"dtype": kind}}
        yield f"{name} with more", {name: entry | {"more": 1}}
        yield f"{name} is a list", {name: [1]}
        for key in entry:
            yield f"{name} without {key}", {name: {other: entry[other] for other in entry if other != key}}


def network_files(both: Both) -> Iterator[Case]:
    about, header, body = opened(both.network)
    metadata = {"__metadata__": {"bitwright": json.dumps(about)}}
    text = json.dumps(metadata | header)
    with_header = partial(in_bytes, body=body)

    def with_metadata(metadata: Any) -> bytes:
        return with_header(json.dumps(header | {"__metadata__": metadata}))

    def saying(about: dict[str, Any]) -> bytes:
        return with_metadata({"bitwright": json.dumps(about)})

    # One rule for what the format leaves open: these are sound ...
    yield "written again", with_header(text), True
    yield "keys in another order", with_header(json.dumps(dict(reversed((metadata | header).items())))), True
    yield "padded with spaces", with_header(text + "     "), True
    moved, parts = {}, b""
    for name in sorted(header):
        part = body[slice(*header[name]["data_offsets"])]
        moved[name] = header[name] | {"data_offsets": [len(parts), len(parts) + len(part)]}
        parts += part
    yield "tensors in another order", in_bytes(json.dumps(moved | metadata), parts), True

    # ... and these are not.
    for name in ("first", "__metadata__"):
        again = f"{json.dumps(name)}: {json.dumps((metadata | header)[name])}"
        yield f"{name} twice", with_header(f"{text[:-1]}, {again}}}"), False
    yield "bitwright twice", with_header(text.replace('{"bitwright"', '{"bitwright": "", "bitwright"', 1)), False
    yield "a type twice", with_header(text.replace('"dtype": "I8"', '"dtype": "I8", "dtype": "I8"', 1)), False
    yield "a seed twice", with_header(text.replace('\\"seed\\": ', '\\"seed\\": 5, \\"seed\\": ', 1)), False
    for value in ({"bitwright": json.dumps(about), "more": ""}, {"bitwright": 5}, [1]):
        yield f"metadata {value}", with_metadata(value), False
    yield "metadata of another name", with_metadata({"x": json.dumps(about)}), False
    yield "no metadata", with_header(json.dumps(header)), False
    for name, change in entries(header):
        yield name, with_header(json.dumps(metadata | header | change)), False
    for name in header:
        left = {key: value for key, value in (metadata | header).items() if key != name}
        yield f"no {name}", with_header(json.dumps(left)), False
    size = len(body)
    for shape, more in (([0, 1], b""), ([1, 1], b"x")):
        tensors = header | {"more": {"dtype": "I8", "shape": shape, "data_offsets": [size, size + len(more)]}}
        yield f"a tensor of {shape} more", in_bytes(json.dumps(metadata | tensors), body + more), False
    shifted = {
        name: entry | {"data_offsets": [at + 1 for at in entry["data_offsets"]]} for name, entry in header.items()
    }
    yield "a hole before the tensors", in_bytes(json.dumps(metadata | shifted), b"x" + body), False
    yield "bytes behind the tensors", both.network_bytes + b"\0", False
    yield "a byte cut off", both.network_bytes[:-1], False
    yield "nothing", b"", False
    yield "seven bytes", b"1234567", False
    for length in (0, len(text) - 1, len(text) + 1, len(text) + size + 1, 1 << 63, (1 << 64) - 1):
        yield f"header of {length} bytes", in_bytes(text, body, length), False
    for code in ("utf-16", "utf-16-le", "utf-8-sig"):
        yield code, with_header(text.encode(code)), False
    yield "not UTF-8", with_header(text.encode().replace(b"first", b"fir\xffst")), False
    yield "a space in front", with_header(" " + text), False
    yield "a list", with_header(f"[{text}]"), False
    for name in ("NaN", "Infinity", "1e999", "1", "[" * 500 + "]" * 500, "[" * 100_000, '"\\ud800"'):
        yield f"more {name[:9]}", with_header(f'{text[:-1]}, "more": {name}}}'), False
    yield "NaN of its error", saying(about | {"error": float("nan")}), False

    # What a file says of itself, with the digest as it was, and with the one that fits.
    for field, value in about.items():
        for other in ("x", "x" * 101, -1, True, None, 1.5, [], {}):
            if field in ("version", "numpy") and other == "x":
                continue  # for people
            if other is not value:
                yield f"{field} = {other}", saying(about | {field: other}), False
                if field not in ("sha256", "scale_first", "scale_last", "gain"):  # these may be any number
                    yield f"{field} = {other}, sealed", forged(about | {field: other}, header, body), False
        left = {name: about[name] for name in about if name != field}
        yield f"no {field}", saying(left), False
    yield "a field more, sealed", forged(about | {"more": 1}, header, body), False
    for name in header:
        altered = bytearray(body)
        altered[header[name]["data_offsets"][0]] ^= 1
        yield f"a bit of {name}", in_bytes(text, bytes(altered)), False
        yield f"a bit of {name}, sealed", forged(about, header, bytes(altered)), False


def others(value: Any) -> Iterator[Any]:
    """Other values for a field, equal ones of another type among them."""
    yield from ("x", -1, True, False, None, 1.5, 0, 1, [], {}, "certified", "refuted", 1e300, 10**30)
    if isinstance(value, int):
        yield from (value + 1, float(value), str(value), bool(value), int(value))
    elif isinstance(value, str):
        yield from (value.upper(), value + " ", [value])
    elif isinstance(value, list) and value:
        yield from (value[:-1], value + value[-1:])
    elif isinstance(value, dict) and value:
        yield from ({name: value[name] for name in list(value)[1:]}, value | {"more": 1})


def certificates(both: Both) -> Iterator[Case]:
    claims = both.claims
    text = json.dumps(claims)
    yield "keys in another order", json.dumps(dict(reversed(claims.items()))), True
    for name in ("tensors", "closest"):
        yield f"{name} in another order", json.dumps(claims | {name: dict(reversed(claims[name].items()))}), True
    yield "spaces", f"\n {text}\n\n", True
    yield "sizes that are null", json.dumps(claims | {"sizes": None}), True
    for at, value in places(claims):
        for other in others(value):
            if at[0] not in INFORMATION and json.dumps(other) != json.dumps(value):
                yield f"{at} = {other!r}", json.dumps(altered(claims, at, other)), False
    for name in claims:
        if name not in INFORMATION:
            yield f"no {name}", json.dumps({key: claims[key] for key in claims if key != name}), False
        yield f"{name} twice", f"{text[:-1]}, {json.dumps(name)}: {json.dumps(claims[name])}}}", False
    yield "more", json.dumps(claims | {"more": 1}), False
    for code in ("utf-16", "utf-16-le", "utf-8-sig"):
        yield code, text.encode(code), False
    yield "not UTF-8", text.encode().replace(b"certified", b"certi\xffied"), False
    for name in ("", "[]", "[" * 100_000, text + "x", text + text, text[:-1]):
        yield f"{name[:9]} ...", name, False
    yield "deep", f'{text[:-1]}, "more": {"[" * 900}{"]" * 900}}}', False
    yield "half a character", text.replace('"verdict": "certified"', '"verdict": "\\ud800"'), False
    yield "too many digits", text.replace('"states": ', '"states": ' + "9" * 5_000), False
    for name in ("margin", "distance", "states"):
        for number in ("NaN", "Infinity", "-Infinity"):
            yield f"{name} {number}", json.dumps(claims | {name: "@"}).replace('"@"', number), False


@pytest.fixture(params=["states", "runs", "cells"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Both:
    return Both(tmp_path, request.param)


def test_sound_files(both: Both) -> None:
    assert both.codes() == (0, 0)


def test_network_files(both: Both) -> None:
    if both.claims["domain"] == "runs":
        pytest.skip("the file is that of the domain states")
    tried = 0
    for name, data, sound in islice(network_files(both), None, None, STEP):
        assert isinstance(data, bytes)
        assert [code == 0 for code in both.codes(network=data)] == [sound, sound], name
        tried += STEP
    assert tried > 400


def test_certificates(both: Both) -> None:
    tried = 0
    for name, data, sound in islice(certificates(both), None, None, STEP):
        assert [code == 0 for code in both.codes(certificate=data)] == [sound, sound], name
        tried += STEP
    assert tried > 600
