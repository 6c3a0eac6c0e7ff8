"""The local server: the page, jobs for the worker, and the files of results.

Every request must have the token in its address, a local host name, no foreign origin and a small body.

The token keeps out other users of this machine and other sites. Host names are checked as well, which stops DNS
rebinding even if an attacker knew the address.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
from base64 import b64decode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib.resources import files
from secrets import compare_digest, token_urlsafe
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as AsgiMessage

from bitwright.common.errors import InputError, printable
from bitwright.verbs.examples import example_files
from bitwright.version import __version__
from bitwright.web.process import Message, RefusedError, Worker
from bitwright.web.requests import Limits

HOST = "127.0.0.1"
JOBS = ("check", "graph", "run", "train")
# The trace page has its own policy; the sandbox also keeps it from sending requests to this server.
_TRACE_POLICY = "sandbox allow-scripts; frame-ancestors 'self'"


def serve(port: int, ready: Callable[[str], None], limits: Limits | None = None) -> None:
    """Runs the server until Ctrl-C or SIGTERM; calls `ready` with the address."""
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns about processes that have already ended
    opened = open_socket(port)
    server, address = make_server(opened, limits)
    ready(address)
    server.run(sockets=[opened])


def open_socket(port: int) -> socket.socket:
    """Opens a socket that only this machine can reach; raises InputError if the port is not available."""
    opened = socket.socket(
        proto=socket.IPPROTO_TCP
    )  # explicit, so that asyncio sets TCP_NODELAY; otherwise a request takes 40 ms
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((HOST, port))
        opened.listen()
    except OSError as error:
        opened.close()
        raise InputError(f"port {port}: {error.strerror}; choose another with --port, or --port 0 for any") from None
    return opened


def make_server(opened: socket.socket, limits: Limits | None = None) -> tuple[uvicorn.Server, str]:
    """Returns the server and its address, which contains the token."""
    token = token_urlsafe(16)
    quiet: dict[str, Any] = {"log_level": "critical", "access_log": False, "server_header": False, "ws": "none"}
    config = uvicorn.Config(create_app(token, limits or Limits()), timeout_graceful_shutdown=1, **quiet)
    return uvicorn.Server(config), f"http://{HOST}:{opened.getsockname()[1]}/{token}/"


def create_app(token: str, limits: Limits) -> ASGIApp:
    """Returns the application, protected by a token."""
    results: dict[str, dict[str, bytes]] = {}  # the files of the last results, oldest first
    assets = files("bitwright.web") / "assets"
    texts = {file.name: file.data.decode("utf-8", "replace") for file in example_files()}
    examples = [{**one, "text": texts[one["file"]]} for one in json.loads((assets / "examples.json").read_text())]
    about = {"version": __version__, "limits": asdict(limits), "examples": examples}

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        app.state.worker = Worker(limits)
        yield
        await app.state.worker.close()

    async def work(request: Request) -> Response:
        if (do := request.path_params["do"]) not in JOBS:
            raise HTTPException(404)
        job = {"do": do, "request": (await request.body()).decode("utf-8", "replace")}
        return StreamingResponse(lines(request.app.state.worker, job), media_type="application/x-ndjson")

    async def lines(worker: Worker, job: Message) -> AsyncIterator[str]:
        """Yields the progress of a job, then its result or an error, as lines of JSON; a disconnect cancels the job."""
        seconds = limits.seconds if job["do"] in ("run", "train") else limits.check_seconds
        news: asyncio.Queue[Message | None] = asyncio.Queue()
        task = asyncio.create_task(worker.do(job, seconds, news.put_nowait))
        task.add_done_callback(lambda _: news.put_nowait(None))
        try:
            while (message := await news.get()) is not None:
                yield json.dumps({"progress": message}) + "\n"
            yield json.dumps(keep(await task)) + "\n"
        except RefusedError as error:
            yield json.dumps({"error": printable(str(error))}) + "\n"
        finally:
            task.cancel()

    def keep(answer: Message) -> Message:
        """Returns a result with the sizes of its files, and stores the files of the last results."""
        if not answer["files"]:
            return {"result": answer["result"]}
        identity = token_urlsafe(8)
        own = results[identity] = {name: b64decode(data) for name, data in answer["files"].items()}
        while len(results) > limits.kept:
            del results[next(iter(results))]
        return {"id": identity, "result": answer["result"], "files": {name: len(data) for name, data in own.items()}}

    async def download(request: Request) -> Response:
        identity, name = request.path_params.values()
        if name not in results.get(identity, {}):
            raise HTTPException(404, f"no such file; only the files of the last {limits.kept} results are kept")
        kind = "text/html" if name.endswith(".html") else "application/octet-stream"
        return Response(results[identity][name], headers={"content-security-policy": _TRACE_POLICY}, media_type=kind)

    async def refuse(_: Request, error: Any) -> Response:
        return JSONResponse({"error": printable(error.detail)}, error.status_code, error.headers)

    routes = [
        Route("/", lambda _: FileResponse(str(assets / "index.html"))),
        Mount("/assets/library", StaticFiles(packages=[("bitwright.pages", "library")])),
        Mount("/assets", StaticFiles(packages=[("bitwright.web", "assets")])),
        Route("/api/about", lambda _: JSONResponse(about)),
        Route("/api/files/{identity}/{name}", download),
        Route("/api/{do}", work, methods=["POST"]),
    ]
    return Guard(
        Starlette(routes=routes, lifespan=life, exception_handlers={HTTPException: refuse}), token, limits.body
    )


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
    """Checks requests before the application, refuses bad ones with a line of JSON, and strips the token."""

    def __init__(self, app: ASGIApp, token: str, body: int) -> None:
        self._app, self._prefix, self._body = app, f"/{token}/", body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        started, total = False, 0

        async def answer(message: AsgiMessage) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started, headers = True, MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        async def counted() -> AsgiMessage:
            """Counts the bytes of a body without a content length."""
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
            refusal = JSONResponse(
                {"error": "bitwright itself failed; the terminal of the server shows the error"}, 500
            )
        return None if started else await refusal(scope, receive, answer)

    def _check(self, path: str, headers: Headers) -> None:
        """Raises HTTPException for a request that is refused."""
        host = headers.get("host", "")
        if not _LOCAL.fullmatch(host):
            raise HTTPException(421, "use localhost or 127.0.0.1 as the host name")
        if any(origin.lower() != f"http://{host}".lower() for origin in headers.getlist("origin")):
            raise HTTPException(403, "only the page of this server may send requests")
        if not compare_digest(path[: len(self._prefix)].encode("utf-8", "replace"), self._prefix.encode()):
            raise HTTPException(403, "wrong token; open the address printed by bitwright serve")
        for length in headers.getlist("content-length"):
            self._check_size(int(length) if length.isdecimal() and len(length) < 20 else self._body + 1)

    def _check_size(self, size: int) -> None:
        if size > self._body:
            message = f"a request must have at most {self._body >> 10:,} KiB; shorten the program"
            raise HTTPException(413, message, {"connection": "close"})
