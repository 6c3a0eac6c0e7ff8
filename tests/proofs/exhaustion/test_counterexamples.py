"""What is shown as wrong is wrong: the state, its kind and its bit, also where all bits off match a template."""

import json
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from random_programs.checks import exact_network

from bitwright import Algorithm, BitwrightError, InputError, Network, certify, parse
from bitwright.cli.main import main
from bitwright.networks import Plan, Recipe, train
from bitwright.proofs.exhaustion.certificate import certify_network as prove
from bitwright.proofs.exhaustion.findings import IntegerJudge
from bitwright.proofs.exhaustion.one_state import look_at_state, state_with
from bitwright.rules.pattern import every_cell
from bitwright.verbs.cells import as_algorithm, pattern_of

ONE_CELL = "bits a b\nblock a\nblock b\ncell a b\nwhen a=0 write a\nwhen b=1 write b\ninput a b\noutput a b\nsteps 1\n"
TWO_KINDS = (
    "bits a b\nblock a\nblock b\nwhen a=0 write a\nwhen b=1 write b\nwhen b=0 write a b\n"
    "input a b\noutput a b\nsteps 1\n"
)


def deaf(algorithm: Algorithm, template: str) -> Network:
    """A network of the program's cells that is right but for one template, which it does not notice."""
    pattern = pattern_of([algorithm.program])
    network = exact_network(pattern.program)
    first = network.first.copy()
    texts = [pattern.program.template_text(t) for t in range(pattern.program.templates)]
    first[:, [text.startswith(template) for text in texts].index(True)] = 0
    return Network(replace(network, first=first), pattern)


def test_a_block_that_matches_nothing_is_shown_as_one_that_does() -> None:
    """Wrong is b=1 alone, without a=0: there a must be on, although nothing of a is noticed."""
    found = certify(parse(ONE_CELL), deaf(parse(ONE_CELL), "when kind1_block2[1]=1")).counterexample
    assert (found.on, found.n) == (("kind1_block1[1]", "kind1_block2[1]"), 1)


def test_a_cell_with_all_bits_off_can_be_the_wrong_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command that is named shows that very cell, by its kind."""
    monkeypatch.chdir(tmp_path)
    Path("two.bw").write_text(TWO_KINDS)
    kinds = pattern_of([parse(TWO_KINDS).program]).kinds
    assert len(kinds) == 2
    for number, kind in enumerate(kinds, 1):
        cells = deaf(parse(TWO_KINDS), f"when kind{number}_block1[1]=0")
        cells.save("cells.safetensors")
        assert main(["certify", "two.bw", "--network", "cells.safetensors"]) == 1
        line = next(line for line in capsys.readouterr().out.splitlines() if "see it" in line)
        words = shlex.split(line.split("see it")[1])
        assert words[-2:] == ["--state", f"kind{number}"]
        assert main([*words[1:], "--json"]) == 1
        shown = json.loads(capsys.readouterr().out)
        assert (shown["on"], shown["n"], shown["right"]) == ([], 1, False)
        assert [bit["bit"] for bit in shown["bits"]] == [
            f"kind{number}_port[{p}]" for p in range(1, 1 + len(kind.ports))
        ]
    assert main(["certify", "two.bw", "--network", "cells.safetensors", "--state", "none"]) == 2
    assert "the bits do not determine which of the 2 kinds is meant; name it, such as kind1" in capsys.readouterr().err


def test_a_state_names_bits_of_one_kind() -> None:
    program = pattern_of([parse(TWO_KINDS).program]).program
    assert state_with(program, "kind2")[1] == 1
    state, kind = state_with(program, "kind2 kind2_block1[1]")
    assert (np.flatnonzero(state).tolist(), kind) == ([program.layout.names.index("kind2_block1[1]")], 1)
    with pytest.raises(InputError, match=r"bits.*kind"):
        state_with(program, "kind1 kind2_block1[1]")
    with pytest.raises(InputError, match="'kind3'"):
        state_with(program, "kind3")
    assert state_with(parse(TWO_KINDS).program, "none")[1] == 0


def test_what_other_cells_match_with_all_bits_off_does_not_count() -> None:
    """Also of trained weights, which are no integers."""
    program = pattern_of([parse(TWO_KINDS).program]).program
    network = train(program, Recipe(256, plan=Plan(descent="momentum")))[0]
    for kind in ("kind1", "kind2"):
        for bits in (kind, f"{kind}_block1[1]"):
            state, of = state_with(program, bits)
            assert look_at_state(every_cell(program), network, state, of).n <= 1
            assert look_at_state(every_cell(program), network, state, of).right


@pytest.mark.parametrize("lie", ["wrong", "distance"])
def test_a_search_that_errs_gives_no_verdict(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that calls a right state wrong, or measures it wrong, is found out when the state is tried again."""
    judge = IntegerJudge.__call__

    def lying(self: IntegerJudge, *given: object) -> object:
        found = judge(self, *given)  # type: ignore[arg-type]
        return replace(found, wrong=found.n > 0) if lie == "wrong" else replace(found, distance=found.distance + 1)

    program = parse(ONE_CELL)
    pattern = pattern_of([program.program])
    right = Network(exact_network(pattern.program), pattern)
    assert certify(program, right).certified
    monkeypatch.setattr(IntegerJudge, "__call__", lying)
    with pytest.raises(BitwrightError, match=r"different.*evaluation"):
        certify(program, right)


def test_in_floating_point_the_bit_that_is_shown_is_wrong_and_not_merely_uncertain() -> None:
    """Of one port two huge terms cancel, so that it is right but far from certain; of another every sign is turned."""
    pattern = pattern_of([parse(ONE_CELL).program])
    network = train(pattern.program, Recipe(256, plan=Plan(descent="momentum")))[0]
    first, last = network.first.copy(), network.last.copy()
    unsure, turned = range(pattern.program.bits)[pattern.port_bits(0)]
    first[1] = first[0] = np.abs(first[0])
    last[unsure, 0], last[unsure, 1] = 1e8, -1e8
    last[turned] = -last[turned]
    found = prove(as_algorithm(pattern), replace(network, first=first, last=last))
    assert found.verdict == "refuted"
    assert found.counterexample.bit == pattern.program.layout.names[turned]
