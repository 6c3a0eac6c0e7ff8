"""Networks that bitwright did not train: ONNX files, PyTorch modules and plain functions, as something to be proved."""

from bitwright.networks.external.model import READS, HeldModel, Model, as_model, is_model

__all__ = ["READS", "HeldModel", "Model", "as_model", "is_model"]
