"""Networks, as Python programs ask for them: trained, rounded, loaded and proved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.app.arguments import check_options
from bitwright.app.public import as_algorithm, by_its_cells
from bitwright.errors import InputError
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.running.observers import Progress

if TYPE_CHECKING:
    from bitwright.app.cells import TrainedCells
    from bitwright.app.learning import Source
    from bitwright.checking.exhaustion import NetworkCertificate
    from bitwright.networks import AnyNetwork, IntegerNetwork, Network


_PLAN = ("tolerance", "momentum", "balanced", "parametrization", "rate", "most_steps")
_RECIPE = ("member", "start", "trainer", "device", "precision", "threads")


def train(
    what: Algorithm | Program,
    *,
    width: int | None = None,
    seed: int = 0,
    padding: int = 0,
    source: Source | None = None,
    runs: int | None = None,
    states: int | None = None,
    labels: str | None = None,
    sample_seed: int | None = None,
    progress: Callable[[int, float], None] | None = None,
    **more: Any,
) -> Network:
    """One network trained on the templates; `more` are the other parts of a `Recipe` and of its `Plan`.

    With a `source` it learns from executions and never sees a template alone: `runs` (states that runs meet), `states`
    (random ones), a .npz file, or what `executions` gives. `runs` asks for every step of so many runs, `states` for so
    many states; `labels` are "scaled" or "plain", and `sample_seed` says which inputs or states.

    >>> from bitwright import addition
    >>> network = train(addition(2), width=512)
    >>> network.shape.inputs, network.shape.width
    (8, 512)
    >>> train(addition(2), source="runs", runs=10, width=512).origin.executions.examples
    9
    """
    from bitwright import networks
    from bitwright.app.learning import TOLERANCE, set_of_whole, wanted_of
    from bitwright.checking.width import suggested_width

    known = ("width", "seed", "padding", "source", "runs", "states", "labels", "sample_seed", "progress")
    check_options(more, (*known, *_PLAN, *_RECIPE), "train")
    algorithm = as_algorithm(what)
    executions = set_of_whole(algorithm, wanted_of(source, runs, states, labels, sample_seed), padding)
    plan = {name: more.pop(name) for name in _PLAN if name in more}
    if executions is not None:
        plan = {"tolerance": TOLERANCE, **plan}
    recipe = networks.Recipe(
        suggested_width(algorithm, padding) if width is None else width,
        seed,
        padding=padding,
        plan=networks.Plan(**{"momentum": not plan.get("balanced", False), **plan}),
        **more,
    )
    return networks.train(algorithm.program, recipe, progress, executions)[0]


def train_cells(
    *what: Algorithm | Program | NodeProgram,
    tile: int = 1,
    width: int | None = None,
    seed: int = 0,
    weight_bits: int = 8,
    seeds: int = 10,
    source: Source | None = None,
    runs: int | None = None,
    states: int | None = None,
    labels: str | None = None,
    sample_seed: int | None = None,
) -> TrainedCells:
    """One small network of whole numbers for the cells of these programs, which runs all programs of their kinds.

    Of a node program these are the same on every graph.

    It is looked at in every local state; where one is wrong the next of so many `seeds` is tried. With a `source` it
    learns from executions, as in `train`.

    >>> from bitwright import multiplication, run
    >>> cells = train_cells(multiplication(2), multiplication(6))
    >>> run(multiplication(20), multiplicand=719483, multiplier=483719, network=cells).value == 719483 * 483719
    True
    >>> train_cells(multiplication(3), source="states", states=600, width=1024).proved
    True
    """
    from bitwright.app.cells import pattern_of, train_on_pattern
    from bitwright.app.learning import TOLERANCE, WIDER, train_cells_on, wanted_of
    from bitwright.checking.width import suggested_cells_width
    from bitwright.networks import Plan, Recipe

    if not what:
        raise InputError("give at least one program, whose cells the network is for")
    for name, value, most in (("tile", tile, 16), ("seeds", seeds, 1_000)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise InputError(f"{name} is a whole number from 1 to {most:,}, got {value!r}")
    asked = wanted_of(source, runs, states, labels, sample_seed)
    algorithms = [
        one for each in what for one in (each.schemas() if isinstance(each, NodeProgram) else [as_algorithm(each)])
    ]
    pattern = pattern_of([one.program for one in algorithms], tile)
    own = suggested_cells_width(pattern) if width is None else width
    if asked is None:
        return train_on_pattern(pattern, Recipe(own, seed, plan=Plan(momentum=True)), weight_bits, seeds)
    recipe = Recipe(WIDER * own if width is None else own, seed, plan=Plan(TOLERANCE, momentum=True))
    return train_cells_on(pattern, algorithms, asked, tile, recipe, weight_bits=weight_bits, seeds=seeds)


def quantize(what: Algorithm | Program, network: Network | Sequence[Network], weight_bits: int = 8) -> IntegerNetwork:
    """The network of whole numbers that stands for a trained one, or for several side by side.

    >>> from bitwright import addition, run
    >>> small = addition(2)
    >>> network = quantize(small, train(small, width=512))
    >>> network.first.dtype.name, run(small, p=3, q=2, network=network).value
    ('int8', 5)
    """
    from bitwright.app.whole import whole_network
    from bitwright.networks import IntegerNetwork, Network

    networks: list[Any] = list(network) if isinstance(network, list | tuple) else [network]
    if wrong := [item for item in networks if not isinstance(item, Network)]:
        kind = "a network of whole numbers already" if isinstance(wrong[0], IntegerNetwork) else type(wrong[0]).__name__
        raise InputError(f"give a trained network, or several; got {kind}")
    return whole_network(as_algorithm(what), networks, weight_bits)[0]


def load_network(path: str | PathLike[str], what: Algorithm | Program) -> AnyNetwork:
    """The network in a file, after checking that it is one, belongs to this program, and is as it was written.

    >>> from bitwright import addition, run, save_network
    >>> algorithm = addition(2)
    >>> save_network(train(algorithm, width=512), algorithm.program, "adder.safetensors")
    >>> run(algorithm, p=3, q=2, network=load_network("adder.safetensors", algorithm)).value
    5
    """
    from bitwright.networks.store import load_any_network as load

    if not isinstance(path, str | PathLike):
        raise InputError(f"a network is in a file; give its path, got a {type(path).__name__}")
    return load(Path(path), as_algorithm(what).program)


def certify_network(
    what: Algorithm | Program | NodeProgram,
    network: str | PathLike[str] | AnyNetwork | TrainedCells,
    domain: str | None = None,
    *,
    workers: str | int = "1",
    resume: str | PathLike[str] | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
) -> NetworkCertificate:
    """Proves or refutes, by trying all of them, that this network makes the rules' step in every state of a domain.

    `domain` is `states` (one choice in every block, the default) or `runs` (all states that runs of all inputs meet);
    of a network of cells, or its file, it is `cells`, after looking that the program's cells are of its kinds: of a
    node program those on every graph.

    >>> from bitwright import addition
    >>> small = addition(2)
    >>> certify_network(small, quantize(small, train(small, width=512))).sentence
    'certified: this network, 64 states of every choice in every block'
    """
    from bitwright.checking.exhaustion import certify_network as prove
    from bitwright.workers import Workers

    asked = by_its_cells(what)
    algorithm, held = _to_be_proved(asked, network)
    chosen = domain or ("cells" if algorithm.program is not asked.program else "states")
    if not isinstance(resume, str | PathLike | None):
        raise InputError(f"resume is the path of a file, got a {type(resume).__name__}")
    file = None if resume is None else Path(resume)
    who = Workers.parse(str(workers), str(device))
    return prove(algorithm, held, chosen, workers=who, progress=progress, file=file, device=str(device))


def _to_be_proved(
    algorithm: Algorithm, network: str | PathLike[str] | AnyNetwork | TrainedCells
) -> tuple[Algorithm, AnyNetwork]:
    """The network, and what it is proved for: the algorithm, or the pattern of its cells."""
    from bitwright.app import cells
    from bitwright.engines.cells.wiring import tile_of
    from bitwright.networks import IntegerNetwork, Network

    if isinstance(network, str | PathLike):
        pattern = cells.pattern_in(Path(network))
        if pattern is None:
            return algorithm, load_network(network, algorithm)
        (held,) = cells.load_cells([Path(network)], pattern)
    elif isinstance(network, cells.TrainedCells):
        pattern, held = network.pattern, network.network
    elif isinstance(network, Network | IntegerNetwork):
        return algorithm, network
    else:
        raise InputError(f"give one network, or the path of its file, got a {type(network).__name__}")
    tile_of(algorithm.program, pattern)  # refuses cells of other kinds
    return cells.as_algorithm(pattern, algorithm.name), held
