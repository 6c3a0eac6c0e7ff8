"""Sums of integers by the int8 products of Hopper chips: from matched examples to sums or distances in one kernel.

Twice the rate of float16, and no bound on a hidden value but two digits of 8 bits. The kernel is `sums.cu`; here its
weights are laid out as the products want them in shared memory, so that a block of them comes in by one copy.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bitwright.common.cuda_source import Kernel, can_compile
from bitwright.networks.integer import Bounds, IntegerNetwork

_STATES, _THREADS = 128, 384  # of a block of threads
_UNITS = 128  # hidden units that are brought in together
_SLAB, _GROUP = 32, 16  # examples or units of one product, outputs come in multiples of this
_MOST_OUTPUTS = 192  # of a tile: their totals fill the registers
_MOST_STAGES = 4
_SHARED = 232_448 - 1_024  # bytes of shared memory that a block of threads may have, less what barriers take
_DIGITS = 1 << 16  # a hidden value must be smaller


class TensorCoreSums:
    """The sums of one network on a Hopper chip; what `FusedSums` does, for the same callers."""

    def __init__(self, network: IntegerNetwork, bounds: Bounds, device: Any) -> None:
        assert self.fits(network, bounds, device)
        shape = network.shape
        self._slabs, self._tiles = -(-shape.inputs // _SLAB), -(-shape.outputs // _MOST_OUTPUTS)
        self._tile = _GROUP * -(-shape.outputs // (_GROUP * self._tiles))
        self._outputs, self.inputs, self.columns = shape.outputs, _SLAB * self._slabs, self._tiles * self._tile
        image = np.concatenate(
            [
                weight_blocks(network.first, network.last[at : at + self._tile], self._slabs, self._tile)
                for at in range(0, self.columns, self._tile)
            ]
        )
        self._blocks = len(image) // self._tiles
        self._weights = torch.from_numpy(image).to(device)
        self._none = torch.zeros(1, dtype=torch.int64, device=device)
        with torch.cuda.device(device):
            self._kernel = _kernel(self._slabs, self._tile, _stages(self._slabs, self._tile), device)
        self._processors = torch.cuda.get_device_properties(device).multi_processor_count

    @staticmethod
    def fits(network: IntegerNetwork, bounds: Bounds, device: Any) -> bool:
        """Whether this chip has such products, and every number fits."""
        shape = network.shape
        return (
            torch.cuda.get_device_capability(device)[0] == 9  # wgmma is of this generation alone
            and can_compile()
            and max(int(bounds.hidden.max(initial=0)), -bounds.lowest) < _DIGITS
            and bounds.sums + bounds.thresholds + 1 < 1 << 31
            and int(abs(network.first).max(initial=0)) < 128
            and int(abs(network.last).max(initial=0)) < 128
            and _stages(-(-shape.inputs // _SLAB), min(_MOST_OUTPUTS, shape.outputs)) >= 2
        )

    def restart(self) -> None:
        """Nothing is remembered of the states that were tried."""

    def __call__(self, matched: Any) -> Any:  # (batch, inputs) uint8 -> (batch, k) int32
        """The sums."""
        sums = torch.empty((len(matched), self.columns), dtype=torch.int32, device=matched.device)
        self._launch(matched, self._none, self._none, self._none, sums, judge=False)
        return sums[:, : self._outputs]

    def distances(self, matched: Any, n: Any, truth: Any, thresholds: Any) -> Any:
        """See FusedSums.distances."""
        smallest = torch.full((len(matched),), torch.iinfo(torch.int32).max, dtype=torch.int32, device=matched.device)
        self._launch(matched, n, truth, thresholds, smallest, judge=True)
        return smallest

    def _launch(self, matched: Any, n: Any, truth: Any, thresholds: Any, found: Any, judge: bool) -> None:
        if not len(matched):
            return
        blocks = min(-(-len(matched) // _STATES), max(1, self._processors // self._tiles)), self._tiles
        given = (tensor.contiguous() for tensor in (matched, self._weights, n, truth, thresholds))
        with torch.cuda.device(matched.device):
            stream = torch.cuda.current_stream().cuda_stream
            sizes = (len(matched), self._blocks, self.columns, int(judge))
            self._kernel(blocks, _THREADS, stream, *given, found, *sizes)


def weight_blocks(
    first: NDArray[Any], last: NDArray[Any], slabs: int, outputs: int
) -> NDArray[np.int8]:  # (width, K), (k, width) -> (blocks, bytes)
    """The weights as they are copied: 128 units a row, first their first layer, then their last.

    Matrices are cut into slabs of 32 bytes a row, these into two halves, and rows into groups of 8: eight rows of 16
    bytes follow each other. In the last layer a slab's units 16 h + 8 b + 2 q + e stand at 16 h + 4 q + 2 b + e: the
    first product leaves a thread the units of one q, and these four are the bytes of a register of the second.
    """
    blocks = -(-first.shape[0] // _UNITS)
    one = np.zeros((blocks * _UNITS, slabs * _SLAB), dtype=np.int8)
    one[: first.shape[0], : first.shape[1]] = first
    two = np.zeros((blocks * _UNITS, outputs), dtype=np.int8)
    two[: last.shape[1], : last.shape[0]] = last.T
    by_slab = one.reshape(blocks, 2, 8, 8, slabs, 2, 16).transpose(0, 1, 4, 2, 5, 3, 6)
    order = np.arange(_SLAB).reshape(2, 2, 4, 2).transpose(0, 2, 1, 3).ravel()
    ordered = two.reshape(blocks, 4, _SLAB, outputs)[:, :, order].transpose(0, 1, 3, 2)
    by_group = ordered.reshape(blocks, 4, outputs // 8, 8, 2, 16).transpose(0, 1, 2, 4, 3, 5)
    return np.concatenate([by_slab.reshape(blocks, -1), by_group.reshape(blocks, -1)], axis=1)


def _sizes(slabs: int, outputs: int) -> tuple[int, int]:
    """Bytes of a block of weights, and of what the states of a block of threads match."""
    return _UNITS * _SLAB * slabs + _UNITS * outputs, _STATES * _SLAB * slabs


def _stages(slabs: int, outputs: int) -> int:
    """How many blocks of weights fit shared memory."""
    weights, matched = _sizes(slabs, _GROUP * -(-outputs // _GROUP))
    return min(_MOST_STAGES, (_SHARED - matched) // weights)


@cache
def _kernel(slabs: int, outputs: int, stages: int, device: Any) -> Kernel:  # noqa: ARG001
    """Compiled once for each size and device: a module is of one device."""
    weights, matched = _sizes(slabs, outputs)
    return Kernel(kernel_text(slabs, outputs, stages), "sums", "sm_90a", stages * weights + matched)


def kernel_text(slabs: int, outputs: int, stages: int) -> str:
    """The kernel for these sizes."""
    text = files("bitwright.engines.integer").joinpath("sums.cu").read_text()
    sizes = "".join(f"#define {name} {n}\n" for name, n in (("SLABS", slabs), ("OUT", outputs), ("STAGES", stages)))
    products = _product("first_product", 64, in_registers=False) + _product(
        "second_product", outputs, in_registers=True
    )
    return sizes + text.replace("@PRODUCTS@", products)


def _product(function: str, columns: int, in_registers: bool) -> str:
    """A function for one product, 64 x 32 by 32 x `columns`: d += a b, or d = a b where `add` is 0."""
    count = columns // 2
    sums, names = (", ".join(form.format(i) for i in range(count)) for form in ("%{}", '"+r"(d[{}])'))
    a = "{{{}}}".format(", ".join(f"%{count + i}" for i in range(4))) if in_registers else f"%{count}"
    given = [*(f'"r"(a{i})' for i in range(4))] if in_registers else ['"l"(a)']
    kinds = ", ".join(f"u32 a{i}" for i in range(4)) if in_registers else "u64 a"
    b, add = count + len(given), count + len(given) + 1
    return (
        f"__device__ __forceinline__ void {function}(int (&d)[{count}], {kinds}, u64 b, int add) {{\n"
        f'  asm volatile("{{ .reg .pred p; setp.ne.b32 p, %{add}, 0;\\n"\n'
        f'    "wgmma.mma_async.sync.aligned.m64n{columns}k32.s32.u8.s8 {{{sums}}}, {a}, %{b}, p; }}\\n"\n'
        f'    : {names} : {", ".join(given)}, "l"(b), "r"(add));\n}}\n'
    )
