"""Compiled loops cached on disk; a stale cache is rebuilt. Importing this module requires numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import numba


def entry(function: Any) -> Callable[..., Any]:
    """Compiles a function that Python calls.

    numba reads its cache index before it checks whether the source has changed, and fails if a class in the index has
    since been renamed. In that case the module's cache is removed and the module is compiled again.
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
    """Removes the cache indices of a function's module; returns whether there were any."""
    module = function.__module__.rpartition(".")[2]
    indices = list(Path(function.stats.cache_path or ".").glob(f"{module}.*.nbi"))
    for path in indices:
        path.unlink(missing_ok=True)
    return bool(indices)


def compiled(function: Callable[..., Any]) -> Any:
    """Compiles a function on its first call and caches it; it releases the interpreter lock."""
    return numba.njit(cache=True, nogil=True)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Inlines a function into its callers, because a call that passes arrays costs as much as a step."""
    return numba.njit(nogil=True, inline="always")(function)
