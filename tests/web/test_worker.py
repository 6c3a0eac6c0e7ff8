"""The worker process and its server: mistakes of ours, limits of time, and an interpreter that is gone."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from serving import ADD, ENDLESS, RING, Client, eventually, serving, serving_process

from bitwright.web.requests import Limits

SOUND = {"kind": "multiplication", "bits": 4}
# A worker in which a check of these texts goes wrong, each in another way.
MAIN = """
import json, sys
from bitwright.web import work, worker

check = work.check
odd = {"raises": lambda: [][3], "no JSON": lambda: ({"about": float("nan")}, {}), "no type": lambda: ({1: {1, 2}}, {})}
work.check = lambda one, *more: odd[one.source.text]() if one.source.text in odd else check(one, *more)
worker.main(json.loads(sys.argv[1]))
"""


def answers(*sources: dict[str, Any]) -> list[dict[str, Any]]:
    jobs = "".join(json.dumps({"do": "check", "request": json.dumps({"source": one})}) + "\n" for one in sources)
    command = [sys.executable, "-c", MAIN, json.dumps(asdict(Limits()))]
    done = subprocess.run(command, input=jobs, stdout=subprocess.PIPE, text=True, check=True)
    ready, *said = [json.loads(line) for line in done.stdout.splitlines()]
    assert ready == {"kind": "ready"}
    return said


def test_a_worker_survives_what_nobody_expected() -> None:
    expected = {"raises": "IndexError", "no JSON": "ValueError", "no type": "TypeError"}
    before, *broken, after = answers(SOUND, *({"kind": "nodes", "text": text} for text in expected), SOUND)
    for one, error in zip(broken, expected.values(), strict=True):
        assert (one["kind"], one["last"]) == ("broken", False)
        assert error in one["message"]
    assert before == after
    assert after["result"]["ok"]


def test_time_is_limited_results_too_and_the_next_job_is_done() -> None:
    with serving(Limits(**{**ENDLESS, "seconds": 0.01}, kept=2)) as client:
        last = client.run({"source": {"kind": "rules", "text": RING}, "engine": "sampled"})
        assert "longer than the 0.01 seconds that this page allows" in last["error"]
    with serving(Limits(kept=2, result=150_000)) as client:
        jobs = [client.run(ADD) for _ in range(3)]
        found = [client.http.get(f"/api/files/{job['id']}/run.json") for job in jobs]
        assert [answer.status_code for answer in found] == [404, 200, 200]
        assert list(found[0].json()) == ["error"]
        large = client.run({"source": {"kind": "addition", "bits": 200}, "inputs": {"p": "1", "q": "2"}})
        assert "this page keeps at most 0 MiB of a run" in large["error"]


def ended(client: Client) -> str:
    return str(client.run(ADD).get("error", "done"))


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_an_interpreter_that_is_gone_for_a_while(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.symlink_to(Path(sys.executable).resolve())
    with serving_process(python=str(python)) as server:
        assert ended(server) == "done"
        python.rename(tmp_path / "away")
        os.kill(server.worker(), signal.SIGKILL)
        eventually(lambda: "cannot be started: " in ended(server))  # the server need not know at once that it is gone
        assert server.http.get("/").status_code == 200
        python.write_text("#!/bin/sh\nexit 3\n")  # it starts, and ends before it is ready
        python.chmod(0o700)
        assert "cannot be started: the process ended" in ended(server)
        (tmp_path / "away").rename(python)
        assert ended(server) == "done"
        assert server.said() == ""
