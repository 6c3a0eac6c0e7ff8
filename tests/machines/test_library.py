"""The programs in examples/sbn do what their first comment says, over all inputs or many, and halt."""

import math
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from cases import for_each
from lockstep import run_interpreter

from bitwright.machines.sbn.assembler import assemble, load_sbn

FOLDER = Path(__file__).parents[2] / "examples" / "sbn"
CHOSEN = random.Random(1)
EVERY = range(128)
EDGES = (0, 1, 2, 63, 64, 126, 127)


def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n, steps = n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1
    return steps


def collatz_fits(n: int) -> bool:
    while n != 1:
        n = n // 2 if n % 2 == 0 else (3 * n + 1) // 2
        if n > 127:
            return False
    return True


def some(values: Iterable[tuple[int, ...]], count: int) -> list[tuple[int, ...]]:
    return CHOSEN.sample(list(values), count)


FOURS = [*product((0, 1, 64, 127), repeat=4), *some(product(range(0, 128, 9), repeat=4), 500)]


def fitting(means: Callable[[int, int], int]) -> list[tuple[int, int]]:
    return [(a, b) for a in range(-128, 128, 3) for b in range(-128, 128) if -128 <= means(a, b) < 128]


@dataclass(frozen=True)
class Contract:
    instructions: int
    words: int
    means: Callable[..., int | tuple[int, ...]]
    inputs: Iterable[tuple[int, ...]]
    limit: int  # instructions that a run may execute


PROGRAMS = {
    "add": Contract(2, 3, lambda a, b: a + b, fitting(lambda a, b: a + b), 2),
    "subtract": Contract(1, 2, lambda a, b: a - b, fitting(lambda a, b: a - b), 1),
    "multiply": Contract(
        4, 6, lambda a, b: a * b, [(a, b) for a in range(-128, 128) for b in EVERY if -128 <= a * b < 128], 300
    ),
    "divide": Contract(5, 6, divmod, [(n, d) for n in EVERY for d in range(1, 128, 2)], 300),
    "isqrt": Contract(4, 6, math.isqrt, [(n,) for n in EVERY], 50),
    "fibonacci": Contract(6, 4, fibonacci, [(n,) for n in range(12)], 30),
    "factorial": Contract(6, 6, math.factorial, [(n,) for n in range(6)], 100),
    "gcd": Contract(8, 3, math.gcd, [(a, b) for a in EVERY for b in range(1, 128, 2)], 1100),
    "maximum": Contract(11, 5, lambda *v: max(v), FOURS, 11),
    "collatz": Contract(11, 6, collatz, [(n,) for n in EVERY if n and collatz_fits(n)], 1100),
    "sort4": Contract(25, 8, lambda *v: tuple(sorted(v)), FOURS, 60),
    "prime": Contract(9, 6, lambda n: int(n > 1 and all(n % d for d in range(2, n))), [(n,) for n in EVERY], 1500),
    "counter": Contract(3, 4, lambda n: n, [(n,) for n in EVERY], 300),
    "modpow": Contract(
        12,
        8,
        pow,
        [*product(EDGES, (0, 1, 2, 5), (2, 3, 64, 127)), *some(product(range(128), range(10), range(2, 128)), 200)],
        6000,
    ),
}


def test_every_program_of_the_library_is_tested_here() -> None:
    assert {path.stem for path in FOLDER.glob("*.sbn")} == set(PROGRAMS)


@for_each("name", PROGRAMS)
def test_a_program_keeps_its_contract_and_halts(name: str) -> None:
    code, contract = load_sbn(FOLDER / f"{name}.sbn"), PROGRAMS[name]
    for values in contract.inputs:
        given = dict(zip(code.inputs, values, strict=True))
        outputs = tuple(run_interpreter(code, given, contract.limit + 1).values())
        expected = contract.means(*values)
        assert outputs == (expected if isinstance(expected, tuple) else (expected,)), given
        assert all(line.holds(given, dict(zip(code.outputs, outputs, strict=True))) for line in code.ensures), given


@for_each("name", PROGRAMS)
def test_a_program_is_as_small_as_the_documentation_says(name: str) -> None:
    code, contract = load_sbn(FOLDER / f"{name}.sbn"), PROGRAMS[name]
    assert code.ensures or name in ("fibonacci", "factorial", "gcd", "collatz", "prime", "modpow")
    assert (len(code.instructions), len(code.words), code.width) == (contract.instructions, contract.words, 8)
    assert code.description


# The documentation says what is so.

DOCUMENTATION = (FOLDER.parents[1] / "docs" / "reference" / "sbn.md").read_text()
BLOCKS = re.findall(r"^```[a-z]*\n(.*?)^```$", DOCUMENTATION, re.DOTALL | re.MULTILINE)


def test_what_the_documentation_quotes_is_so() -> None:
    assert (FOLDER / "divide.sbn").read_text() in BLOCKS
    macro = next(block for block in BLOCKS if block.startswith(".macro"))
    assert macro.partition(".end")[0] in (FOLDER / "sort4.sbn").read_text()
    assert len(assemble(macro).instructions) == 16
