"""`bitwright export`: files for other people's tools, quantized networks, and notes about what a file lacks."""

import shutil
import subprocess
from pathlib import Path

import pytest
from calling import Captured, answer, call, document, refusal
from facts import missing

OWN = "bits x a b\nblock x\nblock a b\nwhen x=1 write a b\ninput x\noutput a\nsteps 1\n"
DOUBLE = "let n = 3\nbits dec[n]\nblock dec[i] for i in 1..n\nwhen dec[i]=1 write dec[i+1] for i in 1..n-1\ninput dec\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.bw").write_text(OWN)
    Path("dec.bw").write_text(f"{DOUBLE}steps 1\n")


def test_onnx_and_properties_of_the_whole_state(capsys: Captured) -> None:
    onnx = pytest.importorskip("onnx")
    answer(capsys, "train --tile all addition --bits 2 --width 64 -q -o whole.safetensors")
    answer(capsys, "export whole.safetensors --to onnx -o net.onnx")
    assert [value.name for value in onnx.load("net.onnx").graph.input] == ["state"]
    export = "export whole.safetensors --to vnnlib -o"
    said = document(capsys, export, "net")
    assert said["files"] == ["net/instances.csv", "net/onnx/sums.onnx"]
    assert said["states"] == 64
    assert (said["properties"], said["cases"]) == (63, 63 * 6)
    lines = Path("net/instances.csv").read_text().splitlines()
    assert lines == [f"onnx/sums.onnx,vnnlib/state_{number}.vnnlib,60" for number in range(1, 64)]
    assert [node.op_type for node in onnx.load("net/onnx/sums.onnx").graph.node] == ["MatMul", "Relu", "MatMul"]
    assert "empty" in refusal(capsys, export, "net")


def test_source_without_a_program_says_so_in_words_and_to_the_compiler(capsys: Captured) -> None:
    answer(capsys, "train dec.bw --sizes n=2..4 -o net.safetensors -q")
    for file in ("net.c", "net.mjs"):
        assert "--program" in call(capsys, "export net.safetensors -o", file)[2]
        assert "--program" not in call(capsys, "export net.safetensors --program dec.bw -o", f"own-{file}")[2]
    answer(capsys, "export net.safetensors --program dec.bw -o dec.html")
    assert "<title>dec " in Path("dec.html").read_text()
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    done = subprocess.run(["gcc", "-DBW_MAIN", "net.c", "-o", "net"], capture_output=True, text=True, check=False)
    assert missing(done.stderr, "#error --program") == []
    subprocess.run(["gcc", "-DBW_MAIN", "own-net.c", "-o", "own"], check=True)
    done = subprocess.run(["./own", "1", "2"], capture_output=True, text=True, check=False)
    assert (done.returncode, missing(done.stderr, "1 dec")) == (2, [])
