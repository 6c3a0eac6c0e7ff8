"""Proofs on a device: the states of a domain are made there, judged there, and only what was found comes back."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from bitwright.checking.exhaustion.domains import CellsDomain, RunsDomain, StatesDomain
from bitwright.checking.exhaustion.findings import Findings, Nearest
from bitwright.engines.integer.device import DeviceDecisions
from bitwright.errors import BitwrightError, InputError
from bitwright.networks import IntegerNetwork
from bitwright.networks.torch_trainer import torch_module
from bitwright.program import FIXED_POINT

if TYPE_CHECKING:
    from bitwright.checking.exhaustion.task import ProofTask

_TILE = 1 << 20  # states at a time, at most
_LEAST = 1 << 10
_COMPARED = 64  # states of a tile that are judged a second time


class DeviceProver:
    """Goes through parts of a task's domain on a device; keeps to the memory that is free."""

    def __init__(self, task: ProofTask, most: int = _TILE, least: int = _LEAST) -> None:
        if not isinstance(task.network, IntegerNetwork):
            raise InputError("floating-point networks are proved on the CPU; quantize this one, or leave out --device")
        if isinstance(task.domain, CellsDomain):
            raise InputError("the local states of cells are few, and proved on the CPU; leave out --device")
        self._domain, self._program = task.domain, task.algorithm.program
        self._decide = DeviceDecisions(self._program, task.network, task.device)
        self._judge = _DeviceJudge(self._decide)
        self._most, self._least = most, least
        self._tables: _LowTables | None = None

    def prove(self, first: int, last: int) -> Findings:
        """One part; where memory runs out, in smaller pieces."""
        torch = torch_module()
        while True:
            try:
                with torch.inference_mode():
                    return self._go(first, last)
            except torch.OutOfMemoryError:
                self._tables = None
                torch.cuda.empty_cache()
                self._most //= 2
                if self._most < self._least:
                    raise InputError(
                        "the device has too little memory for even a few states; use --device cpu"
                    ) from None

    def _go(self, first: int, last: int) -> Findings:
        if isinstance(self._domain, RunsDomain):
            found = Findings()
            for at in range(first, last, self._most):
                found = found + self._runs(self._domain, at, min(at + self._most, last))
            return found
        return self._states(self._domain, first, last)

    def _states(self, domain: StatesDomain, first: int, last: int) -> Findings:
        """States whose higher digits are the same differ in a table that is made once."""
        if self._tables is None:
            self._tables = _LowTables(domain, self._decide, self._most)
        low, found = self._tables, Findings()
        at = first
        while at < last:
            high, begin = divmod(at, low.size)
            end = min(low.size, begin + last - at)
            matched, truth = low.of(high, begin, end)
            found = found + self._judge.find(matched, truth, at, 0)
            at += end - begin
        return found

    def _runs(self, domain: RunsDomain, first: int, last: int) -> Findings:
        torch = torch_module()
        algorithm, found, device = domain.algorithm, Findings(), self._decide.device
        states = self._decide.tensor_of(domain.starts(first, last))
        numbers = torch.arange(first, last, device=device)
        fixed = algorithm.halt == FIXED_POINT
        for step in range(domain.limit + fixed):
            if isinstance(algorithm.halt, int):
                going = ~states[:, algorithm.halt]
                states, numbers = states[going], numbers[going]
            if not len(states):
                return found
            matched = self._decide.matched(states)
            following = self._decide.following(matched)
            found = found + self._judge.find(matched, following, numbers, step)
            if fixed:
                going = (following != states).any(dim=1)
                following, numbers = following[going], numbers[going]
            states = following
        ended = algorithm.halt is None or (states[:, algorithm.halt].all() if not fixed else not len(states))
        domain.check_ended(bool(ended))
        return found


class _DeviceJudge:
    """Right or wrong, and how far, for a tile of states."""

    def __init__(self, decide: DeviceDecisions) -> None:
        self._decide = decide

    def find(self, matched: Any, truth: Any, numbers: Any, step: int) -> Findings:
        """`numbers`: those of the states, or the first of them if they follow each other."""
        torch = torch_module()
        n = matched.sum(dim=1)
        distance = self._decide.distances(matched, n, truth).long()
        if self._decide.sums.fused:
            self._compare(distance, matched, n, truth)
        row = torch.arange(len(n), device=n.device)
        key = distance * _TILE + row  # the smallest distance, and of equals the first
        counts = torch.bincount(n)
        keys = torch.full_like(counts, torch.iinfo(torch.int64).max).scatter_reduce(0, n, key, "amin")

        def place(at: int) -> tuple[int, int]:
            return (numbers + at if isinstance(numbers, int) else int(numbers[at]), step)

        by_n = {}
        for matches, (count, found) in enumerate(zip(counts.tolist(), keys.tolist(), strict=True)):
            if count:
                at = found % _TILE if matches else int((n == 0).nonzero()[0, 0])
                by_n[matches] = Nearest(count, found // _TILE if matches else None, place(at))
        wrong = (distance < 1) & (n > 0)
        number, first = int(wrong.sum()), None
        if number:
            fewest = int(n[wrong].min())
            first = (fewest, place(int((wrong & (n == fewest)).nonzero()[0, 0])))
        return Findings(by_n, number, 0, first, None)

    def _compare(self, distance: Any, matched: Any, n: Any, truth: Any) -> None:
        """A few states of every tile again by plain products: a kernel that a compiler got wrong proves nothing."""
        rows = torch_module().arange(0, len(n), max(1, len(n) // _COMPARED), device=n.device)
        again = self._decide.plain_distances(matched[rows], n[rows], truth[rows])
        if bool(((again != distance[rows]) & (n[rows] > 0)).any()):
            raise BitwrightError("the device's kernel adds up otherwise than plain products do; use --device cpu")


class _LowTables:
    """What the lowest digits of a state's number choose, for all of their values: matched examples, written bits."""

    def __init__(self, domain: StatesDomain, decide: DeviceDecisions, most: int) -> None:
        torch = torch_module()
        value, radix, block, chosen = domain.digits
        program, device = domain.program, decide.device
        low = max((m for m in range(len(radix) + 1) if prod(radix[:m].tolist()) <= most), default=0)
        self.size = prod(radix[:low].tolist())
        self._value, self._radix, self._block, self._chosen, self._low = value, radix, block, chosen, low
        self._inputs, self._bits, self._device = decide.sums.inputs, decide.columns, device
        self._writes, self._writer = (
            program.write_bits,
            np.repeat(np.arange(program.templates), np.diff(program.write_start)),
        )
        numbers = torch.arange(self.size, device=device)
        self._matched = torch.zeros((self.size, self._inputs), dtype=torch.uint8, device=device)
        self._truth = torch.zeros((self.size, self._bits), dtype=torch.bool, device=device)
        for template in np.flatnonzero(block < low).tolist():
            of = int(block[template])
            column = numbers // int(value[of]) % int(radix[of]) == int(chosen[template])
            self._matched[:, template] = column
            for bit in program.writes(template).tolist():
                self._truth[:, bit] |= column

    def of(self, high: int, begin: int, end: int) -> tuple[Any, Any]:
        """Matched examples and next states, where the digits above the low ones are those of `high`."""
        torch = torch_module()
        number, above = high * self.size, self._block >= self._low
        digits = np.array([number // int(v) % int(r) for v, r in zip(self._value, self._radix, strict=True)])
        matched = np.zeros(self._inputs, dtype=np.uint8)
        matched[: len(self._block)] = above & (digits[self._block] == self._chosen)
        truth = np.zeros(self._bits, dtype=bool)
        truth[self._writes[matched[self._writer] > 0]] = True
        rows = torch.from_numpy(matched).to(self._device), torch.from_numpy(truth).to(self._device)
        return self._matched[begin:end] | rows[0], self._truth[begin:end] | rows[1]
