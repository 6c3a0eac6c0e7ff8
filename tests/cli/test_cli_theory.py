"""The verbs of the theory: certify, size, dataset, and engines other than `templates`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bitwright.cli.main import main

Capture = pytest.CaptureFixture[str]


def call(capsys: Capture, *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def document(capsys: Capture, *arguments: object) -> dict[str, object]:
    found: dict[str, object] = json.loads(call(capsys, *arguments, "--json")[1])
    return found


@pytest.fixture
def fifty_writers(tmp_path: Path) -> Path:
    path = tmp_path / "fifty.bw"
    rules = ["bits x[50] y", "block x[i] for i in 1..50", "block y", "when x[i]=1 write y for i in 1..50"]
    path.write_text("\n".join([*rules, "input x", "output y", "steps 1"]))
    return path


def test_multiplication_with_the_papers_numbers(capsys: Capture) -> None:
    found = document(capsys, "certify", "multiplication", "--bits", 10, "--rounding", "sign")
    assert found["certified"] is True
    assert (found["examples"], found["padding"], found["n_max"]) == (210, 8, 71)
    assert found["n_source"] == "declared"
    out = call(capsys, "certify", "multiplication", "--bits", 10, "--rounding", "sign")[1]
    assert out.startswith("CERTIFIED: multiplication")
    assert "declared (assumed" in out


def test_multiplication_over_all_blocks(capsys: Capture) -> None:
    arguments = ("certify", "multiplication", "--bits", 10, "--rounding", "sign", "--n", "blocks")
    code, out, _ = call(capsys, *arguments)
    assert code == 1
    assert "NOT CERTIFIED" in out
    assert "pad to 272 examples (--padding 70)" in out
    assert call(capsys, *arguments, "--padding", 70)[0] == 0
    assert call(capsys, *arguments, "--padding", 69)[0] == 1


def test_keys_of_a_certificate(capsys: Capture) -> None:
    keys = (
        "certified rounding examples padding blocks bits writers_max n_max n_source margin worst_bit worst_n proposal "
        "program_id"
    )
    assert set(keys.split()) <= set(document(capsys, "certify", "addition"))


def test_fifty_writers(capsys: Capture, fifty_writers: Path) -> None:
    code, out, _ = call(capsys, "certify", fifty_writers, "--rounding", "sign")
    assert code == 1
    assert "fails     at y from n = " in out
    assert call(capsys, "certify", fifty_writers, "--rounding", "calibrated")[0] == 0


def test_reachable(capsys: Capture) -> None:
    found = document(capsys, "certify", "multiplication", "--bits", 4, "--rounding", "sign", "--n", "reachable")
    assert found["n_source"] == "reachable"
    assert "all 256 inputs" in str(found["n_scope"])
    assert int(str(found["n_max"])) < 7 * 4 + 1


@pytest.mark.parametrize("source", ["blocks", "declared", "reachable"])
def test_a_file_can_be_checked_and_not_be_edited(capsys: Capture, tmp_path: Path, source: str) -> None:
    path = tmp_path / "certificate.json"
    target = ("certify", "multiplication", "--bits", 4)
    assert call(capsys, *target, "--rounding", "sign", "--n", source, "-o", path)[0] == (source == "blocks")
    code, out, _ = call(capsys, *target, "--check", path)
    assert code == (source == "blocks")
    assert "every number of the file was proved again" in out
    edited = json.loads(path.read_text())
    edited["n_max"] -= 1
    path.write_text(json.dumps(edited))
    code, out, err = call(capsys, *target, "--check", path)
    assert (code, out) == (2, "")
    assert "the certificate does not hold" in err
    path.write_text(path.read_text()[:100])
    code, _, err = call(capsys, *target, "--check", path)
    assert code == 2
    assert "truncated or damaged" in err


def test_a_certificate_of_another_program(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    call(capsys, "certify", "addition", "--bits", 4, "-o", path)
    code, _, err = call(capsys, "certify", "addition", "--bits", 5, "--check", path)
    assert code == 2
    assert "the certificate is for another program" in err


def test_size(capsys: Capture) -> None:
    found = document(capsys, "size", "addition", "--bits", 10, "--delta", 0.01)
    assert (found["delta"], found["scope"]) == (0.01, "inputs")
    sizes = {name: found[name] for name in ("sign", "sign_tight", "calibrated")}
    assert {name: size["networks"] for name, size in sizes.items()} == {  # type: ignore[index]
        "sign": 34_512,
        "sign_tight": 8_344,
        "calibrated": 50,
    }
    out = call(capsys, "size", "addition", "--bits", 10)[1]
    assert "34,512" in out
    unmasked = document(capsys, "size", "addition", "--bits", 10, "--unmasked")
    assert unmasked["sign"]["networks"] is None  # type: ignore[index]
    assert "q[1] is never written" in unmasked["sign"]["reason"]  # type: ignore[index]


def test_dataset(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "set.npz"
    code, out, err = call(capsys, "dataset", "addition", "--bits", 3, "--padding", 2, "-o", path)
    assert (code, out) == (0, "")
    assert "14 examples of 9 bits" in err
    with np.load(path) as stored:
        assert stored["X"].shape == (14, 14)
    call(capsys, "dataset", "addition", "--bits", 3, "--basis-seed", 1, "-o", path)
    with np.load(path) as stored:
        assert not (stored["X"] == np.eye(12)).all()
        np.testing.assert_allclose(stored["X"] @ stored["X"].T, np.eye(12), atol=1e-12)


@pytest.mark.parametrize("engine", ["limit", "kernel"])
@pytest.mark.parametrize("rounding", ["sign", "calibrated"])
def test_engines(capsys: Capture, engine: str, rounding: str) -> None:
    found = document(capsys, "multiply", 13, 11, "--engine", engine, "--rounding", rounding)
    assert (found["value"], found["engine"], found["rounding"]) == (143, engine, rounding)
    margin = float(str(found["margin"]))
    assert margin == pytest.approx(0.5) if rounding == "calibrated" else 0 < margin < 0.1


def test_sampled(capsys: Capture) -> None:
    found = document(capsys, "add", 719, 483, "--engine", "sampled", "--networks", 100, "--seed", 3)
    assert found["value"] == 1202
    assert 0 < float(str(found["margin"])) < 0.5
    again = document(capsys, "add", 719, 483, "--engine", "sampled", "--networks", 100, "--seed", 3)
    assert found == again


@pytest.mark.parametrize(
    ("arguments", "piece"),
    [
        (["certify", "addition", "--rounding", "sgn"], "did you mean 'sign'?"),
        (["certify", "addition", "--n", "many"], "blocks, declared or reachable, got 'many'"),
        (["certify", "addition", "--n", "declared"], "declares no bound on its matches"),
        (["certify", "addition", "--bits", 13, "--n", "reachable"], "every input can be run up to 24"),
        (["certify", "addition", "--padding", -1], "0<=x<=1000000000"),
        (["certify", "addition", "--check", "/no/such.json"], "cannot read"),
        (["certify", "nothing.bw"], "there is no file"),
        (["size", "addition", "--delta", 0], "delta must lie between 0 and 1, got 0"),
        (["size", "addition", "--delta", "x"], "not a valid float"),
        (["size", "addition", "--scope", "run"], "did you mean 'runs'?"),
        (["dataset", "addition"], "Missing option"),
        (["dataset", "addition", "-o", "x.csv"], ".npz"),
        (["dataset", "addition", "-o", "x.npz", "--padding", -1], "0<=x<=1000000000"),
        (["add", 1, 2, "--rounding", "up", "--engine", "limit"], "there is no rounding 'up'"),
        (["add", 1, 2, "--engine", "sampled", "--networks", 0], "1<=x<=1000000000"),
        (["add", 1, 2, "--engine", "limit", "--padding", -2], "0<=x<=1000000000"),
        (["add", 1, 2, "--engine", "kernel", "--bits", 2000], "use the limit engine"),
    ],
)
def test_bad_input_gets_one_clear_line(capsys: Capture, arguments: list[object], piece: str) -> None:
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("bitwright: ")
    assert err.count("\n") == 1
    assert piece in err
