"""Proofs by boxes in a file: each step of decoding that is finished, so that an interrupted proof can go on."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Literal

import numpy as np

from bitwright.errors import InputError
from bitwright.files.documents import Check, each, one_of, optional, read_document, real, text, whole
from bitwright.files.journal import Journal
from bitwright.transformers.certificate import MAX_NODES, task_document
from bitwright.transformers.columns import Ints
from bitwright.transformers.decision import Arithmetic
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.files import digest
from bitwright.transformers.layout import ColumnTask

FORMAT = "bitwright decoder proof 1"
End = Literal["done", "stuck", "wrong", "time"]
Key = tuple[str, Arithmetic, int]  # what the claim is about, the arithmetic, and the step of decoding


@dataclass(frozen=True)
class StepResult:
    """What came of one step of decoding.

    Args:
        end: why it ended: all boxes were tried; an input was not proved; a wrong one was found; the time was up.
        boxes: how many were bounded.
        least: no margin of what is proved is below.
        left: of each group, how many boxes are not proved.
        trees: of each group, the tree of splits in preorder; empty where boxes are left.
        wrong: (n, words, length) inputs that the decoder answers wrongly.
    """

    end: End
    boxes: int
    least: float
    left: tuple[int, ...]
    trees: tuple[bytes, ...]
    wrong: Ints


class StepJournal:
    """The finished steps of one decoder and task, in a file that one process at a time writes."""

    def __init__(self, file: Path, decoder: Decoder, task: ColumnTask, seed: int) -> None:
        """Opens the file, or makes it; raises InputError if it holds something else."""
        known = sha256(json.dumps(task_document(task), sort_keys=True).encode()).hexdigest()
        self.file = file
        self._journal = Journal(file, {"format": FORMAT, "decoder": digest(decoder), "task": known, "seed": seed})
        self._none = np.zeros((0, *task.positions.shape), np.int64)
        try:
            self.known: dict[Key, StepResult] = dict(map(self._read, self._journal.records()))
        except BaseException:
            self._journal.__exit__()
            raise

    def __enter__(self) -> StepJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.__exit__()

    def append(self, key: Key, result: StepResult) -> None:
        """Keeps a step that is finished."""
        about, arithmetic, step = key
        lengths, packed = [len(tree) for tree in result.trees], zlib.compress(b"".join(result.trees))
        record = {"about": about, "arithmetic": arithmetic, "step": step, "end": result.end, "boxes": result.boxes}
        record |= {"least": None if result.least == inf else result.least, "left": result.left, "lengths": lengths}
        self._journal.append(json.dumps(record | {"trees": base64.b64encode(packed).decode()}).encode())
        self.known[key] = result

    def _read(self, record: bytes) -> tuple[Key, StepResult]:
        document = read_document(record, self.file, "a proof", _FIELDS)
        try:
            nodes = zlib.decompressobj().decompress(base64.b64decode(document["trees"], validate=True), 2 * MAX_NODES)
        except (ValueError, zlib.error):
            raise InputError(f"{self.file} is damaged; delete it to begin anew") from None
        ends = np.cumsum([0, *document["lengths"]]).tolist()
        if ends[-1] != len(nodes) or len(ends) != len(document["left"]) + 1:
            raise InputError(f"{self.file} is damaged; delete it to begin anew")
        trees = tuple(nodes[begin:end] for begin, end in pairwise(ends))
        least = inf if document["least"] is None else document["least"]
        key = document["about"], document["arithmetic"], document["step"]
        left = tuple(document["left"])
        return key, StepResult(document["end"], document["boxes"], least, left, trees, self._none)


_MOST = 1 << 50
_FIELDS: dict[str, Check] = {
    "about": text(),
    "arithmetic": one_of("real", "float32"),
    "step": whole(0, _MOST),
    "end": one_of("done", "stuck"),
    "boxes": whole(0, _MOST),
    "least": optional(real(-1e308, 1e308)),
    "left": each(whole(0, _MOST)),
    "lengths": each(whole(0, _MOST)),
    "trees": text(1 << 28),
}
