"""`bitwright train`: trains a network for the cells of programs or the whole state of one program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller, is_quiet, note
from bitwright.cli.reporting import print_json
from bitwright.cli.targets import Target
from bitwright.common.errors import BitwrightWarning, InputError, counted, thousandths

if TYPE_CHECKING:
    from bitwright.verbs.network import Network


@opt.verb("train", "FILE|NAME")
@click.argument("others", nargs=-1, metavar="[FILE|NAME]...")
def command(target: Target, others: tuple[str, ...], output: Path | None, as_json: bool, **how: Any) -> int:
    """Train a small integer network on the cells of one or more programs, and check it in every local state.

    The network runs every program made of these kinds of cells, at any size. With --tile all, it reads the whole state
    of one program at one size. For a task (.task), transformers are trained until one is proved correct.

    \b
    bitwright train addition --bits 4 -o adder.safetensors
    bitwright train addition --bits 8 --tile 2 --from runs -o adder.safetensors  # learns from runs
    bitwright train addition --bits 4 --tile all -o whole.safetensors
    bitwright train examples/transformers/adder.task --seed 0..3 -o adder.safetensors
    """
    from bitwright.verbs.train import check_output, train

    if output is None:
        raise InputError("Missing option '--output' / '-o': the .safetensors file to write")
    given: dict[str, Any] = {name: value for name, value in how.items() if value is not None}
    seed = given.pop("seed", None)
    if Path(target.name).suffix.lower() == ".task":
        first = seed or 0
        seeds = first if isinstance(first, range) else range(first, first + 1)
        return _train_task(Path(target.name), output, seeds, as_json)
    if isinstance(seed, range):
        given |= {"seed": seed[0], "seeds": len(seed)}
    elif seed is not None:
        given["seed"] = seed
    programs = [
        one.algorithm(cells=how["tile"] != "all")
        for one in (target, *(Target(other, lets=target.lets) for other in others))
    ]
    executions = None
    if "source" in given:
        from bitwright.verbs.executions import Sample

        executions = Sample(given.pop("source"))
    check_output(output, ".safetensors")
    tell = None if is_quiet() else TerminalTeller()
    with catch_warnings(action="ignore", category=BitwrightWarning):  # reported below
        network = train(programs, executions=executions, progress=tell, **given)
    network.save(output)
    if as_json:
        print_json({"file": str(output), **network.to_dict()})
    else:
        note("\n".join(_lines(network, output)))
        click.echo(str(output))
    if network.training is not None and network.training.problem is not None:
        click.echo(f"bitwright: {network.training.problem}", err=True)
        return 1
    return 0


def _train_task(task: Path, output: Path, seeds: range, as_json: bool) -> int:
    """Trains decoders for a task until one is proved or all seeds are used; returns exit code 1 if none is proved."""
    from bitwright.verbs.decoders import train_file

    opt.allow_only("a task (.task)", "output", "seed", "as_json")
    trained = train_file(task, output, seeds=seeds, tell=TerminalTeller())
    if as_json:
        print_json({"file": str(output), "seed": trained.seed, "rounds": trained.rounds, **trained.decision.to_dict()})
    else:
        rounds = counted(trained.rounds, "round")
        note(f"{trained.decision}\n  training   seed {trained.seed}, {rounds} after the first training")
        click.echo(str(output))
    return 0 if trained.decision else 1


def _lines(network: Network, file: Path) -> list[str]:
    """Describes a trained network and its file, line by line."""
    training = network.training
    assert training is not None
    tried = "" if training.seeds == 1 else f", after {training.seeds} seeds"
    size = f"{network.sentence} in a {file.stat().st_size:,}-byte file, in {training.seconds:.2f} s{tried}"
    before, after = thousandths(training.cost.margin_before), thousandths(training.cost.margin)
    cost = f"quantizing changed the smallest margin on {training.cost.states:,} states from {before} to {after}"
    return [size, *network.rows(), *([] if network.proved else [cost])]
