"""Opening the door: an address to listen at, and the loop that serves until it is told to stop."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from ipaddress import ip_address
from threading import Timer

import uvicorn

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.server.app import create_app
from bitwright.server.limits import Limits


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
        opened.bind(address)
        opened.listen(256)
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
    app = create_app(limits, frozenset({host.lower()}), size)
    return uvicorn.Server(
        uvicorn.Config(
            app, log_level="critical", access_log=False, server_header=False, timeout_graceful_shutdown=1, ws="none"
        )
    )


def serve(opened: socket.socket, host: str, ready: Callable[[], None]) -> None:
    """Serves at the socket until Ctrl-C or a signal to end; calls `ready` once a browser can come."""
    server = make_server(host)

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
