"""Different targets for each configuration: `also when` in rule text."""

from itertools import product

import pytest

from bitwright import ProgramError, parse, run

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


def test_compare_and_swap() -> None:
    for algorithm in (parse(SWAP), parse(parse(SWAP).text())):
        for x, y in product(range(4), repeat=2):
            assert run(algorithm, p=x, q=y).outputs == {"p": min(x, y), "q": max(x, y)}, algorithm


def test_without_also_two_lines_for_one_configuration_are_refused() -> None:
    with pytest.raises(ProgramError, match=r"also.*when"):
        parse(SWAP.replace("also when", "when", 1))
    order = "bits a b\nblock a b\nalso when a=1 write a\nwhen a=1 write b\ninput a b"
    with pytest.raises(ProgramError, match=r"4.*1.*a=1"):  # it adds to lines before it
        parse(order)


def test_a_bit_may_be_called_also() -> None:
    assert parse("bits also\nblock also\nwhen also=1 write also\ninput also").program.bits == 1
