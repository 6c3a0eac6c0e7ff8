"""A network, and a program, as an ES module of typed arrays with JSDoc types, and its declarations for TypeScript."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import InputError
from bitwright.exports.claims import ExportClaim, about_lines
from bitwright.exports.model import Core, Exported, WiresOut
from bitwright.exports.text import ending_of, filled, number_lines, unsigned_bits

MOST_EXACT = 1 << 53  # below it every integer is one of JavaScript's


def js_text(found: Exported, claim: ExportClaim) -> str:
    """The whole module."""
    core, wires = found.core, found.wires
    about = "\n".join(f" * {line}".rstrip() for line in about_lines(found, claim))
    parts = [core_text(core, about, [_table(*one) for one in core_tables(core)])]
    if wires is not None:
        parts += [filled("words.mjs", {}), filled("program.mjs", _program_pieces(core, wires))]
    return "\n".join(parts)


def js_types(found: Exported) -> str:
    """What the module exports, as TypeScript declares it."""
    parts = [filled("core.d.mts", {"sums": _sums(found.core)})]
    if found.wires is not None:
        algorithm = found.wires.algorithm
        names = [
            " | ".join(f'"{word.name}"' for word in words) or "never" for words in (algorithm.inputs, algorithm.outputs)
        ]
        parts.append(filled("program.d.mts", {"input": names[0], "output": names[1]}))
    return "\n".join(parts)


def core_text(core: Core, about: str, tables: Iterable[str]) -> str:
    """The part that evaluates the network; raises InputError where numbers of JavaScript would not be exact."""
    if core.largest >= MOST_EXACT:
        raise InputError(
            f"sums or thresholds of this network reach {core.largest:,}, and numbers of JavaScript are exact below "
            f"{MOST_EXACT:,}; C has integers of 64 bits"
        )
    pieces = {
        "about": about,
        "width": core.first.shape[0],
        "examples": core.first.shape[1],
        "ports": core.last.shape[1],
        "columns": core.thresholds.shape[1],
        "sums": _sums(core),
        "tables": "\n".join(tables),
    }
    return filled("core.mjs", pieces)


def core_tables(core: Core) -> list[tuple[str, NDArray[np.integer], str]]:
    """Name, numbers and kind of array of each table of the core."""
    others = {
        "portColumn": core.column,
        "kindBlock": core.kind_block,
        "kindPort": core.kind_port,
        "blockExample": core.block_example,
        "configuration": core.configuration,
    }
    return [
        ("first", core.first, "Int8Array"),
        ("last", core.last, "Int8Array"),
        ("threshold", core.thresholds, _sums(core)),
        *((name, values, _unsigned(values)) for name, values in others.items()),
    ]


def _sums(core: Core) -> str:
    return "Int32Array" if core.bits == 32 else "Float64Array"


def _program_pieces(core: Core, wires: WiresOut) -> dict[str, object]:
    algorithm = wires.algorithm
    how, steps, halt = ending_of(algorithm)
    words = {
        name: [{"name": word.name, "signed": word.signed, "bits": list(word.bits)} for word in given]
        for name, given in (("inputs", algorithm.inputs), ("outputs", algorithm.outputs))
    }
    tables = [
        _table("blockBits", core.block_bits),
        _table("cellKind", wires.cell_kind),
        _table("cellBit", wires.cell_bit),
        _table("wireStart", wires.wire_start),
        _table("wireBit", wires.wire_bit),
        _table("startBit", np.array(algorithm.start, dtype=np.int64)),
    ]
    return {
        "bits": algorithm.program.bits,
        "steps": steps,
        "ending": json.dumps({"how": how, "bit": halt}),
        "inputs": json.dumps(words["inputs"]),
        "outputs": json.dumps(words["outputs"]),
        "most_blocks": int(np.diff(core.kind_block).max()),
        "tables": "\n".join(tables),
    }


def _table(name: str, values: NDArray[np.integer], kind: str | None = None) -> str:
    return f"const {name} = new {kind or _unsigned(values)}([\n{number_lines(values)}\n]);"


def _unsigned(values: NDArray[np.integer]) -> str:
    return f"Uint{unsigned_bits(int(values.max(initial=0)))}Array"
