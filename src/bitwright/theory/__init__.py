"""The infinitely wide network: kernels, mean and variance of the limit, certificates, ensemble sizes."""

from bitwright.theory.certificate import (
    Certificate,
    Range,
    blocks_range,
    certify,
    declared_range,
    smallest_examples,
)
from bitwright.theory.certificate_file import check_certificate, load_certificate, save_certificate
from bitwright.theory.closed_form import covariance, spectrum, variance, weights, weights_at
from bitwright.theory.ensemble import EnsembleSize, calibrated_size, check_scope, sign_size
from bitwright.theory.kernels import nngp, ntk
from bitwright.theory.orders import orders
from bitwright.theory.predictor import Predictor
from bitwright.theory.rounding import ROUNDINGS, Rounding, check_rounding, round_outputs

__all__ = [
    "ROUNDINGS",
    "Certificate",
    "EnsembleSize",
    "Predictor",
    "Range",
    "Rounding",
    "blocks_range",
    "calibrated_size",
    "certify",
    "check_certificate",
    "check_rounding",
    "check_scope",
    "covariance",
    "declared_range",
    "load_certificate",
    "nngp",
    "ntk",
    "orders",
    "round_outputs",
    "save_certificate",
    "sign_size",
    "smallest_examples",
    "spectrum",
    "variance",
    "weights",
    "weights_at",
]
