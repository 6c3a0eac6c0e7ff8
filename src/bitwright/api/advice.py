"""Advice about a network that is wrong in some local states: the cause, and what can be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bitwright.api.executions import unseen
from bitwright.errors import counted, listing, option
from bitwright.networks.integer import WEIGHT_BITS
from bitwright.program.local import LocalStates

if TYPE_CHECKING:
    from bitwright.api.cells import TrainedCells
    from bitwright.bits import BoolArray
    from bitwright.networks.train import ExecutionSet
    from bitwright.program.pattern import Pattern

_SHOWN = 2  # examples of what was never shown


def wider(weight_bits: int) -> str:
    """Advice for a network whose weights have this many bits."""
    most = WEIGHT_BITS[-1]
    return "use a wider network" + ("" if weight_bits >= most else f", or weights of up to {most} bits")


def of_cells(found: TrainedCells, executions: ExecutionSet | None) -> str:
    """One line about the local states that a network gets wrong.

    If no execution showed them, a wider network would not learn them either.
    """
    assert found.tables is not None
    wrong = _wrong(found)
    from_states = f"{option('executions')} states"
    after = "" if found.seeds == 1 else f" after {found.seeds} seeds"
    head = f"{len(wrong):,} of {counted(found.tables.states, 'local state')} come out wrong{after}"
    if executions is None:
        return f"{head}; {wider(found.network.weight_bits)}"
    new = wrong[~_among(wrong, executions.set.matched)]
    if not len(new):
        return f"{head}, all of which were shown; {wider(found.network.weight_bits)}"
    source, cure = {
        "runs": ("runs", f"learn from random states ({from_states})"),
        "states": ("these states", "take more states"),
        "file": ("these executions", f"give states that show them, or learn from random ones ({from_states})"),
    }[executions.learnt_from.source]
    which = "none" if len(new) == len(wrong) else f"{len(wrong) - len(new):,}"
    return f"{head}, {which} of which {source} showed, {_never(found.pattern, executions, new)}; {cure}"


def _never(pattern: Pattern, executions: ExecutionSet, new: BoolArray) -> str:
    """The templates that no execution matched; if all were matched, the combinations that never occurred."""
    program = pattern.program
    if missing := unseen(executions):
        texts = [f"'{program.template_text(template)}'" for template in missing]
        return f"nor {counted(len(missing), 'template')}: {listing(texts, _SHOWN)}"
    texts = [
        " with ".join(f"'{program.template_text(template)}'" for template in np.flatnonzero(row).tolist())
        for row in new[:_SHOWN]
    ]
    return f"such as {listing(texts, _SHOWN)}"


def _wrong(found: TrainedCells) -> BoolArray:  # (local states that are wrong, templates of the pattern)
    """The templates that each wrong local state matches."""
    assert found.tables is not None
    pattern, rows = found.pattern, []
    for number, kind in enumerate(pattern.kinds):
        local = LocalStates(kind)
        matched = local.matched(np.arange(local.count))
        wrong = (found.tables.of(number)[0] != local.truth(matched)).any(axis=1)
        part = np.zeros((int(wrong.sum()), pattern.program.templates), dtype=bool)
        part[:, pattern.first_template[number] : pattern.first_template[number + 1]] = matched[wrong]
        rows.append(part)
    return np.concatenate(rows)


def _among(rows: BoolArray, others: BoolArray) -> BoolArray:  # (states,)
    """For each row, whether it is among the others."""
    known = {row.tobytes() for row in np.packbits(others, axis=1)}
    return np.array([row.tobytes() in known for row in np.packbits(rows, axis=1)], dtype=bool)
