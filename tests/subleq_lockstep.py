"""Runs images on machine V next to the plain interpreter: memory, address, steps and ports of every instruction.

The machine is whatever makes its steps: the templates, the loops that follow what moves, or a trained network.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from subleq_interpreter import Interpreter

from bitwright.common.bits import BoolArray, from_bits
from bitwright.engines.protocol import Batch
from bitwright.engines.rules import RuleEngine
from bitwright.machines.subleq import Assembly, MachineV, Shape, find_dialect, machine_v

Begin = Callable[[BoolArray], Batch]


def random_image(rng: random.Random, shape: Shape) -> list[int]:
    """Words that make instructions meet: small addresses, a = b, operands inside the instruction, ports, odd jumps."""
    words, top = shape.words, 1 << shape.width
    image = [rng.choice((0, 1, -1, top // 2, top // 2 - 1, rng.randrange(top))) % top for _ in range(words)]
    for at in range(0, words - 2, 3):
        if rng.random() < 0.15:
            continue  # data, or an instruction of anything
        a, b = rng.randrange(words), rng.randrange(words)
        if rng.random() < 0.2:
            a = b
        if rng.random() < 0.2:
            b = at + rng.randrange(3)  # the instruction changes itself
        if rng.random() < 0.1:
            b = (at + 3 + rng.randrange(3)) % words  # or the next one
        if rng.random() < 0.08:
            a = rng.choice((top - 1, top // 2, words % top))
        if rng.random() < 0.12:
            b = rng.choice((top - 1, words % top))
        c = rng.choice((at + 3, 3 * rng.randrange(max(1, words // 3)), rng.randrange(words), rng.randrange(top)))
        image[at : at + 3] = [a % top, b % top, c % top]
    return image


@dataclass
class Report:
    instructions: int = 0
    halts: int = 0
    faults: int = 0
    inputs: int = 0
    outputs: int = 0
    mismatches: list[str] = field(default_factory=list)


@dataclass
class _Row:
    """One image on its way: its oracle, and what must hold at which step."""

    truth: Interpreter
    asked: list[int | None]
    printed: list[int]
    due: int | None = 0  # when the next boundary comes; None while it waits for its host
    landed: tuple[int, list[int]] | None = None  # when, and which, words must be in memory
    done: bool = False


def compare(
    machine: MachineV,
    images: Sequence[Sequence[int]],
    most: int = 10,
    seed: int = 0,
    begin: Begin | None = None,
) -> Report:
    """Runs all images together, up to `most` instructions each, and notes the first disagreement of each."""
    rng, report = random.Random(seed), Report()
    begin = begin or RuleEngine(machine.program).begin
    batch = begin(np.array([machine.start(image) for image in images]))
    rows = []
    for image in images:
        supply, asked, printed = [rng.choice((None, rng.randrange(256))) for _ in range(most + 1)], [], []

        def read(supply: list[int | None] = supply, asked: list[int | None] = asked) -> int | None:
            asked.append(supply.pop())
            return asked[-1]

        rows.append(_Row(Interpreter(machine.shape, image, read, printed.append), asked, printed))
    step, settle = 0, 0
    while any(not row.done for row in rows):
        states = batch.states()
        changed = False
        for number, row in enumerate(rows):
            if row.done:
                continue
            problem = _look(machine, row, states[number], step, most, report)
            if problem:
                report.mismatches.append(f"image {number} {list(images[number])}, step {step}: {problem}")
                row.done = True
            elif not row.done and machine.ports and rng.random() < 0.7:  # the host may let it wait
                changed |= _serve(machine, row, states[number], step, report)
        if step > (most + 4) * (machine.timing.steps + 30) + 200:
            report.mismatches += [f"image {n}: it does not end" for n, row in enumerate(rows) if not row.done]
            break
        settle = settle + 1 if all(row.done or states[n, machine.halt] for n, row in enumerate(rows)) else 0
        if settle > 40 + machine.shape.width + machine.timing.depth:
            _end(machine, rows, states, report)
            break
        batch = begin(states) if changed else batch
        batch.step()
        step += 1
    return report


def _look(machine: MachineV, row: _Row, state: BoolArray, step: int, most: int, report: Report) -> str | None:
    truth, timing = row.truth, machine.timing
    if row.landed and row.landed[0] == step:
        found = machine.memory(state)
        if found != row.landed[1]:
            return f"memory {found}, not {row.landed[1]}"
        row.landed = None
        row.done = truth.executed > most
    if row.done or state[machine.halt]:
        return None if row.done or truth.halted else "HALT, but the interpreter goes on"
    if row.due is not None and (row.due == step) != bool(state[machine.boundary]):
        return f"boundary {bool(state[machine.boundary])}, but the next is due at {row.due}"
    if not state[machine.boundary]:
        return None
    if machine.position(state) != truth.pc:
        return f"address {machine.position(state)}, not {truth.pc}"
    row.landed = step + timing.depth + 1, list(truth.memory)
    asked, printed = len(row.asked), len(row.printed)
    executed = truth.step()
    report.instructions += executed
    waits = len(row.asked) > asked or len(row.printed) > printed
    row.due = None if waits or not executed else step + timing.steps
    return None


def _serve(machine: MachineV, row: _Row, state: BoolArray, step: int, report: Report) -> bool:
    """Answers a request, or takes what is offered; whether the state was changed."""
    ports, timing = machine.ports, machine.timing
    assert ports is not None
    if state[ports.request] and row.due is None:
        given, width = row.asked[-1], machine.shape.width
        state[ports.given] = [given is None or given >> j & 1 for j in range(width)]
        state[ports.give] = True
        row.due = step + timing.steps_of_input - (timing.answer + 3 + timing.operand_check + timing.wait_for_input)
        report.inputs += 1
        return True
    if state[ports.offer] and row.due is None:
        if from_bits(state[ports.shown]) & 0xFF != row.printed[-1]:
            report.mismatches.append(f"shows {from_bits(state[ports.shown])}, not {row.printed[-1]}")
        state[ports.taken] = True
        row.due = step + 3
        report.outputs += 1
        return True
    return False


def _end(machine: MachineV, rows: Sequence[_Row], states: BoolArray, report: Report) -> None:
    """All that are left have halted, and nothing moves any more."""
    for number, row in enumerate(rows):
        if row.done:
            continue
        found = (machine.position(states[number]), machine.memory(states[number]))
        fault = machine.fault is not None and bool(states[number, machine.fault])
        if found != (row.truth.pc, row.truth.memory) or fault != row.truth.fault:
            report.mismatches.append(f"image {number}: halted with {found}, not {(row.truth.pc, row.truth.memory)}")
        report.halts += 1
        report.faults += fault


def machine_of(program: Assembly) -> MachineV:
    """The machine that a program says it is for."""
    assert program.words is not None
    assert program.width is not None
    assert program.dialect is not None
    return machine_v(Shape(program.words, program.width, find_dialect(program.dialect)))


def reader(text: bytes) -> Callable[[], int | None]:
    """A host that has these bytes to read."""
    supply = list(text)
    return lambda: supply.pop(0) if supply else None
