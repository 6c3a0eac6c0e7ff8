"""Runs jobs on Ray in order, a few ahead, and retries a job elsewhere if its worker or machine is lost.

Ray runs locally or on a cluster at an address; a failed connection is reported in one line.
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
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from bitwright.common.errors import BitwrightError, InputError
from bitwright.common.workers.linear_algebra import kernel_settings

Common = TypeVar("Common")
Job = TypeVar("Job")
Result = TypeVar("Result")
_MISSING = re.compile(r"No module named '[^']*'")
_AHEAD = 4  # jobs submitted for each CPU; while the first is awaited, the others run
_RETRIES = 10  # how often a job may lose its worker or machine
_LOOK = 1.0  # seconds between checks of the cluster, because machines join and leave


def in_ray(
    address: str | None,
    count: int,
    gpus: float,
    work: Callable[[Common, Job], Result],
    common: Common,
    jobs: Iterable[Job],
) -> Generator[Result]:
    """Yields `work(common, job)` for each job in order, using Ray."""
    ray = ray_module()
    ours = connect(ray, address, count)
    waiting: deque[Any] = deque()
    try:
        task = ray.remote(_call).options(num_gpus=gpus, max_retries=_RETRIES)
        shared, room, looked = ray.put(common), count or _room(ray, gpus), time.monotonic()
        if not room:
            raise InputError(f"no machine in the cluster has a {'GPU' if gpus else 'CPU'} for jobs; add one")
        for job in jobs:
            waiting.append(task.remote(work, shared, job))
            if not count and time.monotonic() - looked >= _LOOK:
                room, looked = _room(ray, gpus), time.monotonic()
            while len(waiting) >= _AHEAD * max(1, room):
                yield ray.get(waiting.popleft())
        while waiting:
            yield ray.get(waiting.popleft())
    except ray.exceptions.RayError as error:
        raise _what_went_wrong(ray, error) from None
    finally:
        for job in waiting:
            with suppress(ValueError, ray.exceptions.RayError):
                ray.cancel(job, force=True)  # an interrupt could leave modules half imported
        if ours:
            ray.shutdown()


def _room(ray: Any, gpus: float) -> int:
    """Returns the number of jobs that the cluster can currently run at once."""
    has = ray.cluster_resources()
    return min(int(has.get("CPU", 0)), int(has.get("GPU", 0) / gpus) if gpus else 1 << 30)


def _what_went_wrong(ray: Any, error: Exception) -> Exception:
    """Returns the exception raised by the job, or one with the first line of Ray's message."""
    cause = getattr(error, "cause", None) or error
    if isinstance(cause, BitwrightError):
        return cause
    if missing := _MISSING.search(str(cause)):
        return InputError(f"a machine in the cluster lacks a required module ({missing[0]}); install it there")
    if not isinstance(cause, ray.exceptions.RayError):
        return cause
    if isinstance(cause, ray.exceptions.WorkerCrashedError):
        kernel = "".join(f", or a CPU does not support {name}={core}" for name, core in kernel_settings().items())
        return BitwrightError(f"Ray stopped: workers died repeatedly; perhaps memory ran out{kernel}")
    return BitwrightError(f"Ray stopped: {(str(cause).strip() or type(cause).__name__).splitlines()[0]}")


def _call(work: Callable[[Any, Any], Any], common: Any, job: Any) -> Any:
    """Calls `work`, which may be any callable; Ray accepts only Python functions."""
    return work(common, job)


ADDRESS = re.compile(r"(ray://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):(?P<port>[0-9]{1,5})", re.ASCII)
_TIMEOUT = 5  # seconds to wait for a response
_SOURCES = str(Path(__file__).parents[2])  # of bitwright
_SETTINGS_OF_RAY = {
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # Ray's future default; without it Ray warns
    "RAY_grpc_client_keepalive_time_ms": "20000",  # detects a lost network in seconds, not minutes
    "RAY_grpc_client_keepalive_timeout_ms": "20000",
}
_NOT_SHIPPED = ["__pycache__", "*.pyc", "*.nbc", "*.nbi"]


def ray_module() -> Any:
    """Returns the module ray; raises InputError with install instructions if it is missing."""
    if find_spec("ray") is None:
        raise InputError("this needs Ray; install it with: pip install 'bitwright[ray]'")
    for name, value in _SETTINGS_OF_RAY.items():
        os.environ.setdefault(name, value)
    import ray
    import ray.exceptions

    return ray


def connect(ray: Any, address: str | None, count: int) -> bool:
    """Starts Ray or connects to the cluster; returns False if the caller is already connected and must disconnect.

    The cluster receives bitwright's sources, and its workers use this process's linear algebra kernel. Its machines
    need Python, Ray and NumPy, but neither bitwright nor the user's files.
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
        raise InputError(f"cannot use Ray at {address or 'this machine'}: {_first_line(error)}") from None
    _keep_off_stdout(ray)
    return True


def _keep_off_stdout(ray: Any) -> None:
    """Keeps Ray from reporting dead workers on standard output, where results are printed.

    Their jobs are retried elsewhere, or the error is raised here.
    """
    if hasattr(found := ray._private.worker, "print_to_stdstream"):
        found.print_to_stdstream = lambda *_, **__: None


def check_reachable(address: str | None) -> None:
    """Raises InputError unless a server listens at the address; Ray itself would wait for minutes."""
    if (address or "").startswith("ray://") and find_spec("grpc") is None:
        raise InputError(f"{address} needs Ray's client; install it with: pip install 'ray[client]'")
    match = ADDRESS.fullmatch(address or "")
    if match is None:
        return
    try:
        socket.create_connection((match["host"].strip("[]"), int(match["port"])), timeout=_TIMEOUT).close()
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"no Ray cluster responds at {address} ({reason}); start one with: ray start --head") from None


def _check_way_in(ray: Any, address: str | None) -> None:
    """Raises InputError if this machine is not a node of the cluster; Ray itself would end the entire process."""
    if address is None:
        return
    if address.startswith("ray://"):
        return
    client = getattr(getattr(ray, "_raylet", None), "GcsClient", None)
    if client is None:
        return
    try:
        with _silence():
            nodes = client(address=address).get_all_node_info(timeout=_TIMEOUT).values()
    except (RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
        raise InputError(f"cannot use Ray at {address}: {_first_line(error)}") from None
    sockets = [getattr(node, "raylet_socket_name", "") for node in nodes]
    if not any(name and os.path.exists(name) for name in sockets):
        raise InputError(
            f"this machine is not a node of the cluster at {address}; join it with: ray start --address={address} "
            "--num-cpus=0, or give ray://HOST:10001"
        )


@contextmanager
def _silence() -> Iterator[None]:
    """Discards standard error, because Ray writes to it directly, bypassing Python."""
    sys.stderr.flush()
    stderr, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)


def _first_line(error: Exception) -> str:
    return " ".join((str(error).strip() or type(error).__name__).splitlines()[0].split())


def _shipped() -> list[str]:
    """Returns the paths of bitwright's sources and, if a paper figure is being drawn, of the figure scripts."""
    beside = Path(_SOURCES).parents[1] / "paper"
    return [_SOURCES, *([str(beside)] if "paper" in sys.modules and beside.is_dir() else [])]
