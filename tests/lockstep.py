"""Runs codes on a machine next to the plain interpreter and compares memory, address and steps at every instruction."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from bitwright.common.errors import InputError, counted
from bitwright.engines.rules import PackedBatch, RuleEngine
from bitwright.machines import Code, Instruction, Machine, Sizes, interpret
from bitwright.rules import Program, parse

Steps = Callable[[Sizes, int, Instruction], int]


def random_code(rng: random.Random, sizes: Sizes) -> Code:
    """Random instructions and words; a = b is forced often, and jumps go to every address there is."""
    instructions = []
    for _ in range(sizes.instructions):
        a = rng.randrange(sizes.words)
        b = a if rng.random() < 0.2 else rng.randrange(sizes.words)
        instructions.append(Instruction(a, b, rng.randrange(2**sizes.instruction_bits)))
    half = 2 ** (sizes.width - 1)
    words = tuple(rng.choice((0, -1, -half, half - 1, rng.randrange(-half, half))) for _ in range(sizes.words))
    return Code(tuple(instructions), words, sizes.width)


@dataclass
class Report:
    """What a comparison found: how many instructions agreed, and the first disagreement of each code."""

    instructions: int = 0
    mismatches: list[str] = field(default_factory=list)


@dataclass
class _Runner:
    """One code on its way: what must hold at the next boundary, and when that is due."""

    code: Code
    truth: Iterator[tuple[int, list[int]]]
    address: int
    memory: list[int]
    due: int
    done: bool = False


def compare(
    machine: Machine, codes: Sequence[Code], steps: Steps, most: int = 10, program: Program | None = None
) -> Report:
    """Runs all codes (of the machine's sizes) together for up to `most` instructions each.

    `program` replaces the machine's own by a changed one, to see whether the comparison notices.
    """
    sizes, report = machine.sizes, Report()
    states = np.array([machine.algorithm(code).state({}) for code in codes])
    batch = PackedBatch(RuleEngine(program or machine.program), states)
    runners = [_Runner(code, interpret(code, {}), 0, list(code.words), 0) for code in codes]
    executed = [0] * len(codes)
    step = 0
    while any(not runner.done for runner in runners):
        boundary = batch.bit(machine.boundary)
        now = batch.states() if boundary.any() or any(r.due == step and not r.done for r in runners) else None
        for number, runner in enumerate(runners):
            if runner.done:
                continue
            if boundary[number] != (runner.due == step):
                report.mismatches.append(f"code {number}: boundary at step {step}, due at {runner.due}")
                runner.done = True
            elif boundary[number] and now is not None:
                found = (machine.address(now[number]), machine.memory(now[number]))
                if found != (runner.address, runner.memory):
                    wanted = (runner.address, runner.memory)
                    report.mismatches.append(f"code {number}: {found} at step {step}, not {wanted}")
                    runner.done = True
                    continue
                report.instructions += executed[number] > 0
                following = next(runner.truth, None)
                if following is None or executed[number] >= most:
                    runner.done = True
                    continue
                address, memory = following
                instruction = runner.code.instructions[address]
                runner.due = step + steps(sizes, address, instruction)
                after = (address + 1) % 2**sizes.instruction_bits
                runner.address = instruction.c if memory[instruction.b] < 0 else after
                runner.memory = list(memory)
                executed[number] += 1
        batch.step()
        step += 1
    return report


Change = Callable[[set[str], list[str]], list[str] | None]


def altered(program: Program, change: Change) -> Program:
    """The program with what its templates write changed: `change` gets the bits that a template wants on and those it
    writes, and gives what it shall write instead (None or nothing: the template goes)."""
    lines = []
    for line in program.text_lines():
        if line.startswith("when "):
            when, _, writes = line.removeprefix("when ").partition(" write ")
            on = {test.removesuffix("=1") for test in when.split() if test.endswith("=1")}
            left = change(on, writes.split())
            if not left:
                continue
            line = f"when {when} write {' '.join(left)}"
        lines.append(line)
    return parse("\n".join(lines)).program


def run_interpreter(code: Code, values: Mapping[str, int] | None = None, limit: int = 1_000_000) -> dict[str, int]:
    """Returns the outputs of the plain interpreter; raises InputError if it does not halt within the limit."""
    memory = code.memory(values or {})
    run = interpret(code, values)
    for _, memory in islice(run, limit):  # noqa: B007
        pass
    if next(run, None) is not None:
        raise InputError(f"{code.name} did not halt within {counted(limit, 'instruction')}")
    return {name: memory[code.names[name]] for name in code.outputs}
