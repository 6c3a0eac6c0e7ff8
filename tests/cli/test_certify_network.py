"""`certify --network`, `train --integer` and `quantize`: what they print, write, refuse and exit with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from calling import Captured, answer, call, refusal
from cases import for_each

from bitwright.cli.main import main

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good network of integers, a bad one, and a trained one, for addition of 2 bits."""
    place = tmp_path_factory.mktemp("networks")
    for name, how in (("good", "512"), ("bad", "24 --seeds 1 --tolerance 0.4"), ("float", "512 --float")):
        command = f"train --tile all addition --bits 2 -q --width {how} -o".split()
        assert main([*command, str(place / f"{name}.safetensors")]) == (name == "bad")
    return place


def test_a_good_network_is_certified_and_a_bad_one_refuted(folder: Path, capsys: Captured) -> None:
    code, out, err = call(capsys, "certify addition --network", folder / "good.safetensors")
    assert code == 0
    assert out.startswith("CERTIFIED: this network computes sum == p + q, in this program; it is right in all 64")
    assert "right in all 64 states" in out
    assert "64 states to try" in err
    code, out, _ = call(capsys, "certify addition --network", folder / "bad.safetensors")
    assert code == 1
    assert out.startswith("REFUTED")
    assert "G = " in out
    assert "T = " in out


def test_the_command_that_shows_a_counterexample_shows_it(folder: Path, capsys: Captured) -> None:
    import shlex

    bad = folder / "bad.safetensors"
    _, out, _ = call(capsys, "certify addition --network", bad)
    line = next(line for line in out.splitlines() if "see it" in line)
    wrong = next(line.split()[1] for line in out.splitlines() if line.startswith("  wrong"))
    words = shlex.split(line.split("see it", 1)[1])
    assert words[0] == "bitwright"
    code, shown, _ = call(capsys, *words[1:])
    assert code == 1
    assert "WRONG" in shown
    assert any(wrong in line and "must be" in line for line in shown.splitlines())


def test_that_command_keeps_what_let_said(tmp_path: Path, capsys: Captured) -> None:
    import shlex

    file, net = ROOT / "examples" / "subtraction.bw", tmp_path / "net.safetensors"
    rules = (file, "--let", "l=3")
    assert call(capsys, "train --tile all", *rules, "--width", 24, "--tolerance", 0.4, "--seeds", 1, "-o", net)[0] == 1
    _, out, _ = call(capsys, "certify", *rules, "--network", net)
    line = next(line for line in out.splitlines() if "see it" in line)
    code, shown, _ = call(capsys, *shlex.split(line.split("see it", 1)[1])[1:])
    assert (code, "WRONG" in shown) == (1, True)


def test_json_of_both_kinds(folder: Path, capsys: Captured) -> None:
    code, out, _ = call(capsys, "certify addition --network", folder / "good.safetensors", "--domain", "runs", "--json")
    found: dict[str, Any] = json.loads(out)
    assert code == 0
    assert (found["certified"], found["of"], found["domain"], found["wrong"]) == (True, "network", "runs", 0)
    assert found["states"] == 16 * 4
    assert found["margin"] > 0
    assert len(found["network_sha256"]) == 64
    code, out, _ = call(capsys, "certify addition --json")
    assert json.loads(out)["of"] == "limit"


def test_a_certificate_is_written_checked_and_refused_when_it_lies(
    folder: Path, capsys: Captured, tmp_path: Path
) -> None:
    good, file = folder / "good.safetensors", tmp_path / "good.json"
    assert call(capsys, "certify addition --network", good, "-o", file)[0] == 0
    assert not list(tmp_path.glob("*.part"))
    assert "every state was tried again" in answer(capsys, "certify addition --network", good, "--check", file)
    document = json.loads(file.read_text())
    for name, value in (
        ("states", 65), ("wrong", 1), ("distance", 1), ("margin", 0.4), ("width", 513), ("certified", False),
        ("by_n", [[0, 1, None]]), ("network_sha256", "0" * 64), ("program_id", "0" * 64),
        ("tensors", {**document["tensors"], "first": "0" * 64}), ("closest", None),
    ):  # fmt: skip
        file.write_text(json.dumps({**document, name: value}))
        code, out, _ = call(capsys, "certify addition --network", good, "--check", file)
        assert code == 1, name
        assert out.startswith("DOES NOT HOLD"), name
    other = folder / "bad.safetensors"
    file.write_text(json.dumps(document))
    code, out, _ = call(capsys, "certify addition --network", other, "--check", file)
    assert code == 1
    assert "another network" in out
    code, out, _ = call(capsys, "certify addition --network", other, "--check", file, "--json")
    refused = json.loads(out)
    assert (code, refused["of"], refused["holds"], refused["certified"]) == (1, "network", False, False)


@for_each(
    ("change", "message"),
    [
        ({"states": -1}, "states must be"),
        ({"states": True}, "states must be"),
        ({"more": 1}, "more"),
        ({"verdict": "fine"}, "verdict must be"),
        ({"closest": {"on": []}}, "not a certificate of a network"),
        ({"format": "bitwright certificate 2"}, "not a certificate of a kind this version knows"),
    ],
)
def test_a_file_that_is_no_certificate(
    folder: Path, capsys: Captured, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    good, file = folder / "good.safetensors", tmp_path / "good.json"
    call(capsys, "certify addition --network", good, "-o", file)
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    assert message in refusal(capsys, "certify addition --network", good, "--check", file)


def test_float_networks_say_what_was_proved_of_them(folder: Path, capsys: Captured) -> None:
    assert "float32, every order of summation" in answer(
        capsys, "certify addition --network", folder / "float.safetensors"
    )


def test_quantize_finds_the_program_in_the_file(folder: Path, capsys: Captured, tmp_path: Path) -> None:
    target = tmp_path / "whole.safetensors"
    code, out, err = call(capsys, "export", folder / "float.safetensors", "-o", target, "--weight-bits", "6")
    assert (code, out.strip()) == (0, str(target))
    assert "bytes of 6-bit weights" in err
    assert call(capsys, "add 3 2 --engine network --network", target, "-q")[1].strip() == "5"
    code, out, _ = call(capsys, "export", folder / "float.safetensors", "--to", "integer", "-o", target, "--json")
    assert json.loads(out)["weight_bits"] == 8
    assert "a network of integers cannot be quantized again" in refusal(
        capsys, "export", target, "--to", "integer", "-o", tmp_path / "again.safetensors"
    )


def test_quantize_a_program_of_ones_own_and_a_folder(capsys: Captured, tmp_path: Path) -> None:
    rules = tmp_path / "own.bw"
    rules.write_text("bits x y\nblock x y\nwhen x=1 y=0 write y\nwhen x=1 y=1 write x\ninput x\noutput y\nsteps 1\n")
    nets = tmp_path / "nets"
    assert (
        call(capsys, "train --tile all", rules, "--width", "64", "--float", "--networks", "3", "-o", nets, "-q")[0] == 0
    )
    target = tmp_path / "three.safetensors"
    code, _, err = call(capsys, "export", nets, "--to", "integer", "-o", target, "--program", rules)
    assert code == 0
    assert "width 192, " in err
    assert call(capsys, "certify", rules, "--network", target)[0] == 0
    assert call(capsys, "run", rules, "x=1", "--engine", "network", "--network", target, "-q")[1].strip() == "1"


def test_blocks_that_a_file_does_not_name_are_asked_for(capsys: Captured, tmp_path: Path) -> None:
    rules = tmp_path / "own.bw"
    rules.write_text("bits x a b\nblock x\nblock a b\nwhen x=1 write a b\ninput x\noutput a\nsteps 1\n")
    net, target = tmp_path / "net.safetensors", tmp_path / "whole.safetensors"
    assert call(capsys, "train --tile all", rules, "--width", "64", "--float", "-o", net, "-q")[0] == 0
    err = refusal(capsys, "export", net, "--to", "integer", "-o", target)
    assert "name the program that it is for (--program)\n" in err
    assert call(capsys, "export", net, "--to", "integer", "-o", target, "--program", rules, "-q")[0] == 0


@for_each(
    ("options", "message"),
    [
        (["--rounding", "sign"], "exactly 0 where one example matches"),
        (["--padding", "3"], "--padding does not go with --network"),
        (["--n", "blocks"], "--n does not go with --network"),
        (["--domain", "everything"], "there is no domain 'everything'; choose states or runs"),
        (["--state", "p[9]"], "there is no bit 'p[9]'"),
        (["--state", "p[1]", "--domain", "runs"], "--state looks at one state"),
        (["--workers", "x"], "workers are a number"),
        (["-o", "cert.txt"], "-o takes a .json file"),
        (["--device", "gpu"], "there is no device 'gpu'"),
    ],
)
def test_what_does_not_go_together(folder: Path, capsys: Captured, options: list[str], message: str) -> None:
    assert message in refusal(capsys, "certify addition --network", folder / "good.safetensors", *options)


@pytest.mark.parametrize("option", [["--domain", "runs"], ["--yes"], ["--state", "p[1]"], ["--workers", "2"]])
def test_options_of_networks_need_one(capsys: Captured, option: list[str]) -> None:
    assert "goes with --network" in refusal(capsys, "certify addition", *option)


def test_what_takes_too_long_wants_a_yes(capsys: Captured, tmp_path: Path) -> None:
    """2^48 states take days on every machine there is."""
    net = tmp_path / "net.safetensors"
    options = ("--bits", "16", "--width", "64", "--tolerance", "0.4")
    assert call(capsys, "train --tile all addition", *options, "-o", net, "-q")[0] == 0
    err = refusal(capsys, "certify addition --network", net)
    assert "281,474,976,710,656 states will take about" in err
    assert ("--yes" in err or "cuda" in err) == ("years" not in err)  # nobody waits for years, with a GPU or without
    assert "--domain runs" not in err  # 2^32 inputs
    assert "has 16 local states: bitwright train addition --sizes 1..16 -o FILE" in err


def test_a_shorter_proof_is_advised_where_there_is_one(capsys: Captured, tmp_path: Path) -> None:
    """l idle bits make 2^l states, and none of them an input."""
    rules, net = tmp_path / "idle.bw", tmp_path / "net.safetensors"
    text = "let l = 60\nbits x idle[l]\nblock x\nblock idle[i] for i in 1..l\nwhen x=1 write x\n"
    rules.write_text(f"{text}when idle[i]=1 write idle[i] for i in 1..l\ninput x\nsteps 1\n")
    assert call(capsys, "train --tile all", rules, "--integer", "--width", 512, "-o", net, "-q")[0] == 0
    code, _, err = call(capsys, "certify", rules, "--network", net)
    assert (code, "cuda" in err) == (2, False)
    assert "; --domain runs has 2 states in the runs of 2 inputs, about 1 s; a network of its cells has " in err
    assert call(capsys, "certify", rules, "--network", net, "--domain", "runs")[0] == 0
    rules.write_text(rules.read_text().replace("l = 60", "l = 70"))  # more states than can be counted
    assert call(capsys, "train --tile all", rules, "--integer", "--width", 512, "-o", net, "-q")[0] == 0
    code, _, err = call(capsys, "certify", rules, "--network", net)
    assert (code, "--domain runs has 2 states in the runs of 2 inputs" in err) == (2, True)
    assert "there are 2361183241434822606848 states, more than can be tried; " in err


def test_weight_bits_need_integer(capsys: Captured, tmp_path: Path) -> None:
    assert "--weight-bits goes with --integer" in refusal(
        capsys, "train --tile all addition --bits 2 --float --weight-bits 4 -o", tmp_path / "x.safetensors"
    )
