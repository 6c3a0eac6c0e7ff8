"""Whole runs through any engine, step by step and compared with the rules at every step: the plain way.

It keeps plain arrays and counts by adding up, so that it is also the check of the bit-sliced engine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray
from bitwright.checking.validation.definition import Definition
from bitwright.engines.protocol import Engine
from bitwright.program import FIXED_POINT, Algorithm
from bitwright.program.layout import IntArray
from bitwright.running.sliced.engine import Look, Outcome, is_cut_off, triples
from bitwright.running.sliced.lanes import Rows, pack_lanes, unpack_lanes
from bitwright.running.sliced.plan import plan

_ENTRIES = 1 << 24  # of the arrays that count matches; larger batches are walked in parts


class Walker:
    """Runs one algorithm through an engine."""

    def __init__(self, algorithm: Algorithm, engine: Engine, limit: int) -> None:
        self._algorithm, self._engine, self._limit = algorithm, engine, limit
        self._rules, self._plan = Definition(algorithm.program), plan(algorithm.program)

    def run(self, inputs: Rows, count: int, look: Look | None = None) -> Outcome:
        """The same question as SlicedEngine.run."""
        algorithm = self._algorithm
        states = np.zeros((count, algorithm.program.bits), dtype=bool)
        states[:, list(algorithm.start)] = True
        states[:, [bit for word in algorithm.inputs for bit in word.bits]] = unpack_lanes(inputs, count)
        part = max(1, min(self._engine.chunk, _ENTRIES // len(algorithm.program.write_bits)))
        walks = [_Walk(self._plan.n_max, len(self._plan.pairs)) for _ in range(0, count, part)]
        for walk, at in zip(walks, range(0, count, part), strict=True):
            some = states[at : at + part]
            self._walk(walk, some, _share_of(look, at / count, len(some) / count))
        places = [bit for word in algorithm.outputs for bit in word.bits]
        margin = min(walk.margin for walk in walks)
        met = np.any([walk.met for walk in walks], axis=0)
        return Outcome(
            outputs=pack_lanes(np.concatenate([walk.final for walk in walks])[:, places]),
            unfinished=np.concatenate([walk.unfinished for walk in walks]),
            beyond=np.concatenate([walk.beyond for walk in walks]),
            evaluations=sum(walk.evaluations for walk in walks),
            steps=max(walk.steps for walk in walks),
            wrong_steps=sum(walk.wrong_steps for walk in walks),
            matches=frozenset(np.flatnonzero(met).tolist()),
            triples=triples(np.any([walk.occurred for walk in walks], axis=0), self._plan.pairs),
            margin=float(margin) if np.isfinite(margin) else None,
        )

    def _walk(self, walk: _Walk, start: BoolArray, look: Look | None) -> None:
        """Steps all states until each has ended."""
        halt, limit = self._algorithm.halt, self._limit
        walk.final, walk.beyond = start.copy(), np.zeros(len(start), dtype=bool)
        active = np.arange(len(start))
        batch = self._engine.begin(start)

        def leave(staying: BoolArray) -> None:
            nonlocal active
            if not staying.all():
                batch.keep(staying)
                active = active[staying]

        if isinstance(halt, int):
            leave(~start[:, halt])
        step, last = 0, limit + (halt == FIXED_POINT)
        while step < last and len(active):
            step += 1
            before = batch.states()
            truth = self._note(walk, before, active)
            batch.step()
            after = batch.states()
            wrong = int(np.count_nonzero((after != truth).any(axis=1)))
            walk.evaluations += len(active)
            walk.wrong_steps += wrong
            margin = batch.margin()
            walk.margin = walk.margin if margin is None else min(walk.margin, float(margin.min()))
            changed = (before != after).any(axis=1)
            if step <= limit:
                walk.final[active] = after
            if halt is None:
                if not changed.any():  # the steps that are left would be this one again
                    walk.evaluations += len(active) * (limit - step)
                    walk.wrong_steps += wrong * (limit - step)
                    break
            else:
                staying = changed if halt == FIXED_POINT else ~after[:, halt]
                if not staying.all():
                    walk.steps = max(walk.steps, step - 1 if halt == FIXED_POINT else step)
                leave(staying)
            if look:
                look(max(step / last, 1 - len(active) / len(start)))
        if halt is None or len(active):
            walk.steps = max(walk.steps, limit)
        walk.unfinished = np.full(len(start), is_cut_off(self._algorithm, limit))
        if halt is not None:
            walk.unfinished[active] = True
        if look:
            look(1.0)

    def _note(self, walk: _Walk, states: BoolArray, runs: IntArray) -> BoolArray:
        """Enters n and (n, c, m) of the states that these runs are in; gives what the rules make of them."""
        p, program = self._plan, self._algorithm.program
        matched = self._rules.matched(states)  # (batch, K)
        n = np.count_nonzero(matched, axis=1)
        written = np.flatnonzero(program.writers)
        m = np.add.reduceat(matched[:, p.writer], p.writer_start[written], axis=1, dtype=np.int64)
        walk.met[n] = True
        if self._algorithm.matches is not None:
            walk.beyond[runs[n > self._algorithm.matches]] = True
        walk.occurred[n[:, np.newaxis], p.pair_start[p.crowd[written]] + m] = True
        truth = np.zeros_like(states)
        truth[:, written] = m > 0
        return truth


def _share_of(look: Look | None, before: float, part: float) -> Look | None:
    """To look at a part as at the whole of which it is one."""
    return look and (lambda share: look(before + part * share))


class _Walk:
    """What is noted on the way of one batch."""

    final: BoolArray
    unfinished: BoolArray
    beyond: BoolArray

    def __init__(self, n_max: int, pairs: int) -> None:
        self.evaluations = self.steps = self.wrong_steps = 0
        self.margin = np.inf
        self.met: NDArray[np.bool_] = np.zeros(n_max + 1, dtype=bool)
        self.occurred: NDArray[np.bool_] = np.zeros((n_max + 1, pairs), dtype=bool)
