"""Machine V against the plain interpreter, instruction by instruction."""

import random

import pytest
from cases import for_each
from facts import missing
from lockstep import altered
from long import LONG
from subleq_lockstep import Report, compare, random_image

from bitwright import InputError
from bitwright.engines.rules import PackedBatch, RuleEngine
from bitwright.machines.subleq import DIALECTS, MachineV, Shape, find_dialect, machine_v

MACHINES = [
    *((4, 2, "plain"), (8, 5, "plain"), (16, 6, "plain"), (32, 8, "plain"), (8, 3, "plain")),
    *((4, 5, "howerj"), (16, 6, "howerj"), (64, 8, "howerj"), (4, 16, "howerj"), (32, 5, "howerj")),
    *((3, 3, "kth"), (8, 5, "kth"), (11, 6, "kth"), (32, 8, "kth"), (29, 7, "kth")),
    *((5, 4, "kth"), (8, 16, "howerj"), (16, 33, "howerj"), (6, 64, "kth"), (128, 7, "plain")),
]
PROGRAMS = 140 if LONG else 45  # on each


def machine(words: int, width: int, dialect: str) -> MachineV:
    return machine_v(Shape(words, width, find_dialect(dialect)))


@pytest.mark.parametrize(
    ("words", "width", "dialect", "sizes"),
    [
        (32, 8, "kth", (920, 1992, 1425, 22)),
        (32, 8, "plain", (908, 1963, 1386, 22)),
        (64, 8, "plain", (1662, 3612, 2515, 22)),
        (256, 16, "plain", (11_866, 26_230, 17_117, 27)),
    ],
)
def test_sizes(words: int, width: int, dialect: str, sizes: tuple[int, ...]) -> None:
    v = machine(words, width, dialect)
    assert (v.program.blocks, v.program.bits, v.program.templates, v.timing.steps) == sizes
    assert v.program.writers.max() == 4


@for_each(("words", "width", "dialect"), MACHINES[:: 1 if LONG else 2])
def test_random_programs(words: int, width: int, dialect: str) -> None:
    v = machine(words, width, dialect)
    rng = random.Random(f"{words} {width} {dialect}")
    found = compare(v, [random_image(rng, v.shape) for _ in range(PROGRAMS)], most=12, seed=words)
    assert found.mismatches == []
    assert found.instructions > PROGRAMS
    assert found.halts > 0
    if v.shape.dialect.io:
        assert found.inputs > 2
        assert found.outputs > 2
    if v.shape.dialect.strict and v.shape.dialect.halt == "range":
        assert found.faults > 2


@pytest.mark.parametrize("dialect", ["plain", "kth"])
def test_every_pair_of_five_bit_operands(dialect: str) -> None:
    """Both results of a comparison, all carries, both overflows: 1,024 subtractions."""
    v = machine(8, 5, dialect)
    pairs = [(x, y) for x in range(32) for y in range(32)]
    found = compare(v, [[3, 4, 7, x, y, 0, 0, 0] for x, y in pairs], most=1)
    assert found.mismatches == []
    assert found.instructions >= len(pairs)


def test_the_comparison_notices_what_is_wrong() -> None:
    """Leave out one kind of template after the other: something must differ each time."""
    v = machine(8, 5, "kth")
    rng = random.Random(1)
    images = [random_image(rng, v.shape) for _ in range(60)]

    def differs(bits: set[str]) -> bool:
        program = altered(v.program, lambda on, writes: None if on == bits else writes)
        engine = RuleEngine(program)
        found: Report = compare(v, images, most=8, begin=lambda states: PackedBatch(engine, states))
        return bool(found.mismatches)

    assert not differs(set())
    for bits in (
        {"M_word[2,1]"},
        {"T_token_0[1]", "T_address_0[1,3]"},
        {"P_is_subtrahend[2]"},
        {"D_half[5]", "D_carry[5]", "D_ready[5]", "D_zero"},
        {"D_sum[2]", "D_raise[2]"},
        {"C_count[3]"},
        {"S_special", f"S_at[{v.timing.answer + v.timing.operand_check + 2}]"},  # the first operand's verdict
    ):
        assert differs(bits), bits


@for_each(
    ("words", "width", "dialect", "message"),
    [
        (2, 8, "plain", "3 2^24"),
        (1 << 25, 32, "plain", "3 2^24"),
        (30, 8, "plain", "32 30"),
        (32, 4, "plain", "32 5 4"),
        (32, 5, "kth", "6 5"),
        (32, 65, "plain", "2 64"),
    ],
)
def test_shapes_that_cannot_be(words: int, width: int, dialect: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        Shape(words, width, DIALECTS[dialect])
    assert missing(str(refused.value), message) == []


def test_a_machine_too_large_for_memory_is_refused_before_it_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bitwright.machines.subleq.machine.bytes_available", lambda: 1_000_000_000)
    with pytest.raises(InputError, match=r"65,536 words of 16 bits takes about [23]\.\d GB, and 1\.0 GB are free"):
        machine_v(Shape(65_536, 16, DIALECTS["howerj"]))


@pytest.mark.parametrize(("text", "message"), [("howerji", "'howerj'"), ("", "howerj kth plain")])
def test_dialects_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        find_dialect(text)
    assert missing(str(refused.value), message) == []
