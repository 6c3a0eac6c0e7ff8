"""Chains with ghost state: letters that also contain a clock and, optionally, the inputs.

The clock tracks the progress of a run. It sweeps through the positions, alternately up and down, and stays at each
position for a number of steps. A letter's clock is a number that never decreases: 0 while it waits for the first sweep,
the next numbers for the steps of that sweep, one number for waiting for the second sweep, and so on. The clock does not
move during the first `delay` steps. If runs take a fixed number of steps, the clock is part of the globals instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bitwright.proofs.function.chain import FIRST, LAST, ChainProgram, ClassOf

Letter = tuple[int, int, int, int]  # class, clock, input (0 if windows omit inputs), bits
Sent = tuple[int, bool]  # bits, and whether the clock moves there


@dataclass(frozen=True)
class Clock:
    """The `sweeps` of a run as (upwards, steps at a position); without sweeps, `fixed` is the total number of steps."""

    sweeps: tuple[tuple[bool, int], ...] = ()
    delay: int = 0  # steps before the first sweep
    early: int = 0  # steps by which the run ends before its last sweep
    fixed: int | None = None

    @cached_property
    def waits(self) -> tuple[int, ...]:
        """The clock of a letter that waits for each sweep, followed by its value after all sweeps."""
        values = [0]
        for _, rate in self.sweeps:
            values.append(values[-1] + rate + 1)
        return tuple(values)

    @property
    def first(self) -> int:
        """The class of the position where the clock starts."""
        return FIRST if self.sweeps[0][0] else LAST

    @property
    def end(self) -> int:
        """The class of the position where the clock ends."""
        return LAST if self.sweeps[-1][0] else FIRST

    def start(self, kind: int) -> int:
        """Returns the initial clock of a letter."""
        if self.fixed is not None or kind != self.first:
            return 0
        return 1 if not self.delay else -self.delay

    def active(self, value: int) -> int | None:
        """Returns the sweep whose last step at a position gives this clock, or None."""
        return self.waits.index(value + 1) - 1 if value + 1 in self.waits[1:] else None

    def sends(self, value: int, kind: int) -> int:
        """Returns 1 if the clock moves to the next higher position, -1 for the next lower one, and otherwise 0."""
        sweep = self.active(value) if self.sweeps and value > 0 else None
        if sweep is None or kind == (LAST if self.sweeps[sweep][0] else FIRST):
            return 0
        return 1 if self.sweeps[sweep][0] else -1

    def after(self, value: int, kind: int, started: bool) -> int:
        """Returns the clock of a letter one step later."""
        if not self.sweeps:
            return 0
        if value < 0:
            return value + 1 or 1
        if value in self.waits:
            return value + 1 if started and value != self.waits[-1] else value
        sweep = self.active(value)
        turns = sweep is not None and sweep + 1 < len(self.sweeps)
        if turns and kind == (LAST if self.sweeps[sweep][0] else FIRST):  # type: ignore[index]
            return value + 2  # the next sweep starts where this one ended
        return value + 1

    def ended(self, value: int, kind: int) -> bool:
        """Whether a letter with this clock ends the run."""
        return bool(self.sweeps) and kind == self.end and value >= self.waits[-1] - self.early

    def to_dict(self) -> dict[str, object]:
        return {
            "sweeps": [["up" if up else "down", rate] for up, rate in self.sweeps],
            "delay": self.delay,
            "early": self.early,
            "fixed": self.fixed,
        }


class Memo(dict[Any, Any]):
    """Caches the results of a function."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def __missing__(self, key: Any) -> Any:
        value = self[key] = self._function(key)
        return value


class ChainMachine:
    """Steps of letters with ghost state.

    `sent[letter]` is what a letter sends below and above, keeps, and adds to the globals. `stops[letter]` is whether it
    ends the run. `made[letter, bits, started]` is the letter one step later, given all bits that are written to it.
    """

    def __init__(self, chain: ChainProgram, clock: Clock, ghosts: bool) -> None:
        self.chain, self.clock, self.ghosts = chain, clock, ghosts
        self.width = len(chain.globals)  # a fixed clock uses the bits above the globals
        self.sent, self.made = Memo(self._sent), Memo(self._made)
        self.stops = Memo(lambda letter: self.ends(letter) or self.halts(letter))

        self.choices = {kind: _subsets(found.free) for kind, found in chain.classes.items()}  # inputs at a position

    def inputs_of(self, letter: Letter) -> Sequence[int]:
        """Returns the possible inputs at a position with this letter."""
        return (letter[2],) if self.ghosts else self.choices[letter[0]]

    def begin(self, kind: int, chosen: int) -> Letter:
        """Returns the initial letter of a position of this class with this input."""
        return kind, self.clock.start(kind), chosen if self.ghosts else 0, self.chain.classes[kind].start | chosen

    def _sent(self, letter: Letter) -> tuple[Sent, Sent, int, int]:
        kind, clock, _, bits = letter
        below, here, above, beyond = applied(self.chain.classes[kind], bits)
        moves = self.clock.sends(clock, kind)
        return (below, moves < 0), (above, moves > 0), here, beyond

    def _made(self, key: tuple[Letter, int, bool]) -> Letter:
        (kind, clock, chosen, _), bits, started = key
        return kind, self.clock.after(clock, kind, started), chosen, bits

    def globals_after(self, state: int) -> int:
        """Returns the bits that the globals write to themselves, with a fixed clock one step later."""
        after = 0
        for rule in self.chain.global_rules:
            if state & rule.mask == rule.value:
                after |= rule.here
        return after | ((state >> self.width) + (self.clock.fixed is not None)) << self.width

    @property
    def start_globals(self) -> int:
        return self.chain.start_globals

    def ends(self, letter: Letter) -> bool:
        """Whether the clock of this letter ends the run."""
        return self.clock.ended(letter[1], letter[0])

    def halts(self, letter: Letter) -> bool:
        """Whether the bit that ends a run is on in this letter."""
        halt = self.chain.halt
        return isinstance(halt, tuple) and halt[0] == letter[0] and bool(letter[3] >> halt[1] & 1)

    def globals_stop(self, state: int) -> bool:
        """Whether the globals end the run, by a bit or by a fixed clock."""
        return self.globals_halt(state) or self.times_out(state)

    def times_out(self, state: int) -> bool:
        """Whether a fixed clock ends the run."""
        return self.clock.fixed is not None and state >> self.width >= self.clock.fixed

    def globals_halt(self, state: int) -> bool:
        """Whether the bit that ends a run is a global that is on."""
        halt = self.chain.halt
        return isinstance(halt, tuple) and halt[0] == 0 and bool(state >> halt[1] & 1)

    def step(self, state: int, word: list[Letter]) -> tuple[int, list[Letter]]:
        """Returns the globals and the word one step later."""
        sent = [self.sent[letter] for letter in word]
        after = self.globals_after(state)
        for _, _, _, beyond in sent:
            after |= beyond
        none = (0, False)
        letters = []
        for place, letter in enumerate(word):
            below = sent[place - 1][1] if place else none
            above = sent[place + 1][0] if place + 1 < len(word) else none
            letters.append(self.made[letter, below[0] | sent[place][2] | above[0], below[1] or above[1]])
        return after, letters


def applied(class_: ClassOf, bits: int) -> tuple[int, int, int, int]:
    """Returns the bits that the rules of a class write to the left, here, to the right and to globals."""
    left = here = right = beyond = 0
    for rule in class_.rules:
        if bits & rule.mask == rule.value:
            left |= rule.to_left
            here |= rule.here
            right |= rule.to_right
            beyond |= rule.to_globals
    return left, here, right, beyond


def _subsets(mask: int) -> list[int]:
    """Returns all submasks of a mask, the largest first."""
    masks = [mask]
    while masks[-1]:
        masks.append((masks[-1] - 1) & mask)
    return masks
