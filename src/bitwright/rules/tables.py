"""Builds programs from tables: bit names, blocks as lists of bits, templates as (block, configuration, writes)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby, product
from math import prod

import numpy as np

from bitwright.common.errors import InputError
from bitwright.rules.assemble import BitFamily, Picks, RuleFamily, assemble
from bitwright.rules.families import WrittenAt
from bitwright.rules.layout import KEYWORDS, NAME, Layout
from bitwright.rules.program import Program

Bit = str | int  # a name such as `p[3]`, or a number from 0
Template = tuple[int, int, Sequence[Bit] | None]

_INDEXED = re.compile(rf"({NAME.pattern})(?:\[([0-9]{{1,9}}(?:,[0-9]{{1,9}})*)\])?")


def program_from_tables(
    bits: Layout | Sequence[str],
    blocks: Sequence[Sequence[Bit]],
    templates: Sequence[Template],
) -> Program:
    """See Program.from_tables."""
    layout = bits if isinstance(bits, Layout) else layout_of_names(bits)
    find = _finder(layout)
    members = [[find(bit, f"block {number}") for bit in block] for number, block in enumerate(blocks)]
    tests: list[list[tuple[int, int]]] = []
    writes: list[list[int] | None] = []
    for number, template in enumerate(templates):
        what = f"template {number}"
        if len(template) != 3:
            raise InputError(f"{what} must be (block, configuration, writes), got {template!r}")
        block, configuration, written = template
        if isinstance(block, bool) or not isinstance(block, int | np.integer) or not 0 <= block < len(members):
            raise InputError(f"{what} has block {block!r}, but blocks are numbered 0 to {len(members) - 1}")
        size = len(members[block])
        if isinstance(configuration, bool) or not isinstance(configuration, int | np.integer):
            raise InputError(f"the configuration of {what} must be an integer, got {configuration!r}")
        if not 0 <= configuration < 1 << size:
            allowed = f"must be between 0 and {2**size - 1} for its block of {size} bits"
            raise InputError(f"the configuration of {what} {allowed}, got {configuration}")
        tests.append([(bit, int(configuration) >> place & 1) for place, bit in enumerate(members[block])])
        writes.append(None if written is None else [find(bit, what) for bit in written])

    def places(what: str, count: int) -> list[WrittenAt]:
        return [WrittenAt(what, place=f"{what} {number}") for number in range(count)]

    when = Picks.of_rows([[bit for bit, _ in row] for row in tests])
    values = np.array([value for row in tests for _, value in row], dtype=np.int64)
    silent = np.array([row is None for row in writes], dtype=bool)
    write = Picks.of_rows([row or [] for row in writes])
    rules = RuleFamily(len(tests), when, values, write, places("template", len(tests)), silent)
    return assemble(layout, [BitFamily(len(members), Picks.of_rows(members), places("block", len(members)))], [rules])


def layout_of_names(names: Sequence[str]) -> Layout:
    """Builds a layout from bit names; the bits of an array must be consecutive and in order.

    >>> [str(field) for field in layout_of_names(["p[1]", "p[2]", "flag"]).fields]
    ['p[2]', 'flag']
    """
    parts: list[tuple[str, tuple[int, ...]]] = []
    for name in names:
        match = _INDEXED.fullmatch(name) if isinstance(name, str) else None
        if match is None or match[1] in KEYWORDS:
            raise InputError(f"{name!r} cannot name a bit; use a name such as flag, p[1] or m[1,2]")
        parts.append((match[1], tuple(int(index) for index in match[2].split(",")) if match[2] else ()))
    shapes: dict[str, tuple[int, ...]] = {}
    for name, group in groupby(parts, key=lambda part: part[0]):
        indices = [index for _, index in group]
        shape = indices[-1]
        complete = len(indices) == prod(shape)  # checked first, because a single name can imply billions of bits
        if name in shapes or not complete or indices != list(product(*(range(1, extent + 1) for extent in shape))):
            raise InputError(f"the bits of '{name}' must be consecutive and distinct, with indices in order from 1")
        shapes[name] = shape
    return Layout.of(list(shapes.items()))


def _finder(layout: Layout) -> Callable[[Bit, str], int]:
    """Returns a function that converts a bit in a table to its number; its second argument is for messages."""
    numbers = {name: number for number, name in enumerate(layout.names)}

    def find(bit: Bit, where: str) -> int:
        number = numbers.get(bit) if isinstance(bit, str) else bit
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 0 <= number < layout.size:
            raise InputError(
                f"{where} contains {bit!r}, which is not a bit; use a name or a number below {layout.size}"
            )
        return int(number)

    return find
