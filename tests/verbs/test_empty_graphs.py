"""Graphs without edges: there is nothing to ask for, in any format, and what runs on them runs."""

from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from cases import for_each
from long import LONG

from bitwright import open, run
from bitwright.common.errors import InputError

PROGRAMS = Path(__file__).parents[2] / "examples" / "graphs"
SHORTEST = [open(PROGRAMS / f"{name}.bw") for name in ("shortest-paths", "shortest-paths-binary")]


def written(kind: str, graph: Any, folder: Path) -> Any:
    """A graph of networkx, as it is or in a file of this suffix."""
    path = folder / f"graph{kind}"
    match kind:
        case "":
            return graph
        case ".csv":
            path.write_text("source,target,weight\n" + "".join(f"{node},,\n" for node in graph))
        case _:
            path.write_text("".join(f"{node}\n" for node in graph))
    return path


@for_each("kind", ["", ".txt", ".csv", ".tsv"])
@for_each("multigraph", [False, True])
@for_each("nodes", [2, *[1] * LONG])
def test_without_edges_no_weights_are_asked_for(kind: str, multigraph: bool, nodes: int, tmp_path: Path) -> None:
    given = written(kind, nx.empty_graph(nodes, nx.MultiGraph if multigraph else nx.Graph), tmp_path)
    for program in SHORTEST:
        for weight in ({}, {"weight": "@weight"}, {"weight": "*:3"}, {"weight": []}, {"weight": {}}):
            done = run(program, {"source": "0", **weight}, graph=given)
            assert [own["distance"] for own in done.nodes.values()] == [0, None][:nodes]


def test_an_edge_needs_its_weight() -> None:
    for program in SHORTEST:
        with pytest.raises(InputError, match=f"{program.name} needs weight: give weight=@ATTRIBUTE"):
            run(program, graph=nx.path_graph(2), source=0)
        with pytest.raises(InputError, match="'weight'"):
            run(program, graph=nx.path_graph(2), source=0, weight="@weight")


@pytest.mark.parametrize("kind", ["", ".csv"])
def test_a_graph_needs_a_node(kind: str, tmp_path: Path) -> None:
    given = written(kind, nx.empty_graph(0), tmp_path)
    with pytest.raises(InputError, match=r"none|no edges or nodes|no nodes|at least one node") as refused:
        run(SHORTEST[0], graph=given)
    assert kind == "" or str(refused.value).startswith(str(given))
