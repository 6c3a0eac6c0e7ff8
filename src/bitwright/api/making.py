"""A network to keep, trained while somebody watches how its error falls, and rounded to integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bitwright.api.cells import as_algorithm, pattern_of, train_on_pattern, train_smallest
from bitwright.api.network import Network
from bitwright.api.open import SubleqProgram
from bitwright.api.whole import whole_network
from bitwright.networks import FloatNetwork, IntegerNetwork, Plan, Recipe, train
from bitwright.networks.store import network_bytes
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.program.pattern import Pattern
from bitwright.proofs.exhaustion.certificate import covered_by_cells
from bitwright.proofs.exhaustion.domains import StatesDomain
from bitwright.proofs.width import suggested_cells_width, suggested_width

__all__ = ["Curve", "FloatNetwork", "Making", "Plan", "Program", "Recipe", "Trainer", "watched"]

MOST_POINTS = 400  # of the curve of an error; neighbours are left out beyond it
Curve = list[tuple[int, float]]  # steps of a training, and the largest error
Report = Callable[[int, int, Curve], None]  # steps made, how many there may be, and the curve so far
Trainer = Callable[[Program, Recipe], tuple[FloatNetwork, Curve]]


def watched(program: Program, recipe: Recipe, report: Report) -> tuple[FloatNetwork, Curve]:
    """Trains a network, and shows how its error falls."""
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
    """What a network is to be trained for: the cells of a program, or its whole state; then the network itself."""

    program: Program  # that it is trained on; the pattern's, if it is one of cells
    pattern: Pattern | None
    algorithm: Algorithm | None
    covers: str
    network: IntegerNetwork
    curve: Curve

    @classmethod
    def of_cells(cls, what: Algorithm | NodeProgram | SubleqProgram) -> _Wanted:
        """A network of the cells of a program."""
        if isinstance(what, NodeProgram):
            return _Wanted(Pattern.of(what.kinds), None, covered_by_cells(None, what.graphs))
        if isinstance(what, SubleqProgram):
            return _Wanted(pattern_of([what.machine.program]), None, "every image of such a machine")
        return _Wanted(pattern_of([what.program]), what, covered_by_cells())

    @classmethod
    def of_whole(cls, algorithm: Algorithm) -> _Wanted:
        """A network of the whole state of a program."""
        return _Wanted(None, algorithm, "every choice in every block")

    @property
    def states(self) -> int:
        """How many states a proof tries."""
        return StatesDomain(self.program).size if self.pattern is None else self.pattern.local_states

    def proved_as(self, name: str) -> Algorithm:
        """What a proof of it is about: the program, or its cells if it is not a program of bits."""
        if self.algorithm is not None:
            return self.algorithm
        assert self.pattern is not None
        return as_algorithm(self.pattern, name)

    @property
    def held(self) -> Network:
        """The network with what it was trained for, as `certify` takes it."""
        return Network(self.network, self.program, self.pattern)

    def file(self) -> bytes:
        """The .safetensors file of the network."""
        return network_bytes(self.network, self.program)


@dataclass(frozen=True)
class _Wanted:
    pattern: Pattern | None
    algorithm: Algorithm | None
    covers: str

    @property
    def program(self) -> Program:
        if self.pattern is not None:
            return self.pattern.program
        assert self.algorithm is not None
        return self.algorithm.program

    def width(self) -> int:
        """What the width law suggests."""
        if self.pattern is not None:
            return suggested_cells_width(self.pattern)
        assert self.algorithm is not None
        return suggested_width(self.algorithm)

    def made(self, width: int | None, most: int, seed: int, train: Trainer, rounding: Callable[[], None]) -> Making:
        """Trains the network, and rounds it to integers; `rounding` is called in between, for the whole state."""
        recipe, curves = Recipe(width or min(self.width(), most), seed), dict[tuple[int, int], Curve]()

        def make(program: Program, recipe: Recipe) -> FloatNetwork:
            network, curves[recipe.seed, recipe.width] = train(program, recipe)
            return network

        if self.pattern is not None:
            fit = train_smallest if width is None else train_on_pattern
            network = fit(self.pattern, recipe, make=make).network
        else:
            assert self.algorithm is not None
            trained = make(self.program, recipe)
            rounding()
            network = whole_network(self.algorithm, [trained])[0]
        curve = curves[network.origin.seed, network.shape.width]
        return Making(self.program, self.pattern, self.algorithm, self.covers, network, curve)
