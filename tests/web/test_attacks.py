"""Attacks on a server in a process of its own: others are served, nothing is lost, and its terminal stays quiet.

Every attack is bounded in number, stays on loopback and ends by itself. Whatever is waited for is an event.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from serving import ADD, ENDLESS, SLOW, Client, Process, eventually, serving_process
from waiting import PATIENCE

import bitwright
from bitwright.web import confine
from bitwright.web.limits import Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uses all of 127.0.0.0/8, and limits of Linux")
BOMB = "bits x[9000000]\nblock x[i] for i in 1..9000000\nwhen x[i]=1 write x[i] for i in 1..9000000"
KILLED = "a process to work in could not be started: it ended with code -9 "  # which is worth a line
HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


@contextmanager
def attacked(limits: Limits | None = None, size: int = 2, descriptors: int = 0) -> Iterator[Process]:
    """A server whose terminal must have stayed empty, and which still works, when everything is over."""
    with serving_process(limits, size, descriptors=descriptors) as server:
        yield server
        eventually(lambda: server.health()["ok"])
        assert server.named("afterwards").run(ADD)["result"]["outputs"] == {"sum": "3"}
        assert [line for line in server.said().splitlines() if not line.startswith(KILLED)] == []


@pytest.fixture(scope="module")
def server() -> Iterator[Process]:
    with attacked() as found:
        yield found


@pytest.fixture(scope="module")
def hasty_server() -> Iterator[Process]:
    with attacked(Limits(request_seconds=2)) as found:
        yield found


def answers(raw: socket.socket) -> bytes:
    """All that comes on a connection until the other side hangs up."""
    found = b""
    with suppress(ConnectionError):
        while piece := raw.recv(65_536):
            found += piece
    return found


def spoken(server: Client, text: bytes, source: str = "127.0.0.1") -> tuple[int, bytes]:
    """Status and body of the answer to one request that ends its connection."""
    with server.connect(source) as raw:
        raw.sendall(text)
        head, _, body = answers(raw).partition(b"\r\n\r\n")
    return int(head.split()[1]) if head else 0, body  # 0: the line was cut before the answer could be read


PAGE = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


# Connections.


def test_300_half_open_connections_at_256_descriptors_stop_nobody() -> None:
    with attacked(descriptors=256) as server, ExitStack() as stack:
        most = server.health()["connections"]["most"]
        assert most < 200
        for number in range(300):
            raw = stack.enter_context(server.connect())
            with suppress(ConnectionError):
                raw.sendall(HALF[: number % 40])  # some say nothing at all
        for source in ("127.0.0.1", "127.0.0.2"):  # the attacker's own address, and somebody else's
            assert spoken(server, PAGE, source)[0] == 200
        assert server.named("somebody").run(ADD)["state"] == "done"
        assert server.health()["connections"]["open"] <= most // 2 + 1


def test_more_connections_that_wait_for_an_answer_than_allowed() -> None:
    """They cannot be taken for silent; then newcomers of that address are sent away, and others are served."""
    limits = Limits(**ENDLESS, poll_seconds=100_000)
    with ExitStack() as again, attacked(limits, descriptors=256) as server, ExitStack() as stack:
        slow = server.named("attacker").start(SLOW)
        most = server.health()["connections"]["most"]
        server.http.close()  # the attacker is to have all of this address
        poll = f"GET /api/runs/{slow['id']}?after=2000000 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()

        def one_more() -> bytes | None:  # some of those that came too fast were taken for silent
            with suppress(ConnectionError):
                stack.enter_context(server.connect()).sendall(poll)
            status, body = spoken(server, PAGE)
            return body if status == 503 else None

        for _ in range(most // 2):
            one_more()
        body = eventually(one_more)
        busy = {"error": "busy: there are too many connections; try again in a moment"}
        assert json.loads(body) == busy
        assert spoken(server, PAGE, "127.0.0.2")[0] == 200
        stack.close()
        server.http = again.enter_context(httpx.Client(base_url=str(server.http.base_url), timeout=PATIENCE))
        eventually(lambda: spoken(server, PAGE)[0] == 200)
        assert server.http.delete(f"/api/runs/{slow['id']}").status_code == 200


def test_slow_requests_end_in_time_however_they_are_fed(hasty_server: Process) -> None:
    server = hasty_server
    body = (
        b"POST /api/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
    )
    with ExitStack() as stack:
        slow = [stack.enter_context(server.connect()) for _ in range(20)]
        for number, raw in enumerate(slow):
            raw.sendall(body if number % 2 else HALF)
        silent = stack.enter_context(server.connect())
        assert spoken(server, PAGE)[0] == 200
        dripping = stack.enter_context(server.connect())
        dripping.settimeout(0.1)
        dripping.sendall(HALF)
        said = b""
        for _ in range(1200):  # two minutes at most, far more than a request has
            with suppress(TimeoutError, ConnectionError):
                said = said or dripping.recv(4096)
            with suppress(ConnectionError):
                dripping.sendall(b"x")
            if said:
                break
        assert said.startswith(b"HTTP/1.1 408 ")  # what follows may be cut off by what it still sent
        for found in map(answers, slow):
            assert found.startswith(b"HTTP/1.1 408 ")
            assert found.endswith(b'{"error": "a request has 2 seconds to come in"}')
        assert answers(silent) == b""


def test_a_second_request_that_comes_slowly_ends_too(hasty_server: Process) -> None:
    with hasty_server.connect() as raw:
        raw.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert raw.recv(15) == b"HTTP/1.1 200 OK"
        raw.sendall(HALF)
        assert b"HTTP/1.1 408 " in answers(raw)


def test_who_does_not_read_takes_little_memory_and_is_left() -> None:
    writes = " ".join(f"x[{number}]" for number in range(1, 61))
    text = f"bits x[9000]\nblock x[i] for i in 1..9000\nwhen x[i]=1 write {writes} for i in 1..9000\nstart x[1]"
    with attacked(Limits(stalled_seconds=5, seconds=1000)) as server, ExitStack() as stack:
        job = server.run({"source": {"kind": "rules", "text": text}, "max_steps": 1})
        size = job["files"]["program.bw"]
        assert size > 2_000_000
        ask = f"GET /api/runs/{job['id']}/program.bw HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 5
        before = memory(server.pid)
        for _ in range(60):
            raw = stack.enter_context(socket.socket())
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            raw.connect((server.http.base_url.host, server.http.base_url.port))
            raw.sendall(ask)
            assert raw.recv(1) == b"H"  # and no more of it
        peaks = [before]

        def alone() -> bool:
            peaks.append(memory(server.pid))
            return bool(server.health()["connections"]["open"] == 1)

        eventually(alone)
        assert max(peaks) - before < 60 * size / 4


def memory(pid: int) -> int:
    """Bytes that a process has in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_connections_that_come_and_go_leave_nothing() -> None:
    with attacked(Limits(**ENDLESS, poll_seconds=100_000)) as server:
        slow = server.named("attacker").start(SLOW)
        poll = f"GET /api/runs/{slow['id']}?after=2000000 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        for _ in range(300):
            with server.connect() as raw:
                raw.sendall(poll)
        eventually(lambda: server.health()["connections"]["open"] == 1)
        assert server.http.delete(f"/api/runs/{slow['id']}").status_code == 200


# What is sent.


@pytest.mark.parametrize("length", ["999999999", "524289", "9" * 400])
def test_oversized_bodies_are_refused_before_they_are_read(server: Process, length: str) -> None:
    head = f"POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n".encode()
    status, body = spoken(server, head)
    assert (status, list(json.loads(body))) in ((413, ["error"]), (400, ["error"]))


def test_a_body_without_end_is_cut_off(server: Process) -> None:
    head = b"POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += b"Transfer-Encoding: chunked\r\n\r\n"
    with server.connect() as raw:
        sent = 0
        with suppress(ConnectionError):
            raw.sendall(head)
            for _ in range(4000):
                raw.sendall(b"1000\r\n" + b" " * 4096 + b"\r\n")
                sent += 4096
        found = answers(raw)
    assert sent < 4000 * 4096 or found.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("header", [b"X: %s\r\n" % (b"a" * 2_000_000), b"X: 1\r\n" * 300_000], ids=["long", "many"])
def test_oversized_headers_are_refused(server: Process, header: bytes) -> None:
    with server.connect() as raw:
        with suppress(ConnectionError):
            raw.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + header + b"\r\n")
        found = answers(raw)
    assert found.startswith(b"HTTP/1.1 400 ") or found == b""  # or the line was cut before it could be read


PATHS = (
    "/assets/../app.py",
    "/assets/..%2fapp.py",
    "/assets/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "/assets/..\\app.py",
    "/assets/%00",
    "/assets//etc/passwd",
    "//etc/passwd",
    "/../../etc/passwd",
    "/api/runs/../../etc/passwd",
    "/api/runs/x/..%2f..%2fetc%2fpasswd",
    "/%ff%fe",
    "file:///etc/passwd",
    "http://localhost/../etc/passwd",
    "*",
)


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leads_to_a_file(server: Process, path: str) -> None:
    status, body = spoken(server, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert (status, list(json.loads(body))) == (404, ["error"])


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost:x", "[", "[::1", "a b", "\xe9", "@"]
)
def test_a_name_that_was_made_to_lead_here_is_not_answered(server: Process, host: str) -> None:
    for line in ("GET /api/about", "POST /api/runs", "DELETE /api/runs/x"):
        text = f"{line} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
        status, body = spoken(server, text.encode("latin-1"))
        assert (status, list(json.loads(body))) == (421, ["error"])


ORIGINS = (
    "http://[",
    "http://]",
    "null",
    "",
    "http://evil.example",
    "http://localhost.evil.example",
    "//",
    "\xff",
    "http://[::1",
)


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_page_of_another_site_changes_nothing(server: Process, origin: str) -> None:
    for line in ("POST /api/runs", "POST /api/check", "DELETE /api/runs/x", "PUT /", "PATCH /api/runs"):
        text = f"{line} HTTP/1.1\r\nHost: localhost\r\nOrigin: {origin}\r\nContent-Type: application/json\r\n"
        status, body = spoken(server, f"{text}Connection: close\r\n\r\n".encode("latin-1"))
        assert (status, list(json.loads(body))) == (403, ["error"])


def test_a_request_with_two_origins_is_refused(server: Process) -> None:
    text = "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nOrigin: http://localhost\r\n"
    status, body = spoken(server, f"{text}Content-Type: application/json\r\nConnection: close\r\n\r\n".encode())
    assert (status, json.loads(body)["error"]) == (400, "a request has one origin header, this one has 2")


# Processes.


def test_processes_that_are_killed_are_replaced() -> None:
    with attacked(Limits(**ENDLESS)) as server:
        slow = server.start(SLOW)
        server.until(slow["id"], lambda job: job.get("progress", {}).get("step", 0) > 0)
        kill_all(server)
        ended = server.end(slow)
        assert (ended["state"], "process that worked on this ended" in ended["message"]) == ("failed", True)
        for _ in range(2):
            assert server.run(ADD)["state"] == "done"
            kill_all(server)  # while they are idle; the server may not know yet when the next run comes
            assert server.check({"kind": "addition", "bits": 4})["ok"]


CONFINED = """
import ctypes, json, os, signal, socket, subprocess, sys
from pathlib import Path
from bitwright.web import work
from bitwright.web.confine import confine
module, outside, port, someone = work.__file__, sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
new, libc = str(Path(module).with_name("new")), ctypes.CDLL(None, use_errno=True)
confine(1 << 30)

def traced():
    if libc.ptrace(16, ctypes.c_long(someone), None, None) < 0:  # PTRACE_ATTACH
        raise OSError(ctypes.get_errno(), "")

def forked():
    if (child := os.fork()) == 0:
        os._exit(0)
    os.waitpid(child, 0)

attacks = {
    "memory": lambda: bytearray(1 << 31),
    "fork": forked,
    "chmod": lambda: os.chmod(outside, 0o600),
    "chown": lambda: os.chown(outside, os.getuid(), os.getgid()),
    "utime": lambda: os.utime(outside),
    "listen": lambda: socket.socket().listen(),
    "UDP": lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port)),
    "read a module": lambda: open(module).read(1),
    "read /etc/passwd": lambda: open("/etc/passwd"),
    "read the home folder": lambda: os.listdir(Path.home()),
    "read a file outside": lambda: open(outside),
    "list a folder outside": lambda: os.listdir(Path(outside).parent),
    "overwrite": lambda: open(outside, "r+"),
    "append": lambda: open(outside, "a"),
    "create": lambda: open(new, "w"),
    "create in the working folder": lambda: open("new", "w"),
    "empty a module by opening it": lambda: open(module, "w"),
    "empty a file by opening it": lambda: open(outside, "w"),
    "mkfifo": lambda: os.mkfifo(new),
    "mkdir": lambda: os.mkdir(new),
    "symlink": lambda: os.symlink("/etc", new),
    "link": lambda: os.link(module, new),
    "rename": lambda: os.rename(outside, outside + "2"),
    "remove": lambda: os.remove(outside),
    "mksock": lambda: socket.socket(socket.AF_UNIX).bind(new),
    "run a program": lambda: subprocess.run(["/bin/true"]),
    "ptrace": traced,
    "truncate": lambda: os.truncate(module, 0),
    "connect": lambda: socket.create_connection(("127.0.0.1", port)),
    "bind": lambda: socket.socket().bind(("127.0.0.1", 0)),
    "signal": lambda: os.kill(someone, signal.SIGTERM),
}

def tried(attack):
    try:
        attack()
    except MemoryError:
        return "MemoryError"
    except OSError as error:
        return type(error).__name__ if isinstance(error, PermissionError) else os.strerror(error.errno)
    return "done"

print(json.dumps({name: tried(attack) for name, attack in attacks.items()}))
"""
FROM_THE_KERNEL = {  # what is denied, by the first version of Landlock that denies it
    **dict.fromkeys(("read /etc/passwd", "read the home folder", "read a file outside", "list a folder outside"), 1),
    **dict.fromkeys(("overwrite", "append", "create", "create in the working folder"), 1),
    **dict.fromkeys(("empty a module by opening it", "empty a file by opening it"), 1),
    **dict.fromkeys(("mkfifo", "mkdir", "symlink", "link", "rename", "remove", "mksock"), 1),
    **dict.fromkeys(("run a program", "ptrace"), 1),
    **dict.fromkeys(("connect", "bind"), 4),
    "truncate": 3,
    "signal": 6,
}
NOT_DENIED = {"fork", "chmod", "chown", "utime", "listen", "UDP"}  # and the documentation says so


@pytest.fixture(scope="module")
def attempts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What became of every attack, in a process that is confined and runs a copy of the package."""
    folder = tmp_path_factory.mktemp("confined")
    package = Path(bitwright.__file__).parent
    shutil.copytree(package, folder / "modules" / "bitwright", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("outside", "working"):
        (folder / name).mkdir()
    (folder / "outside" / "file").write_text("kept")
    with socket.create_server(("127.0.0.1", 0)) as listening, subprocess.Popen(["sleep", "1000"]) as someone:
        given = [str(folder / "outside" / "file"), str(listening.getsockname()[1]), str(someone.pid)]
        found = subprocess.run(
            [sys.executable, "-P", "-c", CONFINED, *given],
            capture_output=True,
            text=True,
            cwd=folder / "working",
            env={**os.environ, "PYTHONPATH": str(folder / "modules"), "HOME": str(folder / "outside")},
        )
        someone.kill()
    assert found.returncode == 0, found.stderr
    yield json.loads(found.stdout)
    if confine.landlock() >= 3:
        assert (folder / "outside" / "file").read_text() == "kept"
        assert (folder / "modules/bitwright/web/work.py").read_bytes() == (package / "web/work.py").read_bytes()


def test_memory_has_a_limit_and_modules_can_be_read(attempts: dict[str, str]) -> None:
    assert attempts["memory"] == "MemoryError"
    assert attempts["read a module"] == "done"


@pytest.mark.parametrize("attack", FROM_THE_KERNEL)
def test_the_kernel_denies(attempts: dict[str, str], attack: str) -> None:
    if confine.landlock() < FROM_THE_KERNEL[attack]:
        pytest.skip(f"needs version {FROM_THE_KERNEL[attack]} of Landlock")
    denied = {"link": ("PermissionError", "Invalid cross-device link")}.get(attack, ("PermissionError",))
    assert attempts[attack] in denied


@pytest.mark.parametrize("attack", sorted(NOT_DENIED))
def test_what_the_documentation_says_is_not_denied(attempts: dict[str, str], attack: str) -> None:
    assert attempts[attack] == "done"


def test_every_process_of_the_server_is_confined_as_a_whole(server: Process) -> None:
    """What the kernel denies, it denies to a thread and to those that this one starts: so there must be one."""

    def found() -> set[tuple[str, str]]:
        said = [Path(f"/proc/{worker}/status").read_text().splitlines() for worker in server.workers()]
        lines = [dict(line.split(":\t", 1) for line in own) for own in said]
        return {(own["Threads"], own["NoNewPrivs"]) for own in lines}

    eventually(lambda: found() == {("1", str(int(confine.landlock() > 0)))})  # once all are ready


def kill_all(server: Process) -> None:
    for worker in server.workers():
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


def test_memory_bombs_burst_where_they_are() -> None:
    with attacked(Limits(memory=1 << 30, seconds=1000)) as server:
        bombs = [server.named("attacker").start({"source": {"kind": "rules", "text": BOMB}}) for _ in range(2)]
        assert server.named("somebody").run(ADD)["state"] == "done"
        for bomb in bombs:
            ended = server.end(bomb)
            assert ended["state"] == "failed"
            assert "memory" in ended["message"]


# Sharing.


def test_endless_runs_of_one_client_hold_up_nobody_else() -> None:
    """Nothing ever ends by time here: if others had to wait, they would wait for ever."""
    with attacked(Limits(**ENDLESS), size=4) as server:
        attacker = server.named("attacker")
        endless = [attacker.start(SLOW) for _ in range(20)]
        attacker.until(endless[1]["id"], lambda job: job["state"] == "running")
        for name in ("somebody", "somebody-else", "a-third"):
            assert server.named(name).run(ADD)["result"]["outputs"] == {"sum": "3"}
            assert server.named(name).check({"kind": "addition", "bits": 4})["ok"]
        assert [attacker.look(job)["state"] for job in endless] == ["running"] * 2 + ["waiting"] * 18
        assert [attacker.look(job)["ahead"] for job in endless[2:]] == list(range(18))
        for _ in range(100):  # as many as may wait, and no more
            refused = server.http.post("/api/runs", json=SLOW, headers=attacker.headers)
            if refused.status_code != 202:
                break
            endless.append(refused.json())
        assert (refused.status_code, len(endless)) == (429, 2 + Limits().waiting_each)
        assert refused.headers["retry-after"].isdigit()
        assert server.named("somebody").run(ADD)["state"] == "done"
        for job in endless:
            server.http.delete(f"/api/runs/{job['id']}")


def test_strangers_are_told_apart_by_address_whatever_they_call_themselves() -> None:
    from bitwright.web.guard import client_of

    def client(address: str, name: str) -> str:
        return client_of({"client": (address, 1), "headers": [(b"x-bitwright-client", name.encode())]})

    assert client("203.0.113.7", "a") == client("203.0.113.7", "b") != client("203.0.113.8", "a")
    assert client("2001:db8::1", "a") == client("2001:db8::2", "b") != client("2001:db8:0:1::1", "a")
    assert client("127.0.0.1", "a") != client("127.0.0.1", "b") == client("::ffff:127.0.0.1", "b")


def test_a_flood_of_results_takes_nothing_from_others_and_loses_nothing() -> None:
    limits = Limits(result=1 << 20, kept=4 << 20, fetched_seconds=0)
    with attacked(limits) as server:
        attacker, somebody = server.named("attacker"), server.named("somebody")
        kept: list[dict[str, object]] = []
        for _ in range(limits.kept >> 16):  # far more than it may have
            answer = server.http.post("/api/runs", json=ADD, headers=attacker.headers)
            if answer.status_code != 202:
                break
            kept.append(answer.json())
            eventually(lambda: server.health()["runs"]["running"] + server.health()["runs"]["waiting"] == 0)
        assert (answer.status_code, list(answer.json())) == (429, ["error"])
        assert 1 <= int(answer.headers["retry-after"]) <= limits.kept_seconds
        before = server.health()["results"]
        assert before["bytes"] <= before["most"] // 2
        for _ in range(30):
            assert somebody.run(ADD)["state"] == "done"  # fetched, so it makes room for the next
        for job in kept:
            found = attacker.look(job)
            assert (found["state"], len(attacker.file(found, "size.json"))) == ("done", found["files"]["size.json"])
        assert attacker.run(ADD)["state"] == "done"  # now that they were fetched
