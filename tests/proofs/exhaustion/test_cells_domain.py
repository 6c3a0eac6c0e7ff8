"""A network of cells has one domain, all local states of its kinds: its pattern is no program that runs."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bitwright import Certificate, InputError, Network, ProofError, addition, certify
from bitwright import train as train_on_cells
from bitwright.proofs.exhaustion.certificate import certify_network as prove
from bitwright.proofs.exhaustion.domains import make_domain
from bitwright.proofs.exhaustion.task import ProofTask
from bitwright.rules import Algorithm

NINE = addition(9)


@cache
def cells() -> Network:
    return train_on_cells(addition(4))


def broken() -> Network:
    """Every weight of the last layer has the other sign."""
    network = cells().weights
    return replace(cells(), weights=replace(network, last=np.negative(network.last)))


@pytest.mark.parametrize("domain", ["states", "runs"])
def test_it_is_not_proved_for_the_runs_or_states_of_its_pattern(domain: str) -> None:
    """Nor where the pattern itself is named."""
    for given in (cells(), broken()):
        with pytest.raises(InputError, match=f"the domain of a network of cells must be cells .* got {domain}"):
            certify(NINE, given, domain=domain)
    pattern = Algorithm("cells", cells().pattern.program)
    for call in (
        lambda: certify(pattern, cells().weights, domain=domain),
        lambda: certify(pattern.program, cells().weights, domain=domain),
        lambda: prove(pattern, cells().weights, domain),
        lambda: make_domain(pattern, domain),
        lambda: ProofTask(pattern, cells().weights, domain).domain,
    ):
        with pytest.raises(InputError, match=r"domain.*cells"):
            call()


def test_its_domain_is_the_default() -> None:
    for found in (
        certify(NINE, cells()),
        certify(NINE, cells(), domain="cells"),
        certify(cells().pattern.program, cells().weights),
        prove(Algorithm("cells", cells().pattern.program), cells().weights),
    ):
        assert (found.domain, found.certified, found.states) == ("cells", True, cells().pattern.local_states)
    assert certify(NINE, broken()).verdict == "refuted"


def test_a_program_has_no_local_states_of_its_own() -> None:
    with pytest.raises(InputError, match=r"requires a network of cells"):
        make_domain(NINE, "cells")


def test_a_certificate_that_speaks_of_the_runs_of_a_pattern_does_not_hold(tmp_path: Path) -> None:
    claim = certify(NINE, cells())
    claim = replace(claim, own=replace(claim.own, domain="runs", states=1, by_n=((0, 1, None),)))
    claim.save(tmp_path / "claim.json")
    with pytest.raises(ProofError, match=r"domain.*cells"):
        Certificate.load(tmp_path / "claim.json").check(NINE, cells())
