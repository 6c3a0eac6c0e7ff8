"""Decoders from state dicts of GPT-2, nanoGPT, Llama and Qwen3.

    decoder = from_gpt2(model.state_dict(), GptOptions(heads=2))
    decoder = from_llama(read_state_dict("model.safetensors"), LlamaOptions(heads=4, key_heads=2, rope_base=1e6))

The options supply settings that a state dict does not contain. Missing and unknown names are errors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, listing
from bitwright.common.files.storage import as_path
from bitwright.transformers.decoder import (
    Activation,
    Chain,
    Decoder,
    Head,
    Layer,
    Linear,
    Mlp,
    Norm,
    Rope,
    Weights,
    check,
)
from bitwright.transformers.files import open_weights

WHAT = "a file of weights"


@dataclass(frozen=True)
class GptOptions:
    """Settings that a GPT-2 state dict does not contain. GPT-2 uses the activation "gelu_tanh", and nanoGPT "gelu"."""

    heads: int
    activation: Activation = "gelu_tanh"
    eps: float = 1e-5


@dataclass(frozen=True)
class LlamaOptions:
    """Settings that a Llama or Qwen3 state dict does not contain; `key_heads` is the number of key and value heads."""

    heads: int
    key_heads: int | None = None
    rope_base: float = 10_000.0
    eps: float = 1e-6
    activation: Activation = "silu"
    interleaved: bool = False


def read_state_dict(path: str | Path) -> dict[str, Any]:
    """Reads the arrays of a .safetensors file by name; nothing is unpickled."""
    file = open_weights(as_path(path, WHAT), WHAT)
    return {name: file.read(name) for name in file.entries}


def from_gpt2(weights: Mapping[str, Any], options: GptOptions) -> Decoder:
    """Converts a GPT-2 or nanoGPT state dict, with learned positions, LayerNorm and possibly a tied head, to a decoder.

    Matrices may be (in, out), as in GPT-2, or (out, in), as in nanoGPT.
    """
    names = _Names(weights, ("_orig_mod.", "transformer."))
    tokens, positions = names.take("wte.weight", 2), names.take("wpe.weight", 2)
    names.turned = names.shape("h.0.attn.c_attn.weight")[0] != tokens.shape[1]
    layers = []
    for at in names.layers("h"):
        names.drop_mask(f"{at}.attn.bias")
        joint = names.linear(f"{at}.attn.c_attn")
        if joint.weight.shape[1] % 3:
            raise InputError(f"{at}.attn.c_attn must consist of 3 equal parts, got shape {joint.weight.shape}")
        attention_norm, mlp_norm = (names.norm(f"{at}.{name}", "layer", options.eps) for name in ("ln_1", "ln_2"))
        heads, output = _heads(_parts(joint, 3), names.linear(f"{at}.attn.c_proj"), options.heads, options.heads)
        mlp = Mlp(options.activation, (names.linear(f"{at}.mlp.c_fc"),), (names.linear(f"{at}.mlp.c_proj"),))
        layers.append(Layer(heads, attention_norm, output, mlp_norm, mlp))
    tables = (tokens[None], positions[:, None])
    return names.decoder(tables, layers, names.norm("ln_f", "layer", options.eps))


def from_llama(weights: Mapping[str, Any], options: LlamaOptions) -> Decoder:
    """Converts a Llama or Qwen3 state dict, with RoPE, RMSNorm, grouped keys and values, and SwiGLU, to a decoder.

    Queries and keys may be normed, and the head may be tied. Scaled RoPE and sliding-window attention are not covered;
    `compare` detects them.
    """
    names = _Names(weights, ("_orig_mod.", "model."))
    tokens = names.take("embed_tokens.weight", 2)
    key_heads = options.key_heads or options.heads
    layers = []
    for at in names.layers("layers"):
        parts = tuple(names.linear(f"{at}.self_attn.{part}_proj") for part in "qkv")
        query_norm, key_norm = (names.optional_norm(f"{at}.self_attn.{part}_norm", options.eps) for part in "qk")
        rope = Rope(options.rope_base, options.interleaved)
        heads, output = _heads(
            parts, names.linear(f"{at}.self_attn.o_proj"), options.heads, key_heads, (query_norm, key_norm), rope
        )
        gate, up, down = ((names.linear(f"{at}.mlp.{part}_proj"),) for part in ("gate", "up", "down"))
        before = names.norm(f"{at}.input_layernorm", "rms", options.eps)
        after = names.norm(f"{at}.post_attention_layernorm", "rms", options.eps)
        layers.append(Layer(heads, before, output, after, Mlp(options.activation, up, down, gate)))
    return names.decoder((tokens[None],), layers, names.norm("norm", "rms", options.eps))


def _heads(
    parts: tuple[Linear, ...],
    output: Linear,
    heads: int,
    key_heads: int,
    norms: tuple[Norm | None, Norm | None] = (None, None),
    rope: Rope | None = None,
) -> tuple[tuple[Head, ...], Chain]:
    """Returns the heads of a layer and the chain applied to their sum."""
    for name, number in (("heads", heads), ("key_heads", key_heads)):
        if isinstance(number, bool) or not isinstance(number, int):
            raise InputError(f"{name} must be an integer, got {shorten(repr(number))}")
    if heads < 1:
        raise InputError(f"heads must be at least 1, got {heads}")
    if not 1 <= key_heads <= heads or heads % key_heads:
        raise InputError(f"heads must be a multiple of key_heads, got {heads} and {key_heads}")
    queries = _parts(parts[0], heads)
    keys, values = _parts(parts[1], key_heads), _parts(parts[2], key_heads)
    width = values[0].weight.shape[1]
    if len(output.weight) != heads * width:
        raise InputError(f"the output projection must have {heads} * {width} inputs, got {len(output.weight)}")
    scale = queries[0].weight.shape[1] ** -0.5
    outputs: list[Chain] = [()]
    if heads > 1:  # only the first head adds the bias
        rows: Any = output.weight.reshape(heads, width, -1)
        outputs = [(Linear(row, output.bias if head == 0 else None),) for head, row in enumerate(rows)]
    result = tuple(
        Head((queries[head],), (keys[group],), (values[group],), outputs[head], scale, *norms, rope)
        for head, group in ((head, head * key_heads // heads) for head in range(heads))
    )
    return result, (output,) if heads == 1 else ()


def _parts(linear: Linear, count: int) -> tuple[Linear, ...]:
    """Splits the outputs into equal parts."""
    if linear.weight.shape[1] % count:
        raise InputError(f"{linear.weight.shape[1]} outputs cannot be divided into {count} heads")
    weights: list[Any] = np.split(linear.weight, count, axis=1)
    biases: list[Any] = [None] * count if linear.bias is None else np.split(linear.bias, count)
    return tuple(Linear(weight, bias) for weight, bias in zip(weights, biases, strict=True))


class _Names:
    """The unused arrays of a state dict."""

    turned = True  # matrices are (out, in)

    def __init__(self, weights: Mapping[str, Any], prefixes: tuple[str, ...]) -> None:
        if not isinstance(weights, Mapping) or not weights:
            got = "an empty one" if isinstance(weights, Mapping) else type(weights).__name__
            raise InputError(f"the state dict must be a mapping from names to weights, got {got}")
        self.left: dict[str, Any] = {}
        for name, value in weights.items():
            for prefix in prefixes:
                name = name.removeprefix(prefix)
            self.left[name] = value
        if len(self.left) < len(weights):
            raise InputError("the state dict contains a name both with and without a prefix")
        self.optional: dict[str, bool] = {}  # whether each optional name is present, by its name in layer 0

    def shape(self, name: str) -> tuple[int, ...]:
        if name not in self.left:
            raise InputError(f"the state dict lacks {name}; its names are {listing([*map(shorten, self.left)], 3)}")
        return tuple(getattr(self.left[name], "shape", ()))

    def take(self, name: str, dimensions: int) -> Any:
        """Removes an array and returns it."""
        shape, value = self.shape(name), self.left.pop(name)
        if hasattr(value, "detach") and value.is_floating_point():
            value = value.detach().cpu()
            value = (value if value.element_size() == 8 else value.float()).numpy()
        kind = str(getattr(value, "dtype", type(value).__name__))
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or len(shape) != dimensions:
            raise InputError(
                f"{name} must be {dimensions}-dimensional and floating-point, got {kind} with shape {shape}"
            )
        return value.astype(np.promote_types(value.dtype, np.float32))

    def take_optional(self, name: str) -> Any:
        """Removes a vector, which all layers or none must have, and returns it or None."""
        present = name in self.left
        if self.optional.setdefault(re.sub(r"\.\d+\.", ".0.", name), present) != present:
            raise InputError(f"{name} must be in all layers or in none")
        return self.take(name, 1) if present else None

    def linear(self, name: str) -> Linear:
        weight = self.take(f"{name}.weight", 2)
        return Linear(weight.T if self.turned else weight, self.take_optional(f"{name}.bias"))

    def norm(self, name: str, kind: Literal["rms", "layer"], eps: float) -> Norm:
        weight = self.take(f"{name}.weight", 1)
        return Norm(kind, eps, weight, self.take_optional(f"{name}.bias") if kind == "layer" else None)

    def optional_norm(self, name: str, eps: float) -> Norm | None:
        weight = self.take_optional(f"{name}.weight")
        return None if weight is None else Norm("rms", eps, weight)

    def layers(self, name: str) -> list[str]:
        numbers = [int(match[1]) for match in map(re.compile(rf"{name}\.(\d{{1,4}})\.").match, self.left) if match]
        return [f"{name}.{number}" for number in range(max(numbers, default=0) + 1)]

    def drop_mask(self, name: str) -> None:
        """Removes an optional causal mask."""
        if np.ndim(mask := self.left.get(name, 0)) == 4:
            if not (np.asarray(mask)[0, 0] == np.tri(*np.shape(mask)[2:])).all():
                raise InputError(f"{name} must be a causal mask")
            del self.left[name]

    def decoder(self, tables: tuple[Weights, ...], layers: list[Layer], norm: Norm) -> Decoder:
        """Returns the decoder after checking that no names are left; a missing head is tied to the first table."""
        head = self.take("lm_head.weight", 2) if "lm_head.weight" in self.left else tables[0][0]
        head = Linear(head.T, self.take_optional("lm_head.bias"))
        if self.left:
            raise InputError(f"the state dict contains unknown names: {listing([*map(shorten, self.left)], 5)}")
        decoder = Decoder(tables, tuple(layers), norm, (head,))
        check(decoder)
        return decoder
