"""Certificate files: JSON that can be checked again from the file and the program alone."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.files.storage import write_atomically
from bitwright.program import Program
from bitwright.theory.certificate import FORMAT, Certificate, Progress, certify
from bitwright.theory.ranges import Range
from bitwright.theory.rounding import check_rounding

_INFORMATION = {"version", "arithmetic"}  # says who made it; everything else must come out the same again
_MAX_BYTES = 1 << 20


def save_certificate(certificate: Certificate, path: Path) -> None:
    """Writes the certificate with every number it rests on."""
    write_atomically(path, (json.dumps(asdict(certificate), indent=2) + "\n").encode())


def load_certificate(path: Path) -> Certificate:
    """The certificate in a file, checked for form; what it claims is not yet checked."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise InputError(f"{path} is larger than {_MAX_BYTES >> 20} MiB, the most a certificate may have")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    try:
        document: dict[str, Any] = json.loads(data)
        if document["format"] != FORMAT:
            raise InputError(f"{path} is not a certificate of a kind this version knows ({FORMAT})")
        expected = {field.name for field in fields(Certificate)}
        if set(document) != expected:
            odd = ", ".join(sorted(set(document) ^ expected)[:5])
            raise InputError(f"{path} is not a complete certificate: missing or unknown are {odd}")
        document["rounding"] = check_rounding(document["rounding"])
        certificate = Certificate(**document)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError(f"{path} is not a certificate file; it may be truncated or damaged") from None
    if not isinstance(certificate.n_source, str) or not isinstance(certificate.program_id, str):
        raise InputError(f"{path} is not a valid certificate: n_source and program_id must be text")
    for name in ("examples", "n_max"):
        value = getattr(certificate, name)
        if type(value) is not int or not 1 <= value <= 10**9:
            raise InputError(f"{path} is not a valid certificate: {name} must be a whole number from 1 to 10^9")
    return certificate


def check_certificate(
    certificate: Certificate, program: Program, within: Range, progress: Progress | None = None
) -> None:
    """Proves everything anew for this program; raises InputError at the first claim that does not come out the same.

    `within` is the range of n as it follows from the program (or its algorithm) today, for the source that the
    certificate names: the file's own word for it does not count.
    """
    if certificate.program_id != program.id:
        raise InputError(
            f"the certificate is for another program: its id is {str(certificate.program_id)[:12]}..., "
            f"this one's {program.id[:12]}..."
        )
    again = certify(program, certificate.rounding, within, certificate.examples, progress)
    for field in fields(Certificate):
        claimed, proved = getattr(certificate, field.name), getattr(again, field.name)
        if field.name not in _INFORMATION and (claimed != proved or type(claimed) is not type(proved)):
            said, found = shorten(str(claimed)), shorten(str(proved))
            raise InputError(f"the certificate does not hold: it says {field.name} = {said}, but it is {found}")
