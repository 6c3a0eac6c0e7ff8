"""Whether an engine that can be wrong was right."""

from __future__ import annotations

from bitwright.execution.run import Run, run


def is_exact(done: Run) -> bool | None:
    """Whether a run gave what the rules give; None for engines of which that needs no asking."""
    if done.engine not in ("sampled", "network"):
        return None
    rules = run(done.algorithm, done.inputs, limit=done.limit)
    return (rules.outputs, rules.halted, rules.steps) == (done.outputs, done.halted, done.steps)
