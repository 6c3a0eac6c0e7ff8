"""Training of one integer network, with the curve of its error, for a page that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bitwright.api.cells import pattern_of, train_on_pattern, train_smallest
from bitwright.api.network import Network
from bitwright.api.open import SubleqProgram
from bitwright.api.whole import whole_network
from bitwright.networks import FloatNetwork as FloatNetwork
from bitwright.networks import IntegerNetwork, Recipe, train
from bitwright.networks import Plan as Plan
from bitwright.networks.store import network_bytes
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.program.pattern import Pattern
from bitwright.proofs.exhaustion.certificate import covered_by_cells
from bitwright.proofs.exhaustion.domains import StatesDomain
from bitwright.proofs.width import suggested_cells_width, suggested_width

MOST_POINTS = 400  # of the curve of an error; neighbours are left out beyond it
Curve = list[tuple[int, float]]  # steps of a training, and the largest error
Report = Callable[[int, int, Curve], None]  # steps made, how many there may be, and the curve so far
Trainer = Callable[[Program, Recipe], tuple[FloatNetwork, Curve]]


def watched(program: Program, recipe: Recipe, report: Report) -> tuple[FloatNetwork, Curve]:
    """Trains a network and reports the curve of its error."""
    most, curve = recipe.plan.expected_steps(program.templates + recipe.padding), Curve()

    def step(number: int, error: float) -> None:
        curve.append(_point(number, error))
        if len(curve) > MOST_POINTS:
            del curve[1::2]
        report(min(number, most), most, curve)

    network, history = train(program, recipe, step)
    every = -(-len(history.error) // MOST_POINTS)
    return network, [_point(at, error) for at, error in enumerate(history.error) if at % every == 0]


def _point(step: int, error: float) -> tuple[int, float]:
    return step, float(f"{error:.4g}")


@dataclass(frozen=True)
class Making:
    """What a network is to be trained for: the cells of a program, or its whole state."""

    program: Program  # that it is trained on; the pattern's, if it is one of cells
    pattern: Pattern | None
    algorithm: Algorithm | None
    covers: str

    @classmethod
    def of_cells(cls, what: Algorithm | NodeProgram | SubleqProgram) -> Making:
        """A network of the cells of a program."""
        own, covers = None, "every image of such a machine"
        if isinstance(what, NodeProgram):
            pattern, covers = Pattern.of(what.kinds), covered_by_cells(None, what.graphs)
        elif isinstance(what, SubleqProgram):
            pattern = pattern_of([what.machine.program])
        else:
            pattern, own, covers = pattern_of([what.program]), what, covered_by_cells()
        return cls(pattern.program, pattern, own, covers)

    @classmethod
    def of_whole(cls, algorithm: Algorithm) -> Making:
        """A network of the whole state of a program."""
        return cls(algorithm.program, None, algorithm, "every choice in every block")

    @property
    def states(self) -> int:
        """How many states a proof tries."""
        return StatesDomain(self.program).size if self.pattern is None else self.pattern.local_states

    def proved_as(self, name: str) -> Algorithm:
        """What a proof of it is about: the program, or its cells if it is not a program of bits."""
        return Algorithm(name, self.program) if self.algorithm is None else self.algorithm

    def made(self, width: int | None, most: int, seed: int, train: Trainer, rounding: Callable[[], None]) -> Made:
        """Trains the network, and rounds it to integers; `rounding` is called in between, for the whole state.

        Without a `width` it is the one that the width law suggests, or `most`.
        """
        curves: dict[tuple[int, int], Curve] = {}

        def make(program: Program, recipe: Recipe) -> FloatNetwork:
            network, curves[recipe.seed, recipe.width] = train(program, recipe)
            return network

        if self.pattern is not None:
            fit = train_on_pattern if width else train_smallest
            recipe = Recipe(width or min(suggested_cells_width(self.pattern), most), seed)
            network = fit(self.pattern, recipe, make=make).network
        else:
            assert self.algorithm is not None
            trained = make(self.program, Recipe(width or min(suggested_width(self.algorithm), most), seed))
            rounding()
            network = whole_network(self.algorithm, [trained])[0]
        curve = curves[network.origin.seed, network.shape.width]
        return Made(**vars(self), network=network, curve=curve)


@dataclass(frozen=True)
class Made(Making):
    """The network that was trained, and how its error fell."""

    network: IntegerNetwork
    curve: Curve

    @property
    def held(self) -> Network:
        """The network with what it was trained for, as `certify` takes it."""
        return Network(self.network, self.program, self.pattern)

    def file(self) -> bytes:
        """The .safetensors file of the network."""
        return network_bytes(self.network, self.program)
