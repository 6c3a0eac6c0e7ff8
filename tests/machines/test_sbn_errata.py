"""docs/explanation/errata.md, SBN: the listing to the letter, and machine A with one correction taken back.

Each entry of ERRATA turns one correction of machine A back into what App. B.4 prints. Templates are told by their bits,
written without indices: {"M_mem_cont"} is the template of a cell in which only the content is on.
"""

import random
import re

import numpy as np
import pytest
from cases import for_each
from listings import printed
from lockstep import Change, altered, compare, random_code, run_interpreter

from bitwright import Program, run
from bitwright.engines.rules import RuleEngine
from bitwright.machines import Code, Instruction, Sizes, machine_a
from bitwright.machines.sbn.parts import address_bit
from bitwright.proofs.certificate import certify
from paper.sbn import steps_of_instruction

CELL = ("M_mem_cont", "M_to_copy_inv_a", "M_to_copy_b", "M_is_match_b", "M_to_copy_from_sub", "M_sub_result")


def stems(names: set[str]) -> set[str]:
    return {name.partition("[")[0].removesuffix("=1") for name in names}


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


def test_11_there_is_always_an_address_to_halt_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the paper's n_I = ceil(log2 l_I), behind the last of 2 or 4 instructions comes the first one again."""
    for l_i in range(1, 70):
        assert 2 ** Sizes(l_i, 1, 1).instruction_bits > l_i
    code = Code((Instruction(0, 1, 0),) * 2, (0, 0), 2, {"b": 1}, (), ("b",))  # 0 - 0 twice, and on past the end
    assert run_interpreter(code) == {"b": 0}
    build = machine_a.__wrapped__  # not the cached one
    assert run(build(code.sizes, halt=False).algorithm(code)).halted
    monkeypatch.setattr(Sizes, "instruction_bits", property(lambda s: max(1, (s.instructions - 1).bit_length())))
    assert not run(build(code.sizes, halt=False).algorithm(code), steps=2_000).halted


def literal(l_i: int, l_m: int, n_c: int) -> Program:
    """The listing of App. B.4."""
    return printed("sbn", l_I=l_i, l_M=l_m, n_C=n_c).program


def most(program: Program, name: str) -> int:
    return int(program.writers[program.layout[name].bits()].max())


def test_the_listing_loses_its_memory_in_one_step() -> None:
    """From a complete start state: addresses, content, comparison everywhere, and the 1 that counts addresses."""
    program = literal(2, 4, 3)
    state = np.zeros(program.bits, dtype=bool)
    for name in ("I_instr", "M_mem_addr"):
        bits = program.layout[name].bits().reshape(program.layout[name].shape)
        k, i = np.indices(bits.shape) + 1
        state[bits[address_bit(k, i) == 1]] = True
    state[program.layout["I_to_compare"].bits()] = True
    state[program.layout["B_sum_p"].bits()[0]] = True
    memory = program.layout["M_mem_cont"].bits()
    state[memory] = True
    batch = RuleEngine(program).begin(state[np.newaxis])
    batch.step()
    assert not batch.states()[0, memory].any()
    assert batch.states()[0, program.layout["I_instr"].bits()].sum() == 1  # the address of the second instruction


def test_13_writers() -> None:
    """Printed: at most 4 conflicts, 5 writers, of M_mem_addr."""
    for n_c in (2, 4, 8, 16):
        listing, ours = literal(4, 4, n_c), machine_a(Sizes(4, 4, n_c)).program
        assert most(listing, "M_mem_addr") == 5
        assert most(listing, "I_to_compare") == 8  # 7 conflicts
        assert most(listing, "M_a_cont_sync") == n_c + 3
        assert listing.writers.max() == max(8, n_c + 3)
        # "By a similar augmentation" K is 5 times the most matches, one a block; that is too few.
        assert not certify(listing, "sign", examples=5 * listing.blocks).certified
        assert not certify(ours, "sign", examples=5 * ours.blocks).certified
        assert most(ours, "I_to_compare") == 4
        assert most(ours, "M_mem_cont") == ours.writers.max() == 9
        assert most(ours, "M_a_cont_sync") == 5  # four templates of bit 1, and the chain


def test_14_counts() -> None:
    """The printed formulas, and what the listing has: (186, 374, 411) and (190, 390, 443) at sizes (4, 4, 4)."""
    for l_i, l_m, n_c in ((4, 4, 4), (2, 4, 3), (3, 7, 8), (8, 16, 5)):
        program, n_i, n_m = literal(l_i, l_m, n_c), (l_i - 1).bit_length(), (l_m - 1).bit_length()
        stated = (
            l_m * (5 * n_m + 3 * n_c + 3) + l_i * (4 * n_i + n_m + 1) + 4 * n_i + 8 * n_c + 2,
            l_m * (11 * n_m + 6 * n_c + 4) + l_i * (8 * n_i + 4 * n_m + 1) + 11 * n_i + 12 * n_c + 4,
            l_m * (13 * n_m + 7 * n_c + 1) + l_i * (8 * n_i + 4 * n_m + 2) + 14 * n_c + 11 * n_i + 9,
        )
        right = (
            l_m * (3 * n_m + 3 * n_c + 2) + l_i * (4 * n_i + 4 * n_m + 1) + 4 * n_i + 8 * n_c + 2,
            l_m * (8 * n_m + 8 * n_c + 2) + l_i * (8 * n_i + 6 * n_m + 1) + 11 * n_i + 12 * n_c + 4,
            l_m * (13 * n_m + 7 * n_c + 2) + l_i * (10 * n_i + 6 * n_m + 1) + 14 * n_c + 11 * n_i + 9,
        )
        assert (program.blocks, program.bits, program.templates) == right
        assert (l_i, l_m, n_c) != (4, 4, 4) or (stated, right) == ((186, 374, 411), (190, 390, 443))
        assert stated != right


def test_15_bits_that_nothing_reads_or_writes() -> None:
    program = literal(4, 4, 4)
    names = [program.layout.name_of(bit) for bit in range(program.bits)]
    assert [name for name, count in zip(names, program.writers, strict=True) if not count] == [
        "B_to_copy_curr_instr[1]",
        "B_to_copy_curr_instr[2]",
    ]
    empty = set(range(program.blocks)) - set(program.template_block.tolist())
    unread = {names[int(bit)] for block in empty for bit in program.block_members(block)}
    assert unread == {"B_carry[2]", "D_tc_carry[4]", "D_sub_carry[4]"}


RENAMED = {
    **{f"I_{z}": f"I_{z}_addr" for z in "abc"},
    **{f"I_{z}_delay": f"I_{z}_addr_delay" for z in "abc"},
    "M_addr": "M_mem_addr",
}
# What a template that differs has on, by the entries of the list in machines.md.
DIFFERENCES: dict[str, set[frozenset[str]]] = {
    "mismatches": {
        frozenset({"I_curr_instr", "I_to_compare"}),
        frozenset({"I_instr", "I_to_compare"}),
        frozenset({"M_a_addr", "M_b_addr", "M_to_compare"}),
    },
    "clears": {frozenset({"I_copy_sync"})},
    "a and b": {
        *(frozenset({f"M_counter_{z}", f"M_is_equal_{z}"}) for z in "ab"),
        *(frozenset({f"M_{z}_cont_{what}"}) for z in "ab" for what in ("delay", "sync")),
        frozenset({"D_tc_counter"}),
    },
    "starts": {frozenset({"I_to_copy_c"}), frozenset({"D_to_copy_tc_p"})},
}


def told(program: Program) -> set[tuple[frozenset[str], frozenset[str]]]:
    """Which bits the templates have on and which they write, without indices and in the paper's names."""
    found = set()
    for line in program.text_lines():
        if line.startswith("when "):
            when, _, writes = line.removeprefix("when ").partition(" write ")
            on = stems({test for test in when.split() if test.endswith("=1")})
            sides = (on, stems(set(writes.split())) - {"nothing"})
            found.add(tuple(frozenset(RENAMED.get(name, name) for name in side) for side in sides))
    return found  # type: ignore[return-value]


def test_every_difference_between_the_listing_and_machine_a_is_listed() -> None:
    """At sizes with the same n_I; the list is in docs/explanation/machines.md."""
    listing, ours = told(literal(3, 3, 3)), told(machine_a(Sizes(3, 3, 3), halt=False).program)
    seen = set()
    for on, _ in listing ^ ours:
        if any(name.startswith("B_is_condition") for name in on):
            seen.add("branching")
        elif any(name.startswith(("M_mem_cont", "M_to_copy", "M_is_match")) for name in on):
            seen.add("content")
        else:
            [entry] = [name for name, entries in DIFFERENCES.items() if on in entries]
            seen.add(entry)
    assert seen == {"branching", "content", *DIFFERENCES}
    assert len(listing & ours) > 60
    for l_i, l_m, n_c in ((3, 3, 3), (3, 7, 8)):
        n_i, n_m = 2, (l_m - 1).bit_length()
        one, two = literal(l_i, l_m, n_c), machine_a(Sizes(l_i, l_m, n_c), halt=False).program
        assert two.blocks - one.blocks == n_i - 3  # the branching block is two, three last carries are gone
        assert two.bits - one.bits == l_i * n_i + 2 * l_m * n_m - n_i - 3  # clears; B_to_copy_curr_instr is gone


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
