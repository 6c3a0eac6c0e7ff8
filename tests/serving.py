"""Real servers on loopback, in a thread of the tests or in a process of their own, and a client for them."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
from waiting import PATIENCE, wait_until

from bitwright.web.app import make_server, open_socket
from bitwright.web.requests import Limits

RING = """# a bit that goes round for ever
bits x[500]
block x[i] for i in 1..500
when x[i]=1 write x[i%500+1] for i in 1..500
start x[1]
"""
LOOP = ".words 16\n.width 8\n.dialect howerj\nloop: jmp loop\n"  # machine V never stops
ENDLESS_RUN = {"source": {"kind": "subleq", "text": LOOP}}  # until its time is up
ADD = {"source": {"kind": "addition", "bits": 4}, "inputs": {"p": "1", "q": "2"}}
ENDLESS = {"cells": 2_000_000_000, "seconds": 100_000.0}  # limits of requests that are ended by what tests do
MAIN = (
    "import json, sys\n"
    "from bitwright.web.app import serve\n"
    "from bitwright.web.requests import Limits\n"
    "serve(0, lambda address: print(address, flush=True), Limits(**json.loads(sys.argv[1])))\n"
)


@dataclass
class Client:
    """What tests ask the server."""

    http: httpx.Client

    @property
    def prefix(self) -> str:
        """Where all paths begin: the token."""
        return str(self.http.base_url.path).rstrip("/")

    @contextmanager
    def job(self, do: str, request: dict[str, Any]) -> Iterator[Iterator[dict[str, Any]]]:
        """The lines of an answer as they come; leaving the context hangs up."""
        with self.http.stream("POST", f"/api/{do}", json=request) as answer:
            assert answer.status_code == 200
            yield (json.loads(line) for line in answer.iter_lines())

    def do(self, do: str, request: dict[str, Any]) -> dict[str, Any]:
        """What a job ends with: its result, or an error."""
        with self.job(do, request) as lines:
            *_, last = lines
        return last

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        return self.do("run", request)

    def check(self, source: dict[str, Any]) -> dict[str, Any]:
        return dict(self.do("check", {"source": source})["result"])

    def file(self, job: dict[str, Any], name: str) -> bytes:
        answer = self.http.get(f"/api/files/{job['id']}/{name}")
        assert answer.status_code == 200
        return answer.content

    def connect(self) -> socket.socket:
        """A connection of one's own, to say on it what no decent client would."""
        return socket.create_connection((self.http.base_url.host, self.http.base_url.port or 80), timeout=PATIENCE)


def example_texts() -> list[dict[str, Any]]:
    """The examples of the page, with their texts, as the page completes them."""
    assets, root = files("bitwright.web") / "assets", Path(__file__).parent.parent
    found = []
    for one in json.loads((assets / "examples.json").read_text()):
        name = one["file"].rpartition("/")[2]
        usual = {"name": name, "inputs": {}, "console": "", "language": "assembly"}
        found.append({**usual, **one, "text": (root / one["file"]).read_text()})
    return found


def source_of(example: dict[str, Any]) -> dict[str, Any]:
    """An example of the page as a request names it."""
    source = {name: example[name] for name in ("kind", "text", "language")}
    graph = {"graph": {"shape": example["graph"]}} if example["kind"] == "nodes" else {}
    return {**source, "name": example["name"].partition(".")[0], **graph}


def eventually(condition: Callable[[], Any]) -> Any:
    """What the condition gives as soon as that is something."""
    return wait_until(condition, "what a test of the server waits for")


@contextmanager
def serving(limits: Limits | None = None) -> Iterator[Client]:
    opened = open_socket(0)
    server, address = make_server(opened, limits)
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

    def worker(self) -> int:
        """The process that does the work, which is the only child."""
        [found] = eventually(lambda: children(self.pid))
        return int(found)


@contextmanager
def serving_process(
    limits: Limits | None = None, *, python: str = sys.executable, first: Path | None = None
) -> Iterator[Process]:
    """With another interpreter, or a folder before all others in Python's path, if need be.

    What this folder has in its sitecustomize.py is done before anything else, also in the worker.
    """
    path = os.pathsep.join([str(p) for p in (first, *sys.path) if p])
    command = [python, "-c", MAIN, json.dumps(asdict(limits or Limits()))]
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
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
