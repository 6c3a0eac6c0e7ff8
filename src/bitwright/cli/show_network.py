"""`bitwright show NETWORK.safetensors`: what a network file is, and what is known of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from bitwright.cli.progress import working
from bitwright.cli.reporting import print_json
from bitwright.errors import InputError

_DESCENTS = {"balanced": "balanced steps", "momentum": "momentum", "plain": "plain gradient descent"}
_WITHOUT_DIGEST = "bitwright network 1"  # whose files have no digest


def is_network(target: str) -> bool:
    """Whether a target is the file of a network."""
    return Path(target).suffix.lower() == ".safetensors"


def show_network(path: Path, others: Sequence[str], as_json: bool) -> None:
    """Reads the file whole, so that a damaged one is refused, and says what is in it."""
    from bitwright.api.network import Network, file_format

    if others:
        raise InputError(f"--{others[0]} goes with programs; {path} is a network, and says what it was trained for")
    with working("trying its states"):
        network = Network.load(path)
        found = network.to_dict()
    proof = f"bitwright certify {network.name or 'PROGRAM'} --network {shlex.quote(str(path))}"
    found = {"file": str(path), "format": file_format(path), **found, "proof": proof}
    if as_json:
        print_json(found)
    else:
        click.echo("\n".join(_lines(found)))


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


def _lines(found: dict[str, Any]) -> list[str]:
    several = f"{found['members']:,} networks, " if found["members"] > 1 else ""
    kind = f"{found['weight_bits']}-bit integers" if found["integer"] else f"weights of {found['precision']}"
    padding = f", {found['padding']:,} of them padding" if found["padding"] else ", no padding"
    descent = _DESCENTS[found["descent"]]
    digest = " (not in the file, which an earlier version wrote)" if found["format"] == _WITHOUT_DIGEST else ""
    return [
        f"{found['file']}: a network of {kind}, trained for {found['trained_for']}",
        f"  width      {found['width']:,}; {found['bytes']:,} bytes",
        f"  examples   K = {found['examples']:,}{padding}; {found['bits']:,} bits",
        f"  training   {several}seed {found['seed']}, member {found['member']}, start {found['start']}, "
        f"{found['parametrization']} parametrization, {descent}, {found['steps']:,} steps by {found['trainer']}",
        *_learnt_from(found),
        f"  error      {found['error']:.2g} at most on its examples"
        + (", before quantizing" if found["integer"] else ""),
        *(f"  {name:<10} sha256 {value}" for name, value in found["tensors"].items()),
        f"  network    sha256 {found['digest']}{digest}",
        f"  {'program' if 'kinds' not in found else 'pattern'}    {found['program_id']}",
        f"  format     {found['format']}",
        f"  claim      {found['claim']}; {found['proof']} "
        + ("writes a certificate of it with -o" if found["proved"] else "proves it or finds where it is wrong"),
    ]
