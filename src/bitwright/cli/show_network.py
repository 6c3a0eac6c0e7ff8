"""`bitwright show NETWORK.safetensors`: what a network file is, and what is known of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli.progress import working
from bitwright.cli.reporting import print_json
from bitwright.errors import InputError

if TYPE_CHECKING:
    from bitwright.api.export.claims import Claim
    from bitwright.networks import AnyNetwork
    from bitwright.networks.store import About
    from bitwright.program import Algorithm

CLAIM = "tested, not proved"  # of a network whose states are too many to try, or that has weights with a point


def is_network(target: str) -> bool:
    """Whether a target is the file of a network."""
    return Path(target).suffix.lower() == ".safetensors"


def show_network(path: Path, others: Sequence[str], as_json: bool) -> None:
    """Reads the file whole, so that a damaged one is refused, and says what is in it."""
    from bitwright.api.trained import algorithm_of
    from bitwright.networks import IntegerNetwork
    from bitwright.networks.integer import check_belongs
    from bitwright.networks.store import read_network

    if others:
        raise InputError(f"--{others[0]} goes with programs; {path} is a network, and says what it was trained for")
    about, network = read_network(path)
    algorithm = algorithm_of(about)
    if algorithm is not None and isinstance(network, IntegerNetwork):
        check_belongs(network, algorithm.program)
    with working("trying its states"):
        claim = _claim(about, network, algorithm)
    document = _document(about, network, None if algorithm is None else algorithm.name, claim)
    if as_json:
        print_json(document)
    else:
        click.echo("\n".join(_lines(about, document)))


def _claim(about: About, network: AnyNetwork, algorithm: Algorithm | None) -> Claim | None:
    """What trying all states shows, as `export` does it; None where there is nothing to try."""
    from bitwright.api.export.claims import claim_of
    from bitwright.networks import IntegerNetwork
    from bitwright.networks.integer import check_belongs
    from bitwright.program.pattern import read_pattern

    if not isinstance(network, IntegerNetwork):
        return None
    pattern = read_pattern(about.bits, about.examples)
    if pattern is not None:
        check_belongs(network, pattern.program)
    made_for = pattern or algorithm
    return None if made_for is None else claim_of(network, made_for)


def _document(about: About, network: AnyNetwork, name: str | None, claim: Claim | None) -> dict[str, Any]:
    from bitwright.api.trained import what_of
    from bitwright.networks import IntegerNetwork

    origin, rounded = about.origin, about.rounded
    whole = isinstance(network, IntegerNetwork)
    tensors = [network.first, network.last, *([network.thresholds] if isinstance(network, IntegerNetwork) else [])]
    target = "PROGRAM" if name is None else name
    return {
        "file": str(about.path),
        "format": about.format,
        "name": name,
        "trained_for": what_of(about),
        "program_id": origin.program_id,
        "integer": whole,
        "weight_bits": network.weight_bits if isinstance(network, IntegerNetwork) else None,
        "precision": None if whole else network.first.dtype.name,
        "bits": len(about.bits),
        "templates": len(about.examples),
        **_cells(about),
        "examples": len(about.examples) + origin.padding,
        "padding": origin.padding,
        "width": about.width,
        "members": 1 if rounded is None else rounded.members,
        "seed": origin.seed,
        "member": origin.member,
        "start": origin.start,
        "parametrization": origin.parametrization,
        "momentum": origin.momentum,
        "balanced": origin.balanced,
        "tolerance": origin.tolerance,
        "error": origin.error,
        "steps": origin.steps,
        "trainer": origin.trainer,
        **({} if origin.executions is None else {"executions": asdict(origin.executions)}),
        "bytes": sum(tensor.nbytes for tensor in tensors),
        "network_sha256": network.digest,
        "tensors": network.tensors_sha256,
        "claim": CLAIM if claim is None or claim.wrong is None else claim.note,
        "proved": claim is not None and claim.proved,
        "proof": f"bitwright certify {target} --network {shlex.quote(str(about.path))}",
    }


def _learnt_from(found: dict[str, Any]) -> list[str]:
    """A line on the executions that it was trained on, if it was."""
    learnt = found.get("executions")
    if learnt is None:
        return []
    runs = "states of runs" if learnt["runs"] is None else f"states of {learnt['runs']:,} runs"
    of = {"runs": runs, "states": "random states", "file": "states of a file"}[learnt["source"]]
    seed = "" if learnt["sample_seed"] is None else f", sample seed {learnt['sample_seed']}"
    return [
        f"  executions {learnt['examples']:,} different examples in {learnt['states']:,} {of}{seed}, "
        f"{learnt['labels']} labels; sha256 {learnt['sha256']}"
    ]


def _cells(about: About) -> dict[str, int]:
    """Of a network of cells: how many kinds, and all their local states."""
    from bitwright.program.pattern import read_pattern

    pattern = read_pattern(about.bits, about.examples)
    return {} if pattern is None else {"kinds": len(pattern.kinds), "local_states": pattern.local_states}


def _lines(about: About, found: dict[str, Any]) -> list[str]:
    several = f"{found['members']:,} networks, " if found["members"] > 1 else ""
    kind = f"whole numbers of {found['weight_bits']} bits" if found["integer"] else f"weights of {found['precision']}"
    padding = f", {found['padding']:,} of them padding" if found["padding"] else ", no padding"
    otherwise = "balanced steps" if found["balanced"] else "plain gradient descent"
    descent = "momentum" if found["momentum"] else otherwise
    digest = "" if about.digest else " (not in the file, which an earlier version wrote)"
    return [
        f"{found['file']}: a network of {kind}, trained for {found['trained_for']}",
        f"  width      {found['width']:,}; {found['bytes']:,} bytes",
        f"  examples   K = {found['examples']:,}{padding}; {found['bits']:,} bits",
        f"  training   {several}seed {found['seed']}, member {found['member']}, start {found['start']}, "
        f"{found['parametrization']} parametrization, {descent}, {found['steps']:,} steps by {found['trainer']}",
        *_learnt_from(found),
        f"  error      {found['error']:.2g} at most on its examples"
        + (", before rounding to whole numbers" if found["integer"] else ""),
        *(f"  {name:<10} sha256 {value}" for name, value in found["tensors"].items()),
        f"  network    sha256 {found['network_sha256']}{digest}",
        f"  {'program' if 'kinds' not in found else 'pattern'}    {found['program_id']}",
        f"  format     {about.format}",
        f"  claim      {found['claim']}; {found['proof']} "
        + ("writes a certificate of it with -o" if found["proved"] else "proves it or finds where it is wrong"),
    ]
