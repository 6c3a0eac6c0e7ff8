"""The parts of an algorithm: named bits, blocks, templates, the frozen Program, and the rule text."""

from bitwright.program.algorithm import FIXED_POINT, Algorithm, Word
from bitwright.program.builder import Builder, word
from bitwright.program.families import Families
from bitwright.program.graph.node_program import GraphAlgorithm, NodeProgram, NodeSchema
from bitwright.program.graph.topology import Topology
from bitwright.program.layout import Field, Layout
from bitwright.program.program import Program
from bitwright.program.references import Bits, Condition, Ref, grid, span
from bitwright.program.text import parse, parse_node_program
from bitwright.program.text.files import load
from bitwright.program.trace import Trace

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
    "load",
    "parse",
    "parse_node_program",
    "span",
    "word",
]
