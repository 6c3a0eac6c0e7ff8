"""Who gets what: turns, shares, results that wait for slow clients, and a terminal that is not flooded."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serving import ADD, ENDLESS, SLOW, Client, eventually, serving

from bitwright.web.limits import Limits
from bitwright.web.log import BURST, MOST, Sparing
from bitwright.web.sharing import BusyError, Shares, Turn, Turns


def test_clients_take_turns_however_many_wishes_one_has() -> None:
    turns = Turns(1, 100, 50, "run")
    first = turns.join("a")
    wishes = [turns.join(client) for client in "aaabbc"]
    assert [turns.ahead(wish) for wish in wishes] == [0, 3, 5, 1, 4, 2]
    served, now = "", first
    for _ in wishes:
        turns.leave(now)
        now = next(wish for wish in wishes if wish.came.is_set() and not wish.over)
        served += now.client
    assert served == "abcaba"


@settings(deadline=None, derandomize=True)
@given(
    places=st.integers(1, 6),
    acts=st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(0, 9)), max_size=60),
)
def test_turns_are_never_lost_or_doubled(places: int, acts: list[tuple[str, bool, int]]) -> None:
    turns, wishes = Turns(places, 8, 4, "run"), list[Turn]()
    for client, joins, which in acts:
        if joins:
            mine = [wish for wish in wishes if wish.client == client and not wish.came.is_set()]
            if len(mine) == 4 or turns.waiting == 8:
                with pytest.raises(BusyError) as refused:
                    turns.join(client)
                assert refused.value.status == (429 if len(mine) == 4 else 503)
            else:
                wishes.append(turns.join(client))
        elif wishes:
            turns.leave(wishes.pop(which % len(wishes)))
        running = [wish.client for wish in wishes if wish.came.is_set()]
        waiting = [wish for wish in wishes if not wish.came.is_set()]
        assert (turns.taken, turns.waiting) == (len(running), len(waiting))
        assert len(running) <= places
        assert sorted({turns.ahead(wish) for wish in waiting}) == list(range(len(waiting)))
        free = places - len(running)
        for wish in waiting:  # it waits because its client has as much as is left
            assert running.count(wish.client) >= free
        if len({wish.client for wish in wishes}) == 1:
            assert len(running) <= max(1, places // 2 + places % 2)


@given(amounts=st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 40)), max_size=40))
def test_nobody_takes_more_than_is_left(amounts: list[tuple[str, int]]) -> None:
    shares = Shares(100)
    for client, amount in amounts:
        if shares.may_take(client, amount):
            before = shares.free
            shares.take(client, amount)
            assert shares.held[client] <= before
        assert shares.free == 100 - sum(shares.held.values()) >= 0


def test_a_client_that_cancels_at_once_leaves_the_queue() -> None:
    with serving(Limits(**ENDLESS), size=1) as client:
        slow = client.start(SLOW)
        client.until(slow["id"], lambda job: job["state"] == "running")
        for _ in range(100):
            job = client.start(ADD)
            assert client.http.delete(f"/api/runs/{job['id']}").status_code == 200
        eventually(lambda: client.health()["runs"]["waiting"] == 0)
        assert client.health()["results"]["count"] == 1


def test_a_check_whose_page_has_gone_is_given_up(server: Client) -> None:
    body = b'{"source": {"kind": "addition", "bits": 4}}'
    head = (
        f"POST /api/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    for _ in range(100):  # far more than may wait
        with server.connect() as raw:
            raw.sendall(head.encode() + b"\r\n\r\n" + body)
    eventually(lambda: server.health()["checks"]["running"] + server.health()["checks"]["waiting"] == 0)
    assert server.check({"kind": "addition", "bits": 4})["ok"]


@pytest.mark.parametrize("names", ["apart", "together"])
def test_slow_clients_get_their_results(names: str) -> None:
    """More ask than may wait, and none looks before the last run has ended. Who is told to come back later does so."""
    with serving(Limits(waiting=16, waiting_each=8), size=2) as server, ThreadPoolExecutor(40) as pool:

        def ask(number: int) -> tuple[int, dict[str, Any]]:
            request = {"source": {"kind": "addition", "bits": 10}, "inputs": {"p": str(number), "q": "1"}}
            client = server.named(f"client-{number}") if names == "apart" else server

            def asked() -> dict[str, Any] | None:
                answer = server.http.post("/api/runs", json=request, headers=client.headers)
                assert answer.status_code in (202, 429, 503)
                assert answer.status_code == 202 or answer.headers["retry-after"].isdigit()
                return dict(answer.json()) if answer.status_code == 202 else None

            return number, eventually(asked)

        jobs = list(pool.map(ask, range(40)))
        eventually(lambda: server.health()["runs"]["running"] + server.health()["runs"]["waiting"] == 0)
        for number, job in jobs:
            found = server.look(job)
            assert (found["state"], found["result"]["outputs"]) == ("done", {"sum": str(number + 1)})
            assert len(server.file(found, "trace.html")) == found["files"]["trace.html"]


def test_results_that_were_fetched_make_room_the_oldest_first() -> None:
    limits = Limits(result=1 << 20, kept=4 << 20, fetched_seconds=0)
    with serving(limits, size=1) as client:
        unfetched = client.start(ADD)
        eventually(lambda: client.health()["runs"]["running"] == 0)
        fetched = [client.run(ADD) for _ in range(40)]
        codes = [client.http.get(f"/api/runs/{job['id']}").status_code for job in fetched]
        gone = codes.count(404)
        assert codes == [404] * gone + [200] * (40 - gone)
        assert 0 < gone < 40
        assert client.look(unfetched)["state"] == "done"


def test_a_result_that_is_too_large_is_refused_in_one_line() -> None:
    with serving(Limits(result=1000), size=1) as client:
        job = client.run(ADD)
        assert job["state"] == "failed"
        assert "this server keeps at most 0 MiB of a run" in job["message"]
        assert client.run({**ADD, "max_steps": 0})["state"] == "failed"


def test_the_terminal_is_not_flooded(capsys: pytest.CaptureFixture[str]) -> None:
    logger, handler = logging.Logger("tried"), Sparing()
    logger.addHandler(handler)
    for number in range(10_000):
        logger.error("%d %s", number, "x" * 10 * MOST)
    said = capsys.readouterr().err
    assert said.count("[...]") == BURST
    assert len(said) < BURST * (MOST + 100)
    handler._left = 1  # as after a minute
    logger.error("later")
    assert capsys.readouterr().err == "later\n(9,980 messages before this one were left out)\n"
