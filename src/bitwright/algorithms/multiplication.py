"""Binary multiplication (App. B.3): check a bit, copy and add, shift, and again."""

from __future__ import annotations

from bitwright.algorithms.addition import ripple_carry
from bitwright.algorithms.sizes import check_bits
from bitwright.program import Algorithm, Builder, span, word
from bitwright.program.ensure_text import read
from bitwright.program.sizing import Sizing

_INVARIANT = "at to_check_lsb: sum_p + multiplicand * multiplier == in.multiplicand * in.multiplier"
MAX_BITS = 20_000  # 4l^2 + 3l steps then stay below 2^31


def multiplication(bits: int) -> Algorithm:
    """Multiplies two numbers of `bits` bits by shift and add, in 4l^2 + 3l steps.

    The state has no fixed point at the end: an empty multiplier is checked and shifted for ever, which leaves the
    product alone. Where the paper's boxes differ, docs/explanation/errata.md says why.

    >>> from bitwright import run
    >>> run(multiplication(10), multiplicand=719, multiplier=483).value
    347277
    """
    l = check_bits(bits, MAX_BITS)
    b = Builder()
    multiplier, to_shift_right = b.bits("multiplier", l), b.bits("to_shift_right", l)
    to_check_lsb = b.bit("to_check_lsb")
    multiplicand, to_shift_left = b.bits("multiplicand", 2 * l), b.bits("to_shift_left", 2 * l)
    to_copy_to_sum_q = b.bits("to_copy_to_sum_q", 2 * l)
    sum_p, sum_q, sum_c = b.bits("sum_p", 2 * l), b.bits("sum_q", 2 * l), b.bits("sum_c", 2 * l)
    sum_counter = b.bits("sum_counter", 4 * l)

    i, upper = span(1, 2 * l), span(2, l)
    b.block(multiplier[1], to_shift_right[1], to_check_lsb)
    b.block(multiplier[upper], to_shift_right[upper])
    b.block(multiplicand[i], to_shift_left[i], to_copy_to_sum_q[i])
    ripple_carry(b, sum_p, sum_q, sum_c, 2 * l)
    ticks = span(1, 4 * l)
    b.block(sum_counter[ticks])

    b.cell(multiplicand[i], sum_p[i], sum_c[i], sum_counter[2 * i - 1], sum_counter[2 * i])
    b.cell(multiplier[1])
    b.cell(multiplier[upper])

    # Preserve the multiplier and the multiplicand while something else goes on.
    b.when(multiplier[1] == 1, to_shift_right[1] == 0, to_check_lsb == 0).write(multiplier[1])
    b.when(multiplier[upper] == 1, to_shift_right[upper] == 0).write(multiplier[upper])
    b.when(multiplicand[i] == 1, to_shift_left[i] == 0, to_copy_to_sum_q[i] == 0).write(multiplicand[i])

    # Check the least significant bit of the multiplier: add if it is 1, else go on to the next bit.
    b.when(multiplier[1] == 1, to_check_lsb == 1).write(multiplier[1], to_copy_to_sum_q[:])
    b.when(multiplier[1] == 0, to_check_lsb == 1).write(to_shift_right[:], to_shift_left[:])

    # Copy the multiplicand into the adder; its first bit starts the counter, set or not.
    upper_two = span(2, 2 * l)
    b.when(multiplicand[1] == 0, to_copy_to_sum_q[1] == 1).write(sum_counter[1])
    b.when(multiplicand[1] == 1, to_copy_to_sum_q[1] == 1).write(multiplicand[1], sum_q[1], sum_counter[1])
    b.when(multiplicand[upper_two] == 1, to_copy_to_sum_q[upper_two] == 1).write(
        multiplicand[upper_two], sum_q[upper_two]
    )

    # Count 4l steps while the adder works, then shift both numbers.
    ticks = span(1, 4 * l - 1)
    b.when(sum_counter[ticks] == 1).write(sum_counter[ticks + 1])
    b.when(sum_counter[4 * l] == 1).write(to_shift_right[:], to_shift_left[:])

    # Shift the multiplier to the right, and check again.
    b.when(multiplier[1] == 0, to_shift_right[1] == 1).write(to_check_lsb)
    b.when(multiplier[1] == 1, to_shift_right[1] == 1).write(to_check_lsb)
    b.when(multiplier[upper] == 1, to_shift_right[upper] == 1).write(multiplier[upper - 1])

    # Shift the multiplicand to the left.
    i = span(1, 2 * l - 1)
    b.when(multiplicand[i] == 1, to_shift_left[i] == 1).write(multiplicand[i + 1])

    return Algorithm(
        name="multiplication",
        program=b.build(),
        inputs=(word(multiplicand[span(1, l)], name="multiplicand"), word(multiplier[:])),
        outputs=(word(sum_p[:], name="product"),),
        start=word(to_check_lsb).bits,
        steps=4 * l * l + 3 * l,
        ensures=(read("product == multiplicand * multiplier"),),
        invariants=(read(_INVARIANT, invariant=True),),
        sizing=Sizing({"bits": l}, multiplication),
        description=f"multiply two {l}-bit numbers by shift and add",
        matches=7 * l + 1,  # App. B.3: of the 4l counter blocks only one is active at a time
        examples=max(21 * l, 20 * l + 2),  # App. C; at l = 1 the templates alone are 22
    )
