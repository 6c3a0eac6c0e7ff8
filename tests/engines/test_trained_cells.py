"""What a network of cells says of itself is so of the weights it holds; and its file gives it back."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from bitwright import (
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
from bitwright.rules import NodeProgram
from bitwright.rules.pattern import pattern_of

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
    found = certify(addition(9), broken())
    assert (found.verdict, found.wrong) == ("refuted", broken().claim.wrong)
    assert replace(broken(), weights=cells().weights).proved
    assert cells().claim is cells().claim  # worked out once
    assert validate(addition(3), network=broken()).verdict != "exact"


def test_a_file_gives_it_back(tmp_path: Path) -> None:
    for given in (cells(), broken()):
        given.save(tmp_path / "cells.safetensors")
        back = Network.load(tmp_path / "cells.safetensors")
        assert (back.pattern, back.digest, back.proved) == (given.pattern, given.digest, given.proved)
        assert (back.training, back.name) == (None, None)
        assert str(back) == str(given)
        told = back.to_dict()
        assert told == {name: value for name, value in given.to_dict().items() if name in told} | {"name": None}


def test_a_file_says_what_it_is_for(tmp_path: Path) -> None:
    whole, of_cells = tmp_path / "whole", tmp_path / "cells"
    made = train(addition(2), tile="all", width=64)
    made.save(whole)
    cells().save(of_cells)
    for what in (None, addition(4), permutation([2, 1])):
        assert Network.load(of_cells, what).cells
    for what in (None, addition(2), addition(2).program):
        back = Network.load(whole, what)
        assert (back.cells, back.digest, back.program) == (False, made.digest, addition(2).program)
    with pytest.raises(InputError, match=r"network.*another"):
        Network.load(whole, addition(3))
    assert Network.load(of_cells, cells().program).cells  # the pattern itself, as a program


def test_a_program_that_the_file_does_not_describe(tmp_path: Path) -> None:
    """A block without templates is not in the file."""
    program = parse("bits x y z\nblock x\nblock y z\nwhen x=1 write x\ninput x")
    train(program, tile="all", width=64).save(tmp_path / "n.safetensors")
    held = Network.load(tmp_path / "n.safetensors")
    assert (held.program, held.proved, held.to_dict()["name"]) == (None, False, None)
    assert run(program, x=1, network=held).halted
    with pytest.raises(InputError, match=r"load.*program"):
        held.save(tmp_path / "other.safetensors")
    assert Network.load(tmp_path / "n.safetensors", program).proved


# Certificates are checked with whatever was proved.


def test_a_certificate_of_cells_is_checked_with_the_cells_made_or_loaded(tmp_path: Path) -> None:
    found, file = certify(addition(9), cells()), tmp_path / "cells.safetensors"
    cells().save(file)
    found.save(tmp_path / "proof.json")
    claim = Certificate.load(tmp_path / "proof.json")
    for given in (cells(), Network.load(file)):
        claim.check(addition(9), given)
        claim.check(addition(30), given, workers=1)
        with pytest.raises(ProofError, match=r"function.*proved"):
            claim.check(addition(30).program, given)
    claim.check(cells().pattern.program, cells().weights)
    for other in (broken(), train(addition(4), seed=1)):
        with pytest.raises(ProofError, match="for another network"):
            claim.check(addition(9), other)
    with pytest.raises(ProofError, match=r"wrong.*1.*0"):
        replace(claim, own=replace(claim.own, wrong=1)).check(addition(9), cells())
    with pytest.raises(ProofError, match=r"claims the sizes all, but permutation at \d bits?: .* no cell like"):
        claim.check(permutation([2, 1]), cells())
    with pytest.raises(InputError, match="no cell like"):
        claim.check(permutation([2, 1]).program, cells())


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
