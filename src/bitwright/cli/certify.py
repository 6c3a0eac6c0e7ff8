"""`bitwright certify`: proves that the limit or a network runs a program exactly, or shows a counterexample."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller, is_quiet
from bitwright.cli.reporting import print_json, print_result, refuted
from bitwright.cli.targets import Target
from bitwright.common.errors import InputError, ProofError

if TYPE_CHECKING:
    from bitwright.verbs.certificates import Certificate


@opt.verb("certify", "FILE|NAME")
def command(
    target: Target, output: Path | None, check: Path | None, network: Path | None, as_json: bool, **how: Any
) -> int:
    """Prove that a trained network (--network FILE), or the limit of infinitely wide networks, follows the rules.

    With --network FILE, the proof is about that exact network: it checks every state of a domain in exact arithmetic.
    Otherwise, the proof is about the mean of infinitely wide networks and does not cover any individual network.

    Ensure lines in the program are proved too, at every size if possible and otherwise at the sizes checked. A network
    of cells is proved at every size if the rule text allows it (--sizes all).

    For a task (.task), the network is a transformer; it is proved correct on every input or refuted by one input.

    \b
    bitwright certify examples/transformers/adder.task --network examples/transformers/adder.safetensors

    The network can also be your own ONNX model, provided it is a stack of affine layers and ReLU.

    The verdict is that of the weakest claim: certified, refuted (with an input or state that goes wrong) or not proved.
    The exit code is 1 unless the verdict is certified; with --check, it is 1 if any claim in the file fails.
    """
    if output is not None and check is not None:
        raise InputError("--check proves everything again and writes nothing; leave out -o")
    if check is not None:
        check = _find_certificate(check, network)
    try:
        if Path(target.name).suffix.lower() == ".task":
            return _certify_task(Path(target.name), network, output, check, as_json, how["seconds"])
        if how.pop("seconds") is not None:
            raise InputError("--seconds works only with transformer tasks (.task); leave it out")
        if output is not None and output.suffix != ".json":
            raise InputError(f"-o takes a .json file, got {output}")
        found = _prove(target, output, network, how) if check is None else _check(target, check, network, how)
    except ProofError as error:
        return refuted(error, as_json)
    if as_json or not is_quiet():
        return print_result(found, as_json)
    click.echo(found.sentence)
    return 0 if found else 1


def _find_certificate(check: Path, network: Path | None) -> Path:
    """Returns the certificate file for --check: the named file, or the one next to the network."""
    from bitwright.verbs.folder import certificate_beside

    if check != opt.BESIDE:
        return certificate_beside(check)
    if network is None:
        raise InputError("--check without a file name needs a network; give --network, or name the certificate file")
    return certificate_beside(network)


def _certify_task(
    task: Path, network: Path | None, output: Path | None, check: Path | None, as_json: bool, seconds: float | None
) -> int:
    """Decides whether a decoder is correct on every input of a task; returns exit code 1 unless it is proved."""
    from bitwright.verbs.decoders import certify_file, check_file

    opt.allow_only("a task (.task)", "network", "output", "check", "as_json", "seconds")
    if check is None:
        decision = certify_file(task, network, output, seconds=seconds, tell=TerminalTeller())
    else:
        decision = check_file(task, network, check, seconds=seconds, tell=TerminalTeller())
    if as_json:
        print_json(decision.to_dict())
    else:
        holds = f"{check} holds: " if check is not None else ""
        click.echo(holds + (decision.sentence if is_quiet() else str(decision)))
    return 0 if decision else 1


def _open(target: Target, network: Path | None, tiled: bool) -> Any:
    """Opens the program and the network."""
    if network is None:
        return target.algorithm(cells=tiled), None
    if network.suffix.lower() == ".onnx":
        from bitwright import Model

        return target.algorithm(cells=True), Model(network)
    from bitwright.verbs.network import Network, is_decoder_file

    if is_decoder_file(network):
        raise InputError(
            f"{network} is a decoder, so prove it for its task: bitwright certify X.task --network {network}"
        )
    held = Network.load(network)
    return target.algorithm(network=held, cells=held.cells), held


def _check(target: Target, check: Path, network: Path | None, how: dict[str, Any]) -> Certificate:
    """Proves the claims of a certificate file again; raises ProofError at the first failure."""
    from bitwright.verbs.certificates import Certificate

    opt.refuse(
        "cannot be used with --check, which repeats the proof of the certificate",
        *("rounding", "n", "padding", "domain", "resume"),
    )
    claimed = Certificate.load(check)
    algorithm, model = _open(target, network, claimed.cells)
    same = {name: how[name] for name in ("tile", "device", "workers")}
    return claimed.check(algorithm, model, sizes=how["sizes"] or claimed.sizes, progress=TerminalTeller(), **same)


def _prove(target: Target, output: Path | None, network: Path | None, how: dict[str, Any]) -> Certificate:
    """Makes the certificate and writes it to its file; until then a file beside it keeps finished work."""
    from bitwright.verbs.certificates import check_writable
    from bitwright.verbs.certify import certify

    algorithm, model = _open(target, network, how["tile"] not in (None, "all") or how["sizes"] is not None)
    tell = TerminalTeller()
    if output is not None:
        check_writable(output)
    beside = None if output is None or network is None else output.with_name(f"{output.name}.part")
    found: Certificate = certify(algorithm, model, **how | {"progress": tell, "resume": how["resume"] or beside})
    if output is not None:
        found.save(output)
        tell.note(f"wrote {output}")
        if beside is not None and how["resume"] is None:
            beside.unlink(missing_ok=True)
    return found
