"""What SUBLEQ has no instruction for, in the small language itself: products, quotients, numbers in and out."""

from __future__ import annotations

from functools import lru_cache

from bitwright.machines.language.routines import read_source
from bitwright.machines.language.source import Target
from bitwright.machines.language.tree import Routine

RUNTIME = '''
def multiply(a, b):
    """From the top bit of b down; the product wraps."""
    product = 0
    bits = WIDTH
    while bits > 0:
        product += product
        if b < 0:
            product += a
        b += b
        bits -= 1
    return product

def divide(n, d):
    """Bits of n so far = q * size + r, with 0 <= r < size: so for every n, and every d but 0, also the lowest."""
    size = d
    if d < 0:
        size = -d
    q = 0
    r = 0
    if n < 0:
        q = -1
        r = size - 1
    bits = WIDTH - 1
    while bits > 0:
        n += n
        q += q
        r += r - size
        if n < 0:
            r += 1
        if r < 0:
            r += size
        else:
            q += 1
        bits -= 1
    if d < 0:
        q = -q
        if r != 0:
            q -= 1
            r += d
    return q, r

def print_number(n):
    digits = [0] * DIGITS
    count = 0
    if n < 0:
        put(45)
        n, digit = divmod(n, -10)
        digits[0] = -digit
        count = 1
    while n != 0 or count == 0:
        n, digit = divmod(n, 10)
        digits[count] = digit
        count += 1
    while count > 0:
        count -= 1
        put(digits[count] + 48)

def read_number():
    """The next number of the input; 0 where there is none."""
    sign = 1
    letter = get()
    while letter != -1 and (letter < 48 or letter > 57):
        sign = 1
        if letter == 45:
            sign = -1
        letter = get()
    n = 0
    while letter >= 48 and letter <= 57:
        n = 10 * n + letter - 48
        letter = get()
    if sign < 0:
        n = -n
    return n
'''


@lru_cache(maxsize=8)
def runtime(target: Target, width: int) -> tuple[tuple[Routine, ...], str]:
    """The routines for words of this width, and their source."""
    source = f"WIDTH = {width}\nDIGITS = {len(str(1 << (width - 1)))}\n" + RUNTIME
    return tuple(read_source(source, target, width, "runtime", prefix="@")[0]), source
