"""When no process can be started: runs fail with one line, health says so, and everything works again when it can."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from long import LONG
from serving import ADD, ENDLESS, SLOW, Process, eventually, serving, serving_process

from bitwright.web.limits import Limits
from bitwright.web.pool import NO_PROCESS

for_test_long = pytest.mark.skipif(not LONG, reason="for make test-long: another reason why none can be started")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def kill_all(server: Process) -> None:
    for worker in server.workers():
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


def test_an_interpreter_that_is_gone_for_a_while(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.symlink_to(Path(sys.executable).resolve())
    with serving_process(Limits(**ENDLESS, warm=False), size=1, python=str(python)) as server:
        slow = server.start(SLOW)
        server.until(slow["id"], lambda job: job["state"] == "running")
        eventually(lambda: server.health()["processes"] >= 2)
        waiting = server.start(ADD)
        python.rename(tmp_path / "away")
        kill_all(server)
        assert server.end(slow)["state"] == "failed"
        ended = server.end(waiting)
        assert (ended["state"], ended["message"]) == ("failed", NO_PROCESS)
        health = server.http.get("/api/health")
        assert (health.status_code, health.json()["ok"], health.json()["message"]) == (503, False, NO_PROCESS)
        check = server.http.post("/api/check", json={"source": {"kind": "addition", "bits": 4}})
        assert (check.status_code, check.json()) == (503, {"error": NO_PROCESS})
        assert check.headers["retry-after"].isdigit()
        python.write_text("#!/bin/sh\nexit 3\n")  # it starts, and ends before it is ready
        python.chmod(0o700)
        ended = server.run(ADD)
        assert (ended["state"], ended["message"]) == ("failed", NO_PROCESS)
        (tmp_path / "away").rename(python)
        eventually(lambda: server.health()["ok"])  # by itself: nobody asks for a run meanwhile
        assert server.run(ADD)["state"] == "done"
        lines = server.said().splitlines()
        assert all(line.startswith("a process to work in could not be started: ") for line in lines)
        assert 1 <= len(lines) <= 4  # not one for every attempt
        assert any("No such file" in line for line in lines)


def test_processes_that_do_not_get_ready_in_time() -> None:
    with serving(Limits(start_seconds=0.001, warm=False), size=1) as client:
        ended = client.run(ADD)
        assert (ended["state"], ended["message"]) == ("failed", NO_PROCESS)
        assert not client.health()["ok"]
        assert client.http.get("/").status_code == 200


SCARCE = """
import os, resource
if os.path.exists({flag!r}):
    resource.setrlimit(resource.RLIMIT_AS, (64 << 20, 64 << 20))
"""


@for_test_long
def test_too_little_memory_for_processes(tmp_path: Path) -> None:
    """The operating system gives new processes less than they need, for a while."""
    flag = tmp_path / "scarce"
    (tmp_path / "sitecustomize.py").write_text(SCARCE.format(flag=str(flag)))
    with serving_process(Limits(warm=False), size=1, first=tmp_path) as server:
        assert server.run(ADD)["state"] == "done"
        flag.touch()
        kill_all(server)
        eventually(lambda: not server.health()["ok"])
        ended = server.run(ADD)
        assert (ended["state"], ended["message"]) == ("failed", NO_PROCESS)
        flag.unlink()
        eventually(lambda: server.health()["ok"])
        assert server.run(ADD)["state"] == "done"


@for_test_long
def test_too_few_descriptors_for_processes() -> None:
    """A server that has used up its files starts no process; it goes on when files are there again."""
    with serving_process(
        Limits(**ENDLESS, warm=False), size=6, descriptors=22
    ) as server:  # enough for two processes or three
        jobs = [server.start(SLOW) for _ in range(6)]
        eventually(lambda: all(server.look(job)["state"] != "waiting" for job in jobs))
        found = {(job["state"], job["message"]) for job in map(server.look, jobs)}
        assert found == {("running", ""), ("failed", NO_PROCESS)}
        for job in jobs:
            server.cancel(job)
        eventually(lambda: server.health()["ok"])
        assert server.run(ADD)["state"] == "done"
        assert "could not be started: [Errno 24] Too many open files" in server.said()
        assert "Traceback" not in server.said()
