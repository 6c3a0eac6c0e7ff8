"""An ensemble on a cluster: trains members into a file, and says after each how many there are.

`python driver.py ADDRESS FILE MEMBERS WIDTH`; the address is `1` for this process alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bitwright import permutation
from bitwright.networks import Recipe
from bitwright.networks.ensemble import Study, grow
from bitwright.running.sampling import random_states
from bitwright.workers import Workers


def study(width: int) -> Study:
    algorithm = permutation([3, 1, 2, 5, 4])
    return Study(algorithm.program, Recipe(width, start="random"), random_states(algorithm, 20, 0), keep=True)


def main() -> None:
    where, file, members, width = sys.argv[1:]

    def say(done: int, most: int) -> None:
        print(done, most, flush=True)

    grow(study(int(width)), int(members), file=Path(file), workers=Workers.parse(where), progress=say)


if __name__ == "__main__":
    main()
