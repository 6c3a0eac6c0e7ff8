"""Progress on stderr: on a terminal one line, elsewhere a line about every ten seconds, and the time that is left."""

from contextlib import nullcontext
from typing import Any

import pytest
from calling import Captured
from cases import for_each
from waiting import wait_until

from bitwright import parse, run
from bitwright.cli import progress as progress_module
from bitwright.cli.progress import StepProgress, TerminalTeller


class Listener(TerminalTeller):
    """Keeps the totals that work reports."""

    totals: set[int]

    def working(self, what: str, *, at_most: bool = False) -> Any:  # noqa: ARG002
        self.totals = set()
        return nullcontext(lambda done, total: self.totals.add(total))  # noqa: ARG005


def test_a_limit_that_nobody_gave_is_no_estimate() -> None:
    """A million steps, at which a run without a limit of its own is cut off, gave hours for what takes seconds."""
    rules = "bits x h\nblock x h\nwhen x=1 h=0 write h\ninput x\nhalt when h\n"
    for lines, steps, total in (("", None, 0), ("steps 7\n", None, 7), ("", 9, 9)):
        tell = Listener()
        run(parse(rules + lines), x=1, steps=steps, progress=tell)
        assert tell.totals == {total}


# Work, as (seconds later, done, total), and the last line about it.
LINES: dict[str, tuple[list[tuple[int, int, int]], str]] = {
    "inputs": (
        [(0, 0, 4_000), (120, 3_000, 4_000)],
        "inputs: 3,000 of 4,000 (75 %), 2 min 0 s so far, about 40 s left",
    ),
    "hours": (
        [(0, 0, 4_000), (3600, 3_001, 4_000)],
        "hours: 3,001 of 4,000 (75 %), 1 h 0 min so far, about 19 min 58 s left",
    ),
    "resumed": (
        [(0, 9_000, 10_000), (10, 9_100, 10_000)],
        "resumed: 9,100 of 10,000 (91 %), 10 s so far, about 1 min 30 s left",
    ),
    "a limit": ([(0, 0, 100), (20, 50, 100)], "a limit: 50 of 100 (50 %), 20 s so far, at most 20 s left"),
    "no total": ([(12, 1_234, 0)], "no total: 1,234, 12 s so far"),
    "silence": ([(11, 0, 0)], "silence: 11 s so far"),
    "percent of the count": ([(0, 5, 100)], "count: 5 %, 0 s so far"),
}


@for_each("what", LINES)
def test_a_line_about_work(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: now)
    progress = StepProgress(True, what, at_most=what == "a limit")
    for later, done, total in LINES[what][0]:
        now += later
        progress(done, total)
    assert progress.line(now) == LINES[what][1]


@pytest.mark.parametrize("terminal", [True, False])
def test_lines_are_shown_while_work_lasts(terminal: bool, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "_SOON", 0.01)
    monkeypatch.setattr(progress_module, "_OFTEN", 0.01)
    monkeypatch.setattr(progress_module, "SELDOM", 0.01)
    monkeypatch.setattr(progress_module.sys.stderr, "isatty", lambda: terminal, raising=False)
    shown = ""

    def look() -> bool:
        nonlocal shown
        shown += capsys.readouterr().err
        return "20 of 100 (20 %)" in shown

    with StepProgress(True, "inputs") as progress:
        progress(20, 100)
        wait_until(look, "a line of progress")
    shown += capsys.readouterr().err
    assert ("\r" in shown) == terminal
    with StepProgress(False, "inputs") as progress:
        progress(20, 100)
    assert capsys.readouterr().err == ""
