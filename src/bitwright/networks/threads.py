"""How many threads the linear algebra may use.

One, unless asked otherwise: for products of the sizes that occur here, waking and joining threads costs more than they
gain, and where cores are shared it costs very much more.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def linear_algebra_threads(count: int = 1) -> AbstractContextManager[object]:
    """NumPy's products use `count` threads inside."""
    limit: AbstractContextManager[object] = _controller().limit(limits=count)
    return limit
