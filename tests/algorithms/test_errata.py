"""docs/explanation/errata.md, arithmetic: the listings with all corrections are ours; with one left out they fail."""

from itertools import product

import numpy as np
import pytest
from listings import CARRY, COPY, START, Correction, printed

from bitwright import Algorithm, ProgramError, addition, multiplication, permutation, run

TICKS: Correction = ("steps 4*l^2 + 3*l", "halt at fixed point\nsteps 500")


def wrong_products(*corrections: Correction, bits: int = 4) -> int:
    return wrong(printed("multiplication", *corrections, l=bits), bits, lambda a, b: a * b)


def wrong_sums(*corrections: Correction, bits: int = 2) -> int:
    return wrong(printed("addition", *corrections, l=bits), bits, lambda p, q: p + q)


def wrong(algorithm: Algorithm, bits: int, meaning: object) -> int:
    assert callable(meaning)
    pairs = list(product(range(2**bits), repeat=2))
    names = [word.name for word in algorithm.inputs]
    done = run(algorithm, states=np.array([algorithm.state(dict(zip(names, pair, strict=True))) for pair in pairs]))
    values = [next(iter(algorithm.read(state).values())) for state in done.states]
    return sum(value != meaning(*pair) for value, pair in zip(values, pairs, strict=True))


@pytest.mark.parametrize("l", [1, 2, 5])
def test_with_all_corrections_the_listings_are_ours(l: int) -> None:
    assert printed("addition", CARRY, l=l).program == addition(l, counter=True).program
    assert printed("multiplication", COPY, START, l=l).program == multiplication(l).program
    assert wrong_sums(CARRY) == wrong_products(COPY, START) == 0


def test_permutation_as_printed() -> None:
    """x[p[i]] = 1 gives y[p[pi(i)]]: the one listing without an erratum."""
    order = [3, 1, 5, 2, 4]
    program = permutation(order).program
    for i, to in enumerate(order):
        assert program.template_text(i) == f"when p[{i + 1}]=1 write p[{to}]"


def test_printed_carry() -> None:
    with pytest.raises(ProgramError, match=r"c\[3\]"):
        printed("addition", l=2)
    assert wrong_sums((CARRY[0] + " in 1..l", CARRY[0] + " in 1..l-1")) == 7  # the bit that does not exist left out


def test_printed_termination_counter() -> None:
    """It is to be active once 2l iterations have elapsed; it is one earlier, when the sum is there (entry 2)."""
    for l in (1, 3, 6):
        assert run(printed("addition", CARRY, l=l), p=2**l - 1, q=1).steps == 2 * l - 1


def test_printed_copy_count() -> None:
    assert wrong_products(START) == 176
    for l in (2, 5):  # and the paper's own count of all templates, 20 l + 2, has 2l of them
        assert printed("multiplication", l=l).program.templates == 19 * l + 2
        assert multiplication(l).program.templates == 20 * l + 2


def test_printed_preserve_clashes_with_copy_where_the_third_bit_is_free() -> None:
    preserve = "when multiplicand[i]=1 to_shift_left[i]=0 write"
    free = (preserve, preserve.replace(" write", " to_copy_to_sum_q[i]=* write"))
    with pytest.raises(ProgramError, match=r"templates.*multiplicand"):
        printed("multiplication", COPY, START, free)


@pytest.mark.parametrize(("ticks", "mistakes"), [("4*l", 0), ("2*l", 0), ("2*l-3", 4)])
def test_counter_of_the_box_and_of_the_sentence(ticks: str, mistakes: int) -> None:
    counts = ("write sum_counter[i+1] for i in 1..4*l-1", f"write sum_counter[i+1] for i in 1..{ticks}-1")
    ends = ("when sum_counter[4*l]=1", f"when sum_counter[{ticks}]=1")
    assert wrong_products(COPY, START, *([counts, ends] if ticks != "4*l" else [])) == mistakes


def test_nothing_happens_without_the_check_flag() -> None:
    assert run(printed("multiplication", COPY), multiplicand=7, multiplier=5).value == 0


def test_multiplication_has_no_fixed_point() -> None:
    unending = printed("multiplication", COPY, START, TICKS, l=3)
    for a, b in product(range(8), repeat=2):
        done = run(unending, multiplicand=a, multiplier=b)
        assert not done.halted
        assert done.value == a * b


def test_a_single_bit_leaves_no_room_for_padding() -> None:
    """21 l examples, with 20 l + 2 templates: one too few at l = 1."""
    assert multiplication(1).program.templates == 22
    assert multiplication(1).examples == 22
    assert all(multiplication(l).examples == 21 * l >= multiplication(l).program.templates for l in range(2, 9))


def test_a_block_that_nothing_reads() -> None:
    """sum_c[2l] is written, and no template is of its block: 11l - 1 of the 11l blocks have templates."""
    for l in (1, 4):
        program = printed("multiplication", l=l).program
        unread = set(range(program.blocks)) - set(program.template_block.tolist())
        assert program.blocks == 11 * l
        [bit] = [int(bit) for block in unread for bit in program.block_members(block)]
        assert program.layout.name_of(bit) == f"sum_c[{2 * l}]"
        assert program.writers[bit] == 1
