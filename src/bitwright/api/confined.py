"""What a process without files needs: results as bytes, and compiled loops that are not kept."""

from __future__ import annotations

from bitwright.compiling import keep_nothing
from bitwright.encoding.training_set import TrainingSet
from bitwright.program import Algorithm
from bitwright.running.run import Run

__all__ = ["Run", "keep_nothing", "training_set_bytes"]


def training_set_bytes(algorithm: Algorithm, examples: int) -> bytes:
    """The .npz file of the training set with that many examples, as `bitwright dataset` writes it."""
    return TrainingSet(algorithm.program, examples - algorithm.program.templates).npz()
