"""Opens a program: a shipped algorithm, a file of any kind, or an image for machine V."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike, fspath
from os.path import exists  # unlike Path.exists, it accepts names of any length
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.common.errors import InputError, option, shorten, suggestion
from bitwright.common.files.storage import as_path
from bitwright.common.lazy import is_a
from bitwright.verbs.reports import refuse

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from bitwright.machines.programs import SubleqProgram as SubleqProgram
    from bitwright.networks.external import Model
    from bitwright.rules import Algorithm, NodeProgram, Program
    from bitwright.rules.cells import Tile
    from bitwright.verbs.network import Network

SIZED = ("addition", "multiplication", "permutation")  # available in every bit length
NAMES = (*SIZED, "machine-v")
IMAGES = (".dec", ".sq")
MOST_TILE = 16  # neighbouring cells that are treated as one
_MACHINES = "bitwright.machines.programs"


@dataclass(frozen=True)
class MachineChoice:
    """The machine that a program runs on; a setting that is None is taken from the program."""

    letter: str | None = None  # A or B for SBN, V for SUBLEQ
    words: int | None = None
    word_width: int | None = None
    dialect: str | None = None

    def __str__(self) -> str:
        size = "" if self.words is None else f"{self.words}x{self.word_width}"
        return f"{self.letter or 'V'}:{size}:{self.dialect or ''}".rstrip(":")


def package_of(target: str) -> Any:
    """Imports the package of machines for its files and names; returns None for rule files and shipped algorithms."""
    of_machines = target == "machine-v" or Path(target).suffix.lower() in (".sbn", *IMAGES)
    return import_module(_MACHINES) if of_machines else None


def open_program(
    path: str | PathLike[str],
    *,
    bits: int | None = None,
    order: Sequence[int] | None = None,
    machine: str | None = None,
    words: int | None = None,
    word_width: int | None = None,
    dialect: str | None = None,
    **lets: int,
) -> Algorithm | NodeProgram:
    """Opens the program in a file. Rules for the nodes of graphs yield a NodeProgram, which `run` takes with a graph.

    Issues a `BitwrightWarning` for a rule that is valid but probably a mistake.

    Args:
        path: a file of rules (.bw), SBN (.sbn), SUBLEQ (.sq) or an image (.dec), or the name of a shipped algorithm.
        bits: the bit length of a shipped algorithm.
        order: for "permutation", the destination of each bit.
        machine: "A" or "B" (the default) for SBN.
        words, word_width, dialect: the machine V for an image, unless the image sets them.
        lets: values that replace those in `let` lines, such as l=1000.

    >>> import bitwright
    >>> lines = ["let l = 3", "bits p[l]", "block p[1..l]", "when p[1]=1 write p[2]", "input p", "steps 1"]
    >>> _ = Path("double.bw").write_text("\\n".join(lines))
    >>> bitwright.run(bitwright.open("double.bw"), p=1).value
    2
    >>> bitwright.open("double.bw", l=5)
    Algorithm 'double': 5 bits, 1 block, 1 template
    >>> bitwright.open("addition", bits=4)
    Algorithm 'addition': 12 bits, 8 blocks, 16 templates
    """
    target, choice = fspath(as_path(path, "a program")), MachineChoice(machine, words, word_width, dialect)
    suffix = Path(target).suffix.lower()
    if suffix == ".bw":  # a `let` line may have the name of an option
        given = {"bits": bits, "words": words, "word_width": word_width}
        lets |= {name: value for name, value in given.items() if value is not None}
        bits, choice = None, MachineChoice(machine, dialect=dialect)
    found = opened(
        target, bits=bits, order=order, machine=None if choice == MachineChoice() else choice, lets=lets, nodes=True
    )
    if suffix == ".bw":
        from bitwright.rules import Algorithm
        from bitwright.rules.text import read_text
        from bitwright.rules.text.lint import warn_about

        if isinstance(found, Algorithm):
            warn_about(read_text(Path(target)), found, target)
    return found


def opened(
    target: str,
    *,
    bits: int | None = None,
    order: Sequence[int] | None = None,
    machine: MachineChoice | None = None,
    lets: Mapping[str, int] | None = None,
    default_bits: int = 4,
    values: Mapping[str, Any] | None = None,
    network: Network | Model | None = None,
    nodes: bool = False,
) -> Algorithm | NodeProgram:
    """Opens the program with this name or in this file; a node program is rejected without `nodes`.

    A shipped algorithm gets the size that `network` was trained for, or that `values` need.
    """
    path, package = as_path(target, "a program"), package_of(target)
    if path.suffix.lower() == ".safetensors":
        raise InputError(f"{target} is a network; give a program here, and the network as {option('network')}")
    if path.suffix.lower() == ".task":
        raise InputError(f"{target} is a transformer task, accepted only by certify, train and check; give a program")
    if target in NAMES or package is not None:
        refuse("works only with rule files (.bw)", let=lets or None)
    if package is not None:
        refuse(
            "cannot be used with programs for machines; SBN has .width, and machine V its words", bits=bits, order=order
        )
        algorithm: Algorithm = package.open_program(target, **vars(machine or MachineChoice()))
        return algorithm
    refuse("works only with .sbn, .sq and .dec programs and machine-v", machine=machine)
    if target != "permutation":
        refuse("works only with permutation", order=order)
    elif order is not None:
        refuse(f"cannot be used with {option('order')}, which determines the number of bits", bits=bits)
    if target in SIZED:
        return shipped(target, values or {}, bits, order, network, default_bits=default_bits)
    refuse(f"works only with {', '.join(NAMES)}; rule files take {option('let')} NAME=NUMBER", bits=bits)
    if not path.suffix and not exists(target):
        raise InputError(
            f"'{shorten(target)}' is neither a file nor one of {', '.join(NAMES)}{suggestion(target, NAMES)}"
        )
    from bitwright.rules.text import load_any

    rules = load_any(target, lets)
    if is_node_program(rules) and not nodes:
        raise InputError(
            f"{rules.name} is a node program; use run or trace with {option('graph')}, or show, certify or train with "
            f"{option('tile')} 1"
        )
    return rules


def named_algorithm(name: str, bits: int = 4, order: Sequence[int] | None = None, counter: bool = False) -> Algorithm:
    """Returns a shipped algorithm; if no order is given, a permutation reverses the bits."""
    from bitwright.rules.algorithms import addition, multiplication, permutation
    from bitwright.rules.algorithms.arithmetic import check_bits

    if name == "permutation":
        return permutation(range(check_bits(bits), 0, -1) if order is None else order)
    return addition(bits, counter) if name == "addition" else multiplication(bits)


def shipped(
    name: str,
    values: Mapping[str, Any],
    bits: int | None = None,
    order: Sequence[int] | None = None,
    network: Network | Model | None = None,
    default_bits: int = 4,
) -> Algorithm:
    """Returns a shipped algorithm at the given size, or at the size of a whole-state network or of the values."""
    from bitwright.common.bits import width_of

    needed = 0
    for given, value in values.items():
        several = value.tolist() if hasattr(value, "tolist") else value
        for number in several if isinstance(several, list | tuple | range) else [several]:
            if isinstance(number, int) and width_of(number) > needed:
                needed, largest = width_of(number), f"{given} is {shorten(number)}"
    if network is None or getattr(network, "cells", True):
        return named_algorithm(name, (needed or default_bits) if bits is None else bits, order)
    from bitwright.rules.algorithms.arithmetic import order_of

    whole: Any = network
    algorithm: Algorithm | None = whole.algorithm
    trained = f"this network was trained for {whole.trained_for}"
    if algorithm is None or algorithm.name != name:
        raise InputError(f"{trained}, not for {name}")
    length = len(algorithm.inputs[0].bits)
    if bits not in (None, length):
        raise InputError(f"{trained}, got {option('bits')} {shorten(bits)}; leave it out, or choose another network")
    if order is not None and list(order) != order_of(algorithm):
        trained_order, asked = (shorten(",".join(map(str, places))) for places in (order_of(algorithm), order))
        raise InputError(
            f"{trained} in the order {trained_order}, got {option('order')} {asked}; leave it out, or choose another "
            "network"
        )
    if needed > length:
        raise InputError(f"{trained}, but {largest}, which needs {needed:,} bits; choose another network")
    return algorithm


def open_subleq(target: str, choice: MachineChoice | None = None) -> SubleqProgram:
    """Opens an image for machine V; the size of the machine comes from the choice or from the image."""
    program: SubleqProgram = import_module(_MACHINES).open_subleq(target, **vars(choice or MachineChoice()))
    return program


def check_tile(tile: object) -> Tile:
    """Returns a valid number of neighbouring cells treated as one, or "all"."""
    if tile == "all":
        return "all"
    if type(tile) is not int or not 1 <= tile <= MOST_TILE:
        raise InputError(
            f"{option('tile')} must be between 1 and {MOST_TILE}, or all (the whole state), got {shorten(str(tile))}"
        )
    return tile


def of_bits(what: Algorithm | NodeProgram) -> Algorithm:
    """Returns the algorithm, or the first schema of a node program."""
    return what.schemas()[0] if is_node_program(what) else what


def is_for_machine_v(what: object) -> TypeIs[SubleqProgram]:
    """Whether this is an image on machine V."""
    return is_a(what, f"{_MACHINES}:SubleqProgram")


def is_image(target: str) -> bool:
    """Whether a target is for machine V: an image, an assembly file, or the name of the machine."""
    return target == "machine-v" or Path(target).suffix.lower() in IMAGES


def is_node_program(what: object) -> TypeIs[NodeProgram]:
    """Whether this is a node program, with rules for the nodes of graphs."""
    return is_a(what, "bitwright.rules.graph.node_program:NodeProgram")


def as_algorithm(what: Algorithm | Program) -> Algorithm:
    """Returns the algorithm; a bare program becomes an algorithm that runs until nothing changes."""
    from bitwright.rules import Algorithm, Program

    if isinstance(what, Algorithm):
        return what
    if isinstance(what, Program):
        return Algorithm("program", what)
    if is_node_program(what):
        raise InputError(f"{what.name} is a node program, which runs on a graph; give what.on(graph) instead")
    hint = ""
    if isinstance(what, str | PathLike):
        hint = "; open(path) reads a file"
    elif isinstance(getattr(what, "program", None), Program):  # a machine
        hint = "; give its program: what.program"
    raise InputError(f"give an Algorithm or a Program, got a {type(what).__name__}{hint}")


def subject(what: Algorithm | Program | NodeProgram) -> Algorithm | NodeProgram:
    """Returns a program as an algorithm, or a node program as it is; raises InputError for anything else."""
    return what if is_node_program(what) else as_algorithm(what)
