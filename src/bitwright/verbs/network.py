"""A trained network: its weights, its purpose, and what is proved about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from bitwright.common.errors import InputError, Report, counted, option, thousandths
from bitwright.common.files.storage import as_path
from bitwright.common.lazy import Shown
from bitwright.engines.cells.trained import TrainedCells
from bitwright.networks import AnyNetwork, FloatNetwork, IntegerNetwork
from bitwright.networks.cache import network_files
from bitwright.networks.integer import WEIGHT_BITS
from bitwright.networks.store import load_any_network, read_about, read_network, save_network
from bitwright.rules import Algorithm, NodeProgram, Program
from bitwright.rules.algorithms.arithmetic import known_algorithm
from bitwright.rules.pattern import Pattern, read_pattern
from bitwright.verbs.open import as_algorithm, subject

if TYPE_CHECKING:
    from bitwright.engines.protocol import Engine
    from bitwright.exports.claims import ExportClaim
    from bitwright.networks.quantize import Cost
    from bitwright.networks.train import ExecutionSet
    from bitwright.verbs.certificates import Certificate
    from bitwright.verbs.engines import EngineSettings

CLAIM = "tested, not proved"  # for float weights, and for networks with too many states to try

_OF_DESCENT = ("start", "parametrization", "descent", "tolerance", "error", "steps", "trainer", "kernel")
_OF_ORIGIN = ("seed", "member", *_OF_DESCENT)


@dataclass(frozen=True, eq=False)
class Training:
    """How a network was trained; network files do not record it."""

    seconds: float
    loss: float | None = None
    before: Sequence[FloatNetwork] = ()  # the weights before quantization, if any
    cost: Cost | None = None  # of quantizing them
    seeds: int | None = None  # that were tried, for a network of cells
    executions: ExecutionSet | None = None  # the training data, if not templates
    problem: str | None = None  # that local states are wrong, and what to do about it

    def to_dict(self) -> dict[str, Any]:
        """What `bitwright train --json` prints in addition to the facts of the network."""
        found: dict[str, Any] = {} if self.loss is None else {"loss": self.loss}
        if self.seeds is not None:
            found["seeds_tried"] = self.seeds
        if self.cost is not None:
            found |= {
                "sample_states": self.cost.states,
                "sample_margin_before": _finite(self.cost.margin_before),
                "sample_margin": _finite(self.cost.margin),
            }
        return {**found, "seconds": round(self.seconds, 3)}


@dataclass(frozen=True, eq=False, repr=False)
class Network(Shown, Report):
    """Trained weights, and the program or the kinds of cells that they are for.

    A network of cells runs every program made of its kinds. One of the whole state, which is one cell with all blocks,
    runs one program in one size.

    >>> from bitwright import addition, run, train
    >>> train(addition(4)).save("adder.safetensors")
    >>> adder = Network.load("adder.safetensors")
    >>> adder.proved, run(addition(200), p=2**199, q=2**199, network=adder).value == 2**200
    (True, True)
    >>> print(adder.sentence)
    2 kinds of cells, 8 examples; width 32, 704 bytes of weights
    """

    weights: AnyNetwork
    pattern: Pattern | None  # its cells; None if the program of a whole-state file is not known
    algorithm: Algorithm | None = None  # for a network of the whole state, its program
    name: str | None = None  # of its program, if that is known
    training: Training | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.weights, AnyNetwork):
            raise InputError(f"a Network holds trained weights, got a {type(self.weights).__name__}")
        if self.program is not None and self.weights.origin.program_id != self.program.id:
            raise InputError("these weights were trained for another program")

    @property
    def program(self) -> Program | None:
        """The program it was trained on: one cell of each kind."""
        return None if self.pattern is None else self.pattern.program

    @property
    def cells(self) -> bool:
        """Whether it is a network of cells, not of a whole state."""
        return self.pattern is not None and self.pattern.whole is None

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
        """The sha256 of everything that determines the network's outputs, and of its origin."""
        return self.weights.digest

    @property
    def bytes(self) -> int:
        """The size of its weights: two layers, and the thresholds of an integer network."""
        if isinstance(self.weights, IntegerNetwork):
            return self.weights.bytes
        return self.weights.first.nbytes + self.weights.last.nbytes

    @cached_property
    def trained_cells(self) -> TrainedCells | None:
        """An integer network of cells, with its answers in all local states; None for other networks."""
        if self.pattern is None or not isinstance(self.weights, IntegerNetwork):
            return None
        return TrainedCells(self.pattern, self.weights)

    @cached_property
    def claim(self) -> ExportClaim | None:
        """The result of trying its states; None for float weights, or if the program is not known."""
        from bitwright.exports.claims import ExportClaim, claim_of

        if (cells := self.trained_cells) is None:
            return None
        if cells.tables is not None:
            return ExportClaim(self.cells, cells.tables.states, cells.tables.wrong)
        return claim_of(cells.network, cells.pattern)

    @property
    def proved(self) -> bool:
        """Whether it was right in every state, or in every local state of its cells."""
        return self.claim is not None and self.claim.proved

    @property
    def sentence(self) -> str:
        """A description, in a line."""
        held = self.weights
        kind = f"{held.weight_bits}-bit " if isinstance(held, IntegerNetwork) else f"{held.first.dtype.name} "
        of = "the whole state"
        if self.cells and self.pattern is not None:
            of = f"{counted(len(self.pattern.kinds), 'kind')} of cells"
        size = f"width {self.width:,}, {self.bytes:,} bytes of {kind if kind != '8-bit ' else ''}weights"
        return f"{of}, {counted(self._templates, 'example')}; {size}"

    @property
    def rounding(self) -> str | None:
        """The cost of quantizing, in a line; None if it was not quantized just now."""
        if self.training is None or self.training.cost is None or not isinstance(self.weights, IntegerNetwork):
            return None
        cost, members = self.training.cost, self.weights.rounded.members
        side = f"{members:,} networks side by side; " if members > 1 else ""
        margins = f"the smallest margin went from {thousandths(cost.margin_before)} to {thousandths(cost.margin)}"
        wrong = "" if cost.margin > 0 else f": some bits come out wrong; {wider(self.weights.weight_bits)}"
        return f"{side}quantized: on {cost.states:,} states {margins}{wrong}"

    def __repr__(self) -> str:
        return f"Network: {self.sentence}"

    def rows(self) -> list[str]:
        """What is known about the cells that it was trained on.

        >>> from bitwright import addition, train
        >>> train(addition(4)).rows()[0].partition(";")[0]
        'proved on all 16 local states'
        """
        return [] if self.trained_cells is None else [self.trained_cells.sentence]

    def engine(self, what: Algorithm | Program, **settings: Unpack[EngineSettings]) -> Engine:
        """The engine that runs a program by this network; its settings are those of `run`.

        >>> from bitwright import addition, train
        >>> train(addition(4)).engine(addition(12)).cell_facts["local_states"]
        16
        """
        from bitwright.verbs.engines import engine_for

        return engine_for(as_algorithm(what), None, self, settings)

    def save(self, path: str | PathLike[str], certificate: Certificate | None = None) -> None:
        """Writes the network to a .safetensors file or to a folder, which `load` reads.

        A name without an ending is a folder that the Hugging Face Hub takes as it is: model.safetensors, config.json,
        a model card, and the `certificate`, or without one that of all its states if they are few.

        >>> from bitwright import addition, certify, run, train
        >>> adder = train(addition(4))
        >>> adder.save("adder.safetensors")
        >>> run(addition(9), p=300, q=11, network=Network.load("adder.safetensors")).value
        311
        >>> adder.save("adder", certify(addition(4), adder))
        >>> sorted(file.name for file in Path("adder").iterdir())
        ['README.md', 'certificate.json', 'config.json', 'model.safetensors']
        """
        from bitwright.verbs.folder import is_folder, save_folder

        if self.program is None:
            raise InputError("the program of this network is not known; load it with its program: load(path, program)")
        place = as_path(path, "a network file")
        if is_folder(place, path):
            save_folder(self, place, certificate)
        elif certificate is not None:
            raise InputError(f"a certificate goes with a folder; {place} is a file, and certificate.save writes one")
        else:
            save_network(self.weights, self.program, place)

    @classmethod
    def load(cls, path: str | PathLike[str], what: Any = None) -> Network:
        """The network in a file, after checking that it is one and is as it was written.

        A network of the whole state says which program it is for if that is a shipped one; give it as `what` otherwise.

        >>> from bitwright import addition, train
        >>> train(addition(3), tile="all", width=256).save("whole.safetensors")
        >>> Network.load("whole.safetensors").trained_for
        'addition of 3 bits'
        """
        place = as_path(path, "a network file")
        files = network_files(place)
        if len(files) > 1:
            raise InputError(
                f"{place} holds {len(files):,} networks; run averages them, and Network.combine quantizes them into one"
            )
        return _loaded(files[0], what)

    def quantize(self, weight_bits: int = 8) -> Network:
        """This network with integer weights.

        >>> from bitwright import addition, train
        >>> network = train(addition(2), width=64, integer=False).quantize()
        >>> network.weights.first.dtype.name, network.proved
        ('int8', True)
        """
        return Network.combine([self], weight_bits)

    @classmethod
    def combine(cls, networks: Iterable[Network], weight_bits: int = 8) -> Network:
        """One integer network that combines several, side by side.

        >>> from bitwright import addition, train
        >>> networks = [train(addition(2), width=256, member=member, integer=False) for member in range(3)]
        >>> Network.combine(networks).width
        768
        """
        from bitwright.verbs.cells import quantized

        held = as_networks(list(networks))
        if not all(isinstance(one, Network) for one in held):
            raise InputError("networks that were made elsewhere are not quantized; give trained weights")
        first: Network = held[0]
        floats = [network.weights for network in held if isinstance(network.weights, FloatNetwork)]
        if len(floats) < len(held):
            raise InputError("a network of integers cannot be quantized again; give trained weights")
        learnt = None if first.training is None else first.training.executions
        if first.pattern is None:
            raise InputError(
                f"the program of this network is not known; name it: {option('program')}, or load(path, program)"
            )
        found, cost = quantized(floats, first.pattern, weight_bits, learnt, first.algorithm)
        training = replace(first.training or Training(0.0), before=tuple(floats), cost=cost)
        return replace(first, weights=found, training=training)

    def to_torch(self, what: Any = None) -> Any:
        """An integer network as a PyTorch module of states: `module(states, steps=1)` gives those that follow.

        States are tensors of 0 and 1, in any number of dimensions before the last, on any device; the bits are those of
        the engine. `what` is the program: any one made of its kinds of cells, or its own for a whole state.

        >>> import torch
        >>> from bitwright import addition, train
        >>> adder, network = addition(9), train(addition(4))
        >>> states = torch.tensor(adder.state({"p": 300, "q": 11}))[None]
        >>> adder.read(network.to_torch(adder)(states, steps=adder.steps)[0].numpy())
        {'sum': 311}

        Without `what` it is the trained weights as a plain module; an integer network has them only if it was trained
        just now.

        >>> [tuple(weights.shape) for weights in network.to_torch().parameters()]
        [(32, 8), (11, 32)]
        """
        if what is not None:
            return self._steps_of(what)
        if isinstance(self.weights, FloatNetwork):
            return self.weights.to_torch()
        if self.training is None or len(self.training.before) != 1:
            raise InputError(
                "an integer network has no trained weights to give; a network that was trained just now has them, or "
                "take the arrays weights.first and weights.last as they are"
            )
        return self.training.before[0].to_torch()

    def _steps_of(self, what: Any) -> Any:
        """One step of a program as a PyTorch module."""
        from bitwright.networks.descent import torch_module

        torch_module()
        from bitwright.engines.torch_step import StepModule

        if not isinstance(self.weights, IntegerNetwork):
            raise InputError("steps are made by an integer network; quantize this one first")
        program = as_algorithm(subject(what)).program  # type: ignore[arg-type]
        return StepModule(program, self.weights, self.pattern or Pattern.of_state(program))

    def to_dict(self) -> dict[str, Any]:
        """All facts about it, as `bitwright show --json` and `bitwright train --json` print them.

        >>> from bitwright import addition, train
        >>> told = train(addition(4)).to_dict()
        >>> told["claim"], told["wrong"], told["width"]
        ('proved on all 16 local states', 0, 32)
        """
        held, origin = self.weights, self.weights.origin
        claim = self.claim
        whole = held if isinstance(held, IntegerNetwork) else None
        return {
            "name": self.name,
            "trained_for": self.trained_for,
            "program_id": origin.program_id,
            "cells": self.cells,
            **self._about_cells(),
            "integer": self.integer,
            **({"precision": held.first.dtype.name} if whole is None else {"weight_bits": whole.weight_bits}),
            "bits": held.shape.outputs,
            "templates": self._templates,
            "examples": self._templates + origin.padding,
            "padding": origin.padding,
            "width": self.width,
            "members": 1 if whole is None else whole.rounded.members,
            **{name: getattr(origin, name) for name in _OF_ORIGIN},
            **({} if origin.executions is None else {"executions": asdict(origin.executions)}),
            "bytes": self.bytes,
            "digest": self.digest,
            "tensors": held.tensors_sha256,
            "claim": CLAIM if claim is None or claim.wrong is None else claim.note,
            "proved": self.proved,
            **({} if self.training is None else self.training.to_dict()),
        }

    @property
    def trained_for(self) -> str:
        """What it was trained for: a name and a bit length, kinds of cells, or the id of a program without a name."""
        held, program, known = self.weights, self.program, None
        if program is not None and not self.cells:
            texts = (program.template_text(template) for template in range(program.templates))
            known = known_algorithm(program.layout.names, texts, held.origin.program_id)
        cells = self.pattern if self.cells else None
        return trained_for(known, cells, held.origin.program_id, held.shape.outputs, self._templates)

    @property
    def _templates(self) -> int:
        held = self.weights
        return held.shape.inputs - (0 if isinstance(held, IntegerNetwork) else held.origin.padding)

    def _about_cells(self) -> dict[str, Any]:
        if self.pattern is None or not self.cells:
            return {}
        found: dict[str, Any] = {"kinds": len(self.pattern.kinds), "local_states": self.pattern.local_states}
        if (cells := self.trained_cells) is not None:
            tables = cells.tables
            wrong, margin = (None, None) if tables is None else (tables.wrong, _finite(tables.margin))
            found |= {"wrong": wrong, "margin": margin}
        return found


def wider(weight_bits: int) -> str:
    """Advice for a network whose weights have this many bits."""
    most = WEIGHT_BITS[-1]
    return "use a wider network" + ("" if weight_bits >= most else f", or weights of up to {most} bits")


def as_networks(given: Any) -> list[Any]:
    """One network or several as a list of `Network`; one that was made elsewhere is a `Model`."""
    found: list[Any] = []
    for one in given if isinstance(given, list | tuple) else [given]:
        if isinstance(one, Network | AnyNetwork):
            found.append(one if isinstance(one, Network) else Network(one, None))
            continue
        from bitwright.networks.external import as_model, is_model

        if not is_model(one):
            hint = "; Network.load(path) reads a file" if isinstance(one, str | PathLike) else ""
            raise InputError(f"give a network, or a list of networks, got a {type(one).__name__}{hint}")
        found.append(as_model(one))
    if not found:
        raise InputError("give at least one trained network, or leave it out")
    return found


def load_networks(*paths: str | PathLike[str], what: Algorithm | Program | None = None) -> list[Any]:
    """The networks in these files, and in folders of files, for the program `what`; an ONNX file is a `Model`."""
    found: list[Any] = []
    for path in paths:
        place = as_path(path, "a network file")
        if place.suffix.lower() == ".onnx":
            from bitwright.networks.external import Model

            found.append(Model(place))
        else:
            found += [_loaded(file, what) for file in network_files(place)]
    return found


def _loaded(file: Path, what: Any = None) -> Network:
    """The network in one file, with its program if that is known."""
    about = read_about(file)
    pattern = read_pattern(about.bits, about.examples)
    own = None if what is None else subject(what)
    if pattern is not None:
        return Network(load_any_network(file, pattern.program), pattern)
    if isinstance(own, NodeProgram):
        raise InputError(f"{own.name} is a node program, whose networks are of cells; {file} is of a whole state")
    algorithm = own or known_algorithm(about.bits, about.examples, about.origin.program_id)
    if algorithm is None:
        return Network(read_network(file)[1], None)
    weights = load_any_network(file, algorithm.program)
    return Network(weights, Pattern.of_state(algorithm.program), algorithm, algorithm.name)


def trained_for(known: Algorithm | None, pattern: Pattern | None, program_id: str, bits: int, templates: int) -> str:
    """What a network was trained for: a name and a bit length, kinds of cells, or a program without a name."""
    if pattern is not None:
        kinds, states = counted(len(pattern.kinds), "kind"), counted(pattern.local_states, "local state")
        return f"cells of {kinds} ({counted(templates, 'example')}, {states})"
    if known is None:
        return f"program {program_id[:13]}... ({counted(bits, 'bit')}, {counted(templates, 'template')})"
    return f"{known.name} of {counted(len(known.inputs[0].bits), 'bit')}"


def is_decoder_file(path: Path) -> bool:
    """Whether a file contains a decoder of a transformer."""
    from bitwright.transformers.files import is_decoder_file as is_one

    return is_one(path)


def file_format(path: str | PathLike[str]) -> str:
    """The format of a network file."""
    return read_about(as_path(path, "a network file")).format


def _finite(margin: float) -> float | None:
    """A margin for JSON, which has no infinity: None where nothing is at stake."""
    return margin if isfinite(margin) else None
