"""A program in numbers and families: what `show` prints and pages display.

>>> from bitwright import addition
>>> program = addition(4).program
>>> names(program)[0]
NameSummary(name='p[4]', bits=4, writers_min=2, writers_max=2)
>>> blocks(program)[0]
BlockSummary(count=4, example=('p[1]', 'q[1]'), templates_min=3, templates_max=3)
>>> rules(program)[0]
RuleSummary(count=4, text='when p[i]=0 q[i]=1 write p[i] for i in 1..l')
>>> never_written(program)
['q[1]']
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bitwright.rules.program import Program


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
    """One rule: its text and its number of templates."""

    count: int
    text: str


def names(program: Program) -> list[NameSummary]:
    """Declared names in their order."""
    found = []
    for field in program.layout.fields:
        writers = program.writers[field.offset : field.offset + field.size]
        found.append(NameSummary(str(field), field.size, int(writers.min()), int(writers.max())))
    return found


def blocks(program: Program) -> list[BlockSummary]:
    """Kinds of blocks in the order of their first block."""
    owner = np.repeat(np.arange(len(program.layout.fields)), [field.size for field in program.layout.fields])
    templates = np.bincount(program.template_block, minlength=program.blocks)
    kinds: dict[bytes, list[int]] = {}
    fields = owner[program.block_bits]
    bounds = program.block_start.tolist()
    for block, (first, last) in enumerate(pairwise(bounds)):
        kinds.setdefault(fields[first:last].tobytes(), []).append(block)
    return [
        BlockSummary(
            len(members),
            tuple(program.block_names(members[0])),
            int(templates[members].min()),
            int(templates[members].max()),
        )
        for members in kinds.values()
    ]


def rules(program: Program) -> list[RuleSummary]:
    """Rules in the order they were written; those built in Python show their first template."""
    families = program.rule_families
    present, first = np.unique(families.of, return_index=True)
    found: list[RuleSummary] = []
    line_above = ("", "")
    for rule, template in zip(present.tolist(), first.tolist(), strict=True):
        text, count = families.labels[rule], int(families.sizes[rule])
        line = (text, families.places[rule])
        if not text.startswith("when "):
            found.append(RuleSummary(count, program.template_text(template) + ", and so on" * (count > 1)))
        elif line == line_above:  # one line with = or != between bits is several families
            found[-1] = RuleSummary(found[-1].count + count, text)
        else:
            found.append(RuleSummary(count, text))
        line_above = line
    return found


def never_written(program: Program, most: int | None = None) -> list[str]:
    """Bits that no template writes: they are 0 from the second state on."""
    return [program.layout.name_of(bit) for bit in np.flatnonzero(program.writers == 0)[:most].tolist()]
