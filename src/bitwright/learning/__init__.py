"""Real networks: initial weights, gradient descent, the store."""

from bitwright.learning.descent import History, Plan, TrainingError
from bitwright.learning.network import Network
from bitwright.learning.store import load_network, save_network
from bitwright.learning.train import Recipe, train

__all__ = ["History", "Network", "Plan", "Recipe", "TrainingError", "load_network", "save_network", "train"]
