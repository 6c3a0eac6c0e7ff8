"""Validating every input: ours against neural-tangents, growth with the bit length and the batch, memory, the machine.

    python -m benchmarks.validating [--write]

With --write the table and the plot in docs/explanation/performance.md are replaced. neural-tangents needs its own
environment, made by `make bench-peers`; without it its columns stay empty.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np

from benchmarks.measure import Row, alone, readable, seconds
from benchmarks.page import write_table
from benchmarks.stepping import random_states
from bitwright import Algorithm, addition, multiplication, permutation, run
from bitwright.common.bits import BoolArray
from bitwright.common.files.storage import write_atomically
from bitwright.engines.rules import LimitEngine, PackedBatch, RuleEngine
from bitwright.runs.sliced import SlicedRuns, counting
from bitwright.theory.decisions import decide
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.validation import make_task, validate
from bitwright.verbs.engines import engine_for
from paper.style import COLOURS, plot_style

ROOT = Path(__file__).parent.parent
PEERS = Path(os.environ.get("BITWRIGHT_PEERS", ROOT / ".venv-peers" / "bin" / "python"))
PLOT = ROOT / "docs" / "pictures" / "validation.svg"
BATCHES = (16, 64, 256, 1024, 4096)
LENGTHS = {"addition": (4, 6, 8, 10, 12), "multiplication": (4, 6, 8, 10, 12)}
MAKE: dict[str, Callable[[int], Algorithm]] = {"addition": addition, "multiplication": multiplication}


@dataclass
class Growth:
    """What the plot shows of one algorithm."""

    ours: dict[int, float] = field(default_factory=dict)  # bit length to seconds for every input
    theirs: dict[int, float] = field(default_factory=dict)
    batches: dict[int, float] = field(default_factory=dict)  # states in a batch to evaluations a second
    their_batches: dict[int, float] = field(default_factory=dict)


def report(write: bool) -> None:
    growth = {name: Growth() for name in MAKE}
    rows: list[Row] = []
    for row in measure(growth):
        print(f"{row.what:72} {row.ours:>22}  {row.compared}", flush=True)
        rows.append(row)
    if write:
        write_table("validation", rows, f"; load average {os.getloadavg()[0]:.1f} at the end")
        if all(g.theirs for g in growth.values()):
            draw(growth)


def measure(growth: dict[str, Growth]) -> Iterator[Row]:
    order = range(10, 0, -1)
    spent = every_input(permutation(order))
    yield Row("every permutation of 10 bits, limit", readable(spent), "1,024 inputs, none wrong")
    for name in MAKE:
        yield from against_peer(name, growth[name])
    for name, lengths in LENGTHS.items():
        for bits in lengths:
            if bits not in growth[name].ours:
                growth[name].ours[bits] = every_input(MAKE[name](bits))
            if bits in (4, 8) and PEERS.exists():
                growth[name].theirs[bits] = evaluations(bits, name) / Peer(MAKE[name](bits), (4096,), 0.5).rate
        yield Row(
            f"every {name} of {', '.join(map(str, lengths))} bits, limit",
            ", ".join(readable(growth[name].ours[bits]) for bits in lengths),
            f"{evaluations(lengths[-1], name) / growth[name].ours[lengths[-1]] / 1e6:,.0f} M evaluations/s at "
            f"{lengths[-1]} bits",
        )
    for name, bits in (("addition", 12), ("multiplication", 12)):
        yield Row(f"peak memory, every {name} of {bits} bits", memory(name, bits), "target 1 GB")
    yield from distance()


def against_peer(name: str, growth: Growth) -> Iterator[Row]:
    algorithm = MAKE[name](10)
    count = evaluations(10, name)
    for rounding in ("sign", "calibrated"):
        spent = growth.ours[10] = every_input(algorithm, rounding)
        rate = f"{count / spent / 1e6:,.0f} M evaluations/s"
        yield Row(f"every {name} of 10 bits, limit, {rounding}", readable(spent), rate)
    states = random_states(algorithm, 1 << 15)
    plain = len(states) * (algorithm.steps or 0) / seconds(lambda: run(algorithm, states=states, engine="limit"))
    for words in (1, 4, 16, 64, 256):
        growth.batches[64 * words] = sliced_rate(algorithm, words)
    if not PEERS.exists():
        missing = "neural-tangents is not there: make bench-peers"
        yield Row(f"plain limit engine, {name} of 10 bits", f"{plain / 1e6:,.1f} M evaluations/s", missing)
        return
    peer = Peer(algorithm, BATCHES, 1.0)
    growth.their_batches = dict(zip(BATCHES, peer.rates.tolist(), strict=True))
    growth.theirs[10] = count / peer.rate
    yield Row(
        f"the same by neural-tangents {peer.versions[0]}, jax {peer.versions[1]}, jitted; its best batch and precision",
        f"{readable(growth.theirs[10])}",
        f"{peer.rate / 1e6:,.3f} M evaluations/s; ours is **{growth.theirs[10] / spent:,.0f} x** as fast",
    )
    yield Row(
        f"plain limit engine, {name} of 10 bits, batch of {len(states):,}",
        f"{plain / 1e6:,.1f} M evaluations/s",
        f"{plain / peer.rate:,.0f} x neural-tangents",
    )
    single = f" ({peer.error_single:.0e} at n = 1, where an angle is 0)" if peer.error_single else ""
    yield Row(
        f"largest difference between its means and ours, {peer.compared:,} states with n >= 2",
        f"{peer.error:.0e}",
        f"in float64{single}; {peer.error32:.0e} in float32",
    )


def evaluations(bits: int, name: str) -> int:
    return 4**bits * (MAKE[name](bits).steps or 0)


def every_input(algorithm: Algorithm, rounding: str = "calibrated") -> float:
    """Seconds for every input; the best of several where that is short."""
    task = make_task(algorithm, engine_for(algorithm, "limit", None, {"rounding": rounding}))
    spent: list[float] = []
    while len(spent) < 9 and sum(spent) < 8:
        begin = time.perf_counter()
        done = validate(task)
        spent.append(time.perf_counter() - begin)
        assert done.tally.wrong == done.tally.wrong_steps == 0
    return min(spent)


def sliced_rate(algorithm: Algorithm, words: int | None) -> float:
    """Evaluations a second on one core with batches of this many words."""
    decisions = decide(algorithm.program, algorithm.program.templates, "calibrated")
    engine = SlicedRuns(algorithm, algorithm.steps or 0, decisions, words)
    rows = counting(0, 1024, sum(len(word.bits) for word in algorithm.inputs))
    return 65536 * (algorithm.steps or 0) / seconds(lambda: engine.run(rows, 65536), repeat=10, at_least=0.02)


class Peer:
    """neural-tangents on states of our runs: its best rate, and how far its means are from ours."""

    def __init__(self, algorithm: Algorithm, batches: tuple[int, ...], duration: float) -> None:
        states = states_on_the_way(algorithm, 8192)
        training_set = TrainingSet(algorithm.program)
        with tempfile.TemporaryDirectory() as folder:
            data, out = Path(folder) / "data.npz", Path(folder) / "out.npz"
            X, Y = training_set.inputs().toarray(), training_set.labels().toarray()
            np.savez(data, X=X, Y=Y, states=training_set.encode(states))
            script = ROOT / "benchmarks" / "peers" / "neural_tangents_mean.py"
            arguments = [str(PEERS), str(script), str(data), str(out), str(duration), ",".join(map(str, batches))]
            clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            subprocess.run(arguments, check=True, env=clean, stderr=subprocess.DEVNULL)
            with np.load(out) as found:
                ways = [found[f"{way}{bits}"] for way in ("predict", "solve") for bits in (32, 64)]
                means, means32 = found["predict64_means"], found["predict32_means"]
                self.versions: list[str] = found["versions"].tolist()
        self.rates: np.ndarray[Any, Any] = np.max(ways, axis=0)
        self.rate = float(self.rates.max())
        self.compared = len(means)
        limit = LimitEngine(algorithm.program, algorithm.program.templates, "calibrated")
        ours = limit.means(PackedBatch(limit, states[: len(means)]).match(), len(means))
        n = np.array([len(algorithm.program.match(state)) for state in states[: len(means)]])
        off = np.abs(ours - means).max(axis=1)
        self.error, self.error_single = float(off[n > 1].max()), float(off[n == 1].max(initial=0))
        self.error32 = float(np.abs(ours - means32).max())
        assert self.error < 1e-9


def states_on_the_way(algorithm: Algorithm, count: int) -> BoolArray:
    """Different times of random runs, mixed."""
    batch = RuleEngine(algorithm.program).begin(random_states(algorithm, 1024))
    steps, found = algorithm.steps or 1, []
    for step in range(steps):
        if step % max(1, steps // 10) == 0:
            found.append(batch.states())
        batch.step()
    states = np.concatenate(found)
    return states[np.random.default_rng(0).permutation(len(states))[:count]]


def memory(name: str, bits: int) -> str:
    _, peak = alone(f"from bitwright import {name}, validate; assert validate({name}({bits})).tally.wrong == 0")
    return f"{peak:.2f} GB"


def distance() -> Iterator[Row]:
    """How close one core comes to the word operations that it cannot do without, at the speed of plain ones."""
    algorithm = multiplication(10)
    program = algorithm.program
    blocks, sizes = len(np.unique(program.template_block)), np.diff(program.block_start)[program.template_block]
    written = np.count_nonzero(program.writers)
    matching, writing = int((sizes - 1).sum()), len(program.write_bits) - written
    counting_n = program.templates - blocks + 5 * blocks  # ORs within blocks, then about a full adder for each
    needed = matching + writing + counting_n
    rate = sliced_rate(algorithm, None) / 64 * needed
    rounds = 10_000
    a, b = (np.random.default_rng(0).integers(0, 2**63, (24, 64), dtype=np.uint64) for _ in range(2))
    machine_rate = 5 * 8 * 64 * rounds / seconds(lambda: full_adders(a, b, rounds), repeat=20, at_least=0.01)
    yield Row(
        "bit-sliced engine, multiplication of 10 bits, one core",
        f"{rate / 1e9:,.1f} G word operations/s",
        f"{rate / machine_rate:.0%} of {machine_rate / 1e9:,.1f} G, full adders on rows in the first cache; "
        f"{needed:,} ANDs, ORs and XORs in a step, had no row been passed over",
    )


@numba.njit
def full_adders(a: Any, b: Any, rounds: int) -> None:
    """Five word operations for three words read and two written: as good a mix as an engine on words can hope for."""
    for _ in range(rounds):
        for r in range(0, 24, 3):
            for w in range(64):
                half = a[r, w] ^ a[r + 1, w]
                b[r, w] = half ^ a[r + 2, w]
                b[r + 1, w] = (a[r, w] & a[r + 1, w]) | (half & a[r + 2, w])
        a, b = b, a


def draw(growth: dict[str, Growth]) -> None:
    with plot_style() as pyplot:
        figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.6, 4.0))
        for (name, g), colour in zip(growth.items(), COLOURS, strict=False):
            for whose, line, by_length, by_batch in (
                ("bitwright", "o-", g.ours, g.batches),
                ("neural-tangents", "s--", g.theirs, g.their_batches),
            ):
                left.plot(*zip(*sorted(by_length.items()), strict=True), line, color=colour, label=f"{name}, {whose}")
                right.plot(*zip(*sorted(by_batch.items()), strict=True), line, color=colour)
        left.set(yscale="log", xlabel="bits", ylabel="seconds for every input")
        right.set(xscale="log", yscale="log", xlabel="states in a batch", ylabel="evaluations a second, 10 bits")
        left.set_title("Every input", loc="left", fontsize=11)
        right.set_title("Batches; bitwright on one core", loc="left", fontsize=11)
        figure.legend(loc="outside lower center", ncols=4, fontsize=9)
        picture = io.BytesIO()
        figure.savefig(picture, format="svg", metadata={"Date": None})
        write_atomically(PLOT, picture.getvalue())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--write", action="store_true", help="replace the table and the plot in docs/explanation/performance.md"
    )
    report(parser.parse_args().write)


if __name__ == "__main__":
    main()
