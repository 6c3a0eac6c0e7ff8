"""How we measure: the best of several repetitions, in seconds; memory in a process of its own."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One line of the table: what was done, our figure, and what it is to be compared with."""

    what: str
    ours: str
    compared: str


def seconds(work: Callable[[], object], repeat: int = 3, at_least: float = 0.2) -> float:
    """Time of one call of `work`: the best of `repeat` rounds, each long enough for the clock."""
    calls = 1
    while True:
        begin = time.perf_counter()
        for _ in range(calls):
            work()
        spent = time.perf_counter() - begin
        if spent >= at_least or calls > 1_000_000:
            break
        calls = max(calls + 1, int(calls * 1.5 * at_least / max(spent, 1e-9)))
    best = spent
    for _ in range(repeat - 1):
        begin = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, time.perf_counter() - begin)
    return best / calls


def readable(duration: float) -> str:
    if duration >= 120:
        return f"{duration / 60:.3g} min"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if duration >= size:
            return f"{duration / size:.3g} {unit}"
    return f"{duration / 1e-9:.3g} ns"


def peak_memory() -> float:
    """The most memory that this process has had so far, in GB.

    Linux hands a parent's peak down in ru_maxrss, also through exec; its mark of this very address space is VmHWM.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e9 if sys.platform == "darwin" else 1e6)


def alone(script: str) -> tuple[float, float]:
    """The seconds that lines of Python take in a process of their own, imports included, and its peak memory in GB."""
    lines = (
        "import time; begin = time.perf_counter()",
        script,
        "from benchmarks.measure import peak_memory; print(time.perf_counter() - begin, peak_memory())",
    )
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True, cwd=root
    )
    spent, peak = done.stdout.split()[-2:]
    return float(spent), float(peak)
