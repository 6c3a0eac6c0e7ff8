"""docs/explanation/errata.md: the printed rule fails, ours works. Rules are changed in the shipped text itself."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from programs import EXAMPLES

from bitwright import Algorithm, ProgramError, parse, run


def altered(name: str, bits: int, *changes: tuple[str, str]) -> str:
    """A shipped rule file at another size, with some of its text replaced."""
    text = (EXAMPLES / f"{name}.bw").read_text().replace("let l = 10", f"let l = {bits}")
    for ours, printed in changes:
        assert ours in text
        text = text.replace(ours, printed)
    return text


def wrong_products(algorithm: Algorithm, bits: int) -> int:
    return wrong(algorithm, bits, lambda a, b: a * b)


def wrong(algorithm: Algorithm, bits: int, meaning: object) -> int:
    assert callable(meaning)
    pairs = list(product(range(2**bits), repeat=2))
    names = [word.name for word in algorithm.inputs]
    done = run(algorithm, states=np.array([algorithm.state(dict(zip(names, pair, strict=True))) for pair in pairs]))
    values = [next(iter(algorithm.read(state).values())) for state in done.states]
    return sum(value != meaning(*pair) for value, pair in zip(values, pairs, strict=True))


def test_ours_make_no_mistake() -> None:
    assert wrong(parse(altered("addition", 2)), 2, lambda p, q: p + q) == 0
    assert wrong_products(parse(altered("multiplication", 4)), 4) == 0


def test_printed_carry() -> None:
    rule = "when p[i]=1 q[i]=1 write c[i] for i in 1..l"
    with pytest.raises(ProgramError, match=r"index out of range: c\[3\]"):
        parse(altered("addition", 2, (rule, "when p[i]=1 q[i]=1 write c[i+1] for i in 1..l")))
    # The bit that does not exist left out:
    printed = "when p[i]=1 q[i]=1 write c[i+1] for i in 1..l-1"
    assert wrong(parse(altered("addition", 2, (rule, printed))), 2, lambda p, q: p + q) == 7


def test_printed_copy_count() -> None:
    rule = "write multiplicand[i] sum_q[i] for i in 2..2*l"
    printed = parse(altered("multiplication", 4, (rule, "write multiplicand[i] sum_q[i] for i in 2..l")))
    assert wrong_products(printed, 4) == 176


def test_printed_preserve_clashes_with_copy() -> None:
    rule = "when multiplicand[i]=1 write multiplicand[i] for i in 1..2*l"
    printed = f"{rule}\nwhen multiplicand[i]=1 to_copy_to_sum_q[i]=1 write multiplicand[i] for i in 1..2*l"
    with pytest.raises(ProgramError, match="two templates for multiplicand"):
        parse(altered("multiplication", 4, (rule, printed)))


@pytest.mark.parametrize(("ticks", "mistakes"), [("4*l", 0), ("2*l", 0), ("2*l-3", 4)])
def test_counter_of_the_box_and_of_the_sentence(ticks: str, mistakes: int) -> None:
    changes = (
        ("write sum_counter[i+1] for i in 1..4*l-1", f"write sum_counter[i+1] for i in 1..{ticks}-1"),
        ("when sum_counter[4*l]=1", f"when sum_counter[{ticks}]=1"),
    )
    assert wrong_products(parse(altered("multiplication", 4, *changes)), 4) == mistakes


def test_nothing_happens_without_the_check_flag() -> None:
    algorithm = parse(altered("multiplication", 4, ("start to_check_lsb\n", "")))
    assert run(algorithm, multiplicand=7, multiplier=5).value == 0


def test_multiplication_has_no_fixed_point() -> None:
    text = altered("multiplication", 3)
    unending = parse(text.replace("steps 4*l^2 + 3*l", "halt at fixed point\nsteps 500"))
    for a, b in product(range(8), repeat=2):
        done = run(unending, multiplicand=a, multiplier=b)
        assert not done.halted
        assert done.value == a * b
