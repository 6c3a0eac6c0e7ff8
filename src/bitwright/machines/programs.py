"""Opens programs for machines: SBN (.sbn), SUBLEQ (.sq), images (.dec), or `machine-v` with no program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bitwright.common.errors import InputError, counted, option
from bitwright.machines.sbn.assembler import load_sbn
from bitwright.machines.sbn.code import Code
from bitwright.machines.sbn.machine_a import machine_a
from bitwright.machines.sbn.machine_b import machine_b
from bitwright.machines.subleq.assembler import Assembly, load_sq
from bitwright.machines.subleq.images import Shape, find_dialect, load_image, start_memory
from bitwright.machines.subleq.machine import MachineV, machine_v
from bitwright.rules import Algorithm
from bitwright.theory.proof import smallest_examples


@dataclass(frozen=True)
class SubleqProgram:
    """Machine V with its image and the labels of the source text."""

    machine: MachineV
    image: list[int]
    labels: dict[str, int]
    name: str

    @property
    def algorithm(self) -> Algorithm:
        return with_padding(self.machine.algorithm(self.image, self.name))


def open_program(target: str, letter: str | None = None, **shape: int | str | None) -> Algorithm:
    """Returns a program as an algorithm, on the requested machine or the machine in its file."""
    if target.lower().endswith(".sbn"):
        return on_sbn_machine(load_sbn(target), letter)
    return open_subleq(target, letter, **shape).algorithm  # type: ignore[arg-type]


def check_program(path: Path) -> tuple[str, list[str]]:
    """Returns the size of a program and warnings about it; raises ProgramError if it is invalid."""
    if path.suffix.lower() == ".sbn":
        return str(load_sbn(path).sizes), []
    if path.suffix.lower() == ".sq":
        assembly = load_sq(path)
        return counted(len(assembly.image), "word"), assembly.doubts()
    return f"an image of {counted(len(load_image(path)), 'word')}", []


def on_sbn_machine(code: Code, letter: str | None = None) -> Algorithm:
    """Returns code as an algorithm on a machine of its size, with the padding that the sign rule needs."""
    if letter == "V":
        raise InputError("an SBN program runs on machine A or B; machine V runs SUBLEQ, .sq and .dec files")
    return with_padding((machine_a if letter == "A" else machine_b)(code.sizes).algorithm(code))


def open_subleq(
    target: str,
    letter: str | None = None,
    words: int | None = None,
    word_width: int | None = None,
    dialect: str | None = None,
) -> SubleqProgram:
    """Opens an image and its machine V; settings that are None come from the program."""
    path = Path(target)
    if letter not in (None, "V"):
        raise InputError(f"{path.name} is for machine V, not machine {letter}")
    if path.suffix.lower() == ".sq":
        source: Assembly | list[int] = load_sq(target)
    else:
        source = [] if target == "machine-v" else load_image(target)
    return on_machine_v(source, path.name, words, word_width, dialect)


def on_machine_v(
    source: Assembly | list[int],
    name: str,
    words: int | None = None,
    word_width: int | None = None,
    dialect: str | None = None,
    check: Callable[[int, int], None] = lambda words, width: None,  # noqa: ARG005
) -> SubleqProgram:
    """Puts an image or an assembled text on machine V; settings that are None come from the text.

    `check` can reject the number of words and their width before the machine is built.
    """
    image, labels = source if isinstance(source, list) else source.image, dict[str, int]()
    if isinstance(source, Assembly):
        words = source.words if words is None else words
        word_width = source.width if word_width is None else word_width
        dialect = source.dialect if dialect is None else dialect
        labels = source.labels
    if words is None or word_width is None or dialect is None:
        wanted = (("words", words), ("word width", word_width), ("dialect", dialect))
        missing = ", ".join(what for what, value in wanted if value is None)
        on_command_line = option("words").startswith("-")
        example = "--machine V:64x16:howerj" if on_command_line else "words=64, word_width=16, dialect='howerj'"
        raise InputError(f"{name} does not specify its {missing}; give the machine, such as {example}")
    shape = Shape(words, word_width, find_dialect(dialect))
    check(words, word_width)
    start_memory(shape, image)  # reject an image that does not fit before building the machine
    return SubleqProgram(machine_v(shape), image, labels, Path(name).stem)


def with_padding(algorithm: Algorithm) -> Algorithm:
    """Returns the algorithm of a machine with the padding that the sign rule needs in every state."""
    return replace(algorithm, examples=smallest_examples(algorithm.program))
