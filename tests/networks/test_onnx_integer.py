"""The ONNX files of properties give the same sums as our engine, in every state, in every run time there is."""

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from whole import whole

from bitwright import Algorithm, InputError, addition
from bitwright.networks import IntegerNetwork
from bitwright.networks.integer import ExactSums
from bitwright.networks.onnx_file import save_sums_onnx
from bitwright.proofs.exhaustion.domains import StatesDomain
from bitwright.rules.pattern import Pattern

onnx = pytest.importorskip("onnx")
Run = Callable[[Path, dict[str, Any]], list[Any]]


def in_reference(path: Path, given: dict[str, Any]) -> list[Any]:
    from onnx.reference import ReferenceEvaluator

    return list(ReferenceEvaluator(onnx.load(path)).run(None, given))


def in_runtime(path: Path, given: dict[str, Any]) -> list[Any]:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return list(session.run(None, given))


RUN_TIMES = [
    pytest.param(in_reference, id="reference"),
    pytest.param(
        in_runtime,
        id="onnxruntime",
        marks=pytest.mark.skipif(find_spec("onnxruntime") is None, reason="onnxruntime is not installed"),
    ),
]


def every_state(algorithm: Algorithm, most: int = 4_096) -> Any:
    """What the states match; of many, the first ones and some that are spread evenly."""
    domain, found = StatesDomain(Pattern.of_state(algorithm.program)), []
    for at in range(0, domain.size, max(1, domain.size // most)):
        domain.visit(at, at + 1, lambda matched, *_: found.append(matched))
    return np.concatenate(found)


def wide(network: IntegerNetwork) -> IntegerNetwork:
    """A network whose thresholds need 64 bits."""
    thresholds = network.thresholds.copy()
    thresholds[-1] = 1 << 40
    return replace(network, thresholds=thresholds)


@pytest.mark.parametrize("run", RUN_TIMES)
def test_sums_in_float32_are_exact(run: Run, tmp_path: Path) -> None:
    algorithm = addition(2)
    network = whole(algorithm.program, 128)
    save_sums_onnx(network, algorithm.program, tmp_path / "net.onnx")
    matched = every_state(algorithm)
    rows = [run(tmp_path / "net.onnx", {"inputs": row[None].astype(np.float32)})[0] for row in matched]  # one at a time
    said = np.concatenate(rows)
    assert said.dtype == np.float32
    assert (said.astype(np.int64) == ExactSums(network, algorithm.program)(matched)).all()


def test_sums_that_float32_cannot_hold(tmp_path: Path) -> None:
    algorithm = addition(2)
    network = whole(algorithm.program, 128)
    large = replace(
        network,
        first=np.full((4_096, network.shape.inputs), 127, dtype=np.int8),
        last=np.full((network.shape.outputs, 4_096), 127, dtype=np.int8),
    )
    with pytest.raises(InputError, match=r"264,257,536.*32.*16,777,216"):
        save_sums_onnx(large, algorithm.program, tmp_path / "net.onnx")
    with pytest.raises(InputError, match=r"reach 1,099,511,627,777"):
        save_sums_onnx(wide(network), algorithm.program, tmp_path / "net.onnx")
    assert not list(tmp_path.iterdir())
