"""No reader can be brought to anything but a result or one line of refusal, whatever it is given to read."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from cases import for_each
from fuzz import commands, data, models, stored, texts
from fuzz.campaign import attack
from fuzz.reader import Reader
from long import LONG

from bitwright.common.errors import InputError

READERS = (*texts.READERS, *stored.READERS, *data.READERS, *models.READERS, *commands.READERS)
CASES = 300 if LONG else 12  # of each reader: a fault that one input in 4 meets is found with a probability of 97%
SEED = 0
ROOT = Path(__file__).parents[2]

Reports = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def reports() -> Reports:
    command = [sys.executable, "-m", "tests.fuzz", "--json", "--cases", str(CASES), "--seed", str(SEED)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return {report["reader"]: report for report in json.loads(done.stdout)}


def test_a_reader_gives_a_result_or_one_line(reports: Reports) -> None:
    assert list(reports) == [reader.name for reader in READERS]
    for name, report in reports.items():
        assert report["breaches"] == [], name
        assert (report["breached"], report["cases"]) == (0, CASES), name
        assert report["accepted"] + report["refused"] == CASES, name
        assert report["refused"] > 0 or name == "networks in the cache", name  # which trains anew what it cannot use
    reached = sum(report["accepted"] > 0 for report in reports.values())  # the inputs come far enough
    assert reached == len(READERS) if LONG else reached > len(READERS) // 2


def test_the_seed_decides_the_cases(reports: Reports) -> None:
    reader = next(reader for reader in READERS if reader.name == "expressions of rule text")
    assert attack(reader, SEED, range(CASES)).digest == reports[reader.name]["digest"]
    assert attack(reader, SEED + 1, range(CASES)).digest != reports[reader.name]["digest"]


def takes(memory: int) -> None:
    assert len(bytearray(memory)) == memory


def endless(number: int) -> None:
    while number >= 0:
        abs(number)


class _TwoLinesError(InputError):
    def __str__(self) -> str:
        return "two\nlines"


def two_lines(number: int) -> None:
    raise _TwoLinesError(str(number))


def refuses(number: int) -> None:
    raise InputError(f"{number} is not wanted")


@for_each(
    ("read", "said"),
    [
        (lambda number: {}[number], "KeyError at test_fuzz.py:"),
        (two_lines, "a refusal that is not one printable line"),
        (lambda _: takes(600 << 20), " MiB of memory"),
        (endless, "TooMuchWorkError"),
        (lambda _: os.kill(os.getpid(), signal.SIGSEGV), "the process ended, status 11"),
        (lambda _: os._exit(3), "the process ended, status 768"),
    ],
)
def test_a_breach_would_be_found(read: Callable[[int], object], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.campaign.WORK", 100_000)  # so that the endless reader ends soon
    report = attack(Reader("planted", lambda rng: rng.randrange(9), read), 0, range(1))
    assert report.breached == 1
    assert said in report.breaches[0]["error"]
    assert report.breaches[0]["input"] == repr(Random("0 planted 0").randrange(9))


def test_refusals_are_no_breaches() -> None:
    report = attack(Reader("planted", lambda rng: rng.randrange(9), refuses), 0, range(20))
    assert (report.cases, report.refused, report.breached) == (20, 20, 0)
