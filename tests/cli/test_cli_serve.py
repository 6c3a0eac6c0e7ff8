"""`bitwright serve`: one clear line for what cannot be done, a clean end, and nothing left behind."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from calling import Captured
from serving import ENDLESS_RUN, children, eventually
from waiting import PATIENCE

from bitwright.cli.main import main


def refusal(capsys: Captured, *arguments: str) -> str:
    assert main(["serve", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err


def test_a_port_in_use_is_said_in_one_line(capsys: Captured) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        expected = f"bitwright: port {port}: Address already in use; choose another with --port, or --port 0 for any\n"
        assert refusal(capsys, "--port", str(port)) == expected


def test_a_port_that_is_none(capsys: Captured) -> None:
    assert "0<=x<=65535" in refusal(capsys, "--port", "70000")


def test_without_the_extra_it_says_what_to_install(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "bitwright.web.app", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert refusal(capsys) == "bitwright: serve needs uvicorn; pip install 'bitwright[web]'\n"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(("stop", "code"), [("SIGINT", 0), ("SIGTERM", -15)])
def test_it_serves_until_it_is_told_to_stop_and_leaves_nothing(stop: str, code: int) -> None:
    command = [sys.executable, "-m", "bitwright", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = process.stdout.readline().split()[0]
        with httpx.Client(base_url=address, timeout=PATIENCE) as http, ExitStack() as stack:
            assert "<title>bitwright</title>" in http.get("/").text
            if stop == "SIGINT":  # in the middle of a run; the other one while the worker is getting ready
                answer = stack.enter_context(http.stream("POST", "/api/run", json=ENDLESS_RUN))
                assert "reading the program" in next(answer.iter_lines())
            [worker] = eventually(lambda: children(process.pid))
            process.send_signal(getattr(signal, stop))
            assert process.wait(PATIENCE) == code
            rest = process.stderr.read()
        assert rest.splitlines() == (["bitwright: stopped"] if stop == "SIGINT" else [])
    eventually(lambda: not is_running(worker))


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
