"""The same bytes on every CPU for what is exact, and on the same kernel for what is trained.

Child processes get one core or two, OMP_NUM_THREADS or not, kernels of OpenBLAS, and NumPy without its newest code.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import for_each
from long import LONG

from bitwright import InputError, addition
from bitwright.common.workers import Workers, cores, linear_algebra
from bitwright.common.workers.linear_algebra import kernel_name, one_thread
from bitwright.networks import Recipe, train
from bitwright.networks.integer import grids

CHILD = """
import hashlib, json, os, sys
from pathlib import Path
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(sys.argv[1])])
given = Path(sys.argv[2])
from bitwright import addition, certify, multiplication, size, train, validate
from bitwright.networks import FloatNetwork, quantize
from bitwright.networks.network import Origin
from bitwright.theory.closed_form import weights
from bitwright.common.workers.linear_algebra import kernel_name

def of(value):
    data = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()

import numpy as np
program, layers = addition(4).program, np.load(given / "large.npz")
large = FloatNetwork(layers["first"], layers["last"], Origin(program.id, 0, "balanced", 1e-3, 0.0, 9, "numpy on cpu"))
rounded = quantize(large, program)[0]
exact = {
    "closed form": of(weights(range(1, 400), 500).gap.tobytes()),
    "integers": rounded.digest,
    "certificate of integers": of(certify(addition(4), rounded).to_dict()),
    "certificate of the limit": of(certify(addition(8)).to_dict()),
    "validation": of(validate(addition(3), engine="limit").to_dict() | {"seconds": 0}),
}
trained = {
    "whole state": train(addition(3), tile="all", width=512).digest,
    "executions": train(addition(3), tile="all", width=512, executions="runs").digest,
    "cells": train(multiplication(4)).digest,
}
print(json.dumps({"kernel": kernel_name(), "exact": exact, "trained": trained}))
"""
NEWEST = " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", []))  # type: ignore[index, call-overload]
AVX512 = Path("/proc/cpuinfo").exists() and "avx512f" in Path("/proc/cpuinfo").read_text()
OPENBLAS = kernel_name().startswith("openblas") and os.uname().machine == "x86_64"
CORES = (1, 2) if cores() > 1 else (1,)
CORETYPES = (*(["Haswell"] * OPENBLAS), *(["SkylakeX"] * (OPENBLAS and AVX512)), None)
EVERY = [(count, threads, core, False) for count in CORES for threads in (None, "1") for core in CORETYPES]
FEW = [(CORES[-1], None, CORETYPES[0], False), (1, "1", CORETYPES[0], False), (1, None, None, True)]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given")
    network = train(addition(4).program, Recipe(1024))[0]
    np.savez(folder / "large.npz", first=network.first, last=network.last)
    return folder


def child(folder: Path, given: Path, count: int, threads: str | None, core: str | None, old: bool) -> dict[str, Any]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENBLAS_", "OMP_", "NPY_"))}
    settings = {
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_CORETYPE": core,
        "NPY_DISABLE_CPU_FEATURES": NEWEST if old else None,
    }
    more = {name: value for name, value in settings.items() if value}
    command = [sys.executable, "-c", CHILD, str(count), str(given)]
    done = subprocess.run(command, cwd=folder, env={**kept, **more}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert core is None or found["kernel"].endswith(core)
    return found


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores are chosen on Linux")
def test_what_is_exact_is_the_same_everywhere_and_what_is_trained_by_the_same_kernel(
    tmp_path: Path, given: Path
) -> None:
    found = [child(tmp_path, given, *how) for how in (EVERY if LONG else FEW)]
    for one in found:
        assert one["exact"] == found[0]["exact"]
        alike = next(other for other in found if other["kernel"] == one["kernel"])
        assert one["trained"] == alike["trained"]
    if OPENBLAS and AVX512:
        assert len({one["kernel"] for one in found}) == 2


def another(core: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """From now on this process seems to have another kernel."""
    name = f"openblas 0.0 {core}"
    monkeypatch.setattr(linear_algebra, "_numpy_kernel", lambda: (name, core))
    return name


def test_networks_name_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    assert train(addition(2).program, Recipe(64))[0].origin.kernel == kernel_name()
    elsewhere = another("Prescott", monkeypatch)
    assert train(addition(2).program, Recipe(64))[0].origin.kernel == elsewhere


def _nothing(_: None, job: int) -> int:
    return job


def test_workers_of_another_kernel_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their environment is this one's, so they differ only where this process pretends to."""
    another("Prescott", monkeypatch)
    workers = Workers("processes", 2)
    with pytest.raises(InputError, match=r"uses the linear algebra .*, but this command uses openblas 0.0 Prescott"):
        list(workers.map(_nothing, None, range(2)))
    assert list(workers.map(_nothing, None, range(2), floats=None)) == [0, 1]


def test_the_first_to_enter_sets_one_thread_and_the_last_to_leave_lifts_it() -> None:
    def threads() -> set[int]:
        return {one["num_threads"] for one in linear_algebra.ThreadpoolController().info() if one["user_api"] == "blas"}

    before = threads()
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads() == {1}
    second.__exit__(None, None, None)
    assert threads() == before


@for_each("seed", range(3))
def test_sums_on_a_grid_are_exact_in_every_order(seed: int) -> None:
    """The largest weights of one sign, and most matches: as Python's integers add them up."""
    rng, (width, examples, outputs, most) = (
        np.random.default_rng(seed),
        [(64, 20, 3, 9), (1000, 9, 2, 9), (8, 4, 1, 1)][seed],
    )
    first, last = (rng.uniform(0.99, 1, shape) for shape in ((width, examples), (outputs, width)))
    one, two = grids(first, last, most)
    inner = one.whole[:, :most].sum(axis=1)
    for order in (slice(None), slice(None, None, -1), rng.permutation(width)):
        for out in range(outputs):
            terms = list(zip(one.whole[order].astype(int), two.whole[out, order].astype(int), strict=True))
            exact = sum(sum(row.tolist()[:most]) * int(after) for row, after in terms)
            assert float(np.add.accumulate(inner[order] * two.whole[out, order])[-1]) == exact
    assert np.abs(one.whole * one.unit - first).max() <= one.unit / 2  # and the grid is as fine as that allows
    assert one.whole.max() * two.whole.max() * most * width > 2.0**50
