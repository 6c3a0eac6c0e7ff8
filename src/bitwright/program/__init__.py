"""What an algorithm is made of: named bits, blocks, templates, the frozen Program, and the rule text."""

from bitwright.program.algorithm import FIXED_POINT, Algorithm, Word
from bitwright.program.builder import Bits, Builder, Ref, grid, span, word
from bitwright.program.layout import Field, Layout
from bitwright.program.program import Program
from bitwright.program.text import parse
from bitwright.program.text.files import load

__all__ = [
    "FIXED_POINT",
    "Algorithm",
    "Bits",
    "Builder",
    "Field",
    "Layout",
    "Program",
    "Ref",
    "Word",
    "grid",
    "load",
    "parse",
    "span",
    "word",
]
