"""Decoders and tasks by columns: `certify` for values, and what the command line does with their files."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, ProofError, counted, option
from bitwright.common.files.storage import as_path, check_writable
from bitwright.common.workers import Workers
from bitwright.runs.progress import Progress
from bitwright.transformers.certificate import StepJournal, read_certificate, task_document
from bitwright.transformers.decision import Decision
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.files import FORMAT, describe_decoder, digest, load_decoder, save_decoder
from bitwright.transformers.layout import ColumnTask
from bitwright.transformers.margins import count_wrong, smallest_margin
from bitwright.transformers.modules import Module
from bitwright.transformers.prover import decide, not_covered
from bitwright.transformers.report import describe_layer
from bitwright.transformers.task_text import load_task, read_task
from bitwright.transformers.training import TrainedDecoder, TrainingRecipe, train_until_proved
from bitwright.verbs.progress import Teller, teller

SECONDS = 600.0


def certify_decoder(
    task: ColumnTask | str,
    decoder: Decoder,
    *,
    module: Module | None = None,
    seconds: float | None = None,
    measure: bool = False,
    workers: str | int = "1",
    resume: str | PathLike[str] | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Decision:
    """Whether a decoder is right on every input of a task; `certify` has the arguments."""
    columns, tell = _as_task(task), teller(progress)
    if not isinstance(decoder, Decoder):
        raise InputError(
            f"a task needs a Decoder, got {shorten(repr(decoder), 60)}; load_decoder(path) reads one, from_gpt2 and "
            "from_llama make one from the state dict of a module, and the module itself goes to module="
        )
    limit = SECONDS if seconds is None else seconds
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not (isfinite(limit) and limit >= 0):
        raise InputError(f"{option('seconds')} must be a finite number of at least 0, got {limit}")
    if measure and (reason := not_covered(decoder)):
        raise InputError(f"{option('measure')} cannot be used here: {reason}")
    how: dict[str, Any] = {"workers": Workers.parse(str(workers)), "module": module, "seconds": limit}
    try:
        with ExitStack() as stack:
            if resume is not None:
                file = as_path(resume, "the file to resume from")
                journal = how["journal"] = stack.enter_context(StepJournal(file, decoder, columns, 0))
                if journal.known:
                    tell.note(f"{counted(len(journal.known), 'step')} of decoding are finished, says {resume}")
            step = stack.enter_context(tell.working("boxes", at_most=True))
            decision = decide(decoder, columns, progress=step, note=tell.note, **how)
        described = decision.comparison is None or decision.comparison.agrees
        return _measured(decision, limit, tell) if measure and described else decision
    except KeyboardInterrupt:
        kept = f"what is finished is in {resume}; the same command continues from there"
        none = f"nothing is kept; with {option('resume')} FILE a stopped proof can be continued"
        tell.note(none if resume is None else kept)
        raise


def _measured(decision: Decision, seconds: float, tell: Teller) -> Decision:
    """The decision with the smallest margin unless it is refuted, and wrong inputs counted unless it is proved."""
    smallest, wrong, of = None, None, (decision.decoder, decision.task)
    if decision.verdict != "refuted":
        with tell.working("percent of the smallest margin") as step:
            smallest = smallest_margin(*of, seconds=seconds, progress=step)
    if not decision:
        with tell.working("inputs") as step:
            wrong = count_wrong(*of, progress=step)
    return replace(decision, smallest=smallest, wrong=wrong)


def _as_task(task: object) -> ColumnTask:
    if isinstance(task, ColumnTask):
        return task
    if isinstance(task, str) and "\n" in task:
        return read_task(task)
    raise InputError(
        f"a decoder needs a task or the text of one, got {shorten(repr(task), 60)}; load_task(path) reads one, and "
        "ColumnTask(columns, PromptLayout(prompt, answer)) makes one"
    )


# ---- files


def describe_file(path: Path) -> dict[str, Any]:
    """What is in the file of a decoder, all of it read and checked."""
    decoder = load_decoder(path)
    positions, tokens, width = decoder.shape
    arrays = describe_decoder(decoder)[1]
    return {
        "file": str(path),
        "format": FORMAT,
        "bytes": path.stat().st_size,
        "weights": decoder.weights,
        "precision": sorted({array.dtype.name for array in arrays.values()}),
        "tokens": tokens,
        "positions": positions if positions > 1 else None,
        "width": width,
        "layers": [describe_layer(layer) for layer in decoder.layers],
        "final_norm": None if decoder.final_norm is None else decoder.final_norm.kind,
        "digest": digest(decoder),
        "sha256": sha256(path.read_bytes()).hexdigest(),
    }


def certify_file(
    task: Path, network: Path | None, output: Path | None, *, resume: Path | None, tell: Teller, **how: Any
) -> Decision:
    """What `certify_decoder` gives for the decoder in a file.

    Args:
        output: for the certificate (.json), or for a page with the picture (.html); what is finished is in a file
            beside it until the decoder is decided.
    """
    file, kept = _named(task, network), resume
    if output is not None:
        if output.suffix not in (".json", ".html"):
            raise InputError(f"{option('output')} takes a .json file, or for a page a .html file, got {output}")
        check_writable(output)
        kept = resume or output.with_name(output.name + ".part")
    decision = certify_decoder(load_task(task), load_decoder(file), resume=kept, progress=tell, **how)
    if output is not None:
        decision.save(output, file)
        tell.note(f"wrote {output}")
    if kept is not None and decision.verdict == "not decided":
        tell.note(f"what is proved is in {kept}; the same command with more {option('seconds')} continues from there")
    elif kept is not None and resume is None:
        kept.unlink(missing_ok=True)
    return decision


def check_file(task: Path, network: Path | None, certificate: Path, *, tell: Teller, **how: Any) -> Decision:
    """Proves again what a certificate claims; raises ProofError for the first claim that does not hold."""
    claims, decoder, columns = read_certificate(certificate), load_decoder(_named(task, network)), load_task(task)
    if claims.weights != digest(decoder):
        raise ProofError(f"{certificate} is about another network than {network}")
    if task_document(claims.task) != task_document(columns):
        raise ProofError(f"{certificate} is about another task than {task}")
    decision = certify_decoder(columns, decoder, progress=tell, **how)
    for claim, again in zip(claims.claims, decision.claims, strict=True):
        if (claim.about, claim.verdict) != (again.about, again.verdict):
            raise ProofError(f"{claim.about}: {certificate} says {claim.verdict}, and it is {again.verdict}")
        if claim.arithmetic == "float32" and again.arithmetic == "real" and claim.verdict == "proved":
            raise ProofError(f"{claim.about}: {certificate} says proved for float32; only real arithmetic is")
    return decision


def _named(task: Path, network: Path | None) -> Path:
    if network is None:
        raise InputError(f"{task} is a task of a transformer; name its decoder: --network FILE.safetensors")
    return network


def train_file(task: Path, output: Path, *, seeds: range, tell: Teller) -> TrainedDecoder:
    """Trains decoders for the task in a file until one is proved, and writes that one, or the closest to it."""
    try:
        with tell.working("steps of training") as step:
            columns, recipe = load_task(task), TrainingRecipe()
            trained = train_until_proved(columns, recipe, seeds=list(seeds), enough=1, progress=step)
    except KeyboardInterrupt:
        tell.note(f"nothing is written to {output}; the same command trains the same decoders from the beginning")
        raise
    best = min(trained, key=lambda training: (not training.decision, training.wrong[-1], training.seed))
    save_decoder(best.decoder, output)
    return best
