"""The states of a program on a device, from their numbers."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from bitwright.engines.integer.device import DeviceDecisions
from bitwright.networks.torch_trainer import torch_module
from bitwright.proofs.exhaustion.domains import StatesDomain


class LowTables:
    """What the lowest digits of a state's number choose, for all of their values: matched examples, written bits."""

    def __init__(self, domain: StatesDomain, decide: DeviceDecisions, most: int) -> None:
        torch = torch_module()
        value, radix, block, chosen = domain.digits
        program, device = domain.program, decide.device
        low = max((m for m in range(len(radix) + 1) if prod(radix[:m].tolist()) <= most), default=0)
        self.size = prod(radix[:low].tolist())
        self._value, self._radix, self._block, self._chosen, self._low = value, radix, block, chosen, low
        self._inputs, self._bits, self._device = decide.sums.inputs, decide.columns, device
        written = np.repeat(np.arange(program.templates), np.diff(program.write_start)), program.write_bits
        looked_at = np.isin(program.write_bits, decide.own)
        self._writer, self._writes = written[0][looked_at], written[1][looked_at] - decide.own.start
        numbers = torch.arange(self.size, device=device)
        self._matched = torch.zeros((self.size, self._inputs), dtype=torch.uint8, device=device)
        self._truth = torch.zeros((self.size, self._bits), dtype=torch.bool, device=device)
        for template in np.flatnonzero(block < low).tolist():
            of = int(block[template])
            column = numbers // int(value[of]) % int(radix[of]) == int(chosen[template])
            self._matched[:, template] = column
            for bit in self._writes[self._writer == template].tolist():
                self._truth[:, bit] |= column
        self._n = self._matched.sum(dim=1)

    def of(self, high: int, begin: int, end: int) -> tuple[Any, Any, Any]:
        """Matched examples, how many, and next states, where the digits above the low ones are those of `high`."""
        torch = torch_module()
        number, above = high * self.size, self._block >= self._low
        digits = np.array([number // int(v) % int(r) for v, r in zip(self._value, self._radix, strict=True)])
        matched = np.zeros(self._inputs, dtype=np.uint8)
        matched[: len(self._block)] = above & (digits[self._block] == self._chosen)
        truth = np.zeros(self._bits, dtype=bool)
        truth[self._writes[matched[self._writer] > 0]] = True
        rows = torch.from_numpy(matched).to(self._device), torch.from_numpy(truth).to(self._device)
        n = self._n[begin:end] + int(matched.sum())
        return self._matched[begin:end] | rows[0], n, self._truth[begin:end] | rows[1]
