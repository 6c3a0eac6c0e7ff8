"""Certificates of networks as JSON files, which can be checked again from the file, the network and the program."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, ProofError
from bitwright.common.files.documents import (
    Check,
    check_fields,
    each,
    flag,
    one_of,
    optional,
    parse,
    read_file,
    table,
    text,
    whole,
)
from bitwright.common.workers import Workers
from bitwright.engines.external import FittedModel
from bitwright.networks import AnyNetwork
from bitwright.proofs.certificate import FORMAT as LIMIT_FORMAT
from bitwright.proofs.certificate import LimitVerdict
from bitwright.proofs.certificate_file import HASH, SIZES, VERSION, checks_of, read_limit
from bitwright.proofs.exhaustion.certificate import FORMAT, BitInState, NetworkVerdict, certify_network
from bitwright.proofs.exhaustion.domains import DOMAINS, check_domain
from bitwright.rules import Algorithm
from bitwright.runs.progress import Progress

# Who made it, and the sizes that were looked at; all else must come out the same again.
_INFORMATION = {"version", "sizes"}
_MACHINES_OWN = {"by_n", "distance", "closest", "arithmetic", "model"}  # of a network that was made elsewhere
_PASSING = {"name", "machine", "runtime"}
_MAX_BYTES = 1 << 26
_WHAT = "a certificate of a network"


def read_verdict(path: Path) -> tuple[LimitVerdict | NetworkVerdict, object]:
    """The verdict in a certificate file, of the limit or of a network, checked for form; not yet what it claims.

    Beside it the other links of its chain, as they are in the file.
    """
    document = parse(read_file(path, _MAX_BYTES), path, "a certificate")
    links = document.pop("links", {})
    if document.get("format") == LIMIT_FORMAT and document.get("of") != "network":
        return read_limit(document, path), links
    if document.get("format") != FORMAT:
        raise InputError(f"{path} is not a certificate of a kind this version knows ({LIMIT_FORMAT}, {FORMAT})")
    for gone in ("members", "seconds"):  # in files of earlier versions
        document.pop(gone, None)
    if document.get("arithmetic") == "whole numbers":  # as earlier versions called them
        document["arithmetic"] = "integers"
    check_fields({"sizes": None, "model": None, **document}, path, _WHAT, _FIELDS)
    if document.get("model") is not None:
        check_fields(document["model"], path, _WHAT, _MODEL_FIELDS)
    for name in ("closest", "counterexample"):
        if document[name] is not None:
            check_fields(document[name], path, _WHAT, _BIT_FIELDS)
            document[name] = BitInState(**{**document[name], "on": tuple(document[name]["on"])})
    for name in ("inputs", "start"):
        document[name] = tuple(document[name])
    document["by_n"] = tuple(tuple(row) for row in document["by_n"])
    return NetworkVerdict(**document), links


def check_network_certificate(
    certificate: NetworkVerdict,
    algorithm: Algorithm,
    network: AnyNetwork | FittedModel,
    workers: Workers | None = None,
    progress: Progress | None = None,
    device: str = "cpu",
    oracle: FittedModel | None = None,
) -> NetworkVerdict:
    """Goes through the whole domain again; raises ProofError at the first claim that is not confirmed.

    Returns the certificate; of a network of your own with what this machine says of its arithmetic.
    """
    check_speaks_of(certificate, algorithm, network)
    how: dict[str, Any] = {"workers": workers, "progress": progress, "device": device, "oracle": oracle}
    again = certify_network(algorithm, network, certificate.domain, **how)
    elsewhere = certificate.model is not None
    for field in fields(NetworkVerdict):
        claimed, found = getattr(certificate, field.name), getattr(again, field.name)
        same = _near(claimed, found) if field.name == "margin" else _same(claimed, found)
        if elsewhere and field.name in _MACHINES_OWN:
            same = _near_all(claimed, found)
        if field.name not in _INFORMATION and not same:
            said, is_now = shorten(str(claimed)), shorten(str(found))
            raise ProofError(f"the certificate says {field.name} = {said}, but it is {is_now}")
    return replace(certificate, **{name: getattr(again, name) for name in _MACHINES_OWN}) if elsewhere else certificate


def check_speaks_of(certificate: NetworkVerdict, algorithm: Algorithm, network: AnyNetwork | FittedModel) -> None:
    """Raises ProofError if the certificate cannot be for these; no proof is needed to see that."""
    for what, claimed, found in (
        ("program", certificate.program_id, algorithm.program.id),
        ("network", certificate.network_sha256, network.digest),
    ):
        if claimed != found:
            raise ProofError(
                f"the certificate is for another {what}: its id is {claimed[:12]}..., this one's {found[:12]}..."
            )
    try:
        check_domain(algorithm.program, certificate.domain)
    except InputError as error:
        raise ProofError(f"the certificate says domain = {certificate.domain}, but {error}") from None


def _same(claimed: Any, found: Any) -> bool:
    """Equal in value and in type, also inside: 1 is not True, and not 1.0."""
    return json.dumps(_plain(claimed), sort_keys=True) == json.dumps(_plain(found), sort_keys=True)


def _near(claimed: float | None, found: float | None) -> bool:
    """The same as far as it is printed; earlier versions took the unit of margins from a file's metadata."""
    return claimed == found or (claimed is not None and found is not None and abs(claimed - found) <= 1e-3)


def _near_all(claimed: Any, found: Any) -> bool:
    """Of a network that was made elsewhere: all but names, versions and the last digits of what a runtime gives."""
    if isinstance(claimed, dict) and isinstance(found, dict):
        claimed, found = ({key: one[key] for key in one if key not in _PASSING} for one in (claimed, found))
        return _same(claimed, found)
    if isinstance(claimed, tuple) and isinstance(found, tuple):
        return len(claimed) == len(found) and all(map(_near_all, claimed, found))
    if isinstance(claimed, int | float) and isinstance(found, int | float):
        return _near(claimed, found)
    return isinstance(claimed, str | BitInState) or _same(claimed, found)


def _plain(value: Any) -> Any:
    return asdict(value) if isinstance(value, BitInState) else value


def _by_n(value: object) -> str | None:
    good = (
        isinstance(value, list)
        and len(value) == 3
        and all(type(number) is int and number >= 0 for number in value[:2])
        and (value[2] is None or type(value[2]) in (int, float))
    )
    return None if good else "a list of n, states and distance"


def _number(value: object) -> str | None:
    return None if type(value) in (int, float) else "a number"


_MOST = 1 << 62
_ANY_TABLE = table(lambda _: None)
_PLAIN = {bool: flag(), int: whole(0, _MOST), float: _number, str: text(), int | float | None: optional(_number)}
_BIT_FIELDS = checks_of(
    BitInState,
    _PLAIN,
    expected=whole(0, 1),
    sum=optional(whole(-_MOST, _MOST)),
    threshold=optional(whole(-_MOST, _MOST)),
)
_MODEL_FIELDS: dict[str, Check] = {
    "form": one_of("ONNX", "PyTorch", "function"),
    "name": text(),
    "reads": one_of("states", "templates", "cells"),
    "columns": each(whole(0, _MOST), 2, 2),
    "threshold": _number,
    "oracle": optional(_ANY_TABLE),
    "runtime": optional(text()),
    "machine": optional(text()),
}
_FIELDS = checks_of(
    NetworkVerdict,
    _PLAIN,
    domain=one_of(*DOMAINS),
    by_n=each(_by_n),
    closest=optional(_ANY_TABLE),
    counterexample=optional(_ANY_TABLE),
    weight_bits=optional(whole(2, 8)),
    tensors=table(HASH),
    network_sha256=HASH,
    program_id=HASH,
    model=optional(_ANY_TABLE),
    sizes=optional(SIZES),
    version=VERSION,
    of=one_of("network"),
    format=one_of(FORMAT),
)
