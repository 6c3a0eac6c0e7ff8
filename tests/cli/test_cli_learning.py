"""train, ensemble and size --network on the command line: results, files, and one clear line for bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bitwright import addition
from bitwright.cli.main import main
from bitwright.learning import load_network


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


FAST = ("--width", "256", "--tolerance", "1e-2")


def test_an_ensemble_and_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("ensemble", "permutation", "--bits", "5", "--states", "50", *FAST, "-o", str(tmp_path / "r"), "--json")
    code, out, _ = call(capsys, *command, "-n", "6")
    first = json.loads(out)
    assert (code, first["networks"], first["limit"]) == (0, 6, "ntk")
    assert first["variance_ratio"] == pytest.approx(1, abs=0.5)
    size = (tmp_path / "r").stat().st_size
    again = json.loads(call(capsys, *command, "-n", "6")[1])
    assert {**again, "seconds": 0} == {**first, "seconds": 0}
    assert (tmp_path / "r").stat().st_size == size
    code, _, err = call(capsys, *command, "-n", "6", "--seed", "1")
    assert code == 2
    assert "was begun with seed 0, now it is 1" in err


def test_a_target_that_is_not_reached_is_an_answer_of_no(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("ensemble", "permutation", "--bits", "8", "--states", "60", "--rounding", "sign", *FAST)
    code, out, err = call(capsys, *asked, "-n", "3", "--accuracy", "0.99")
    assert code == 1
    assert "3 networks do not reach 99.0%" in err
    assert "% of 60 states right" in out


def test_the_proven_number(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "ensemble", "permutation", "--bits", "2", "--delta", "0.3", *FAST, "--json")
    assert code == 0
    assert json.loads(out)["networks"] > 1
    assert json.loads(out)["accuracy"] == 1


def test_a_folder_of_networks_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "nets")
    code, out, _ = call(
        capsys, "train", "addition", "--bits", "3", "--networks", "3", "--width", "512", "-o", folder, "--json"
    )
    assert (code, json.loads(out)["networks"]) == (0, 3)
    code, out, _ = call(capsys, "add", "5", "6", "--bits", "3", "--engine", "network", "--network", folder, "-q")
    assert (code, out.strip()) == (0, "11")


def test_precisions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    file = str(tmp_path / "n.safetensors")
    code, _, _ = call(capsys, "train", "addition", "--bits", "3", "--precision", "float64", "-o", file)
    assert code == 0
    assert load_network(Path(file), addition(3).program).first.dtype == "float64"
    margins = {}
    for precision in ("float32", "float64", "bfloat16"):
        sum_ = ("add", "5", "6", "--bits", "3", "--engine", "network", "--network", file, "--precision", precision)
        code, out, _ = call(capsys, *sum_, "--json")
        assert (code, json.loads(out)["value"]) == (0, 11)
        margins[precision] = json.loads(out)["margin"]
    assert margins["float32"] == pytest.approx(margins["float64"], abs=1e-5)
    assert margins["float32"] != margins["bfloat16"] == pytest.approx(margins["float64"], abs=0.02)


def test_onnx_beside_the_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnx")
    files = tmp_path / "n.safetensors", tmp_path / "n.onnx"
    code, _, _ = call(capsys, "train", "addition", "--bits", "2", "-o", str(files[0]), "--onnx", str(files[1]))
    assert code == 0
    assert all(file.stat().st_size > 1000 for file in files)


def test_the_width_of_one_network(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "size", "addition", "--bits", "3", "--network", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["proved"] is False
    assert found["width"] in (1024, 2048, 4096, 8192)
    code, out, _ = call(capsys, "size", "addition", "--bits", "3", "--network")
    assert f"width {found['width']:,}, as far as tested (not proved)" in out


def test_a_tiny_program_gets_a_width_that_was_tried(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "size", "addition", "--bits", "1", "--network")
    assert code == 0
    assert "one network of width 256," in out
    assert "errors so small come from the tolerance" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ensemble", "permutation", "--accuracy", "2"), "--accuracy is a fraction"),
        (("ensemble", "permutation", "-n", "3", "--delta", "0.1"), "leave out --networks"),
        (("ensemble", "permutation", "--states", "0"), "the number of states must lie between"),
        (("ensemble", "permutation", "--ones", "99"), "cannot be on"),
        (("ensemble", "permutation", "--workers", "many"), "workers are a number up to 256"),
        (("ensemble", "permutation", "--rounding", "up"), "there is no rounding 'up'"),
        (("ensemble", "permutation", "--width", "0"), "the width must lie between"),
        (("ensemble", "permutation", "--width", "7", "--start", "zero"), "must be even"),
        (("ensemble", "permutation", "--device", "cuda"), "the numpy trainer runs on the cpu"),
        (("ensemble", "permutation", "--trainer", "torch", "--device", "tpu9"), "there is no device"),
        (("ensemble", "permutation", "-o", "/no/such/folder/file"), "cannot write"),
        (("add", "1", "2", "--precision", "bfloat16"), "--device and --precision go with --engine network"),
        (("run", "examples/subleq/hello.sq", "--device", "cuda"), "--device and --precision go with --engine network"),
        (("ensemble", "permutation", "--ones", "0", "-n", "2"), "none of these states matches a template"),
        (("ensemble", "permutation", "--workers", "ray:127.0.0.1:9"), "no Ray cluster answers at 127.0.0.1:9"),
        (("size", "addition", "--seed", "1"), "--seed goes with --network"),
        (("size", "addition", "--network", "--delta", "0.1"), "--delta, --n and --unmasked are for ensembles"),
        (("train", "addition", "-o", "x.onnx"), "-o takes a .safetensors file"),
        (("train", "addition", "-o", "x.safetensors", "--networks", "2"), "go into a folder"),
        (("train", "addition", "-o", "x.safetensors", "--onnx", "x.pb"), "--onnx takes an .onnx file"),
        (("train", "addition", "-o", "x", "--networks", "2", "--onnx", "x.onnx"), "--onnx is for one network"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_cuda_where_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    code, _, err = call(capsys, "ensemble", "permutation", "--trainer", "torch", "--device", "cuda")
    assert code == 2
    assert "no CUDA device" in err


def test_help_names_the_verb() -> None:
    from bitwright.cli.main import cli

    assert "ensemble" in CliRunner().invoke(cli, ["--help"]).output
