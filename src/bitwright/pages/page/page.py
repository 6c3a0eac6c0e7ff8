"""The page itself: one HTML text with its style, its script and the data of the run inside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bitwright.bits import any_digits
from bitwright.errors import InputError, printable
from bitwright.pages.page.assemble import Blob, assemble
from bitwright.pages.page.outputs import outputs_data
from bitwright.program import Algorithm
from bitwright.program.trace import Trace
from bitwright.running.run import Run

MAX_BITS, MAX_STEPS, MAX_TEMPLATES, MAX_BYTES = 500_000, 1_000_000, 2_000_000, 1 << 28


def trace_page(run: Run, *, computer: Any = None, title: str = "") -> str:
    """The page of a recorded run, as text; it needs no other file and no network.

    `run` must come from `run(..., record=True)`, with any engine and any outcome. For an SBN program the
    page marks the phases of every instruction and shows memory as numbers; `computer` is then its machine and code, if
    the algorithm does not know them. Raises InputError where the run was not recorded, or is too large for a page.

    >>> from bitwright import addition, run
    >>> page = trace_page(run(addition(4), p=11, q=6, record=True))
    >>> page.startswith("<!DOCTYPE html>"), "https://" in page
    (True, False)
    """
    trace, computer = _checked(run), computer or run.algorithm.computer
    blob = Blob()
    blob.deltas("states", trace.packed)
    program = trace.program
    for part, names in {"block": "start bits", "template": "block config rule", "write": "start bits"}.items():
        for name in names.split():
            blob.integers(f"{part}_{name}", getattr(program, f"{part}_{name}"))
    if program.grouped is not None:
        blob.integers("cell_start", program.cells.start)
        blob.integers("cell_blocks", program.cells.blocks)
        blob.integers("cell_kind", program.kinds.of)
    facts = {
        "title": printable(title or run_title(run)),
        "description": printable(run.algorithm.description),
        "engine": run.engine,
        "rounding": run.rounding,
        "halted": run.halted,
        "bits": program.bits,
        "steps": trace.steps,
        "program": program.id,
        "fields": [[field.name, list(field.shape)] for field in program.layout.fields],
        "words": _words(run.algorithm),
        "rules": [text if text.startswith("when ") else "" for text in program.rules],
        "real": outputs_data(run, trace, blob),
        "computer": computer_data(trace, computer, blob) if computer else None,
        "arrays": blob.directory,
    }
    return assemble("trace", facts, blob.packed())


def run_title(run: Run) -> str:
    """What went in and what came out, in one line: `addition: p = 719, q = 483 gives sum = 1202`."""
    with any_digits():
        given = ", ".join(f"{name} = {value}" for name, value in run.inputs.items())
        result = ", ".join(f"{name} = {value}" for name, value in run.outputs.items())
    title = f"{run.algorithm.name}: {given} gives {result}" if given else f"{run.algorithm.name}: {result}"
    return title if result and len(title) < 120 else run.algorithm.name


def _checked(run: Run) -> Trace:
    trace = run.trace
    if trace is None:
        raise InputError("this run was not recorded; run it with record=True to see its trace")
    sizes = {
        "bits": (trace.program.bits, MAX_BITS),
        "templates": (trace.program.templates, MAX_TEMPLATES),
        "steps": (trace.steps, MAX_STEPS),
        "bytes of states": (trace.packed.nbytes, MAX_BYTES),
    }
    for what, (size, most) in sizes.items():
        if size > most:
            raise InputError(f"a page shows at most {most:,} {what}, this run has {size:,}")
    return trace


def _words(algorithm: Algorithm) -> list[tuple[str, tuple[int, ...], bool]]:
    """Inputs and outputs: name, bits, sign. Where an input and another output share a name, both say which they are."""
    outputs = {word.name: word for word in algorithm.outputs}
    found = []
    for word in algorithm.inputs:
        other = outputs.get(word.name)
        if other is not None and other != word:
            outputs[word.name] = replace(other, name=f"{word.name} (output)")
            word = replace(word, name=f"{word.name} (input)")
        elif other is not None:
            del outputs[word.name]
        found.append(word)
    return [(word.name, word.bits, word.signed) for word in (*found, *outputs.values())]


def computer_data(trace: Trace, computer: Any, blob: Blob) -> dict[str, object]:
    """Adds the marks in time to the blob, and gives instructions and words as people read them."""
    machine, code = computer.machine, computer.code
    steps, addresses = computer.instructions(trace)
    phases = computer.phases(trace)
    blob.integers("instruction_step", steps)
    blob.integers("instruction_address", addresses)
    blob.integers("phase_step", [step for step, _ in phases])
    blob.integers("phase_kind", [number for _, number in phases])
    return {
        "phases": list(machine.phases),
        "instructions": [
            {
                "label": computer.label(at),
                "a": computer.word(sbn.a),
                "b": computer.word(sbn.b),
                "c": computer.label(sbn.c) or str(sbn.c),
                "words": [sbn.a, sbn.b],
            }
            for at, sbn in enumerate(code.instructions)
        ],
        "words": [[computer.word(place), bits, True] for place, bits in enumerate(machine.memory_bits.tolist())],
    }
