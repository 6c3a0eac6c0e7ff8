"""`bitwright show --cells`: the kinds of a program's cells, and the pattern that has one of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bitwright.cli.reporting import print_json
from bitwright.errors import counted, listing

if TYPE_CHECKING:
    from bitwright.program import Algorithm


def show_cells(algorithm: Algorithm, tile: int, as_json: bool) -> None:
    """Prints how many cells there are of each kind, their examples, ports and local states; and the pattern."""
    from bitwright.api.kinds import cell_kinds

    program = algorithm.program
    found = cell_kinds(algorithm, tile)
    pattern = found.pattern
    if as_json:
        print_json(
            {
                "name": algorithm.name,
                "program_id": program.id,
                "cell_count": found.cells,
                "tile": tile,
                "kinds": len(found.kinds),
                "tables": [
                    {
                        "cells": one.cells,
                        "blocks": len(one.kind.blocks),
                        "examples": one.kind.templates,
                        "ports": len(one.kind.ports),
                        "local_states": one.kind.local_states,
                        "first": list(one.first),
                        "first_ports": [list(bits) for bits in one.ports],
                    }
                    for one in found.kinds
                ],
                "examples": pattern.program.templates,
                "local_states": pattern.local_states,
                "pattern_id": pattern.program.id,
            }
        )
        return
    idle = found.without_rules
    without = f" (and {counted(idle, 'cell')} without rules)" if idle else ""
    click.echo(
        f"{algorithm.name}: {counted(found.cells, 'cell')} of {counted(len(found.kinds), 'kind')}{without}; "
        f"{counted(pattern.program.templates, 'example')}, {counted(pattern.local_states, 'local state')}"
    )
    for number, one in enumerate(found.kinds, 1):
        ruled = len(one.kind.blocks)
        only = f"; {ruled} of its {one.blocks} blocks {'has' if ruled == 1 else 'have'} rules"
        click.echo(
            f"  kind {number}: {counted(one.cells, 'cell')}, each {one.kind}; the first is {listing(one.first, 8)}"
            + (only if ruled < one.blocks else "")
        )
        if one.ports:
            said = "; ".join(f"port[{port}] sets {listing(bits, 4)}" for port, bits in enumerate(one.ports, 1))
            click.echo(f"    there {said}")
    click.echo("\n# the pattern: one cell of each kind; ports are bits that nothing reads")
    for line in pattern.program.text_lines():
        click.echo(line)
