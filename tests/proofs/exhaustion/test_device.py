"""Proofs on a device find what the CPU finds: the same counts, distances, places and errors."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import for_each
from long import LONG
from whole import trained, with_weights

from bitwright import Algorithm, InputError, Network, addition, certify, multiplication
from bitwright.common.errors import BitwrightError
from bitwright.engines.cells.network import network_of_kind
from bitwright.engines.integer import DeviceDecisions
from bitwright.networks import IntegerNetwork, Recipe, quantize, save_network, train
from bitwright.networks.integer import ExactSums, columns_of
from bitwright.proofs.exhaustion.domains import StatesDomain
from bitwright.proofs.exhaustion.judges import Findings
from bitwright.proofs.exhaustion.task import ProofTask, prove
from bitwright.rules.cells import LocalStates
from bitwright.rules.pattern import Pattern, pattern_of

torch = pytest.importorskip("torch")

CELLS = [("addition", 1), ("addition", 2), ("multiplication", 1), *[("addition", 4), ("multiplication", 2)] * LONG]


@cache
def cells_of(name: str, tile: int) -> tuple[Pattern, IntegerNetwork]:
    program = addition(4 * tile).program if name == "addition" else multiplication(3 * tile).program
    pattern = pattern_of([program], tile)
    network = train(pattern.program, Recipe(1_024))[0]
    return pattern, quantize(network, pattern.program)[0]


def often_wrong(network: IntegerNetwork) -> IntegerNetwork:
    """The same with half of the last layer's weights gone, so that many local states come out wrong."""
    last = network.last.copy()
    last[:, ::2] = 0
    return with_weights(network, last=last)


def task_of(pattern: Pattern, network: IntegerNetwork, device: str = "cpu") -> ProofTask:
    return ProofTask(Algorithm("cells", pattern.program), network, "cells", device)


def on_device(task: ProofTask, **how: int) -> Any:
    """With PyTorch, also where the device is the CPU."""
    from bitwright.proofs.exhaustion.device import DeviceProver

    return DeviceProver(task, **how)


def one_wrong_local_state(pattern: Pattern, network: IntegerNetwork) -> tuple[IntegerNetwork, int]:
    """The network with one threshold moved so that just one local state comes out wrong, and its number."""
    sums, columns = ExactSums(network, pattern.program), columns_of(network, pattern.program)
    over: dict[tuple[int, int], list[tuple[int, int]]] = {}  # by n and column: G - T of ports that must be on
    begin = 0
    for number, kind in enumerate(pattern.kinds):
        local, own = LocalStates(kind), pattern.port_bits(number)
        numbers = np.arange(local.count)
        matched = np.zeros((local.count, pattern.program.templates), dtype=bool)
        matched[:, slice(*pattern.first_template[number : number + 2])] = local.matched(numbers)
        n = matched.sum(axis=1)
        for state, port in zip(*np.nonzero(local.truth(local.matched(numbers))), strict=True):
            column = int(columns[own][port])
            distance = int(sums.products(matched[[state]])[0, own][port] - network.thresholds[n[state] - 1, column])
            over.setdefault((int(n[state]), column), []).append((distance, begin + int(state)))
        begin += local.count
    for (n_of, column), found in sorted(over.items(), reverse=True):
        nearest = sorted(found)
        if len(nearest) > 1 and nearest[0][0] < nearest[1][0]:
            thresholds = network.thresholds.copy()
            thresholds[n_of - 1, column] += nearest[0][0]  # now G = T for this port of this state alone
            return with_weights(network, thresholds=thresholds), nearest[0][1]
    raise AssertionError("no such threshold")


@for_each("good", [True, False])
@for_each(("name", "tile"), CELLS)
def test_local_states_on_a_device_are_judged_as_on_the_cpu(name: str, tile: int, good: bool) -> None:
    """At once, and in tiles and parts that begin and end anywhere, also across kinds."""
    pattern, network = cells_of(name, tile)
    task = task_of(pattern, network if good else often_wrong(network))
    wanted, size = prove(task), task.domain.size
    assert wanted.states == size
    assert (wanted.wrong == 0) == good
    assert on_device(task).prove(0, size) == wanted
    small, step = on_device(task, most=max(7, size // 50)), size // 3 + 1
    parts = [small.prove(at, min(at + step, size)) for at in range(0, size, step)]
    assert sum(parts, Findings()) == wanted


@pytest.mark.parametrize("name", ["addition", "multiplication"])
def test_one_wrong_local_state_is_found_on_a_device(name: str) -> None:
    pattern, network = cells_of(name, 1)
    assert prove(task_of(pattern, network)).wrong == 0
    spoiled, state = one_wrong_local_state(pattern, network)
    task = task_of(pattern, spoiled)
    found = on_device(task).prove(0, task.domain.size)
    assert found == prove(task)
    assert found.wrong == 1
    assert found.first_wrong[1] == (state, 0)


def test_other_bits_than_a_kinds_own_ports_do_not_count() -> None:
    """All rows of the last layer that are no ports say "on": neither proof looks at them."""
    pattern, network = cells_of("addition", 2)
    last = network.last.copy()
    ports = np.concatenate([np.arange(pattern.program.bits)[pattern.port_bits(kind)] for kind in (0, 1)])
    last[np.setdiff1d(np.arange(len(last)), ports)] = 127
    task = task_of(pattern, with_weights(network, last=last))
    assert on_device(task).prove(0, task.domain.size) == prove(task) == prove(task_of(pattern, network))


def test_the_pattern_of_one_kind_counts_its_states_as_the_cells_do() -> None:
    """What the proof on a device rests on: same numbers, same examples, same sums of the kind's ports."""
    pattern, network = cells_of("multiplication", 1)
    domain, sums = StatesDomain(pattern), ExactSums(network, pattern.program)
    rows: list[tuple[np.ndarray, slice]] = []
    domain.visit(0, domain.size, lambda matched, numbers, step, times, own: rows.append((matched, own)))  # noqa: ARG005
    assert len(rows) == len(pattern.kinds)
    for kind, (matched, own) in enumerate(rows):
        part, alone = network_of_kind(network, pattern, kind)
        seen: list[np.ndarray] = []
        states = StatesDomain(alone)
        states.visit(0, states.size, lambda matched, *_, seen=seen: seen.append(matched))
        assert (np.concatenate(seen) == matched[:, slice(*pattern.first_template[kind : kind + 2])]).all()
        assert not np.delete(matched, np.r_[slice(*pattern.first_template[kind : kind + 2])], axis=1).any()
        given = ExactSums(part, alone.program).products(np.concatenate(seen))[:, alone.port_bits(0)]
        assert (given == sums.products(matched)[:, own]).all()


def test_other_programs_are_refused() -> None:
    pattern, _ = cells_of("addition", 1)
    with pytest.raises(InputError, match="for another program"):
        on_device(task_of(pattern, cells_of("addition", 2)[1]))


class Kernel:
    """Stands for the fused kernel of a GPU: what plain products give, in one state of three off by some amount."""

    def __init__(self, decide: Any, off: int) -> None:
        self._decide, self._off = decide, off

    def distances(self, matched: Any, n: Any, truth: Any, thresholds: Any) -> Any:
        assert thresholds is not None
        found = self._decide.plain_distances(matched, n, truth.bool())
        found[::3] += self._off
        return found


@pytest.mark.parametrize("domain", ["states", "runs", "cells"])
def test_a_kernel_that_adds_up_otherwise_proves_nothing(domain: str) -> None:
    task = ProofTask(addition(3), trained(), domain)
    if domain == "cells":
        pattern, network = cells_of("addition", 2)
        task = task_of(pattern, network)
    size, wanted = task.domain.size, prove(task)
    for off in (0, 1):
        prover = on_device(task)
        for walk in prover._walks:
            walk._decide.sums._fused = Kernel(walk._decide, off)
        if off:
            with pytest.raises(BitwrightError, match=r"disagrees.*products"):
                prover.prove(0, size)
        else:
            assert prover.prove(0, size) == wanted


def test_states_that_are_judged_again_are_compared_many_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """128 tiles of four states: one comparison at the end, or one whenever enough are kept."""
    from bitwright.proofs.exhaustion import device as kernels

    task = ProofTask(addition(3), trained())
    for together, comparisons in ((1 << 15, 1), (32 * 64, 4)):
        monkeypatch.setattr(kernels, "_TOGETHER", together)
        prover = on_device(task, most=4)
        decide, plain = prover._walks[0]._decide, prover._walks[0]._decide.plain_distances
        decide.sums._fused = Kernel(DeviceDecisions(task.algorithm.program, trained(), "cpu"), 0)
        compared: list[int] = []

        def counting(matched: Any, n: Any, truth: Any, plain: Any = plain, compared: list[int] = compared) -> Any:
            compared.append(len(n))
            return plain(matched, n, truth)

        monkeypatch.setattr(decide, "plain_distances", counting)
        assert prover.prove(0, 512) == prove(task)
        assert compared == [512 // comparisons] * comparisons


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "tile"), CELLS)
def test_cells_on_cuda_are_judged_as_on_the_cpu(name: str, tile: int) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    pattern, network = cells_of(name, tile)
    for one in (network, often_wrong(network)):
        assert prove(task_of(pattern, one, "cuda")) == prove(task_of(pattern, one))
    if tile == 1:
        spoiled, _ = one_wrong_local_state(pattern, network)
        assert prove(task_of(pattern, spoiled, "cuda")) == prove(task_of(pattern, spoiled))


@pytest.mark.gpu
def test_certify_network_of_cells_on_cuda(tmp_path: Path) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    pattern, network = cells_of("addition", 1)
    file = tmp_path / "adder.safetensors"
    save_network(network, pattern.program, file)
    assert certify(addition(9), Network.load(file), device="cuda").certified


@pytest.mark.parametrize("few", [0, 64])
def test_states_are_counted_by_n_in_two_ways(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few and with many different n; the network is wrong in many states, so that places count too."""
    from bitwright.proofs.exhaustion import device

    monkeypatch.setattr(device, "_FEW_BINS", few)
    pattern, network = cells_of("addition", 2)
    task = task_of(pattern, often_wrong(network))
    assert on_device(task).prove(0, task.domain.size) == prove(task)
