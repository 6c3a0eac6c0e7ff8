"""Wrong arguments to what Python offers for networks: one InputError with a sentence, never another exception."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import bitwright as bw


@cache
def small() -> bw.Algorithm:
    return bw.addition(2)


@cache
def trained() -> Any:
    return bw.train(small(), width=256)


@cache
def cells() -> Any:
    return bw.train_cells(small())


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "no network": (lambda: bw.certify_network(small(), None), "give one network"),  # type: ignore[arg-type]
    "a list": (lambda: bw.certify_network(small(), [trained()]), "give one network"),  # type: ignore[arg-type]
    "workers": (lambda: bw.certify_network(small(), trained(), workers=-1), "workers are a number"),
    "resume": (lambda: bw.certify_network(small(), trained(), resume=3), "resume is the path"),  # type: ignore[arg-type]
    "domain": (lambda: bw.certify_network(small(), trained(), "all"), "there is no domain 'all'"),
    "other cells": (lambda: bw.certify_network(bw.permutation([2, 1]), cells()), "no cell like"),
    "swapped": (lambda: bw.quantize(trained(), small()), "got Algorithm"),
    "nothing": (lambda: bw.quantize(small(), None), "got NoneType"),  # type: ignore[arg-type]
    "whole already": (lambda: bw.quantize(small(), bw.quantize(small(), trained())), "whole numbers already"),  # type: ignore[arg-type]
    "bits": (lambda: bw.quantize(small(), trained(), 8.0), "2 to 8 bits, got 8.0"),  # type: ignore[arg-type]
    "tile": (lambda: bw.train_cells(small(), tile=1.5), "tile is a whole number from 1 to 16, got 1.5"),  # type: ignore[arg-type]
    "tile size": (lambda: bw.train_cells(small(), tile=17), "tile is a whole number"),
    "width": (lambda: bw.train_cells(small(), width="128"), "the width is a whole number"),  # type: ignore[arg-type]
    "no program": (lambda: bw.train_cells(), "at least one program"),
    "engine": (lambda: bw.run(small(), p=1, q=1, engine=3), "an engine is a name"),  # type: ignore[arg-type]
    "network": (lambda: bw.run(small(), p=1, q=1, network=3), "give networks, or the paths"),  # type: ignore[arg-type]
    "no networks": (lambda: bw.run(small(), p=1, q=1, network=[]), "at least one network"),
    "settings": (lambda: bw.run(small(), p=1, q=1, network=cells(), width=3), "has its settings already"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_named(name: str) -> None:
    call, message = WRONG[name]
    with pytest.raises(bw.InputError, match=message):
        call()


def test_networks_of_cells_are_proved_from_python(tmp_path: Path) -> None:
    file = tmp_path / "cells.safetensors"
    cells().save(file)
    for given in (cells(), file, str(file)):
        found = bw.certify_network(bw.addition(9), given, workers=1)
        assert (found.certified, found.domain, found.kinds) == (True, "cells", 2)
