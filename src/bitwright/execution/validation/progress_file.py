"""The file from which a validation goes on after an interruption: how far it came, and what it found till then."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.execution.validation.oracles import Function
from bitwright.execution.validation.tally import Tally
from bitwright.execution.validation.task import Task
from bitwright.files.storage import write_atomically
from bitwright.learning.members import network_files

FORMAT = "bitwright validation 1"
_MAX_BYTES = 1 << 28


def describe(task: Task) -> dict[str, Any]:
    """Everything that the results depend on; a validation goes on only where all of it is the same."""
    settings = task.settings
    return {
        "algorithm": sha256(task.algorithm.text().encode()).hexdigest(),
        "engine": task.engine,
        "rounding": settings.rounding,
        "examples": task.examples,
        "networks": settings.networks,
        "network seed": settings.seed,
        "width": settings.width,
        "network files": [_digest(file) for path in settings.files for file in network_files(path)],
        "inputs": task.inputs.count,
        "random": task.inputs.random,
        "seed": task.inputs.seed,
        "oracle": "the rules" if task.oracle is None else task.oracle.name,
        "oracle's file": _source(task.oracle) if isinstance(task.oracle, Function) else None,
        "step limit": task.limit,
        "batch": task.batch,
    }


def save_progress(path: Path, task: Task, batches: int, tally: Tally, seconds: float) -> None:
    """Writes that the first `batches` batches are done."""
    document = {
        "format": FORMAT,
        "of": describe(task),
        "batches": batches,
        "seconds": seconds,
        "tally": tally.to_json(),
    }
    write_atomically(path, (json.dumps(document) + "\n").encode())


def load_progress(path: Path, task: Task) -> tuple[int, Tally, float]:
    """Batches done, what they found, and the seconds they took; nothing if there is no such file yet."""
    if not path.exists():
        return 0, Tally(), 0.0
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    try:
        document = json.loads(data)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise InputError(f"{path} is not a validation that was begun by this version; choose another file")
        then, now = document["of"], describe(task)
        for name, value in now.items():
            if then[name] != value:
                said, is_now = (shorten(str(v)) for v in (then[name], value))
                raise InputError(f"{path} belongs to another validation: its {name} was {said}, now it is {is_now}")
        batches, seconds = document["batches"], float(document["seconds"])
        tally = Tally.from_json(document["tally"])
        if type(batches) is not int or not 0 <= batches <= task.batches or not 0 <= seconds < 1e12:
            raise ValueError("batches")
        if tally.inputs != min(batches * task.batch, task.inputs.count):
            raise ValueError("inputs")
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError(f"{path} is not a validation file; it may be truncated or damaged") from None
    return batches, tally, seconds


def _digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def _source(oracle: Function) -> str | None:
    """The digest of the file of an oracle's module."""
    oracle.load()
    file = getattr(sys.modules[oracle.where.partition(":")[0]], "__file__", None)
    return _digest(Path(file)) if file else None
