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
    import numpy as np

    from bitwright.program import NodeSchema
    from bitwright.program.cell_names import first_cells
    from bitwright.program.cells import cell_kinds
    from bitwright.program.pattern import Pattern

    program = algorithm.program
    cells = program.cells.tiled(tile)
    found = program.kinds if tile == 1 else cell_kinds(program, cells)
    pattern = Pattern.of(found.kinds)
    rows = []
    ports = [one.ports for one in first_cells(program, cells, found)]
    for number, kind in enumerate(found.kinds):
        first = int(np.flatnonzero(found.of == number)[0])
        members = cells.members(first).tolist()
        names = [name for block in members for name in program.block_names(block)]
        rows.append((kind, int(found.counts[number]), names, len(members), ports[number]))
    if as_json:
        print_json(
            {
                "name": algorithm.name,
                "program_id": program.id,
                "cell_count": int(found.counts.sum()),
                "tile": tile,
                "kinds": len(rows),
                "tables": [
                    {
                        "cells": count,
                        "blocks": len(kind.blocks),
                        "examples": kind.templates,
                        "ports": len(kind.ports),
                        "local_states": kind.local_states,
                        "first": names,
                        "first_ports": [list(bits) for bits in sets],
                    }
                    for kind, count, names, _, sets in rows
                ],
                "examples": pattern.program.templates,
                "local_states": pattern.local_states,
                "pattern_id": pattern.program.id,
            }
        )
        return
    # what a node program writes elsewhere is in no cell of its own
    idle = 0 if isinstance(algorithm, NodeSchema) else int(np.count_nonzero(found.of < 0))
    without = f" (and {counted(idle, 'cell')} without rules)" if idle else ""
    click.echo(
        f"{algorithm.name}: {counted(int(found.counts.sum()), 'cell')} of {counted(len(rows), 'kind')}{without}; "
        f"{counted(pattern.program.templates, 'example')}, {counted(pattern.local_states, 'local state')}"
    )
    for number, (kind, count, names, blocks, sets) in enumerate(rows, 1):
        ruled = len(kind.blocks)
        only = f"; {ruled} of its {blocks} blocks {'has' if ruled == 1 else 'have'} rules" if ruled < blocks else ""
        click.echo(f"  kind {number}: {counted(count, 'cell')}, each {kind}; the first is {listing(names, 8)}{only}")
        if sets:
            said = "; ".join(f"port[{port}] sets {listing(bits, 4)}" for port, bits in enumerate(sets, 1))
            click.echo(f"    there {said}")
    click.echo("\n# the pattern: one cell of each kind; ports are bits that nothing reads")
    for line in pattern.program.text_lines():
        click.echo(line)
