"""How wide a network of cells must be: the smallest width at which ten of ten seeds are right in every local state.

    python -m paper.measurements.cells [--out FILE] [--picture FILE.svg] [--workers 2]
    python -m paper.measurements.cells --large --device cuda [--limit SECONDS] [--out FILE]

For tiles of addition and multiplication, for machine V, and beside them the networks of whole states. Prints one JSON
line a pattern, and with --picture draws width against local states from them. With --large only the tiles whose local
states are too many for that: one line a width, trained and proved on the device.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bitwright import Program, addition, multiplication
from bitwright.common.workers.linear_algebra import one_thread
from bitwright.machines.subleq import Shape, find_dialect, machine_v
from bitwright.networks import TrainingError
from bitwright.proofs.exhaustion.certificate import certify_network
from bitwright.rules.pattern import Pattern, pattern_of
from bitwright.verbs.cells import quantized, train_on_pattern
from paper.measurements.cells_large import LARGE, SEEDS, measure_large
from paper.training import Plan, Recipe, descend, train

WIDTHS = [32 << power for power in range(11)]


def patterns() -> dict[str, tuple[list[Program], int]]:
    """Programs whose kinds make each pattern, and the tile."""
    found: dict[str, tuple[list[Program], int]] = {}
    for tile in (1, 2, 4, 8):
        found[f"addition, {tile} position{'s' * (tile > 1)} a cell"] = ([addition(4 * tile).program], tile)
    for tile in (1, 2, 4):
        found[f"multiplication, tile {tile}"] = ([multiplication(2 * tile + tile).program], tile)
    words = [machine_v(Shape(count, 8, find_dialect("howerj"))).program for count in (64, 128)]
    found["machine V, 64 and 128 words"] = (words, 1)
    return found


def one_seed(asked: tuple[str, int, int]) -> tuple[bool, float, float, int]:
    """Whether this seed is right everywhere at this width, its margin, seconds and bytes."""
    name, width, seed = asked
    programs, tile = patterns()[name]
    pattern = pattern_of(programs, tile)
    begin = time.perf_counter()
    try:
        with one_thread():
            found = train_on_pattern(
                pattern, Recipe(width, seed, plan=Plan(descent="momentum")), seeds=1, descend=descend
            )
    except TrainingError:
        return False, -1.0, time.perf_counter() - begin, 0
    assert found.tables is not None
    return found.proved, found.tables.margin if found.proved else -1.0, time.perf_counter() - begin, found.weights.bytes


def whole_state(asked: tuple[int, int, int]) -> tuple[bool, float]:
    """The same for the network of all states of addition of some bits."""
    bits, width, seed = asked
    algorithm = addition(bits)
    with one_thread():
        network = quantized(
            train(algorithm.program, Recipe(width, seed, plan=Plan(descent="momentum")))[0],
            Pattern.of_state(algorithm.program),
        )[0]
    found = certify_network(algorithm, network)
    return found.certified, found.margin or 0.0


def measure(pool: ProcessPoolExecutor) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    for name, (programs, tile) in patterns().items():
        if name in LARGE:
            continue
        pattern = pattern_of(programs, tile)
        for width in WIDTHS:
            found = list(pool.map(one_seed, [(name, width, seed) for seed in SEEDS]))
            exact = sum(right for right, *_ in found)
            if exact == len(SEEDS):
                break
        lines.append(
            {
                "pattern": name,
                "kinds": len(pattern.kinds),
                "examples": pattern.program.templates,
                "local_states": pattern.local_states,
                "width": width,
                "exact": exact,
                "smallest_margin": round(min(margin for _, margin, _, _ in found), 3),
                "bytes": found[0][3],
                "seconds": round(float(np.median([seconds for _, _, seconds, _ in found])), 3),
            }
        )
        print(json.dumps(lines[-1]), flush=True)
    for bits in (3, 4, 5):
        for width in WIDTHS:
            results = list(pool.map(whole_state, [(bits, width, seed) for seed in SEEDS])) if width >= 64 else []
            if results and all(right for right, _ in results):
                break
        states = 8**bits
        lines.append({"pattern": f"whole state, {bits}-bit addition", "local_states": states, "width": width})
        print(json.dumps(lines[-1]), flush=True)
    return lines


def draw(lines: list[dict[str, Any]], path: Path) -> None:
    """Width against local states, on two logarithmic axes."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    for word, marker, colour in (
        ("addition", "o", "#1f77b4"), ("multiplication", "s", "#d95f02"),
        ("machine V", "^", "#444444"), ("whole state", "x", "#7570b3"),
    ):  # fmt: skip
        own = [line for line in lines if line["pattern"].startswith(word) and line.get("exact", 10) == 10]
        axes.plot(
            [line["local_states"] for line in own], [line["width"] for line in own],
            marker=marker, color=colour, label=word, linestyle=":" if word == "whole state" else "-",
        )  # fmt: skip
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="states that are proved (local, or all)",
        ylabel="smallest width, 10 of 10 seeds",
    )
    axes.set_yscale("log", base=2)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


def large(given: argparse.Namespace) -> list[dict[str, Any]]:
    """The large patterns, or the one that was asked for; what is measured is written at once."""
    widths = {given.pattern: LARGE.get(given.pattern, WIDTHS)} if given.pattern else LARGE
    if given.widths:
        widths = {name: [int(width) for width in given.widths.split(",")] for name in widths}
    known, lines = patterns(), []
    chosen = {name: pattern_of(*known[name]) for name in widths}
    for line in measure_large(chosen, widths, given.device, given.limit):
        lines.append(line)
        write(lines, given.out)
    return lines


def write(lines: list[dict[str, Any]], path: Path | None) -> None:
    if path is not None:
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="also write the lines to this file")
    parser.add_argument("--lines", type=Path, help="draw from this file instead of measuring")
    parser.add_argument("--picture", type=Path, help="draw width against local states")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--large", action="store_true", help="only tiles with more than 2^20 local states")
    parser.add_argument("--device", default="cpu", help="with --large: where networks are trained and proved")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="with --large: begin no seed that takes longer")
    parser.add_argument("--pattern", choices=patterns(), metavar="NAME", help="with --large: this one, of any size")
    parser.add_argument("--widths", metavar="W,W", help="with --large: instead of its own list")
    given = parser.parse_args()
    if not given.large and (given.device != "cpu" or given.limit or given.pattern or given.widths):
        parser.error("--device, --limit, --pattern and --widths go with --large")
    if given.lines:
        lines = [json.loads(line) for line in given.lines.read_text().splitlines()]
    elif given.large:
        lines = large(given)
    else:
        with ProcessPoolExecutor(given.workers) as pool:
            lines = measure(pool)
    write(lines, given.out)
    if given.picture:
        draw(lines, given.picture)


if __name__ == "__main__":
    main()
