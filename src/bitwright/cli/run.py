"""`bitwright run`, `add` and `multiply`: run a rule file, an SBN program, a SUBLEQ image or a shipped program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import is_quiet, note, working
from bitwright.cli.reporting import report
from bitwright.cli.targets import Target, execute, open_network
from bitwright.common.errors import InputError, columns
from bitwright.verbs.numbers import in_base_of, parse_two, parse_values
from bitwright.verbs.open import is_image, shipped

if TYPE_CHECKING:
    from bitwright import Run
    from bitwright.verbs.graphs import GraphAlgorithm

IMAGE = ("seconds", "resume", "memory")  # options of images
_DIRECTED = "directed:"  # before a list of directed edges


@opt.verb("add")
@click.argument("p")
@click.argument("q")
def add(p: str, q: str, **options: Any) -> int:
    """Add two numbers of any size, bit by bit."""
    return _run_shipped("addition", "+", {"p": p, "q": q}, **options)


@opt.verb("multiply")
@click.argument("multiplicand")
@click.argument("multiplier")
def multiply(multiplicand: str, multiplier: str, **options: Any) -> int:
    """Multiply two numbers of any size by shift and add."""
    given = {"multiplicand": multiplicand, "multiplier": multiplier}
    return _run_shipped("multiplication", "*", given, **options)


@opt.verb("run", "FILE|NAME")
@click.argument("inputs", nargs=-1, metavar="[NAME=VALUE|TABLE.csv]...")
def command(
    target: Target,
    inputs: tuple[str, ...],
    graph: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Run the program in a .bw or .sbn file on the given numbers, or a SUBLEQ image (.dec, .sq) on machine V.

    Node programs run on the graph given by --graph. Their inputs are NAME=NODE, NAME=@ATTRIBUTE, NAME=order,
    NAME=NODE:VALUE,... or the columns of a table (.csv) whose first column contains node names.

    Outputs are printed in the same base as the inputs: decimal, hexadecimal (0x) or binary (0b).

    An image reads standard input and writes to standard output; a summary goes to standard error. --memory prints
    words of the image's memory when the run ends.

    \b
    bitwright run examples/subtraction.bw a=719 b=483
    bitwright run permutation p=0b10110 --order 3,1,2,5,4
    bitwright run examples/sbn/gcd.sbn a=12 b=18 --engine network
    bitwright run examples/graphs/bfs.bw --graph grid:2x3 source=0.0
    bitwright run examples/subleq/sieve.sq
    """
    if is_image(target.name):
        opt.refuse("cannot be used with an image, which has a fixed size", "bits", "order", "let")
        if inputs:
            raise InputError("an image takes its input from standard input; leave out the values")
        from bitwright.cli.run_image import run_image

        return run_image(target.name, target.machine, as_json=as_json, **options)
    opt.refuse("works only with images for machine V (.dec, .sq)", *IMAGE)
    options = {name: value for name, value in options.items() if name not in IMAGE}
    network = open_network(options)
    if (on_graph := open_graph(target, inputs, graph)) is not None:
        return _report_graph(execute(on_graph, {}, network=network, **options), as_json)
    numbers = parse_values(inputs)
    algorithm = target.algorithm(network=network, values=numbers)
    from bitwright.verbs.check import first_warning

    if not is_quiet() and (warning := first_warning(target.name, algorithm)):
        note(warning)
    done = execute(algorithm, numbers, network=network, **options)
    widths = [len(word.bits) for word in algorithm.outputs]
    shown = in_base_of((pair.partition("=")[2] for pair in inputs), done.outputs.values(), widths)
    lines = [f"{name} = {value}" for name, value in zip(done.outputs, shown, strict=True)]
    return report(done, "\n".join(lines), "\n".join(shown), as_json)


def _run_shipped(
    name: str, sign: str, given: Mapping[str, str], *, bits: int | None, as_json: bool, **options: Any
) -> int:
    """Runs a shipped algorithm on two numbers; returns the exit code."""
    values, network = parse_two(given), open_network(options)
    done = execute(shipped(name, values, bits, network=network), values, network=network, **options)
    p, q, found = in_base_of(given.values(), [*values.values(), done.value])
    return report(done, f"{p} {sign} {q} = {found}", found, as_json)


def open_graph(target: Target, inputs: Sequence[str], graph: str | None) -> GraphAlgorithm | None:
    """Returns the node program in a file on the graph of --graph; None for other programs.

    If a graph is given, every rule file counts as a node program, even if its nodes do not communicate.
    """
    from bitwright.verbs import graphs

    if (program := graphs.as_node_program(target.name, target.lets, any_rules=graph is not None)) is None:
        opt.refuse("works only with node programs, which have port bits or paths", "graph")
        return None
    opt.refuse("cannot be used with node programs; set sizes with --let", "bits", "order", "machine")
    if graph is None:
        raise InputError(
            f"{program.name} is a node program; give a graph: --graph FILE, or a shape such as --graph torus:20x30"
        )
    tables = [one for one in inputs if one.lower().endswith(".csv") and "=" not in one]
    if len(tables) > 1:
        raise InputError(f"give one table of inputs, got {' and '.join(tables)}")
    with working("wiring the graph"):
        named = graphs.open_graph(graph.removeprefix(_DIRECTED), graph.startswith(_DIRECTED))
        return graphs.on_graph(program, named, [one for one in inputs if one not in tables], *map(Path, tables))


def _report_graph(done: Run, as_json: bool) -> int:
    """Prints a run on a graph, with a line for each node; returns the exit code."""
    whole = [f"{name} = {value}" for name, value in done.outputs.items()]
    names = list(next(iter(done.nodes.values()), {}))
    rows = [[str(node), *(_shown(own[name]) for name in names)] for node, own in done.nodes.items()]
    lines = columns([["node", *names], *rows]) if names else []
    return report(done, "\n".join([*whole, *lines]), "\n".join([*whole, *lines[1:]]), as_json)


def _shown(value: Any) -> str:
    """A value of a node as text; a dash if it is missing."""
    if isinstance(value, list):
        return ",".join(":".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in value) or "-"
    return "-" if value is None else str(value)
