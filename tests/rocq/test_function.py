"""Theorems about what chain programs compute: connectives, runs that halt, clocks with several sweeps, few steps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from long import LONG

from bitwright import export, parse, train
from bitwright.api.export.rocq.fitting import AffineIndex, affine_of
from bitwright.api.export.rocq.writing import rocq_files
from bitwright.program.ensures import Combined, Constant, Named
from tests.rocq.test_rocq import ROOT, coqc, needs_coq

BACK = """
let l = 8
bits x[l] up[l] down[l]
block x[i] for i in 1..l
block up[i] for i in 1..l
block down[i] for i in 1..l
cell x[i] up[i] down[i] for i in 1..l
when x[i]=1 write x[i] for i in 1..l
when up[i]=1 write up[i+1] for i in 1..l-1
when up[l]=1 write down[l]
when down[i]=1 write down[i-1] for i in 2..l
when down[1]=1 write down[1]
input x
output y = x
output back = down[1]
start up[1]
steps 2*l
halt when down[1]
ensure back and (x >= 3 => y > 2 and not (y < x))
ensure y != x + 1 or back == 0
"""
COUNTED = """
let l = 8
bits x[l] c[l] none[l] over done
block x[i] c[i] none[i] for i in 1..l
block over
block done
cell x[i] for i in 1..l
cell over done
when x[i]=1 c[i]=0 none[i]=0 write x[i]           for i in 1..l
when x[i]=0 c[i]=1 none[i]=0 write x[i] none[i+1] for i in 1..l-1
when x[i]=1 c[i]=1 none[i]=0 write c[i+1]         for i in 1..l-1
when x[i]=0 c[i]=0 none[i]=1 write none[i+1]      for i in 1..l-1
when x[i]=1 c[i]=0 none[i]=1 write x[i] none[i+1] for i in 1..l-1
when x[l]=0 c[l]=1 none[l]=0 write x[l] done
when x[l]=1 c[l]=1 none[l]=0 write over done
when x[l]=0 c[l]=0 none[l]=1 write done
when x[l]=1 c[l]=0 none[l]=1 write x[l] done
when over=1 write over
when done=1 write done
input x
output y = x
output over
start c[1]
halt when done
ensure y == (x + 1) mod 2^l
ensure over == (x == 2^l - 1)
"""
DOUBLED = """
let l = 8
bits x[l] y[l]
block x[i] for i in 1..l
block y[i] for i in 1..l
cell x[i] y[i] for i in 1..l
when x[i]=1 write y[i+1] for i in 1..l-1
input x
output y
steps 1
ensure y == (2*x) mod 2^l
"""
SATURATING = (ROOT / "tests/proofs/function/saturating.bw").read_text()
MAXIMUM = (ROOT / "tests/rocq/maximum.bw").read_text()
LONGER = {
    "saturating": SATURATING,
    "counted": COUNTED,
    "doubled": DOUBLED,
}


def function_of(text: str) -> str:
    """The file about what a program computes, which has a theorem."""
    algorithm = parse(text)
    network = train(algorithm)
    written = rocq_files("It", network.weights, network.pattern, algorithm, None)
    assert written.left == []
    return written.files["It/Function.v"]


def test_a_line_keeps_its_connectives() -> None:
    text = function_of(SATURATING)
    assert "(((p + q) < 2 ^ Z.of_nat (l)) -> (sum l s = (p + q)))" in text
    assert "Implies (Sign 2 (-1)%Z false true true) (Sign 3 (-1)%Z false true false)" in text  # p + q >= 2^l
    assert "delay := 1%nat; sweeps := [(true, 2%nat); (false, 1%nat)]" in text
    assert "((a >= b) -> (maximum l s = a)) /\\\n  ((a < b) -> (maximum l s = b))" in function_of(MAXIMUM)


def test_a_run_that_halts_has_a_last_step() -> None:
    text = function_of(COUNTED)
    theorem = text.partition("Theorem network_computes")[2]
    assert "exists t, (t <= (l)%nat)%nat /\\ (forall u, (u < t)%nat -> " in theorem
    assert '(s (flag "done") = true) /\\\n  (y l s = ((x + 1) mod 2 ^ Z.of_nat (l)))' in theorem
    assert "halting := Some (0, 1)" in text


def test_lines_about_words_need_no_long_run() -> None:
    text = function_of(DOUBLED)
    assert "sweeps := []; early := 0%nat; fixed := 1%nat" in text
    assert "(y l s = ((2 * x) mod 2 ^ Z.of_nat (l)))" in text


def test_a_product_of_two_sizes_is_not_affine() -> None:
    size, three = Named("l"), Constant(3)
    for product in (Combined("*", size, three), Combined("*", three, size)):
        assert affine_of(product, "l") == AffineIndex(0, 3, 0)
    assert affine_of(Combined("*", size, size), "l") is None
    assert affine_of(Combined("*", Named("i"), size), "l", "i") is None
    assert affine_of(Combined("+", three, Combined("*", size, size)), "l") is None


@needs_coq
def test_halting_sweeps_and_connectives_are_proved_and_mistakes_are_refused(tmp_path: Path) -> None:
    algorithm = parse(BACK, "back")
    done = export(train(algorithm, width=64), tmp_path / "back", algorithm, to="rocq")
    assert done.about["left"] == []
    paths = [line for line in (tmp_path / "back/_CoqProject").read_text().splitlines() if line.endswith(".v")]
    unneeded = ("theory/Compare.v", "Back/Program.v")
    found = coqc(tmp_path / "back", *(path for path in paths if path not in unneeded))
    assert found.returncode == 0, found.stderr
    assert found.stdout == "Closed under the global context\n"
    file = tmp_path / "back/Back/Function.v"
    right = file.read_text()
    assert "sweeps := [(true, 1%nat); (false, 1%nat)]" in right
    wrong = {
        "a line": right.replace("Not (Sign 2 (0)%Z true false false)", "Not (Sign 2 (0)%Z true true false)"),
        "the bit that halts": right.replace("halting := Some (1, 2)", "halting := Some (5, 2)"),
        "the clock": right.replace("(false, 1%nat)]; early", "(false, 2%nat)]; early"),
        "a window": re.sub(r"(\(\(0, 0\), None\), \[)[^;\]]*; ", r"\1", right, count=1),
    }
    for what, text in wrong.items():
        assert text != right, what
        file.write_text(text.partition("Lemma chain_well_formed")[0] + _CHECK)
        refused = coqc(tmp_path / "back", "Back/Function.v")
        assert refused.returncode == 1, what
        assert '"check_program' in refused.stderr, what


_CHECK = """
Theorem checked :
  check_program chain found laws (fun g x y => judge claim g (option_map bits x) (option_map bits y)) 4000 = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
"""


@needs_coq
@pytest.mark.skipif(not LONG, reason="for make test-long: it takes minutes")
@pytest.mark.parametrize("name", LONGER)
def test_longer_programs_are_proved(name: str, tmp_path: Path) -> None:
    algorithm = parse(LONGER[name], name)
    export(train(algorithm), tmp_path / name, algorithm, to="rocq")
    paths = [line for line in (tmp_path / name / "_CoqProject").read_text().splitlines() if line.endswith(".v")]
    found = coqc(tmp_path / name, *paths)
    assert found.returncode == 0, found.stderr
    file = tmp_path / name / name.capitalize() / "Function.v"
    # a statement that the lines do not say
    right = file.read_text()
    file.write_text(re.sub(r"(Lemma test_says .*?\n.*? l s = )", r"\g<1>1 + ", right, count=1, flags=re.DOTALL))
    assert file.read_text() != right
    assert coqc(tmp_path / name, f"{name.capitalize()}/Function.v").returncode == 1
