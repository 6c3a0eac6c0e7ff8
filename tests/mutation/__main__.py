"""How many small mistakes the tests notice: `python -m tests.mutation --rooms theory,engines --sample 200 --seed 0`.

Each mutant of the sample is tried against the tests of its room. Every result is added to a file at once, so the same
command goes on where it was stopped; at the end it prints the score and what survived.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from mutation.mutants import Mutant
from mutation.trial import Result, Trial, add_result, all_mutants, load_results


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument(
        "--rooms", default="encoding,theory,networks,engines,running,checking", help="folders of src/bitwright"
    )
    parser.add_argument("--sample", type=int, default=200, help="mutants to try, drawn from all")
    parser.add_argument("--seed", type=int, default=0, help="which")
    parser.add_argument("--results", type=Path, default=Path("mutation.jsonl"), help="the file that grows")
    parser.add_argument("--scratch", type=Path, default=Path("/tmp/bitwright-mutation"), help="a folder to work in")
    parser.add_argument("--most", type=int, help="stop after so many mutants, to go on another time")
    given = parser.parse_args()
    rooms = given.rooms.split(",")
    every = [mutant for room in rooms for mutant in all_mutants(room)]
    sample = random.Random(given.seed).sample(every, min(given.sample, len(every)))
    known = {result.id: result for result in load_results(given.results)}
    missing = [mutant for mutant in sample if mutant.id not in known][: given.most]
    print(f"{len(every):,} mutants of {', '.join(rooms)}; {len(sample)} in the sample, {len(missing)} to try now")
    if missing:
        known |= {result.id: result for result in attempt(missing, given.scratch, given.results)}
    report([known[mutant.id] for mutant in sample if mutant.id in known], rooms)
    return 0


def attempt(missing: list[Mutant], scratch: Path, results: Path) -> list[Result]:
    trial = Trial(scratch)
    for room in sorted({Path(mutant.file).parts[1] for mutant in missing}):
        trial.prepare(room)
    found = []
    for number, mutant in enumerate(missing, 1):
        result = trial.attempt(mutant)
        add_result(results, result)
        found.append(result)
        print(f"{number}/{len(missing)} {result.outcome:8} {result.file}:{result.line}  {result.change}", flush=True)
    return found


def report(results: list[Result], rooms: list[str]) -> None:
    """A table of the rooms, and the survivors, as they stand in docs/explanation/reliability.md."""
    print("\n| room | mutants | noticed | survived |\n|---|---|---|---|")
    for room in (*rooms, "all"):
        of = [result for result in results if room in ("all", Path(result.file).parts[1])]
        survived = sum(result.outcome == "survived" for result in of)
        print(f"| {room} | {len(of)} | {len(of) - survived} | {survived} |")
    for result in results:
        if result.outcome == "survived":
            print(f"- `{result.file}:{result.line}` {result.function}: `{result.change}`")


if __name__ == "__main__":
    sys.exit(main())
