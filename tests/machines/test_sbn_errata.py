"""docs/explanation/errata.md, SBN: with any one correction taken back, machine A no longer runs random programs.

Each entry turns one correction of machine A back into what App. B.4 prints. Templates are told by their bits, written
without indices: {"M_mem_cont"} is the template of a cell in which only the content is on.
"""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from cases import for_each
from lockstep import Change, altered, compare, random_code

from bitwright import run
from bitwright.engines.rules import RuleEngine
from bitwright.machines import Code, Instruction, Sizes, machine_a, steps_of_instruction

CELL = ("M_mem_cont", "M_to_copy_inv_a", "M_to_copy_b", "M_is_match_b", "M_to_copy_from_sub", "M_sub_result")


def stems(names: set[str]) -> set[str]:
    return {name.partition("[")[0] for name in names}


def dropped(*templates: set[str]) -> Change:
    """The templates in which exactly these bits are on do not exist."""
    return lambda on, writes: None if stems(on) in templates else writes


def silent(written: str, *templates: set[str]) -> Change:
    """These templates do not write that name."""

    def change(on: set[str], writes: list[str]) -> list[str]:
        return [bit for bit in writes if stems(on) not in templates or not bit.startswith(f"{written}[")]

    return change


def never_written(*names: str) -> Change:
    return lambda _, writes: [bit for bit in writes if bit.partition("[")[0] not in names]


def short_chains(on: set[str], writes: list[str]) -> list[str] | None:
    """Delays of content that run to l_I = 2 instead of l_M = 5."""
    [name] = on if len(on) == 1 else {""}
    cut = re.fullmatch(r"M_[ab]_cont_delay\[(\d+),\d+\]", name)
    return None if cut and int(cut.group(1)) == 2 else writes


C, A, B, MB, CS, R = CELL
ERRATA: dict[str, Change] = {
    "1: nothing keeps an idle word": dropped({C}),
    "2: the target is forgotten": dropped({C, MB}, {MB}),
    "3: nothing reads the result": dropped({C, MB, CS, R}, {MB, CS, R}),
    "4: other words are erased": dropped({C, CS}, {C, CS, R}),
    "5: an even c stops dead": dropped({"I_to_copy_c"}),
    "6: a word of 0 stops dead": silent("M_a_cont_sync", {A}),
    "7: an even difference stops dead": dropped({"D_to_copy_tc_p"}),
    "8: content is lost on the way": short_chains,
    "9: stale matches": never_written("I_clear", "M_clear_a", "M_clear_b"),
}


@pytest.fixture(scope="module")
def codes() -> list[Code]:
    rng = random.Random(11)
    return [random_code(rng, Sizes(2, 5, 3)) for _ in range(60)]


def test_the_corrected_machine_runs_them_all(codes: list[Code]) -> None:
    machine = machine_a(Sizes(2, 5, 3))
    report = compare(machine, codes, steps_of_instruction, most=6)
    assert report.mismatches == []
    assert report.instructions > 100


@for_each("erratum", ERRATA)
def test_the_printed_rule_fails(codes: list[Code], erratum: str) -> None:
    machine = machine_a(Sizes(2, 5, 3))
    printed = altered(machine.program, ERRATA[erratum])
    assert printed != machine.program
    assert compare(machine, codes, steps_of_instruction, most=6, program=printed).mismatches


@pytest.mark.parametrize(("a", "b", "result", "branches"), [(3, 2, -1, True), (2, 2, 0, False), (2, 3, 1, False)])
def test_10_the_box_is_right_and_zero_does_not_branch(a: int, b: int, result: int, branches: bool) -> None:
    """M[b] <- M[b] - M[a], and only a negative result branches; here past an instruction that clears a."""
    code = Code((Instruction(0, 1, 2), Instruction(0, 0, 0)), (a, b), 4, {"a": 0, "b": 1}, (), ("a", "b"))
    done = run(machine_a(code.sizes).algorithm(code))
    assert done.outputs == {"a": a if branches else 0, "b": result}


def test_11_there_is_always_an_address_to_halt_at() -> None:
    for l_i in range(1, 70):
        assert 2 ** Sizes(l_i, 1, 1).instruction_bits > l_i
    assert Sizes(4, 1, 1).instruction_bits == 3  # the paper's ceil(log2 4) = 2 leaves no free address


def test_12_nothing_happens_unless_the_start_compares() -> None:
    code = random_code(random.Random(2), Sizes(2, 2, 2))
    machine = machine_a(code.sizes, halt=False)
    state = machine.algorithm(code).state({})
    compare_bits = machine.program.layout["I_to_compare"].bits()
    state[compare_bits] = False
    batch = RuleEngine(machine.program).begin(state[np.newaxis])
    for _ in range(50):
        batch.step()
    assert batch.unchanged()[0]
    assert machine.memory(batch.states()[0]) == list(code.words)


def test_13_writers() -> None:
    program = machine_a(Sizes(4, 4, 4)).program

    def most(name: str) -> int:
        return int(program.writers[program.layout[name].bits()].max())

    assert most("I_to_compare") == 4
    assert most("M_mem_cont") == 9
    assert most("M_a_cont_sync") == 5  # four templates of bit 1, and the chain
