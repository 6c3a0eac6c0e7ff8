"""Writes a network as one offline page: its weights, a program's wiring, and the scripts that run it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.exports.claims import ExportClaim
from bitwright.exports.javascript import core_tables, core_text
from bitwright.exports.model import Exported
from bitwright.exports.templates import ending_of
from bitwright.pages.library import plain_script
from bitwright.pages.page import Blob, LiveParts, assemble
from bitwright.rules.pattern import Pattern

ENGINE = ("tables", "core", "words", "wires", "answers", "machine", "prove", "breaking")
PICTURES = {"numbers": "trace", "graph": "graph", "computer": "trace"}


def page_text(
    found: Exported, claim: ExportClaim, view: str, title: str, about: Mapping[str, Any], blob: Blob | None = None
) -> str:
    """Returns the page; `about` and the arrays in `blob` are the data that its view needs besides the network."""
    facts = {"title": title, "steps": 0, "halted": True, "network": network_facts(found, claim), **about}
    facts["wiring"] = program_facts(found)
    above = _asset("page/live.html")
    above = above.replace("{{buttons}}", _asset("page/life.html") if about.get("board") else "")
    above = above.replace("{{console}}", _asset("page/computer.html") if view == "computer" else "")
    live = LiveParts(engine_text(found), joined(["live", "proof", "weights", view]), above, _asset("page/beside.html"))
    if blob is None:
        return assemble(PICTURES[view], facts, b"", live)
    return assemble(PICTURES[view], {**facts, "arrays": blob.directory}, blob.packed(), live)


def engine_text(found: Exported) -> str:
    """Returns the scripts that run and judge the network, without a page."""
    own = core_text(found.core, ["The network of this page."], page=True)
    return plain_script([own if name == "core" else _script(name) for name in ENGINE])


def joined(names: Sequence[str]) -> str:
    """Concatenates scripts of the page."""
    return "\n".join(_script(name) for name in names)


def network_facts(found: Exported, claim: ExportClaim) -> dict[str, Any]:
    """Returns the network's weights, and the rules for its ports, by which it is judged."""
    network, core = found.network, found.core
    tables = {name: _packed(values, kind) for name, values, kind in core_tables(core)}
    tables["blockBits"] = _packed(core.block_bits, "Uint8Array")
    return {
        "tables": tables,
        "portExamples": _port_examples(found.pattern),
        "units": [float(unit) for unit in network.units],
        "mostMatches": len(network.thresholds),
        "sha256": network.digest,
        "width": network.shape.width,
        "cells": found.pattern.whole is None,
        "note": claim.note,
        "proved": claim.proved,
    }


def program_facts(found: Exported) -> dict[str, Any]:
    """Returns the words of a program, how it ends, and the kind, bits and wires of each cell."""
    assert found.wires is not None
    wires, algorithm = found.wires, found.wires.algorithm
    how, steps, halt = ending_of(algorithm)
    words = {
        name: [[word.name, word.signed, [*map(int, word.bits)]] for word in given]
        for name, given in (("inputs", algorithm.inputs), ("outputs", algorithm.outputs))
    }
    tables = {
        "cellKind": _packed(wires.cell_kind, "Uint16Array"),
        "cellBit": _packed(wires.cell_bit, "Int32Array"),
        "wireStart": _packed(wires.wire_start, "Int32Array"),
        "wireBit": _packed(wires.wire_bit, "Int32Array"),
    }
    return {
        "fields": [[field.name, list(field.shape)] for field in algorithm.program.layout.fields],
        **words,
        "startBit": [*map(int, algorithm.start)],
        "ending": how,
        "steps": steps,
        "haltBit": halt,
        "tables": tables,
    }


def _port_examples(pattern: Pattern) -> list[list[int]]:
    """Returns the examples that write each port."""
    program, own = pattern.program, (pattern.port_bits(kind) for kind in range(len(pattern.kinds)))
    bits = [bit for part in own for bit in range(part.start, part.stop)]
    place = {bit: at for at, bit in enumerate(bits)}
    written: list[list[int]] = [[] for _ in bits]
    for template in range(program.templates):
        for bit in program.writes(template).tolist():
            written[place[bit]].append(template)
    return written


_TYPES = {
    "Int8Array": "<i1",
    "Uint8Array": "<u1",
    "Uint16Array": "<u2",
    "Uint32Array": "<u4",
    "Int32Array": "<i4",
    "Float64Array": "<f8",
}


def _packed(values: NDArray[np.integer], kind: str) -> tuple[str, str]:
    return kind, b64encode(np.ascontiguousarray(values).astype(_TYPES[kind]).tobytes()).decode()


def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text("utf-8")


def _script(name: str) -> str:
    return _asset(f"{name}.mjs" if name == "words" else f"page/{name}.mjs")
