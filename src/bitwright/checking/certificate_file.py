"""Certificate files: JSON that can be checked again from the file and the program alone."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path

from bitwright.bits import shorten
from bitwright.checking.cells import certify_cells
from bitwright.checking.certificate import FORMAT, VERDICTS, Certificate, Progress, certify
from bitwright.checking.ranges import matches_range
from bitwright.errors import InputError, ProofError
from bitwright.files.documents import (
    Check,
    check_fields,
    each,
    flag,
    like,
    one_of,
    optional,
    parse,
    read_file,
    text,
    whole,
)
from bitwright.files.storage import write_atomically
from bitwright.program import Algorithm, Program
from bitwright.program.algorithm import MAX_EXAMPLES
from bitwright.program.pattern import pattern_of_program
from bitwright.theory.ranges import SOURCES
from bitwright.theory.rounding import ROUNDINGS

_INFORMATION = {"version", "arithmetic"}  # says who made it; everything else must come out the same again
_MAX_BYTES = 1 << 25  # a witness names every bit of a state that is on


def save_certificate(certificate: Certificate, path: Path) -> None:
    """Writes the certificate with every number it rests on."""
    write_atomically(path, (json.dumps(asdict(certificate), indent=2) + "\n").encode())


def load_certificate(path: Path) -> Certificate:
    """The certificate in a file, checked for form; what it claims is not yet checked."""
    document = parse(read_file(path, _MAX_BYTES), path, "a certificate")
    if document.get("format") != FORMAT:
        other = "; NetworkCertificate.load loads those of networks" if document.get("of") == "network" else ""
        raise InputError(f"{path} is not a certificate of a kind this version knows ({FORMAT}){other}")
    check_fields(document, path, "a certificate", _FIELDS)
    if document["witness"] is not None:
        document["witness"] = tuple(document["witness"])
    return Certificate(**document)


def check_certificate(certificate: Certificate, algorithm: Algorithm, progress: Progress | None = None) -> None:
    """Proves everything anew for this algorithm; raises ProofError at the first claim that comes out otherwise.

    The range of n is what follows from the algorithm today, for the source that the certificate names: the file's own
    word for it does not count.
    """
    check_program(certificate, algorithm.program)
    if certificate.n_source == "declared" and algorithm.matches is None:
        raise ProofError(f"the certificate says n_source = declared, but {algorithm.name} declares no bound")
    again = _again(certificate, algorithm, progress)
    for field in fields(Certificate):
        claimed, proved = getattr(certificate, field.name), getattr(again, field.name)
        if field.name not in _INFORMATION and (claimed != proved or type(claimed) is not type(proved)):
            said, found = shorten(str(claimed)), shorten(str(proved))
            raise ProofError(f"the certificate says {field.name} = {said}, but it is {found}")


def _again(certificate: Certificate, algorithm: Algorithm, progress: Progress | None) -> Certificate:
    if certificate.n_source == "cells":
        pattern = pattern_of_program(algorithm.program)
        if pattern is None:
            raise ProofError(f"the certificate says n_source = cells, but {algorithm.name} is no pattern of cells")
        return certify_cells(pattern, certificate.rounding, int(certificate.examples), progress)
    within = matches_range(algorithm, certificate.n_source, progress)
    return certify(algorithm.program, certificate.rounding, within, int(certificate.examples), progress)


def check_program(certificate: Certificate, program: Program) -> None:
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


_NUMBER = whole(0, MAX_EXAMPLES)
_FIELDS: dict[str, Check] = {
    "certified": flag(),
    "verdict": one_of(*VERDICTS),
    "assumption": optional(text()),
    "covers": text(),
    "rounding": one_of(*ROUNDINGS),
    "examples": whole(1, MAX_EXAMPLES),
    "padding": _NUMBER,
    "blocks": _NUMBER,
    "bits": _NUMBER,
    "writers_max": _NUMBER,
    "writers_bit": text(),
    "n_min": whole(1, MAX_EXAMPLES),
    "n_max": whole(1, MAX_EXAMPLES),
    "n_source": one_of(*SOURCES, "cells"),
    "n_scope": text(),
    "margin": _decimal,
    "margin_enclosure": text(),
    "margin_unset": optional(_decimal),
    "worst_bit": text(),
    "worst_n": _NUMBER,
    "worst_writers": _NUMBER,
    "worst_matches": _NUMBER,
    "fails_from": optional(_NUMBER),
    "fails_bit": optional(text()),
    "fails_writers": optional(_NUMBER),
    "fails_matches": optional(_NUMBER),
    "witness": optional(each(text())),
    "masked_bits": _NUMBER,
    "examples_needed": whole(0, 10**18),
    "proposal": optional(text()),
    "program_id": like("[0-9a-f]{64}", "64 hexadecimal digits"),
    "version": like(r"\d+(\.\d+){1,3}([a-z]+\d+|[.+-][0-9a-z.]+)?", "a version of bitwright, such as 1.2.3"),
    "arithmetic": like(
        r"python-flint \d+(\.\d+){1,3}[0-9a-z.+-]{0,20}, 128-bit balls", "such as 'python-flint 0.8.0, 128-bit balls'"
    ),
    "format": one_of(FORMAT),
}
