"""The range of n that a claim speaks of, the same for every verb."""

from __future__ import annotations

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.program import Algorithm
from bitwright.running.observers import Progress
from bitwright.theory import Range, blocks_range, declared_range
from bitwright.theory.ranges import SOURCES


def matches_range(algorithm: Algorithm, source: str | None, progress: Progress | None = None) -> Range:
    """What is proved (`blocks`), unless something else is asked for: `declared` (assumed) or `reachable` (tried)."""
    if source in (None, "blocks"):
        return blocks_range(algorithm.program)
    if source == "declared":
        return declared_range(algorithm)
    if source == "reachable":
        from bitwright.proofs.reachable import reachable_range

        return reachable_range(algorithm, progress)
    raise InputError(f"n is bounded by {', '.join(SOURCES[:-1])} or {SOURCES[-1]}, got '{shorten(str(source))}'")
