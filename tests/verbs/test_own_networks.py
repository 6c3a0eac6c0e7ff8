"""`certify` and `run` with networks that bitwright did not train, with faults planted in them."""

import itertools
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_networks import Layers, as_function, as_module, as_onnx, layers_of

from bitwright import Certificate, InputError, Model, ProofError, addition, certify, parse, run
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


def test_what_a_runtime_alone_can_say_is_tested_and_not_proved(cells: Layers, tmp_path: Path) -> None:
    for network in (as_function(cells), as_onnx(cells, tmp_path / "soft.onnx", "Softsign")):
        found = certify(PLAIN, Model(network, threshold=0.3))
        assert (found.verdict, found.certified, found.wrong) == ("tested", False, 0)
        assert found.claims[-1].verdict == "tested"
        assert "on this machine, which is no proof" in str(found)
        assert found.sentence.startswith("tested: ")


def otherwise(module: Any, how: str) -> Any:
    """A module that, called, gives the opposite of what its layers say."""
    import torch

    class Sequential(torch.nn.Sequential):
        def forward(self, rows: Any) -> Any:
            return 1 - super().forward(rows)

    if how == "a class of the same name":
        return Sequential(*module)
    if how == "hook":
        module.register_forward_hook(lambda _, __, out: 1 - out)
    elif how == "hook of a layer":
        module[2].register_forward_hook(lambda _, __, out: 1 - out)
    elif how == "hook before":
        module.register_forward_pre_hook(lambda _, rows: (1 - rows[0],))
    elif how == "forward":
        module.forward = lambda rows: 1 - torch.nn.Sequential.forward(module, rows)
    else:
        module[2].forward = lambda rows: 1 - rows[:, :5]
    return module


@pytest.mark.parametrize(
    "how", ["a class of the same name", "hook", "hook of a layer", "hook before", "forward", "forward of a layer"]
)
def test_a_module_is_judged_by_what_a_call_gives(cells: Layers, how: str) -> None:
    assert certify(PLAIN, as_module(cells)).verdict == "certified"
    assert certify(PLAIN, otherwise(as_module(cells), how)).verdict == "refuted"


def test_a_global_hook_is_noticed(cells: Layers) -> None:
    from torch.nn.modules.module import register_module_forward_hook

    for change, verdict in ((lambda out: -out, "refuted"), (lambda out: out + 2**-12, "tested")):
        hook = register_module_forward_hook(lambda _, __, out, change=change: change(out))
        try:
            assert certify(PLAIN, as_module(cells)).verdict == verdict
        finally:
            hook.remove()


def test_modules_that_are_not_ready_are_refused_in_a_line(cells: Layers) -> None:
    import torch

    training = torch.nn.Sequential(as_module(cells), torch.nn.Dropout(0.5))
    with pytest.raises(InputError, match=r"eval\(\)"):
        certify(PLAIN, training)
    assert certify(PLAIN, training.eval()).verdict == "certified"
    with pytest.raises(InputError, match=r"device.*weights"):
        certify(PLAIN, torch.nn.Linear(8, 5, device="meta"))
    assert certify(PLAIN, as_module(cells).bfloat16()).verdict == "tested"


@pytest.mark.parametrize("reads", ["cells", "states", "templates"])
def test_a_planted_fault_is_found_counted_and_replayed(reads: str) -> None:
    table, layers = Model.table(ADDER, reads), spoilt(layers_of(ADDER, reads))  # type: ignore[arg-type]
    outputs = as_function(layers)(table.inputs) > 0.5
    wrong = ((outputs != (table.labels > 0.5)) & table.asked).any(axis=1)
    assert 0 < wrong.sum() < len(wrong)
    network = Model(as_module(layers), reads=reads)  # type: ignore[arg-type]
    found = certify(ADDER, network)
    assert (found.verdict, found.wrong, found.states) == ("refuted", int(wrong.sum()), len(wrong))
    assert found.counterexample is not None
    assert wrong[found.counterexample.number]


def test_states_and_templates_and_runs_are_proved_too() -> None:
    for reads in ("states", "templates"):
        module = as_module(layers_of(ADDER, reads))
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


def test_a_network_of_templates_is_asked_where_nothing_matches() -> None:
    first, bias, last = layers_of(ADDER, "templates")
    always = as_function((first, bias, last))
    found = certify(ADDER, Model(lambda rows: always(rows) + (rows.sum(axis=1, keepdims=True) == 0)))
    assert (found.verdict, found.wrong) == ("refuted", 1)
    assert found.counterexample is not None
    assert found.counterexample.n == 0
    assert found.by_n[0] == (0, 1, -0.5)  # its output there, 1, is above 0.5


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

    refused("says distance", distance=0.9)
    refused("says wrong", wrong=1)
    refused("says model", model={**document["model"], "columns": [8, 6]})
    refused("for another network", network_sha256="0" * 64)
    tested = certify(PLAIN, as_function(cells))
    tested.save(file)
    held = json.loads(file.read_text())
    file.write_text(json.dumps({**held, "verdict": "certified", "certified": True}))
    with pytest.raises(ProofError, match=r"certified.*False"):
        Certificate.load(file).check(PLAIN, as_function(cells))


def test_a_proof_goes_on_from_its_file_and_in_other_processes(cells: Layers, tmp_path: Path) -> None:
    network, file = as_onnx(cells, tmp_path / "adder.onnx"), tmp_path / "part"
    whole = certify(PLAIN, Model(network), resume=file)
    told: list[tuple[int, int]] = []
    again = certify(PLAIN, Model(network), resume=file, progress=lambda *done: told.append(done))
    assert next(done for done, size in told if size == 16) == 16  # nothing was left to do
    assert again.by_n == whole.by_n
    with pytest.raises(InputError, match=r"threshold|another|other"):
        certify(PLAIN, Model(network, threshold=0.25), resume=file)
    with pytest.raises(InputError, match=r"file.*resume"):
        certify(PLAIN, as_function(cells), resume=file)
    with pytest.raises(InputError, match=r"workers.*share"):
        certify(PLAIN, as_function(cells), workers=2)
    task = ProofTask(addition(3), fit_model(Model(network), [addition(3)])[0], "cells")
    assert prove(pickle.loads(pickle.dumps(task))) == prove(task)


def test_what_does_not_fit_is_said_in_a_line(cells: Layers) -> None:
    for network, why in (
        (as_module(layers_of(SPARE)), "does not fit .*: .* A network reads the bits of a state"),
        (lambda rows: rows[:, :3], "it gives 3 for 9"),
        (lambda rows: ["x"] * len(rows), "a network to certify must return numbers"),
        (Model(as_module(cells), reads="states"), "does not fit"),
    ):
        with pytest.raises(InputError, match=why):
            certify(PLAIN, network)
    with pytest.raises(InputError, match="say which: reads"):
        certify(SPARE, lambda rows: np.zeros((len(rows), 2 if rows.shape[1] < 3 else 1)))
    with pytest.raises(InputError, match=r"CPU.*device"):
        certify(PLAIN, as_function(cells), device="cuda")


def test_runs_are_made_by_its_own_answers(cells: Layers) -> None:
    p, q = 3**300, 7**100
    done = run(addition(500), p=p, q=q, network=as_module(cells))
    assert done.value == p + q
    assert done.cells is not None
    assert (done.cells["proved"], done.cells["local_states"]) == (True, 16)
    function = run(addition(9), p=300, q=11, network=as_function(cells))
    assert (function.value, function.cells["proved"]) == (311, False)  # type: ignore[index]
    values = dict(itertools.zip_longest(("p", "q"), (np.arange(16).repeat(16), np.tile(np.arange(16), 16))))
    wrong = as_module(spoilt(cells))
    found = run(addition(4), **values, network=wrong).value
    assert (found != values["p"] + values["q"]).any()  # wrong answers make wrong steps,
    np.testing.assert_array_equal(found, run(addition(4), **values, network=wrong, evaluate=True).value)
    whole = Model(as_module(layers_of(ADDER, "states")))
    assert [run(ADDER, p=p, q=3, network=whole).value for p in range(4)] == [3, 4, 5, 6]
