"""Opening the door: an address to listen at, and the loop that serves until it is told to stop."""

from __future__ import annotations

import errno
import socket
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from ipaddress import ip_address
from threading import Timer
from typing import Any, cast

import uvicorn

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.web.app import CHECKING, create_app, processes_for_runs
from bitwright.web.connections import Connection, OpenConnections
from bitwright.web.limits import Limits
from bitwright.web.log import log_sparingly

_AT_A_TIME = 16  # connections that are taken before others can be closed
_QUEUE = 256  # connections that the operating system lets wait
_SENT = 1 << 18  # bytes of an answer that the operating system keeps for who does not read
_OWN_FILES = 48  # that the server has open besides connections and pipes to its processes


def open_socket(host: str, port: int) -> socket.socket:
    """A socket bound to the address; raises InputError where that cannot be had."""
    shown = f"{shorten(host)}:{port}"
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise InputError(
            f"there is no address {shorten(host)} on this machine; leave out --host for 127.0.0.1"
        ) from None
    opened = socket.socket(family, kind, protocol)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SENT)
        opened.bind(address)
        opened.listen(_QUEUE)
    except OSError as error:
        opened.close()
        if error.errno == errno.EADDRINUSE:
            raise InputError(f"port {port} is in use; choose another with --port, or --port 0 for any") from None
        raise InputError(f"cannot listen at {shown}: {error.strerror or error}") from None
    return opened


def address_of(opened: socket.socket) -> str:
    """The address to type into a browser."""
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_local(opened: socket.socket) -> bool:
    """Whether only this machine can reach it."""
    return ip_address(opened.getsockname()[0].partition("%")[0]).is_loopback


def make_server(host: str, limits: Limits | None = None, size: int = 0) -> uvicorn.Server:
    """The server; it answers to addresses, to localhost and to `host`."""
    limits = limits or Limits()
    size = size or processes_for_runs()
    open_connections = OpenConnections(min(limits.connections, _spare_files(size + CHECKING)), limits)
    app = create_app(limits, frozenset({host.lower()}), size, open_connections.counts)
    config = uvicorn.Config(
        app,
        http=cast(Any, partial(Connection, open_connections=open_connections)),
        backlog=_AT_A_TIME,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_keep_alive=int(limits.request_seconds) + 1,  # a connection looks after that itself
        timeout_graceful_shutdown=1,
        ws="none",
    )
    return _Server(config)


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Takes few connections at a time, so that there is time to close others; the rest wait in a longer queue."""
        await super().startup(sockets)
        for opened in sockets or []:
            opened.listen(_QUEUE)


def _spare_files(processes: int) -> int:
    """How many connections the operating system's limit of open files leaves room for."""
    try:
        resource: Any = import_module("resource")
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    except ImportError:
        return 512
    if most == resource.RLIM_INFINITY:
        return sys.maxsize
    return max(_AT_A_TIME, int(most) - _OWN_FILES - 4 * processes - 3 * _AT_A_TIME)


def serve(
    opened: socket.socket, host: str, ready: Callable[[], None], limits: Limits | None = None, size: int = 0
) -> None:
    """Serves at the socket until Ctrl-C or a signal to end; calls `ready` once a browser can come."""
    log_sparingly()
    server = make_server(host, limits, size)

    def look() -> None:
        if server.started:
            ready()
        elif not server.should_exit:
            again()

    def again() -> None:
        timer = Timer(0.05, look)
        timer.daemon = True
        timer.start()

    again()
    server.run(sockets=[opened])
