"""`certify` and `run` with networks that bitwright did not train, with faults planted in them."""

import itertools
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_networks import Layers, as_module, as_onnx, layers_of, outputs_of

from bitwright import Certificate, InputError, Model, ProofError, addition, certify, parse, run
from bitwright.common.workers import Workers
from bitwright.proofs.exhaustion.task import ProofTask, prove
from bitwright.verbs.models import fit_model

ADDER = replace(addition(2), ensures=())  # what the rules compute is no matter here
PLAIN = addition(3).program  # its two kinds of cells are those of every size
SPARE = parse("bits x[2]\nblock x[1] x[2]\nwhen x[1]=1 x[2]=1 write x[1]\ninput x\noutput x\nsteps 1\n")


@pytest.fixture(scope="module")
def cells() -> Layers:
    return layers_of(PLAIN)


def spoilt(layers: Layers, hidden: int = 3) -> Layers:
    """The same, but for one state in which every output is on."""
    last = layers[2].copy()
    last[:, hidden] = 1
    return layers[0], layers[1], last


def test_layers_with_exact_sums_are_proved_in_every_form(cells: Layers, tmp_path: Path) -> None:
    for network in (as_module(cells), Model(as_onnx(cells, tmp_path / "adder.onnx"))):
        found = certify(addition(4), network)
        assert (found.verdict, found.states, found.sizes) == ("certified", 16, "all")
        assert "exact in every order of summation: all numbers are integers" in found.arithmetic
        assert [claim.verdict for claim in found.claims] == ["proved", "proved", "proved"]
        assert "this network computes sum == p + q, at every size" in str(found)


@pytest.mark.parametrize("reads", ["cells", "states"])
def test_a_planted_fault_is_found_counted_and_replayed(reads: str) -> None:
    table, layers = Model.table(ADDER, reads), spoilt(layers_of(ADDER, reads))  # type: ignore[arg-type]
    outputs = outputs_of(layers, table.inputs) > 0.5
    wrong = ((outputs != (table.labels > 0.5)) & table.asked).any(axis=1)
    assert 0 < wrong.sum() < len(wrong)
    network = Model(as_module(layers), reads=reads)  # type: ignore[arg-type]
    found = certify(ADDER, network)
    assert (found.verdict, found.wrong, found.states) == ("refuted", int(wrong.sum()), len(wrong))
    assert found.counterexample is not None
    assert wrong[found.counterexample.number]


def test_runs_of_states_are_proved_too() -> None:
    module = as_module(layers_of(ADDER, "states"))
    assert certify(ADDER, module).verdict == "certified"
    found = certify(ADDER, module, domain="runs")
    assert (found.verdict, found.inputs) == ("certified", ("p[1]", "p[2]", "q[1]", "q[2]"))


def test_configurations_that_the_rules_do_not_tell_apart_are_tried_one_by_one() -> None:
    first, bias, last = layers_of(SPARE, "states")
    last[1, 1] = 1  # x[2] stays on, wrongly, in the state where it is on alone
    found = certify(SPARE, as_module((first, bias, last)))
    assert (found.verdict, found.wrong, found.states) == ("refuted", 1, 4)
    assert found.counterexample is not None
    assert found.counterexample.on == (Model.table(SPARE, "states").input_names[int(np.argmax(first[1]))],)

    first, bias, last = layers_of(SPARE)
    last[0, 1] = 1
    unlike = Model(as_module((first, bias, last)), "cells")
    with pytest.raises(InputError, match=r"rules.*difference"):
        run(SPARE, x=1, network=unlike)


def test_outputs_within_the_error_of_summation_are_not_decided() -> None:
    first, bias, last = layers_of(ADDER, "states")
    large = np.float32(2**20 / 3)
    first = np.concatenate((first, np.zeros((2, first.shape[1]))))  # two hidden units that are always large,
    bias = np.concatenate((bias, [large, large]))
    last = np.concatenate((last, np.full((len(last), 1), 1.1), np.full((len(last), 1), -1.1)), axis=1)  # and cancel
    found = certify(ADDER, as_module((first, bias, last.astype(np.float32))))
    assert (found.verdict, found.wrong) == ("not proved", 0)
    assert found.undecided > 0
    assert found.claims[-1].sentence.startswith(f"not decided in {found.undecided} of {found.states} states; smallest")
    assert found.arithmetic == "float32, every order of summation"


def test_certificates_are_checked_from_their_files_and_forged_ones_refused(cells: Layers, tmp_path: Path) -> None:
    network, file = as_onnx(cells, tmp_path / "adder.onnx"), tmp_path / "adder.json"
    certify(PLAIN, Model(network, threshold=0.25)).save(file)
    assert Certificate.load(network).check(PLAIN, Model(network)).holds  # found next to the network, read as it says
    document = json.loads(file.read_text())
    assert document["model"]["threshold"] == 0.25

    def refused(why: str, **changed: Any) -> None:
        file.write_text(json.dumps({**document, **changed}))
        with pytest.raises(ProofError, match=why):
            Certificate.load(file).check(PLAIN, Model(network))

    refused("distance = 0.9", distance=0.9)
    refused("states wrong", wrong=1)
    refused("states model", model={**document["model"], "columns": [8, 6]})
    refused("for another network", network_sha256="0" * 64)


def test_a_proof_is_the_same_in_other_processes(cells: Layers, tmp_path: Path) -> None:
    network = as_onnx(cells, tmp_path / "adder.onnx")
    task = ProofTask(addition(3), fit_model(Model(network), [addition(3)])[0], "cells")
    assert prove(pickle.loads(pickle.dumps(task))) == prove(task) == prove(task, Workers("processes", 2))
    certify(PLAIN, Model(network), resume=tmp_path / "part")
    with pytest.raises(InputError, match="holds work on another"):
        certify(PLAIN, Model(network, threshold=0.25), resume=tmp_path / "part")


def test_what_does_not_fit_is_said_in_a_line(cells: Layers) -> None:
    for network, why in (
        (as_module(layers_of(SPARE)), "does not fit .*: .* A network reads the bits of a state"),
        (Model(as_module(cells), reads="states"), "does not fit"),
        (lambda rows: rows, "give one network"),
    ):
        with pytest.raises(InputError, match=why):
            certify(PLAIN, network)
    with pytest.raises(InputError, match=r"CPU.*device"):
        certify(PLAIN, as_module(cells), device="cuda")
    rules = "bits x[2]\nblock x[1]\nblock x[2]\nwhen x[1]=1 write x[1]\nwhen x[1]=0 write x[2]\n"
    rules += "input x\noutput x\nsteps 1\n"
    network = as_module(layers_of(parse(rules), "states"))  # a cell has as many columns
    with pytest.raises(InputError, match="choose one with reads"):
        certify(parse(rules), network)
    assert certify(parse(rules), Model(network, reads="states")).verdict == "certified"


def test_runs_are_made_by_its_own_answers(cells: Layers) -> None:
    p, q = 3**300, 7**100
    done = run(addition(500), p=p, q=q, network=as_module(cells))
    assert done.value == p + q
    assert done.cells is not None
    assert (done.cells["proved"], done.cells["local_states"]) == (True, 16)
    values = dict(itertools.zip_longest(("p", "q"), (np.arange(16).repeat(16), np.tile(np.arange(16), 16))))
    wrong = as_module(spoilt(cells))
    found = run(addition(4), **values, network=wrong).value
    assert (found != values["p"] + values["q"]).any()  # wrong answers make wrong steps,
    np.testing.assert_array_equal(found, run(addition(4), **values, network=wrong).value)
    whole = Model(as_module(layers_of(ADDER, "states")))
    assert [run(ADDER, p=p, q=3, network=whole).value for p in range(4)] == [3, 4, 5, 6]
