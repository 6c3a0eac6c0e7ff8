"""Which device `validate` takes when nobody says: a GPU for long work through one network of integers."""

from pathlib import Path

import pytest

from bitwright import Network, addition
from bitwright.cli.main import main
from bitwright.common.workers import Workers
from bitwright.verbs import devices
from bitwright.verbs.progress import teller
from bitwright.verbs.validate import _device


@pytest.fixture(scope="module")
def network_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Of integers, of floating-point numbers, and of cells."""
    folder = tmp_path_factory.mktemp("networks")
    kinds = {"whole": ["--tile", "all"], "floats": ["--tile", "all", "--weight-bits", "float"], "cells": []}
    for name, more in kinds.items():
        bits = [] if name == "cells" else ["--bits", "3", "--width", "256"]
        assert main(["train", "addition", *bits, *more, "-o", str(folder / f"{name}.safetensors"), "-q"]) == 0
    whole, floats, cells = (folder / f"{name}.safetensors" for name in kinds)
    return whole, floats, cells


def test_a_gpu_for_long_work_in_whole_numbers_alone(
    network_files: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, floats, cells = map(Network.load, network_files)
    serial, algorithm, many = Workers(), addition(3), 1 << 20

    monkeypatch.setattr(devices, "gpu_name", lambda: "a GPU")
    assert _device(algorithm, [whole], many, serial, teller(None)) == "cuda"
    assert _device(algorithm, [whole], None, serial, teller(None)) == "cpu"  # 64 inputs
    assert _device(algorithm, [floats], many, serial, teller(None)) == "cpu"  # its bits may be others there
    assert _device(algorithm, [cells], many, serial, teller(None)) == "cpu"
    assert _device(algorithm, [whole, whole], many, serial, teller(None)) == "cpu"
    assert _device(algorithm, [whole], many, Workers("processes", 2), teller(None)) == "cpu"
    monkeypatch.setattr(devices, "gpu_name", lambda: None)
    assert _device(algorithm, [whole], many, serial, teller(None)) == "cpu"
