"""Options that several verbs share: each is defined once, and means the same everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial, wraps
from math import isfinite
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from bitwright.cli.progress import QUIET
from bitwright.cli.targets import Target, lets_for
from bitwright.common.errors import InputError
from bitwright.verbs.open import MachineChoice

# Groups of options in the order of the help; those of one verb alone come first.
GROUPS = {
    "The program": "bits order let machine sizes program graph values directed",
    "The engine": "engine rounding padding network evaluate n",
    "Networks": "tile networks width seed device",
    "Training": "descent tolerance seeds integer weight-bits from",
    "Inputs": "random sample-seed",
    "Images for machine V": "max-instructions memory signed",
    "Work and output": "max-steps seconds workers resume yes output json quiet help",
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


class _MachineType(click.ParamType):  # type: ignore[type-arg]
    """A, B or V, with the size and the dialect of machine V: V:256x16:howerj."""

    name = "machine"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> MachineChoice:
        found = re.fullmatch(r"([AB])|V(?::(?:(\d{1,9})x(\d{1,3}))?(?::(.+))?)?", value)
        if found is None:
            self.fail(f"{value[:40]!r} is not A, B, V or V:WORDSxWIDTH:DIALECT such as V:256x16:howerj.", param, ctx)
        words, width = (None if number is None else int(number) for number in found.groups()[1:3])
        return MachineChoice(found[1] or "V", words, width, found[4])


machine = click.option(
    "--machine",
    type=_MachineType(),
    metavar="A|B|V:WxN:DIALECT",
    help="For .sbn programs: the paper's machine A, or B (the default). For SUBLEQ (.sq, .dec, machine-v): V with W "
    "words of N bits and its dialect (howerj, kth, plain, or flags such as range,strict), such as V:256x16:howerj.",
)
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
        "--descent",
        type=click.Choice(["balanced", "momentum", "plain"]),
        help="Steps of gradient descent: balanced (fewest), with momentum, or plain, as in the theorem.  "
        "[default: balanced; momentum for executions]",
    ),
    click.option(
        "--tolerance", type=float, help="Largest error on any example.  [default: 0.001; 0.01 for executions]"
    ),
    device,
)
source = click.option(
    "--from",
    "source",
    metavar="runs|states|FILE",
    help="Executions: of runs or of random states, or a .npz file. runs:20 is every step of 20 runs, states:500 that "
    "many states; by default they are 20 for each template.",
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


seconds = click.option(
    "--seconds",
    type=click.FloatRange(0),
    callback=_finite,
    help="Stop after this time. An image: not counting the time spent waiting for input. A task: by default after 600. "
    "infer: of looking for blocks, and then for a shorter text, 60 by default.",
)
resume = click.option(
    "--resume", type=FILE, help="Keep what is done in this file, and continue from it if it is there."
)
computer = together(
    click.option("--max-instructions", type=click.IntRange(0), help="Stop after this many instructions."),
    seconds,
    resume,
    click.option(
        "--memory",
        multiple=True,
        metavar="FROM:TO",
        help="Show these words at the end, both ends included; also one ADDRESS, or a label of a .sq file.",
    ),
    click.option("--signed", is_flag=True, help="Show words and addresses as signed numbers."),
)
running = together(engines, json, quiet)


def given_options() -> dict[str, str]:
    """The options that the command line gives, by the names of their parameters, as they are spelt."""
    context = click.get_current_context()
    return {
        one.name or "": one.opts[0]
        for one in context.command.params
        if isinstance(one, click.Option)
        and one.expose_value
        and context.get_parameter_source(one.name or "") is ParameterSource.COMMANDLINE
    }


def refuse(what: str, *names: str) -> None:
    """Raises InputError if the command line gives one of these options."""
    for name, spelt in given_options().items():
        if name in names:
            raise InputError(f"{spelt} {what}; leave it out")


def allow_only(what: str, *names: str) -> None:
    """Raises InputError if the command line gives an option besides these."""
    refuse(f"does not go with {what}", *(name for name in given_options() if name not in names))
