"""Jobs on Ray: in order, a few ahead, and done again elsewhere if a worker or a machine is lost.

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
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from bitwright.common.errors import BitwrightError, InputError
from bitwright.common.workers.linear_algebra import kernel_settings

Common = TypeVar("Common")
Job = TypeVar("Job")
Result = TypeVar("Result")
_MISSING = re.compile(r"No module named '[^']*'")
_AHEAD = 4  # jobs handed out for each CPU: while the first is awaited, the others go on
_RETRIES = 10  # how often a job may lose its worker or its machine
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
    waiting: deque[Any] = deque()
    try:
        task = ray.remote(_call).options(num_gpus=gpus, max_retries=_RETRIES)
        shared, room, looked = ray.put(common), count or _room(ray, gpus), time.monotonic()
        if not room:
            raise InputError(f"no machine of the cluster has a {'GPU' if gpus else 'CPU'} for jobs; start one that has")
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
    """How many jobs the cluster, as it is now, does at once."""
    has = ray.cluster_resources()
    return min(int(has.get("CPU", 0)), int(has.get("GPU", 0) / gpus) if gpus else 1 << 30)


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


def _call(work: Callable[[Any, Any], Any], common: Any, job: Any) -> Any:
    """Ray takes functions of Python only; this one calls any."""
    return work(common, job)


ADDRESS = re.compile(r"(ray://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):(?P<port>[0-9]{1,5})", re.ASCII)
_PATIENCE = 5  # seconds to wait for an answer
_SOURCES = str(Path(__file__).parents[2])  # of bitwright
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
        raise InputError(f"cannot use Ray at {address or 'this machine'}: {_first_line(error)}") from None
    _keep_off_stdout(ray)
    return True


def _keep_off_stdout(ray: Any) -> None:
    """Keeps Ray from reporting dead workers on standard output, among our results.

    Their jobs are done again on others, or the error is raised here.
    """
    if hasattr(found := ray._private.worker, "print_to_stdstream"):
        found.print_to_stdstream = lambda *_, **__: None


def check_reachable(address: str | None) -> None:
    """Raises InputError unless something listens there; Ray itself would wait for minutes."""
    if (address or "").startswith("ray://") and find_spec("grpc") is None:
        raise InputError(f"{address} needs Ray's client; install it with: pip install 'ray[client]'")
    found = ADDRESS.fullmatch(address or "")
    if found is None:
        return
    try:
        socket.create_connection((found["host"].strip("[]"), int(found["port"])), timeout=_PATIENCE).close()
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"no Ray cluster answers at {address} ({reason}); start one with: ray start --head") from None


def _check_way_in(ray: Any, address: str | None) -> None:
    """Raises InputError where Ray would end this whole process: on a machine that none of the cluster's nodes is on."""
    if address is None:
        return
    if address.startswith("ray://"):
        return
    client = getattr(getattr(ray, "_raylet", None), "GcsClient", None)
    if client is None:
        return
    try:
        with _silence():
            nodes = client(address=address).get_all_node_info(timeout=_PATIENCE).values()
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


def _first_line(error: Exception) -> str:
    return " ".join((str(error).strip() or type(error).__name__).splitlines()[0].split())


def _shipped() -> list[str]:
    """The sources of bitwright, and of the paper's figures if one of them is what runs."""
    beside = Path(_SOURCES).parents[1] / "paper"
    return [_SOURCES, *([str(beside)] if "paper" in sys.modules and beside.is_dir() else [])]
