"""Integer networks on a device, with sums that equal NumPy's to the last bit.

Kernels compute the sums on CUDA, and plain products check them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.cuda_source import KernelError
from bitwright.common.errors import InputError
from bitwright.engines.device_matching import DeviceMatching, TensorBatch, aligned
from bitwright.engines.protocol import Batch, Engine
from bitwright.networks.descent import check_device, torch_module
from bitwright.networks.integer import Bounds, IntegerNetwork, check_belongs, checked_bounds, columns_of
from bitwright.rules import Program
from bitwright.theory.rounding import Rounding

_ROOM = 1 << 41  # exact in float64 together with the number of a state
_TRIED, _TRIED_AT_ONCE = 512, 128  # random matches on which a kernel must agree with plain products before use
_HIDDEN = 1 << 26  # hidden values in memory at a time without the fused kernel
_ALL = slice(None)
_log = logging.getLogger(__name__)


class DeviceSums:
    """Computes G for many states on a device: by the fused kernel on CUDA if that is exact, otherwise in float64.

    The compiled kernel is not trusted: it is used only if it agrees with plain products on some random matches, and
    proofs compare a few states of every tile again. `own` selects the bits whose sums are needed.
    """

    def __init__(
        self, network: IntegerNetwork, program: Program, device: Any, fused: bool = True, own: slice = _ALL
    ) -> None:
        torch = torch_module()
        check_belongs(network, program)
        network = replace(network, last=network.last[own])
        bounds = checked_bounds(network, program)
        self.beyond = bounds.sums + bounds.thresholds  # a threshold beyond every sum
        if self.beyond >= _ROOM:
            raise InputError(f"sums up to {self.beyond:,} exceed the range of a device; use the device cpu")
        layers = (network.first.T, network.last.T)
        self._layers = [torch.tensor(layer, dtype=torch.float64, device=device) for layer in layers]
        self._examples, self._width = network.shape.inputs, network.shape.width
        self._fused: Any = self._kernel(network, bounds, device) if fused and device.type == "cuda" else None
        self.inputs = self._examples if self._fused is None else self._fused.inputs  # columns of `matched`
        self.columns = aligned(network.shape.outputs) if self._fused is None else self._fused.columns  # of next states

    def _kernel(self, network: IntegerNetwork, bounds: Bounds, device: Any) -> Any:
        """Returns the fastest kernel that is exact for this network and agrees with plain products, or None."""
        for kernel in _kernels(network, bounds, device):
            if self.agrees(kernel, kernel.inputs, device):
                kernel.restart()  # states match fewer examples than these, so one digit may suffice
                return kernel
        return None

    def agrees(self, fast: Callable[[Any], Any], inputs: int, device: Any) -> bool:
        """Whether another implementation agrees with the plain products for random matches of every density.

        Few matches come first, so that the kernel is tested with hidden values in one digit and in two.
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
        """Returns the sums for states that match these examples."""
        return self.plain(matched) if self._fused is None else self._fused(matched)

    def plain(self, matched: Any) -> Any:  # (batch, inputs) uint8 -> (batch, k) int64
        """Returns the sums by exact products in float64."""
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
    """Yields the fused kernels that are exact for this network on this device, fastest first."""
    from bitwright.engines.integer.tensor_cores import TensorCoreSums

    if TensorCoreSums.fits(network, bounds, device):
        try:
            yield TensorCoreSums(network, bounds, device)
        except KernelError as error:
            _log.warning("%s; using another kernel", error)
    if find_spec("triton") is not None:
        from bitwright.engines.integer.fused import FusedSums

        if FusedSums.fits(network, bounds):
            yield FusedSums(network, bounds, device)


class DeviceDecisions:
    """Sums, thresholds and the rules' successors on a device.

    `own` selects the bits to check; unless these are all bits, there are no states, only matches.
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
        table[0] = self.sums.beyond  # if nothing matches, no bit is on and there is no distance
        kind = torch.int32 if self.sums.fused else torch.int64
        self._thresholds = torch.tensor(table, dtype=kind, device=self.device)  # (largest n + 1, columns): row n

    @cached_property
    def matching(self) -> DeviceMatching:
        """The matches of states, and their successors by the rules."""
        torch, program = torch_module(), self._program
        small = torch.float16 if self.device.type == "cuda" and program.templates <= 1 << 11 else torch.float32
        return DeviceMatching(program, self.device, small, rows=self.sums.inputs, columns=self.columns)

    @property
    def most_matches(self) -> int:
        """The largest n."""
        return len(self._thresholds) - 1

    def over(self, matched: Any, n: Any) -> Any:  # (batch, inputs), (batch,) -> (batch, k)
        """Returns G - T for every bit; far below 0 if nothing matches."""
        return self.sums(matched) - self._thresholds[n, : self._bits]

    def distances(self, matched: Any, n: Any, truth: Any) -> Any:  # ..., (batch, columns) bool -> (batch,)
        """Returns the smallest distance of each state's bits from an error."""
        torch = torch_module()
        if self.sums.fused:
            return self.sums.distances(matched, n, truth.view(torch.uint8), self._thresholds)
        return self.plain_distances(matched, n, truth)

    def plain_distances(self, matched: Any, n: Any, truth: Any) -> Any:
        """Returns the same distances by plain products, for comparison."""
        over = self.sums.plain(matched) - self._thresholds[n, : self._bits]
        return torch_module().where(truth[:, : self._bits], over, 1 - over).amin(dim=1)


class IntegerDeviceEngine(Engine):
    """The engine `network` for integer networks, with states that stay on a device."""

    name = "network"
    chunk = 1 << 15

    rounding: Rounding = "calibrated"
    networks = 1

    def __init__(self, program: Program, network: IntegerNetwork, device: str = "cuda") -> None:
        self.program, self.network, self._where = program, network, device
        self.examples, self.kind, self.seed = network.examples, network.kind, network.origin.seed
        self.digests = [network.digest]
        self.decide = DeviceDecisions(program, network, device)
        units = np.pad(network.units, (1, 0), mode="edge")
        self.units = torch_module().tensor(units, device=self.decide.device)  # (largest n + 1,): row n

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles as its constructor arguments."""
        return IntegerDeviceEngine, (self.program, self.network, self._where)

    def begin(self, states: BoolArray, long: bool = False) -> Batch:  # noqa: ARG002
        return IntegerDeviceBatch(self, states)


class IntegerDeviceBatch(TensorBatch):
    """States on a device."""

    def __init__(self, engine: IntegerDeviceEngine, states: BoolArray) -> None:
        super().__init__(engine.decide.matching, engine.program.bits, states, torch_module().float64)
        self._engine = engine

    def step(self) -> None:
        torch = torch_module()
        engine = self._engine
        with torch.inference_mode():
            matched, n, _ = engine.decide.matching.step(self._now)
            over = engine.decide.over(matched, n)
            bits = (over > 0) & (n > 0)[:, None]
            self._before, self._now = self._now, torch.zeros_like(self._now)
            self._now[:, : bits.shape[1]] = bits
            distance = torch.where(over > 0, over, 1 - over).amin(dim=1).double()
            margin = (distance - 0.5) / engine.units[n]
            self._margin = torch.where(n > 0, margin, torch.full_like(margin, float("inf")))
