"""Exports integer networks as standalone C99 or JavaScript source, ONNX, VNN-LIB, Rocq or a web page."""

from bitwright.exports.c import c_text
from bitwright.exports.claims import ExportClaim, claim_of
from bitwright.exports.javascript import js_text, js_types
from bitwright.exports.model import Exported, exported_cells

__all__ = ["ExportClaim", "Exported", "c_text", "claim_of", "exported_cells", "js_text", "js_types"]
