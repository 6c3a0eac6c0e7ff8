"""Connections to Ray, started here or on a cluster at an address; one line says what prevents one."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bitwright.errors import InputError

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

    The cluster gets these very sources: its machines need Python, Ray and NumPy, but neither bitwright nor our files.
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
        quiet["runtime_env"] = {"py_modules": _shipped(), "excludes": _NOT_SHIPPED}
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
    """The sources of bitwright, and those of the experiments beside it if they are what runs."""
    beside = Path(_SOURCES).parent / "experiments"
    return [_SOURCES, *([str(beside)] if "experiments" in sys.modules and beside.is_dir() else [])]
