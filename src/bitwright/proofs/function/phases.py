"""Paths through the body of a loop, and their phases, in which a bit walks through an array, the timer.

While the timer runs, some arrays are busy and all others keep their values. At one size it is checked that, until the
bit reaches the end, a step moves it up by one position, keeps the idle arrays, and changes the busy arrays as separate
rule texts do. What those texts compute is proved by closure, for every length.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any

import numpy as np

from bitwright.common.errors import BitwrightError
from bitwright.proofs.function.affine import outside
from bitwright.proofs.function.shapes import LAST, OFF, AtSize, NoShapeError, Shape, State
from bitwright.proofs.unrolling.graph import FALSE
from bitwright.proofs.unrolling.runs import Stepper
from bitwright.rules.algorithm import Algorithm
from bitwright.rules.expressions import Constant, shown
from bitwright.rules.text import parse, syntax
from bitwright.rules.text.parser import SyntaxTree
from bitwright.rules.text.rule_text import words_of
from bitwright.runs.run import run_batch

FACTORS = (0, 1, 2, -1, -2)


@dataclass(frozen=True)
class Wait:
    """A phase.

    `sums` gives the final value of each busy array as factors of the initial words of busy arrays, modulo a power of
    two. `parts` are groups of busy arrays that interact, each with its rule text.
    """

    timer: str
    inputs: tuple[str, ...]  # busy arrays that begin as words
    parts: tuple[tuple[tuple[str, ...], str], ...]
    sums: Mapping[str, Mapping[str, int]]
    after: State  # the state after the phase; a busy array is off or a new word

    @property
    def busy(self) -> tuple[str, ...]:
        """The arrays that change while the timer runs."""
        return tuple(array for arrays, _ in self.parts for array in arrays)


def busy_arrays(at: AtSize, state: State, timer: str) -> tuple[str, ...]:
    """Returns the arrays that change while a timer runs."""
    busy: set[str] = set()
    while True:
        free = _free(at, timer, sorted(busy))
        after = at.step(state, free)
        more = {a for a in at.arrays if a not in busy and a != timer and after[a] != at.bits(a, state[a])}
        if not more:
            return tuple(array for array in at.arrays if array in busy)
        busy |= more


def holds(at: AtSize, state: State, wait: Wait, parts: Sequence[Algorithm]) -> bool:
    """Whether a phase is correct at one size; `parts` are the programs of its parts at that size."""
    free = _free(at, wait.timer, wait.busy)
    early = at.step(state, free)
    running = free[wait.timer]
    if early[wait.timer] != [FALSE, *running[:-1]]:
        return False
    if any(early[a] != at.bits(a, state[a]) for a in at.arrays if a != wait.timer and a not in wait.busy):
        return False
    last = {**free, wait.timer: at.bits(wait.timer, LAST)}
    late = at.step(state, last)
    if any(late[a] != at.bits(a, wait.after[a]) for a in at.arrays if a not in wait.busy):
        return False
    expected: dict[str, list[int]] = {}
    for part in parts:
        arrays = {item.name: item.bits().tolist() for item in part.program.layout.fields}
        if any(len(arrays[a]) != len(at.arrays[a]) for a in arrays):
            return False
        bits = [FALSE] * part.program.bits
        for array, places in arrays.items():
            for place, literal in zip(places, free[array], strict=True):
                bits[place] = literal
        after = Stepper(part.program, at.graph).step(bits)
        expected |= {array: [after[place] for place in places] for array, places in arrays.items()}
    return set(expected) == set(wait.busy) and all(early[a] == late[a] == expected[a] for a in expected)


def _free(at: AtSize, timer: str, busy: Sequence[str]) -> dict[str, list[int]]:
    """Returns free bits for the busy arrays and for the timer, except its last bit, which is off."""
    free = {array: list(at.anything(array)) for array in (*busy, timer)}
    free[timer][-1] = FALSE
    return free


def found_wait(at: AtSize, state: State, timer: str, tree: SyntaxTree, number: int) -> Wait:
    """Returns the phase that starts in a state, guessed at this size; raises NoShapeError if there is none."""
    busy = busy_arrays(at, state, timer)
    if wrong := [array for array in busy if state[array][0] not in ("off", "word", "up", "up1")]:
        raise NoShapeError(f"{wrong[0]}, which changes while {timer} runs, is neither off nor a word at the start")
    inputs = tuple(array for array in busy if state[array] != OFF)
    extents = _extents(tree)
    sums: dict[str, dict[str, int]] = {}
    parts = []
    for together in _together(tree, busy):
        text = _text(tree, extents, timer, together, [array for array in inputs if array in together])
        ends = _sums(text, together)
        parts.append((together, "\n".join([text, *(_ensured(a, ends[a], extents[a]) for a in together)]) + "\n"))
        sums |= ends
    after = at.recognised(
        at.step(state, {**_free(at, timer, busy), timer: at.bits(timer, LAST)}),
        [array for array in at.arrays if array not in busy],
    )
    ended: dict[str, Shape] = {a: ("word", f"{a} of phase {number}") if sums[a] else OFF for a in busy}
    return Wait(timer, inputs, tuple(parts), sums, {**after, **ended})


def _extents(tree: SyntaxTree) -> dict[str, str]:
    """Returns the lengths of all arrays as written in the text."""
    declared = [item for item in tree.statements if isinstance(item, syntax.BitsDeclaration)]
    return {token.text: ",".join(map(shown, parts)) for item in declared for token, parts in item.items}


def _restricted(item: syntax.Statement, busy: Sequence[str]) -> str:
    """Returns a block or rule restricted to busy arrays, with all other bits off.

    Returns an empty string if it has no busy arrays or never matches.
    """
    if not isinstance(item, syntax.Block | syntax.WhenClause):
        return ""
    _, swept, rows = item.text.partition(" for ")
    if isinstance(item, syntax.Block):
        members = [_bit(member) for member in item.members if member.token.text in busy]
        return f"block {' '.join(members)}{swept}{rows}" if members else ""
    tests = []
    for test in item.tests:
        sides = [test.left, *([test.right] if isinstance(test.right, syntax.BitRef) else [])]
        kept = [_bit(side) for side in sides if side.token.text in busy]
        if len(kept) == len(sides):
            right = "*" if test.right is None else kept[1] if len(kept) > 1 else shown(test.right)  # type: ignore[arg-type]
            tests.append(f"{kept[0]}{'' if test.same else '!'}={right}")
        elif kept:
            tests.append(f"{kept[0]}={int(not test.same)}")
        elif len(sides) == 1 and test.right is not None:
            if not isinstance(test.right, Constant) or (test.right.value == 0) != test.same:
                return ""
        elif not test.same:
            return ""
    targets = " ".join(map(_bit, item.targets)) or "nothing"
    return f"{'also ' * item.also}when {' '.join(tests)} write {targets}{swept}{rows}" if tests else ""


def _together(tree: SyntaxTree, busy: Sequence[str]) -> list[tuple[str, ...]]:
    """Returns groups of busy arrays that share blocks or rules."""
    groups: list[set[str]] = [{array} for array in busy]
    for item in tree.statements:
        used = {*re.findall(r"\w+", _restricted(item, busy))} & {*busy}
        met = [group for group in groups if group & used]
        groups = [group for group in groups if group not in met] + [set().union(*met)] * bool(met)
    return sorted(tuple(array for array in busy if array in group) for group in groups)


def _text(tree: SyntaxTree, extents: Mapping[str, str], timer: str, busy: Sequence[str], inputs: Sequence[str]) -> str:
    """Returns the lines of a text restricted to some of its arrays, with a run as long as the timer."""
    lets, lines = [], []
    for item in tree.statements:
        if isinstance(item, syntax.Let):
            lets.append(f"let {item.name.text} = {shown(item.value)}")
        elif line := _restricted(item, busy):
            lines.append(line)
    declared = " ".join(f"{array}[{extents[array]}]" if extents[array] else array for array in busy)
    ports = [f"input {' '.join(inputs)}"] * bool(inputs) + [f"output {array}" for array in busy]
    return "\n".join([*lets, f"bits {declared}", *lines, *ports, f"steps {extents[timer]}"])


def _bit(member: syntax.BitRef) -> str:
    """Returns a bit or range of bits as rule text."""
    parts = [
        "*" if part.first is None or part.last is None
        else shown(part.first) if part.first is part.last else f"{shown(part.first)}..{shown(part.last)}"
        for part in member.parts
    ]  # fmt: skip
    return member.token.text + f"[{','.join(parts)}]" * bool(member.parts)


def _sums(text: str, busy: Sequence[str]) -> dict[str, dict[str, int]]:
    """Returns the final values of busy arrays as sums, guessed from random runs."""
    try:
        part = parse(text)
    except BitwrightError as error:
        raise NoShapeError(f"the rules restricted to {', '.join(busy)} are not a program: {error}") from None
    random, inputs = Random(5), [word.name for word in part.inputs]
    rows = [{word.name: random.getrandbits(len(word.bits)) for word in part.inputs} for _ in range(40)]
    ends = run_batch(part, np.array([part.state(row) for row in rows]), workers=1).outputs
    sums: dict[str, dict[str, int]] = {}
    for word in part.outputs:
        values = ends[word.name].tolist()
        top = 1 << len(word.bits)
        for factors in sorted(product(FACTORS, repeat=len(inputs)), key=lambda f: sum(map(abs, f))):
            if values == [sum(f * row[name] for f, name in zip(factors, inputs, strict=True)) % top for row in rows]:
                sums[word.name] = {name: f for f, name in zip(factors, inputs, strict=True) if f}
                break
        else:
            raise NoShapeError(f"{word.name} is not a sum of words when the phase ends")
    return sums


def _ensured(array: str, factors: Mapping[str, int], extent: str) -> str:
    """Returns the `ensure` line for such a sum."""
    if not factors:
        return f"ensure {array} == 0"
    total = " + ".join(f"{factor} * in.{name}" for name, factor in factors.items())
    return f"ensure {array} == ({total}) mod 2^({extent or 1})"


@dataclass
class Path:
    """One path through a round: the known lowest and highest bits of each word, and the states and phases visited."""

    fixed: Mapping[str, int]
    states: list[State] = field(default_factory=list)
    waits: dict[int, Wait] = field(default_factory=dict)  # phases by the number of the state in which they start

    def document(self, proofs: list[str]) -> dict[str, Any]:
        """Returns the path in the form of a certificate, which omits arrays that are off."""
        states = [
            {array: [part for part in shape if part] for array, shape in state.items() if shape != OFF}
            for state in self.states
        ]
        phases = {
            str(number): {
                "timer": wait.timer,
                "inputs": list(wait.inputs),
                "sums": {array: dict(factors) for array, factors in wait.sums.items()},
                "parts": [{"busy": list(busy), "proof": proofs.index(text)} for busy, text in wait.parts],
            }
            for number, wait in self.waits.items()
        }
        return {"fixed": dict(self.fixed), "states": states, "phases": phases}


def check_ranges(item: syntax.Statement) -> None:
    """Raises NoChainError for a range of bits that depends on an index, such as `write x[i..l]`."""
    targets = item.targets if isinstance(item, syntax.WhenClause) else ()
    swept = {index.name for index in getattr(item, "clauses", syntax.Clauses()).ranges}
    for target in targets:
        for part in target.parts:
            if part.first is not part.last and words_of([part]) & swept:
                outside(target.token, "the range of bits depends on an index")
