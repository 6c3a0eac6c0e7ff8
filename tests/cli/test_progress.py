"""Signs of life: on a terminal one line, elsewhere a line about every ten seconds, and the time that is left."""

import re
from contextlib import nullcontext
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from calling import Captured
from cases import for_each
from waiting import PATIENCE

from bitwright import parse, run
from bitwright.cli import progress as progress_module
from bitwright.cli.main import main
from bitwright.cli.progress import StepProgress, TerminalTeller


@pytest.fixture(autouse=True)
def lines_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "SELDOM", 10.0)


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def lines(capsys: Captured) -> list[str]:
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()


class Listener(TerminalTeller):
    """Keeps how much there is, as work says it."""

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


def test_a_line_every_ten_seconds(capsys: Captured) -> None:
    clock = Clock()
    progress = StepProgress(True, "inputs", clock=clock, terminal=False)
    said = []
    for second in range(61):
        clock.now = 1000.0 + second
        progress(second * 100, 24_000)
        said.append(len(lines(capsys)))
    assert [second for second, count in enumerate(said) if count] == [10, 20, 30, 40, 50, 60]


# What is told, as (seconds later, done, of), and the lines that are said of it.
SAID: dict[str, tuple[list[tuple[int, int, int]], list[str]]] = {
    "inputs": (
        [(0, 0, 4_000), (10, 1_000, 4_000), (110, 3_000, 4_000), (3480, 3_001, 4_000)],
        [
            "inputs: 1,000 of 4,000 (25 %), 10 s so far, about 30 s left",
            "inputs: 3,000 of 4,000 (75 %), 2 min 0 s so far, about 40 s left",
            "inputs: 3,001 of 4,000 (75 %), 1 h 0 min so far, about 19 min 58 s left",
        ],
    ),
    "what an earlier run has done took no time now": (
        [(0, 9_000, 10_000), (10, 9_100, 10_000)],
        ["what an earlier run has done took no time now: 9,100 of 10,000 (91 %), 10 s so far, about 1 min 30 s left"],
    ),
    "a limit": ([(0, 0, 100), (20, 50, 100)], ["a limit: 50 of 100 (50 %), 20 s so far, at most 20 s left"]),
    "nobody knows how many": ([(12, 1_234, 0)], ["nobody knows how many: 1,234, 12 s so far"]),
}


@for_each("what", SAID)
def test_what_a_line_says(what: str, capsys: Captured) -> None:
    clock = Clock()
    progress = StepProgress(True, what, clock=clock, terminal=False, at_most=what == "a limit")
    for later, done, of in SAID[what][0]:
        clock.now += later
        progress(done, of)
    assert lines(capsys) == SAID[what][1]


def test_time_itself_is_a_reason_to_look(capsys: Captured) -> None:
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


def test_nothing_is_said_to_those_who_want_quiet(capsys: Captured) -> None:
    clock = Clock()
    with StepProgress(False, clock=clock, terminal=False) as progress:
        for _ in range(5):
            clock.now += 100
            progress(1, 2)
    assert lines(capsys) == []


def test_one_line_on_a_terminal(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert shown.split("\r")[1:] == [  # elsewhere than on a terminal the code that clears a line is left out
        "inputs: 20 of 100 (20 %), 1 s so far, about 4 s left",
        "inputs: 40 of 100 (40 %), 2 s so far, about 3 s left",
        "",
    ]


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock on which eleven seconds pass between any two looks."""
    now = [0.0]

    def look() -> float:
        now[0] += 11
        return now[0]

    monkeypatch.setattr(progress_module, "_now", look)


NETWORK = ("--engine", "network", "--width", "128", "--seed", "5")
LONG = [
    (("run", "examples/subtraction.bw", "a=9", "b=4"), r"^steps: .* so far$"),
    (("validate", "addition", "--bits", "3", "--engine", "templates"), r"^inputs: .* left$"),
    (("validate", "addition", "--bits", "3", "--engine", "kernel"), r"^inputs: .* left$"),
    (("validate", "addition", "--bits", "3", "--engine", "sampled", "--networks", "900"), r"^inputs: .* left$"),
    (("validate", "addition", "--bits", "3", *NETWORK), r"^inputs: .* left$"),
    (("validate", "addition", "--bits", "3", *NETWORK), r"^training: .* left$"),
    (("certify", "addition", "--bits", "3", "--rounding", "sign", "--n", "reachable"), r"^checking: "),
    (("certify", "permutation", "--bits", "3000"), r"^checking: .* left$"),
    (
        ("train", "--tile", "all", "addition", "--bits", "2", "--width", "128", "-o", "net.safetensors"),
        r"^training: .* left$",
    ),
    (("train", "addition", "-o", "cells.safetensors"), r"^training: .* left$"),
    (("size", "addition", "--bits", "2", "--of", "network"), r"^draws: .* left$"),
    (("run", "examples/subleq/sieve.sq", "--max-steps", "4000"), r"^instructions: .* of 4,000 "),
]


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(("command", "expected"), LONG, ids=lambda one: " ".join(one[:4]) if one[0] != "^" else "")
def test_long_work_says_how_far_it_is(
    command: tuple[str, ...], expected: str, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BITWRIGHT_CACHE", str(tmp_path / "cache"))
    root = Path(__file__).parent.parent.parent
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(root / "examples")
    assert main(list(command)) in (0, 1)
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if re.search(expected, line)], said


def test_percent_are_said_once() -> None:
    step = StepProgress(True, "percent of the count", clock=Clock(), terminal=False)
    step(5, 100)
    line = step._line(1000.0)
    assert line.startswith("count: 5 %, ")
    assert (line.count("5"), "100" in line) == (1, False)
