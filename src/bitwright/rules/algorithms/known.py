"""Which of the shipped algorithms a program is, from the names of its bits and the text of its templates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from bitwright.common.errors import InputError
from bitwright.rules import Algorithm
from bitwright.rules.algorithms.arithmetic import addition, multiplication, permutation


def known_algorithm(bits: Sequence[str], templates: Iterable[str], program_id: str) -> Algorithm | None:
    """The shipped algorithm whose program has this id, or None.

    >>> own = addition(2).program
    >>> known_algorithm(own.layout.names, [own.template_text(t) for t in range(own.templates)], own.id)
    Algorithm 'addition': 6 bits, 4 blocks, 8 templates
    """
    length = Counter(name.partition("[")[0] for name in bits)
    try:
        if set(length) == {"p"}:
            found = permutation(_order(templates, length["p"]))
        elif set(length) in ({"p", "q", "c"}, {"p", "q", "c", "counter"}):
            found = addition(length["p"], counter="counter" in length)
        elif "multiplier" in length:
            found = multiplication(length["multiplier"])
        else:
            return None
    except InputError:
        return None
    return found if found.program.id == program_id else None


def order_of(permutation: Algorithm) -> list[int]:
    """Where a permutation moves each bit, bit 1 first."""
    program = permutation.program
    by_bit = sorted(
        range(program.templates), key=lambda t: int(program.block_members(int(program.template_block[t]))[0])
    )
    return [int(program.writes(template)[0]) + 1 for template in by_bit]


def _order(templates: Iterable[str], length: int) -> list[int]:
    """Where each bit goes, by lines such as `when p[2]=1 write p[1]`; 0 for a bit without a line."""
    places = [0] * length
    for line in templates:
        if (found := re.fullmatch(r"when p\[([1-9][0-9]{0,6})\]=1 write p\[([1-9][0-9]{0,6})\]", line, re.ASCII)) and (
            int(found[1]) <= length
        ):
            places[int(found[1]) - 1] = int(found[2])
    return places
