"""What stands before every request: it must be meant for this server, come from this page, and be small.

A page of another site could make a browser send requests here. Reading the answers is forbidden to it by the browser
unless its own name leads to this machine (DNS rebinding), so names are checked; changing something is forbidden here.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address, ip_address
from json import dumps
from urllib.parse import urlsplit

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bitwright.web.log import log

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
CLIENT = "x-bitwright-client"  # a name that the page makes up, so that those who share an address are told apart
_ONLY_ONCE = (b"host", b"origin", b"content-type", b"content-length", b"sec-fetch-site", CLIENT.encode())
_FOREIGN = "requests that change something are taken from this server's own page only"


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
            if (problem := _doubled(scope) or self._problem(scope["method"], headers)) is not None:
                return await _refuse(answer, *problem)
            await self._app(scope, self._counted(receive), answer)
        except Exception:
            log.exception("a request failed")
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
        if not re.fullmatch(r"[A-Za-z0-9_-]{0,64}", headers.get(CLIENT, "")):
            return 400, f"{CLIENT} is a name of at most 64 letters, digits, - and _"
        if method not in ("GET", "HEAD"):
            if not is_same_origin(headers.get("origin"), host):
                return 403, _FOREIGN
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return 403, _FOREIGN
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


def is_same_origin(origin: str | None, host: str) -> bool:
    """Whether a request comes from a page of this server, or from no page at all.

    >>> is_same_origin("http://[::1]:8000", "[::1]:8000"), is_same_origin("http://[", "["), is_same_origin("null", "")
    (True, False, False)
    """
    if origin is None:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return bool(parts.netloc) and parts.netloc.lower() == host.lower()


def client_of(scope: Scope) -> str:
    """Who asks, for sharing: an address, with its network if it is of version 6.

    Behind this machine's own address there may be many (a proxy, several people), who are told apart by the name that
    each page makes up. Strangers could make up as many as they like, so theirs are not believed.
    """
    host = scope["client"][0].partition("%")[0] if scope.get("client") else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    if address.is_loopback:
        return f"{address} {dict(scope['headers']).get(CLIENT.encode(), b'').decode('latin-1')}"
    return str(address) if address.version == 4 else str(address.exploded)[:19]


def _doubled(scope: Scope) -> tuple[int, str] | None:
    """Headers that decide who may do what must not say two things."""
    names = [name.lower() for name, _ in scope["headers"]]
    for name in _ONLY_ONCE:
        if names.count(name) > 1:
            return 400, f"a request has one {name.decode()} header, this one has {names.count(name)}"
    return None


async def _refuse(send: Send, status: int, message: str) -> None:
    body = dumps({"error": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 413:  # nobody reads what is still to come
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
