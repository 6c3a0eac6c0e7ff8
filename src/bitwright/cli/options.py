"""Options that several verbs share: each is defined once, and means the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from math import isfinite
from pathlib import Path
from typing import Any

import click

from bitwright.api.open import MachineChoice
from bitwright.cli.progress import QUIET
from bitwright.cli.targets import Target, lets_for

# Groups of options in the order of the help; those of one verb alone come first.
GROUPS = {
    "The program": "bits order let sizes program graph values directed",
    "Its machine": "machine words word-width dialect",
    "The engine": "engine rounding padding network evaluate n",
    "Networks": "tile networks width seed device precision",
    "Training": "start descent parametrization tolerance trainer seeds integer weight-bits",
    "Executions": "from runs states labels random sample-seed",
    "Images for machine V": "max-instructions max-seconds checkpoint memory signed entry",
    "Work and output": "max-steps workers resume yes output json quiet help",
}
_GROUP_OF = {f"--{name}": title for title, names in GROUPS.items() for name in names.split()}
_OWN = "Options"


def grouped(command: click.Command, context: click.Context) -> dict[str, list[click.Option]]:
    """The options of a verb by group, its own first."""
    found: dict[str, list[click.Option]] = {title: [] for title in (_OWN, *GROUPS)}
    for one in command.get_params(context):
        if isinstance(one, click.Option) and not one.hidden:
            title = next((_GROUP_OF[name] for name in one.opts if name in _GROUP_OF), _OWN)
            found[title].append(one)
    return {title: options for title, options in found.items() if options}


class _Verb(click.Command):
    """A command whose help has its options in groups."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = [*args]
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            several = {name for one in self.params if getattr(one, "multiple", False) for name in one.opts}
            for name, one, more in zip(given, given[1:], given[2:], strict=False):
                if name in several and "unexpected extra argument" in error.message and f"({more}" in error.message:
                    hint = f"; an option takes one value, so repeat it: {name} {one} {name} {more}"
                    raise click.UsageError(error.message + hint, ctx) from None
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, options in grouped(self, ctx).items():
            with formatter.section(title):
                formatter.write_dl([record for one in options if (record := one.get_help_record(ctx)) is not None])


verb = partial(click.command, cls=_Verb)


class _FileName(click.Path):
    """The name of a file or a folder; an empty one would be the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the name is empty; give one", param, ctx)
        return super().convert(value, param, ctx)


FILE = _FileName(path_type=Path)


def together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator."""

    def apply(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
quiet = click.option(
    "--quiet",
    "-q",
    is_flag=True,
    expose_value=False,
    callback=lambda context, _, value: context.meta.update({QUIET: value}),
    help="Print the bare result, without notes and progress.",
)
bits = click.option(
    "--bits", type=int, help="Bit length of the numbers; by default the smallest that fits (4 where none are given)."
)
order = click.option("--order", help="For a permutation: where each bit goes, bit 1 first, such as 3,1,2.")
_machine = together(
    click.option(
        "--machine",
        type=click.Choice(["A", "B", "V"]),
        help="For .sbn programs: the paper's machine A, or B (the default). V for SUBLEQ: .sq, .dec, machine-v.",
    ),
    click.option("--words", type=int, help="For machine V: words of memory."),
    click.option("--word-width", type=int, help="For machine V: bits of a word."),
    click.option("--dialect", help="For machine V: howerj, kth, plain, or flags such as range,strict."),
)


def machine(function: Any) -> Any:
    """--machine, and for machine V --words, --word-width and --dialect, together as the argument `machine`."""

    @wraps(function)
    def gather(*args: Any, machine: Any, words: Any, word_width: Any, dialect: Any, **more: Any) -> Any:
        choice = MachineChoice(machine, words, word_width, dialect)
        return function(*args, machine=None if choice == MachineChoice() else choice, **more)

    return _machine(gather)


lets = click.option(
    "--let",
    multiple=True,
    metavar="NAME=NUMBER",
    help="For rule files: a value in place of that of a 'let' line, such as l=16; may be repeated.",
)


def sized(function: Any) -> Any:
    """--bits, --order, --let and --machine; with what `target` names they are a `Target`."""

    @wraps(function)
    def gather(*args: Any, target: str, bits: Any, order: Any, let: Any, machine: Any, **more: Any) -> Any:
        return function(*args, target=Target(target, bits, order, machine, lets_for(target, let)), **more)

    return together(bits, order, lets, machine)(gather)


def program(metavar: str = "FILE|NAME") -> Callable[[Any], Any]:
    """The program that a verb is about, as the argument `target`."""
    return together(click.argument("target", metavar=metavar), sized)


sizes = click.option(
    "--sizes",
    help="For cells: take every kind of cell at these sizes: 1..64, l=1..64, or all, where that can be proved.",
)

graph = click.option(
    "--graph",
    metavar="FILE|SHAPE",
    help="For node programs: an edge list, adjacency list, .graphml or .json, or a shape such as torus:20x30.",
)
graphs = together(
    graph,
    click.option(
        "--values",
        type=FILE,
        help="For node programs: a table (.csv); its first column names nodes, the others are inputs.",
    ),
    click.option("--directed", is_flag=True, help="For node programs: the edge list is directed."),
)


padding = click.option(
    "--padding", type=click.IntRange(0, 10**9), help="Examples to add that are never matched (App. C)."
)
matches = click.option(
    "--n",
    help="How n, the matches of a state, is bounded: blocks (proved, the default), declared (assumed) or reachable "
    "(met in runs of all inputs).",
)


def _with_network(context: click.Context, _: click.Parameter, value: tuple[Path, ...]) -> tuple[Path, ...]:
    """Makes network the default engine if a network is given."""
    if value:
        context.default_map = {**(context.default_map or {}), "engine": "network"}
    return value


def engine(default: str) -> Callable[[Any], Any]:
    """--engine, with the verb's own default."""
    return click.option(
        "--engine",
        default=default,
        show_default=True,
        help="What makes the steps: templates (the rules), limit (the mean of infinitely wide networks), kernel (the "
        "same by linear algebra), sampled (an ensemble drawn from the limit) or network (trained).",
    )


rounding = click.option(
    "--rounding", help="How real outputs become bits: calibrated (ours, the default) or sign (the paper's)."
)
workers = click.option(
    "--workers",
    default="1",
    show_default=True,
    help="1 (this process), a number of processes, all, ray, ray:2 or ray:ADDRESS.",
)


class _TileType(click.ParamType):  # type: ignore[type-arg]
    """How many neighbouring cells are taken as one, or all."""

    name = "N|all"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        return int(value) if str(value).isdecimal() and len(str(value)) < 9 else value


tile = click.option(
    "--tile",
    type=_TileType(),
    metavar="N|all",
    help="By cells: take this many neighbouring ones as one; all: the whole state, in one size.",
)
seed = click.option("--seed", type=click.IntRange(0, 2**63), help="Random seed of the networks.  [default: 0]")
sample_seed = click.option(
    "--sample-seed", type=click.IntRange(0, 2**63), help="Random seed of the inputs or states.  [default: 0]"
)
width = click.option(
    "--width", type=int, help="Hidden units; by default the fewest that suffice for cells, else by the width law."
)
device = click.option(
    "--device", help="Where networks run: cpu or cuda.  [default: cpu; cuda for long proofs and validations]"
)
weight_bits = click.option("--weight-bits", type=click.IntRange(2, 8), help="Bits of an integer weight.  [default: 8]")


recipe = together(
    width,
    seed,
    click.option(
        "--start",
        type=click.Choice(["zero", "random"]),
        help="Output before training: zero, or random as in the paper.  [default: zero]",
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
    device,
    click.option(
        "--precision",
        type=click.Choice(["float32", "float64"]),
        default="float32",
        show_default=True,
        help="Precision of weights and training.",
    ),
)
sample = together(
    click.option("--from", "source", metavar="runs|states|FILE", help="Executions: of runs, random states, or a file."),
    click.option("--runs", type=click.IntRange(1, 10**6), help="With --from runs: every step of this many runs."),
    click.option(
        "--states",
        type=click.IntRange(1, 10**6),
        help="How many states.  [default: 20 for each template]",
    ),
    sample_seed,
)
networks = together(
    rounding,
    padding,
    click.option(
        "--network",
        "files",
        multiple=True,
        type=FILE,
        callback=_with_network,
        help="Trained network file(s), for --engine network; they set the bit length.",
    ),
    width,
    tile,
    click.option("--evaluate", is_flag=True, help="Evaluate the network at every step, even if it is proved."),
    click.option(
        "--networks", type=click.IntRange(1, 10**9), help="For sampled, network: how many to average.  [default: 1]"
    ),
    seed,
    device,
    click.option("--max-steps", type=int, help="Stop a run after this many steps even if the program is not done."),
)
engines = together(engine("templates"), networks)


def _finite(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """Refuses nan and infinity, which click.FloatRange lets through."""
    if value is not None and not isfinite(value):
        raise click.BadParameter(f"{value} is not a number of seconds such as 60.", context, parameter)
    return value


resume = click.option("--resume", type=FILE, help="Continue from this file, which keeps what is done.")
computer = together(
    click.option("--max-instructions", type=click.IntRange(0), help="Stop after this many instructions."),
    click.option(
        "--max-seconds",
        type=click.FloatRange(0),
        callback=_finite,
        help="Stop after this many seconds, not counting the time spent waiting for input.",
    ),
    click.option(
        "--checkpoint",
        type=FILE,
        help="Save the run to this .npz file, so that --resume can continue it.",
    ),
    resume,
    click.option(
        "--memory",
        multiple=True,
        metavar="FROM:TO",
        help="Show these words at the end, both ends included; also one ADDRESS, or a label of a .sq file.",
    ),
    click.option("--signed", is_flag=True, help="Show words and addresses as signed numbers."),
    click.option("--entry", metavar="ADDRESS", help="The first instruction.  [default: 0]"),
)
running = together(engines, json, quiet)
