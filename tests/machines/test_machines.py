"""The SBN machines against the plain interpreter, their sizes and times against the closed formulas."""

import random

import pytest
from cases import for_each
from lockstep import Steps, altered, compare, random_code, run_interpreter
from long import seeds

from bitwright import InputError, run
from bitwright.machines import Code, Instruction, Machine, Sizes, interpret, machine_a, machine_b
from bitwright.proofs.certificate import certify
from bitwright.theory.proof import smallest_examples
from paper.sbn import steps_of_instruction, steps_per_instruction

MACHINES = {"A": machine_a, "B": machine_b}
STEPS: dict[str, Steps] = {
    "A": steps_of_instruction,
    "B": lambda sizes, _address, _instruction: steps_per_instruction(sizes),
}
PROGRAMS = 2_000  # for each machine, in 40 groups of one size; `make test` tries the first groups


def random_sizes(rng: random.Random) -> Sizes:
    return Sizes(rng.randrange(1, 10), rng.randrange(1, 10), rng.randrange(1, 9))


@for_each("kind", MACHINES)
@for_each("group", seeds(6, of=40))
def test_random_programs(kind: str, group: int) -> None:
    rng = random.Random(f"{kind} {group}")
    sizes = Sizes(1, 1, 1 + group) if group < 3 else random_sizes(rng)
    machine = MACHINES[kind](sizes, halt=bool(group % 2))
    report = compare(machine, [random_code(rng, sizes) for _ in range(PROGRAMS // 40)], STEPS[kind])
    assert report.mismatches == []
    assert report.instructions >= PROGRAMS // 40


@pytest.mark.parametrize("kind", MACHINES)
def test_every_pair_of_words(kind: str) -> None:
    """One subtraction for all pairs of 4-bit words."""
    sizes = Sizes(1, 2, 4)
    machine = MACHINES[kind](sizes)
    codes = [Code((Instruction(0, 1, 1),), (a, b), 4) for a in range(-8, 8) for b in range(-8, 8)]
    assert compare(machine, codes, STEPS[kind], most=1).mismatches == []


@pytest.mark.parametrize(("l_i", "l_m", "n_c"), [(1, 1, 1), (2, 3, 4), (8, 8, 8), (7, 16, 5), (16, 5, 16)])
def test_sizes_of_machine_a(l_i: int, l_m: int, n_c: int) -> None:
    sizes = Sizes(l_i, l_m, n_c)
    n_i, n_m = sizes.instruction_bits, sizes.word_bits
    program = machine_a(sizes, halt=False).program
    assert program.blocks == l_i * (4 * n_i + 4 * n_m + 1) + l_m * (3 * n_m + 3 * n_c + 2) + 5 * n_i + 8 * n_c - 1
    assert program.bits == (l_i * (9 * n_i + 6 * n_m + 1) + l_m * (10 * n_m + 8 * n_c + 2) + 10 * n_i + 12 * n_c + 1)
    assert program.templates == (
        l_i * (9 * n_i + 6 * n_m + 2) + l_m * (12 * n_m + 15 * n_c + 2) + 9 * n_i + 14 * n_c + 5
    )
    if l_m > 1:
        assert program.writers.max() == 9
        assert program.layout.name_of(int(program.writers.argmax())).startswith("M_mem_cont")
    with_halt = machine_a(sizes).program
    assert with_halt.blocks - program.blocks == 2 * n_i + 1


def test_sizes_of_machine_b() -> None:
    program = machine_b(Sizes(8, 8, 8), halt=False).program
    assert (program.blocks, program.bits, program.templates) == (825, 1320, 891)
    for l_i, l_m, n_c in [(1, 1, 1), (2, 3, 4), (8, 8, 8), (7, 16, 5)]:
        sizes = Sizes(l_i, l_m, n_c)
        without, with_halt = machine_b(sizes, halt=False).program, machine_b(sizes).program
        n_i = sizes.instruction_bits
        assert without.writers.max() <= 2
        assert with_halt.writers.max() <= 2
        assert with_halt.blocks - without.blocks == n_i + 2
        assert with_halt.bits - without.bits == 2 * n_i + 2
        assert with_halt.templates - without.templates == n_i + 2


COUNTDOWN = Code(
    instructions=(Instruction(1, 0, 2), Instruction(2, 3, 0)),  # x -= 1, out at x < 0; else back
    words=(0, 1, 0, -1),
    width=6,
    names={"x": 0},
    inputs=("x",),
    outputs=("x",),
    name="countdown",
)


@pytest.mark.parametrize("kind", MACHINES)
@pytest.mark.parametrize("rounding", ["calibrated", "sign"])
def test_the_limit_runs_it_too(kind: str, rounding: str) -> None:
    machine = MACHINES[kind](COUNTDOWN.sizes)
    program = machine.program
    examples = smallest_examples(program) if rounding == "sign" else program.templates
    padding = examples - program.templates
    done = run(machine.algorithm(COUNTDOWN), x=4, engine="limit", rounding=rounding, padding=padding)
    assert (done.halted, done.value) == (True, -1)
    assert done.margin is not None
    assert done.margin > 0
    assert done.examples == examples
    assert certify(program, rounding, examples=examples).certified  # type: ignore[arg-type]


@pytest.mark.parametrize("sizes", [(0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 65), (10**6, 1, 1)])
def test_impossible_machines(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(InputError, match=r"machine.*1"):
        Sizes(*sizes)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (lambda: Code((Instruction(2, 0, 0),), (0, 0), 4), "names a word outside 0 to 1"),
        (lambda: Code((Instruction(0, 0, 2),), (0, 0), 4), "goes to 2, beyond 1"),
        (lambda: Code((Instruction(0, 0, 0),), (8,), 4), r"word 0 must fit in 4 bits, -8 to 7, got 8"),
        (lambda: Code((Instruction(0, 0, 0),), (0,), 4, {"x": 0}, ("y",)), "no word called 'y'"),
    ],
)
def test_codes_that_do_not_fit(code: object, message: str) -> None:
    assert callable(code)
    with pytest.raises(InputError, match=message):
        code()


def test_interpreter() -> None:
    run = interpret(COUNTDOWN, {"x": 1})
    trace = [(address, memory[COUNTDOWN.instructions[address].b]) for address, memory in run]
    assert trace == [(0, 0), (1, -1), (0, -1)]
    endless = Code((Instruction(0, 1, 0),), (0, -1), 4, {"x": 1}, (), ("x",), name="endless")
    with pytest.raises(InputError, match="100"):
        run_interpreter(endless, limit=100)


def test_the_comparison_notices_a_broken_machine() -> None:
    """A machine with one template left out does not pass."""
    sizes = Sizes(3, 3, 3)
    machine: Machine = machine_b(sizes)
    rng = random.Random(5)
    codes = [random_code(rng, sizes) for _ in range(30)]
    lost = {"M_is_target[2]", "M_store[2]"}
    broken = altered(machine.program, lambda on, writes: None if on == lost else writes)
    assert compare(machine, codes, STEPS["B"], program=broken).mismatches
