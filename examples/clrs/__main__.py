"""python -m examples.clrs: tasks of CLRS-30 by one proved network, scored by dm-clrs's own evaluators."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import bitwright
from examples.clrs.stored import LEFT_OUT, Samples, store
from examples.clrs.tasks import PROGRAMS, TASKS, Player


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m examples.clrs", description=__doc__)
    parser.add_argument("--network", type=Path, help="a network of these programs; one is trained where none is given")
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS), metavar="TASK")
    parser.add_argument("--lengths", nargs="*", type=int, default=[16, 64], metavar="N")
    parser.add_argument("--samples", type=int, default=4, help="of each task at each length")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--store", action="store_true", help="do not run anything, but renew the stored samples")
    options = parser.parse_args()
    if options.store:
        store_samples(options)
    else:
        score(options)


def score(options: argparse.Namespace) -> None:
    """Runs every sample by the network, and prints what dm-clrs's evaluators say."""
    import clrs

    programs = [bitwright.open(path) for path in PROGRAMS]
    if options.network is None:
        print("training one network for all programs")
        network = bitwright.train(programs)
    else:
        network = bitwright.Network.load(options.network)
    for program in programs:
        print(str(bitwright.certify(program, network=network)).splitlines()[0])
    print(f"dm-clrs {version('dm-clrs')}, seed {options.seed}")
    print(f"{'task':30}{'length':>7}{'samples':>8}{'score':>8}{'steps':>11}{'seconds':>9}")
    worst = 1.0
    for task in options.tasks:
        for length in options.lengths:
            feedback = sampled(task, length, options.samples, options.seed)
            inputs = {point.name: point.data for point in feedback.features.inputs}
            play, begun = Player(network), time.perf_counter()
            found = [TASKS[task](play, sample) for sample in apart(inputs)]
            predictions = {
                point.name: clrs.DataPoint(
                    point.name, point.location, point.type_, np.stack([outputs[point.name] for outputs in found])
                )
                for point in feedback.outputs
            }
            reached = clrs.evaluate(feedback.outputs, predictions)["score"]
            worst = min(worst, reached)
            seconds = time.perf_counter() - begun
            print(f"{task:30}{length:7}{len(found):8}{reached:8.2%}{play.steps:11,}{seconds:9.1f}", flush=True)
    print(f"smallest score: {worst:.2%}")


def store_samples(options: argparse.Namespace) -> None:
    """Renews the stored samples: what dm-clrs's samplers give with this seed."""
    samples: Samples = {}
    for task in options.tasks:
        for length in options.lengths:
            feedback = sampled(task, length, options.samples, options.seed)
            inputs = {point.name: point.data for point in feedback.features.inputs if point.name not in LEFT_OUT}
            outputs = {f"={point.name}": point.data for point in feedback.outputs}
            samples[task, length] = inputs | outputs
    about: dict[str, Any] = {"dm-clrs": version("dm-clrs"), "seed": options.seed, "samples": options.samples}
    store(samples, about)


def sampled(task: str, length: int, samples: int, seed: int) -> Any:
    """Samples of a task by dm-clrs; a permutation as pointers, as its evaluators compare them."""
    import clrs

    sampler, spec = clrs.build_sampler(task, num_samples=samples, length=length, seed=seed)
    _, feedbacks = clrs.process_permutations(spec, iter([sampler.next()]), enforce_permutations=False)
    return next(feedbacks)


def apart(inputs: dict[str, np.ndarray]) -> Iterator[dict[str, np.ndarray]]:
    """Each sample of a batch."""
    for at in range(len(next(iter(inputs.values())))):
        yield {name: array[at] for name, array in inputs.items()}


if __name__ == "__main__":
    main()
