"""The file from which an interrupted validation continues: how far it came, and what it found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.files.documents import check_fields, one_of, parse, read_file, real, whole
from bitwright.files.storage import write_atomically
from bitwright.program import Program
from bitwright.theory.ranges import blocks_range
from bitwright.validation.tally import ANY_TABLE, Tally
from bitwright.validation.task import Prepared

FORMAT = "bitwright validation 2"
_MAX_BYTES = 1 << 28
_WHAT = "a validation file"


class ProgressFile:
    """The file of one validation; what it is about is found once, at the beginning."""

    def __init__(self, path: Path, ready: Prepared) -> None:
        self._path, self._task, self._of = path, ready.task, ready.describe()

    def save(self, batches: int, tally: Tally, seconds: float) -> None:
        """Writes that the first `batches` batches are done."""
        document = {
            "format": FORMAT,
            "of": self._of,
            "batches": batches,
            "seconds": seconds,
            "tally": tally.to_json(),
        }
        write_atomically(self._path, (json.dumps(document) + "\n").encode())

    def load(self) -> tuple[int, Tally, float]:
        """Batches done, what they found, and the seconds they took; nothing if there is no such file yet."""
        path, task = self._path, self._task
        if not path.exists():
            return 0, Tally(), 0.0
        document = parse(read_file(path, _MAX_BYTES), path, _WHAT)
        if document.get("format") != FORMAT:
            raise InputError(f"{path} is not a validation that was begun by this version; choose another file")
        fields = {
            "format": one_of(FORMAT),
            "of": ANY_TABLE,
            "batches": whole(0, task.batches),
            "seconds": real(0, 1e12),
            "tally": ANY_TABLE,
        }
        check_fields(document, path, _WHAT, fields)
        self._compare(document["of"])
        batches, tally = document["batches"], Tally.from_json(document["tally"], path)
        if not _adds_up(tally) or tally.inputs != min(batches * task.batch, task.inputs.count):
            raise InputError(f"{path} is not {_WHAT}: its counts do not add up")
        if not _can_occur(tally, task.algorithm.program):
            raise InputError(f"{path} is not {_WHAT}: it has matches that no state of {task.algorithm.name} can have")
        return batches, tally, float(document["seconds"])

    def _compare(self, then: dict[str, Any]) -> None:
        check_fields(then, self._path, _WHAT, dict.fromkeys(self._of, lambda _: None))
        for name, value in self._of.items():
            if then[name] != value:
                said, is_now = (shorten(str(v)) for v in (then[name], value))
                raise InputError(
                    f"{self._path} belongs to another validation: its {name} was {said}, now it is {is_now}"
                )


def _adds_up(tally: Tally) -> bool:
    return (
        tally.wrong + tally.unfinished + tally.unjudged <= tally.inputs
        and tally.endless <= tally.unfinished
        and len(tally.failures) <= tally.wrong
        and bool(tally.failures) == bool(tally.wrong)
        and tally.wrong_steps <= tally.evaluations
        and tally.beyond <= tally.inputs
        and bool(tally.beyond) == (tally.first_beyond is not None)
    )


def _can_occur(tally: Tally, program: Program) -> bool:
    """Whether states of this program can have these n, and bits with these numbers of writers and matches."""
    n_max, writers = blocks_range(program).n_max, set(program.writers[program.writers > 0].tolist())
    return max(tally.matches, default=0) <= n_max and all(
        n <= n_max and c in writers and m <= min(n, c) for n, c, m in tally.triples
    )
