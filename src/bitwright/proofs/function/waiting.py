"""Paths round a loop, and their phases as long as an array: one bit walks through it while others, the busy ones, work.

Shown at one size: while the bit is not at the end, a step moves it up, keeps all other arrays, and makes of the busy
ones what a text of their own makes of them. What that text computes is proved by closure, for every length.
"""

from __future__ import annotations

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
from bitwright.rules.expressions import shown
from bitwright.rules.text import parse, syntax
from bitwright.rules.text.parser import SyntaxTree
from bitwright.rules.text.rule_text import words_of
from bitwright.runs.run import run_batch

FACTORS = (0, 1, 2, -1, -2)


@dataclass(frozen=True)
class Wait:
    """One such phase. `sums` says of each busy array what it ends as: factors of the words that busy arrays began as,
    modulo a power of two."""

    timer: str
    busy: tuple[str, ...]
    inputs: tuple[str, ...]  # those of them that begin as words
    text: str  # of the busy arrays
    sums: Mapping[str, Mapping[str, int]]
    after: State  # when it is over; of busy arrays off, or ("word", a new one)


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


def holds(at: AtSize, state: State, wait: Wait, own: Algorithm) -> bool:
    """Whether a phase goes as it says, at one size; `own` is its text at that size."""
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
    theirs = {item.name: item.bits().tolist() for item in own.program.layout.fields}
    if set(theirs) != set(wait.busy) or any(len(theirs[a]) != len(at.arrays[a]) for a in theirs):
        return False
    bits = [FALSE] * own.program.bits
    for array, places in theirs.items():
        for place, literal in zip(places, free[array], strict=True):
            bits[place] = literal
    made = Stepper(own.program, at.graph).step(bits)
    return all(early[a] == late[a] == [made[place] for place in theirs[a]] for a in wait.busy)


def _free(at: AtSize, timer: str, busy: Sequence[str]) -> dict[str, list[int]]:
    """Any bits for busy arrays, and for the timer but at its end."""
    free = {array: list(at.anything(array)) for array in (*busy, timer)}
    free[timer][-1] = FALSE
    return free


def found_wait(at: AtSize, state: State, timer: str, tree: SyntaxTree, number: int) -> Wait:
    """The phase that starts in a state, guessed at this size; raises NoShapeError where there is none."""
    busy = busy_arrays(at, state, timer)
    began = {array: state[array] for array in busy}
    if any(shape[0] not in ("off", "word") for shape in began.values()):
        raise NoShapeError(f"arrays that work while {timer} runs begin as neither off nor a word")
    inputs = [array for array in busy if began[array] != OFF]
    extents = _extents(tree)
    text = _text(tree, extents, timer, busy, inputs)
    sums = _sums(text, inputs, busy)
    lines = [_ensured(array, found, extents[array]) for array, found in sums.items()]
    after = at.recognised(
        at.step(state, {**_free(at, timer, busy), timer: at.bits(timer, LAST)}),
        [array for array in at.arrays if array not in busy],
    )
    ended: dict[str, Shape] = {a: ("word", f"{a} of phase {number}") if found else OFF for a, found in sums.items()}
    return Wait(timer, busy, tuple(inputs), "\n".join([text, *lines]) + "\n", sums, {**after, **ended})


def _extents(tree: SyntaxTree) -> dict[str, str]:
    """The lengths of all arrays, as they are written."""
    declared = [item for item in tree.statements if isinstance(item, syntax.BitsDeclaration)]
    return {token.text: ",".join(map(shown, parts)) for item in declared for token, parts in item.items}


def _text(tree: SyntaxTree, extents: Mapping[str, str], timer: str, busy: Sequence[str], inputs: Sequence[str]) -> str:
    """The lines of a text about some of its arrays alone, with a run as long as the timer."""
    lets, lines = [], []
    for item in tree.statements:
        if isinstance(item, syntax.Let):
            lets.append(f"let {item.name.text} = {shown(item.value)}")
        elif isinstance(item, syntax.Block | syntax.WhenClause):
            first = item.members[0] if isinstance(item, syntax.Block) else item.tests[0].left
            lines += [item.text] * (first.token.text in busy)
    declared = " ".join(f"{array}[{extents[array]}]" if extents[array] else array for array in busy)
    ports = [f"input {' '.join(inputs)}", *(f"output {array}" for array in busy)]
    return "\n".join([*lets, f"bits {declared}", *lines, *ports, f"steps {extents[timer]}"])


def _sums(text: str, inputs: Sequence[str], busy: Sequence[str]) -> dict[str, dict[str, int]]:
    """What busy arrays are in the end, guessed from random runs."""
    try:
        own = parse(text)
    except BitwrightError as error:
        raise NoShapeError(f"the arrays {', '.join(busy)} have no rules of their own: {error}") from None
    random = Random(5)
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
    """One way round: what the lowest bits of words are, and the states and phases on the way."""

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
                "busy": list(wait.busy),
                "inputs": list(wait.inputs),
                "sums": {array: dict(factors) for array, factors in wait.sums.items()},
                "proof": proofs.index(wait.text),
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
