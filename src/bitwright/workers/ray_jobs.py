"""Jobs on Ray: in order, a few ahead, and done again elsewhere if a worker or a machine is lost or far too slow.

Ray is started here, or is a cluster at an address; one line says what prevents a connection.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, Generic, TypeVar

from bitwright.errors import BitwrightError, InputError
from bitwright.workers.linear_algebra import kernel_settings

Common = TypeVar("Common")
Job = TypeVar("Job")
Result = TypeVar("Result")
_MISSING = re.compile(r"No module named '[^']*'")
_AHEAD = 4  # jobs handed out for each CPU: while one of them is late, the others go on
_RETRIES = 10  # how often a job may lose its worker or its machine
_COPIES = 3  # of a job that is late, at most
_LATE = 2  # a job that takes this many times as long as others is late
_LOOK = 1.0  # seconds after which the cluster is looked at again: machines join it, and leave


def in_ray(
    address: str | None,
    count: int,
    gpus: float,
    work: Callable[[Common, Job], Result],
    common: Common,
    jobs: Iterable[Job],
) -> Generator[Result]:
    """`work(common, job)` for each job, in order, on Ray."""
    ray = ray_module()
    ours = connect(ray, address, count)
    try:
        yield from _Round(ray, count, gpus, work, common).results(iter(jobs))
    except ray.exceptions.RayError as error:
        raise _what_went_wrong(ray, error) from None
    finally:
        if ours:
            ray.shutdown()


def _what_went_wrong(ray: Any, error: Exception) -> Exception:
    """What a job itself raised, or one line of what Ray says."""
    cause = getattr(error, "cause", None) or error
    if isinstance(cause, BitwrightError):
        return cause
    if missing := _MISSING.search(str(cause)):
        return InputError(f"a machine of the cluster lacks what bitwright needs ({missing[0]}); install it there")
    if not isinstance(cause, ray.exceptions.RayError):
        return cause
    if isinstance(cause, ray.exceptions.WorkerCrashedError):
        kernel = "".join(
            f", or its CPU cannot run what {name}={core} asks for" for name, core in kernel_settings().items()
        )
        return BitwrightError(f"Ray stopped: workers die again and again; perhaps one lacks memory{kernel}")
    return BitwrightError(f"Ray stopped: {(str(cause).strip() or type(cause).__name__).splitlines()[0]}")


@dataclass
class _HandedOut(Generic[Job]):
    """A job that is under way, or done and waiting for those before it."""

    job: Job
    copies: list[Any] = field(default_factory=list)  # each gives the same, so that the first one counts


class _Round(Generic[Common, Job, Result]):
    """The jobs of one `map`."""

    def __init__(
        self, ray: Any, count: int, gpus: float, work: Callable[[Common, Job], Result], common: Common
    ) -> None:
        self._ray, self._count, self._gpus, self._work = ray, count, gpus, work
        self._task = ray.remote(_call).options(num_gpus=gpus, max_retries=_RETRIES)
        self._common = ray.put(common)
        self._looked, self._capacity = -_LOOK, 0
        self._spent: deque[float] = deque(maxlen=99)  # seconds that jobs took, lately
        if not self._room():
            what = "GPU" if gpus else "CPU"
            raise InputError(f"no machine of the cluster has a {what} for jobs; start one that has")

    def results(self, jobs: Iterator[Job]) -> Generator[Result]:
        waiting: deque[_HandedOut[Job]] = deque()
        left = True
        while True:
            while left and len(waiting) < _AHEAD * max(1, self._room()):
                try:
                    waiting.append(self._hand_out(_HandedOut(next(jobs))))
                except StopIteration:
                    left = False
            if not waiting:
                return
            first = waiting[0]
            done, _ = self._ray.wait(first.copies, num_returns=1, timeout=self._patience)
            if done:
                waiting.popleft()
                seconds, result = self._ray.get(done[0])
                self._spent.append(seconds)
                self._drop(first.copies, done[0])
                yield result
            elif self._spent and len(first.copies) < _COPIES and self._under_way(waiting) < self._room():
                self._hand_out(first)  # it is late, and some worker has nothing to do

    @property
    def _patience(self) -> float:
        return max(_LOOK, _LATE * median(self._spent)) if self._spent else _LOOK

    def _room(self) -> int:
        """How many jobs the cluster, as it is now, does at once."""
        if self._count:
            return self._count
        if time.monotonic() - self._looked >= _LOOK:
            has = self._ray.cluster_resources()
            self._capacity = int(has.get("CPU", 0))
            if self._gpus:
                self._capacity = min(self._capacity, int(has.get("GPU", 0) / self._gpus))
            self._looked = time.monotonic()
        return self._capacity

    def _hand_out(self, share: _HandedOut[Job]) -> _HandedOut[Job]:
        share.copies.append(self._task.remote(self._work, self._common, share.job))
        return share

    def _under_way(self, waiting: Iterable[_HandedOut[Job]]) -> int:
        every = [copy for share in waiting for copy in share.copies]
        return len(self._ray.wait(every, num_returns=len(every), timeout=0, fetch_local=False)[1])

    def _drop(self, copies: Iterable[Any], done: Any) -> None:
        for copy in copies:
            if copy is not done:
                with suppress(ValueError, self._ray.exceptions.RayError):
                    self._ray.cancel(copy, force=True)  # an interrupt could leave modules half imported


def _call(work: Callable[[Any, Any], Any], common: Any, job: Any) -> tuple[float, Any]:
    """How long a job took, and its result. Ray takes functions of Python only; this one calls any."""
    begin = time.perf_counter()
    result = work(common, job)
    return time.perf_counter() - begin, result


ADDRESS = re.compile(r"(ray://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):(?P<port>[0-9]{1,5})", re.ASCII)
_PATIENCE = 5  # seconds to wait for an answer
_SETTINGS = b"\x04"  # the type of the first frame that a server sends (RFC 9113, Section 3.4)
_OPENING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + _SETTINGS + bytes(5)
_SOURCES = str(Path(__file__).parents[1])  # of bitwright
_SETTINGS_OF_RAY = {
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # the coming default; without it Ray warns
    "RAY_grpc_client_keepalive_time_ms": "20000",  # a machine that lost its network is missed now, not after minutes
    "RAY_grpc_client_keepalive_timeout_ms": "20000",
}
_NOT_SHIPPED = ["__pycache__", "*.pyc", "*.nbc", "*.nbi"]


def ray_module() -> Any:
    """Ray, or an InputError that says how to get it."""
    if find_spec("ray") is None:
        raise InputError("this needs Ray; install it with: pip install 'bitwright[ray]'")
    for name, value in _SETTINGS_OF_RAY.items():
        os.environ.setdefault(name, value)
    import ray
    import ray.exceptions

    return ray


def connect(ray: Any, address: str | None, count: int) -> bool:
    """Starts Ray here, or connects to the cluster; returns False if the caller had done so, and is to end it.

    The cluster gets these very sources, and its workers this process's kernel of linear algebra: its machines need
    Python, Ray and NumPy, but neither bitwright nor our files.
    """
    where = os.environ.get("RAY_ADDRESS") if address == "auto" else address
    check_reachable(where)
    if ray.is_initialized():
        return False
    quiet: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
    if address is None:
        quiet |= {"num_cpus": count or None, "include_dashboard": False}
    else:
        _check_way_in(ray, where)
        quiet["runtime_env"] = {"py_modules": _shipped(), "excludes": _NOT_SHIPPED, "env_vars": kernel_settings()}
    try:
        ray.init(address=address or "local", **quiet)
    except (ConnectionError, ValueError, RuntimeError, OSError, ray.exceptions.RayError) as error:
        raise InputError(f"cannot use Ray at {address or 'this machine'}: {_reason(error)}") from None
    _keep_off_stdout(ray)
    return True


def _keep_off_stdout(ray: Any) -> None:
    """Keeps Ray from reporting dead workers on standard output, among our results.

    Their jobs are done again on others, or the error is raised here.
    """
    if hasattr(found := ray._private.worker, "print_to_stdstream"):
        found.print_to_stdstream = lambda *_, **__: None


def check_reachable(address: str | None) -> None:
    """Raises InputError unless a Ray server answers; Ray itself would wait for minutes.

    Its servers speak HTTP/2, and such a server answers the opening of a client at once with its settings.
    """
    found = ADDRESS.fullmatch(address or "")
    if found is None:
        return
    host, port = found["host"].strip("[]"), int(found["port"])
    try:
        with socket.create_connection((host, port), timeout=_PATIENCE) as line:
            if os.environ.get("RAY_USE_TLS", "0") not in ("", "0"):
                return  # then the opening would have to be encrypted
            line.sendall(_OPENING)
            head = b""
            while len(head) < 9 and (more := line.recv(9 - len(head))):
                head += more
            reason = None if head[3:4] == _SETTINGS else "something else listens there"
    except TimeoutError:
        reason = f"no answer within {_PATIENCE} s"
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    if reason is not None:
        raise InputError(f"no Ray cluster answers at {address} ({reason}); start one with: ray start --head")


def _check_way_in(ray: Any, address: str | None) -> None:
    """Raises InputError where Ray would end this whole process: on a machine that none of the cluster's nodes is on."""
    if address is None:
        return
    if address.startswith("ray://"):
        if find_spec("grpc") is None:
            raise InputError(f"{address} needs Ray's client; install it with: pip install 'ray[client]'")
        return
    client = getattr(getattr(ray, "_raylet", None), "GcsClient", None)
    if client is None:
        return
    try:
        with _silence():
            nodes = client(address=address).get_all_node_info(timeout=_PATIENCE).values()
    except (RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
        raise InputError(f"cannot use Ray at {address}: {_reason(error)}") from None
    sockets = [getattr(node, "raylet_socket_name", "") for node in nodes]
    if not any(name and os.path.exists(name) for name in sockets):
        raise InputError(
            f"this machine is not a node of the cluster at {address}; join it with: ray start --address={address} "
            "--num-cpus=0, or give ray://HOST:10001"
        )


@contextmanager
def _silence() -> Iterator[None]:
    """Discards standard error meanwhile: Ray's library writes there itself, past Python."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _reason(error: Exception) -> str:
    """One line of Ray's message; one about versions has seven."""
    text = str(error).strip() or type(error).__name__
    if "ersion mismatch" in text:
        return "; ".join(" ".join(part.split()) for part in re.split(r"(?=This process)", text)).replace(
            "; This", ", this"
        )
    if "http2 header with status" in text:  # a web server's answer, such as 404
        return "something that is not Ray answers there; give the address that ray start --head printed"
    return text.splitlines()[0].split(". ")[0]


def _shipped() -> list[str]:
    """The sources of bitwright, and of the paper's figures if one of them is what runs."""
    beside = Path(_SOURCES).parents[1] / "paper"
    return [_SOURCES, *([str(beside)] if "paper" in sys.modules and beside.is_dir() else [])]
