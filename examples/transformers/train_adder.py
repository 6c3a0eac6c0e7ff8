"""Trains transformers to add two ten-digit numbers until one is proved right on all 10^20 pairs, and saves it.

    python examples/transformers/train_adder.py adder.safetensors

It needs PyTorch (pip install 'bitwright[train]') and takes about half a minute on one core.
"""

import sys
from pathlib import Path

from bitwright.transformers.files import save_decoder
from bitwright.transformers.task_text import load_task
from bitwright.transformers.training import TrainingRecipe, train_until_proved


def show(done: int, total: int) -> None:
    print(f"\r{done} of {total} steps ", end="", file=sys.stderr, flush=True)


task = load_task(Path(__file__).with_name("adder.task"))
trained = train_until_proved(task, TrainingRecipe(), seeds=range(8), enough=1, progress=show)
print(file=sys.stderr)
proved = [training for training in trained if training.decision]
if not proved:
    sys.exit("no decoder was proved; try other seeds")
best = max(proved, key=lambda training: training.decision.claims[0].margin or 0.0)
save_decoder(best.decoder, sys.argv[1])
print(f"{len(proved)} of {len(trained)} decoders are proved on all {task.inputs:.0e} pairs, float32 included")
print(f"seed {best.seed}: every right digit is ahead by at least {best.decision.claims[0].margin:.2f}; saved")
