"""CUDA C++ kernels, compiled on first use.

The compiler is NVRTC, called through the package cuda-bindings; PyTorch builds for CUDA 13 include both.
"""

from __future__ import annotations

import ctypes
from importlib.util import find_spec
from typing import Any

from bitwright.common.errors import BitwrightError


class KernelError(BitwrightError):
    """A kernel could not be compiled, loaded or launched."""


def can_compile() -> bool:
    """Returns whether the compiler is installed."""
    try:
        return find_spec("cuda.bindings.nvrtc") is not None and find_spec("cuda.bindings.driver") is not None
    except ModuleNotFoundError:
        return False


class Kernel:
    """One function of a CUDA C++ source, compiled for one architecture in the current context."""

    def __init__(self, text: str, function: str, architecture: str, shared: int = 0) -> None:
        """`shared` is the dynamic shared memory of a block in bytes."""
        from cuda.bindings import driver  # type: ignore[import-not-found,unused-ignore]

        self._driver, self._shared = driver, shared
        self._module = _checked(driver.cuModuleLoadData(_compiled(text, architecture)))  # lives as long as the kernel
        self._function = _checked(driver.cuModuleGetFunction(self._module, function.encode()))
        if shared:
            attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            _checked(driver.cuFuncSetAttribute(self._function, attribute, shared))

    def __call__(self, blocks: tuple[int, int], threads: int, stream: int, *arguments: Any) -> None:
        """Launches the kernel; tensors are passed as pointers, integers as int, others as float."""
        values, types = zip(*(_argument(argument) for argument in arguments), strict=True)
        _checked(
            self._driver.cuLaunchKernel(
                self._function, *blocks, 1, threads, 1, 1, self._shared, stream, (values, types), 0
            )
        )


def _argument(value: Any) -> tuple[Any, Any]:
    if hasattr(value, "data_ptr"):
        return value.data_ptr(), ctypes.c_void_p
    return value, ctypes.c_int if isinstance(value, int) else ctypes.c_float


def _compiled(text: str, architecture: str) -> bytes:
    """Returns the machine code; raises KernelError with the compiler's message."""
    from cuda.bindings import nvrtc  # type: ignore[import-not-found,unused-ignore]

    program = _checked(nvrtc.nvrtcCreateProgram(text.encode(), b"kernel.cu", 0, [], []))
    try:
        options = [b"--std=c++17", f"--gpu-architecture={architecture}".encode()]
        (failed,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        if int(failed):
            log = b" " * _checked(nvrtc.nvrtcGetProgramLogSize(program))
            _checked(nvrtc.nvrtcGetProgramLog(program, log))
            raise KernelError(f"a CUDA kernel did not compile: {log.decode(errors='replace').strip()[:500]}")
        code: bytes = b" " * _checked(nvrtc.nvrtcGetCUBINSize(program))
        _checked(nvrtc.nvrtcGetCUBIN(program, code))
        return code
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _checked(answer: tuple[Any, ...]) -> Any:
    """Returns the results of a CUDA call after its error code; raises KernelError on failure."""
    code, *results = answer
    if int(code):
        raise KernelError(f"CUDA reported {code!r}")
    return results[0] if results else None
