"""Files of executions: written the same every time, read back the same, and refused in one line when they are not."""

import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import for_each

from bitwright import InputError, addition, run
from bitwright.common.files.executions import Executions, load_executions, save_executions
from bitwright.machines.subleq import DIALECTS, Shape, machine_v
from bitwright.machines.subleq.computer import load_checkpoint
from bitwright.runs.successors import executions_of_inputs, executions_of_trace, random_executions

ADDITION = addition(3)


def test_written_and_read_back_alike(tmp_path: Path) -> None:
    made = random_executions(ADDITION.program, 100, seed=3)
    for name in ("one.npz", "two.npz"):
        save_executions(tmp_path / name, made)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    read = load_executions(tmp_path / "one.npz")
    assert np.array_equal(read.before, made.before)
    assert np.array_equal(read.after, made.after)
    assert (read.names, read.program_id) == (tuple(ADDITION.program.layout.names), ADDITION.program.id)


def test_steps_of_a_run_are_consecutive_states() -> None:
    trace = run(ADDITION, p=5, q=3, record=True).trace
    assert trace is not None
    steps = executions_of_trace(trace)
    assert len(steps) == trace.steps
    assert np.array_equal(steps.before[1:], steps.after[:-1])


def test_steps_of_runs_are_those_of_the_rules() -> None:
    made = executions_of_inputs(ADDITION, 9, seed=1)
    assert len(made) == 9 * 6
    first = run(ADDITION, **_numbers(made), record=True).trace
    assert first is not None
    assert np.array_equal(first.states()[:3], made.before[:3])


def _numbers(made: Executions) -> dict[str, int]:
    p, q = made.before[0][:3], made.before[0][3:6]
    return {"p": int(p @ [1, 2, 4]), "q": int(q @ [1, 2, 4])}


def test_what_numpy_users_write_is_read(tmp_path: Path) -> None:
    before = np.array([[0, 1], [1, 1], [1, 0]], dtype=np.uint8)
    np.savez(tmp_path / "x.npz", before=before, after=np.asfortranarray(before), names=np.array(["a", "b[1]"]))
    read = load_executions(tmp_path / "x.npz")
    assert read.before.tolist() == read.after.tolist() == before.astype(bool).tolist()
    assert read.program_id is None


B = np.zeros((3, 2), dtype=np.uint8)
GOOD: dict[str, Any] = {"before": B, "after": B, "names": np.array(["a", "b"])}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "ragged": ({"after": B[:2]}, "3 states before a step and 2 after a step"),
    "other bits": ({"after": B[:, :1]}, "its after has states of 1 bit for 2 names"),
    "too few names": ({"names": np.array(["a"])}, "2 bits for 1 names"),
    "same names": ({"names": np.array(["a", "a"])}, "two of its bits are named a"),
    "no names": ({"names": np.array([], dtype="U1"), "before": B[:, :0], "after": B[:, :0]}, "bit names, got 0"),
    "odd name": ({"names": np.array(["a", "b c"])}, "'b c' is not a valid bit name"),
    "values": ({"before": B + 2}, "values other than 0 and 1"),
    "numbers": ({"before": B.astype(np.int64)}, "has type int64; store it as bool or uint8"),
    "objects": ({"names": np.array(["a", None], dtype=object)}, "its names is"),
    "flat": ({"before": B.ravel()}, "must have 2 dimensions, got 1"),
    "empty": ({"before": B[:0], "after": B[:0]}, "it contains no states"),
    "id": ({"program_id": np.array("xyz")}, "not a sha256"),
    "more": ({"other": B}, "truncated or damaged"),
}


@for_each("case", BAD)
def test_bad_files_are_refused_in_one_line(case: str, tmp_path: Path) -> None:
    changed, reason = BAD[case]
    path = tmp_path / "bad.npz"
    np.savez(path, allow_pickle=True, **{**GOOD, **changed})
    with pytest.raises(InputError, match="execution file") as error:
        load_executions(path)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def header(descr: str, shape: str, order: str = "False") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def code_points(*points: int) -> bytes:
    return b"".join(point.to_bytes(4, "little") for point in points)


# An array as the bytes of its file, in place of a good one; each is refused in one line.
RAW: dict[str, tuple[str, bytes]] = {
    "text without characters": ("names", header("'<U0'", "(2,)")),
    "beyond Unicode": ("names", header("'<U1'", "(2,)") + code_points(0x7FFFFFFF, 98)),
    "half a pair": ("names", header("'<U1'", "(2,)") + code_points(97, 0xD800)),
    "void": ("before", header("'|V1'", "(3, 2)") + bytes(6)),
    "objects": ("before", header("'|O'", "(3, 2)") + bytes(6)),
    "a type that is none": ("before", header("'<u3'", "(3, 2)") + bytes(18)),
    "no dimension": ("before", header("'|u1'", "()") + bytes(1)),
    "huge": ("before", header("'|u1'", "(999999999999999, 2)") + bytes(6)),
    "nothing of much": ("before", header("'|u1'", "(999999999999999, 0)")),
    "id without characters": ("program_id", header("'<U0'", "()")),
    "a header that Python cannot read": ("before", header("'|u1'", "((3, 2)") + bytes(6)),
    "a header that computes": ("before", header("__import__('os').getpid()", "(3, 2)") + bytes(6)),
    "a header of another version": ("before", b"\x93NUMPY\x02\x00\xff\xff\xff\xff"),
    "half a header": ("before", header("'|u1'", "(3, 2)")[:40]),
    "nothing": ("before", b""),
}


@for_each("case", RAW)
def test_arrays_of_other_types_are_refused_in_one_line(case: str, tmp_path: Path) -> None:
    replaced, data = RAW[case]
    np.savez(tmp_path / "good.npz", **GOOD)
    with zipfile.ZipFile(tmp_path / "good.npz") as good, zipfile.ZipFile(tmp_path / "bad.npz", "w") as bad:
        for name in {*good.namelist(), f"{replaced}.npy"}:
            bad.writestr(name, data if name == f"{replaced}.npy" else good.read(name))
    with pytest.raises(InputError, match=r"bad\.npz") as error:
        load_executions(tmp_path / "bad.npz")
    assert "\n" not in str(error.value)


def test_executions_in_memory_are_arrays_of_bool() -> None:
    for states, got in (([[1, 0]], "list"), (B + 2, "an array of uint8"), (None, "NoneType")):
        with pytest.raises(InputError, match=f"before and after must be NumPy arrays of bool, got {got}"):
            Executions(B.astype(bool), states, ("a", "b"))  # type: ignore[arg-type]


def test_bool_that_is_none_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "bad.npz", **{**GOOD, "before": (B + 7).view(bool)})
    with pytest.raises(InputError, match=r"values.*0.*1"):
        load_executions(tmp_path / "bad.npz")


LARGE = 50_000_000


def bomb(path: Path) -> None:
    """A member of 50 MB in a file of 50 KB."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("after", "names"):
            archive.writestr(f"{name}.npy", b"")
        with archive.open("before.npy", "w") as file:
            file.write(header("'|u1'", f"({LARGE},)"))
            for _ in range(LARGE // 1_000_000):
                file.write(bytes(1_000_000))


def lie(path: Path) -> None:
    """The same, and the archive says that it is small."""
    bomb(path)
    true = struct.pack("<L", LARGE + len(header("'|u1'", f"({LARGE},)")))
    data = path.read_bytes()
    assert data.count(true) >= 1
    path.write_bytes(data.replace(true, struct.pack("<L", 300)))


def many(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for at in range(30_000):
            archive.writestr(f"before{at}.npy", b"")


def hole(path: Path) -> None:
    """A directory of a gigabyte, most of it a hole in the file."""
    with path.open("wb") as file:
        file.truncate(1 << 30)
        file.seek(1 << 30)
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 2, 2, 1 << 30, 0, 0))


@pytest.mark.parametrize("make", [bomb, lie, many, hole])
def test_no_file_takes_much_memory(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(path := tmp_path / "large.npz")
    for load in (load_executions, lambda path: load_checkpoint(path, machine_v(Shape(8, 5, DIALECTS["plain"])))):
        tracemalloc.start()
        try:
            with pytest.raises(InputError, match=r"large\.npz.*is not an? (execution file|checkpoint)"):
                load(path)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 4_000_000
