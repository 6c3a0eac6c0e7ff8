"""Checks of every request: the token in its address, this machine's name, no foreign origin, a small body.

The token keeps out other users of this machine and pages of other sites. The names are checked as well, so that a page
whose own name leads to this machine (DNS rebinding) gets nothing even if it knew the address.
"""

from __future__ import annotations

import logging
import re
from json import dumps
from secrets import compare_digest

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger("bitwright.web")
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
_LOCAL = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.IGNORECASE)


class Guard:
    """Wraps the application; refuses a request with one line of JSON, and hides the token from what is behind it."""

    def __init__(self, app: ASGIApp, token: str, body: int) -> None:
        self._app, self._prefix, self._body = app, f"/{token}/", body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
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
            if (problem := self._problem(scope)) is not None:
                return await _refuse(answer, *problem)
            inner = {**scope, "path": scope["path"][len(self._prefix) - 1 :], "root_path": ""}
            await self._app(inner, self._counted(receive), answer)
        except Exception:
            log.exception("a request failed")
            if not started:
                await _refuse(answer, 500, "bitwright itself failed here; the server's terminal says more")
        return None

    def _problem(self, scope: Scope) -> tuple[int, str] | None:
        """Why a request is refused: status and message."""

        def given(name: bytes) -> list[str]:
            return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]

        host = next(iter(given(b"host")), "")
        if not _LOCAL.fullmatch(host):
            return 421, "this server answers to localhost and 127.0.0.1 only"
        if any(origin.lower() != f"http://{host}".lower() for origin in given(b"origin")):
            return 403, "requests are taken from this server's own page only"
        begin = scope["path"][: len(self._prefix)]
        if not compare_digest(begin.encode("utf-8", "replace"), self._prefix.encode()):
            return 403, "open the address that bitwright serve printed: the token in it is missing here, or is another"
        if any(not length.isdecimal() or int(length) > self._body for length in given(b"content-length")):
            return 413, self._too_large()
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


async def _refuse(send: Send, status: int, message: str) -> None:
    body = dumps({"error": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 413:  # nobody reads what is still to come
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
