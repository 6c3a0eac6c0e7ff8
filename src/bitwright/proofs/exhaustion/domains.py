"""The domains of proofs by exhaustion: all states of a program, or all states in runs of its inputs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError, check_choice
from bitwright.engines.rules import RuleEngine
from bitwright.rules import Algorithm, Program
from bitwright.rules.layout import IntArray
from bitwright.rules.pattern import Pattern, every_cell, is_pattern
from bitwright.runs.loop import drive, ending_of, step_limit
from bitwright.runs.observers import Observer, View
from bitwright.theory.encoding import PackedRules

DOMAINS = ("states", "runs", "cells")
MAX_INPUT_BITS = 40
MAX_NUMBER = 1 << 62  # exclusive bound on numbers of states, so that they fit an int64
ALL = slice(None)  # bits
_TILE = 4_096  # states processed together
Place = tuple[int, int]  # the number of a state and 0, or the number of an input and a step
Look = Callable[[BoolArray, IntArray, int, int, slice], None]  # matched examples, numbers, step, how often, bits


def make_domain(algorithm: Algorithm, name: str, pattern: Pattern | None = None) -> Domain:
    """Returns the domain with this name, by default for the algorithm's own program."""
    check_domain(algorithm.program, name)
    return RunsDomain(algorithm) if name == "runs" else StatesDomain(pattern or every_cell(algorithm.program))


def check_domain(program: Program, name: str) -> None:
    """Raises InputError unless a network for this program can be proved in the domain with this name.

    The cells of a pattern are not connected, and a pattern does not run as a program. A network for a pattern can
    therefore only be proved in the local states of its cells.
    """
    check_choice("domain", name, DOMAINS)
    of_cells = is_pattern(program)
    if of_cells and name != "cells":
        raise InputError(f"the domain of a network of cells must be cells (all local states), got {name}; omit it")
    if not of_cells and name == "cells":
        raise InputError("the domain cells requires a network of cells; for this network, use states or runs")


def usual_domain(program: Program) -> str:
    """Returns the name of the default domain."""
    return "cells" if is_pattern(program) else "states"


@dataclass(frozen=True, eq=False)
class StatesDomain:
    """Every local state of every kind of a pattern, kind by kind; only the ports of that kind are checked.

    Configurations that match the same examples count as one state, since rules and network do not distinguish them.
    """

    pattern: Pattern

    @property
    def name(self) -> str:
        """`states` for a whole program, or `cells`."""
        return "cells" if self.pattern.whole is None else "states"

    @property
    def program(self) -> Program:
        return self.pattern.program

    @cached_property
    def first(self) -> list[int]:
        """The first number of each kind, followed by the end."""
        return [0, *accumulate(kind.local_states for kind in self.pattern.kinds)]

    @property
    def size(self) -> int:
        return self.pattern.local_states

    def visit(self, first: int, last: int, look: Look) -> None:
        pattern = self.pattern
        for kind, (begin, end) in enumerate(pairwise(self.first)):
            for at in range(max(first, begin), min(last, end), _TILE):
                numbers = np.arange(at, min(at + _TILE, last, end))
                look(pattern.matched(kind, numbers - begin), numbers, 0, 1, pattern.port_bits(kind))

    def kind_at(self, place: Place) -> int:
        """Returns the kind of the local state at a place."""
        return bisect_right(self.first, place[0]) - 1

    def state(self, place: Place) -> BoolArray:
        """Returns the local state as a state of the pattern in which all bits of other cells are off."""
        kind = self.kind_at(place)
        templates = np.flatnonzero(self.pattern.matched(kind, np.array([place[0] - self.first[kind]]))[0])
        own = self.program.template_block[self.pattern.templates_of(kind)]
        blocks = range(self.program.blocks) if self.pattern.whole is not None else np.unique(own).tolist()
        return _state_that_matches(self.program, templates, blocks)

    def describe(self) -> dict[str, Any]:
        return {"domain": self.name}


@dataclass(frozen=True, eq=False)
class RunsDomain:
    """Every state before a step in the rules' run of some input; inputs are numbered as in `validate`."""

    algorithm: Algorithm
    name = "runs"

    @property
    def pattern(self) -> Pattern:
        return Pattern.of_state(self.program)

    @property
    def program(self) -> Program:
        return self.algorithm.program

    @cached_property
    def size(self) -> int:
        bits = len(self.algorithm.input_bits)
        if bits > MAX_INPUT_BITS:
            raise InputError(
                f"{self.algorithm.name} has {bits} input bits, but at most {MAX_INPUT_BITS} are supported for running "
                "every input; use --domain states"
            )
        return 1 << bits

    @cached_property
    def limit(self) -> int:
        """The number of steps within which every run must end."""
        return step_limit(self.algorithm, None)

    def starts(self, first: int, last: int) -> BoolArray:  # (inputs, k)
        """Returns the start states of these inputs; the first input's lowest bit changes fastest."""
        numbers = np.arange(first, last)
        return self.algorithm.states(numbers[:, None] >> np.arange(len(self.algorithm.input_bits)) & 1 == 1)

    def visit(self, first: int, last: int, look: Look) -> None:
        algorithm = self.algorithm
        watching = _Visitor(PackedRules(self.program), look, first)
        ends = drive(RuleEngine(self.program), self.starts(first, last), ending_of(algorithm), self.limit, [watching])
        self.check_ended(bool(ends.halted.all()))

    def check_ended(self, ended: bool) -> None:
        """Raises InputError unless all runs have ended."""
        if not ended:
            raise InputError(
                f"{self.algorithm.name} does not end within {self.limit:,} steps for every input; use --domain states"
            )

    def kind_at(self, place: Place) -> int:  # noqa: ARG002
        """Returns 0, the only kind."""
        return 0

    def state(self, place: Place) -> BoolArray:
        batch = RuleEngine(self.program).begin(self.starts(place[0], place[0] + 1))
        for _ in range(place[1]):
            batch.step()
        return np.asarray(batch.states()[0])

    def describe(self) -> dict[str, Any]:
        algorithm, name_of = self.algorithm, self.program.layout.name_of
        halt = algorithm.halt
        return {
            "domain": self.name,
            "inputs": [name_of(bit) for bit in algorithm.input_bits.tolist()],
            "start": [name_of(bit) for bit in algorithm.start],
            "halt": name_of(halt) if isinstance(halt, int) else halt,
            "steps": self.limit,
        }


Domain = StatesDomain | RunsDomain


class _Visitor(Observer):
    """Reports every state before a step."""

    every_step = True

    def __init__(self, rules: PackedRules, look: Look, first: int) -> None:
        self._rules, self._look, self._first = rules, look, first

    def before(self, view: View) -> None:
        self._show(view, 1)

    def repeated(self, view: View, times: int) -> None:
        """Counts unchanging states once for each step."""
        self._show(view, times)

    def _show(self, view: View, times: int) -> None:
        matched = self._rules.matched(view.batch.states()[view.running])
        self._look(matched, self._first + view.rows[view.running], view.step, times, ALL)


def _state_that_matches(program: Program, templates: IntArray, blocks: Iterable[int]) -> BoolArray:  # (k,)
    """Returns a state that matches these templates and no others in these blocks; all other bits are off."""
    config = np.zeros(program.blocks, dtype=np.int64)
    for block in blocks:
        config[block] = _first_without(program, block)
    config[program.template_block[templates]] = program.template_config[templates]
    state = np.zeros(program.bits, dtype=bool)
    state[program.block_bits] = config[program.block_of[program.block_bits]] >> program.position[program.block_bits] & 1
    return state


def _first_without(program: Program, block: int) -> int:
    """Returns the smallest configuration of a block without a template, or 0 if there is none."""
    taken = set(program.template_config[program.template_block == block].tolist())
    return next((config for config in range(1 << len(program.block_members(block))) if config not in taken), 0)
