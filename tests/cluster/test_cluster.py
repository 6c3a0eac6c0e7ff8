"""A cluster of machines: the same bytes as one process, whatever becomes of workers, machines and the driver."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from calling import Captured, answer
from driver import collect
from long import LONG
from nodes import SOURCES, Lab, Node, lab, why_no_namespaces
from runs import Training, python
from waiting import wait_until

from paper import executions
from paper.table import Table

MEMBERS, WIDTH = 6, 2_000
NETWORK = "train addition --tile all --bits 2 --width 2048 -o net.safetensors"
VERBS = (
    "validate addition --bits 2 --engine sampled --oracle ours:total --json",
    "certify addition --network net.safetensors -o certificate.json --json",
)
ONE_AFTER_THE_OTHER = """
import sys
from bitwright.cli.main import main
workers, *commands = sys.argv[1:]
for command in commands:
    assert main([*command.split(), "--workers", workers]) == 0
"""
ANOTHER_VERSION = """
import json, sys
from ray._raylet import GcsClient
from bitwright.cli.main import main
address = sys.argv[1]
client, place = GcsClient(address=address), (b"CLUSTER_METADATA", b"cluster")
known = client.internal_kv_get(*place)
other = json.dumps({**json.loads(known), "ray_version": "0.1"}).encode()
client.internal_kv_put(place[0], other, True, place[1])
code = main(["validate", "addition", "--bits", "2", "--engine", "sampled", "--workers", f"ray:{address}"])
client.internal_kv_put(place[0], known, True, place[1])
sys.exit(code)
"""
for_test_long = pytest.mark.skipif(not LONG, reason="for make test-long: it takes half a minute")


def told(text: str) -> list[dict[str, object]]:
    """The JSON that commands print one after the other, without the time that they took."""
    found = json.loads("[" + text.replace("\n}\n{\n", "\n},\n{\n") + "]")
    return [{key: value for key, value in one.items() if "second" not in key} for one in found]


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The head, which does no jobs, and a machine with one CPU; tests add more. Loopback only without namespaces."""
    with lab(tmp_path_factory.mktemp("lab"), namespaces=why_no_namespaces() is None) as made:
        made.add(cpus=0)
        made.add(cpus=1)
        yield made


def alone(folder: Path, width: int) -> bytes:
    """What one process writes."""
    collect(folder / "alone", MEMBERS, width)
    return (folder / "alone").read_bytes()


@pytest.fixture
def halting(machines: Lab) -> Iterator[Training]:
    """A training whose jobs come to a halt until they are continued."""
    with fresh_training(machines, WIDTH, halting=True) as running:
        yield running
    for pid in [pid for node in machines.nodes for pid in node.halted_workers()]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def fresh_training(machines: Lab, width: int, halting: bool = False) -> Training:
    file = machines.user / "trained"
    file.unlink(missing_ok=True)
    return Training(machines, file, MEMBERS, width, halting)


def joined(machines: Lab, halting: Training) -> Node:
    """A machine that joins when jobs are under way, and gets as many as it has CPUs."""
    halting.wait_for(1)
    late = machines.add(cpus=2)
    wait_until(lambda: len(late.halted_workers()) == 2, "the machine that joined is at two jobs")
    return late


def test_a_machine_joins_late_loses_a_worker_and_dies(machines: Lab, halting: Training, tmp_path: Path) -> None:
    """In the middle of jobs, which others then do."""
    late = joined(machines, halting)
    first = set(late.halted_workers())
    os.kill(min(first), signal.SIGKILL)
    wait_until(lambda: set(late.halted_workers()) - first, "another worker is at a job")
    late.kill()
    assert halting.finish(machines.nodes[1]) == alone(tmp_path, WIDTH)
    assert halting.counts == list(range(1, MEMBERS + 1))


def test_a_machine_has_nothing_of_ours(machines: Lab) -> None:
    """Neither bitwright nor the user's files, so that whatever gets there was sent."""
    if not machines.namespaces:
        pytest.skip(f"{why_no_namespaces()}; nodes have loopback addresses, and see this disk")
    ours = [str(SOURCES / "bitwright"), str(machines.user)]
    seen = f"import os, ray, numpy; assert not any(map(os.path.exists, {ours})); import bitwright"
    looked = machines.command(machines.nodes[1], [sys._base_executable, "-c", seen], "/")
    done = subprocess.run(looked, env={"PYTHONPATH": "/mnt"}, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'bitwright'"


def test_every_verb_gives_what_one_process_gives(
    machines: Lab, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers have neither bitwright nor the user's files: sources, program, network and oracle are sent."""
    (machines.user / "ours.py").write_text("def total(p, q):\n    return p + q\n")
    monkeypatch.chdir(machines.user)
    answer(capsys, NETWORK)
    with monkeypatch.context() as here:
        here.chdir(shutil.copytree(machines.user, tmp_path / "alone"))
        alone = "".join(answer(capsys, verb) for verb in VERBS)
    done = python(machines, "-c", ONE_AFTER_THE_OTHER, f"ray:{machines.address}", *VERBS)
    assert done.returncode == 0, done.stderr
    assert told(done.stdout) == told(alone)
    assert len(told(alone)) == len(VERBS)
    assert contents(machines.user) == contents(tmp_path / "alone")
    assert contents(machines.user).keys() == {"net.safetensors", "certificate.json"}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.*") if path.suffix in (".safetensors", ".json")}


@for_test_long
def test_figures_are_collected_there_too(machines: Lab) -> None:
    """Of a table that lacks two jobs, just these are done; it is then the table that one process makes."""
    path = machines.user / "figures" / "executions.csv"
    path.parent.mkdir()
    rows = [
        (of, bits, source, labels, trial, 8, 8, 0.5, 0.5, 16, None)  # as if these were done
        for of, lengths in (("limit", range(2, 7)), ("network", range(2, 5)))
        for bits in lengths
        for source in executions.SOURCES
        for labels in executions.LABELS
        for trial in range(3)
        if bits > 2 or source == "runs" or labels != executions.LABELS[0]
    ]
    known = Table.of(executions.COLUMNS, rows).csv()
    tables = []
    for workers in ("1", f"ray:{machines.address}"):
        path.write_bytes(known)
        done = python(machines, "-m", "paper", "executions", "--collect-only", "--workers", workers)
        assert done.returncode == 0, done.stderr
        tables.append(path.read_bytes())
    assert tables[0] == tables[1] != known


def test_what_is_wrong_with_a_cluster_is_one_line(machines: Lab) -> None:
    """Its head says that it has another Ray, as one would that has; secrets differ; this machine is none of it."""
    validate = ("-m", "bitwright", "validate", "addition", "--bits", "2", "--engine", "sampled", "--workers")
    address, head = machines.address, machines.nodes[0]
    mismatch = "ersion mismatch"
    secret = {"RAY_AUTH_TOKEN": "another"}
    cases = [
        (head, ("-c", ANOTHER_VERSION, address), {}, mismatch),
        (head, (*validate, f"ray:{address}"), secret, "Authentication token is missing or incorrect"),
    ]
    if machines.namespaces:
        elsewhere = machines.add(ray=False)
        join = f"join it with: ray start --address={address} --num-cpus=0"
        cases.append((elsewhere, (*validate, f"ray:{address}"), {}, join))
        if find_spec("grpc") is None:
            cases.append((elsewhere, (*validate, f"ray://{address}"), {}, "needs Ray's client"))
    for node, command, more, said in cases:
        done = python(machines, *command, node=node, **more)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
        assert said in done.stderr
