"""Proofs by exhaustion: what they count, what they find, and that nothing gets past them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from whole import (
    choices,
    every_state,
    odd_program,
    rules_by_hand,
    step_by_hand,
    sums_by_hand,
    trained,
    whole,
    with_weights,
)

from bitwright import Algorithm, InputError, Program, addition, certify, multiplication, parse
from bitwright.common.files import journal
from bitwright.common.workers import Workers
from bitwright.networks import IntegerNetwork
from bitwright.proofs.exhaustion.certificate import look_at
from bitwright.proofs.exhaustion.domains import RunsDomain, make_domain
from bitwright.proofs.exhaustion.judges import Findings
from bitwright.proofs.exhaustion.task import ProofTask, prove, prove_range
from bitwright.rules import FIXED_POINT

COUNTER = """
bits x[2] done
block x[1] x[2]
block done
when x[1]=0 x[2]=0 write x[1]
when x[1]=1 x[2]=0 write x[2]
when x[1]=0 x[2]=1 write x[1] x[2]
when x[1]=1 x[2]=1 write x[1] x[2] done
when done=1 write done
input x
output x
"""


class InSmallParts(ProofTask):
    part = 64

    def __reduce__(self) -> tuple[Any, ...]:
        return InSmallParts, super().__reduce__()[1]


def halting() -> Algorithm:
    return parse(COUNTER + "halt when done\n", "counter")


def settling() -> Algorithm:
    return parse(COUNTER + "halt at fixed point\n", "settling")


def by_hand(program: Program, network: IntegerNetwork) -> tuple[int, int, int, dict[int, int]]:
    """States, wrong ones, the smallest distance, and states by n; in Python's integers."""
    wrong, distances, by_n = 0, [], {}
    columns = [network.writers.index(writers) for writers in program.writers.tolist()]
    all_choices = list(choices(program))
    for matched in all_choices:
        n = len(matched)
        by_n[n] = by_n.get(n, 0) + 1
        wrong += step_by_hand(program, network, matched) != rules_by_hand(program, matched)
        if n:
            row = network.thresholds[n - 1].tolist()
            for total, truth, column in zip(
                sums_by_hand(network, matched), rules_by_hand(program, matched), columns, strict=True
            ):
                distances.append(total - row[column] if truth else row[column] + 1 - total)
    return len(all_choices), wrong, min(distances), by_n


@pytest.mark.parametrize("width", [24, 512])
@pytest.mark.parametrize("name", ["addition", "odd"])
def test_every_state_is_judged_as_python_does(name: str, width: int) -> None:
    algorithm = addition(2) if name == "addition" else odd_program()
    network = whole(algorithm.program, width)
    states, wrong, distance, by_n = by_hand(algorithm.program, network)
    found = certify(algorithm, network)
    assert (found.states, found.wrong, found.distance) == (states, wrong, distance)
    assert {n: count for n, count, _ in found.by_n} == by_n
    assert found.certified == (wrong == 0)
    assert found.verdict == ("refuted" if wrong else "certified")
    assert (found.counterexample is None) == (wrong == 0)
    assert wrong if (width, name) == (24, "addition") else not wrong or width == 24


def test_states_are_one_choice_in_every_block() -> None:
    """Every number is a state of its own, and together they match all that can be matched."""
    for algorithm in (addition(2), odd_program(), halting()):
        domain = every_state(algorithm.program)
        met = [tuple(algorithm.program.match(domain.state((number, 0))).tolist()) for number in range(domain.size)]
        assert sorted(met) == sorted(choices(algorithm.program))
        rows: list[np.ndarray] = []
        domain.visit(0, domain.size, lambda matched, *_, rows=rows: rows.extend(matched))
        seen = [tuple(np.flatnonzero(row).tolist()) for row in rows]
        assert seen == met


@pytest.mark.parametrize("make", [halting, settling, lambda: addition(2), lambda: multiplication(2)])
def test_runs_are_all_states_that_are_stepped_from(make: object) -> None:
    algorithm = make()  # type: ignore[operator]
    domain = RunsDomain(algorithm)
    seen: dict[int, list[tuple[int, ...]]] = {}

    def look(rows: np.ndarray, numbers: np.ndarray, step: int, times: int, own: slice) -> None:
        assert own == slice(None)
        for row, number in zip(rows, numbers.tolist(), strict=True):
            assert len(seen.setdefault(number, [])) == step
            seen[number] += [tuple(np.flatnonzero(row).tolist())] * times

    domain.visit(0, domain.size, look)
    for number in range(domain.size):
        state, expected = domain.starts(number, number + 1)[0], []
        for _ in range(domain.limit + 1):
            if isinstance(algorithm.halt, int) and state[algorithm.halt]:
                break
            if algorithm.halt is None and len(expected) == algorithm.steps:
                break
            matched = tuple(algorithm.program.match(state).tolist())
            expected.append(matched)
            following = np.array(rules_by_hand(algorithm.program, matched))
            if algorithm.halt == FIXED_POINT and (following == state).all():
                break
            state = following
        assert seen[number] == expected


def test_runs_without_an_end_have_no_proof() -> None:
    endless = parse(
        "bits x\nblock x\nwhen x=0 write x\ninput x\noutput x\nhalt at fixed point\nsteps 50\n", name="blink"
    )
    network = whole(endless.program, 64)
    with pytest.raises(InputError, match=r"within.*50"):
        certify(endless, network, domain="runs")
    assert certify(endless, network).certified


def test_a_domain_of_one_state() -> None:
    alone = parse("bits x y\nblock x\nblock y\nwhen x=0 write x\nwhen x=1 write x\noutput x\nsteps 4\n", "alone")
    network = whole(alone.program, 64)
    found = certify(alone, network, domain="runs")
    assert found.certified
    assert found.states == 4
    assert found.covers == "the only run"


def one_wrong_state(algorithm: Algorithm, network: IntegerNetwork) -> tuple[IntegerNetwork, tuple[int, ...]]:
    """The same network with one threshold moved so that just one state comes out wrong, and which one it is."""
    program = algorithm.program
    columns = [network.writers.index(writers) for writers in program.writers.tolist()]
    for n in range(program.blocks, 0, -1):
        states = [matched for matched in choices(program) if len(matched) == n]
        for column in range(len(network.writers)):
            over = sorted(
                (total - int(network.thresholds[n - 1, column]), matched)
                for matched in states
                for total, truth, own in zip(
                    sums_by_hand(network, matched), rules_by_hand(program, matched), columns, strict=True
                )
                if own == column and truth
            )
            if len(over) > 1 and over[0][0] < over[1][0]:
                thresholds = network.thresholds.copy()
                thresholds[n - 1, column] += over[0][0]  # now G = T for this bit of this state alone
                return with_weights(network, thresholds=thresholds), over[0][1]
    raise AssertionError("no such threshold")


@pytest.mark.parametrize("name", ["addition", "odd"])
def test_exactly_one_wrong_state_is_found(name: str) -> None:
    algorithm = addition(3) if name == "addition" else odd_program()
    good = trained() if name == "addition" else whole(algorithm.program, 512)
    assert certify(algorithm, good).certified
    spoiled, state = one_wrong_state(algorithm, good)
    found = certify(algorithm, spoiled)
    assert (found.verdict, found.wrong, found.distance) == ("refuted", 1, 0)
    on = np.zeros(algorithm.program.bits, dtype=bool)
    on[[algorithm.program.layout.names.index(bit) for bit in found.counterexample.on]] = True
    assert tuple(algorithm.program.match(on).tolist()) == state
    assert found.counterexample.sum == found.counterexample.threshold
    assert found.counterexample.expected == 1


def test_the_smallest_counterexample_has_the_fewest_matches() -> None:
    algorithm, network = addition(3), trained(width=24)
    found = certify(algorithm, network)
    wrong = [
        len(m) for m in choices(algorithm.program)
        if step_by_hand(algorithm.program, network, m) != rules_by_hand(algorithm.program, m)
    ]  # fmt: skip
    assert found.wrong == len(wrong) > 1
    assert found.counterexample.n == min(wrong)


@pytest.mark.parametrize("domain", ["states", "runs"])
def test_workers_parts_and_files_change_nothing(domain: str, tmp_path: Path) -> None:
    algorithm, network = addition(3), trained(width=24)
    whole_task = ProofTask(algorithm, network, domain)
    wanted = prove(whole_task)
    size = whole_task.domain.size
    in_parts = sum((prove_range(whole_task, at, min(at + 7, size)) for at in range(0, size, 7)), Findings())
    assert in_parts == wanted
    assert prove(whole_task, Workers("processes", 2)) == wanted
    done: list[tuple[int, int]] = []
    file = tmp_path / "proof.part"
    assert prove(whole_task, progress=lambda *now: done.append(now), file=file) == wanted
    assert (done[0], done[-1]) == ((0, size), (size, size))
    done.clear()
    assert prove(whole_task, Workers("processes", 2), progress=lambda *now: done.append(now), file=file) == wanted
    assert done == [(size, size)]  # all of it was in the file


@pytest.mark.parametrize("workers", [Workers(), Workers("processes", 2)], ids=lambda w: w.kind)
def test_a_proof_that_is_interrupted_again_and_again(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_EVERY", -1)
    task, file, parts = InSmallParts(addition(3), trained(width=24)), tmp_path / "proof.part", []

    def stop(done: int, size: int) -> None:
        parts.append(done)
        if parts.count(done) == 1 and done < size:
            raise KeyboardInterrupt

    while not parts or parts[-1] < task.domain.size:
        try:
            found = prove(task, workers, stop, file)
        except KeyboardInterrupt:
            continue
    assert found == prove(ProofTask(addition(3), trained(width=24)))
    assert set(parts) == set(range(0, 513, 64))
    assert found.wrong > 0


def test_a_file_of_another_proof_is_refused(tmp_path: Path) -> None:
    algorithm, file = addition(3), tmp_path / "proof.part"
    prove(ProofTask(algorithm, trained()), file=file)
    for other in (
        ProofTask(algorithm, trained(width=24)), ProofTask(algorithm, trained(), "runs"),
        InSmallParts(algorithm, trained()),
    ):  # fmt: skip
        with pytest.raises(InputError, match="holds work on another"):
            prove(other, file=file)


def test_a_proof_on_a_device_finds_the_same() -> None:
    """With PyTorch on the CPU, in tiles of every size; the kernels of a GPU are tested beside NumPy elsewhere."""
    pytest.importorskip("torch")
    from bitwright.proofs.exhaustion.device import DeviceProver

    for algorithm, width, domain in (
        (addition(3), 24, "states"), (odd_program(), 24, "states"), (odd_program(), 24, "runs"),
        (halting(), 16, "runs"), (settling(), 16, "runs"), (multiplication(2), 256, "runs"),
    ):  # fmt: skip
        task = ProofTask(algorithm, whole(algorithm.program, width), domain)
        wanted, size = prove(task), task.domain.size
        assert DeviceProver(task).prove(0, size) == wanted
        small = DeviceProver(task, most=4)
        assert small.prove(0, size // 3) + small.prove(size // 3, size) == wanted


def test_a_device_that_runs_out_of_memory_goes_on_in_smaller_pieces() -> None:
    """A device that holds 40 states at a time; and one that holds none."""
    torch = pytest.importorskip("torch")
    from bitwright.proofs.exhaustion.device import DeviceProver

    class Small(DeviceProver):
        room = 40

        def _go(self, first: int, last: int) -> Findings:
            if self._most > self.room:
                raise torch.OutOfMemoryError
            return super()._go(first, last)

    task = ProofTask(addition(3), trained(width=24))
    prover = Small(task, least=1)
    assert prover.prove(0, 512) == prove(task)
    prover.room = 0
    with pytest.raises(InputError, match="not have enough memory"):
        prover.prove(0, 512)


@pytest.mark.gpu
def test_a_proof_on_cuda_finds_the_same() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    for algorithm, width, domain in ((addition(4), 64, "states"), (multiplication(3), 1_024, "runs")):
        network = whole(algorithm.program, width)
        assert prove(ProofTask(algorithm, network, domain, "cuda")) == prove(ProofTask(algorithm, network, domain))


def test_states_without_number_are_refused() -> None:
    many = addition(32)
    network = with_weights(
        whole(addition(2).program, 16),
        first=np.zeros((16, many.program.templates), dtype=np.int8),
        last=np.zeros((many.program.bits, 16), dtype=np.int8),
    )
    assert make_domain(many, "states").size == 2**96
    with pytest.raises(InputError, match="7922816251"):
        prove(ProofTask(many, replace(network, origin=replace(network.origin, program_id=many.program.id))))
    with pytest.raises(InputError, match="'states'"):
        make_domain(many, "state")


def test_what_is_nearest_is_looked_at_in_its_own_state() -> None:
    algorithm, network = addition(3), trained()
    found = certify(algorithm, network)
    near = found.closest
    distance = near.sum - near.threshold if near.expected else near.threshold + 1 - near.sum
    assert distance == found.distance
    assert look_at(ProofTask(algorithm, network), (near.number, near.step)) == near
