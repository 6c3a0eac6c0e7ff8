"""Whether a decoder describes a user's module: their logits on many inputs, up to rounding."""

from __future__ import annotations

import numpy as np

from bitwright.errors import InputError
from bitwright.transformers.decision import ModuleComparison
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.layout import ColumnTask, mixture_of
from bitwright.transformers.modules import Module, forced_rows, logits, runtime_of

FACTOR = 4  # sums in another order may round so much worse
LEAST = 2.0**-20  # of the largest logit: what is allowed where the decoder's own logits are exact


def compare(decoder: Decoder, module: Module, task: ColumnTask, seed: int = 0, inputs: int = 4096) -> ModuleComparison:
    """How far the module's logits are from those of the decoder in float64, with the right answers as prefix.

    They agree if no logit from which a token is decoded is further off than the bound: 4 times the largest error of the
    decoder's own evaluation in float32 on the same inputs. A strict bound on rounding is hundreds of times larger, and
    does not see, for example, one form of GELU in place of another.
    """
    runtime = runtime_of(module, task)
    rows = forced_rows(task, mixture_of(task).vary(inputs, np.random.default_rng(seed)))
    exact, single, found = (
        evaluate(rows)[:, task.prompt_length - 1 :]
        for evaluate in (lambda r: logits(decoder, r), lambda r: logits(decoder, r, np.float32), runtime)
    )
    if found.shape != exact.shape:
        raise InputError(f"the module gives {found.shape[2]} logits after each token, the decoder {exact.shape[2]}")
    apart = float(np.abs(found - exact).max())
    bound = max(FACTOR * float(np.abs(single - exact).max()), LEAST * float(np.abs(exact).max()))
    return ModuleComparison(len(rows), apart, bound, apart <= bound)
