"""Compiled loops whose results are kept on disk, and found stale without harm; importing it takes numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import numba


def entry(function: Any) -> Callable[..., Any]:
    """A compiled function to be called from Python.

    numba reads its index of kept results before it looks whether the source has changed, and fails if a class in it has
    another name by now. Then what is kept of the whole module is removed, and compiled anew.
    """

    @wraps(function)
    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except (AttributeError, ImportError):
            if not _forget(function):
                raise
        return function(*arguments)

    return call


def _forget(function: Any) -> bool:
    """Removes the indices of a function's module; whether there were any."""
    module = function.__module__.rpartition(".")[2]
    kept = list(Path(function.stats.cache_path or ".").glob(f"{module}.*.nbi"))
    for path in kept:
        path.unlink(missing_ok=True)
    return bool(kept)


def compiled(function: Callable[..., Any]) -> Any:
    """To be compiled when it is first called, and kept; other threads may run meanwhile."""
    return numba.njit(cache=True, nogil=True)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """To be compiled as a part of the functions that call it: a call that passes arrays costs as much as a step."""
    return numba.njit(nogil=True, inline="always")(function)
