"""What the commands say can be followed: advice names what there is, and one fact has one wording."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from calling import Captured, call, refusal
from cases import for_each
from long import LONG

DOUBLE = """
let n = 3
bits dec[n]
block dec[i] for i in 1..n
when dec[i]=1 write dec[i+1] for i in 1..n-1
input dec
steps 1
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dec.bw").write_text(DOUBLE)


@pytest.fixture
def net(capsys: Captured) -> str:
    assert call(capsys, "train dec.bw --sizes n=2..4 -o net.safetensors -q")[0] == 0
    return "net.safetensors"


def test_train_run_export_and_show_say_proved_in_the_same_words(capsys: Captured) -> None:
    said = "proved on all 16 local states"
    assert said in call(capsys, "train addition --bits 4 -o net.safetensors")[2]
    assert said in call(capsys, "add 3 4 --engine network --network net.safetensors")[2]
    assert said in call(capsys, "export net.safetensors --to c -o net.c")[2]
    _, out, _ = call(capsys, "show net.safetensors")
    assert f"claim      {said}; " in out
    assert "\n  pattern    " in out
    found = json.loads(call(capsys, "show net.safetensors --json")[1])
    assert (found["claim"], found["proved"]) == (said, True)


def test_show_says_of_a_wrong_network_how_wrong_it_is(capsys: Captured) -> None:
    options = ("--tile", 2, "--bits", 4, "--width", 16, "--weight-bits", 4)
    code, _, err = call(capsys, "train addition", *options, "-o", "bad.safetensors")
    assert code == 1
    assert "of 128 local states come out wrong after 10 seeds; use a wider network, or weights of up to 8 bits\n" in err
    found = json.loads(call(capsys, "show bad.safetensors --json")[1])
    assert found["claim"].startswith("NOT EXACT: ")
    assert found["proved"] is False


def test_advice_leaves_out_weight_bits_that_are_at_their_most(capsys: Captured) -> None:
    options = ("--tile", 2, "--bits", 4, "--width", 16)
    assert "; use a wider network\n" in call(capsys, "train addition", *options, "-o", "n.safetensors")[2]


def test_the_limit_says_that_it_proves_no_network(capsys: Captured) -> None:
    _, out, _ = call(capsys, "certify dec.bw")
    assert out.endswith("  says      nothing of any one network: --network FILE proves one\n")
    _, out, _ = call(capsys, "--help")
    assert "Prove a trained network (--network FILE), or without one the limit" in " ".join(out.split())


def test_source_without_a_program_says_so_in_words_and_to_the_compiler(capsys: Captured, net: str) -> None:
    for form, file in (("c", "net.c"), ("js", "net.mjs")):
        _, _, err = call(capsys, "export", net, "--to", form, "-o", file)
        assert "; the file has no program to run: add one with --program" in err
        _, _, err = call(capsys, "export", net, "--to", form, "--program", "dec.bw", "-o", f"own-{file}")
        assert "no program" not in err
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    done = subprocess.run(["gcc", "-DBW_MAIN", "net.c", "-o", "net"], capture_output=True, text=True, check=False)
    assert "#error" in done.stderr
    assert "no program to run; bitwright export --program NAME adds one" in done.stderr
    subprocess.run(["gcc", "-DBW_MAIN", "own-net.c", "-o", "own"], check=True)
    done = subprocess.run(["./own", "1", "2"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "give 1 number: dec\n")


def test_a_page_has_the_name_as_it_is_written(capsys: Captured, net: str) -> None:
    assert call(capsys, "export", net, "--to", "page", "--program", "dec.bw", "-o", "dec.html")[0] == 0
    assert "<title>dec by a network" in Path("dec.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["export", "dec.bw", "--to", "c", "-o", "x.c"],
            "dec.bw is a program; the network comes first, and the program is --program",
        ),
        (["certify", "dec.bw", "--network", "dec.bw"], "dec.bw is a program, not a network; a network is a .safetens"),
        (
            ["export", "dec.bw", "--to", "integer", "-o", "x.safetensors"],
            "dec.bw is a program, not a network; a network is a .safetens",
        ),
        (["certify", "x.safetensors"], "x.safetensors is a network, not a program; name the program"),
        (
            ["train", "--tile", "all", "x.safetensors", "-o", "y.safetensors"],
            "x.safetensors is a network, not a program",
        ),
        (
            ["run", "dec.bw", "dec=1", "--engine", "netwrok", "--network", "x.safetensors"],
            "there is no engine 'netwrok'; choose templates, limit, kernel, sampled, network; did you mean 'network'?",
        ),
        (["validate", "dec.bw", "--oracle", "mine.py:f"], "named by its module, not by a file; write mine:f\n"),
        (["validate", "dec.bw", "--oracle", "own/mine:f"], "not by a file; write own.mine:f\n"),
        (["validate", "dec.bw", "--oracle", "/a/mine.py:f"], "not by a file; write mine:f, from the folder /a\n"),
    ],
)
def test_mistaken_arguments_are_told_what_to_write(capsys: Captured, arguments: list[str], message: str) -> None:
    assert message in refusal(capsys, *arguments)


def test_three_failures_are_shown_and_json_has_more(capsys: Captured) -> None:
    Path("always_wrong.py").write_text("def f(dec): return dec * 2 + 1\n")
    asked = ("validate", "dec.bw", "--oracle", "always_wrong:f")
    code, out, _ = call(capsys, *asked)
    assert code == 1
    assert out.count("  wrong     ") == 3
    assert out.endswith("            and 5 more; --json lists 8\n")
    assert len(json.loads(call(capsys, *asked, "--json")[1])["failures"]) == 8


def test_the_command_that_shows_a_counterexample_names_the_machine(capsys: Captured) -> None:
    program = Path(__file__).parents[2] / "examples" / "sbn" / "gcd.sbn"
    narrow = "train --machine A --width 96 --tolerance 0.1 --descent momentum --weight-bits 2 -o bad.safetensors -q"
    if call(capsys, narrow, program)[0] == 0:
        pytest.fail("a network so narrow was meant to be wrong")
    code, out, _ = call(capsys, "certify", program, "--machine", "A", "--network", "bad.safetensors")
    assert code == 1
    assert "--machine A --network bad.safetensors --state" in out


LATE = """
let n = 8
let k = 3
bits x[n]
block x[i] for i in 1..n
when x[i]=1 write x[i] for i in 1..n
when x[i]=0 write x[1] for i in 40..n
steps 1
"""


@for_each(
    "asked",
    [["--sizes", "n=1..50"], ["--let", "n=60", "--let", "k=2"], *[["--sizes", "n=45"], ["--let", "n=300"]] * LONG],
)
def test_the_network_that_is_advised_has_the_cells_that_were_missing(capsys: Captured, asked: list[str]) -> None:
    Path("late.bw").write_text(LATE)
    assert call(capsys, "train late.bw -o small.safetensors -q")[0] == 0
    code, _, err = call(capsys, "certify late.bw --network small.safetensors", *asked)
    assert code == 2
    words = err.rpartition(": bitwright ")[2].replace("FILE", "large.safetensors").split()
    assert words[:2] == ["train", "late.bw"]
    assert call(capsys, *words)[0] == 0
    assert call(capsys, "certify late.bw --network large.safetensors", *asked)[0] == 0


@for_each("size", [38, 39])
def test_sizes_that_train_advises_have_the_cells_of_the_next_size_too(capsys: Captured, size: int) -> None:
    Path("late.bw").write_text(LATE)
    _, _, err = call(capsys, "train late.bw --let", f"n={size}", "-o", "net.safetensors")
    assert "late at n=40 has cells of other kinds, which this network does not run; --sizes n=1..40 trains" in err


def test_no_sizes_are_advised_that_do_not_exist(capsys: Captured) -> None:
    """l must be even, so that no range of it can be read."""
    even = LATE.replace("bits x[n]", "bits x[n] y[1+n//2*2-n]\nblock y[1]").replace("k = 3", "k = 2")
    Path("late.bw").write_text(even)
    assert call(capsys, "train late.bw -o small.safetensors -q")[0] == 0
    err = refusal(capsys, "certify late.bw --network small.safetensors --let n=42")
    assert err.endswith(": bitwright train late.bw --let n=42 -o FILE\n")
