"""Runs of algorithms: one, with its inputs by name, or many start states at once."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray, any_digits, from_bit_rows
from bitwright.common.errors import InputError, counted, short_repr
from bitwright.common.lazy import Shown, is_a
from bitwright.engines.cells.engine import CellEngine, cells_sentence
from bitwright.engines.protocol import Engine
from bitwright.engines.rules import RuleEngine
from bitwright.rules import Algorithm, Program, Word
from bitwright.rules.layout import IntArray
from bitwright.rules.trace import Trace
from bitwright.runs.loop import drive, ending_of, step_limit
from bitwright.runs.observers import Margins, Observer, Progress, ProgressObserver, TraceObserver, Visits, Watch
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.rounding import Rounding, Scale

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from bitwright.rules import GraphAlgorithm

_SHOWN = 12  # outputs that are printed
_MOST_TEMPLATES = 200_000  # of a program whose id is computed in a moment


def _is_on_graph(what: Algorithm) -> TypeIs[GraphAlgorithm]:
    return is_a(what, "bitwright.rules.graph.node_program:GraphAlgorithm")


@dataclass(frozen=True)
class Run(Shown):
    """The result of one run.

    >>> from bitwright import addition, run
    >>> done = run(addition(10), p=719, q=483, engine="limit")
    >>> done.outputs, done.steps, done.halted, done.margin
    ({'sum': 1202}, 20, True, 0.5)
    >>> print(done)
    sum = 1202
    40 templates, 20 steps, engine limit, calibrated rounding, smallest margin 0.5
    """

    algorithm: Algorithm
    engine: str
    inputs: dict[str, int]
    outputs: dict[str, int]
    steps: int
    halted: bool  # False: the limit came first, and the outputs are those of an unfinished run
    margin: float | None
    state: BoolArray  # (k,)
    trace: Trace | None = None
    rounding: Rounding | None = None
    limit: int = 0  # the most steps it was allowed
    examples: int | None = None  # K with padding, for engines that were trained
    kind: Scale = "ntk"  # what calibrated rounding measured outputs in
    seed: int | None = None  # of the networks that were drawn or trained for it, if any were
    fallible: bool = False  # whether its steps may differ from those of the rules by chance
    networks: int | None = None  # how many were averaged, if any were
    closed_form: bool = True  # whether its outputs follow from n, writers and matches alone
    cells: Mapping[str, object] | None = None  # of a network of cells: its kinds, local states, and what they showed
    executed: int | None = None  # instructions of a machine, if the algorithm is code for one
    asked: CellEngine | None = field(default=None, repr=False, compare=False)  # the network of cells that made it

    def __bool__(self) -> bool:
        """Whether it halted, with what the rules give."""
        return self.halted and self.exact is not False

    @property
    def sentence(self) -> str:
        """Engine, steps and margin, in a line."""
        sizes = f"{counted(self.algorithm.program.templates, 'template')}, {counted(self.steps, 'step')}"
        rounded = "" if self.rounding is None else f", {self.rounding} rounding"
        margin = "" if self.margin is None else f", smallest margin {self.margin:.3g}"
        return f"{self._place}{sizes}, engine {self.engine}{rounded}{margin}"

    @property
    def sentences(self) -> list[str]:
        """The same, with a line on what is known of a network of cells."""
        return [self.sentence, *([] if self.cells is None else [cells_sentence(self.cells, self.steps, self.margin)])]

    @property
    def _place(self) -> str:
        """The machine or the graph that it ran on."""
        if self.executed is not None:
            machine, code = self.algorithm.computer
            return f"machine {machine.kind} with {code.sizes}: {counted(self.executed, 'SBN instruction')}; "
        if _is_on_graph(self.algorithm):
            graph = self.algorithm.topology
            return f"{counted(graph.nodes, 'node')}, {counted(graph.edges, 'edge')}; "
        return ""

    @cached_property
    def exact(self) -> bool | None:
        """Whether the outputs, the steps and the end are those of the rules; None if the engine always follows them.

        >>> from bitwright import addition, run
        >>> run(addition(4), p=7, q=8, engine="sampled", networks=50).exact
        True
        """
        if not self.fallible:
            return None
        rules = run_with(self.algorithm, self.inputs, limit=self.limit)
        return (rules.outputs, rules.halted, rules.steps) == (self.outputs, self.halted, self.steps)

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints.

        >>> from bitwright import addition, run
        >>> run(addition(4), p=7, q=8).to_dict()["outputs"]
        {'sum': 15}
        """
        more: dict[str, Any] = {}
        bits: int | None = widest(self.algorithm)
        inputs: Mapping[str, Any] = self.inputs
        if self.executed is not None:
            machine, code = self.algorithm.computer
            bits = code.width
            more |= {"machine": machine.kind, "executed": self.executed, "sizes": vars(code.sizes)}
        if _is_on_graph(self.algorithm):
            graph, inputs, bits = self.algorithm.topology, self.algorithm.given, None
            more["graph"] = {"nodes": graph.nodes, "edges": graph.edges, "directed": graph.directed}
            more["nodes"] = {str(node): _plain(own) for node, own in self.nodes.items()}
        return _document(self, inputs, bits, {"value": self.value} if len(self.outputs) == 1 else {}) | more

    def save_trace(self, path: str | PathLike[str], only: Sequence[str] = ()) -> None:
        """Writes every state of a recorded run to a .html, .svg, .txt or .npz file.

        >>> from bitwright import addition, run
        >>> run(addition(4), p=11, q=6, record=True).save_trace("addition.html")
        """
        writing: Any = import_module("bitwright.verbs.trace")
        writing.write_trace(self, path, only)

    __repr__ = short_repr

    def __str__(self) -> str:
        """The outputs and how they were computed; an unfinished run says so."""
        with any_digits():
            lines = [f"{name} = {value}" for name, value in list(self.outputs.items())[:_SHOWN]]
        if len(self.outputs) > _SHOWN:
            lines.append(f"and {len(self.outputs) - _SHOWN:,} more outputs")
        if _is_on_graph(self.algorithm):
            with any_digits():
                for node, own in list(self.nodes.items())[:_SHOWN]:
                    lines.append(f"{node}: " + ", ".join(f"{name} = {value}" for name, value in own.items()))
            if len(self.nodes) > _SHOWN:
                lines.append(f"and {counted(len(self.nodes) - _SHOWN, 'more node')}")
        if not self.halted:
            lines.append(f"NOT DONE: {self.algorithm.name} did not halt within {counted(self.steps, 'step')}")
        return "\n".join([*lines, *self.sentences])

    @property
    def value(self) -> int:
        """The output of an algorithm that has just one.

        >>> from bitwright import addition, run
        >>> run(addition(10), p=719, q=483).value
        1202
        """
        if len(self.outputs) != 1:
            raise InputError(f"{self.algorithm.name} has {len(self.outputs)} outputs; use outputs['name']")
        return next(iter(self.outputs.values()))

    @cached_property
    def nodes(self) -> dict[Hashable, dict[str, Any]]:
        """What each node of a graph puts out, by output; None where it has no value.

        What its ports put out is a list: of flags the neighbours that they lead to, else pairs, neighbour and value.

        >>> from bitwright import parse, run
        >>> from bitwright.rules import Topology
        >>> lines = ["bits x", "block x", "when x=1 write x far.x", "input source = x"]
        >>> flood = parse(chr(10).join(lines))
        >>> run(flood.on(Topology.from_edges(3, [(0, 1)]), {"source": np.array([1, 0, 0])})).nodes
        {0: {'x': 1}, 1: {'x': 1}, 2: {'x': 0}}
        """
        if not _is_on_graph(self.algorithm):
            raise InputError(f"{self.algorithm.name} does not run on a graph; use outputs")
        return self.algorithm.read_nodes(self.state)


@dataclass(frozen=True, eq=False)
class BatchRun:
    """The results of many runs, one row each.

    >>> from bitwright import addition, run
    >>> done = run(addition(4), p=[1, 2, 3], q=9)
    >>> done.outputs, done.steps
    ({'sum': array([10, 11, 12])}, array([8, 8, 8]))
    >>> print(done)
    3 runs, all halted, at most 8 steps; 16 templates, engine templates
    """

    algorithm: Algorithm
    engine: str
    states: BoolArray  # (batch, k)
    steps: IntArray  # (batch,)
    halted: BoolArray  # (batch,)
    margin: FloatArray | None  # (batch,)
    start: BoolArray  # (batch, k)
    limit: int  # the most steps each was allowed
    rounding: Rounding | None = None
    examples: int | None = None
    seed: int | None = None
    fallible: bool = False
    cells: Mapping[str, object] | None = None

    def __len__(self) -> int:
        return len(self.states)

    def __bool__(self) -> bool:
        """Whether every run halted, with what the rules give."""
        return bool(self.halted.all() and (self.exact is None or self.exact.all()))

    @cached_property
    def inputs(self) -> dict[str, NDArray[Any]]:
        """The inputs by name, an array each, as the start states have them."""
        return _columns(self.algorithm.inputs, self.start)

    @cached_property
    def outputs(self) -> dict[str, NDArray[Any]]:
        """The outputs by name, an array each; those of runs that did not halt are unfinished."""
        return _columns(self.algorithm.outputs, self.states)

    @property
    def value(self) -> NDArray[Any]:
        """The output of an algorithm that has just one."""
        if len(self.outputs) != 1:
            raise InputError(f"{self.algorithm.name} has {len(self.outputs)} outputs; use outputs['name']")
        return next(iter(self.outputs.values()))

    @cached_property
    def exact(self) -> BoolArray | None:
        """Of each run whether it is what the rules give; None if the engine always follows them."""
        if not self.fallible:
            return None
        rules = run_batch(self.algorithm, self.start, limit=self.limit)
        bits = self.algorithm.output_bits
        same = (rules.states[:, bits] == self.states[:, bits]).all(axis=1)
        return np.asarray(same & (rules.halted == self.halted) & (rules.steps == self.steps))

    @property
    def sentence(self) -> str:
        """How the runs ended and what made them, in a line."""
        done = int(np.count_nonzero(self.halted))
        ended = "all halted" if done == len(self) else f"{done:,} halted"
        margin = "" if self.margin is None else f", smallest margin {self.margin.min(initial=np.inf):.3g}"
        steps = counted(int(self.steps.max(initial=0)), "step")
        rounded = "" if self.rounding is None else f", {self.rounding} rounding"
        by = f"{counted(self.algorithm.program.templates, 'template')}, engine {self.engine}{rounded}"
        return f"{counted(len(self), 'run')}, {ended}, at most {steps}{margin}; {by}"

    __repr__ = short_repr

    def __str__(self) -> str:
        margin = None if self.margin is None else float(self.margin.min(initial=np.inf))
        behind = [] if self.cells is None else [cells_sentence(self.cells, int(self.steps.sum()), margin)]
        return "\n".join([self.sentence, *behind])

    def to_dict(self) -> dict[str, Any]:
        """The same as a document of plain values, with a list for every array."""
        return _document(self, self.inputs, widest(self.algorithm), {})


def _document(
    done: Run | BatchRun, inputs: Mapping[str, Any], bits: int | None, value: Mapping[str, Any]
) -> dict[str, Any]:
    """What one run and many have in common, ready for JSON."""
    return {
        "name": done.algorithm.name,
        "program_id": program_id(done.algorithm.program),
        "inputs": _plain(inputs),
        "seed": done.seed,
        **value,
        "outputs": _plain(done.outputs),
        "bits": bits,
        "steps": _plain(done.steps),
        "halted": _plain(done.halted),
        "engine": done.engine,
        "rounding": done.rounding,
        "examples": done.examples,
        "margin": _plain(done.margin),
        **({} if done.cells is None else {"cells": dict(done.cells)}),
        **({} if done.exact is None else {"exact": _plain(done.exact)}),
    }


def run_with(
    algorithm: Algorithm,
    inputs: Mapping[str, int],
    engine: Engine | None = None,
    *,
    limit: int | None = None,
    record: bool = False,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Run:
    """Runs an algorithm on input values with an engine; by default with the rules themselves."""
    chosen = _fitting(algorithm, engine)
    most, margins = step_limit(algorithm, limit), Margins()
    recorder = TraceObserver(algorithm.program) if record else None
    observers: list[Observer | None] = [margins, recorder, watch, ProgressObserver(progress) if progress else None]
    begun = None if algorithm.computer is None else Visits(algorithm.computer.machine.boundary)
    observers.append(begun)
    start = algorithm.state(inputs)[np.newaxis]
    done = drive(chosen, start, ending_of(algorithm), most, [o for o in observers if o is not None])
    smallest = None if margins.smallest is None else float(margins.smallest[0])
    return Run(
        algorithm=algorithm,
        inputs=dict(inputs),
        outputs=algorithm.read(done.states[0]),
        steps=int(done.steps[0]),
        halted=bool(done.halted[0]),
        margin=smallest if smallest is not None and np.isfinite(smallest) else None,
        state=done.states[0],
        trace=recorder.trace(int(done.steps[0])) if recorder else None,
        limit=most,
        kind=chosen.kind,
        networks=chosen.networks,
        closed_form=chosen.closed_form,
        # the last instruction to begin in a run that halts is the one behind the end
        executed=None if begun is None else begun.count - bool(done.halted[0]),
        asked=chosen if isinstance(chosen, CellEngine) else None,
        **_facts(chosen),
    )


def run_batch(
    algorithm: Algorithm,
    states: BoolArray,
    *,
    engine: Engine | None = None,
    limit: int | None = None,
    workers: int | None = None,
    margins: bool = False,
    progress: Progress | None = None,
) -> BatchRun:
    """Runs many start states at once; the result does not depend on the number of workers.

    `margins` asks for the smallest margin of each run, which costs more than the steps of a fast engine.
    """
    chosen = _fitting(algorithm, engine)
    most, ending = step_limit(algorithm, limit), ending_of(algorithm)
    if states.ndim != 2 or states.shape[1] != algorithm.program.bits:
        raise InputError(f"states must have shape (batch, {algorithm.program.bits}), got {states.shape}")
    size = chosen.together(states)
    chunks = [states[at : at + size] for at in range(0, max(1, len(states)), size)]
    watching = [Margins() for _ in chunks]

    def part(at: int) -> tuple[BoolArray, IntArray, BoolArray]:
        done = drive(chosen, chunks[at], ending, most, [watching[at]] if margins else ())
        return done.states, done.steps, done.halted

    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        parts = []
        for one in (pool.map if len(chunks) > 1 else map)(part, range(len(chunks))):
            parts.append(one)
            if progress is not None:
                progress(min(len(parts) * size, len(states)), len(states))
    found = [observer.smallest for observer in watching]
    if any(smallest is not None for smallest in found):  # a part whose runs make no step has none of its own
        found = [np.full(len(c), np.inf) if f is None else f for f, c in zip(found, chunks, strict=True)]
    return BatchRun(
        algorithm=algorithm,
        states=np.concatenate([states for states, _, _ in parts]),
        steps=np.concatenate([steps for _, steps, _ in parts]),
        halted=np.concatenate([halted for _, _, halted in parts]),
        margin=np.concatenate(found) if found[0] is not None else None,  # type: ignore[arg-type]
        start=states,
        limit=most,
        **_facts(chosen),
    )


def _fitting(algorithm: Algorithm, engine: Engine | None) -> Engine:
    if engine is None:
        return RuleEngine(algorithm.program)
    if engine.program is not algorithm.program and engine.program != algorithm.program:
        raise InputError(f"this engine was made for another program than that of {algorithm.name}")
    return engine


def _facts(engine: Engine) -> dict[str, Any]:
    """What a run says of its engine."""
    facts = {name: getattr(engine, name) for name in ("rounding", "examples", "seed", "fallible")}
    return {"engine": engine.name, "cells": engine.cell_facts, **facts}


def widest(algorithm: Algorithm) -> int:
    """The bit length of its longest input, or output if it has no input."""
    return max((len(word.bits) for word in algorithm.inputs or algorithm.outputs), default=0)


def _columns(words: Sequence[Word], states: BoolArray) -> dict[str, NDArray[Any]]:
    return {word.name: from_bit_rows(states[:, list(word.bits)], word.signed) for word in words}


def program_id(program: Program) -> str | None:
    """The id of a program; None if it would take longer than a moment to compute."""
    return program.id if program.templates <= _MOST_TEMPLATES else None


def _plain(value: Any) -> Any:
    """A value as JSON has it; names of nodes become text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(own) for name, own in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    return value if isinstance(value, int | float | str | None) else str(value)
