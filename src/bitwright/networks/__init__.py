"""Trained networks: initial weights, gradient descent, integer networks, and network files."""

from bitwright.networks.descent import History, TrainingError
from bitwright.networks.integer import IntegerNetwork
from bitwright.networks.network import FloatNetwork
from bitwright.networks.quantize import quantize
from bitwright.networks.store import load_network, save_network
from bitwright.networks.train import Recipe, train

__all__ = [
    "FloatNetwork",
    "History",
    "IntegerNetwork",
    "Recipe",
    "TrainingError",
    "load_network",
    "quantize",
    "save_network",
    "train",
]
