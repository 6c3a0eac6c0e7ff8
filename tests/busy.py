"""Runs tests many times with busy loops beside them: `python -m tests.busy --loops 8 --times 20 [TESTS]`.

Of TESTS (all, if none are named) it takes those marked `waits`, with --every all of them. Exit code 1 if a round
failed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(100_000))"


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """So many processes that only compute, while the block runs; they end with this process, however it ends."""
    loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def passes(tests: Sequence[str]) -> bool:
    """Whether one run of these tests is green; if not, its last lines are shown."""
    options = ["-q", "-x", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        print(done.stdout[-4000:])
    return not done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.busy", description=__doc__)
    parser.add_argument("--loops", type=int, default=8, help="busy loops beside the tests")
    parser.add_argument("--times", type=int, default=20, help="rounds")
    parser.add_argument("--every", action="store_true", help="also tests that are not marked `waits`")
    parser.add_argument("tests", nargs="*", default=["tests"], help="files, folders or tests")
    given = parser.parse_args()
    tests = [*given.tests, *([] if given.every else ["-m", "waits"])]
    green = 0
    with busy_loops(given.loops):
        for round_ in range(1, given.times + 1):
            green += passes(tests)
            print(f"round {round_}: {green} of {round_} passed, {given.loops} busy loops beside them", flush=True)
    return 0 if green == given.times else 1


if __name__ == "__main__":
    sys.exit(main())
