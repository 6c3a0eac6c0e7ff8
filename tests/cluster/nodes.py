"""Machines of a cluster, on this one: Ray nodes that share no network and no files.

Each has a network namespace of its own, joined to the others by a bridge that is in none of them, and a mount namespace
in which /tmp and the sources of bitwright are empty. Where namespaces cannot be had, nodes have loopback addresses of
their own instead. Either way their Python has every package that this one has, except bitwright.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from uuid import uuid4

sys.path.append(str(Path(__file__).parents[1]))

from waiting import wait_until

SOURCES = Path(__file__).parents[2] / "src"
PORT = 6379
_MARK = "BITWRIGHT_TEST_NODE"  # in the environment of every process of a node; SPT_NOENV keeps titles from covering it
_START = "import sys; from ray.scripts.scripts import main; sys.exit(main())"
_QUIET = ("--disable-usage-stats", "--object-store-memory=100000000", "--log-style=record")
# A dead machine is noticed sooner than by Ray's own bounds, and one that is only busy is not taken for dead.
_HEALTH = {
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "20000",
    "RAY_health_check_failure_threshold": "3",
}


@cache
def why_no_namespaces() -> str | None:
    """Why there can be no namespaces here, or None."""
    if os.environ.get("BITWRIGHT_TEST_NAMESPACES") == "0":
        return "namespaces are not wanted (BITWRIGHT_TEST_NAMESPACES=0)"
    if not sys.platform.startswith("linux"):
        return "network namespaces are Linux's"
    if missing := [tool for tool in ("ip", "unshare", "nsenter", "mount") if shutil.which(tool) is None]:
        return f"network namespaces need {', '.join(missing)}"
    name = f"bw{os.getpid()}t"
    try:
        _sh("ip", "netns", "add", name)
        try:
            _sh("ip", "-n", name, "link", "add", "sw", "type", "bridge")
            _sh("ip", "-n", name, "link", "add", "name", "eth0", "type", "veth", "peer", "name", "p0")
            _sh("unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt")
        finally:
            _sh("ip", "netns", "del", name)
    except subprocess.CalledProcessError as error:
        return f"network namespaces cannot be had: {(error.stderr or str(error)).strip()}"
    return None


@dataclass
class Node:
    """One machine; its number is the last of its address."""

    number: int
    lab: Lab
    private: bool  # whether it sees none of this machine's files of tests
    address: str

    @property
    def mark(self) -> str:
        return f"{self.lab.name}-{self.number}"

    @property
    def namespace(self) -> str:
        return f"{self.lab.name}n{self.number}"

    def pids(self) -> list[int]:
        """Of all processes of this node."""
        return marked(f"{_MARK}={self.mark}\0")

    def workers(self) -> list[int]:
        """Of the processes that are at a job: Ray calls them by what they do."""
        return [pid for pid in self.pids() if _title(pid).startswith("ray::_call")]

    def halted_workers(self) -> list[int]:
        """Of the processes that have halted in the middle of a job."""
        return [pid for pid in self.workers() if _state(pid) == "T"]

    def stop_a_worker(self) -> int:
        """Halts a process of this node in the middle of a job, and gives its number."""

        def halt() -> int | None:
            for pid in self.workers():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                    if pid in self.workers():
                        return pid
                    os.kill(pid, signal.SIGCONT)
            return None

        return wait_until(halt, f"a worker of node {self.number} is at a job")

    def kill(self, unplug: bool = False) -> None:
        """Ends all its processes at once; unplugged first, so that nobody hears of it, it is missed after a minute."""
        if unplug:
            _sh("ip", "-n", self.namespace, "link", "set", "eth0", "down")
        wait_until(lambda: not kill_marked(f"{_MARK}={self.mark}\0"), f"node {self.number} has no processes any more")


class Lab:
    """Several machines: the first has the head of the cluster, and is where commands are given."""

    def __init__(self, folder: Path, namespaces: bool) -> None:
        self.name, self.folder, self.namespaces = f"bw{os.getpid()}", folder, namespaces
        self.nodes: list[Node] = []
        self.user = folder / "user"  # where commands are given, on the first machine
        self.user.mkdir(parents=True)
        self.secret = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": uuid4().hex}  # for nodes and those who use them
        self.site = _site_without_bitwright(folder / "site")
        self.bytecode = Path(sys.pycache_prefix or folder / "bytecode")  # of what is installed: nodes share it

    @property
    def address(self) -> str:
        return f"{self.nodes[0].address}:{PORT if self.namespaces else self._port}"

    def add(self, cpus: int = 1, ray: bool = True) -> Node:
        """One more machine, with a node of Ray on it, or without."""
        number = len(self.nodes) + 1
        host = f"10.0.0.{number}" if self.namespaces else f"127.0.0.{number}"
        node = Node(number, self, bool(self.nodes), host)
        self.nodes.append(node)
        if self.namespaces:
            self._plug_in(node)
        if ray:
            self._start(node, cpus)
        return node

    def command(self, node: Node, arguments: Sequence[str], folder: str = "") -> list[str]:
        """A command as it has to be given so that it runs on a machine."""
        if not self.namespaces:
            return list(arguments)
        inside = ["ip", "netns", "exec", node.namespace]
        if (pids := node.pids()) and "raylet" in "".join(map(_title, pids)):
            spaces = [f"--net=/run/netns/{node.namespace}", f"--mount=/proc/{pids[0]}/ns/mnt"]
            inside = ["nsenter", *spaces, f"--wdns={folder or self.user}", "--"]
        return [*inside, *arguments]

    def _start(self, node: Node, cpus: int) -> None:
        head = node is self.nodes[0]
        if head and not self.namespaces:
            self._port = _free_port()
        where = ["--head", f"--port={self.address.rpartition(':')[2]}", "--include-dashboard=false"]
        start = [sys._base_executable, "-c", _START, "start", *(where if head else [f"--address={self.address}"])]
        start += [f"--node-ip-address={node.address}", f"--num-cpus={cpus}", *_QUIET]
        path, bytecode = str(self.site), str(self.folder / "bytecode")
        if self.namespaces:
            path, bytecode = "/mnt", "/srv"
            start = ["sh", "-c", self._mounts(node) + ' && exec "$@"', "sh", *start]
            start = ["ip", "netns", "exec", node.namespace, "unshare", "--mount", "--propagation=private", *start]
        kept = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
        home = "/tmp/ray" if self.namespaces else str(self.folder)
        if os.uname().machine == "x86_64":
            kept["OPENBLAS_CORETYPE"] = "Nehalem"  # the kernel of an old CPU, which workers must not take
        more = {"HOME": home, "PYTHONPYCACHEPREFIX": bytecode, "SPT_NOENV": "1", **_HEALTH, **self.secret}
        environment = {**kept, **more, "PYTHONPATH": path, _MARK: node.mark}

        def begin() -> bool:
            """Ray waits for a node half a minute, which a busy machine may need; what it left is ended then."""
            done = subprocess.run(
                start,
                env=environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            if done.returncode:
                assert "timed out during startup" in done.stdout, done.stdout
                node.kill()
            return done.returncode == 0

        wait_until(begin, f"node {node.number} starts")

    def _mounts(self, node: Node) -> str:
        """What a machine sees of this one's disk: its Python, and no bitwright; the head also the files of the user."""
        own = self.folder / f"ray{node.number}"
        own.mkdir(exist_ok=True)
        (self.bytecode / "tmp").mkdir(parents=True, exist_ok=True)
        lines = [f"mount --bind '{self.site}' /mnt", f"mount --bind '{self.bytecode}' /srv"]
        lines += ["mount -t tmpfs tmpfs /srv/tmp"]  # of the sources that are sent, at another place each time
        if node.private:
            packages = sysconfig.get_path("purelib")
            lines += [f"mount -t tmpfs tmpfs '{SOURCES}'", f"mount --bind '{packages}' /media"]
            lines += ["mount -t tmpfs tmpfs /tmp"]
            if packages.startswith("/tmp/"):  # this environment is in what is hidden, and its packages are wanted
                lines += [f"mkdir -p '{packages}'", f"mount --bind /media '{packages}'"]
        else:
            lines += ["mkdir -p /tmp/ray", f"mount --bind '{own}' /tmp/ray"]
        return " && ".join(lines)

    def _plug_in(self, node: Node) -> None:
        switch = f"{self.name}s"
        if not Path(f"/run/netns/{switch}").exists():
            _sh("ip", "netns", "add", switch)
            _sh("ip", "-n", switch, "link", "add", "sw", "type", "bridge")
            _sh("ip", "-n", switch, "link", "set", "sw", "up")
        name, plug = node.namespace, f"p{node.number}"
        _sh("ip", "netns", "add", name)
        _sh("ip", "link", "add", "eth0", "netns", name, "type", "veth", "peer", "name", plug, "netns", switch)
        _sh("ip", "-n", switch, "link", "set", plug, "master", "sw", "up")
        _sh("ip", "-n", name, "addr", "add", f"{node.address}/24", "dev", "eth0")
        _sh("ip", "-n", name, "link", "set", "eth0", "up")
        _sh("ip", "-n", name, "link", "set", "lo", "up")


@contextmanager
def lab(folder: Path, namespaces: bool) -> Iterator[Lab]:
    """A place for machines; another process sees to it that they are gone at its end, even if this one is killed."""
    made = Lab(folder, namespaces)
    sweep = [sys.executable, __file__, made.name]
    sweeper = subprocess.Popen(sweep, stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield made
    finally:
        sweeper.stdin.close()
        sweeper.wait()


def sweep(name: str) -> None:
    """Ends every process of every node of a lab, and removes its namespaces."""
    wait_until(lambda: not kill_marked(f"{_MARK}={name}-"), f"the nodes of {name} have ended")
    for path in Path("/run/netns").glob(f"{name}[ns]*"):
        for pid in subprocess.run(["ip", "netns", "pids", path.name], capture_output=True, text=True).stdout.split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        subprocess.run(["ip", "netns", "del", path.name], check=False)


def marked(mark: str) -> list[int]:
    """The processes with this in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def kill_marked(mark: str) -> list[int]:
    """Kills them, and gives those that there were."""
    pids = marked(mark)
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return pids


def _site_without_bitwright(folder: Path) -> Path:
    """All that is installed beside bitwright: a folder of links, since .pth files do not count there."""
    folder.mkdir()
    for kind in ("purelib", "platlib"):
        for path in Path(sysconfig.get_path(kind)).iterdir():
            if "bitwright" not in path.name and path.suffix != ".pth" and not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)
    return folder


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _state(pid: int) -> str:
    """One letter, as in /proc: T of a process that was halted."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _sh(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


if __name__ == "__main__":  # beside the tests: their end, however it comes, closes the pipe
    sys.stdin.read()
    sweep(sys.argv[1])
