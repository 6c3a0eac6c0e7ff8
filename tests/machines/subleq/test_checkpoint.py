"""Checkpoints of machine V: what is written comes back, and no file whatever does harm."""

from __future__ import annotations

import io
import json
import re
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from facts import missing

from bitwright import InputError
from bitwright.machines.subleq import DIALECTS, Shape, machine_v
from bitwright.machines.subleq.checkpoint import image_hash, load_checkpoint, save_checkpoint
from bitwright.machines.subleq.computer import MachineTally

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
        ({"format": "other"}, "checkpoint does"),
        ({"format": 7}, "does that"),
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


HEADER = b"{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }"


def headed(header: bytes, body: bytes) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header) + 1) + header + b"\n" + body


@pytest.mark.parametrize(
    "member",
    [
        headed(b"{'descr': '|u1', 'fortran_order': False, 'shape': ((3,), }", b"abc"),  # Python cannot read it
        headed(b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }", b"abc"),
        headed(HEADER % 10**12, b"abc"),
        headed(HEADER % 2, b"abc"),
        headed(b"  " * 60, b"abc"),
        headed(b"__import__('os').getpid()", b"abc"),
        headed(HEADER % 3, b"abc")[:40],
        b"",
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff",
    ],
)
@pytest.mark.parametrize("name", ["about", "state"])
def test_members_that_are_damaged_with_a_good_checksum(member: bytes, name: str, path: Path) -> None:
    with zipfile.ZipFile(path) as file:
        members = {entry.filename: file.read(entry) for entry in file.infolist()}
    archive(path, {**members, f"{name}.npy": member})
    assert re.search(rf"its {name} is (damaged|not a plain array)$", refusal(path))


LARGE = 50_000_000


def _bomb(path: Path, name: str) -> None:
    """A member of 50 MB in a file of 50 KB."""
    with zipfile.ZipFile(path) as file:
        members = {entry.filename: file.read(entry) for entry in file.infolist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for other in members.keys() - {f"{name}.npy"}:
            file.writestr(other, members[other])
        with file.open(f"{name}.npy", "w") as out:
            out.write(headed(HEADER % LARGE, b""))
            for _ in range(LARGE // 1_000_000):
                out.write(bytes(1_000_000))


def _lie(path: Path, name: str) -> None:
    """The same, and the archive says that it is small."""
    _bomb(path, name)
    data = path.read_bytes()
    true = struct.pack("<L", LARGE + len(headed(HEADER % LARGE, b"")))
    assert data.count(true) >= 1
    path.write_bytes(data.replace(true, struct.pack("<L", 300)))


def _many(path: Path, name: str) -> None:
    """Thirty thousand members."""
    archive(path, {f"{name}{at}.npy": b"" for at in range(30_000)}, zipfile.ZIP_STORED)


def _hole(path: Path, _: str) -> None:
    """A directory of a gigabyte, most of it a hole in the file."""
    with path.open("wb") as file:
        file.truncate(1 << 30)
        file.seek(1 << 30)
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 2, 2, 1 << 30, 0, 0))


@pytest.mark.parametrize("make", [_bomb, _lie, _many, _hole])
@pytest.mark.parametrize("name", ["about", "state"])
def test_no_file_takes_much_memory(make: object, name: str, path: Path) -> None:
    make(path, name)  # type: ignore[operator]
    tracemalloc.start()
    try:
        message = refusal(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "is not a checkpoint of a run" in message
    assert peak < 4_000_000
