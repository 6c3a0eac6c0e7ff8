"""`certify` and `train` with tasks: certificates found and checked, and options that do not go together."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from calling import Captured, answer, call, document, refusal
from decoders import bit_copier

from bitwright import transformers
from bitwright.cli.main import main
from bitwright.transformers import Decoder, load_decoder, load_task, save_decoder
from bitwright.transformers.files import describe_decoder

TEXT = """
words a: 4 symbols 0..1
ensure z[i] == a[i] for i in 1..4
prompt a[1..4]
answer z[4..1]
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a task, and a decoder that is right on all its inputs."""
    monkeypatch.chdir(tmp_path)
    Path("copy.task").write_text(TEXT)
    task, decoder = bit_copier(6.0)
    assert load_task("copy.task").inputs == task.inputs
    save_decoder(decoder, "copy.safetensors")


def certify(*more: str) -> str:
    return " ".join(["certify copy.task --network copy.safetensors", *more])


@pytest.mark.usefixtures("files")
def test_a_certificate_next_to_the_network_is_found_and_holds(capsys: Captured) -> None:
    assert "looked for copy.json" in refusal(capsys, certify("--check"))
    answer(capsys, certify("-o copy.json"))
    for command in (certify("--check"), certify("--check copy.json")):
        assert answer(capsys, command).startswith("copy.json holds: PROVED: ")
    assert "give --network" in refusal(capsys, "certify copy.task --check")
    assert "leave out -o" in refusal(capsys, certify("--check copy.json -o other.json"))


@pytest.mark.usefixtures("files")
def test_a_certificate_that_does_not_hold_ends_with_1(capsys: Captured) -> None:
    answer(capsys, certify("-o copy.json"))
    certificate = json.loads(Path("copy.json").read_text())
    Path("copy.json").write_text(json.dumps(certificate | {"network": "0" * 64}))
    code, out, _ = call(capsys, certify("--check"))
    assert (code, "is for another file" in out) == (1, True)
    certificate["claims"][0] |= {"verdict": "tested", "trees": None}
    Path("copy.json").write_text(json.dumps(certificate))
    code, out, _ = call(capsys, certify("--check"))
    assert (code, out.startswith("DOES NOT HOLD: ")) == (1, True)
    assert "the verdict is proved, but copy.json claims tested" in out
    assert call(capsys, certify("--check -q"))[:2] == (1, "does not hold\n")
    assert "claims tested" in json.dumps(document(capsys, certify("--check")))
    decoder = bit_copier(6.0)[1]
    other: Decoder = replace(decoder, head=(replace(decoder.head[0], weight=decoder.head[0].weight * np.float32(2)),))
    save_decoder(other, "copy.safetensors")
    code, out, _ = call(capsys, certify("--check"))
    assert (code, "is for another network" in out) == (1, True)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("seconds", ["nan", "inf"])
def test_times_are_finite(capsys: Captured, seconds: str) -> None:
    assert f"'--seconds': '{seconds}'" in refusal(capsys, certify("--seconds", seconds))


@pytest.mark.usefixtures("files")
def test_options_that_do_not_go_with_a_task_are_refused(capsys: Captured) -> None:
    Path("copy.task").write_text(TEXT.replace("4", "20"))
    save_decoder(bit_copier(8.0, length=20)[1], "copy.safetensors")
    code, out, _ = call(capsys, certify("-o copy.json --seconds 0"))
    assert (code, out.startswith("NOT DECIDED")) == (1, True)
    assert "must end in .json" in refusal(capsys, certify("-o copy.html"))
    assert "--workers" in refusal(capsys, certify("--workers 2"))
    assert "--resume" in refusal(capsys, certify("--resume copy.part"))
    assert "works only with transformer tasks" in refusal(capsys, "certify addition --seconds 3")


@pytest.mark.usefixtures("files")
def test_check_says_what_a_task_means(capsys: Captured) -> None:
    found = dict(document(capsys, "check copy.task")["meaning"])
    assert found["example"].startswith("a=[")
    prompt, answered = ([int(token) for token in found[name].split()] for name in ("prompt", "answer"))
    assert answered == prompt[::-1]  # the task copies bits backwards
    assert "for 16 inputs" in answer(capsys, "check copy.task")
    for wrong, place in (("answre z[4..1]", "5:1"), ("answer z[4..1] // backwards", "5:16"), ("; backwards", "5:1")):
        Path("wrong.task").write_text(TEXT.replace("answer z[4..1]", wrong))
        code, out, _ = call(capsys, "check wrong.task")
        assert (code, out.startswith(f"wrong.task:{place}: ")) == (1, True), out


@pytest.mark.usefixtures("files")
def test_show_says_what_a_decoder_is(capsys: Captured) -> None:
    found = document(capsys, "show copy.safetensors")
    decoder = load_decoder("copy.safetensors")
    assert found["weights"] == sum(array.size for array in describe_decoder(decoder)[1].values())
    assert found["sha256"] == sha256(Path("copy.safetensors").read_bytes()).hexdigest()
    assert (found["positions"], found["tokens"], found["width"]) == (8, 2, 10)
    out = answer(capsys, "show copy.safetensors")
    assert found["digest"] in out
    assert "1 head" in out
    assert "--text cannot be used with" in refusal(capsys, "show copy.safetensors --text")
    data = Path("copy.safetensors").read_bytes()
    Path("copy.safetensors").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert "damaged" in refusal(capsys, "show copy.safetensors")


def test_help_names_examples_that_exist(capsys: Captured) -> None:
    for verb in ("train", "certify"):
        assert main([verb, "--help"]) == 0
        words = [word for word in capsys.readouterr().out.split() if word.endswith(".task")]
        assert words
        assert all((Path(__file__).parents[2] / word).is_file() for word in words)


def test_names_are_listed() -> None:
    assert set(transformers.__all__) <= set(dir(transformers))
    assert "read_task" in dir(transformers)
