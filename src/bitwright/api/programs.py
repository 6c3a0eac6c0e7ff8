"""From what a person names to an algorithm: a shipped name, a file of any kind, a machine and an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from bitwright.errors import InputError, problems_of, suggestion
from bitwright.files.storage import as_path

if TYPE_CHECKING:
    from bitwright.machines import Code, Machine
    from bitwright.machines.subleq import MachineV
    from bitwright.program import Algorithm, NodeProgram

SIZED = ("addition", "multiplication", "permutation")  # there in every bit length
NAMES = (*SIZED, "machine-v")
IMAGES = (".dec", ".sq")


@dataclass(frozen=True)
class MachineChoice:
    """Which machine a program is to run on; what is None is what the program itself says."""

    letter: str | None = None  # A or B for SBN, V for SUBLEQ
    words: int | None = None
    word_width: int | None = None
    dialect: str | None = None

    def __str__(self) -> str:
        return self.letter or "V"


@dataclass(frozen=True)
class SbnProgram:
    """An SBN program on a machine of its size."""

    machine: Machine
    code: Code
    algorithm: Algorithm


@dataclass(frozen=True)
class SubleqProgram:
    """Machine V, the image that it runs, and the labels of its text."""

    machine: MachineV
    image: list[int]
    labels: dict[str, int]
    name: str

    @property
    def algorithm(self) -> Algorithm:
        return with_padding(self.machine.algorithm(self.image, self.name))


def open_program(
    path: str | PathLike[str],
    *,
    machine: str | None = None,
    words: int | None = None,
    word_width: int | None = None,
    dialect: str | None = None,
    lets: Mapping[str, int] | None = None,
) -> Algorithm | NodeProgram:
    """The algorithm in a file: rules (.bw), SBN (.sbn), the small language (.py), SUBLEQ (.sq) or an image (.dec).

    `lets` are values in place of those that rules give to their numbers, such as {"l": 1000}. Rules for the nodes of
    graphs are a NodeProgram, which `run` takes with a graph. What rules can hardly mean is a `BitwrightWarning`.
    SBN runs on machine B unless `machine` is "A". An image does not say what machine it is for: give `words`,
    `word_width` and `dialect`.

    >>> from bitwright import run
    >>> _ = Path("double.bw").write_text("bits p[3]\\nblock p[1..3]\\nwhen p[1]=1 write p[2]\\ninput p\\nsteps 1")
    >>> run(open_program("double.bw"), p=1).value
    2
    """
    target, choice = fspath(as_path(path, "a program")), MachineChoice(machine, words, word_width, dialect)
    suffix = Path(target).suffix.lower()
    if lets and suffix in (".sbn", ".py", *IMAGES):
        raise InputError(f"lets go with rule files (.bw), and {Path(target).name} is none")
    if suffix in (".sbn", ".py"):
        return open_sbn(target, choice).algorithm
    if suffix in IMAGES:
        return open_subleq(target, choice).algorithm
    if choice != MachineChoice():
        raise InputError("a machine goes with .sbn, .py, .sq and .dec programs only")
    from bitwright.program import Algorithm
    from bitwright.program.text.files import load_any, read_text
    from bitwright.program.text.warned import warn_about

    found = load_any(target, lets)
    if isinstance(found, Algorithm):
        warn_about(read_text(Path(target)), found, target)
    return found


def named_algorithm(name: str, bits: int = 4, order: Sequence[int] | None = None, counter: bool = False) -> Algorithm:
    """A shipped algorithm; a permutation without an order turns the bits round."""
    from bitwright.algorithms import addition, multiplication, permutation
    from bitwright.algorithms.sizes import check_bits

    if name == "permutation":
        return permutation(range(check_bits(bits), 0, -1) if order is None else order)
    if name == "addition":
        return addition(bits, counter)
    if name == "multiplication":
        return multiplication(bits)
    raise InputError(f"there is no algorithm '{name}'; there are {', '.join(SIZED)}{suggestion(name, SIZED)}")


def open_sbn(target: str, choice: MachineChoice | None = None) -> SbnProgram:
    """An SBN program, assembled or compiled, on machine A or B."""
    from bitwright.machines import load_sbn

    letter = None if choice is None else choice.letter
    if Path(target).suffix.lower() != ".py":
        return sbn_program(load_sbn(target), letter)
    from bitwright.machines import assemble, compile_function
    from bitwright.program.text.files import read_text

    name = Path(target).stem
    with problems_of(target):
        return sbn_program(assemble(compile_function(read_text(Path(target), ".py"), name=name), name), letter)


def sbn_program(code: Code, letter: str | None = None) -> SbnProgram:
    """A program on a machine of its size, padded so that the sign rule is certified for it."""
    from bitwright.machines import machine_a, machine_b

    if letter == "V":
        raise InputError("an SBN program runs on machine A or B; machine V runs SUBLEQ, .sq and .dec files")
    machine = (machine_a if letter == "A" else machine_b)(code.sizes)
    return SbnProgram(machine, code, with_padding(machine.algorithm(code)))


def open_subleq(target: str, choice: MachineChoice) -> SubleqProgram:
    """Machine V as the choice or the program itself describes it, with the image to run."""
    from bitwright.machines.subleq import Shape, find_dialect, load_image, load_sq, machine_v

    if choice.letter not in (None, "V"):
        raise InputError(f"{Path(target).name} is for machine V, not machine {choice.letter}")
    words, width, dialect = choice.words, choice.word_width, choice.dialect
    image: list[int] = []
    labels: dict[str, int] = {}
    if target.lower().endswith(".sq"):
        assembly = load_sq(target)
        image, labels = assembly.image, assembly.labels
        words = assembly.words if words is None else words
        width = assembly.width if width is None else width
        dialect = assembly.dialect if dialect is None else dialect
    elif target != "machine-v":
        image = load_image(target)
    if words is None or width is None or dialect is None:
        wanted = (("words", words), ("word width", width), ("dialect", dialect))
        missing = ", ".join(name for name, value in wanted if value is None)
        raise InputError(
            f"{Path(target).name} does not say what machine it is for; give its {missing}, "
            "such as words 65536, word width 16 and dialect howerj"
        )
    machine = machine_v(Shape(words, width, find_dialect(dialect)))
    return SubleqProgram(machine, image, labels, Path(target).stem)


def with_padding(algorithm: Algorithm) -> Algorithm:
    """A machine's algorithm with the padding that the sign rule needs in every state."""
    from bitwright.theory import smallest_examples

    return replace(algorithm, examples=smallest_examples(algorithm.program))


def is_image(target: str) -> bool:
    """Whether a target is for machine V: an image, an assembly text, or the machine by its name."""
    return target == "machine-v" or Path(target).suffix.lower() in IMAGES
