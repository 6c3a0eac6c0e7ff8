"""`--resume` of certify and validate: work that is stopped or killed goes on, and ends as if nothing had happened."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from calling import Captured, call, refusal
from processes import environment
from waiting import wait_until

from bitwright.__main__ import start
from bitwright.common.files import journal
from bitwright.proofs.exhaustion.task import ProofTask

CERTIFY = "certify addition --network net.safetensors --domain states -q"
VALIDATE = "validate addition --bits 10 --json"
SMALL = """
import sys
from bitwright.cli.main import main
from bitwright.common.files import journal
from bitwright.proofs.exhaustion.task import ProofTask
ProofTask.part, journal._EVERY = 64, -1
append = journal.Journal.append
def halt(self, *given):
    append(self, *given)
    print("kept", flush=True)
    sys.stdin.readline()
journal.Journal.append = halt
main(sys.argv[1:])
"""


@pytest.fixture(autouse=True)
def small_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that are soon done, each with a line of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ProofTask, "part", 64)
    monkeypatch.setattr(journal, "_EVERY", -1)


@pytest.fixture
def network(capsys: Captured) -> None:
    train = "train addition --bits 3 --tile all --width 24 --seed 0..0 -q -o net.safetensors"
    assert call(capsys, *train.split())[0] in (0, 1)


def killed(*words: str) -> None:
    """Runs the command until its first results are in the file, and kills it."""
    process = subprocess.Popen(
        [sys.executable, "-c", SMALL, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=environment(),
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "kept\n"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    wait_until(lambda: process.poll() is not None, "the end of the killed process")


def stop_after_one(monkeypatch: pytest.MonkeyPatch) -> None:
    append = journal.Journal.append

    def stop(self: journal.Journal, *given: Any) -> None:
        append(self, *given)
        raise KeyboardInterrupt

    monkeypatch.setattr(journal.Journal, "append", stop)


@pytest.mark.usefixtures("network")
def test_a_proof_goes_on_beside_its_certificate(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    code, said, _ = call(capsys, *f"{CERTIFY} -o whole.json".split())
    assert "wrong" in said
    words = f"{CERTIFY} -o cut.json".split()
    killed(*words)
    part = Path("cut.json.part")
    assert part.read_bytes().count(b"\n") == 2
    with part.open("ab") as torn:
        torn.write(b"0123")
    with monkeypatch.context() as stopped:
        stop_after_one(stopped)
        assert call(capsys, *words)[::2] == (
            130, "\nbitwright: stopped; finished work is in cut.json.part; the same command continues from there\n",
        )  # fmt: skip
    assert part.read_bytes().count(b"\n") == 3
    assert not Path("cut.json").exists()
    assert "holds work on another program" in refusal(capsys, *words, "--domain", "runs")
    assert call(capsys, *words)[:2] == (code, said)
    assert Path("cut.json").read_bytes() == Path("whole.json").read_bytes()
    assert not part.exists()
    assert call(capsys, *words, "--resume", "kept")[:2] == (code, said)
    assert Path("kept").exists()  # its name was given


def test_a_validation_goes_on(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def report(*more: str) -> dict[str, Any]:
        return json.loads(call(capsys, VALIDATE, *more)[1]) | {"seconds": 0}  # type: ignore[no-any-return]

    words = [*VALIDATE.split(), "--resume", "kept"]
    killed(*words)
    with monkeypatch.context() as stopped:
        stop_after_one(stopped)
        assert call(capsys, *words)[0] == 130
    assert Path("kept").read_bytes().count(b"\n") == 3
    assert "holds work on another program" in refusal(capsys, *words, "--random", 3000)
    assert report("--resume", "kept", "--workers", "2") == report()
    assert Path("kept").read_bytes().count(b"\n") == 5  # of the work, and four batches


def test_resume_goes_with_states_to_try(capsys: Captured) -> None:
    assert "--resume works only with --network" in refusal(capsys, "certify addition --resume kept")
    assert "cannot write" in refusal(capsys, VALIDATE, "--resume", ".")
    assert not Path("kept").exists()


def test_ctrl_c_while_modules_load(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(ModuleType):
        def __getattr__(self, name: str) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "bitwright.cli.main", Slow("bitwright.cli.main"))
    assert start() == 130
    assert capsys.readouterr() == ("", "bitwright: stopped\n")


def test_output_that_nobody_reads_to_its_end() -> None:
    for words in ("show multiplication --bits 32 --text", "--help"):
        command = f"{sys.executable} -m bitwright {words} | head -1"
        done = subprocess.run(command, shell=True, capture_output=True, text=True, env=environment(), check=True)
        assert len(done.stdout.splitlines()) == 1
        assert "Traceback" not in done.stderr
        assert "Exception" not in done.stderr
