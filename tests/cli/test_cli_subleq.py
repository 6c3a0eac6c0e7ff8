"""SUBLEQ images on the command line: what is printed, what is said, and what is refused."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from waiting import PATIENCE

from bitwright.cli.main import main

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "subleq"
Ask = Callable[..., tuple[int, str, str]]


class _Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


@pytest.fixture
def bitwright(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Ask:
    def call(*arguments: object, given: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", _Stdin(given))
        code = main([str(argument) for argument in arguments])
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return code, out.decode("latin-1"), err.decode()

    return call


def test_hello(bitwright: Ask) -> None:
    code, out, err = bitwright("run", EXAMPLES / "hello.sq")
    assert (code, out) == (0, "Hello, world!\n")
    assert "halted at address 255 after 70 instructions, 1,487 steps" in err
    assert "2,555 templates, engine templates, n = 109 to 140, 0 bytes in, 14 out" in err


def test_a_pipe_and_the_limit(bitwright: Ask) -> None:
    arguments = ("run", EXAMPLES / "echo.sq", "--engine", "limit", "--rounding", "sign")
    code, out, err = bitwright(*arguments, given=b"\x00any\xffbyte\n")
    assert (code, out) == (0, "\x00any\xffbyte\n")
    assert "engine limit, sign rounding, n = " in err
    assert "smallest margin 0.00" in err
    assert "10 bytes in, 10 out" in err


def test_json_and_limits(bitwright: Ask) -> None:
    code, out, err = bitwright("run", EXAMPLES / "hello.sq", "--json", "--max-instructions", 33)
    found = json.loads(out)
    assert code == 1
    assert found["ended"] == "limit"
    assert (found["output"], found["instructions"], found["halted"]) == ("Hello, ", 33, False)
    assert found["dialect"] == "top,io"
    assert (found["bytes_in"], found["bytes_out"], found["memory"]) == (0, 7, [])
    assert "stopped at --max-instructions after 33 instructions" in err
    code, _, err = bitwright("run", EXAMPLES / "hello.sq", "--max-seconds", 0, "-q")
    assert code == 1
    assert "stopped at --max-seconds" in err


def test_a_checkpoint_is_taken_up(bitwright: Ask, tmp_path: Path) -> None:
    keep = tmp_path / "run.npz"
    arguments = ("run", EXAMPLES / "hello.sq", "-q")
    first = bitwright(*arguments, "--max-instructions", 33, "--checkpoint", keep)
    second = bitwright(*arguments, "--resume", keep)
    assert (first[0], second[0]) == (1, 0)
    assert first[1] + second[1] == "Hello, world!\n"
    code, _, err = bitwright("run", EXAMPLES / "echo.sq", "--resume", keep)
    assert code == 2
    assert "belongs to another machine; run it with --words 64 --word-width 8 --dialect top,io" in err


def test_a_checkpoint_belongs_to_its_program(bitwright: Ask, tmp_path: Path) -> None:
    keep, other = tmp_path / "run.npz", tmp_path / "other.sq"
    other.write_text((EXAMPLES / "hello.sq").read_text().replace("Hello", "Jello"))
    arguments = ("run", EXAMPLES / "hello.sq", "-q", "--max-instructions", 33, "--checkpoint", keep)
    assert bitwright(*arguments)[0] == 1
    code, out, err = bitwright("run", other, "--resume", keep)
    assert (code, out) == (2, "")
    assert "run.npz is the run of another program; give the image that it began with" in err
    machine = ("machine-v", "--words", 64, "--word-width", 8, "--dialect", "top,io")
    code, out, _ = bitwright("run", *machine, "--resume", keep, "--checkpoint", keep)
    assert (code, out) == (0, "world!\n")
    code, out, err = bitwright("run", EXAMPLES / "hello.sq", "--resume", keep)
    assert (code, out) == (0, "")
    assert "after 70 instructions, 1,487 steps" in err  # as if it had been run at once


def test_where_a_checkpoint_cannot_be_written_is_seen_at_once(bitwright: Ask, tmp_path: Path) -> None:
    (tmp_path / "folder.npz").mkdir()
    for path, message in ((tmp_path / "no" / "run.npz", "No such file"), (tmp_path / "folder.npz", "is not a file")):
        code, out, err = bitwright("run", EXAMPLES / "hello.sq", "--checkpoint", path)
        assert (code, out) == (2, "")  # nothing has been run
        assert message in err
    code, _, _ = bitwright("run", EXAMPLES / "hello.sq", "--checkpoint", tmp_path / "run.npz")
    assert code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.npz", "run.npz"]


def test_an_image_and_its_options(bitwright: Ask, tmp_path: Path) -> None:
    image = tmp_path / "print.dec"
    image.write_text("9 -1 3\n10 -1 6\n11 11 -1\n72 105 0")
    machine = ("--machine", "V", "--words", 16, "--word-width", 8, "--dialect", "howerj")
    code, out, err = bitwright("run", image, *machine)
    assert (code, out) == (0, "Hi")
    assert "16 words of 8 bits, dialect howerj: halted at address 255 after 3 instructions" in err
    _, _, err = bitwright("run", image, "--words", 16, "--word-width", 8, "--dialect", "plain", "--max-instructions", 2)
    assert "2 instructions name address -1, which dialects with io use as a port" in err


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("1 2 3", [], "does not say what machine it is for; give its words, word width, dialect"),
        ("1 2 3", ["--words", "8", "--word-width", "8"], "give its dialect, such as"),
        ("1 2 x", ["--words", "8", "--word-width", "8", "--dialect", "plain"], "image.dec:1: 'x' is not a word"),
        ("1", ["--words", "16777216", "--word-width", "64", "--dialect", "plain"], "GB are free; give fewer words"),
        ("1", ["--machine", "B", "--words", "8"], "is for machine V, not machine B"),
        ("1", ["--max-steps", "5", "--words", "8", "--word-width", "8", "--dialect", "plain"], "leave out --max-steps"),
        (
            "1",
            ["--checkpoint", "x", "--words", "8", "--word-width", "8", "--dialect", "plain"],
            "--checkpoint takes a .npz file, got x",
        ),
        ("", ["--words", "8"], "is empty"),
        (
            "1",
            ["--words", "8", "--width", "8", "--word-width", "9", "--dialect", "plain"],
            "--width goes with --engine network, not templates",
        ),
        ("1", ["--words", "64", "--word-width", "4", "--dialect", "plain"], "use fewer words or a larger word width"),
    ],
)
def test_bad_input_is_one_line(text: str, options: list[str], message: str, tmp_path: Path, bitwright: Ask) -> None:
    (tmp_path / "image.dec").write_text(text)
    code, out, err = bitwright("run", tmp_path / "image.dec", *options)
    assert (code, out) == (2, "")
    assert message in err
    assert len([line for line in err.splitlines() if line.startswith("bitwright: ")]) == 1
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "examples/addition.bw", "--max-instructions", "3"], "go with images for machine V"),
        (["run", "examples/addition.bw", "--words", "3"], "--machine goes with .sbn, .sq and .dec programs"),
        (["run", "examples/sbn/gcd.sbn", "--machine", "V"], "an SBN program runs on machine A or B"),
        (["run", "examples/subleq/hello.sq", "a=1"], "takes its input from standard input"),
        (["run", "machine-v", "--words", "8", "--word-width", "8", "--dialect", "plain"], "needs an image to run"),
        (["run", "examples/subleq/hello.sq", "--seed", "3"], "--seed goes with --engine sampled or network"),
        (
            ["run", "examples/subleq/matrix.sq", "--engine", "network", "--tile", "all"],
            "GB are free; give a trained one by --network",
        ),
        (["run", "examples/subleq/hello.sq", "--width", "8"], "--width goes with --engine network, not templates"),
        (["run", "examples/subleq/hello.sq", "--max-seconds", "nan"], "nan is not a number of seconds such as 60"),
        (["run", "examples/subleq/hello.sq", "--max-seconds", "inf"], "inf is not a number of seconds such as 60"),
        (["certify", "machine-v", "--bits", "4"], "machine V takes --words and --word-width"),
    ],
)
def test_options_that_do_not_go_together(
    arguments: list[str], message: str, bitwright: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    code, _, err = bitwright(*arguments)
    assert code == 2
    assert message in err


def test_certificates_and_sizes(bitwright: Ask) -> None:
    machine = ("--words", 32, "--word-width", 8, "--dialect", "kth")
    code, out, _ = bitwright("certify", "machine-v", *machine)
    assert code == 0
    assert "CERTIFIED: machine-v (a stored-program SUBLEQ computer, 32 words of 8 bits, dialect kth)" in out
    assert "K = 1,425, no padding" in out
    assert "n = 1 to 920" in out
    code, out, _ = bitwright("size", "machine-v", *machine, "--json")
    found = json.loads(out)
    assert code == 0
    assert 0 < found["calibrated"]["networks"] < found["sign_tight"]["networks"]


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


@pytest.fixture
def result(tmp_path: Path) -> Path:
    """A program whose dialect has no output: a becomes 5 - 7, and n becomes -7."""
    path = tmp_path / "result.sq"
    path.write_text(RESULT)
    return path


@pytest.mark.parametrize(
    ("options", "printed"),
    [
        (["--memory", "a"], "a: 254\n"),
        (["--memory", "a", "--signed"], "a: -2\n"),
        (["--memory", "10"], "10: 254\n"),
        (["--memory", "0xa", "--memory", "n", "--signed"], "0xa: -2\nn: -7\n"),
        (["--memory", "n:b"], "9: 249 254 7\n"),
        (["--memory", "0:9", "--signed"], "0: 11 10 3 13 9 6 12 12\n8: -1 -7\n"),
        (["--memory", "n:b", "--signed", "-q"], "-7 -2 7\n"),
        (["--memory", "n:b", "--signed", "--max-instructions", "1"], "9: -6 -2 7\n"),
        (["--memory", "n:b", "--signed", "--max-instructions", "0"], "9: -6 5 7\n"),
        (["--memory", "n:b", "--signed", "--entry", "3"], "9: -7 5 7\n"),
        ([], ""),
    ],
)
def test_words_of_memory(bitwright: Ask, result: Path, options: list[str], printed: str) -> None:
    code, out, err = bitwright("run", result, *options)
    assert out == printed
    assert code == ("--max-instructions" in options)
    assert ("--memory FROM:TO shows what is in memory" in err) == (not options)


def test_memory_and_address_as_json(bitwright: Ask, result: Path) -> None:
    arguments = ("run", result, "--memory", "n:a", "--memory", "b", "--json")
    code, out, _ = bitwright(*arguments)
    found = json.loads(out)
    assert (code, found["halted"], found["pc"], found["instructions"]) == (0, True, 255, 3)
    assert found["memory"] == [
        {"asked": "n:a", "address": 9, "words": [249, 254]},
        {"asked": "b", "address": 11, "words": [7]},
    ]
    assert (found["name"], found["seed"], found["start"], found["output"]) == ("result", None, 0, "")
    assert len(found["program_id"]) == len(found["image_id"]) == 64
    code, out, err = bitwright(*arguments, "--signed", "--max-instructions", 1)
    found = json.loads(out)
    assert (code, found["halted"], found["ended"], found["pc"]) == (1, False, "limit", 3)
    assert found["memory"][0]["words"] == [-6, -2]
    assert err == "bitwright: stopped at --max-instructions after 1 instruction, at address 3\n"
    assert json.loads(bitwright(*arguments, "--signed")[1])["pc"] == -1


def test_memory_behind_the_output_of_a_program(bitwright: Ask, tmp_path: Path) -> None:
    path = tmp_path / "letter.sq"
    path.write_text(".words 16\n.width 8\n.dialect howerj\nout x\nhalt\nx: .data 'H'")
    assert bitwright("run", path, "--memory", "x")[1] == "H\nx: 72\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--memory", "nn"], "--memory takes a number such as 12 or a label, got 'nn'; did you mean 'n'?"),
        (["--memory", ""], "--memory takes a number such as 12 or a label, got ''"),
        (["--memory", "5:3"], "FROM before TO, got '5:3'"),
        (["--memory", "5:32"], "addresses from 0 to 31, got 32"),
        (["--memory", "1:2:3"], "--memory must be an integer such as 719, 0x2cf or 0b101, got '2:3'"),
        (["--memory", "12x"], "--memory must be an integer"),
        (["--entry", "999"], "the first address must fit in 8 bits, got 999"),
        (["--entry", "x"], "--entry takes a number such as 12 or a label, got 'x'"),
        (["--signed"], "--signed goes with --memory or --json"),
        (["--entry", "3", "--resume", "none.npz"], "leave out --entry"),
    ],
)
def test_memory_that_is_not_there(bitwright: Ask, result: Path, options: list[str], message: str) -> None:
    code, out, err = bitwright("run", result, *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_the_assembler_and_the_checker(bitwright: Ask, tmp_path: Path) -> None:
    code, out, _ = bitwright("compile", EXAMPLES / "echo.sq")
    assert code == 0
    assert out.splitlines()[0] == "-1 30 3"
    code, out, _ = bitwright("check", EXAMPLES / "echo.sq")
    assert (code, "no problems (34 words" in out) == (0, True)
    (tmp_path / "bad.sq").write_text("subleq a, b\njmp")
    code, out, _ = bitwright("check", tmp_path / "bad.sq")
    assert code == 1
    assert "bad.sq:1:8: 'a' is not defined" in out
    assert "bad.sq:2:4: 'jmp' takes 1 operand, got 0 (the form is: jmp target)" in out


def test_images_where_programs_are_expected(bitwright: Ask, tmp_path: Path) -> None:
    image = tmp_path / "three.dec"
    image.write_text("3 3 -1")
    code, out, _ = bitwright("check", image)
    assert (code, "no problems (an image of 3 words)" in out) == (0, True)
    code, _, err = bitwright("compile", image)
    assert (code, "three.dec needs no compiling" in err) == (2, True)
    code, _, err = bitwright("compile", EXAMPLES / "echo.sq", "--word-width", 8)
    assert (code, "--word-width goes with Python sources" in err) == (2, True)


def test_ports_that_the_dialect_does_not_have(bitwright: Ask, tmp_path: Path) -> None:
    path = tmp_path / "plain.sq"
    path.write_text(".dialect plain\nin x\nhalt\nx: .data -1, -1, -1")
    code, out, err = bitwright("check", path)
    assert (code, "no problems, 1 warning (" in out) == (0, True)
    assert (
        f"{path}: warning: 1 instruction names address -1, which dialects with io use as a port; plain has none" in err
    )
    path.write_text(path.read_text().replace("plain", "howerj"))
    assert bitwright("check", path)[2] == ""


def test_advice_where_sampled_networks_are_wrong(bitwright: Ask) -> None:
    arguments = ("run", EXAMPLES / "hello.sq", "--engine", "sampled", "--max-instructions", 2, "-q")
    code, _, err = bitwright(*arguments)
    assert code == 1
    assert "differ from what the rules give; use more --networks" in err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
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
        main(["run", str(path), "-q", "--max-instructions", "1"])
        monkeypatch.undo()
    said = b""
    with suppress(OSError):  # which Linux says at the end
        while piece := os.read(ours, 10_000):
            said += piece
    os.close(ours)
    assert said.startswith(wanted), said


def process(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "bitwright", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=os.environ,
    )


@pytest.mark.waits
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_conversation_and_control_c(number: signal.Signals, code: int, bitwright: Ask, tmp_path: Path) -> None:
    """Every letter is answered before the next one is sent; Ctrl-C and SIGTERM leave a checkpoint that goes on."""
    keep = tmp_path / "talk.npz"
    with process("run", "examples/subleq/echo.sq", "--checkpoint", str(keep)) as talk:
        assert talk.stdin is not None
        assert talk.stdout is not None
        for letter in b"abc":
            talk.stdin.write(bytes([letter]))
            talk.stdin.flush()
            assert talk.stdout.read(1) == bytes([letter])
        talk.send_signal(number)
        _, err = talk.communicate(timeout=PATIENCE)
    assert talk.returncode == code
    assert b"machine V, " in err
    assert b"bitwright: stopped after" in err
    assert b"Traceback" not in err
    resumed = bitwright("run", EXAMPLES / "echo.sq", "--resume", keep, "-q", given=b"de")
    assert resumed[:2] == (0, "de")


def test_streams_that_are_closed(tmp_path: Path) -> None:
    """A program that asks for a letter, which is the end of the input, and then says something."""
    (tmp_path / "ask.sq").write_text(".words 16\n.width 8\n.dialect howerj\nin x\nout #'H'\nhalt\nx: .data 0")
    command = f"{sys.executable} -m bitwright run ask.sq <&- >&-"
    found = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (found.returncode, "0 bytes in, 1 out" in found.stderr) == (0, True), found.stderr
    assert "Traceback" not in found.stderr
