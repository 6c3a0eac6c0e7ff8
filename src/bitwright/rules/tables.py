"""A program from plain tables: names of bits, blocks as lists of bits, templates as (block, configuration, writes)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby, product
from math import prod
from typing import TypeVar

import numpy as np

from bitwright.common.errors import InputError
from bitwright.rules.assemble import BitFamily, Picks, RuleFamily, assemble
from bitwright.rules.families import Origin, WrittenAt
from bitwright.rules.layout import KEYWORDS, NAME, Layout
from bitwright.rules.program import Program

Bit = str | int  # a name such as `p[3]`, or a number from 0
Configuration = int | Sequence[int]  # a number, or 0 and 1 for each bit of the block in the order given there
Template = tuple[int, Configuration, Sequence[Bit] | None]

_INDEXED = re.compile(rf"({NAME.pattern})(?:\[([0-9]{{1,9}}(?:,[0-9]{{1,9}})*)\])?")


def program_from_tables(
    bits: Layout | Sequence[str],
    blocks: Sequence[Sequence[Bit]],
    templates: Sequence[Template],
    block_families: Sequence[str] | None = None,
    rule_families: Sequence[str] | None = None,
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
            raise InputError(f"{what} is of block {block!r}, but blocks have the numbers 0 to {len(members) - 1}")
        tests.append(list(zip(members[block], _values(configuration, len(members[block]), what), strict=True)))
        writes.append(None if written is None else [find(bit, what) for bit in written])

    def block_family(chosen: Sequence[int], origin: Origin) -> BitFamily:
        return BitFamily(len(chosen), Picks.of_rows([members[number] for number in chosen]), origin)

    def rule_family(chosen: Sequence[int], origin: Origin) -> RuleFamily:
        write = Picks.of_rows([writes[number] or [] for number in chosen])
        silent = np.array([writes[number] is None for number in chosen])
        when = Picks.of_rows([[bit for bit, _ in tests[number]] for number in chosen])
        values = np.array([value for number in chosen for _, value in tests[number]], dtype=np.int64)
        return RuleFamily(len(chosen), when, values, write, origin, silent, adds_up=False)

    return assemble(
        layout,
        _families("block", len(members), block_families, block_family),
        _families("template", len(tests), rule_families, rule_family),
    )


def layout_of_names(names: Sequence[str]) -> Layout:
    """The arrays and flags that bits of these names are; the bits of an array stand together, in order.

    >>> [str(field) for field in layout_of_names(["p[1]", "p[2]", "flag"]).fields]
    ['p[2]', 'flag']
    """
    parts: list[tuple[str, tuple[int, ...]]] = []
    for name in names:
        found = _INDEXED.fullmatch(name) if isinstance(name, str) else None
        if found is None or found[1] in KEYWORDS:
            raise InputError(f"{name!r} cannot name a bit; write a name such as flag, p[1] or m[1,2]")
        parts.append((found[1], tuple(int(index) for index in found[2].split(",")) if found[2] else ()))
    shapes: dict[str, tuple[int, ...]] = {}
    for name, group in groupby(parts, key=lambda part: part[0]):
        indices = [index for _, index in group]
        shape = indices[-1]
        complete = len(indices) == prod(shape)  # before they are counted out: one name can claim billions of bits
        if name in shapes or not complete or indices != list(product(*(range(1, extent + 1) for extent in shape))):
            raise InputError(
                f"the bits of '{name}' must stand together, each once, in the order of their indices from 1 on"
            )
        shapes[name] = shape
    return Layout.of(list(shapes.items()))


def _finder(layout: Layout) -> Callable[[Bit, str], int]:
    """A function from a bit, as a table gives it, to its number; the second argument says where it is used."""
    numbers = {name: number for number, name in enumerate(layout.names)}

    def find(bit: Bit, where: str) -> int:
        found = numbers.get(bit) if isinstance(bit, str) else bit
        if isinstance(found, bool) or not isinstance(found, int | np.integer) or not 0 <= found < layout.size:
            raise InputError(f"{where} has {bit!r}, which is no bit; give a name, or a number below {layout.size}")
        return int(found)

    return find


def _values(configuration: Configuration, size: int, what: str) -> list[int]:
    """The value of each bit of a block."""
    if isinstance(configuration, int | np.integer) and not isinstance(configuration, bool):
        if not 0 <= configuration < 1 << size:
            raise InputError(
                f"{what} has configuration {configuration}; its block of {size} bits has 0 to {2**size - 1}"
            )
        return [int(configuration) >> place & 1 for place in range(size)]
    values = list(configuration) if isinstance(configuration, Sequence | np.ndarray) else []
    if len(values) != size or any(isinstance(value, str) or value not in (0, 1) for value in values):
        raise InputError(
            f"{what} needs a number, or 0 or 1 for each of the {size} bits of its block, got {configuration!r}"
        )
    return [int(value) for value in values]


Family = TypeVar("Family", BitFamily, RuleFamily)


def _families(
    what: str, count: int, labels: Sequence[str] | None, make: Callable[[Sequence[int], Origin], Family]
) -> list[Family]:
    """One family for each label; without labels every row is a family of its own."""
    if labels is None:
        return [make(range(count), [WrittenAt(what, place=f"{what} {number}") for number in range(count)])]
    if len(labels) != count:
        raise InputError(f"families are given for {len(labels)} {what}s, but there are {count}; give one name for each")
    chosen: dict[str, list[int]] = {}
    for number, label in enumerate(labels):
        chosen.setdefault(str(label), []).append(number)
    return [make(numbers, WrittenAt(label, place=f"{what}s '{label}'")) for label, numbers in chosen.items()]
