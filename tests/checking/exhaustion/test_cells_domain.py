"""A network of cells has one domain, all local states of its kinds: its pattern is no program that runs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bitwright import Certificate, InputError, ProofError, TrainedCells, addition, certify
from bitwright import train_cells as train_on_cells
from bitwright.checking.exhaustion import ProofTask, make_domain
from bitwright.checking.exhaustion import certify_network as prove
from bitwright.program import Algorithm

NINE = addition(9)


@cache
def cells() -> TrainedCells:
    return train_on_cells(addition(4))


def broken() -> TrainedCells:
    """Every weight of the last layer has the other sign."""
    network = cells().network
    return replace(cells(), network=replace(network, last=np.negative(network.last)))


@pytest.mark.parametrize("domain", ["states", "runs"])
def test_it_is_not_proved_for_the_runs_or_states_of_its_pattern(domain: str, tmp_path: Path) -> None:
    file = tmp_path / "cells.safetensors"
    broken().save(file)
    for given in (cells(), broken(), file, str(file)):
        with pytest.raises(InputError, match=f"cells is the only domain of a network of cells, .* got {domain}"):
            certify(NINE, given, domain=domain)


@pytest.mark.parametrize("domain", ["states", "runs"])
def test_nor_where_the_pattern_itself_is_named(domain: str) -> None:
    pattern = Algorithm("cells", cells().pattern.program)
    for call in (
        lambda: certify(pattern, cells().network, domain=domain),
        lambda: certify(pattern.program, cells().network, domain=domain),
        lambda: prove(pattern, cells().network, domain),
        lambda: make_domain(pattern, domain),
        lambda: ProofTask(pattern, cells().network, domain).domain,
    ):
        with pytest.raises(InputError, match="cells is the only domain"):
            call()


def test_its_domain_is_the_default() -> None:
    for found in (
        certify(NINE, cells()),
        certify(NINE, cells(), domain="cells"),
        certify(cells().pattern.program, cells().network),
        prove(Algorithm("cells", cells().pattern.program), cells().network),
    ):
        assert (found.domain, found.certified, found.states) == ("cells", True, cells().pattern.local_states)
    assert certify(NINE, broken()).verdict == "refuted"


def test_a_program_has_no_local_states_of_its_own() -> None:
    with pytest.raises(InputError, match="cells is for networks that were trained on cells"):
        make_domain(NINE, "cells")


def test_a_certificate_that_speaks_of_the_runs_of_a_pattern_does_not_hold(tmp_path: Path) -> None:
    claim = replace(certify(NINE, cells()), domain="runs", states=1, by_n=((0, 1, None),))
    claim.save(tmp_path / "claim.json")
    with pytest.raises(ProofError, match="says domain = runs, but cells is the only domain"):
        Certificate.load(tmp_path / "claim.json").check(NINE, cells())
