"""Whatever is given in place of a file or a name: one line and exit code 2, soon, and in little memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from calling import Captured, refusal

from bitwright.cli.main import main
from bitwright.errors import InputError
from bitwright.files.journal import Journal
from paper.table import load_table

FLOOD = "bits x\nblock x\nwhen x=1 write x far.x\ninput source = x\n"
LONG = "a" * 100_000


@pytest.fixture
def flood(tmp_path: Path) -> Path:
    path = tmp_path / "flood.bw"
    path.write_text(FLOOD)
    return path


def test_a_pipe_whose_writer_never_comes(flood: Path, tmp_path: Path, capsys: Captured) -> None:
    for suffix in ("bw", "sbn", "sq", "dec", "py", "txt", "npz", "json", "safetensors"):
        os.mkfifo(tmp_path / f"pipe.{suffix}")
    pipe = tmp_path / "pipe"
    for command in (
        *(("run", f"{pipe}.{suffix}") for suffix in ("bw", "sbn", "sq", "dec")),
        *(("check", f"{pipe}.bw"), ("compile", f"{pipe}.py")),
        *(("run", flood, "--graph", f"{pipe}.txt"), ("run", flood, "--graph", "path:3", "--values", f"{pipe}.txt")),
        *(("infer", f"{pipe}.npz", "--blocks", "find"), ("certify", "addition", "--check", f"{pipe}.json")),
    ):
        assert f"{command[-1] if 'find' not in command else f'{pipe}.npz'} is a pipe; give a file" in refusal(
            capsys, *command
        )
    assert f"there is no network file {pipe}.safetensors" in refusal(capsys, "show", f"{pipe}.safetensors")


def test_a_device_without_end(flood: Path, tmp_path: Path, capsys: Captured) -> None:
    for suffix in ("bw", "sbn", "dec", "txt", "npz", "json"):
        (tmp_path / f"zero.{suffix}").symlink_to("/dev/zero")
    zero = tmp_path / "zero"
    for command in (("run", f"{zero}.bw"), ("run", f"{zero}.dec"), ("run", flood, "--graph", f"{zero}.txt")):
        assert f"{command[-1]} is larger than 64 MiB" in refusal(capsys, *command)
    assert "larger than" in refusal(capsys, "certify addition --check", f"{zero}.json")
    assert f"{zero}.npz is not a regular file" in refusal(capsys, "infer", f"{zero}.npz", "--blocks", "find")


def test_files_that_grow_are_regular_files(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="is there already and is not a file; choose another name"):
        Journal(pipe, {"format": "a test"})
    for odd in (pipe, Path("/dev/zero")):
        with pytest.raises(InputError, match="is there already and is not a file; move it away"):
            load_table(odd, ["a"])


@pytest.mark.parametrize(
    "command",
    [
        [LONG],
        ["run", LONG],
        ["run", f"{LONG}.bw"],
        ["check", f"{LONG}.json"],
        ["run", "addition", f"{LONG}=1"],
        ["run", "addition", f"p={LONG}"],
        ["run", "addition", "--order", LONG],
        ["run", "{flood}", "--graph", LONG],
        ["run", "{flood}", "--graph", f"path:{LONG}"],
        ["run", "{flood}", "--graph", f"{LONG}.txt"],
        ["run", "{flood}", "--graph", "path:3", f"source={LONG}"],
        ["show", f"{LONG}.safetensors"],
        ["run", "addition", "--network", LONG],
        ["infer", f"{LONG}.npz", "--blocks", "find"],
        ["certify", "addition", "--check", LONG],
        ["certify", "addition", "-o", f"{LONG}.json"],
    ],
    ids=lambda command: " ".join(command).replace(LONG, "LONG"),
)
def test_a_very_long_name(command: list[str], flood: Path, capsys: Captured) -> None:
    said = refusal(capsys, *(word.replace("{flood}", str(flood)) for word in command))
    assert len(said) < 2_100
    assert "cannot write the output" not in said


def test_a_program_through_standard_input_is_no_named_pipe(capsys: Captured) -> None:
    readable, writable = os.pipe()
    os.write(writable, b"bits x\nblock x\nwhen x=1 write x\n")
    os.close(writable)
    assert main(["check", f"/dev/fd/{readable}"]) == 0
    os.close(readable)
    assert "no problems" in capsys.readouterr().out
