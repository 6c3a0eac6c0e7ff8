"""The report of a decision: a headline, one line per claim, the decoder and the comparison with a module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bitwright.common.errors import counted, listing, rounded_down
from bitwright.transformers.decision import FACTOR, Counterexample, Decision, DecoderClaim, ModuleComparison
from bitwright.transformers.decoder import Decoder, Layer
from bitwright.transformers.files import describe, digest
from bitwright.transformers.layout import ColumnTask

ARITHMETIC = {"real": "real arithmetic", "float32": "real arithmetic and float32"}


def report(decision: Decision) -> list[str]:
    """The lines of a report; the first line is the verdict."""
    rows = report_rows(decision)
    width = max(len(name) for name, _ in rows)
    return [headline(decision), *(f"  {name:{width}}  {text}" for name, text in rows)]


def report_rows(decision: Decision) -> list[tuple[str, str]]:
    """The rows of a report: claims, the module and the decoder."""
    rows = [("answers" if claim.about != "stop" else "stop token", describe_claim(claim)) for claim in decision.claims]
    return [
        *rows,
        ("module", describe_comparison(decision.comparison)),
        ("decoder", describe_decoder_of(decision.decoder)),
    ]


def headline(decision: Decision) -> str:
    """The verdict and its scope in one sentence."""
    task, verdict = decision.task, decision.verdict
    what = f"this decoder computes {task.columns.statement}"
    if len(decision.claims) > 1:
        what += " and stops"
    worst = next(claim for claim in decision.claims if claim.verdict == verdict)
    if verdict == "proved":
        weaker = min((claim.arithmetic for claim in decision.claims), key=("real", "float32").index)
        only = " (real arithmetic only)" if weaker == "real" else ""
        return f"PROVED: {what}, for all {count_inputs(task.inputs)} inputs{only}"
    if worst.counterexample is not None:
        return f"REFUTED: {describe_counterexample(task, worst.counterexample)}"
    if verdict == "tested":
        return f"TESTED: {what}, on all {count_inputs(task.inputs)} inputs with {worst.runtime}, which is not a proof"
    if decision.comparison is not None and not decision.comparison.agrees:
        apart, bound = decision.comparison.largest_difference, decision.comparison.bound
        differ = f"their logits differ by up to {apart:.2g}; the limit, {FACTOR} times float32 rounding, is {bound:.2g}"
        return f"NOT DECIDED: the decoder does not describe your module: {differ}; check heads, activation and eps"
    return f"NOT DECIDED: whether {what}"


def describe_claim(claim: DecoderClaim) -> str:
    """The verdict of one claim, in words."""
    if claim.verdict == "proved":
        work = f"{claim.boxes:,} {claim.method}"
        margin = "" if claim.margin is None else f"; every margin is at least {rounded_down(claim.margin)}"
        return f"proved in {ARITHMETIC[claim.arithmetic]}, in {work}{margin}"
    if claim.verdict == "tested":
        margin = "" if claim.margin is None else f"; smallest margin {rounded_down(claim.margin)}"
        return f"correct on all {count_inputs(claim.inputs)} inputs{margin}{_open(claim)}"
    if claim.counterexample is not None:
        return f"refuted; replayed by the {claim.counterexample.replayed_by}"
    return f"not decided{_open(claim)}"


def _open(claim: DecoderClaim) -> str:
    return f"; open: {listing(claim.open)}" if claim.open else ""


def describe_counterexample(task: ColumnTask, example: Counterexample) -> str:
    """The input, the output and the right answer."""
    if example.step == len(example.right):
        return f"{example.inputs}: token {example.written[-1]} follows the answer, but is not a stop token"
    right, written = describe_answer(task, example.right), describe_answer(task, example.written)
    return f"{example.inputs}: decoding gives {written} instead of {right}"


def describe_answer(task: ColumnTask, tokens: tuple[int, ...]) -> str:
    """An answer in readable form: numbers and flags, or the bare tokens if they are not a valid answer."""
    symbols: dict[str, dict[int, int]] = {}
    for place, token in zip(task.layout.answer, tokens, strict=False):
        allowed = task.tokens(place.word)
        if token not in allowed:
            return f"tokens {' '.join(map(str, tokens))}"
        symbols.setdefault(place.word, {})[place.column] = allowed.index(token)
    return ", ".join(f"{word}={_value(task, word, of)}" for word, of in symbols.items())


def _value(task: ColumnTask, word: str, symbols: Mapping[int, int]) -> int | str:
    if word in task.columns.flags:
        return int(symbols[-1])
    if task.is_number(word):
        digits = [symbols.get(column, 0) for column in range(1 + max(symbols))]
        return task.number(np.array(digits), task.columns.answers)
    return task.listed(word, (symbol for _, symbol in sorted(symbols.items())))


def describe_task(task: ColumnTask) -> list[tuple[str, str]]:
    """The meaning of a task: its words, the tokens of its symbols, and the tokens of one input and its right answer."""
    columns, layout = task.columns, task.layout
    lengths = (task.positions >= 0).sum(1).tolist()
    rows = [
        (name, f"input, {_symbols(task, name, size, length)}")
        for name, size, length in zip(columns.words, columns.symbols, lengths, strict=True)
    ]
    for name in columns.outputs:
        length = sum(place.word == name for place in layout.answer)
        size = int(columns.flags[name].max()) + 1 if name in columns.flags else columns.answers
        rows.append((name, f"answer, {_symbols(task, name, size, length)}"))
    inputs = task.random_inputs(1, np.random.default_rng(0))
    answers = task.answers(inputs)[0].tolist()
    rows.append(("automaton", f"{counted(columns.states, 'state')}, {counted(len(columns.edges), 'step')}"))
    rows.append(("example", f"{task.describe(inputs[0])}: {describe_answer(task, tuple(answers))}"))
    stop = f", then {' or '.join(map(str, layout.stop))}" if layout.stop else ""
    rows.append(("prompt", " ".join(map(str, task.prompts(inputs)[0].tolist()))))
    rows.append(("answer", " ".join(map(str, answers)) + stop))
    return rows


def _symbols(task: ColumnTask, name: str, size: int, length: int) -> str:
    tokens = task.tokens(name)
    inorder = tokens == (*range(tokens[0], tokens[-1] + 1),)
    named = f"{tokens[0]}..{tokens[-1]}" if inorder else " ".join(map(str, tokens))
    if name in task.columns.flags:
        return f"a flag with tokens {named}"
    kind = f"{counted(length, 'digit')} in base {size:,}" if task.is_number(name) else counted(length, "symbol")
    return f"{kind} with tokens {named}"


def describe_comparison(comparison: ModuleComparison | None) -> str:
    """The result of the comparison with a module."""
    if comparison is None:
        return "not compared: no module was given, so the verdict covers the decoder as described"
    if not comparison.agrees:
        bound = f"{FACTOR} times rounding ({comparison.bound:.2g})"
        return f"differs by up to {comparison.largest_difference:.2g}, more than {bound}"
    return f"logits on {comparison.inputs:,} inputs agree within {comparison.bound:.2g}"


def describe_decoder_of(decoder: Decoder) -> str:
    """Layers, heads, weights and digest."""
    heads = counted(sum(len(layer.heads) for layer in decoder.layers), "head")
    return f"{counted(len(decoder.layers), 'layer')}, {heads}, {decoder.weights:,} weights; sha256 {digest(decoder)}"


def describe_layer(layer: Layer) -> str:
    """The heads, norms and MLP of a layer."""
    heads, mlp = layer.heads, layer.mlp
    parts = [counted(len(heads), "head")]
    parts += ["RoPE"] * any(head.rope is not None for head in heads)
    parts += ["normed queries and keys"] * any(head.query_norm is not None for head in heads)
    parts += [] if layer.attention_norm is None else [f"{layer.attention_norm.kind} norm"]
    if mlp is not None:
        norm = "" if layer.mlp_norm is None else f", {layer.mlp_norm.kind} norm"
        hidden = mlp.up[-1].weight.shape[1] if mlp.up else 0
        parts.append(f"MLP of {hidden:,} {'gated ' * (mlp.gate is not None)}{mlp.activation}{norm}")
    return ", ".join(parts)


def count_inputs(number: int) -> str:
    """A number of inputs; exact, written as a power if it is one of 10 or 2.

    >>> count_inputs(10**20), count_inputs(2**128), count_inputs(12_769)
    ('10^20', '2^128', '12,769')
    """
    if number >= 10**7:
        for base in (10, 2):
            power = round(len(str(number)) - 1) if base == 10 else number.bit_length() - 1
            if base**power == number:
                return f"{base}^{power}"
    return f"{number:,}"


def document(decision: Decision) -> dict[str, Any]:
    """The decision as JSON."""
    comparison = decision.comparison
    return {
        "statement": decision.task.columns.statement,
        "verdict": decision.verdict,
        "proved": bool(decision),
        "inputs": decision.task.inputs,
        "decoder": digest(decision.decoder),
        **({} if comparison is None else {"compared": dict(vars(comparison))}),
        "claims": [_claim(claim) for claim in decision.claims],
    }


def _claim(claim: DecoderClaim) -> dict[str, Any]:
    document: dict[str, Any] = describe(replace(claim, trees={}))
    if (example := document["counterexample"]) is not None:
        del example["symbols"]
    del document["inputs"]
    return {name: value for name, value in document.items() if value not in (None, "", [], {})}
