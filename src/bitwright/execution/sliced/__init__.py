"""The bit-sliced engine: 64 states in every word, whole runs in compiled loops, and every (n, c, m) that occurred.

It makes the steps of `templates`, or those of `limit` by a table of proved decisions. It needs numba, the extra `fast`.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

AVAILABLE = find_spec("numba") is not None


def to_be_compiled() -> bool:
    """Whether the loops will first be compiled, which takes some seconds; after that the result is kept."""
    from bitwright.execution.sliced.kernel import run_words

    return not any(Path(run_words.stats.cache_path or ".").glob("kernel.run_words*.nbi"))
