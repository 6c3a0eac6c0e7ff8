"""The parts of an algorithm: named bits, blocks, templates, the frozen Program, and the rule text."""

from typing import TYPE_CHECKING

from bitwright.lazy import lazy_names
from bitwright.program.algorithm import FIXED_POINT, Algorithm, Word
from bitwright.program.builder import Builder, word
from bitwright.program.families import Families
from bitwright.program.layout import Field, Layout
from bitwright.program.program import Program
from bitwright.program.references import Bits, Condition, Ref, grid, span
from bitwright.program.text import parse, parse_node_program
from bitwright.program.text.files import load
from bitwright.program.trace import Trace

if TYPE_CHECKING:
    from bitwright.program.graph.node_program import GraphAlgorithm as GraphAlgorithm
    from bitwright.program.graph.node_program import NodeProgram as NodeProgram
    from bitwright.program.graph.node_program import NodeSchema as NodeSchema
    from bitwright.program.graph.topology import Topology as Topology

_, __getattr__ = lazy_names(
    __name__,
    {
        "bitwright.program.graph.node_program": "GraphAlgorithm NodeProgram NodeSchema",
        "bitwright.program.graph.topology": "Topology",
    },
)
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
