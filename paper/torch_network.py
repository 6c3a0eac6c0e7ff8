"""The `network` engine in PyTorch: states stay on the device from the first step to the last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError
from bitwright.engines.device_matching import DeviceMatching, TensorBatch, aligned, padded
from bitwright.engines.protocol import Batch, Engine
from bitwright.networks import FloatNetwork
from bitwright.networks.descent import check_device, torch_module
from bitwright.rules import Program
from bitwright.theory.rounding import Rounding, scale_weights


def check_networks(program: Program, networks: Sequence[FloatNetwork]) -> int:
    """K of the networks' common training set; raises InputError if they belong to another set or program."""
    kinds = {(network.origin.padding, network.origin.scale) for network in networks}
    if len(kinds) != 1 or any(network.origin.program_id != program.id for network in networks):
        raise InputError("all networks of an ensemble must be trained in the same way on this program's training set")
    return program.templates + networks[0].origin.padding


DTYPES = ("float32", "float64", "bfloat16", "float16")


class TorchNetworkEngine(Engine):
    """Steps batches of states by one trained network, or the average of several, with calibrated rounding."""

    name = "network"
    chunk = 1 << 15

    def __init__(
        self,
        program: Program,
        networks: Sequence[FloatNetwork],
        rounding: Rounding = "calibrated",
        device: str = "cpu",
        dtype: str = "float32",
    ) -> None:
        torch = torch_module()
        if rounding != "calibrated":
            raise InputError("on a device networks are run with calibrated rounding; use the NumPy engine for sign")
        if dtype not in DTYPES:
            raise InputError(f"there is no precision '{dtype}'; choose {', '.join(DTYPES)}")
        self.program, self._trained = program, list(networks)
        self.networks, self.digests = len(networks), [network.digest for network in networks]
        self.rounding: Rounding = rounding
        self.device, self.dtype = check_device(device), getattr(torch, dtype)
        self.library = ("torch", device)
        examples = check_networks(program, networks)
        self.examples, self.kind, self.seed = examples, networks[0].origin.scale, networks[0].origin.seed
        self.matching = DeviceMatching(program, self.device, self.dtype, rows=aligned(examples))
        self.columns = self.matching.columns  # of a tensor of states

        def tensor(values: Any, kind: Any) -> Any:
            return torch.tensor(values, dtype=kind, device=self.device)

        self._layers = [
            (
                tensor(padded(network.first.T, self.matching.rows, network.shape.width), self.dtype),  # (K, width)
                tensor(padded(network.last.T, network.shape.width, self.columns), self.dtype),  # (width, k)
                1 / np.sqrt(network.shape.inputs * network.shape.width),
            )
            for network in networks
        ]
        most = len(np.unique(program.template_block))
        w = scale_weights(np.arange(most + 1), examples, self.kind)
        safe_gap = np.where(w.gap > 0, w.gap, 1)
        root = np.sqrt(np.maximum(np.arange(most + 1), 1))
        # zhat = (F - c w0)/gap, F = output/(sqrt(n) sqrt(K width)): one factor and one shift for each n.
        self.factor = tensor(1 / (safe_gap * root), torch.float32)
        self.shift = tensor(-w.unmatched / safe_gap, torch.float32)
        self.writers = tensor(padded(program.writers[None], 1, self.columns)[0], torch.float32)

    def __reduce__(self) -> tuple[Any, ...]:
        """Goes to other processes as what it was made from."""
        precision = str(self.dtype).removeprefix("torch.")
        return TorchNetworkEngine, (self.program, self._trained, self.rounding, str(self.device), precision)

    def begin(self, states: BoolArray, long: bool = False) -> Batch:  # noqa: ARG002
        return TorchBatch(self, states)

    def encode(self, states: Any) -> tuple[Any, Any]:  # (batch, columns) bool -> (batch, rows), (batch,)
        """Which templates match, without the division by sqrt(n), and n."""
        matched = self.matching.matched(states)
        return matched.to(self.dtype), matched.sum(dim=1)

    def estimate(self, states: Any) -> tuple[Any, Any]:  # (batch, columns) -> (batch, columns), (batch,)
        """zhat for every bit, and n."""
        matched, n = self.encode(states)
        outputs: Any = 0
        for first, last, scale in self._layers:
            outputs = outputs + (self._hidden(matched, first) @ last).float() * (scale / self.networks)
        return outputs.mul_(self.factor[n][:, None]).addcmul_(self.shift[n][:, None], self.writers), n

    def _hidden(self, matched: Any, first: Any) -> Any:
        """relu(x w1'); on a CUDA device the product and the relu are one pass over memory."""
        torch = torch_module()
        if self.device.type == "cuda":
            zero = torch.zeros(first.shape[1], dtype=self.dtype, device=self.device)
            return torch._addmm_activation(zero, matched, first)
        return (matched @ first).relu_()


class TorchBatch(TensorBatch):
    """States on a device.

    Whether all outputs so far were finite is also kept there, and checked before anything is handed out: a check after
    every step would make the device wait.
    """

    def __init__(self, engine: TorchNetworkEngine, states: BoolArray) -> None:
        torch = torch_module()
        super().__init__(engine.matching, engine.program.bits, states, torch.float32)
        self._engine = engine
        self._finite = torch.ones((), dtype=torch.bool, device=engine.device)

    def step(self) -> None:
        torch = torch_module()
        with torch.inference_mode():
            estimate, n = self._engine.estimate(self._now)
            matched = n > 0
            self._before = self._now
            self._now = (estimate > 0.5) & matched[:, None]
            margin, farthest = (estimate[:, : self._engine.program.bits] - 0.5).abs().aminmax(dim=1)
            self._finite = self._finite & farthest.isfinite().all()
            self._margin = torch.where(matched, margin, torch.full_like(margin, float("inf")))

    def _handed_out(self, tensor: Any) -> NDArray[Any]:
        found = super()._handed_out(tensor)
        if not bool(self._finite):
            raise InputError("the network's outputs are not finite; its weights are too large for this precision")
        return found
