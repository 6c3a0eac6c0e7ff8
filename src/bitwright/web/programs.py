"""Reads the program, graph and engine of a request within the limits of the page, without reading any file."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from bitwright import Algorithm, NodeProgram, Program
from bitwright.common.errors import InputError, counted
from bitwright.verbs.engines import Engine, engine_for, examples_of, network_engine
from bitwright.verbs.graphs import NamedGraph, shaped_graph
from bitwright.verbs.images import SubleqProgram, misfits, with_padding
from bitwright.verbs.local_page import (
    TOLERANCE,
    Curve,
    Report,
    cells_of,
    drawn_graph,
    make_network,
    pasted_image,
    pasted_nodes,
    pasted_rules,
    pasted_sbn,
    whole_program,
)
from bitwright.verbs.open import named_algorithm
from bitwright.web.requests import Graph, Limits, ProgramSource, Request

What = Algorithm | NodeProgram | SubleqProgram
Progress = Callable[..., None]  # the phase, the steps done, their limit, and partial results


def read_program(source: ProgramSource, limits: Limits) -> What:
    """Returns the program of a request; raises BitwrightError if it has problems or is too large."""
    text, name = source.text, source.title
    match source.kind:
        case "subleq":
            check = partial(_check_memory, limits)
            return pasted_image(check, text, name, source.language, source.words, source.width, source.dialect)
        case "nodes":
            return pasted_nodes(text, name)
        case "rules":
            found = pasted_rules(text, name)
        case "sbn":
            found = pasted_sbn(text, name, source.machine)
        case "permutation":
            found = named_algorithm("permutation", order=source.order)
        case "addition":
            found = named_algorithm("addition", source.bits, counter=source.counter)
        case "multiplication":
            found = named_algorithm("multiplication", source.bits)
    check_size(found.program, limits)
    return found


def _check_memory(limits: Limits, words: int, width: int) -> None:
    if words * width > limits.memory_bits:
        most = f"{limits.memory_bits:,} bits of memory, such as 1,024 words of {limits.memory_bits >> 10}"
        raise InputError(f"this machine has {words:,} words of {width} bits; this page takes at most {most}")


def check_size(program: Program, limits: Limits, graph: bool = False) -> None:
    """Raises InputError if a program is too large, by itself or on its `graph`."""
    here, smaller = (" on this graph", "; take a smaller graph") if graph else ("", "")
    for size, most, what in ((program.bits, limits.bits, "bits"), (program.templates, limits.templates, "templates")):
        if size > most:
            raise InputError(f"this program has {size:,} {what}{here}; this page takes at most {most:,}{smaller}")


def read_graph(graph: Graph, limits: Limits) -> NamedGraph:
    """Returns the graph of a request; raises InputError if it is invalid or too large."""
    if graph.shape is None:
        found = drawn_graph(graph.nodes, graph.edges, graph.directed)
    elif graph.nodes or graph.edges:
        raise InputError("give either the shape of a graph or its nodes and edges, not both")
    else:
        numbers = [int(part) for part in re.findall("[0-9]+", graph.shape)[:2]]
        if (prod(numbers) if "x" in graph.shape else max(numbers, default=0)) > limits.edges:  # before it is built
            raise InputError(f"{graph.shape} is too large; this page takes at most {limits.nodes:,} nodes")
        found = shaped_graph(graph.shape)
    shape = found.topology
    for count, most, what in ((shape.nodes, limits.nodes, "nodes"), (shape.edges, limits.edges, "edges")):
        if count > most:
            raise InputError(f"this graph has {count:,} {what}; this page takes at most {most:,}")
    return found


def describe(source: ProgramSource, limits: Limits) -> dict[str, object]:
    """Returns the sizes and inputs of a valid program, and the numbers of examples for engines."""
    what, inputs, notes = read_program(source, limits), list[dict[str, Any]](), list[str]()
    if isinstance(what, SubleqProgram):
        shape, algorithm, steps = what.machine.shape, with_padding(what.machine.algorithm()), None
        machine, notes = f"machine V of {shape}; {counted(len(what.image), 'word')} in use", misfits(shape, what.image)
    elif isinstance(what, NodeProgram):
        graph = read_graph(source.graph, limits)
        algorithm, schema = whole_program(what, graph)
        check_size(algorithm.program, limits, graph=True)
        inputs, steps = [_graph_input(word) for word in schema.inputs], schema.steps
        machine = f"{graph.topology.nodes:,} nodes, {graph.topology.edges:,} edges"
    else:
        algorithm, steps, computer = what, what.steps, what.computer
        inputs = [{"name": word.name, "bits": len(word.bits), "signed": word.signed} for word in what.inputs]
        machine = "" if computer is None else f"machine {computer.machine.kind} with {computer.code.sizes}"
    program = algorithm.program
    examples = examples_of(algorithm)
    examples["cells"] = sum(kind.templates for kind in program.kinds.kinds)
    sizes = {"bits": program.bits, "blocks": program.blocks, "templates": program.templates, "steps": steps}
    return {**sizes, "examples": examples, "inputs": inputs, "machine": machine, "notes": notes}


def _graph_input(word: Any) -> dict[str, object]:
    marks = word.width == 1 and not word.unique and word.place != "whole"  # a list of nodes or edges is enough
    least, most = map(str, word.range)
    own = {name: getattr(word, name) for name in ("name", "signed", "place", "unique", "one")}
    return {**own, "bits": word.width, "marks": marks, "least": least, "most": most}


def make_engine(algorithm: Algorithm, request: Request, limits: Limits, progress: Progress) -> Engine:
    """Returns the engine of a request; for `network` it trains a network of cells."""
    if request.engine == "network":
        report = report_training("a network of cells", progress)
        network, _ = make_network(cells_of(algorithm)[0], None, request.width, limits.width, request.seed, report)
        return network_engine(algorithm.program, network)
    settings: dict[str, Any] = {} if request.engine == "templates" else {"rounding": request.rounding}
    if request.engine == "sampled":
        settings |= {"networks": request.networks, "seed": request.seed}
    return engine_for(algorithm, request.engine, None, settings)


def report_training(what: str, progress: Progress) -> Report:
    """Reports the progress of training with the curve of its error."""

    def report(width: int, step: int, most: int, curve: Curve) -> None:
        progress(f"training {what} at width {width:,}", step, most, curve=curve, tolerance=TOLERANCE)

    return report
