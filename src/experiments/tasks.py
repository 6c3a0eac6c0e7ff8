"""Programs by name and size, and random states out of their runs: what trained networks are tested on."""

from __future__ import annotations

import numpy as np

from bitwright.algorithms import addition, multiplication
from bitwright.bits import BoolArray
from bitwright.engines.rules import RuleEngine
from bitwright.errors import InputError
from bitwright.machines import Code, Instruction, Machine, Sizes, machine_b
from bitwright.program import Program
from bitwright.running.sampling import random_states
from bitwright.theory.encoding.training_set import TrainingSet

CODES, STEPS = 64, 64  # random SBN codes, and the steps that each is followed


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
