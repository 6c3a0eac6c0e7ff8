"""How NAME or FILE on the command line becomes an algorithm, and NAME=NUMBER its inputs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bitwright.errors import InputError, suggestion

if TYPE_CHECKING:
    from bitwright.execution.run import Progress
    from bitwright.machines import Code, Machine
    from bitwright.machines.subleq import MachineV
    from bitwright.program import Algorithm
    from bitwright.theory import Range

SIZED = ("addition", "multiplication", "permutation")  # there in every bit length
NAMES = (*SIZED, "machine-v")
IMAGES = (".dec", ".sq")


def parse_order(text: str) -> list[int]:
    """`3,1,2` as a list of positions."""
    from bitwright.bits import parse_number

    return [parse_number(part, "each position of --order") for part in text.split(",")]


def find_algorithm(
    target: str,
    bits: int | None = None,
    order: str | None = None,
    default_bits: int = 4,
    machine: str | None = None,
    files: Sequence[Path] = (),
) -> Algorithm:
    """The algorithm that a shipped name, a rule file or an SBN program stands for.

    A name with network files is the algorithm in the size that they were trained for.
    """
    from bitwright.algorithms import addition, multiplication, permutation
    from bitwright.algorithms.sizes import check_bits
    from bitwright.program import load

    if Path(target).suffix.lower() == ".sbn":
        if bits is not None or order is not None:
            raise InputError("--bits and --order do not go with an SBN program; it has a .width of its own")
        return find_machine(target, machine)[2]
    if is_image(target):
        if bits is not None or order is not None:
            raise InputError("--bits and --order do not go with machine V; give --words and --word-width")
        computer, image, _ = find_computer(target, machine)
        return _padded(computer.algorithm(image, Path(target).stem))
    if machine is not None:
        raise InputError("--machine goes with .sbn, .sq and .dec programs and machine-v only, and so do its options")
    length = default_bits if bits is None else bits
    if order is not None and bits is not None and target == "permutation":
        raise InputError("--order says how many bits there are; leave out --bits")
    if files and target in SIZED and (order is None or target == "permutation"):
        from bitwright.cli.networks import trained_algorithm

        return trained_algorithm(target, files, bits, None if order is None else parse_order(order))
    if target == "permutation":
        return permutation(range(check_bits(length), 0, -1) if order is None else parse_order(order))
    if order is not None:
        raise InputError("--order goes with permutation only")
    if target == "addition":
        return addition(length)
    if target == "multiplication":
        return multiplication(length)
    if bits is not None:
        raise InputError(f"--bits goes with {', '.join(NAMES)}; in a rule file, change its 'let' line")
    if not Path(target).suffix and not Path(target).exists():
        raise InputError(f"'{target}' is neither a file nor one of {', '.join(NAMES)}{suggestion(target, NAMES)}")
    return load(target)


def find_machine(target: str, kind: str | None) -> tuple[Machine, Code, Algorithm]:
    """An SBN program on a machine of its size, padded so that the sign rule is certified for it."""
    from bitwright.machines import load_sbn, machine_a, machine_b

    code = load_sbn(target)
    if kind == "V":
        raise InputError("an SBN program runs on machine A or B; machine V runs SUBLEQ, .sq and .dec files")
    machine = (machine_a if kind == "A" else machine_b)(code.sizes)
    return machine, code, _padded(machine.algorithm(code))


def _padded(algorithm: Algorithm) -> Algorithm:
    """A machine with the padding that the sign rule needs in every state."""
    from dataclasses import replace

    from bitwright.theory import smallest_examples

    return replace(algorithm, examples=smallest_examples(algorithm.program))


def computer_size(machine: MachineV, rounding: str, padding: int | None) -> int:
    """K of machine V, as `training_size` has it; the padding is looked for only where it is wanted."""
    algorithm = machine.algorithm()
    return training_size(_padded(algorithm) if rounding == "sign" else algorithm, rounding, padding)


def is_image(target: str) -> bool:
    """Whether a target is for machine V: an image, an assembly text, or the machine by its name."""
    return target == "machine-v" or Path(target).suffix.lower() in IMAGES


def find_computer(
    target: str, choice: str | None, word_width: int | None = None
) -> tuple[MachineV, list[int], dict[str, int]]:
    """Machine V as the options or the program itself describe it, the image to run, and its labels."""
    from bitwright.cli.options import MachineChoice
    from bitwright.machines.subleq import Shape, find_dialect, load_image, load_sq, machine_v

    if choice is not None and choice != "V":
        raise InputError(f"{Path(target).name} is for machine V, got --machine {choice}")
    given = choice if isinstance(choice, MachineChoice) else MachineChoice("V")
    words, width, dialect = given.words, word_width if given.word_width is None else given.word_width, given.dialect
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
    missing = [
        name for name, value in (("--words", words), ("--word-width", width), ("--dialect", dialect)) if value is None
    ]
    if words is None or width is None or dialect is None:
        raise InputError(
            f"{Path(target).name} does not say what machine it is for; give {', '.join(missing)}, "
            "such as --words 65536 --word-width 16 --dialect howerj"
        )
    return machine_v(Shape(words, width, find_dialect(dialect))), image, labels


def training_size(algorithm: Algorithm, rounding: str, padding: int | None) -> int:
    """K, the same for every verb: the padding asked for, or what the algorithm declares for the sign rule."""
    from bitwright import theory

    return theory.training_size(algorithm, rounding, padding)


def find_range(algorithm: Algorithm, source: str | None, progress: Progress | None = None) -> Range:
    """The range of n, the same for every verb: what is proved, unless something else is asked for."""
    from bitwright.bits import shorten
    from bitwright.execution import reachable_range
    from bitwright.theory import blocks_range, declared_range

    if source in (None, "blocks"):
        return blocks_range(algorithm.program)
    if source == "declared":
        return declared_range(algorithm)
    if source == "reachable":
        return reachable_range(algorithm, progress)
    raise InputError(f"--n takes blocks, declared or reachable, got '{shorten(str(source))}'")


def parse_values(pairs: Sequence[str]) -> dict[str, int]:
    """`a=7 b=13` as a dictionary."""
    from bitwright.bits import parse_number, shorten

    values: dict[str, int] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise InputError(f"give inputs as NAME=NUMBER, such as a=7, got '{shorten(pair)}'")
        if name in values:
            raise InputError(f"input {name} is given twice")
        negative = re.match(r"\s*-\d", text) is not None
        size = parse_number(text.strip()[1:] if negative else text, f"input {name}")
        values[name] = -size if negative else size
    return values


def widest(algorithm: Algorithm) -> int:
    """The bit length of its longest input, or output if it has no input."""
    return max((len(word.bits) for word in algorithm.inputs or algorithm.outputs), default=0)
