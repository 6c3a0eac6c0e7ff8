"""Real networks: initial weights, gradient descent, the store."""

from bitwright.networks.descent import History, Plan, TrainingError
from bitwright.networks.network import Network
from bitwright.networks.store import load_network, save_network
from bitwright.networks.train import Recipe, train

__all__ = ["History", "Network", "Plan", "Recipe", "TrainingError", "load_network", "save_network", "train"]
