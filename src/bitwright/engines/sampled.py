"""The `sampled` engine: an ensemble of N infinitely wide networks, drawn from the limiting Gaussian along each run.

A trained ensemble is one fixed function, so its errors at the states of a run are correlated. They are drawn with their
joint law (Eq. 4 between states), one state after the other, each given all before it; a state met again gives the same
outputs. The draw depends on the seed and on the start state alone, not on batches or workers.
"""

from __future__ import annotations

from hashlib import sha256

import numpy as np
from scipy.linalg import solve_triangular

from bitwright.common.bits import BoolArray, whole_number
from bitwright.common.errors import InputError
from bitwright.common.workers.linear_algebra import NUMPY, one_thread
from bitwright.engines.protocol import ArrayBatch, Engine
from bitwright.rules import Program
from bitwright.rules.layout import IntArray
from bitwright.theory.closed_form import FloatArray, covariance, variance, weights
from bitwright.theory.rounding import Rounding, round_outputs

MAX_STATES = 3_000  # distinct states of one run; the joint law of more would take minutes and gigabytes
MAX_NETWORKS = 10**9


class SampledEngine(Engine):
    """Steps each state by the average of `networks` random networks, the same ones all along its run."""

    name = "sampled"
    library = NUMPY
    examples: int
    rounding: Rounding
    most_states = MAX_STATES

    def __init__(self, program: Program, examples: int, rounding: Rounding, networks: int = 1, seed: int = 0) -> None:
        self.program, self.examples, self.rounding = program, examples, rounding
        self.networks: int = whole_number(networks, "networks", 1, MAX_NETWORKS)
        self.seed: int = whole_number(seed, "the seed", 0, 2**63)

    def describe(self) -> dict[str, object]:
        return {**super().describe(), "networks": self.networks, "seed": self.seed}

    def begin(self, states: BoolArray, long: bool = False) -> SampledBatch:  # noqa: ARG002
        return SampledBatch(self, states)


class SampledBatch(ArrayBatch):
    """One random function a row, and its outputs in the last step."""

    _outputs: FloatArray | None = None

    def __init__(self, engine: SampledEngine, states: BoolArray) -> None:
        super().__init__(engine, states)
        self._functions = [RandomFunction(engine, state) for state in states]

    def step(self) -> None:
        engine, found = self._engine, [f(state) for f, state in zip(self._functions, self._now, strict=True)]
        self._outputs, n = np.array([outputs for outputs, _ in found]), np.array([n for _, n in found], dtype=np.int64)
        self._before = self._now
        self._now, self._margin = round_outputs(
            self._outputs, n, engine.program.writers, engine.examples, engine.rounding
        )

    def keep(self, rows: BoolArray) -> None:
        super().keep(rows)
        self._functions = [function for function, kept in zip(self._functions, rows, strict=True) if kept]
        self._outputs = None if self._outputs is None else self._outputs[rows]

    def rounded(self) -> FloatArray | None:
        return self._outputs


class RandomFunction:
    """The average of N networks as a Gaussian process, drawn at the states that a run meets."""

    def __init__(self, engine: SampledEngine, start: BoolArray) -> None:
        self._engine = engine
        digest = sha256(engine.seed.to_bytes(16, "little", signed=True) + np.packbits(start).tobytes()).digest()
        self._rng = np.random.default_rng(int.from_bytes(digest, "little"))
        self._known: dict[bytes, tuple[FloatArray, int]] = {}
        self._matched = np.zeros((0, engine.program.templates), dtype=bool)
        self._factor = np.zeros((0, 0))  # Cholesky factor of the covariance of the states so far
        self._noise = np.zeros((0, engine.program.bits))  # independent standard normals behind them

    def __call__(self, state: BoolArray) -> tuple[FloatArray, int]:  # (k,)
        templates = self._engine.program.match(state)  # all that the networks see of a state
        key = templates.tobytes()
        if key not in self._known:
            self._known[key] = self._draw(templates)
        return self._known[key]

    @one_thread()
    def _draw(self, templates: IntArray) -> tuple[FloatArray, int]:
        program, examples = self._engine.program, self._engine.examples
        n = len(templates)
        written = np.concatenate([np.zeros(0, dtype=np.int64), *(program.writes(t) for t in templates)])
        w = weights(n, examples)
        mean = w.mean(program.writers, np.bincount(written, minlength=program.bits))
        if n <= 1:  # nothing, or a training example: no randomness is left
            return mean, n
        most = self._engine.most_states
        if len(self._noise) >= most:
            raise InputError(f"the sampled engine follows at most {most:,} different states of a run")
        indicator = np.zeros(program.templates, dtype=bool)
        indicator[templates] = True
        past = self._matched
        shared = (past & indicator).sum(axis=1)
        cross = covariance(n, past.sum(axis=1), shared, examples)
        row = solve_triangular(self._factor, cross, lower=True) if len(cross) else cross
        own = float(np.sqrt(max(float(variance(n, examples)) - float(row @ row), 0.0)))
        noise = self._rng.standard_normal(program.bits)
        outputs = mean + (row @ self._noise + own * noise) / np.sqrt(self._engine.networks)
        if own > 1e-9 * float(np.sqrt(variance(n, examples))):  # else it follows from the others already
            size = len(cross)
            factor = np.zeros((size + 1, size + 1))
            factor[:size, :size], factor[size, :size], factor[size, size] = self._factor, row, own
            self._factor = factor
            self._noise = np.vstack((self._noise, noise))
            self._matched = np.vstack((past, indicator))
        return outputs, n
