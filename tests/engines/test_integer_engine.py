"""Integers in NumPy and in PyTorch: the same sums as Python's integers, to the last bit."""

from typing import Any

import numpy as np
import pytest
from whole import choices, engine_of, indicator, odd_program, step_by_hand, sums_by_hand, trained, whole, with_weights

from bitwright import Algorithm, InputError, addition, multiplication
from bitwright.networks import IntegerNetwork
from bitwright.networks.integer import ExactSums
from bitwright.proofs.exhaustion.domains import StatesDomain
from bitwright.rules.pattern import Pattern

CASES = {"addition": addition(3), "odd": odd_program(), "one bit": addition(1)}


def network_of(name: str) -> IntegerNetwork:
    return trained() if name == "addition" else whole(CASES[name].program, 96)


@pytest.mark.parametrize("name", CASES)
def test_every_engine_gives_the_sums_of_python_in_every_state(name: str) -> None:
    torch = pytest.importorskip("torch")
    from bitwright.engines.integer import DeviceSums

    algorithm, network = CASES[name], network_of(name)
    chosen = list(choices(algorithm.program))
    matched = indicator(algorithm.program, chosen)
    wanted = np.array([sums_by_hand(network, state) for state in chosen])
    exact = ExactSums(network, algorithm.program)
    assert exact.arithmetic == "float32"
    assert (exact.products(matched) == wanted).all()
    device = DeviceSums(network, algorithm.program, torch.device("cpu"))
    assert (device(torch.from_numpy(matched.astype(np.uint8))).numpy() == wanted).all()


@pytest.mark.parametrize("name", CASES)
def test_every_state_steps_as_python_says(name: str) -> None:
    pytest.importorskip("torch")
    from bitwright.engines.integer import IntegerDeviceEngine

    algorithm, network = CASES[name], network_of(name)
    domain = StatesDomain(Pattern.of_state(algorithm.program))
    states = np.array([domain.state((number, 0)) for number in range(domain.size)])
    wanted = [step_by_hand(algorithm.program, network, tuple(algorithm.program.match(s).tolist())) for s in states]
    margins = []
    for engine in (
        engine_of(algorithm.program, network),
        IntegerDeviceEngine(algorithm.program, network, device="cpu"),
    ):
        batch = engine.begin(states)
        batch.step()
        assert batch.states().tolist() == wanted
        margins.append(batch.margin())
    assert np.allclose(*margins, rtol=1e-12)


@pytest.mark.parametrize("extreme", [-127, -128, 127])
def test_weights_at_the_limits_of_a_byte(extreme: int) -> None:
    """All weights as large as they can be: sums of nearly 2^31 / 8 for these sizes, exact everywhere."""
    algorithm = addition(3)
    network = trained()
    full = np.full_like(network.first, abs(extreme) if extreme > 0 else extreme)
    full[::2] = 127
    last = np.full_like(network.last, extreme)
    changed = with_weights(network, first=full, last=last)
    chosen = list(choices(algorithm.program))
    sums = ExactSums(changed, algorithm.program)
    matched = indicator(algorithm.program, chosen)
    wanted = np.array([sums_by_hand(changed, state) for state in chosen])
    assert (sums.products(matched) == wanted).all()
    assert np.abs(wanted).max() == sums.bounds.sums


def wide_network(width: int) -> tuple[Algorithm, IntegerNetwork]:
    """All weights 127: the largest sum is 127 * 127 * blocks * width."""
    algorithm = addition(3)
    network = trained()
    first = np.full((width, network.first.shape[1]), 127, dtype=np.int8)
    last = np.full((network.last.shape[0], width), 127, dtype=np.int8)
    return algorithm, with_weights(network, first=first, last=last)


@pytest.mark.parametrize("width", [22_190, 22_192, 40_000])
def test_sums_around_the_limit_of_32_bits(width: int) -> None:
    """127 * 127 * 6 * 22,190 is just below 2^31, and with 22,192 units it is above."""
    algorithm, network = wide_network(width)
    sums = ExactSums(network, algorithm.program)
    assert (sums.bounds.sums < 2**31) == (width == 22_190)
    everything = indicator(algorithm.program, [max(choices(algorithm.program), key=len)])
    assert (sums.products(everything) == 127 * 127 * 6 * width).all()


def test_thresholds_that_leave_no_room_are_refused() -> None:
    algorithm, network = addition(3), trained()
    for value in (2**62, -(2**63)):
        thresholds = network.thresholds.copy()
        thresholds[0, 0] = value
        with pytest.raises(InputError, match=r"64.*bits"):
            ExactSums(with_weights(network, thresholds=thresholds), algorithm.program)


def test_a_negative_threshold_needs_the_gate() -> None:
    """Where nothing matches all sums are 0, above a negative threshold; the next state is all zero even so."""
    program = addition(2).program
    network = whole(program, 64)
    low = with_weights(network, thresholds=np.full_like(network.thresholds, -(10**9)))
    batch = engine_of(program, low).begin(np.array([[False] * program.bits, [True] * program.bits]))
    batch.step()
    assert batch.states().any(axis=1).tolist() == [False, True]
    assert np.isinf(batch.margin()).tolist() == [True, False]


def test_a_network_of_another_program_is_refused() -> None:
    with pytest.raises(InputError, match="another program"):
        engine_of(addition(2).program, trained())


def test_a_kernel_that_adds_up_otherwise_is_not_used() -> None:
    """One sum in a thousand off by one is noticed, and the right sums are not refused."""
    torch = pytest.importorskip("torch")
    from bitwright.engines.integer import DeviceSums

    program, cpu = addition(3).program, torch.device("cpu")
    sums = DeviceSums(trained(), program, cpu)

    tried: list[Any] = []

    def nearly(matched: Any) -> Any:
        found = sums.plain(matched)
        found[::100, 0] += 1
        return found

    def noting(matched: Any) -> Any:
        tried.append(matched.sum(dim=1).double().mean().item())
        return sums.plain(matched)

    assert sums.agrees(noting, sums.inputs, cpu)
    assert tried == sorted(tried)
    assert tried[0] < program.templates / 5 < program.templates * 4 / 5 < tried[-1]  # few matches first, then many
    assert sums.agrees(sums.plain, sums.inputs + 40, cpu)
    assert not sums.agrees(nearly, sums.inputs, cpu)


@pytest.mark.gpu
@pytest.mark.parametrize("width", [16, 64, 100, 128, 256, 300, 512, 1_000, 2_048])
def test_the_kernel_of_a_gpu_gives_the_sums_of_numpy_at_every_width(width: int) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    from bitwright.engines.integer import DeviceSums

    for algorithm in (addition(4), multiplication(3), multiplication(6)):
        program, rng = algorithm.program, np.random.default_rng(width)
        first = rng.integers(-127, 128, (width, program.templates)).astype(np.int8)
        last = rng.integers(-127, 128, (program.bits, width)).astype(np.int8)
        network = with_weights(whole(program, 512, tolerance=0.4), first=first, last=last)
        sums = DeviceSums(network, program, torch.device("cuda"))
        assert sums.fused  # else it was found to be wrong, and is not used
        matched = rng.random((3_000, program.templates)) < 0.4
        given = torch.zeros((len(matched), sums.inputs), dtype=torch.uint8, device="cuda")
        given[:, : program.templates] = torch.from_numpy(matched).to("cuda")
        assert (sums(given).cpu().numpy() == ExactSums(network, program).products(matched)).all()
