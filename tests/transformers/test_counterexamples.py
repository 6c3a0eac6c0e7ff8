"""Comparison with modules, search for counterexamples, and exhaustive tests."""

import numpy as np
import pytest
import torch
from torch_transformers import Gpt, Llama, randomized

from bitwright.common.errors import InputError
from bitwright.transformers.counterexamples import exhaust, forced_margins, search
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.layout import Mixture
from bitwright.transformers.modules import compare, logits, runtime_of
from bitwright.transformers.state_dicts import GptOptions, LlamaOptions, from_gpt2, from_llama
from bitwright.transformers.task_text import read_task

SMALL = read_task("numbers a b: 1 digits base 4\nensure z == a + b\nprompt a[1] 9 b[1]\nanswer z[1..2]\nstop 11 12")
LONG = read_task("numbers a b: 10 digits\nensure z == a + b\nprompt a[1..10] 10 b[1..10] 11\nanswer z[1..11]")
WORDS = read_task("words s: 3 symbols 0..4\nensure z[i] == s[i] for i in 1..3\nprompt 5 s[1..3]\nanswer z[1..3]")


def adder(task, wrong=lambda a, b, step: False, margin=1.0):  # noqa: ARG005
    """Returns a module that adds Python integers; the right token has the logit `margin`, and all others 0."""
    base, at = task.columns.symbols[0], [[task.positions[w, c] for c in range(task.columns.length)] for w in (0, 1)]

    def module(rows: np.ndarray) -> np.ndarray:
        logits = np.zeros((*rows.shape, task.vocabulary))
        for row, found in zip(rows, logits, strict=True):
            a, b = (sum(int(row[p]) * base**c for c, p in enumerate(place) if p >= 0) for place in at)
            for step in range(rows.shape[1] - task.prompt_length + 1):
                place = task.layout.answer[step] if step < len(task.layout.answer) else None
                token = 12 if place is None else (a + b) // base**place.column % base
                found[task.prompt_length - 1 + step, (token + wrong(a, b, step)) % task.vocabulary] = margin
        return logits

    return module


class Addition(torch.nn.Module):
    """The same module for tensors."""

    def __init__(self, task) -> None:
        super().__init__()
        self.add = adder(task)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.add(tokens.numpy()))


def words() -> tuple[Decoder, torch.nn.Module]:
    module = randomized(Gpt())
    return from_gpt2(module.state_dict(), GptOptions(3, "gelu")), module


def test_a_module_agrees_with_its_decoder():
    decoder, module = words()
    comparison = compare(decoder, module, WORDS, inputs=500)
    assert comparison.agrees
    assert comparison.inputs == 500
    assert 0 < comparison.largest_difference <= comparison.bound < 1e-4
    llama = randomized(Llama())
    assert compare(from_llama(llama.state_dict(), LlamaOptions(4, 2, 100.0)), llama, WORDS).agrees
    assert not compare(from_llama(llama.state_dict(), LlamaOptions(4, 2, 100.1)), llama, WORDS).agrees


@pytest.mark.parametrize("change", ["tanh", "weight", "eps"])
def test_a_module_that_differs_a_little_does_not_agree(change):
    decoder, module = words()
    with torch.no_grad():
        if change == "tanh":
            module.transformer.h[0].mlp.approximate = "tanh"
        elif change == "weight":
            module.transformer.h[1].ln_2.weight[0] *= 1.01
        else:
            module.transformer.ln_f.eps = 2e-4
    assert not compare(decoder, module, WORDS, inputs=500).agrees


@pytest.mark.parametrize(("times", "agrees"), [(0, True), (8, True), (800, False)])
def test_a_module_may_round_worse_than_the_decoder_and_no_more(times, agrees):
    """8 times the decoder's float32 error may come from another summation order, but 800 times may not."""
    decoder, _ = words()

    def module(rows):
        exact = logits(decoder, rows)
        return exact + times * (logits(decoder, rows, np.float32) - exact)

    assert compare(decoder, module, WORDS, inputs=200).agrees == agrees


def test_modules_of_every_form_agree():
    """A module returns an array or a tensor, directly, in a tuple or as an attribute."""
    decoder, module = words()

    class Output:
        def __init__(self, logits) -> None:
            self.logits = logits

    forms = [
        module,
        lambda rows: module(torch.as_tensor(rows)),
        lambda rows: module(torch.as_tensor(rows)).detach().numpy(),
        lambda rows: (module(torch.as_tensor(rows)), None),
        lambda rows: Output(module(torch.as_tensor(rows))),
    ]
    found = [compare(decoder, form, WORDS, inputs=60) for form in forms]
    assert all(comparison.agrees for comparison in found)


FAILING = [
    (lambda rows: 1 / 0, "the module failed on tokens of shape .*ZeroDivisionError"),  # noqa: ARG005
    (lambda rows: "text", "the module failed .*floating-point"),  # noqa: ARG005
    (lambda rows: np.zeros(rows.shape), r"must return logits of shape \(2, 6, 6\).*got \(2, 6\)"),
    (lambda rows: np.zeros((len(rows), 1, 13)), r"got \(2, 1, 13\)"),
    (lambda rows: np.zeros((*rows.shape, 3)), r"got \(2, 6, 3\)"),
    (lambda rows: np.full((*rows.shape, 13), np.nan), "NaN or infinity"),
    (lambda rows: np.full((*rows.shape, 13), -np.inf), "NaN or infinity"),
    (lambda rows: np.zeros((*rows.shape, 7)), "must return 13 logits per token, got 7"),
    (Gpt(), "training mode"),
    (3, "module must be a function from tokens to logits, got int"),
]


@pytest.mark.parametrize(("module", "match"), FAILING, ids=range(len(FAILING)))
def test_modules_that_fail_are_one_line(module, match):
    with pytest.raises(InputError, match=match) as caught:
        compare(words()[0], module, WORDS, inputs=10)
    assert "\n" not in str(caught.value)


def test_a_module_that_fails_later_is_one_line():
    def module(rows):
        return np.zeros((*rows.shape, 13)) if len(rows) < 3 else np.full((*rows.shape, 13), np.nan)

    with pytest.raises(InputError, match="NaN or infinity"):
        compare(words()[0], module, WORDS, inputs=10)


def test_margins_are_those_of_single_inputs():
    decoder, _ = words()
    inputs = Mixture(WORDS).draw(50, np.random.default_rng(0))
    runtime = runtime_of(decoder, WORDS)
    margins = forced_margins(runtime, WORDS, inputs)
    for number, row in enumerate(WORDS.rows(inputs)):
        for step, right in enumerate(WORDS.answers(inputs)[number]):
            logits = runtime(row[None, : WORDS.prompt_length + step])[0, -1]
            margin = logits[right] - np.delete(logits, right).max()
            assert margin == pytest.approx(margins[number, step], abs=1e-5)


RARE = [
    lambda a, b, step: step == 10 and a + b == 10**10,
    lambda a, b, step: step == 3 and a == 0 and b % 1000 == 999,
    lambda a, b, step: step == 0 and a == b == 9999999999,
]


@pytest.mark.parametrize("wrong", RARE, ids=range(len(RARE)))
def test_rare_mistakes_are_found_again_by_the_same_seed(wrong):
    module = adder(LONG, wrong)
    found = [search(module, LONG, seed=3) for _ in range(2)]
    assert found[0] is not None
    a, b = (int(part.split("=")[1]) for part in found[0].inputs.split(", "))
    assert wrong(a, b, found[0].step)
    assert found[0].replayed_by == "module"
    assert found[0].written[found[0].step] != found[0].right[found[0].step]
    assert found[1].inputs == found[0].inputs
    assert sum(digit * 10**place for place, digit in enumerate(found[0].right)) == a + b


def test_what_is_right_is_not_refuted():
    assert search(adder(LONG), LONG) is None


def test_all_inputs_of_a_small_domain():
    for module, name in (
        (adder(SMALL), f"NumPy {np.__version__}"),
        (Addition(SMALL).eval(), f"torch {torch.__version__}"),
    ):
        claims = exhaust(module, SMALL)
        assert [(claim.about, claim.verdict, claim.method, claim.inputs) for claim in claims] == [
            ("z == a + b", "tested", "all inputs", 16),
            ("stop", "tested", "all inputs", 16),
        ]
        assert {(claim.margin, claim.runtime) for claim in claims} == {(1.0, name)}


def test_the_only_wrong_input_is_found():
    digits, stop = exhaust(adder(SMALL, lambda a, b, step: (a, b, step) == (2, 3, 1)), SMALL)
    assert (digits.verdict, stop.verdict) == ("refuted", "tested")
    assert digits.counterexample.inputs == "a=2, b=3"
    assert digits.counterexample.step == 1
    assert digits.counterexample.right == (1, 1)
    digits, stop = exhaust(adder(SMALL, lambda a, b, step: 5 * ((a, b, step) == (3, 1, 2))), SMALL)
    assert (digits.verdict, stop.verdict) == ("tested", "refuted")
    assert stop.counterexample.inputs == "a=3, b=1"


def test_a_tie_is_not_decided():
    """All logits are equal, so decoding outputs the first token, which is right only by a tie."""
    task = read_task("numbers a: 1 digits base 2\nensure z == 0*a\nprompt a[1]\nanswer z[1]")
    (claim,) = exhaust(lambda rows: np.zeros((*rows.shape, 2)), task)
    assert claim.verdict == "not decided"
    assert claim.open[0].startswith("a=0 ")
