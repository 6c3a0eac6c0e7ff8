"""On a CUDA device: a trained network as a stored-program computer, machine V, in closed loop.

    python -m benchmarks.gpu_v [--out docs/runs/h200-machine-v.jsonl]

One network for each machine. It makes every step; after every instruction memory and address are compared with the
plain interpreter, after every step the state with the templates. Programs are random ones, with self-modification,
equal operands and jumps anywhere, and structured ones with random data: sums over arrays, products, Fibonacci numbers.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.torch_rules import TorchRules
from bitwright.engines.torch_network import TorchNetworkEngine
from bitwright.machines.subleq import Interpreter, MachineV, Shape, assemble_sq, find_dialect, machine_v
from bitwright.networks import Recipe, train

STRUCTURED = {
    "countdown": "loop: subleq #1, n, -1\njmp loop\nn: .data {x}",
    "add": "add a, b\nhalt\na: .data {x}\nb: .data {y}",
    "multiply": "loop: add a, total\nsubleq #1, b, -1\njmp loop\ntotal: .data 0\na: .data {x}\nb: .data {y}",
    "sum": "loop: subleq table, total\nsubleq #-1, loop\nsubleq #1, left, -1\njmp loop\n"
    "total: .data 0\nleft: .data 8\ntable: .data {row}",
    "fibonacci": "loop: subleq y, Z\nsubleq Z, x\nsubleq x, Z\nsubleq Z, y\nsubleq Z, Z\nsubleq #1, n, -1\n"
    "jmp loop\nx: .data 0\ny: .data 1\nn: .data {x}",
    "divide": "loop: subleq d, n, -1\nsubleq #-1, q\njmp loop\nn: .data {row0}\nd: .data {x}\nq: .data 0",
}


def structured(rng: random.Random, shape: Shape) -> list[int]:
    name = rng.choice(list(STRUCTURED))
    row = [rng.randrange(-12, 13) for _ in range(8)]
    values = {"x": rng.randrange(1, 7), "y": rng.randrange(1, 7), "row": ", ".join(map(str, row)), "row0": abs(row[0])}
    image = assemble_sq(STRUCTURED[name].format(**values)).image
    if len(image) > shape.words:  # only on machines smaller than those that are recorded
        return anything(rng, shape)
    return [word % (1 << shape.width) for word in image]


def anything(rng: random.Random, shape: Shape) -> list[int]:
    """Instructions that meet: small addresses, a = b, operands inside the instruction, jumps to anywhere."""
    words, top = shape.words, 1 << shape.width
    image = [rng.choice((0, 1, -1, top // 2, rng.randrange(top))) % top for _ in range(words)]
    for at in range(0, words - 2, 3):
        a, b = rng.randrange(words), rng.randrange(words)
        a = b if rng.random() < 0.15 else a
        b = at + rng.randrange(3) if rng.random() < 0.15 else b
        c = rng.choice((at + 3, at + 3, 3 * rng.randrange(words // 3), rng.randrange(words), rng.randrange(top)))
        if rng.random() < 0.9:
            image[at : at + 3] = [a, b, c % top]
    return image


def closed_loop(
    machine: MachineV, width: int, seed: int, programs: int, most: int, device: str, dtype: str
) -> dict[str, Any]:
    program, shape, timing = machine.program, machine.shape, machine.timing
    begin = time.perf_counter()
    network, history = train(program, Recipe(width, seed, trainer="torch", device=device))
    training = time.perf_counter() - begin
    engine = TorchNetworkEngine(program, [network], device=device, dtype=dtype)
    rules = TorchRules(program, device)
    del network
    memory_bits = torch.from_numpy(machine.memory_bits.ravel().copy()).to(device)

    rng = random.Random(seed)
    images = [(structured if at % 2 else anything)(rng, shape) for at in range(programs)]
    truths = [Interpreter(shape, image) for image in images]
    states = engine.matching.tensor_of(np.array([machine.start(image) for image in images]))
    alive = list(range(programs))
    settling: dict[int, int] = {}  # programs that the interpreter has halted: when all must be still; -1: looked at
    ending: set[int] = set()
    expected = {at: (truth.pc, list(truth.memory)) for at, truth in enumerate(truths)}
    wrong_steps = wrong_programs = evaluations = instructions = halted = n_max = step = 0
    margin = float("inf")
    begin = time.perf_counter()
    with torch.inference_mode():
        while alive:
            phase = step % timing.steps
            if phase == 0:  # all begin an instruction now, except those that have halted
                now = states.cpu().numpy()
                for row, at in enumerate(alive):
                    if at in settling:
                        continue
                    if not now[row, machine.boundary] or machine.position(now[row]) != expected[at][0]:
                        wrong_programs += 1
                        settling[at] = -1
                    elif truths[at].executed >= most:
                        ending.add(at)  # its last result is still on its way
                    elif truths[at].halted or not truths[at].step():
                        settling[at] = step + timing.steps + shape.width + timing.depth + 20
                        halted += 1
                    else:
                        instructions += 1
            if phase == timing.depth + 1:  # the words of the instruction before have landed
                words = states[:, memory_bits].cpu().numpy().reshape(len(alive), shape.words, shape.width)
                found = (words * (1 << np.arange(shape.width))).sum(axis=2)
                for row, at in enumerate(alive):
                    if settling.get(at) != -1 and found[row].tolist() != expected[at][1]:
                        wrong_programs += 1
                        settling[at] = -1
                    if at in ending:
                        settling[at] = -1
                    expected[at] = (truths[at].pc, list(truths[at].memory))
            if phase == timing.steps - 1 or step >= max(settling.values(), default=0) > 0:
                keep = _still_running(machine, states, alive, settling, truths, step)
                wrong_programs += keep[1]
                if len(keep[0]) < len(alive):
                    states = states[torch.tensor(keep[0], dtype=torch.long, device=device)]
                    alive = [alive[row] for row in keep[0]]
                    if not alive:
                        break
            estimate, n = engine.estimate(states)
            after = (estimate > 0.5) & (n > 0)[:, None]
            wrong_steps += int((after != rules(states)).any(dim=1).sum())
            margin = min(margin, float((estimate[:, : program.bits] - 0.5).abs().amin()))
            n_max = max(n_max, int(n.max()))
            evaluations += len(alive)
            states = after
            step += 1
    return {
        "what": "machine V",
        "words": shape.words,
        "width_of_words": shape.width,
        "dialect": shape.dialect.name,
        "K": program.templates,
        "bits": program.bits,
        "width": width,
        "seed": seed,
        "dtype": dtype,
        "training_seconds": round(training, 2),
        "training_steps": history.steps,
        "programs": programs,
        "instructions": instructions,
        "halted": halted,
        "evaluations": evaluations,
        "wrong_steps": wrong_steps,
        "wrong_programs": wrong_programs,
        "margin": round(margin, 4),
        "n_max": n_max,
        "running_seconds": round(time.perf_counter() - begin, 2),
    }


def _still_running(
    machine: MachineV,
    states: torch.Tensor,
    alive: list[int],
    settling: dict[int, int],
    truths: list[Interpreter],
    step: int,
) -> tuple[list[int], int]:
    """Rows that go on; and how many of those that are done ended otherwise than the interpreter."""
    rows, wrong, now = [], 0, None
    for row, at in enumerate(alive):
        due = settling.get(at)
        if due is None or due > step:
            rows.append(row)
        elif due >= 0:
            now = states.cpu().numpy() if now is None else now
            state, truth = now[row], truths[at]
            fault = machine.fault is not None and bool(state[machine.fault])
            found = (bool(state[machine.halt]), machine.position(state), machine.memory(state), fault)
            wrong += found != (True, truth.pc, truth.memory, truth.fault)
    return rows, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--width", type=int, default=131_072)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--programs", type=int, default=2_048)
    parser.add_argument("--most", type=int, default=64, help="instructions of a program that does not halt before")
    parser.add_argument("--machines", nargs="*", default=["32:8:kth", "64:8:plain"], help="WORDS:WIDTH:DIALECT")
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        sys.exit("this needs a CUDA device; --device cpu runs a small one without")
    name = torch.cuda.get_device_name() if arguments.device == "cuda" else "cpu"
    lines: list[dict[str, Any]] = [{"what": "device", "name": name, "torch": torch.__version__}]
    for text in arguments.machines:
        words, width, dialect = text.split(":")
        machine = machine_v(Shape(int(words), int(width), find_dialect(dialect)))
        line = closed_loop(
            machine,
            arguments.width,
            arguments.seed,
            arguments.programs,
            arguments.most,
            arguments.device,
            arguments.dtype,
        )
        lines.append(line)
        print(json.dumps(line), flush=True)
        if arguments.out:
            arguments.out.write_text("\n".join(map(json.dumps, lines)) + "\n")


if __name__ == "__main__":
    main()
