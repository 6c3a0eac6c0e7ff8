"""A chain with ghosts: letters that also hold a clock and, if wanted, the inputs.

The clock says how far a run is. It goes through the positions in sweeps, up and down by turns, and stays a number of
steps at each position. A letter's clock is a number that only grows: 0 is waiting for the first sweep, then a number
for each step of it, then one for waiting for the next sweep, and so on. For `delay` steps at first it does not move. A
run that takes a fixed number of steps has its clock in the globals instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bitwright.proofs.function.chain import FIRST, LAST, ChainProgram, ClassOf

Letter = tuple[int, int, int, int]  # class, clock, input (0 where windows leave inputs out), bits
Sent = tuple[int, bool]  # bits, and whether the clock goes on there


@dataclass(frozen=True)
class Clock:
    """`sweeps` of (upwards, steps at a position); without sweeps, `fixed` steps in all."""

    sweeps: tuple[tuple[bool, int], ...] = ()
    delay: int = 0  # steps before the first sweep
    early: int = 0  # steps that the run ends before the last sweep does
    fixed: int | None = None

    @cached_property
    def waits(self) -> tuple[int, ...]:
        """The clock of a letter that waits for each sweep; the last: for nothing more."""
        found = [0]
        for _, rate in self.sweeps:
            found.append(found[-1] + rate + 1)
        return tuple(found)

    @property
    def first(self) -> int:
        """The class of the position where it starts."""
        return FIRST if self.sweeps[0][0] else LAST

    @property
    def end(self) -> int:
        """The class of the position where it ends."""
        return LAST if self.sweeps[-1][0] else FIRST

    def start(self, kind: int) -> int:
        if self.fixed is not None or kind != self.first:
            return 0
        return 1 if not self.delay else -self.delay

    def active(self, value: int) -> int | None:
        """The sweep that a letter with this clock has just finished a step of, if it was the last step here."""
        return self.waits.index(value + 1) - 1 if value + 1 in self.waits[1:] else None

    def sends(self, value: int, kind: int) -> int:
        """1 where the clock goes on above, -1 below, 0 where it does not move from here."""
        sweep = self.active(value) if self.sweeps and value > 0 else None
        if sweep is None or kind == (LAST if self.sweeps[sweep][0] else FIRST):
            return 0
        return 1 if self.sweeps[sweep][0] else -1

    def after(self, value: int, kind: int, started: bool) -> int:
        """The clock of a letter one step later."""
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
        """Whether a letter says that the run is over."""
        return bool(self.sweeps) and kind == self.end and value >= self.waits[-1] - self.early

    def to_dict(self) -> dict[str, object]:
        return {
            "sweeps": [["up" if up else "down", rate] for up, rate in self.sweeps],
            "delay": self.delay,
            "early": self.early,
            "fixed": self.fixed,
        }


class Memo(dict[Any, Any]):
    """What a function makes of keys; each is made once."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self._make = make

    def __missing__(self, key: Any) -> Any:
        value = self[key] = self._make(key)
        return value


class ChainMachine:
    """Steps of letters with ghosts.

    By letter, `sent` is what it sends below and above, what it keeps, and what it adds to the globals; `stops` says
    whether its run is over. `made[letter, bits, started]` is the letter one step later, of all bits that are written to
    it.
    """

    def __init__(self, chain: ChainProgram, clock: Clock, ghosts: bool) -> None:
        self.chain, self.clock, self.ghosts = chain, clock, ghosts
        self.width = len(chain.globals)  # the time of a fixed clock stands above the globals
        self.sent, self.made = Memo(self._sent), Memo(self._made)
        self.stops = Memo(lambda letter: self.ends(letter) or self.halts(letter))

        self.choices = {kind: _subsets(found.free) for kind, found in chain.classes.items()}  # inputs at a position

    def inputs_of(self, letter: Letter) -> Sequence[int]:
        """The inputs that a position with this letter may have."""
        return (letter[2],) if self.ghosts else self.choices[letter[0]]

    def begin(self, kind: int, chosen: int) -> Letter:
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
        """What the globals write to themselves, one step later on a fixed clock."""
        found = 0
        for rule in self.chain.global_rules:
            if state & rule.mask == rule.value:
                found |= rule.here
        return found | ((state >> self.width) + (self.clock.fixed is not None)) << self.width

    @property
    def start_globals(self) -> int:
        return self.chain.start_globals

    def ends(self, letter: Letter) -> bool:
        """Whether the clock of this letter says that the time is up."""
        return self.clock.ended(letter[1], letter[0])

    def halts(self, letter: Letter) -> bool:
        halt = self.chain.halt
        return isinstance(halt, tuple) and halt[0] == letter[0] and bool(letter[3] >> halt[1] & 1)

    def globals_stop(self, state: int) -> bool:
        return self.globals_halt(state) or self.times_out(state)

    def times_out(self, state: int) -> bool:
        return self.clock.fixed is not None and state >> self.width >= self.clock.fixed

    def globals_halt(self, state: int) -> bool:
        halt = self.chain.halt
        return isinstance(halt, tuple) and halt[0] == 0 and bool(state >> halt[1] & 1)

    def step(self, state: int, word: list[Letter]) -> tuple[int, list[Letter]]:
        """Globals and word one step later."""
        sent = [self.sent[letter] for letter in word]
        after = self.globals_after(state)
        for _, _, _, beyond in sent:
            after |= beyond
        none = (0, False)
        found = []
        for place, letter in enumerate(word):
            below = sent[place - 1][1] if place else none
            above = sent[place + 1][0] if place + 1 < len(word) else none
            found.append(self.made[letter, below[0] | sent[place][2] | above[0], below[1] or above[1]])
        return after, found


def applied(found: ClassOf, bits: int) -> tuple[int, int, int, int]:
    """What the rules of a class write to the left, here, to the right and to globals."""
    left = here = right = beyond = 0
    for rule in found.rules:
        if bits & rule.mask == rule.value:
            left |= rule.to_left
            here |= rule.here
            right |= rule.to_right
            beyond |= rule.to_globals
    return left, here, right, beyond


def _subsets(mask: int) -> list[int]:
    """All masks within this one, the largest first."""
    found = [mask]
    while found[-1]:
        found.append((found[-1] - 1) & mask)
    return found
