"""On a CUDA device: the SBN library through trained networks, in closed loop to the halt, on both machines.

    python -m benchmarks.gpu_sbn [--out FILE]

One network for each machine size; every step is compared with the templates, every answer with the plain interpreter.
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
from bitwright.errors import InputError
from bitwright.machines import Code, Machine, load_sbn, machine_a, machine_b, run_interpreter
from bitwright.networks import Recipe, TrainingError, train

FOLDER = Path(__file__).parent.parent / "examples" / "sbn"


def inputs_of(code: Code, count: int) -> list[dict[str, int]]:
    rng, found = random.Random(code.name), []
    while len(found) < count:
        values = {name: rng.randrange(1, 12) for name in code.inputs}
        try:
            run_interpreter(code, values, limit=300)
        except InputError:  # it takes longer
            continue
        found.append(values)
    return found


def closed_loop(machine: Machine, code: Code, width: int, seed: int, runs: int) -> dict[str, Any]:
    program, algorithm = machine.program, machine.algorithm(code)
    assert machine.halt is not None
    begin = time.perf_counter()
    network, history = train(program, Recipe(width, seed, trainer="torch", device="cuda"))
    training = time.perf_counter() - begin
    engine = TorchNetworkEngine(program, [network], device="cuda")
    rules = TorchRules(program, "cuda")
    values = inputs_of(code, runs)
    states = engine.matching.tensor_of(np.array([algorithm.state(v) for v in values]))
    answers: list[dict[str, int] | None] = [None] * runs
    wrong_steps, evaluations, margin, n_max, step = 0, 0, float("inf"), 0, 0
    with torch.inference_mode():
        while any(answer is None for answer in answers) and step < 200_000 and wrong_steps == 0:
            going = torch.tensor([answer is None for answer in answers], device="cuda")
            estimate, n = engine.estimate(states)
            truth = rules(states)
            after = (estimate > 0.5) & (n > 0)[:, None]
            wrong_steps += int(((after != truth).any(dim=1) & going).sum())
            evaluations += int(going.sum())
            margin = min(margin, float((estimate[:, : program.bits] - 0.5).abs().amin(dim=1)[going].amin()))
            n_max = max(n_max, int(n.max()))
            states = after
            step += 1
            halted = states[:, machine.halt].tolist()
            if any(h and a is None for h, a in zip(halted, answers, strict=True)):
                now = states.cpu().numpy()
                for number, stopped in enumerate(halted):
                    if stopped and answers[number] is None:
                        answers[number] = algorithm.read(now[number, : program.bits])
    wrong = sum(answer != run_interpreter(code, v) for answer, v in zip(answers, values, strict=True))
    return {
        "what": "SBN program",
        "program": code.name,
        "machine": machine.kind,
        "instructions": len(code.instructions),
        "words": len(code.words),
        "K": program.templates,
        "width": width,
        "seed": seed,
        "training_seconds": round(training, 2),
        "training_steps": history.steps,
        "runs": runs,
        "evaluations": evaluations,
        "wrong_steps": wrong_steps,
        "wrong_answers": wrong,
        "margin": round(margin, 4),
        "n_max": n_max,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--only", nargs="*", default=[], help="MACHINE:PROGRAM, such as B:sort4; by default all")
    parser.add_argument("--width", type=int, help="by default 32,768 on machine B and 65,536 on machine A")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("this needs a CUDA device")
    lines = [{"what": "device", "name": torch.cuda.get_device_name(), "torch": torch.__version__}]
    for kind, make, width in (("B", machine_b, 32_768), ("A", machine_a, 65_536)):
        for path in sorted(FOLDER.glob("*.sbn")):
            code = load_sbn(path)
            if arguments.only and f"{kind}:{code.name}" not in arguments.only:
                continue
            try:
                line = closed_loop(make(code.sizes), code, arguments.width or width, 0, arguments.runs)
            except TrainingError as error:
                line = {"what": "SBN program", "program": code.name, "machine": kind, "failed": str(error)}
            lines.append(line)
            print(json.dumps(line), flush=True)
            if arguments.out:
                arguments.out.write_text("\n".join(map(json.dumps, lines)) + "\n")


if __name__ == "__main__":
    main()
