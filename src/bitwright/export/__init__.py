"""A network of integers as source text of other languages, which needs nothing of ours to run: C99, JavaScript."""

from bitwright.export.c_file import c_text
from bitwright.export.claims import ExportClaim, claim_of
from bitwright.export.js_file import js_text, js_types
from bitwright.export.model import Exported, exported_cells

__all__ = ["ExportClaim", "Exported", "c_text", "claim_of", "exported_cells", "js_text", "js_types"]
