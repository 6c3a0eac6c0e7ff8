"""A validation is about the content that it read when it began, whatever becomes of the files."""

from dataclasses import replace
from pathlib import Path

import pytest
from tasks import Arithmetic, task_of
from whole import whole, with_weights

from bitwright import InputError, Network, addition
from bitwright.common.workers import Workers
from bitwright.networks import IntegerNetwork, load_network, save_network
from bitwright.validation import Function, Task, Validation, validate

ALGORITHM = addition(2)
EVERY = [Workers(), Workers("processes", 2)]  # and Ray in tests/test_workers.py


@pytest.fixture(scope="module")
def good() -> IntegerNetwork:
    return whole(ALGORITHM.program, 2_048)


@pytest.fixture
def bad(good: IntegerNetwork) -> IntegerNetwork:
    """It says the opposite of what it was taught."""
    return with_weights(good, last=-good.last)


def put(network: IntegerNetwork, path: Path) -> Path:
    save_network(network, ALGORITHM.program, path)
    return path


def task_with(path: Path, random: int | None = None) -> Task:
    return task_of(ALGORITHM, "network", Arithmetic("addition"), random, plain=True, network=Network.load(path))


def outcome(done: Validation) -> tuple[str, list[str]]:
    """The verdict, and which networks it is about."""
    return done.verdict, list(done.task.engine.digests)


def test_a_file_that_is_overwritten_between_validations(
    tmp_path: Path, good: IntegerNetwork, bad: IntegerNetwork
) -> None:
    """A task has its networks from the time when it was made; a new one has those that are there now."""
    path = put(good, tmp_path / "n.safetensors")
    task = task_with(path)
    assert outcome(validate(task)) == ("exact", [good.digest])
    put(bad, path)
    assert outcome(validate(task)) == ("exact", [good.digest])
    second = validate(task_with(path))
    assert outcome(second) == ("not exact", [bad.digest])
    assert second.tally.wrong > 0
    path.unlink()
    assert outcome(validate(task)) == ("exact", [good.digest])
    with pytest.raises(InputError, match=r"network.*file"):
        task_with(path)


@pytest.mark.parametrize("workers", EVERY, ids=lambda w: w.kind)
def test_a_file_that_is_overwritten_and_removed_meanwhile(
    workers: Workers, tmp_path: Path, good: IntegerNetwork, bad: IntegerNetwork
) -> None:
    """At the beginning and after the first of three batches; all are still about what was read."""
    path = put(good, tmp_path / "n.safetensors")
    seen = []

    def spoil(done: int, total: int) -> None:
        seen.append((done, total))
        if len(seen) == 1:
            put(bad, path)
        else:
            path.unlink(missing_ok=True)

    done = validate(task_with(path, random=3000), workers, progress=spoil)
    assert seen == [(0, 3000), (1024, 3000), (2048, 3000), (3000, 3000)]
    assert outcome(done) == ("exact", [good.digest])


def test_weights_and_origin_are_what_a_network_is(tmp_path: Path, good: IntegerNetwork) -> None:
    path = put(good, tmp_path / "n.safetensors")
    assert load_network(path, ALGORITHM.program).digest == good.digest
    first, last, thresholds = good.first.copy(), good.last.copy(), good.thresholds.copy()
    for array in (first, last, thresholds):
        array[-1, -1] += 1 if array[-1, -1] < 127 else -1
    others = [
        with_weights(good, first=first),
        with_weights(good, last=last),
        with_weights(good, thresholds=thresholds),
        replace(good, origin=replace(good.origin, seed=1)),
        replace(good, origin=replace(good.origin, descent="plain")),
    ]
    assert len({network.digest for network in (good, *others)}) == 6


@pytest.mark.parametrize("workers", EVERY, ids=lambda w: w.kind)
def test_an_oracle_that_is_rewritten_meanwhile(workers: Workers, tmp_path: Path) -> None:
    """What was read is used to the end, also by a process that would find another file, or none."""
    path = tmp_path / "changing_oracle.py"
    path.write_text("def total(p, q): return p + q\n")
    oracle = Function.named("changing_oracle:total", str(tmp_path), ("sum",))
    task = task_of(ALGORITHM, "templates", oracle=oracle, random=3000, plain=True)

    def rewrite(done: int, total: int) -> None:  # noqa: ARG001
        path.write_text("def total(p, q): return p - q\n")

    done = validate(task, workers, progress=rewrite)
    assert (done.tally.inputs, done.verdict) == (3000, "exact")
    now = Function.named("changing_oracle:total", str(tmp_path), ("sum",))  # as long as the former, in the same second
    assert validate(task_of(ALGORITHM, "templates", oracle=now)).verdict == "not exact"
    validate(task_of(ALGORITHM, "templates", oracle=oracle), file=tmp_path / "kept")
    with pytest.raises(InputError, match="holds work on another"):
        validate(task_of(ALGORITHM, "templates", oracle=now), file=tmp_path / "kept")
    path.unlink()
    elsewhere = replace(oracle, folder=str(tmp_path / "not here"))
    assert elsewhere({"p": 3, "q": 1}) == {"sum": 4}


@pytest.mark.parametrize("layout", ["package", "module of a package"])
def test_an_oracle_in_a_package(layout: str, tmp_path: Path) -> None:
    (tmp_path / "box_g").mkdir()
    (tmp_path / "helper_g.py").write_text("def add(p, q): return p + q\n")
    (tmp_path / "box_g" / "__init__.py").write_text("from helper_g import add as total\n")
    (tmp_path / "box_g" / "deep.py").write_text("from box_g import total\n")
    name = "box_g" if layout == "package" else "box_g.deep"
    task = task_of(ALGORITHM, oracle=Function.named(f"{name}:total", str(tmp_path), ("sum",)))
    assert validate(task).exact
    assert validate(task, Workers("processes", 2)).exact
    with pytest.raises(InputError, match="put it in a file"):  # its text is not known
        validate(task, file=tmp_path / "kept")
