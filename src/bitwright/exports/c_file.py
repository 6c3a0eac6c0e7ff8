"""A network, and a program, as one C99 file without a library, without allocation, with all sizes as constants."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitwright.exports.claims import ExportClaim, about_lines
from bitwright.exports.model import Core, Exported, WiresOut
from bitwright.exports.text import ending_of, filled, most_digits, number_lines, unsigned_bits

_NO_PROGRAM = """#ifdef BW_MAIN
#error "this file has a network of cells and no program to run; bitwright export --program NAME adds one"
#endif
"""


def c_text(found: Exported, claim: ExportClaim) -> str:
    """The whole file."""
    core, wires = found.core, found.wires
    index = f"uint{unsigned_bits(len(core.configuration))}_t"
    parts = [filled("core.c", _core_pieces(found, claim, index))]
    if wires is not None:
        parts += [filled("program.c", _program_pieces(core, wires)), filled("main.c", {})]
    else:
        parts.append(_NO_PROGRAM)
    return "\n".join(parts)


def _core_pieces(found: Exported, claim: ExportClaim, index: str) -> dict[str, object]:
    core = found.core
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
        _table("bw_first", core.first, "int8_t"),
        _table("bw_last", core.last, "int8_t"),
        _table("bw_threshold", core.thresholds, "bw_sum"),
        _table("bw_port_column", core.column),
        _table("bw_kind_block", core.kind_block),
        _table("bw_kind_port", core.kind_port),
        _table("bw_block_example", core.block_example),
        _table("bw_configuration", core.configuration),
    ]
    return {
        "about": "\n".join(f" * {line}".rstrip() for line in about_lines(found, claim)),
        "program": "" if found.wires is None else "\n" + filled("program.h", {"words": _words_enum(found.wires)}),
        "sizes": _defines(sizes),
        "sum": f"int{core.bits}_t",
        "index": index,
        "tables": "\n".join(tables),
    }


def _program_pieces(core: Core, wires: WiresOut) -> dict[str, object]:
    algorithm = wires.algorithm
    named = [*algorithm.inputs, *algorithm.outputs]
    words = [algorithm.start, *(word.bits for word in named)]
    how, steps, halt = ending_of(algorithm)
    longest = max(map(len, words[1:]), default=1)
    sizes = {
        "CELLS": len(wires.cell_kind),
        "STEPS": steps,
        "MOST_DIGITS": most_digits(longest),
        "MOST_WORD": longest,
    }
    tables = [
        _table("bw_block_bits", core.block_bits),
        _table("bw_cell_kind", wires.cell_kind),
        _table("bw_cell_bit", wires.cell_bit),
        _table("bw_wire_start", wires.wire_start),
        _table("bw_wire_bit", wires.wire_bit),
        _table("bw_word_start", np.cumsum([0, *map(len, words)])),
        _table("bw_word_bit", np.array([bit for word in words for bit in word], dtype=np.int64)),
    ]
    return {
        "bits": algorithm.program.bits,
        "sizes": _defines(sizes),
        "tables": "\n".join(tables),
        "ending": filled(f"ending_{how}.c", {"bit": halt}),
        "names": ", ".join(f'"{name}"' for name in ("start", *(word.name for word in named))),
        "signed": ", ".join(str(int(one)) for one in (False, *(word.signed for word in named))),
    }


def _words_enum(wires: WiresOut) -> str:
    algorithm = wires.algorithm
    inputs = [f"    BW_INPUT_{word.name}," for word in algorithm.inputs]
    outputs = [f"    BW_OUTPUT_{word.name}," for word in algorithm.outputs]
    first = 1 + len(inputs)
    return "\n".join(
        [
            f"#define BW_BITS {algorithm.program.bits}",
            f"#define BW_FIRST_OUTPUT {first}",
            f"#define BW_WORDS {first + len(outputs)}",
            "enum bw_word {",
            "    BW_START,",
            *inputs,
            *outputs,
            "    BW_NO_WORD",
            "};",
        ]
    )


def _table(name: str, values: NDArray[np.integer], kind: str | None = None) -> str:
    """An array; C has none without elements, so an empty one has a 0 that nothing reads."""
    values = values if values.size else np.zeros(1, dtype=np.int64)
    kind = kind or f"uint{unsigned_bits(int(values.max()))}_t"
    return f"static const {kind} {name}[{values.size}] = {{\n{number_lines(values)}\n}};"


def _defines(sizes: dict[str, int]) -> str:
    return "\n".join(f"#define BW_{name} {value}" for name, value in sizes.items())
