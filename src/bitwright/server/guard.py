"""What stands before every request: it must be meant for this server, come from this page, and be small.

A page of another site could make a browser send requests here. Reading the answers is forbidden to it by the browser
unless its own name leads to this machine (DNS rebinding), so names are checked; changing something is forbidden here.
"""

from __future__ import annotations

import sys
import traceback
from ipaddress import ip_address
from json import dumps
from urllib.parse import urlsplit

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": _PAGE,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Wraps the application; refuses with one line of JSON."""

    def __init__(self, app: ASGIApp, names: frozenset[str], body: int) -> None:
        self._app, self._names, self._body = app, names, body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            return await send({"type": "websocket.close", "code": 1003})
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        started = False

        async def answer(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                present = {name.lower() for name, _ in message["headers"]}
                more = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in present]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        try:
            if (problem := self._problem(scope["method"], headers)) is not None:
                return await _refuse(answer, *problem)
            await self._app(scope, self._counted(receive), answer)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            if not started:
                await _refuse(answer, 500, "bitwright itself failed here; the server's terminal says more")
        return None

    def _problem(self, method: str, headers: dict[str, str]) -> tuple[int, str] | None:
        """Why a request is refused: status and message."""
        host = headers.get("host", "")
        if not is_ours(host, self._names):
            return 421, "this server answers to localhost, to IP addresses and to the name given with --host"
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            return 400, "the Content-Length of a request is a number"
        if len(length) > 15 or int(length) > self._body:
            return 413, self._too_large()
        if method not in ("GET", "HEAD"):
            origin = headers.get("origin")
            if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
                return 403, "requests that change something are taken from this server's own page only"
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return 403, "requests that change something are taken from this server's own page only"
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if method == "POST" and kind != "application/json":
                return 415, "send application/json"
        return None

    def _counted(self, receive: Receive) -> Receive:
        """Counts the bytes of a body that does not say how long it is."""
        total = 0

        async def counted() -> Message:
            nonlocal total
            message = await receive()
            total += len(message.get("body", b""))
            if total > self._body:
                raise HTTPException(413, self._too_large(), {"connection": "close"})
            return message

        return counted

    def _too_large(self) -> str:
        return f"a request has at most {self._body >> 10:,} KiB here; make the program shorter"


def is_ours(host: str, names: frozenset[str]) -> bool:
    """Whether a Host header can be meant for this server: an address, or a name of ours, but no name of others.

    >>> is_ours("127.0.0.1:8000", frozenset()), is_ours("[::1]:8000", frozenset()), is_ours("evil.example", frozenset())
    (True, True, False)
    """
    try:
        parts = urlsplit(f"//{host}")
        name, _ = parts.hostname or "", parts.port  # an impossible port raises
        if parts.username is not None or parts.path or parts.query or parts.fragment:
            return False
    except ValueError:
        return False
    if name == "localhost" or name in names:
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


async def _refuse(send: Send, status: int, message: str) -> None:
    body = dumps({"error": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 413:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
