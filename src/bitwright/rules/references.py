"""References to bits in a Builder: `p[i]` selects bits, `p[i] == 1` is a condition on them.

An Algorithm also accepts numbers and names such as `carry[1]`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import NoReturn

import numpy as np

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, counted, listing
from bitwright.rules.layout import Field, IntArray, Layout

Index = int | IntArray | slice


def span(first: int, last: int) -> IntArray:
    """Returns the indices from first to last, inclusive; `for i in [l]` in the paper is `span(1, l)`.

    >>> span(1, 4)
    array([1, 2, 3, 4])
    """
    return np.arange(first, last + 1, dtype=np.int64)


def grid(*ranges: tuple[int, int]) -> tuple[IntArray, ...]:
    """Returns index arrays with all combinations of several ranges.

    >>> k, j = grid((1, 2), (1, 3))
    >>> k.tolist(), j.tolist()
    ([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3])
    """
    axes = np.meshgrid(*(span(first, last) for first, last in ranges), indexing="ij")
    return tuple(axis.ravel() for axis in axes)


@dataclass(frozen=True, eq=False, repr=False)
class Ref:
    """Bits selected with an index: one row per index value, one column per bit selected in that row.

    >>> from bitwright.rules import Builder
    >>> p = Builder().bits("p", 4)
    >>> p[2], p[span(1, 3)]
    (<p[2]>, <p[1], p[2], p[3]>)
    """

    field: Field
    bits: IntArray  # (rows or 1, columns)

    __array_ufunc__ = None  # lets this class handle `0 == p[i]` with NumPy numbers
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> NoReturn:
        raise InputError(f"{self.name} has no value in a rule; write {self.name} == 1 or {self.name} == 0")

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return _compared(self, other, same=True)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return _compared(self, other, same=False)

    def __repr__(self) -> str:
        names = [self.field.name_of(bit) for bit in self.bits.ravel()[:3].tolist()]
        more = f" and {self.bits.size - 3:,} more" if self.bits.size > 3 else ""
        return f"<{', '.join(names)}{more}>" if names else f"<no bits of {self.field.name}>"

    @property
    def name(self) -> str:
        """The name of the first bit, such as `p[3]`."""
        return self.field.name_of(int(self.bits.flat[0])) if self.bits.size else self.field.name


@dataclass(frozen=True, eq=False, repr=False)
class Condition:
    """A rule's condition on bits: `p[i] == 1` or `p[i] != q[i]`; `when` takes several.

    Each alternative is a list of (bits, values): `p[i] == q[i]` has two, `p[i] == 1` has one.

    >>> from bitwright.rules import Builder
    >>> p = Builder().bits("p", 4)
    >>> p[1] == 1
    <condition on p[1]>
    """

    alternatives: tuple[tuple[tuple[Ref, IntArray], ...], ...]

    def __bool__(self) -> NoReturn:
        raise InputError(
            "a condition has no truth value in a rule; separate conditions with commas, as in when(p[1] == 1, "
            "q[1] == 0); for 'or' write two rules; for 'not' use !=; compare only two bits at a time"
        )

    def __repr__(self) -> str:
        names = dict.fromkeys(ref.name for alternative in self.alternatives for ref, _ in alternative)
        return f"<condition on {', '.join(names)}>"


class Bits:
    """A declared array of bits. Indices start at 1 and return a Ref; `x[:]` selects the entire array.

    >>> from bitwright.rules import Builder
    >>> m = Builder().bits("m", 2, 8)
    >>> m
    <bits m[2,8]>
    >>> m[1, 3], m[1, :]
    (<m[1,3]>, <m[1,1], m[1,2], m[1,3] and 5 more>)
    """

    def __init__(self, field: Field) -> None:
        self.field = field

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Ref:
        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) != len(self.field.shape):
            takes = counted(len(self.field.shape), "index", "indices")
            raise InputError(f"{self.field} takes {takes}, got {len(parts)}")
        columns = [place for place, part in enumerate(parts) if isinstance(part, slice)]
        axes, lengths = [], {1}  # row indices are on axis 0, the indices of each [:] on a separate axis
        for place, (part, extent) in enumerate(zip(parts, self.field.shape, strict=True)):
            shape = [1] * (1 + len(columns))
            if isinstance(part, slice):
                if part != slice(None):
                    raise InputError(f"{self.field} only takes [:] as a slice; use span for part of a dimension")
                shape[1 + columns.index(place)] = -1
                axes.append(span(1, extent).reshape(shape))
            else:
                shape[0] = -1
                axes.append(_whole(part, f"an index of {self.field}").reshape(shape))
                lengths.add(len(axes[-1]))
        if len(lengths) > 2:
            raise InputError(f"{self.field} has indices of different lengths: {sorted(lengths - {1})}")
        full = np.broadcast_arrays(*axes)
        bits = self.field.locate(full)
        if (bits < 0).any():
            wrong = ",".join(str(int(axis.flat[(bits < 0).argmax()])) for axis in full)
            raise InputError(f"index out of range: {self.field.name}[{wrong}], declared as {self.field}")
        return Ref(self.field, bits.reshape(len(bits), prod(bits.shape[1:])))

    def __repr__(self) -> str:
        return f"<bits {self.field}>"


def checked_refs(given: Sequence[object], what: str) -> tuple[Ref, ...]:
    """Returns the bits passed to a call; raises InputError unless each is a Ref."""
    for item in given:
        if not isinstance(item, Ref):
            raise InputError(f"{what} takes bits such as p[1], or p[:] for a whole array, got {item!r}")
    return tuple(item for item in given if isinstance(item, Ref))


def checked_conditions(given: Sequence[object]) -> tuple[Condition, ...]:
    """Returns the conditions passed to `when`; raises InputError unless each is a Condition."""
    for item in given:
        if not isinstance(item, Condition):
            raise InputError(f"when takes conditions such as p[1] == 1, got {item!r}")
    return tuple(item for item in given if isinstance(item, Condition))


def _compared(ref: Ref, other: object, same: bool) -> Condition:
    if isinstance(other, Ref):
        if ref.bits.shape[1] != 1 or other.bits.shape[1] != 1:
            raise InputError("only single bits can be compared with each other; use an index instead of [:]")
        zero, one = np.zeros((1, 1), dtype=np.int64), np.ones((1, 1), dtype=np.int64)
        first, second = (zero, one) if same else (one, zero)
        return Condition((((ref, zero), (other, first)), ((ref, one), (other, second))))
    if isinstance(other, Bits | Condition):
        raise InputError(f"{ref.field.name} is compared with {other!r}; use 0, 1 or a bit")
    values = _whole(other, f"the value compared with {ref.field.name}").reshape(-1, 1)
    if (values & ~1).any():
        raise InputError(f"a bit is 0 or 1, but {ref.field.name} is compared with {other}")
    return Condition((((ref, values if same else 1 - values),),))


def _whole(given: object, what: str) -> IntArray:
    array = np.atleast_1d(np.asarray(given))
    if array.size and (array.dtype.kind not in "biu" or array.ndim > 1):
        raise InputError(f"{what} must be one or more integers, got {given!r}")
    return array.astype(np.int64)


def bit_numbers(layout: Layout, given: object, what: str) -> tuple[int, ...]:
    """Returns the numbers of these bits in order; raises InputError for invalid values.

    >>> layout = Layout.of([("p", (2,)), ("carry", ())])
    >>> bit_numbers(layout, ["carry", 0], "start")
    (2, 0)
    """
    if isinstance(given, str | Ref | Bits):
        given = (given,)
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise InputError(f"{what} takes bits, such as 'carry' or ('p[1]', 'carry'), got {shorten(repr(given))}")
    items = tuple(given)
    if (
        set(map(type, items)) == {int} and 0 <= min(items) <= max(items) < layout.size
    ):  # a fast path for the common case
        return items
    return tuple(bit for item in items for bit in _bits(layout, item, what))


def one_bit(layout: Layout, given: object, what: str) -> int:
    """Returns the number of a single bit; raises InputError for anything else."""
    bits = bit_numbers(layout, (given,), what)
    if len(bits) != 1:
        raise InputError(f"{what} takes a single bit, got {shorten(repr(given))}")
    return bits[0]


def repeated(layout: Layout, bits: Iterable[int]) -> str:
    """Lists the names of bits that occur more than once; empty if there are none."""
    return listing([layout.name_of(bit) for bit, times in Counter(bits).items() if times > 1])


def _bits(layout: Layout, item: object, what: str) -> list[int]:
    if isinstance(item, str):
        return [layout.bit(item)]
    if isinstance(item, Ref | Bits):
        if item.field not in layout.fields:
            raise InputError(f"{what} takes bits of the program, but {item} belongs to another Builder")
        return (item.bits if isinstance(item, Ref) else item.field.bits()).ravel().tolist()
    if isinstance(item, bool | np.bool_) or not isinstance(item, int | np.integer):
        raise InputError(f"{what} takes bits: names such as 'p[1]', p[1] of a Builder, or numbers, got {item!r}")
    if not 0 <= item < layout.size:
        raise InputError(f"{what} contains bit {int(item)}, but bits are numbered 0 to {layout.size - 1}")
    return [int(item)]
