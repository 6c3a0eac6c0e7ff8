"""The rules in PyTorch, to compare networks with: integers and indices only, and nothing of an engine's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitwright.networks.descent import check_device, torch_module
from bitwright.rules import Program


class TorchRules:
    """Successors of states on a device by the definition: a block's bits are read as a number, Eq. (5)-(6).

    An engine that took the wrong templates for matching would not notice if it were its own judge.
    """

    def __init__(self, program: Program, device: str = "cpu") -> None:
        torch = torch_module()
        on = check_device(device)

        def tensor(values: Any) -> Any:
            return torch.tensor(values, dtype=torch.int64, device=on)

        self.program = program
        sizes = np.diff(program.block_start)
        place = np.arange(len(program.block_bits)) - np.repeat(program.block_start[:-1], sizes)
        self._bit, self._weight = tensor(program.block_bits), tensor(1 << place)
        self._block = tensor(np.repeat(np.arange(program.blocks), sizes))
        self._template_block, self._config = tensor(program.template_block), tensor(program.template_config)
        self._writes = tensor(program.write_bits)
        self._writer = tensor(np.repeat(np.arange(program.templates), np.diff(program.write_start)))

    def matched(self, states: Any) -> Any:  # (batch, k or more) bool -> (batch, K) bool
        """Which templates match: those whose configuration is the number that their block holds."""
        torch = torch_module()
        held = torch.zeros((len(states), self.program.blocks), dtype=torch.int64, device=states.device)
        held.index_add_(1, self._block, states[:, self._bit].long() * self._weight)
        return held[:, self._template_block] == self._config

    def __call__(self, states: Any) -> Any:  # (batch, k or more) bool -> the same
        """What comes next: the bits that some matching template writes; columns beyond them stay off."""
        torch = torch_module()
        written = torch.zeros(states.shape, dtype=torch.int32, device=states.device)
        return written.index_add_(1, self._writes, self.matched(states)[:, self._writer].int()) > 0
