"""Readers of data: executions (.npz), graphs in every format and tables of their values, networks of cells."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import networkx as nx
import numpy as np
from fuzz.mutations import NASTY, edit_text
from fuzz.reader import Reader
from fuzz.stored import edit_archive, edit_safetensors, edited, folder, in_file
from fuzz.texts import examples

from bitwright import Network, addition, infer, run, train
from bitwright.common.files.executions import Executions, load_executions, save_executions
from bitwright.graphs.files import SUFFIXES, read_graph
from bitwright.rules import parse_node_program
from bitwright.runs.successors import random_executions
from bitwright.verbs.graphs import on_graph

# Executions: an archive of arrays.


def write_executions(path: Path) -> None:
    save_executions(path, random_executions(addition(2).program, 20, 1))


def take_executions(path: Path) -> None:
    """Reads them and looks for rules; what is written is read as the same."""
    found = load_executions(path)
    again = folder() / "again.npz"
    found.save(again)
    assert np.array_equal(Executions.load(again).before, found.before)
    if len(found) * len(found.names) < 1_000:
        infer(found, "; ".join(found.names))


# Graphs.

_PROGRAMS = [parse_node_program(text) for text in examples("graphs/*.bw")]
_VALUED = [parse_node_program(text) for text in examples("graphs/[bcs]*.bw")]  # which any graph will do for
_WORDS = ("#", '"', ",", "\t", "weight", "0", "1", "<node/>")


def written_graph(suffix: str) -> Callable[[Random], str]:
    """A small graph in this format, mostly with edits."""

    def make(rng: Random) -> str:
        graph = rng.choice((nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph))()
        graph.add_nodes_from(range(rng.randint(0, 3)))
        for _ in range(rng.randint(0, 6)):
            weight = rng.choice((1, 2, 15, 16, -1, 0, 2.0, 2.5, True, "3", "x", 10**30))
            graph.add_edge(rng.randrange(5), rng.randrange(5), weight=weight)
        for node in graph:
            graph.nodes[node].update(id=rng.randrange(9), source=rng.choice((0, 1)), alive=rng.choice((0, 1, "x")))
        between = {".csv": ",", ".tsv": "\t"}.get(suffix, rng.choice((" ", ",", "\t")))
        head = ["source", "target", "weight"][: rng.randint(2, 3)]
        lines = [head] * (rng.random() < 0.3) + [[*map(str, edge)] for edge in graph.edges(data="weight")]
        text = "\n".join(between.join(line) for line in lines)
        return text if rng.random() < 0.3 else edit_text(rng, text, _WORDS)

    return make


def take_graph(suffix: str) -> Callable[[str], None]:
    def read(text: str) -> None:
        path = folder() / f"graph{suffix}"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        graph = read_graph(path)
        program = _PROGRAMS[len(text) % len(_PROGRAMS)]
        words = program.schema().inputs
        given = {word.name: "order" if word.unique else graph.names[0] for word in words if word.place == "node"}
        algorithm = on_graph(program, graph, given)
        if graph.topology.nodes < 9:
            run(algorithm, steps=50)

    return read


def value_text(rng: Random) -> tuple[int, str]:
    """The number of a program, and values of its nodes or edges as they are typed."""
    pieces = ("0", "1", "2", "9", "0-1", "1-2", '"0"-"1"', "*", ":", ",", "-", '"', "order", "@weight", "*:3", "x", " ")
    text = "".join(rng.choice(NASTY if rng.random() < 0.1 else pieces) for _ in range(rng.choice((1, 1, 2, 3, 6))))
    return rng.randrange(len(_VALUED)), text


def take_values(given: tuple[int, str]) -> None:
    """Gives the text to the last input of the program, which is the one of edges where there is one."""
    program = _VALUED[given[0]]
    words = program.schema().inputs
    others = {word.name: "order" if word.unique else "0" if word.place == "node" else "*:1" for word in words}
    on_graph(program, "ring:3", {**others, words[-1].name: given[1]})


# Networks of cells.


def write_cells(path: Path) -> None:
    train(addition(3)).save(path)


def take_cells(path: Path) -> None:
    cells = Network.load(path)
    assert run(addition(5), p=21, q=30, network=cells).value == 51 or not cells.proved


READERS = (
    Reader("executions files", edited(write_executions, "good.npz", edit_archive), in_file("e.npz", take_executions)),
    *(
        Reader(f"graph files ({suffix})", written_graph(suffix), take_graph(suffix))
        for suffix in SUFFIXES
        if suffix not in (".edges", ".edgelist")  # which are read like .txt
    ),
    Reader("values of graphs", value_text, take_values),
    Reader(
        "networks of cells",
        edited(write_cells, "cells.safetensors", edit_safetensors),
        in_file("c.safetensors", take_cells),
    ),
)
