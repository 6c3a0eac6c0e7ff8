"""What an algorithm is made of: named bits, blocks, templates, the frozen Program, and the rule text."""

from bitwright.program.algorithm import FIXED_POINT, Algorithm, Word
from bitwright.program.builder import Builder, word_of
from bitwright.program.families import Families
from bitwright.program.graph.node_program import GraphAlgorithm, NodeProgram, NodeSchema
from bitwright.program.graph.topology import Topology
from bitwright.program.layout import Field, Layout
from bitwright.program.program import Program
from bitwright.program.references import Bits, Condition, Ref, index_grid, index_range
from bitwright.program.text import parse, parse_node_program
from bitwright.program.text.files import load
from bitwright.program.trace import Trace

# Short names, for rules in Python that should read like the paper's boxes.
span, grid, word = index_range, index_grid, word_of

__all__ = [
    "FIXED_POINT",
    "Algorithm",
    "Bits",
    "Builder",
    "Condition",
    "Families",
    "Field",
    "GraphAlgorithm",
    "Layout",
    "NodeProgram",
    "NodeSchema",
    "Program",
    "Ref",
    "Topology",
    "Trace",
    "Word",
    "grid",
    "index_grid",
    "index_range",
    "load",
    "parse",
    "parse_node_program",
    "span",
    "word",
    "word_of",
]
