"""Tasks of transformers (.task) on the command line: files become values, and decoders are decided or trained."""

from __future__ import annotations

from pathlib import Path

from bitwright.api.telling import Teller
from bitwright.errors import InputError
from bitwright.transformers.decision import Decision
from bitwright.transformers.files import load_decoder, save_decoder
from bitwright.transformers.prover import decide
from bitwright.transformers.task_text import load_task
from bitwright.transformers.training import Progress as Stage
from bitwright.transformers.training import Training, TrainingRecipe, train_until_proved


def decide_file(task: Path, network: Path | None, *, seconds: float, seed: int, tell: Teller) -> Decision:
    """Whether the decoder in a file answers the task in another one rightly on every input."""
    if network is None:
        raise InputError(f"{task} is a task of a transformer; name its decoder: --network FILE.safetensors")
    decoder, columns = load_decoder(network), load_task(task)
    with tell.working("steps of decoding") as step:
        return decide(decoder, columns, seconds=seconds, seed=seed, progress=step)


def train_file(task: Path, output: Path, *, seeds: range, until: str, tell: Teller) -> Training:
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
