"""Faults on purpose: machine V is killed while it writes checkpoints, and files change under a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bitwright.execution import make_engine
from bitwright.execution.checkpoint import load_checkpoint
from bitwright.execution.computer import Computer, Tally
from bitwright.machines.subleq import Assembly, MachineV, Shape, find_dialect, load_sq, machine_v

EXAMPLES = Path(__file__).parents[2] / "examples" / "subleq"
PATIENCE = 120.0  # seconds; a last resort, no test waits for it
EAGER = (  # the command line, with a checkpoint at every look instead of one a minute
    "import sys, bitwright.cli.computer as c; c._SAVE_EVERY = 0.0; "
    "from bitwright.cli.main import main; sys.exit(main(sys.argv[1:]))"
)


def machine_of(program: Assembly) -> MachineV:
    assert program.words is not None
    assert program.width is not None
    assert program.dialect is not None
    return machine_v(Shape(program.words, program.width, find_dialect(program.dialect)))


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.001)


def written(path: Path) -> tuple[int, int]:
    """Changes whenever a file is put in its place."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_ino, found.st_mtime_ns


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_killed_again_and_again_it_ends_as_if_never_killed(tmp_path: Path) -> None:
    """kill -9 comes some checkpoints after each start. What was printed behind the last one is printed again."""
    program, text = load_sq(EXAMPLES / "count.sq"), b"a line\nand another one"
    v, keep = machine_of(program), tmp_path / "run.npz"
    supply, wanted = list(text), bytearray()
    whole = Computer(
        v,
        make_engine("templates", v.program),
        v.start(program.image),
        lambda: supply.pop(0) if supply else None,
        wanted.append,
    ).run()
    said, kills, code = b"", 0, None
    while code is None:
        done = load_checkpoint(keep, v)[1] if keep.exists() else Tally()
        said = said[: done.outputs]
        assert len(said) == done.outputs  # what the checkpoint says was written has arrived
        arguments = ["run", str(EXAMPLES / "count.sq"), "-q", "--checkpoint", str(keep)]
        arguments += ["--resume", str(keep)] if keep.exists() else []
        out = tmp_path / "out"
        rest = tmp_path / "in"
        rest.write_bytes(text[done.inputs :])
        with out.open("wb") as stdout, rest.open("rb") as stdin:
            process = subprocess.Popen([sys.executable, "-c", EAGER, *arguments], stdin=stdin, stdout=stdout)
        seen, most = [written(keep)], 6 + 4 * kills

        def happened(
            process: subprocess.Popen[bytes] = process, seen: list[tuple[int, int]] = seen, most: int = most
        ) -> bool:
            if seen[-1] != (now := written(keep)):
                seen.append(now)
            return process.poll() is not None or len(seen) > most

        wait_for(happened)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        code = process.wait(PATIENCE)
        code = None if code == -signal.SIGKILL else code
        said += out.read_bytes()
    state, tally, _ = load_checkpoint(keep, v)
    assert (code, said) == (0, bytes(wanted))
    assert kills >= 3
    assert v.memory(state) == whole.memory
    assert replace(tally, seconds=0.0) == replace(whole.tally, seconds=0.0)


def test_a_program_that_is_replaced_while_it_runs(tmp_path: Path) -> None:
    """The run goes on with what it has read; the file that stands there now is another program."""
    source, keep = tmp_path / "echo.sq", tmp_path / "run.npz"
    source.write_text((EXAMPLES / "echo.sq").read_text())
    command = [sys.executable, "-m", "bitwright", "run", str(source), "-q"]
    with subprocess.Popen(
        [*command, "--checkpoint", str(keep)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as talk:
        assert talk.stdin is not None
        assert talk.stdout is not None

        def exchange(letter: bytes) -> None:
            assert talk.stdin is not None
            assert talk.stdout is not None
            talk.stdin.write(letter)
            talk.stdin.flush()
            assert talk.stdout.read(1) == letter

        exchange(b"a")
        source.write_text((EXAMPLES / "hello.sq").read_text())  # in place
        exchange(b"b")
        source.unlink()
        keep.write_bytes(b"not a checkpoint at all")
        exchange(b"c")
        (tmp_path / "other").write_text((EXAMPLES / "echo.sq").read_text().replace("howerj", "howerj ; changed"))
        os.replace(tmp_path / "other", source)
        talk.send_signal(signal.SIGINT)
        talk.communicate(timeout=PATIENCE)
    assert talk.returncode == 130
    done = subprocess.run([*command, "--resume", str(keep)], input=b"de", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"de")  # another comment, the same program
    source.write_text((EXAMPLES / "echo.sq").read_text() + "more: .data 7\n")
    done = subprocess.run([*command, "--resume", str(keep)], input=b"de", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"is the run of another program" in done.stderr
