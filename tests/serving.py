"""Real servers on loopback, in a thread of the tests or in a process of their own, and a client for them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx
from waiting import PATIENCE, wait_until

from bitwright.web.limits import Limits
from bitwright.web.listen import make_server, open_socket

RING = """# a bit that goes round for ever
bits x[500]
block x[i] for i in 1..500
when x[i]=1 write x[i%500+1] for i in 1..500
start x[1]
"""
SLOW = {"source": {"kind": "rules", "text": RING}, "engine": "kernel"}  # takes far longer than any limit here
ADD = {"source": {"kind": "addition", "bits": 4}, "inputs": {"p": "1", "q": "2"}}
ENDLESS = {"steps": 4_000_000, "cells": 2_000_000_000, "seconds": 100_000.0}  # limits under which SLOW has no end
MAIN = (
    "import json, sys\n"
    "from bitwright.web.limits import Limits\n"
    "from bitwright.web.listen import serve\n"
    "limits, size = json.loads(sys.argv[1])\n"
    "serve(0, lambda address: print(address, flush=True), Limits(**limits), size)\n"
)


@dataclass
class Client:
    """What tests ask the server."""

    http: httpx.Client

    @property
    def prefix(self) -> str:
        """Where all paths begin: the token."""
        return str(self.http.base_url.path).rstrip("/")

    def start(self, request: dict[str, Any]) -> dict[str, Any]:
        answer = self.http.post("/api/runs", json=request)
        assert answer.status_code == 202, answer.text
        return dict(answer.json())

    def look(self, job: Mapping[str, Any]) -> dict[str, Any]:
        return dict(self.http.get(f"/api/runs/{job['id']}").json())

    def until(self, identity: str, done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        version = -1

        def news() -> dict[str, Any] | None:
            nonlocal version
            job = dict(self.http.get(f"/api/runs/{identity}", params={"after": version}).json())
            version = job["version"]
            return job if done(job) else None

        found = wait_until(news, "the run got there")
        assert found is not None
        return found

    def end(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """What became of a run."""
        return self.until(job["id"], lambda job: job["state"] not in ("waiting", "running"))

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """A run to its end, whatever that is."""
        return self.end(self.start(request))

    def cancel(self, job: Mapping[str, Any]) -> dict[str, Any]:
        answer = self.http.delete(f"/api/runs/{job['id']}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def file(self, job: dict[str, Any], name: str) -> bytes:
        answer = self.http.get(f"/api/runs/{job['id']}/{name}")
        assert answer.status_code == 200
        return answer.content

    def check(self, source: dict[str, Any]) -> dict[str, Any]:
        answer = self.http.post("/api/check", json={"source": source})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def health(self) -> dict[str, Any]:
        return dict(self.http.get("/api/health").json())

    def connect(self) -> socket.socket:
        """A connection of one's own, to say on it what no decent client would."""
        return socket.create_connection((self.http.base_url.host, self.http.base_url.port or 80), timeout=PATIENCE)


def source_of(example: dict[str, Any]) -> dict[str, Any]:
    """An example of the page as a request names it."""
    source = {"kind": example["kind"], "text": example["text"], "name": example["name"].partition(".")[0]}
    if example["kind"] in ("sbn", "subleq"):
        source["language"] = example["language"]
    return source | ({"graph": {"shape": example["graph"]}} if example["kind"] == "nodes" else {})


def eventually(condition: Callable[[], Any]) -> Any:
    """What the condition gives as soon as that is something."""
    return wait_until(condition, "what a test of the server waits for")


@contextmanager
def serving(limits: Limits | None = None, size: int = 2) -> Iterator[Client]:
    opened = open_socket(0)
    server, address = make_server(opened, limits, size)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive(), "the server has started")
        assert server.started
        with _http(address) as http:
            yield Client(http)
    finally:
        server.should_exit = True
        thread.join()
        opened.close()


@dataclass
class Process(Client):
    """A server in a process of its own, and what it says in its terminal."""

    pid: int = 0
    log: Path = field(default_factory=Path)

    def said(self) -> str:
        return self.log.read_text()

    def workers(self) -> set[int]:
        return children(self.pid)


@contextmanager
def serving_process(
    limits: Limits | None = None,
    size: int = 2,
    *,
    descriptors: int = 0,
    python: str = sys.executable,
    first: Path | None = None,
) -> Iterator[Process]:
    """With this many file descriptors, another interpreter, or a folder before all others in Python's path, if need be.

    What this folder has in its sitecustomize.py is done before anything else, also in the processes of the server.
    """

    def prepare() -> None:
        import resource  # which only Unix has

        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    path = os.pathsep.join([str(p) for p in (first, *sys.path) if p])
    command = [python, "-c", MAIN, json.dumps([asdict(limits or Limits()), size])]
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
            preexec_fn=prepare if descriptors else None,
        )
        try:
            assert process.stdout is not None
            with _http(process.stdout.readline().strip()) as http:
                yield Process(http, pid=process.pid, log=Path(log.name))
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)
            assert process.stdout is not None
            process.stdout.close()


def _http(address: str) -> httpx.Client:
    return httpx.Client(base_url=address, timeout=PATIENCE, limits=httpx.Limits(max_connections=100))


def children(parent: int) -> set[int]:
    """The processes that a process has started and that still live."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, owner = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if int(owner) == parent and state != "Z":
                found.add(int(folder.name))
        except OSError:
            continue
    return found
