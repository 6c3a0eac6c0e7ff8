"""Proofs of floating-point networks: nothing overflows, underflow is within the bound, and NaN is never right."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from cases import for_each
from whole import choices, outputs_of

from bitwright import InputError, addition, certify
from bitwright.engines.make import network_engine
from bitwright.networks import FloatNetwork, Plan, Recipe, train
from bitwright.proofs.exhaustion.judges import FloatJudge

SMALLEST, LARGEST = np.float32(2.0**-126), float(np.finfo(np.float32).max)


@cache
def adder(width: int = 512, precision: str = "float32") -> FloatNetwork:
    return train(addition(2).program, Recipe(width, plan=Plan(descent="momentum"), precision=precision))[0]


def scaled(network: FloatNetwork, factor: float) -> FloatNetwork:
    """The same function: one layer times a factor, the other divided by it; a power of two changes no digit."""
    first, last = network.first.astype(np.float64) * factor, network.last.astype(np.float64) / factor
    with np.errstate(under="ignore"):
        return FloatNetwork(first.astype(np.float32), last.astype(np.float32), network.origin)


def largest_hidden(network: FloatNetwork, over_root: bool) -> float:
    """The largest sum of absolute values of a hidden unit in any state, in float64."""
    sizes = np.abs(network.first.astype(np.float64))
    states = [list(matched) for matched in choices(addition(2).program) if matched]
    return max(float(sizes[:, one].sum(axis=1).max()) / (len(one) ** 0.5 if over_root else 1) for one in states)


@pytest.mark.parametrize("domain", ["states", "runs"])
def test_hidden_values_that_overflow_are_not_certified(domain: str) -> None:
    """Both layers together are as they were; the hidden layer alone exceeds the largest float32."""
    network = scaled(adder(2_048), 3.3e38 / float(np.abs(adder(2_048).first).max()))
    assert largest_hidden(network, over_root=True) > LARGEST
    with pytest.raises(InputError, match=r"largest.*32"):
        certify(addition(2), network, domain=domain)


def test_an_engine_that_divides_by_the_root_of_n_last_counts_too() -> None:
    """PyTorch adds up the matched weights as they are: there a hidden value overflows that NumPy's does not."""
    plain = adder()
    fits, does_not = largest_hidden(plain, over_root=True), largest_hidden(plain, over_root=False)
    network = scaled(plain, LARGEST / ((fits + does_not) / 2))
    assert largest_hidden(network, over_root=True) < LARGEST < largest_hidden(network, over_root=False)
    with pytest.raises(InputError, match=r"largest.*32"):
        certify(addition(2), network)


def test_sums_that_overflow_are_not_certified() -> None:
    plain = adder()
    network = replace(plain, last=(plain.last * 2.0**124).astype(np.float32))
    with pytest.raises(InputError, match=r"largest.*32"):
        certify(addition(2), network)


@pytest.mark.parametrize("power", [-60, 60, 80])
def test_what_no_rounding_touches_changes_no_verdict(power: int) -> None:
    plain, other = certify(addition(2), adder()), certify(addition(2), scaled(adder(), 2.0**power))
    assert plain.certified
    assert other.certified
    assert other.distance == pytest.approx(plain.distance, abs=1e-9)


@pytest.mark.parametrize("power", [-126, -100, 0, 100, 122])
def test_arithmetic_that_flushes_to_zero_stays_within_the_bound(power: int) -> None:
    """Weights, products and sums below the smallest normal number become 0, as on hardware that has no others."""
    program, network = addition(2).program, scaled(adder(), 2.0**power)
    judge, first, last = FloatJudge(program, network), flush(network.first), flush(network.last)
    scale = np.float32(1 / np.sqrt(network.shape.inputs * network.shape.width))
    lost = 0.0
    for matched in [one for one in choices(program) if one][::7]:
        hidden = np.zeros(len(first), dtype=np.float32)
        for template in matched:
            hidden = flush(hidden + flush(np.float32(1 / np.sqrt(len(matched))) * first[:, template]))
        row = np.zeros((1, program.templates), dtype=bool)
        row[0, list(matched)] = True
        exact, error = judge.outputs(row, np.array([len(matched)]))
        for bit in range(program.bits):
            total = np.float32(0)
            for term in flush(last[bit] * np.maximum(hidden, 0)):
                total = flush(total + term)
            found = abs(float(total * scale) - exact[0, bit])
            lost = max(lost, found)
            assert found <= error[0, bit]
    assert lost > (1e-3 if power in (-126, 122) else 0)  # there underflow is what the error is


def flush(numbers: np.ndarray) -> np.ndarray:
    return np.where(np.abs(numbers) < SMALLEST, np.float32(0), numbers)


@for_each("value", [np.nan, np.inf, -np.inf])
@for_each("layer", ["first", "last"])
def test_networks_have_finite_weights(layer: str, value: float) -> None:
    weights = getattr(adder(), layer).copy()
    weights[1, 2] = value
    with pytest.raises(InputError, match="NaN or infinite"):
        replace(adder(), **{layer: weights})


@pytest.mark.parametrize("layer", ["first", "last"])
def test_a_judge_never_says_right_of_what_is_not_a_number(layer: str) -> None:
    """Even of a network that got past the check above."""
    broken = replace(adder())
    weights = getattr(adder(), layer).copy()
    weights[1, 2] = np.nan
    object.__setattr__(broken, layer, weights)
    with pytest.raises(InputError, match="may exceed"):
        certify(addition(2), broken)


def test_networks_that_do_not_fit_their_program_are_refused() -> None:
    network = adder()
    for layer, weights in (("first", network.first[:, :-1]), ("last", network.last[:-1])):
        with pytest.raises(InputError, match="do not fit"):
            certify(addition(2), replace(network, **{layer: weights}))


def test_float64_weights_are_run_in_the_float64_that_they_are_certified_in() -> None:
    algorithm, network = addition(2), adder(precision="float64")
    states = np.array([algorithm.state({"p": p, "q": q}) for p in range(4) for q in range(4)])
    found, n = outputs_of(network_engine(algorithm.program, [network], "calibrated"), states)
    for state, outputs, matches in zip(states, found, n, strict=True):
        encoded = np.zeros(network.shape.inputs)
        encoded[algorithm.program.match(state)] = 1 / np.sqrt(max(1, matches))
        by_hand = network.last @ np.maximum(network.first @ encoded, 0) / np.sqrt(np.float64(network.first.size))
        np.testing.assert_allclose(outputs, by_hand, rtol=0, atol=1e-13)
