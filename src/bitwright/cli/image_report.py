"""What came of a run of machine V: on stdout the words asked for or JSON, on stderr what it did."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.cli.memory import Words
from bitwright.cli.reporting import note, print_json, program_id
from bitwright.cli.streams import print_lines
from bitwright.cli.terminal import Terminal
from bitwright.errors import counted

if TYPE_CHECKING:
    from bitwright.engines.protocol import Engine
    from bitwright.running.computer import Computer, MachineEnding

_REASONS = {
    "limit": "stopped at --max-instructions",
    "time": "stopped at --max-seconds",
    "stopped": "stopped",
    "stuck": "nothing moves any more, and it has not halted; the engine has lost its way",
}


@dataclass(frozen=True)
class Asked:
    """What a user wants to know about a run."""

    target: str
    image: str  # the hash of the words that memory began with
    start: int | None  # the first address; None for a run that was taken up
    words: Sequence[Words]
    signed: bool
    seed: int | None  # of the networks, where any were drawn
    as_json: bool
    quiet: bool


def report(asked: Asked, computer: Computer, engine: Engine, ending: MachineEnding, terminal: Terminal) -> int:
    """Says it, and gives the exit code: 0 for a halt, 1 for any other end, 128 and the signal where one came."""
    tally, shape = ending.tally, computer.machine.shape
    memory = (ending.memory or computer.memory()) if asked.words else []
    found = [(words, words.of(memory, shape, asked.signed)) for words in asked.words]
    pc = shape.signed(ending.pc) if asked.signed and ending.pc is not None else ending.pc
    if asked.as_json:
        print_json(_document(asked, computer, engine, ending, terminal, pc, found))
    elif found:
        if terminal.mid_line:
            click.echo()
        print_lines(line for words, values in found for line in words.lines(values, asked.quiet))
    if terminal.signal is None and terminal.stopped:  # nobody reads us any more, so there is nothing to say
        return 0
    if not asked.as_json and not asked.quiet:
        for line in _statistics(computer, engine, ending, pc):
            note(line)
        if engine.cell_facts is not None:
            from bitwright.running.sentences import cells_sentence

            note(cells_sentence(engine.cell_facts))
        if not found and not shape.dialect.io:
            note("this dialect has no output; --memory FROM:TO shows what is in memory")
    if ending.reason in _REASONS:
        where = "" if pc is None else f", at address {pc}"
        done = counted(tally.instructions, "instruction")
        click.echo(f"bitwright: {_REASONS[ending.reason]} after {done}{where}", err=True)
    if tally.wrong:
        advice = "use a wider network" if engine.digests else "use more --networks"
        wrong = f"{counted(tally.wrong, 'step')} of {tally.steps:,} differ" + "s" * (tally.wrong == 1)
        click.echo(f"bitwright: {wrong} from what the rules give; {advice}", err=True)
    if ending.reason == "stopped":
        return 128 + (terminal.signal or signal.SIGINT)
    return 0 if ending.reason in ("halt", "fault") and not tally.wrong else 1


def _document(
    asked: Asked,
    computer: Computer,
    engine: Engine,
    ending: MachineEnding,
    terminal: Terminal,
    pc: int | None,
    found: Sequence[tuple[Words, list[int]]],
) -> dict[str, object]:
    machine, tally = computer.machine, ending.tally
    return {
        "name": Path(asked.target).stem,
        "program_id": program_id(machine.program),
        "image_id": asked.image,
        "machine": "V",
        "words": machine.shape.words,
        "word_width": machine.shape.width,
        "dialect": machine.shape.dialect.flags,
        "start": asked.start,
        "ended": ending.reason,
        "halted": ending.reason in ("halt", "fault"),
        "pc": pc,
        "memory": [{"asked": words.asked, "address": words.first, "words": values} for words, values in found],
        "signed": asked.signed,
        "output": bytes(terminal.collected).decode("latin-1"),
        "engine": engine.name,
        "rounding": engine.rounding,
        "examples": engine.examples,
        **({} if engine.cell_facts is None else {"cells": dict(engine.cell_facts)}),
        "seed": asked.seed,
        "templates": machine.program.templates,
        "steps": tally.steps,
        "instructions": tally.instructions,
        "bytes_in": tally.inputs,
        "bytes_out": tally.outputs,
        "n_min": tally.least,
        "n_max": tally.most,
        "margin": tally.margin,
        "wrong": tally.wrong,
        "seconds": tally.seconds,
    }


def _statistics(computer: Computer, engine: Engine, ending: MachineEnding, pc: int | None) -> Iterator[str]:
    tally, machine = ending.tally, computer.machine
    how = {"halt": f"halted at address {pc}", "fault": f"halted at address {pc}, at an operand out of range"}
    rate = f" ({tally.steps / tally.seconds / 1e6:.2f} million a second)" if tally.seconds > 0.5 else ""
    yield (
        f"machine V, {machine.shape}: {how.get(ending.reason, 'not halted')} after "
        f"{counted(tally.instructions, 'instruction')}, {counted(tally.steps, 'step')} in {tally.seconds:.3g} s{rate}"
    )
    rounded = "" if engine.rounding is None else f", {engine.rounding} rounding"
    margin = "" if tally.margin is None else f", smallest margin {tally.margin:.3g}"
    matches = "" if tally.least is None else f", n = {tally.least:,} to {tally.most:,}"
    traffic = f", {counted(tally.inputs, 'byte')} in, {tally.outputs:,} out" if machine.ports else ""
    templates = counted(machine.program.templates, "template")
    yield f"{templates}, engine {engine.name}{rounded}{matches}{margin}{traffic}"
