"""What a request names or pastes, as an algorithm; no file is read on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitwright.api.pasted import Algorithm, named_algorithm, pasted_rules, pasted_sbn
from bitwright.errors import InputError, shorten
from bitwright.pages import MachineView
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
    return algorithm, computer


def _read(source: Mapping[str, Any]) -> tuple[Algorithm, MachineView | None]:
    match source["kind"]:
        case "permutation":
            return named_algorithm("permutation", order=source["order"]), None
        case "addition":
            return named_algorithm("addition", source["bits"], counter=source["counter"]), None
        case "multiplication":
            return named_algorithm("multiplication", source["bits"]), None
        case "rules":
            return pasted_rules(source["text"], source["name"]), None
        case "sbn":
            found = pasted_sbn(source["text"], source["name"], source["machine"], source["language"])
            return found.algorithm, MachineView(found.machine, found.code)
    raise InputError(f"there is no kind of program called '{shorten(str(source['kind']))}'")


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
