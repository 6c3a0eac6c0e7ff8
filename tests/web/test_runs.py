"""Runs through the server are the library's own, to the last digit and byte."""

import json
from pathlib import Path
from typing import Any

import pytest
from calling import Captured
from long import LONG

from bitwright import Algorithm, Certificate, addition, certify, multiplication, parse, permutation, run
from bitwright.cli.main import main
from bitwright.common.bits import any_digits
from bitwright.pages import run_title, trace_page
from bitwright.verbs.size import size

ROOT = Path(__file__).parent.parent.parent
GCD, BFS, HELLO = (
    (ROOT / "examples" / name).read_text() for name in ("sbn/gcd.sbn", "graphs/bfs.bw", "subleq/hello.sq")
)
ALGORITHMS: list[tuple[dict[str, Any], dict[str, int], Algorithm]] = [
    ({"kind": "addition", "bits": 8}, {"p": 200, "q": 77}, addition(8)),
    ({"kind": "addition", "bits": 5, "counter": True}, {"p": 31, "q": 1}, addition(5, True)),
    ({"kind": "multiplication", "bits": 4}, {"multiplicand": 13, "multiplier": 11}, multiplication(4)),
    ({"kind": "permutation", "order": [3, 1, 2, 5, 4]}, {"p": 22}, permutation([3, 1, 2, 5, 4])),
]


ENGINES = ("templates", "limit", "sampled", "network")


# The same run in Python, on the command line and through the server.
THREE: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a name": (
        {"source": {"kind": "addition", "bits": 10}, "inputs": {"p": "719", "q": "483"}, "engine": "limit"},
        ["run", "addition", "p=719", "q=483", "--bits", "10", "--engine", "limit"],
    ),
    "a network": (
        {"source": {"kind": "multiplication", "bits": 3}, "inputs": {"multiplicand": "7", "multiplier": "5"}},
        ["multiply", "7", "5", "--engine", "network", "--seed", "2"],
    ),
    "a machine": (
        {"source": {"kind": "sbn", "text": GCD, "name": "gcd", "machine": "B"}, "inputs": {"a": "12", "b": "18"}},
        ["run", str(ROOT / "examples" / "sbn" / "gcd.sbn"), "a=12", "b=18"],
    ),
    "a graph": (
        {
            "source": {"kind": "nodes", "text": BFS, "name": "bfs", "graph": {"shape": "grid:2x3"}},
            "inputs": {"source": "0.0"},
        },
        ["run", str(ROOT / "examples" / "graphs" / "bfs.bw"), "--graph", "grid:2x3", "source=0.0"],
    ),
    "an image": (
        {"source": {"kind": "subleq", "text": HELLO, "name": "hello"}},
        ["run", str(ROOT / "examples" / "subleq" / "hello.sq"), "--memory", "0:63"],
    ),
}


@pytest.mark.parametrize("name", THREE)
def test_the_file_of_a_run_is_what_the_command_line_prints(server: Any, name: str, capsys: Captured) -> None:
    request, command = THREE[name]
    engine = {"engine": "network", "seed": 2} if name == "a network" else {}
    job = server.run({**request, **engine})
    assert "result" in job, job
    assert main([*command, "--json"]) == 0
    printed, found = json.loads(capsys.readouterr().out), json.loads(server.file(job, "run.json"))
    for document in (printed, found):
        document.pop("seconds", None)
    assert found == printed


def texts(values: dict[str, int]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items()}


@pytest.mark.parametrize(
    ("which", "engine"),
    [(at, engine) for at in range(4) for n, engine in enumerate(ENGINES) if LONG or n in (0, 1 + at)],
)
def test_every_algorithm_with_every_engine(server: Any, which: int, engine: str) -> None:
    source, values, algorithm = ALGORITHMS[which]
    more = {"networks": 500} if engine == "sampled" else {"width": 2048, "seed": 3} if engine == "network" else {}
    job = server.run({"source": source, "inputs": texts(values), "engine": engine, **more})
    assert "result" in job, job
    done = run(algorithm, values, engine=engine, record=True, **more)
    found = job["result"]
    assert (found["outputs"], found["steps"], found["halted"]) == (texts(done.outputs), done.steps, True)
    assert (found["margin"], found["title"]) == (done.margin, run_title(done))
    assert found["exact"] is done.exact
    assert found["exact"] is not False
    assert server.file(job, "trace.html").decode() == trace_page(done)
    assert parse(server.file(job, "program.bw").decode()).same_as(algorithm)


@pytest.mark.parametrize("more", [{"width": 256}, {"rounding": "sign"}])
def test_a_run_on_a_network_takes_one_of_cells(server: Any, more: dict[str, Any]) -> None:
    request = {"source": {"kind": "addition", "bits": 4}, "inputs": {"p": "3", "q": "4"}, "engine": "network"}
    job = server.run({**request, **more})
    assert "result" in job, job
    assert job["result"]["cells"]["tile"] == 1


@pytest.mark.parametrize("rounding", ["calibrated", "sign"])
def test_the_certificate_is_the_one_of_the_library_and_holds(server: Any, rounding: str, tmp_path: Path) -> None:
    algorithm = multiplication(4)
    source = {"kind": "multiplication", "bits": 4}
    job = server.run({"source": source, "inputs": {"multiplicand": "3", "multiplier": "5"}, "rounding": rounding})
    path = tmp_path / "certificate.json"
    path.write_bytes(server.file(job, "certificate.json"))
    certificate = Certificate.load(path)
    assert certificate == certify(algorithm, rounding=rounding)
    assert certificate.examples == (algorithm.examples if rounding == "sign" else algorithm.program.templates)
    assert (certificate.n_source, certificate.program_id) == ("blocks", algorithm.program.id)
    shown, proved = job["result"]["certificate"], certify(algorithm, rounding=rounding)
    assert shown.pop("report") == str(proved).splitlines()
    assert shown == json.loads(json.dumps(proved.to_dict()))
    assert certificate.verdict == ("refuted" if rounding == "sign" else "certified")
    certificate.check(algorithm)
    again = tmp_path / "again.json"
    certificate.save(again)
    assert path.read_bytes() == again.read_bytes()


def test_the_size_is_what_the_command_line_says(server: Any, capsys: Captured) -> None:
    job = server.run({"source": {"kind": "addition", "bits": 10}, "inputs": {"p": "1", "q": "2"}})
    assert main(["size", "addition", "--bits", "10", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    shown = job["result"]["size"]
    assert shown.pop("report") == str(size(addition(10))).splitlines()
    assert json.loads(server.file(job, "size.json")) == shown == printed


def test_numbers_of_any_size_and_form(server: Any) -> None:
    source = {"kind": "rules", "text": "bits x[15000]\nblock x[i] for i in 1..15000\ninput x\n"}
    source["text"] += "output x\nwhen x[15000]=1 write x[15000]\nsteps 1\n"
    job = server.run({"source": source, "inputs": {"x": hex(2**14_999)}})
    with any_digits():
        assert job["result"]["outputs"] == job["result"]["inputs"] == {"x": str(2**14_999)}, job
    source = {"kind": "addition", "bits": 1500}
    job = server.run({"source": source, "inputs": {"p": str(2**1499), "q": "0xff"}})
    assert job["result"]["outputs"] == {"sum": str(2**1499 + 255)}
    job = server.run({"source": {"kind": "sbn", "text": ".in a\n.out a\ndec a"}, "inputs": {"a": " -5 "}})
    assert job["result"]["outputs"] == {"a": "-6"}
