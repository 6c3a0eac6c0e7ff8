"""Tries random programs: `python -m tests.random_programs --minutes 5 --seed 1`; stops at the first that is wrong."""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from random_programs.checks import check_program
from random_programs.every_size import check_text
from random_programs.lines import check_line


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.random_programs", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="which programs; the same seed gives the same ones")
    parser.add_argument("--minutes", type=float, default=1, help="go on for so long")
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--sizes", action="store_true", help="texts and lines of open sizes: proofs at every size")
    given = parser.parse_args()
    until, number, counts = time.monotonic() + 60 * given.minutes, given.first, Counter[str]()
    while time.monotonic() < until:
        try:
            if given.sizes:
                check_text(1_000_000 * given.seed + number, counts, sceptic=True)
                check_line(1_000_000 * given.seed + number, counts)
                number += 1
                continue
            rng = np.random.default_rng([given.seed, number])
            check_program(rng, counts, train=number % 5 == 0, sceptic=number % 5 == 1)
        except Exception:
            print(f"program {number} of seed {given.seed}:")
            raise
        number += 1
    for what, count in sorted(counts.items()):
        print(f"{count:>12,}  {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
