"""Which of many states on a device come out right, and how far each is from an error."""

from __future__ import annotations

from typing import Any

from bitwright.engines.integer.device import DeviceDecisions
from bitwright.errors import BitwrightError
from bitwright.networks.torch_trainer import torch_module
from bitwright.proofs.exhaustion.findings import Findings, Nearest

MOST_STATES = 1 << 20  # at a time
_COMPARED = 64  # states of a tile that are judged a second time
_TOGETHER = 1 << 15  # of these at a time, at most
_FEW_BINS = 64  # of n, for which states are looked at once each


class DeviceJudge:
    """Right or wrong, and how far, for a tile of states.

    Some states of every tile are kept and judged again by plain products: a kernel that a compiler got wrong proves
    nothing. Many are compared at once, and only `check` waits for what came of it.
    """

    def __init__(self, decide: DeviceDecisions) -> None:
        self._decide = decide
        self._kept: list[tuple[Any, ...]] = []  # distance, matched, n, truth
        self._differs: Any = None  # on the device, so that nobody waits

    def find(self, matched: Any, n: Any, truth: Any, numbers: Any, step: int) -> Findings:
        """`numbers`: those of the states, or the first of them if they follow each other. Waits for the device once."""
        torch = torch_module()
        distance = self._decide.distances(matched, n, truth).long()
        if self._decide.sums.fused:
            self._keep(distance, matched, n, truth)
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
        """How many states there are of each n, and the smallest distance of one, with the first state that has it."""
        torch = torch_module()
        key = distance * MOST_STATES + torch.arange(len(n), device=n.device)
        bins, none = self._decide.most_matches + 1, torch.iinfo(torch.int64).max
        if bins > _FEW_BINS:
            counts = torch.bincount(n, minlength=bins)
            return counts, torch.full_like(counts, none).scatter_reduce(0, n, key, "amin")
        own = n == torch.arange(bins, device=n.device)[:, None]  # far faster than all states writing to a few places
        return own.sum(dim=1), torch.where(own, key, none).amin(dim=1)

    def check(self) -> None:
        """Raises BitwrightError if a state that was found since the last check came out otherwise by plain products."""
        self._compare()
        differs, self._differs = self._differs, None
        if differs is not None and bool(differs):
            raise BitwrightError("the device's kernel adds up otherwise than plain products do; use --device cpu")

    def forget(self) -> None:
        """Drops what is kept: the states are gone through again."""
        self._kept, self._differs = [], None

    def _keep(self, *found: Any) -> None:
        rows = slice(None, None, max(1, len(found[0]) // _COMPARED))
        self._kept.append(tuple(tensor[rows].clone() for tensor in found))
        if len(self._kept) * _COMPARED >= _TOGETHER:
            self._compare()

    def _compare(self) -> None:
        if not self._kept:
            return
        distance, matched, n, truth = (torch_module().cat(parts) for parts in zip(*self._kept, strict=True))
        self._kept = []
        again = self._decide.plain_distances(matched, n, truth)
        differs = ((again != distance) & (n > 0)).any()
        self._differs = differs if self._differs is None else self._differs | differs
