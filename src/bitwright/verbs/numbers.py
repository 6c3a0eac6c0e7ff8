"""Reads numbers that users type (NAME=NUMBER, positions) and prints numbers in several bases and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat

from bitwright.common.errors import InputError, option, shorten


def parse_values(pairs: Sequence[str], what: str = "input") -> dict[str, int]:
    """Parses numbers written as NAME=NUMBER; errors call each of them `what`.

    >>> parse_values(["a=7", "b=0x10"])
    {'a': 7, 'b': 16}
    """
    from bitwright.common.bits import parse_signed

    values: dict[str, int] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            form = "a=7" if what == "input" else "l=16"
            raise InputError(f"give {what} as NAME=NUMBER, such as {form}, got '{shorten(pair)}'")
        if name in values:
            raise InputError(f"{what} {name} is given twice")
        values[name] = parse_signed(text, f"{what} {name}")
    return values


def parse_order(text: str) -> list[int]:
    """Parses positions such as `3,1,2`."""
    from bitwright.common.bits import parse_number

    return [parse_number(part, f"each position of {option('order')}") for part in text.split(",")]


def parse_two(given: Mapping[str, str]) -> dict[str, int]:
    """Parses two numbers, by the names of their inputs."""
    from bitwright.common.bits import parse_number

    which = ("the first number", "the second number")
    return {name: parse_number(text, what) for (name, text), what in zip(given.items(), which, strict=True)}


def in_base_of(given: Iterable[str], numbers: Iterable[int], bits: Iterable[int] = repeat(0)) -> list[str]:
    """Formats numbers in the base of the given texts (0x, 0b or decimal); binary numbers have that many bits.

    >>> in_base_of(["0b101", "0b1"], [6], [5])
    ['0b00110']
    """
    from bitwright.common.bits import any_digits

    bases = {text.strip().lstrip("-")[:2].lower() for text in given} & {"0x", "0b"}
    form = {"0x": "#x", "0b": "#0{}b"}[bases.pop()] if len(bases) == 1 else "d"
    with any_digits():
        return [format(number, form.format(width + 2)) for number, width in zip(numbers, bits, strict=False)]


def json_text(document: Mapping[str, object]) -> str:
    """Formats a document as JSON, with integers of any length."""
    from bitwright.common.bits import any_digits

    with any_digits():
        return json.dumps(document, indent=2, ensure_ascii=False)
