"""`bitwright certify`: a proof that the limit or a network runs a program exactly, or a counterexample."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller, is_quiet
from bitwright.cli.reporting import print_result, refuted
from bitwright.cli.targets import Target, keep_sizes
from bitwright.cli.tasks import certify_task, find_certificate, is_task
from bitwright.common.errors import InputError, ProofError

if TYPE_CHECKING:
    from bitwright.verbs.certificates import Certificate


@opt.verb("certify", "FILE|NAME")
def command(
    target: Target, output: Path | None, check: Path | None, network: Path | None, as_json: bool, **how: Any
) -> int:
    """Prove a trained network (--network FILE), or the limit of infinitely wide networks.

    With --network FILE the proof is about that exact network: every state of a domain is checked, in exact arithmetic.
    Without it, the proof is about the mean of infinitely wide networks and does not cover any single network.

    If the program has an ensure line, the function that its rules compute is proved too, at every size if possible,
    otherwise at the sizes checked. A network of cells is proved at every size if the rule text allows it (--sizes all).

    With a task (.task) the network is a transformer, which is proved on every input or refuted by one.

    \b
    bitwright certify examples/transformers/adder.task --network examples/transformers/adder.safetensors

    The network may be your own ONNX model, if it is a stack of affine layers and ReLU.

    The verdict is the weakest of all claims: certified, refuted (with an incorrect input or state) or not proved. Exit
    1 unless it is certified. With --check, also exit 1 if any claim in the file fails.
    """
    if is_task(target.name):
        return certify_task(Path(target.name), network, output, check, as_json, how["seconds"])
    opt.refuse("goes with tasks of transformers (.task)", "seconds")
    _check_options(network, output)
    found = _prove(target, output, network, how) if check is None else _check(target, check, network, how)
    if isinstance(found, ProofError):
        return refuted(found, as_json)
    if as_json:
        return print_result(found, as_json)
    click.echo(found.sentence if is_quiet() else "\n".join(found.report()))
    return 0 if found else 1


def _check_options(network: Path | None, output: Path | None) -> None:
    from bitwright.verbs.network import is_decoder_file

    if network is not None and is_decoder_file(network):
        raise InputError(
            f"{network} is a decoder, which is proved for a task: bitwright certify X.task --network {network}"
        )
    if network is None or network.suffix.lower() != ".onnx":
        opt.refuse("goes with an ONNX file, --network MODEL.onnx", "threshold")
    if output is not None and output.suffix != ".json":
        raise InputError(f"-o takes a .json file, got {output}")


def _open(target: Target, network: Path | None, how: dict[str, Any], claimed: Certificate | None = None) -> Any:
    """Opens the program and the network, and converts the settings in `how`."""
    from bitwright import Model
    from bitwright.verbs.network import load_networks

    threshold, tiled = how.pop("threshold"), how["tile"] not in (None, "all")
    del how["seconds"]
    held: list[Any] = [] if network is None else load_networks(network)
    if network is not None and network.suffix.lower() == ".onnx":
        held = [Model(network, threshold=0.5 if threshold is None else threshold)]
    if len(held) > 1:
        raise InputError(f"{network} holds several networks; combine them with bitwright export --to integer")
    by_cells = tiled or how["sizes"] is not None if network is None else getattr(held[0], "cells", True)
    algorithm = target.algorithm(networks=held, cells=by_cells)
    if claimed is not None and tiled and not claimed.cells:
        raise InputError(f"the certificate is about whole states; leave out --tile {how['tile']}")
    how["sizes"] = keep_sizes(how["sizes"], target.lets)
    return algorithm, held[0] if held else None


def _check(target: Target, check: Path, network: Path | None, how: dict[str, Any]) -> Certificate | ProofError:
    """Proves the claims of a certificate file again; returns the certificate, or the error of the first failure."""
    from bitwright.verbs.certificates import Certificate

    opt.refuse(
        "does not go with --check, which repeats the proof of the certificate",
        "rounding",
        "n",
        "padding",
        "domain",
        "output",
        "resume",
    )
    claimed = Certificate.load(find_certificate(check, network))
    algorithm, model = _open(target, network, how, claimed)
    same = {name: how[name] for name in ("tile", "device", "workers", "yes")}
    try:
        return claimed.check(algorithm, model, sizes=how["sizes"] or claimed.sizes, progress=TerminalTeller(), **same)
    except ProofError as error:
        return error


def _prove(target: Target, output: Path | None, network: Path | None, how: dict[str, Any]) -> Certificate:
    """Makes the certificate and writes it to its file; unfinished work is kept in a file next to it."""
    from bitwright.verbs.certificates import check_writable
    from bitwright.verbs.certify import certify

    algorithm, model = _open(target, network, how)
    tell, kept = TerminalTeller(), how["resume"]
    if output is not None:
        check_writable(output)
        if network is not None:
            kept = kept or output.with_name(output.name + ".part")
    try:
        found: Certificate = certify(algorithm, model, **how | {"resume": kept, "progress": tell})
    except KeyboardInterrupt:
        if kept is not None:
            tell.note(f"finished work is in {kept}; the same command continues from there")
        raise
    if output is not None:
        found.save(output)
        tell.note(f"wrote {output}")
        if kept is not None and how["resume"] is None:
            kept.unlink(missing_ok=True)
    return found
