"""The bit-sliced engine: 64 states in every word, whole runs in compiled loops, and every (n, c, m) that occurred.

It makes the steps of `templates`, or those of `limit` by a table of proved decisions. It needs numba, the extra `fast`.
"""

from __future__ import annotations

from importlib.util import find_spec

AVAILABLE = find_spec("numba") is not None
