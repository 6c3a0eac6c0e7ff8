"""`bitwright train`: a network for the cells of programs, or for the whole state of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller, is_quiet, note
from bitwright.cli.reporting import print_json
from bitwright.cli.targets import Target, keep_sizes
from bitwright.cli.tasks import is_task, train_task
from bitwright.common.errors import BitwrightWarning, InputError, counted

if TYPE_CHECKING:
    from bitwright import Algorithm
    from bitwright.verbs.executions import Sample
    from bitwright.verbs.network import Network


@opt.verb("train")
@opt.program()
@click.argument("others", nargs=-1, metavar="[FILE|NAME]...")
@click.option(
    "--output",
    "-o",
    type=opt.FILE,
    help="A .safetensors file; a folder for several networks.",
)
@opt.sizes
@opt.tile
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    help="For cells and tasks: try up to this many seeds.  [default: 10; 1 for a task]",
)
@click.option("--integer/--float", default=None, help="Integer weights or not.  [default: integers]")
@opt.weight_bits
@opt.recipe
@opt.padding
@opt.source
@opt.sample_seed
@click.option(
    "--networks",
    "-n",
    type=click.IntRange(1, 10**7),
    help="Train this many: side by side as one integer network, as floats in a folder, or to average.  [default: 1]",
)
@click.option(
    "--until", type=click.Choice(["trained", "proved"]), help="For a task (.task): train on until a seed is proved."
)
@opt.workers
@opt.json
@opt.quiet
def command(
    target: Target,
    others: tuple[str, ...],
    output: Path | None,
    as_json: bool,
    **how: Any,
) -> int:
    """Train one small integer network for the cells of programs, and try every local state.

    It runs every program with these kinds of cells, in any size; several programs may be named. With --tile all the
    network is for the whole state of one program in one size.

    \b
    bitwright train addition --bits 4 -o adder.safetensors
    bitwright train addition --bits 8 --tile 2 --from runs -o adder.safetensors  # never shown a template
    bitwright train addition --bits 4 --tile all -o whole.safetensors
    bitwright train examples/transformers/adder.task --until proved --seeds 4 -o adder.safetensors
    """
    until = how.pop("until")
    if is_task(target.name):
        return train_task(Path(target.name), output, how["seed"], how["seeds"], until, as_json)
    opt.refuse("goes with tasks of transformers (.task)", "until")
    tell = None if is_quiet() else TerminalTeller()
    if output is None:
        raise InputError("Missing option '--output' / '-o': the .safetensors file to write")
    keep_sizes(how["sizes"], target.lets)
    programs = [
        one.algorithm(cells=how["tile"] != "all")
        for one in (target, *(Target(other, lets=target.lets) for other in others))
    ]
    return _keep(programs, output, as_json, progress=tell, **_given(how))


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that are given; networks that go to a GPU are trained by PyTorch."""
    given = {name: value for name, value in options.items() if value is not None}
    return given | ({} if given.get("device") in (None, "cpu") else {"trainer": "torch"})


def _keep(programs: list[Algorithm], output: Path, as_json: bool, **how: Any) -> int:
    """Trains networks into a file or a folder; exit 1 if a local state is wrong."""
    from bitwright.verbs.train import check_outputs, train

    executions, integer, workers = _sample(how), how.pop("integer", True), how.pop("workers")
    if how.get("networks", 1) > 1 and not integer:
        opt.refuse("does not go with several networks in a folder", "source", "weight_bits", "seeds")
        members: Any = train(programs, folder=output, workers=workers, **how)
        if as_json:
            print_json(members.to_dict())
        else:
            note(str(members))
            click.echo(str(output))
        return 0
    check_outputs(output, workers=workers)
    with catch_warnings(action="ignore", category=BitwrightWarning):  # it is said below
        network: Any = train(programs, executions=executions, integer=integer, **how)
    network.save(output)
    if as_json:
        print_json({"file": str(output), **network.to_dict()})
    else:
        for line in _lines(network, output):
            note(line)
        click.echo(str(output))
    if network.training is not None and network.training.problem is not None:
        click.echo(f"bitwright: {network.training.problem}", err=True)
        return 1
    return 0


def _sample(how: dict[str, Any]) -> Sample | None:
    """Removes the options about executions, and returns them as a `Sample`; None without --from."""
    source, seed = how.pop("source", None), how.pop("sample_seed", None)
    if source is None:
        opt.refuse("goes with --from", "sample_seed")
        return None
    from bitwright.verbs.executions import Sample

    return Sample(source, sample_seed=seed or 0)


def _lines(network: Network, file: Path) -> list[str]:
    """Lines about a trained network and its file."""
    made, origin = network.training, network.weights.origin
    assert made is not None
    tried = "" if made.seeds in (None, 1) else f", after {made.seeds} seeds"
    size = f"{network.sentence} in a {file.stat().st_size:,}-byte file, in {made.seconds:.2f} s{tried}"
    if network.trained_cells is not None:
        return [size, *network.rows()]
    descent = f"trained in {counted(origin.steps, 'step')}; largest error {origin.error:.2g}"
    return [size, descent, *([] if network.rounding is None else [network.rounding])]
