"""One step of a program as a PyTorch module, by an integer network of its cells or of the whole state.

Weights are integer buffers, which neither `half()` nor an optimizer changes, and sums are computed in float64, which
autocast and TF32 do not affect. Sums are far below 2^53, so every device computes the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError
from bitwright.engines.cells.wiring import Wiring
from bitwright.networks.integer import Bounds, IntegerNetwork, check_belongs, columns_of
from bitwright.rules import Program
from bitwright.rules.pattern import Pattern

_EXACT = {"float64": 1 << 53, "float32": 1 << 24}
_AT_ONCE = 1 << 23  # numbers in a layer


class StepModule(torch.nn.Module):  # type: ignore[misc]
    """Maps states, a tensor of 0 and 1 of shape (..., bits), to the states after `steps` steps.

    The result has the type and device of the input. No gradient flows through it.
    """

    def __init__(self, program: Program, network: IntegerNetwork, pattern: Pattern) -> None:
        super().__init__()
        check_belongs(network, pattern.program)
        bounds = Bounds.of(network, pattern.program)
        self._largest = max(int(bounds.hidden.max(initial=0)), -bounds.lowest, bounds.sums, bounds.thresholds + 1)
        if self._largest >= _EXACT["float64"]:
            raise InputError("sums and thresholds of this network reach 2^53, beyond which float64 is not exact")
        self.bits = program.bits
        self.kinds = torch.nn.ModuleList([_Cells(*one) for one in _of_cells(program, network, pattern)])

    def forward(self, states: Any, steps: int = 1) -> Any:
        """Returns the states after this many steps."""
        if states.shape[-1] != self.bits or states.dim() < 1:
            raise InputError(f"a state must have {self.bits:,} bits, got a tensor of shape {tuple(states.shape)}")
        if not isinstance(steps, int) or isinstance(steps, bool) or steps < 0:
            raise InputError(f"steps must be an integer of at least 0, got {shorten(repr(steps))}")
        rows = states.detach().reshape(-1, self.bits)
        now = rows != 0
        if rows.dtype != torch.bool and not bool((now == rows).all()):
            raise InputError("a state must be a tensor of 0 and 1, got other numbers")
        precision = torch.float32 if states.device.type == "mps" else torch.float64
        if precision is torch.float32 and self._largest >= _EXACT["float32"]:
            raise InputError("sums of this network reach 2^24, and this device has no float64")
        with torch.no_grad():
            for _ in range(steps):
                written = torch.zeros(now.shape, dtype=torch.int32, device=now.device)
                for kind in self.kinds:
                    kind(now, written, precision)
                now = written > 0
        return now.to(states.dtype).reshape(states.shape)


class _Cells(torch.nn.Module):  # type: ignore[misc]
    """All cells of one kind: the bits each reads, the network's weights for it, and the bits that its ports set."""

    def __init__(self, looks_at: Any, wanted: Any, first: Any, last: Any, thresholds: Any, port: Any, bit: Any) -> None:
        super().__init__()
        for name, value in {
            "looks_at": looks_at,  # (cells, bits)
            "wanted": wanted,  # (bits, templates) 1: on, -1: off, 0: of another block
            "first": first,  # (templates, width)
            "last": last,  # (width, ports)
            "thresholds": thresholds,  # (n from 0, ports)
            "port": port,  # (wires,) index among the ports of all cells
            "bit": bit,  # (wires,)
        }.items():
            self.register_buffer(name, torch.from_numpy(np.array(value, order="C")))

    looks_at: Any
    wanted: Any
    first: Any
    last: Any
    thresholds: Any
    port: Any
    bit: Any

    def forward(self, states: Any, written: Any, precision: Any) -> None:
        """Counts for each bit the ports that set it, for some states at a time."""
        cells, widest = len(self.looks_at), max(self.first.shape)
        some = max(1, _AT_ONCE // max(1, cells * widest))
        wanted, first, last = (one.to(precision) for one in (self.wanted, self.first, self.last))
        needed = (self.wanted > 0).sum(dim=0).to(precision)
        for at in range(0, len(states), some):
            own = states[at : at + some][:, self.looks_at].to(precision)  # (states, cells, bits)
            matched = own @ wanted == needed
            n = matched.sum(dim=-1)
            sums = (matched.to(precision) @ first).relu() @ last  # (states, cells, ports)
            on = (sums > self.thresholds[n].to(precision)) & (n > 0)[..., None]
            written[at : at + some].index_add_(1, self.bit, on.flatten(1)[:, self.port].int())


Tables = tuple[NDArray[Any], ...]


def _of_cells(program: Program, network: IntegerNetwork, pattern: Pattern) -> Iterator[Tables]:
    wiring = Wiring(program, pattern)
    columns, found = columns_of(network, pattern.program), wiring.found
    for own, wired in enumerate(wiring.kinds):
        ports, examples = pattern.port_bits(wired.kind), pattern.templates_of(wired.kind)
        looks_at = np.array(
            [[bit for block in blocks for bit in wiring.cells.bits_in(int(block), program)] for blocks in wired.blocks]
        )
        first = int(np.flatnonzero(found.of == own)[0])
        templates = found.order[found.first_template[first] : found.first_template[first + 1]]
        yield (
            looks_at,
            _wanted(program, templates, looks_at[0]),
            network.first[:, examples].T,
            network.last[ports].T,
            _by_n(network, columns[ports]),
            wired.wire_cell * (ports.stop - ports.start) + wired.wire_port,
            wired.wire_bit,
        )


def _wanted(program: Program, templates: NDArray[Any], bits: NDArray[Any]) -> NDArray[np.int8]:  # (bits, templates)
    """1 where a template wants a bit on, -1 where it wants it off."""
    on = program.template_config[templates] >> program.position[bits][:, None] & 1
    own = program.block_of[bits][:, None] == program.template_block[templates]
    return np.where(own, 2 * on - 1, 0).astype(np.int8)


def _by_n(network: IntegerNetwork, columns: NDArray[Any]) -> NDArray[np.int64]:  # (n from 0, ports)
    table = network.thresholds[:, columns]
    return np.concatenate((table[:1], table))
