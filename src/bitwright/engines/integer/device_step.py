"""What states match, how much, and what the rules give next, on a device: by one kernel on CUDA, else by products."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np

from bitwright.cuda_source import Kernel, KernelError, can_compile
from bitwright.engines.device_matching import DeviceMatching
from bitwright.errors import BitwrightError
from bitwright.networks.torch_trainer import torch_module
from bitwright.program import Program
from bitwright.theory.encoding.packed import literals_of

_WARPS = 8  # in a block of threads, a state for each
_MOST_COLUMNS = 2_048  # of a state, so that the rows of a block fit shared memory
_TRIED = 512  # random states on which the kernel must agree with the products before it is used
_COMPARED, _TOGETHER = 64, 1 << 15  # states of a batch that are looked at again, and how many of these at once


class SecondLook:
    """Keeps some states of every batch that a kernel went through, and compares them with plain products.

    A kernel that a compiler got wrong proves nothing. Many states are compared at once, and only `check` waits for what
    came of it.
    """

    what: str  # that the kernel would do otherwise

    def __init__(self) -> None:
        self._kept: list[tuple[Any, ...]] = []
        self._differs: Any = None  # on the device, so that nobody waits

    def is_wrong(self, *kept: Any) -> Any:
        """Whether plain products give something else for what was kept, as a bool on the device."""
        raise NotImplementedError

    def keep(self, *found: Any) -> None:
        """Keeps some rows of these tensors."""
        rows = slice(None, None, max(1, len(found[0]) // _COMPARED))
        self._kept.append(tuple(tensor[rows].clone() for tensor in found))
        if len(self._kept) * _COMPARED >= _TOGETHER:
            self._compare()

    def check(self) -> None:
        """Raises BitwrightError if the kernel was found to differ from the products since the last check."""
        self._compare()
        differs, self._differs = self._differs, None
        if differs is not None and bool(differs):
            raise BitwrightError(
                f"the device's kernel {self.what} otherwise than plain products do; use the device cpu"
            )

    def forget(self) -> None:
        """Drops what is kept: the states are gone through again."""
        self._kept, self._differs = [], None

    def _compare(self) -> None:
        if self._kept:
            differs = self.is_wrong(*(torch_module().cat(parts) for parts in zip(*self._kept, strict=True)))
            self._kept = []
            self._differs = differs if self._differs is None else self._differs | differs


class DeviceStep(SecondLook):
    """The rules of a program; those who prove something have some states of every batch looked at again by products."""

    what = "steps"

    def __init__(self, program: Program, device: Any, inputs: int, columns: int, fast: bool = True) -> None:
        super().__init__()
        torch = torch_module()
        small = torch.float16 if device.type == "cuda" and program.templates <= 1 << 11 else torch.float32
        self.matching = DeviceMatching(program, device, small, rows=inputs, columns=columns)
        self._device, self._kernel = device, None
        if fast and device.type == "cuda" and can_compile() and columns <= _MOST_COLUMNS and columns % 4 == 0:
            try:
                self._kernel = _StepKernel(program, device, inputs, columns)
            except KernelError:
                return
            states = torch.zeros((_TRIED, columns), dtype=torch.bool, device=device)
            drawn = np.random.default_rng(0).random((_TRIED, program.bits)) < 0.5
            states[:, : program.bits] = torch.from_numpy(drawn).to(device)
            if self.is_wrong(states, *self._kernel(states)):
                self._kernel = None

    def __call__(self, states: Any, keep: bool = False) -> tuple[Any, Any, Any]:
        """(batch, columns) bool -> matched (batch, inputs) uint8, n (batch,) int64, following (batch, columns) bool.

        `keep`: some states for `check`.
        """
        if self._kernel is None:
            return self._by_products(states)
        found = self._kernel(states)
        if keep:
            self.keep(states, *found)
        return found

    def _by_products(self, states: Any) -> tuple[Any, Any, Any]:
        matched = self.matching.matched(states)
        return matched.view(torch_module().uint8), matched.sum(dim=1), self.matching.written(matched)

    def is_wrong(self, *kept: Any) -> Any:
        """Whether these states match or become something else by products."""
        states, *found = kept
        differ = [(one != other).any() for one, other in zip(self._by_products(states), found, strict=True)]
        return differ[0] | differ[1] | differ[2]


class _StepKernel:
    """`step.cu` for one program."""

    def __init__(self, program: Program, device: Any, inputs: int, columns: int) -> None:
        torch = torch_module()
        own, self._inputs, self._columns, self._templates = literals_of(program), inputs, columns, program.templates
        tables = (own.start, 2 * own.bit + own.on, program.write_start, program.write_bits)
        self._tables = [torch.tensor(np.asarray(table), dtype=torch.int32, device=device) for table in tables]
        sizes = (("INPUTS", inputs), ("COLUMNS", columns), ("WARPS", _WARPS))
        text = files("bitwright.engines.integer").joinpath("step.cu").read_text()
        major, minor = torch.cuda.get_device_capability(device)
        self._blocks = 16 * torch.cuda.get_device_properties(device).multi_processor_count
        with torch.cuda.device(device):
            define = "".join(f"#define {name} {value}\n" for name, value in sizes)
            self._kernel = Kernel(define + text, "step", f"sm_{major}{minor}")

    def __call__(self, states: Any) -> tuple[Any, Any, Any]:
        torch = torch_module()
        new: dict[str, Any] = {"device": states.device}
        matched = torch.empty((len(states), self._inputs), dtype=torch.uint8, **new)
        n = torch.empty(len(states), dtype=torch.int64, **new)
        following = torch.empty((len(states), self._columns), dtype=torch.bool, **new)
        if len(states):
            blocks = min(self._blocks, -(-len(states) // _WARPS)), 1
            with torch.cuda.device(states.device):
                stream = torch.cuda.current_stream().cuda_stream
                found = (matched, n, following, len(states), self._templates)
                self._kernel(blocks, 32 * _WARPS, stream, states.contiguous(), *self._tables, *found)
        return matched, n, following
