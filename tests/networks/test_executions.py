"""Networks that learn from executions: the limit they go to, both trainers, files, and what they round by."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save
from whole import engine_of

from bitwright import InputError, addition
from bitwright.networks import FloatNetwork, Recipe, load_network, quantize, save_network, train
from bitwright.networks.train import ExecutionSet
from bitwright.rules.pattern import Pattern
from bitwright.runs.successors import successors
from bitwright.theory.closed_form import FloatArray, spectrum
from bitwright.theory.encoding.training_set import LABELS, Labels, StateSet, TrainingSet
from bitwright.theory.kernels import kernel_ends
from bitwright.theory.rounding import round_outputs
from bitwright.verbs.executions import Sample, cell_set
from paper.dense import Predictor
from paper.kernel_engine import KernelEngine

ALGORITHM = addition(2)
PROGRAM = ALGORITHM.program
EVERY = np.arange(1 << PROGRAM.bits)[:, None] >> np.arange(PROGRAM.bits) & 1 == 1  # (64, k)


def outputs(network: FloatNetwork, inputs: FloatArray) -> FloatArray:
    """F(x) = w2 relu(w1 x / sqrt(K)) / sqrt(width)."""
    hidden = np.maximum(inputs @ network.first.T, 0)
    return np.asarray(hidden @ network.last.T / np.sqrt(inputs.shape[1] * network.width))


def learn(labels: Labels = "scaled", width: int = 1_024) -> tuple[FloatNetwork, ExecutionSet]:
    executions = cell_set(
        Pattern.of_state(ALGORITHM.program), [ALGORITHM], Sample("states", states=60, labels=labels), "all"
    )
    return train(PROGRAM, Recipe(width, tolerance=1e-2), executions=executions)[0], executions


def test_templates_are_the_special_case_of_the_dense_predictor() -> None:
    """A set of states that match one template each: the limit of the templates, its spectrum and its mean."""
    matched = np.eye(PROGRAM.templates, dtype=bool)
    templates = TrainingSet(PROGRAM)
    found = StateSet.of_matches(PROGRAM, matched, templates.labels().toarray() > 0, "plain")
    low, high = spectrum(PROGRAM.templates)
    assert np.allclose(kernel_ends(found.inputs()), (low, high))
    outputs, n = KernelEngine(PROGRAM, 8, "calibrated").outputs(EVERY)
    dense = Predictor(found.inputs(), found.labels()).mean(templates.encode(EVERY))
    assert np.allclose(dense[n > 0], outputs[n > 0])


@pytest.mark.parametrize("labels", LABELS)
def test_the_limit_is_right_in_every_state_and_certain_where_it_was_trained(labels: Labels) -> None:
    executions = cell_set(
        Pattern.of_state(ALGORITHM.program), [ALGORITHM], Sample("states", states=60, labels=labels), "all"
    )
    limit, templates = Predictor(executions.set.inputs(), executions.set.labels()), TrainingSet(PROGRAM)
    outputs, n = limit.mean(templates.encode(EVERY)), templates.matches(EVERY)[1]
    bits, _ = round_outputs(outputs, n, PROGRAM.writers, PROGRAM.templates, "calibrated", labels)
    assert (bits == successors(PROGRAM, EVERY)).all()
    trained = limit.covariance(executions.set.inputs())
    assert np.allclose(np.diag(trained), 0, atol=1e-9)
    few = Predictor(executions.set.inputs()[:4], executions.set.labels()[:4])
    assert (np.diag(few.covariance(executions.set.inputs()[4:])) > 1e-4).all()


def test_wide_networks_go_to_that_limit() -> None:
    executions = cell_set(Pattern.of_state(ALGORITHM.program), [ALGORITHM], Sample("runs", states=40), "all")
    limit = Predictor(executions.set.inputs(), executions.set.labels())
    tests = TrainingSet(PROGRAM).encode(EVERY[1:])
    errors = []
    for width in (256, 16_384):
        network, _ = train(PROGRAM, Recipe(width, tolerance=1e-4), executions=executions)
        errors.append(float(np.sqrt(((outputs(network, tests) - limit.mean(tests)) ** 2).mean())))
    assert errors[1] < errors[0] / 4  # about 1/sqrt(width)
    assert errors[1] < 0.02


@pytest.mark.parametrize("labels", LABELS)
def test_whole_numbers_are_exact(labels: Labels) -> None:
    network, executions = learn(labels)
    assert network.origin.scale == labels
    sample = executions.set.matched, np.ones(executions.set.following.shape, dtype=bool)
    whole, cost = quantize(network, PROGRAM, 8, sample=sample)
    assert cost.margin > 0.3
    if labels == "scaled":  # F(sum of the matched) is 0 or 1, whatever n is: one threshold
        assert len(np.unique(whole.thresholds)) == 1
    batch = engine_of(PROGRAM, whole).begin(EVERY)
    batch.step()
    assert (batch.states() == successors(PROGRAM, EVERY)).all()


def test_files_say_what_was_learnt_from(tmp_path: Path) -> None:
    network, executions = learn()
    held, _ = quantize(network, PROGRAM, 8, sample=executions.sample)
    save_network(held, PROGRAM, tmp_path / "a.safetensors")
    again = load_network(tmp_path / "a.safetensors", PROGRAM)
    assert again.origin == network.origin
    assert again.origin.executions == executions.learnt_from
    assert again.digest == held.digest
    other = replace(held, origin=replace(held.origin, executions=None))
    assert other.digest != held.digest
    assert "executions" not in other.origin.document()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": 1}, "unknown fields: extra"),
        ({"labels": "sharp"}, "labels must be 'scaled' or 'plain'"),
        ({"source": None}, "source must be"),
        ({"runs": 0}, "runs must be null or an integer"),
        ({"examples": 7}, "is damaged: its weights or their origin have changed since it was written"),
    ],
)
def test_altered_files_are_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    network, executions = learn(width=64)
    path = tmp_path / "a.safetensors"
    save_network(quantize(network, PROGRAM, 8, sample=executions.sample)[0], PROGRAM, path)
    with safe_open(path, framework="numpy") as file:
        document = json.loads(file.metadata()["bitwright"])
    document["executions"] |= change
    path.write_bytes(save(load_file(path), metadata={"bitwright": json.dumps(document)}))
    with pytest.raises(InputError, match=message):
        load_network(path, PROGRAM)
