"""Collected tables are continued, never begun again, and complete after every interruption."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path

import pytest

from bitwright import InputError
from bitwright.common.workers import Workers
from paper import Setting, load_table
from paper.beyond_measure import MARGINS, Single, margin_rows
from paper.figures import collect
from paper.table import Row

COLUMNS = ("name", "number", "row", "square")


@dataclass(frozen=True)
class Job:
    name: str
    number: int | None


JOBS = [Job("a", 1), Job("a", 2), Job("b", None), Job("b", 4)]
made: list[Job] = []


def work(stop_at: int | None, job: Job) -> list[Row]:
    if stop_at is not None and job.number == stop_at:
        raise InputError("stopped")
    made.append(job)
    return [(job.name, job.number, row, 0.1 * (job.number or 0) ** 2) for row in range(2)]


def rows(jobs: list[Job]) -> list[Row]:
    return [row for job in jobs for row in work(None, job)]


def test_an_interrupted_collection_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path, setting = tmp_path / "t.csv", Setting(folder=tmp_path)
    with pytest.raises(InputError, match="stopped"):
        collect(setting, path, COLUMNS, JOBS, work, 4)
    assert list(load_table(path, COLUMNS).rows) == rows(JOBS[:3])
    made.clear()
    table = collect(setting, path, COLUMNS, JOBS, work, None)
    assert made == JOBS[3:]
    assert list(table.rows) == rows(JOBS) == list(load_table(path, COLUMNS).rows)
    made.clear()
    assert collect(setting, path, COLUMNS, JOBS, work, None) == table
    assert not made


def test_rows_of_jobs_that_are_not_asked_for_are_dropped(tmp_path: Path) -> None:
    path, setting = tmp_path / "t.csv", Setting(folder=tmp_path)
    collect(setting, path, COLUMNS, JOBS, work, None)
    assert list(collect(setting, path, COLUMNS, JOBS[1:3], work, None).rows) == rows(JOBS[1:3])


def test_when_the_time_is_over_nothing_more_is_begun(tmp_path: Path) -> None:
    made.clear()
    late, path = Setting(folder=tmp_path, until=-inf), tmp_path / "t.csv"
    with pytest.raises(InputError, match=r"no row of .*t\.csv was finished.*give more --minutes"):
        collect(late, path, COLUMNS, JOBS, work, None)
    assert not path.exists()
    collect(Setting(folder=tmp_path), path, COLUMNS, JOBS[:2], work, None)
    expected = rows(JOBS[:2])
    made.clear()
    assert list(collect(late, path, COLUMNS, JOBS, work, None).rows) == expected
    assert not made
    assert len(collect(late, tmp_path / "other.csv", COLUMNS, JOBS, work, None, needed=False)) == 0


def test_processes_give_the_same_table(tmp_path: Path) -> None:
    jobs = [Single("addition", 2, 128, trial, 0, 20) for trial in range(3)]
    seen: list[tuple[int, int]] = []
    found = []
    for kind, count in (("serial", 1), ("processes", 2)):
        setting = Setting(workers=Workers(kind, count), progress=lambda done, of: seen.append((done, of)))  # type: ignore[arg-type]
        found.append(collect(setting, tmp_path / f"{kind}.csv", MARGINS, jobs, margin_rows, "cpu"))
    assert found[0] == found[1]
    assert seen == 2 * [(1, 3), (2, 3), (3, 3)]


def test_a_damaged_table_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("something else\n")
    with pytest.raises(InputError, match="move it away"):
        collect(Setting(), tmp_path / "t.csv", COLUMNS, JOBS, work, None)
    assert (tmp_path / "t.csv").read_text() == "something else\n"
