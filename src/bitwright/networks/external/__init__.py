"""Reads third-party networks for proofs: ONNX files, PyTorch modules and plain functions."""

from bitwright.networks.external.model import READS, HeldModel, Model, as_model, is_model

__all__ = ["READS", "HeldModel", "Model", "as_model", "is_model"]
