"""Reads, writes and checks certificates as JSON files; a check needs only the file, the program and the network."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, ProofError
from bitwright.common.files.documents import (
    Check,
    check_fields,
    each,
    flag,
    like,
    number,
    one_of,
    optional,
    parse,
    read_file,
    record,
    table,
    text,
    whole,
)
from bitwright.common.workers import Workers
from bitwright.engines.external import FittedModel
from bitwright.networks import IntegerNetwork
from bitwright.proofs.certificate import FORMAT as LIMIT_FORMAT
from bitwright.proofs.certificate import LimitVerdict, certify, certify_cells
from bitwright.proofs.exhaustion.certificate import FORMAT, BitInState, NetworkVerdict, certify_network
from bitwright.proofs.exhaustion.domains import DOMAINS, check_domain
from bitwright.proofs.ranges import matches_range
from bitwright.rules import Algorithm
from bitwright.rules.algorithm import MAX_EXAMPLES
from bitwright.rules.pattern import pattern_of_program
from bitwright.runs.progress import Progress
from bitwright.theory.decisions import SOURCES

_MAX_BYTES = 1 << 26
_MACHINES_OWN = {"by_n", "distance", "closest", "margin", "arithmetic", "model"}  # for a third-party network
_PASSING = {"name", "runtime"}
AnyVerdict = LimitVerdict | NetworkVerdict
Verdict = TypeVar("Verdict", LimitVerdict, NetworkVerdict)


def claims_of(verdict: AnyVerdict, links: dict[str, Any] | None = None) -> str:
    """Returns the contents of a certificate file: every number of the proof, and the other claims of its chain.

    Args:
        verdict: the verdict for the limit or for a network.
        links: the claims about the rules' function and sizes, ready for JSON.
    """
    absent = {name for name in ("sizes", "model") if getattr(verdict, name, None) is None}
    document = {name: value for name, value in asdict(verdict).items() if name not in absent}
    return json.dumps(document | ({"links": links} if links else {}), indent=2) + "\n"


def read_verdict(path: Path) -> tuple[AnyVerdict, object]:
    """Reads the verdict and the other claims from a certificate file, without proving anything.

    The form of the verdict is checked, but not that of the claims. Raises InputError for any other file.
    """
    document = parse(read_file(path, _MAX_BYTES), path, "a certificate")
    links = document.pop("links", {})
    if document.get("format") not in (LIMIT_FORMAT, FORMAT):
        raise InputError(f"{path} is not a certificate in a supported format, which are {LIMIT_FORMAT} and {FORMAT}")
    if document["format"] == LIMIT_FORMAT and document.get("of") != "network":
        check_fields({"sizes": None, **document}, path, "a certificate", _LIMIT_FIELDS)
        return LimitVerdict(**{name: _frozen(value) for name, value in document.items()}), links
    what = "a certificate for a network"
    for name in ("members", "seconds"):  # written by earlier versions
        document.pop(name, None)
    if document.get("arithmetic") == "whole numbers":  # written by earlier versions
        document["arithmetic"] = "integers"
    check_fields({"sizes": None, "model": None, **document}, path, what, _NETWORK_FIELDS)
    if document.get("model") is not None:
        check_fields(document["model"], path, what, MODEL_FIELDS)
    for name in ("closest", "counterexample"):
        if document[name] is not None:
            check_fields(document[name], path, what, _BIT_FIELDS)
            document[name] = BitInState(**{key: _frozen(value) for key, value in document[name].items()})
    return NetworkVerdict(**{name: _frozen(value) for name, value in document.items()}), links


def _frozen(value: Any) -> Any:
    """Converts a list, and the lists in it, to tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def check_certificate(
    certificate: Verdict,
    algorithm: Algorithm,
    network: IntegerNetwork | FittedModel | None = None,
    *,
    workers: Workers | None = None,
    progress: Progress | None = None,
    device: str = "cpu",
) -> Verdict:
    """Proves everything again; raises ProofError at the first claim that is not confirmed.

    The range of n is computed from the algorithm for the source named in the certificate, not read from the file. For a
    third-party network, the result contains what this machine found about its floating-point arithmetic.

    Args:
        certificate: the verdict to check.
        algorithm: the certified program; a pattern for networks of cells.
        network: the certified network; None for the limit.
        workers: where the parts of a network proof run.
        progress: called with the amount done and the total.
        device: where a network is evaluated.
    """
    check_subject(certificate, algorithm, network)
    again: AnyVerdict
    if isinstance(certificate, LimitVerdict):
        again = _limit_again(certificate, algorithm, progress)
    else:
        assert network is not None
        again = certify_network(
            algorithm, network, certificate.domain, workers=workers, progress=progress, device=device
        )
    # The version and the checked sizes are not claims of this proof; everything else must be reproduced exactly.
    information = {"version", "sizes"} | ({"arithmetic"} if isinstance(certificate, LimitVerdict) else set())
    elsewhere = isinstance(certificate, NetworkVerdict) and certificate.model is not None
    for field in fields(again):
        claimed, found = getattr(certificate, field.name), getattr(again, field.name)
        near = elsewhere and field.name in _MACHINES_OWN  # earlier versions took the unit of margins from metadata
        same = _near if near or (field.name == "margin" and not isinstance(certificate, LimitVerdict)) else _same
        if field.name not in information and not same(claimed, found):
            raise ProofError(
                f"the certificate states {field.name} = {shorten(str(claimed))}, but it is {shorten(str(found))}"
            )
    return replace(certificate, **{name: getattr(again, name) for name in _MACHINES_OWN}) if elsewhere else certificate


def _limit_again(certificate: LimitVerdict, algorithm: Algorithm, progress: Progress | None) -> LimitVerdict:
    if certificate.n_source == "declared" and algorithm.matches is None:
        raise ProofError(f"the certificate states n_source = declared, but {algorithm.name} does not declare a bound")
    if certificate.n_source == "cells":
        pattern = pattern_of_program(algorithm.program)
        if pattern is None:
            raise ProofError(f"the certificate states n_source = cells, but {algorithm.name} is not a pattern of cells")
        return certify_cells(pattern, certificate.rounding, int(certificate.examples), progress)
    within = matches_range(algorithm, certificate.n_source, progress)
    return certify(algorithm.program, certificate.rounding, within, int(certificate.examples), progress)


def check_subject(
    certificate: AnyVerdict, algorithm: Algorithm, network: IntegerNetwork | FittedModel | None = None
) -> None:
    """Raises ProofError if the certificate is for another program or network, without proving anything."""
    subjects = [("program", certificate.program_id, algorithm.program.id)]
    if isinstance(certificate, NetworkVerdict) and network is not None:
        subjects.append(("network", certificate.network_sha256, network.digest))
    for subject, claimed, actual in subjects:
        if claimed != actual:
            raise ProofError(f"the certificate is for another {subject}, {claimed[:12]}... instead of {actual[:12]}...")
    if isinstance(certificate, NetworkVerdict):
        try:
            check_domain(algorithm.program, certificate.domain)
        except InputError as error:
            raise ProofError(f"the certificate states domain = {certificate.domain}, but {error}") from None
    elif certificate.examples < (templates := algorithm.program.templates):
        raise ProofError(
            f"the certificate states examples = {certificate.examples:,}, but the program has {templates:,} templates"
        )


def _same(claimed: Any, found: Any) -> bool:
    """Whether two values are equal, including their types at every level: 1 is neither True nor 1.0."""
    return json.dumps(claimed, sort_keys=True, default=asdict) == json.dumps(found, sort_keys=True, default=asdict)


def _near(claimed: Any, found: Any) -> bool:
    """Whether values agree except for names, versions and a runtime's last digits, for third-party networks."""
    if isinstance(claimed, dict) and isinstance(found, dict):
        claimed, found = ({key: one[key] for key in one if key not in _PASSING} for one in (claimed, found))
        return _same(claimed, found)
    if isinstance(claimed, tuple) and isinstance(found, tuple):
        return len(claimed) == len(found) and all(map(_near, claimed, found))
    if isinstance(claimed, int | float) and isinstance(found, int | float):
        return abs(claimed - found) <= 1e-3
    return isinstance(claimed, str | BitInState) or _same(claimed, found)


def _decimal(value: object) -> str | None:
    """Checks for a float, the type of every margin; NaN and infinity are already rejected when the file is read."""
    return None if type(value) is float else "a number with a decimal point"


def checks_of(kind: type, real: Check, most: int, **others: Check) -> dict[str, Check]:
    """Returns a check for every field of a dataclass: the named checks, and checks by type for all other fields."""
    plain: dict[object, Check] = {bool: flag(), int: whole(0, most), float: real, str: text()}

    def by_type(hint: Any) -> Check:
        if hint in plain:
            return plain[hint]
        options = [option for option in get_args(hint) if option is not type(None)]
        if get_origin(hint) is Literal:
            return one_of(*options)
        return each(by_type(options[0])) if get_origin(hint) is tuple else optional(by_type(options[-1]))

    return {name: others.get(name) or by_type(hint) for name, hint in get_type_hints(kind).items()}


_MOST = 1 << 62
_ANY_TABLE = table(lambda _: None)
_HASH = like("[0-9a-f]{64}", "64 hexadecimal digits")
_common: dict[str, Check] = {
    "program_id": _HASH,
    "version": like(r"\d+(\.\d+){1,3}([a-z]+\d+|[.+-][0-9a-z.]+)?", "a version of bitwright, such as 1.2.3"),
    "sizes": optional(
        like(
            r"all|(\w+ *= *)?-?\d{1,18}(\.\.\d{1,18})?(,\w+=-?\d{1,18})*",
            "all, or a range of sizes, such as 1..64, l=1..64 or l=1..64,k=3",
        )
    ),
}
_LIMIT_FIELDS = checks_of(
    LimitVerdict,
    _decimal,
    MAX_EXAMPLES,
    examples=whole(1, MAX_EXAMPLES),
    n_min=whole(1, MAX_EXAMPLES),
    n_max=whole(1, MAX_EXAMPLES),
    n_source=one_of(*SOURCES, "cells"),
    examples_needed=whole(0, 10**18),
    arithmetic=like(
        r"python-flint \d+(\.\d+){1,3}[0-9a-z.+-]{0,20}, 128-bit balls", "such as 'python-flint 0.8.0, 128-bit balls'"
    ),
    format=one_of(LIMIT_FORMAT),
    **_common,
)
_BIT_FIELDS = checks_of(
    BitInState,
    number(),
    _MOST,
    expected=whole(0, 1),
    sum=optional(whole(-_MOST, _MOST)),
    threshold=optional(whole(-_MOST, _MOST)),
)
MODEL_FIELDS: dict[str, Check] = {
    "form": one_of("ONNX", "PyTorch"),
    "name": text(),
    "reads": one_of("states", "cells"),
    "columns": each(whole(0, _MOST), 2, 2),
    "threshold": number(),
    "runtime": optional(text()),
}
_NETWORK_FIELDS = checks_of(
    NetworkVerdict,
    number(),
    _MOST,
    domain=one_of(*DOMAINS),
    by_n=each(record(whole(0, _MOST), whole(0, _MOST), optional(number()))),
    closest=optional(_ANY_TABLE),
    counterexample=optional(_ANY_TABLE),
    weight_bits=optional(whole(2, 8)),
    tensors=table(_HASH),
    network_sha256=_HASH,
    model=optional(_ANY_TABLE),
    of=one_of("network"),
    format=one_of(FORMAT),
    **_common,
)
