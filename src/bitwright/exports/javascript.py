"""Writes a network, optionally with a program, as an ES module with JSDoc types and TypeScript declarations."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import InputError
from bitwright.exports.claims import ExportClaim, about_lines
from bitwright.exports.model import Core, Exported, WiresOut
from bitwright.exports.templates import ending_of, filled, unsigned_bits

MOST_EXACT = 1 << 53  # smaller integers are exact in JavaScript


def js_text(found: Exported, claim: ExportClaim) -> str:
    """Returns the text of the module."""
    core, wires = found.core, found.wires
    parts = [core_text(core, about_lines(found, claim))]
    if wires is not None:
        parts += [filled("words.mjs"), _program_text(core, wires)]
    return "\n".join(parts)


def js_types(found: Exported) -> str:
    """Returns the TypeScript declarations of the module's exports."""
    parts = [filled("core.d.mts", sums=_sums(found.core))]
    if found.wires is not None:
        algorithm = found.wires.algorithm
        parts.append(filled("program.d.mts", inputs=algorithm.inputs, outputs=algorithm.outputs))
    return "\n".join(parts)


def core_text(core: Core, about: Sequence[str], page: bool = False) -> str:
    """Returns the code that evaluates the network; raises InputError if JavaScript numbers would not be exact.

    Args:
        core: the tables of the network.
        about: the lines of the comment at the top.
        page: whether the tables come from a page.
    """
    if core.largest >= MOST_EXACT:
        raise InputError(
            f"sums or thresholds of this network may reach {core.largest:,}, but JavaScript numbers are exact only "
            f"below {MOST_EXACT:,}; export to C, which has 64-bit integers"
        )
    return filled("core.mjs", about=about, core=core, sums=_sums(core), tables=core_tables(core), page=page)


def core_tables(core: Core) -> list[tuple[str, NDArray[np.integer], str]]:
    """Returns the name, numbers and array type of each table of the core."""
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
        *((name, values, f"Uint{unsigned_bits(values)}Array") for name, values in others.items()),
    ]


def _sums(core: Core) -> str:
    return "Int32Array" if core.bits == 32 else "Float64Array"


def _program_text(core: Core, wires: WiresOut) -> str:
    algorithm = wires.algorithm
    how, steps, halt = ending_of(algorithm)
    words = [
        json.dumps([{"name": word.name, "signed": word.signed, "bits": list(word.bits)} for word in given])
        for given in (algorithm.inputs, algorithm.outputs)
    ]
    tables = {
        "blockBits": core.block_bits,
        "cellKind": wires.cell_kind,
        "cellBit": wires.cell_bit,
        "wireStart": wires.wire_start,
        "wireBit": wires.wire_bit,
        "startBit": np.array(algorithm.start, dtype=np.int64),
    }
    return filled(
        "program.mjs",
        bits=algorithm.program.bits,
        steps=steps,
        ending=json.dumps({"how": how, "bit": halt}),
        inputs=words[0],
        outputs=words[1],
        most_blocks=int(np.diff(core.kind_block).max()),
        program_tables=[(name, values, None) for name, values in tables.items()],
    )
