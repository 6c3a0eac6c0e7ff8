"""What benchmarks say of memory is of the process that they speak of."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.measure import alone, peak_memory

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells peaks this way")


def test_a_process_of_its_own_does_not_inherit_its_parents_peak() -> None:
    held = np.ones(50_000_000)  # 0.4 GB
    assert peak_memory() > held.nbytes / 1e9
    _, small = alone("pass")
    _, large = alone("held = b'x' * 200_000_000")
    assert small < 0.1
    assert 0.2 < large < 0.3
