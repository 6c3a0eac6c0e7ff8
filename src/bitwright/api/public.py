"""Proofs and checks, as Python programs ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from bitwright.api.arguments import check_no_network, pattern_asked
from bitwright.api.engines import EngineChoice
from bitwright.api.notes import say_compiling
from bitwright.api.run import engine_for
from bitwright.bits import whole_number
from bitwright.engines.protocol import Engine
from bitwright.errors import InputError
from bitwright.files.storage import as_path
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.program.given import as_algorithm, by_its_cells
from bitwright.running.progress import Progress, as_progress

if TYPE_CHECKING:
    from bitwright.checking.certificate import Certificate
    from bitwright.checking.validation import Validation
    from bitwright.checking.validation.given import Given
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


def ensemble_sizes(
    what: Algorithm | Program,
    delta: float = 0.01,
    *,
    scope: str = "inputs",
    masked: bool = True,
    n: str | None = None,
    padding: int | None = None,
    cells: bool = False,
    tile: int = 1,
) -> dict[str, Any]:
    """How many networks must be averaged to be wrong with probability at most `delta`, for each rounding.

    `scope` is what shall come out right: one `input`, all `inputs`, or all steps of all `runs`. Unless `masked`, the
    sign rule guesses bits that nothing writes, as in the paper. With `cells` these are networks of the program's cells.

    >>> from bitwright import addition
    >>> ensemble_sizes(addition(10))["calibrated"]["networks"]
    50
    >>> ensemble_sizes(addition(10), cells=True)["calibrated"]["networks"]
    2
    """
    from bitwright.checking.ranges import matches_range
    from bitwright.theory import check_scope, sizes

    algorithm = as_algorithm(what)
    asked = check_scope(scope)
    if (pattern := pattern_asked([algorithm], cells, tile, n, padding)) is not None:
        from bitwright.checking.cells import cell_sizes

        if not masked:
            raise InputError("masked is for whole states; leave it out, or cells")
        return cell_sizes(pattern, delta, asked, padding=padding)
    if n == "reachable":
        say_compiling()
    return sizes(algorithm, delta, asked, matches_range(algorithm, n), padding=padding, masked=masked)


def validate(
    what: Algorithm | Program,
    *,
    oracle: Given | None = None,
    oracle_arrays: Given | None = None,
    engine: str | Engine | None = None,
    network: Networks | None = None,
    random: int | None = None,
    sample_seed: int = 0,
    limit: int | None = None,
    workers: str | int = "1",
    resume: str | PathLike[str] | None = None,
    progress: Progress | bool | None = None,
    **settings: Any,
) -> Validation:
    """Runs every input (or `random` ones) through an engine, and compares every step with the rules.

    Without an engine's name it is `network` where a network is given, else `limit`.

    Outputs are compared with an oracle; without one, with what the rules give. It is any function that takes the inputs
    by name and gives the output, or a dictionary of outputs; None where a run never ends. `oracle_arrays` is one that
    takes NumPy arrays of inputs, which is much faster. With several workers, or a file to `resume` from, the function
    is in a file, and named as "module:function". `progress` is True for lines on standard error, or a function of the
    inputs done and of all.

    >>> from bitwright import addition
    >>> validate(addition(3), oracle=lambda p, q: p + q).verdict
    'exact'
    >>> validate(addition(3), oracle_arrays=lambda p, q: p | q).tally.failures[0].inputs
    {'p': 1, 'q': 1}
    """
    from bitwright.checking import validation
    from bitwright.workers import Workers

    algorithm = as_algorithm(what)
    chosen = engine_for(algorithm, engine, network, settings, default="limit")
    for name, value in (("random", random), ("sample_seed", sample_seed)):
        if value is not None:
            whole_number(value, name)
    file = None if resume is None else as_path(resume, "the file to resume from")
    asked = validation.given_oracle(algorithm, oracle, oracle_arrays)
    task = validation.make_task(algorithm, chosen, asked, random, sample_seed, limit)
    if task.sliced:
        say_compiling()
    who = Workers.parse(str(workers), str(settings.get("device", "cpu")))
    return validation.validate(task, who, as_progress(progress, "inputs"), file)
