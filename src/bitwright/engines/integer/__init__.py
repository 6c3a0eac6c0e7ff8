"""Integer networks on a device: the sums that NumPy gives, to the last bit; what states match, and what the rules give.

Kernels do the work on CUDA, and plain products are the check.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.cuda_source import Kernel, KernelError, can_compile
from bitwright.common.errors import BitwrightError, InputError
from bitwright.engines.device_matching import DeviceMatching, TensorBatch, aligned
from bitwright.engines.protocol import Batch, Engine
from bitwright.networks.descent import check_device, torch_module
from bitwright.networks.integer import Bounds, IntegerNetwork, check_belongs, check_whole, checked_bounds, columns_of
from bitwright.rules import Program
from bitwright.theory.encoding import literals_of
from bitwright.theory.rounding import Rounding

_WARPS = 8  # in a block of threads, a state for each
_MOST_COLUMNS = 2_048  # of a state, so that the rows of a block fit shared memory
_TRIED = 512  # random states, or matches, on which a kernel must agree with plain products before it is used
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


_ROOM = 1 << 41  # exact in float64, with room for the number of a state beside it
_TRIED_AT_ONCE = 128
_HIDDEN = 1 << 26  # hidden values that are kept in memory at a time, without the fused kernel
_ALL = slice(None)
_log = logging.getLogger(__name__)


class DeviceSums:
    """G of many states on a device: by the fused kernel on CUDA where that is exact, else by products in float64.

    What a compiler makes of the kernel is not taken on trust: it is used only if it gives the sums of the plain
    products for some random matches, and those who prove something compare a few states of every tile again.
    `own` are the bits whose sums are wanted.
    """

    def __init__(
        self, network: IntegerNetwork, program: Program, device: Any, fused: bool = True, own: slice = _ALL
    ) -> None:
        torch = torch_module()
        check_belongs(network, program)
        network = replace(network, last=network.last[own])
        bounds = checked_bounds(network, program)
        self.beyond = bounds.sums + bounds.thresholds  # a threshold that no sum comes near
        if self.beyond >= _ROOM:
            raise InputError(f"sums up to {self.beyond:,} are more than a device goes through; use the device cpu")
        layers = (network.first.T, network.last.T)
        self._layers = [torch.tensor(layer, dtype=torch.float64, device=device) for layer in layers]
        self._examples, self._width = network.shape.inputs, network.shape.width
        self._fused: Any = self._kernel(network, bounds, device) if fused and device.type == "cuda" else None
        self.inputs = self._examples if self._fused is None else self._fused.inputs  # columns of `matched`
        self.columns = aligned(network.shape.outputs) if self._fused is None else self._fused.columns  # of next states

    def _kernel(self, network: IntegerNetwork, bounds: Bounds, device: Any) -> Any:
        """The fastest kernel that is exact for this network and agrees with plain products; None if there is none."""
        for kernel in _kernels(network, bounds, device):
            if self.agrees(kernel, kernel.inputs, device):
                kernel.restart()  # states match fewer examples than were tried, so one digit may do for them
                return kernel
        return None

    def agrees(self, fast: Callable[[Any], Any], inputs: int, device: Any) -> bool:
        """Whether another way to add up gives the sums of the plain products, for random matches of every density.

        Few matches come first, so that the kernel is tried with hidden values in one digit and in two.
        """
        torch = torch_module()
        rng = np.random.default_rng(0)
        chosen = rng.random((_TRIED, self._examples)) < np.sort(rng.random((_TRIED, 1)), axis=0)
        matched = torch.zeros((_TRIED, inputs), dtype=torch.uint8, device=device)
        matched[:, : self._examples] = torch.from_numpy(chosen).to(device)
        return all(bool((fast(some) == self.plain(some)).all()) for some in matched.split(_TRIED_AT_ONCE))

    @property
    def fused(self) -> bool:
        return self._fused is not None

    def __call__(self, matched: Any) -> Any:  # (batch, inputs) uint8 -> (batch, k) int32 or int64
        """The sums for states that match these examples."""
        return self.plain(matched) if self._fused is None else self._fused(matched)

    def plain(self, matched: Any) -> Any:  # (batch, inputs) uint8 -> (batch, k) int64
        """The same by products in float64, which are exact."""
        torch = torch_module()
        first, last = self._layers
        rows, matched = max(1, _HIDDEN // self._width), matched[:, : self._examples]
        parts = [
            (matched[at : at + rows].double() @ first).relu_() @ last for at in range(0, max(1, len(matched)), rows)
        ]
        return torch.cat(parts).long()

    def distances(self, matched: Any, n: Any, truth: Any, thresholds: Any) -> Any:
        """See FusedSums.distances."""
        return self._fused.distances(matched, n, truth, thresholds)


def _kernels(network: IntegerNetwork, bounds: Bounds, device: Any) -> Iterator[Any]:
    """The fused kernels that are exact for this network on this device, the fastest first."""
    from bitwright.engines.integer.tensor_cores import TensorCoreSums

    if TensorCoreSums.fits(network, bounds, device):
        try:
            yield TensorCoreSums(network, bounds, device)
        except KernelError as error:
            _log.warning("%s; another kernel is used", error)
    if find_spec("triton") is not None:
        from bitwright.engines.integer.fused import FusedSums

        if FusedSums.fits(network, bounds):
            yield FusedSums(network, bounds, device)


class DeviceDecisions:
    """Sums, thresholds and the rules' own answer on a device.

    `own` are the bits that are looked at; where these are not all, there are no states, only what is matched.
    """

    def __init__(
        self, program: Program, network: IntegerNetwork, device: str, fused: bool = True, own: slice = _ALL
    ) -> None:
        torch = torch_module()
        self.device, self._program = check_device(device), program
        self.sums = DeviceSums(network, program, self.device, fused, own)
        self.columns = self.sums.columns  # of next states
        self.own = range(program.bits)[own]
        self._bits = len(self.own)
        table = np.full((len(network.thresholds) + 1, self.columns), self.sums.beyond, dtype=np.int64)
        table[1:, : self._bits] = network.thresholds[:, columns_of(network, program)[own]]
        table[0] = self.sums.beyond  # where nothing matches no bit is on, and no distance is at stake
        kind = torch.int32 if self.sums.fused else torch.int64
        self._thresholds = torch.tensor(table, dtype=kind, device=self.device)  # (largest n + 1, columns): row n

    @cached_property
    def step(self) -> DeviceStep:
        """What states match, and what the rules give."""
        return DeviceStep(self._program, self.device, self.sums.inputs, self.columns)

    @property
    def most_matches(self) -> int:
        """The largest n."""
        return len(self._thresholds) - 1

    def tensor_of(self, states: BoolArray) -> Any:  # (batch, k) -> (batch, columns)
        """States on the device, padded with bits that are never on."""
        return self.step.matching.tensor_of(states)

    def over(self, matched: Any, n: Any) -> Any:  # (batch, inputs), (batch,) -> (batch, k)
        """G - T for every bit; far below 0 where nothing matches."""
        return self.sums(matched) - self._thresholds[n, : self._bits]

    def distances(self, matched: Any, n: Any, truth: Any) -> Any:  # ..., (batch, columns) bool -> (batch,)
        """The smallest distance of each state's bits from being wrong."""
        torch = torch_module()
        if self.sums.fused:
            return self.sums.distances(matched, n, truth.view(torch.uint8), self._thresholds)
        return self.plain_distances(matched, n, truth)

    def plain_distances(self, matched: Any, n: Any, truth: Any) -> Any:
        """The same by plain products, to compare with."""
        over = self.sums.plain(matched) - self._thresholds[n, : self._bits]
        return torch_module().where(truth[:, : self._bits], over, 1 - over).amin(dim=1)


class IntegerDeviceEngine(Engine):
    """The engine `network` for integers, with states that stay on a device."""

    name = "network"
    chunk = 1 << 15

    def __init__(
        self, program: Program, network: IntegerNetwork, rounding: Rounding = "calibrated", device: str = "cuda"
    ) -> None:
        check_whole(rounding)
        self.program, self.network, self.rounding, self._where = program, network, rounding, device
        self.examples, self.kind, self.seed = network.examples, network.kind, network.origin.seed
        self.networks, self.digests = 1, [network.digest]
        self.decide = DeviceDecisions(program, network, device)
        units = np.pad(network.units, (1, 0), mode="edge")
        self.units = torch_module().tensor(units, device=self.decide.device)  # (largest n + 1,): row n

    def __reduce__(self) -> tuple[Any, ...]:
        """Goes to other processes as what it was made from."""
        return IntegerDeviceEngine, (self.program, self.network, self.rounding, self._where)

    def describe(self) -> dict[str, object]:
        return {**super().describe(), "integer networks": self.digests}

    def begin(self, states: BoolArray, long: bool = False) -> Batch:  # noqa: ARG002
        return IntegerDeviceBatch(self, states)


class IntegerDeviceBatch(TensorBatch):
    """States on a device."""

    def __init__(self, engine: IntegerDeviceEngine, states: BoolArray) -> None:
        super().__init__(engine.decide.step.matching, engine.program.bits, states, torch_module().float64)
        self._engine = engine

    def step(self) -> None:
        torch = torch_module()
        engine = self._engine
        with torch.inference_mode():
            matched, n, _ = engine.decide.step(self._now)
            over = engine.decide.over(matched, n)
            bits = (over > 0) & (n > 0)[:, None]
            self._before, self._now = self._now, torch.zeros_like(self._now)
            self._now[:, : bits.shape[1]] = bits
            distance = torch.where(over > 0, over, 1 - over).amin(dim=1).double()
            margin = (distance - 0.5) / engine.units[n]
            self._margin = torch.where(n > 0, margin, torch.full_like(margin, float("inf")))
