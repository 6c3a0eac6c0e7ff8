"""Readers of data: executions (.npz), graphs in every format and tables of their values, networks of cells."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx
import numpy as np
from fuzz.mutations import NASTY, edit_bytes, edit_document, edit_text
from fuzz.reader import Reader
from fuzz.stored import _archive, _array, edit_safetensors, folder, in_file, saved
from fuzz.texts import examples

from bitwright import Network, addition, infer, run, train
from bitwright.api.graphs import on_graph
from bitwright.files.executions import Executions, load_executions, save_executions
from bitwright.graphs.files import SUFFIXES, read_graph
from bitwright.program import parse_node_program
from bitwright.running.successors import random_executions

# Executions: an archive of arrays.

_KINDS = (
    *("|b1", "|u1", "<u1", "|i1", "<i8", ">i8", "<f8", "<c16"),
    *("<U6", "<U0", ">U6", "|S6", "|O", "<M8", "|V6", "?", "x"),
)
_SHAPES = (
    *("(0,)", "(-1,)", "(9999999999,)", "(3, 3)", "()", "(1e9,)", "9"),
    *("(4294967296,)", "(0, 6)", "(20, 0)", "(20, 6)", "(6,)"),
)


def write_executions(path: Path) -> None:
    save_executions(path, random_executions(addition(2).program, 20, 1))


def edited_executions(rng: Random) -> bytes:
    """Edits of the archive's bytes, or another archive of edited, odd, missing or renamed arrays."""
    data = saved(write_executions, "good.npz")
    pick = rng.random()
    if pick < 0.05:
        return data
    if pick < 0.3:
        return edit_bytes(rng, data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(rng.randint(1, 2)):
        name = rng.choice(sorted(members))
        match rng.randrange(6):
            case 0:
                members[rng.choice(("names.npy", "program_id.npy", "x.npy", "names", "../names.npy"))] = members[name]
            case 1:
                members[name] = edit_bytes(rng, members[name])
            case 2:
                members[name] = _array(_odd(rng))
            case 3:
                members["names.npy"] = _array(np.array([_bit_name(rng) for _ in range(rng.choice((6, 6, 5, 1)))]))
            case 4:
                members[name] = members[rng.choice(sorted(members))]
            case _:
                members[name] = _with_header(rng, members[name])
    return _archive(members, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)))


def _odd(rng: Random) -> Any:
    shape = rng.choice(((20, 6), (20, 6), (0, 6), (20, 0), (6,), (), (2, 2, 2)))
    kind = rng.choice((bool, np.uint8, np.int8, np.int64, np.float64, "U6", "S6", "datetime64[s]", complex))
    return np.ones(shape, dtype=kind) if kind != "datetime64[s]" else np.zeros(shape, dtype=kind)


def _bit_name(rng: Random) -> str:
    known = ("p[1]", "p[2]", "q[1]", "q[2]", "c[1]", "c[2]", "p[999999999]", "p[1,1]", "p", "p[0]", "when")
    return rng.choice(NASTY)[:60] if rng.random() < 0.1 else rng.choice(known)


def _with_header(rng: Random, data: bytes) -> bytes:
    kind, shape, order = rng.choice(_KINDS), rng.choice(_SHAPES), rng.choice(("True", "False", "0"))
    spaces = " " * rng.choice((0, 1, 50, 300))
    header = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}{spaces}\n"
    size = rng.choice((len(header), len(header), 0, 65_535)).to_bytes(2, "little")
    return b"\x93NUMPY\x01\x00" + size + header.encode() + data[128:]


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
        if suffix == ".json":
            data = nx.node_link_data(graph, edges=rng.choice(("edges", "links")))
            return json.dumps(data) if rng.random() < 0.5 else edit_document(rng, data)
        if suffix == ".graphml":
            text = "\n".join(nx.generate_graphml(_plain(graph)))
        else:
            between = {".csv": ",", ".tsv": "\t"}.get(suffix, rng.choice((" ", ",", "\t")))
            head = ["source", "target", "weight"][: rng.randint(2, 3)]
            lines = [head] * (rng.random() < 0.3) + [[*map(str, edge)] for edge in graph.edges(data="weight")]
            text = "\n".join(between.join(line) for line in lines)
        return text if rng.random() < 0.3 else edit_text(rng, text, _WORDS)

    return make


def _plain(graph: Any) -> Any:
    """GraphML has no large numbers, and one type for each attribute."""
    for *_, about in graph.edges(data=True):
        about["weight"] = str(about["weight"])
    return graph


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


def edited_cells(rng: Random) -> bytes:
    return edit_safetensors(rng, saved(write_cells, "cells.safetensors"))


def take_cells(path: Path) -> None:
    cells = Network.load(path)
    assert run(addition(5), p=21, q=30, network=cells).value == 51 or not cells.proved


READERS = (
    Reader("executions files", edited_executions, in_file("e.npz", take_executions)),
    *(
        Reader(f"graph files ({suffix})", written_graph(suffix), take_graph(suffix))
        for suffix in SUFFIXES
        if suffix not in (".edges", ".edgelist", ".adjlist")  # which are read as .txt and .adj
    ),
    Reader("values of graphs", value_text, take_values),
    Reader("networks of cells", edited_cells, in_file("c.safetensors", take_cells)),
)
