"""`certify` and `train` for tasks of transformers (.task)."""

from __future__ import annotations

from pathlib import Path

import click

from bitwright.cli.options import BESIDE, allow_only
from bitwright.cli.progress import TerminalTeller, is_quiet, note
from bitwright.cli.reporting import print_json, refuted
from bitwright.common.errors import InputError, ProofError, counted

SUFFIX = ".task"


def is_task(name: str) -> bool:
    """Whether a command-line argument names a task."""
    return Path(name).suffix.lower() == SUFFIX


def certify_task(
    task: Path, network: Path | None, output: Path | None, check: Path | None, as_json: bool, seconds: float | None
) -> int:
    """Decides a decoder on every input of a task; exit 1 unless it is proved."""
    from bitwright.verbs.decoders import certify_file, check_file

    allow_only("a task (.task)", "network", "output", "check", "as_json", "seconds")
    holds = ""
    if check is None:
        decision = certify_file(task, network, output, seconds=seconds, tell=TerminalTeller())
    else:
        if output is not None:
            raise InputError("--check proves everything again and writes nothing; leave out -o")
        certificate = find_certificate(check, network)
        try:
            decision = check_file(task, network, certificate, seconds=seconds, tell=TerminalTeller())
        except ProofError as error:
            return refuted(error, as_json)
        holds = f"{certificate} holds: "
    if as_json:
        print_json(decision.to_dict())
    else:
        click.echo(holds + (decision.sentence if is_quiet() else str(decision)))
    return 0 if decision else 1


def find_certificate(check: Path, network: Path | None) -> Path:
    """The certificate of --check: the named file, or the one next to the network."""
    from bitwright.verbs.folder import certificate_beside

    if check == BESIDE and network is None:
        raise InputError("--check without a file name needs a network; give --network, or name the certificate file")
    return certificate_beside(network if check == BESIDE and network is not None else check)


def train_task(task: Path, output: Path, seeds: range, as_json: bool) -> int:
    """Trains a decoder on a task until one is proved, or all seeds and rounds are used; exit 1 unless it is proved."""
    from bitwright.verbs.decoders import train_file

    allow_only("a task (.task)", "output", "seed", "as_json")
    trained = train_file(task, output, seeds=seeds, tell=TerminalTeller())
    if as_json:
        print_json({"file": str(output), "seed": trained.seed, "rounds": trained.rounds, **trained.decision.to_dict()})
    else:
        rounds = counted(trained.rounds, "round")
        note(f"{trained.decision}\n  training   seed {trained.seed}, {rounds} after the first training")
        click.echo(str(output))
    return 0 if trained.decision else 1
