"""`python -m paper.check`: the authors' validation (App. B) of permutation, addition and multiplication.

Their code computes the NTK predictor of Theorem 3.1, rounds it by its sign, and runs the three algorithms at up to 10
bits on random instances. Here every input runs by the predictor in closed form, and a few by the dense linear algebra
of Eq. (1) and (3).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import click
import numpy as np

from bitwright import Algorithm, addition, multiplication, permutation, validate
from bitwright.cli import options as opt
from bitwright.cli.progress import working
from bitwright.engines.rules import LimitEngine
from bitwright.validation import Tally, Validation
from paper.kernel_engine import KernelEngine

TASKS = ("permutation", "addition", "multiplication")


def algorithm_of(task: str, bits: int) -> Algorithm:
    """One of the three, at this bit length; the permutation is a random one."""
    if task == "permutation":
        return permutation((np.random.default_rng(bits).permutation(bits) + 1).tolist())
    return {"addition": addition, "multiplication": multiplication}[task](bits)


def validations(task: str, most: int, random: int | None) -> Iterator[Validation]:
    """Every input at 1, 2, ... bits by the predictor in closed form, or `random` ones by dense linear algebra."""
    engine_class = LimitEngine if random is None else KernelEngine
    for bits in range(1, most + 1):
        algorithm = algorithm_of(task, bits)
        engine = engine_class(algorithm.program, algorithm.program.templates, "sign")
        yield validate(algorithm, engine=engine, random=random)


@click.command("check")
@click.option("--bits", type=click.IntRange(1, 12), default=10, show_default=True, help="Bit lengths up to this.")
@click.option(
    "--random",
    type=click.IntRange(1, 10_000),
    default=5,
    show_default=True,
    help="Inputs of each size for linear algebra.",
)
@opt.options("train", "--quiet")
def command(bits: int, random: int) -> int:
    """Run permutation, addition and multiplication through the NTK predictor, rounded by its sign.

    The exit code is 0 if every step of every run is right, else 1.
    """
    exact, lines = True, list[str]()
    with working("sizes") as progress:
        for how, count in (("closed form, every input", None), ("linear algebra", random)):
            for task in TASKS:
                total = Tally()
                for number, done in enumerate(validations(task, bits, count), 1):
                    exact &= done.exact
                    total += done.tally
                    progress(len(lines) * bits + number, 2 * len(TASKS) * bits)
                steps = f"{total.evaluations:,} evaluations, {total.wrong_steps:,} wrong"
                counts = f"{total.inputs:,} inputs, {total.wrong:,} wrong; {steps}"
                lines.append(f"  {how:24}  {task:14}  {counts}")
    click.echo(f"{'EXACT' if exact else 'NOT EXACT'}: the NTK predictor with sign rounding, 1 to {bits} bits")
    click.echo("\n".join(lines))
    return 0 if exact else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the check, and gives the exit code."""
    from bitwright.cli.main import main as answer

    return answer(arguments, command, "python -m paper.check")


if __name__ == "__main__":
    sys.exit(main())
