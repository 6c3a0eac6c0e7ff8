"""Tasks of transformers (.task) on the command line: files become values, and decoders are decided or trained."""

from __future__ import annotations

from pathlib import Path

from bitwright.api.telling import Teller
from bitwright.errors import InputError, ProofError
from bitwright.files.storage import check_writable
from bitwright.transformers.certificate import read_certificate, task_document, write_certificate
from bitwright.transformers.decision import Decision
from bitwright.transformers.files import digest, load_decoder, save_decoder
from bitwright.transformers.prover import decide
from bitwright.transformers.task_text import load_task
from bitwright.transformers.training import Progress as Stage
from bitwright.transformers.training import TrainedDecoder, TrainingRecipe, train_until_proved


def decide_file(task: Path, network: Path | None, output: Path | None, *, seconds: float, tell: Teller) -> Decision:
    """Whether the decoder in a file answers a task rightly on every input; `output` is for the certificate."""
    if output is not None:
        check_writable(output)
    decision = _decide(task, network, seconds, tell)
    if output is not None:
        write_certificate(decision, output, _named(task, network))
    return decision


def check_file(task: Path, network: Path | None, certificate: Path, *, seconds: float, tell: Teller) -> Decision:
    """Proves again what a certificate claims; raises ProofError for the first claim that does not hold."""
    claims = read_certificate(certificate)
    if claims.weights != digest(load_decoder(_named(task, network))):
        raise ProofError(f"{certificate} is about another network than {network}")
    if task_document(claims.task) != task_document(load_task(task)):
        raise ProofError(f"{certificate} is about another task than {task}")
    decision = _decide(task, network, seconds, tell)
    for claim, again in zip(claims.claims, decision.claims, strict=True):
        if (claim.about, claim.verdict) != (again.about, again.verdict):
            raise ProofError(f"{claim.about}: {certificate} says {claim.verdict}, and it is {again.verdict}")
        if claim.arithmetic == "float32" and again.arithmetic == "real" and claim.verdict == "proved":
            raise ProofError(f"{claim.about}: {certificate} says proved for float32; only real arithmetic is")
    return decision


def _decide(task: Path, network: Path | None, seconds: float, tell: Teller) -> Decision:
    decoder, columns = load_decoder(_named(task, network)), load_task(task)
    with tell.working("steps of decoding") as step:
        return decide(decoder, columns, seconds=seconds, progress=step)


def _named(task: Path, network: Path | None) -> Path:
    if network is None:
        raise InputError(f"{task} is a task of a transformer; name its decoder: --network FILE.safetensors")
    return network


def train_file(task: Path, output: Path, *, seeds: range, until: str, tell: Teller) -> TrainedDecoder:
    """Trains a decoder for the task in a file, and writes the first that is proved, or else the one closest to it.

    Args:
        until: "proved" to train those that are not proved in further rounds, or "trained".
    """
    columns = load_task(task)
    recipe = TrainingRecipe() if until == "proved" else TrainingRecipe(rounds=0)
    with tell.working("steps of training") as step:

        def show(stage: Stage) -> None:
            step(stage.done, stage.total)

        trained = train_until_proved(columns, recipe, seeds=list(seeds), enough=1, progress=show)
    best = min(trained, key=lambda training: (not training.decision, training.wrong[-1], training.seed))
    save_decoder(best.decoder, output)
    return best
