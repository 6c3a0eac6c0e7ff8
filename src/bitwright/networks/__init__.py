"""Trained networks: initial weights, gradient descent, integer networks, and network files."""

from bitwright.networks.descent import History, Plan, TrainingError
from bitwright.networks.integer import IntegerNetwork
from bitwright.networks.network import FloatNetwork
from bitwright.networks.quantize import quantize
from bitwright.networks.store import AnyNetwork, load_any_network, load_network, save_network
from bitwright.networks.train import Recipe, train

__all__ = [
    "AnyNetwork",
    "FloatNetwork",
    "History",
    "IntegerNetwork",
    "Plan",
    "Recipe",
    "TrainingError",
    "load_any_network",
    "load_network",
    "quantize",
    "save_network",
    "train",
]
