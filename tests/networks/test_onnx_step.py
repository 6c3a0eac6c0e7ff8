"""ONNX models of a step say what our engine says: in every local state, in random states, in whole runs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import for_each
from exported import CASES, adder_file, case, local_states

from bitwright import addition, run
from bitwright.cli.main import main
from bitwright.exports.onnx_step import save_step_onnx

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")


def session_of(path: Path) -> Any:
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


@for_each("name", list(CASES))
def test_every_local_state_and_random_states(name: str, tmp_path: Path) -> None:
    """Each local state of each kind that the program has, in its first cell, the other bits off; then random states."""
    found, engine = case(name)
    core, wires = found.core, found.wires
    save_step_onnx(found, tmp_path / "step.onnx")
    bits = wires.algorithm.program.bits
    first: dict[int, np.ndarray] = {}
    at = 0
    for kind in wires.cell_kind.tolist():
        blocks = core.block_bits[core.kind_block[kind] : core.kind_block[kind + 1]]
        first.setdefault(kind, wires.cell_bit[at : at + int(blocks.sum())])
        at += int(blocks.sum())
    states = []
    for kind, configurations, _ in local_states(found):
        if kind in first:
            state, place = np.zeros(bits, dtype=bool), 0
            own = core.block_bits[core.kind_block[kind] : core.kind_block[kind + 1]].tolist()
            for size, configuration in zip(own, configurations, strict=True):
                state[first[kind][place : place + size]] = configuration >> np.arange(size) & 1
                place += size
            states.append(state)
    random = np.random.default_rng(0).integers(0, 2, (2_000, bits)).astype(bool)
    every = np.concatenate((np.array(states), random))
    batch = engine.begin(every)
    batch.step()
    [said] = session_of(tmp_path / "step.onnx").run(None, {"state": every})
    assert np.array_equal(said, batch.states())


def test_whole_runs_from_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, output = adder_file(tmp_path), tmp_path / "step.onnx"
    asked = f"export {file} --to onnx -o {output} --program addition --bits 20 --json"
    assert main(asked.split()) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["name"], said["states"], said["proved"]) == ("addition", 16, True)
    algorithm, session = addition(20), session_of(output)
    rng = np.random.default_rng(3)
    inputs = [{"p": int(p), "q": int(q)} for p, q in rng.integers(0, 1 << 20, (1_000, 2))]
    state = np.array([algorithm.state(values) for values in inputs])
    for _ in range(algorithm.steps):
        [state] = session.run(None, {"state": state})
    assert [algorithm.read(one)["sum"] for one in state] == [values["p"] + values["q"] for values in inputs]
    assert run(algorithm, **inputs[0]).value == algorithm.read(state[0])["sum"]


def test_no_floating_point_number_is_in_the_file(tmp_path: Path) -> None:
    import onnx

    found, _ = case(CASES[2])
    save_step_onnx(found, tmp_path / "step.onnx")
    model = onnx.shape_inference.infer_shapes(onnx.load(tmp_path / "step.onnx"), strict_mode=True)
    types = {tensor.data_type for tensor in model.graph.initializer}
    types |= {value.type.tensor_type.elem_type for value in (*model.graph.value_info, *model.graph.output)}
    kinds = onnx.TensorProto
    assert len(model.graph.value_info) > 5
    assert types <= {kinds.INT8, kinds.UINT8, kinds.INT32, kinds.INT64, kinds.BOOL}
    about = {entry.key: entry.value for entry in model.metadata_props}
    assert about == {"program_id": found.wires.algorithm.program.id, "network_sha256": found.network.digest}
