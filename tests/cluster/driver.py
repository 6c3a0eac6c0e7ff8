"""Networks trained on a cluster: all into one file; says after each how many there are.

`python driver.py ADDRESS FILE MEMBERS WIDTH [halting]`; the address is `1` for this process alone. With `halting`, all
jobs but the first two halt their process until somebody continues it, so that no test has to catch a worker at a job.
"""

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from bitwright import permutation
from bitwright.common.workers import Workers
from bitwright.rules import Program
from paper.training import Recipe, train

PROGRAM = permutation([3, 1, 2, 5, 4]).program
Common = tuple[Program, Recipe, bool]


def collect(file: Path, members: int, width: int, where: str = "1", halting: bool = False) -> None:
    """Trains members into a file."""

    def train_member(common: Common, member: int) -> bytes:
        program, recipe, halts = common
        if halts and member >= 2:
            os.kill(os.getpid(), signal.SIGSTOP)
        return train(program, replace(recipe, member=member))[0].last.tobytes()

    common = PROGRAM, Recipe(width, start="random"), halting
    with file.open("wb") as kept:
        for done, network in enumerate(Workers.parse(where).map(train_member, common, range(members)), 1):
            kept.write(network)
            print(done, members, flush=True)


if __name__ == "__main__":
    where, file, members, width, *halting = sys.argv[1:]
    collect(Path(file), int(members), int(width), where, bool(halting))
