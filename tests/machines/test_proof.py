"""Codes of machine B: what the machine does is proved, not assumed, and so is every path of the code."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from bitwright import Program
from bitwright.machines import assemble, machine_b
from bitwright.machines.sbn import proof as instructions
from bitwright.machines.sbn.proof import CodeProof
from bitwright.proofs.unrolling import prove_at_size
from bitwright.proofs.unrolling.solver import Prover, UndecidedError
from bitwright.runs.run import run_batch

LARGER = ".width 4\n.in a b\n.out a\n sbn a b halt\n sub b t\n sub t a\n"  # a is the larger of both
ENSURED = "in.a >= 0 and in.b >= 0 => a >= in.a and a >= in.b and (a == in.a or a == in.b)"


def loaded(text, *ensures):
    code = assemble(text)
    return replace(machine_b(code.sizes).algorithm(code), ensures=ensures)


def is_right(algorithm):
    names, half = [word.name for word in algorithm.inputs], 1 << len(algorithm.inputs[0].bits) - 1
    rows = [dict(zip(names, values, strict=True)) for values in product(range(-half, half), repeat=len(names))]
    done = run_batch(algorithm, np.array([algorithm.state(row) for row in rows]), limit=400)
    pairs = zip(rows, done.states, done.halted, strict=True)
    return all(h and all(line.holds(row, algorithm.read(s)) for line in algorithm.ensures) for row, s, h in pairs)


def test_a_code_is_proved_by_instructions_and_paths():
    found = prove_at_size(loaded(LARGER, ENSURED))
    assert is_right(found.algorithm)
    assert (found.verdict, found.method) == ("proved", "4 lemmas about instructions, 2 paths")


def test_without_its_premise_it_is_refuted():
    """Numbers of different signs may differ by more than a word holds."""
    found = prove_at_size(loaded(LARGER, "a >= in.a and a >= in.b"))
    assert found.verdict == "refuted"


def test_a_rare_error_on_a_path_is_replayed():
    found = prove_at_size(loaded(LARGER.replace(".width 4", ".width 16"), "in.a != 12345 or in.b != 12346 or a == 0"))
    assert (found.verdict, found.counterexample) == ("refuted", {"a": 12345, "b": 12346})


def test_a_machine_without_one_template_is_proved_only_if_it_is_right():
    algorithm = loaded(".width 2\n.in a b\n.out b\n sub a b\n", "(b - in.b + in.a) % 4 == 0")
    program, machine = algorithm.program, algorithm.computer.machine
    blocks = [program.block_members(block).tolist() for block in range(program.blocks)]
    pairs = zip(program.template_block.tolist(), program.template_config.tolist(), strict=True)
    templates = [(b, c, program.writes(t).tolist()) for t, (b, c) in enumerate(pairs)]
    CodeProof(algorithm, Prover()).prove()
    refused = 0
    for dropped in range(len(templates)):
        fewer = Program.from_tables(program.layout, blocks, templates[:dropped] + templates[dropped + 1 :])
        computer = algorithm.computer._replace(machine=replace(machine, program=fewer))
        mutant = replace(algorithm, program=fewer, computer=computer)
        try:
            CodeProof(mutant, Prover()).prove()
        except UndecidedError:
            refused += 1
        else:
            assert is_right(mutant), program.template_text(dropped)
    assert refused > len(templates) // 3


def test_a_loop_is_followed_as_far_as_allowed(monkeypatch):
    """-1 is added until the number is no longer negative, which it is after -8 at the latest: words wrap."""
    loop = loaded(".width 4\n.in a\n.out a\n@again: sbn one a @again\n.word one 1\n", "a >= 0")
    assert is_right(loop)
    CodeProof(loop, Prover()).prove()
    monkeypatch.setattr(instructions, "MOST_INSTRUCTIONS", 5)
    with pytest.raises(UndecidedError, match=r"5.*instructions"):
        CodeProof(loop, Prover()).prove()


def test_another_start_or_limit_is_not_that_of_the_lemma():
    right = loaded(LARGER, ENSURED)
    for other in (replace(right, start=right.start[1:]), replace(right, steps=3), replace(right, halt=right.start[0])):
        with pytest.raises(UndecidedError, match=r"just.*code"):
            CodeProof(other, Prover()).prove()
