"""Binary addition (Section 4.1, App. B.2): half adders and a carry that ripples."""

from __future__ import annotations

from functools import partial

from bitwright.algorithms.sizes import check_bits
from bitwright.program import Algorithm, Bits, Builder, span, word
from bitwright.program.ensure_text import read
from bitwright.program.sizing import Sizing

_TEXT = """\
let l = 10
bits p[l] q[l] c[l]
block p[i] q[i] for i in 1..l
block c[i]      for i in 1..l
when p[i]!=q[i]    write p[i]   for i in 1..l
when p[i]=1 q[i]=1 write c[i]   for i in 1..l
when c[i]=1        write q[i+1] for i in 1..l-1
when c[l]=1        write c[l]
input p q
output sum = c[l] p
steps 2*l
ensure sum == p + q
"""
_COUNTER = """\
bits counter[2*l]
block counter[i] for i in 1..2*l
when counter[i]=1   write counter[i+1] for i in 1..2*l-1
when counter[2*l]=1 write counter[2*l]
start counter[1]
halt when counter[2*l]
"""


def addition(bits: int, counter: bool = False) -> Algorithm:
    """Adds two numbers of `bits` bits; the sum is read after 2l steps.

    With `counter` the program tells by itself that it is done (App. B.2, "Termination").

    >>> from bitwright import run
    >>> run(addition(10), p=719, q=483).value
    1202
    """
    l = check_bits(bits)
    b = Builder()
    p, q, c = b.bits("p", l), b.bits("q", l), b.bits("c", l)
    ripple_carry(b, p, q, c, l)
    i = span(1, l)
    b.cell(p[i], c[i])
    b.when(c[l] == 1).write(c[l])  # the last carry is the top bit of the sum, and stays

    start: tuple[int, ...] = ()
    halt = None
    if counter:
        ticks = b.bits("counter", 2 * l)
        i = span(1, 2 * l)
        b.block(ticks[i])
        b.cell(ticks[i])
        i = span(1, 2 * l - 1)
        b.when(ticks[i] == 1).write(ticks[i + 1])
        b.when(ticks[2 * l] == 1).write(ticks[2 * l])
        start, halt = word(ticks[1]).bits, word(ticks[2 * l]).bits[0]

    return Algorithm(
        name="addition",
        program=b.build(),
        inputs=(word(p[:]), word(q[:])),
        outputs=(word(c[l], p[:], name="sum"),),
        start=start,
        steps=2 * l,
        halt=halt,
        ensures=(read("sum == p + q"),),
        sizing=Sizing({"bits": l}, partial(addition, counter=counter), _TEXT + _COUNTER * counter),
        description=f"add two {l}-bit numbers by ripple carry",
    )


def ripple_carry(b: Builder, p: Bits, q: Bits, c: Bits, l: int) -> None:
    """The blocks and templates that add q to p, all carries but the last: p and q meet, c passes on what is left.

    The paper's box writes the carry to c[i+1]; it has to be c[i] (see docs/explanation/errata.md).
    """
    i = span(1, l)
    b.block(p[i], q[i])
    b.block(c[i])
    b.when(p[i] == 0, q[i] == 1).write(p[i])
    b.when(p[i] == 1, q[i] == 0).write(p[i])
    b.when(p[i] == 1, q[i] == 1).write(c[i])
    i = span(1, l - 1)
    b.when(c[i] == 1).write(q[i + 1])
