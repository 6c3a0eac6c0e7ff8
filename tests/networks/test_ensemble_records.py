"""Records of an ensemble's file: only what belongs there is read, and what is no number is never written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from bitwright import InputError, permutation
from bitwright.files.journal import Journal
from bitwright.networks import Plan, Recipe
from bitwright.networks.ensemble import EnsemblePart, Study, grow
from bitwright.running.successors import random_starts

ALGORITHM = permutation([2, 3, 1])
RECIPE = Recipe(64, start="random", plan=Plan(descent="momentum", tolerance=1e-2))


def study(keep: bool) -> Study:
    return Study(ALGORITHM.program, RECIPE, random_starts(ALGORITHM, 4, 0), keep=keep)


@pytest.mark.parametrize("keep", [False, True])
def test_records_that_do_not_belong_name_the_file(keep: bool, tmp_path: Path) -> None:
    ask, file = study(keep), tmp_path / "r"
    right = {"outputs": np.zeros((1, 4, 3), np.float32)} if keep else {n: np.zeros((4, 3)) for n in ("mean", "spread")}
    some = next(iter(right))
    wrong: list[bytes] = [
        b"",
        b"junk" * 10,
        b"[" * 100_000,
        save({"else": np.zeros(3)}),
        save({**right, "more": np.zeros(3)}),
        save({**right, some: right[some][..., :-1].copy()}),
        save({**right, some: right[some].astype(np.float16)}),
        save({**right, some: right[some].astype(np.int64)}),
        save({**right, some: np.full_like(right[some], np.nan)}),
    ]
    for record in wrong:
        file.unlink(missing_ok=True)
        with Journal(file, ask.header()) as journal:
            assert list(journal.records()) == []
            journal.append(record)
        with pytest.raises(InputError, match=f"^{file} holds a record that ") as caught:
            grow(ask, 2, file=file)
        assert len(str(caught.value)) < 300
    file.unlink()
    with Journal(file, ask.header()) as journal:
        assert list(journal.records()) == []
        journal.append(save(right))
    assert grow(ask, 1, file=file).count == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_outputs_that_are_not_finite_are_no_part_of_an_ensemble(bad: float) -> None:
    outputs = np.zeros((2, 4, 3), np.float32)
    EnsemblePart.of(outputs, True)
    outputs[1, 2, 0] = bad
    with pytest.raises(InputError, match="are not finite"):
        EnsemblePart.of(outputs, False)
