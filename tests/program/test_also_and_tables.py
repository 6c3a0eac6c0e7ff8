"""Different targets for each configuration: `also when` in rule text, `table` in Python."""

from __future__ import annotations

from itertools import product

import pytest

from bitwright import Algorithm, Builder, InputError, ProgramError, parse, run
from bitwright.program import word

SWAP = """# the smaller of two 2-bit numbers in p, the larger in q
bits p[2] q[2]
block p[*] q[*]
when p[1]=x%2 p[2]=x//2 q[1]=y%2 q[2]=y//2 write p[n] for x in 0..3, y in 0..3, n in 1..2 if x<=y and x//2^(n-1)%2=1
also when p[1]=x%2 p[2]=x//2 q[1]=y%2 q[2]=y//2 write q[n] for x in 0..3,y in 0..3,n in 1..2 if x<=y and y//2^(n-1)%2=1
also when p[1]=x%2 p[2]=x//2 q[1]=y%2 q[2]=y//2 write p[n] for x in 0..3,y in 0..3,n in 1..2 if x>y and y//2^(n-1)%2=1
also when p[1]=x%2 p[2]=x//2 q[1]=y%2 q[2]=y//2 write q[n] for x in 0..3,y in 0..3,n in 1..2 if x>y and x//2^(n-1)%2=1
input p q
output p
output q
steps 1
"""


def swap_by_table() -> Algorithm:
    b = Builder()
    p, q = b.bits("p", 2), b.bits("q", 2)
    b.block(p[:], q[:])
    b.table([p[:], q[:]], lambda x, y: (min(x, y), max(x, y)), into=[p[:], q[:]])
    return Algorithm("swap", b.build(), inputs=(word(p[:]), word(q[:])), outputs=(word(p[:]), word(q[:])), steps=1)


def test_compare_and_swap() -> None:
    for algorithm in (parse(SWAP), swap_by_table()):
        for x, y in product(range(4), repeat=2):
            assert run(algorithm, p=x, q=y).outputs == {"p": min(x, y), "q": max(x, y)}, algorithm


def test_text_and_table_are_one_program() -> None:
    assert parse(SWAP).program.id == swap_by_table().program.id
    assert parse(parse(SWAP).text()).program.id == parse(SWAP).program.id


def test_without_also_two_lines_for_one_configuration_are_refused() -> None:
    with pytest.raises(ProgramError, match=r"also.*when"):
        parse(SWAP.replace("also when", "when", 1))
    order = "bits a b\nblock a b\nalso when a=1 write a\nwhen a=1 write b\ninput a b"
    with pytest.raises(ProgramError, match=r"4.*1.*a=1"):  # it adds to lines before it
        parse(order)


def test_a_bit_may_be_called_also() -> None:
    assert parse("bits also\nblock also\nwhen also=1 write also\ninput also").program.bits == 1


def test_a_table_gives_bits_or_none_and_follows_an_index() -> None:
    from bitwright.program import span

    b = Builder()
    p, q, i = b.bits("p", 3), b.bits("q", 3), span(1, 3)
    b.block(p[i], q[i])
    b.table([p[i], q[i]], lambda x, y: [[None], [q[i]], [p[i]], [p[i], q[i]]][2 * x + y] if x or y else None)
    assert (
        b.build().id
        == parse(
            "bits p[3] q[3]\nblock p[i] q[i] for i in 1..3\nwhen p[i]=0 q[i]=1 write q[i] for i in 1..3\n"
            "when p[i]=1 q[i]=0 write p[i] for i in 1..3\nwhen p[i]=1 q[i]=1 write p[i] q[i] for i in 1..3\ninput p q"
        ).program.id
    )


def test_what_a_table_cannot_mean() -> None:
    b = Builder()
    p = b.bits("p", 2)
    b.block(p[:])
    for function, into, message in (
        (lambda _: 3, None, "takes bits such as"),
        (lambda _: 4, [p[:]], "must fit in 2 bits, got 4"),
        (lambda _: (1, 2), [p[:]], "a number for each of 1 places"),
        (lambda _: "1", [p[:]], "must be"),
    ):
        with pytest.raises(InputError, match=message):
            b.table([p[:]], function, into=into)
    with pytest.raises(InputError, match=r"1.*16.*bits"):
        b.table([], lambda: None)
