"""Attacks readers, each in a process of its own: its memory is bounded and its calls are counted; no clock decides.

A breach is anything but a result or one line of refusal: another exception, a message of several lines, more memory or
more work than a small input can be worth, or the end of the process.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

from fuzz.reader import Reader

from bitwright.common.errors import BitwrightError

MEMORY = 512 << 20  # bytes that one input may take, beyond what the process begins with
WORK = (
    50_000_000  # calls of functions for one input; the largest image that an assembler may make takes some 30 million
)
_MOST_BREACHES = 5  # of which a report tells the input; all are counted


class TooMuchWorkError(BaseException):
    """More calls than an input may cause; not an Exception, so that no reader takes it for one of its own."""


@dataclass
class Report:
    """What became of the cases of one reader."""

    reader: str
    cases: int = 0
    accepted: int = 0
    refused: int = 0
    most_work: int = 0
    digest: str = ""  # of all inputs
    breached: int = 0
    breaches: list[dict[str, Any]] = field(default_factory=list)

    def add(self, other: Report) -> None:
        self.cases, self.accepted = self.cases + other.cases, self.accepted + other.accepted
        self.refused, self.breached = self.refused + other.refused, self.breached + other.breached
        self.most_work, self.digest = max(self.most_work, other.most_work), self.digest + other.digest
        self.breaches = (self.breaches + other.breaches)[:_MOST_BREACHES]


def attack(reader: Reader, seed: int, numbers: range) -> Report:
    """Tries these cases in a child process; one that does not come back is a breach of its last case."""
    return begin(reader, seed, numbers)()


def begin(reader: Reader, seed: int, numbers: range) -> Callable[[], Report]:
    """The same, begun: what it returns waits for the end."""
    receive, send = os.pipe()
    child = os.fork()
    if not child:
        os.close(receive)
        _in_child(reader, seed, numbers, send)
    os.close(send)

    def finish() -> Report:
        with os.fdopen(receive) as lines:
            said = [json.loads(line) for line in lines]
        _, status = os.waitpid(child, 0)
        report = Report(**said.pop()) if said and isinstance(said[-1], dict) else Report(reader.name)
        if status or not report.cases:
            number = said[-1] if said else numbers.start
            report.breached += 1
            given = repr(reader.case(seed, number))[:2000]
            report.breaches.append({"number": number, "error": f"the process ended, status {status}", "input": given})
        return report

    return finish


def _in_child(reader: Reader, seed: int, numbers: range, send: int) -> None:
    """Never returns. Sends the number of every hundredth case, and at the end the report."""
    try:
        _bound_memory()
        warnings.simplefilter("ignore")
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        report = Report(reader.name)
        for number in numbers:
            if number % 100 == 0:
                os.write(send, f"{number}\n".encode())
            _try(reader, seed, number, report)
        os.write(send, (json.dumps(asdict(report)) + "\n").encode())
        code = 0
    except BaseException:
        traceback.print_exc()
        code = 1
    os._exit(code)


def _try(reader: Reader, seed: int, number: int, report: Report) -> None:
    given = reader.case(seed, number)
    report.cases += 1
    report.digest = sha256(f"{report.digest} {given!r}".encode("utf-8", "surrogatepass")).hexdigest()
    counter = Counter()
    before = _memory()
    try:
        counter.count(lambda: reader.read(given))
        report.accepted += 1
    except BitwrightError as error:
        lines = [str(error), *(problem.message for problem in getattr(error, "problems", ()))]
        bad = next((line for line in lines if not line or not line.isprintable()), None)
        if bad is None:
            report.refused += 1
        else:
            _breach(report, number, given, f"a refusal that is not one printable line: {bad!r}"[:500])
    except BaseException as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(frame.filename)}:{frame.lineno}"
        _breach(report, number, given, f"{type(error).__name__} at {where}: {error}"[:500])
    report.most_work = max(report.most_work, counter.calls)
    if (taken := _memory() - before) > MEMORY:
        _breach(report, number, given, f"{taken >> 20:,} MiB of memory")


def _breach(report: Report, number: int, given: object, error: str) -> None:
    report.breached += 1
    if len(report.breaches) < _MOST_BREACHES:
        report.breaches.append({"number": number, "error": error, "input": repr(given)[:2000]})


class Counter:
    """Counts the calls that something makes, and stops it where there are too many."""

    def __init__(self) -> None:
        self.calls = 0

    def count(self, work: Callable[[], object]) -> None:
        sys.setprofile(self._see)
        try:
            work()
        finally:
            sys.setprofile(None)

    def _see(self, frame: object, event: str, argument: object) -> None:  # noqa: ARG002
        self.calls += 1
        if self.calls > WORK:
            sys.setprofile(None)
            raise TooMuchWorkError(f"more than {WORK:,} calls")


def _memory() -> int:
    """The most that the process has had so far, in bytes; so the first case to take more is seen."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _bound_memory() -> None:
    """A fence far outside of what is allowed: who runs into it gets a MemoryError, and does not harm the machine."""
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + 4 * MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
