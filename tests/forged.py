"""Network files as an attacker writes them: any header, any metadata, and the digest that such metadata should have."""

import json
import struct
from hashlib import sha256
from pathlib import Path
from typing import Any

NOT_HASHED = ("format", "version", "numpy", "bits", "examples", "sha256")


def opened(path: Path) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """What a network file says of itself, the entries of its tensors, and their bytes."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    return json.loads(header.pop("__metadata__")["bitwright"]), header, data[8 + length :]


def sealed(about: dict[str, Any], header: dict[str, Any], body: bytes) -> dict[str, Any]:
    """The same metadata with the digest that a sound file of it has."""
    tensors = {name: sha256(body[slice(*header[name]["data_offsets"])]).hexdigest() for name in header}
    (width, inputs), (outputs, _) = header["first"]["shape"], header["last"]["shape"]
    hashed = {name: value for name, value in about.items() if name not in NOT_HASHED}
    hashed |= {"shape": {"inputs": inputs, "width": width, "outputs": outputs}, "tensors": tensors}
    return about | {"sha256": sha256(json.dumps(hashed, sort_keys=True).encode()).hexdigest()}


def in_bytes(header: str | bytes, body: bytes, length: int | None = None) -> bytes:
    """A file with this text as its header, and its length in front, or another number."""
    encoded = header.encode() if isinstance(header, str) else header
    return struct.pack("<Q", len(encoded) if length is None else length) + encoded + body


def forged(about: dict[str, Any], header: dict[str, Any], body: bytes) -> bytes:
    """A file that holds these, sealed."""
    about = sealed(about, header, body)
    return in_bytes(json.dumps({"__metadata__": {"bitwright": json.dumps(about)}} | header), body)
