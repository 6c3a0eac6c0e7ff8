"""Every instruction of an SBN program as it is executed, a line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bitwright.bits import BoolArray
from bitwright.program import Algorithm
from bitwright.running.observers import Watch

if TYPE_CHECKING:
    from bitwright.machines import Code


def instructions(algorithm: Algorithm, say: Callable[[str], None]) -> Watch:
    """What `run` takes as `watch`, to say every instruction when it is done.

    >>> from pathlib import Path
    >>> import bitwright
    >>> _ = Path("sub.sbn").write_text(".width 4\\n.in a b\\n.out b\\nsub a b")
    >>> algorithm = bitwright.open("sub.sbn")
    >>> _ = bitwright.run(algorithm, a=3, b=5, watch=instructions(algorithm, lambda line: print(line.split())))
    ['step', 'address', 'instruction']
    ['0', '0', 'b', '-=', 'a:', '2']
    """
    machine, code = algorithm.computer
    before: tuple[int, int] | None = None

    def begins(step: int, state: BoolArray) -> None:
        nonlocal before
        if before is None:
            say(f"{'step':>7}  {'address':>7}  instruction")
        else:
            say(_instruction(code, *before, machine.address(state), machine.memory(state)))
        before = step, machine.address(state)

    return Watch(machine.boundary, begins)


def _instruction(code: Code, step: int, address: int, after: int, memory: list[int]) -> str:
    """One executed instruction: when, where, what, and what came of it."""
    names = {place: name for name, place in reversed(list(code.names.items()))}
    labels = {place: label for label, place in reversed(list(code.labels.items()))}
    sbn = code.instructions[address]
    a, b = (names.get(place, f"[{place}]") for place in (sbn.a, sbn.b))
    jump = f", go to {labels.get(after, after)}" if memory[sbn.b] < 0 else ""
    return f"{step:>7,}  {address:>7}  {b} -= {a}: {memory[sbn.b]}{jump}"
