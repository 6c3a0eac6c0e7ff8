"""Runs an algorithm once on named inputs, or on many start states at once."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from contextlib import ExitStack
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
from bitwright.engines.protocol import Engine
from bitwright.engines.rules import RuleEngine
from bitwright.rules import Algorithm, Program, Word
from bitwright.rules.layout import IntArray
from bitwright.rules.trace import Trace
from bitwright.runs.loop import drive, ending_of, step_limit
from bitwright.runs.observers import Margins, Observer, Progress, ProgressObserver, TraceObserver, Visits
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.rounding import Rounding, Scale

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from bitwright.engines.cells.engine import CellEngine
    from bitwright.rules import GraphAlgorithm

_SHOWN = 12  # outputs to print
_MOST_TEMPLATES = 200_000  # beyond this, computing a program's id takes noticeable time


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
    halted: bool  # False if the limit was reached first and the outputs are unfinished
    margin: float | None
    state: BoolArray  # (k,)
    trace: Trace | None = None
    rounding: Rounding | None = None
    limit: int = 0  # the step limit
    examples: int | None = None  # K with padding, for trained engines
    kind: Scale = "ntk"  # the scale of outputs in calibrated rounding
    seed: int | None = None  # of the networks drawn or trained for the run, if any
    fallible: bool = False  # whether its steps may differ from the rules by chance
    networks: int | None = None  # the number of averaged networks, if any
    closed_form: bool = True  # whether its outputs depend only on n, writers and matches
    cells: Mapping[str, object] | None = None  # the kinds, local states and test results of a network of cells
    executed: int | None = None  # machine instructions, if the algorithm is machine code
    asked: CellEngine | None = field(default=None, repr=False, compare=False)  # the network of cells that ran

    def __bool__(self) -> bool:
        """Whether the run halted with the result of the rules."""
        return self.halted and self.exact is not False

    @property
    def sentence(self) -> str:
        """The engine, steps and margin in one line."""
        sizes = f"{counted(self.algorithm.program.templates, 'template')}, {counted(self.steps, 'step')}"
        rounded = "" if self.rounding is None else f", {self.rounding} rounding"
        margin = "" if self.margin is None else f", smallest margin {self.margin:.3g}"
        return f"{self._place}{sizes}, engine {self.engine}{rounded}{margin}"

    @property
    def sentences(self) -> list[str]:
        """The sentence, followed by a line about the network of cells, if any."""
        return [self.sentence, *_about_cells(self.cells, self.steps, self.margin)]

    @property
    def _place(self) -> str:
        """The machine or graph of the run."""
        if self.executed is not None:
            machine, code = self.algorithm.computer
            return f"machine {machine.kind} with {code.sizes}: {counted(self.executed, 'SBN instruction')}; "
        if _is_on_graph(self.algorithm):
            graph = self.algorithm.topology
            return f"{counted(graph.nodes, 'node')}, {counted(graph.edges, 'edge')}; "
        return ""

    @cached_property
    def exact(self) -> bool | None:
        """Whether outputs, steps and ending agree with the rules; None if the engine always follows them.

        >>> from bitwright import addition, run
        >>> run(addition(4), p=7, q=8, engine="sampled", networks=50).exact
        True
        """
        if not self.fallible:
            return None
        rules = run_with(self.algorithm, self.inputs, limit=self.limit)
        return (rules.outputs, rules.halted, rules.steps) == (self.outputs, self.halted, self.steps)

    def to_dict(self) -> dict[str, Any]:
        """The document that `--json` prints.

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
        """Writes every state of a recorded run to a .html, .txt or .npz file.

        >>> from bitwright import addition, run
        >>> run(addition(4), p=11, q=6, record=True).save_trace("addition.html")
        """
        writing: Any = import_module("bitwright.verbs.trace")
        writing.write_trace(self, path, only)

    __repr__ = short_repr

    def __str__(self) -> str:
        """Returns the outputs, followed by the engine and steps; marks an unfinished run."""
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
        """The output of an algorithm with a single output.

        >>> from bitwright import addition, run
        >>> run(addition(10), p=719, q=483).value
        1202
        """
        if len(self.outputs) != 1:
            raise InputError(f"{self.algorithm.name} has {len(self.outputs)} outputs; use outputs['name']")
        return next(iter(self.outputs.values()))

    @cached_property
    def nodes(self) -> dict[Hashable, dict[str, Any]]:
        """The outputs of each node of a graph by name; None for no value.

        The output of ports is a list: of neighbours for flags, and otherwise of (neighbour, value) pairs.

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
    """The results of many runs, one row for each.

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
    limit: int  # the step limit of each run
    rounding: Rounding | None = None
    examples: int | None = None
    seed: int | None = None
    fallible: bool = False
    cells: Mapping[str, object] | None = None

    def __len__(self) -> int:
        return len(self.states)

    def __bool__(self) -> bool:
        """Whether every run halted with the result of the rules."""
        return bool(self.halted.all() and (self.exact is None or self.exact.all()))

    @cached_property
    def inputs(self) -> dict[str, NDArray[Any]]:
        """The inputs in the start states, one array for each name."""
        return _columns(self.algorithm.inputs, self.start)

    @cached_property
    def outputs(self) -> dict[str, NDArray[Any]]:
        """The outputs, one array for each name; a run that did not halt has unfinished outputs."""
        return _columns(self.algorithm.outputs, self.states)

    @property
    def value(self) -> NDArray[Any]:
        """The output of an algorithm with a single output."""
        if len(self.outputs) != 1:
            raise InputError(f"{self.algorithm.name} has {len(self.outputs)} outputs; use outputs['name']")
        return next(iter(self.outputs.values()))

    @cached_property
    def exact(self) -> BoolArray | None:
        """Whether each run agrees with the rules; None if the engine always follows them."""
        if not self.fallible:
            return None
        rules = run_batch(self.algorithm, self.start, limit=self.limit)
        bits = self.algorithm.output_bits
        same = (rules.states[:, bits] == self.states[:, bits]).all(axis=1)
        return np.asarray(same & (rules.halted == self.halted) & (rules.steps == self.steps))

    @property
    def sentence(self) -> str:
        """The number of runs, how they ended, and the engine, in one line."""
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
        return "\n".join([self.sentence, *_about_cells(self.cells, int(self.steps.sum()), margin)])

    def to_dict(self) -> dict[str, Any]:
        """The results as a JSON-compatible document, with a list for every array."""
        return _document(self, self.inputs, widest(self.algorithm), {})


def _document(
    done: Run | BatchRun, inputs: Mapping[str, Any], bits: int | None, value: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the fields that single runs and batches share, as JSON values."""
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
) -> Run:
    """Runs an algorithm on input values with an engine, by default the rules themselves."""
    chosen = _fitting(algorithm, engine)
    most, margins = step_limit(algorithm, limit), Margins()
    recorder = TraceObserver(algorithm.program) if record else None
    observers: list[Observer | None] = [margins, recorder, ProgressObserver(progress) if progress else None]
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
        # in a run that halts, the last instruction started is the one after the end
        executed=None if begun is None else begun.count - bool(done.halted[0]),
        asked=chosen if is_a(chosen, "bitwright.engines.cells.engine:CellEngine") else None,  # type: ignore[arg-type]
        **_facts(chosen),
    )


def _about_cells(cells: Mapping[str, Any] | None, steps: int, margin: float | None) -> list[str]:
    """Returns a line about the network of cells, if there is one."""
    from bitwright.engines.cells.engine import cells_sentence

    return [] if cells is None else [cells_sentence(cells, steps, margin)]


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

    `margins` adds the smallest margin of each run, which costs more than the steps of a fast engine.
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

    with ExitStack() as stack:
        apply: Any = map
        if len(chunks) > 1:
            from concurrent.futures import ThreadPoolExecutor

            apply = stack.enter_context(ThreadPoolExecutor(workers or os.cpu_count())).map
        parts: list[tuple[BoolArray, IntArray, BoolArray]] = []
        for result in apply(part, range(len(chunks))):
            parts.append(result)
            if progress is not None:
                progress(min(len(parts) * size, len(states)), len(states))
    found = [observer.smallest for observer in watching]
    if any(smallest is not None for smallest in found):  # parts without steps have no margin
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
        raise InputError(
            f"this engine was made for a different program, not for {algorithm.name}; make an engine for it"
        )
    return engine


def _facts(engine: Engine) -> dict[str, Any]:
    """Returns the facts about an engine that its runs report."""
    facts = {name: getattr(engine, name) for name in ("rounding", "examples", "seed", "fallible")}
    return {"engine": engine.name, "cells": engine.cell_facts, **facts}


def widest(algorithm: Algorithm) -> int:
    """Returns the bit length of the longest input, or of the longest output if there are no inputs."""
    return max((len(word.bits) for word in algorithm.inputs or algorithm.outputs), default=0)


def _columns(words: Sequence[Word], states: BoolArray) -> dict[str, NDArray[Any]]:
    return {word.name: from_bit_rows(states[:, list(word.bits)], word.signed) for word in words}


def program_id(program: Program) -> str | None:
    """Returns a program's id; None if computing it would take noticeable time."""
    return program.id if program.templates <= _MOST_TEMPLATES else None


def _plain(value: Any) -> Any:
    """Converts a value for JSON; names of nodes become text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(own) for name, own in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return value if isinstance(value, int | float | str | None) else str(value)
