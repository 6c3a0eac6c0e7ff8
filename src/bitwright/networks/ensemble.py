"""Ensembles: many networks of one recipe, evaluated in given states, with running statistics and a growing file.

Members are trained in blocks of a fixed size, and blocks are added up in order, so the statistics do not depend, to the
last bit, on the number of workers or on interruptions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Sequence, Sized
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray, shorten
from bitwright.errors import InputError
from bitwright.files.journal import Journal
from bitwright.networks.start import limit_kind
from bitwright.networks.train import Recipe, train
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray, Kind, variance, weights
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.theory.rounding import Rounding, round_outputs
from bitwright.workers import Workers
from bitwright.workers.linear_algebra import way_to_kernel

Outputs = NDArray[np.float32]  # (members, states, k)
FORMAT = "bitwright ensemble 2"
DEVICE_BLOCK = 64  # members trained together on a device
Progress = Callable[[int, int], None]  # members trained, members at most


@dataclass(frozen=True, eq=False)
class Study:
    """A question: the outputs of networks of this recipe (its member is ignored) in these states."""

    program: Program
    recipe: Recipe
    states: BoolArray  # (states, k)
    block: int = 1
    keep: bool = False  # whether the outputs of each member are kept, or only their mean and spread in a block

    def __post_init__(self) -> None:
        if self.states.ndim != 2 or self.states.shape[1] != self.program.bits or not len(self.states):
            raise InputError(f"the states must have shape (1 or more, {self.program.bits}), got {self.states.shape}")
        if self.block < 1:
            raise InputError(f"a block has at least 1 member, got {self.block}")

    @property
    def kind(self) -> Kind:
        """The limit that the recipe's parametrization leads to."""
        return limit_kind(self.recipe.plan.parametrization)

    def header(self) -> dict[str, object]:
        """Everything that determines the numbers in a file of results."""
        recipe, plan = self.recipe, self.recipe.plan
        return {
            "format": FORMAT,
            "program": self.program.id,
            "states": len(self.states),
            "states_sha256": hashlib.sha256(np.packbits(self.states).tobytes()).hexdigest(),
            "bits": self.program.bits,
            **{name: getattr(plan, name) for name in ("parametrization", "descent", "tolerance", "rate")},
            **{name: getattr(recipe, name) for name in ("width", "seed", "start", "padding", "trainer", "precision")},
            "device": recipe.device.split(":")[0],
            "kernel": recipe.kernel,
            "block": self.block,
            "keep": self.keep,
            **({"draws": "by fours"} if recipe.device.startswith("cuda") else {}),  # they were others once
        }


@dataclass(frozen=True, eq=False)
class EnsemblePart:
    """The outputs of one block of members: their mean and sum of squared deviations, or all of them."""

    count: int
    mean: FloatArray  # (states, k)
    spread: FloatArray  # (states, k)
    outputs: Outputs | None = None

    def __len__(self) -> int:
        return self.count

    @classmethod
    def of(cls, outputs: Outputs, keep: bool) -> EnsemblePart:
        if not np.isfinite(outputs).all():
            raise InputError("the outputs of a trained network are not finite; use a wider network or float64")
        exact = outputs.astype(np.float64)
        mean = exact.mean(axis=0)
        return cls(len(outputs), mean, ((exact - mean) ** 2).sum(axis=0), outputs if keep else None)

    def to_bytes(self) -> bytes:
        from safetensors.numpy import save

        if self.outputs is not None:
            return save({"outputs": np.ascontiguousarray(self.outputs)})
        return save({"mean": self.mean, "spread": self.spread})

    @classmethod
    def from_bytes(cls, data: bytes, study: Study, file: Path) -> EnsemblePart:
        """The part in a record of a file; InputError unless it is one of this study."""
        from safetensors import SafetensorError
        from safetensors.numpy import load

        try:
            found = load(data)
        except (SafetensorError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{file} holds a record that cannot be read ({shorten(str(error))})") from None
        names = {"outputs"} if study.keep else {"mean", "spread"}
        shape = ((study.block,) if study.keep else ()) + study.states.shape
        kind = np.float32 if study.keep else np.float64
        if set(found) != names or any(
            a.shape != shape or a.dtype != kind or not np.isfinite(a).all() for a in found.values()
        ):
            raise InputError(f"{file} holds a record that does not belong to it")
        return cls.of(found["outputs"], True) if study.keep else cls(study.block, found["mean"], found["spread"])


@dataclass
class Statistics:
    """Mean and variance over all members so far, state by state and bit by bit."""

    count: int = 0
    mean: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    _spread: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def variance(self) -> FloatArray:
        """The unbiased estimate; needs two members."""
        return self._spread / max(1, self.count - 1)

    @property
    def digest(self) -> str:
        """The sha256 of all these numbers: the same members have the same digest."""
        numbers = (np.asarray(self.count), self.mean, self._spread)
        return hashlib.sha256(b"".join(array.astype("<f8").tobytes() for array in numbers)).hexdigest()

    def add(self, part: EnsemblePart) -> None:
        """Chan's formula for the mean and spread of two sets together."""
        if not self.count:
            self.count, self.mean, self._spread = part.count, part.mean.copy(), part.spread.copy()
            return
        together = self.count + part.count
        shift = part.mean - self.mean
        self.mean = self.mean + shift * (part.count / together)
        self._spread = self._spread + part.spread + shift**2 * (self.count * part.count / together)
        self.count = together


Block = TypeVar("Block", bound=Sized)  # its length is the number of its members


def grow_members(
    blocks: Callable[[int], Generator[Block]],
    most: int,
    enough: Callable[[Block], bool],
    known: Iterable[Block] = (),
    keep: Callable[[Block], object] | None = None,
) -> None:
    """Adds members until `enough`, which is given every block in turn, says so or there are `most` (in whole blocks).

    The blocks that are `known` come first. `blocks` makes those from a number on, and each new one is given to `keep`.
    """
    number = members = 0

    def done(block: Block) -> bool:
        nonlocal number, members
        number, members = number + 1, members + len(block)
        return enough(block) or members >= most

    finished = False
    for block in known:  # to its end, so that a torn last record is cut off
        finished = finished or done(block)
    if finished:
        return
    with closing(blocks(number)) as coming:
        for block in coming:
            if keep:
                keep(block)
            if done(block):
                return


def grow(
    study: Study,
    most: int,
    *,
    enough: Callable[[Statistics], bool] | None = None,
    file: Path | None = None,
    workers: Workers | None = None,
    progress: Progress | None = None,
    see: Callable[[EnsemblePart], None] | None = None,
) -> Statistics:
    """Trains members until `enough` says so or there are `most` (rounded up to whole blocks).

    With a file, what it holds is taken from it and what is new is added to it. `see` is called with every part in turn.
    """
    statistics = Statistics()
    if most < 1:
        raise InputError(f"an ensemble has at least 1 network, got {most}")

    def add(part: EnsemblePart) -> bool:
        statistics.add(part)
        if see:
            see(part)
        if progress:
            progress(statistics.count, most)
        return enough is not None and enough(statistics)

    def parts(first: int) -> Generator[EnsemblePart]:
        yield from (workers or Workers()).map(
            train_block, study, range(first, -(-most // study.block)), floats=study.recipe.library
        )

    if file is None:
        grow_members(parts, most, add)
        return statistics
    with Journal(file, study.header(), {"kernel": way_to_kernel}) as journal:
        known = (EnsemblePart.from_bytes(record, study, file) for record in journal.records())
        grow_members(parts, most, add, known, lambda part: journal.append(part.to_bytes()))
    return statistics


def train_block(study: Study, block: int) -> EnsemblePart:
    """Trains the members of one block and returns their outputs at the states."""
    members = range(block * study.block, (block + 1) * study.block)
    return EnsemblePart.of(member_outputs(study.program, study.recipe, members, study.states), study.keep)


def member_outputs(program: Program, recipe: Recipe, members: Sequence[int], states: BoolArray) -> Outputs:
    """The outputs of trained networks at states, (members, states, k). A member depends on its number alone."""
    if recipe.device != "cpu":
        from bitwright.networks.torch_trainer import outputs_on_device

        return outputs_on_device(program, recipe, members, states)
    encoded = TrainingSet(program, recipe.padding).encode(states)
    return np.stack([train(program, replace(recipe, member=m))[0](encoded) for m in members]).astype(np.float32)


@dataclass(frozen=True, eq=False)
class EnsembleJudge:
    """Compares rounded mean outputs with the next states by the rules."""

    study: Study
    rounding: Rounding
    matches: IntArray
    truth: BoolArray  # (states, k)

    @classmethod
    def of(cls, study: Study, rounding: Rounding) -> EnsembleJudge:
        examples = TrainingSet(study.program, study.recipe.padding)
        indicator, matches = examples.matches(study.states)
        return cls(study, rounding, matches, np.asarray((indicator @ examples.labels()).todense()) > 0)

    def right(self, outputs: FloatArray) -> BoolArray:  # (states,)
        program, recipe = self.study.program, self.study.recipe
        bits, _ = round_outputs(
            outputs,
            self.matches,
            program.writers,
            program.templates + recipe.padding,
            self.rounding,
            self.study.kind,
        )
        return np.asarray((bits == self.truth).all(axis=1))

    def accuracy(self, outputs: FloatArray) -> float:
        """The fraction of the states that come out right in every bit."""
        return float(self.right(outputs).mean())


@dataclass(frozen=True)
class LimitCheck:
    """Root mean squares over states and bits."""

    kind: str
    networks: int
    mean_error: float  # of the ensemble's mean, from the limit's
    expected_error: float  # what N networks of infinite width would have: sigma/sqrt(N)
    variance_ratio: float | None  # variance among members over the limit's, where the limit has one

    def sentence(self) -> str:
        spread = "" if self.variance_ratio is None else f"; variance {self.variance_ratio:.3g} times the limit's"
        return (
            f"mean {self.mean_error:.3g} from the {self.kind} limit's (root mean square; {self.expected_error:.3g} is "
            f"expected of {self.networks:,} networks of infinite width){spread}"
        )


def compare_with_limit(study: Study, found: Statistics, matches: IntArray) -> LimitCheck:
    """Compares an ensemble with its limit, which has no variance if networks start with output zero."""
    program, kind = study.program, study.kind
    examples = TrainingSet(program, study.recipe.padding)
    indicator, _ = examples.matches(study.states)
    matching = np.asarray((indicator @ examples.labels()).todense())
    seen = matches > 0
    w = weights(matches[seen], examples.examples, kind)
    expected = w.unmatched[:, None] * program.writers + w.gap[:, None] * matching[seen]
    error = float(np.sqrt(((found.mean[seen] - expected) ** 2).mean()))
    if study.recipe.start == "zero":
        return LimitCheck(kind, found.count, error, 0.0, None)
    sigma2 = float(np.asarray(variance(matches[seen], examples.examples, kind)).mean())
    ratio = float(found.variance[seen].mean()) / sigma2 if found.count > 1 and sigma2 > 0 else None
    return LimitCheck(kind, found.count, error, float(np.sqrt(sigma2 / found.count)), ratio)
