"""Computes the range of n that a claim covers, for all verbs."""

from __future__ import annotations

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError
from bitwright.rules import Algorithm
from bitwright.runs.loop import step_limit
from bitwright.runs.observers import Progress
from bitwright.theory.decisions import SOURCES, Range, blocks_range, decide, declared_range

MAX_INPUT_BITS = 24
_BATCH = 1 << 16  # inputs between progress reports


def matches_range(algorithm: Algorithm, source: str | None, progress: Progress | None = None) -> Range:
    """Returns the range from `blocks` (proved, the default), `declared` (assumed) or `reachable` (from all runs)."""
    if source in (None, "blocks"):
        return blocks_range(algorithm.program)
    if source == "declared":
        return declared_range(algorithm)
    if source == "reachable":
        return reachable_range(algorithm, progress)
    raise InputError(f"the bound on n must be {', '.join(SOURCES[:-1])} or {SOURCES[-1]}, got '{shorten(str(source))}'")


def reachable_range(algorithm: Algorithm, progress: Progress | None = None) -> Range:
    """Runs every input with the templates and returns the largest number of matches in any state before a step."""
    from bitwright.runs.sliced import SlicedRuns, counting

    bits, limit = len(algorithm.input_bits), step_limit(algorithm, None)
    if bits > MAX_INPUT_BITS:
        raise InputError(
            f"{algorithm.name} has {bits} input bits, but at most {MAX_INPUT_BITS} are supported for running every "
            "input; use n from its blocks"
        )
    runs, inputs, most = SlicedRuns(algorithm, limit, decide(algorithm.program, 1, None)), 2**bits, 0
    for first in range(0, inputs, _BATCH):
        count = min(_BATCH, inputs - first)
        done = runs.run(counting(first, -(-count // 64), bits), count)
        if done.unfinished.any():
            raise InputError(
                f"{algorithm.name} does not halt within {limit:,} steps for every input; use n from its blocks"
            )
        most = max(most, max(done.matches, default=0))
        if progress:
            progress(first + count, inputs)
    covers = "the only run there is" if inputs == 1 else f"the runs of all {inputs:,} inputs"  # stored in certificates
    scope = f"the largest n met in {covers}, by the templates; other states are not covered"
    return Range(max(1, most), "reachable", scope, covers)
