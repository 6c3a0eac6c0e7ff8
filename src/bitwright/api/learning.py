"""Learning from executions, as Python programs ask for it; the command line has the same in its options."""

from __future__ import annotations

from os import PathLike

from bitwright.api.executions import Sample, executions_for
from bitwright.files.executions import Executions
from bitwright.program import Algorithm, Program
from bitwright.program.given import as_algorithm

Source = str | PathLike[str] | Executions


def executions(
    what: Algorithm | Program,
    source: Source = "runs",
    *,
    runs: int | None = None,
    states: int | None = None,
    sample_seed: int = 0,
) -> Executions:
    """States of a program and what each becomes in one step: what `train` learns from, and `infer` works from.

    `source` is `runs` (states that runs of random inputs meet), `states` (random ones), or a .npz file. `runs` asks for
    every step of so many runs, `states` for so many states.

    >>> from bitwright import addition
    >>> found = executions(addition(4), "states", states=100)
    >>> len(found), found.names[:4]
    (100, ('p[1]', 'p[2]', 'p[3]', 'p[4]'))
    """
    return executions_for(as_algorithm(what), Sample(source, runs, states, sample_seed=sample_seed))
