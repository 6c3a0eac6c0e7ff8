"""The paper's listings to the letter (tests/printed), at any size, and what has to be corrected in them."""

import re
import warnings
from pathlib import Path

from bitwright import Algorithm, BitwrightWarning, parse

Correction = tuple[str, str]  # what is printed, and what it has to be

CARRY = ("q[i]=1 write c[i+1] for i", "q[i]=1 write c[i] for i")
COPY = ("write multiplicand[i] sum_q[i] for i in 2..l", "write multiplicand[i] sum_q[i] for i in 2..2*l")
START = ("input multiplier\n", "input multiplier\nstart to_check_lsb\n")


def printed(name: str, *corrections: Correction, **sizes: int) -> Algorithm:
    """A listing with these corrections; its `let` lines get these values."""
    text = (Path(__file__).parent / "printed" / f"{name}.bw").read_text()
    for wrong, right in corrections:
        assert text.count(wrong) == 1, wrong
        text = text.replace(wrong, right)
    for size, value in sizes.items():
        text, count = re.subn(rf"^let {size} = \d+$", f"let {size} = {value}", text, flags=re.MULTILINE)
        assert count == 1, size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BitwrightWarning)  # a listing does not set what the start state has to
        return parse(text)
