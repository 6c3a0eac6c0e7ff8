"""What the local page needs: programs and graphs from typed text or a drawing, and training with a curve of the error.

Nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bitwright.common.bits import parse_signed
from bitwright.common.errors import InputError, option, shorten
from bitwright.graphs.named import NamedGraph
from bitwright.machines import assemble
from bitwright.machines.programs import SubleqProgram, on_machine_v, on_sbn_machine
from bitwright.machines.subleq import assemble_sq, parse_image
from bitwright.networks import FloatNetwork, History, Recipe, train
from bitwright.networks.descent import expected_steps
from bitwright.networks.store import network_bytes
from bitwright.proofs.exhaustion.certificate import covered_by_cells
from bitwright.proofs.width import suggested_width
from bitwright.rules import Algorithm, NodeProgram, Program, Topology, parse
from bitwright.rules.graph.node_program import check_graph
from bitwright.rules.graph.schema import Schema
from bitwright.rules.graph.wiring import GraphWiring
from bitwright.rules.pattern import Pattern, pattern_of
from bitwright.rules.text import parse_node_program
from bitwright.verbs.cells import check_divides, train_on_pattern, train_smallest
from bitwright.verbs.network import Network
from bitwright.verbs.open import check_tile


def pasted_rules(text: str, name: str) -> Algorithm:
    """Parses rule text; raises ProgramError with all its problems."""
    return parse(_plain(text), name)


def pasted_nodes(text: str, name: str) -> NodeProgram:
    """Parses the rule text of a node program; raises ProgramError with all its problems."""
    return parse_node_program(_plain(text), name)


def pasted_sbn(text: str, name: str, machine: str) -> Algorithm:
    """Assembles SBN code for machine A or B."""
    return on_sbn_machine(assemble(_plain(text), name), machine)


def pasted_image(
    check: Callable[[int, int], None],
    text: str,
    name: str,
    language: str,
    words: int | None,
    width: int | None,
    dialect: str | None,
) -> SubleqProgram:
    """Assembles SUBLEQ code, or reads an `image`; for settings that are None, the text decides.

    `check` may reject a number of words of some width before the machine, which may be large, is built.
    """
    source = parse_image(_plain(text)) if language == "image" else assemble_sq(_plain(text))
    return on_machine_v(source, name, words, width, dialect, check)


def drawn_graph(names: Sequence[str], edges: Sequence[Sequence[int]], directed: bool) -> NamedGraph:
    """Returns a graph of named nodes, with edges given by their endpoints' numbers; raises InputError if invalid."""
    if not names:
        raise InputError("a graph needs at least one node; add one")
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise InputError(f"two nodes are called '{twice}'; give one of them another name")
    seen: set[tuple[int, int]] = set()
    for one, other in edges:
        if not (0 <= one < len(names) and 0 <= other < len(names)):
            raise InputError(f"an edge joins two of the {len(names):,} nodes, numbered from 0, got {[one, other]}")
        ends = (one, other) if directed else (min(one, other), max(one, other))
        if ends in seen:
            raise InputError(f"there are two edges between '{names[one]}' and '{names[other]}'; leave out one of them")
        seen.add(ends)
    return NamedGraph(Topology.from_edges(len(names), edges, directed), tuple(names))


def whole_program(program: NodeProgram, graph: NamedGraph) -> tuple[Algorithm, Schema]:
    """Returns a node program on a graph, with no input values yet, and the schema that lists its inputs."""
    topology = graph.topology
    schema = program.schema(topology.nodes, topology.ports)
    check_graph(program.name, schema, topology, graph.names)
    return Algorithm(program.name, GraphWiring(schema, topology).program), schema


def numbers_of(texts: Mapping[str, str]) -> dict[str, int]:
    """Parses typed input values by name: decimal, negative, 0x or 0b."""
    return {name: parse_signed(text, f"input {shorten(name)}") for name, text in texts.items()}


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff")


TOLERANCE = Recipe.tolerance
MOST_POINTS = 400  # of the curve of an error; neighbours are left out beyond it
Curve = list[tuple[int, float]]  # steps of a training, and the largest error
Report = Callable[[int, int, int, Curve], None]  # the width, steps made, how many there may be, and the curve so far


def cells_of(what: Algorithm | NodeProgram | SubleqProgram, tile: object = 1) -> tuple[Pattern, str]:
    """Returns the pattern of a program's cells, and a description of what a network that is correct on them runs.

    Args:
        what: the program.
        tile: the number of neighbouring cells treated as one, or "all" for the whole state.
    """
    tile = check_tile(tile)
    if isinstance(what, Algorithm):
        if tile == "all":
            return pattern_of([what.program], tile), "every choice in every block"
        check_divides(what, tile)
        return pattern_of([what.program], tile), covered_by_cells()
    if tile != 1:
        raise InputError(f"networks of machine V and of node programs have single cells; {option('tile')} must be 1")
    if isinstance(what, NodeProgram):
        return Pattern.of(what.kinds), covered_by_cells(None, what.graphs)
    return pattern_of([what.machine.program]), "every image of such a machine"


def make_network(
    pattern: Pattern, runs: Algorithm | None, width: int | None, most: int, seed: int, report: Report
) -> tuple[Network, Curve]:
    """Trains a network of cells, or of the whole state of `runs`, and returns it with the curve of its error.

    If no `width` is given, it is the smallest that suffices, up to what the width law suggests, or `most`.
    """
    curves: dict[tuple[int, int], Curve] = {}

    def descend(program: Program, recipe: Recipe) -> tuple[FloatNetwork, History]:
        steps, curve = expected_steps(recipe.tolerance), Curve()

        def step(number: int, error: float) -> None:
            curve.append(_point(number, error))
            if len(curve) > MOST_POINTS:
                del curve[1::2]
            report(recipe.width, min(number, steps), steps, curve)

        network, history = train(program, recipe, step)
        every = -(-len(history.error) // MOST_POINTS)
        points = [_point(at, error) for at, error in enumerate(history.error) if at % every == 0]
        curves[recipe.seed, recipe.width] = points
        return network, history

    fit = train_on_pattern if width else train_smallest
    recipe = Recipe(width or min(suggested_width(pattern, runs), most), seed)
    network = fit(pattern, recipe, descend=descend, runs=runs)
    return network, curves[network.weights.origin.seed, network.width]


def _point(step: int, error: float) -> tuple[int, float]:
    return step, float(f"{error:.4g}")


def network_file(network: Network) -> bytes:
    """Returns the .safetensors file of a network."""
    assert network.program is not None
    return network_bytes(network.weights, network.program)
