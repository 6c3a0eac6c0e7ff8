"""What a proof speaks of: a network, and the program, or the pattern of its cells, that it is proved for."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from bitwright.engines.cells.trained import TrainedCells, as_algorithm, check_made_for, load_cells, pattern_in
from bitwright.engines.cells.wiring import tile_of
from bitwright.errors import InputError
from bitwright.networks import AnyNetwork, FloatNetwork, IntegerNetwork, load_any_network
from bitwright.networks.members import network_files
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.program.given import by_its_cells

Provable = str | PathLike[str] | AnyNetwork | TrainedCells


def to_be_proved(what: Algorithm | Program | NodeProgram, network: Any) -> tuple[Algorithm, AnyNetwork]:
    """The network, and what it is proved for: the program, or the pattern where it is one of cells of the program.

    The network is a `Provable`, or a Network of the service layer. Raises InputError where the program
    has a cell of another kind, or the network is for another program.
    """
    algorithm, *others = by_its_cells(what)
    if isinstance(network, str | PathLike):
        file = one_file(Path(network))
        if (pattern := pattern_in(file)) is None:
            return algorithm, load_any_network(file, algorithm.program)
        (held,) = load_cells([file], pattern)
    elif isinstance(network, TrainedCells):
        pattern, held = network.pattern, network.network
    elif isinstance(getattr(network, "weights", None), AnyNetwork):  # a Network of the service layer
        if network.pattern is None:
            return to_be_proved(what, network.weights)
        pattern, held = network.pattern, network.weights
    elif isinstance(network, FloatNetwork | IntegerNetwork):
        check_made_for(network, algorithm.program)
        return algorithm, network
    else:
        raise InputError(f"give one network, or the path of its file, got a {type(network).__name__}")
    for one in (algorithm, *others):
        if one.program != pattern.program:
            tile_of(one.program, pattern)  # refuses cells of other kinds
    return as_algorithm(pattern, algorithm.name), held


def one_file(path: Path) -> Path:
    """The file of one network; raises InputError for a folder of several."""
    files = network_files(path)
    if len(files) > 1:
        raise InputError(f"{path} holds several networks; quantize makes one of them, which can be proved")
    return files[0]
