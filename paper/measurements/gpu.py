"""On a CUDA device: every 10-bit sum and product through one network.

    python -m paper.measurements.gpu [--out FILE]

Prints one JSON line a measurement.
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

from bitwright import Algorithm, addition, multiplication
from paper.measurements.torch_rules import TorchRules
from paper.torch_network import TorchNetworkEngine
from paper.training import Plan, Recipe, train

LINES: list[dict[str, Any]] = []


def say(**line: Any) -> None:
    LINES.append(line)
    print(json.dumps(line), flush=True)


def synchronized() -> float:
    torch.cuda.synchronize()
    return time.perf_counter()


def exhaustive(algorithm: Algorithm, width: int, seed: int, dtype: str, chunk: int, check: bool = True) -> None:
    """Every input, every step, through one network; with `check` each step is compared with the rules, found apart."""
    program = algorithm.program
    recipe = Recipe(width, seed, plan=Plan(descent="momentum"), device="cuda")
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
    exhaustive(addition(10), 4_096, 0, "float32", 1 << 17)
    exhaustive(addition(10), 4_096, 0, "bfloat16", 1 << 17)
    exhaustive(multiplication(10), 16_384, 0, "bfloat16", 1 << 15)
    exhaustive(multiplication(10), 16_384, 0, "bfloat16", 1 << 15, check=False)
    if out:
        out.write_text("\n".join(json.dumps(line) for line in LINES) + "\n")


if __name__ == "__main__":
    main()
