"""Which device `validate` takes when nobody says: a GPU for long work through one network of the whole state."""

import pytest

from bitwright import addition, train
from bitwright.common.workers import Workers
from bitwright.verbs import devices
from bitwright.verbs.progress import teller
from bitwright.verbs.validate import _device


def test_a_gpu_for_long_work_through_a_whole_state_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, cells = train(addition(3), tile="all", width=512), train(addition(4))
    serial, algorithm, many = Workers(), addition(3), 1 << 20
    monkeypatch.setattr(devices, "gpu_name", lambda: "a GPU")
    assert _device(algorithm, whole, many, serial, teller(None)) == "cuda"
    assert _device(algorithm, whole, None, serial, teller(None)) == "cpu"  # 64 inputs
    assert _device(algorithm, cells, many, serial, teller(None)) == "cpu"
    assert _device(algorithm, whole, many, Workers("processes", 2), teller(None)) == "cpu"
    monkeypatch.setattr(devices, "gpu_name", lambda: None)
    assert _device(algorithm, whole, many, serial, teller(None)) == "cpu"
