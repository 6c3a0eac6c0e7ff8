"""The range of n that a claim is about, the same for every verb."""

from __future__ import annotations

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError
from bitwright.rules import Algorithm
from bitwright.runs.loop import step_limit
from bitwright.runs.observers import Progress
from bitwright.theory.decisions import SOURCES, Range, blocks_range, decide, declared_range

MAX_INPUT_BITS = 24
_BATCH = 1 << 16  # inputs between two looks at the progress


def matches_range(algorithm: Algorithm, source: str | None, progress: Progress | None = None) -> Range:
    """What is proved (`blocks`), unless something else is asked for: `declared` (assumed) or `reachable` (tried)."""
    if source in (None, "blocks"):
        return blocks_range(algorithm.program)
    if source == "declared":
        return declared_range(algorithm)
    if source == "reachable":
        return reachable_range(algorithm, progress)
    raise InputError(f"n is bounded by {', '.join(SOURCES[:-1])} or {SOURCES[-1]}, got '{shorten(str(source))}'")


def reachable_range(algorithm: Algorithm, progress: Progress | None = None) -> Range:
    """Runs every input by its templates and notes the most matches of any state that a run steps from."""
    from bitwright.runs.sliced import SlicedRuns, counting

    bits, limit = len(algorithm.input_bits), step_limit(algorithm, None)
    if bits > MAX_INPUT_BITS:
        raise InputError(f"{algorithm.name} has {bits} input bits; every input can be run up to {MAX_INPUT_BITS}")
    runs, inputs, most = SlicedRuns(algorithm, limit, decide(algorithm.program, 1, None)), 2**bits, 0
    for first in range(0, inputs, _BATCH):
        count = min(_BATCH, inputs - first)
        done = runs.run(counting(first, -(-count // 64), bits), count)
        if done.unfinished.any():
            raise InputError(
                f"{algorithm.name} does not halt within {limit:,} steps for every input; take n from its blocks"
            )
        most = max(most, max(done.matches, default=0))
        if progress:
            progress(first + count, inputs)
    covers = "the only run there is" if inputs == 1 else f"the runs of all {inputs:,} inputs"
    scope = f"the largest n met in {covers}, by the templates; other states are not covered"
    return Range(max(1, most), "reachable", scope, covers)
