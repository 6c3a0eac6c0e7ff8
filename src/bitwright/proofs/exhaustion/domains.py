"""What a proof by exhaustion speaks of: all states of a program, or all states that runs of its inputs meet."""

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
MAX_NUMBER = 1 << 62  # numbers of states are below it, and so fit an int64, however many states there are
ALL = slice(None)  # bits
_COUNTED = 1 << 16  # inputs whose steps are counted beforehand
_TILE = 4_096  # states that are looked at together
Place = tuple[int, int]  # where a state is: its number and 0, or the number of an input and a step
Look = Callable[[BoolArray, IntArray, int, int, slice], None]  # matched examples, numbers, step, how often, bits


def make_domain(algorithm: Algorithm, name: str, pattern: Pattern | None = None) -> Domain:
    """The domain of this name; without a pattern, that of the algorithm's own program."""
    check_domain(algorithm.program, name)
    return RunsDomain(algorithm) if name == "runs" else StatesDomain(pattern or every_cell(algorithm.program))


def check_domain(program: Program, name: str) -> None:
    """Raises InputError unless a network of this program can be proved for a domain of this name.

    A pattern is no program that runs: its cells stand side by side, and each is looked at alone. So the local states of
    its cells are all that can be said of its network.
    """
    check_choice("domain", name, DOMAINS)
    of_cells = is_pattern(program)
    if of_cells and name != "cells":
        raise InputError(
            f"cells is the only domain of a network of cells, all their local states; got {name}, leave it out"
        )
    if not of_cells and name == "cells":
        raise InputError("the domain cells is for networks that were trained on cells; choose states or runs")


def usual_domain(program: Program) -> str:
    """The domain where none is named."""
    return "cells" if is_pattern(program) else "states"


@dataclass(frozen=True, eq=False)
class StatesDomain:
    """Every local state of every kind of a pattern, each kind alone, its own ports only; kinds one after the other.

    States that make the same choices match the same examples, and so are one to the rules and to the network.
    """

    pattern: Pattern

    @property
    def name(self) -> str:
        """`states` of a whole program, or of `cells`."""
        return "cells" if self.pattern.whole is None else "states"

    @property
    def program(self) -> Program:
        return self.pattern.program

    @cached_property
    def first(self) -> list[int]:
        """Where the numbers of each kind begin, and where all end."""
        return [0, *accumulate(kind.local_states for kind in self.pattern.kinds)]

    @property
    def size(self) -> int:
        return self.pattern.local_states

    def count_states(self) -> int:
        """How many local states will be tried."""
        return self.size

    def visit(self, first: int, last: int, look: Look) -> None:
        pattern = self.pattern
        for kind, (begin, end) in enumerate(pairwise(self.first)):
            for at in range(max(first, begin), min(last, end), _TILE):
                numbers = np.arange(at, min(at + _TILE, last, end))
                look(pattern.matched(kind, numbers - begin), numbers, 0, 1, pattern.port_bits(kind))

    def kind_at(self, place: Place) -> int:
        """The kind whose local state is at a place."""
        return bisect_right(self.first, place[0]) - 1

    def state(self, place: Place) -> BoolArray:
        """The local state as one of the pattern; other cells have all bits off, whatever that matches."""
        kind = self.kind_at(place)
        templates = np.flatnonzero(self.pattern.matched(kind, np.array([place[0] - self.first[kind]]))[0])
        own = self.program.template_block[self.pattern.templates_of(kind)]
        blocks = range(self.program.blocks) if self.pattern.whole is not None else np.unique(own).tolist()
        return _state_that_matches(self.program, templates, blocks)

    def describe(self) -> dict[str, Any]:
        return {"domain": self.name}


@dataclass(frozen=True, eq=False)
class RunsDomain:
    """Every state that a run of some input steps from, by the rules; inputs are counted as `validate` counts them."""

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
            raise InputError(f"{self.algorithm.name} has {bits} input bits; every input can be run up to 40")
        return 1 << bits

    @cached_property
    def limit(self) -> int:
        """Steps in which every run must end."""
        return step_limit(self.algorithm, None)

    def starts(self, first: int, last: int) -> BoolArray:  # (inputs, k)
        """The start states of these inputs: the first input's lowest bit changes fastest."""
        numbers = np.arange(first, last)
        return self.algorithm.states(numbers[:, None] >> np.arange(len(self.algorithm.input_bits)) & 1 == 1)

    def visit(self, first: int, last: int, look: Look) -> None:
        algorithm = self.algorithm
        watching = _Visitor(PackedRules(self.program), look, first)
        ends = drive(RuleEngine(self.program), self.starts(first, last), ending_of(algorithm), self.limit, [watching])
        self.check_ended(bool(ends.halted.all()))

    def count_states(self) -> int | None:
        """How many states will be tried; None where counting them would take long. The rules' own loops count."""
        if self.algorithm.halt is None:
            return self.size * self.limit
        if self.size > _COUNTED:
            return None
        from bitwright.runs.sliced import SlicedRuns, counting
        from bitwright.theory.decisions import decide

        runs = SlicedRuns(self.algorithm, self.limit, decide(self.program, 1, None))
        done = runs.run(counting(0, -(-self.size // 64), len(self.algorithm.input_bits)), self.size)
        self.check_ended(not done.unfinished.any())
        return done.evaluations

    def check_ended(self, ended: bool) -> None:
        if not ended:
            raise InputError(
                f"{self.algorithm.name} does not end within {self.limit:,} steps for every input, so its runs have no "
                "last state; use --domain states"
            )

    def kind_at(self, place: Place) -> int:  # noqa: ARG002
        """The one kind of cell that there is."""
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


# States to go through, in parts: which of them are in a part depends on the domain and its size alone.
Domain = StatesDomain | RunsDomain


class _Visitor(Observer):
    """Shows every state before it is stepped from."""

    every_step = True

    def __init__(self, rules: PackedRules, look: Look, first: int) -> None:
        self._rules, self._look, self._first = rules, look, first

    def before(self, view: View) -> None:
        self._show(view, 1)

    def repeated(self, view: View, times: int) -> None:
        """States that stay as they are count each time they are stepped from."""
        self._show(view, times)

    def _show(self, view: View, times: int) -> None:
        matched = self._rules.matched(view.batch.states()[view.running])
        self._look(matched, self._first + view.rows[view.running], view.step, times, ALL)


def _state_that_matches(program: Program, templates: IntArray, blocks: Iterable[int]) -> BoolArray:  # (k,)
    """A state that matches these templates and, in these blocks, no others; bits of other blocks are off."""
    config = np.zeros(program.blocks, dtype=np.int64)
    for block in blocks:
        config[block] = _first_without(program, block)
    config[program.template_block[templates]] = program.template_config[templates]
    state = np.zeros(program.bits, dtype=bool)
    state[program.block_bits] = config[program.block_of[program.block_bits]] >> program.position[program.block_bits] & 1
    return state


def _first_without(program: Program, block: int) -> int:
    """The smallest configuration of a block that has no template; 0 where all have one."""
    taken = set(program.template_config[program.template_block == block].tolist())
    return next((config for config in range(1 << len(program.block_members(block))) if config not in taken), 0)
