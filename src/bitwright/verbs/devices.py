"""Chooses the default device for long work: a GPU, if there is one."""

from __future__ import annotations

from importlib.util import find_spec


def gpu_name() -> str | None:
    """Returns the name of the GPU that PyTorch would use, or None. Loads PyTorch, so call it only for long work."""
    if find_spec("torch") is None:
        return None
    import torch

    return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else None
