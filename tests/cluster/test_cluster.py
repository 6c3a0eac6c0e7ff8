"""A cluster of machines: the same bytes as one process, whatever becomes of workers, machines and the driver."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec

import pytest
from long import LONG
from nodes import SOURCES, Lab, Node, lab, why_no_namespaces
from runs import DRIVER, Training, bitwright, environment, python, records
from waiting import wait_until

from experiments import executions
from experiments.table import Table

MEMBERS, WIDTH = 12, 100_000
NETWORK = "train addition --whole --bits 2 --width 2048 --integer -o net.safetensors"
VERBS = (
    "train addition --ensemble --whole --bits 2 -n 4 --width 512 --json -o ensemble.results",
    "train addition --whole --bits 2 --networks 2 --width 512 --json -o members",
    "validate addition --bits 2 --unsliced --engine templates --oracle ours:total --json",
    "certify addition --network net.safetensors --json",
)
ONE_AFTER_THE_OTHER = """
import sys
from bitwright.cli.main import main
workers, *commands = sys.argv[1:]
for command in commands:
    assert main([*command.split(), "--workers", workers]) == 0
    print("\\f", flush=True)
"""

ANOTHER_VERSION = """
import json, sys
import ray
from ray._raylet import GcsClient
address, version = sys.argv[1:]
client, place = GcsClient(address=address), (b"CLUSTER_METADATA", b"cluster")
known = json.loads(client.internal_kv_get(*place))
known["ray_version"] = ray.__version__ if version == "as it was" else version
client.internal_kv_put(place[0], json.dumps(known).encode(), True, place[1])
"""


def as_json(text: str) -> dict[str, object]:
    """What a command says, without the time that it took."""
    return {key: value for key, value in json.loads(text).items() if "second" not in key}


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The head, which does no jobs, and a machine with one CPU; tests add more. Loopback only without namespaces."""
    with lab(tmp_path_factory.mktemp("lab"), namespaces=why_no_namespaces() is None) as made:
        made.add(cpus=0)
        made.add(cpus=1)
        trained = bitwright(made, *NETWORK.split())
        assert trained.returncode == 0, trained.stderr
        yield made


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What one process writes."""
    file = tmp_path_factory.mktemp("alone") / "ensemble"
    subprocess.run([sys.executable, DRIVER, "1", file, str(MEMBERS), str(WIDTH)], check=True, capture_output=True)
    return file.read_bytes()


@pytest.fixture
def third(machines: Lab) -> Node:
    """A larger machine, which one test lets join."""
    return machines.nodes[2] if len(machines.nodes) > 2 else machines.add(cpus=4)


@pytest.fixture
def halting(machines: Lab) -> Iterator[Training]:
    """A training whose jobs come to a halt until they are continued."""
    with fresh_training(machines, halting=True) as running:
        yield running
    for pid in [pid for node in machines.nodes for pid in node.halted_workers()]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def training(machines: Lab) -> Iterator[Training]:
    with fresh_training(machines) as running:
        yield running


def fresh_training(machines: Lab, halting: bool = False) -> Training:
    file = machines.user / "ensemble"
    file.unlink(missing_ok=True)
    return Training(machines, file, MEMBERS, WIDTH, halting)


def test_a_machine_joins_late_loses_a_worker_and_gets_nowhere(machines: Lab, halting: Training, alone: bytes) -> None:
    """It gets as many jobs as it has CPUs. Its workers never go on, as on a machine that is far too slow: another
    machine does their jobs as well, and nobody waits.
    """
    halting.wait_for(1)
    late = machines.add(cpus=4)
    wait_until(lambda: len(late.halted_workers()) == 4, "the machine that joined is at four jobs")
    first = set(late.halted_workers())
    os.kill(min(first), signal.SIGKILL)
    wait_until(lambda: set(late.halted_workers()) - first, "another worker is at a job")
    assert halting.finish(machines.nodes[1]) == alone
    assert halting.counts == list(range(1, MEMBERS + 1))


def test_a_machine_has_nothing_of_ours(machines: Lab) -> None:
    """Neither bitwright nor the user's files, so that whatever gets there was sent."""
    if not machines.namespaces:
        pytest.skip(f"{why_no_namespaces()}; nodes have loopback addresses, and see this disk")
    ours = [str(SOURCES / "bitwright"), str(machines.user)]
    look = f"import os; assert not any(map(os.path.exists, {ours}))"
    path = {"PYTHONPATH": "/mnt"}
    seen = [
        subprocess.run(
            machines.command(machines.nodes[1], [sys._base_executable, "-c", code], "/"), env=path
        ).returncode
        for code in (look, "import ray, numpy", "import bitwright")
    ]
    assert seen == [0, 0, 1]


def test_every_verb_gives_what_one_process_gives(machines: Lab) -> None:
    """The workers have neither bitwright nor the user's files: sources, program, network and oracle are sent."""
    folder = machines.user
    (folder / "ours.py").write_text("def total(p, q):\n    return p + q\n")
    found = []
    for workers in ("1", f"ray:{machines.address}"):
        done = python(machines, "-c", ONE_AFTER_THE_OTHER, workers, *VERBS)
        assert done.returncode == 0, done.stderr
        written = sorted((folder / "ensemble.results", *(folder / "members").iterdir()))
        files = {path.name: path.read_bytes() for path in written}
        assert len(files) > len(VERBS) // 2
        found.append(([as_json(text) for text in done.stdout.split("\f\n")[:-1]], files))
        for path in written:
            path.unlink()
    assert found[0] == found[1]
    assert len(found[0][0]) == len(VERBS)


@pytest.mark.skipif(not LONG, reason="for make test-long: it takes half a minute")
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
        done = python(machines, "-m", "experiments", "executions", "--collect-only", "--workers", workers)
        assert done.returncode == 0, done.stderr
        tables.append(path.read_bytes())
    assert tables[0] == tables[1] != known


def test_what_is_wrong_with_an_address_is_one_line(machines: Lab) -> None:
    validate = ("validate", "addition", "--bits", "2", "--workers")
    address = machines.address
    first = machines.nodes[0]
    elsewhere = machines.add(ray=False) if machines.namespaces else first
    cases = [
        (first, f"ray:{address}", {"RAY_AUTH_TOKEN": "another"}, "Authentication token is missing or incorrect"),
        (elsewhere, f"ray:{address}", {}, f"join it with: ray start --address={address} --num-cpus=0"),
    ]
    if find_spec("grpc") is None:
        cases.append((elsewhere, f"ray://{address}", {}, "needs Ray's client"))
    for node, where, more, said in cases if machines.namespaces else cases[:1]:
        done = bitwright(machines, *validate, where, node=node, **more)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
        assert said in done.stderr


def test_a_cluster_of_another_version_is_one_line(machines: Lab) -> None:
    """Its head says that it has another Ray, as one would that has."""
    script = machines.user / "another_version.py"
    script.write_text(ANOTHER_VERSION)
    command = [sys.executable, str(script), machines.address]
    for version in ("0.1", "as it was"):
        changed = subprocess.run(
            machines.command(machines.nodes[0], [*command, version]), env=environment(machines), capture_output=True
        )
        assert changed.returncode == 0, changed.stderr
        if version == "0.1":
            done = bitwright(machines, "validate", "addition", "--bits", "2", "--workers", f"ray:{machines.address}")
            assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
            assert "Version mismatch: The cluster was started with: Ray: 0.1" in done.stderr


def test_a_driver_that_is_killed_loses_nothing_that_it_told_of(machines: Lab, training: Training, alone: bytes) -> None:
    training.wait_for(3)
    training.process.kill()
    training.process.wait()
    kept = training.file.read_bytes()
    told = training.counts[-1]
    assert told <= len(records(kept)) <= told + 1  # one may be in the file, and not yet told of
    assert records(alone)[: len(records(kept))] == records(kept)
    with Training(machines, training.file, MEMBERS, WIDTH) as again:
        assert again.finish() == alone
        assert again.counts == list(range(1, MEMBERS + 1))  # what is known already is told of, and not done again


def test_a_machine_that_dies(machines: Lab, third: Node, halting: Training, alone: bytes) -> None:
    """In the middle of jobs."""
    wait_until(third.halted_workers, "a worker is at a job")
    third.kill()
    assert halting.finish(machines.nodes[1]) == alone
    assert halting.counts == list(range(1, MEMBERS + 1))
