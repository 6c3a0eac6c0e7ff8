"""Prints results on stdout and notes on stderr, and returns exit codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli.progress import is_quiet, note
from bitwright.common.errors import ProofError, counted
from bitwright.verbs.numbers import json_text

if TYPE_CHECKING:
    from bitwright import Run


def print_json(document: Mapping[str, object]) -> None:
    click.echo(json_text(document))


def print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)


def print_result(found: Any, as_json: bool) -> int:
    """Prints a result as text or JSON; returns the exit code."""
    click.echo(json_text(found.to_dict()) if as_json else str(found))
    return 0 if found else 1


def refuted(error: ProofError, as_json: bool) -> int:
    """Prints the claim of a certificate that does not hold; returns the exit code."""
    if as_json:
        print_json(error.to_dict())
    else:
        click.echo("does not hold" if is_quiet() else f"DOES NOT HOLD: {error}")
    return 1


def report(run: Run, line: str, bare: str, as_json: bool) -> int:
    """Prints a run and returns the exit code."""
    if as_json:
        print_json(run.to_dict())
    elif run.halted:
        click.echo(bare if is_quiet() else line)
        for sentence in run.sentences:
            note(sentence)
    return exit_code(run)


def exit_code(run: Run) -> int:
    """Returns the exit code of a run: 0, or 1 after printing a line that explains why.

    Ensembles and trained networks can be wrong, so their results are compared with those of the rules.
    """
    if not run.halted:
        click.echo(
            f"bitwright: {run.algorithm.name} did not halt within {counted(run.steps, 'step')}; "
            + ("its 'steps' line sets this limit" if run.steps == run.algorithm.steps else "raise --max-steps")
            + ", or check its rules",
            err=True,
        )
    if run.exact is False:
        random = run.networks is not None  # otherwise the limit itself is wrong
        advice = "use more networks or a wider one" if random else "use calibrated rounding, or --padding"
        if run.engine == "network":
            advice = "bitwright certify finds a state in which this network is wrong"
        click.echo(f"bitwright: this result differs from the rules; {advice}", err=True)
    return 0 if run else 1
