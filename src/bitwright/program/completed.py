"""Programs with a template for every configuration: to a network that reads bits, no two of them are the same.

Configurations without a template write nothing, and to the rules they are one choice. What is added says just that.
"""

from __future__ import annotations

from bitwright.errors import InputError
from bitwright.program.cells import Kind
from bitwright.program.pattern import Pattern
from bitwright.program.program import Program

_MOST = 1 << 16  # templates


def completed(program: Program) -> Program:
    """The same rules, with templates that write nothing for all other configurations of every block.

    >>> from bitwright import addition
    >>> addition(2).program, completed(addition(2).program)
    (<Program: 6 bits, 4 blocks, 8 templates>, <Program: 6 bits, 4 blocks, 12 templates>)
    """
    members = [program.block_members(block).tolist() for block in range(program.blocks)]
    _check_few(sum(1 << len(bits) for bits in members))
    pairs = zip(program.template_block.tolist(), program.template_config.tolist(), strict=True)
    written = {place: program.writes(template).tolist() for template, place in enumerate(pairs)}
    templates = [
        (block, config, written.get((block, config)) or None)
        for block, bits in enumerate(members)
        for config in range(1 << len(bits))
    ]
    return Program.from_tables(program.layout, members, templates)


def completed_pattern(pattern: Pattern) -> Pattern:
    """The same kinds in the same order, each with templates for all configurations of its blocks.

    >>> from bitwright import addition
    >>> pattern = Pattern.of(addition(8).program.kinds.kinds)
    >>> pattern.program.templates, completed_pattern(pattern).program.templates
    (8, 12)
    """
    _check_few(sum(1 << bits for kind in pattern.kinds for bits, _ in kind.blocks))
    return Pattern(tuple(_completed_kind(kind) for kind in pattern.kinds))


def _completed_kind(kind: Kind) -> Kind:
    place, first = [], 0
    for bits, configurations in kind.blocks:
        place += [first + config for config in configurations]
        first += 1 << bits
    blocks = tuple((bits, tuple(range(1 << bits))) for bits, _ in kind.blocks)
    return Kind(blocks, tuple(tuple(place[template] for template in port) for port in kind.ports))


def _check_few(templates: int) -> None:
    if templates > _MOST:
        raise InputError(
            f"the blocks have {templates:,} configurations, more than the {_MOST:,} that a network which reads bits is "
            "tried on; let it read templates"
        )
