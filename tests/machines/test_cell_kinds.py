"""Machines are made of few kinds of cells, the same ones at all sizes."""

from collections.abc import Callable, Iterable
from itertools import product

import pytest
from cases import for_each
from long import LONG

from bitwright.machines import Sizes, machine_a, machine_b
from bitwright.machines.subleq import Shape, find_dialect, machine_v
from bitwright.rules import Program
from bitwright.rules.cells import Kind


def kinds_of(program: Program) -> set[Kind]:
    return set(program.kinds.kinds)


def numbers(kinds: Iterable[Kind]) -> tuple[int, int, int]:
    """How many kinds there are, their examples K, their local states."""
    listed = list(kinds)
    return len(listed), sum(kind.templates for kind in listed), sum(kind.local_states for kind in listed)


SMALL = [Sizes(*sizes) for sizes in (*product((1, 2, 3), repeat=3), (4, 4, 4))]
LARGER = [(9, 9, 9), (16, 3, 7), *[(64, 64, 16), (7, 16, 16), (33, 17, 12), (100, 2, 32), (13, 40, 24)] * LONG]


@pytest.mark.parametrize(
    ("machine", "smallest", "usual", "union"),
    [
        (machine_a, (11, 62, 214), (17, 111, 406), (19, 119, 416)),
        (machine_b, (8, 26, 119), (13, 54, 305), (13, 54, 305)),
    ],
)
def test_machines_a_and_b_have_few_kinds_at_all_sizes(
    machine: Callable[[Sizes], object],
    smallest: tuple[int, int, int],
    usual: tuple[int, int, int],
    union: tuple[int, int, int],
) -> None:
    def at(sizes: Sizes) -> set[Kind]:
        return kinds_of(machine(sizes).program)  # type: ignore[attr-defined]

    found = [at(sizes) for sizes in SMALL]
    every = set.union(*found)
    assert numbers(found[0]) == smallest  # one instruction, one word, one bit
    assert numbers(every) == union
    assert all(at(Sizes(*sizes)) <= every for sizes in LARGER)
    assert numbers(at(Sizes(8, 8, 8))) == usual


# Machine V: words of memory, and how many kinds, examples and local states there are with words of 16 bits.
HOWERJ = {
    8: (19, 92, 250),
    16: (19, 98, 256),
    32: (20, 104, 263),
    64: (19, 98, 256),
    128: (20, 104, 263),
    **({256: (19, 98, 256), 512: (20, 104, 263), 1024: (19, 98, 256), 2048: (20, 104, 263)} if LONG else {}),
}


def kinds_of_v(words: int, width: int = 16, dialect: str = "howerj") -> set[Kind]:
    return kinds_of(machine_v(Shape(words, width, find_dialect(dialect))).program)


def test_machine_v_has_few_kinds_whatever_its_words() -> None:
    found = {words: kinds_of_v(words) for words in HOWERJ}
    assert {words: numbers(kinds) for words, kinds in found.items()} == HOWERJ
    # Where the number of address bits is odd, the tree has a node of one digit at its top; else all have two.
    assert found[128] == set.union(*found.values())
    assert found[64] < found[128]


@for_each("width", [12, 20])
def test_the_width_of_words_brings_no_kinds(width: int) -> None:
    assert kinds_of_v(64, width) <= kinds_of_v(128)


def test_every_dialect_has_few_kinds() -> None:
    plain = [kinds_of_v(words, dialect="plain") for words in (8, 16, 32, 64, 128, *[512] * LONG)]
    assert numbers(set.union(*plain))[0] == 16
    # Where words are no power of two, the last node of a level may lack children; these sizes have every such node.
    kth = [kinds_of_v(words, dialect="kth") for words in (3, 4, 5, 6, 9, 13, 17, 21)]
    assert numbers(set.union(*kth))[0] == 24
    assert all(kinds_of_v(words, dialect="kth") <= set.union(*kth) for words in (7, 31, *[10, 32, 48, 100, 257] * LONG))


@pytest.mark.parametrize(
    "program",
    [machine_a(Sizes(3, 5, 4)).program, machine_b(Sizes(3, 5, 4)).program],
    ids=["A", "B"],
)
def test_a_bit_of_memory_is_a_cell(program: Program) -> None:
    family = next(
        number
        for number, label in enumerate(program.cells.families.labels)
        if label.startswith(("cell M_mem_cont", "cell M_word"))
    )
    assert program.cells.families.sizes[family] == 5 * 4
