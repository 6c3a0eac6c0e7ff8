"""Writes a network, optionally with a program, as a single C99 file without libraries, allocation or dynamic sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitwright.exports.claims import ExportClaim, about_lines
from bitwright.exports.model import Core, Exported, WiresOut
from bitwright.exports.templates import ending_of, filled


def c_text(found: Exported, claim: ExportClaim) -> str:
    """Returns the text of the file."""
    core, wires = found.core, found.wires
    index = np.array([len(core.configuration)])
    pieces = {"algorithm": None} if wires is None else _program(core, wires)
    sizes = {
        "WIDTH": core.first.shape[0],
        "EXAMPLES": core.first.shape[1],
        "KINDS": len(core.kind_block) - 1,
        "PORTS": core.last.shape[1],
        "COLUMNS": core.thresholds.shape[1],
        "MOST_BLOCKS": int(np.diff(core.kind_block).max()),
        "MOST_PORTS": max(1, int(np.diff(core.kind_port).max())),
    }
    tables = [
        ("bw_first", core.first, "int8_t"),
        ("bw_last", core.last, "int8_t"),
        ("bw_threshold", core.thresholds, "bw_sum"),
        ("bw_port_column", core.column, None),
        ("bw_kind_block", core.kind_block, None),
        ("bw_kind_port", core.kind_port, None),
        ("bw_block_example", core.block_example, None),
        ("bw_configuration", core.configuration, None),
    ]
    about = about_lines(found, claim)
    return filled("file.c", about=about, sizes=sizes, sum=f"int{core.bits}_t", index=index, tables=tables, **pieces)


def _program(core: Core, wires: WiresOut) -> dict[str, Any]:
    """Returns the sizes, tables and words of a program."""
    algorithm = wires.algorithm
    named = [*algorithm.inputs, *algorithm.outputs]
    words = [algorithm.start, *(word.bits for word in named)]
    how, steps, halt = ending_of(algorithm)
    longest = max(map(len, words[1:]), default=1)
    return {
        "algorithm": algorithm,
        "words": named,
        "ending": how,
        "halt": halt,
        "program_sizes": {
            "CELLS": len(wires.cell_kind),
            "STEPS": steps,
            "MOST_DIGITS": longest * 30103 // 100000 + 1,  # log10(2) is below 0.30103
            "MOST_WORD": longest,
        },
        "program_tables": [
            ("bw_block_bits", core.block_bits, None),
            ("bw_cell_kind", wires.cell_kind, None),
            ("bw_cell_bit", wires.cell_bit, None),
            ("bw_wire_start", wires.wire_start, None),
            ("bw_wire_bit", wires.wire_bit, None),
            ("bw_word_start", np.cumsum([0, *map(len, words)]), None),
            ("bw_word_bit", np.array([bit for word in words for bit in word], dtype=np.int64), None),
        ],
    }
