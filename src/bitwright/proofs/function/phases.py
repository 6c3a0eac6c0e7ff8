"""Paths round a loop, and their phases as long as an array: one bit walks through it while others, the busy ones, work.

Shown at one size: while the bit is not at the end, a step moves it up, keeps all other arrays, and makes of the busy
ones what texts of their own make of them. What those texts compute is proved by closure, for every length.
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
    """One such phase.

    `sums` says of each busy array what it ends as: factors of the words that busy arrays began as, modulo a power of
    two. `parts` are the busy arrays that work together, each with the text that they follow.
    """

    timer: str
    inputs: tuple[str, ...]  # busy arrays that begin as words
    parts: tuple[tuple[tuple[str, ...], str], ...]
    sums: Mapping[str, Mapping[str, int]]
    after: State  # when it is over; of busy arrays off, or ("word", a new one)

    @property
    def busy(self) -> tuple[str, ...]:
        return tuple(array for arrays, _ in self.parts for array in arrays)


def busy_arrays(at: AtSize, state: State, timer: str) -> tuple[str, ...]:
    """The arrays that do not stay as they are while a timer runs."""
    busy: set[str] = set()
    while True:
        free = _free(at, timer, sorted(busy))
        after = at.step(state, free)
        more = {a for a in at.arrays if a not in busy and a != timer and after[a] != at.bits(a, state[a])}
        if not more:
            return tuple(array for array in at.arrays if array in busy)
        busy |= more


def holds(at: AtSize, state: State, wait: Wait, owns: Sequence[Algorithm]) -> bool:
    """Whether a phase goes as it says, at one size; `owns` are the texts of its parts at that size."""
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
    made: dict[str, list[int]] = {}
    for own in owns:
        theirs = {item.name: item.bits().tolist() for item in own.program.layout.fields}
        if any(len(theirs[a]) != len(at.arrays[a]) for a in theirs):
            return False
        bits = [FALSE] * own.program.bits
        for array, places in theirs.items():
            for place, literal in zip(places, free[array], strict=True):
                bits[place] = literal
        after = Stepper(own.program, at.graph).step(bits)
        made |= {array: [after[place] for place in places] for array, places in theirs.items()}
    return set(made) == set(wait.busy) and all(early[a] == late[a] == made[a] for a in made)


def _free(at: AtSize, timer: str, busy: Sequence[str]) -> dict[str, list[int]]:
    """Any bits for busy arrays, and for the timer but at its end."""
    free = {array: list(at.anything(array)) for array in (*busy, timer)}
    free[timer][-1] = FALSE
    return free


def found_wait(at: AtSize, state: State, timer: str, tree: SyntaxTree, number: int) -> Wait:
    """The phase that starts in a state, guessed at this size; raises NoShapeError where there is none."""
    busy = busy_arrays(at, state, timer)
    if any(state[array][0] not in ("off", "word", "up", "up1") for array in busy):
        raise NoShapeError(f"arrays that work while {timer} runs begin as neither off nor a word")
    inputs = tuple(array for array in busy if state[array] != OFF)
    extents = _extents(tree)
    sums: dict[str, dict[str, int]] = {}
    parts = []
    for together in _together(tree, busy):
        text = _text(tree, extents, timer, together, [array for array in inputs if array in together])
        found = _sums(text, together)
        parts.append((together, "\n".join([text, *(_ensured(a, found[a], extents[a]) for a in together)]) + "\n"))
        sums |= found
    after = at.recognised(
        at.step(state, {**_free(at, timer, busy), timer: at.bits(timer, LAST)}),
        [array for array in at.arrays if array not in busy],
    )
    ended: dict[str, Shape] = {a: ("word", f"{a} of phase {number}") if sums[a] else OFF for a in busy}
    return Wait(timer, inputs, tuple(parts), sums, {**after, **ended})


def _extents(tree: SyntaxTree) -> dict[str, str]:
    """The lengths of all arrays, as they are written."""
    declared = [item for item in tree.statements if isinstance(item, syntax.BitsDeclaration)]
    return {token.text: ",".join(map(shown, parts)) for item in declared for token, parts in item.items}


def _own(item: syntax.Statement, busy: Sequence[str]) -> str:
    """A block or rule of busy arrays alone, where all other bits are 0; nothing if it has none, or never matches."""
    if not isinstance(item, syntax.Block | syntax.WhenClause):
        return ""
    _, swept, rows = item.text.partition(" for ")
    if isinstance(item, syntax.Block):
        members = [_bit(member) for member in item.members if member.token.text in busy]
        return f"block {' '.join(members)}{swept}{rows}" if members else ""
    tests = []
    for test in item.tests:
        sides = [test.left, *([test.right] if isinstance(test.right, syntax.BitRef) else [])]
        own = [_bit(side) for side in sides if side.token.text in busy]
        if len(own) == len(sides):
            right = "*" if test.right is None else own[1] if len(own) > 1 else shown(test.right)  # type: ignore[arg-type]
            tests.append(f"{own[0]}{'' if test.same else '!'}={right}")
        elif own:
            tests.append(f"{own[0]}={int(not test.same)}")
        elif len(sides) == 1 and test.right is not None:
            if not isinstance(test.right, Constant) or (test.right.value == 0) != test.same:
                return ""
        elif not test.same:
            return ""
    targets = " ".join(map(_bit, item.targets)) or "nothing"
    return f"{'also ' * item.also}when {' '.join(tests)} write {targets}{swept}{rows}" if tests else ""


def _together(tree: SyntaxTree, busy: Sequence[str]) -> list[tuple[str, ...]]:
    """Busy arrays by what works together: those of one block or rule."""
    groups: list[set[str]] = [{array} for array in busy]
    for item in tree.statements:
        own = {*re.findall(r"\w+", _own(item, busy))} & {*busy}
        met = [group for group in groups if group & own]
        groups = [group for group in groups if group not in met] + [set().union(*met)] * bool(met)
    return sorted(tuple(array for array in busy if array in group) for group in groups)


def _text(tree: SyntaxTree, extents: Mapping[str, str], timer: str, busy: Sequence[str], inputs: Sequence[str]) -> str:
    """The lines of a text about some of its arrays alone, with a run as long as the timer."""
    lets, lines = [], []
    for item in tree.statements:
        if isinstance(item, syntax.Let):
            lets.append(f"let {item.name.text} = {shown(item.value)}")
        elif own := _own(item, busy):
            lines.append(own)
    declared = " ".join(f"{array}[{extents[array]}]" if extents[array] else array for array in busy)
    ports = [f"input {' '.join(inputs)}"] * bool(inputs) + [f"output {array}" for array in busy]
    return "\n".join([*lets, f"bits {declared}", *lines, *ports, f"steps {extents[timer]}"])


def _bit(member: syntax.BitRef) -> str:
    """A bit of a block, as it is written."""
    parts = [
        "*" if part.first is None or part.last is None
        else shown(part.first) if part.first is part.last else f"{shown(part.first)}..{shown(part.last)}"
        for part in member.parts
    ]  # fmt: skip
    return member.token.text + f"[{','.join(parts)}]" * bool(member.parts)


def _sums(text: str, busy: Sequence[str]) -> dict[str, dict[str, int]]:
    """What busy arrays are in the end, guessed from random runs."""
    try:
        own = parse(text)
    except BitwrightError as error:
        raise NoShapeError(f"the arrays {', '.join(busy)} have no rules of their own: {error}") from None
    random, inputs = Random(5), [word.name for word in own.inputs]
    rows = [{word.name: random.getrandbits(len(word.bits)) for word in own.inputs} for _ in range(40)]
    ends = run_batch(own, np.array([own.state(row) for row in rows]), workers=1).outputs
    found: dict[str, dict[str, int]] = {}
    for word in own.outputs:
        values = ends[word.name].tolist()
        top = 1 << len(word.bits)
        for factors in sorted(product(FACTORS, repeat=len(inputs)), key=lambda f: sum(map(abs, f))):
            wanted = (sum(f * row[name] for f, name in zip(factors, inputs, strict=True)) % top for row in rows)
            if all(one == other for one, other in zip(values, wanted, strict=True)):
                found[word.name] = {name: f for f, name in zip(factors, inputs, strict=True) if f}
                break
        else:
            raise NoShapeError(f"{word.name} is no sum of words when the phase ends")
    return found


def _ensured(array: str, factors: Mapping[str, int], extent: str) -> str:
    """The `ensure` line that states such a sum."""
    if not factors:
        return f"ensure {array} == 0"
    total = " + ".join(f"{factor} * in.{name}" for name, factor in factors.items())
    return f"ensure {array} == ({total}) mod 2^({extent or 1})"


@dataclass
class Path:
    """One path through a round: the known lowest and highest bits of each word, and the states and phases visited."""

    fixed: Mapping[str, int]
    states: list[State] = field(default_factory=list)
    waits: dict[int, Wait] = field(default_factory=dict)  # by the state in which a phase starts

    def document(self, proofs: list[str]) -> dict[str, Any]:
        """As a certificate has it; arrays that are off are left out."""
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
    """Refuses what a single index can stretch: `write x[i..l]` reaches further at larger sizes."""
    targets = item.targets if isinstance(item, syntax.WhenClause) else ()
    swept = {one.name for one in getattr(item, "clauses", syntax.Clauses()).ranges}
    for target in targets:
        for part in target.parts:
            if part.first is not part.last and words_of([part]) & swept:
                outside(target.token, "a range of bits that depends on an index")
