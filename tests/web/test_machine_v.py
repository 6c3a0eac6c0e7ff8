"""SUBLEQ on machine V behind the page: what it prints is what the library's computer prints; limits, cancelling."""

from pathlib import Path
from typing import Any

import pytest
from long import LONG
from serving import LOOP

from bitwright import run
from bitwright.machines.programs import open_subleq
from bitwright.web import work
from bitwright.web.requests import Limits, Request

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "subleq"
CHATTER = ".words 32\n.width 16\n.dialect howerj\nloop: out #65\njmp loop\n"


def subleq(name: str) -> dict[str, Any]:
    return {"kind": "subleq", "text": (EXAMPLES / name).read_text(), "name": name.split(".")[0]}


def expected(name: str, given: str) -> Any:
    program = open_subleq(str(EXAMPLES / name))
    return program.machine, run(program, given.encode(), instructions=100_000)


@pytest.mark.parametrize(
    ("name", "given", "engines"),
    [
        ("hello.sq", "", ("templates", "limit", "network")),
        ("echo.sq", "to and fro\n", ("templates", *("limit", "network") * LONG)),
        ("count.sq", "two\nlines\n", ("templates", *("limit", "network") * LONG)),
        ("sort.sq", "", ("templates", *("limit", "network") * LONG)),
    ],
)
def test_it_prints_what_the_library_prints(server: Any, name: str, given: str, engines: tuple[str, ...]) -> None:
    machine, truth = expected(name, given)
    tally = truth.ending.tally
    for engine in engines:
        job = server.run({"source": subleq(name), "console": given, "engine": engine})
        assert "result" in job, job
        result = job["result"]
        assert result["console"].encode() == truth.output == server.file(job, "output.txt")
        assert (result["ended"], result["instructions"], result["steps"]) == ("halt", tally.instructions, tally.steps)
        assert result["memory"] == [machine.shape.signed(word) for word in truth.ending.memory]
        assert result["wrong"] == 0
        if engine == "network":
            assert result["cells"]["proved"]


def test_an_image_needs_a_machine_and_says_where_it_is_wrong(server: Any) -> None:
    image = {"kind": "subleq", "language": "image", "text": "6 -1 3\n7 7 -1\n65 0\n"}
    answer = server.check(image)
    assert "does not specify its words, word width, dialect" in answer["problems"][0]["message"]
    whole = {**image, "words": 16, "width": 8, "dialect": "howerj"}
    assert server.check(whole)["about"]["machine"].startswith("machine V of 16 words of 8 bits, dialect howerj")
    assert server.run({"source": whole})["result"]["console"] == "A"
    [problem] = server.check({**whole, "text": "6 -1 3\n7 7 x9\n"})["problems"]
    assert (problem["line"], problem["column"], "'x9' is not a word" in problem["message"]) == (2, 5, True)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"words": 4096}, "at most 32,768 bits of memory"),
        ({"words": 2**24, "width": 64}, "at most 32,768 bits of memory"),
        ({"dialect": "latin"}, "there is no dialect 'latin'"),
        ({"words": 4, "width": 16}, "give more words"),
    ],
)
def test_machines_that_are_too_large_or_strange_are_refused(server: Any, more: dict[str, Any], message: str) -> None:
    source = {**subleq("hello.sq"), "words": 64, "width": 16, **more}
    assert message in server.check(source)["problems"][0]["message"]
    job = server.run({"source": source})
    assert (message in job["error"], "\n" in job["error"]) == (True, False)


def test_inputs_are_refused_with_a_line_and_slow_engines_do_what_they_can(server: Any) -> None:
    job = server.run({"source": subleq("hello.sq"), "inputs": {"p": "1"}})
    assert "only from its console, got inputs p" in job["error"]
    job = server.run({"source": subleq("hello.sq"), "engine": "sampled", "max_instructions": 1})
    assert job["result"]["engine"] == "sampled"


def test_an_instruction_limit_and_output_without_end(server: Any) -> None:
    job = server.run({"source": {"kind": "subleq", "text": LOOP}, "max_instructions": 10})
    result = job["result"]
    assert (result["ended"], result["halted"], result["instructions"]) == ("limit", False, 10)
    result = run_within(CHATTER, Limits(console=300))
    assert (result["ended"], result["console"]) == ("stopped", "A" * 300)


def run_within(text: str, limits: Limits) -> dict[str, Any]:
    return work.run(Request(source={"kind": "subleq", "text": text}), limits, lambda *_, **__: None)[0]


def test_one_that_does_not_halt_shows_what_it_did_within_its_time() -> None:
    result = run_within(LOOP, Limits(seconds=0.1))
    assert result["ended"] == "time"
    assert not result["halted"]
