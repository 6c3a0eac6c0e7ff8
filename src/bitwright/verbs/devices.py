"""The default device of long work: a GPU, if there is one that can do it."""

from __future__ import annotations

from importlib.util import find_spec


def gpu_name() -> str | None:
    """The name of the GPU that PyTorch would use; None without one. Loads PyTorch, so only long work should ask."""
    if find_spec("torch") is None:
        return None
    import torch

    return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else None
