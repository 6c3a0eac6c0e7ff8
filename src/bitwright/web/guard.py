"""Checks of every request: the token in its address, this machine's name, no foreign origin, a small body.

The token keeps out other users of this machine and pages of other sites. The names are checked as well, so that a page
whose own name leads to this machine (DNS rebinding) gets nothing even if it knew the address.
"""

from __future__ import annotations

import logging
import re
from secrets import compare_digest

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger("bitwright.web")
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "frame-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
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
        started, total = False, 0

        async def answer(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started, headers = True, MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        async def counted() -> Message:
            """Counts the bytes of a body that does not say how long it is."""
            nonlocal total
            message = await receive()
            total += len(message.get("body", b""))
            self._check_size(total)
            return message

        try:
            self._check(scope["path"], Headers(scope=scope))
            inner = {**scope, "path": scope["path"][len(self._prefix) - 1 :], "root_path": ""}
            return await self._app(inner, counted, answer)
        except HTTPException as error:
            refusal = JSONResponse({"error": error.detail}, error.status_code, error.headers)
        except Exception:
            log.exception("a request failed")
            refusal = JSONResponse({"error": "bitwright itself failed here; the server's terminal says more"}, 500)
        return None if started else await refusal(scope, receive, answer)

    def _check(self, path: str, headers: Headers) -> None:
        """Raises HTTPException for a request that is refused."""
        host = headers.get("host", "")
        if not _LOCAL.fullmatch(host):
            raise HTTPException(421, "this server answers to localhost and 127.0.0.1 only")
        if any(origin.lower() != f"http://{host}".lower() for origin in headers.getlist("origin")):
            raise HTTPException(403, "requests are taken from this server's own page only")
        if not compare_digest(path[: len(self._prefix)].encode("utf-8", "replace"), self._prefix.encode()):
            raise HTTPException(403, "open the address that bitwright serve printed; the token in this one is wrong")
        for length in headers.getlist("content-length"):
            self._check_size(int(length) if length.isdecimal() and len(length) < 20 else self._body + 1)

    def _check_size(self, size: int) -> None:
        if size > self._body:
            message = f"a request has at most {self._body >> 10:,} KiB here; make the program shorter"
            raise HTTPException(413, message, {"connection": "close"})
