"""Programs by name and size, and random states out of their runs: what trained networks are tested on."""

from __future__ import annotations

import numpy as np

from bitwright.algorithms import addition, multiplication
from bitwright.bits import BoolArray
from bitwright.errors import InputError
from bitwright.execution.templates import TemplatesEngine
from bitwright.machines import Code, Instruction, Machine, Sizes, machine_b
from bitwright.program import Program
from bitwright.training_set import TrainingSet

RUNS = 64


def states_of_runs(task: str, bits: int, count: int, seed: int) -> tuple[Program, BoolArray]:  # (count, k)
    """A program and `count` states drawn from 64 random runs of it: any step that matches two examples or more.

    A state that matches one example *is* that example, and no test (Lemma 6.1). For SBN, machine B with two words and
    two instructions runs random instructions on random words of `bits` bits.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(bits, len(task))))
    program, starts, steps = _starts(task, bits, rng)
    batch, states = TemplatesEngine(program).begin(starts), [starts]
    for _ in range(steps - 1):
        batch.step()
        states.append(batch.states())
    every = np.concatenate(states)
    unseen = every[TrainingSet(program).matches(every)[1] >= 2]
    return program, unseen[rng.integers(len(unseen), size=count)]


def _starts(task: str, bits: int, rng: np.random.Generator) -> tuple[Program, BoolArray, int]:
    """The program, the states that the runs start from, and how many steps the runs take."""
    if task == "SBN":
        machine = machine_b(Sizes(2, 2, bits))
        return machine.program, np.array([_random_code(machine, rng) for _ in range(RUNS)]), 64
    if task not in ("addition", "multiplication"):
        raise InputError(f"there is no task '{task}'; choose addition, multiplication or SBN")
    algorithm = addition(bits) if task == "addition" else multiplication(bits)
    values = rng.integers(1 << bits, size=(RUNS, 2))
    names = [word.name for word in algorithm.inputs]
    starts = [algorithm.state(dict(zip(names, map(int, pair), strict=True))) for pair in values]
    return algorithm.program, np.array(starts), algorithm.steps or 1


def _random_code(machine: Machine, rng: np.random.Generator) -> BoolArray:
    """A start state with random instructions on random words."""
    sizes = machine.sizes
    operands = rng.integers(sizes.words, size=(sizes.instructions, 2))
    jumps = rng.integers(sizes.instructions, size=sizes.instructions)
    half = 1 << (sizes.width - 1)
    words = rng.integers(-half, half, size=sizes.words)
    code = Code(
        tuple(Instruction(int(a), int(b), int(c)) for (a, b), c in zip(operands, jumps, strict=True)),
        tuple(map(int, words)),
        sizes.width,
    )
    return machine.algorithm(code).state({})
