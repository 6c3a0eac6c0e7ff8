"""Files for Rocq: the numbers are those of the network, and the text says what the program computes."""

import ast
import json
import re
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from long import LONG
from safetensors.numpy import load_file

from bitwright import InputError, Network, addition, export, parse, train
from bitwright import open as open_program
from bitwright.exports.rocq.families import COMPARED, families_of, listed
from bitwright.exports.rocq.folder import Written, rocq_files
from bitwright.machines.subleq import Dialect, Shape, machine_v
from bitwright.networks.store import load_network, read_about
from bitwright.proofs.function import prove_function
from bitwright.rules.pattern import pattern_of, read_pattern

ROOT = Path(__file__).parents[2]
NETWORKS = sorted((ROOT / "proofs/networks").glob("*.safetensors"))


def text_of(name: str) -> str:
    """A program of this folder."""
    return (ROOT / f"tests/rocq/{name}.bw").read_text()


def lists(text: str, name: str) -> list[list[int]]:
    """A tensor as the file has it."""
    found = re.search(rf"Definition {name} : list \(list Z\) :=\s*(.*?)\.\n", text, re.DOTALL)
    assert found
    numbers = re.sub(r"\b[mp](?=\d)", lambda sign: {"m": "-", "p": ""}[sign[0]], found[1])
    names = dict(re.findall(r"Definition ([mp]\d+) := (-?\d+)\.", text))
    assert all(int(value) == int(name[1:]) * (-1 if name[0] == "m" else 1) for name, value in names.items())
    return ast.literal_eval(numbers.replace(";", ","))  # type: ignore[no-any-return]


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


LEAST = {
    "multiplication": 1,
    "examples/rule110.bw": 2,
    "examples/gray.bw": 1,
    "addition": 1,
    "examples/subtraction.bw": 1,
    "examples/comparison.bw": 1,
    "proofs/division-by-three.bw": 1,
}


@pytest.mark.parametrize("name", LEAST if LONG else [*LEAST][:3])
def test_families_are_found_and_compared_with_the_program(name: str) -> None:
    algorithm = open_program(str(ROOT / name) if name.endswith(".bw") else name)
    key = next(iter(algorithm.sizing.numbers))
    make = lambda l: algorithm.sizing.at(**{key: l}).program  # noqa: E731
    pattern = pattern_of(make(l) for l in range(3, 12))
    found = families_of(lambda l: listed(make(l), pattern))
    assert found.least == LEAST[name]
    assert found.compared == tuple(range(found.least, COMPARED[-1] + 1))


def test_the_tutorial_has_the_program_that_is_proved() -> None:
    page = (ROOT / "docs/tutorial/division-by-three.md").read_text()
    saved = page.partition("**third.bw**\n\n```\n")[2].partition("```")[0].replace("qoutient", "quotient")
    added = re.findall(r"^\$ echo '(.*)' >> third\.bw$", page, flags=re.MULTILINE)
    own = parse((ROOT / "proofs/division-by-three.bw").read_text())
    assert parse(saved + "\n".join(added)).program == own.program


MODULAR_LAW = """
let l = 8
bits d[l] y[l] e[l]
block d[i] y[i] e[i] for i in 1..l
when d[i]!=y[i] e[i]=0 write d[i] for i in 1..l
when d[i]=1 y[i]=1 e[i]=0 write y[i+1] for i in 1..l-1
when d[i]=0 y[i]=0 e[i]=1 write d[i] e[i+1] for i in 1..l-1
when d[l]=0 y[l]=0 e[l]=1 write d[l]
when d[i]=1 y[i]=1 e[i]=1 write d[i] for i in 1..l
input d y e
output d
steps l
ensure d == (in.d + in.y - in.e) mod 2^l
"""


def test_a_law_modulo_a_power_is_left_in_a_line() -> None:
    assert prove_function(MODULAR_LAW).verdict == "proved"
    assert prove_function(MODULAR_LAW.replace("- in.e", "- 2 * in.e")).verdict == "refuted"
    written = written_of(MODULAR_LAW)
    assert ["law modulo" in line for line in written.left] == [True]


def test_multiplication_has_the_theorem_that_is_stored() -> None:
    found = multiplied((ROOT / "examples/multiplication.bw").read_text())
    assert found.left == []
    assert [*found.files] == [f"Loop/{name}.v" for name in ("Net", "Families", "Phase1", "Function", "Program")]
    theorem = found.files["Loop/Function.v"].partition("Theorem network_computes")[2]
    assert "product l s = (multiplicand * multiplier)" in theorem
    assert "(4 * l * l + 3 * l)%nat (start l" in theorem
    assert "From Loop Require Net Families Phase1." in found.files["Loop/Function.v"]
    assert not re.search("Admitted|Axiom|admit", "".join(found.files.values()))


@pytest.mark.parametrize(("old", "new"), [("steps 4*l^2 + 3*l", "steps 4*l^2 + 4*l"), ("product ==", "0 + product ==")])
def test_another_loop_is_left_in_a_line(old: str, new: str) -> None:
    """What it computes is no theorem; that the network takes the rules' steps is one."""
    text = (ROOT / "examples/multiplication.bw").read_text()
    assert old in text
    found = multiplied(text.replace(old, new))
    assert any("Families.network_runs" in line for line in found.theorems)
    assert ["is a loop" in line for line in found.left] == [True]
    assert "Loop/Function.v" not in found.files


def multiplied(text: str) -> Written:
    file = next(one for one in NETWORKS if one.stem == "Multiplication")
    about = read_about(file)
    pattern = read_pattern(about.bits, about.examples)
    assert pattern is not None
    return rocq_files("Loop", load_network(file, pattern.program), pattern, parse(text), file)


def written_of(text: str) -> Written:
    algorithm = parse(text)
    network = train(algorithm)
    return rocq_files("It", network.weights, network.pattern, algorithm, None)


KEPT = """
let l = 8
bits x[l] on[l] done
block x[i] for i in 1..l
block on[i] for i in 1..l
block done
cell x[i] on[i] for i in 1..l
cell done
when x[i]=1 write x[i] for i in 1..l
when on[i]=1 write on[i] for i in 1..l
when done=1 write done
input x
output y = x
steps 2*l
ensure y == x
"""
LARGE = KEPT.replace("l = 8", "l = 48").replace("write x[i] for i in 1..l", "write x[i] for i in 1..l if i != 40")
WITHOUT_THEOREM = {
    KEPT + "start on[*]\n": "the number of bits that are on at the start must not depend on the size",
    KEPT.replace("2*l", "l-1"): "a run must take at least one step, even at size 1",
    KEPT + "start done\nhalt when done\n": "the bit that ends a run must be off at the start, but may be on at size 1",
    KEPT.replace("cell done", "cell x[l+1]\ncell done")
    .replace("x[l] on", "x[l+1] on")
    .replace("x[i] for i in 1..l", "x[i] for i in 1..l+1")
    .replace("input x", "input x = x[1..l]"): "x must have a bit at every position of the chain of x",
    KEPT.replace("ensure y == x\n", ""): "the program has no ensure line",
    KEPT.replace("let l = 8", "").replace("[l]", "[8]").replace("1..l", "1..8").replace("2*l", "16"): "no size",
    KEPT.replace("steps 2*l", "halt at fixed point"): "runs must end after a number of steps or at a bit",
    LARGE: "the rules fitted at the sizes 9..13 differ from the program at size 48",
}


@pytest.mark.parametrize("text", WITHOUT_THEOREM, ids=WITHOUT_THEOREM.values())
def test_no_theorem_is_named_that_rocq_would_refuse(text: str) -> None:
    written = written_of(text)
    assert not any("network_computes" in line for line in written.theorems)
    assert WITHOUT_THEOREM[text] in " ".join(written.left)


def test_no_name_has_two_meanings() -> None:
    text = function_of(text_of("named"))
    assert "Definition nat_ (l : nat)" in text
    assert "start (l : nat) (k_in : Z)" in text
    both = text_of("named").replace("start q[2]\n", "").replace("k + 2", "k + k_in")
    text = function_of(both.replace("input k", "input k k_in").replace("q[", "k_in["))
    assert "start (l : nat) (k_in : Z) (k_in_in : Z)" in text


def test_a_name_cannot_leave_its_comment() -> None:
    algorithm = parse(KEPT, 'it *) Axiom cheat : False. (* "')
    network = train(algorithm)
    for text in rocq_files("It", network.weights, network.pattern, algorithm, None).files.values():
        assert not re.search("Axiom", re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL))


def test_refused(tmp_path: Path) -> None:
    network = train(addition(4))
    (tmp_path / "there").mkdir()
    (tmp_path / "there/file").touch()
    with pytest.raises(InputError, match=r"folder.*empty"):
        export(network, tmp_path / "there", to="rocq")
    whole = train(addition(2), tile="all", width=512)
    with pytest.raises(InputError, match="network of cells"):
        export(whole, tmp_path / "whole", addition(2), to="rocq")


def function_of(text: str) -> str:
    """The file about what a program computes, which has a theorem."""
    written = written_of(text)
    assert written.left == []
    return written.files["It/Function.v"]


def test_a_line_keeps_its_connectives() -> None:
    text = function_of((ROOT / "tests/proofs/function/saturating.bw").read_text())
    assert "(((p + q) < 2 ^ Z.of_nat (l)) -> (sum l s = (p + q)))" in text
    assert "Implies (Sign 2 (-1)%Z false true true) (Sign 3 (-1)%Z false true false)" in text  # p + q >= 2^l
    assert "delay := 1%nat; sweeps := [(true, 2%nat); (false, 1%nat)]" in text
    if LONG:
        text = function_of(text_of("maximum"))
        assert "((a >= b) -> (maximum l s = a)) /\\\n  ((a < b) -> (maximum l s = b))" in text


SMALLER = """
let l = 3
bits a[l] b[l]
block a[i] b[i] for i in 1..l
when a[i]=1 b[i]=0 write a[i] for i in 1..l
when a[i]=1 b[i]=1 write a[i] for i in 1..l
input a b
output rest = a
steps 1
where a < b
ensure rest == a and rest < b
"""


def test_a_condition_on_inputs_is_one_of_the_theorem() -> None:
    theorem = function_of(SMALLER).partition("Theorem network_computes")[2]
    assert "((a < b) -> ((rest l s = a) /\\ (rest l s < b)))" in theorem
    assert any("a < b =>" in line for line in written_of(SMALLER).theorems)


def test_a_run_that_halts_has_a_last_step() -> None:
    text = function_of(text_of("counted"))
    theorem = text.partition("Theorem network_computes")[2]
    assert "exists t, (t <= (l)%nat)%nat /\\ (forall u, (u < t)%nat -> " in theorem
    assert '(s (flag "done") = true) /\\\n  (y l s = ((x + 1) mod 2 ^ Z.of_nat (l)))' in theorem
    assert "halting := Some (0, 1)" in text


def test_lines_about_words_need_no_long_run() -> None:
    text = function_of(text_of("doubled"))
    assert "sweeps := []; early := 0%nat; fixed := 1%nat" in text
    assert "(y l s = ((2 * x) mod 2 ^ Z.of_nat (l)))" in text


def test_machine_v_is_of_the_kinds_of_its_file() -> None:
    about = read_about(ROOT / "proofs/networks/MachineV.safetensors")
    pattern = read_pattern(about.bits, about.examples)
    for bits, width in ((2, 2), (3, 5), (2, 20), (5, 6)):
        program = machine_v(Shape(2**bits, width, Dialect("top", "top"))).program
        assert set(program.kinds.kinds) <= set(pattern.kinds)
