"""What the outputs of a network are measured in, by what it was trained on.

Outputs are read as F = c w0 + (w1 - w0) m: m of the bit's c writers match. Trained on templates, the limit's weights
say how much that is. Trained on states, a set bit has the label 1, or 1/sqrt(n) where labels are scaled, and others 0:
then w0 = 0, and halfway to the label is the threshold.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bitwright.errors import InputError
from bitwright.theory.closed_form import Weights, check_matches, weights

Scale = Literal["ntk", "last-layer", "plain", "scaled"]  # the limit of the template's training set, or labels of states


def check_states_rounding(rounding: str) -> None:
    """Raises InputError for the sign rule: states that were trained on have outputs of 0 where a bit is off."""
    if rounding != "calibrated":
        raise InputError(
            f"what was trained on states is rounded halfway between its labels; leave out the rounding {rounding}"
        )


def scale_weights(n: ArrayLike, examples: int, scale: Scale) -> Weights:
    """What a matched and an unmatched writer are worth in an output, by n.

    >>> scale_weights([1, 4], 8, "scaled").gap
    array([1. , 0.5])
    """
    if scale == "ntk" or scale == "last-layer":
        return weights(n, examples, scale)
    n = check_matches(n, examples)
    label = np.where(n > 0, 1 / np.sqrt(np.maximum(n, 1)) if scale == "scaled" else 1.0, 0.0)
    return Weights(matched=label, unmatched=np.zeros_like(label), gap=label)
