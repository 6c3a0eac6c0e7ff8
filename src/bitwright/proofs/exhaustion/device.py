"""Runs proofs on a device, which generates and checks the states of a domain and returns only the findings."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from bitwright.common.errors import BitwrightError, InputError
from bitwright.engines.cells.network import network_of_kind
from bitwright.engines.integer import DeviceDecisions
from bitwright.networks import IntegerNetwork
from bitwright.networks.descent import torch_module
from bitwright.networks.integer import check_belongs
from bitwright.proofs.exhaustion.domains import RunsDomain
from bitwright.proofs.exhaustion.judges import Findings, Nearest, find, nothing_at_stake
from bitwright.rules import FIXED_POINT
from bitwright.rules.pattern import Pattern

if TYPE_CHECKING:
    from bitwright.proofs.exhaustion.task import ProofTask

MOST_STATES = 1 << 20  # in a batch
_LEAST = 1 << 10
_FEW_BINS = 64  # up to this many values of n are searched separately
_COMPARED, _TOGETHER = 64, 1 << 15  # states of a batch to check again, and how many to check at once


class DeviceJudge:
    """Computes the distances of a batch of states from an error.

    A miscompiled kernel must not prove anything. Some states of every batch are therefore computed again with plain
    products, many at once; only `check` waits for the result.
    """

    def __init__(self, decide: DeviceDecisions) -> None:
        self._decide = decide
        self._kept: list[tuple[Any, ...]] = []
        self._differs: Any = None  # on the device, to avoid waiting

    def find(self, matched: Any, n: Any, truth: Any, numbers: Any, step: int) -> Findings:
        """Returns the findings for states with these numbers, or from this number on; synchronizes once."""
        torch = torch_module()
        distance = self._decide.distances(matched, n, truth).long()
        if self._decide.sums.fused:
            rows = slice(None, None, max(1, len(distance) // _COMPARED))
            self._kept.append(tuple(tensor[rows].clone() for tensor in (distance, matched, n, truth)))
            if len(self._kept) * _COMPARED >= _TOGETHER:
                self._compare()
        wrong = (distance < 1) & (n > 0)
        counts, keys = self._smallest(torch.where(n > 0, distance, 0), n)
        rows = keys % MOST_STATES
        places = rows + numbers if isinstance(numbers, int) else numbers[rows.clamp(max=len(numbers) - 1)]
        table = torch.stack((counts, keys // MOST_STATES, places, wrong.sum().expand_as(counts))).tolist()
        by_n = {
            matches: Nearest(count, away if matches else None, (place, step))
            for matches, (count, away, place, _) in enumerate(zip(*table, strict=True))
            if count
        }
        number, first = table[3][0], None
        if number:
            fewest = int(n[wrong].min())
            at = int((wrong & (n == fewest)).nonzero()[0, 0])
            first = (fewest, (numbers + at if isinstance(numbers, int) else int(numbers[at]), step))
        return Findings(by_n, number, 0, first, None)

    def _smallest(self, distance: Any, n: Any) -> tuple[Any, Any]:
        """Returns the number of states for each n, and their smallest distance with the first state that has it."""
        torch = torch_module()
        key = distance * MOST_STATES + torch.arange(len(n), device=n.device)
        bins, none = self._decide.most_matches + 1, torch.iinfo(torch.int64).max
        if bins > _FEW_BINS:
            counts = torch.bincount(n, minlength=bins)
            return counts, torch.full_like(counts, none).scatter_reduce(0, n, key, "amin")
        in_bin = n == torch.arange(bins, device=n.device)[:, None]  # far faster than many writes to a few addresses
        return in_bin.sum(dim=1), torch.where(in_bin, key, none).amin(dim=1)

    def check(self) -> None:
        """Raises BitwrightError if the kernel has differed from plain products since the last check."""
        self._compare()
        differs, self._differs = self._differs, None
        if differs is not None and bool(differs):
            raise BitwrightError("the device's kernel disagrees with plain products; use the device cpu")

    def forget(self) -> None:
        """Discards the results, before the states are visited again."""
        self._kept, self._differs = [], None

    def _compare(self) -> None:
        if self._kept:
            distance, matched, n, truth = (torch_module().cat(parts) for parts in zip(*self._kept, strict=True))
            differs = ((self._decide.plain_distances(matched, n, truth) != distance) & (n > 0)).any()
            self._kept, self._differs = [], differs if self._differs is None else self._differs | differs


class DeviceProver:
    """Checks parts of a task's domain on a device, within its free memory."""

    def __init__(self, task: ProofTask, most: int = MOST_STATES, least: int = _LEAST) -> None:
        self._domain, self._walks = task.domain, _walks_of(task)
        spans = [] if isinstance(self._domain, RunsDomain) else pairwise(self._domain.first)
        kinds = self._domain.pattern.kinds
        self._without_ports = [span for kind, span in zip(kinds, spans, strict=False) if not kind.ports]
        self._most, self._least = most, least

    def prove(self, first: int, last: int) -> Findings:
        """Checks one part, in smaller batches if memory runs out."""
        torch = torch_module()
        while True:
            try:
                with torch.inference_mode():
                    return self._go(first, last)
            except torch.OutOfMemoryError:
                for walk in self._walks:
                    walk.forget()
                torch.cuda.empty_cache()
                self._most //= 2
                if self._most < self._least:
                    raise InputError(
                        f"the device does not have enough memory for {self._least:,} states; use --device cpu"
                    ) from None

    def _go(self, first: int, last: int) -> Findings:
        findings = Findings()

        def count(matched: Any, numbers: Any, step: int, times: int, _: slice) -> None:
            nonlocal findings
            findings = findings + find(nothing_at_stake(matched), numbers, step, times)

        for begin, end in self._without_ports:  # counted without the device
            self._domain.visit(max(first, begin), min(last, end), count)
        for walk in self._walks:
            if first < walk.end and walk.begin < last:
                findings = findings + walk.go(max(first, walk.begin), min(last, walk.end), self._most)
                walk.judge.check()
        return findings


def _walks_of(task: ProofTask) -> list[_DeviceRuns] | list[_DeviceStates]:
    """Returns a walk for the runs of a program, or one for each kind of cell with ports."""
    domain, network, program = task.domain, task.network, task.algorithm.program
    if not isinstance(network, IntegerNetwork):
        raise InputError("floating-point networks can only be proved on the CPU; quantize this one, or omit --device")
    check_belongs(network, program)
    if isinstance(domain, RunsDomain):
        return [_DeviceRuns(domain, DeviceDecisions(program, network, task.device))]
    walks = []
    for kind in (kind for kind, cell in enumerate(domain.pattern.kinds) if cell.ports):
        part, alone = network_of_kind(network, domain.pattern, kind)
        decide = DeviceDecisions(alone.program, part, task.device, own=alone.port_bits(0))
        walks.append(_DeviceStates(domain.first[kind], alone, decide))
    return walks


class _DeviceStates:
    """The states of a program; states with equal higher digits share a table, which is built once."""

    def __init__(self, begin: int, alone: Pattern, decide: DeviceDecisions) -> None:
        self.begin, self.end, self.judge = begin, begin + alone.local_states, DeviceJudge(decide)
        self._alone, self._decide = alone, decide
        self._tables: LowTables | None = None

    def go(self, first: int, last: int, most: int) -> Findings:
        if self._tables is None:
            self._tables = LowTables(self._alone, self._decide, most)
        low, found, at = self._tables, Findings(), first
        while at < last:
            high, begin = divmod(at - self.begin, low.size)
            end = min(low.size, begin + last - at)
            matched, n, truth = low.of(high, begin, end)
            found = found + self.judge.find(matched, n, truth, at, 0)
            at += end - begin
        return found

    def forget(self) -> None:
        """Releases memory."""
        self._tables = None
        self.judge.forget()


class _DeviceRuns:
    """The runs on all inputs, step by step."""

    def __init__(self, domain: RunsDomain, decide: DeviceDecisions) -> None:
        self.begin, self.end, self.judge = 0, domain.size, DeviceJudge(decide)
        self._domain, self._decide = domain, decide

    def go(self, first: int, last: int, most: int) -> Findings:
        found = Findings()
        for at in range(first, last, most):
            found = found + self._some(at, min(at + most, last))
        return found

    def forget(self) -> None:
        """Releases memory."""
        self.judge.forget()

    def _some(self, first: int, last: int) -> Findings:
        torch = torch_module()
        domain, decide = self._domain, self._decide
        algorithm, found = domain.algorithm, Findings()
        states: Any = decide.matching.tensor_of(domain.starts(first, last))
        numbers = torch.arange(first, last, device=decide.device)
        fixed = algorithm.halt == FIXED_POINT
        for step in range(domain.limit + fixed):
            if isinstance(algorithm.halt, int):
                going = ~states[:, algorithm.halt]
                states, numbers = states[going], numbers[going]
            if not len(states):
                return found
            matched, n, following = decide.matching.step(states)
            found = found + self.judge.find(matched, n, following, numbers, step)
            if fixed:
                going = (following != states).any(dim=1)
                following, numbers = following[going], numbers[going]
            states = following
        ended = algorithm.halt is None or (states[:, algorithm.halt].all() if not fixed else not len(states))
        domain.check_ended(bool(ended))
        return found


class LowTables:
    """Matched examples and written bits for all values of the lowest digits of a state's number."""

    def __init__(self, alone: Pattern, decide: DeviceDecisions, most: int) -> None:
        torch, local = torch_module(), alone.local[0]
        value, radix, block, chosen = local.value, local.radix, local.block_of, local.digit
        program, device = alone.program, decide.device
        low = max((m for m in range(len(radix) + 1) if prod(radix[:m].tolist()) <= most), default=0)
        self.size = prod(radix[:low].tolist())
        self._value, self._radix, self._block, self._chosen, self._low = value, radix, block, chosen, low
        self._inputs, self._bits, self._device = decide.sums.inputs, decide.columns, device
        written = np.repeat(np.arange(program.templates), np.diff(program.write_start)), program.write_bits
        checked = np.isin(program.write_bits, decide.own)
        self._writer, self._writes = written[0][checked], written[1][checked] - decide.own.start
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
        """Returns matched examples, their number, and next states for states with the higher digits of `high`."""
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
