"""Rocq itself: it proves what is written of chains, and refuses what is wrong in it.

Everything that starts `coqc` is in this file, so that the theory is compiled once.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from long import LONG

from bitwright import export, train
from bitwright import open as open_program
from bitwright.exports.rocq.folder import project_text, theory_files
from tests.rocq.test_written import ROOT, lists

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
    """The theory, compiled."""
    folder = tmp_path_factory.mktemp("theory")
    files = theory_files(["From Bitwright Require Specification Compare Table.\n"])
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
