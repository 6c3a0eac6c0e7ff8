"""Proofs and checks, as Python programs ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from bitwright.api.arguments import check_no_network, pattern_asked
from bitwright.api.engines import EngineChoice
from bitwright.api.notes import say_compiling
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.program.given import by_its_cells
from bitwright.running.progress import Progress, as_progress

if TYPE_CHECKING:
    from bitwright.checking.certificate import Certificate
    from bitwright.engines.cells.trained import TrainedCells
    from bitwright.networks import AnyNetwork

    Networks = str | PathLike[str] | AnyNetwork | TrainedCells | Sequence[str | PathLike[str] | AnyNetwork]


def certify(
    what: Algorithm | Program | NodeProgram | Sequence[Algorithm],
    rounding: str = "calibrated",
    *,
    n: str | None = None,
    padding: int | None = None,
    cells: bool = False,
    tile: int = 1,
    progress: Progress | bool | None = None,
) -> Certificate:
    """Proves or refutes that the limit makes every step right; K and n are those of a run with the same settings.

    `n` says how the number of matches is bounded: `blocks` (proved, the default), `declared` (an assumption, which the
    certificate then names) or `reachable` (met in the runs of all inputs). With `cells` the limit is that of networks
    of the program's cells: n is a cell's own. A node program is certified by its cells, for its
    `graphs`. So are several sizes, given as a list: the kinds of all of them are those of one proof.

    >>> from bitwright import multiplication
    >>> certify(multiplication(10)).sentence
    'certified'
    >>> certify([multiplication(bits) for bits in range(1, 9)], cells=True).sentence
    'certified'
    """
    from bitwright.checking.certificate import certify as prove
    from bitwright.checking.ranges import matches_range
    from bitwright.theory.rounding import check_rounding

    check_no_network(rounding, cells)
    told, chosen = as_progress(progress, "checking"), check_rounding(rounding)
    several: Sequence[Any] = what if isinstance(what, list | tuple) else [what]
    algorithms = [algorithm for one in several for algorithm in by_its_cells(one)]
    cells = cells or any(isinstance(one, NodeProgram) for one in several)
    if (pattern := pattern_asked(algorithms, cells, tile, n, padding)) is not None:
        from bitwright.checking.cells import certify_cells

        return certify_cells(pattern, chosen, pattern.program.templates + (padding or 0), told)
    (algorithm,) = algorithms
    examples = EngineChoice(rounding=chosen, padding=padding).examples(algorithm)
    if n == "reachable":
        say_compiling()
    return prove(algorithm.program, chosen, matches_range(algorithm, n, told), examples, told)
