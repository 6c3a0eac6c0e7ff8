"""The scripts of exported pages say what Python says, under node: wiring, whole runs, proofs."""

import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import for_each
from exported import changed
from long import LONG
from paged import evaluate, network_for, node_program
from whole import whole, with_weights

from bitwright import Algorithm, addition, certify, multiplication, run
from bitwright.engines.cells.engine import CellEngine
from bitwright.exports import exported_cells
from bitwright.exports.pages import program_facts
from bitwright.graphs.named import shaped_graph
from bitwright.machines.programs import open_program
from bitwright.rules.pattern import Pattern
from bitwright.verbs.graphs import on_graph

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
MADE = {"addition": addition, "multiplication": multiplication}
TABLES = """
const { bits, steps, startBit, inputs, outputs, ...wires } = wiresOf(facts.wiring);
return { bits, steps, startBit, inputs: inputs.map((word) => word.bits), outputs: outputs.map((word) => word.bits),
  tables: ["cellKind", "cellBit", "wireStart", "wireBit"].map((name) => [...wires[name]]) };
"""
FINISH = """
function finish(machine) {
  let how = "on";
  while (how === "on") how = machine.advance();
  return how === "done" ? machine.steps : -1;
}
"""
RUN = (
    FINISH
    + """
const wires = wiresOf(facts.wiring);
const machine = new Machine(wires);
return facts.runs.map((values) => {
  const state = new Uint8Array(wires.bits);
  for (const bit of wires.startBit) state[bit] = 1;
  loadWords(wires.inputs, values, state);
  machine.load(state);
  const steps = finish(machine);
  return [steps, Object.values(readWords(wires.outputs, machine.state)).map(String), machine.firstWrong];
});
"""
)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("size", [1, 31])
def test_wiring(name: str, size: int, tmp_path: Path) -> None:
    network, pattern = network_for(name)
    found = exported_cells(network, pattern, MADE[name](size))
    said = evaluate(found, {"wiring": program_facts(found)}, TABLES, tmp_path)
    wires, algorithm = found.wires, found.wires.algorithm
    assert said["tables"] == [t.tolist() for t in (wires.cell_kind, wires.cell_bit, wires.wire_start, wires.wire_bit)]
    assert (said["bits"], said["steps"]) == (algorithm.program.bits, algorithm.steps)
    assert said["startBit"] == list(algorithm.start)
    assert said["inputs"] == [list(word.bits) for word in algorithm.inputs]
    assert said["outputs"] == [list(word.bits) for word in algorithm.outputs]


def whole_runs(name: str, size: int, count: int, how: str, folder: Path) -> tuple[Algorithm, list[Any], list[Any]]:
    network, pattern = network_for(name)
    algorithm = MADE[name](size)
    found = exported_cells(changed(network, how), pattern, algorithm)
    rng = np.random.default_rng(size)
    runs = [{word.name: int(rng.integers(0, 1 << len(word.bits))) for word in algorithm.inputs} for _ in range(count)]
    return algorithm, runs, evaluate(found, {"wiring": program_facts(found), "runs": runs}, RUN, folder)


@pytest.mark.parametrize(("name", "size", "count"), [("addition", 16, 500), ("multiplication", 9, 50)])
def test_whole_runs(name: str, size: int, count: int, tmp_path: Path) -> None:
    algorithm, runs, said = whole_runs(name, size, count, "", tmp_path)
    done = run(algorithm, states=np.array([algorithm.state(values) for values in runs]))
    for values, state, made, (steps, outputs, wrong) in zip(runs, done.states, done.steps, said, strict=True):
        assert steps == made, values
        assert outputs == [str(value) for value in algorithm.read(state).values()]
        assert wrong is None


def test_a_wrong_network_is_wrong_in_the_same_way(tmp_path: Path) -> None:
    algorithm, runs, said = whole_runs("addition", 12, 300, "wrong", tmp_path)
    network, pattern = network_for("addition")
    engine = CellEngine(algorithm.program, pattern, changed(network, "wrong"))
    done = run(algorithm, states=np.array([algorithm.state(values) for values in runs]), engine=engine)
    assert [outputs for _, outputs, _ in said] == [[str(algorithm.read(s)["sum"])] for s in done.states]
    assert any(wrong for _, _, wrong in said)


PROVED = [(name, how) for how in ("", "wrong", "wide") for name in ("addition", "multiplication", "bfs", "gcd.sbn")]


@for_each(("name", "how"), PROVED if LONG else [*PROVED[1:4], ("addition", "wrong"), ("addition", "wide")])
def test_the_proof_of_a_page_is_the_certificate(name: str, how: str, tmp_path: Path) -> None:
    network, pattern = network_for(name)
    altered = changed(network, how)
    certificate = certify(Algorithm("cells", pattern.program), altered, domain="cells")
    said = evaluate(exported_cells(altered, pattern, None), {}, "return proveAll()", tmp_path)
    assert said["states"] == certificate.states
    assert said["wrong"] == certificate.wrong
    assert said["distance"] == certificate.distance
    assert said["margin"] == certificate.margin


def test_the_proof_of_a_whole_state(tmp_path: Path) -> None:
    algorithm = addition(3)
    network = whole(algorithm.program, 512)
    certificate = certify(algorithm, network)
    found = exported_cells(network, Pattern.of_state(algorithm.program), algorithm)
    said = evaluate(found, {}, "return [proveAll(), countLocalStates()]", tmp_path)
    assert said[0]["states"] == said[1] == certificate.states
    assert (said[0]["wrong"], said[0]["margin"]) == (certificate.wrong, certificate.margin)


def test_every_change_that_is_tried_spoils_the_network(tmp_path: Path) -> None:
    """By what Python proves of the network with that weight."""
    network, pattern = network_for("addition", 64)
    found = exported_cells(network, pattern, None)
    changes = evaluate(found, {}, "return changesAt([...localStates()])", tmp_path)
    assert changes
    for change in changes:
        thresholds = network.thresholds.copy()
        thresholds.flat[change["at"]] = change["value"]
        other = with_weights(network, thresholds=thresholds)
        assert certify(Algorithm("cells", pattern.program), other, domain="cells").wrong > 0


def test_an_sbn_program(tmp_path: Path) -> None:
    network, pattern = network_for("gcd.sbn")
    algorithm = open_program("examples/sbn/gcd.sbn")
    found = exported_cells(network, pattern, algorithm)
    rng = np.random.default_rng(1)
    runs = [{"a": int(a), "b": int(b)} for a, b in rng.integers(1, 60, (40, 2))]
    said = evaluate(found, {"wiring": program_facts(found), "runs": runs}, RUN, tmp_path)
    expected = [run(algorithm, **values) for values in runs]
    assert [(steps, outputs) for steps, outputs, _ in said] == [(one.steps, [str(one.value)]) for one in expected]


GRAPH = (
    FINISH
    + """
const found = wiresOf(facts.wiring);
const cells = [], machine = new Machine(found);
for (let cell = 0; cell < machine.cells; cell++) {
  const kind = found.cellKind[cell];
  const said = Array.from({ length: kindPorts[kind] }, (_, port) => [...machine.wired(cell, port)]);
  cells.push([kind, [...found.cellBit.subarray(machine.cellAt[cell], machine.cellAt[cell + 1])], said]);
}
const start = new Uint8Array(found.bits);
for (const bit of found.startBit) start[bit] = 1;
machine.load(start);
return { cells, steps: finish(machine), state: [...machine.state], packed: [...machine.packed] };
"""
)


@for_each(
    ("name", "shape", "given"),
    [
        ("bfs", "random:17,24,3", {"source": "0"}),
        ("bfs", "path:1", {"source": "0"}),
        ("flooding", "grid:4x5", {"source": "1.2"}),
        ("leader", "ring:9", {"id": "order"}),
        ("shortest-paths", "random:9,14,1", {"source": "0", "weight": "*:3"}),
        ("dfs", "random:12,18,5", {"source": "0"}),
        ("life", "torus:5x6", {"alive": "1.2,2.3,3.1,3.2,3.3"}),
    ],
)
def test_node_programs_on_graphs(name: str, shape: str, given: dict[str, str], tmp_path: Path) -> None:
    """The same cells, wires and steps."""
    program = node_program(name)
    network, pattern = network_for(name)
    algorithm = on_graph(program, shaped_graph(shape), given)
    found = exported_cells(network, pattern, algorithm)
    said = evaluate(found, {"wiring": program_facts(found)}, GRAPH, tmp_path)
    assert sorted(map(repr, said["cells"])) == sorted(map(repr, _cells(found.core, found.wires)))
    done = run(algorithm)
    assert (said["steps"], said["state"]) == (done.steps, done.state.astype(int).tolist())
    assert said["packed"] == np.packbits(done.state).tolist()


def _cells(core: Any, wires: Any) -> list[Any]:
    sizes = [int(core.block_bits[a:b].sum()) for a, b in zip(core.kind_block, core.kind_block[1:], strict=False)]
    ports = np.diff(core.kind_port).tolist()
    found, at, port = [], 0, 0
    for kind in wires.cell_kind.tolist():
        starts = wires.wire_start[port : port + ports[kind] + 1].tolist()
        said = [wires.wire_bit[a:b].tolist() for a, b in pairwise(starts)]
        found.append([kind, wires.cell_bit[at : at + sizes[kind]].tolist(), said])
        at, port = at + sizes[kind], port + ports[kind]
    return found
