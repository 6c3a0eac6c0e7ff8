"""Samples of dm-clrs in one small file, with the digest of each, so that tests need not import dm-clrs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
ARRAYS, DIGESTS = HERE / "samples.npz", HERE / "samples.json"
LEFT_OUT = ("pos", "adj")  # inputs that follow from the others

Samples = dict[tuple[str, int], dict[str, np.ndarray]]  # by task and length: probes by name, with the batch axis


def digest(arrays: Mapping[str, np.ndarray]) -> str:
    """The sha256 of these arrays, their names, types and shapes."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def store(samples: Samples, about: Mapping[str, object]) -> None:
    """Writes samples and their digests; equal arrays of several tasks are stored once."""
    arrays, where = {}, {}
    for (task, length), probes in samples.items():
        for name, array in probes.items():
            key = digest({"": array})[:16]
            arrays[key] = array
            where[f"{task}/{length}/{name}"] = key
    np.savez_compressed(ARRAYS, **arrays)
    digests = {f"{task}/{length}": digest(probes) for (task, length), probes in samples.items()}
    DIGESTS.write_text(json.dumps({**about, "sha256": digests, "arrays": where}, indent=1) + "\n")


def load() -> Samples:
    """The stored samples; raises ValueError where they do not have the digests that were written with them."""
    about = json.loads(DIGESTS.read_text())
    samples: Samples = {}
    with np.load(ARRAYS) as arrays:
        for place, key in about["arrays"].items():
            task, length, name = place.split("/")
            samples.setdefault((task, int(length)), {})[name] = arrays[key]
    for (task, length), probes in samples.items():
        if digest(probes) != about["sha256"][f"{task}/{length}"]:
            raise ValueError(f"the samples of {task} at length {length} are not those that were stored")
    return samples
