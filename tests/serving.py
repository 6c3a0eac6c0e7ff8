"""A real server on loopback, in a thread of the tests, and a client for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from bitwright.server.limits import Limits
from bitwright.server.listen import address_of, make_server, open_socket

RING = """# a bit that goes round for ever
bits x[500]
block x[i] for i in 1..500
when x[i]=1 write x[i%500+1] for i in 1..500
start x[1]
"""
SLOW = {"source": {"kind": "rules", "text": RING}, "engine": "kernel"}  # takes far longer than any limit here


@dataclass
class Client:
    """What tests ask the server."""

    http: httpx.Client

    def start(self, request: dict[str, Any]) -> dict[str, Any]:
        answer = self.http.post("/api/runs", json=request)
        assert answer.status_code == 202, answer.text
        return dict(answer.json())

    def until(self, identity: str, done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        version = -1
        while True:
            job = self.http.get(f"/api/runs/{identity}", params={"after": version}).json()
            version = job["version"]
            if done(job):
                return dict(job)

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """A run to its end, whatever that is."""
        return self.until(self.start(request)["id"], lambda job: job["state"] not in ("waiting", "running"))

    def file(self, job: dict[str, Any], name: str) -> bytes:
        answer = self.http.get(f"/api/runs/{job['id']}/{name}")
        assert answer.status_code == 200
        return answer.content

    def check(self, source: dict[str, Any]) -> dict[str, Any]:
        answer = self.http.post("/api/check", json={"source": source})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


@contextmanager
def serving(limits: Limits | None = None, size: int = 2) -> Iterator[Client]:
    opened = open_socket("127.0.0.1", 0)
    server = make_server("127.0.0.1", limits, size)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        pool = httpx.Limits(max_connections=100)
        with httpx.Client(base_url=address_of(opened), timeout=60, limits=pool) as http:
            yield Client(http)
    finally:
        server.should_exit = True
        thread.join()
        opened.close()
