"""Files for Rocq: the transcription is the network, the kernel accepts them, and it refuses what is wrong."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from long import LONG
from safetensors.numpy import load_file

from bitwright import InputError, Network, addition, export, parse, train
from bitwright import open as open_program
from bitwright.api.export.rocq import printed
from bitwright.api.export.rocq.fitting import COMPARED, fitted
from bitwright.api.export.rocq.listed import listed
from bitwright.api.export.rocq.writing import THEORY, module_name, rocq_files
from bitwright.machines.subleq import Shape, find_dialect, machine_v
from bitwright.networks.store import read_about
from bitwright.program.pattern import pattern_of, read_pattern

ROOT = Path(__file__).parents[2]
NETWORKS = sorted((ROOT / "proofs/networks").glob("*.safetensors"))
needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="Coq is not installed: apt-get install coq")


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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network that adds, as a folder."""
    where = tmp_path_factory.mktemp("rocq") / "adder"
    network = train(addition(4), width=64)
    export(network, where, addition(6), to="rocq")
    return where


def lists(text: str, name: str) -> list[list[int]]:
    """A tensor as the file has it."""
    found = re.search(rf"Definition {name} : list \(list Z\) :=\s*(.*?)\.\n", text, re.DOTALL)
    assert found
    numbers = re.sub(r"\b[mp](?=\d)", lambda sign: {"m": "-", "p": ""}[sign[0]], found[1])
    names = dict(re.findall(r"Definition ([mp]\d+) := (-?\d+)\.", text))
    assert all(int(value) == int(name[1:]) * (-1 if name[0] == "m" else 1) for name, value in names.items())
    return ast.literal_eval(numbers.replace(";", ","))  # type: ignore[no-any-return]


def with_a_wrong_port(text: str) -> str:
    """A network of addition with the signs of the weights of one port changed: the first of the first kind."""
    weights = lists(text, "last")[3]
    old = ";".join(f"{'m' if weight < 0 else 'p'}{abs(weight)}" for weight in weights)
    assert old in text
    return text.replace(old, ";".join(str(-weight) for weight in weights), 1)


@pytest.mark.parametrize("file", NETWORKS, ids=lambda file: file.stem)
def test_every_number_is_that_of_the_file_with_this_digest(file: Path, tmp_path: Path) -> None:
    export(file, tmp_path / "net", to="rocq")
    said = json.loads((tmp_path / "net/certificate.json").read_text())
    assert said["file_sha256"] == sha256(file.read_bytes()).hexdigest()
    assert said["network_sha256"] == Network.load(file).digest
    assert [line.partition(":")[0] for line in said["theorems"]] == ["Net.Net.net_right"]
    text = (tmp_path / "net/Net/Net.v").read_text()
    assert said["file_sha256"] in text
    assert said["network_sha256"] in text
    for name, tensor in load_file(file).items():
        assert np.array_equal(np.array(lists(text, name)), tensor)
        assert sha256(tensor.tobytes()).hexdigest() in text


def test_the_kinds_are_transcribed() -> None:
    network = train(addition(4))
    text = rocq_files("Add", network.weights, network.pattern, None, None).files["Add/Net.v"]
    kinds = re.findall(r"Kind (\[.*?\])\n +(\[.*?\])[;\]]\.?\n", text, re.DOTALL)
    read = [
        ast.literal_eval(
            f"({'|'.join(kind)})".replace("true", "1").replace("false", "0").replace(";", ",").replace("|", ",")
        )
        for kind in kinds
    ]
    assert network.pattern is not None
    written = [
        (
            [
                (bits, [[config >> bit & 1 for bit in range(bits)] for config in configs])
                for bits, configs in kind.blocks
            ],
            [list(port) for port in kind.ports],
        )
        for kind in network.pattern.kinds
    ]
    assert read == written


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("addition", 1),
        ("multiplication", 1),
        ("examples/subtraction.bw", 1),
        ("examples/comparison.bw", 1),
        ("examples/gray.bw", 1),
        ("examples/rule110.bw", 2),
        ("proofs/division-by-three.bw", 1),
    ],
)
def test_families_are_found_and_compared_with_the_program(name: str, least: int) -> None:
    algorithm = open_program(str(ROOT / name) if name.endswith(".bw") else name)
    assert algorithm.sizing is not None
    key = next(iter(algorithm.sizing.numbers))
    make = lambda l: algorithm.sizing.at(**{key: l}).program  # noqa: E731
    pattern = pattern_of(make(l) for l in range(3, 12))
    found = fitted(lambda l: listed(make(l), pattern))
    assert found.least == least
    assert found.compared == tuple(range(least, COMPARED[-1] + 1))


def test_the_tutorial_has_the_program_that_is_proved() -> None:
    page = (ROOT / "docs/tutorial/division-by-three.md").read_text()
    saved = page.partition("**third.bw**\n\n```\n")[2].partition("```")[0].replace("qoutient", "quotient")
    added = re.findall(r"^\$ echo '(.*)' >> third\.bw$", page, flags=re.MULTILINE)
    own = parse((ROOT / "proofs/division-by-three.bw").read_text())
    assert parse(saved + "\n".join(added)).program == own.program


RESTING = """
let l = 8
bits x[l] c[l]
block x[i] c[i] for i in 1..l
when x[i]=1 c[i]=0 write x[i]   for i in 1..l
when x[i]=0 c[i]=1 write x[i]   for i in 1..l
when x[i]=1 c[i]=1 write c[i+1] for i in 1..l-1
input x
output y = x
start c[1]
halt at fixed point
ensure y == (x + 1) mod 2^l
"""
NOT_YET = {
    RESTING: "the run ends when nothing changes, after more steps for longer words",
}


@pytest.mark.parametrize("name", NOT_YET if LONG else [*NOT_YET][:1], ids=lambda name: name.split()[0])
def test_a_line_that_has_no_theorem_is_named(name: str) -> None:
    algorithm = parse(name) if "\n" in name else open_program(name)
    network = train(algorithm)
    written = rocq_files("It", network.weights, network.pattern, algorithm, None)
    assert any("Families.network_runs" in line for line in written.theorems)
    assert [line.partition(": ")[0] for line in written.left] == ["no theorem about what it computes"]
    assert NOT_YET[name] in written.left[0]


def test_names_of_folders() -> None:
    names = ["examples/gray.bw", "addition-counter", "theory", "3sum", "Coq"]
    assert [module_name(name) for name in names] == ["Gray", "AdditionCounter", "TheoryProgram", "N3sum", "CoqProgram"]


def test_refused(tmp_path: Path) -> None:
    network = train(addition(4))
    (tmp_path / "there").mkdir()
    (tmp_path / "there/file").touch()
    with pytest.raises(InputError, match="a folder that is new or empty"):
        export(network, tmp_path / "there", to="rocq")
    whole = train(addition(2), cells=False, integer=True, width=512)
    with pytest.raises(InputError, match="networks of cells"):
        export(whole, tmp_path / "whole", addition(2), to="rocq")
    with pytest.raises(InputError, match="quantize this one first"):
        export(train(addition(4), integer=False), tmp_path / "real", to="rocq")


@needs_coq
def test_addition_is_proved_and_mistakes_are_refused(folder: Path) -> None:
    theory = [f"theory/{name}.v" for name in THEORY]
    done = coqc(folder, *theory, "Addition/Net.v", "Addition/Families.v")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Closed under the global context\n"
    done = coqc(folder, "Addition/Program.v")
    assert done.returncode == 0, done.stderr
    # one rule that writes another bit: the rules are no longer those of the cells
    families = folder / "Addition/Families.v"
    right = families.read_text()
    families.write_text(right.replace('[at_ "c" i]', '[at_ "q" i]', 1))
    assert families.read_text() != right
    assert coqc(folder, "Addition/Families.v").returncode == 1
    # the weights of one port: the kernel finds a local state in which the network is wrong
    net = folder / "Addition/Net.v"
    text = net.read_text()
    net.write_text(with_a_wrong_port(text))
    refused = coqc(folder, "Addition/Net.v")
    assert refused.returncode == 1
    assert '"right net kinds = true"' in refused.stderr


@needs_coq
def test_lines_about_single_bits_are_proved(folder: Path, tmp_path: Path) -> None:
    algorithm = open_program(str(ROOT / "examples/gray.bw"))
    done = export(train(algorithm, width=64), tmp_path / "gray", algorithm, to="rocq")
    assert done.about["left"] == []
    for file in folder.glob("theory/*.vo"):  # compiled by the test above
        shutil.copy(file, tmp_path / "gray/theory")
    theory = [f"theory/{name}.v" for name in THEORY if not (tmp_path / f"gray/theory/{name}.vo").exists()]
    found = coqc(tmp_path / "gray", *theory, "Gray/Net.v", "Gray/Families.v", "Gray/Function.v")
    assert found.returncode == 0, found.stderr
    assert found.stdout == "Closed under the global context\n"
    # the highest bit of the code is not the lowest of the number
    file = tmp_path / "gray/Gray/Function.v"
    file.write_text(file.read_text().replace("(Words.bit_of x (l))", "(Words.bit_of x (1))"))
    assert coqc(tmp_path / "gray", "Gray/Function.v").returncode == 1


@needs_coq
@pytest.mark.skipif(not LONG, reason="for make test-long: it takes minutes")
def test_a_certificate_becomes_a_theorem(tmp_path: Path) -> None:
    algorithm = open_program(str(ROOT / "proofs/division-by-three.bw"))
    done = export(train(algorithm, width=64), tmp_path / "third", algorithm, to="rocq")
    assert done.about["left"] == []
    paths = [line for line in (tmp_path / "third/_CoqProject").read_text().splitlines() if line.endswith(".v")]
    found = coqc(tmp_path / "third", *paths)
    assert found.returncode == 0, found.stderr
    # a law with another weight: the certificate no longer shows it
    file = tmp_path / "third/DivisionByThree/Function.v"
    text = file.read_text()
    file.write_text(re.sub(r"(Definition found.*?laws := \[.*?Law \[\(0, \()1\)", r"\g<1>3)", text, flags=re.DOTALL))
    assert file.read_text() != text
    assert '"check_program' in coqc(tmp_path / "third", "DivisionByThree/Function.v").stderr


@needs_coq
@pytest.mark.skipif(not LONG, reason="for make test-long: it takes half a minute")
def test_machine_integers_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printed, "MOST_BY_LISTS", 0)
    export(train(addition(4), width=64), tmp_path / "net", to="rocq")
    done = coqc(tmp_path / "net", "theory/Rules.v", "theory/Fast.v", "Net/Net.v")
    assert done.returncode == 0, done.stderr
    net = tmp_path / "net/Net/Net.v"
    text = net.read_text()
    net.write_text(with_a_wrong_port(text))
    assert "right_fast net kinds = true" in coqc(tmp_path / "net", "Net/Net.v").stderr


INCREMENT = """
let l = 8
bits x[l] c[l] over
block x[i] c[i] for i in 1..l
block over
cell x[i] for i in 1..l
cell over
when x[i]=1 c[i]=0 write x[i]   for i in 1..l
when x[i]=0 c[i]=1 write x[i]   for i in 1..l
when x[i]=1 c[i]=1 write c[i+1] for i in 1..l-1
when x[l]=1 c[l]=1 write over
when over=1 write over
input x
output y = x
output over
start c[1]
steps l
ensure y == (x + 1) mod 2^l
ensure over == (x == 2^l - 1)
"""


def test_laws_have_constants_and_powers() -> None:
    algorithm = parse(INCREMENT)
    network = train(algorithm)
    written = rocq_files("Increment", network.weights, network.pattern, algorithm, None)
    assert written.left == []
    text = written.files["Increment/Function.v"]
    assert "Same (Global 0) (Sign 1 (-1)%Z false true false)" in text  # x + 1 - 2^l == 0
    assert "over l s = (x =? (2 ^ Z.of_nat (l) - 1))" in text


def test_machine_v_is_of_the_kinds_of_its_file() -> None:
    about = read_about(ROOT / "proofs/networks/MachineV.safetensors")
    pattern = read_pattern(about.bits, about.examples)
    assert pattern is not None
    for bits, width in ((2, 2), (3, 5), (2, 20), (5, 6)):
        program = machine_v(Shape(2**bits, width, find_dialect("top"))).program
        assert set(program.kinds.kinds) <= set(pattern.kinds)
