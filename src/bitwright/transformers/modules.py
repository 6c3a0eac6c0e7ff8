"""Evaluates decoders and users' modules in NumPy, and compares a decoder with a module."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.special import erf, expit

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError
from bitwright.transformers.affine import Reals
from bitwright.transformers.columns import Ints
from bitwright.transformers.decision import FACTOR, ModuleComparison
from bitwright.transformers.decoder import Activation, Chain, Decoder, Head, Layer, Mlp, Norm, Rope
from bitwright.transformers.layout import ColumnTask, Mixture

Floats = Any  # arrays of either precision


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # callers check for non-finite values
def logits(decoder: Decoder, tokens: Ints, dtype: type = np.float64) -> Floats:
    """Returns (n, length, vocabulary) the logits after each of the tokens (n, length)."""
    length = tokens.shape[1]
    x: Floats = sum((_looked_up(table.astype(dtype), tokens, length) for table in decoder.tables), np.zeros((), dtype))
    for layer in decoder.layers:
        x = x + _attend(layer, x)
        if layer.mlp is not None:
            x = x + _mlp(layer.mlp, normed(layer.mlp_norm, x))
    return chained(decoder.head, normed(decoder.final_norm, x))


def _looked_up(table: Floats, tokens: Ints, length: int) -> Floats:
    position = np.arange(length) if table.shape[0] > 1 else np.zeros(length, np.int64)
    return table[position, tokens if table.shape[1] > 1 else 0 * tokens]


def _attend(layer: Layer, x: Floats) -> Floats:
    h = normed(layer.attention_norm, x)
    total: Any = np.zeros((), x.dtype)
    for head in layer.heads:
        total = total + chained(head.output, _head(head, h))
    return chained(layer.output, total)


def _head(head: Head, h: Floats) -> Floats:
    queries = _turned(head.rope, normed(head.query_norm, chained(head.query, h)))
    keys = _turned(head.rope, normed(head.key_norm, chained(head.key, h)))
    scores = queries @ keys.swapaxes(-1, -2) * h.dtype.type(head.scale)
    scores[:, ~np.tri(h.shape[1], dtype=np.bool_)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ chained(head.value, h)


def _turned(rope: Rope | None, x: Floats) -> Floats:
    if rope is None:
        return x
    half = x.shape[-1] // 2
    dtype = x.dtype.type
    rates = dtype(rope.base) ** (-np.arange(half, dtype=dtype) * 2 / dtype(x.shape[-1]))
    angles = np.arange(x.shape[-2], dtype=dtype)[:, None] * rates
    cosine, sine = np.cos(angles), np.sin(angles)
    first, second = (x[..., ::2], x[..., 1::2]) if rope.interleaved else (x[..., :half], x[..., half:])
    turned = first * cosine - second * sine, first * sine + second * cosine
    return np.stack(turned, -1).reshape(x.shape) if rope.interleaved else np.concatenate(turned, -1)


def _mlp(mlp: Mlp, x: Floats) -> Floats:
    up = chained(mlp.up, x)
    hidden = activated(mlp.activation, up) if mlp.gate is None else activated(mlp.activation, chained(mlp.gate, x)) * up
    return chained(mlp.down, hidden)


def chained(chain: Chain, x: Floats) -> Floats:
    """Applies a chain of matrices from left to right."""
    for linear in chain:
        x = x @ linear.weight.astype(x.dtype)
        if linear.bias is not None:
            x = x + linear.bias.astype(x.dtype)
    return x


def normed(norm: Norm | None, x: Floats) -> Floats:
    """Applies a norm over the last axis."""
    if norm is None:
        return x
    if norm.kind == "layer":
        x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + x.dtype.type(norm.eps))
    if norm.weight is not None:
        x = x * norm.weight.astype(x.dtype)
    return x if norm.bias is None else x + norm.bias.astype(x.dtype)


def activated(activation: Activation, x: Floats) -> Floats:
    """Applies GELU (exact or with tanh), ReLU or SiLU."""
    if activation == "relu":
        return np.maximum(x, 0)
    if activation == "silu":
        return x * expit(x)
    if activation == "gelu":
        return x * (1 + erf(x / x.dtype.type(np.sqrt(2)))) / 2
    inner = x.dtype.type(np.sqrt(2 / np.pi)) * (x + x.dtype.type(0.044715) * x**3)
    return x * (1 + np.tanh(inner)) / 2


BATCH = 4096  # rows per evaluation


@dataclass(frozen=True)
class Evaluator:
    """Evaluates a decoder or a user's module.

    Args:
        by: which of the two it evaluates.
        name: the runtime, such as `torch 2.13.0`.
        evaluate: maps tokens (n, length) to logits (n, length, vocabulary).
    """

    by: Literal["module", "decoder"]
    name: str
    evaluate: Callable[[Ints], Any]

    def __call__(self, tokens: Ints) -> Reals:
        """Returns (n, length, vocabulary) logits; raises InputError if the module fails or returns anything else."""
        parts = [self.evaluate(tokens[begin : begin + BATCH]) for begin in range(0, len(tokens), BATCH)]
        return np.concatenate(parts).astype(np.float64)


Module = Decoder | Callable[[Any], Any] | Evaluator


def evaluator_of(decoder: Decoder, dtype: type = np.float64) -> Evaluator:
    """Returns the evaluator of a decoder in this precision."""
    return Evaluator("decoder", f"NumPy {np.__version__}", partial(logits, decoder, dtype=dtype))


def runtime_of(module: Module, task: ColumnTask) -> Evaluator:
    """Returns the evaluator of a module after a test on two rows; a torch.nn.Module gets tensors, a function arrays."""
    if isinstance(module, Evaluator):
        return module
    if isinstance(module, Decoder):
        from bitwright.transformers.attention import check_fit

        check_fit(module, task)
        return evaluator_of(module, np.float32)
    if not callable(module):
        raise InputError(f"module must be a function from tokens to logits, got {type(module).__name__}")
    torch = sys.modules.get("torch")
    tensors = torch is not None and isinstance(module, torch.nn.Module)
    if tensors and getattr(module, "training", False):
        raise InputError("the module is in training mode; call module.eval() first")
    name = f"torch {torch.__version__}" if torch is not None and tensors else f"NumPy {np.__version__}"
    runtime = Evaluator("module", name, partial(_evaluate, module, tensors, task.vocabulary))
    runtime(forced_rows(task, task.random_inputs(2, np.random.default_rng(0))))
    return runtime


def forced_rows(task: ColumnTask, inputs: Ints) -> Ints:
    """Returns (n, length) prompts and right answers, without the last answer if no stop token follows."""
    rows = task.rows(inputs)
    return rows if task.layout.stop else rows[:, :-1]


def _evaluate(module: Callable[[Any], Any], tensors: bool, vocabulary: int, tokens: Ints) -> Any:
    try:
        result = _called(module, tensors, tokens)
    except Exception as error:
        reason = shorten(f"{type(error).__name__}: {error}", 200)
        raise InputError(f"the module failed on tokens of shape {tokens.shape}: {reason}") from None
    if result.ndim != 3 or result.shape[:2] != tokens.shape or result.shape[2] < vocabulary:
        expected = f"{(*tokens.shape, vocabulary)}, or with a larger vocabulary"
        raise InputError(f"the module must return logits of shape {expected}; got {result.shape}")
    if not np.isfinite(result).all():
        raise InputError("the module must return finite logits, got NaN or infinity")
    return result


def _called(module: Callable[[Any], Any], tensors: bool, tokens: Ints) -> Any:
    if not tensors:
        return _array(module(tokens))
    import torch

    parameters: Any = getattr(module, "parameters", lambda: ())
    device = next((parameter.device for parameter in parameters()), "cpu")
    with torch.no_grad():
        return _array(module(torch.as_tensor(tokens, device=device)))


def _array(result: Any) -> Any:
    """Returns the logits from the attribute `logits`, the first value of a tuple, or the result itself."""
    result = getattr(result, "logits", result)
    result = result[0] if isinstance(result, tuple) else result
    if hasattr(result, "detach"):
        result = result.detach().cpu().double().numpy()
    array = np.asarray(result)
    if array.dtype.kind != "f":
        raise TypeError(f"logits must be floating-point numbers, got {array.dtype}")
    return array


LEAST = 2.0**-20  # smallest tolerance, relative to the largest logit


def compare(decoder: Decoder, module: Module, task: ColumnTask, seed: int = 0, inputs: int = 4096) -> ModuleComparison:
    """Compares the module's logits with the decoder's in float64, with the right answers as prefixes.

    They agree if every logit that decides a token differs by at most 16 times the largest error of the decoder's
    float32 evaluation on the same inputs. A strict rounding bound would be hundreds of times larger and would not
    detect, for example, the other form of GELU.
    """
    runtime = runtime_of(module, task)
    rows = forced_rows(task, Mixture(task).draw(inputs, np.random.default_rng(seed)))
    exact, single, other = (
        evaluate(rows)[:, task.prompt_length - 1 :]
        for evaluate in (lambda r: logits(decoder, r), lambda r: logits(decoder, r, np.float32), runtime)
    )
    if other.shape != exact.shape:
        raise InputError(f"the module must return {exact.shape[2]} logits per token, got {other.shape[2]}")
    apart = float(np.abs(other - exact).max())
    bound = max(FACTOR * float(np.abs(single - exact).max()), LEAST * float(np.abs(exact).max()))
    return ModuleComparison(len(rows), apart, bound, apart <= bound)
