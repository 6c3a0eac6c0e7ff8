"""The address of the server on this machine, and the loop that serves until it is stopped."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Callable
from secrets import token_urlsafe
from threading import Timer

import uvicorn

from bitwright.errors import InputError
from bitwright.web.app import create_app
from bitwright.web.limits import Limits

HOST = "127.0.0.1"


def open_socket(port: int) -> socket.socket:
    """A socket that only this machine can reach; raises InputError if the port is not available."""
    opened = socket.socket(proto=socket.IPPROTO_TCP)  # named, so that asyncio sets TCP_NODELAY: else 40 ms a request
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((HOST, port))
        opened.listen()
    except OSError as error:
        opened.close()
        if error.errno == errno.EADDRINUSE:
            raise InputError(f"port {port} is in use; choose another with --port, or --port 0 for any") from None
        raise InputError(f"cannot listen at {HOST}:{port}: {error.strerror or error}") from None
    return opened


def make_server(opened: socket.socket, limits: Limits | None = None, size: int = 0) -> tuple[uvicorn.Server, str]:
    """The server with `size` processes for runs, and its address, which holds the token that it asks for."""
    token = token_urlsafe(16)
    config = uvicorn.Config(
        create_app(token, limits, size),
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        ws="none",
    )
    return uvicorn.Server(config), f"http://{HOST}:{opened.getsockname()[1]}/{token}/"


def serve(port: int, ready: Callable[[str], None], limits: Limits | None = None, size: int = 0) -> None:
    """Serves until Ctrl-C or a signal to end; calls `ready` with the address once the server answers."""
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of processes that have ended already
    opened = open_socket(port)
    server, address = make_server(opened, limits, size)

    def look() -> None:
        if server.started:
            ready(address)
        elif not server.should_exit:
            again()

    def again() -> None:
        timer = Timer(0.05, look)
        timer.daemon = True
        timer.start()

    again()
    server.run(sockets=[opened])
