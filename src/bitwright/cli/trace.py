"""`bitwright trace`: every state of a run, as text, as a picture or as a page to explore."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.api.numbers import parse_values
from bitwright.api.trained import files_of
from bitwright.cli.options import (
    FILE,
    bits_option,
    engine_options,
    graph_options,
    json_option,
    machine_option,
    order_option,
    quiet_option,
    verb,
)
from bitwright.cli.progress import working
from bitwright.cli.reporting import execute, exit_code, note, print_json
from bitwright.cli.run_graph import asked_graph
from bitwright.cli.streams import print_lines
from bitwright.cli.targets import find_algorithm
from bitwright.errors import InputError

if TYPE_CHECKING:
    from bitwright import Algorithm
    from bitwright.api.open import MachineChoice


@verb("trace")
@click.argument("target", metavar="FILE|NAME")
@click.argument("inputs", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--output", "-o", type=FILE, help="Write a .html, .svg, .txt or .npz file.")
@click.option("--text", is_flag=True, help="Print the states as plain text; this is the default without -o.")
@click.option("--only", help="Names to show, such as p,q; by default all, and memory for .sbn. A page has all.")
@bits_option
@graph_options
@order_option
@machine_option
@engine_options
@json_option
@quiet_option
def command(
    target: str,
    inputs: tuple[str, ...],
    output: Path | None,
    text: bool,
    only: str | None,
    bits: int | None,
    graph: str | None,
    values: Path | None,
    directed: bool,
    order: str | None,
    machine: MachineChoice | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Show every state of a run: as text, or with -o as a page to explore in a browser, an SVG picture, or a .npz file
    of its steps for `infer` and other tools.

    \b
    bitwright trace addition p=11 q=6
    bitwright trace multiplication multiplicand=719 multiplier=483 -o multiplication.html
    bitwright trace examples/sbn/sort4.sbn a=4 b=3 c=9 d=1 -o sort.html
    bitwright trace examples/rule110.bw row=1 --only centre
    bitwright trace examples/graphs/bfs.bw --graph random:40,60 source=0 -o bfs.html
    """
    from bitwright.api.trace import check_trace, trace_states, trace_text, write_trace

    numbers: dict[str, int] = {}
    algorithm: Algorithm | None = asked_graph(target, inputs, graph, values, directed)
    if algorithm is None:
        numbers = parse_values(inputs)
        algorithm = find_algorithm(target, bits, order, machine=machine, files=files_of(options), values=numbers)
    elif bits is not None or order is not None or machine is not None:
        raise InputError("--bits, --order and --machine do not go with node programs; there is --let")
    if as_json and text:
        raise InputError("--text prints the states for people, and --json for programs; leave out one of them")
    names = only.split(",") if only else []
    check_trace(algorithm, output, names, text or as_json)
    done = execute(algorithm, numbers, quiet=quiet, record=True, **options)
    if output is not None:
        with working(f"writing {output.name}"):
            note(write_trace(done, output, names), quiet or as_json)
    if as_json:
        written = {} if output is None else {"file": str(output)}
        print_json({**done.to_dict(), **written, "states": trace_states(done, names)})
    elif text or output is None:
        print_lines(trace_text(done, names))
    return exit_code(done)
