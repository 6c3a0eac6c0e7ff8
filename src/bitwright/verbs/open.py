"""Opens a program: a shipped name, a file of any kind, or a machine and an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike, fspath
from os.path import exists  # unlike Path.exists, it accepts names of any length
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.common.errors import InputError, option, suggestion
from bitwright.common.files.storage import as_path
from bitwright.common.lazy import is_a

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
MOST_TILE = 16  # neighbouring cells that are taken as one
_MACHINES = "bitwright.machines.programs"


@dataclass(frozen=True)
class MachineChoice:
    """The machine that a program runs on; None for the settings that the program itself gives."""

    letter: str | None = None  # A or B for SBN, V for SUBLEQ
    words: int | None = None
    word_width: int | None = None
    dialect: str | None = None

    def __str__(self) -> str:
        size = "" if self.words is None else f"{self.words}x{self.word_width}"
        return f"{self.letter or 'V'}:{size}:{self.dialect or ''}".rstrip(":")


def package_of(target: str) -> Any:
    """The package of machines for its files and names, loaded only then; None for rule text and shipped algorithms."""
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
    """The program in a file. Rules for the nodes of graphs are a NodeProgram, which `run` takes with a graph.

    A rule that is valid but probably a mistake is a `BitwrightWarning`.

    Args:
        path: a file of rules (.bw), SBN (.sbn), SUBLEQ (.sq) or an image (.dec), or the name of a shipped algorithm.
        bits: the bit length of a shipped algorithm.
        order: for "permutation", where each bit goes.
        machine: "A" or "B" (the default) for SBN.
        words, word_width, dialect: machine V for an image, which does not name its own.
        lets: values that replace those of `let` lines, such as l=1000.

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
    """The program with this name, or in this file of any kind.

    A name is the algorithm in the size that `network` was trained for, or that `values` need. With `nodes` a
    node program is given as it is; otherwise it is refused.
    """
    from bitwright.common.bits import shorten
    from bitwright.rules.text import load_any

    path = as_path(target, "a program")
    if path.suffix.lower() == ".safetensors":
        raise InputError(
            f"{target} is a network, not a program; name the program here, and give the network as {option('network')} "
            "where one is taken"
        )
    if path.suffix.lower() == ".task":
        raise InputError(
            f"{target} is a task of a transformer, which certify, train and check take; the others take programs"
        )
    package = package_of(target)
    if lets and (target in NAMES or package is not None):
        raise InputError(
            f"{option('let')} goes with rule files (.bw): it gives a value in place of that of a 'let' line"
        )
    if package is not None:
        if bits is not None or order is not None:
            raise InputError(
                f"{option('bits')} and {option('order')} do not go with programs for machines: SBN has a .width of its "
                "own, and machine V its words and their width"
            )
        found: Algorithm = package.open_program(target, **vars(machine or MachineChoice()))
        return found
    if machine is not None:
        raise InputError(
            f"{option('machine')} goes with .sbn, .sq and .dec programs and machine-v only, and so do its options"
        )
    if order is not None and bits is not None and target == "permutation":
        raise InputError(f"{option('order')} says how many bits there are; leave out {option('bits')}")
    if order is not None and target != "permutation":
        raise InputError(f"{option('order')} goes with permutation only")
    if target in SIZED:
        return shipped(target, values or {}, bits, order, network, default_bits=default_bits)
    if bits is not None:
        raise InputError(
            f"{option('bits')} goes with {', '.join(NAMES)}; for a rule file give {option('let')} NAME=NUMBER"
        )
    if not path.suffix and not exists(target):
        raise InputError(
            f"'{shorten(target)}' is neither a file nor one of {', '.join(NAMES)}{suggestion(target, NAMES)}"
        )
    rules = load_any(target, lets)
    if is_node_program(rules) and not nodes:
        raise InputError(
            f"{rules.name} is a node program: run and trace take it with {option('graph')}, show and certify with "
            f"{option('tile')} 1, and train as it is"
        )
    return rules


def named_algorithm(name: str, bits: int = 4, order: Sequence[int] | None = None, counter: bool = False) -> Algorithm:
    """A shipped algorithm; a permutation without an order reverses the bits."""
    from bitwright.rules.algorithms import addition, multiplication, permutation
    from bitwright.rules.algorithms.arithmetic import check_bits

    if name == "permutation":
        return permutation(range(check_bits(bits), 0, -1) if order is None else order)
    if name == "addition":
        return addition(bits, counter)
    if name == "multiplication":
        return multiplication(bits)
    raise InputError(f"there is no algorithm '{name}'; there are {', '.join(SIZED)}{suggestion(name, SIZED)}")


def shipped(
    name: str,
    values: Mapping[str, Any],
    bits: int | None = None,
    order: Sequence[int] | None = None,
    network: Network | Model | None = None,
    default_bits: int = 4,
) -> Algorithm:
    """A shipped algorithm in the given size, the size of a network of the whole state, or the size that values need."""
    if network is None or getattr(network, "cells", True):
        return named_algorithm(name, _width(values, default_bits) if bits is None else bits, order)
    from bitwright.common.bits import shorten, width_of
    from bitwright.rules.algorithms.arithmetic import order_of

    held: Any = network
    found, trained = held.algorithm, f"this network was trained for {held.trained_for}"
    if found is None or found.name != name:
        raise InputError(f"{trained}, not for {name}")
    length = len(found.inputs[0].bits)
    if bits is not None and bits != length:
        raise InputError(f"{trained}, got {option('bits')} {shorten(bits)}; leave it out, or choose another network")
    if order is not None and list(order) != order_of(found):
        own, asked = (shorten(",".join(map(str, places))) for places in (order_of(found), order))
        raise InputError(
            f"{trained} in the order {own}, got {option('order')} {asked}; leave it out, or choose another network"
        )
    for given, value in values.items():
        if isinstance(value, int) and width_of(value) > length and given in {word.name for word in found.inputs}:
            raise InputError(f"{trained}; {given} is {shorten(value)}, which needs {width_of(value):,}")
    algorithm: Algorithm = found
    return algorithm


def _width(values: Mapping[str, Any], default: int) -> int:
    """The number of bits that the largest value needs."""
    from bitwright.common.bits import width_of

    numbers: list[int] = []
    for value in values.values():
        several = value.tolist() if hasattr(value, "tolist") else value
        several = several if isinstance(several, list | tuple | range) else [several]
        numbers += [one for one in several if isinstance(one, int)]
    return max(map(width_of, numbers), default=default)


def open_subleq(target: str, choice: MachineChoice | None = None) -> SubleqProgram:
    """Machine V with the image to run; the choice or the program itself gives its size."""
    found: SubleqProgram = import_module(_MACHINES).open_subleq(target, **vars(choice or MachineChoice()))
    return found


def check_tile(tile: object) -> Tile:
    """The checked number of neighbouring cells taken as one, or "all"."""
    from bitwright.common.bits import shorten

    if tile == "all":
        return "all"
    if type(tile) is not int or not 1 <= tile <= MOST_TILE:
        raise InputError(
            f"{option('tile')} is an integer from 1 to {MOST_TILE}, or all (the whole state), got {shorten(str(tile))}"
        )
    return tile


def of_bits(what: Algorithm | NodeProgram) -> Algorithm:
    """The algorithm; for a node program its first schema."""
    return what.schemas()[0] if is_node_program(what) else what


def is_for_machine_v(what: object) -> TypeIs[SubleqProgram]:
    """Whether this is an image on machine V."""
    return is_a(what, f"{_MACHINES}:SubleqProgram")


def is_image(target: str) -> bool:
    """Whether a target is for machine V: an image, an assembly text, or the machine by its name."""
    return target == "machine-v" or Path(target).suffix.lower() in IMAGES


def is_node_program(what: object) -> TypeIs[NodeProgram]:
    """Whether this is a node program, with rules for the nodes of graphs."""
    return is_a(what, "bitwright.rules.graph.node_program:NodeProgram")


def as_algorithm(what: Algorithm | Program) -> Algorithm:
    """The algorithm; a program alone becomes one that runs until nothing changes."""
    from bitwright.rules import Algorithm, Program

    if isinstance(what, Algorithm):
        return what
    if isinstance(what, Program):
        return Algorithm("program", what)
    if is_node_program(what):
        raise InputError(f"{what.name} is a node program, which runs on a graph: pass what.on(graph) instead")
    hint = ""
    if isinstance(what, str | PathLike):
        hint = "; open(path) loads one from a file"
    elif isinstance(getattr(what, "program", None), Program):  # a machine
        hint = "; give the program in its attribute: what.program"
    raise InputError(f"give an Algorithm or a Program, got a {type(what).__name__}{hint}")


def subject(what: Algorithm | Program | NodeProgram) -> Algorithm | NodeProgram:
    """The program, as an algorithm if it has no inputs and outputs; raises InputError for anything else."""
    from bitwright.rules import Algorithm

    return what if isinstance(what, Algorithm) or is_node_program(what) else as_algorithm(what)
