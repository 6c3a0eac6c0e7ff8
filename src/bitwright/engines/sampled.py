"""The `sampled` engine: an ensemble of N infinitely wide networks, drawn from the limiting Gaussian.

A trained ensemble is one fixed function, so its errors at different states are correlated. They are drawn from their
joint distribution (Eq. 4 between states), along each run, state by state, conditioned on all earlier states. The draw
depends only on the seed and the start state, not on batches or workers.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256

import numpy as np
from scipy.linalg import solve_triangular

from bitwright.common.bits import BoolArray, whole_number
from bitwright.common.errors import InputError
from bitwright.common.workers.linear_algebra import NUMPY, one_thread
from bitwright.engines.protocol import ArrayBatch, Engine
from bitwright.rules import Program
from bitwright.theory.closed_form import FloatArray, covariance, variance, weights
from bitwright.theory.encoding import PackedRules
from bitwright.theory.rounding import Rounding, round_outputs

MAX_STATES = 3_000  # states drawn together; the joint distribution of more would take minutes and gigabytes
MAX_NETWORKS = 10**9


class Deviations:
    """Deviations of the average of N networks from its mean, drawn state by state and independently for each output."""

    def __init__(self, rng: np.random.Generator, examples: int, networks: int, outputs: int) -> None:
        self._rng, self._examples, self._networks, self._outputs = rng, examples, networks, outputs
        self._known: dict[bytes, FloatArray] = {}
        self._matched: BoolArray | None = None  # (states, K) the earlier states to condition on
        self._factor = np.zeros((0, 0))  # Cholesky factor of their covariance
        self._noise = np.zeros((0, outputs))  # the underlying independent standard normals

    def __call__(self, matched: BoolArray) -> FloatArray:  # (K,) -> (outputs,)
        """Returns the deviation of one state conditioned on earlier ones, and stores it."""
        if np.count_nonzero(matched) <= 1:  # no match or a training example: no randomness
            return np.zeros(self._outputs)
        key = matched.tobytes()
        if key not in self._known:
            if len(self._noise) >= MAX_STATES:
                raise InputError(
                    f"the sampled engine supports at most {MAX_STATES:,} distinct states in a run; use the engine limit"
                )
            self._known[key] = self.draw(matched[np.newaxis])[0]
        return self._known[key]

    @one_thread()
    def draw(self, matched: BoolArray) -> FloatArray:  # (states, K) -> (states, outputs)
        """Returns the joint deviations of states, conditioned on earlier ones; stores a single one for later draws."""
        n, past = np.count_nonzero(matched, axis=1), matched[:0] if self._matched is None else self._matched
        one, two = matched.astype(np.float64), past.astype(np.float64)
        cross = covariance(n[:, None], two.sum(axis=1), one @ two.T, self._examples)
        lower = solve_triangular(self._factor, cross.T, lower=True).T if len(past) else cross
        left = covariance(n[:, None], n, one @ one.T, self._examples)
        np.fill_diagonal(left, variance(n, self._examples))
        root, noise = _root(left - lower @ lower.T), self._rng.standard_normal((len(matched), self._outputs))
        size, spread = len(past), float(np.sqrt(left[0, 0]))
        found = np.asarray((lower @ self._noise + root @ noise) / np.sqrt(self._networks))
        if len(matched) == 1 and root[0, 0] > 1e-9 * spread:  # otherwise it is determined by the others
            factor = np.zeros((size + 1, size + 1))
            factor[:size, :size], factor[size, :size], factor[size, size] = self._factor, lower[0], root[0, 0]
            self._factor, self._noise = factor, np.vstack((self._noise, noise))
            self._matched = np.vstack((past, matched))
        return found


def _root(matrix: FloatArray) -> FloatArray:
    """Returns the symmetric square root of a possibly singular covariance; identical on every machine."""
    if len(matrix) == 1:
        return np.sqrt(np.maximum(matrix, 0))
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)


class SampledEngine(Engine):
    """Steps each state by the average of `networks` random networks, which stay the same during a run."""

    name = "sampled"
    library = NUMPY
    examples: int
    rounding: Rounding

    def __init__(self, program: Program, examples: int, rounding: Rounding, networks: int = 1, seed: int = 0) -> None:
        self.program, self.examples, self.rounding = program, examples, rounding
        self.networks: int = whole_number(networks, "networks", 1, MAX_NETWORKS)
        self.seed: int = whole_number(seed, "the seed", 0, 2**63)

    @cached_property
    def rules(self) -> PackedRules:
        return PackedRules(self.program)

    def begin(self, states: BoolArray, long: bool = False) -> SampledBatch:  # noqa: ARG002
        return SampledBatch(self, states)

    def deviations(self, start: BoolArray) -> Deviations:  # (k,)
        """Returns the deviations of the run from a state."""
        digest = sha256(self.seed.to_bytes(16, "little", signed=True) + np.packbits(start).tobytes()).digest()
        rng = np.random.default_rng(int.from_bytes(digest, "little"))
        return Deviations(rng, self.examples, self.networks, self.program.bits)


class SampledBatch(ArrayBatch):
    """One random function for each row, with its outputs in the last step."""

    _outputs: FloatArray | None = None

    def __init__(self, engine: SampledEngine, states: BoolArray) -> None:
        super().__init__(engine, states)
        self._functions = [engine.deviations(state) for state in states]

    def step(self) -> None:
        engine, program = self._engine, self._engine.program
        matched = engine.rules.matched(self._now)
        n, away = np.count_nonzero(matched, axis=1), [f(row) for f, row in zip(self._functions, matched, strict=True)]
        means = weights(n, engine.examples).mean(program.writers, matched @ program.write_matrix)
        self._outputs, self._before = means + np.array(away).reshape(means.shape), self._now
        self._now, self._margin = round_outputs(self._outputs, n, program.writers, engine.examples, engine.rounding)

    def keep(self, rows: BoolArray) -> None:
        super().keep(rows)
        self._functions = [function for function, kept in zip(self._functions, rows, strict=True) if kept]
        self._outputs = None if self._outputs is None else self._outputs[rows]

    def rounded(self) -> FloatArray | None:
        return self._outputs
