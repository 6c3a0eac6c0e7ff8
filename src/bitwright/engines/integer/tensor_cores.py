"""Computes sums or distances from matched examples in one kernel with the int8 products of Hopper GPUs.

They have twice the rate of float16, and hidden values need only fit two digits of 8 bits. The kernel is `sums.cu`; this
module arranges the weights as the products expect them in shared memory, so that one copy loads a block.
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
_UNITS = 128  # hidden units loaded together
_SLAB, _GROUP = 32, 16  # examples or units of one product; outputs are padded to multiples of the second
_MOST_OUTPUTS = 192  # of a tile: their totals fill the registers
_MOST_STAGES = 4
_SHARED = 232_448 - 1_024  # bytes of shared memory for a block of threads, minus the barriers
_DIGITS = 1 << 16  # a hidden value must be smaller


class TensorCoreSums:
    """Computes the sums of one network on a Hopper GPU, with the interface of `FusedSums`."""

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
        """Whether this GPU has these products, and every number fits."""
        shape = network.shape
        return (
            torch.cuda.get_device_capability(device)[0] == 9  # only this generation has wgmma
            and can_compile()
            and max(int(bounds.hidden.max(initial=0)), -bounds.lowest) < _DIGITS
            and bounds.sums + bounds.thresholds + 1 < 1 << 31
            and int(abs(network.first).max(initial=0)) < 128
            and int(abs(network.last).max(initial=0)) < 128
            and _stages(-(-shape.inputs // _SLAB), min(_MOST_OUTPUTS, shape.outputs)) >= 2
        )

    def restart(self) -> None:
        """Does nothing, since there is no record of states."""

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
    """Returns the weights in copy order: 128 units in a row, their first layer, then their last.

    Matrices are divided into slabs of 32 bytes for each row, slabs into halves, and rows into groups of 8: eight rows
    of 16 bytes are adjacent. In the last layer, a slab's unit 16 h + 8 b + 2 q + e is at 16 h + 4 q + 2 b + e: the
    first product leaves each thread the units of one q, and these four form the bytes of a register of the second.
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
    """Returns the bytes of a block of weights, and of the matches for a block of threads."""
    return _UNITS * _SLAB * slabs + _UNITS * outputs, _STATES * _SLAB * slabs


def _stages(slabs: int, outputs: int) -> int:
    """Returns the number of weight blocks that fit shared memory."""
    weights, matched = _sizes(slabs, _GROUP * -(-outputs // _GROUP))
    return min(_MOST_STAGES, (_SHARED - matched) // weights)


@cache
def _kernel(slabs: int, outputs: int, stages: int, device: Any) -> Kernel:  # noqa: ARG001
    """Compiles the kernel once for each size and device; a module belongs to one device."""
    weights, matched = _sizes(slabs, outputs)
    return Kernel(kernel_text(slabs, outputs, stages), "sums", "sm_90a", stages * weights + matched)


def kernel_text(slabs: int, outputs: int, stages: int) -> str:
    """Returns the kernel text for these sizes."""
    text = files("bitwright.engines.integer").joinpath("sums.cu").read_text()
    sizes = "".join(f"#define {name} {n}\n" for name, n in (("SLABS", slabs), ("OUT", outputs), ("STAGES", stages)))
    products = _product("first_product", 64, in_registers=False) + _product(
        "second_product", outputs, in_registers=True
    )
    return sizes + text.replace("@PRODUCTS@", products)


def _product(function: str, columns: int, in_registers: bool) -> str:
    """Returns a function for one product, 64 x 32 by 32 x `columns`: d += a b, or d = a b if `add` is 0."""
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
