"""Problems by line, programs that do not halt, limits, cancelling, and results that are forgotten."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import ADD, ENDLESS, RING, SLOW, Client, children, eventually, serving

from bitwright import ProgramError, parse
from bitwright.machines import assemble
from bitwright.web.limits import Limits

KEPT = 600_000  # bytes of results
BROKEN_RULES = "bits p[3] q\nblock p[i] for i in 1..3\nwhen p[1]=1 wrte p[2]\nwhen r=1 write p[9]\n"
BROKEN_SBN = "loop: sbn a b nowhere\nfly a\nsub 3\n"


@pytest.mark.parametrize(
    ("kind", "text", "read"), [("rules", BROKEN_RULES, parse), ("sbn", BROKEN_SBN, assemble)], ids=["rules", "sbn"]
)
def test_every_problem_is_named_with_line_and_column(server: Any, kind: str, text: str, read: Any) -> None:
    with pytest.raises(ProgramError) as caught:
        read(text)
    expected = [{"line": p.line, "column": p.column, "message": p.message} for p in caught.value.problems]
    answer = server.check({"kind": kind, "text": text})
    assert (answer["problems"], answer["count"]) == (expected, len(expected))
    assert (answer["ok"], len(expected) > 2) == (False, True)
    job = server.run({"source": {"kind": kind, "text": text}})
    assert (job["state"], "\n" in job["message"]) == ("failed", False)
    assert job["message"].endswith("more problems)")


def test_a_sound_program_is_described(server: Any) -> None:
    answer = server.check({"kind": "addition", "bits": 10})
    assert (answer["ok"], answer["problems"]) == (True, [])
    about = answer["about"]
    assert (about["templates"], about["bits"], about["blocks"], about["steps"]) == (40, 30, 20, 20)
    assert about["inputs"] == [{"name": n, "bits": 10, "signed": False} for n in ("p", "q")]


def test_a_program_that_does_not_halt_shows_what_it_did(server: Any) -> None:
    job = server.run({"source": {"kind": "rules", "text": RING}})
    assert (job["state"], job["result"]["halted"], job["result"]["steps"]) == ("done", False, 20_000)
    assert job["result"]["note"].startswith("It did not halt within 20,000 steps (the most this server makes")
    job = server.run({"source": {"kind": "sbn", "text": "loop: jmp loop"}, "max_steps": 100})
    assert (job["result"]["halted"], job["result"]["steps"]) == (False, 100)
    assert "your step limit" in job["result"]["note"]


# Blocks of 23 kinds: each has one template more than the one before.
MANY_KINDS = "bits x[115]\n" + "".join(
    f"block {' '.join(f'x[{5 * at + bit}]' for bit in range(1, 6))}\n"
    + "".join(
        f"when {' '.join(f'x[{5 * at + bit + 1}]={config >> bit & 1}' for bit in range(5))} write x[1]\n"
        for config in range(1, at + 2)
    )
    for at in range(23)
)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"source": {"kind": "addition", "bits": 20_000}}, "60,000 bits; this server takes at most 20,000"),
        ({"source": {"kind": "multiplication", "bits": 1000}}, "templates; this server takes at most 20,000"),
        (
            {"source": {"kind": "multiplication", "bits": 100}, "inputs": {"multiplicand": "1", "multiplier": "1"}},
            "takes 40,300 steps; for its 1,801 bits this server makes at most 13,881",
        ),
        ({**ADD, "engine": "network", "networks": 5}, "at most 4 networks for a run, got 5"),
        (
            {
                "source": {"kind": "addition", "bits": 65},
                "inputs": {"p": "1", "q": "1"},
                "engine": "network",
                "width": 64,
            },
            "at most 256 examples, this program has 260",
        ),
        (
            {"source": {"kind": "rules", "text": MANY_KINDS}, "engine": "network"},
            "at most 256 examples, the cells of this program have 276",
        ),
        (
            {"source": {"kind": "addition", "bits": 200}, "inputs": {"p": "1", "q": "1"}, "engine": "kernel"},
            "kernel engine takes at most 700 examples here, this program has 800",
        ),
        ({"source": {"kind": "rules", "text": "bits x[10000000]\nblock x[1]\nwhen x[1]=1 write x[1]"}}, "x["),
        ({"source": {"kind": "addition", "bits": 4}}, "needs a value for p, q"),
        ({**ADD, "inputs": {"p": "1", "q": "x"}}, "input q must be an integer"),
        ({**ADD, "inputs": {"p": "1", "q": "99"}}, "input q must fit in 4 bits"),
        ({"source": {"kind": "permutation", "order": [1, 1]}, "inputs": {"p": "1"}}, "1 occurs twice"),
    ],
)
def test_what_is_too_much_is_refused_with_one_line(server: Any, request_: dict[str, Any], message: str) -> None:
    job = server.run(request_)
    assert job["state"] == "failed"
    assert message in job["message"]
    assert "\n" not in job["message"]


@pytest.fixture(scope="module")
def endless() -> Iterator[Client]:
    """One process for runs, which may take for ever."""
    others = children(os.getpid())
    few = {"waiting": 1, "memory": 1 << 30, "kept": KEPT, "result": 150_000}
    with serving(Limits(**ENDLESS, **few, warm=False), size=1) as client:
        yield client
    assert children(os.getpid()) <= others


def test_waiting_has_a_limit_and_checks_go_on(endless: Client) -> None:
    slow = endless.start(SLOW)
    endless.until(slow["id"], lambda job: job["state"] == "running")
    waiting = endless.start(ADD)
    refused = endless.http.post("/api/runs", json=ADD)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
    assert refused.json() == {"error": "busy: 1 run is waiting already; try again in a moment"}
    assert endless.look(waiting)["ahead"] == 0
    assert endless.check({"kind": "addition", "bits": 4})["ok"]  # while the only process for runs is busy
    endless.cancel(slow)
    assert endless.end(waiting)["result"]["outputs"] == {"sum": "3"}


def test_what_is_cancelled_at_once_leaves_the_queue(endless: Client) -> None:
    slow = endless.start(SLOW)
    endless.until(slow["id"], lambda job: job["state"] == "running")
    for _ in range(20):
        assert endless.cancel(endless.start(ADD))["state"] == "cancelled"
    assert "waiting" not in endless.health()["runs"]
    endless.cancel(slow)


def test_memory_has_a_limit_too(endless: Client) -> None:
    text = "bits x[9000000]\nblock x[i] for i in 1..4000000\nwhen x[i]=1 write x[i] for i in 1..4000000"
    ended = endless.run({"source": {"kind": "rules", "text": text}})
    assert ended["state"] == "failed"
    assert ended["message"].startswith("this needs more memory than the 1,024 MiB that this server allows")
    assert endless.run(ADD)["state"] == "done"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_cancelling_ends_the_process_at_once(endless: Client) -> None:
    assert endless.run(ADD)["state"] == "done"
    slow, waiting = endless.start(SLOW), endless.start(ADD)
    job = endless.until(slow["id"], lambda job: job.get("progress", {}).get("step", 0) > 0)
    assert (job["progress"]["phase"], job["progress"]["limit"]) == ("running", ENDLESS["steps"])
    before = children(os.getpid())
    assert endless.cancel(slow)["state"] == "cancelled"
    assert endless.http.get(f"/api/runs/{slow['id']}").status_code == 404
    assert endless.end(waiting)["result"]["outputs"] == {"sum": "3"}
    assert before - children(os.getpid())  # that of the run


def test_a_check_whose_page_has_gone_is_given_up(endless: Client) -> None:
    body = b'{"source": {"kind": "addition", "bits": 4}}'
    head = f"POST {endless.prefix}/api/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for _ in range(100):
        with endless.connect() as raw:
            raw.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    assert endless.check({"kind": "addition", "bits": 4})["ok"]


def test_time_has_a_limit_and_others_go_on() -> None:
    with serving(Limits(**{**ENDLESS, "seconds": 0.5}, warm=False), size=1) as client:
        slow, next_one = client.start(SLOW), client.start(SLOW)
        ended = client.end(slow)
        assert ended["state"] == "failed"
        assert "longer than the 0.5 seconds that this server allows" in ended["message"]
        assert client.until(next_one["id"], lambda job: job["state"] != "waiting")


def test_results_are_forgotten_when_nobody_has_looked_for_their_time() -> None:
    with serving(Limits(kept_seconds=0.1, warm=False), size=1) as client:
        jobs = [client.start(ADD) for _ in range(2)]
        eventually(lambda: client.health()["runs"] == {})
        assert client.http.get(f"/api/runs/{jobs[1]['id']}").status_code == 404


def test_the_oldest_results_make_room_and_one_that_is_too_large_is_refused(endless: Client) -> None:
    jobs = [endless.run(ADD) for _ in range(12)]
    assert {job["state"] for job in jobs} == {"done"}
    size = sum(jobs[0]["files"].values())
    eventually(lambda: endless.health()["runs"].get("done", 0) * size <= KEPT)
    answers = [endless.http.get(f"/api/runs/{job['id']}") for job in jobs]
    gone = [answer.status_code for answer in answers].count(404)
    assert [answer.status_code for answer in answers] == [404] * gone + [200] * (len(jobs) - gone)
    assert 0 < gone < len(jobs)
    no_longer = "there is no such run, or no longer: results are kept for a while only"
    assert answers[0].json() == {"error": no_longer}
    ended = endless.run({"source": {"kind": "addition", "bits": 200}, "inputs": {"p": "1", "q": "2"}})
    assert (ended["state"], "this server keeps at most 0 MiB of a run" in ended["message"]) == ("failed", True)
