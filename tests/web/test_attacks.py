"""Attacks on a server in a process of its own: it goes on, nothing is lost, and its terminal stays quiet.

Every attack is bounded in number, stays on loopback and ends by itself. Whatever is waited for is an event.
"""

import json
import os
import signal
import socket
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from serving import ADD, ENDLESS_RUN, Client, Process, eventually
from waiting import is_running

from bitwright.web.requests import Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes and limits of Linux")


def answers(raw: socket.socket) -> bytes:
    """All that comes on a connection until the other side hangs up."""
    found = b""
    with suppress(ConnectionError):
        while piece := raw.recv(65_536):
            found += piece
    return found


def spoken(server: Client, text: str) -> tuple[int, bytes]:
    """Status and body of the answer to one request that ends its connection."""
    with server.connect() as raw:
        raw.sendall(text.replace("TOKEN", server.prefix).encode("latin-1"))
        head, _, body = answers(raw).partition(b"\r\n\r\n")
    return int(head.split()[1]) if head else 0, body  # 0: the line was cut before the answer could be read


def test_half_open_connections_stop_nobody(attacked: Process) -> None:
    with ExitStack() as stack:
        for number in range(100):
            raw = stack.enter_context(attacked.connect())
            raw.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "[: number % 40])  # some say nothing at all
        assert "result" in attacked.run(ADD)


# What is sent.


@pytest.mark.parametrize("header", [b"X: %s\r\n" % (b"a" * 2_000_000), b"X: 1\r\n" * 300_000], ids=["long", "many"])
def test_oversized_headers_are_refused(attacked: Process, header: bytes) -> None:
    with attacked.connect() as raw:
        with suppress(ConnectionError):
            raw.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + header + b"\r\n")
        found = answers(raw)
    assert found.startswith(b"HTTP/1.1 400 ") or found == b""  # or the line was cut before it could be read


PATHS = (
    *("TOKEN/assets/../app.py", "TOKEN/assets/..%2fapp.py", "TOKEN/assets/%2e%2e/%2e%2e/%2e%2e/etc/passwd"),
    *("TOKEN/assets/..\\app.py", "TOKEN/assets/%00", "TOKEN/assets//etc/passwd", "TOKEN//etc/passwd", "TOKEN/%ff%fe"),
    *("TOKEN/assets/library/../../web/app.py", "TOKEN/assets/vendor", "TOKEN/assets/", "TOKEN/assets/" + "a" * 5000),
    *("TOKEN/../../etc/passwd", "TOKEN/api/run/../../etc/passwd", "TOKEN/api/files/x/..%2f..%2fetc%2fpasswd"),
    *("//etc/passwd", "/../../etc/passwd", "file:///etc/passwd", "http://localhost/../etc/passwd", "*"),
)


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leads_to_a_file(attacked: Process, path: str) -> None:
    status, body = spoken(attacked, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert (status, list(json.loads(body))) == (404 if path.startswith("TOKEN") else 403, ["error"])


# The worker.


def limits_of(pid: int) -> dict[str, tuple[str, str]]:
    """What the kernel allows a process: the soft and the hard limit by name."""
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]
    return {line[:26].strip(): (line[26:47].strip(), line[47:68].strip()) for line in lines}


def test_the_kernel_limits_the_worker(attacked: Process) -> None:
    attacked.check({"kind": "addition", "bits": 4})
    found, limits = limits_of(attacked.worker()), Limits()
    assert found["Max address space"] == (str(1536 << 20),) * 2
    assert found["Max file size"] == (str(limits.result),) * 2
    assert found["Max core file size"] == ("0", "0")
    assert int(found["Max cpu time"][0]) > 0  # of the last job; more for the next one


def test_a_worker_whose_server_is_gone_ends_with_its_job(attacked: Process) -> None:
    """By the limit of its processor time, which is set here to what it has used."""
    import resource

    with attacked.job("run", ENDLESS_RUN) as lines:
        assert next(lines)["progress"]["phase"] == "reading the program"
        worker = attacked.worker()
        resource.prlimit(worker, resource.RLIMIT_CPU, (1, resource.RLIM_INFINITY))
        *_, last = lines
    assert "process that worked on this ended" in last["error"]
    assert not is_running(worker)


def test_a_worker_that_is_killed_is_replaced(attacked: Process) -> None:
    with attacked.job("run", ENDLESS_RUN) as lines:
        next(lines)
        os.kill(worker := attacked.worker(), signal.SIGKILL)
        *_, last = lines
    assert "process that worked on this ended" in last["error"]
    assert "result" in attacked.run(ADD)
    os.kill(idle := attacked.worker(), signal.SIGKILL)
    eventually(lambda: not is_running(idle))
    assert "result" in attacked.run(ADD)
    assert attacked.worker() not in (worker, idle)


def test_hanging_up_ends_a_job_and_those_that_wait_are_next(attacked: Process) -> None:
    before = attacked.worker()
    with attacked.job("run", ENDLESS_RUN) as lines:
        assert any(line["progress"]["phase"] == "running" for line in lines)
    assert attacked.run(ADD)["result"]["outputs"] == {"sum": "3"}
    assert not is_running(before)


def test_memory_has_a_limit(attacked: Process) -> None:
    text = "bits x[9000000]\nblock x[i] for i in 1..4000000\nwhen x[i]=1 write x[i] for i in 1..4000000"
    found = attacked.run({"source": {"kind": "rules", "text": text}})
    assert found["error"].startswith("this needs more memory than the 1,536 MiB that this page allows")
    assert "result" in attacked.run(ADD)
