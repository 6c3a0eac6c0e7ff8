"""Networks in .safetensors files, with everything needed to know what they are; nothing is ever unpickled."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.files.storage import write_atomically
from bitwright.learning.network import Network, Origin
from bitwright.learning.start import PARAMETRIZATIONS, STARTS
from bitwright.program import Program
from bitwright.version import __version__

FORMAT = "bitwright network 1"
MAX_BYTES = 64 << 30


def save_network(network: Network, program: Program, path: Path) -> None:
    """Writes weights and metadata: the origin, versions, and the names of examples and bits."""
    from safetensors.numpy import save

    document = {
        "format": FORMAT,
        "version": __version__,
        "numpy": np.__version__,
        **asdict(network.origin),
        "bits": program.layout.names,
        "examples": [program.template_text(t) for t in range(program.templates)],
    }
    tensors = {"first": np.ascontiguousarray(network.first), "last": np.ascontiguousarray(network.last)}
    write_atomically(path, save(tensors, metadata={"bitwright": json.dumps(document)}))


def load_network(path: Path, program: Program) -> Network:
    """The network in a file, after checking that it is one, belongs to this program, and holds finite numbers."""
    from safetensors import SafetensorError, safe_open

    try:
        if not path.is_file():
            raise InputError(f"there is no network file {path}")
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path} is larger than {MAX_BYTES >> 30} GiB, the most a network file may have")
        with safe_open(path, framework="numpy") as file:
            document = json.loads((file.metadata() or {}).get("bitwright", "{}"))
            if not isinstance(document, dict) or document.get("format") != FORMAT:
                raise InputError(f"{path} is not a network of a kind this version knows ({FORMAT})")
            if document.get("program_id") != program.id:
                known = shorten(str(document.get("program_id")), 16)
                own = program.id[:13]
                raise InputError(f"{path} is a network for another program: id {known}, this one's is {own}...")
            kinds = {name: file.get_slice(name).get_dtype() for name in ("first", "last")}
            if set(kinds.values()) not in ({"F32"}, {"F64"}):
                found = " and ".join(kinds.values())
                raise InputError(f"{path} has weights of type {found}; float32 or float64 is needed")
            first, last = file.get_tensor("first"), file.get_tensor("last")
    except (SafetensorError, OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        reason = shorten(str(error))
        raise InputError(f"{path} is not a network file; it may be truncated or damaged ({reason})") from None
    origin = _origin(document, path)
    examples = program.templates + origin.padding
    if (
        first.ndim != 2
        or last.ndim != 2
        or not len(first)
        or first.shape[1] != examples
        or last.shape != (program.bits, len(first))
    ):
        raise InputError(f"{path} has weights of shapes {first.shape} and {last.shape}, which do not fit the program")
    if not (np.isfinite(first).all() and np.isfinite(last).all()):
        raise InputError(f"{path} has weights that are NaN or infinite")
    return Network(first, last, origin)


def _origin(document: dict[str, object], path: Path) -> Origin:
    """The origin from metadata, each entry checked for its type."""
    values = {field.name: document.get(field.name) for field in fields(Origin)}
    wanted = {field.name: field.type for field in fields(Origin)}
    kinds: dict[str, type | tuple[type, ...]] = {"int": int, "float": (int, float), "str": str, "bool": bool}
    for name, value in values.items():
        kind = kinds.get(str(wanted[name]), str)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise InputError(f"{path} is not a complete network file: {name} is {shorten(repr(value))}")
    if values["start"] not in STARTS or values["parametrization"] not in PARAMETRIZATIONS:
        raise InputError(f"{path} was made with a start or parametrization that this version does not know")
    if int(str(values["padding"])) < 0:
        raise InputError(f"{path} is not a valid network file: padding is {values['padding']}")
    return Origin(**values)  # type: ignore[arg-type]
