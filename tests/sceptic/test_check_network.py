"""The checker for sceptics: it finds what we find, on its own, and refuses whatever was altered."""

from __future__ import annotations

import ast
import json
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import for_each
from checking import SCEPTIC, checked
from long import LONG
from whole import every_state

import bitwright
from bitwright import Algorithm, Certificate, addition, certify, multiplication, parse
from bitwright.cli.main import main
from bitwright.engines.integer.sums import ExactSums
from bitwright.networks import FloatNetwork, IntegerNetwork, Plan, Recipe, save_network, train
from bitwright.networks.quantize import quantize
from bitwright.program.pattern import Pattern
from bitwright.proofs.exhaustion.findings import Truth

CHECKER = SCEPTIC / "check_network.py"

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


class Held:
    """What a sceptic is given: three files."""

    def __init__(self, folder: Path, algorithm: Algorithm, network: IntegerNetwork, domain: str) -> None:
        self.network, self.rules, self.certificate = (
            folder / name for name in ("n.safetensors", "rules.bw", "cert.json")
        )
        save_network(network, algorithm.program, self.network)
        self.rules.write_text(algorithm.text())
        self.more: list[str] = []  # programs, where there are several
        self.claimed = certify(algorithm, network, domain=domain)
        self.claimed.save(self.certificate)

    @classmethod
    def of_cells(cls, folder: Path, *texts: str, network: IntegerNetwork, pattern: Pattern) -> Held:
        """Of a network of cells: the rules are those of programs, and not the pattern."""
        held = cls(folder, Algorithm("cells", pattern.program), network, "cells")
        held.rules.write_text(texts[0])
        for number, text in enumerate(texts[1:]):
            (folder / f"more{number}.bw").write_text(text)
            held.more.append(str(folder / f"more{number}.bw"))
        return held

    def check(self) -> tuple[int, str]:
        done = checked("check_network.py", self.network, self.rules, *self.more, self.certificate)
        assert done.err == "" or done.err.startswith("not checked: ")
        return done.code, done.out

    def alter(self, **claims: Any) -> None:
        document = json.loads(self.certificate.read_text())
        self.certificate.write_text(json.dumps(document | claims))


def trained(algorithm: Algorithm, width: int) -> IntegerNetwork:
    network: FloatNetwork = train(algorithm.program, Recipe(width, plan=Plan(descent="momentum")))[0]
    return quantize([network], algorithm.program)[0]


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
    held = Held.of_cells(tmp_path, text, network=cells.weights, pattern=cells.pattern)
    code, said = held.check()
    assert (code, "HOLDS: certified, 16 states tried, 0 wrong" in said) == (0, True), said
    wrong = replace(cells.weights, last=-cells.weights.last)
    held = Held.of_cells(tmp_path, text, network=wrong, pattern=cells.pattern)
    code, said = held.check()
    assert (code, held.claimed.verdict, "HOLDS: refuted, 16 states tried" in said) == (1, "refuted", True), said
    for domain in ("runs", "states"):  # the certificate is of another program
        held.alter(domain=domain)
        assert held.check()[0] == 1


@pytest.fixture
def held(adder: IntegerNetwork, tmp_path: Path) -> Held:
    return Held(tmp_path, addition(2), adder, "states")


@for_each("domain", ["states", "runs"])
@for_each("case", CASES)
def test_it_finds_what_we_find(case: str, domain: str, tmp_path: Path) -> None:
    algorithm, width = CASES[case][0](), CASES[case][1]
    network = trained(algorithm, width)
    held = Held(tmp_path, algorithm, network, domain)
    assert held.claimed.certified
    assert held.claimed.states > 2
    code, said = held.check()
    assert (code, f"HOLDS: certified, {held.claimed.states:,} states tried, 0 wrong" in said) == (0, True), said
    refuted = 0
    for bit in range(algorithm.program.bits if LONG else 3):  # a bit that is never on may come out right all the same
        held = Held(tmp_path, algorithm, broken(network, bit), domain)
        code, said = held.check()
        assert said.splitlines()[-1].startswith(f"HOLDS: {held.claimed.verdict}, {held.claimed.states:,} states"), said
        assert code == (0 if held.claimed.certified else 1)
        refuted += code
    assert refuted > 0


def test_multiplication(tmp_path: Path) -> None:
    held = Held(tmp_path, multiplication(2), trained(multiplication(2), 512), "runs")
    assert held.check()[0] == 0
    assert held.claimed.states == 352


@pytest.mark.parametrize("name", ["first", "last", "thresholds"])
def test_a_flipped_bit_of_a_tensor(held: Held, name: str) -> None:
    """The file's own digest is then another; bitwright calls such a file damaged."""
    data = bytearray(held.network.read_bytes())
    (length,) = struct.unpack_from("<Q", data)
    begin, _ = json.loads(data[8 : 8 + length])[name]["data_offsets"]
    data[8 + length + begin] ^= 1
    held.network.write_bytes(data)
    code, said = held.check()
    assert (code, "CANNOT BE READ: the network's file was altered" in said) == (2, True), said


def test_another_network(held: Held, adder: IntegerNetwork) -> None:
    save_network(broken(adder), addition(2).program, held.network)
    code, said = held.check()
    assert (code, "DOES NOT HOLD: the certificate says tensors" in said) == (1, True), said


def test_a_wrong_network_under_a_right_certificate(held: Held, adder: IntegerNetwork) -> None:
    """All hashes agree, but the counts are those of another network."""
    other = broken(adder)
    save_network(other, addition(2).program, held.network)
    held.alter(tensors=other.tensors_sha256, network_sha256=other.digest)
    code, said = held.check()
    assert (code, "DOES NOT HOLD: the certificate says wrong = 0" in said) == (1, True), said


@pytest.mark.parametrize(
    "claims",
    [
        {"states": 63},
        {"states": 64.0},
        {"wrong": False},
        {"undecided": 1},
        {"certified": False},
        {"verdict": "refuted"},
        {"distance": 1},
        {"closest": None},
        {"counterexample": {}},
        {"program_id": "0" * 64},
        {"network_sha256": "0" * 64},
        {"tensors": {}},
        {"width": 255},
        {"examples": 9},
        {"inputs": ["p[1]"]},
        {"steps": 0},
        {"arithmetic": "float32"},
        {"proved": "for every size"},
        {"of": "limit"},
        {"format": "bitwright network certificate 2"},
    ],
    ids=lambda claims: next(iter(claims)),
)
def test_an_altered_claim(held: Held, claims: dict[str, Any]) -> None:
    held.alter(**claims)
    code, said = held.check()
    assert (code, "DOES NOT HOLD" in said) == (1, True), said


@pytest.mark.parametrize("field", ["number", "step", "n", "bit", "expected", "sum", "threshold", "on"])
def test_an_altered_place(held: Held, field: str) -> None:
    place = json.loads(held.certificate.read_text())["closest"]
    held.alter(closest=place | {field: "p[1]" if isinstance(place[field], str) else [] if field == "on" else 99})
    assert place["bit"] != "p[1]" or field != "bit"
    assert held.check()[0] == 1


@pytest.mark.parametrize("column", [0, 1, 2])
def test_an_altered_row(held: Held, column: int) -> None:
    rows = json.loads(held.certificate.read_text())["by_n"]
    rows[-1][column] += 1
    held.alter(by_n=rows)
    assert held.check()[0] == 1


def test_runs_are_those_of_the_rules(adder: IntegerNetwork, tmp_path: Path) -> None:
    """A certificate of no runs at all proves nothing of this program."""
    held = Held(tmp_path, addition(2), adder, "runs")
    nothing = {"inputs": [], "start": [], "steps": 0, "states": 0, "by_n": [], "distance": None, "closest": None}
    held.alter(**nothing)
    code, said = held.check()
    assert (code, "the certificate says inputs = []" in said) == (1, True), said
    assert "the runs of all 2^4 inputs, 4 steps at most" in said


def test_runs_that_do_not_end(adder: IntegerNetwork, tmp_path: Path) -> None:
    held = Held(tmp_path, addition(2), adder, "runs")
    held.rules.write_text(held.rules.read_text() + "halt when c[2]\n")
    held.alter(halt="c[2]")
    code, said = held.check()
    assert (code, "DOES NOT HOLD: the run of input 0 does not end" in said) == (1, True), said


def test_other_rules(held: Held) -> None:
    text = held.rules.read_text()
    held.rules.write_text(text.replace("when c[2]=1 write c[2]", "when c[2]=1 write c[1]"))
    code, said = held.check()
    assert (code, "the certificate says program_id" in said) == (1, True), said


def misfit(held: Held) -> None:
    """Rules that agree with the certificate's id, and a network that is for others."""
    held.rules.write_text(addition(3).text())
    held.alter(program_id=addition(3).program.id, examples=12)


def test_a_network_that_does_not_fit(held: Held) -> None:
    misfit(held)
    code, said = held.check()
    assert (code, "the network does not fit the rules" in said) == (1, True), said


def twice(path: Path) -> None:
    path.write_text('{"wrong": 1, ' + path.read_text().lstrip().removeprefix("{"))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda held: held.network.write_bytes(b"short"),
        lambda held: held.network.write_bytes(held.network.read_bytes()[:-8]),
        lambda held: held.network.unlink(),
        lambda held: held.rules.write_text("let l = 2\n" + held.rules.read_text()),
        lambda held: held.rules.write_text(held.rules.read_text().replace("p[1]=1 q[1]=0", "p[1]=1 q[1]=2")),
        lambda held: held.rules.write_text(held.rules.read_text().replace("p[1]=1 q[1]=0", "p[1]=1 q[1]=1")),
        lambda held: held.rules.write_text(held.rules.read_text().replace("block c[1]\n", "block c[1] c[1]\n")),
        lambda held: held.rules.write_text(held.rules.read_text().replace("bits c[2]", "bits c[x]")),
        lambda held: held.rules.write_text(""),
        lambda held: held.rules.write_text(held.rules.read_text().split("when")[0]),
        lambda held: held.rules.write_bytes(b"\xff"),
        lambda held: held.certificate.write_text("[]"),
        lambda held: held.certificate.write_text("[" * 100_000),
        lambda held: held.alter(domain="some states"),
        lambda held: held.alter(domain=["states"]),
        lambda held: twice(held.certificate),
    ],
)
def test_what_cannot_be_read(held: Held, spoil: Callable[[Held], object]) -> None:
    spoil(held)
    code, said = held.check()
    assert (code, said.startswith("CANNOT BE READ: "), said.count("\n")) == (2, True, 1), said


@pytest.mark.parametrize("line", ["steps 5", "start nothing", "start p[1]", "halt when nothing", "input p[1]"])
def test_runs_that_cannot_be_read(adder: IntegerNetwork, tmp_path: Path, line: str) -> None:
    held = Held(tmp_path, addition(2), adder, "runs")
    held.rules.write_text(held.rules.read_text() + line + "\n")
    code, said = held.check()
    assert (code, said.startswith("CANNOT BE READ: "), said.count("\n")) == (2, True, 1), said


def test_floating_point_is_refused(held: Held) -> None:
    network = train(addition(2).program, Recipe(64, plan=Plan(descent="momentum")))[0]
    save_network(network, addition(2).program, held.network)
    assert held.check() == (
        2,
        "CANNOT BE READ: not a network of integers, which `bitwright export --to integer` makes of trained weights\n",
    )


def test_wrong_arguments() -> None:
    done = subprocess.run([sys.executable, "-I", str(CHECKER)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (2, "", 1)


def test_its_certificates_are_ours(held: Held) -> None:
    """What it holds for true our own check does too."""
    assert held.check()[0] == 0
    Certificate.load(held.certificate).check(addition(2), trained(addition(2), 256))


def test_it_is_short_and_stands_alone() -> None:
    text = CHECKER.read_text()
    tree = ast.parse(text)
    prose = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node)
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    code = [line for number, line in enumerate(text.splitlines(), 1) if line.strip() and number not in prose]
    assert len(code) <= 200
    imported = {
        name.name if isinstance(node, ast.Import) else node.module
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    assert "json" in imported
    assert all(name is not None and name.split(".")[0] in sys.stdlib_module_names for name in imported)
    assert not {"__import__", "exec", "eval"} & {
        node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)
    }


def test_no_thresholds_overflow(adder: IntegerNetwork, tmp_path: Path) -> None:
    """Thresholds beyond every sum: bits that must be on are not."""
    high = replace(adder, thresholds=np.full_like(adder.thresholds, 1 << 40))
    held = Held(tmp_path, addition(2), high, "states")
    code, said = held.check()
    assert (code, "HOLDS: refuted, 64 states tried, 63 wrong" in said) == (1, True), said


def test_a_sum_at_its_threshold_is_not_above_it(adder: IntegerNetwork, tmp_path: Path) -> None:
    """The closest bit that must be on at n = 4 is moved onto its threshold, and by one more to the right side."""
    algorithm = addition(2)
    sums = ExactSums(adder, algorithm.program)
    domain = every_state(algorithm.program)
    found: list[int] = []

    def look(matched: Any, *_: Any) -> None:
        on, all_four = Truth(algorithm.program)(matched), matched.sum(axis=1) == 4
        found.extend(sums(matched)[all_four][on[all_four]].tolist())

    domain.visit(0, domain.size, look)
    for above, code in ((0, 1), (1, 0)):
        thresholds = adder.thresholds.copy()
        thresholds[3] = min(found) - above
        held = Held(tmp_path, algorithm, replace(adder, thresholds=thresholds), "states")
        assert held.claimed.distance == above
        assert (held.check()[0], "HOLDS" in held.check()[1]) == (code, True)


@pytest.mark.parametrize("session", [1, 3])
def test_the_readme_says_what_happens(
    session: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (CHECKER.parent / "README.md").read_text()
    lines = text.split("```")[session].strip().splitlines()
    commands = [line.removeprefix("$ ").split() for line in lines if line.startswith("$ ")]
    monkeypatch.chdir(tmp_path)
    assert [command[0] for command in commands] == ["bitwright", "bitwright", "bitwright", "python"]
    for command in commands[:3]:
        capsys.readouterr()
        arguments = command[1:-2] if ">" in command else command[1:]
        assert main(arguments) == 0
        if ">" in command:
            Path(command[-1]).write_text(capsys.readouterr().out)
    arguments = [sys.executable, "-I", str(CHECKER), *commands[3][2:]]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()) == (0, lines[4:])
