"""Networks, as Python programs ask for them: trained, rounded and loaded."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.api.arguments import check_options
from bitwright.errors import InputError
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.program.given import as_algorithm, by_its_cells
from bitwright.running.progress import TrainingProgress, as_training_progress

if TYPE_CHECKING:
    from bitwright.api.learning import Source
    from bitwright.engines.cells.trained import TrainedCells
    from bitwright.networks import AnyNetwork, IntegerNetwork, Network


_OPTIONS = (  # of `train`
    *("width", "seed", "padding", "member", "start", "tolerance", "momentum", "balanced", "rate", "most_steps"),
    *("parametrization", "trainer", "device", "precision", "threads"),
    *("source", "runs", "states", "labels", "sample_seed", "progress"),
)


def train(
    what: Algorithm | Program,
    *,
    width: int | None = None,
    seed: int = 0,
    padding: int = 0,
    member: int = 0,
    start: str = "zero",
    tolerance: float | None = None,
    momentum: bool | None = None,
    balanced: bool = False,
    rate: float | None = None,
    most_steps: int | None = None,
    parametrization: str = "ntk",
    trainer: str = "numpy",
    device: str = "cpu",
    precision: str = "float32",
    threads: int = 1,
    source: Source | None = None,
    runs: int | None = None,
    states: int | None = None,
    labels: str | None = None,
    sample_seed: int | None = None,
    progress: TrainingProgress | bool | None = None,
    **misspelt: Any,
) -> Network:
    """One network trained on the templates, by full-batch gradient descent; raises TrainingError where that stalls.

    - `width`: hidden units; without it what the width law suggests.
    - `seed`, `member`: which initial weights are drawn; members of an ensemble have one seed.
    - `padding`: examples that are never matched, added to the training set.
    - `start`: the outputs at the beginning are `zero`, or `random` as in the paper.
    - `tolerance`: training ends once every output is as near as this to its label; 0.001, for executions 0.01.
    - `momentum`: heavy ball, the default; or `balanced` steps, fewer still; or momentum=False for plain descent.
    - `rate`, `most_steps`: of the descent; without them they follow from the spectrum of the kernel.
    - `parametrization`: `ntk`, or `standard`, in which layers have other shares of a step.
    - `trainer`: `numpy`, or `torch` on a `device` such as `cuda`; `precision`: `float32` or `float64`; `threads` of the
      linear algebra.
    - `progress`: True for a line every 50 steps, or a function of the steps made and the largest error.

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
    from bitwright.api.learning import TOLERANCE, set_of_whole, wanted_of
    from bitwright.checking.width import suggested_width

    check_options(misspelt, _OPTIONS, "train")
    algorithm, told = as_algorithm(what), as_training_progress(progress)
    executions = set_of_whole(algorithm, wanted_of(source, runs, states, labels, sample_seed), padding)
    if tolerance is None:
        tolerance = networks.Plan.tolerance if executions is None else TOLERANCE
    recipe = networks.Recipe(
        suggested_width(algorithm, padding) if width is None else width,
        seed,
        member,
        start,  # type: ignore[arg-type]  # looked at there
        networks.Plan(
            tolerance,
            not balanced if momentum is None else momentum,
            parametrization,  # type: ignore[arg-type]
            rate,
            most_steps,
            balanced,
        ),
        padding,
        trainer,
        device,
        precision,
        threads,
    )
    return networks.train(algorithm.program, recipe, told, executions)[0]


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

    Of a node program these are the kinds on graphs of several sizes; `NodeProgram.graphs` says on which.

    It is looked at in every local state; where one is wrong the next of so many `seeds` is tried. With a `source` it
    learns from executions, as in `train`.

    >>> from bitwright import multiplication, run
    >>> cells = train_cells(multiplication(2), multiplication(6))
    >>> run(multiplication(20), multiplicand=719483, multiplier=483719, network=cells).value == 719483 * 483719
    True
    >>> train_cells(multiplication(3), source="states", states=600, width=1024).proved
    True
    """
    from bitwright.api.cells import pattern_of, train_on_pattern
    from bitwright.api.learning import TOLERANCE, WIDER, train_cells_on, wanted_of
    from bitwright.checking.width import suggested_cells_width
    from bitwright.networks import Plan, Recipe

    if not what:
        raise InputError("give at least one program, whose cells the network is for")
    for name, value, most in (("tile", tile, 16), ("seeds", seeds, 1_000)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise InputError(f"{name} is a whole number from 1 to {most:,}, got {value!r}")
    asked = wanted_of(source, runs, states, labels, sample_seed)
    algorithms = [one for each in what for one in by_its_cells(each)]
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
    from bitwright.api.whole import whole_network
    from bitwright.engines.cells.trained import TrainedCells
    from bitwright.networks import IntegerNetwork, Network

    networks: list[Any] = list(network) if isinstance(network, list | tuple) else [network]
    if wrong := [item for item in networks if not isinstance(item, Network)]:
        whole = isinstance(wrong[0], IntegerNetwork | TrainedCells)
        kind = "a network of whole numbers already" if whole else type(wrong[0]).__name__
        raise InputError(f"give a trained network, or several; got {kind}")
    return whole_network(as_algorithm(what), networks, weight_bits)[0]


def load_network(path: str | PathLike[str], what: Algorithm | Program, *, with_digest: bool = False) -> AnyNetwork:
    """The network in a file, after checking that it is one, belongs to this program, and is as it was written.

    Files of the first format hold no digest, so the last cannot be checked; `with_digest` refuses them. Networks of
    cells belong to no single program: `TrainedCells.load` loads them.

    >>> from bitwright import addition, run, save_network
    >>> algorithm = addition(2)
    >>> save_network(train(algorithm, width=512), algorithm.program, "adder.safetensors")
    >>> run(algorithm, p=3, q=2, network=load_network("adder.safetensors", algorithm)).value
    5
    """
    from bitwright.engines.cells.trained import pattern_in
    from bitwright.networks.store import load_any_network as load

    if not isinstance(path, str | PathLike):
        raise InputError(f"a network is in a file; give its path, got a {type(path).__name__}")
    program, file = as_algorithm(what).program, Path(path)
    if (pattern := pattern_in(file)) is not None and pattern.program != program:
        raise InputError(
            f"{file} is a network of cells, which serves every program of its kinds; TrainedCells.load(path) loads it"
        )
    return load(file, program, with_digest=with_digest)
