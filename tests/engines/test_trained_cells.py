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
    Network,
    ProofError,
    addition,
    certify,
    open,
    parse,
    permutation,
    run,
    train,
    validate,
)
from bitwright.program import NodeProgram
from bitwright.program.pattern import pattern_of

GRAPHS = Path(__file__).parents[2] / "examples" / "graphs"


@cache
def cells() -> Network:
    return train(addition(4))


@cache
def broken() -> Network:
    """One weight of the last layer has the other sign."""
    last = cells().weights.last.copy()
    last[-1] = -last[-1]
    return replace(cells(), weights=replace(cells().weights, last=last))


def test_what_is_proved_is_so_of_the_network_it_holds() -> None:
    assert cells().proved
    assert not broken().proved
    assert broken().claim is not None
    found = certify(addition(9), broken())
    assert (found.verdict, found.wrong) == ("refuted", broken().claim.wrong)
    assert replace(broken(), weights=cells().weights).proved
    assert cells().claim is cells().claim  # worked out once
    assert validate(addition(3), network=broken()).verdict != "exact"


def test_it_says_so_in_two_lines() -> None:
    first, second = str(cells()).splitlines()
    assert first.startswith("2 kinds of cells, 8 examples; width 32, ")
    assert second.startswith("proved on all 16 local states; smallest margin 0.")
    wrong = certify(addition(9), broken()).wrong
    assert f"16 local states, {wrong} wrong; smallest margin -" in str(broken())
    assert "exactly" not in str(broken())


def test_a_file_gives_it_back(tmp_path: Path) -> None:
    for given in (cells(), broken()):
        given.save(tmp_path / "cells.safetensors")
        back = Network.load(tmp_path / "cells.safetensors")
        assert (back.pattern, back.digest, back.proved) == (given.pattern, given.digest, given.proved)
        assert (back.training, back.name) == (None, None)
        assert str(back) == str(given)
        told = back.to_dict()
        assert told == {name: value for name, value in given.to_dict().items() if name in told} | {"name": None}
    with pytest.raises(InputError, match="an integer network has no trained weights to give"):
        back.to_torch()


def test_a_file_says_what_it_is_for(tmp_path: Path) -> None:
    whole, of_cells = tmp_path / "whole", tmp_path / "cells"
    made = train(addition(2), tile="all", integer=False, width=64)
    made.save(whole)
    cells().save(of_cells)
    for what in (None, addition(4), permutation([2, 1])):
        assert Network.load(of_cells, what).cells
    for what in (None, addition(2), addition(2).program):
        back = Network.load(whole, what)
        assert (back.cells, back.digest, back.program) == (False, made.digest, addition(2).program)
    with pytest.raises(InputError, match="is a network for another program"):
        Network.load(whole, addition(3))
    assert Network.load(of_cells, cells().program).cells  # the pattern itself, as a program


def test_a_program_that_the_file_does_not_describe(tmp_path: Path) -> None:
    """A block without templates is not in the file."""
    program = parse("bits x y z\nblock x\nblock y z\nwhen x=1 write x\ninput x")
    train(program, tile="all", integer=False, width=64).save(tmp_path / "n.safetensors")
    held = Network.load(tmp_path / "n.safetensors")
    assert (held.program, held.proved, held.to_dict()["name"]) == (None, False, None)
    assert run(program, x=1, network=held).halted
    for call in (held.quantize, lambda: held.save(tmp_path / "other.safetensors")):
        with pytest.raises(InputError, match=r"load it with its program: load\(path, program\)"):
            call()
    assert Network.load(tmp_path / "n.safetensors", program).quantize().proved


def test_the_weights_before_rounding_open_in_pytorch() -> None:
    torch = pytest.importorskip("torch")
    assert cells().training is not None
    (trained,) = cells().training.before
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
        claim.check(addition(30), given, workers=1)
        with pytest.raises(ProofError, match=r"says of the function: proved .* but it is not stated"):
            claim.check(addition(30).program, given)
    claim.check(cells().pattern.program, cells().weights)
    for other in (broken(), train(addition(4), seed=1)):
        with pytest.raises(ProofError, match="for another network"):
            claim.check(addition(9), other)
    with pytest.raises(ProofError, match="says wrong = 1, but it is 0"):
        replace(claim, wrong=1).check(addition(9), cells())
    with pytest.raises(ProofError, match=r"says sizes = all, but permutation at \d bits?: .* no cell like"):
        claim.check(permutation([2, 1]), cells())
    with pytest.raises(InputError, match="no cell like"):
        claim.check(permutation([2, 1]).program, cells())


def test_a_certificate_of_the_limit_of_cells_is_checked_with_the_program() -> None:
    for tile in (1, 2):
        found = certify(addition(4), tile=tile)
        found.check(addition(4), tile=tile)
        found.check(addition(8), tile=tile)
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
        certify(program, train(schemas[0].program))


def test_a_run_goes_on_as_before() -> None:
    assert run(addition(40), p=3**20, q=5**10, network=cells()).value == 3**20 + 5**10
