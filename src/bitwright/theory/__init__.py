"""The infinitely wide network: kernels, mean and variance of the limit, rounding rules and ensemble sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bitwright.common.lazy import lazy_names

if TYPE_CHECKING:
    from bitwright.theory.closed_form import covariance as covariance
    from bitwright.theory.closed_form import spectrum as spectrum
    from bitwright.theory.closed_form import variance as variance
    from bitwright.theory.closed_form import weights as weights
    from bitwright.theory.decisions import Range as Range
    from bitwright.theory.decisions import blocks_range as blocks_range
    from bitwright.theory.decisions import declared_range as declared_range
    from bitwright.theory.decisions import training_size as training_size
    from bitwright.theory.ensemble import EnsembleSize as EnsembleSize
    from bitwright.theory.ensemble import calibrated_size as calibrated_size
    from bitwright.theory.ensemble import check_scope as check_scope
    from bitwright.theory.ensemble import sign_size as sign_size
    from bitwright.theory.ensemble import sizes as sizes
    from bitwright.theory.predictor import Predictor as Predictor
    from bitwright.theory.predictor import nngp as nngp
    from bitwright.theory.predictor import ntk as ntk
    from bitwright.theory.proof import smallest_examples as smallest_examples
    from bitwright.theory.rounding import ROUNDINGS as ROUNDINGS
    from bitwright.theory.rounding import Rounding as Rounding
    from bitwright.theory.rounding import check_rounding as check_rounding
    from bitwright.theory.rounding import round_outputs as round_outputs

__all__, __getattr__ = lazy_names(
    __name__,
    {
        "bitwright.theory.proof": "smallest_examples",
        "bitwright.theory.closed_form": "covariance spectrum variance weights",
        "bitwright.theory.ensemble": "EnsembleSize calibrated_size check_scope sign_size sizes",
        "bitwright.theory.predictor": "Predictor nngp ntk",
        "bitwright.theory.decisions": "Range blocks_range declared_range training_size",
        "bitwright.theory.rounding": "ROUNDINGS Rounding check_rounding round_outputs",
    },
)
