"""On a CUDA device: how many networks a second can be trained, beside what memory and arithmetic allow.

    python -m benchmarks.gpu_training [--out FILE]

Prints one JSON line a measurement. Measured in the same run: a copy, a product in float32, and a plain autograd loop
with the settings of the authors' code (standard parametrization, biases, learning rate 1e-3 on the mean loss, 10,000
epochs).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bitwright import permutation
from bitwright.machines.subleq import Shape, find_dialect, machine_v
from bitwright.networks.descent import NetworkShape
from bitwright.theory.encoding.training_set import TrainingSet
from paper.descent import descend_many
from paper.fused import train_drawn
from paper.training import Plan

LINES: list[dict[str, Any]] = []
DESCENTS = {name: {"descent": name} for name in ("plain", "momentum", "balanced")}


def say(**line: Any) -> None:
    LINES.append(line)
    print(json.dumps(line), flush=True)


def best_time(work: Callable[[], object], times: int) -> float:
    """Seconds of the fastest of several runs, the first of which compiles."""
    best = float("inf")
    for _ in range(times):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - begin)
    return best


def copy_bandwidth() -> float:
    """Bytes a second that a plain copy on this device reads and writes: the limit of a pass over memory."""
    source = torch.empty(2 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * len(source) / best_time(lambda: target.copy_(source), 5)


def product_rate() -> float:
    """Float32 operations a second of a large square product, without tensor cores."""
    a, b = (torch.randn((8_192, 8_192), device="cuda") for _ in range(2))
    return float(2 * 8_192**3 / best_time(lambda: a @ b, 4))


def ensemble_rate(K: int, width: int, count: int, descent: str, fused: bool, copy: float, products: float) -> None:
    """Networks a second, permutation of K bits to an error of 1e-5, from drawing the start to the trained weights."""
    labels = torch.tensor(
        TrainingSet(permutation(range(K, 0, -1)).program).labels().toarray().T, dtype=torch.float32, device="cuda"
    )
    plan = Plan(1e-5, **DESCENTS[descent])
    histories: list[Any] = []

    def work() -> None:
        if fused:
            histories[:] = train_drawn(NetworkShape(K, width, K), "random", 0, range(count), labels, plan)[2]
        else:
            drawn = torch.randn((count, width, K), device="cuda"), torch.randn((count, K, width), device="cuda")
            histories[:] = descend_many(*drawn, labels, plan)[2]

    seconds = best_time(work, 4)
    steps = [history.steps for history in histories]
    # Each weight, and with momentum each speed, read and written once a step; three products of width K K a step.
    moved = width * 2 * K * 4 * 2 * sum(steps) * (2 if descent == "momentum" else 1)
    say(
        what="ensemble, fused kernels" if fused else "ensemble, plain batches",
        K=K,
        width=width,
        networks=count,
        descent=descent,
        tolerance=1e-5,
        steps=round(float(np.mean(steps)), 2),
        most_steps=max(steps),
        seconds=round(seconds, 4),
        networks_per_second=round(count / seconds, 1),
        of_a_copy=round(moved / seconds / copy, 3),
        of_products=round(6 * width * K * K * sum(steps) / seconds / products, 3),
    )


def large_program(products: float, words: int = 64, width: int = 131_072) -> None:
    """One network of a whole machine V: a step is three large products."""
    program = machine_v(Shape(words, 8, find_dialect("plain"))).program
    labels = torch.tensor(TrainingSet(program).labels().toarray().T, dtype=torch.float32, device="cuda")
    K, k = program.templates, program.bits
    for descent, settings in DESCENTS.items():
        if descent == "plain":
            continue
        drawn = torch.randn((1, width // 2, K), device="cuda"), torch.randn((1, k, width // 2), device="cuda")
        first, last = torch.cat((drawn[0], drawn[0]), dim=1), torch.cat((drawn[1], -drawn[1]), dim=2)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        *_, histories = descend_many(first, last, labels, Plan(1e-2, **settings))
        torch.cuda.synchronize()
        seconds = time.perf_counter() - begin
        say(
            what="large program",
            program=f"machine V, {words} words of 8 bits",
            K=K,
            bits=k,
            width=width,
            descent=descent,
            tolerance=1e-2,
            steps=histories[0].steps,
            seconds=round(seconds, 3),
            of_products=round((6 * histories[0].steps + 2) * width * K * k / seconds / products, 3),
        )


def authors_loop(K: int, width: int, epochs: int = 1_000) -> None:
    """One network with autograd and the settings of the authors' code: a tenth of its 10,000 epochs."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(K, width), torch.nn.ReLU(), torch.nn.Linear(width, K)).cuda()
    x = torch.eye(K, device="cuda")
    y = x.flip(1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)

    def loop() -> None:
        for _ in range(epochs):
            optimizer.zero_grad()
            loss = ((net(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()

    seconds = best_time(loop, 2)
    rate = epochs / 10_000 / seconds
    say(what="authors' loop", K=K, width=width, epochs=epochs, seconds=round(seconds, 2), networks_per_second=rate)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    out = parser.parse_args().out
    if not torch.cuda.is_available():
        sys.exit("this needs a CUDA device")
    torch.backends.cuda.matmul.allow_tf32 = False
    say(what="device", name=torch.cuda.get_device_name(), torch=torch.__version__, numpy=np.__version__)
    copy, products = copy_bandwidth(), product_rate()
    say(what="limits", copy_terabytes_per_second=round(copy / 1e12, 3), float32_teraflops=round(products / 1e12, 1))
    for K, count in ((10, 512), (30, 256), (64, 128)):
        for fused in (False, True):
            for descent in DESCENTS:
                ensemble_rate(K, 50_000, count, descent, fused, copy, products)
        if K < 64:
            authors_loop(K, 50_000)
    large_program(products)
    if out:
        out.write_text("\n".join(json.dumps(line) for line in LINES) + "\n")


if __name__ == "__main__":
    main()
