"""`bitwright trace`: every state of a run, as text, as a picture or as a page to explore."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.api.trained import files_of
from bitwright.cli.options import engine_options, graph_options, json_option, machine_option, order_option
from bitwright.cli.progress import working
from bitwright.cli.reporting import execute, exit_code, note, print_json, run_json
from bitwright.cli.run_graph import graph_algorithm, node_program, refuse_graph
from bitwright.cli.streams import print_lines
from bitwright.cli.targets import find_algorithm, is_sbn, parse_values, widest
from bitwright.errors import InputError, counted

if TYPE_CHECKING:
    from bitwright.api.open import MachineChoice
    from bitwright.program import Algorithm
    from bitwright.running.run import Run
    from bitwright.viewer import MachineView

KINDS = (".html", ".svg", ".txt", ".npz")


@click.command("trace")
@click.argument("target", metavar="add|multiply|permute|FILE")
@click.argument("inputs", nargs=-1, metavar="[NUMBER|NAME=NUMBER]...")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="Write a .html, .svg, .txt or .npz file.")
@click.option("--text", is_flag=True, help="Print the states as plain text; this is the default without -o.")
@click.option("--only", help="Names to show, such as p,q; by default all, and memory for .sbn. A page has all.")
@click.option("--bits", type=int, help="Bit length of the numbers; by default the smallest that fits.")
@graph_options
@order_option
@machine_option
@engine_options
@json_option
@click.option("--quiet", "-q", is_flag=True, help="No notes and no progress.")
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
    bitwright trace add 11 6
    bitwright trace multiply 719 483 -o multiplication.html
    bitwright trace examples/sbn/sort4.sbn a=4 b=3 c=9 d=1 -o sort.html
    bitwright trace examples/rule110.bw row=1 --only centre
    bitwright trace examples/graphs/bfs.bw --graph random:40,60 source=0 -o bfs.html
    """
    from bitwright.running.run import is_exact
    from bitwright.viewer import choose_columns, trace_states

    if output is not None and output.suffix.lower() not in KINDS:
        raise InputError(f"-o takes a .html, .svg, .txt or .npz file, got {output}")
    algorithm: Algorithm
    numbers: dict[str, int] = {}
    computer: MachineView | None = None
    if (program := node_program(target, graph)) is not None:
        if bits is not None or order is not None or machine is not None:
            raise InputError("--bits, --order and --machine do not go with node programs; there is --let")
        algorithm = graph_algorithm(program, inputs, graph, values, directed)
    else:
        refuse_graph(graph, values, directed)
        algorithm, numbers, computer = _request(target, inputs, bits, order, machine, files_of(options))
    if as_json and text:
        raise InputError("--text prints the states for people, and --json for programs; leave out one of them")
    page = output is not None and output.suffix.lower() in (".html", ".npz")
    if page and only and not text:
        raise InputError("--only does not go with a page or a .npz file: they have all bits")
    names = only.split(",") if only else [computer.memory_name()] if computer else []
    drawn = program is not None and output is not None and output.suffix.lower() == ".svg"
    if text or as_json or not (page or drawn):
        choose_columns(algorithm.program, names)
    done = execute(algorithm, numbers, quiet=quiet, record=True, **options)
    assert done.trace is not None
    if output is not None:
        with working(f"writing {output.name}"):
            _write(output, done, computer, names, bool(only), quiet or as_json)
    if as_json:
        exact = is_exact(done)
        more = {} if exact is None else {"exact": exact}
        written = {} if output is None else {"file": str(output)}
        states = list(trace_states(done.trace, names))
        print_json(run_json(done, widest(algorithm), **more, **written, states=states))
        return exit_code(done, exact)
    if text or output is None:
        print_lines(_text(done, computer, names))
    return exit_code(done, is_exact(done))


def _write(
    path: Path, done: Run, computer: MachineView | None, names: Sequence[str], chosen: bool, quiet: bool
) -> None:
    from bitwright.bits import any_digits
    from bitwright.files.storage import write_atomically
    from bitwright.program import GraphAlgorithm
    from bitwright.viewer import graph_page, graph_svg, run_title, trace_page, trace_svg

    assert done.trace is not None
    kind, on_graph = path.suffix.lower(), isinstance(done.algorithm, GraphAlgorithm)
    if kind == ".npz":
        from bitwright.files.executions import save_executions
        from bitwright.running.executions import executions_of_trace

        save_executions(path, executions_of_trace(done.trace))
        note(f"wrote {path}: {counted(done.steps, 'step')} of {counted(done.trace.layout.size, 'bit')}", quiet)
        return
    if kind == ".html" and on_graph:
        data = graph_page(done)
    elif kind == ".svg" and on_graph:
        if len(names) > 1:
            raise InputError(f"a picture of a graph has the colours of one name, got {len(names)}; give one to --only")
        data = graph_svg(done, colour=names[0] if names else None)
    elif kind == ".html":
        data = trace_page(done, computer=computer)
    elif kind == ".txt":
        data = "\n".join(_text(done, computer, names)) + "\n"
    else:
        title = run_title(done)
        short = title != done.algorithm.name and not chosen and len(done.outputs) == 1
        reading = next(iter(done.outputs)) if short else ""
        with any_digits():
            readings = [str(done.algorithm.read(state)[reading]) for state in done.trace.states()] if short else ()
        data = trace_svg(done.trace, title, names, reading, readings)
    write_atomically(path, data.encode())
    note(f"wrote {path}: {counted(done.steps, 'step')}, {max(1, path.stat().st_size // 1024):,} KiB", quiet)


def _text(done: Run, computer: MachineView | None, names: Sequence[str]) -> Iterator[str]:
    from functools import partial

    from bitwright.program import GraphAlgorithm
    from bitwright.viewer import trace_text
    from bitwright.viewer.graph.text import heading_of, order_lines

    assert done.trace is not None
    if isinstance(done.algorithm, GraphAlgorithm):
        yield from order_lines(done.algorithm)
        yield from trace_text(done.trace, names, (), partial(heading_of, done.algorithm))
    else:
        yield from trace_text(done.trace, names, computer.notes(done.trace) if computer else ())


def _request(
    target: str,
    inputs: tuple[str, ...],
    bits: int | None,
    order: str | None,
    machine: MachineChoice | None,
    files: Sequence[Path],
) -> tuple[Algorithm, dict[str, int], MachineView | None]:
    """The algorithm, its input values by name (`add 11 6` is short for `addition p=11 q=6`), and its computer."""
    from bitwright.api.open import open_sbn
    from bitwright.bits import parse_bit_string, parse_number, width_of
    from bitwright.viewer import MachineView

    verbs = {"add": "addition", "multiply": "multiplication"}
    if target == "permute":
        if len(inputs) != 1 or not (order or files):
            raise InputError("trace permute takes one string of bits and --order")
        value, _ = parse_bit_string(inputs[0])
        return find_algorithm("permutation", order=order, files=files), {"p": value}, None
    if target in verbs:
        if len(inputs) != 2:
            raise InputError(f"trace {target} takes two numbers, got {len(inputs)}")
        numbers = [parse_number(text) for text in inputs]
        algorithm = find_algorithm(verbs[target], bits, None, max(map(width_of, numbers)), files=files)
        return algorithm, dict(zip((word.name for word in algorithm.inputs), numbers, strict=True)), None
    values = parse_values(inputs)
    if is_sbn(target, bits, order):
        program = open_sbn(target, machine)
        return program.algorithm, values, MachineView(program.machine, program.code)
    fitting = max((width_of(value) for value in values.values()), default=4)
    return find_algorithm(target, bits, order, fitting, machine, files), values, None
