"""Which device long work goes to when nobody says: a GPU, if there is one that can do it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from bitwright.networks.store import read_about


def gpu_name() -> str | None:
    """The name of the GPU that PyTorch would use; None without one. Loads PyTorch, so only long work should ask."""
    if find_spec("torch") is None:
        return None
    import torch

    return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else None


def is_integer_network(file: Path) -> bool:
    """Whether a network file has one network of integers for a whole state, which gives the same bits anywhere."""
    from bitwright.program.pattern import read_pattern

    about = read_about(file)
    return about.rounded is not None and read_pattern(about.bits, about.examples) is None
