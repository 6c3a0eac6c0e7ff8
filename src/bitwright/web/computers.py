"""SUBLEQ on machine V: what a text is, and what it prints. Steps are not recorded, so that long runs are welcome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitwright.api.computing import Computed, MachineTally, compute, image_text
from bitwright.api.pasted import Algorithm, SubleqProgram, misfits, pasted_image, with_padding
from bitwright.errors import InputError, counted
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
    found = pasted_image(*(source[name] for name in ("text", "name", "language", "words", "width", "dialect")))
    if found.words * found.width > limits.memory_bits:
        raise InputError(
            f"this machine has {found.words:,} words of {found.width} bits; this server takes at most "
            f"{limits.memory_bits:,} bits of memory, such as 1,024 words of {limits.memory_bits >> 10}"
        )
    return found.program()


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
    most = request["max_instructions"]
    if request["engine"] not in _OWN:
        raise InputError(f"machine V runs here by {' or '.join(_OWN)}, not by {request['engine']}")
    if request["inputs"]:
        raise InputError(f"machine V has no inputs but its console, got {', '.join(request['inputs'])[:60]}")
    progress("making the machine")
    engine = engine_for(_algorithm(program), request, limits, progress, compiled=True)

    def report(tally: MachineTally, said: bytes) -> None:
        progress("running", tally.instructions, most or 0, console=_text(said), unit="instruction")

    done = compute(
        program,
        engine,
        request["console"].encode(),
        instructions=most,
        seconds=_SHARE * limits.seconds,
        most_printed=limits.console,
        report=report,
    )
    result = {**_facts(program, engine.name, done, request), "engine": request["engine"]}
    if engine.cell_facts is not None:
        result["cells"] = dict(engine.cell_facts)
    files = {
        "output.txt": done.printed,
        "memory.dec": image_text(done.memory).encode(),
        "image.dec": image_text(program.image).encode(),
        "run.json": json_file(result),
    }
    return {**result, "title": f"{program.name} on machine V", "missing": {}}, files


def _facts(program: SubleqProgram, rounded_by: str, ended: Computed, request: Mapping[str, Any]) -> dict[str, object]:
    shape, tally = program.machine.shape, ended.tally
    done = counted(tally.instructions, "instruction")
    note = _REASONS[ended.reason].format(done) if ended.reason in _REASONS else ""
    if tally.wrong:
        note = f"{counted(tally.wrong, 'step')} of {tally.steps:,} differ from what the rules give. {note}".strip()
    return {
        "algorithm": program.name,
        "machine": str(shape),
        "console": _text(ended.printed),
        "printed": len(ended.printed),
        "read": tally.inputs,
        "reason": ended.reason,
        "halted": ended.reason in ("halt", "fault"),
        "instructions": tally.instructions,
        "steps": tally.steps,
        "pc": ended.pc,
        "memory": ended.memory,
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


def _text(said: bytes) -> str:
    return said.decode("utf-8", "replace")
