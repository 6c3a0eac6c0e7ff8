"""Engines: each computes the successors of states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bitwright.common.lazy import lazy_names

if TYPE_CHECKING:
    from bitwright.engines.make import make_engine as make_engine
    from bitwright.engines.protocol import Batch as Batch
    from bitwright.engines.protocol import Engine as Engine

__all__, __getattr__ = lazy_names(
    __name__, {"bitwright.engines.make": "make_engine", "bitwright.engines.protocol": "Batch Engine"}
)
