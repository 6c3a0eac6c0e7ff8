"""How large exported networks are, and how fast their steps: C, JavaScript and our own engines, one run of each.

    python -m benchmarks.exporting

Needs gcc, size (of binutils) and node. Prints a markdown table. One run is repeated for about half a second, each step
of it made by evaluating the network, the same steps everywhere: our engine is stepped one by one, since its own run
loop leaves out steps that change nothing. C is compiled with -O2 for the times and with -Os for the size, without main.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bitwright import Algorithm, addition, multiplication
from bitwright.api.cells import pattern_of, quantized, train_on_pattern
from bitwright.api.export import Exported, c_text, exported_cells, js_text, try_states
from bitwright.engines.cells.engine import CellEngine
from bitwright.engines.make import network_engine
from bitwright.engines.protocol import Engine
from bitwright.machines.programs import open_program
from bitwright.networks import Plan, Recipe, train
from bitwright.program.pattern import Pattern
from bitwright.proofs.width import suggested_width
from bitwright.running.run import run_batch

SBN = Path(__file__).parent.parent / "examples" / "sbn" / "gcd.sbn"
ENOUGH = 0.5  # seconds
C_TIMER = """
#include "net.c"
#include <stdio.h>
#include <time.h>
int main(void)
{
    static uint8_t state[BW_BITS], next[BW_BITS];
    static const uint8_t start[BW_BITS] = {%s};
    long steps = 0;
    const clock_t from = clock();
    do {
        bw_copy(start, state);
        steps += bw_run(state, next);
    } while (clock() - from < CLOCKS_PER_SEC / 2);
    printf("%%f", (double)steps / ((double)(clock() - from) / CLOCKS_PER_SEC));
    return 0;
}
"""
JS_TIMER = """
import {{ run }} from "./net.mjs";
const start = Uint8Array.from([{}]);
run(start.slice());
const from = performance.now();
let steps = 0;
while (performance.now() - from < 500) steps += run(start.slice());
console.log(steps / (performance.now() - from) * 1000);
"""


@dataclass(frozen=True, eq=False)
class Case:
    """What is exported, the engine that evaluates the same network, and the run that is timed."""

    title: str
    found: Exported
    engine: Engine
    algorithm: Algorithm
    start: np.ndarray  # (k,)


def cases() -> Iterator[Case]:
    gcd = open_program(str(SBN))
    for title, of, algorithm, width, values in (
        ("addition of 100 bits, cells", [addition(4)], addition(100), 64, {"p": 2**100 - 1, "q": 1}),
        (
            "multiplication of 20 bits, cells",
            [multiplication(n) for n in range(1, 9)],
            multiplication(20),
            256,
            {"multiplicand": 719_483, "multiplier": 483_719},
        ),
        ("SBN gcd on machine B, cells", [gcd], gcd, None, {"a": 12, "b": 18}),
    ):
        pattern = pattern_of([one.program for one in of])
        recipe = Recipe(width or suggested_width(pattern), plan=Plan(descent="momentum"))
        network = train_on_pattern(pattern, recipe).network
        engine = CellEngine(algorithm.program, pattern, [network], evaluate=True)
        yield Case(title, exported_cells(network, pattern, algorithm), engine, algorithm, algorithm.state(values))
    whole = multiplication(4)
    network, _ = quantized(
        [train(whole.program, Recipe(4_096, plan=Plan(descent="momentum")))[0]], Pattern.of_state(whole.program)
    )
    start = whole.state({"multiplicand": 13, "multiplier": 11})
    engine = network_engine(whole.program, [network])
    yield Case(
        "multiplication of 4 bits, whole",
        exported_cells(network, Pattern.of_state(whole.program), whole),
        engine,
        whole,
        start,
    )


def rate(case: Case) -> float:
    """Steps a second of our engine; the first run is not counted."""
    start = case.start[np.newaxis]
    length = int(run_batch(case.algorithm, start).steps[0])

    def once() -> None:
        batch = case.engine.begin(start)
        for _ in range(length):
            batch.step()

    once()
    steps, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < ENOUGH:
        once()
        steps += length
    return steps / (time.perf_counter() - begun)


def in_c(case: Case, folder: Path) -> tuple[int, int, float]:
    """Bytes of the text, bytes of code and tables of the object, steps a second."""
    text = c_text(case.found, try_states(case.found))
    (folder / "net.c").write_text(text)
    (folder / "timer.c").write_text(C_TIMER % numbers(case.start))
    flags = ["gcc", "-std=c99"]
    subprocess.run([*flags, "-Os", "-c", "net.c", "-o", "net.o"], cwd=folder, check=True)
    subprocess.run([*flags, "-O2", "timer.c", "-o", "timer"], cwd=folder, check=True)
    sizes = subprocess.run(["size", "net.o"], cwd=folder, check=True, capture_output=True, text=True).stdout
    said = subprocess.run(["./timer"], cwd=folder, check=True, capture_output=True, text=True).stdout
    return len(text), int(sizes.splitlines()[1].split()[3]), float(said)


def in_js(case: Case, folder: Path) -> tuple[int, float]:
    """Bytes of the text, steps a second."""
    text = js_text(case.found, try_states(case.found))
    (folder / "net.mjs").write_text(text)
    (folder / "timer.mjs").write_text(JS_TIMER.format(numbers(case.start)))
    said = subprocess.run(["node", "timer.mjs"], cwd=folder, check=True, capture_output=True, text=True).stdout
    return len(text), float(said)


def numbers(state: np.ndarray) -> str:
    return ",".join(map(str, state.astype(int)))


def main() -> None:
    print("| program | width | C source | object, -Os | module | steps a second, C | node | Python |")
    print("|---|---|---|---|---|---|---|---|")
    for case in cases():
        with tempfile.TemporaryDirectory() as name:
            source, compiled, c_rate = in_c(case, Path(name))
            module, js_rate = in_js(case, Path(name))
        print(
            f"| {case.title} | {case.found.network.shape.width:,} | {source:,} | {compiled:,} | {module:,} "
            f"| {c_rate:,.0f} | {js_rate:,.0f} | {rate(case):,.0f} |"
        )


if __name__ == "__main__":
    main()
