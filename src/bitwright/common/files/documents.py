"""A strict reader for the JSON documents that bitwright writes.

It rejects duplicate, unknown and missing keys, NaN, infinity, and excessive size or depth, and checks every field.

>>> read_document(b'{"steps": 3}', "run.json", "a run", {"steps": whole(0, 9)})
{'steps': 3}
>>> read_document(b'{"steps": true}', "run.json", "a run", {"steps": whole(0, 9)})
Traceback (most recent call last):
bitwright.common.errors.InputError: run.json is not a run: steps must be an integer from 0 to 9, got True
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, listing
from bitwright.common.files.storage import open_file

MAX_DEPTH = 32
Check = Callable[[object], str | None]  # returns the requirement that a value violates, or None


def read_file(path: Path, most: int) -> bytes:
    """Returns the bytes of a file; raises InputError if there are more than `most`."""
    try:
        with open_file(path) as file:
            data = file.read(most + 1)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    if len(data) > most:
        raise InputError(f"{path} is larger than the limit of {most:,} bytes")
    return data


def read_document(data: bytes | str, source: object, what: str, fields: Mapping[str, Check]) -> dict[str, Any]:
    """Returns a JSON object with exactly these fields; errors read "{source} is not {what}: ..."."""
    document = parse(data, source, what)
    check_fields(document, source, what, fields)
    return document


def parse(data: bytes | str, source: object, what: str) -> dict[str, Any]:
    """Returns a JSON object without checking its fields, for documents that name their own format."""
    try:
        text = data if isinstance(data, str) else data.decode()  # UTF-8 only
        document = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise _not(source, what, f"it is nested more than {MAX_DEPTH} deep") from None
    except _RefusedError as error:
        raise _not(source, what, str(error)) from None
    except ValueError:  # also for text that is not UTF-8, and numbers with more digits than Python reads
        raise _not(source, what, "it may be truncated or damaged") from None
    if not isinstance(document, dict):
        raise _not(source, what, f"it contains {_kind(document)} instead of an object")
    if _deeper(document, MAX_DEPTH):
        raise _not(source, what, f"it is nested more than {MAX_DEPTH} deep")
    return document


def check_fields(document: Mapping[str, object], source: object, what: str, fields: Mapping[str, Check]) -> None:
    """Raises InputError for a missing, unknown or invalid field."""
    if missing := [name for name in fields if name not in document]:
        raise _not(source, what, f"it lacks {listing(missing)}")
    if unknown := [shorten(name) for name in document if name not in fields]:
        raise _not(source, what, f"it has unknown fields: {listing(unknown)}")
    for name, check in fields.items():
        if wanted := check(document[name]):
            raise _not(source, what, f"{name} must be {wanted}, got {shorten(repr(document[name]))}")


def whole(least: int, most: int) -> Check:
    """Accepts an integer in this range; rejects True and 3.0."""
    wanted = f"an integer from {least:,} to {most:,}"
    return lambda value: None if type(value) is int and least <= value <= most else wanted


def real(least: float, most: float) -> Check:
    """Accepts a finite int or float in this range."""
    wanted = f"a number from {least:g} to {most:g}"
    return lambda value: None if type(value) in (int, float) and least <= value <= most else wanted  # type: ignore[operator]


def number() -> Check:
    """Accepts a float, or an int in its range; the reader has already rejected NaN and infinity."""
    return lambda value: None if type(value) in (int, float) and -(2**1023) < value < 2**1023 else "a number"  # type: ignore[operator]


def text(most: int = 1 << 16) -> Check:
    wanted = f"text of at most {most:,} characters"
    return lambda value: None if type(value) is str and len(value) <= most else wanted


def flag() -> Check:
    return lambda value: None if type(value) is bool else "true or false"


def one_of(*allowed: str) -> Check:
    wanted = " or ".join(repr(value) for value in allowed)
    return lambda value: None if type(value) is str and value in allowed else wanted


def optional(check: Check) -> Check:
    """Accepts null, or a value that passes `check`."""

    def look(value: object) -> str | None:
        wanted = None if value is None else check(value)
        return wanted and f"null or {wanted}"

    return look


def each(check: Check, least: int = 0, most: int = 1 << 24) -> Check:
    """Accepts a list whose items pass `check`."""

    def look(value: object) -> str | None:
        if type(value) is not list or not least <= len(value) <= most:
            return f"a list of {least:,} to {most:,} items"
        wanted = next((wanted for item in value if (wanted := check(item))), None)
        return wanted and f"a list, each item {wanted}"

    return look


def record(*checks: Check) -> Check:
    """Accepts a list with one item for each check."""

    def look(value: object) -> str | None:
        if type(value) is not list or len(value) != len(checks):
            return f"a list of {len(checks):,} items"
        wanted = [wanted for item, check in zip(value, checks, strict=True) if (wanted := check(item))]
        return f"a list with {wanted[0]}" if wanted else None

    return look


def table(check: Check, most: int = 1 << 24) -> Check:
    """Accepts an object with arbitrary keys whose values pass `check`."""

    def look(value: object) -> str | None:
        if type(value) is not dict or len(value) > most:
            return f"an object of at most {most:,} entries"
        wanted = next((wanted for item in value.values() if (wanted := check(item))), None)
        return wanted and f"an object, each value {wanted}"

    return look


class _RefusedError(Exception):
    """Raised for constructs that JSON or Python's reader allows and this reader does not."""


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) < len(pairs):
        repeated = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise _RefusedError(f"it has {shorten(repr(repeated))} twice")
    return document


def _refuse(constant: str) -> object:
    raise _RefusedError(f"{constant} is not allowed")


def _finite(digits: str) -> float:
    if not isfinite(value := float(digits)):
        raise _RefusedError(f"the number {shorten(digits)} is too large")
    return value


def _deeper(document: object, depth: int) -> bool:
    """Returns whether lists and objects are nested deeper than `depth`, checked level by level."""
    level: Iterable[object] = [document]
    for _ in range(depth):
        level = [child for node in level for child in _children(node)]
        if not level:
            return False
    return True


def _children(node: object) -> Iterable[object]:
    values = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return (value for value in values if isinstance(value, dict | list))


def _kind(value: object) -> str:
    return {list: "a list", str: "a text", bool: "true or false", type(None): "null"}.get(type(value), "a number")


def _not(source: object, what: str, reason: str) -> InputError:
    return InputError(f"{source} is not {what}: {reason}")


def like(pattern: str, wanted: str) -> Check:
    """Accepts text that matches a pattern; `wanted` describes the pattern in words."""
    form = re.compile(pattern, re.ASCII)
    return lambda value: None if type(value) is str and form.fullmatch(value) else wanted
