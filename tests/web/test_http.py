"""Whatever comes over the wire: a proper answer or a closed connection, never a failure of ours, and no traceback."""

from __future__ import annotations

import json
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serving import Process, eventually, serving_process

from bitwright.web.limits import Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="starts a process as Linux does")
BOUNDED = settings(
    max_examples=300, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def server() -> Iterator[Process]:
    """Requests that do not come to their end are given up soon."""
    with serving_process(Limits(request_seconds=0.5)) as found:
        yield found
        eventually(lambda: b'"ok":true' in say(found, GOOD))  # on a busy machine even a good one may be given up
        assert found.said() == ""


def say(server: Process, text: bytes) -> bytes:
    """What comes back until the server hangs up."""
    found = b""
    with server.connect() as raw, suppress(ConnectionError):
        raw.sendall(text)
        while piece := raw.recv(65_536):
            found += piece
        raw.shutdown(socket.SHUT_RDWR)
    return found


def assert_proper(found: bytes, method: bytes = b"GET") -> None:
    """One answer, or nothing: a success, or a refusal with one line of JSON."""
    found = found.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    if not found:
        return
    head, _, body = found.partition(b"\r\n\r\n")
    match = re.match(rb"HTTP/1\.1 (\d{3}) ", head)
    assert match, found[:200]
    status = int(match[1])
    assert status < 500, found[:1000]
    assert b"cache-control: no-store" in head.lower()
    if status >= 400 and method != b"HEAD":
        assert b"application/json" in head
        length = re.search(rb"content-length: (\d+)", head.lower())
        assert length
        document = json.loads(body[: int(length[1])])
        assert list(document) == ["error"]
        assert document["error"]
        assert "\n" not in document["error"]


NAMES = (
    *(
        "Host",
        "Origin",
        "Content-Length",
        "Content-Type",
        "Cookie",
        "Range",
        "Transfer-Encoding",
        "Expect",
        "Connection",
    ),
    *(
        "Upgrade",
        "Referer",
        "X-Bitwright-Client",
        "Sec-Fetch-Site",
        "If-None-Match",
        "Accept-Encoding",
        "Authorization",
    ),
    *(
        "Keep-Alive",
        "TE",
        "Trailer",
        "X-Forwarded-For",
        "Access-Control-Request-Method",
        "HTTP2-Settings",
        ":authority",
    ),
)
VALUES = (
    *("", "http://[", "http://[::1", "http://]", "null", "[", "]:80", "[::1]", "127.0.0.1:99999999", "a@b", "\xff\xfe"),
    *(
        "localhost",
        "evil.example",
        "-1",
        "+5",
        "1e3",
        "0x10",
        "5, 5",
        "9" * 30,
        "18446744073709551616",
        "1_0",
        "\u00b2",
    ),
    *("application/json", "application/json; charset=\xff", "text/plain", "multipart/form-data; boundary=", "a/b" * 99),
    *("bytes=0-", "bytes=5-1", "bytes=-" + "9" * 40, "bytes=0-0," * 500, "items=1", "=", ";;;=", "a=b; a=c; \x01"),
    *("chunked", "gzip, chunked", "identity", "chunked, chunked", "100-continue", "close", "keep-alive, upgrade"),
    *("websocket", "h2c", "same-origin", "cross-site", "none", "*", "x" * 65, "<script>", "%00", "\t", "a" * 9000),
)
PATHS = (
    "/",
    "/api/about",
    "/api/health",
    "/api/check",
    "/api/runs",
    "/api/runs/x",
    "/api/runs/x/run.json",
    "/assets/main.js",
)
ODD = (
    "/%",
    "/%zz",
    "/%00",
    "/a%0d%0ab",
    "//",
    "/?",
    "/api/runs/x?after=9e9",
    "/api/runs/x?after=%ff",
    "*",
    "http://[/",
)
METHODS = (
    "GET",
    "POST",
    "HEAD",
    "DELETE",
    "PUT",
    "PATCH",
    "OPTIONS",
    "TRACE",
    "CONNECT",
    "get",
    "PRI",
    "X" * 300,
    "G(T",
)
VERSIONS = ("HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/1.", "http/1.1", "HTTP/1.1 ", "")
names = st.sampled_from(NAMES)
values = st.sampled_from(VALUES) | st.text(st.characters(max_codepoint=255), max_size=20)
headers = st.lists(st.tuples(names, values), max_size=5)
targets = st.sampled_from([*PATHS, *PATHS, *ODD]) | st.text(st.characters(max_codepoint=255), max_size=20)
bodies = st.sampled_from(
    [b"", b"{}", b"[" * 5000, b'{"source": 1}', b"5\r\nhello\r\n0\r\n\r\n", b"zz\r\n", b"\xff\xfe{\x00"]
)
bodies |= st.binary(max_size=60)


@BOUNDED
@given(
    method=st.sampled_from([*METHODS, "GET", "POST", "POST", "POST"]),
    target=targets,
    version=st.sampled_from(["HTTP/1.1"] * 12 + list(VERSIONS)),
    host=st.booleans() | st.just(True),
    more=headers,
    body=bodies,
    length=st.sampled_from(["right"] * 4 + ["none", "more"]),
)
def test_any_request_is_answered_or_refused(
    server: Process,
    method: str,
    target: str,
    version: str,
    host: bool,
    more: list[tuple[str, str]],
    body: bytes,
    length: str,
) -> None:
    lines = [f"{method} {target} {version}", *(["Host: localhost"] if host else []), "Connection: close"]
    if length != "none":
        lines.append(f"Content-Length: {len(body) + (length == 'more')}")
    lines += [f"{name}: {value}" for name, value in more]
    text = "\r\n".join([*lines, "", ""]).encode("latin-1") + body
    assert_proper(say(server, text), method.encode("latin-1"))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("Host", "Content-Length")])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_every_odd_value_of_every_header(server: Process, name: str, method: str) -> None:
    for value in VALUES:
        lines = [f"{method} /api/check HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
        lines += ["Content-Length: 2", f"{name}: {value}", "Connection: close"]
        assert_proper(say(server, "\r\n".join([*lines, "", "{}"]).encode("latin-1")))


@pytest.mark.parametrize("value", VALUES)
def test_every_odd_host_and_length(server: Process, value: str) -> None:
    for name in ("Host", "Content-Length"):
        host = [] if name == "Host" else ["Host: localhost"]
        lines = ["POST /api/check HTTP/1.1", *host, f"{name}: {value}", "Content-Type: application/json"]
        assert_proper(say(server, "\r\n".join([*lines, "Connection: close", "", "{}"]).encode("latin-1")))


GOOD = (
    b"POST /api/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 43\r\n"
    b'Connection: close\r\n\r\n{"source": {"kind": "addition", "bits": 4}}'
)


@settings(BOUNDED, max_examples=200)
@given(edits=st.lists(st.tuples(st.integers(0, len(GOOD)), st.integers(0, 4), st.binary(max_size=4)), max_size=4))
def test_any_edit_of_a_request_is_answered_or_refused(server: Process, edits: list[tuple[int, int, bytes]]) -> None:
    text = GOOD
    for at, length, piece in edits:
        text = text[:at] + piece + text[at + length :]
    assert_proper(say(server, text))


@BOUNDED
@given(text=st.binary(min_size=1, max_size=200) | st.binary(max_size=50).map(lambda tail: b"\x16\x03\x01\x02" + tail))
def test_any_bytes_are_answered_or_refused(server: Process, text: bytes) -> None:
    assert_proper(say(server, text + b"\r\n\r\n"))


def test_a_broken_body_of_a_request_that_is_refused_already(server: Process) -> None:
    """Two refusals in one breath, for the type and for the chunk; one is said."""
    for _ in range(20):
        found = say(server, b"POST /api/check HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
        assert found.count(b"HTTP/1.1 4") == 1
        assert_proper(found)
