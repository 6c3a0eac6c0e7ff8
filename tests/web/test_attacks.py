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
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from serving import ADD, ENDLESS, SLOW, Client, Process, eventually, serving_process

import bitwright
from bitwright.web import confine
from bitwright.web.limits import Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes and limits of Linux")
KILLED = "a process to work in could not be started: it ended with code -9 "  # which is worth a line


@pytest.fixture(scope="module")
def server() -> Iterator[Process]:
    """A server whose terminal must have stayed empty, and which still works, when everything is over."""
    with serving_process(Limits(**ENDLESS, warm=False), size=1) as found:
        yield found
        eventually(lambda: found.health()["ok"])
        assert found.run(ADD)["result"]["outputs"] == {"sum": "3"}
        assert [line for line in found.said().splitlines() if not line.startswith(KILLED)] == []


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


def test_half_open_connections_stop_nobody(server: Process) -> None:
    with ExitStack() as stack:
        for number in range(100):
            raw = stack.enter_context(server.connect())
            raw.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "[: number % 40])  # some say nothing at all
        assert server.run(ADD)["state"] == "done"


# What is sent.


@pytest.mark.parametrize("length", ["999999999", "524289", "9" * 400])
def test_oversized_bodies_are_refused_before_they_are_read(server: Process, length: str) -> None:
    head = f"POST TOKEN/api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
    assert spoken(server, head)[0] in (400, 413)


def test_a_body_without_end_is_cut_off(server: Process) -> None:
    head = f"POST {server.prefix}/api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += "Transfer-Encoding: chunked\r\n\r\n"
    with server.connect() as raw:
        sent = 0
        with suppress(ConnectionError):
            raw.sendall(head.encode())
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
    *("TOKEN/assets/../app.py", "TOKEN/assets/..%2fapp.py", "TOKEN/assets/%2e%2e/%2e%2e/%2e%2e/etc/passwd"),
    *("TOKEN/assets/..\\app.py", "TOKEN/assets/%00", "TOKEN/assets//etc/passwd", "TOKEN//etc/passwd", "TOKEN/%ff%fe"),
    *("TOKEN/../../etc/passwd", "TOKEN/api/runs/../../etc/passwd", "TOKEN/api/runs/x/..%2f..%2fetc%2fpasswd"),
    *("//etc/passwd", "/../../etc/passwd", "file:///etc/passwd", "http://localhost/../etc/passwd", "*"),
)


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leads_to_a_file(server: Process, path: str) -> None:
    status, body = spoken(server, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert (status, list(json.loads(body))) == (404 if path.startswith("TOKEN") else 403, ["error"])


# Processes.


def test_processes_that_are_killed_are_replaced(server: Process) -> None:
    slow = server.start(SLOW)
    server.until(slow["id"], lambda job: job.get("progress", {}).get("step", 0) > 0)
    kill_all(server)
    ended = server.end(slow)
    assert (ended["state"], "process that worked on this ended" in ended["message"]) == ("failed", True)
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
