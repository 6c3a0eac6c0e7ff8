"""Certificates of the limit as JSON files, which can be checked again from the file and the program alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from bitwright.common.bits import shorten
from bitwright.common.errors import ProofError
from bitwright.common.files.documents import Check, check_fields, each, flag, like, one_of, optional, text, whole
from bitwright.proofs.certificate import FORMAT, VERDICTS, LimitVerdict, Progress, certify, certify_cells
from bitwright.proofs.ranges import matches_range
from bitwright.rules import Algorithm, Program
from bitwright.rules.algorithm import MAX_EXAMPLES
from bitwright.rules.pattern import pattern_of_program
from bitwright.theory.decisions import SOURCES

# Who made it, and at which sizes a program has these kinds of cells. All else must come out the same again.
_INFORMATION = {"version", "arithmetic", "sizes"}


def claims_of(verdict: Any, kind: type, links: dict[str, Any] | None = None) -> str:
    """What the file of a certificate of this kind holds: every number it rests on, the sizes if it names some, and the
    other links of its chain.
    """
    left_out = {name for name in ("sizes", "model") if getattr(verdict, name, None) is None}
    own = {field.name for field in fields(kind)} - left_out
    document = {name: value for name, value in asdict(verdict).items() if name in own}
    return json.dumps(document | ({"links": links} if links else {}), indent=2) + "\n"


def read_limit(document: dict[str, Any], path: Path) -> LimitVerdict:
    """The verdict in a document, checked for form; what it claims is not yet checked."""
    check_fields({"sizes": None, **document}, path, "a certificate", _FIELDS)
    if document["witness"] is not None:
        document["witness"] = tuple(document["witness"])
    return LimitVerdict(**document)


def check_certificate(certificate: LimitVerdict, algorithm: Algorithm, progress: Progress | None = None) -> None:
    """Proves everything anew for this algorithm; raises ProofError at the first claim that is not confirmed.

    The range of n is computed from the algorithm, for the source that the certificate names, and not taken from the
    file.
    """
    check_program(certificate, algorithm.program)
    if certificate.n_source == "declared" and algorithm.matches is None:
        raise ProofError(f"the certificate says n_source = declared, but {algorithm.name} declares no bound")
    again = _again(certificate, algorithm, progress)
    for field in fields(LimitVerdict):
        claimed, proved = getattr(certificate, field.name), getattr(again, field.name)
        if field.name not in _INFORMATION and (claimed != proved or type(claimed) is not type(proved)):
            said, found = shorten(str(claimed)), shorten(str(proved))
            raise ProofError(f"the certificate says {field.name} = {said}, but it is {found}")


def _again(certificate: LimitVerdict, algorithm: Algorithm, progress: Progress | None) -> LimitVerdict:
    if certificate.n_source == "cells":
        pattern = pattern_of_program(algorithm.program)
        if pattern is None:
            raise ProofError(f"the certificate says n_source = cells, but {algorithm.name} is no pattern of cells")
        return certify_cells(pattern, certificate.rounding, int(certificate.examples), progress)
    within = matches_range(algorithm, certificate.n_source, progress)
    return certify(algorithm.program, certificate.rounding, within, int(certificate.examples), progress)


def check_program(certificate: LimitVerdict, program: Program) -> None:
    """Raises ProofError if the certificate cannot be for this program; no proof is needed to see that."""
    if certificate.program_id != program.id:
        raise ProofError(
            f"the certificate is for another program: its id is {certificate.program_id[:12]}..., "
            f"this one's {program.id[:12]}..."
        )
    if certificate.examples < program.templates:
        raise ProofError(
            f"the certificate says examples = {certificate.examples:,}, "
            f"but the program has {program.templates:,} templates"
        )


def _decimal(value: object) -> str | None:
    """A number with a point, as we write every margin; the reader has refused NaN and infinity."""
    return None if type(value) is float else "a number with a decimal point"


SIZES = like(
    r"all|(\w+ *= *)?-?\d{1,18}(\.\.\d{1,18})?(,\w+=-?\d{1,18})*",
    "all, or a range of sizes, such as 1..64, l=1..64 or l=1..64,k=3",
)
VERSION = like(r"\d+(\.\d+){1,3}([a-z]+\d+|[.+-][0-9a-z.]+)?", "a version of bitwright, such as 1.2.3")
HASH = like("[0-9a-f]{64}", "64 hexadecimal digits")


def checks_of(kind: type, plain: Mapping[object, Check], **others: Check) -> dict[str, Check]:
    """A check for every field of a dataclass: those that are named here, and for others by their types."""

    def by_type(hint: Any) -> Check:
        if hint in plain:
            return plain[hint]
        options = [one for one in get_args(hint) if one is not type(None)]
        if get_origin(hint) is Literal:
            return one_of(*options)
        return each(by_type(options[0])) if get_origin(hint) is tuple else optional(by_type(options[0]))

    return {name: others.get(name) or by_type(hint) for name, hint in get_type_hints(kind).items()}


_FIELDS = checks_of(
    LimitVerdict,
    {bool: flag(), int: whole(0, MAX_EXAMPLES), float: _decimal, str: text()},
    verdict=one_of(*VERDICTS),
    examples=whole(1, MAX_EXAMPLES),
    n_min=whole(1, MAX_EXAMPLES),
    n_max=whole(1, MAX_EXAMPLES),
    n_source=one_of(*SOURCES, "cells"),
    examples_needed=whole(0, 10**18),
    program_id=HASH,
    sizes=optional(SIZES),
    version=VERSION,
    arithmetic=like(
        r"python-flint \d+(\.\d+){1,3}[0-9a-z.+-]{0,20}, 128-bit balls", "such as 'python-flint 0.8.0, 128-bit balls'"
    ),
    format=one_of(FORMAT),
)
