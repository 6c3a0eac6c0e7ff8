"""An ensemble on a cluster: trains members into a file, and says after each how many there are.

`python driver.py ADDRESS FILE MEMBERS WIDTH [halting]`; the address is `1` for this process alone. With `halting`, all
jobs but the first two halt their process until somebody continues it, so that no test has to catch a worker at a job.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from bitwright import permutation
from bitwright.networks import Recipe, ensemble
from bitwright.networks.ensemble import EnsemblePart, Study, grow, train_block
from bitwright.running.successors import random_states
from bitwright.workers import Workers


def study(width: int) -> Study:
    algorithm = permutation([3, 1, 2, 5, 4])
    return Study(algorithm.program, Recipe(width, start="random"), random_states(algorithm, 20, 0), keep=True)


def main() -> None:
    where, file, members, width, *halting = sys.argv[1:]

    def halt_and_train(study: Study, block: int) -> EnsemblePart:
        if block >= 2:
            os.kill(os.getpid(), signal.SIGSTOP)
        return train_block(study, block)

    if halting:
        ensemble.train_block = halt_and_train

    def say(done: int, most: int) -> None:
        print(done, most, flush=True)

    grow(study(int(width)), int(members), file=Path(file), workers=Workers.parse(where), progress=say)


if __name__ == "__main__":
    main()
