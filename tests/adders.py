"""Networks that others trained for ten-digit addition, where their descriptions lie beside the project."""

import json
from pathlib import Path

import numpy as np

from bitwright.transformers.columns import Columns, from_step
from bitwright.transformers.decoder import Chain, Decoder, Head, Layer, Linear, Mlp, Norm, Rope
from bitwright.transformers.layout import ColumnTask, Place, PromptLayout

FOLDER = Path(__file__).parents[2] / "shared" / "data" / "adders"
NAMES = sorted(path.stem for path in FOLDER.glob("*.npz")) if FOLDER.is_dir() else []


def addition(length: int = 10, base: int = 10) -> Columns:
    """The sum of two numbers and its carry, in as many columns as the sum has digits."""

    def step(carry: int, digits: tuple[int, ...]) -> tuple[int, int]:
        return divmod(sum(digits) + carry, base)

    return from_step("z == a + b", {"a": base, "b": base}, step, length=length + 1)


def load(name: str) -> tuple[ColumnTask, Decoder]:
    """A network and its task."""
    with np.load(FOLDER / f"{name}.npz") as file:
        arrays = dict(file)
    about = json.loads(arrays["meta"].tobytes())

    def read(part):
        if isinstance(part, dict):
            return arrays[part["array"]] if set(part) == {"array"} else {key: read(of) for key, of in part.items()}
        return [read(of) for of in part] if isinstance(part, list) else part

    parts, where = read(about["ir"]), about["layout"]
    prompt: list[int | Place] = [0] * where["nprompt"]
    for position, token in where["fixed"].items():
        prompt[int(position)] = token
    for word in "ab":
        for column, position in enumerate(where[word]):
            prompt[position] = Place(word, column)
    stop = (0, *range(10, about["vocab"])) if about["stop"] else ()
    layout = PromptLayout(tuple(prompt), tuple(Place("z", column) for column in range(11)), stop=stop)
    return ColumnTask(addition(), layout), decoder_of(parts)


def decoder_of(parts: dict) -> Decoder:
    """A description as the bench writes it."""

    def chain(weights, bias=None) -> Chain:
        return (*(Linear(w) for w in weights[:-1]), Linear(weights[-1], bias))

    def norm(of) -> Norm | None:
        kinds = {"rms": "rms", "ln": "layer"}
        return None if of is None or of["kind"] == "none" else Norm(kinds[of["kind"]], of["eps"], of["w"], of["b"])

    heads = tuple(
        Head(
            *(chain(head[part]) for part in "QKV"),
            (Linear(head["Oin"]),),
            head["scale"],
            norm(head["qn"]),
            norm(head["kn"]),
            None if head["rope"] is None else Rope(head["rope"]),
        )
        for head in parts["heads"]
    )
    given = parts["mlp"]
    if given["kind"] == "gelu":
        mlp = Mlp("gelu", chain(given["W1"], given["b1"]), chain(given["W2"], given["b2"]))
    else:
        mlp = Mlp("silu", chain(given["Wu"]), chain(given["W2"]), chain(given["Wg"]))
    output = () if parts["Oout"] is None else (Linear(parts["Oout"]),)
    layer = Layer(heads, norm(parts["n1"]), output, norm(parts["n2"]), mlp)
    return Decoder(tuple(parts["E"]), (layer,), norm(parts["nf"]), chain(parts["head"]))
