"""`bitwright trace`: every state of a run, as text or as an interactive page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import note, working
from bitwright.cli.reporting import exit_code, print_json, print_lines
from bitwright.cli.run import open_graph
from bitwright.cli.targets import Target, execute, open_network
from bitwright.verbs.numbers import parse_values

if TYPE_CHECKING:
    from bitwright import Algorithm


@opt.verb("trace", "FILE|NAME")
@click.argument("inputs", nargs=-1, metavar="[NAME=VALUE|TABLE.csv]...")
def command(
    target: Target,
    inputs: tuple[str, ...],
    output: Path | None,
    only: str | None,
    graph: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Show every state of a run as text, or save it with -o: as an interactive HTML page, as text, or as an .npz file
    of its steps for infer.

    \b
    bitwright trace addition p=11 q=6
    bitwright trace multiplication multiplicand=719 multiplier=483 -o multiplication.html
    bitwright trace examples/sbn/sort4.sbn a=4 b=3 c=9 d=1 -o sort.html
    bitwright trace examples/rule110.bw row=1 --only centre
    bitwright trace examples/graphs/bfs.bw --graph random:40,60 source=0 -o bfs.html
    """
    from bitwright.verbs.trace import check_trace, trace_states, trace_text, write_trace

    numbers, network = dict[str, int](), open_network(options)
    algorithm: Algorithm | None = open_graph(target, inputs, graph)
    if algorithm is None:
        numbers = parse_values(inputs)
        algorithm = target.algorithm(network=network, values=numbers)
    names = only.split(",") if only else []
    check_trace(algorithm, output, names, as_json)
    done = execute(algorithm, numbers, network=network, record=True, **options)
    if output is not None:
        with working(f"writing {output.name}"):
            written = write_trace(done, output, names)
        if not as_json:
            note(written)
    if as_json:
        file = {} if output is None else {"file": str(output)}
        print_json({**done.to_dict(), **file, "states": trace_states(done, names)})
    elif output is None:
        print_lines(trace_text(done, names))
    return exit_code(done)
