"""A program in numbers and families: what `show` prints and pages display."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bitwright.program.program import Program


@dataclass(frozen=True)
class NameSummary:
    """One declared name and how its bits are written."""

    name: str
    bits: int
    writers_min: int
    writers_max: int


@dataclass(frozen=True)
class BlockSummary:
    """Blocks with bits of the same names: how many, the first of them, and templates in each (fewest to most)."""

    count: int
    example: tuple[str, ...]
    templates_min: int
    templates_max: int


@dataclass(frozen=True)
class RuleSummary:
    """One rule: its text, and how many templates it stands for."""

    count: int
    text: str


def names(program: Program) -> list[NameSummary]:
    found = []
    for field in program.layout.fields:
        writers = program.writers[field.offset : field.offset + field.size]
        found.append(NameSummary(str(field), field.size, int(writers.min()), int(writers.max())))
    return found


def blocks(program: Program) -> list[BlockSummary]:
    owner = np.repeat(np.arange(len(program.layout.fields)), [field.size for field in program.layout.fields])
    held = np.bincount(program.template_block, minlength=program.blocks)
    kinds: dict[bytes, list[int]] = {}
    fields = owner[program.block_bits]
    bounds = program.block_start.tolist()
    for block, (first, last) in enumerate(pairwise(bounds)):
        kinds.setdefault(fields[first:last].tobytes(), []).append(block)
    return [
        BlockSummary(
            len(members), tuple(program.block_names(members[0])), int(held[members].min()), int(held[members].max())
        )
        for members in kinds.values()
    ]


def rules(program: Program) -> list[RuleSummary]:
    """Rules in the order they were written; those built in Python show their first template."""
    counts = np.bincount(program.template_rule, minlength=len(program.rules))
    present, first = np.unique(program.template_rule, return_index=True)
    example = dict(zip(present.tolist(), first.tolist(), strict=True))
    found: list[RuleSummary] = []
    for rule, text in enumerate(program.rules):
        if rule not in example:
            continue
        if text.startswith("when "):
            shown = text
        else:
            more = ", and so on" if counts[rule] > 1 else ""
            shown = program.template_text(example[rule]) + more
        if found and text.startswith("when ") and program.rules[rule - 1] is text:
            found[-1] = RuleSummary(found[-1].count + int(counts[rule]), shown)  # one line with = or != between bits
        else:
            found.append(RuleSummary(int(counts[rule]), shown))
    return found


def never_written(program: Program, most: int | None = None) -> list[str]:
    """Bits that no template writes: they are 0 from the second state on."""
    return [program.layout.name_of(bit) for bit in np.flatnonzero(program.writers == 0)[:most].tolist()]
