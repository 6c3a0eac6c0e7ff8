"""Readers that go away, streams that are closed, and Ctrl-C while modules are loaded: no message and no traceback."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cases import for_each
from long import LONG
from waiting import PATIENCE

ROOT = Path(__file__).parents[2]
BROKEN = "bits a\nblock a\nwhen a=2 write a\nwhen b=1 write a\n"
COMMAND = [sys.executable, "-m", "bitwright"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "broken.bw").write_text(BROKEN)
    (tmp_path / "blink.bw").write_text("bits a b\nblock a\nblock b\nwhen a=1 write b\nwhen b=1 write a\nstart a\n")
    (tmp_path / "yes.sq").write_text(".words 32\n.width 8\n.dialect howerj\nloop: out #'y'\nout #10\njmp loop\n")
    return tmp_path


VERBS = [  # and the exit code of the answer
    (["--help"], 0),
    (["check", "broken.bw"], 1),
    (["trace", "addition", "p=719", "q=483"], 0),
]
MORE_VERBS = [
    (["run", "yes.sq"], 0),
    (["add", "719", "483"], 0),
    (["add", "719", "483", "--json"], 0),
    (["run", "blink.bw", "--max-steps", "5", "--json"], 1),
    (["show", "addition", "--bits", "400", "--text"], 0),
    (["certify", "addition"], 0),
]


@pytest.mark.parametrize(
    ("arguments", "code"), VERBS + MORE_VERBS * LONG, ids=lambda x: " ".join(x) if isinstance(x, list) else ""
)
def test_nobody_reads_it(arguments: list[str], code: int, folder: Path) -> None:
    """The reader has gone before anything is written, so that every write fails."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True, cwd=folder, check=False
        )
    finally:
        os.close(writing)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "Broken pipe" not in done.stderr
    assert "cannot write" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (["show", "addition", "--bits", "3000", "--text"], "bits p[3000]\n"),  # much larger than a pipe holds
        (["run", "yes.sq"], "y\n"),  # it never ends by itself
        *[(["trace", "multiplication", "multiplicand=719719719", "multiplier=483483483", "-q"], "step")] * LONG,
    ],
)
def test_a_reader_of_one_line(arguments: list[str], first: str, folder: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(first)
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait(timeout=PATIENCE) == 0
    assert err == ""


def test_nobody_reads_the_notes() -> None:
    arguments, wanted = ["add", "719", "483"], (0, b"719 + 483 = 1202\n")
    reading, writing = os.pipe()
    os.close(reading)
    with Path("/dev/full").open("wb") as full:
        for stream in (writing, full):
            found = subprocess.run([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=stream, check=False)
            assert (found.returncode, found.stdout) == wanted
    os.close(writing)
    closed = " ".join([*COMMAND, *arguments, "2>&-"])
    found = subprocess.run(["bash", "-c", closed], stdout=subprocess.PIPE, check=False)
    assert (found.returncode, found.stdout) == wanted


def test_a_full_disk_is_a_failure() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, "add", "1", "2"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "bitwright: cannot write the output: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


INTERRUPTED = "raise KeyboardInterrupt\n"
TURNED = "try:\n    raise KeyboardInterrupt\nexcept KeyboardInterrupt:\n    raise ImportError('it failed to import')\n"


@for_each(
    ("module", "content", "start"),
    [
        ("click", INTERRUPTED, ["-m", "bitwright"]),
        ("numpy", TURNED, ["-m", "bitwright"]),
        ("click", TURNED, ["-c", "import sys; from bitwright.cli.start import start; sys.exit(start())"]),
        ("json", INTERRUPTED, ["-c", "import sys; from bitwright.cli.start import start; sys.exit(start())"]),
    ],
)
def test_control_c_while_modules_are_loaded(module: str, content: str, start: list[str], tmp_path: Path) -> None:
    """A module in place of one of ours is interrupted while it is loaded, as by Ctrl-C in that moment."""
    (tmp_path / f"{module}.py").write_text(content)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT / 'src'}"}
    done = subprocess.run(
        [sys.executable, *start, "add", "1", "2"], capture_output=True, text=True, env=environment, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "bitwright: stopped")


def test_control_c_before_anything_of_bitwright_is_loaded(tmp_path: Path) -> None:
    script = shutil.copy(ROOT / "src/scripts/bitwright", tmp_path / "bitwright-command")
    (tmp_path / "bitwright.py").write_text(INTERRUPTED)
    done = subprocess.run([sys.executable, script, "add", "1", "2"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "bitwright: stopped")
