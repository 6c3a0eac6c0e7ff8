"""Many at a time, and whatever anybody may send: always an answer, never a traceback."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from long import LONG

BOUNDED = settings(
    max_examples=150 if LONG else 40,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def test_twenty_at_a_time_are_answered(server: Any) -> None:
    """Runs, checks and pages at once."""

    def ask(number: int) -> bool:
        if number % 5 == 0:
            return bool(server.http.get("/").status_code == 200)
        if number % 5 == 1:
            return bool(server.check({"kind": "rules", "text": "bits p\n" * number})["ok"] is False)
        inputs = {"p": str(number), "q": str(3 * number)}
        job = server.run({"source": {"kind": "addition", "bits": 10}, "inputs": inputs, "engine": "limit"})
        return bool(job["result"]["outputs"] == {"sum": str(4 * number)})

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(ask, range(20))) == [True] * 20


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
WORDS = """let bits block when write for in input output start steps halt at fixed point matches examples p q x[3] p[i]
[ ] ( ) = != .. 1..3 0 1 2 99999999999 - + * // % ^ if and i # ; : , .width .in .out .word .macro .end .alias sbn sub
mov add jmp jneg clr inc dec loop: loop a b #1 #-1 @x halt é \ufeff \\"""
words = st.sampled_from([*WORDS.split(), *4 * ["\n"]])
programs = st.lists(words, max_size=40).map(" ".join) | st.text(max_size=200)
numbers = st.sampled_from(["0", "1", "7", "-3", "0x1f", "", "x", "9" * 400]) | st.text(max_size=5)
graphs = st.fixed_dictionaries(
    {},
    optional={
        "shape": st.sampled_from(["path:3", "grid:2x2", "torus:0x9", "random:9,99", "x:1", ""]) | st.none(),
        "nodes": st.lists(st.sampled_from(["a", "b", "c.1", "", "a b"]), max_size=4),
        "edges": st.lists(st.lists(st.integers(-1, 3), min_size=1, max_size=3), max_size=4),
        "directed": st.booleans(),
    },
)
sources = st.one_of(
    st.fixed_dictionaries({"kind": st.just("rules"), "text": programs}),
    st.fixed_dictionaries({"kind": st.just("sbn"), "text": programs, "machine": st.sampled_from("AB")}),
    st.fixed_dictionaries(
        {"kind": st.just("subleq"), "text": programs, "language": st.sampled_from(["assembly", "image"])},
        optional={
            "words": st.integers(-1, 70),
            "width": st.integers(-1, 20),
            "dialect": st.sampled_from(["plain", "x"]),
        },
    ),
    st.fixed_dictionaries({"kind": st.just("nodes"), "text": programs, "graph": graphs}),
    st.fixed_dictionaries({"kind": st.sampled_from(["addition", "multiplication"]), "bits": st.integers(-2, 40)}),
    st.fixed_dictionaries({"kind": st.just("permutation"), "order": st.lists(st.integers(-1, 5), max_size=5)}),
    anything,
)
requests = st.fixed_dictionaries(
    {"source": sources},
    optional={
        "inputs": st.dictionaries(st.sampled_from(["p", "q", "a", "multiplier", "multiplicand", "é"]), numbers)
        | anything,
        "engine": st.sampled_from(["templates", "limit", "sampled", "network", "x"]),
        "rounding": st.sampled_from(["calibrated", "sign", "x"]),
        "networks": st.integers(-1, 6),
        "seed": st.integers(-1, 2**60),
        "width": st.integers(-1, 300) | st.none(),
        "max_steps": st.integers(-1, 300),
        "tile": st.sampled_from([-1, 1, 2, 17, "all", "x"]),
        "more": anything,
    },
)


def is_plain(answer: Any) -> dict[str, Any]:
    """An answer that says what it has to say in JSON, and is no failure of ours."""
    assert answer.status_code in (200, 404), (answer.status_code, answer.text)
    document = dict(json.loads(answer.text.splitlines()[-1]))
    if "error" in document:
        assert list(document) == ["error"]
        assert document["error"]
        for sign in ("\n", "Traceback", "bitwright itself", "process that worked on this ended"):
            assert sign not in document["error"]
    return document


@BOUNDED
@given(request=requests)
def test_any_run_is_done_or_refused(server: Any, request: dict[str, Any]) -> None:
    found = is_plain(server.http.post("/api/run", content=json.dumps(request).encode()))
    assert "error" in found or found["result"]["title"]


@BOUNDED
@given(source=sources)
def test_any_text_is_checked(server: Any, source: Any) -> None:
    found = is_plain(server.http.post("/api/check", content=json.dumps({"source": source}).encode()))
    if "result" in found:
        assert found["result"]["ok"] is (not found["result"]["problems"])
        for problem in found["result"]["problems"]:
            assert set(problem) == {"line", "column", "message"}


@BOUNDED
@given(body=st.binary(max_size=300) | anything.map(repr).map(str.encode) | st.just(b"[" * 3000))
def test_any_body_is_answered(server: Any, body: bytes) -> None:
    for path in ("check", "run", "train", "graph", "about"):
        assert "error" in is_plain(server.http.post(f"/api/{path}", content=body))
