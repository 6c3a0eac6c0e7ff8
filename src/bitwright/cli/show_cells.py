"""`bitwright show --cells`: the kinds of a program's cells, and the pattern that has one of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bitwright.cli.reporting import print_json
from bitwright.cli.streams import print_lines

if TYPE_CHECKING:
    from bitwright.program import Algorithm


def show_cells(algorithm: Algorithm, tile: int, as_json: bool) -> None:
    """Prints how many cells there are of each kind, their examples, ports and local states; and the pattern."""
    from bitwright.api.show import cell_kinds

    found = cell_kinds(algorithm, tile)
    if as_json:
        print_json(found.to_dict())
        return
    click.echo(str(found))
    click.echo("\n# the pattern: one cell of each kind; ports are bits that nothing reads")
    print_lines(found.pattern.program.text_lines())
