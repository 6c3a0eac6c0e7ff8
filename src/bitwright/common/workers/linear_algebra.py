"""Single-threaded linear algebra, and the name of the kernel that computes it.

A kernel is the code that a library such as OpenBLAS selects for the CPU. Different kernels, and different numbers of
threads, add in different orders, so their floats differ in the last digits. One thread is also the fastest here: for
products of the sizes that occur, synchronizing threads costs more than it gains.
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

_LOADED_LATER = ("scipy.linalg", "torch")  # each has its own linear algebra library
_LOCK = Lock()
_limits: dict[tuple[bool, ...], Any] = {}  # limits in force, by loaded libraries
_inside = 0


@lru_cache
def _controller(loaded: tuple[bool, ...]) -> ThreadpoolController:  # noqa: ARG001
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limits linear algebra to one thread in the whole process; also works as a decorator.

    The first caller to enter sets the limit and the last to leave lifts it, across all threads.
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
    """Returns the name of the kernel, such as "openblas 0.3.31 Haswell"; equal names imply equal floats."""
    name, device = library
    if name == "numpy":
        return _numpy_kernel()[0]
    import torch

    if device == "cpu":
        return f"torch {torch.__version__} {torch.backends.cpu.get_cpu_capability()}, {_processor()}"
    triton = f", triton {version('triton')}" if find_spec("triton") else ""
    return f"torch {torch.__version__}{triton}, {torch.cuda.get_device_name(device)}"


def kernel_settings() -> dict[str, str]:
    """Returns environment variables that select the kernel of this process in another process, if possible."""
    core = _numpy_kernel()[1]
    return {} if core is None else {"OPENBLAS_CORETYPE": core}


def way_to_kernel(wanted: object) -> str:
    """Returns "set ..., or " with the setting that selects a kernel of this name, or an empty string."""
    before, _, core = str(wanted).rpartition(" ")
    kernel, setting = _numpy_kernel()
    return f"set OPENBLAS_CORETYPE={core}, or " if setting and kernel.rpartition(" ")[0] == before else ""


@lru_cache
def _numpy_kernel() -> tuple[str, str | None]:
    """Returns the name of NumPy's kernel, and the OpenBLAS setting that selects it."""
    libraries = [library for library in ThreadpoolController().info() if library["user_api"] == "blas"]
    shipped = [library for library in libraries if {"numpy", "numpy.libs"} & set(Path(library["filepath"]).parts)]
    library = next(iter(shipped or libraries), None)
    if library is None:  # such as Apple's, which reports no name
        blas: Any = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{blas['name']} {blas['version']}, {_processor()}", None
    about, core = f"{library['internal_api']} {library['version']}", library.get("architecture")
    if core is None:
        return f"{about}, {_processor()}", None
    return f"{about} {core}", core if library["internal_api"] == "openblas" else None


@lru_cache
def _processor() -> str:
    """Returns the processor's name, which identifies the kernel of a library that does not report one."""
    if os.path.exists("/proc/cpuinfo"):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
