"""A trained ensemble beside the limit that the theory gives for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bitwright.networks.ensemble import Statistics, Study
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import variance, weights
from bitwright.theory.encoding.training_set import TrainingSet


@dataclass(frozen=True)
class LimitCheck:
    """Root mean squares over states and bits."""

    kind: str
    networks: int
    mean_error: float  # of the ensemble's mean, from the limit's
    expected_error: float  # what N networks of infinite width would have: sigma/sqrt(N)
    variance_ratio: float | None  # variance among members over the limit's, where the limit has one

    def sentence(self) -> str:
        spread = "" if self.variance_ratio is None else f"; variance {self.variance_ratio:.3g} times the limit's"
        return (
            f"mean {self.mean_error:.3g} from the {self.kind} limit's (root mean square; {self.expected_error:.3g} is "
            f"expected of {self.networks:,} networks of infinite width){spread}"
        )


def compare_with_limit(study: Study, found: Statistics, matches: IntArray) -> LimitCheck:
    """A zero-output start has no variance in the limit: what is left there is the error of finite width."""
    program, kind = study.program, study.kind
    examples = TrainingSet(program, study.recipe.padding)
    indicator, _ = examples.matches(study.states)
    matching = np.asarray((indicator @ examples.labels()).todense())
    seen = matches > 0
    w = weights(matches[seen], examples.examples, kind)
    expected = w.unmatched[:, None] * program.writers + w.gap[:, None] * matching[seen]
    error = float(np.sqrt(((found.mean[seen] - expected) ** 2).mean()))
    if study.recipe.start == "zero":
        return LimitCheck(kind, found.count, error, 0.0, None)
    sigma2 = float(np.asarray(variance(matches[seen], examples.examples, kind)).mean())
    ratio = float(found.variance[seen].mean()) / sigma2 if found.count > 1 and sigma2 > 0 else None
    return LimitCheck(kind, found.count, error, float(np.sqrt(sigma2 / found.count)), ratio)
