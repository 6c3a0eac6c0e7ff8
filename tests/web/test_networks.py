"""Networks that are trained and proved behind the page: the library's own, byte for byte; progress, cancel, limits."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from serving import ENDLESS, RING, serving

from bitwright import Algorithm, Certificate, Network, addition, certify, run, train
from bitwright import exports as export
from bitwright.rules import parse_node_program
from bitwright.verbs.local_page import cells_of, make_network
from bitwright.web.programs import report_training
from bitwright.web.requests import Limits

ROOT = Path(__file__).parent.parent.parent
FLOOD = (ROOT / "examples" / "graphs" / "flooding.bw").read_text()
WHOLE = {"source": {"kind": "addition", "bits": 4}, "tile": "all"}


def make(client: Any, request: dict[str, Any]) -> dict[str, Any]:
    return dict(client.do("train", request))


def fetched(client: Any, job: dict[str, Any], folder: Path) -> Path:
    for name in job["files"]:
        (folder / name).write_bytes(client.file(job, name))
    return folder


def test_a_network_of_cells_is_the_library_s_and_its_proof_holds(server: Any, tmp_path: Path) -> None:
    job = make(server, {"source": {"kind": "addition", "bits": 6}})
    assert "result" in job, job
    folder, result = fetched(server, job, tmp_path), job["result"]
    own = train(addition(6))
    assert (result["sha256"], result["width"]) == (own.digest, own.width)
    assert (result["certificate"]["certified"], result["certificate"]["states"]) == (True, own.pattern.local_states)
    proved = certify(addition(6), own)
    assert result["certificate"].pop("report") == str(proved).splitlines()
    chain = json.loads(json.dumps(proved.to_dict()))
    assert {**result["certificate"], "seconds": 0} == {**chain, "seconds": 0}
    assert [claim["verdict"] for claim in chain["claims"]] == ["proved"] * 3  # what it computes, at every size
    loaded = Network.load(folder / "network.safetensors")
    pattern, network = loaded.pattern, loaded.weights
    certificate = Certificate.load(folder / "network-certificate.json")
    certificate.check(Algorithm("cells", pattern.program), network)  # every state again
    done = run(addition(30), p=2**29, q=2**29 - 1, network=Network.load(folder / "network.safetensors"))
    assert done.value == 2**30 - 1
    assert [point[0] for point in result["curve"]] == list(range(len(result["curve"])))
    assert result["curve"][-1][1] <= result["tolerance"]


def test_a_run_by_a_network_is_by_the_one_that_was_proved(server: Any) -> None:
    """With the same seed: the page chooses it after training, and says so by these digests."""
    source = {"kind": "addition", "bits": 6}
    made = make(server, {"source": source, "seed": 3})
    asked = {"source": source, "inputs": {"p": "5", "q": "6"}, "engine": "network", "seed": made["result"]["seed"]}
    done = server.run(asked)
    assert done["result"]["networks"] == [made["result"]["sha256"]]


def test_one_of_the_whole_state_is_proved_on_every_state(server: Any) -> None:
    job = make(server, WHOLE)
    certificate = job["result"]["certificate"]
    assert (certificate["certified"], certificate["domain"], certificate["states"]) == (True, "states", 4096)
    job = make(server, {**WHOLE, "source": {"kind": "addition", "bits": 16}})
    assert "states, and this page tries at most 16,777,216" in job["result"]["certificate"]["problem"]
    assert "network-certificate.json" not in job["files"]


def test_a_network_that_is_too_narrow_is_not_called_proved(server: Any) -> None:
    job = make(server, {**WHOLE, "width": 48})
    certificate = job["result"]["certificate"]
    assert (certificate["certified"], certificate["verdict"]) == (False, "refuted")
    assert certificate["counterexample"] is not None
    assert b"NOT EXACT" in server.file(job, "addition.c")


def test_node_programs_and_machine_v_have_networks_of_their_cells(server: Any) -> None:
    graph = {"shape": "path:3"}
    job = make(server, {"source": {"kind": "nodes", "text": FLOOD, "graph": graph}})
    own = train(parse_node_program(FLOOD))
    assert job["result"]["sha256"] == own.digest
    assert job["result"]["covers"].endswith("; this program is made of them on every graph")
    hello = (ROOT / "examples" / "subleq" / "hello.sq").read_text()
    job = make(server, {"source": {"kind": "subleq", "text": hello}})
    assert job["result"]["certificate"]["certified"]
    for source in ({"kind": "subleq", "text": hello}, {"kind": "nodes", "text": FLOOD, "graph": graph}):
        for tile in (2, "all"):
            assert "tile must be 1" in make(server, {"source": source, "tile": tile})["error"]


def test_a_network_of_tiles_is_the_library_s(server: Any) -> None:
    job = make(server, {"source": {"kind": "addition", "bits": 4}, "tile": 2})
    assert "result" in job, job
    own = train(addition(4), tile=2)
    assert (job["result"]["sha256"], job["result"]["tile"]) == (own.digest, 2)
    assert (job["result"]["certificate"]["certified"], job["result"]["missing"]) == (True, {})
    assert job["result"]["certificate"]["states"] == own.pattern.local_states
    refused = make(server, {"source": {"kind": "addition", "bits": 5}, "tile": 2})
    assert "does not divide" in refused["error"]


def test_every_form_of_the_export_room_is_there_and_runs(server: Any, tmp_path: Path) -> None:
    forms = [name for name in export.__all__ if name.endswith("_text")]
    assert {"c_text", "js_text"} <= set(forms)
    job = make(server, {"source": {"kind": "addition", "bits": 8}})
    assert job["result"]["missing"] == {}
    assert {"addition.html", "addition.c", "addition.mjs", "addition.d.mts"} <= set(job["files"])
    assert len(forms) == 2  # the page shows those of C and JavaScript
    folder = fetched(server, job, tmp_path)
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is not None:
        subprocess.run([compiler, "-std=c99", "-DBW_MAIN", "-o", folder / "add", folder / "addition.c"], check=True)
        out = subprocess.run([folder / "add", "200", "55"], check=True, capture_output=True, text=True).stdout
        assert "255" in out
    assert b"PROVED" in (folder / "addition.mjs").read_bytes()
    page = (folder / "addition.html").read_text()
    assert "proved on all" in page
    assert page.count("default-src 'none'") == 1


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"source": {"kind": "rules", "text": "bits x\nblock x\nwhen x=1 wrte x"}}, "expected 'write'"),
        ({"source": {"kind": "nodes", "text": "bits x[", "graph": {}}}, "1:"),
        ({"source": {"kind": "rules", "text": "bits x\nblock x\n"}}, ""),
    ],
)
def test_what_cannot_be_trained_fails_with_one_line(server: Any, request_: dict[str, Any], message: str) -> None:
    job = make(server, request_)
    assert (message in job["error"], "\n" in job["error"]) == (True, False), job["error"]
    assert "bitwright itself failed" not in job["error"]


@pytest.mark.parametrize(
    "more", [{"width": 0}, {"width": 10**6}, {"seed": -1}, {"tile": "half"}, {"tile": 0}, {"more": 1}]
)
def test_strange_requests_are_not_taken(server: Any, more: dict[str, Any]) -> None:
    assert server.do("train", {**WHOLE, **more})["error"].startswith(next(iter(more)))


def test_while_a_network_is_trained_all_errors_so_far_are_told() -> None:
    told: list[dict[str, Any]] = []

    def progress(phase: str, step: int = 0, limit: int = 0, **shown: Any) -> None:
        told.append({"phase": phase, "step": step, "limit": limit, "tolerance": shown["tolerance"]})
        told[-1]["curve"] = list(shown["curve"])

    pattern, report = cells_of(addition(4), "all")[0], report_training("a network", progress)
    network, curve = make_network(pattern, addition(4), 512, 512, 0, report)
    assert told[-1]["curve"] == curve[: len(told[-1]["curve"])]
    assert len(told[-1]["curve"]) > len(told[0]["curve"])
    assert curve[-1] == (network.weights.origin.steps, pytest.approx(network.weights.origin.error, rel=1e-3))
    assert all(0 <= one["step"] <= one["limit"] for one in told)


def test_progress_says_what_a_run_or_proof_without_end_has() -> None:
    """Hanging up ends each, else the next one would not come."""
    with serving(Limits(**ENDLESS)) as client:
        text = ".words 64\n.width 16\n.dialect howerj\nout #66\nloop: jmp loop\n"
        with client.job("run", {"source": {"kind": "subleq", "text": text}}) as lines:
            found = next(line["progress"] for line in lines if line["progress"]["step"])
        assert found["shown"] == {"console": "B", "unit": "instruction"}
        request = {"source": {"kind": "rules", "text": RING.replace("500", "24")}, "tile": "all", "width": 4096}
        with client.job("train", request) as lines:
            found = next(line["progress"] for line in lines if line["progress"]["phase"] == "proving")
        assert (found["limit"], found["shown"]) == (2**24, {"unit": "state"})


def test_the_result_says_in_json_what_the_page_shows(server: Any) -> None:
    job = make(server, WHOLE)
    written = json.loads(server.file(job, "network.json"))
    assert written == job["result"]
