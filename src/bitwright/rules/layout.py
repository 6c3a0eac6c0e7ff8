"""Maps names and indices of bits to coordinates of the state (Section 4, "Input representation")."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import InputError, counted, suggestion

IntArray = NDArray[np.int64]

MAX_BITS = 10_000_000  # most bits of a program
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_STATEMENTS = "let bits block when input output start steps halt matches examples"
KEYWORDS = frozenset(f"{_STATEMENTS} write nothing for in if and at fixed point signed".split())


def spread(lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Repeats each index as often as its entry; returns the index and the position in its group, for each repetition.

    >>> spread(np.array([2, 0, 3]))
    (array([0, 0, 2, 2, 2]), array([0, 1, 0, 1, 2]))
    """
    entry = np.repeat(np.arange(len(lengths)), lengths)
    return entry, np.arange(len(entry)) - np.repeat(np.cumsum(lengths) - lengths, lengths)


@dataclass(frozen=True)
class Field:
    """One declared name: a single bit (`shape` is empty) or an array of bits of any dimension.

    >>> print(Field("m", (2, 8), offset=4), Field("flag", (), offset=20))
    m[2,8] flag
    """

    name: str
    shape: tuple[int, ...]
    offset: int

    @property
    def size(self) -> int:
        """The number of bits."""
        return prod(self.shape)

    def locate(self, indices: Sequence[IntArray]) -> IntArray:
        """Returns the bit numbers of the elements at 1-based `indices`; -1 for an index out of range."""
        flat = np.zeros((), dtype=np.int64)
        inside = np.ones((), dtype=bool)
        for index, extent in zip(indices, self.shape, strict=True):
            flat = flat * extent + (index - 1)
            inside = inside & (index >= 1) & (index <= extent)
        return np.asarray(np.where(inside, self.offset + flat, -1), dtype=np.int64)

    def bits(self) -> IntArray:
        """Returns all bit numbers in row-major order; for a number, least significant first."""
        return np.arange(self.offset, self.offset + self.size, dtype=np.int64)

    def bit_names(self) -> list[str]:
        """Returns the names of the bits, in order."""
        if not self.shape:
            return [self.name]
        if len(self.shape) == 1:
            return [f"{self.name}[{i}]" for i in range(1, self.shape[0] + 1)]
        return [f"{self.name}[{','.join(map(str, at))}]" for at in product(*(range(1, n + 1) for n in self.shape))]

    def name_of(self, bit: int) -> str:
        """Returns the name of a bit of the field, such as `p[3]`, `m[2,7]` or `flag`."""
        if not self.shape:
            return self.name
        rest, at = bit - self.offset, []
        for extent in reversed(self.shape):
            rest, place = divmod(rest, extent)
            at.append(str(place + 1))
        return f"{self.name}[{','.join(reversed(at))}]"

    def __str__(self) -> str:
        return f"{self.name}[{','.join(map(str, self.shape))}]" if self.shape else self.name


@dataclass(frozen=True)
class Layout:
    """All names of a program, in the order of declaration.

    >>> layout = Layout.of([("p", (2,)), ("flag", ())])
    >>> layout.names
    ['p[1]', 'p[2]', 'flag']
    >>> layout.bit("p[2]"), layout.name_of(2), layout.size
    (1, 'flag', 3)
    """

    fields: tuple[Field, ...]

    @classmethod
    def of(cls, shapes: Sequence[tuple[str, tuple[int, ...]]]) -> Layout:
        """Builds a layout from names and shapes, in order; the shape of a single bit is empty."""
        fields, offset = [], 0
        for name, shape in shapes:
            fields.append(Field(name, shape, offset))
            offset += prod(shape)
        return cls(tuple(fields))

    @property
    def size(self) -> int:
        """The length of a state, k in the paper."""
        return self.fields[-1].offset + self.fields[-1].size if self.fields else 0

    @cached_property
    def _by_name(self) -> dict[str, Field]:
        return {field.name: field for field in self.fields}

    @cached_property
    def _offsets(self) -> list[int]:
        return [field.offset for field in self.fields]

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Field:
        try:
            return self._by_name[name]
        except KeyError:
            hint = suggestion(name, list(self._by_name))
            raise InputError(f"there are no bits named '{name}'{hint}") from None

    def field_of(self, bit: int) -> Field:
        """Returns the declared name that a bit belongs to."""
        return self.fields[bisect_right(self._offsets, bit) - 1]

    def name_of(self, bit: int) -> str:
        """Returns the name of a bit, such as `p[3]`, `m[2,7]` or `flag`."""
        return self.field_of(bit).name_of(bit)

    def bit(self, name: str) -> int:
        """Returns the bit number of a name such as `p[3]`; the inverse of `name_of`."""
        stem, _, rest = name.partition("[")
        field = self[stem.strip()]
        try:
            index = tuple(int(part) for part in rest.removesuffix("]").split(",")) if rest else ()
        except ValueError:
            raise InputError(f"'{name}' does not name a bit; it is declared as {field}") from None
        if len(index) != len(field.shape):
            raise InputError(f"'{name}' needs {counted(len(field.shape), 'index', 'indices')}, declared as {field}")
        bit = 0
        for i, extent in zip(index, field.shape, strict=True):
            if not 1 <= i <= extent:
                raise InputError(f"'{name}' is out of range, declared as {field}")
            bit = bit * extent + i - 1
        return field.offset + bit

    @cached_property
    def names(self) -> list[str]:
        """The names of all bits, in order."""
        return [name for field in self.fields for name in field.bit_names()]
