"""On a CUDA device: how many networks a second can be trained, and every 10-bit sum and product through one network.

    python -m benchmarks.gpu [--out FILE]

Prints one JSON line a measurement. Baselines are measured in the same run: a plain autograd loop with the settings of
the authors' code (standard parametrization, biases, learning rate 1e-3 on the mean loss, 10,000 epochs).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bitwright import Algorithm, addition, multiplication, permutation
from bitwright.encoding.training_set import TrainingSet
from bitwright.engines.torch_network import TorchNetworkEngine
from bitwright.engines.torch_rules import TorchRules
from bitwright.networks import Plan, Recipe, train
from bitwright.networks.fused import train_drawn
from bitwright.networks.start import NetworkShape
from bitwright.networks.torch_trainer import descend_many

LINES: list[dict[str, Any]] = []


def say(**line: Any) -> None:
    LINES.append(line)
    print(json.dumps(line), flush=True)


def synchronized() -> float:
    torch.cuda.synchronize()
    return time.perf_counter()


def copy_bandwidth() -> float:
    """Bytes a second that a plain copy on this device reads and writes: the limit of a pass over memory."""
    source = torch.empty(2 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    best = float("inf")
    for _ in range(5):
        begin = synchronized()
        target.copy_(source)
        best = min(best, synchronized() - begin)
    return 2 * len(source) / best


def ensemble_rate(K: int, width: int, count: int, tolerance: float, momentum: bool, fused: bool, limit: float) -> None:
    """Networks a second, permutation of K bits, from drawing the start to the trained weights."""
    labels = torch.tensor(
        TrainingSet(permutation(range(K, 0, -1)).program).labels().toarray().T, dtype=torch.float32, device="cuda"
    )
    plan = Plan(tolerance=tolerance, momentum=momentum)
    best = float("inf")
    for _ in range(4):
        begin = synchronized()
        if fused:
            _, _, histories = train_drawn(NetworkShape(K, width, K), "random", 0, range(count), labels, plan)
        else:
            first = torch.randn((count, width, K), device="cuda")
            last = torch.randn((count, K, width), device="cuda")
            _, _, histories = descend_many(first, last, labels, plan)
        best = min(best, synchronized() - begin)
    steps = max(history.steps for history in histories)
    # Each weight, and with momentum each speed, read and written once a step: the least possible.
    moved = count * width * 2 * K * 4 * 2 * steps * (2 if momentum else 1)
    say(
        what="ensemble, fused kernels" if fused else "ensemble, plain batches",
        K=K,
        width=width,
        networks=count,
        momentum=momentum,
        tolerance=tolerance,
        steps=steps,
        seconds=round(best, 4),
        networks_per_second=round(count / best, 1),
        least_terabytes_per_second=round(moved / best / 1e12, 3),
        of_a_copy=round(moved / best / limit, 3),
    )


def authors_loop(K: int, width: int, epochs: int = 10_000) -> None:
    """One network with autograd and the settings of the authors' code."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(K, width), torch.nn.ReLU(), torch.nn.Linear(width, K)).cuda()
    x = torch.eye(K, device="cuda")
    y = x.flip(1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    begin = synchronized()
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    say(what="authors' loop", K=K, width=width, epochs=epochs, seconds=round(synchronized() - begin, 2))


def exhaustive(algorithm: Algorithm, width: int, seed: int, dtype: str, chunk: int, check: bool = True) -> None:
    """Every input, every step, through one network; with `check` each step is compared with the rules, found apart."""
    program = algorithm.program
    recipe = Recipe(width, seed, plan=Plan(momentum=True), trainer="torch", device="cuda")
    train(program, recipe)  # warm up
    begin = synchronized()
    network, history = train(program, recipe)
    training = synchronized() - begin
    engine = TorchNetworkEngine(program, [network], device="cuda", dtype=dtype)
    rules = TorchRules(program, "cuda")
    places = [bit for word in algorithm.inputs for bit in word.bits]
    outputs = list(algorithm.outputs[0].bits)
    inputs, wrong_steps, wrong_answers, margin, n_max = 2 ** len(places), 0, 0, float("inf"), 0
    evaluate = 0.0
    with torch.inference_mode():
        for start in range(0, inputs, chunk):
            numbers = torch.arange(start, min(start + chunk, inputs), device="cuda")
            states = torch.zeros((len(numbers), engine.columns), dtype=torch.bool, device="cuda")
            states[:, list(algorithm.start)] = True
            bits = (numbers[:, None] >> torch.arange(len(places), device="cuda")) & 1
            states[:, places] = bits.bool()
            worst = torch.full((), float("inf"), device="cuda")
            bad = torch.zeros((), dtype=torch.int64, device="cuda")
            most = torch.zeros((), dtype=torch.int64, device="cuda")
            begin = synchronized()
            for _ in range(algorithm.steps or 0):
                estimate, n = engine.estimate(states)
                if check:
                    truth = rules(states)
                after = (estimate > 0.5) & (n > 0)[:, None]
                if check:
                    bad += (after != truth).any(dim=1).sum()
                    margins = torch.where(n > 0, (estimate[:, : program.bits] - 0.5).abs().amin(dim=1), float("inf"))
                    worst, most = torch.minimum(worst, margins.amin()), torch.maximum(most, n.max())
                states = after
            evaluate += synchronized() - begin
            half = len(places) // 2
            weights = 1 << torch.arange(len(outputs), device="cuda")
            answers = (states[:, outputs] * weights).sum(dim=1)
            a, b = numbers % (1 << half), numbers >> half
            expected = a + b if algorithm.name == "addition" else a * b
            wrong_answers += int((answers != expected).sum())
            wrong_steps += int(bad)
            margin, n_max = min(margin, float(worst)), max(n_max, int(most))
    evaluations = inputs * (algorithm.steps or 0)
    say(
        what=f"every input of {algorithm.name}",
        bits=len(places) // 2,
        K=program.templates,
        width=width,
        seed=seed,
        dtype=dtype,
        training_seconds=round(training, 3),
        training_steps=history.steps,
        training_error=history.error[-1],
        inputs=inputs,
        evaluations=evaluations,
        wrong_steps=wrong_steps if check else None,
        wrong_answers=wrong_answers,
        margin=round(margin, 4) if check else None,
        n_max=n_max if check else None,
        seconds=round(evaluate, 2),
        evaluations_per_second=round(evaluations / evaluate),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    out = parser.parse_args().out
    if not torch.cuda.is_available():
        sys.exit("this needs a CUDA device")
    torch.backends.cuda.matmul.allow_tf32 = False
    say(what="device", name=torch.cuda.get_device_name(), torch=torch.__version__, numpy=np.__version__)
    limit = copy_bandwidth()
    say(what="copy", terabytes_per_second=round(limit / 1e12, 3))
    for K, count in ((10, 512), (30, 256)):
        for fused in (False, True):
            for momentum in (False, True):
                ensemble_rate(K, 50_000, count, 1e-5, momentum, fused, limit)
        authors_loop(K, 50_000)
    exhaustive(addition(10), 4_096, 0, "float32", 1 << 17)
    exhaustive(addition(10), 4_096, 0, "bfloat16", 1 << 17)
    exhaustive(multiplication(10), 16_384, 0, "bfloat16", 1 << 15)
    exhaustive(multiplication(10), 16_384, 0, "bfloat16", 1 << 15, check=False)
    if out:
        out.write_text("\n".join(json.dumps(line) for line in LINES) + "\n")


if __name__ == "__main__":
    main()
