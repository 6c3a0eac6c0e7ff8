"""How NAME or FILE on the command line becomes a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.api.numbers import parse_lets, parse_order
from bitwright.api.open import IMAGES, NAMES, MachineChoice, of_bits, opened
from bitwright.cli.progress import working
from bitwright.errors import InputError

if TYPE_CHECKING:
    from bitwright import Algorithm, NodeProgram


def spell_option(setting: str) -> str:
    """What an option is called that stands for a setting of the service layer."""
    other = {
        "executions": "--from",
        "files": "--network",
        "inputs": "--input",
        "output": "-o",
        "path": "-o",
        "steps": "--max-steps",
        "what": "--program",
    }
    return other.get(setting, f"--{setting.replace('_', '-')}")


_LETS = "bitwright.lets"  # where a command line keeps what --let says
_TARGET = "bitwright.target"  # and the program that it asks for
_NO_RULES = (".sbn", ".safetensors", *IMAGES)


def keep_lets(target: str | None, pairs: Sequence[str]) -> None:
    """Keeps what --let says for `find_algorithm`; raises InputError if the target is no rule file."""
    if lets := parse_lets(pairs):
        path = Path(target or "")
        if target in (None, *NAMES) or path.suffix.lower() in _NO_RULES or path.is_dir():
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
    target: str, bits: int | None = None, order: str | None = None, *, cells: bool = False, **more: Any
) -> Algorithm:
    """The algorithm that a shipped name, a rule file or an SBN program stands for; see `find_program`.

    Where only `cells` count, a node program is one too.
    """
    return of_bits(find_program(target, bits, order, nodes=cells, **more))


def find_program(
    target: str,
    bits: int | None = None,
    order: str | None = None,
    default_bits: int = 4,
    machine: MachineChoice | None = None,
    files: Sequence[Path] = (),
    nodes: bool = False,
    values: Mapping[str, int] | None = None,
) -> Algorithm | NodeProgram:
    """The program of a target, in the size that network files were trained for, or that `values` need."""
    with working("reading the program"):
        found = opened(
            target,
            bits=bits,
            order=None if order is None else parse_order(order),
            machine=machine,
            lets=given_lets(),
            default_bits=default_bits,
            values=values,
            files=files,
            nodes=nodes,
        )
    keep_program(target, of_bits(found), order, None if machine is None else machine.letter)
    return found


def keep_program(target: str, algorithm: Algorithm, order: str | None = None, machine: str | None = None) -> None:
    """Keeps which program the command line asks for, so that an error can name it; the first is the one."""
    if (context := click.get_current_context(silent=True)) is not None:
        context.meta.setdefault(_TARGET, (target, algorithm, order, machine))


def asked_program() -> tuple[str, Algorithm, str | None, str | None] | None:
    """The first program that the command line asks for: its name, order and machine; None before it is read."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(_TARGET)
