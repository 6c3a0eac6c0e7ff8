"""A network as one page: its numbers, what a program is at any size, and the scripts that run it, offline."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.api.export.claims import ExportClaim
from bitwright.api.export.js_file import core_tables, core_text
from bitwright.api.export.model import Exported
from bitwright.pages.library import plain_script, single_page
from bitwright.program.pattern import Pattern

ENGINE = ("tables", "core", "words", "wires", "answers", "machine", "prove", "breaking")
SHELL = ("history", "stage", "cells-view", "chosen", "weights", "proof")
STAGES = {
    "numbers": ("trace-view", "numbers"),
    "graph": ("graph-wires", "graph-words", "shapes", "graph"),
    "life": ("graph-wires", "graph-words", "shapes", "life"),
    "computer": ("computer",),
}


def page_text(found: Exported, claim: ExportClaim, view: str, title: str, about: Mapping[str, Any]) -> str:
    """The whole page; `about` is what its view needs besides the network."""
    facts = {"title": title, "view": view, "network": network_facts(found, claim), **about}
    start = 'const facts = JSON.parse(element("facts").textContent);\n'
    script = start + engine_text(found) + joined([*SHELL, *STAGES[view], "main"])
    return single_page(
        _asset("page/page.html").replace("{{stage}}", _asset(f"page/{view}.html")),
        _asset("page/page.css"),
        script,
        facts,
    )


def engine_text(found: Exported) -> str:
    """The scripts that run and judge the network, without a page."""
    core = found.core
    tables = (f"const {name} = arrayFrom(facts.network.tables.{name});" for name, _, _ in core_tables(core))
    own = core_text(core, " * The network of this page.", tables)
    return plain_script([own if name == "core" else _script(name) for name in ENGINE])


def joined(names: Sequence[str]) -> str:
    """Scripts of the page, one after the other."""
    return "\n".join(_script(name) for name in names)


def network_facts(found: Exported, claim: ExportClaim) -> dict[str, Any]:
    """The numbers of the network, and what the rules say of its ports, by which it is judged."""
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


def _port_examples(pattern: Pattern) -> list[list[int]]:
    """For each port the examples that write it."""
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
