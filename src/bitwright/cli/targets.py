"""How NAME or FILE on the command line becomes an algorithm, and NAME=NUMBER its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import exists  # unlike Path.exists it takes names of any length
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.app.programs import IMAGES, NAMES, SIZED, MachineChoice, is_image
from bitwright.cli.progress import working
from bitwright.errors import InputError, suggestion

if TYPE_CHECKING:
    from bitwright.program import Algorithm


def parse_order(text: str) -> list[int]:
    """`3,1,2` as a list of positions."""
    from bitwright.bits import parse_number

    return [parse_number(part, "each position of --order") for part in text.split(",")]


_LETS = "bitwright.lets"  # where a command line keeps what --let says
_TARGET = "bitwright.target"  # and the program that it asks for
_NO_RULES = (".sbn", ".safetensors", *IMAGES)


def keep_lets(target: str | None, pairs: Sequence[str]) -> None:
    """Keeps what --let says for `find_algorithm`; raises InputError if the target is no rule file."""
    lets = _numbers(pairs, "--let", "--let", "l=16")
    if lets:
        path = Path(target or "")
        if target in (None, *NAMES, "add", "multiply", "permute") or path.suffix.lower() in _NO_RULES or path.is_dir():
            raise InputError("--let goes with rule files (.bw): it gives a value in place of that of a 'let' line")
        click.get_current_context().meta[_LETS] = lets


def given_lets() -> dict[str, int]:
    """The values in place of those of a rule file's `let` lines."""
    context = click.get_current_context(silent=True)
    return {} if context is None else context.meta.get(_LETS, {})


def let_words() -> list[str]:
    """What --let said, as words of a command that shows something again."""
    return [word for name, value in given_lets().items() for word in ("--let", f"{name}={value}")]


def is_sbn(target: str, bits: int | None, order: str | None) -> bool:
    """Whether a target is an SBN program; then there is no bit length to choose."""
    if Path(target).suffix.lower() != ".sbn":
        return False
    if bits is not None or order is not None:
        raise InputError("--bits and --order do not go with an SBN program; it has a .width of its own")
    return True


def find_algorithm(
    target: str,
    bits: int | None = None,
    order: str | None = None,
    default_bits: int = 4,
    machine: MachineChoice | None = None,
    files: Sequence[Path] = (),
    cells: bool = False,
) -> Algorithm:
    """The algorithm that a shipped name, a rule file or an SBN program stands for.

    A name with network files is the algorithm in the size that they were trained for. Where only `cells` count, a node
    program is one too.
    """
    with working("reading the program"):
        found = _found(target, bits, order, default_bits, machine, files, cells)
    keep_program(target, found, order)
    return found


def keep_program(target: str, algorithm: Algorithm, order: str | None = None) -> None:
    """Keeps which program the command line asks for, so that an error can name it; the first is the one."""
    if (context := click.get_current_context(silent=True)) is not None:
        context.meta.setdefault(_TARGET, (target, algorithm, order))


def asked_program() -> tuple[str, Algorithm, str | None] | None:
    """The first program that the command line asks for, as it was named and in which order; None before it is read."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(_TARGET)


def _found(
    target: str,
    bits: int | None,
    order: str | None,
    default_bits: int,
    machine: MachineChoice | None,
    files: Sequence[Path],
    cells: bool,
) -> Algorithm:
    from bitwright.app.programs import named_algorithm, open_sbn, open_subleq
    from bitwright.bits import shorten
    from bitwright.program import NodeProgram
    from bitwright.program.text.files import load_any

    if Path(target).suffix.lower() == ".safetensors":
        raise InputError(
            f"{target} is a network, not a program; name the program here, and give the network by --network where a "
            "command takes one"
        )
    if is_sbn(target, bits, order):
        return open_sbn(target, machine).algorithm
    if is_image(target):
        if bits is not None or order is not None:
            raise InputError("--bits and --order do not go with machine V; give --words and --word-width")
        return open_subleq(target, machine or MachineChoice()).algorithm
    if machine is not None:
        raise InputError("--machine goes with .sbn, .sq and .dec programs and machine-v only, and so do its options")
    if order is not None and bits is not None and target == "permutation":
        raise InputError("--order says how many bits there are; leave out --bits")
    if order is not None and target != "permutation":
        raise InputError("--order goes with permutation only")
    places = None if order is None else parse_order(order)
    if target in SIZED and files:
        from bitwright.app.trained import trained_algorithm

        return trained_algorithm(target, files, bits, places)
    if target in SIZED:
        return named_algorithm(target, default_bits if bits is None else bits, places)
    if bits is not None:
        raise InputError(f"--bits goes with {', '.join(NAMES)}; for a rule file give --let NAME=NUMBER")
    if not Path(target).suffix and not exists(target):
        raise InputError(
            f"'{shorten(target)}' is neither a file nor one of {', '.join(NAMES)}{suggestion(target, NAMES)}"
        )
    found = load_any(target, given_lets())
    if not isinstance(found, NodeProgram):
        return found
    if not cells:
        raise InputError(
            f"{found.name} is a node program: run and trace take it with --graph; show, train and certify with --cells"
        )
    return found.schemas()[0]


def parse_values(pairs: Sequence[str]) -> dict[str, int]:
    """`a=7 b=13` as a dictionary."""
    return _numbers(pairs, "inputs", "input", "a=7")


def _numbers(pairs: Sequence[str], all_of: str, one: str, form: str) -> dict[str, int]:
    from bitwright.bits import parse_signed, shorten

    values: dict[str, int] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise InputError(f"give {all_of} as NAME=NUMBER, such as {form}, got '{shorten(pair)}'")
        if name in values:
            raise InputError(f"{one} {name} is given twice")
        values[name] = parse_signed(text, f"{one} {name}")
    return values


def widest(algorithm: Algorithm) -> int:
    """The bit length of its longest input, or output if it has no input."""
    return max((len(word.bits) for word in algorithm.inputs or algorithm.outputs), default=0)
