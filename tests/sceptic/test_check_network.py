"""The checker for sceptics: it finds what we find, on its own, and refuses whatever was altered."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import for_each
from long import LONG
from two_readers import CHECKER, Files
from whole import every_state

import bitwright
from bitwright import Algorithm, addition, multiplication, parse
from bitwright.networks import IntegerNetwork, Recipe, save_network, train
from bitwright.networks.integer import ExactSums
from bitwright.networks.quantize import quantize
from bitwright.proofs.exhaustion.judges import written_bits

# A bit that is never written (`mode`), a block without templates (`spare`), one with a template for every configuration
# (`full`), and one whose first configuration without a template is not 0 (`pair`).
ODD = """
bits mode x[2] spare[2] full pair[2]
block mode x[2]
block x[1]
block spare[1] spare[2]
block full
block pair[1] pair[2]
when mode=1 x[2]=0 write x[1]
when mode=1 x[2]=1 write x[2] full
when x[1]=1 write x[2]
when full=0 write full
when full=1 write x[1]
when pair[1]=0 pair[2]=0 write pair[2]
input x
start mode spare[2]
steps 3
"""
HALTING = """
bits go[3] done
block go[i] for i in 1..3
block done
when go[i]=1 write go[i-1] for i in 2..3
when go[1]=1 write done
input go
start go[3]
halt when done
steps 9
""".replace("input go\n", "input low = go[2] go[1]\n")
# The longest run takes all of its steps; one more look shows that it has ended.
SETTLING = """
bits a[3] b
block a[i] for i in 1..3
block b
when a[i]=1 write a[i-1] for i in 2..3
when a[1]=1 write b
when b=1 write b
input a
output b
halt at fixed point
steps 3
"""
CASES: dict[str, tuple[Callable[[], Algorithm], int]] = {
    "addition 2": (lambda: addition(2), 256),
    "addition 3": (lambda: addition(3), 512),
    "odd": (lambda: parse(ODD), 256),
    "halt bit": (lambda: parse(HALTING), 256),
    "fixed point": (lambda: parse(SETTLING), 256),
}


def trained(algorithm: Algorithm, width: int) -> IntegerNetwork:
    return quantize(train(algorithm.program, Recipe(width))[0], algorithm.program)[0]


def broken(network: IntegerNetwork, bit: int = 0) -> IntegerNetwork:
    """Says the opposite of one bit almost everywhere."""
    last = network.last.copy()
    last[bit] = -last[bit]
    return replace(network, last=last)


@pytest.fixture(scope="module")
def adder() -> IntegerNetwork:
    return trained(addition(2), 256)


def test_networks_of_cells_are_tried_in_their_local_states_alone(tmp_path: Path) -> None:
    cells = bitwright.train(addition(4))
    text = addition(7).text()
    held = Files(tmp_path, Algorithm("cells", cells.pattern.program), cells.weights, "cells", text)
    code, said = held.check()
    assert (code, "HOLDS: certified, 16 states tried, 0 wrong" in said) == (0, True), said
    wrong = replace(cells.weights, last=-cells.weights.last)
    held = Files(tmp_path, Algorithm("cells", cells.pattern.program), wrong, "cells", text)
    code, said = held.check()
    assert (code, held.claimed.verdict, "HOLDS: refuted, 16 states tried" in said) == (1, "refuted", True), said
    for domain in ("runs", "states"):  # the certificate is of another program
        held.alter(domain=domain)
        assert held.check()[0] == 1


@pytest.fixture
def held(adder: IntegerNetwork, tmp_path: Path) -> Files:
    return Files(tmp_path, addition(2), adder, "states")


@for_each("domain", ["states", "runs"])
@for_each("case", CASES)
def test_it_finds_what_we_find(case: str, domain: str, tmp_path: Path) -> None:
    algorithm, width = CASES[case][0](), CASES[case][1]
    network = trained(algorithm, width)
    held = Files(tmp_path, algorithm, network, domain)
    assert held.claimed.certified
    assert held.claimed.states > 2
    code, said = held.check()
    assert (code, f"HOLDS: certified, {held.claimed.states:,} states tried, 0 wrong" in said) == (0, True), said
    refuted = 0
    for bit in range(algorithm.program.bits if LONG else 3):  # a bit that is never on may come out right all the same
        held = Files(tmp_path, algorithm, broken(network, bit), domain)
        code, said = held.check()
        assert said.splitlines()[-1].startswith(f"HOLDS: {held.claimed.verdict}, {held.claimed.states:,} states"), said
        assert code == (0 if held.claimed.certified else 1)
        refuted += code
    assert refuted > 0


def test_multiplication(tmp_path: Path) -> None:
    held = Files(tmp_path, multiplication(2), trained(multiplication(2), 512), "runs")
    assert held.check()[0] == 0
    assert held.claimed.states == 352


def test_a_wrong_network_under_a_right_certificate(held: Files, adder: IntegerNetwork) -> None:
    """All hashes agree, but the counts are those of another network."""
    other = broken(adder)
    save_network(other, addition(2).program, held.network)
    held.alter(tensors=other.tensors_sha256, network_sha256=other.digest)
    code, said = held.check()
    assert (code, "DOES NOT HOLD: the certificate has wrong = 0" in said) == (1, True), said


def test_runs_are_those_of_the_rules(adder: IntegerNetwork, tmp_path: Path) -> None:
    """A certificate of no runs at all proves nothing of this program."""
    held = Files(tmp_path, addition(2), adder, "runs")
    nothing = {"inputs": [], "start": [], "steps": 0, "states": 0, "by_n": [], "distance": None, "closest": None}
    held.alter(**nothing)
    code, said = held.check()
    assert (code, "the certificate has inputs = []" in said) == (1, True), said
    assert "the runs of all 2^4 inputs, 4 steps at most" in said


def test_runs_that_do_not_end(adder: IntegerNetwork, tmp_path: Path) -> None:
    held = Files(tmp_path, addition(2), adder, "runs")
    held.rules.write_text(held.rules.read_text() + "halt when c[2]\n")
    held.alter(halt="c[2]")
    code, said = held.check()
    assert (code, "DOES NOT HOLD: the run of input 0 does not end" in said) == (1, True), said


def test_other_rules(held: Files) -> None:
    text = held.rules.read_text()
    held.rules.write_text(text.replace("when c[2]=1 write c[2]", "when c[2]=1 write c[1]"))
    code, said = held.check()
    assert (code, "the certificate has program_id" in said) == (1, True), said


def test_a_network_that_does_not_fit(held: Files) -> None:
    """Rules that agree with the certificate's id, and a network that is for others."""
    held.rules.write_text(addition(3).text())
    held.alter(program_id=addition(3).program.id, examples=12)
    code, said = held.check()
    assert (code, "the network does not fit the rules" in said) == (1, True), said


def in_rules(old: str, new: str) -> Callable[[Files], object]:
    return lambda held: held.rules.write_text(held.rules.read_text().replace(old, new))


@for_each(
    "spoil",
    [
        lambda held: held.network.unlink(),
        in_rules("bits", "let l = 2\nbits"),
        in_rules("p[1]=1 q[1]=0", "p[1]=1 q[1]=2"),
        in_rules("p[1]=1 q[1]=0", "p[1]=1 q[1]=1"),
        in_rules("block c[1]\n", "block c[1] c[1]\n"),
        in_rules("bits c[2]", "bits c[x]"),
        in_rules("when", ""),
        lambda held: held.rules.write_text(""),
        lambda held: held.rules.write_bytes(b"\xff"),
        lambda held: held.alter(domain="some states"),
        lambda held: held.alter(domain=["states"]),
    ],
)
def test_what_cannot_be_read(adder: IntegerNetwork, tmp_path: Path, spoil: Callable[[Files], object]) -> None:
    spoil(held := Files(tmp_path, addition(2), adder, "states"))
    code, said = held.check()
    assert (code, said.startswith("CANNOT BE READ: "), said.count("\n")) == (2, True, 1), said


@for_each("line", ["steps 5", "start nothing", "start p[1]", "halt when nothing", "input p[1]"])
def test_runs_that_cannot_be_read(adder: IntegerNetwork, tmp_path: Path, line: str) -> None:
    held = Files(tmp_path, addition(2), adder, "runs")
    held.rules.write_text(held.rules.read_text() + line + "\n")
    code, said = held.check()
    assert (code, said.startswith("CANNOT BE READ: "), said.count("\n")) == (2, True, 1), said


def test_wrong_arguments() -> None:
    done = subprocess.run([sys.executable, "-I", str(CHECKER)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (2, "", 1)


def test_no_thresholds_overflow(adder: IntegerNetwork, tmp_path: Path) -> None:
    """Thresholds beyond every sum: bits that must be on are not."""
    high = replace(adder, thresholds=np.full_like(adder.thresholds, 1 << 40))
    held = Files(tmp_path, addition(2), high, "states")
    code, said = held.check()
    assert (code, "HOLDS: refuted, 64 states tried, 63 wrong" in said) == (1, True), said


def test_a_sum_at_its_threshold_is_not_above_it(adder: IntegerNetwork, tmp_path: Path) -> None:
    """The closest bit that must be on at n = 4 is moved onto its threshold, and by one more to the right side."""
    algorithm = addition(2)
    sums = ExactSums(adder, algorithm.program)
    domain = every_state(algorithm.program)
    found: list[int] = []

    def look(matched: Any, *_: Any) -> None:
        on, all_four = written_bits(algorithm.program, matched), matched.sum(axis=1) == 4
        found.extend(sums(matched)[all_four][on[all_four]].tolist())

    domain.visit(0, domain.size, look)
    for above, code in ((0, 1), (1, 0)):
        thresholds = adder.thresholds.copy()
        thresholds[3] = min(found) - above
        held = Files(tmp_path, algorithm, replace(adder, thresholds=thresholds), "states")
        assert held.claimed.distance == above
        assert (held.check()[0], "HOLDS" in held.check()[1]) == (code, True)
