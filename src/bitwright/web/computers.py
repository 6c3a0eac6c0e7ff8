"""SUBLEQ on machine V: what a text is, and what it prints. Steps are not recorded, so that long runs are welcome."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bitwright.api.open import MachineChoice, SubleqProgram, with_padding
from bitwright.engines.rules import RuleEngine
from bitwright.errors import InputError, Problem, ProgramError, counted
from bitwright.machines.subleq import (
    Shape,
    assemble_sq,
    compile_program,
    find_dialect,
    image_text,
    machine_v,
    misfits,
    parse_image,
)
from bitwright.program import Algorithm
from bitwright.running.computer import Computer, MachineEnding, MachineTally, RunLimits
from bitwright.web.choosing import engine_for, offers
from bitwright.web.limits import Limits
from bitwright.web.told import Files, Progress, json_file

_SHARE = 0.8  # of the time of a request that a run may take: then there is some left to say what it did
_OWN = ("templates", "limit", "network")  # engines that are fast enough for a machine
_REASONS = {
    "limit": "It was stopped at your limit of {}.",
    "time": "It did not halt within the time that this server has for a run; it made {}.",
    "stopped": "It was stopped after {}, because it had printed more than this server keeps.",
    "stuck": "Nothing moves any more after {}, and it has not halted: the engine has lost its way.",
    "fault": "It halted after {} at an operand that its dialect does not allow.",
}


def read_computer(source: Mapping[str, Any], limits: Limits) -> SubleqProgram:
    """Machine V as the source or its text describes it, with the image; raises BitwrightError for what cannot run."""
    choice = MachineChoice("V", source["words"], source["width"], source["dialect"])
    text, labels = source["text"].removeprefix("\ufeff"), dict[str, int]()
    words, width, dialect = choice.words, choice.word_width, choice.dialect
    if source["language"] == "image":
        image = _image(text)
    else:
        if source["language"] == "python":
            text = compile_program(text, width or 16, source["name"])
        assembly = assemble_sq(text)
        image, labels = assembly.image, assembly.labels
        words, width, dialect = words or assembly.words, width or assembly.width, dialect or assembly.dialect
    if words is None or width is None or dialect is None:
        wanted = (("words", words), ("width", width), ("dialect", dialect))
        missing = ", ".join(name for name, value in wanted if value is None)
        raise InputError(f"this does not say what machine it is for; give its {missing}, such as 64, 16, howerj")
    if words * width > limits.memory_bits:
        raise InputError(
            f"this machine has {words:,} words of {width} bits; this server takes at most {limits.memory_bits:,} bits "
            f"of memory, such as 1,024 words of {limits.memory_bits >> 10}"
        )
    if len(image) > words:
        raise InputError(f"this image has {len(image):,} words, and the machine {words:,}; give it more")
    return SubleqProgram(machine_v(Shape(words, width, find_dialect(dialect))), image, labels, source["name"])


def describe_computer(program: SubleqProgram, limits: Limits) -> dict[str, object]:
    """What a page needs in order to ask for what the machine reads."""
    machine, shape = program.machine, program.machine.shape
    algorithm = _algorithm(program)
    engines: dict[str, dict[str, str | None]] = {
        name: {
            rounding: problem if name in _OWN else f"machine V runs here by {' or '.join(_OWN)}"
            for rounding, problem in found.items()
        }
        for name, found in offers(algorithm, limits).items()
    }
    return {
        "description": "",
        "bits": machine.program.bits,
        "blocks": machine.program.blocks,
        "templates": machine.program.templates,
        "steps": None,
        "inputs": [],
        "outputs": [],
        "machine": f"machine V of {shape}; {counted(len(program.image), 'word')} in use",
        "console": shape.dialect.io,
        "notes": misfits(shape, program.image),
        "engines": engines,
        "program_id": machine.program.id,
    }


def run_computer(request: Mapping[str, Any], limits: Limits, progress: Progress) -> tuple[dict[str, object], Files]:
    """Runs an image with what it reads; gives what it prints, its memory, and what it did."""
    progress("reading the program")
    program = read_computer(request["source"], limits)
    machine, most = program.machine, request["max_instructions"]
    if request["engine"] not in _OWN:
        raise InputError(f"machine V runs here by {' or '.join(_OWN)}, not by {request['engine']}")
    if request["inputs"]:
        raise InputError(f"machine V has no inputs but its console, got {', '.join(request['inputs'])[:60]}")
    progress("making the machine")
    engine = engine_for(_algorithm(program), request, limits, progress, compiled=True)
    truth = RuleEngine(machine.program) if engine.fallible else None
    supply, said = iter(request["console"].encode()), bytearray()

    def look(tally: MachineTally) -> bool:
        progress("running", tally.instructions, most or 0, console=_text(said), unit="instruction")
        return len(said) < limits.console

    def write(byte: int) -> None:
        if len(said) < limits.console:
            said.append(byte)

    state = machine.start(program.image, 0)
    computer = Computer(machine, engine, state, lambda: next(supply, None), write, truth=truth)
    ending = computer.run(RunLimits(most, _SHARE * limits.seconds), look)
    memory = ending.memory or computer.memory()
    result = {**_facts(program, engine.name, ending, memory, said, request), "engine": request["engine"]}
    if engine.cell_facts is not None:
        result["cells"] = dict(engine.cell_facts)
    files = {
        "output.txt": bytes(said),
        "memory.dec": image_text(machine.shape.signed(word) for word in memory).encode(),
        "image.dec": image_text(program.image).encode(),
        "run.json": json_file(result),
    }
    return {**result, "title": f"{program.name} on machine V", "missing": {}}, files


def _facts(
    program: SubleqProgram,
    rounded_by: str,
    ending: MachineEnding,
    memory: list[int],
    said: bytearray,
    request: Mapping[str, Any],
) -> dict[str, object]:
    shape, tally = program.machine.shape, ending.tally
    done = counted(tally.instructions, "instruction")
    note = _REASONS[ending.reason].format(done) if ending.reason in _REASONS else ""
    if tally.wrong:
        note = f"{counted(tally.wrong, 'step')} of {tally.steps:,} differ from what the rules give. {note}".strip()
    return {
        "algorithm": program.name,
        "machine": str(shape),
        "console": _text(said),
        "printed": len(said),
        "read": tally.inputs,
        "reason": ending.reason,
        "halted": ending.reason in ("halt", "fault"),
        "instructions": tally.instructions,
        "steps": tally.steps,
        "pc": None if ending.pc is None else shape.signed(ending.pc),
        "memory": [shape.signed(word) for word in memory],
        "labels": program.labels,
        "rounding": None if rounded_by == "templates" else request["rounding"],
        "margin": tally.margin,
        "exact": None if rounded_by == "templates" else not tally.wrong,
        "bits": program.machine.program.bits,
        "templates": program.machine.program.templates,
        "program_id": program.machine.program.id,
        "note": note,
    }


def _algorithm(program: SubleqProgram) -> Algorithm:
    return with_padding(program.machine.algorithm())


def _text(said: bytearray) -> str:
    return said.decode("utf-8", "replace")


def _image(text: str) -> list[int]:
    """The words of a text; what is none is a problem at its place."""
    try:
        return parse_image(text)
    except InputError as error:
        found = re.fullmatch(r"the image:(\d+): ('(.*)' is not.*)", str(error))
        if found is None:
            raise
        line = text.split("\n")[int(found[1]) - 1]
        problem = Problem(int(found[1]), max(0, line.find(found[3].rstrip("."))) + 1, found[2])
        raise ProgramError([problem]) from None
