"""The machines by their letters: A and B run SBN code, V runs SUBLEQ images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from bitwright import machines
from bitwright.common.bits import whole_number
from bitwright.common.errors import InputError, shorten
from bitwright.machines import subleq

if TYPE_CHECKING:
    from bitwright.machines import Machine, Sizes
    from bitwright.machines.subleq import MachineV


@overload
def machine(
    letter: Literal["A", "B"],
    sizes: Sizes | None = None,
    *,
    instructions: int = ...,
    words: int = ...,
    word_width: int = ...,
    halt: bool = ...,
) -> Machine: ...
@overload
def machine(letter: Literal["V"], *, words: int, word_width: int, dialect: str = "howerj") -> MachineV: ...
def machine(
    letter: str,
    sizes: Sizes | None = None,
    *,
    instructions: int | None = None,
    words: int | None = None,
    word_width: int | None = None,
    dialect: str | None = None,
    halt: bool = True,
) -> Machine | MachineV:
    """A computer as a program: "A", the paper's, "B", whose time is logarithmic in its memory, or "V" for SUBLEQ.

    A and B have room for a number of `instructions` and of `words` of `word_width` bits; `code.sizes` of SBN code is
    taken as it is. With `halt` a flag rises behind the last instruction. V has `words` of `word_width` bits, and a
    `dialect`: "howerj" (the default), "kth", "plain", or flags such as "range,strict".

    >>> from bitwright import run
    >>> from bitwright.machines import assemble
    >>> code = assemble(".width 4\\n.in a b\\n.out b\\nsub a b")
    >>> run(machine("B", code.sizes).algorithm(code), a=3, b=5).value
    2
    >>> plain = machine("V", words=8, word_width=5, dialect="plain")
    >>> [done.memory[7] for done in run(plain, images=[[6, 7, 30, 0, 0, 0, 2, 1], [6, 7, 30, 0, 0, 0, 1, 1]])]
    [31, 0]
    """
    asked = {"instructions": instructions, "words": words, "word_width": word_width}
    if letter in ("A", "B"):
        if dialect is not None:
            raise InputError("a dialect is of machine V; machines A and B run SBN code")
        if sizes is None:
            sizes = machines.Sizes(*_given(f"machine {letter}", asked))
        elif any(value is not None for value in asked.values()):
            raise InputError("give the sizes of the machine or its single numbers, not both")
        return (machines.machine_a if letter == "A" else machines.machine_b)(sizes, halt)
    if letter != "V":
        raise InputError(f"the machines are A, B and V, got {shorten(repr(letter))}")
    if sizes is not None or asked.pop("instructions") is not None or not halt:
        raise InputError("machine V has words, word_width and dialect; leave out the others")
    number, width = _given("machine V", asked)
    return subleq.machine_v(subleq.Shape(number, width, subleq.find_dialect(dialect or "howerj")))


def _given(what: str, asked: dict[str, int | None]) -> list[int]:
    """The numbers; raises InputError unless all are given."""
    if missing := [name for name, value in asked.items() if value is None]:
        raise InputError(f"{what} needs {' and '.join(missing)}, such as {missing[0]}=16")
    return [whole_number(value, name) for name, value in asked.items() if value is not None]
