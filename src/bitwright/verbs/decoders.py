"""`certify` for tasks and decoders, as values and as files, and the other commands for their files."""

from __future__ import annotations

from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, ProofError, counted, option
from bitwright.common.files.storage import check_writable
from bitwright.runs.progress import Progress
from bitwright.transformers.certificate import check_claims, check_subject, read_certificate
from bitwright.transformers.decision import Decision
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.files import FORMAT, describe_decoder, digest, load_decoder, save_decoder
from bitwright.transformers.layout import ColumnTask
from bitwright.transformers.modules import Module
from bitwright.transformers.prover import decide
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
    progress: Teller | Progress | bool | None = None,
) -> Decision:
    """Determines whether a decoder is correct on every input of a task; see `certify` for the arguments."""
    columns = _as_task(task)
    if not isinstance(decoder, Decoder):
        raise InputError(
            f"a task needs a Decoder, got {shorten(repr(decoder), 60)}; load_decoder(path) reads one, from_gpt2 and "
            "from_llama convert a state dict; pass your module as module="
        )
    limit = SECONDS if seconds is None else seconds
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not (isfinite(limit) and limit >= 0):
        raise InputError(f"{option('seconds')} must be a finite number of at least 0, got {limit}")
    with teller(progress).working("boxes", at_most=True) as step:
        return decide(decoder, columns, module=module, seconds=limit, progress=step)


def _as_task(task: object) -> ColumnTask:
    if isinstance(task, ColumnTask):
        return task
    if isinstance(task, str) and "\n" in task:
        return read_task(task)
    got = shorten(repr(task), 60)
    raise InputError(f"a decoder needs a task or its text, got {got}; load_task(path) reads a file")


# ---- files


def describe_file(path: Path) -> dict[str, Any]:
    """Reads and checks a decoder file, and returns its facts."""
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
        "layers": [counted(len(layer.heads), "head") for layer in decoder.layers],
        "final_norm": None if decoder.final_norm is None else decoder.final_norm.kind,
        "digest": digest(decoder),
        "sha256": sha256(path.read_bytes()).hexdigest(),
    }


def certify_file(
    task: Path, network: Path | None, output: Path | None, *, seconds: float | None, tell: Teller
) -> Decision:
    """Proves or refutes the decoder in a file, and writes the certificate to `output` unless that is None."""
    file = _named(task, network)
    if output is not None:
        if output.suffix != ".json":
            raise InputError(f"{option('output')} must end in .json for a task, got {output}")
        check_writable(output)
    decision = certify_decoder(load_task(task), load_decoder(file), seconds=seconds, progress=tell)
    if output is not None:
        decision.save(output, file)
        tell.note(f"wrote {output}")
    return decision


def check_file(task: Path, network: Path | None, certificate: Path, *, seconds: float | None, tell: Teller) -> Decision:
    """Repeats the proofs of a certificate; raises ProofError for the first claim that does not hold."""
    claims, file, columns = read_certificate(certificate), _named(task, network), load_task(task)
    decoder = load_decoder(file)
    check_subject(certificate, claims, columns, decoder)
    if claims["network"] != sha256(file.read_bytes()).hexdigest():
        raise ProofError(f"{certificate} is for another file with the weights of {file}: its sha256 differs")
    decision = certify_decoder(columns, decoder, seconds=seconds, progress=tell)
    check_claims(certificate, claims, decision)
    return decision


def _named(task: Path, network: Path | None) -> Path:
    if network is None:
        raise InputError(f"{task} is a task for a transformer; give its decoder: --network FILE.safetensors")
    return network


def train_file(task: Path, output: Path, *, seeds: range, tell: Teller) -> TrainedDecoder:
    """Trains decoders for the task in a file until one is proved, and writes the proved decoder or the best one."""
    with tell.working("training steps") as step:
        trained = train_until_proved(load_task(task), TrainingRecipe(), seeds=list(seeds), enough=1, progress=step)
    best = min(trained, key=lambda training: (not training.decision, training.wrong[-1], training.seed))
    save_decoder(best.decoder, output)
    return best
