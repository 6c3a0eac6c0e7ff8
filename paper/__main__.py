"""`python -m paper NAME`: a figure of the paper or of ours, from our own numbers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import note, working
from bitwright.cli.targets import Target
from bitwright.common.errors import InputError


@click.command("paper", cls=opt.Verb)
@click.argument("name", metavar="NAME|all")
@click.argument("inputs", nargs=-1, metavar="[INPUT=NUMBER]...")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    default=Path("figures"),
    show_default=True,
    help="The folder to write into.",
)
@click.option("--full", is_flag=True, help="The paper's full setting; what trains networks then wants a GPU.")
@click.option("--device", default="cpu", show_default=True, help="Where networks are trained: cpu, or cuda (PyTorch).")
@click.option(
    "--minutes", type=float, help="Stop training after this many minutes; the same command goes on from there."
)
@click.option(
    "--page",
    type=click.Path(path_type=Path),
    help="Put the captions into this page, such as docs/explanation/results.md.",
)
@click.option("--collect-only", is_flag=True, help="Train and write tables, draw nothing (needs no Matplotlib).")
@click.option("--program", "target", default="", metavar="FILE|NAME", help="For templates and predictor: the program.")
@opt.options("certify", "--workers")
@opt.options("train", "--bits", "--order", "--let", "--machine", "--quiet")
def command(
    name: str,
    inputs: tuple[str, ...],
    output: Path,
    full: bool,
    device: str,
    workers: str,
    minutes: float | None,
    page: Path | None,
    collect_only: bool,
    target: Target,
) -> None:
    """Write a figure as SVG and PNG, the numbers behind it as CSV, and a caption, into a folder.

    \b
    templates            Figures 1-3: blocks, templates, training set, of any program
    predictor            Figure 4: from one input to a prediction, of any program
    ensemble-complexity  Figure 5: networks to average against bit length
    orders               Lemma 6.1: mean and variance against K
    sbn                  Figure 6: the SBN machines, and steps per instruction
    experiment-1         Figure 7: networks to 90% accuracy, trained permutations
    experiment-2         Figure 7: accuracy against ensemble size
    beyond               the same for addition, multiplication and SBN; one network instead of many
    width-law            spread and exactness of one network against the law that predicts them
    executions           learning from states of runs instead of templates

    Networks already in the folder's tables are not trained again.
    """
    import time
    from dataclasses import replace
    from math import inf

    from bitwright.common.workers import Workers
    from bitwright.verbs.numbers import parse_values
    from paper import FIGURES, Setting, make_figure, write_tables

    if not target.name and (inputs or target.lets or (target.bits, target.order, target.machine) != (None, None, None)):
        raise InputError("inputs, --bits, --order, --let and --machine go with --program")
    if minutes is not None and not minutes >= 0:
        raise InputError(f"--minutes must be 0 or more, got {minutes:g}")
    if device != "cpu":
        from bitwright.networks.descent import check_device

        check_device(device)
    until = inf if minutes is None else time.monotonic() + 60 * minutes
    setting = Setting(full, output, device, Workers.parse(workers, device), until)
    if target.name:
        setting = replace(setting, algorithm=target.algorithm(default_bits=2), values=parse_values(inputs))
    for each in FIGURES if name == "all" else (name,):
        with working(each) as progress:
            setting = replace(setting, progress=progress)
            for path in write_tables(each, setting, True)[1] if collect_only else make_figure(each, setting):
                note(f"wrote {path}")
    if page is not None:
        from paper.figures import update_page

        note(f"wrote {page}: {update_page(page, output)} captions")


def main(arguments: Sequence[str] | None = None) -> int:
    """Draws the figures that are asked for, and gives the exit code."""
    from bitwright.cli.main import main as answer

    return answer(arguments, command, "python -m paper")


if __name__ == "__main__":
    sys.exit(main())
