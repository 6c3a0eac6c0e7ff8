"""`bitwright show` of a node program: its bits by place, its inputs and outputs, its rules and cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bitwright.cli.reporting import print_json
from bitwright.cli.streams import print_lines
from bitwright.errors import counted, listing

if TYPE_CHECKING:
    from bitwright.program import NodeProgram
    from bitwright.program.graph.schema import NodeWord

_PLACES = {"node": "at every node", "port": "at every port", "whole": "once"}


def show_nodes(program: NodeProgram, text: bool, as_json: bool) -> None:
    """What a node program is, for a graph of 16 nodes where sizes count."""
    schema = program.schema()
    if text:
        print_lines(program.text_lines())
    elif as_json:
        print_json(program.to_dict())
    else:
        click.echo(f"{program.name}  {program.description}")
        click.echo(f"  a node program: {program.sizes}")
        for place, where in _PLACES.items():
            if names := program.names_at(place):
                click.echo(f"  {where:<14} {' '.join(names)}")
        click.echo(f"  inputs         {listing([_said(word) for word in schema.inputs], 12) or 'none'}")
        click.echo(f"  outputs        {listing([_said(word) for word in schema.outputs], 12)}")
        graphs = [*sorted(schema.requires), *([] if schema.degree is None else [f"degree {schema.degree}"])]
        click.echo(f"  graphs         {', '.join(graphs) or 'undirected, any'}")
        states = sum(kind.local_states for kind in program.kinds)
        click.echo(
            f"  cells          {counted(len(program.kinds), 'kind')}, {counted(states, 'local state')}; see --cells"
        )
        click.echo("  rules")
        print_lines(f"    {rule}" for rule in dict.fromkeys(schema.program.rules))


def _said(word: NodeWord) -> str:
    return (
        f"{word.name} ({counted(word.width, 'bit')} {'of the whole' if word.place == 'whole' else f'a {word.place}'})"
    )
