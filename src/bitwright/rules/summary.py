"""Summarizes the names, blocks and rules of a program for `bitwright show` and notebooks.

>>> from bitwright import addition
>>> program = addition(4).program
>>> names(program)[0]
('p[4]', 4, 2, 2)
>>> blocks(program)[0]
(('p[1]', 'q[1]'), 4, 3, 3)
>>> rules(program)[0]
('when p[i]=0 q[i]=1 write p[i] for i in 1..l', 4)
>>> never_written(program)
['q[1]']
"""

from __future__ import annotations

from itertools import groupby

import numpy as np

from bitwright.rules.program import Program


def names(program: Program) -> list[tuple[str, int, int, int]]:
    """Returns the declared names in order, each with its number of bits and the fewest and most writers of a bit."""
    writers = ((field, program.writers[field.bits()]) for field in program.layout.fields)
    return [(str(field), field.size, int(counts.min()), int(counts.max())) for field, counts in writers]


def blocks(program: Program) -> list[tuple[tuple[str, ...], int, int, int]]:
    """Groups blocks with equally named bits; returns the first block, the count, and the fewest and most templates."""
    sizes = [field.size for field in program.layout.fields]
    fields = np.repeat(np.arange(len(sizes)), sizes)[program.block_bits]
    templates = np.bincount(program.template_block, minlength=program.blocks)
    kinds: dict[bytes, list[int]] = {}
    for block, members in enumerate(np.split(fields, program.block_start[1:-1])):
        kinds.setdefault(members.tobytes(), []).append(block)
    return [
        (tuple(program.block_names(of[0])), len(of), int(templates[of].min()), int(templates[of].max()))
        for of in kinds.values()
    ]


def rules(program: Program) -> list[tuple[str, int]]:
    """Returns the rules in source order, with their number of templates; rules built in Python show a template."""
    families, summaries = program.rule_families, []
    present, first = np.unique(families.of, return_index=True)

    def line(pair: tuple[int, int]) -> tuple[str, str, int]:
        """Returns a key that is equal for the families of a line with = or != between bits, and distinct in Python."""
        text = families.labels[pair[0]]
        return text, families.places[pair[0]], -1 if text.startswith("when ") else pair[0]

    for (text, _, built), pairs in groupby(zip(present.tolist(), first.tolist(), strict=True), line):
        (rule, template), *more = pairs
        count = sum(int(families.sizes[family]) for family, _ in [(rule, template), *more])
        shown = text if built < 0 else program.template_text(template) + ", and so on" * (count > 1)
        summaries.append((shown, count))
    return summaries


def never_written(program: Program, most: int | None = None) -> list[str]:
    """Returns the names of bits that no template writes; they are 0 after the first step."""
    return [program.layout.name_of(bit) for bit in np.flatnonzero(program.writers == 0)[:most].tolist()]
