"""Matches and writes on a device by matrix products of small integers, exact in every precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.engines.protocol import Batch
from bitwright.networks.descent import torch_module
from bitwright.rules import Program
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.encoding import literals_of

_ALIGNED = 16  # rows and columns are padded to multiples of this; otherwise matrix units are several times slower
_NEVER = 100.0  # more on bits than any template requires


class DeviceMatching:
    """A program's templates on a device, padded with bits that are never on and templates that never match."""

    def __init__(
        self, program: Program, device: Any, dtype: Any, rows: int | None = None, columns: int | None = None
    ) -> None:
        """`rows` and `columns` are the numbers of templates and bits with padding, by default multiples of 16."""
        torch = torch_module()
        self.device, self.dtype, self.templates = device, dtype, program.templates
        self.columns = aligned(program.bits) if columns is None else columns  # of a tensor of states
        self.rows = aligned(program.templates) if rows is None else rows
        own = literals_of(program)
        signs, wanted = np.zeros((self.columns, self.rows)), np.full(self.rows, _NEVER)
        signs[own.bit, own.template] = np.where(own.on, 1, -1)
        wanted[: program.templates] = np.bincount(own.template, weights=own.on, minlength=program.templates)
        self.signs, self.wanted = (torch.tensor(values, dtype=dtype, device=device) for values in (signs, wanted))
        self._program, self._writes = program, None

    def tensor_of(self, states: NDArray[np.bool_]) -> Any:  # (batch, k) -> (batch, columns)
        """Returns states as a tensor on the device, padded with bits that are never on."""
        return torch_module().from_numpy(padded(states, len(states), self.columns)).to(self.device)

    def matched(self, states: Any) -> Any:  # (batch, columns) bool -> (batch, rows) bool
        """Returns which templates match: the required bits that are on, minus the forbidden bits that are on, must
        equal the number of required bits; these are integers up to 16.
        """
        return states.to(self.dtype) @ self.signs == self.wanted

    def written(self, matched: Any) -> Any:  # (batch, rows) -> (batch, columns) bool
        """Returns the next states: the bits that a matching template writes (Eq. 6). The dtype can count them."""
        if self._writes is None:
            writes = padded(self._program.write_matrix, self.rows, self.columns)
            self._writes = torch_module().tensor(writes, dtype=self.dtype, device=self.device)
        return matched.to(self.dtype) @ self._writes > 0

    def step(self, states: Any) -> tuple[Any, Any, Any]:
        """(batch, columns) bool -> matched (batch, rows) uint8, n (batch,) int64, next states (batch, columns)."""
        matched = self.matched(states)
        return matched.view(torch_module().uint8), matched.sum(dim=1), self.written(matched)


class TensorBatch(Batch):
    """States on a device, with the previous states and margin; subclasses define the step."""

    def __init__(self, matching: DeviceMatching, bits: int, states: BoolArray, precision: Any) -> None:
        self._matching, self._bits = matching, bits
        self._now = self._before = matching.tensor_of(states)
        full = torch_module().full
        self._margin = full((len(states),), float("inf"), dtype=precision, device=matching.device)

    def load(self, states: BoolArray) -> None:
        self._now = self._matching.tensor_of(states)

    def keep(self, rows: BoolArray) -> None:
        kept = torch_module().from_numpy(rows).to(self._matching.device)
        self._now, self._before, self._margin = self._now[kept], self._before[kept], self._margin[kept]

    def states(self) -> BoolArray:
        return self._handed_out(self._now[:, : self._bits])

    def bit(self, bit: int) -> BoolArray:
        return self._handed_out(self._now[:, bit])

    def unchanged(self) -> BoolArray:
        return self._handed_out((self._now == self._before).all(dim=1))

    def margin(self) -> FloatArray:
        return self._handed_out(self._margin.double())

    def _handed_out(self, tensor: Any) -> NDArray[Any]:
        return np.asarray(tensor.cpu().numpy())


def aligned(size: int) -> int:
    """Returns the next multiple of 16, which keeps matrix units fast."""
    return -(-size // _ALIGNED) * _ALIGNED


def padded(matrix: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
    """Pads a matrix with zeros below and to the right."""
    return np.pad(matrix, ((0, rows - matrix.shape[0]), (0, columns - matrix.shape[1])))
