"""A sentence on what is known of the cells that made a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitwright.errors import counted, thousandths


def cells_sentence(cells: Mapping[str, Any], steps: int | None = None, margin: float | None = None) -> str:
    """A sentence on the networks behind a run by cells, and how many steps were taken from their answers.

    `margin` is the smallest of the run, where it is known; below 0, an answer that occurred was wrong.
    """
    states = counted(cells["local_states"], "local state")
    if cells["wrong"] is None:
        shown = f"{states}, too many to try them all beforehand"
    elif cells["wrong"]:
        one, met = cells["wrong"] == 1, margin is not None and margin < 0
        which = (
            ("which occurred" if met else "which did not occur")
            if one
            else f"{'some' if met else 'none'} of which occurred"
        )
        shown = f"WRONG in {cells['wrong']:,} of {states}" + ("" if margin is None else f", {which}")
    else:
        least = "" if cells["margin"] is None else f", smallest margin {thousandths(cells['margin'])}"
        shown = f"{'proved on' if cells['proved'] else 'right in'} all {states}{least}"
    how = "" if steps is None else f"; {counted(steps, 'step')} taken from these answers"
    if cells["evaluated"]:
        how = "; every cell of every step was evaluated"
    return f"{_who(cells)} for {counted(cells['kinds'], 'kind')} of cells, {shown}{how}"


def _who(cells: Mapping[str, Any]) -> str:
    """Who decided in the cells: networks that were trained or drawn, or their limit."""
    if cells["networks"] is None:
        return "the limit of wide networks"
    count = "one network" if cells["networks"] == 1 else f"{cells['networks']:,} networks"
    if cells["width"] == 0:  # a function, of which it is not known
        return count
    return f"{count} of {'infinite width' if cells['width'] is None else 'width ' + format(cells['width'], ',')}"
