"""JSON documents with one thing changed, in every place."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

Way = tuple[Any, ...]


def places(document: Any, way: Way = ()) -> Iterator[tuple[Way, Any]]:
    """Every value inside a document, and the way to it."""
    inside = (
        document.items() if isinstance(document, dict) else enumerate(document if isinstance(document, list) else ())
    )
    for key, value in inside:
        yield (*way, key), value
        yield from places(value, (*way, key))


def leaves(document: Any) -> list[Way]:
    """The ways to the numbers, words, truths and empty parts of a document."""
    return [way for way, value in places(document) if not (isinstance(value, dict | list) and value)]


def other(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str) and value:
        return value[:-1] + ("0" if value[-1] != "0" else "1")
    return value[:-1] if value else 1


def altered(document: Any, way: Way, to: Any = other) -> Any:
    """A copy of the document with another value in one place; `to` is that value, or makes it of what is there."""
    document = inner = deepcopy(document)
    for key in way[:-1]:
        inner = inner[key]
    inner[way[-1]] = to(inner[way[-1]]) if callable(to) else to
    return document
