"""Machines on the command line: SBN and SUBLEQ programs run, their memory, streams and checkpoints."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from calling import Captured, call, document
from cases import for_each
from facts import missing
from long import LONG
from subleq_lockstep import machine_of, reader
from waiting import PATIENCE, wait_until

from bitwright.cli.main import main
from bitwright.engines.make import make_engine
from bitwright.machines.subleq import load_sq
from bitwright.machines.subleq.computer import Computer, MachineTally, load_checkpoint

ROOT = Path(__file__).parents[2]
SBN, SUBLEQ = ROOT / "examples" / "sbn", ROOT / "examples" / "subleq"
MULTIPLY, HELLO, ECHO = SBN / "multiply.sbn", SUBLEQ / "hello.sq", SUBLEQ / "echo.sq"
Ask = Callable[..., tuple[int, str, str]]


# SBN.


def test_a_program_of_sbn_runs_is_traced_and_certified(capsys: Captured, tmp_path: Path) -> None:
    code, out, err = call(capsys, "run", MULTIPLY, "a=7", "b=13")
    assert (code, out, missing(err, "B 4 6 8 29")) == (0, "product = 91\n", [])
    found = document(
        capsys, "run", MULTIPLY, "a=-3", "b=2", "--machine", "A", "--engine", "limit", "--rounding", "sign"
    )
    assert (found["value"], found["machine"], found["executed"]) == (-6, "A", 7)
    assert found["sizes"] == {"instructions": 4, "words": 6, "width": 8}
    shown = document(capsys, "show", MULTIPLY)
    assert (shown["halt"], shown["writers_max"]) == ("HALT", 2)
    assert call(capsys, "certify", MULTIPLY, "--rounding", "sign")[0] == 0
    assert document(capsys, "size", MULTIPLY)["calibrated"]["networks"] > 0
    picture = tmp_path / "machine.svg"
    assert call(capsys, "show", MULTIPLY, "-o", picture)[0] == 0
    assert "kind 1" in picture.read_text()
    (tmp_path / "plain.sbn").write_text(".width 4\n.in a\nsub a b\n")  # without outputs every named word is one
    assert call(capsys, "run", tmp_path / "plain.sbn", "a=-1")[1] == "a = -1\nb = 1\n"
    narrow = "train --machine A --width 96 --tolerance 0.3 --weight-bits 2 -q -o"
    assert call(capsys, narrow, tmp_path / "bad.safetensors", SBN / "gcd.sbn")[0] == 1
    code, out, _ = call(capsys, "certify", SBN / "gcd.sbn", "--machine", "A", "--network", tmp_path / "bad.safetensors")
    assert (code, missing(out, "wrong state")) == (1, [])


@pytest.mark.parametrize("machine", ["A", "B"])
def test_a_trace_marks_instructions_and_phases(capsys: Captured, tmp_path: Path, machine: str) -> None:
    arguments = ("trace", SBN / "gcd.sbn", "a=4", "b=6", "--machine", machine)
    lines = call(capsys, *arguments)[1].splitlines()
    assert lines[0].split()[2].startswith("M_")  # memory, and not every bit of the machine
    assert missing(lines[1], "0: q -= b") == []
    phases = [line.split()[-1] for line in lines if line.endswith(("read", "subtract", "write", "branch"))]
    assert phases[:5] == ["read", "subtract", "write", "branch", "read"]
    assert any(line.endswith("  end") for line in lines)
    assert call(capsys, *arguments, "-o", tmp_path / "gcd.html")[0] == 0
    assert '"phases":["fetch","read","subtract","write","branch"]' in (tmp_path / "gcd.html").read_text()


@for_each(
    ("name", "text", "places"),
    [
        ("bad.sbn", "jmp nowhere\nsbn a\n", [":1:5:", ":2:6:"]),
        ("bad.sq", "subleq a, b\njmp", [":1:8:", ":1:11:", ":2:4:"]),
    ],
)
def test_check_finds_the_problems(capsys: Captured, tmp_path: Path, name: str, text: str, places: list[str]) -> None:
    path = tmp_path / name
    path.write_text(text)
    code, out, _ = call(capsys, "check", path)
    assert (code, [line.removeprefix(str(path)).split(" ")[0] for line in out.splitlines()]) == (1, places)
    for good, facts in ((MULTIPLY, "no problems"), (ECHO, "34")):
        assert missing(call(capsys, "check", good)[1], facts) == []
    path.with_suffix(".dec").write_text("3 3 -1")
    assert missing(call(capsys, "check", path.with_suffix(".dec"))[1], "no problems 3") == []
    path.with_suffix(".sq").write_text(".dialect plain\nin x\nhalt\nx: .data -1, -1, -1")
    code, out, err = call(capsys, "check", path.with_suffix(".sq"))
    assert (code, missing(out, "1 warning"), missing(err, "warning: -1, plain")) == (0, [], [])


# SUBLEQ.


class _Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


@pytest.fixture
def bitwright(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Ask:
    def ask(*arguments: object, given: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", _Stdin(given))
        code = main([str(argument) for argument in arguments])
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return code, out.decode("latin-1"), err.decode()

    return ask


def test_hello_a_pipe_and_the_limit(bitwright: Ask, tmp_path: Path) -> None:
    code, out, err = bitwright("run", HELLO)
    assert (code, out) == (0, "Hello, world!\n")
    assert missing(err, "255 70 1,487 2,555 templates, n = 109 140, 0 14") == []
    code, out, err = bitwright("run", ECHO, "--engine", "limit", "--rounding", "sign", given=b"\x00any\xffbyte\n")
    assert (code, out, missing(err, "limit, sign 0.00 10")) == (0, "\x00any\xffbyte\n", [])
    code, out, err = bitwright("run", HELLO, "--json", "--max-steps", 33)
    found = json.loads(out)
    assert (code, found["ended"], found["output"], found["instructions"], found["halted"]) == (
        *(1, "limit", "Hello, ", 33, False),
    )
    assert (found["dialect"], found["bytes_in"], found["bytes_out"]) == ("howerj", 0, 7)
    assert missing(err, "--max-steps 33") == []
    code, _, err = bitwright("run", HELLO, "--seconds", 0, "-q")
    assert (code, "--seconds" in err) == (1, True)
    code, _, err = bitwright("run", HELLO, "--engine", "sampled", "--max-steps", 2, "-q")
    assert (code, "--networks" in err) == (1, True)
    (tmp_path / "print.dec").write_text("9 -1 3\n10 -1 6\n11 11 -1\n72 105 0")
    code, out, err = bitwright("run", tmp_path / "print.dec", "--machine", "V:16x8:howerj")
    assert (code, out, missing(err, "16 8 howerj: 255 3")) == (0, "Hi", [])
    _, _, err = bitwright("run", tmp_path / "print.dec", "--machine", "V:16x8:plain", "--max-steps", 2)
    assert missing(err, "2 -1,") == []  # which other dialects use as a port


RESULT = """
.words 32
.width 8
.dialect plain
        sub b, a
        sub #1, n
        halt
n:      .data -6
a:      .data 5
b:      .data 7
"""


@for_each(
    ("options", "printed"),
    [
        ("--memory a", "a: -2\n"),
        ("--memory 0xa --memory n", "0xa: -2\nn: -7\n"),
        ("--memory 0:9", "0: 11 10 3 13 9 6 12 12\n8: -1 -7\n"),
        ("--memory n:b --max-steps 1", "9: -6 -2 7\n"),
        ("", ""),
    ],
)
def test_words_of_memory(bitwright: Ask, tmp_path: Path, options: str, printed: str) -> None:
    """In a dialect without output a becomes 5 - 7, and n becomes -7."""
    (tmp_path / "result.sq").write_text(RESULT)
    code, out, err = bitwright("run", tmp_path / "result.sq", *options.split())
    assert (out, code) == (printed, "--max-steps" in options)
    assert ("--memory" in err) == (not options)
    code, out, _ = bitwright("run", tmp_path / "result.sq", "--memory", "n:a", "--memory", "b", "--json")
    found = json.loads(out)
    assert (code, found["halted"], found["pc"], found["instructions"]) == (0, True, 255, 3)
    assert found["memory"] == [
        {"asked": "n:a", "address": 9, "words": [-7, -2]},
        {"asked": "b", "address": 11, "words": [7]},
    ]
    assert (found["name"], len(found["program_id"]), len(found["image_id"])) == ("result", 64, 64)


def test_a_checkpoint_belongs_to_its_program(bitwright: Ask, tmp_path: Path) -> None:
    keep, other = tmp_path / "run.npz", tmp_path / "other.sq"
    other.write_text(HELLO.read_text().replace("Hello", "Jello"))
    assert bitwright("run", HELLO, "-q", "--max-steps", 33, "--resume", keep)[:2] == (1, "Hello, ")
    code, out, err = bitwright("run", other, "--resume", keep)
    assert (code, out, missing(err, "run.npz another program")) == (2, "", [])
    code, _, err = bitwright("run", ECHO, "--resume", keep)
    assert (code, missing(err, "--machine V:64x8:howerj")) == (2, [])
    machine = ("machine-v", "--machine", "V:64x8:howerj")
    assert bitwright("run", *machine, "--resume", keep)[:2] == (0, "world!\n")
    code, out, err = bitwright("run", HELLO, "--resume", keep)
    assert (code, out, missing(err, "70 1,487")) == (0, "", [])  # as if it had been run at once
    (tmp_path / "folder.npz").mkdir()
    for path in (tmp_path / "no" / "run.npz", tmp_path / "folder.npz"):  # seen at once: nothing has been run
        assert bitwright("run", HELLO, "--resume", path)[:2] == (2, "")


@pytest.mark.parametrize(("letter", "wanted"), [("H", b"H\r\nbitwright: stopped"), ("\\n", b"\r\nbitwright: stopped")])
def test_what_is_said_has_a_line_of_its_own(
    letter: str, wanted: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pty

    path = tmp_path / "letter.sq"
    path.write_text(f".words 16\n.width 8\n.dialect howerj\nout #'{letter}'\nhalt")
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as out, os.fdopen(os.dup(theirs), "w") as err:
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        main(["run", str(path), "-q", "--max-steps", "1"])
        monkeypatch.undo()
    said = b""
    with suppress(OSError):  # which Linux says at the end
        while piece := os.read(ours, 10_000):
            said += piece
    os.close(ours)
    assert said.startswith(wanted), said


PIPES: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_conversation_and_control_c(number: signal.Signals, code: int, bitwright: Ask, tmp_path: Path) -> None:
    """Letters are answered one by one, whatever becomes of the file; Ctrl-C leaves a checkpoint that goes on."""
    source, keep = tmp_path / "echo.sq", tmp_path / "talk.npz"
    source.write_text(ECHO.read_text())
    command = [sys.executable, "-m", "bitwright", "run", str(source), "--resume", str(keep)]
    with subprocess.Popen(command, **PIPES) as talk:
        assert talk.stdin is not None
        assert talk.stdout is not None
        for letter in b"abc":
            talk.stdin.write(bytes([letter]))
            talk.stdin.flush()
            assert talk.stdout.read(1) == bytes([letter])
            source.write_text(HELLO.read_text())
            keep.write_bytes(b"not a checkpoint at all")
        talk.send_signal(number)
        _, err = talk.communicate(timeout=PATIENCE)
    assert (talk.returncode, missing(err.decode(), "bitwright: stopped"), b"Traceback" in err) == (code, [], False)
    assert bitwright("run", ECHO, "--resume", keep, "-q", given=b"de")[:2] == (0, "de")
    assert bitwright("run", source, "--resume", keep)[0] == 2


def test_streams_that_are_closed(tmp_path: Path) -> None:
    """A program that asks for a letter, which is the end of the input, and then says something."""
    (tmp_path / "ask.sq").write_text(".words 16\n.width 8\n.dialect howerj\nin x\nout #'H'\nhalt\nx: .data 0")
    command = f"{sys.executable} -m bitwright run ask.sq <&- >&-"
    found = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (found.returncode, missing(found.stderr, "0 1"), "Traceback" in found.stderr) == (0, [], False)


EAGER = (  # the command line, with a checkpoint at every look instead of one a minute
    "import sys, bitwright.verbs.images as c; c.SAVE_EVERY = 0.0; "
    "from bitwright.cli.main import main; sys.exit(main(sys.argv[1:]))"
)


def test_killed_again_and_again_it_ends_as_if_never_killed(tmp_path: Path) -> None:
    """kill -9 comes once a checkpoint has that many letters read. What was printed after the last one is printed again.

    Until the last run the end of the input is kept back, so that none can end before it is killed.
    """
    program, text = load_sq(SUBLEQ / "count.sq"), b"a line\nand two"
    v, keep, out = machine_of(program), tmp_path / "run.npz", tmp_path / "out"
    wanted = bytearray()
    engine = make_engine("templates", v.program)
    whole = Computer(v, engine, v.start(program.image), reader(text), wanted.append).run()

    def done() -> MachineTally:
        return load_checkpoint(keep, v)[1] if keep.exists() else MachineTally()

    said = b""
    for goal in (*[2] * LONG, 6, *[10] * LONG, None):
        said = said[: done().outputs]
        assert len(said) == done().outputs  # what the checkpoint says was written has arrived
        arguments = ["run", str(SUBLEQ / "count.sq"), "-q", "--resume", str(keep)]
        arguments += ["--resume", str(keep)] if keep.exists() else []
        rest = text[done().inputs : None if goal is None else goal + 2]
        with out.open("wb") as stdout:
            process = subprocess.Popen([sys.executable, "-c", EAGER, *arguments], stdin=subprocess.PIPE, stdout=stdout)
        if goal is None:
            process.communicate(rest, timeout=PATIENCE)
        else:
            assert process.stdin is not None
            process.stdin.write(rest)
            process.stdin.flush()
            ended = process.poll
            wait_until(lambda g=goal, e=ended: done().inputs >= g or e() is not None, f"{goal} letters are read")  # type: ignore[misc]
            process.kill()
            assert process.wait(PATIENCE) == -signal.SIGKILL
            process.stdin.close()
        said += out.read_bytes()
    state, tally, _ = load_checkpoint(keep, v)
    assert (process.returncode, said) == (0, bytes(wanted))
    assert v.memory(state) == whole.memory
    assert replace(tally, seconds=0.0) == replace(whole.tally, seconds=0.0)
