"""Workers: the same results in the same order from one process, several, and Ray; clean ends."""

import os
import signal
import socket
import subprocess
import sys
import threading
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import pytest
from cases import for_each
from waiting import PATIENCE, is_running, wait_until

from bitwright.common.errors import BitwrightError, InputError
from bitwright.common.workers import Workers
from bitwright.common.workers.ray_jobs import ray_module

EVERY = [Workers(), Workers("processes", 2), Workers("ray", 2)]


def power(common: tuple[int, Path | None], job: int) -> tuple[int, int]:
    """With a folder, each of the first even jobs waits for the odd one after it: late jobs are done first."""
    exponent, folder = common
    if folder is not None and job < 4:
        if job % 2 == 0:
            wait_until((folder / str(job + 1)).exists, f"job {job + 1} is done while job {job} is still at work")
        else:
            (folder / str(job)).touch()
    return job, job**exponent


class Meeting:
    """Comes to life in a worker only when that many others do at the same time."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder, self.count = folder, count

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        (self.folder / str(os.getpid())).touch()
        wait_until(lambda: len(list(self.folder.iterdir())) == self.count, "all workers have begun")


def at_the_meeting(common: tuple[Meeting, bytes], job: int) -> int:
    return common[0].count + len(common[1]) + job


def fail(common: str, job: int) -> int:
    if job == 2:
        raise InputError(f"{common} {job}")
    return job


def die(common: int, job: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return common + job


def leave(common: int, job: int) -> int:  # noqa: ARG001
    os._exit(1)


@pytest.mark.usefixtures("one_ray")
@pytest.mark.parametrize("workers", EVERY, ids=lambda w: w.kind)
def test_results_come_in_order_and_jobs_may_be_endless(workers: Workers, tmp_path: Path) -> None:
    folder = None if workers.kind == "serial" else tmp_path  # one process cannot do the second job first
    assert list(workers.map(power, (3, folder), range(9))) == [(job, job**3) for job in range(9)]
    assert list(workers.map(power, (3, None), [])) == []
    some = workers.map(power, (2, None), count())
    assert [next(some)[1] for _ in range(5)] == [0, 1, 4, 9, 16]
    some.close()  # type: ignore[attr-defined]


def test_processes_start_together_however_much_they_share(tmp_path: Path) -> None:
    """More than a pipe holds: whoever writes into it waits for the reader."""
    common = (Meeting(tmp_path, 3), bytes(1 << 20))
    found = Workers("processes", 3).map(at_the_meeting, common, range(3))
    assert list(found) == [3 + (1 << 20) + job for job in range(3)]


@pytest.mark.usefixtures("one_ray")
@pytest.mark.parametrize("workers", EVERY, ids=lambda w: w.kind)
def test_an_error_in_a_worker_is_the_caller_s(workers: Workers) -> None:
    found = workers.map(fail, "no", range(5))
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(InputError, match=r"^no 2$"):
        next(found)


class Needy:
    """It can be made only where a module is that nobody has."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return import_module, ("no_such_module",)


@pytest.mark.usefixtures("one_ray")
def test_a_machine_that_lacks_a_module_is_one_line() -> None:
    with pytest.raises(InputError, match="'no_such_module'"):
        list(Workers("ray", 2).map(fail, Needy(), range(2)))


@pytest.mark.usefixtures("one_ray")
def test_a_job_that_kills_its_worker_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bitwright.common.workers.ray_jobs._RETRIES", 1)
    with pytest.raises(BitwrightError, match=r"^Ray stopped: "):
        list(Workers("ray", 2).map(die, 0, range(1)))


def test_a_worker_that_dies_is_reported() -> None:
    with pytest.raises(BitwrightError, match="worker process died") as caught:
        list(Workers("processes", 2).map(die, 0, range(3)))
    assert "memory" in str(caught.value)
    with pytest.raises(BitwrightError, match="worker process died") as caught:
        list(Workers("processes", 2).map(leave, 0, range(3)))
    assert "memory" not in str(caught.value)  # it ended by itself


@for_each(
    ("text", "workers"),
    [
        ("1", Workers()),
        ("3", Workers("processes", 3)),
        ("ray", Workers("ray", 0)),
        ("ray:2", Workers("ray", 2)),
        ("ray:auto", Workers("ray", 0, "auto")),
        ("ray:10.0.0.1:6379", Workers("ray", 0, "10.0.0.1:6379")),
        ("ray://head:10001", Workers("ray", 0, "ray://head:10001")),
        ("ray:[::1]:6379", Workers("ray", 0, "[::1]:6379")),
    ],
)
def test_the_names_of_workers(text: str, workers: Workers) -> None:
    assert Workers.parse(text) == workers


@for_each(
    "text",
    [
        *(
            "0",
            "-1",
            "257",
            "two",
            "",
            "ray:0",
            "1.5",
            "²",
            "ray:",
            "ray:foo",
            "ray:a:b",
            "ray://",
            "ray://head",
            "rays",
        ),
        *("9" * 5000, "two\nlines"),
    ],
)
def test_names_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="256") as refused:
        Workers.parse(text)
    assert "\n" not in str(refused.value)


@for_each("scheme", ["ray:", "ray://"])
def test_an_address_where_nothing_listens(scheme: str) -> None:
    """Ray itself would try for two minutes, and say nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    workers = Workers.parse(f"{scheme}127.0.0.1:{port}")
    needs_client = scheme == "ray://" and find_spec("grpc") is None
    with pytest.raises(InputError, match="Ray's client" if needs_client else rf"responds at .*127.0.0.1:{port} \("):
        next(workers.map(power, (3, None), range(2)))


def test_a_ray_that_is_started_for_the_work_ends_with_it_and_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """Of a worker that died it would tell on standard output, among our results."""
    ray = ray_module()
    assert not ray.is_initialized()  # tests that share one come last
    assert list(Workers("ray", 2).map(pow, 3, range(4))) == [1, 3, 9, 27]
    assert not ray.is_initialized()
    said = {"lines": ["A worker died"], "pid": "raylet", "is_err": False, "ip": "0", "job": "1"}
    import_module("ray._private.worker").print_to_stdstream(said, ignore_prefix=False)
    assert capfd.readouterr().out == ""


@pytest.mark.usefixtures("one_ray")
def test_a_worker_that_goes_on_has_the_oracle_and_the_network_of_each_validation(tmp_path: Path) -> None:
    """Even a text of the same length in the same second, which Python's own cache of modules would not notice."""
    from tasks import task_of  # here: worker processes import this module
    from whole import whole, with_weights

    from bitwright import Network, addition
    from bitwright.networks import save_network
    from bitwright.validation import Function, validate

    file, path, algorithm = tmp_path / "rewritten_oracle.py", tmp_path / "n.safetensors", addition(2)
    good = whole(algorithm.program, 2_048)
    bad = with_weights(good, last=-good.last)
    for network, sign, verdict in ((good, "+", "exact"), (good, "-", "not exact"), (bad, "+", "not exact")) * 2:
        file.write_text(f"def total(p, q): return p {sign} q\n")
        save_network(network, algorithm.program, path)
        oracle = Function.named("rewritten_oracle:total", str(tmp_path), ("sum",))
        task = task_of(algorithm, "network", oracle, network=Network.load(path))
        assert validate(task, Workers("ray", 1)).verdict == verdict


@pytest.mark.usefixtures("one_ray")
def test_a_ray_that_is_there_is_found_by_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    monkeypatch.setattr("bitwright.common.workers.ray_jobs._TIMEOUT", PATIENCE)
    address = ray.get_runtime_context().gcs_address
    assert list(Workers.parse(f"ray:{address}").map(power, (3, None), range(4))) == [(job, job**3) for job in range(4)]


ORPHANS = """
import sys
sys.path.insert(0, {folder!r})
from test_workers import endless
from bitwright.common.workers import Workers
if __name__ == "__main__":
    for pid in Workers("processes", 2).map(endless, 2, range(9)):
        print(pid, flush=True)
"""


def endless(common: int, job: int) -> int:
    """Work that never ends, after the first jobs."""
    if job >= common:
        threading.Event().wait()
    return os.getpid()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS.format(folder=os.path.dirname(__file__)))
    parent = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pids = {int(parent.stdout.readline()) for _ in range(2)}
    parent.kill()
    parent.wait()
    parent.stdout.close()
    try:
        wait_until(lambda: not any(map(is_running, pids)), "the workers of a killed parent have ended")
    finally:
        for pid in filter(is_running, pids):
            os.kill(pid, signal.SIGKILL)


UNGUARDED = """
from operator import add

from bitwright.common.workers import Workers

print(list(Workers("processes", 2).map(add, 1, range(4))))
"""


def test_a_script_without_a_guard_is_told_what_to_write(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text(UNGUARDED)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("Traceback")) == (1, "", 1)
    assert 'if __name__ == "__main__":' in done.stderr.splitlines()[-1].replace("'", '"')
    script.write_text(UNGUARDED.replace("print", 'if __name__ == "__main__": print'))
    assert subprocess.run([sys.executable, script], capture_output=True, text=True).stdout == "[1, 2, 3, 4]\n"
