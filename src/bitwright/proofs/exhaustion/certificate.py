"""Certificates that a network makes the same step as the rules in every state of a domain.

Every state is checked. This is a proof because the arithmetic is exact, or has proved error bounds for third-party
networks.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import BitwrightError, counted
from bitwright.common.workers import Workers
from bitwright.engines.external import FittedModel
from bitwright.networks import IntegerNetwork
from bitwright.networks.integer import columns_of
from bitwright.proofs.exhaustion.domains import Place, usual_domain
from bitwright.proofs.exhaustion.judges import Findings
from bitwright.proofs.exhaustion.task import ProofTask, prove
from bitwright.rules import Algorithm
from bitwright.runs.progress import Progress
from bitwright.version import __version__

FORMAT = "bitwright network certificate 1"
Verdict = Literal["certified", "refuted", "not proved"]


@dataclass(frozen=True)
class BitInState:
    """A bit in a state with the network's sum and threshold, which are None for floating point."""

    on: tuple[str, ...]  # the bits that are on in the state
    number: int  # of the state, or of the input whose run reaches it
    step: int
    n: int
    bit: str
    expected: int  # the correct value of the bit
    sum: int | None  # G
    threshold: int | None  # T


@dataclass(frozen=True)
class NetworkVerdict:
    """The verdict for a network and a domain, with all counts."""

    certified: bool
    verdict: Verdict
    domain: str
    kinds: int | None  # for `cells`: number of kinds in the pattern
    inputs: tuple[str, ...]  # for `runs`: the input bits, the fastest changing first
    start: tuple[str, ...]  # the bits that are on at the start for every input
    halt: str | None  # the bit that ends a run, or "fixed point"; None for a fixed number of `steps`
    steps: int | None
    states: int
    wrong: int
    undecided: int
    by_n: tuple[tuple[int, int, int | float | None], ...]  # n, states, smallest distance
    distance: int | float | None  # the smallest of all
    margin: float | None  # the smallest, in units of calibrated rounding
    closest: BitInState | None
    counterexample: BitInState | None  # the first with the fewest matches
    arithmetic: str
    examples: int
    padding: int
    width: int
    weight_bits: int | None
    tensors: dict[str, str]
    network_sha256: str
    program_id: str
    model: dict[str, Any] | None = None  # for a third-party network: its interpretation and runtime
    sizes: str | None = None  # for `cells`: sizes at which all cells of the program have these kinds
    version: str = __version__
    of: str = "network"
    format: str = FORMAT

    def __bool__(self) -> bool:
        return self.certified

    @property
    def sentence(self) -> str:
        """The verdict and the states that it covers, in one line."""
        return f"{self.verdict}: {self.says(self.covers)}"

    def says(self, covers: str) -> str:
        """Returns a sentence with the number of states in which the network is correct."""
        states = counted(self.states, "local state" if self.domain == "cells" else "state")
        if self.wrong:
            result = f"is wrong in {self.wrong:,} of {states}"
        elif self.undecided:
            result = f"is not decided in {self.undecided:,} of {states}"
        else:
            result = f"is right in {'all ' * (self.states != 1)}{states}"
        return f"this network {result}{', with' if self.domain == 'states' else ' of'} {covers}"

    @property
    def covers(self) -> str:
        """The states that the verdict covers."""
        if self.domain == "states":
            return "every choice of every bit" if self.model is not None else "every choice in every block"
        if self.domain == "cells":
            return covered_by_cells(self.sizes)
        return f"the runs of all {1 << len(self.inputs):,} inputs" if self.inputs else "the only run"


def covered_by_cells(sizes: str | None = None, graphs: str | None = None, every: str = "every size") -> str:
    """Returns what a verdict for cells covers, and the sizes or graphs at which this program consists of such cells.

    >>> covered_by_cells("n=1..32")
    'every program made of these kinds of cells; this program was checked at n=1..32'
    >>> covered_by_cells(None, "every graph")
    'every program made of these kinds of cells; this program is made of them on every graph'
    """
    covered = "every program made of these kinds of cells"
    if sizes == "all":
        return f"{covered}; this program is made of them {f'at {every}' if graphs is None else f'on {graphs}'}"
    if sizes is None:
        result = "is made of them" if graphs == "every graph" else "was checked"
        return covered if graphs is None else f"{covered}; this program {result} on {graphs}"
    bits = "" if "=" in sizes else " bit" if sizes == "1" else " bits"
    on = "" if graphs is None else f", on {graphs}"
    return f"{covered}; this program was checked at {sizes}{bits}{on}"


def certify_network(
    algorithm: Algorithm,
    network: IntegerNetwork | FittedModel,
    domain: str | None = None,
    *,
    workers: Workers | None = None,
    progress: Progress | None = None,
    file: Path | None = None,
    device: str = "cpu",
) -> NetworkVerdict:
    """Proves or refutes that a network makes the same step as the rules in every state of the domain."""
    task = ProofTask(algorithm, network, domain or usual_domain(algorithm.program), device)
    return _certificate(task, prove(task, workers, progress, file))


def _certificate(task: ProofTask, found: Findings) -> NetworkVerdict:
    network, program = task.network, task.algorithm.program
    padding = 0 if isinstance(network, FittedModel) else network.origin.padding
    described: dict[str, Any] = task.domain.describe()
    verdict: Verdict = "refuted" if found.wrong else "not proved" if found.undecided else "certified"
    at_stake = {n: (near.distance, near.place) for n, near in found.by_n.items() if near.distance is not None}
    nearest = min(at_stake.values(), default=None)
    first = found.first_wrong or found.first_undecided
    return NetworkVerdict(
        certified=verdict == "certified",
        verdict=verdict,
        domain=described["domain"],
        kinds=None if task.domain.pattern.whole is not None else len(task.domain.pattern.kinds),
        inputs=tuple(described.get("inputs", ())),
        start=tuple(described.get("start", ())),
        halt=described.get("halt"),
        steps=described.get("steps"),
        states=found.states,
        wrong=found.wrong,
        undecided=found.undecided,
        by_n=tuple((n, near.count, near.distance) for n, near in found.by_n.items()),
        distance=None if nearest is None else nearest[0],
        margin=margin_of(network, found),
        closest=None if nearest is None else look_at(task, nearest[1], distance=nearest[0]),
        counterexample=None if first is None else look_at(task, first[1], wrong=found.wrong > 0),
        arithmetic=network.arithmetic,
        examples=program.templates + padding,
        padding=padding,
        width=network.width,
        weight_bits=network.weight_bits,
        tensors=network.tensors_sha256,
        network_sha256=network.digest,
        program_id=program.id,
        model=network.about() if isinstance(network, FittedModel) else None,
    )


def margin_of(network: IntegerNetwork | FittedModel, found: Findings) -> float | None:
    """Returns the smallest distance in units of calibrated rounding; None if no state matches any template."""
    distances = {n: near.distance for n, near in found.by_n.items() if near.distance is not None}
    if not distances:
        return None
    if not isinstance(network, IntegerNetwork):
        return float(min(distances.values()))  # already in these units, or in units of the output
    return min((distance - 0.5) / float(network.units[n - 1]) for n, distance in distances.items())


def look_at(task: ProofTask, place: Place, distance: float | None = None, wrong: bool = False) -> BitInState:
    """Returns the bit of a state that is closest to an error, or furthest on the wrong side.

    The network and the rules are evaluated again in that state. Raises BitwrightError unless this gives the same
    distance, for an integer network, and a wrong bit, if `wrong` is set: then the search is faulty, not the network.
    """
    network = task.network
    state, matched, checked = _matched_at(task, place)
    distances, bits = task.judge.distances(matched)[0], _bits_of(task, matched)
    candidates = [bit for bit in range(task.domain.program.bits)[checked] if not wrong or not bits[bit].right]
    nearest = min(candidates, key=lambda bit: distances[bit], default=None)
    if nearest is None or (isinstance(network, IntegerNetwork) and distance not in (None, bits[nearest].distance)):
        raise BitwrightError(
            f"state {place[0]:,} at step {place[1]:,} gave a different result when evaluated again; this is an error "
            "in bitwright or in the machine, not in the network; please report it"
        )
    n = matched[:, network.columns.real].sum() if isinstance(network, FittedModel) else matched.sum()
    name_of, result = task.domain.program.layout.name_of, bits[nearest]
    on = tuple(name_of(int(bit)) for bit in np.flatnonzero(state))
    return BitInState(on, *place, int(n), name_of(nearest), result.expected, result.sum, result.threshold)


def _matched_at(task: ProofTask, place: Place) -> tuple[BoolArray, BoolArray, slice]:  # (k,), (1, K)
    """Returns the state at a place, the templates of its cell's kind that it matches, and the bits to check.

    Matches in other cells, whose bits are all off, are ignored.
    """
    pattern, kind, state = task.domain.pattern, task.domain.kind_at(place), task.domain.state(place)
    templates, own = pattern.program.match(state), pattern.templates_of(kind)
    matched = np.zeros((1, pattern.program.templates), dtype=bool)
    matched[0, templates[(templates >= own.start) & (templates < own.stop)]] = True
    return state, matched, pattern.port_bits(kind)


@dataclass(frozen=True)
class _Bit:
    """A bit of the next state according to the network and to the rules."""

    output: bool
    expected: int
    sum: int | None = None  # for integer networks
    threshold: int | None = None

    @property
    def right(self) -> bool:
        """Whether the network agrees with the rules."""
        return self.output == self.expected

    @property
    def distance(self) -> int:
        """The distance of the sum from an error; at least 1 if the bit is right."""
        assert self.sum is not None
        assert self.threshold is not None
        return self.sum - self.threshold if self.expected else self.threshold + 1 - self.sum


def _bits_of(task: ProofTask, matched: BoolArray) -> list[_Bit]:
    """Returns every bit of the next state, computed template by template, independently of the search."""
    network, program, (templates,) = task.network, task.domain.program, [np.flatnonzero(matched)]
    expected = np.zeros(program.bits, dtype=np.int64)
    for template in templates.tolist():
        expected[program.writes(template)] = 1
    if isinstance(network, FittedModel):
        outputs = (network.decide(matched).values[0] > network.model.threshold).tolist()
        return [_Bit(*bit) for bit in zip(outputs, expected.tolist(), strict=True)]
    assert isinstance(network, IntegerNetwork)
    hidden = np.maximum(network.first[:, templates].sum(axis=1, dtype=np.int64), 0)
    sums = network.last.astype(np.int64) @ hidden
    thresholds = network.thresholds[max(len(templates), 1) - 1][columns_of(network, program)]
    outputs = ((sums > thresholds) & (len(templates) > 0)).tolist()
    return [_Bit(*bit) for bit in zip(outputs, *(part.tolist() for part in (expected, sums, thresholds)), strict=True)]
