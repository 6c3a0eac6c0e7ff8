"""What a network of cells says of itself is so of the weights it holds; and its file gives it back."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bitwright import (
    Algorithm,
    Certificate,
    InputError,
    ProofError,
    TrainedCells,
    addition,
    certify,
    load_network,
    open,
    permutation,
    run,
    save_network,
    train,
    train_cells,
    validate,
)
from bitwright.program import NodeProgram
from bitwright.program.pattern import pattern_of

GRAPHS = Path(__file__).parents[2] / "examples" / "graphs"


@cache
def cells() -> TrainedCells:
    return train_cells(addition(4))


@cache
def broken() -> TrainedCells:
    """One weight of the last layer has the other sign."""
    last = cells().network.last.copy()
    last[-1] = -last[-1]
    return replace(cells(), network=replace(cells().network, last=last))


def test_what_is_proved_is_so_of_the_network_it_holds() -> None:
    assert cells().proved
    assert not broken().proved
    assert broken().tables is not None
    found = certify(addition(9), broken())
    assert (found.verdict, found.wrong) == ("refuted", broken().tables.wrong)
    assert replace(broken(), network=cells().network).proved
    assert cells().tables is cells().tables  # worked out once
    assert validate(addition(3), network=broken()).verdict != "exact"


def test_it_says_so_in_two_lines() -> None:
    first, second = str(cells()).splitlines()
    assert first.startswith("2 kinds of cells, 8 examples; width 128, ")
    assert second.startswith("proved on all 16 local states; smallest margin 0.")
    wrong = certify(addition(9), broken()).wrong
    assert f"16 local states, {wrong} wrong; smallest margin -" in str(broken())
    assert "exactly" not in str(broken())


def test_a_file_gives_it_back(tmp_path: Path) -> None:
    for given in (cells(), broken()):
        given.save(tmp_path / "cells.safetensors")
        back = TrainedCells.load(tmp_path / "cells.safetensors")
        assert (back.pattern, back.network.digest, back.proved) == (given.pattern, given.network.digest, given.proved)
        assert (back.trained, back.cost, back.seeds) == (None, None, None)
        assert str(back) == str(given)
    with pytest.raises(InputError, match="a file of cells holds whole numbers alone"):
        back.to_torch()


def test_loading_the_one_as_the_other_names_what_loads_it(tmp_path: Path) -> None:
    whole, of_cells, program = tmp_path / "whole", tmp_path / "cells", addition(2).program
    save_network(train(addition(2), width=64), program, whole)
    cells().save(of_cells)
    with pytest.raises(InputError, match=r"is a network of cells, .* TrainedCells.load\(path\) loads it"):
        load_network(of_cells, addition(4))
    with pytest.raises(InputError, match=r"not on cells; load_network\(path, program\) loads it"):
        TrainedCells.load(whole)
    assert load_network(of_cells, cells().pattern.program).digest == cells().network.digest


def test_the_weights_before_rounding_open_in_pytorch() -> None:
    torch = pytest.importorskip("torch")
    trained = cells().trained
    assert trained is not None
    encoded = np.eye(8, dtype=np.float32)
    with torch.no_grad():
        found = cells().to_torch()(torch.from_numpy(encoded)).numpy()
    assert np.allclose(found, trained(encoded), atol=1e-5)


# Certificates are checked with whatever was proved.


def test_a_certificate_of_cells_is_checked_with_the_cells_or_their_file(tmp_path: Path) -> None:
    found, file = certify(addition(9), cells()), tmp_path / "cells.safetensors"
    cells().save(file)
    found.save(tmp_path / "proof.json")
    claim = Certificate.load(tmp_path / "proof.json")
    for given in (cells(), file, str(file)):
        claim.check(addition(9), given)
        claim.check(addition(30).program, given, workers=1)
    claim.check(cells().pattern.program, cells().network)
    for other in (broken(), train_cells(addition(4), seed=1)):
        with pytest.raises(ProofError, match="for another network"):
            claim.check(addition(9), other)
    with pytest.raises(ProofError, match="says wrong = 1, but it is 0"):
        replace(claim, wrong=1).check(addition(9), cells())
    with pytest.raises(ProofError, match=r"says sizes = 9, but permutation at 9 bits: .* no cell like"):
        claim.check(permutation([2, 1]), cells())
    with pytest.raises(InputError, match="no cell like"):
        claim.check(permutation([2, 1]).program, cells())


def test_a_certificate_of_the_limit_of_cells_is_checked_with_the_program() -> None:
    for tile in (1, 2):
        found = certify(addition(4), cells=True, tile=tile)
        found.check(addition(4), tile=tile)
        found.check(addition(8).program, tile=tile)
        with pytest.raises(ProofError, match="for another program"):
            found.check(addition(4), tile=3 - tile)
        found.check(Algorithm("cells", pattern_of([addition(4).program], tile).program))


def test_a_file_says_of_which_kind_it_is(tmp_path: Path) -> None:
    for found in (certify(addition(9), cells()), certify(addition(9)), certify(addition(9), sizes="2..9")):
        found.save(tmp_path / "found.json")
        again = Certificate.load(tmp_path / "found.json")
        assert (again, again.of, again.sizes) == (found, found.of, found.sizes)
    with pytest.raises(InputError, match="of a network; give the network too"):
        certify(addition(9), cells()).check(addition(9))
    with pytest.raises(InputError, match="of the limit, which is proved without a network"):
        certify(addition(9)).check(addition(9), cells())


# Node programs: those whose kinds no single size has are proved for all of them.


def test_every_kind_of_a_node_program_is_looked_at() -> None:
    program = open(GRAPHS / "independent-set.bw")
    assert isinstance(program, NodeProgram)
    schemas = program.schemas()
    assert len(schemas) > 1
    found = certify(program)
    assert found.program_id == pattern_of([schema.program for schema in schemas]).program.id
    found.check(program)
    with pytest.raises(InputError, match="no cell like"):
        certify(program, train_cells(schemas[0]))


def test_a_run_goes_on_as_before() -> None:
    assert run(addition(40), p=3**20, q=5**10, network=cells()).value == 3**20 + 5**10
