"""Compares verdicts on random decoders with margins near 0 with an independent evaluation of all inputs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from checking import checked
from fuzzed_decoders import Evaluation, margins_of, nearly, random_network, random_task
from long import seeds

from bitwright.common.errors import InputError
from bitwright.transformers.attention import tabulate
from bitwright.transformers.certificate import write_certificate
from bitwright.transformers.columns import from_step
from bitwright.transformers.counterexamples import exhaust, forced_margins
from bitwright.transformers.decision import Decision, DecoderClaim
from bitwright.transformers.decoder import Chain, Decoder, Head, Layer, Linear, Mlp, Norm
from bitwright.transformers.files import save_decoder
from bitwright.transformers.layout import ColumnTask, Place, PromptLayout
from bitwright.transformers.prover import decide
from bitwright.transformers.steps import LEAF, steps

NEAR = 1e-7  # error of float64


def test_no_verdict_on_a_random_decoder_is_wrong():
    verdicts = {}
    for seed in seeds(16, of=600):
        rng = np.random.default_rng(seed)
        task = random_task(rng)
        inputs, answers = np.concatenate(list(task.every_input())), len(task.layout.answer)
        decoder = nearly(rng, random_network(rng, task), task, inputs)
        real = margins_of(Evaluation(decoder, torch.float64), task, inputs)
        single = [margins_of(Evaluation(decoder, torch.float32, order), task, inputs) for order in (None, 1, 2, 3)]
        arithmetic = ("float32", "real")[seed % 2]
        for claim in decide(decoder, task, arithmetic=arithmetic, seconds=5).claims:
            of = slice(answers, None) if claim.about == "stop" else slice(answers)
            verdicts[claim.verdict, claim.method] = verdicts.get((claim.verdict, claim.method), 0) + 1
            if claim.verdict == "proved":
                assert 0 < claim.margin <= real[:, of].min() + NEAR, seed
                assert claim.arithmetic == "real" or min(each[:, of].min() for each in single) > 0, seed
                assert claim.inputs == len(inputs)
            if claim.verdict == "refuted":
                example = claim.counterexample
                row = np.flatnonzero((inputs == example.symbols).all((1, 2)))[0]
                assert real[row, example.step] < NEAR, seed
                assert (example.step == answers) == (claim.about == "stop")
    assert {verdict for verdict, _ in verdicts} >= {"proved", "refuted"}


def test_logits_that_are_no_numbers_refute_nothing():
    """A norm of zeros without eps has NaN logits in float64, and real arithmetic does not define it."""
    rng = np.random.default_rng(113)
    task = random_task(rng)
    inputs = np.concatenate(list(task.every_input()))
    decoder = nearly(rng, random_network(rng, task), task, inputs)
    assert np.isnan(margins_of(Evaluation(decoder, torch.float64), task, inputs)).all()
    assert {claim.verdict for claim in decide(decoder, task, seconds=5).claims} == {"not decided"}


# ---- decoders that violate what bounds may assume


def linear(*weights: object) -> Chain:
    return tuple(Linear(np.array(weight, np.float32)) for weight in weights)


def zeros(symbols: int = 2, length: int = 2, **layout: object) -> ColumnTask:
    """Returns a task whose answers are all 0."""
    columns = from_step("z == 0", {"a": symbols}, lambda *_: (0, 0), length=length)
    places = tuple(Place("a", column) for column in range(length))
    return ColumnTask(columns, PromptLayout((*places, symbols), (Place("z", 0),), **layout))


def flat(entry: float, final: Norm | None, *head: object, bias: object = None, **parts: object) -> Decoder:
    """Returns a decoder with the same value at every position and token."""
    none = Head(linear([[0]]), linear([[0]]), linear([[0]]), linear([[0]]), 1.0)
    heads = (replace(none, **{name: of for name, of in parts.items() if name != "mlp"}),)
    chain = linear(*head)
    if bias is not None:
        chain = (*chain[:-1], replace(chain[-1], bias=np.array(bias, np.float32)))
    return Decoder((np.full((4, 3, 1), entry, np.float32),), (Layer(heads, mlp=parts.get("mlp")),), final, chain)


LOGITS = [[1, 0, 0]]
OVERFLOW = {
    "a norm's square": flat(1e25, Norm("rms", 1e-5), LOGITS),
    "head": flat(1, None, [[1e30]], [[1e30]], LOGITS),
    "other logits": flat(1e30, None, [[1e8, -1e30, -1e30]]),
    "values": flat(1, None, LOGITS, value=linear([[1e30]], [[1e30]]), output=linear([[1e-30]], [[1e-30]])),
    "outputs": flat(1, None, LOGITS, value=linear([[1]]), output=linear([[1e30]], [[1e30]], [[1e-30]], [[1e-30]])),
    "scores": flat(1, None, LOGITS, query=linear([[1e30]]), key=linear([[1e30]]), scale=1e-38),
    **{
        name: flat(1, None, LOGITS, mlp=Mlp(name, linear([[1e30]]), linear([[1e30]], [[1e-38]]), linear([[1e5]])))
        for name in ("relu", "silu", "gelu", "gelu_tanh")
    },
}


@pytest.mark.parametrize("name", OVERFLOW)
def test_what_overflows_float32_is_proved_for_real_numbers_alone(name, tmp_path):
    decoder, task = OVERFLOW[name], zeros()
    inputs = np.concatenate(list(task.every_input()))
    assert margins_of(Evaluation(decoder, torch.float64), task, inputs).min() > 0
    decision = decide(decoder, task)
    assert not decision or decision.claims[0].arithmetic == "real"
    assert forged(decoder, task, tmp_path).code != 0


def forged(decoder: Decoder, task: ColumnTask, folder: Path) -> Any:
    """Runs the sceptic on a certificate that claims a proof for float32 with one box per group."""
    network, certificate = folder / "decoder.safetensors", folder / "certificate.json"
    save_decoder(decoder, network)
    trees = {group: LEAF.to_bytes(2, "little") for groups in steps(task) for group in groups}
    claim = DecoderClaim("z == 0", "proved", "float32", "boxes", task.inputs, 1e-3, len(trees), trees=trees)
    write_certificate(Decision(task, decoder, (claim,)), certificate, network)
    return checked("check_decoder.py", network, certificate)


def test_the_forger_is_believed_where_it_is_right(tmp_path):
    assert forged(flat(1, Norm("rms", 1e-5), LOGITS), zeros(), tmp_path).code == 0


@pytest.mark.parametrize("kind", ["rms", "layer"])
def test_a_norm_of_zeros_without_eps_proves_nothing(kind, tmp_path):
    decoder, task = flat(0, Norm(kind, 0.0), LOGITS, bias=[1, 0, 0]), zeros()
    assert decide(decoder, task).verdict == "not decided"
    assert forged(decoder, task, tmp_path).code == 1


def test_three_tables_may_be_added_in_any_order(tmp_path):
    large, one = np.full((1, 3, 1), 1e8, np.float32), np.ones((1, 3, 1), np.float32)
    decoder = replace(flat(0, None, LOGITS), tables=(large, np.full((4, 1, 1), -1e8, np.float32), one))
    assert decide(decoder, zeros()).claims[0].arithmetic == "real"
    assert forged(decoder, zeros(), tmp_path).code == 1


@pytest.mark.parametrize("more", [(), (np.eye(3),)])
def test_the_rounding_of_a_rival_counts(more, tmp_path):
    """In float32, the other logit, 2^24 - 64/2 - 2^24, may be 0, which is above the right logit, -10."""
    nothing = Head(*(linear(np.zeros(shape)) for shape in ((66, 1), (66, 1), (66, 1), (1, 66))), 1.0)
    weight = np.zeros((66, 3))
    weight[0], weight[1:65, 1], weight[65, 1] = [-10, 2.0**24, -900], -0.5, -(2.0**24)
    decoder = Decoder((np.ones((4, 3, 66), np.float32),), (Layer((nothing,)),), None, linear(weight, *more))
    (claim,) = decide(decoder, zeros()).claims
    assert (claim.verdict, claim.arithmetic) == ("proved", "real")
    assert forged(decoder, zeros(), tmp_path).code == 1


def test_values_below_the_normal_numbers_are_not_proved_for_float32():
    table = np.array([0, 4.2e-45, 4.2e-45], np.float32).reshape(1, 3, 1)
    decoder = replace(flat(0, None, LOGITS, bias=[-1900, 0, 0], value=(), output=linear([[1e30]], [[1e18]])))
    decoder = replace(decoder, tables=(table,))
    (claim,) = decide(decoder, zeros(length=1)).claims
    assert (claim.verdict, claim.arithmetic) == ("proved", "real")


def test_weights_that_vanish_before_a_token_that_is_not_there_are_not_lost():
    """One token scores 2,000 above all others; with it, their weights underflow, but it may be absent."""
    table = np.zeros((1, 4, 3), np.float32)
    table[0, :, 0], table[0, :, 1], table[0, :, 2] = [0, 0, 2000, 0], [-1, -1, 0, -1], 1
    head = Head(linear([[0], [0], [1]]), linear([[1], [0], [0]]), linear([[0], [1], [0]]), linear([[0, 10, 0]]), 1.0)
    logits = Linear(np.array([[0] * 4, [1, 0, 0, 0], [0] * 4], np.float32), np.array([5, 0, 0, 0], np.float32))
    decoder, task = Decoder((table,), (Layer((head,)),), None, (logits,)), zeros(3)
    real = margins_of(Evaluation(decoder, torch.float64), task, np.concatenate(list(task.every_input())))
    assert (real < 0).sum() == 4
    assert decide(decoder, task).verdict == "refuted"


@pytest.mark.parametrize("scale", [1.0, 2.0**-33])
def test_rounding_in_float64_refutes_nothing(scale):
    """The logit of 0 is 2^60 + 200, and float64 loses 100 twice; that of 1 is 2^60 + 140, rounded up by 116."""
    tables = scale * np.array([[2.0**60, 2.0**60], [100, 140], [100, 0]]).astype(np.float32).reshape(3, 1, 1, 2)
    nothing = Head(*(linear(np.zeros(shape)) for shape in ((2, 1), (2, 1), (2, 1), (1, 2))), 1.0)
    tables = tuple(np.repeat(table, 3, axis=1) for table in tables.astype(np.float32))
    decoder, task = Decoder(tables, (Layer((nothing,)),), None, linear([[1, 0, 0], [0, 1, 0]])), zeros(length=17)
    assert (forced_margins(decoder, task, task.random_inputs(5, np.random.default_rng(0))) < -1e-8).all()
    assert decide(decoder, task).verdict == "not decided"


def test_all_tokens_may_be_right():
    claims = decide(flat(1, None, LOGITS), zeros(stop=(0, 1, 2, 0))).claims
    assert [claim.verdict for claim in claims] == ["proved", "proved"]


def test_one_token_is_enough():
    columns = from_step("z == 0", {"a": 1}, lambda *_: (0, 0), length=1)
    task = ColumnTask(columns, PromptLayout((Place("a", 0),), (Place("z", 0),)))
    decoder = replace(flat(1, None, [[1]]), tables=(np.ones((2, 1, 1), np.float32),))
    assert decide(decoder, task)
    assert exhaust(decoder, task)[0].verdict == "tested"


@pytest.mark.parametrize("decoder", [replace(flat(1, None, LOGITS), layers=layers) for layers in ((), (Layer(()),))])
def test_bounds_need_one_layer_with_attention(decoder):
    with pytest.raises(InputError, match="one-layer decoders with attention"):
        tabulate(decoder, zeros(), 0.0)
    two = replace(decoder, layers=2 * flat(1, None, LOGITS).layers)
    with pytest.raises(InputError, match="2 layers"):
        tabulate(two, zeros(), 0.0)


def test_a_head_with_tokens_that_no_table_has_is_refused():
    with pytest.raises(InputError, match="outputs 5 tokens, but its tables take 3"):
        decide(flat(1, None, [[1, 0, 0, 0, 5]]), zeros())
