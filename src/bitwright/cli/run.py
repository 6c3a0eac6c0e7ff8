"""`bitwright run`: runs a rule file, an SBN program, a SUBLEQ image or a shipped program."""

from __future__ import annotations

from typing import Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import is_quiet, note
from bitwright.cli.reporting import execute, report
from bitwright.cli.run_graph import asked_graph, report_graph
from bitwright.cli.targets import Target, open_network
from bitwright.common.errors import InputError
from bitwright.verbs.numbers import in_base_of, parse_values
from bitwright.verbs.open import is_image

IMAGE = ("seconds", "resume", "memory")  # options of images


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

    Node programs run on the graph of --graph. Their inputs are NAME=NODE, NAME=@ATTRIBUTE, NAME=order,
    NAME=NODE:VALUE,... or columns of a table (.csv) whose first column contains node names.

    Outputs are printed in the base of the inputs: decimal, 0x or 0b.

    An image reads standard input and writes standard output; a summary is printed to standard error. --memory prints
    words of its memory at the end.

    \b
    bitwright run examples/subtraction.bw a=719 b=483
    bitwright run permutation p=0b10110 --order 3,1,2,5,4
    bitwright run examples/sbn/gcd.sbn a=12 b=18 --engine network
    bitwright run examples/graphs/bfs.bw --graph grid:2x3 source=0.0
    bitwright run examples/subleq/sieve.sq
    """
    if is_image(target.name):
        opt.refuse("does not go with an image, which has a fixed size", "bits", "order", "let")
        if inputs:
            raise InputError("an image takes its input from standard input; leave out the values")
        from bitwright.cli.run_image import run_image

        return run_image(target.name, target.machine, as_json=as_json, **options)
    opt.refuse("goes with images for machine V (.dec, .sq); use --max-steps", *IMAGE)
    options = {name: value for name, value in options.items() if name not in IMAGE}
    network = open_network(options)
    if (on_graph := asked_graph(target, inputs, graph)) is not None:
        return report_graph(execute(on_graph, {}, network=network, **options), as_json)
    numbers = parse_values(inputs)
    algorithm = target.algorithm(networks=network, values=numbers)
    from bitwright.verbs.check import first_warning

    if not is_quiet() and (warning := first_warning(target.name, algorithm)):
        note(warning)
    done = execute(algorithm, numbers, network=network, **options)
    widths = [len(word.bits) for word in algorithm.outputs]
    shown = in_base_of((pair.partition("=")[2] for pair in inputs), done.outputs.values(), widths)
    lines = [f"{name} = {value}" for name, value in zip(done.outputs, shown, strict=True)]
    return report(done, "\n".join(lines), "\n".join(shown), as_json)
