"""A trained network as people hold it: its weights, what it was trained for, and what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

from bitwright.errors import InputError, counted
from bitwright.files.storage import as_path
from bitwright.lazy import Shown
from bitwright.networks import AnyNetwork, IntegerNetwork
from bitwright.networks import Network as FloatNetwork
from bitwright.networks.members import network_files
from bitwright.networks.store import load_any_network, read_about, save_network
from bitwright.program import Algorithm, Program
from bitwright.program.pattern import Pattern, read_pattern

if TYPE_CHECKING:
    from bitwright.api.export.writing import Export
    from bitwright.engines.cells.trained import TrainedCells
    from bitwright.networks.executions import ExecutionSet
    from bitwright.networks.quantize import Cost


@dataclass(frozen=True, eq=False)
class Training:
    """How a network came about; a file does not have it."""

    steps: int
    error: float  # the largest on any example
    loss: float
    seconds: float
    before: Sequence[FloatNetwork] = ()  # the weights that were quantized, if they were
    cost: Cost | None = None  # of quantizing them
    seeds: int = 1  # that were tried
    executions: ExecutionSet | None = None  # what it learnt from in place of templates


@dataclass(frozen=True, eq=False)
class Network(Shown):
    """Trained weights, and the program or the kinds of cells that they are for.

    A network of cells serves every program made of its kinds; one of the whole state serves one program in one size.

    >>> from bitwright import addition, train_cells
    >>> train_cells(addition(4)).save("adder.safetensors")
    >>> adder = Network.load("adder.safetensors")
    >>> adder.proved
    True
    >>> print(adder.sentence)
    a network of 2 kinds of cells, 8 examples; width 128, 2,528 bytes of weights (integers)
    """

    weights: AnyNetwork
    program: Program  # that it was trained on; the pattern's, if it is one of cells
    pattern: Pattern | None = None  # the kinds of its cells; None for the whole state
    algorithm: Algorithm | None = None  # of the whole state: the algorithm, as far as it is known
    training: Training | None = None

    @property
    def cells(self) -> bool:
        """Whether it is a network of cells."""
        return self.pattern is not None

    @property
    def integer(self) -> bool:
        """Whether its weights are integers."""
        return isinstance(self.weights, IntegerNetwork)

    @property
    def width(self) -> int:
        """Hidden units."""
        return self.weights.shape.width

    @property
    def digest(self) -> str:
        """The sha256 of all that decides what the network does, and where it comes from."""
        return self.weights.digest

    @property
    def bytes(self) -> int:
        """What its weights take: two layers, and the thresholds of an integer network."""
        held = self.weights
        more = held.thresholds.nbytes if isinstance(held, IntegerNetwork) else 0
        return held.first.nbytes + held.last.nbytes + more

    @property
    def proved(self) -> bool:
        """Whether it is an integer network of cells that was found right in every local state."""
        return self.trained_cells is not None and self.trained_cells.proved

    @cached_property
    def trained_cells(self) -> TrainedCells | None:
        """An integer network of cells, with what its local states show; None for other networks."""
        from bitwright.engines.cells.trained import TrainedCells

        if self.pattern is None or not isinstance(self.weights, IntegerNetwork):
            return None
        return TrainedCells(self.pattern, self.weights)

    @property
    def sentence(self) -> str:
        """What it is, in a line."""
        kind = "integers" if self.integer else str(self.weights.first.dtype)
        of = "the whole state"
        if self.pattern is not None:
            of = f"{counted(len(self.pattern.kinds), 'kind')} of cells"
        size = f"width {self.width:,}, {self.bytes:,} bytes of weights ({kind})"
        return f"a network of {of}, {counted(self.program.templates, 'example')}; {size}"

    def __str__(self) -> str:
        return self.sentence if self.trained_cells is None else f"{self.sentence}\n{self.trained_cells.sentence}"

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the network to a .safetensors file, which `load` reads."""
        save_network(self.weights, self.program, as_path(path, "a network file"))

    @classmethod
    def load(cls, path: str | PathLike[str], what: Algorithm | Program | None = None) -> Network:
        """The network in a file, after checking that it is one and is as it was written.

        A network of the whole state says which program it is for if that is a shipped one, or has no block without
        templates; give the program as `what` otherwise.
        """
        from bitwright.api.whole import algorithm_in
        from bitwright.program.given import as_algorithm

        place = as_path(path, "a network file")
        files = network_files(place)
        if len(files) > 1:
            raise InputError(f"{place} holds {len(files):,} networks; quantize makes one of them, or give one file")
        about = read_about(files[0])
        pattern = read_pattern(about.bits, about.examples)
        own = None if what is None else as_algorithm(what)
        if pattern is not None and (own is None or own.program.id != pattern.program.id):
            return cls(load_any_network(files[0], pattern.program), pattern.program, pattern)
        algorithm = algorithm_in(about) if own is None else own
        return cls(load_any_network(files[0], algorithm.program), algorithm.program, None, algorithm)

    def quantize(self, weight_bits: int = 8) -> Network:
        """The integer network that stands for this one."""
        return quantized([self], weight_bits)

    def export(self, path: str | PathLike[str], what: Any = None, **options: Any) -> Export:
        """Writes the network in a form that other tools read; the end of the name says which. See `export`."""
        from bitwright.api.exports import export

        held: Any = self.trained_cells or self.weights
        return export(held, path, self.algorithm if what is None and not self.cells else what, **options)

    def to_torch(self) -> Any:
        """The trained weights as a plain PyTorch module; an integer network must have been trained just now."""
        if isinstance(self.weights, FloatNetwork):
            return self.weights.to_torch()
        if self.training is None or len(self.training.before) != 1:
            raise InputError(
                "an integer network has no trained weights to give; a network that was trained just now has them, or "
                "take the arrays weights.first and weights.last as they are"
            )
        return self.training.before[0].to_torch()

    def to_dict(self) -> dict[str, Any]:
        """What is known of it, as `bitwright show --json` prints it."""
        origin = self.weights.origin
        rounded = self.weights.rounded if isinstance(self.weights, IntegerNetwork) else None
        about: dict[str, Any] = {
            "program_id": self.program.id,
            "integer": self.integer,
            "weight_bits": None if rounded is None else rounded.weight_bits,
            "examples": self.program.templates + origin.padding,
            "padding": origin.padding,
            "width": self.width,
            "members": 1 if rounded is None else rounded.members,
            "seed": origin.seed,
            "steps": origin.steps,
            "error": origin.error,
            "bytes": self.bytes,
            "digest": self.digest,
        }
        if self.pattern is not None:
            about |= {"kinds": len(self.pattern.kinds), "local_states": self.pattern.local_states}
        return about


def quantized(networks: Sequence[Network], weight_bits: int = 8, algorithm: Algorithm | None = None) -> Network:
    """One integer network that stands for these, side by side if there are several."""
    from bitwright.api.cells import local_sample
    from bitwright.api.whole import whole_network
    from bitwright.networks.quantize import quantize

    first = networks[0]
    floats = [network.weights for network in networks if isinstance(network.weights, FloatNetwork)]
    if len(floats) < len(networks):
        raise InputError("an integer network cannot be quantized again; give trained weights")
    if first.pattern is not None:
        found, cost = quantize(floats, first.program, weight_bits, sample=local_sample(first.pattern))
    else:
        executions = None if first.training is None else first.training.executions
        whole = algorithm or first.algorithm or Algorithm("program", first.program)
        found, cost = whole_network(whole, floats, weight_bits, executions)
    training = first.training
    if training is not None:
        training = replace(training, before=tuple(floats), cost=cost)
    return replace(first, weights=found, training=training)


def held_networks(given: Any) -> Sequence[Network | str | PathLike[str]]:
    """What was given as networks: one or several, held or in files; raises InputError for anything else."""
    several = list(given) if isinstance(given, list | tuple) else [given]
    for one in several:
        if not isinstance(one, Network | str | PathLike):
            raise InputError(f"give networks, or the paths of their files, got a {type(one).__name__}")
    if not several:
        raise InputError("give at least one network, or leave it out")
    return several
