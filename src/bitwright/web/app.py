"""The application: a page, and a small JSON interface that the page, or a program that knows the token, uses."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib.resources import files
from typing import Any, TypeVar

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException as StarletteHTTPException

from bitwright.errors import printable, shorten
from bitwright.pages.library import library_files
from bitwright.version import __version__
from bitwright.web.examples import example_texts
from bitwright.web.guard import Guard, log
from bitwright.web.jobs import BROKEN, BusyError, Job, Jobs
from bitwright.web.limits import Limits
from bitwright.web.pool import NO_PROCESS, BrokenError, NoProcessError, Pool, RefusedError
from bitwright.web.requests import CheckRequest, GraphRequest, NetworkRequest, RunRequest

T = TypeVar("T")
ASSETS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
}
_PLAIN = dict.fromkeys(("bw", "dec", "txt"), "text/plain; charset=utf-8")
KINDS = {"html": "text/html; charset=utf-8", "json": "application/json", **_PLAIN}
# The trace page brings its own policy; here it also loses the origin of this server, so it can ask it for nothing.
_TRACE_POLICY = "sandbox allow-scripts; frame-ancestors 'self'"
CHECKING = 2  # processes for checks


def create_app(token: str, limits: Limits | None = None, size: int = 0) -> FastAPI:
    """The application behind a token, with `size` processes for runs: one for every processor, at least two."""
    limits = limits or Limits()
    assets = _assets()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        runs = Pool(size or max(2, min(12, os.cpu_count() or 1)), limits, "run", least=2)
        checks = Pool(CHECKING, limits, "check")
        app.state.checks, app.state.runs, app.state.jobs = checks, runs, Jobs(runs, limits)
        tasks = [asyncio.create_task(work) for work in (checks.keep_ready(), runs.keep_ready(), app.state.jobs.sweep())]
        yield
        for task in tasks:
            task.cancel()
        await app.state.jobs.close()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(runs.close(), checks.close())

    app = FastAPI(lifespan=life, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(Guard, token=token, body=limits.body)

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
        return Response(assets["index.html"], media_type=ASSETS["html"])

    @app.get("/assets/{name:path}")
    async def asset(name: str) -> Response:
        if name not in assets:
            raise HTTPException(404, "there is no such file")
        return Response(assets[name], media_type=ASSETS[name.rpartition(".")[2]])

    @app.get("/api/about")
    async def about() -> dict[str, Any]:
        return {"version": __version__, "limits": asdict(limits), "examples": example_texts()}

    @app.get("/api/health")
    async def health() -> Response:
        """Whether programs can be run here, and how many runs there are."""
        pools: list[Pool] = [app.state.runs, app.state.checks]
        failing = any(pool.failing for pool in pools)
        about = {"processes": sum(pool.processes for pool in pools), "runs": jobs().counts()}
        return JSONResponse(
            {"ok": not failing, "message": NO_PROCESS if failing else "", **about}, 503 if failing else 200
        )

    async def look_at(do: str, asked: CheckRequest | GraphRequest, request: Request) -> Any:
        """Quick requests, which do not wait for runs."""
        pool: Pool = app.state.checks
        job = {"do": do, "request": asked.model_dump()}
        return (await _unless_gone(request, pool.do(job, limits.check_seconds)))[0]

    @app.post("/api/check")
    async def check(asked: CheckRequest, request: Request) -> Any:
        return await look_at("check", asked, request)

    @app.post("/api/graph")
    async def graph(asked: GraphRequest, request: Request) -> Any:
        """A graph with the places of its nodes, to be drawn."""
        return await look_at("graph", asked, request)

    @app.post("/api/runs", status_code=202)
    async def start(asked: RunRequest) -> dict[str, Any]:
        return describe(jobs().start(asked.model_dump()))

    @app.post("/api/networks", status_code=202)
    async def make_network(asked: NetworkRequest) -> dict[str, Any]:
        """A network to train and to prove; it is looked at, fetched and cancelled as a run is."""
        return describe(jobs().start(asked.model_dump(), "network"))

    @app.get("/api/runs/{identity}")
    async def look(request: Request, identity: str, after: int = Query(default=-1, ge=-1, le=2**31)) -> dict[str, Any]:
        """What is known of a run; with `after`, waits until there is something newer than that version."""
        job = find(identity)
        await _unless_gone(request, job.newer_than(after, limits.poll_seconds))
        job.look()
        return describe(job)

    @app.delete("/api/runs/{identity}")
    async def cancel(identity: str) -> dict[str, Any]:
        job = find(identity)
        jobs().cancel(job)
        return describe(job)

    @app.get("/api/runs/{identity}/{name}")
    async def download(identity: str, name: str, save: bool = False) -> Response:
        job = find(identity)
        job.look()
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


def _assets() -> dict[str, bytes]:
    """The files of the page by path; no other file is ever read for a request."""
    folder = files("bitwright.web") / "assets"
    found = {path.name: path for path in folder.iterdir()}
    found |= {f"vendor/{path.name}": path for path in (folder / "vendor").iterdir()}
    own = {name: path.read_bytes() for name, path in found.items() if name.rpartition(".")[2] in ASSETS}
    return own | {f"library/{name}": text for name, text in library_files().items()}


async def _unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of the work, which is cancelled if the client hangs up."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.create_task(work), asyncio.create_task(gone())
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise HTTPException(499, "you hung up")
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


def _say_what_went_wrong(app: FastAPI) -> None:
    """Answers every error with one line: {"error": "..."}."""

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

    answers: dict[type[Exception], tuple[int, dict[str, str]]] = {
        RefusedError: (400, {}),
        NoProcessError: (503, {"retry-after": "10"}),
        BusyError: (503, {"retry-after": "2"}),
    }

    @app.exception_handler(RefusedError)
    @app.exception_handler(BusyError)
    async def refused(_: Request, error: Exception) -> Response:
        return JSONResponse({"error": printable(str(error))}, *answers[type(error)])

    @app.exception_handler(BrokenError)
    async def broken(_: Request, error: BrokenError) -> Response:
        log.error("a check failed: %s", error)
        return JSONResponse({"error": BROKEN}, 500)
