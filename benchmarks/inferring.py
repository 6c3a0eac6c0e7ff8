"""Programs for every size from executions: states needed, wrong data, time; --write puts the tables and the picture
into docs/explanation/inference.md."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.page import machine, replace_part
from bitwright import infer
from bitwright.files.executions import Executions
from bitwright.inference.families.atoms import Evidences
from bitwright.inference.families.blocks import fit_arrays, fit_blocks
from bitwright.inference.families.cover import cheapest_cover
from bitwright.inference.families.lines import LineBounds
from bitwright.inference.families.terms import Terms
from bitwright.program import Algorithm, Program, load
from bitwright.running.successors import executions_of_inputs, random_executions
from paper.style import COLOURS, MARKERS, plot_style

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "explanation" / "inference.md"
PICTURE = ROOT / "docs" / "pictures" / "families.svg"
SIZES = (5, 6, 7)
_TRIED = (10, 15, 20, 30, 50, 75, 100, 150, 200, 300)
_PROGRAMS = ("permutation", "addition", "subtraction", "comparison", "gray", "rule110")
Given = dict[int, Executions]


def opened(name: str, size: int) -> Algorithm:
    """An example at a size."""
    return load(ROOT / "examples" / f"{name}.bw", lets={"w" if name == "rule110" else "l": size})


def states(name: str, count: int, seed: int) -> Given:
    """Random states at each size."""
    return {size: random_executions(opened(name, size).program, count, seed=1000 * seed + size) for size in SIZES}


def states_needed(trials: int) -> Iterator[list[str]]:
    """Random states a size until the verdict is DETERMINED; each such program is compared with the original."""
    for name in _PROGRAMS:
        needed = []
        for seed in range(trials):
            for count in _TRIED:
                found = infer(states(name, count, seed))
                if found.determined:
                    for size in (3, 8, 33):
                        assert found.algorithm(size).program == opened(name, size).program, (name, count, seed)
                    needed.append(count)
                    break
            else:
                needed.append(10**9)
        yield [name, f"{median(needed):,.0f}", f"{max(needed):,}"]


def flipped(given: Given, rng: np.random.Generator) -> Given:
    """One bit of one state after a step is wrong."""
    after = given[6].after.copy()
    after[rng.integers(len(after)), rng.integers(after.shape[1])] ^= True
    return {**given, 6: replace(given[6], after=after)}


def rows_missing(given: Given, rng: np.random.Generator) -> Given:
    """Half of the rows are left out."""
    kept = {size: rng.random(len(one)) < 0.5 for size, one in given.items()}
    return {
        size: replace(one, before=one.before[kept[size]], after=one.after[kept[size]]) for size, one in given.items()
    }


def doubled(given: Given, rng: np.random.Generator) -> Given:  # noqa: ARG001
    """Every file is given twice."""
    twice = {size: (np.tile(one.before, (2, 1)), np.tile(one.after, (2, 1))) for size, one in given.items()}
    return {size: replace(one, before=twice[size][0], after=twice[size][1]) for size, one in given.items()}


def other_program(given: Given, rng: np.random.Generator) -> Given:
    """One size is of a program that keeps c, too."""
    after = given[6].after | np.where(np.char.startswith(given[6].names, "c["), given[6].before, False)
    del rng
    return {**given, 6: replace(given[6], after=after)}


def wrong_data(trials: int) -> Iterator[list[str]]:
    """Verdicts on addition from wrong data; one that is inferred and is another program is an absorbed error."""
    ways: list[Callable[[Given, np.random.Generator], Given]] = [flipped, rows_missing, doubled, other_program]
    said = ["one flipped bit", "half of the rows missing", "every file twice", "one size of another program"]
    for what, way in zip(said, ways, strict=True):
        for count in (10, 50):
            verdicts: Counter[str] = Counter()
            for seed in range(trials):
                found = infer(way(states("addition", count, seed), np.random.default_rng(seed)))
                right = found.inferred and found.algorithm(9).program == opened("addition", 9).program
                verdicts[found.verdict] += 1
                verdicts["other"] += found.inferred and not right
            order = ("DETERMINED", "SHORTEST", "CONTRADICTION", "NO FAMILY", "other")
            yield [what, f"{count}", *(f"{verdicts[verdict]}" for verdict in order)]


def times(most: int) -> Iterator[list[str]]:
    """CPU seconds of `infer`."""
    for power in range(2, most + 1):
        yield ["addition", f"10^{power} random states", *_timed(states("addition", 10**power, 0))]
    yield ["multiplication", "2,000 random states", *_timed(states("multiplication", 2000, 0))]
    for name in ("addition", "multiplication"):
        yield [name, "16 runs", *_timed({size: executions_of_inputs(opened(name, size), 16) for size in SIZES})]


def _timed(given: Given) -> list[str]:
    begin = time.process_time()
    verdict = infer(given).verdict
    return [verdict, f"{time.process_time() - begin:.1f} s"]


def programs_left(program: Program, size: int, counts: list[int], seed: int) -> list[int]:
    """log2 of the number of programs that fit, at least: sound atoms beyond those of the shortest one."""
    layout, bounds = program.layout, LineBounds(1, 1)
    arrays = fit_arrays({size: layout, size + 1: opened("addition", size + 1).program.layout})
    blocks = [program.block_members(block).tolist() for block in range(program.blocks)]
    families = fit_blocks(arrays, {size: layout}, {size: blocks}, bounds)
    every = random_executions(program, max(counts), seed)
    left = []
    for count in counts:
        some = Executions(every.before[:count], every.after[:count], every.names)
        evidence = Evidences(arrays, families, bounds, {size: some}, {size: layout})
        terms = Terms(evidence)
        shortest = {atom for term in cheapest_cover(evidence).terms for atom in terms.atoms(term) or ()}
        left.append(evidence.sound_atoms() - len(shortest))
    return left


def picture(path: Path, trials: int) -> str:
    """Draws how many programs fit addition, against the states that were seen; says where the curves end."""
    counts = [1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300]
    ends = []
    with plot_style() as pyplot:
        figure, axes = pyplot.subplots(figsize=(6.4, 3.8))
        for number, size in enumerate((3, 4, 5)):
            program = opened("addition", size).program
            drawn = np.array([programs_left(program, size, counts, seed) for seed in range(trials)])
            axes.plot(
                counts, np.median(drawn, axis=0), MARKERS[number] + "-", color=COLOURS[number], label=f"$l={size}$"
            )
            ends.append(f"{int(drawn[:, -1].max())} at $l = {size}$")
        axes.set_xscale("log")
        axes.set_yscale("symlog", linthresh=1)
        axes.set_ylim(bottom=-0.1)
        axes.set_xlabel("random states seen, all of one size")
        axes.set_ylabel("$\\log_2$ of the programs left, at least")
        axes.legend()
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    return ", ".join(ends)


def table(header: list[str], rows: Iterator[list[str]]) -> str:
    lines = [header, ["---"] * len(header)]
    for row in rows:
        print("  ".join(row), flush=True)
        lines.append(row)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the tables and the picture of the page")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--most", type=int, default=6, help="10^this many states a size at most")
    asked = parser.parse_args()
    parts = {
        "needed": table(["program", "median", "most"], states_needed(asked.trials)),
        "wrong": table(
            ["addition", "states a size", "DETERMINED", "SHORTEST", "CONTRADICTION", "NO FAMILY", "another program"],
            wrong_data(5 * asked.trials),
        ),
        "times": f"{machine()}.\n\n" + table(["program", "at each size", "verdict", "CPU time"], times(asked.most)),
    }
    if asked.write:
        for name, text in parts.items():
            replace_part(name, text, PAGE)
        print("programs left after 300 states, as a power of 2:", picture(PICTURE, asked.trials))


if __name__ == "__main__":
    main()
