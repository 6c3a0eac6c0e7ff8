"""Checks the ends of runs: no final word of an invariant violates an `ensure` line, and every run ends in time."""

from __future__ import annotations

from typing import Any, NamedTuple

from bitwright.proofs.function.chain import LAST
from bitwright.proofs.function.closure import START, Invariant, Search
from bitwright.proofs.function.machine import Letter
from bitwright.proofs.function.specification import Specification
from bitwright.proofs.trials import LATE
from bitwright.rules.algorithm import FIXED_POINT


class Violation(NamedTuple):
    """The inputs at each position of a word in which no run may end, and the reason; there may be no such run."""

    chosen: list[int]
    why: str


class _Node(NamedTuple):
    """The state after reading part of a word; the last three fields are used for runs that end at a fixed point."""

    letter: Letter
    laws: int  # the number of the states of the laws
    over: bool  # whether some letter so far ends the run
    at: Any  # the state of the line's automaton
    moved: bool = False  # whether some letter so far changes in the next step
    globals: int = 0  # the bits written to the globals so far
    bits: int = 0  # the bits written to this letter so far


def violation(search: Search, invariant: Invariant, spec: Specification | None) -> Violation | None:
    """Returns a word in which a run is over and the line is false, or None.

    Without a line, returns a word in which the run is over by the clock but not by the text.
    """
    if spec is None and search.machine.chain.halt is None:
        return None
    return next(filter(None, (_violation(search, invariant, spec, state) for state in sorted(invariant.windows))), None)


def _violation(search: Search, invariant: Invariant, spec: Specification | None, state: int) -> Violation | None:
    machine, halt = search.machine, search.machine.chain.halt
    windows, allowed = invariant.windows[state], invariant.verdicts[state]
    halts = isinstance(halt, tuple)
    if spec is None and halts and machine.globals_halt(state):
        return None
    over = machine.globals_halt(state) if spec and halts else machine.times_out(state)
    ends_run = machine.halts if spec and halts else machine.ends
    rests = spec is None and halt == FIXED_POINT
    mask = (1 << machine.width) - 1
    becomes_over = _before(windows, ends_run)
    came: dict[_Node, tuple[_Node | None, int]] = {}
    nodes: list[_Node] = []

    def visit(before: _Node | None, letter: Letter, laws: int, over: bool, at: Any, rest: tuple[Any, ...]) -> None:
        over = over or ends_run(letter)
        if (not over and letter not in becomes_over) or (spec is None and machine.halts(letter)):
            return
        for chosen in machine.inputs_of(letter):
            after = None if spec is None else spec.read(at, letter[0], letter[3], chosen)
            if spec is None or after is not None:
                node = _Node(letter, search.read[laws, search.weighed[letter, chosen]], over, after, *rest)
                if node not in came:
                    came[node] = before, chosen
                    nodes.append(node)

    for at in (None,) if spec is None else spec.begin(state):
        for letter in sorted(windows[START]):
            _, _, here, beyond = machine.sent[letter]
            rest = (False, machine.globals_after(state) & mask | beyond, here) if rests else ()
            visit(None, letter, search.zero, over, at, rest)
    for node in nodes:  # `visit` appends more
        letter = node.letter
        if letter[0] == LAST:
            if node.over and search.verdicts[node.laws] in allowed:
                moved = node.moved or node.bits != letter[3] or node.globals != state & mask
                if why := _wrong(spec, node.at, rests, moved):
                    return Violation(_inputs(came, node), why)
            continue
        for other in sorted(windows.get(letter, ())):
            rest = ()
            if rests:
                (written, _), _, here, beyond = machine.sent[other]
                moved = node.moved or node.bits | written != letter[3]
                rest = moved, node.globals | beyond, machine.sent[letter][1][0] | here
            visit(node, other, node.laws, node.over, node.at, rest)
    return None


def _before(windows: Any, wanted: Any) -> set[Letter]:
    """Returns the letters from which a wanted letter can be reached."""
    before: dict[Letter, list[Letter]] = {}
    for letter, after in windows.items():
        for other in after:
            before.setdefault(other, []).append(letter)
    reaching = {letter for letter in before if wanted(letter)}
    todo = list(reaching)
    while todo:
        fresh = {letter for letter in before.get(todo.pop(), ()) if letter not in reaching}
        reaching |= fresh
        todo += fresh
    return reaching


def _wrong(spec: Specification | None, at: Any, rests: bool, moved: bool) -> str:
    if spec is not None:
        return "" if spec.holds(at) else f"{spec.line} is false"
    return ("the run has not reached a fixed point" if moved else "") if rests else LATE


def _inputs(came: dict[_Node, tuple[_Node | None, int]], node: _Node) -> list[int]:
    """Returns the inputs at each position of the word that ends in this node."""
    inputs, at = [], node
    while at is not None:
        at, chosen = came[at]  # type: ignore[assignment]
        inputs.append(chosen)
    return inputs[::-1]
