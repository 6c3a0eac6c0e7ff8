"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import isfinite
from pathlib import Path
from typing import Any

import click

from bitwright.api.open import MachineChoice
from bitwright.cli.targets import find_algorithm, keep_lets


def _together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def apply(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print the bare result, without notes and progress.")
bits_option = click.option(
    "--bits", type=int, help="Bit length of the numbers; by default the smallest that fits (4 where none are given)."
)


def machine_option(function: Any) -> Any:
    """--machine, and for machine V --words, --word-width and --dialect, together as the argument `machine`."""

    @wraps(function)
    def gather(
        *args: Any,
        machine: str | None,
        words: int | None,
        word_width: int | None,
        dialect: str | None,
        **more: Any,
    ) -> Any:
        choice = MachineChoice(machine, words, word_width, dialect)
        return function(*args, machine=None if choice == MachineChoice() else choice, **more)

    return _together(
        click.option(
            "--machine",
            type=click.Choice(["A", "B", "V"]),
            help="For .sbn programs: the paper's machine A, or B (the default). V for SUBLEQ: .sq, .dec, machine-v.",
        ),
        click.option("--words", type=int, help="For machine V: words of memory."),
        click.option("--word-width", type=int, help="For machine V: bits of a word."),
        click.option("--dialect", help="For machine V: howerj, kth, plain, or flags such as range,strict."),
    )(gather)


def let_option(function: Any) -> Any:
    """--let: `find_algorithm` then opens the rule file with these values."""

    @wraps(function)
    def gather(*args: Any, let: tuple[str, ...], **more: Any) -> Any:
        keep_lets(more.get("target", more.get("file")), let)
        return function(*args, **more)

    shown = "For rule files: a value in place of that of a 'let' line, such as l=16; may be repeated."
    return click.option("--let", multiple=True, metavar="NAME=NUMBER", help=shown)(gather)


order_option = _together(
    click.option("--order", help="For a permutation: where each bit goes, bit 1 first, such as 3,1,2."), let_option
)


graph_options = _together(
    click.option(
        "--graph",
        metavar="FILE|SHAPE",
        help="For node programs: an edge list, adjacency list, .graphml or .json, or a shape such as torus:20x30.",
    ),
    click.option(
        "--values",
        type=click.Path(path_type=Path),
        help="For node programs: a table (.csv); its first column names nodes, the others are inputs.",
    ),
    click.option("--directed", is_flag=True, help="For node programs: the edges of an edge list point."),
)


def algorithm_argument(function: Any) -> Any:
    """FILE or NAME with --bits, --order and --machine: the argument `algorithm` is what they stand for."""

    @wraps(function)
    def gather(
        *args: Any, target: str, bits: int | None, order: str | None, machine: MachineChoice | None, **more: Any
    ) -> Any:
        return function(*args, algorithm=find_algorithm(target, bits, order, machine=machine), **more)

    chosen = _together(click.argument("target", metavar="FILE|NAME"), bits_option, order_option, machine_option)
    return chosen(gather)


padding_option = click.option(
    "--padding", type=click.IntRange(0, 10**9), help="Examples to add that are never matched (App. C)."
)
range_option = click.option(
    "--n",
    "source",
    help="How n, the matches of a state, is bounded: blocks (proved, the default), declared (assumed) or reachable "
    "(met in runs of all inputs).",
)
ENGINE_HELP = (
    "What makes the steps: templates (the rules), limit (the mean of infinitely wide networks), kernel (the same by "
    "linear algebra), sampled (an ensemble drawn from the limit) or network (trained)."
)


def _with_network(context: click.Context, _: click.Parameter, value: tuple[Path, ...]) -> tuple[Path, ...]:
    """Whoever gives a network and no engine means that network."""
    if value:
        context.default_map = {**(context.default_map or {}), "engine": "network"}
    return value


engine_option = click.option("--engine", default="templates", show_default=True, help=ENGINE_HELP)
weight_bits_option = click.option(
    "--weight-bits", type=click.IntRange(2, 8), default=8, show_default=True, help="Of a whole-number weight."
)
workers_option = click.option(
    "--workers",
    default="1",
    show_default=True,
    help="1 (this process), a number of processes, all, ray, ray:2 or ray:ADDRESS.",
)


def recipe_options(start: str) -> Callable[[Any], Any]:
    """How networks are trained; `start` is the default start."""
    return _together(
        click.option(
            "--width",
            type=int,
            help="Hidden units; by default the fewest that suffice for cells, else from the width law.",
        ),
        click.option(
            "--seed", type=click.IntRange(0, 2**63), default=0, show_default=True, help="Which networks to draw."
        ),
        click.option(
            "--start",
            type=click.Choice(["zero", "random"]),
            default=start,
            show_default=True,
            help="Output before training: zero, or random as in the paper.",
        ),
        click.option(
            "--descent",
            type=click.Choice(["balanced", "momentum", "plain"]),
            help="Steps of gradient descent: balanced (fewest), with momentum, or plain, as in the theorem.  "
            "[default: balanced; momentum for executions]",
        ),
        click.option(
            "--parametrization",
            type=click.Choice(["ntk", "standard"]),
            default="ntk",
            show_default=True,
            help="Which weights descend: scaled, as in the theorem, or plain, as in the authors' code.",
        ),
        click.option(
            "--tolerance", type=float, help="Largest error on any example.  [default: 0.001; 0.01 for executions]"
        ),
        click.option(
            "--trainer",
            type=click.Choice(["numpy", "torch"]),
            default="numpy",
            show_default=True,
            help="torch (the extra train) can use a GPU.",
        ),
        click.option("--device", default="cpu", show_default=True, help="For torch: cpu or cuda."),
        click.option(
            "--precision",
            type=click.Choice(["float32", "float64"]),
            default="float32",
            show_default=True,
            help="Of weights and training.",
        ),
        click.option(
            "--threads", type=click.IntRange(1, 1024), default=1, show_default=True, help="Of the linear algebra."
        ),
    )


rounding_options = _together(
    click.option(
        "--rounding",
        default="calibrated",
        show_default=True,
        help="How real outputs become bits: calibrated (ours) or sign (the paper's).",
    ),
    padding_option,
    click.option(
        "--network",
        "files",
        multiple=True,
        type=click.Path(path_type=Path),
        callback=_with_network,
        help="Trained network file(s), for --engine network; they say the bit length.",
    ),
)
cell_options = _together(
    click.option(
        "--cells",
        is_flag=True,
        help="One small network (or its limit) in every cell, instead of one for the whole state.",
    ),
    click.option("--tile", type=click.IntRange(1, 16), help="With --cells: take so many neighbouring cells as one."),
    click.option("--evaluate", is_flag=True, help="Of cells: ask the network in every step, though it is proved."),
)
_step_options = _together(engine_option, rounding_options)
_network_options = _together(
    click.option(
        "--networks",
        type=click.IntRange(1, 10**9),
        default=1,
        show_default=True,
        help="For sampled, network: how many to average.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**63),
        default=0,
        show_default=True,
        help="For sampled, network: which networks.",
    ),
    click.option("--device", default="cpu", show_default=True, help="For network: cpu or cuda (PyTorch)."),
    click.option(
        "--precision",
        type=click.Choice(["float32", "float64", "bfloat16", "float16"]),
        default="float32",
        show_default=True,
        help="For network: of its products.",
    ),
    click.option("--whole", is_flag=True, help="For network without a file: train on the whole state, not on cells."),
    cell_options,
    click.option("--max-steps", type=int, help="Stop after this many steps even if the program is not done."),
)
_WIDTH = "For network without a file: the width to train, on the whole state."
engine_options = _together(_step_options, click.option("--width", type=int, help=_WIDTH), _network_options)


def _finite(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """A range of numbers lets nan through, which is neither below nor above anything."""
    if value is not None and not isfinite(value):
        raise click.BadParameter(f"{value} is not a number of seconds such as 60.", context, parameter)
    return value


computer_options = _together(
    click.option("--max-instructions", type=click.IntRange(0), help="For images: stop after this many instructions."),
    click.option(
        "--max-seconds",
        type=click.FloatRange(0),
        callback=_finite,
        help="For images: stop after this time, waiting not counted.",
    ),
    click.option("--checkpoint", type=click.Path(path_type=Path), help="For images: keep the run in this .npz file."),
    click.option("--resume", type=click.Path(path_type=Path), help="For images: go on from such a file."),
    click.option(
        "--memory",
        multiple=True,
        metavar="FROM:TO",
        help="For images: show these words at the end, both ends included; also one ADDRESS. Labels of a .sq do too.",
    ),
    click.option("--signed", is_flag=True, help="For images: show words and addresses as signed numbers."),
    click.option("--start", metavar="ADDRESS", help="For images: the first instruction, 0 if it is not given."),
)
run_options = _together(engine_options, json_option, quiet_option)
