"""Linear algebra in one thread, and the name of the kernel that does it.

A kernel is the code that a library such as OpenBLAS takes for the CPU it finds. Kernels add up in different orders, and
so do several threads: floats differ in their last digits. One thread also is the fastest here: for products of the
sizes that occur, waking and joining threads costs more than they gain.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

_LOADED_LATER = ("scipy.linalg", "torch")  # with libraries of their own
_LOCK = Lock()
_limits: dict[tuple[bool, ...], Any] = {}  # those in force, by what was loaded
_inside = 0


@lru_cache
def _controller(loaded: tuple[bool, ...]) -> ThreadpoolController:  # noqa: ARG001
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Meanwhile products take one thread, in the whole process; also a decorator.

    The first to enter sets the limit and the last to leave lifts it, in whatever threads they are.
    """
    global _inside
    with _LOCK:
        loaded = tuple(name in sys.modules for name in _LOADED_LATER)
        if loaded not in _limits:
            _limits[loaded] = _controller(loaded).limit(limits=1)
        _inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            while not _inside and _limits:
                _limits.popitem()[1].restore_original_limits()


Library = tuple[str, str]  # numpy or torch, and a device
NUMPY: Library = ("numpy", "cpu")


def kernel_name(library: Library = NUMPY) -> str:
    """What does the linear algebra here, such as "openblas 0.3.31 Haswell": on the same kernel floats are the same."""
    name, device = library
    if name == "numpy":
        return _numpy_kernel()[0]
    import torch

    if device == "cpu":
        return f"torch {torch.__version__} {torch.backends.cpu.get_cpu_capability()}, {_processor()}"
    triton = f", triton {version('triton')}" if find_spec("triton") else ""
    return f"torch {torch.__version__}{triton}, {torch.cuda.get_device_name(device)}"


def kernel_settings() -> dict[str, str]:
    """The environment in which another process of the same NumPy has this one's kernel, as far as there is one."""
    core = _numpy_kernel()[1]
    return {} if core is None else {"OPENBLAS_CORETYPE": core}


def way_to_kernel(wanted: object) -> str:
    """How this NumPy takes a kernel of that name, with "or"; empty where it cannot."""
    before, _, core = str(wanted).rpartition(" ")
    own, setting = _numpy_kernel()
    return f"set OPENBLAS_CORETYPE={core}, or " if setting and own.rpartition(" ")[0] == before else ""


@lru_cache
def _numpy_kernel() -> tuple[str, str | None]:
    """The name of NumPy's kernel, and how OpenBLAS is told to take it."""
    found = [one for one in ThreadpoolController().info() if one["user_api"] == "blas"]
    own = [one for one in found if {"numpy", "numpy.libs"} & set(Path(one["filepath"]).parts)] or found
    if not own:  # such as Apple's, which says nothing of itself
        blas: Any = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{blas['name']} {blas['version']}, {_processor()}", None
    about, core = f"{own[0]['internal_api']} {own[0]['version']}", own[0].get("architecture")
    if core is None:
        return f"{about}, {_processor()}", None
    return f"{about} {core}", core if own[0]["internal_api"] == "openblas" else None


@lru_cache
def _processor() -> str:
    """The processor's name: a library that does not say which kernel it takes goes by it."""
    if os.path.exists("/proc/cpuinfo"):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
