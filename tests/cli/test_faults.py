"""Faults on purpose: machine V is killed while it writes checkpoints, and files change under a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from long import LONG
from waiting import PATIENCE, wait_until

from bitwright.cli.main import main
from bitwright.engines.make import make_engine
from bitwright.machines.subleq import Assembly, MachineV, Shape, find_dialect, load_sq, machine_v
from bitwright.machines.subleq.checkpoint import load_checkpoint
from bitwright.machines.subleq.computer import Computer, MachineTally

EXAMPLES = Path(__file__).parents[2] / "examples" / "subleq"
EAGER = (  # the command line, with a checkpoint at every look instead of one a minute
    "import sys, bitwright.api.images as c; c.SAVE_EVERY = 0.0; "
    "from bitwright.cli.main import main; sys.exit(main(sys.argv[1:]))"
)


def machine_of(program: Assembly) -> MachineV:
    assert program.words is not None
    assert program.width is not None
    assert program.dialect is not None
    return machine_v(Shape(program.words, program.width, find_dialect(program.dialect)))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_killed_again_and_again_it_ends_as_if_never_killed(tmp_path: Path) -> None:
    """kill -9 comes once a checkpoint has that many letters read. What was printed after the last one is printed again.

    Until the last run the end of the input is kept back, so that none can end before it is killed.
    """
    program, text = load_sq(EXAMPLES / "count.sq"), b"a line\nand two"
    v, keep, out = machine_of(program), tmp_path / "run.npz", tmp_path / "out"
    supply, wanted = list(text), bytearray()
    whole = Computer(
        v,
        make_engine("templates", v.program),
        v.start(program.image),
        lambda: supply.pop(0) if supply else None,
        wanted.append,
    ).run()

    def done() -> MachineTally:
        return load_checkpoint(keep, v)[1] if keep.exists() else MachineTally()

    said = b""
    for goal in (*[2] * LONG, 6, *[10] * LONG, None):
        said = said[: done().outputs]
        assert len(said) == done().outputs  # what the checkpoint says was written has arrived
        arguments = ["run", str(EXAMPLES / "count.sq"), "-q", "--checkpoint", str(keep)]
        arguments += ["--resume", str(keep)] if keep.exists() else []
        rest = text[done().inputs : None if goal is None else goal + 2]
        with out.open("wb") as stdout:
            process = subprocess.Popen([sys.executable, "-c", EAGER, *arguments], stdin=subprocess.PIPE, stdout=stdout)
        if goal is None:
            process.communicate(rest, timeout=PATIENCE)
        else:
            kill_at(goal, process, rest, lambda: done().inputs)
        said += out.read_bytes()
    state, tally, _ = load_checkpoint(keep, v)
    assert (process.returncode, said) == (0, bytes(wanted))
    assert v.memory(state) == whole.memory
    assert replace(tally, seconds=0.0) == replace(whole.tally, seconds=0.0)


def kill_at(goal: int, process: subprocess.Popen[bytes], given: bytes, inputs: Callable[[], int]) -> None:
    """Gives a run some letters, and kills it as soon as a checkpoint has that many read."""
    assert process.stdin is not None
    process.stdin.write(given)
    process.stdin.flush()
    wait_until(lambda: inputs() >= goal or process.poll() is not None, f"{goal} letters are read")
    process.kill()
    assert process.wait(PATIENCE) == -signal.SIGKILL
    process.stdin.close()


def test_a_program_that_is_replaced_while_it_runs(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on with what it has read; the file that stands there now is another program."""
    source, keep = tmp_path / "echo.sq", tmp_path / "run.npz"
    source.write_text((EXAMPLES / "echo.sq").read_text())
    command = [sys.executable, "-m", "bitwright", "run", str(source), "-q", "--checkpoint", str(keep)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, **pipes) as talk:
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

    def resumed() -> tuple[int, bytes, bytes]:
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"de")))
        code = main(["run", str(source), "-q", "--resume", str(keep)])
        return code, *capfdbinary.readouterr()

    assert resumed()[:2] == (0, b"de")  # another comment, the same program
    source.write_text((EXAMPLES / "echo.sq").read_text() + "more: .data 7\n")
    code, out, err = resumed()
    assert (code, out) == (2, b"")
    assert b"is the run of another program" in err
