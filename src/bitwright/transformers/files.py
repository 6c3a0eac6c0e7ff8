"""Decoders in .safetensors files: the arrays by name, and the structure as JSON in the metadata. Nothing is unpickled.

A file carries the digest of everything that is evaluated, so that one that was altered is refused.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from bitwright.errors import InputError, shorten
from bitwright.files.documents import Check, check_fields, like, one_of, parse, text
from bitwright.files.storage import as_path, write_atomically
from bitwright.files.tensors import TensorFile, open_tensors
from bitwright.transformers.decoder import Decoder, check
from bitwright.transformers.values import Arrays, build, describe
from bitwright.version import __version__

FORMAT = "bitwright decoder 1"
MAX_BYTES = 16 << 30
WHAT = "a decoder file"
PICKLES = {".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"}


def save_decoder(decoder: Decoder, path: str | Path) -> None:
    """Writes a decoder to a .safetensors file."""
    write_atomically(as_path(path, WHAT), decoder_bytes(decoder))


def decoder_bytes(decoder: Decoder) -> bytes:
    """The contents of the file."""
    from safetensors.numpy import save

    if not isinstance(decoder, Decoder):
        raise InputError(f"save_decoder(decoder, path) writes a Decoder, got a {type(decoder).__name__}")
    structure, arrays = describe_decoder(decoder)
    document = {"format": FORMAT, "version": __version__, "sha256": digest(decoder), "decoder": structure}
    data: bytes = save(arrays, metadata={"bitwright": json.dumps(document)})
    return data


def load_decoder(path: str | Path) -> Decoder:
    """The decoder in a file; raises InputError unless it is sound and unaltered."""
    place = as_path(path, WHAT)
    file = open_weights(place, WHAT)
    if set(file.metadata) != {"bitwright"}:
        raise InputError(f"{place} is not {WHAT}, but perhaps a state dict; read it with read_state_dict")
    document = parse(file.metadata["bitwright"], place, WHAT)
    check_fields(document, place, WHAT, _FIELDS)
    arrays = {name: file.read(name) for name in file.entries}
    try:
        decoder: Decoder = build(Decoder, document["decoder"], "decoder", arrays)
        check(decoder)
        if sorted(describe_decoder(decoder)[1]) != sorted(arrays):
            raise InputError("it has tensors that the decoder does not use")
    except InputError as error:
        raise InputError(f"{place} is not {WHAT}: {error}") from None
    if digest(decoder) != document["sha256"]:
        raise InputError(f"{place} is damaged: its weights or their structure are not those that were written")
    return decoder


def open_weights(path: Path, what: str) -> TensorFile:
    """A .safetensors file of weights, its header checked."""
    if path.suffix in PICKLES:
        raise InputError(
            f"{path} is a pickle of PyTorch, which can run any code and is never loaded; where you trust it, write "
            f"its state dict with safetensors.torch.save_file(state_dict, '{path.stem}.safetensors')"
        )
    try:
        if not path.is_file():
            raise InputError(f"{path} is a folder, not {what}" if path.is_dir() else f"there is no file {path}")
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path} is larger than {MAX_BYTES >> 30} GiB, the most {what} may have")
        return open_tensors(path, what)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not {what}; it may be truncated or damaged ({shorten(str(error))})") from None


def is_decoder_file(path: Path) -> bool:
    """Whether a file is one that `save_decoder` wrote; it may be damaged."""
    try:
        return f'"format": "{FORMAT}"' in open_weights(path, WHAT).metadata.get("bitwright", "")
    except InputError:
        return False


def digest(decoder: Decoder) -> str:
    """The SHA-256 of everything that is evaluated: the structure, and each array's type, shape and bytes."""
    structure, arrays = describe_decoder(decoder)
    total = sha256(json.dumps(structure, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        total.update(f"\n{name} {array.dtype.name} {array.shape}\n".encode() + little.tobytes())
    return total.hexdigest()


def describe_decoder(decoder: Decoder) -> tuple[Any, Arrays]:
    """The structure, in which names stand for arrays, and the arrays by name."""
    arrays: Arrays = {}
    return describe(decoder, arrays), arrays


_FIELDS: dict[str, Check] = {
    "format": one_of(FORMAT),
    "version": text(100),
    "sha256": like("[0-9a-f]{64}", "64 hexadecimal digits"),
    "decoder": lambda value: None if type(value) is dict else "an object",
}
