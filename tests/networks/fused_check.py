"""Run by test_fused in a process of its own, in Triton's interpreter: the fused kernels beside their oracle."""

import json
import sys

import numpy as np
import torch
from networks.fused_sums_check import check_sums

from bitwright import permutation
from bitwright.networks.descent import NetworkShape, TrainingError
from bitwright.theory.encoding.training_set import TrainingSet
from paper.descent import descend_many
from paper.fused import descend_fused, train_drawn
from paper.training import Plan, initial_weights

K, WIDTH = 5, 200  # not multiples of a tile, so that the padding is at work
SHAPE = NetworkShape(K, WIDTH, K)
DRAWN = NetworkShape(K, 500, K)
LABELS = torch.tensor(TrainingSet(permutation([3, 1, 2, 5, 4]).program).labels().toarray().T, dtype=torch.float32)


def beside_oracle(plan: Plan, start: str) -> dict[str, object]:
    drawn = [initial_weights(SHAPE, start, 1, member) for member in (0, 1)]  # type: ignore[arg-type]
    first, last = (torch.from_numpy(np.stack(layer)) for layer in zip(*drawn, strict=True))
    ours = descend_fused(first.clone(), last.clone(), LABELS, plan)
    theirs = descend_many(first.clone(), last.clone(), LABELS, plan)
    return {
        "difference": max(float((a - b).abs().max()) for a, b in zip(ours[:2], theirs[:2], strict=True)),
        "moved": float((theirs[1] - last).abs().max()),
        "steps": [[h.steps for h in side[2]] for side in (ours, theirs)],
        "history": float(np.abs(np.array(ours[2][0].error) - theirs[2][0].error).max()),
    }


def drawn(start: str) -> dict[str, object]:
    plan = Plan(tolerance=0.4999, most_steps=50)
    first, last, _ = train_drawn(DRAWN, start, 7, [2**40, 3], LABELS, plan)  # type: ignore[arg-type]
    alone = train_drawn(DRAWN, start, 7, [3], LABELS, plan)  # type: ignore[arg-type]
    other = train_drawn(DRAWN, start, 8, [3], LABELS, plan)  # type: ignore[arg-type]
    return {
        "same alone": bool((alone[0][0] == first[1]).all() and (alone[1][0] == last[1]).all()),
        "other seed differs": not bool((other[0][0] == first[1]).any()),
        "members differ": not bool((first[0] == first[1]).any()),
        "mean": float(first.mean()),
        "deviation": float(last.std()),
        "fourth moment": float((first**4).mean()),
        "correlation": float((np.corrcoef(first.numpy().reshape(-1, DRAWN.inputs).T) - np.eye(DRAWN.inputs)).max()),
    }


def failure() -> str:
    try:
        train_drawn(SHAPE, "random", 7, [0], LABELS, Plan(tolerance=1e-3, most_steps=2))
    except TrainingError as error:
        return str(error)
    return "none"


if __name__ == "__main__":
    json.dump(
        {
            "plain": beside_oracle(Plan(0.2, "plain"), "random"),
            "momentum": beside_oracle(Plan(0.2, "momentum"), "zero"),
            "balanced": beside_oracle(Plan(0.2), "zero"),
            "standard": beside_oracle(Plan(0.2, "plain", "standard"), "zero"),
            "drawn": drawn("random"),
            "drawn zero": drawn("zero"),
            "failure": failure(),
            "sums": check_sums(),
        },
        sys.stdout,
    )
