"""Checkpoints of machine V: what is written comes back, and no file whatever does harm."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from facts import missing

from bitwright import InputError
from bitwright.machines.subleq import DIALECTS, Shape, machine_v
from bitwright.machines.subleq.computer import MachineTally, image_hash, load_checkpoint, save_checkpoint

V = machine_v(Shape(8, 5, DIALECTS["plain"]))
TALLY = MachineTally(steps=7, instructions=3, least=1, most=9, margin=0.25, seconds=1.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "run.npz"
    save_checkpoint(found, V, V.start([1, 2, 3]), TALLY, "an image")
    return found


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as refused:
        load_checkpoint(path, V)
    message = str(refused.value)
    assert message.splitlines() == [message]
    assert "run.npz" in message
    return message


def array(data: bytes) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.frombuffer(data, dtype=np.uint8))
    return buffer.getvalue()


def archive(path: Path, members: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", kind) as file:
        for name, data in members.items():
            file.writestr(name, data)


def about_of(path: Path) -> dict[str, object]:
    with np.load(path) as file:
        found: dict[str, object] = json.loads(bytes(file["about"]))
    return found


def rewritten(path: Path, about: bytes | None = None, state: bytes | None = None) -> None:
    with np.load(path) as file:
        before = bytes(file["about"]), bytes(file["state"])
    about, state = before[0] if about is None else about, before[1] if state is None else state
    archive(path, {"about.npy": array(about), "state.npy": array(state)})


def changed(path: Path, **changes: object) -> None:
    rewritten(path, about=json.dumps({**about_of(path), **changes}).encode())


def test_what_was_written_comes_back(path: Path) -> None:
    state, tally, image = load_checkpoint(path, V)
    assert (state == V.start([1, 2, 3])).all()
    assert (tally, image) == (TALLY, "an image")
    with np.load(path) as file:  # it is an ordinary NumPy file
        assert sorted(file.files) == ["about", "state"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, "checkpoint metadata"),
        ({"format": 7}, "metadata missing"),
        ({"format": "bitwright run 1"}, "another bitwright"),
        ({"image": None}, "image must"),
        ({"words": 16}, "machine V:16x5:"),
        ({"words": "16"}, "words integer"),
        ({"width": True}, "width integer"),
        ({"program": "00"}, "another machine"),
        ({"tally": {}}, "lacks steps"),
        ({"tally": [1]}, "tally object"),
        ({"more": 1}, "unknown more"),
        *(
            ({"tally": {**vars(TALLY), name: value}}, f"{name} must be")
            for name, value in (
                *(("steps", -1), ("steps", "7"), ("steps", True), ("steps", 2**63), ("seconds", None)),
                *(("least", 1.5), ("margin", "-1"), ("wrong", None)),
            )
        ),
    ],
)
def test_checkpoints_that_are_not_ours(changes: dict[str, object], message: str, path: Path) -> None:
    changed(path, **changes)
    assert missing(refusal(path), message) == []


def test_a_checkpoint_knows_its_program(path: Path) -> None:
    mine = image_hash(V, [7, -1])
    assert mine == image_hash(V, [7, 31, 0]) != image_hash(V, [7, 30])
    save_checkpoint(path, V, V.start([7, -1]), MachineTally(), mine)
    assert load_checkpoint(path, V, mine)[2] == load_checkpoint(path, V)[2] == mine
    with pytest.raises(InputError, match=r"another.*program"):
        load_checkpoint(path, V, image_hash(V, [7]))


def test_a_flipped_byte_is_one_line_or_changes_nothing(path: Path) -> None:
    good, whole, refused = path.read_bytes(), load_checkpoint(path, V), 0
    for at in range(len(good)):
        for flip in (0x01, 0x10, 0xFF):
            path.write_bytes(good[:at] + bytes([good[at] ^ flip]) + good[at + 1 :])
            try:
                found = load_checkpoint(path, V)
            except InputError:
                refused += 1
            else:  # it hit a time or a version, which nobody reads
                assert (found[0] == whole[0]).all()
                assert found[1:] == whole[1:]
    assert refused > 2 * len(good)


def test_every_shorter_file_is_refused(path: Path) -> None:
    good = path.read_bytes()
    for length in range(len(good)):
        path.write_bytes(good[:length])
        assert "is not a checkpoint of a run" in refusal(path)
