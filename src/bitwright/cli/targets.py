"""The program and the networks that the command line names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bitwright.cli.progress import TerminalTeller
from bitwright.common.errors import InputError
from bitwright.verbs.numbers import parse_order
from bitwright.verbs.open import MachineChoice, of_bits, opened

if TYPE_CHECKING:
    from bitwright import Algorithm, NodeProgram, Run


@dataclass(frozen=True)
class Target:
    """A program on the command line: FILE or NAME, --bits, --order, --machine and --let."""

    name: str
    bits: int | None = None
    order: str | None = None
    machine: MachineChoice | None = None
    lets: Mapping[str, int] = field(default_factory=dict)  # values that replace `let` lines of a rule file

    def algorithm(self, *, cells: bool = False, **more: Any) -> Algorithm:
        """Returns the algorithm; with `cells`, a node program is replaced by its first schema."""
        return of_bits(self.program(nodes=cells, **more))

    def program(self, **more: Any) -> Algorithm | NodeProgram:
        """Returns the program; `more` is passed to `opened`."""
        order = None if self.order is None else parse_order(self.order)
        return opened(self.name, bits=self.bits, order=order, machine=self.machine, lets=self.lets, **more)


def open_network(options: dict[str, Any]) -> Any:
    """Removes --network from the options and opens the network."""
    if (file := options.pop("file", None)) is None:
        return None
    if options["engine"] != "network":
        raise InputError(f"--network works only with --engine network, not {options['engine']}; leave out one of them")
    from bitwright.verbs.network import open_network as opened

    return opened(file)


def execute(
    algorithm: Algorithm,
    values: Mapping[str, int],
    *,
    max_steps: int | None,
    network: Any = None,
    **options: Any,
) -> Run:
    """Runs an algorithm with the options of the command line, under a progress bar."""
    from bitwright.verbs.run import run

    done: Run = run(algorithm, values, steps=max_steps, network=network, progress=TerminalTeller(), **options)
    return done
