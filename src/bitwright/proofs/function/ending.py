"""The end: no word of an invariant whose run is over violates an `ensure` line, and every run is over in time."""

from __future__ import annotations

from typing import Any, NamedTuple

from bitwright.program.algorithm import FIXED_POINT
from bitwright.proofs.function.chain import LAST
from bitwright.proofs.function.closure import START, Invariant, Search
from bitwright.proofs.function.machine import Letter
from bitwright.proofs.function.specification import Specification


class Violation(NamedTuple):
    """A word of the invariant that no run may end in; perhaps no run does."""

    state: int
    word: list[Letter]
    chosen: list[int]  # the inputs at each position
    why: str


def violation(search: Search, invariant: Invariant, spec: Specification | None) -> Violation | None:
    """A word in which a run is over and the line is not true; without a line: over, but not as the text says."""
    for state in sorted(invariant.windows):
        found = _violation(search, invariant, spec, state)
        if found is not None:
            return found
    return None


def _violation(search: Search, invariant: Invariant, spec: Specification | None, state: int) -> Violation | None:
    machine = search.machine
    halt = machine.chain.halt
    windows, allowed = invariant.windows[state], invariant.verdicts[state]
    timed_out = machine.clock.fixed is not None and state >> machine.width >= machine.clock.fixed
    halted_at_once = machine.globals_halt(state)
    moved_globals = spec is None and halt == FIXED_POINT
    begin: list[Any] = [None] if spec is None else spec.begin(state)
    # letter, what its successor is so far, states of the laws, ended, halted, moved, state of the line
    nodes: list[tuple[Any, ...]] = []
    came: dict[tuple[Any, ...], tuple[tuple[Any, ...] | None, int]] = {}
    base = machine.globals_after(state) & ((1 << machine.width) - 1)

    weights: dict[tuple[Letter, int], int] = {}

    def weighed(letter: Letter, chosen: int) -> int:
        if (letter, chosen) not in weights:
            weights[letter, chosen] = search.weighed(letter, chosen)
        return weights[letter, chosen]

    def visit(before: tuple[Any, ...] | None, letter: Letter, chosen: int, at: Any, laws: Any, flags: Any) -> None:
        ended, halted, moved, acc, bits = flags
        after = at if spec is None else spec.read(at, letter[0], letter[3], chosen)
        if spec is not None and after is None:
            return
        old = search.read(laws, weighed(letter, chosen))
        ended = ended or machine.clock.ended(letter[1], letter[0])
        halted = halted or machine.halts(letter)
        key = letter, old, ended, halted, moved, acc, bits, after
        if key not in came:
            came[key] = before, chosen
            nodes.append(key)

    def inputs_of(letter: Letter) -> list[int]:
        return [letter[2]] if machine.ghosts else list(machine.choices(letter[0]))

    for at in begin:
        for letter in sorted(windows[START]):
            here = machine.sent(letter)[2] if moved_globals else 0
            acc = base | machine.sent(letter)[3] if moved_globals else 0
            for chosen in inputs_of(letter):
                visit(None, letter, chosen, at, search.zero, (timed_out, halted_at_once, False, acc, here))
    place = 0
    while place < len(nodes):
        node = nodes[place]
        place += 1
        letter, old, ended, halted, moved, acc, bits, at = node
        if letter[0] == LAST:
            if search.verdicts(old) not in allowed:
                continue
            if moved_globals:
                moved = moved or bits != letter[3] or acc != state & ((1 << machine.width) - 1)
            why = _wrong(spec, at, halt, ended, halted, moved)
            if why:
                return _path(came, node, state, why)
            continue
        for other in sorted(windows.get(letter, ())):
            flags = (ended, halted, moved, acc, 0)
            if moved_globals:
                below, above = machine.sent(other)[0], machine.sent(letter)[1]
                went = moved or bits | below[0] != letter[3]
                flags = (ended, halted, went, acc | machine.sent(other)[3], above[0] | machine.sent(other)[2])
            for chosen in inputs_of(other):
                visit(node, other, chosen, at, old, flags)
    return None


def _wrong(spec: Specification | None, at: Any, halt: Any, ended: bool, halted: bool, moved: bool) -> str:
    if spec is not None:
        over = halted if isinstance(halt, tuple) else ended
        return f"{spec.line} is not true" if over and not spec.holds(at) else ""
    if isinstance(halt, tuple):
        return "the run is not over in time" if ended and not halted else ""
    return "the run has not come to rest" if halt == FIXED_POINT and ended and moved else ""


def _path(came: Any, node: Any, state: int, why: str) -> Violation:
    word, chosen = [], []
    at: Any = node
    while at is not None:
        before, one = came[at]
        word.append(at[0])
        chosen.append(one)
        at = before
    return Violation(state, word[::-1], chosen[::-1], why)
