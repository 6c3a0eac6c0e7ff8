"""What a request names or pastes, as an algorithm; no file is read on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitwright.api.open import named_algorithm, with_padding
from bitwright.bits import parse_signed, shorten
from bitwright.errors import InputError
from bitwright.machines import assemble, compile_function, machine_a, machine_b
from bitwright.program import Algorithm, parse
from bitwright.viewer import MachineView
from bitwright.web.choosing import offers
from bitwright.web.limits import Limits


def read_source(source: Mapping[str, Any], limits: Limits) -> tuple[Algorithm, MachineView | None]:
    """The algorithm, and its computer if it is an SBN program; raises BitwrightError for what cannot be run here."""
    algorithm, computer = _read(source)
    program = algorithm.program
    for size, most, what in (
        (program.bits, limits.bits, "bits"),
        (program.templates, limits.templates, "templates"),
    ):
        if size > most:
            raise InputError(f"this program has {size:,} {what}; this server takes at most {most:,}")
    return (algorithm if computer is None else with_padding(algorithm)), computer


def _read(source: Mapping[str, Any]) -> tuple[Algorithm, MachineView | None]:
    match source["kind"]:
        case "permutation":
            return named_algorithm("permutation", order=source["order"]), None
        case "addition":
            return named_algorithm("addition", source["bits"], counter=source["counter"]), None
        case "multiplication":
            return named_algorithm("multiplication", source["bits"]), None
        case "rules":
            return parse(source["text"].removeprefix("\ufeff"), source["name"]), None
        case "sbn":
            text = source["text"].removeprefix("\ufeff")
            if source["language"] == "python":
                text = compile_function(text, name=source["name"])
            code = assemble(text, source["name"])
            machine = (machine_a if source["machine"] == "A" else machine_b)(code.sizes)
            return machine.algorithm(code), MachineView(machine, code)
    raise InputError(f"there is no kind of program called '{shorten(str(source['kind']))}'")


def read_numbers(texts: Mapping[str, str]) -> dict[str, int]:
    """Input values by name; numbers come as text, because JavaScript's own end at 2^53."""
    return {name: parse_signed(text, f"input {shorten(name)}") for name, text in texts.items()}


def describe(algorithm: Algorithm, computer: MachineView | None, limits: Limits) -> dict[str, object]:
    """What a page needs in order to ask for inputs, and says about a program without problems."""
    program = algorithm.program
    return {
        "description": algorithm.description,
        "bits": program.bits,
        "blocks": program.blocks,
        "templates": program.templates,
        "steps": algorithm.steps,
        "inputs": [{"name": w.name, "bits": len(w.bits), "signed": w.signed} for w in algorithm.inputs],
        "outputs": [word.name for word in algorithm.outputs],
        "machine": None if computer is None else f"machine {computer.machine.kind} with {computer.code.sizes}",
        "engines": offers(algorithm, limits),
        "program_id": program.id,
    }
