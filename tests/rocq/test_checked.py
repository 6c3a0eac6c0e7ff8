"""Rocq itself: it proves what is written of chains, of single bits and of loops, and refuses what is wrong in it.

Everything that starts `coqc` is in this file, so that the theory is compiled once.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from long import LONG

from bitwright import export, parse, train
from bitwright import open as open_program
from bitwright.exports.rocq.folder import project_text, rocq_files, theory_files
from bitwright.networks import load_any_network
from bitwright.networks.store import read_about
from bitwright.rules.pattern import read_pattern
from tests.rocq.test_loops import ADDED, WIDE, files_of
from tests.rocq.test_written import NETWORKS, ROOT, lists, text_of

pytestmark = pytest.mark.skipif(shutil.which("coqc") is None, reason="Coq is not installed: apt-get install coq")
needs_minutes = pytest.mark.skipif(not LONG, reason="for make test-long: it takes minutes")


def put(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def coqc(folder: Path, *files: str) -> subprocess.CompletedProcess[str]:
    """Compiles files of a folder, one after the other, up to the first that is refused."""
    places = [
        part for line in (folder / "_CoqProject").read_text().splitlines() if line[0] == "-" for part in line.split()
    ]
    done = None
    for file in files:
        done = subprocess.run(["coqc", "-q", *places, file], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            break
    assert done is not None
    return done


@pytest.fixture(scope="module")
def theory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The theory, compiled; loops that only `make test-long` proves need one file more."""
    folder = tmp_path_factory.mktemp("theory")
    files = theory_files([f"From Bitwright Require Specification Compare Table Rounds{' Fast' * LONG}.\n"])
    put(folder, files | {"_CoqProject": project_text(list(files))})
    done = coqc(folder, *files)
    assert done.returncode == 0, done.stderr
    return folder / "theory"


def own_files(folder: Path, theory: Path) -> list[str]:
    """The files that a folder has besides those of the theory, which are compiled already."""
    paths = [line for line in (folder / "_CoqProject").read_text().splitlines() if line.endswith(".v")]
    for path in paths:
        if path.startswith("theory/"):
            assert (folder / path).read_text() == (theory.parent / path).read_text()
            shutil.copy((theory.parent / path).with_suffix(".vo"), folder / "theory")
    return [path for path in paths if not path.startswith("theory/")]


def exported(program: str | Path, folder: Path, theory: Path) -> list[str]:
    """Writes the folder of a program and gives its own files, in order."""
    algorithm = open_program(str(program))
    done = export(train(algorithm, width=64), folder, algorithm, to="rocq")
    assert done.about["left"] == []
    return own_files(folder, theory)


def proves(folder: Path, paths: list[str]) -> None:
    """Rocq takes these files, and their theorems rest on nothing else."""
    said = set()
    for path in paths:
        found = coqc(folder, path)
        assert found.returncode == 0, found.stderr
        said.add(found.stdout)
    assert said - {""} == {"Closed under the global context\n"}


def with_a_wrong_port(text: str) -> str:
    """A network for blocks of three bits with the signs of the weights of its first port changed."""
    weights = lists(text, "last")[3]
    old = ";".join(f"{'m' if weight < 0 else 'p'}{abs(weight)}" for weight in weights)
    assert old in text
    return text.replace(old, ";".join(str(-weight) for weight in weights), 1)


def test_a_chain_that_halts_is_proved_and_mistakes_are_refused(tmp_path: Path, theory: Path) -> None:
    paths = exported(ROOT / "tests/rocq/back.bw", tmp_path / "back", theory)
    assert paths == ["Back/Net.v", "Back/Families.v", "Back/Function.v", "Back/Program.v"]
    proves(tmp_path / "back", paths)
    # in the chain, its invariant or its claim: the certificate no longer shows it
    file = tmp_path / "back/Back/Function.v"
    head, comment, rest = file.read_text().partition("(** The program as a chain")
    right = comment + rest.partition("Lemma chain_well_formed")[0]
    assert "sweeps := [(true, 1%nat); (false, 1%nat)]" in right
    wrong = {
        "line": right.replace("Not (Sign 2 (0)%Z true false false)", "Not (Sign 2 (0)%Z true true false)"),
        "halting": right.replace("halting := Some (1, 2)", "halting := Some (5, 2)"),
        "clock": right.replace("(false, 1%nat)]; early", "(false, 2%nat)]; early"),
        "window": re.sub(r"(\(\(0, 0\), None\), \[)[^;\]]*; ", r"\1", right, count=1),
    }
    assert right not in wrong.values()
    file.write_text(head + "".join(_REFUSED.format(name, text) for name, text in wrong.items()))
    found = coqc(tmp_path / "back", "Back/Function.v")
    assert found.returncode == 0, found.stderr
    # a rule that writes another bit: the rules are no longer those of the cells
    families = tmp_path / "back/Back/Families.v"
    right = families.read_text()
    families.write_text(right.replace('[at_ "up" (i + 1)]', '[at_ "down" (i + 1)]', 1))
    assert families.read_text() != right
    assert coqc(tmp_path / "back", "Back/Families.v").returncode == 1
    # the weights of one port: the kernel finds a local state in which the network is wrong
    net = tmp_path / "back/Back/Net.v"
    net.write_text(with_a_wrong_port(net.read_text()))
    refused = coqc(tmp_path / "back", "Back/Net.v")
    assert refused.returncode == 1
    assert '"right net kinds = true"' in refused.stderr


_REFUSED = """
Module wrong_{0}.
{1}
Theorem refused :
  check_program chain found laws (fun g x y => judge claim g (option_map bits x) (option_map bits y)) 4000 = false.
Proof. vm_cast_no_check (eq_refl false). Qed.
End wrong_{0}.
"""


@pytest.mark.parametrize(
    ("program", "right", "wrong"),
    [
        ("tests/rocq/inverted.bw", "(bit_of x (i + 1))", "(bit_of x (i))"),
        pytest.param("examples/gray.bw", "(bit_of x (l))", "(bit_of x (1))", marks=needs_minutes),
    ],
)
def test_lines_about_single_bits_are_proved(program: str, right: str, wrong: str, tmp_path: Path, theory: Path) -> None:
    paths = exported(ROOT / program, tmp_path / "bits", theory)
    assert not (tmp_path / "bits/theory/Chain.v").exists()  # which only chains need
    proves(tmp_path / "bits", paths if LONG else paths[:-1])
    file = tmp_path / "bits" / paths[-2]
    assert right in file.read_text()
    file.write_text(file.read_text().replace(right, wrong))
    assert coqc(tmp_path / "bits", paths[-2]).returncode == 1


def test_a_loop_is_proved_and_mistakes_are_refused(tmp_path: Path, theory: Path) -> None:
    """All but phases: what a step makes of bits and of shapes, the algebra, the rounds, the rest and the end."""
    files, rules = files_of(text_of("keeper"))
    head = "From Coq Require Import List Bool ZArith Lia Arith String.\n"
    head += "From Bitwright Require Import Rules Words Rounds.\n"
    opened = "Import ListNotations.\nLocal Open Scope string_scope. Local Open Scope list_scope.\n"
    text = files["Loop/Function.v"].replace("Require Net Families", "Require Families")
    nexts, cut, loop = text.partition("(** This network")[0].partition("\n(** The cut state")
    own = f"{head}From Loop Require Families.\nFrom Loop Require Import Nexts.\n{opened}Local Open Scope nat_scope.\n"
    loop = f"{own}{cut}{loop}Print Assumptions rules_compute.\n"
    parts = {"Loop/Families.v": head + opened + rules, "Loop/Nexts.v": nexts, "Loop/Rest.v": loop}
    put(tmp_path, parts | {"_CoqProject": f"-Q {theory} Bitwright\n-Q Loop Loop\n"})
    proves(tmp_path, list(parts))
    mistakes = (
        ("<= 2 * l /", "<= l /"),  # too few steps for a round
        ('holds s "right" l on', 'holds s "right" l off'),  # another state after a step
        ("kept l s = y", "kept l s = x"),  # another line
    )
    for right, wrong in mistakes if LONG else ():
        assert right in loop
        put(tmp_path, {"Loop/Rest.v": loop.replace(right, wrong)})
        assert coqc(tmp_path, "Loop/Rest.v").returncode == 1, wrong


@needs_minutes
@pytest.mark.parametrize(
    "program",
    ["tests/proofs/function/saturating.bw", "tests/rocq/counted.bw", "tests/rocq/doubled.bw", "tests/rocq/named.bw"],
)
def test_longer_programs_are_proved(program: str, tmp_path: Path, theory: Path) -> None:
    paths = exported(ROOT / program, tmp_path / "it", theory)
    proves(tmp_path / "it", paths)
    file = tmp_path / "it" / paths[-2]
    # a statement that the lines do not say
    right = file.read_text()
    file.write_text(re.sub(r"(Lemma test_says .*?\n.*? l s = )", r"\g<1>1 + ", right, count=1, flags=re.DOTALL))
    assert file.read_text() != right
    assert coqc(tmp_path / "it", paths[-2]).returncode == 1


@needs_minutes
@pytest.mark.parametrize("text", [ADDED, WIDE], ids=["added", "wide"])
def test_a_loop_with_a_phase_is_proved(text: str, tmp_path: Path, theory: Path) -> None:
    """A program of the kinds of the network that multiplies."""
    file = next(one for one in NETWORKS if one.stem == "Multiplication")
    about = read_about(file)
    pattern = read_pattern(about.bits, about.examples)
    found = rocq_files("Loop", load_any_network(file, pattern.program), pattern, parse(text), file)
    assert found.left == []
    files = theory_files(found.files.values()) | found.files
    put(tmp_path, files | {"_CoqProject": project_text(list(files))})
    done = coqc(tmp_path, *own_files(tmp_path, theory))
    assert done.returncode == 0, done.stderr
    function = tmp_path / "Loop/Function.v"
    right = function.read_text()
    function.write_text(right.replace("added + (multiplicand *", "added + (multiplier *"))
    assert function.read_text() != right
    assert coqc(tmp_path, "Loop/Function.v").returncode == 1
