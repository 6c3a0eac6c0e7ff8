"""What is shown as wrong is wrong: the state, its kind and its bit, also where all bits off match a template."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from random_programs.checks import exact_network

from bitwright import Algorithm, BitwrightError, Network, certify, parse
from bitwright.cli.main import main
from bitwright.proofs.exhaustion.judges import IntegerJudge
from bitwright.rules.pattern import pattern_of

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
    """Its port names its kind."""
    monkeypatch.chdir(tmp_path)
    Path("two.bw").write_text(TWO_KINDS)
    assert len(pattern_of([parse(TWO_KINDS).program]).kinds) == 2
    for number in (1, 2):
        deaf(parse(TWO_KINDS), f"when kind{number}_block1[1]=0").save("cells.safetensors")
        assert main(["certify", "two.bw", "--network", "cells.safetensors", "--json"]) == 1
        shown = json.loads(capsys.readouterr().out)["counterexample"]
        assert (shown["on"], shown["n"], shown["bit"].split("_")[0]) == ([], 1, f"kind{number}")


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
    with pytest.raises(BitwrightError, match=r"different.*evaluated"):
        certify(program, right)
