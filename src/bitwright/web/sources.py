"""The algorithm that a request names or pastes; reads no file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitwright import Algorithm
from bitwright.api.open import named_algorithm
from bitwright.api.pasted import pasted_rules, pasted_sbn
from bitwright.errors import InputError, shorten
from bitwright.web.choosing import check_size, described
from bitwright.web.limits import Limits


def read_source(source: Mapping[str, Any], limits: Limits) -> Algorithm:
    """The algorithm of a request; raises BitwrightError if it cannot run here."""
    algorithm = _read(source)
    check_size(algorithm.program, limits)
    return algorithm


def _read(source: Mapping[str, Any]) -> Algorithm:
    match source["kind"]:
        case "permutation":
            return named_algorithm("permutation", order=source["order"])
        case "addition":
            return named_algorithm("addition", source["bits"], counter=source["counter"])
        case "multiplication":
            return named_algorithm("multiplication", source["bits"])
        case "rules":
            return pasted_rules(source["text"], source["name"])
        case "sbn":
            return pasted_sbn(source["text"], source["name"], source["machine"], source["language"])
    raise InputError(f"there is no kind of program called '{shorten(str(source['kind']))}'")


def describe(algorithm: Algorithm, limits: Limits) -> dict[str, object]:
    """What a page needs to ask for inputs, and shows about a valid program."""
    computer = algorithm.computer
    return described(
        algorithm,
        limits,
        inputs=[{"name": w.name, "bits": len(w.bits), "signed": w.signed} for w in algorithm.inputs],
        outputs=[word.name for word in algorithm.outputs],
        machine=None if computer is None else f"machine {computer.machine.kind} with {computer.code.sizes}",
    )
