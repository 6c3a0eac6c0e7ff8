"""Whatever comes over the wire: a proper answer, never a failure of ours, and no traceback."""

import json
import re
import sys
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from long import LONG
from serving import Process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="starts a process as Linux does")
BOUNDED = settings(
    max_examples=300 if LONG else 60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def say(attacked: Process, text: bytes) -> bytes:
    """What comes back until the server hangs up."""
    found = b""
    with attacked.connect() as raw, suppress(ConnectionError):
        raw.sendall(text)
        while piece := raw.recv(65_536):
            found += piece
    return found


def assert_proper(found: bytes, method: str = "GET") -> None:
    """One answer: a success, a refusal of ours with one line of JSON, or uvicorn's own refusal of what is no HTTP."""
    head, _, body = found.partition(b"\r\n\r\n")
    match = re.match(rb"HTTP/1\.1 (\d{3}) ", head)
    assert match, found[:200]
    status = int(match[1])
    assert status < 500, found[:1000]
    if body == b"Invalid HTTP request received.":
        return
    assert b"cache-control: no-store" in head.lower()
    if status >= 400 and method != "HEAD":
        assert b"application/json" in head
        document = json.loads(body)
        assert list(document) == ["error"]
        assert document["error"]
        assert "\n" not in document["error"]


NAMES = (
    *("Host", "Origin", "Content-Type", "Cookie", "Range", "Connection", "Upgrade", "Referer", "Sec-Fetch-Site"),
    *("If-None-Match", "Accept-Encoding", "Authorization", "Keep-Alive", "TE", "Trailer", "X-Forwarded-For"),
    *("Access-Control-Request-Method", "HTTP2-Settings", ":authority"),
)
VALUES = (
    *("", "http://[", "http://[::1", "http://]", "null", "[", "]:80", "[::1]", "127.0.0.1:99999999", "a@b", "\xff\xfe"),
    *("localhost", "evil.example", "-1", "+5", "1e3", "0x10", "5, 5", "9" * 30, "18446744073709551616", "\u00b2"),
    *("application/json", "application/json; charset=\xff", "text/plain", "multipart/form-data; boundary=", "a/b" * 99),
    *("bytes=0-", "bytes=5-1", "bytes=-" + "9" * 40, "bytes=0-0," * 500, "items=1", "=", ";;;=", "a=b; a=c; \x01"),
    *("chunked", "gzip, chunked", "identity", "100-continue", "close", "keep-alive, upgrade", "websocket", "h2c"),
    *("same-origin", "cross-site", "none", "*", "x" * 65, "<script>", "%00", "\t", "a" * 9000),
)
API = ("/", "/api/about", "/api/graph", "/api/check", "/api/run", "/api/files/x", "/api/files/x/run.json")
PATHS = (*API, *API, "/assets/main.js", "/%", "/%zz", "/%00", "/a%0d%0ab", "//", "/?", "/api/files/x/y?z=9e9")
METHODS = ("GET", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "PRI", "X" * 300, "G(T")
values = st.sampled_from(VALUES) | st.text(st.characters(max_codepoint=255), max_size=20)
bodies = st.sampled_from([b"", b"{}", b"[" * 5000, b'{"source": 1}', b"\xff\xfe{\x00"]) | st.binary(max_size=60)


@BOUNDED
@given(
    method=st.sampled_from([*METHODS, "GET", "POST", "POST", "POST"]),
    token=st.booleans() | st.just(True),
    target=st.sampled_from(PATHS) | st.text(st.characters(max_codepoint=255), max_size=20),
    version=st.sampled_from(["HTTP/1.1"] * 12 + ["HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/1.", "http/1.1", ""]),
    host=st.booleans() | st.just(True),
    more=st.lists(st.tuples(st.sampled_from(NAMES), values), max_size=5),
    body=bodies,
)
def test_any_request_is_answered_or_refused(
    attacked: Process,
    method: str,
    token: bool,
    target: str,
    version: str,
    host: bool,
    more: list[tuple[str, str]],
    body: bytes,
) -> None:
    lines = [f"{method} {attacked.prefix * token}{target} {version}", *(["Host: localhost"] if host else [])]
    lines += [f"{name}: {value}" for name, value in more]
    lines += [f"Content-Length: {len(body)}", "Connection: close"]
    assert_proper(say(attacked, "\r\n".join([*lines, "", ""]).encode("latin-1") + body), method)


@BOUNDED
@given(name=st.sampled_from(NAMES), value=st.sampled_from(VALUES), method=st.sampled_from(["GET", "POST"]))
def test_odd_values_of_headers(attacked: Process, name: str, value: str, method: str) -> None:
    lines = [f"{method} {attacked.prefix}/api/check HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    lines += ["Content-Length: 2", f"{name}: {value}", "Connection: close"]
    assert_proper(say(attacked, "\r\n".join([*lines, "", "{}"]).encode("latin-1")))
