"""The limit of networks of cells, kind by kind: its certificate, with n the cell's own."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cases import for_each

from bitwright import Algorithm, Certificate, InputError, Program, addition, certify, multiplication, parse
from bitwright.common.errors import ProofError
from bitwright.proofs.certificate import certify_cells
from bitwright.proofs.certificate_file import check_certificate
from bitwright.rules.pattern import Pattern, pattern_of
from bitwright.theory.closed_form import weights
from bitwright.theory.rounding import ROUNDINGS, round_outputs

CROWDED = """
let l = 6
bits x[l] y z[l] w[l]
block x[i] for i in 1..l
block y
block z[i] for i in 1..l
block w[i] for i in 1..l
cell x[1] x[2] x[3] x[4] x[5] x[6] z[1] z[2] z[3] z[4] z[5] z[6]
cell y
cell w[i] for i in 1..l
when x[i]=1 write y for i in 1..l
when z[i]=1 write z[i] for i in 1..l
when w[i]=0 write w[i] for i in 1..l
"""


@pytest.fixture(scope="module")
def crowded() -> Program:
    return parse(CROWDED).program


def tried(pattern: Pattern, rounding: str, examples: int) -> bool:
    """Whether the limit is right in every local state, by going through them."""
    for number, local in enumerate(pattern.local):
        matched = pattern.matched(number, np.arange(local.count))
        own = pattern.port_bits(number)
        if not (
            rounded(pattern, matched, rounding, examples)[:, own]
            == local.truth(matched[:, pattern.templates_of(number)])
        ).all():
            return False
    return True


def rounded(pattern: Pattern, matched: np.ndarray, rounding: str, examples: int) -> np.ndarray:
    """The limit's bits where these templates match."""
    n, writers = np.count_nonzero(matched, axis=1), pattern.program.writers
    means = weights(n, examples).mean(writers, matched @ pattern.program.write_matrix)
    # at n = 1 unset bits have mean exactly 0, which rounding errors may exceed
    return round_outputs(means, n, writers, examples, rounding, tolerance=1e-12)[0]  # type: ignore[arg-type]


@for_each("rounding", ROUNDINGS)
@for_each("padding", [0, 5, 15, 60])
def test_verdicts_are_those_of_all_local_states(crowded: Program, rounding: str, padding: int) -> None:
    """By interval arithmetic, and by trying each: the smallest padding that certifies is the smallest that works."""
    for program in (crowded, addition(6).program, multiplication(3).program):
        pattern = pattern_of([program])
        K = pattern.program.templates + padding
        found = certify_cells(pattern, rounding, K)  # type: ignore[arg-type]
        assert found.certified == tried(pattern, rounding, K)
        assert found.program_id == pattern.program.id
        assert found.n_max == max(len(kind.blocks) for kind in pattern.kinds)
        assert found.certified == (found.examples_needed <= K)
        if rounding == "sign" and not found.certified:
            assert not tried(pattern, rounding, found.examples_needed - 1)
            assert tried(pattern, rounding, found.examples_needed)
            assert f"--padding {found.examples_needed - pattern.program.templates};" in found.proposal


def test_a_refutation_names_a_local_state_of_one_kind(crowded: Program) -> None:
    """Idle cells of other kinds match where all bits are off; they are no part of the state."""
    pattern = pattern_of([crowded])
    found = certify_cells(pattern, "sign")
    assert found.verdict == "refuted"
    kinds = {name.partition("_")[0] for name in found.witness}
    assert len(kinds) == 1
    number = int(kinds.pop().removeprefix("kind")) - 1
    alone = pattern.alone(number)
    state = np.isin(np.array(alone.layout.names), found.witness)
    matches = alone.match(state)
    assert len(matches) == found.fails_from
    matched = np.zeros((1, pattern.program.templates), dtype=bool)
    matched[0, pattern.first_template[number] + matches] = True
    bits = rounded(pattern, matched, "sign", pattern.program.templates)
    names = pattern.program.layout.names
    assert not bits[0, list(names).index(found.fails_bit)]


def test_certificates_are_checked_again(crowded: Program, tmp_path: Path) -> None:
    path = tmp_path / "cells.json"
    for program in (crowded, multiplication(4).program):
        pattern = pattern_of([program])
        task = Algorithm("cells", pattern.program)
        certify(program, rounding="sign", tile=1).save(path)
        Certificate.load(path).check(task)
        Certificate.load(path).check(Algorithm("whole", program))  # for its cells
        with pytest.raises(ProofError, match="for another program"):
            check_certificate(Certificate.load(path).own, Algorithm("whole", program))
        document = json.loads(path.read_text())
        path.write_text(json.dumps(document | {"n_max": document["n_max"] + 1}))
        with pytest.raises(ProofError, match="n_max"):
            Certificate.load(path).check(task)
        path.write_text(json.dumps(document | {"program_id": program.id, "examples": 1_000}))
        with pytest.raises(ProofError, match="n_source"):
            check_certificate(Certificate.load(path).own, Algorithm("whole", program))
        with pytest.raises(ProofError, match="for another program"):
            Certificate.load(path).check(Algorithm("whole", program))


def test_certificates_do_not_grow_with_the_program() -> None:
    small, large = (certify(multiplication(bits), tile=1) for bits in (5, 50))
    assert replace(small.own, sizes="50") == large.own


def test_what_does_not_go_with_cells() -> None:
    with pytest.raises(InputError, match=r"^n cannot be used with cells"):
        certify(addition(4), tile=1, n="declared")
    with pytest.raises(InputError, match=r"1 and 16.*99"):
        certify(addition(4), tile=99)
    assert certify(addition(4), tile=2) == certify(addition(4), tile=2)


def test_kinds_without_ports_leave_nothing_to_decide() -> None:
    """A template may write nothing; a cell of such templates alone is one of the kinds, and never wrong."""
    program = Program.from_tables(["x", "y"], [["x"], ["y"]], [(0, 1, ["x", "y"]), (1, 1, None)])
    pattern = pattern_of([program])
    assert [len(kind.ports) for kind in pattern.kinds] == [0, 1]
    assert certify(program, rounding="sign", tile=1).certified
    idle = Program.from_tables(["x"], [["x"]], [(0, 1, None)])
    with pytest.raises(InputError, match=r"program.*anything"):
        certify(idle, tile=1)
