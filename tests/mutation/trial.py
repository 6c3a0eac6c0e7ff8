"""Tries mutants: in a copy of the project, against the tests that reach them, then against all tests of their room."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from mutation.mutants import Mutant, mutants

ROOT = Path(__file__).parents[2]
_COPIED = (
    *("src", "tests", "examples", "docs", "benchmarks", "pyproject.toml", "README.md", "CHANGELOG.md"),
    *("Makefile", "CONTRIBUTING.md", "LICENSE", "CITATION.cff", "constraints.txt"),
)
_ON_GPUS = ("networks/fused.py",)  # whose tests need one
_MULTIPLE, _LEAST = 10, 120  # of the seconds of processor time that sound code takes; and at least so many


@dataclass(frozen=True)
class Result:
    """What became of a mutant: killed (by which test), survived, or stopped because it went on and on."""

    id: str
    file: str
    line: int
    function: str
    change: str
    outcome: str
    by: str


@dataclass(frozen=True)
class Reach:
    """What the tests of a room call, test by test, and the processor time that they take together."""

    seconds: float
    tests: dict[str, dict[str, Any]]


def digest() -> str:
    """Of the sources and tests: results hold for these only."""
    found = sha256()
    for path in sorted((*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py"))):
        found.update(path.read_bytes())
    return found.hexdigest()


def all_mutants(room: str) -> list[Mutant]:
    """Those of a room, in the order of its files."""
    found = []
    for path in sorted((ROOT / "src" / "bitwright" / room).rglob("*.py")):
        if not path.as_posix().endswith(_ON_GPUS):
            found += mutants(str(path.relative_to(ROOT / "src")), path.read_text())
    return found


class Trial:
    """A copy of the project in which one mutant after the other is made and unmade."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.copy = scratch / "copy"
        shutil.rmtree(self.copy, ignore_errors=True)
        self.copy.mkdir(parents=True)
        for name in _COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, self.copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            elif (ROOT / name).exists():
                shutil.copy(ROOT / name, self.copy / name)
        self.reach: dict[str, Reach] = {}

    def prepare(self, room: str) -> None:
        """Runs the tests of a room on the sound code, to see which of them reach what; kept for the next time."""
        kept, fresh = self.scratch / f"reach-{room}-{digest()[:16]}.json", self.scratch / "reach.json"
        if not kept.exists():
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            done = self.pytest([f"tests/{room}"], None, {"MUTATION_REACH": str(fresh)}, "-p", "tests.mutation.reach")
            if done.returncode:
                raise SystemExit(f"the tests of {room} fail without any mutant:\n{done.stdout[-3000:]}")
            seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            kept.write_text(json.dumps({"seconds": seconds, "tests": json.loads(fresh.read_text())}))
        self.reach[room] = Reach(**json.loads(kept.read_text()))

    def attempt(self, mutant: Mutant) -> Result:
        room = Path(mutant.file).parts[1]
        target = self.copy / "src" / mutant.file
        sound = (ROOT / "src" / mutant.file).read_text()
        target.write_text(mutant.apply(sound))
        loops = self.scratch / "loops" / (mutant.id if "jit" in sound else "sound")  # compiled loops of other sources
        try:
            outcome, by = "survived", ""
            for tests in (self.reaching(room, mutant), [f"tests/{room}"]):
                outcome, by = self.verdict(tests, self.bound(room), loops) if tests else ("survived", "")
                if outcome != "survived":
                    break
        finally:
            target.write_text(sound)
            if loops.name != "sound":
                shutil.rmtree(loops, ignore_errors=True)
        return Result(mutant.id, mutant.file, mutant.line, mutant.function, mutant.change, outcome, by)

    def reaching(self, room: str, mutant: Mutant) -> list[str]:
        """The tests that call the function of a mutant, those that call least first."""
        called = f"{mutant.file.removeprefix('bitwright/')} {mutant.function}"
        found = {test: about for test, about in self.reach[room].tests.items() if called in about["calls"]}
        return sorted(found, key=lambda test: found[test]["count"])

    def bound(self, room: str) -> int:
        """Seconds of processor time: a multiple of what the sound code takes, however busy the machine is."""
        return max(_LEAST, int(_MULTIPLE * self.reach[room].seconds))

    def verdict(self, tests: list[str], seconds: int, loops: Path) -> tuple[str, str]:
        done = self.pytest(tests, seconds, {"NUMBA_CACHE_DIR": str(loops)}, "-x")
        if done.returncode == 0:
            return "survived", ""
        if done.returncode < 0:
            return "stopped", f"signal {-done.returncode}"
        failed = [line.split(" - ")[0] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return "killed", failed[0].split(" ", 1)[1] if failed else f"exit code {done.returncode}"

    def pytest(
        self, tests: list[str], seconds: int | None, more: dict[str, str], *options: str
    ) -> subprocess.CompletedProcess[str]:
        def prepare() -> None:
            os.nice(10)
            if seconds is not None:
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 30))

        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(self.copy / "src"), str(self.copy)]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "MUTATION_SOURCES": str(self.copy / "src" / "bitwright"),
            **more,
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *tests]
        return subprocess.run(
            command, cwd=self.copy, env=environment, capture_output=True, text=True, check=False, preexec_fn=prepare
        )


def load_results(path: Path) -> list[Result]:
    """What earlier runs have found; none if there is no file yet."""
    if not path.exists():
        return []
    lines = path.read_text().splitlines()
    if json.loads(lines[0])["sources"] != digest():
        raise SystemExit(f"{path} is of other sources or tests; choose another file")
    return [Result(**json.loads(line)) for line in lines[1:]]


def add_result(path: Path, result: Result) -> None:
    begin = "" if path.exists() else json.dumps({"sources": digest()}) + "\n"
    with path.open("a") as file:
        file.write(begin + json.dumps(asdict(result)) + "\n")
