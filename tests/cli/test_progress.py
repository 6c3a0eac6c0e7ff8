"""Signs of life: on a terminal a bar, elsewhere a line about every ten seconds, and the time that is left."""

from __future__ import annotations

from threading import Event

import pytest
from waiting import PATIENCE

from bitwright.cli.progress import StepProgress

Capture = pytest.CaptureFixture[str]


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def lines(capsys: Capture) -> list[str]:
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()


def test_a_line_every_ten_seconds(capsys: Capture) -> None:
    clock = Clock()
    progress = StepProgress(True, "inputs", clock=clock, terminal=False)
    said = []
    for second in range(61):
        clock.now = 1000.0 + second
        progress(second * 100, 24_000)
        said.append(len(lines(capsys)))
    assert [second for second, count in enumerate(said) if count] == [10, 20, 30, 40, 50, 60]


def test_what_a_line_says(capsys: Capture) -> None:
    clock = Clock()
    progress = StepProgress(True, "inputs", clock=clock, terminal=False)
    progress(0, 4_000)
    clock.now += 10
    progress(1_000, 4_000)
    clock.now += 110
    progress(3_000, 4_000)
    clock.now += 3480
    progress(3_001, 4_000)
    assert lines(capsys) == [
        "inputs: 1,000 of 4,000 (25 %), 10 s so far, about 30 s left",
        "inputs: 3,000 of 4,000 (75 %), 2 min 0 s so far, about 40 s left",
        "inputs: 3,001 of 4,000 (75 %), 1 h 0 min so far, about 19 min 58 s left",
    ]


def test_the_rate_is_that_of_this_time(capsys: Capture) -> None:
    """What an earlier run has done took no time now."""
    clock = Clock()
    progress = StepProgress(True, "inputs", clock=clock, terminal=False)
    progress(9_000, 10_000)
    clock.now += 10
    progress(9_100, 10_000)
    assert lines(capsys) == ["inputs: 9,100 of 10,000 (91 %), 10 s so far, about 1 min 30 s left"]


def test_a_limit_is_no_promise(capsys: Capture) -> None:
    clock = Clock()
    progress = StepProgress(True, clock=clock, terminal=False, at_most=True)
    progress(0, 100)
    clock.now += 20
    progress(50, 100)
    assert lines(capsys) == ["steps: 50 of 100 (50 %), 20 s so far, at most 20 s left"]


def test_work_that_says_nothing_is_shown_as_well(capsys: Capture) -> None:
    clock = Clock()
    progress = StepProgress(True, "training", clock=clock, terminal=False)
    clock.now += 9
    progress.look()
    assert lines(capsys) == []
    clock.now += 4
    progress.look()
    assert lines(capsys) == ["training: 13 s so far"]


def test_time_itself_is_a_reason_to_look(capsys: Capture) -> None:
    """While a piece of work says nothing, a thread looks at the clock."""
    looked = Event()

    class Seen(Clock):
        calls = 0

        def __call__(self) -> float:
            self.calls += 1
            if self.calls > 1:  # the first is that of the beginning
                looked.set()
                return self.now + 11
            return self.now

    with StepProgress(True, "inputs", clock=Seen(), terminal=False):
        assert looked.wait(PATIENCE)
    assert lines(capsys) == ["inputs: 11 s so far"]


def test_nothing_is_said_to_those_who_want_quiet(capsys: Capture) -> None:
    clock = Clock()
    with StepProgress(False, clock=clock, terminal=False) as progress:
        for _ in range(5):
            clock.now += 100
            progress(1, 2)
    assert lines(capsys) == []


def test_a_bar_on_a_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "120")
    clock = Clock()
    with StepProgress(True, "inputs", clock=clock, terminal=True) as progress:
        progress(0, 100)
        assert lines(capsys) == []  # what is done at once shows nothing
        clock.now += 1
        progress(20, 100)
        clock.now += 1
        progress(40, 100)
    shown = capsys.readouterr().err
    assert "inputs: 40 of 100 (40 %), 2 s so far, about 3 s left" in shown
