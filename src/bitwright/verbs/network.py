"""Trained networks: their weights, the program or cells that they are for, and what is proved about them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from bitwright.common.errors import InputError, Report, counted, readable, thousandths
from bitwright.common.files.storage import as_path
from bitwright.common.lazy import Shown
from bitwright.engines.cells.network import CellTables, are_few, network_decider
from bitwright.networks import IntegerNetwork
from bitwright.networks.store import load_network, network_file, read_about, read_network, save_network
from bitwright.rules import Algorithm, Program
from bitwright.rules.algorithms.arithmetic import known_algorithm
from bitwright.rules.pattern import Pattern, read_pattern
from bitwright.verbs.open import as_algorithm, is_node_program, subject

if TYPE_CHECKING:
    from bitwright.engines.protocol import Engine
    from bitwright.exports.claims import ExportClaim
    from bitwright.networks.quantize import Cost
    from bitwright.verbs.certificates import Certificate
    from bitwright.verbs.engines import EngineSettings

_OF_ORIGIN = ("seed", "descent", "tolerance", "error", "steps", "trainer", "kernel")


@dataclass(frozen=True, eq=False)
class Training:
    """How a network was trained; network files do not record it."""

    cost: Cost  # of quantizing
    loss: float
    seeds: int  # that were tried
    seconds: float = 0.0
    problem: str | None = None  # why local states are wrong, and what to do about it

    def to_dict(self) -> dict[str, Any]:
        """Returns what `bitwright train --json` prints in addition to the facts of the network."""
        return {
            "loss": self.loss,
            "seeds_tried": self.seeds,
            "sample_states": self.cost.states,
            "sample_margin_before": _finite(self.cost.margin_before),
            "sample_margin": _finite(self.cost.margin),
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Network(Shown, Report):
    """Integer weights, and the program or the kinds of cells that they are for.

    A network of cells runs every program made of its kinds of cells. A whole-state network treats all blocks as one
    cell, and runs one program at one size.

    >>> from bitwright import addition, run, train
    >>> train(addition(4)).save("adder.safetensors")
    >>> adder = Network.load("adder.safetensors")
    >>> adder.proved, run(addition(200), p=2**199, q=2**199, network=adder).value == 2**200
    (True, True)
    >>> print(adder.sentence)
    2 kinds of cells, 8 examples; width 32, 704 bytes of weights
    """

    weights: IntegerNetwork
    pattern: Pattern | None  # its cells; None if the program of a whole-state file is not known
    algorithm: Algorithm | None = None  # for a whole-state network, its program
    name: str | None = None  # of its program, if known
    training: Training | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.weights, IntegerNetwork):
            raise InputError(f"a Network needs integer weights, got a {type(self.weights).__name__}")
        if self.program is not None and self.weights.origin.program_id != self.program.id:
            raise InputError("these weights were trained for another program")

    @property
    def program(self) -> Program | None:
        """The program it was trained on: one cell of each kind."""
        return None if self.pattern is None else self.pattern.program

    @property
    def cells(self) -> bool:
        """Whether it is a network of cells, as opposed to a whole-state network."""
        return self.pattern is not None and self.pattern.whole is None

    @property
    def width(self) -> int:
        """The number of hidden units."""
        return self.weights.shape.width

    @property
    def digest(self) -> str:
        """The sha256 of everything that determines the network's outputs, and of its origin."""
        return self.weights.digest

    @cached_property
    def tables(self) -> CellTables | None:
        """Its outputs in every local state; None if there are too many, or if its program is not known."""
        if self.pattern is None or not are_few(self.pattern, self.width):
            return None
        return CellTables(network_decider(self.pattern, self.weights), range(len(self.pattern.kinds)))

    @cached_property
    def claim(self) -> ExportClaim | None:
        """The result of checking all its states; None if the program is not known."""
        from bitwright.exports.claims import ExportClaim, claim_of

        if self.pattern is None:
            return None
        if self.tables is not None:
            return ExportClaim(self.cells, self.tables.states, self.tables.wrong)
        return claim_of(self.weights, self.pattern)

    @property
    def proved(self) -> bool:
        """Whether it is correct in every state, or in every local state of its cells."""
        return self.claim is not None and self.claim.proved

    @property
    def sentence(self) -> str:
        """A one-line description."""
        of = "the whole state"
        if self.cells and self.pattern is not None:
            of = f"{counted(len(self.pattern.kinds), 'kind')} of cells"
        bits = "" if self.weights.weight_bits == 8 else f"{self.weights.weight_bits}-bit "
        size = f"width {self.width:,}, {self.weights.bytes:,} bytes of {bits}weights"
        return f"{of}, {counted(self._templates, 'example')}; {size}"

    def __repr__(self) -> str:
        return f"Network: {self.sentence}"

    def rows(self) -> list[str]:
        """Returns what is known about the local states that it was trained on.

        >>> from bitwright import addition, train
        >>> train(addition(4)).rows()[0].partition(";")[0]
        'proved on all 16 local states'
        """
        if self.pattern is None:
            return []
        what, tables = "local state" if self.cells else "state", self.tables
        if tables is None:
            return [f"not proved: its {readable(self.pattern.local_states)} {what}s are too many to check"]
        states = counted(tables.states, what)
        verdict = f"{states}, {tables.wrong:,} wrong" if tables.wrong else f"proved on all {states}"
        margin = f"; smallest margin {thousandths(tables.margin)}" if isfinite(tables.margin) else ""
        exact = ": it runs every program of these kinds exactly, whatever its size" if self.cells else ""
        return [f"{verdict}{margin}{exact if not tables.wrong else ''}"]

    def engine(self, what: Algorithm | Program, **settings: Unpack[EngineSettings]) -> Engine:
        """Returns the engine that runs a program with this network; its settings are those of `run`.

        >>> from bitwright import addition, train
        >>> train(addition(4)).engine(addition(12)).cell_facts["local_states"]
        16
        """
        from bitwright.verbs.engines import engine_for

        return engine_for(as_algorithm(what), None, self, settings)

    def save(self, path: str | PathLike[str], certificate: Certificate | None = None) -> None:
        """Writes the network to a .safetensors file or to a folder, either of which `load` reads.

        A name without a suffix is a folder, ready for the Hugging Face Hub: model.safetensors, config.json, a model
        card and the `certificate`. If none is given, one is made by checking all states, provided there are few.

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
            raise InputError("the program of this network is unknown; load it with its program: load(path, program)")
        place = as_path(path, "a network file")
        if is_folder(place, path):
            save_folder(self, place, certificate)
        elif certificate is not None:
            raise InputError(
                f"a certificate is saved only with a folder, got {place}; use certificate.save(path) instead"
            )
        else:
            save_network(self.weights, self.program, place)

    @classmethod
    def load(cls, path: str | PathLike[str], what: Any = None) -> Network:
        """Reads a network from a file or folder, after checking that it is unchanged.

        The file of a whole-state network names its program only if the program ships with bitwright; otherwise, pass
        the program as `what`.

        >>> from bitwright import addition, train
        >>> train(addition(3), tile="all", width=256).save("whole.safetensors")
        >>> Network.load("whole.safetensors").trained_for
        'addition of 3 bits'
        """
        file = network_file(as_path(path, "a network file"))
        about = read_about(file)
        pattern = read_pattern(about.bits, about.examples)
        own = None if what is None else subject(what)
        if pattern is not None:
            return Network(load_network(file, pattern.program), pattern)
        if is_node_program(own):
            raise InputError(f"{own.name} is a node program and needs a network of cells; {file} is for a whole state")
        algorithm = own or known_algorithm(about.bits, about.examples, about.origin.program_id)
        if algorithm is None:
            return Network(read_network(file)[1], None)
        weights = load_network(file, algorithm.program)
        return Network(weights, Pattern.of_state(algorithm.program), algorithm, algorithm.name)

    def to_torch(self, what: Any) -> Any:
        """Returns a program's step as a PyTorch module; `module(states, steps=1)` returns the states after that many.

        States are tensors of 0 and 1 with any number of leading dimensions, on any device; the resulting bits are those
        of the engine. `what` is any program made of the network's kinds of cells or, for a whole state, its program.

        >>> import torch
        >>> from bitwright import addition, train
        >>> adder, network = addition(9), train(addition(4))
        >>> states = torch.tensor(adder.state({"p": 300, "q": 11}))[None]
        >>> adder.read(network.to_torch(adder)(states, steps=adder.steps)[0].numpy())
        {'sum': 311}
        """
        from bitwright.networks.descent import torch_module

        torch_module()
        from bitwright.engines.torch_step import StepModule

        program = as_algorithm(subject(what)).program  # type: ignore[arg-type]
        return StepModule(program, self.weights, self.pattern or Pattern.of_state(program))

    def to_dict(self) -> dict[str, Any]:
        """Returns all facts about the network, as `bitwright show --json` and `bitwright train --json` print them.

        >>> from bitwright import addition, train
        >>> facts = train(addition(4)).to_dict()
        >>> facts["claim"], facts["wrong"], facts["width"]
        ('proved on all 16 local states', 0, 32)
        """
        held, origin, claim, about = self.weights, self.weights.origin, self.claim, dict[str, Any]()
        if self.pattern is not None and self.cells:
            wrong, margin = (None, None) if self.tables is None else (self.tables.wrong, _finite(self.tables.margin))
            about = {"kinds": len(self.pattern.kinds), "local_states": self.pattern.local_states}
            about |= {"wrong": wrong, "margin": margin}
        return {
            "name": self.name,
            "trained_for": self.trained_for,
            "program_id": origin.program_id,
            "cells": self.cells,
            **about,
            "weight_bits": held.weight_bits,
            "bits": held.shape.outputs,
            "templates": self._templates,
            "examples": self._templates + origin.padding,
            "padding": origin.padding,
            "width": self.width,
            **{name: getattr(origin, name) for name in _OF_ORIGIN},
            **({} if origin.executions is None else {"executions": asdict(origin.executions)}),
            "bytes": held.bytes,
            "digest": self.digest,
            "tensors": held.tensors_sha256,
            "claim": "not proved" if claim is None or claim.wrong is None else claim.note,
            "proved": self.proved,
            **({} if self.training is None else self.training.to_dict()),
        }

    @property
    def trained_for(self) -> str:
        """What it was trained for: a shipped program and its bit length, kinds of cells, or the id of a program."""
        held, examples = self.weights, counted(self._templates, "example")
        if self.pattern is not None and self.cells:
            kinds, states = counted(len(self.pattern.kinds), "kind"), counted(self.pattern.local_states, "local state")
            return f"cells of {kinds} ({examples}, {states})"
        program, known = self.program, None
        if program is not None:
            texts = (program.template_text(template) for template in range(program.templates))
            known = known_algorithm(program.layout.names, texts, held.origin.program_id)
        if known is not None:
            return f"{known.name} of {counted(len(known.inputs[0].bits), 'bit')}"
        bits, templates = counted(held.shape.outputs, "bit"), counted(self._templates, "template")
        return f"program {held.origin.program_id[:13]}... ({bits}, {templates})"

    @property
    def _templates(self) -> int:
        return self.weights.shape.inputs


def as_network(given: Any) -> Any:
    """Returns a `Network` unchanged, and converts any other network to a `Model`."""
    if isinstance(given, Network):
        return given
    if isinstance(given, IntegerNetwork):
        return Network(given, None)
    from bitwright.networks.external import as_model, is_model

    if not is_model(given):
        hint = "; Network.load(path) reads a file" if isinstance(given, str | PathLike) else ""
        raise InputError(f"give one network, got a {type(given).__name__}{hint}")
    return as_model(given)


def open_network(path: Path) -> Any:
    """Reads the network in a file; an ONNX file yields a `Model`."""
    if path.suffix.lower() != ".onnx":
        return Network.load(path)
    from bitwright.networks.external import Model

    return Model(path)


def is_decoder_file(path: Path) -> bool:
    """Whether a file contains a decoder of a transformer."""
    from bitwright.transformers.files import is_decoder_file as is_one

    return is_one(path)


def _finite(margin: float) -> float | None:
    """Returns a margin for JSON, which has no infinity; None if there is nothing to decide."""
    return margin if isfinite(margin) else None
