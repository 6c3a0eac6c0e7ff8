"""What several verbs share: options, output, progress, and how NAME or FILE becomes an algorithm."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from bitwright.errors import InputError, suggestion

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from bitwright.execution import Run, Watch
    from bitwright.machines import Code, Machine
    from bitwright.program import Algorithm

NAMES = ("addition", "multiplication", "permutation")


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
machine_option = click.option(
    "--machine", type=click.Choice(["A", "B"]), help="For .sbn programs: the paper's machine A, or B (the default)."
)
order_option = click.option("--order", help="For a permutation: where each bit goes, bit 1 first, such as 3,1,2.")
padding_option = click.option(
    "--padding", type=click.IntRange(0, 10**9), help="Examples to add that are never matched (App. C)."
)
engine_option = click.option(
    "--engine", default="templates", show_default=True, help="templates, limit, kernel, sampled or network."
)
run_options = _together(
    engine_option,
    click.option("--rounding", default="calibrated", show_default=True, help="How real outputs become bits."),
    padding_option,
    click.option("--network", "files", multiple=True, type=click.Path(path_type=Path), help="Trained network file(s)."),
    click.option("--width", type=int, help="For network without a file: the width to train on the spot."),
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
    click.option("--max-steps", type=int, help="Stop after this many steps even if the program is not done."),
    json_option,
    quiet_option,
)


def note(text: str, quiet: bool = False) -> None:
    """Something worth knowing that is not the result: to stderr."""
    if not quiet:
        click.secho(text, err=True, dim=True)


def print_json(document: Mapping[str, object]) -> None:
    from bitwright.bits import any_digits

    with any_digits():
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def parse_order(text: str) -> list[int]:
    """`3,1,2` as a list of positions."""
    from bitwright.bits import parse_number

    return [parse_number(part, "each position of --order") for part in text.split(",")]


def find_algorithm(
    target: str,
    bits: int | None = None,
    order: str | None = None,
    default_bits: int = 4,
    machine: str | None = None,
) -> Algorithm:
    """The algorithm that a shipped name, a rule file or an SBN program stands for."""
    from bitwright.algorithms import addition, multiplication, permutation
    from bitwright.algorithms.sizes import check_bits
    from bitwright.program import load

    if Path(target).suffix == ".sbn":
        if bits is not None or order is not None:
            raise InputError("--bits and --order do not go with an SBN program; it has a .width of its own")
        return find_machine(target, machine)[2]
    if machine is not None:
        raise InputError("--machine goes with .sbn programs only")
    length = default_bits if bits is None else bits
    if target == "permutation":
        if order is not None and bits is not None:
            raise InputError("--order says how many bits there are; leave out --bits")
        return permutation(range(check_bits(length), 0, -1) if order is None else parse_order(order))
    if order is not None:
        raise InputError("--order goes with permutation only")
    if target == "addition":
        return addition(length)
    if target == "multiplication":
        return multiplication(length)
    if bits is not None:
        raise InputError(f"--bits goes with {', '.join(NAMES)}; in a rule file, change its 'let' line")
    if not Path(target).suffix and not Path(target).exists():
        raise InputError(f"'{target}' is neither a file nor one of {', '.join(NAMES)}{suggestion(target, NAMES)}")
    return load(target)


def find_machine(target: str, kind: str | None) -> tuple[Machine, Code, Algorithm]:
    """An SBN program on a machine of its size, padded so that the sign rule is certified for it."""
    from dataclasses import replace

    from bitwright.machines import load_sbn, machine_a, machine_b
    from bitwright.theory import smallest_examples

    code = load_sbn(target)
    machine = (machine_a if kind == "A" else machine_b)(code.sizes)
    algorithm = machine.algorithm(code)
    if machine.program.blocks < 50_000:  # beyond, the search for the padding takes longer than anyone would wait
        algorithm = replace(algorithm, examples=smallest_examples(machine.program))
    return machine, code, algorithm


def training_size(algorithm: Algorithm, rounding: str, padding: int | None) -> int:
    """K: the templates and the padding asked for, or what the algorithm declares for the sign rule."""
    templates = algorithm.program.templates
    if padding is not None:
        return templates + padding
    return max(templates, algorithm.examples or 0) if rounding == "sign" else templates


def execute(
    algorithm: Algorithm,
    values: Mapping[str, int],
    *,
    engine: str,
    rounding: str,
    padding: int | None,
    networks: int = 1,
    seed: int = 0,
    files: tuple[Path, ...] = (),
    width: int | None = None,
    max_steps: int | None,
    quiet: bool,
    record: bool = False,
    watch: Watch | None = None,
) -> Run:
    """A run with the options that users give, under a progress bar."""
    from bitwright.execution import Settings, run
    from bitwright.theory import check_rounding

    chosen = check_rounding(rounding)
    if files and engine != "network":
        raise InputError("--network goes with --engine network")
    settings = Settings(chosen, training_size(algorithm, chosen, padding), networks, seed, files, width)
    with StepProgress(not quiet) as progress:
        return run(
            algorithm,
            values,
            engine=engine,
            settings=settings,
            limit=max_steps,
            record=record,
            progress=progress,
            watch=watch,
        )


def parse_values(pairs: Sequence[str]) -> dict[str, int]:
    """`a=7 b=13` as a dictionary."""
    from bitwright.bits import parse_number, shorten

    values: dict[str, int] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise InputError(f"give inputs as NAME=NUMBER, such as a=7, got '{shorten(pair)}'")
        if name in values:
            raise InputError(f"input {name} is given twice")
        negative = text.strip().startswith("-")
        size = parse_number(text.strip()[1:] if negative else text, f"input {name}")
        values[name] = -size if negative else size
    return values


def run_json(run: Run, bits: int, **more: object) -> dict[str, object]:
    """The stable keys of a run."""
    single = {"value": run.value} if len(run.outputs) == 1 else {}
    return {
        "algorithm": run.algorithm.name,
        **single,
        "outputs": run.outputs,
        "bits": bits,
        "steps": run.steps,
        "halted": run.halted,
        "engine": run.engine,
        "rounding": run.rounding,
        "margin": run.margin,
        **more,
    }


def report(
    run: Run, bits: int, line: str, bare: str, as_json: bool, quiet: bool, about: str = "", **more: object
) -> int:
    """Prints a run and gives the exit code: 1 if the step limit came before the end, or the answer is not exact.

    Ensembles and trained networks can be wrong, so what they say is compared with what the rules give.
    """
    exact = _exact(run)
    if as_json:
        print_json(run_json(run, bits, **({} if exact is None else {"exact": exact}), **more))
    elif run.halted:
        click.echo(bare if quiet else line)
        program = run.algorithm.program
        steps = f"{run.steps:,} step{'s' * (run.steps != 1)}"
        rounded = "" if run.rounding is None else f", {run.rounding} rounding"
        margin = "" if run.margin is None else f", smallest margin {run.margin:.3g}"
        note(f"{about}{program.templates:,} templates, {steps}, engine {run.engine}{rounded}{margin}", quiet)
    if not run.halted:
        click.echo(
            f"bitwright: {run.algorithm.name} did not halt within {run.steps:,} steps; "
            + ("its 'steps' allows no more" if run.steps == run.algorithm.steps else "raise --max-steps")
            + ", or check its rules",
            err=True,
        )
    if exact is False:
        click.echo("bitwright: this is not what the rules give; use more networks or a wider one", err=True)
    return 0 if run.halted and exact is not False else 1


def _exact(run: Run) -> bool | None:
    """Whether the outputs are those of the rules; None where that needs no asking."""
    if run.engine not in ("sampled", "network"):
        return None
    from bitwright.execution import run as execute_rules

    return execute_rules(run.algorithm, run.inputs, limit=run.steps).outputs == run.outputs


def widest(algorithm: Algorithm) -> int:
    """The bit length of its longest input, or output if it has no input."""
    return max((len(word.bits) for word in algorithm.inputs or algorithm.outputs), default=0)


class StepProgress:
    """A progress bar on stderr, for runs that take longer than a moment and terminals that can show it."""

    def __init__(self, show: bool, what: str = "steps") -> None:
        self._show = show and sys.stderr is not None and sys.stderr.isatty()
        self._what = what
        self._begin = time.monotonic()
        self._seen = self._begin
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> StepProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, step: int, limit: int) -> None:
        if not self._show or time.monotonic() - self._seen < 0.05:
            return
        self._seen = time.monotonic()
        if self._bar is None:
            if time.monotonic() - self._begin < 0.5:
                return
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._what, total=limit)
        if self._task is not None:
            self._bar.update(self._task, completed=step)
