"""A program in numbers and families, as displayed by `show` and pages.

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
from itertools import groupby

import numpy as np

from bitwright.rules.program import Program


@dataclass(frozen=True)
class NameSummary:
    """A declared name and the writers of its bits."""

    name: str
    bits: int
    writers_min: int
    writers_max: int


@dataclass(frozen=True)
class BlockSummary:
    """Blocks with equally named bits: their number, the first of them, and the fewest and most templates in a block."""

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
    """The declared names in order."""
    writers = ((field, program.writers[field.bits()]) for field in program.layout.fields)
    return [NameSummary(str(field), field.size, int(own.min()), int(own.max())) for field, own in writers]


def blocks(program: Program) -> list[BlockSummary]:
    """Groups of blocks in the order of their first block."""
    sizes = [field.size for field in program.layout.fields]
    fields = np.repeat(np.arange(len(sizes)), sizes)[program.block_bits]
    templates = np.bincount(program.template_block, minlength=program.blocks)
    kinds: dict[bytes, list[int]] = {}
    for block, own in enumerate(np.split(fields, program.block_start[1:-1])):
        kinds.setdefault(own.tobytes(), []).append(block)
    return [
        BlockSummary(len(of), tuple(program.block_names(of[0])), int(templates[of].min()), int(templates[of].max()))
        for of in kinds.values()
    ]


def rules(program: Program) -> list[RuleSummary]:
    """Rules in the order of the source; rules built in Python show their first template."""
    families, found = program.rule_families, []
    present, first = np.unique(families.of, return_index=True)

    def line(pair: tuple[int, int]) -> tuple[str, str, int]:
        """Groups templates; a line with = or != between bits is several families; rules built in Python stay apart."""
        text = families.labels[pair[0]]
        return text, families.places[pair[0]], -1 if text.startswith("when ") else pair[0]

    for (text, _, built), pairs in groupby(zip(present.tolist(), first.tolist(), strict=True), line):
        (rule, template), *more = pairs
        count = sum(int(families.sizes[one]) for one, _ in [(rule, template), *more])
        shown = text if built < 0 else program.template_text(template) + ", and so on" * (count > 1)
        found.append(RuleSummary(count, shown))
    return found


def never_written(program: Program, most: int | None = None) -> list[str]:
    """Bits that no template writes, which are 0 from the second state on."""
    return [program.layout.name_of(bit) for bit in np.flatnonzero(program.writers == 0)[:most].tolist()]
