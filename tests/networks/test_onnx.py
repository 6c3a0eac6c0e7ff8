"""ONNX files compute what the network computes, in ONNX's own evaluator."""

from pathlib import Path

import numpy as np
import pytest

from bitwright import addition
from bitwright.networks import Plan, Recipe, train
from bitwright.networks.onnx_file import save_onnx
from bitwright.theory.encoding.training_set import TrainingSet

onnx = pytest.importorskip("onnx")


def test_the_same_function(tmp_path: Path) -> None:
    from onnx.reference import ReferenceEvaluator

    program = addition(3).program
    network, _ = train(program, Recipe(512, plan=Plan(descent="momentum")))
    save_onnx(network, program, tmp_path / "net.onnx")
    states = np.random.default_rng(0).random((20, program.bits)) < 0.5
    encoded = TrainingSet(program).encode(states).astype(np.float32)
    model = onnx.load(tmp_path / "net.onnx")
    assert {entry.key: entry.value for entry in model.metadata_props} == {"program_id": program.id}
    (outputs,) = ReferenceEvaluator(model).run(None, {"inputs": encoded})
    assert np.allclose(outputs, network(encoded), atol=1e-5)
    assert np.abs(outputs).max() > 0.1
