"""A page of a run from its parts: its body, its scripts, and its compressed arrays."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitwright.pages.library import single_page

_PICTURES = {
    "trace": ("program", "rows", "view", "panel", "controls"),
    "graph": ("graph-state", "graph-view", "graph-panel", "graph-controls"),
}


@dataclass(frozen=True)
class LiveParts:
    """What a page needs that makes its own run: scripts before and among its own, and what is around its picture."""

    engine: str = ""
    scripts: str = ""
    above: str = ""
    beside: str = ""


_RECORDED = LiveParts()


def assemble(picture: str, facts: Mapping[str, object], data: bytes = b"", live: LiveParts = _RECORDED) -> str:
    """The page of a run, recorded or live, whose picture is a `trace` or a `graph`."""
    body = _asset(f"{picture}.html")
    for place, text in (("steps", _asset("steps.html")), ("above", live.above), ("beside", live.beside)):
        body = body.replace(f"{{{{{place}}}}}", text)
    *own, controls = (_asset(f"{name}.js") for name in _PICTURES[picture])
    script = "\n".join([_asset("data.js"), _asset("player.js"), live.engine, *own, live.scripts, controls])
    return single_page(body, _asset("trace.css"), script, facts, data)


def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text("utf-8")


class Blob:
    """Collects arrays, then compresses them together; `directory` says what lies where and how to undo the coding."""

    def __init__(self) -> None:
        self.directory: list[tuple[str, str, int]] = []  # name, coding, bytes
        self._parts: list[bytes] = []

    def deltas(self, name: str, rows: NDArray[np.uint8]) -> None:
        """States: every row as what changed since the row before, which is mostly nothing."""
        changed = rows.copy()
        changed[1:] ^= rows[:-1]
        self._add(name, f"xor{rows.shape[1]}", changed)

    def integers(self, name: str, values: ArrayLike) -> None:
        """Integers below 2^31, as differences."""
        numbers = np.asarray(values, dtype=np.int64)
        self._add(name, "sum", np.diff(numbers, prepend=0).astype("<i4"))

    def reals(self, name: str, values: ArrayLike, single: bool = False) -> None:
        """Real numbers, in double precision or single."""
        self._add(name, "f4" if single else "f8", np.asarray(values, dtype="<f4" if single else "<f8"))

    def packed(self) -> bytes:
        """Everything, by zlib's deflate, which browsers undo themselves. Arrays start at multiples of 8 bytes."""
        return zlib.compress(b"".join(self._parts), 9 if sum(map(len, self._parts)) < 1 << 24 else 6)

    def _add(self, name: str, coding: str, values: NDArray[np.generic]) -> None:
        data = values.tobytes()
        self.directory.append((name, coding, len(data)))
        self._parts.append(data + bytes(-len(data) % 8))
