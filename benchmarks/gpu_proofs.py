"""On a CUDA device: proofs of integer networks by trying every state, beside the device's matrix rate.

    python -m benchmarks.gpu_proofs [--out FILE] [--only small]

Prints one JSON line a measurement. Networks are trained first, from seed 0; a proof's time is that of the whole
domain, kernels compiled before. The rates of int8 and float16 products are measured in the same run: what the proof's
products would take at that rate is the limit it is compared with. In int8 a hidden value has two digits, so the second
product counts twice.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bitwright import Algorithm, addition, multiplication
from bitwright.engines.integer import DeviceSums
from bitwright.networks import Recipe, train
from bitwright.networks.integer import ExactSums
from bitwright.proofs.exhaustion.certificate import certify_network
from bitwright.proofs.exhaustion.device import DeviceProver
from bitwright.proofs.exhaustion.task import ProofTask
from bitwright.rules.pattern import Pattern
from bitwright.verbs.cells import quantized

LINES: list[dict[str, Any]] = []


def say(**line: Any) -> None:
    LINES.append(line)
    print(json.dumps(line), flush=True)


def matrix_rate(digits: bool) -> float:
    """Operations a second of a large square product: of int8, or of float16."""
    size = 8_192
    if digits:
        a, b = (torch.randint(-127, 128, (size, size), dtype=torch.int8, device="cuda") for _ in range(2))
    else:
        a, b = (torch.randn((size, size), dtype=torch.float16, device="cuda") for _ in range(2))
    best = float("inf")
    for _ in range(5):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(5):
            if digits:
                torch._int_mm(a, b.T)
            else:
                a @ b
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - begin) / 5)
    return 2 * size**3 / best


def same_sums(algorithm: Algorithm, network: Any) -> None:
    """The fused kernel beside NumPy and beside plain products in float64, on random matches."""
    program, device = algorithm.program, torch.device("cuda")
    matched = np.random.default_rng(0).random((10_000, program.templates)) < 0.25  # more than any state can have
    fused, plain = DeviceSums(network, program, device), DeviceSums(network, program, device, fused=False)

    def on_device(sums: DeviceSums) -> Any:
        given = torch.zeros((len(matched), sums.inputs), dtype=torch.uint8, device=device)
        given[:, : program.templates] = torch.from_numpy(matched).to(device)
        return sums(given).cpu().numpy().astype(np.int64)

    numpy = ExactSums(network, program).products(matched)
    say(
        what="same sums",
        program=algorithm.name,
        fused=fused.fused,
        states=len(matched),
        fused_differs=int((on_device(fused) != numpy).sum()),
        float64_differs=int((on_device(plain) != numpy).sum()),
    )


def prove(algorithm: Algorithm, width: int, domain: str, rates: dict[str, float]) -> None:
    begin = time.perf_counter()
    trained = train(algorithm.program, Recipe(width))[0]
    network, cost = quantized(trained, Pattern.of_state(algorithm.program), runs=algorithm)
    spent = time.perf_counter() - begin
    same_sums(algorithm, network)
    task = ProofTask(algorithm, network, domain, "cuda")
    DeviceProver(task).prove(0, min(task.domain.size, 4_096))  # compiles the kernels
    torch.cuda.synchronize()
    begin = time.perf_counter()
    found = certify_network(algorithm, network, domain, device="cuda")
    seconds = time.perf_counter() - begin
    templates, bits = algorithm.program.templates, algorithm.program.bits
    int8, float16 = 2 * found.states * width * (templates + 2 * bits), 2 * found.states * width * (templates + bits)
    say(
        what="proof",
        program=algorithm.name,
        bits=len(algorithm.inputs[0].bits),
        domain=domain,
        width=width,
        seed=0,
        training_s=round(spent, 2),
        sample_margin_before=round(cost.margin_before, 4),
        verdict=found.verdict,
        states=found.states,
        wrong=found.wrong,
        distance=found.distance,
        margin=None if found.margin is None else round(found.margin, 4),
        seconds=seconds,
        states_per_s=round(found.states / seconds),
        share_of_int8_rate=round(int8 / seconds / rates["int8"], 3),
        share_of_float16_rate=round(float16 / seconds / rates["float16"], 3),
        network_sha256=found.network_sha256,
        program_id=found.program_id,
        tensors=found.tensors,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="also write the lines to this file")
    parser.add_argument("--only", choices=["small", "addition", "multiplication"], help="some of them")
    given = parser.parse_args()
    rates = {"int8": matrix_rate(digits=True), "float16": matrix_rate(digits=False)}
    device = torch.cuda.get_device_name()
    say(
        what="device", name=device, torch=torch.__version__, **{f"{name}_rate": f"{r:.4g}" for name, r in rates.items()}
    )
    if given.only == "small":
        prove(addition(7), 4_096, "states", rates)
        prove(multiplication(5), 8_192, "runs", rates)
    if given.only in (None, "addition"):
        prove(addition(10), 4_096, "states", rates)
        prove(addition(10), 8_192, "states", rates)
    if given.only in (None, "multiplication"):
        prove(multiplication(10), 16_384, "runs", rates)
    if given.out:
        given.out.write_text("".join(json.dumps(line) + "\n" for line in LINES))


if __name__ == "__main__":
    main()
