"""`bitwright train --from`: what to learn from in place of templates, and what is said about it beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bitwright.cli.reporting import note
from bitwright.errors import InputError, counted, listing

if TYPE_CHECKING:
    from bitwright.api.executions import Wanted
    from bitwright.networks import Recipe
    from bitwright.networks.executions import ExecutionSet
    from bitwright.program import Program
    from bitwright.program.pattern import Pattern

_OPTIONS = (
    click.option("--from", "source", metavar="runs|states|FILE", help="Learn from executions instead of templates."),
    click.option("--runs", type=click.IntRange(1, 10**6), help="With --from runs: every step of so many runs."),
    click.option("--states", type=click.IntRange(1, 10**6), help="With --from: so many states.  [default: 20 K]"),
    click.option(
        "--labels",
        type=click.Choice(["scaled", "plain"]),
        help="With --from: 1 over sqrt(n), or 1, where a bit is set.  [default: scaled]",
    ),
    click.option("--sample-seed", type=click.IntRange(0, 2**63), help="With --from: which inputs or states."),
)


def from_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what to learn from; `wanted_of` takes them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def wanted_of(how: dict[str, Any]) -> Wanted | None:
    """Takes these options out of all; None without --from. The default tolerance is then that of states."""
    given = {name: how.pop(name) for name in ("source", "runs", "states", "labels", "sample_seed")}
    source = given.pop("source")
    given = {name: value for name, value in given.items() if value is not None}
    if source is None:
        if given:
            raise InputError(f"--{next(iter(given)).replace('_', '-')} goes with --from")
        return None
    from bitwright.api.executions import TOLERANCE, Wanted

    if click.get_current_context().get_parameter_source("tolerance") is ParameterSource.DEFAULT:
        how["tolerance"] = TOLERANCE
    return Wanted(source, **given)


def about_executions(executions: ExecutionSet | None) -> dict[str, object]:
    """For JSON: nothing of networks that were trained on templates."""
    return {} if executions is None else {"executions": asdict(executions.learnt_from)}


def say_whole(executions: ExecutionSet, recipe: Recipe, program: Program, quiet: bool) -> None:
    """What is learnt from, and how long it will take; and which templates it never shows."""
    from bitwright.api.executions import unseen

    learnt = executions.learnt_from
    note(f"{counted(learnt.examples, 'different state')} of {learnt.states:,} {_of(executions)}", quiet)
    _say_steps(executions, recipe, program, quiet)
    if missing := unseen(executions):
        shown = listing([f"'{program.template_text(template)}'" for template in missing], 2)
        note(f"these states never match {counted(len(missing), 'template')}, which cannot be learnt: {shown}", quiet)


def say_cells(executions: ExecutionSet, recipe: Recipe, pattern: Pattern, quiet: bool) -> None:
    """The same for cells."""
    from bitwright.api.executions import unseen_kinds

    learnt = executions.learnt_from
    note(
        f"{learnt.examples:,} of {counted(pattern.local_states, 'local state')} occur in {learnt.states:,} "
        f"{_of(executions)}",
        quiet,
    )
    _say_steps(executions, recipe, pattern.program, quiet)
    if missing := unseen_kinds(pattern, executions):
        numbers = listing([str(kind + 1) for kind in missing], 8)
        note(f"no local state occurs of {counted(len(missing), 'kind')} of cells, number {numbers}", quiet)


def _of(executions: ExecutionSet) -> str:
    learnt = executions.learnt_from
    if learnt.source == "runs":
        return "states of runs" if learnt.runs is None else f"states of {counted(learnt.runs, 'run')}"
    return "random states" if learnt.source == "states" else "states of the file"


def _say_steps(executions: ExecutionSet, recipe: Recipe, program: Program, quiet: bool) -> None:
    from bitwright.networks.start import NetworkShape

    ends = executions.spectrum(recipe.plan, NetworkShape(program.templates, recipe.width, program.bits))
    steps = recipe.plan.expected_steps(executions.set.examples, ends)
    note(f"the kernel of these has condition number {ends[1] / ends[0]:,.0f}: about {steps:,} steps", quiet)
