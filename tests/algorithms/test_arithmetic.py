"""The three arithmetic algorithms against Python's integers: all inputs up to 6 bits, random ones up to 256."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from cases import for_each
from long import LONG
from programs import EXAMPLES

from bitwright import Algorithm, InputError, addition, multiplication, permutation, run
from bitwright.rules import load
from bitwright.rules.algorithms import arithmetic


def check_pairs(algorithm: Algorithm, pairs: list[tuple[int, int]], meaning: Callable[[int, int], int]) -> None:
    names = [word.name for word in algorithm.inputs]
    states = np.array([algorithm.state(dict(zip(names, pair, strict=True))) for pair in pairs])
    done = run(algorithm, states=states)
    for pair, state in zip(pairs, done.states, strict=True):
        assert list(algorithm.read(state).values()) == [meaning(*pair)], pair


def all_pairs(bits: int) -> list[tuple[int, int]]:
    return list(product(range(2**bits), repeat=2))


def random_pairs(bits: int, count: int) -> list[tuple[int, int]]:
    rng = np.random.default_rng(bits)
    draw = lambda: int.from_bytes(rng.bytes(bits // 8 + 1), "little") % 2**bits  # noqa: E731
    return [(2**bits - 1, 2**bits - 1), (2**bits - 1, 1), *((draw(), draw()) for _ in range(count - 2))]


@for_each("bits", range(1, 7))
@for_each("counter", [False, True])
def test_addition_of_all_numbers(bits: int, counter: bool) -> None:
    check_pairs(addition(bits, counter), all_pairs(bits), lambda p, q: p + q)


@for_each("bits", range(1, 7))
def test_multiplication_of_all_numbers(bits: int) -> None:
    check_pairs(multiplication(bits), all_pairs(bits), lambda a, b: a * b)


@for_each("bits", range(1, 7))
def test_permutation_of_all_numbers(bits: int) -> None:
    order = (np.random.default_rng(bits).permutation(bits) + 1).tolist()
    algorithm = permutation(order)
    for p in range(2**bits):
        expected = sum((p >> i & 1) << (place - 1) for i, place in enumerate(order))
        assert run(algorithm, p=p).value == expected


@for_each("bits", [7, 64, 65, 256])
def test_addition_of_large_numbers(bits: int) -> None:
    check_pairs(addition(bits), random_pairs(bits, 100), lambda p, q: p + q)


@pytest.mark.parametrize("bits", [7, 33, *[16, 64, 128, 256] * LONG])
def test_multiplication_of_large_numbers(bits: int) -> None:
    check_pairs(multiplication(bits), random_pairs(bits, 8), lambda a, b: a * b)


@pytest.mark.parametrize("bits", [100, 256])
def test_permutation_of_large_numbers(bits: int) -> None:
    order = (np.random.default_rng(bits).permutation(bits) + 1).tolist()
    digits = "".join(np.random.default_rng(0).choice(["0", "1"], size=bits))
    moved = [""] * bits
    for i in range(bits):
        moved[bits - order[i]] = digits[bits - 1 - i]
    assert format(run(permutation(order), p=int(digits, 2)).value, f"0{bits}b") == "".join(moved)


def test_ten_thousand_bits() -> None:
    p, q = 3**6309, 7**3562  # 10,000 bits each
    assert run(addition(10_000), p=p, q=q).value == p + q


@pytest.mark.parametrize("l", [1, 2, 3, 10, 64])
def test_sizes_are_the_papers(l: int) -> None:
    adder, product_, mover = addition(l).program, multiplication(l).program, permutation(range(1, l + 1)).program
    assert (mover.blocks, mover.templates) == (l, l)
    assert (adder.bits, adder.blocks, adder.templates) == (3 * l, 2 * l, 4 * l)
    assert (product_.blocks, product_.templates) == (11 * l, 20 * l + 2)
    assert multiplication(l).steps == 4 * l * l + 3 * l
    assert adder.writers.max() == 2
    assert product_.writers.max() == 3


def test_addition_is_steady_after_2l_minus_1_steps_and_not_before() -> None:
    for l in range(1, 7 if LONG else 5):
        algorithm = addition(l)
        traces = [run(algorithm, p=p, q=q, record=True).trace for p, q in all_pairs(l)]
        steady = [
            next(t for t in range(2 * l + 1) if (trace.state(t) == trace.state(2 * l)).all())
            for trace in traces
            if trace is not None
        ]
        assert max(steady) == 2 * l - 1


@pytest.mark.parametrize(
    ("name", "built"),
    [
        ("permutation", permutation([5, 4, 3, 2, 1])),
        ("addition", addition(10)),
        ("addition-counter", addition(10, counter=True)),
        ("multiplication", multiplication(10)),
    ],
)
def test_the_shipped_rule_files_are_the_built_algorithms(name: str, built: Algorithm) -> None:
    written = load(EXAMPLES / f"{name}.bw")
    assert written.same_as(built)
    assert written.program.id == built.program.id


@pytest.mark.parametrize("bits", [0, -3, 10**7])
def test_sizes_out_of_range(bits: int) -> None:
    for make in (addition, multiplication):
        with pytest.raises(InputError, match=r"bits must be between 1 and (1,000,000|20,000)"):
            make(bits)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([], "bits must be between"),
        ([1, 1], "1 occurs twice"),
        ([1, 3], "positions 1 to 2, got 3"),
        ([0, 1], "got 0"),
    ],
)
def test_orders_that_are_no_permutations(order: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        permutation(order)


def test_the_examples_are_the_shipped_texts() -> None:
    """A package that travels to another machine has no examples, so it has these texts itself."""
    own = sorted(Path(arithmetic.__file__).parent.glob("*.bw"))
    assert len(own) == 4
    for text in own:
        assert text.read_text() == (Path(__file__).parents[2] / "examples" / text.name).read_text()
