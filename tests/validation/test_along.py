"""What is told on the way through a batch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from cases import for_each
from tasks import task_of

from bitwright import addition
from bitwright.validation import Arithmetic, validate


class Slow:
    """An oracle that is asked about every input by itself."""

    name, arrays = "slow", False

    def __call__(self, values: Mapping[str, int]) -> Mapping[str, int]:
        return {"sum": values["p"] + values["q"]}


@for_each("engine", ["templates", "limit", "kernel", "sampled", "network"])
@for_each("oracle", [Arithmetic("addition"), Slow(), None])
def test_every_engine_and_oracle_tells_within_a_batch(engine: str, oracle: object) -> None:
    told: list[tuple[int, int]] = []
    ensemble = {"networks": 2} if engine in ("sampled", "network") else {}
    task = task_of(addition(4), engine, oracle, random=500, **ensemble)  # type: ignore[arg-type]
    assert task.batches == 1
    done = validate(task, along=lambda now, total: told.append((now, total)))
    assert done.tally.inputs == 500
    assert {total for _, total in told} == {500}
    counts = [now for now, _ in told]
    assert counts == sorted(counts)
    if not (task.sliced and isinstance(oracle, Arithmetic)):  # 500 inputs are one part of the compiled loops
        assert len({now for now in counts if 0 < now < 500}) > (oracle is not None)


def test_it_is_told_from_where_a_validation_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    task = task_of(addition(4), "kernel", oracle=Arithmetic("addition"), random=3000, evaluate=True)

    class StopError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise StopError(f"{done} of {total}")

    with pytest.raises(StopError):
        validate(task, progress=stop, resume=path)
    told: list[int] = []
    validate(task, resume=path, along=lambda now, total: told.append(now))  # noqa: ARG005
    assert told[0] == 1024
    assert told == sorted(told)
    assert max(told) == 3000
