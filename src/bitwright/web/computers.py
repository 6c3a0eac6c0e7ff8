"""SUBLEQ on machine V: descriptions and runs. Steps are not recorded, so runs may be long."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bitwright import Algorithm
from bitwright.api.images import ComputerRun, ImageConsole, MachineTally, image_text, misfits, run_image
from bitwright.api.pasted import SubleqProgram, pasted_image, with_padding
from bitwright.errors import InputError, counted
from bitwright.web.choosing import described, engine_for, offers
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

    def check(words: int, width: int) -> None:
        if words * width > limits.memory_bits:
            raise InputError(
                f"this machine has {words:,} words of {width} bits; this server takes at most "
                f"{limits.memory_bits:,} bits of memory, such as 1,024 words of {limits.memory_bits >> 10}"
            )

    given = (source[name] for name in ("text", "name", "language", "words", "width", "dialect"))
    return pasted_image(check, *given)


def describe_computer(program: SubleqProgram, limits: Limits) -> dict[str, object]:
    """What a page needs to ask for the machine's input."""
    shape, algorithm = program.machine.shape, _algorithm(program)
    engines = offers(algorithm, limits)
    for name in engines.keys() - _OWN:
        engines[name] = dict.fromkeys(engines[name], f"machine V runs here by {' or '.join(_OWN)}")
    return described(
        algorithm,
        limits,
        description="",
        steps=None,
        machine=f"machine V of {shape}; {counted(len(program.image), 'word')} in use",
        console=shape.dialect.io,
        notes=misfits(shape, program.image),
        engines=engines,
    )


def run_computer(request: Mapping[str, Any], limits: Limits, progress: Progress) -> tuple[dict[str, object], Files]:
    """Runs an image with its input; returns its output, its memory and the facts of the run."""
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

    done = run_image(
        program,
        _Console(request["console"].encode(), limits.console, report),
        engine=engine,
        instructions=most,
        seconds=_SHARE * limits.seconds,
        memory=[f"0:{program.machine.shape.words - 1}"],
        signed=True,
    )
    [(_, memory)] = done.words
    shown = {
        "title": f"{program.name} on machine V",
        "note": _note(done),
        "missing": {},
        "shape": str(program.machine.shape),
        "console": _text(done.output),
        "memory": memory,
        "labels": program.labels,
        "exact": None if engine.name == "templates" else not done.ending.tally.wrong,
    }
    files = {
        "output.txt": done.output,
        "memory.dec": image_text(memory).encode(),
        "image.dec": image_text(program.image).encode(),
        "run.json": json_file(done.to_dict()),
    }
    return {**done.to_dict(), **shown}, files


class _Console(ImageConsole):
    """Keeps the first `most` bytes of output, and reports how far the run is."""

    def __init__(self, given: bytes, most: int, report: Callable[[MachineTally, bytes], None]) -> None:
        super().__init__(given)
        self._most, self._report = most, report

    def write(self, byte: int) -> None:
        if len(self.collected) < self._most:
            super().write(byte)

    def look(self, now: MachineTally) -> bool:
        self._report(now, bytes(self.collected))
        return len(self.collected) < self._most


def _note(done: ComputerRun) -> str:
    """Why the run ended before it halted, and whether some steps were wrong."""
    tally, reason = done.ending.tally, done.ending.reason
    note = _REASONS[reason].format(counted(tally.instructions, "instruction")) if reason in _REASONS else ""
    if tally.wrong:
        note = f"{counted(tally.wrong, 'step')} of {tally.steps:,} differ from what the rules give. {note}"
    return note.strip()


def _algorithm(program: SubleqProgram) -> Algorithm:
    return with_padding(program.machine.algorithm())


def _text(said: bytes) -> str:
    return said.decode("utf-8", "replace")
