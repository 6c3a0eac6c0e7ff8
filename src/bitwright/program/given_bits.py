"""Bits as a person gives them to an Algorithm: numbers, names such as `carry[1]`, or references of a Builder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from bitwright.bits import shorten
from bitwright.errors import InputError, listing
from bitwright.program.layout import Layout
from bitwright.program.references import Bits, Ref


def bit_numbers(layout: Layout, given: object, what: str) -> tuple[int, ...]:
    """The numbers of these bits, in order; raises InputError for anything else.

    >>> layout = Layout.of([("p", (2,)), ("carry", ())])
    >>> bit_numbers(layout, ["carry", 0], "start")
    (2, 0)
    """
    if isinstance(given, str | Ref | Bits):
        given = (given,)
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise InputError(f"{what} takes bits, such as 'carry' or ('p[1]', 'carry'), got {shorten(repr(given))}")
    items = tuple(given)
    if set(map(type, items)) == {int}:
        if not 0 <= min(items) <= max(items) < layout.size:
            _number(layout, next(bit for bit in items if not 0 <= bit < layout.size), what)
        return items
    return tuple(bit for item in items for bit in _bits(layout, item, what))


def one_bit(layout: Layout, given: object, what: str) -> int:
    """The number of the bit."""
    found = _bits(layout, given, what)
    if len(found) != 1:
        raise InputError(f"{what} takes a single bit, got {shorten(repr(given))}")
    return found[0]


def repeated(layout: Layout, bits: Iterable[int]) -> str:
    """The names of bits that occur more than once, as a list for a message; empty if there are none."""
    return listing([layout.name_of(bit) for bit, times in Counter(bits).items() if times > 1])


def _bits(layout: Layout, item: object, what: str) -> list[int]:
    if isinstance(item, str):
        return [layout.bit(item)]
    if not isinstance(item, Ref | Bits):
        return [_number(layout, item, what)]
    ref = item if isinstance(item, Ref) else item[(slice(None),) * len(item.field.shape)]
    if ref.field not in layout.fields:
        raise InputError(f"{what} takes bits of the program, and {ref} is of another Builder")
    if ref.bits.min(initial=0) < 0:
        raise InputError(f"{what} uses an index that is out of range: {ref}, of {ref.field}")
    return [int(bit) for bit in ref.bits.ravel()]


def _number(layout: Layout, item: object, what: str) -> int:
    if isinstance(item, bool | np.bool_) or not isinstance(item, int | np.integer):
        raise InputError(f"{what} takes bits: names such as 'p[1]', p[1] of a Builder, or numbers, got {item!r}")
    if not 0 <= item < layout.size:
        raise InputError(f"{what} has bit {int(item)}; the bits of the program are numbered 0 to {layout.size - 1}")
    return int(item)
