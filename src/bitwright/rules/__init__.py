"""The parts of an algorithm: named bits, blocks, templates, the frozen Program, and the rule text."""

from typing import TYPE_CHECKING

from bitwright.common.lazy import lazy_names
from bitwright.rules.algorithm import FIXED_POINT, Algorithm, Word
from bitwright.rules.families import Families
from bitwright.rules.layout import Field, Layout
from bitwright.rules.program import Program
from bitwright.rules.references import Bits, Condition, Ref, grid, span
from bitwright.rules.text import load, parse, parse_node_program
from bitwright.rules.trace import Trace

if TYPE_CHECKING:
    from bitwright.rules.builder import Builder as Builder
    from bitwright.rules.builder import word as word
    from bitwright.rules.graph.node_program import GraphAlgorithm as GraphAlgorithm
    from bitwright.rules.graph.node_program import NodeProgram as NodeProgram
    from bitwright.rules.graph.node_program import NodeSchema as NodeSchema
    from bitwright.rules.graph.schema import Topology as Topology

_, __getattr__ = lazy_names(
    __name__,
    {
        "bitwright.rules.builder": "Builder word",
        "bitwright.rules.graph.node_program": "GraphAlgorithm NodeProgram NodeSchema",
        "bitwright.rules.graph.schema": "Topology",
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
