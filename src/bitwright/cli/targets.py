"""Opens the program of NAME or FILE on the command line, and builds the command that trains a network for it."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli.changes import INSTEAD
from bitwright.cli.progress import working
from bitwright.common.errors import InputError
from bitwright.verbs.numbers import parse_order, parse_values
from bitwright.verbs.open import IMAGES, NAMES, MachineChoice, of_bits, opened

if TYPE_CHECKING:
    from bitwright import Algorithm, NodeProgram


_SPELT = {
    "diagram": "-o",
    "executions": "--from",
    "files": "--network",
    "float": "--weight-bits float",
    "inputs": "NAME=VALUE",
    "instructions": "--max-steps",
    "output": "-o",
    "path": "-o",
    "steps": "--max-steps",
    "what": "--program",
    "words": "--machine",
}


def spell_option(setting: str) -> str:
    """The command-line option for a setting; `setting=` if only Python has it."""
    option = _SPELT.get(setting, f"--{setting.replace('_', '-')}")
    return f"{setting}=" if option in INSTEAD else option


_TARGET = "bitwright.target"  # keys of the program and of --sizes in the context
_SIZES = "bitwright.sizes"
_NO_RULES = (".sbn", ".safetensors", *IMAGES)


def _kept() -> dict[str, Any]:
    """Values that the running command keeps for error messages."""
    context = click.get_current_context(silent=True)
    return {} if context is None else context.meta


def lets_for(target: str | None, pairs: Sequence[str]) -> dict[str, int]:
    """The values of --let by name; raises InputError if there are any and the target is not a rule file."""
    path = Path(target or "")
    if (lets := parse_values(pairs, "--let")) and (
        target in (None, *NAMES) or path.suffix.lower() in _NO_RULES or path.is_dir()
    ):
        raise InputError("--let goes with rule files (.bw), where it replaces the value of a 'let' line")
    return lets


def open_network(options: dict[str, Any]) -> list[Any]:
    """Removes --network from the options and opens the networks."""
    if not (files := options.pop("files", ())):
        return []
    if options["engine"] != "network":
        raise InputError(f"--network goes with --engine network, not {options['engine']}; leave out one of them")
    from bitwright.verbs.network import load_networks

    return load_networks(*files)


def option_words(given: Mapping[str, object]) -> list[str]:
    """Options as words of a command; None and False are left out, and True is a flag."""
    words = []
    for name, value in given.items():
        if value is not None and value is not False:
            words += [spell_option(name), *([] if value is True else [str(value)])]
    return words


@dataclass(frozen=True)
class Target:
    """A program on the command line: FILE or NAME, --bits, --order, --machine and --let."""

    name: str
    bits: int | None = None
    order: str | None = None
    machine: MachineChoice | None = None
    lets: Mapping[str, int] = field(default_factory=dict)  # values that replace `let` lines of a rule file

    def algorithm(self, *, cells: bool = False, **more: Any) -> Algorithm:
        """The algorithm; with `cells`, a node program gives its first schema."""
        return of_bits(self.program(nodes=cells, **more))

    def program(self, **more: Any) -> Algorithm | NodeProgram:
        """The program; `more` is passed to `opened`."""
        order = None if self.order is None else parse_order(self.order)
        with working("reading the program"):
            found = opened(self.name, bits=self.bits, order=order, machine=self.machine, lets=self.lets, **more)
        keep_program(self, of_bits(found))
        return found

    def let_words(self, without: Container[str] = ()) -> list[str]:
        """The --let options that were given, as words of a command."""
        lets = (f"{name}={value}" for name, value in self.lets.items() if name not in without)
        return [word for let in lets for word in ("--let", let)]


def keep_program(target: Target, algorithm: Algorithm) -> None:
    """Keeps the first program of the command line, so that an error can name it."""
    _kept().setdefault(_TARGET, (target, algorithm))


def asked_program() -> tuple[Target, Algorithm] | None:
    """The first program of the command line; None before it is read."""
    return _kept().get(_TARGET)


def keep_sizes(sizes: str | None, lets: Mapping[str, int]) -> str | None:
    """Keeps --sizes for `training_command`; raises InputError for a number that --let also sets."""
    asked = {part.partition("=")[0].strip() for part in (sizes or "").split(",") if "=" in part}
    for name in asked & set(lets):
        raise InputError(f"{name} is set by both --sizes and --let; leave out one of them")
    if sizes not in (None, "all") and not asked and lets:
        raise InputError(f"with --let, --sizes must name its number: --sizes NAME={sizes}")
    if sizes is not None:
        _kept()[_SIZES] = sizes
    return sizes


def training_command(target: Target, algorithm: Algorithm) -> str:
    """The command that trains a network for all cells of this program, at the sizes of --sizes."""
    from bitwright.verbs import sizes as api

    own, sizes = api.numbers_of(algorithm), _kept().get(_SIZES)
    if sizes is None and own and api.knows_every_size(algorithm):
        sizes = "all"
    varied = {part.partition("=")[0] for part in (sizes or "").split(",")}
    words = [*option_words({"sizes": sizes}), *target.let_words(without=varied)]
    bits = own.get(api.BITS) if sizes is None and target.order is None else None
    words += option_words({"order": target.order, "bits": bits, "machine": target.machine})
    return " ".join(["bitwright train", target.name, *words, "-o FILE"])
