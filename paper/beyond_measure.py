"""What the paper could not do, measured: ensembles and single networks for addition, multiplication and SBN."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from bitwright.common.bits import BoolArray, to_bits
from bitwright.common.errors import InputError
from bitwright.engines.protocol import Engine
from bitwright.engines.rules import RuleEngine
from bitwright.machines import Code, Instruction, Machine, Sizes, machine_b
from bitwright.networks import TrainingError
from bitwright.networks.network import Descent
from bitwright.rules import Algorithm, Program
from bitwright.rules.algorithms import addition, multiplication
from bitwright.runs.loop import drive, ending_of
from bitwright.runs.observers import Margins
from bitwright.runs.sliced import plan
from bitwright.runs.successors import random_states
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.theory.rounding import ROUNDINGS, round_outputs
from bitwright.validation.judge import Comparison, LiteralRules
from paper.accuracy import expected_accuracy, networks_for
from paper.members import TestSet, TrainedMembers, curve, sizes_to
from paper.table import Row
from paper.torch_network import TorchNetworkEngine
from paper.training import STARTS, Plan, Recipe, Start, train

ACCURACY = 0.9
ENSEMBLES = (
    *("task", "bits", "start", "trial", "width", "seed", "most", "inputs", "rounding", "K", "k", "quantity"),
    *("networks", "accuracy", "device"),
)
MARGINS = ("task", "bits", "width", "trial", "seed", "inputs", "K", "k", "margin", "wrong", "device")
EVERYTHING = (
    *("task", "bits", "width", "seed", "K", "inputs", "evaluations", "wrong_steps", "wrong_answers", "margin"),
    *("device",),
)
CODES, STEPS = 64, 64  # random SBN codes, and the steps that each is followed


@dataclass(frozen=True)
class Ensemble:
    """An ensemble that grows to `most` members."""

    task: str
    bits: int
    start: str
    trial: int
    width: int
    seed: int
    most: int
    inputs: int


@dataclass(frozen=True)
class Single:
    """One network with a zero-output start, and its worst margin."""

    task: str
    bits: int
    width: int
    trial: int
    seed: int
    inputs: int


@dataclass(frozen=True)
class Every:
    """One network with a zero-output start, on every input in closed loop."""

    task: str
    bits: int
    width: int
    seed: int


@lru_cache(maxsize=4)
def states_for(task: str, bits: int, count: int, seed: int) -> TestSet:
    return TestSet.of(*states_of_runs(task, bits, count, seed))


def ensemble_rows(device: str, job: Ensemble) -> list[Row]:
    """The first N at which 90% and all of the states come out right, and accuracy against N, for both roundings."""
    test = states_for(job.task, job.bits, job.inputs, job.seed)
    recipe = _recipe(job.width, _seed(job.seed, job.task, job.bits, job.trial), job.start, device)
    members = TrainedMembers(test, recipe)
    every = curve(test, members, ROUNDINGS, "ntk", range(1, job.most + 1), min(64, job.most))  # (roundings, N)
    names = astuple(job)
    rows: list[Row] = []
    for rounding, line in zip(ROUNDINGS, every, strict=True):
        about = (rounding, test.examples.examples, test.examples.program.bits)
        for quantity, wanted in (("to 90%", ACCURACY), ("to all", 1.0)):
            reached = np.flatnonzero(line >= wanted)
            N = int(reached[0]) + 1 if len(reached) else None
            accuracy = float(line[reached[0]]) if len(reached) else float(line.max())
            rows.append((*names, *about, quantity, N, accuracy, members.device))
        rows += [(*names, *about, "curve", N, float(line[N - 1]), members.device) for N in sizes_to(line.shape[0], 30)]
    return rows


def expected_rows(jobs: list[Ensemble]) -> list[Row]:
    """The same for the limit with a random start, in closed form: the N whose expected accuracy is 90%, and curves.

    With a zero-output start the limit has no variance, and one network is enough where the mean is right.
    """
    rows: list[Row] = []
    for task, bits in dict.fromkeys((job.task, job.bits) for job in jobs):
        job = next(job for job in jobs if (job.task, job.bits) == (task, bits))
        test = states_for(task, bits, job.inputs, job.seed)
        for rounding in ROUNDINGS:
            gaps, sigma = test.gaps(rounding, "ntk")
            names = (task, bits, "random", None, None, job.seed, None, job.inputs)
            about = (rounding, test.examples.examples, test.examples.program.bits)
            N = networks_for(ACCURACY, gaps, sigma)
            rows.append((*names, *about, "expected to 90%", N, ACCURACY if N else None, "closed form"))
            rows += [
                (*names, *about, "expected curve", size, expected_accuracy(size, gaps, sigma), "closed form")
                for size in sizes_to(4 * (N or 1000), 40)
            ]
    return rows


def margin_rows(device: str, job: Single) -> list[Row]:
    """The smallest |zhat - 1/2| over the states, and how many had a wrong bit; neither where training did not end."""
    test = states_for(job.task, job.bits, job.inputs, job.seed)
    recipe = _recipe(
        job.width, _seed(job.seed, job.task, job.bits, 1000 + job.trial), "zero", device, descent="momentum"
    )
    members = TrainedMembers(test, recipe)
    K, program = test.examples.examples, test.examples.program
    names = (*astuple(job), K, program.bits)
    try:
        outputs = members.outputs(0, 1)[0].astype(np.float64)
    except TrainingError:  # too narrow
        return [(*names, None, None, members.device)]
    bits, margins = round_outputs(outputs, test.n, program.writers, K, "calibrated")
    right = (bits == (test.matched > 0)).all(axis=1)
    worst = float(margins[right].min()) if right.all() else 0.0
    return [(*names, worst, int(test.times[~right].sum()), members.device)]


def every_rows(device: str, job: Every) -> list[Row]:
    """All products through one network: each step against the templates, each answer against Python's own product."""
    algorithm = multiplication(job.bits)
    network, _ = train(algorithm.program, _recipe(job.width, job.seed, "zero", device, "momentum"))
    dtype = "float32" if device == "cpu" else "bfloat16"
    engine, where = TorchNetworkEngine(algorithm.program, [network], device=device, dtype=dtype), f"{device}, {dtype}"
    total, wrong_steps, wrong_answers, margin = 0, 0, 0, float("inf")
    pairs = list(product(range(1 << job.bits), range(1 << job.bits)))
    for first in range(0, len(pairs), engine.chunk):
        chunk = pairs[first : first + engine.chunk]
        wrong, answers, smallest = _closed_loop(algorithm, engine, _starts(algorithm, chunk))
        wrong_steps += wrong
        wrong_answers += sum(a * b != found for (a, b), found in zip(chunk, answers, strict=True))
        total, margin = total + len(chunk) * (algorithm.steps or 0), min(margin, smallest)
    K = algorithm.program.templates
    return [(*astuple(job), K, len(pairs), total, wrong_steps, wrong_answers, margin, where)]


def _starts(algorithm: Algorithm, pairs: list[tuple[int, int]]) -> BoolArray:
    length = len(algorithm.inputs[0].bits)
    return algorithm.states(np.array([[*to_bits(a, length), *to_bits(b, length)] for a, b in pairs], dtype=bool))


def _closed_loop(algorithm: Algorithm, engine: Engine, starts: BoolArray) -> tuple[int, list[int], float]:
    """Wrong steps, answers and the smallest margin of runs in which the network's own states are fed back."""
    steps, margins = (
        Comparison(algorithm, LiteralRules(algorithm.program), plan(algorithm.program), len(starts)),
        Margins(),
    )
    done = drive(engine, starts, ending_of(algorithm), algorithm.steps or 0, [steps, margins])
    smallest = float("inf") if margins.smallest is None else float(margins.smallest.min())
    name = algorithm.outputs[0].name
    return steps.wrong_steps, [algorithm.read(state)[name] for state in done.states], smallest


def _recipe(width: int, seed: int, start: str, device: str, descent: Descent = "plain") -> Recipe:
    """Plain descent for ensembles, as the theorem has it; momentum for single networks."""
    chosen: Start = next(name for name in STARTS if name == start)
    return Recipe(width, seed, start=chosen, plan=Plan(1e-4, descent), device=device)


def _seed(seed: int, task: str, bits: int, trial: int) -> int:
    return int(np.random.SeedSequence(seed, spawn_key=(*task.encode(), bits, trial)).generate_state(1)[0])


def states_of_runs(task: str, bits: int, count: int, seed: int) -> tuple[Program, BoolArray]:  # (count, k)
    """A program and `count` states drawn from random runs of it: any step that matches two examples or more.

    A state that matches one example *is* that example, and no test (Lemma 6.1). For SBN, machine B with two words and
    two instructions runs random instructions on random words of `bits` bits.
    """
    if task == "SBN":
        machine = machine_b(Sizes(2, 2, bits))
        program, states = machine.program, _states_of_codes(machine, seed)
    elif task in ("addition", "multiplication"):
        algorithm = addition(bits) if task == "addition" else multiplication(bits)
        program, states = algorithm.program, random_states(algorithm, 4 * count, seed)
    else:
        raise InputError(f"there is no task '{task}'; choose addition, multiplication or SBN")
    unseen = states[TrainingSet(program).matches(states)[1] >= 2]
    return program, unseen[np.random.default_rng([seed, bits]).integers(len(unseen), size=count)]


def _states_of_codes(machine: Machine, seed: int) -> BoolArray:
    rng = np.random.default_rng(seed)
    starts = np.array([_random_code(machine, rng) for _ in range(CODES)])
    batch, states = RuleEngine(machine.program).begin(starts), [starts]
    for _ in range(STEPS - 1):
        batch.step()
        states.append(batch.states())
    return np.concatenate(states)


def _random_code(machine: Machine, rng: np.random.Generator) -> BoolArray:
    """A start state with random instructions on random words."""
    sizes = machine.sizes
    operands = rng.integers(sizes.words, size=(sizes.instructions, 2)).tolist()
    jumps = rng.integers(sizes.instructions, size=sizes.instructions).tolist()
    half = 1 << (sizes.width - 1)
    words = rng.integers(-half, half, size=sizes.words).tolist()
    code = tuple(Instruction(a, b, c) for (a, b), c in zip(operands, jumps, strict=True))
    return machine.algorithm(Code(code, tuple(words), sizes.width)).state({})
