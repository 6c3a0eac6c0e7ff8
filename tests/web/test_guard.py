"""Who may ask, and what may be asked."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest

ADD = {"source": {"kind": "addition", "bits": 4}, "inputs": {"p": "1", "q": "2"}}
PATHS = ("/", "/api/about", "/assets/main.js", "/api/files/x/y", "/nothing")


def host_of(server: Any) -> str:
    return str(server.http.base_url.netloc.decode())


def test_nothing_is_answered_without_the_token(server: Any) -> None:
    address, token = f"http://{host_of(server)}", server.prefix.removeprefix("/")
    assert len(token) >= 22  # 128 bits
    assert httpx.get(f"{address}/{token}/").status_code == 200
    wrong = (token[:-1] + "-", token[:-1], token.lower() + "x", "", "\u00e9", "%00", "..")
    for other in wrong:
        for path in PATHS:
            answer = httpx.get(f"{address}/{other}{path}")
            assert (answer.status_code, list(answer.json())) == (403, ["error"])
        assert httpx.post(f"{address}/{other}/api/run", json=ADD).status_code == 403
    told = httpx.get(f"{address}/", headers={"cookie": f"token={token}", "referer": f"{address}/{token}/"})
    assert (told.status_code, token in told.text) == (403, False)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:99", "127.0.0.1:1", "[::1]:8000"])
def test_names_of_this_machine_are_answered(server: Any, host: str) -> None:
    assert server.http.get("/", headers={"host": host}).status_code == 200


FOREIGN = ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "192.168.0.9", "a@127.0.0.1")


@pytest.mark.parametrize("host", [*FOREIGN, "127.0.0.1:x", "[::1", "[", "localhost:", "@", ""])
def test_other_names_are_not(server: Any, host: str) -> None:
    """Also with the token: a foreign name that is made to lead here (DNS rebinding) gets nothing."""
    for path in PATHS:
        answer = server.http.get(path, headers={"host": host})
        assert (answer.status_code, list(answer.json())) == (421, ["error"])


ORIGINS = ("http://evil.example", "null", "", "http://[", "//", "http://localhost.evil.example", "https://localhost")


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_page_of_another_site_gets_and_changes_nothing(server: Any, origin: str) -> None:
    for method, path in (("GET", "/"), ("POST", "/api/run"), ("POST", "/api/check"), ("GET", "/api/about")):
        answer = server.http.request(method, path, headers={"origin": origin, "content-type": "application/json"})
        assert (answer.status_code, list(answer.json())) == (403, ["error"])


def test_this_page_and_no_page_may_ask_and_two_origins_may_not(server: Any) -> None:
    mine = f"http://{host_of(server)}"
    assert server.http.post("/api/run", json=ADD, headers={"origin": mine}).status_code == 200
    assert server.http.post("/api/run", json=ADD).status_code == 200
    two = [("origin", "http://evil.example"), ("origin", mine)]
    for headers in (two, two[::-1]):
        assert server.http.post("/api/run", json=ADD, headers=headers).status_code == 403


def test_large_bodies_are_refused_early(server: Any) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(1000):
            yield b" " * 4096

    headers = {"content-type": "application/json"}
    for content in (b" " * (1 << 20), pieces()):
        with suppress(httpx.TransportError):  # or the door was closed before everything was said
            answer = server.http.post("/api/check", content=content, headers=headers)
            assert (answer.status_code, "at most 512 KiB" in answer.json()["error"]) == (413, True)
    long = {"source": {"kind": "rules", "text": "#" * 65_537}}
    assert "at most 65536 characters" in server.do("check", long)["error"]


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        *[("GET", path, 404) for path in ("/nothing", "/docs", "/openapi.json", "/api/", "/api/files/x", "/assets/x")],
        *[("GET", path, 404) for path in ("/assets/..%2fapp.py", "/assets/../app.py", "/api/files/x/trace.html")],
        *[("PUT", "/", 405), ("POST", "/", 405), ("GET", "/api/run", 405), ("POST", "/api/eval", 404)],
    ],
)
def test_what_is_not_there_is_said_in_json(server: Any, method: str, path: str, code: int) -> None:
    answer = server.http.request(method, path, headers={"content-type": "application/json"})
    assert (answer.status_code, list(answer.json())) == (code, ["error"])


def test_every_answer_carries_the_rules_for_browsers(server: Any) -> None:
    job = server.run(ADD)
    for path in ("/", "/assets/main.js", "/api/about", "/nothing", f"/api/files/{job['id']}/size.json"):
        headers = server.http.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers
    assert "default-src 'none'" in server.http.get("/").headers["content-security-policy"]
    trace = server.http.get(f"/api/files/{job['id']}/trace.html")
    assert trace.headers["content-security-policy"] == "sandbox allow-scripts; frame-ancestors 'self'"
