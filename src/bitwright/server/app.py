"""The application: a page, and a small JSON interface that the page (or anything else on this machine) uses."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException as StarletteHTTPException

from bitwright.bits import printable, shorten
from bitwright.server.examples import example_texts
from bitwright.server.guard import Guard
from bitwright.server.jobs import BROKEN, BusyError, Job, Jobs
from bitwright.server.limits import Limits
from bitwright.server.pool import BrokenError, Pool, RefusedError
from bitwright.server.requests import CheckRequest, RunRequest
from bitwright.version import __version__

ASSETS = {
    "index.html": "text/html; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
    **dict.fromkeys(("main.js", "ask.js", "program.js", "editor.js", "results.js"), "text/javascript; charset=utf-8"),
}
KINDS = {"html": "text/html; charset=utf-8", "json": "application/json", "bw": "text/plain; charset=utf-8"}
# The trace page brings its own policy; here it also loses the origin of this server, so it can ask it for nothing.
_TRACE_POLICY = "sandbox allow-scripts; frame-ancestors 'self'"
_POLL_SECONDS = 10.0


def create_app(limits: Limits | None = None, names: frozenset[str] = frozenset(), size: int = 0) -> FastAPI:
    """The application with `size` processes for runs; `names` are host names, besides localhost, that it answers to."""
    limits = limits or Limits()
    processors = os.cpu_count() or 1
    assets = {name: (files("bitwright.server") / "assets" / name).read_bytes() for name in ASSETS}

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        # Rather more processes than processors: they share these, and a long run does not hold up short ones.
        runs, checks = Pool(size or max(4, min(8, processors)), limits), Pool(2, limits)
        app.state.checks, app.state.jobs = checks, Jobs(runs, limits)
        tasks = [
            asyncio.create_task(work) for work in (checks.warm(1), runs.warm(min(2, size or 2)), app.state.jobs.sweep())
        ]
        yield
        app.state.jobs.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(runs.close(), checks.close())

    app = FastAPI(lifespan=life, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(Guard, names=names, body=limits.body)

    def jobs() -> Jobs:
        found: Jobs = app.state.jobs
        return found

    def find(identity: str) -> Job:
        job = jobs().find(identity)
        if job is None:
            raise HTTPException(404, "there is no such run, or no longer: results are kept for a while only")
        return job

    def describe(job: Job) -> dict[str, Any]:
        about: dict[str, Any] = {"id": job.id, "state": job.state, "version": job.version, "message": job.message}
        if job.state == "waiting":
            about["ahead"] = jobs().ahead(job)
        if job.state == "running":
            about["progress"] = job.progress
        if job.result is not None:
            about["result"] = job.result
            about["files"] = {name: len(data) for name, data in job.files.items()}
        return about

    @app.get("/")
    async def page() -> Response:
        return Response(assets["index.html"], media_type=ASSETS["index.html"])

    @app.get("/assets/{name}")
    async def asset(name: str) -> Response:
        if name not in assets:
            raise HTTPException(404, "there is no such file")
        return Response(assets[name], media_type=ASSETS[name])

    @app.get("/api/about")
    async def about() -> dict[str, Any]:
        return {"version": __version__, "limits": asdict(limits), "examples": example_texts()}

    @app.post("/api/check")
    async def check(request: CheckRequest) -> dict[str, Any]:
        job = {"do": "check", "source": request.source.model_dump()}
        return (await app.state.checks.do(job, limits.check_seconds)).result  # type: ignore[no-any-return]

    @app.post("/api/runs", status_code=202)
    async def start(request: RunRequest) -> dict[str, Any]:
        return describe(jobs().start(request.model_dump()))

    @app.get("/api/runs/{identity}")
    async def look(identity: str, after: int = Query(default=-1, ge=-1, le=2**31)) -> dict[str, Any]:
        """What is known of a run; with `after`, waits until there is something newer than that version."""
        job = find(identity)
        await job.newer_than(after, _POLL_SECONDS)
        return describe(job)

    @app.delete("/api/runs/{identity}")
    async def cancel(identity: str) -> dict[str, Any]:
        job = find(identity)
        jobs().cancel(job)
        return describe(job)

    @app.get("/api/runs/{identity}/{name}")
    async def download(identity: str, name: str, save: bool = False) -> Response:
        job = find(identity)
        if name not in job.files:
            raise HTTPException(
                404, f"this run has no file {shorten(name)}; it has {', '.join(job.files) or 'none yet'}"
            )
        headers = {"content-security-policy": _TRACE_POLICY}
        if save:
            headers["content-disposition"] = f'attachment; filename="{name}"'
        kind = KINDS.get(name.rpartition(".")[2], "application/octet-stream")
        return Response(job.files[name], media_type=kind, headers=headers)

    _say_what_went_wrong(app)
    return app


def _say_what_went_wrong(app: FastAPI) -> None:
    """Whatever is refused is refused with one line: {"error": "..."}."""

    @app.exception_handler(StarletteHTTPException)
    async def http(_: Request, error: StarletteHTTPException) -> Response:
        known = {404: "there is nothing here", 405: "this cannot be done here"}
        message = error.detail if isinstance(error, HTTPException) else known.get(error.status_code, error.detail)
        return JSONResponse({"error": printable(message)}, error.status_code, error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        message = f"{shorten(where)}: {first['msg']}" if where else str(first["msg"])
        return JSONResponse({"error": shorten(message, 300)}, 422)

    @app.exception_handler(RefusedError)
    async def refused(_: Request, error: RefusedError) -> Response:
        return JSONResponse({"error": printable(str(error))}, 400)

    @app.exception_handler(BusyError)
    async def busy(_: Request, error: BusyError) -> Response:
        return JSONResponse({"error": str(error)}, 503, {"retry-after": "2"})

    @app.exception_handler(BrokenError)
    async def broken(_: Request, error: BrokenError) -> Response:
        print(error, file=sys.stderr)
        return JSONResponse({"error": BROKEN}, 500)
