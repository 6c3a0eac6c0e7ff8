"""The end: no word of an invariant whose run is over violates an `ensure` line, and every run is over in time."""

from __future__ import annotations

from typing import Any, NamedTuple

from bitwright.proofs.function.chain import LAST
from bitwright.proofs.function.closure import START, Invariant, Search
from bitwright.proofs.function.machine import Letter
from bitwright.proofs.function.specification import Specification
from bitwright.rules.algorithm import FIXED_POINT


class Violation(NamedTuple):
    """The inputs, position by position, of a word that no run may end in, and why; perhaps no run does."""

    chosen: list[int]
    why: str


class _Node(NamedTuple):
    """What is known after reading part of a word; the last three matter where a run ends at a fixed point."""

    letter: Letter
    laws: int  # their states
    over: bool  # whether a letter so far says that the run is over
    at: Any  # the state of the line
    moved: bool = False  # whether a letter so far changes in the next step
    globals: int = 0  # what is written to them so far
    bits: int = 0  # what is written to this letter so far


def violation(search: Search, invariant: Invariant, spec: Specification | None) -> Violation | None:
    """A word in which a run is over and the line is not true; without a line: over, but not as the text says."""
    if spec is None and search.machine.chain.halt is None:
        return None
    found = (_violation(search, invariant, spec, state) for state in sorted(invariant.windows))
    return next((one for one in found if one is not None), None)


def _violation(search: Search, invariant: Invariant, spec: Specification | None, state: int) -> Violation | None:
    machine, halt = search.machine, search.machine.chain.halt
    windows, allowed = invariant.windows[state], invariant.verdicts[state]
    halts = isinstance(halt, tuple)
    if spec is None and halts and machine.globals_halt(state):
        return None
    over = machine.globals_halt(state) if spec and halts else machine.times_out(state)
    says_over = machine.halts if spec and halts else machine.ends
    rests = spec is None and halt == FIXED_POINT
    mask = (1 << machine.width) - 1
    becomes_over = _before(windows, says_over)
    came: dict[_Node, tuple[_Node | None, int]] = {}
    nodes: list[_Node] = []

    def visit(before: _Node | None, letter: Letter, laws: int, over: bool, at: Any, rest: tuple[Any, ...]) -> None:
        over = over or says_over(letter)
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
    for node in nodes:  # it grows on the way
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
    """The letters from which a wanted one can be reached."""
    before: dict[Letter, list[Letter]] = {}
    for letter, after in windows.items():
        for other in after:
            before.setdefault(other, []).append(letter)
    found = {letter for letter in before if wanted(letter)}
    todo = list(found)
    while todo:
        fresh = {letter for letter in before.get(todo.pop(), ()) if letter not in found}
        found |= fresh
        todo += fresh
    return found


def _wrong(spec: Specification | None, at: Any, rests: bool, moved: bool) -> str:
    if spec is not None:
        return "" if spec.holds(at) else f"{spec.line} is not true"
    return ("the run has not come to rest" if moved else "") if rests else "the run is not over in time"


def _inputs(came: dict[_Node, tuple[_Node | None, int]], node: _Node) -> list[int]:
    """The inputs at each position of the word that ends in this node."""
    chosen, at = [], node
    while at is not None:
        at, one = came[at]  # type: ignore[assignment]
        chosen.append(one)
    return chosen[::-1]
