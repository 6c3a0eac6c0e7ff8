"""The fused kernels against the plain trainer and NumPy's sums, in Triton's interpreter where there is no GPU."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from processes import environment

pytest.importorskip("triton", reason="Triton is for Linux; the fused kernels are optional")


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    script = Path(__file__).parent / "fused_check.py"
    interpreted = environment(TRITON_INTERPRET="1")
    interpreted["PYTHONPATH"] += f":{script.parents[2]}"  # for the paper's kernels
    run = subprocess.run([sys.executable, str(script)], env=interpreted, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    return dict(json.loads(run.stdout))


@pytest.mark.parametrize("kind", ["plain", "momentum", "balanced", "standard"])
def test_training_is_that_of_the_oracle(found: dict[str, Any], kind: str) -> None:
    got = found[kind]
    assert got["moved"] > 1e-2
    assert got["difference"] < 1e-5
    assert got["history"] < 1e-5
    assert got["steps"][0] == got["steps"][1]


@pytest.mark.parametrize("kind", ["drawn", "drawn zero"])
def test_members_are_their_own_whatever_the_batch(found: dict[str, Any], kind: str) -> None:
    got = found[kind]
    assert got["same alone"]
    assert got["members differ"]
    assert got["other seed differs"]
    assert abs(got["mean"]) < 0.06  # 5,000 normals (half as many for zero): 3 standard errors or more
    assert abs(got["deviation"] - 1) < 0.05
    assert abs(got["fourth moment"] - 3) < 0.6
    assert got["correlation"] < 0.15


def test_failure_is_an_error(found: dict[str, Any]) -> None:
    assert found["failure"].startswith("training stalled at an error of")


@pytest.mark.parametrize("case", ["addition", "odd", "large", "cells"])
def test_the_fused_kernel_gives_the_same_sums_and_distances(found: dict[str, Any], case: str) -> None:
    assert found["sums"][case]["states"] > 20
    assert found["sums"][case]["sums differ"] == 0
    assert found["sums"][case]["distances differ"] == 0


def test_hidden_values_too_large_for_one_digit_are_seen(found: dict[str, Any]) -> None:
    """`large` has hidden values above 2^11, which the kernel notices; the others stay with one digit."""
    assert found["sums"]["large"]["digits"] == 2
    assert found["sums"]["large"]["largest"] > 2**11
    assert found["sums"]["addition"]["digits"] == 1
    assert found["sums"]["large"]["digits after a restart"] == 1
