"""Writes a folder for Rocq: the theory, the network, the program at one size and at every size, and a Makefile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from unicodedata import combining, normalize

import numpy as np

from bitwright.common.errors import BitwrightError, InputError, counted, option
from bitwright.common.files.storage import check_empty, make_folder, write_atomically
from bitwright.exports.claims import claim_of
from bitwright.exports.rocq.chain import function_text
from bitwright.exports.rocq.families import Bit, Listed, Piece, ProgramSegments, Row, listed
from bitwright.exports.rocq.forms import FITTED, NotAffineError, argument
from bitwright.exports.rocq.program import SizedProgram, comment, with_names
from bitwright.exports.rocq.templates import each, render, weight
from bitwright.exports.writers import Export, Subject
from bitwright.networks import IntegerNetwork
from bitwright.proofs.function.prove import prove_function
from bitwright.proofs.function.rounds import FORMAT as ROUNDS
from bitwright.rules import Algorithm
from bitwright.rules.algorithm import Sizing
from bitwright.rules.algorithms import multiplication
from bitwright.rules.ensures import joined
from bitwright.rules.pattern import Pattern

MOST_NUMBERS = 4_000_000  # weights in a file
MOST_BY_LISTS = 500_000  # local states times width; checking them takes about ten seconds
_REQUIRED = re.compile(r"From Bitwright Require (?:Import )?(.*?)\.\n")
CERTIFICATE, FORMAT = "certificate.json", "bitwright rocq 1"


def write_rocq(given: Subject, folder: Path, file: Path | None) -> Export:
    """Writes a folder in which `make` checks all proofs; raises InputError unless it is new or empty."""
    if given.pattern.whole is not None:
        raise InputError("an export to Rocq needs a network of cells, but this is a network of the whole state")
    network = given.network
    name = module_name(given.algorithm.name if given.algorithm is not None else folder.name)
    claim = claim_of(network, given.pattern)
    if claim.wrong:
        raise InputError(
            f"Rocq would reject this network, which is wrong in {claim.wrong:,} of {claim.states:,} local states; "
            "train a wider one"
        )
    written = rocq_files(name, network, given.pattern, given.algorithm, file)
    found = theory_files(written.files.values()) | written.files
    paths = list(found)
    about = {"theorems": written.theorems, "left": written.left}
    names = {"format": FORMAT, "network_sha256": network.digest, "file_sha256": _sha256(file), **about}
    found |= {"_CoqProject": project_text(paths), "Makefile": makefile_text(paths)}
    found[CERTIFICATE] = json.dumps(names, indent=2) + "\n"
    check_empty(folder, "files for Rocq")
    for path, text in found.items():
        make_folder((folder / path).parent)
        write_atomically(folder / path, text.encode())
    lines = [
        f"run make there to check {counted(len(written.theorems), 'theorem')} with Rocq",
        *written.theorems,
        *written.left,
    ]
    note = "; ".join(lines)
    return Export([folder / path for path in found], note, about)


@dataclass
class Written:
    """The files, their theorems, and the reasons for missing theorems."""

    files: dict[str, str] = field(default_factory=dict)
    theorems: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def add(self, path: str, text: str, theorem: str, statement: str) -> None:
        """Adds a file and its theorem."""
        self.files[path] = text
        self.theorems.append(f"{theorem}: {statement}")


def rocq_files(
    name: str,
    network: IntegerNetwork,
    pattern: Pattern,
    algorithm: Algorithm | None,
    file: Path | None,
    *,
    function: bool = True,
) -> Written:
    """Returns the files for a network by path; with `function`, including the theorem about what it computes."""
    if network.origin.padding:
        raise InputError("a network with padding cannot be exported to Rocq; train it without padding")
    if (weights := network.first.size + network.last.size) > MOST_NUMBERS:
        raise InputError(
            f"a network for Rocq can have at most {MOST_NUMBERS:,} weights, got {weights:,}; use a narrower network"
        )
    large = is_large(pattern, network.shape.width)
    found = Written()
    states = f"the network is right in all {pattern.local_states:,} local states{' (machine integers)' * large}"
    found.add(f"{name}/Net.v", network_text(network, pattern, _sha256(file)), f"{name}.Net.net_right", states)
    if algorithm is None:
        return found
    size, families = _every_size(found, name, pattern, algorithm, function)
    own = listed(algorithm.program, pattern)
    about = algorithm.name if size is None else f"{algorithm.name} of size {size}"
    compare = size if families is not None and size is not None and size >= families.least else None
    runs = f"{about}: its runs agree with its {counted(len(own.rules), 'rule')}"
    found.add(
        f"{name}/Program.v", program_text(name, comment(about), own, compare), f"{name}.Program.network_steps", runs
    )
    return found


def _every_size(
    found: Written, name: str, pattern: Pattern, algorithm: Algorithm, function: bool
) -> tuple[int | None, ProgramSegments | None]:
    """Adds the proofs for every size; returns the current size of the program, and its families if there are any."""
    sizing = algorithm.sizing
    if function and not algorithm.ensures:
        found.left.append("no theorem about what it computes: the program has no ensure line; add one")
    if sizing is None or not sizing.numbers:
        found.left.append("no theorem at every size: the program has no size; add a line such as `let l = 8`")
        return None, None
    key = _size_of(algorithm, sizing)
    size = sizing.numbers[key]
    program = SizedProgram(name, algorithm, key, lambda l: sizing.at(**{key: l}), pattern, (size,))
    try:
        families = program.families
    except NotAffineError as error:
        found.left.append(f"no theorem at every size: {error}")
        return size, None
    others = [f"{other} = {value}" for other, value in sizing.numbers.items() if other != key]
    about, fixed = ", ".join([algorithm.name, *others]), " with " * bool(others) + ", ".join(others)
    runs = (
        f"at every size from {families.least} on{fixed}, its runs agree with the rules; bitwright compared the rules "
        f"and cells, as functions of the size, with the program at the sizes {families.compared_sizes}"
    )
    text = families_text(name, comment(about), families)
    found.add(f"{name}/Families.v", text, f"{name}.Families.network_runs", runs)
    if function and algorithm.ensures:
        try:
            texts = _function_files(program)
        except NotAffineError as error:
            found.left.append(f"no theorem about what it computes: {error}")
        else:
            found.files |= texts
            computes = f"at every size from {families.least} on{fixed}, the network computes {joined(algorithm.claims)}"
            found.theorems.append(f"{name}.Function.network_computes: {computes}")
    return size, families


def _function_files(program: SizedProgram) -> dict[str, str]:
    """Returns the files about what a program computes; raises NotAffineError if there are none.

    The files for a chain are generated from its certificate. The only loop with a proof is multiplication, whose files
    are stored.
    """
    algorithm, name = program.algorithm, program.name
    proof = prove_function(algorithm)
    if not proof.proved or proof.certificate is None:
        raise NotAffineError(proof.sentence())
    if proof.certificate["format"] != ROUNDS:
        return {f"{name}/Function.v": with_names(function_text(program, proof.certificate))}
    shipped = (multiplication(l).same_as(program.make(l)) for l in (program.families.least, *FITTED))
    if algorithm.claims != multiplication(1).claims or not all(shipped):
        raise NotAffineError("the program is a loop; the only loop with a proof in Rocq is the shipped multiplication")
    return {f"{name}/{file}.v": render(f"multiplication/{file}", name=name) for file in ("Phase1", "Function")}


def _size_of(algorithm: Algorithm, sizing: Sizing) -> str:
    """Returns the program's first parameter that changes its number of bits."""
    for name, value in sizing.numbers.items():
        with suppress(BitwrightError):
            if sizing.at(**{name: value + 1}).program.layout.size != algorithm.program.layout.size:
                return name
    return next(iter(sizing.numbers))


def _sha256(file: Path | None) -> str | None:
    return None if file is None else sha256(file.read_bytes()).hexdigest()


def network_text(network: IntegerNetwork, pattern: Pattern, file_sha256: str | None) -> str:
    """Returns the file with the tensors, the pattern, and the kernel's check of all local states."""
    kinds, between = [], ";\n         "
    for kind in pattern.kinds:
        tables = [
            (bits, each((each(_values(config, bits), between=";") for config in table), between=";"))
            for bits, table in kind.blocks
        ]
        ports = each((each(port, between=";") for port in kind.ports), between=";")
        kinds.append("\n        ".join([f"Kind {each(tables, '({0}, {1})', between)}", ports]))
    tensors = {name: getattr(network, name) for name in ("first", "last", "thresholds")}
    return render(
        "net",
        network=network,
        file_sha256=file_sha256,
        kinds=kinds,
        weights=sorted({int(one) for name in ("first", "last") for one in np.unique(tensors[name])}),
        tensors=[
            (name, [each(row if name == "thresholds" else map(weight, row), between=";") for row in tensor.tolist()])
            for name, tensor in tensors.items()
        ],
        states=f"{pattern.local_states:,}",
        large=is_large(pattern, network.shape.width),
    )


def is_large(pattern: Pattern, width: int) -> bool:
    """Whether lists of Z are too slow, in which case the check uses machine integers and the axioms about them."""
    return pattern.local_states * width > MOST_BY_LISTS


def program_text(name: str, about: str, program: Listed, size: int | None) -> str:
    """Returns the file with the theorem that every run by cells is a run of the rules, at one size.

    Args:
        name: the name of the folder.
        about: the name of the program.
        program: its rules and cells.
        size: the size at which the families, if there are any, are compared with them.
    """
    rules = [
        f"when_write {each(zip(map(_bit, rule.lists[0]), map(bool, rule.form), strict=True), '({0}, {1})')} "
        f"{each(map(_bit, rule.lists[1]))}"
        for rule in program.rules
    ]
    cells = [
        " ".join(["Cell", str(cell.form[0]), *(each(each(map(_bit, bits)) for bits in own) for own in _parted(cell))])
        for cell in program.cells
    ]
    return render("program", name=name, about=about, rules=rules, cells=cells, size=size)


def families_text(name: str, about: str, families: ProgramSegments) -> str:
    """Returns the file with rules and cells as functions of l, and the proof that the rules consist of the cells."""

    def in_cell(piece: Piece) -> str:
        row = "" if families.cells[piece.target].single else f" {argument(piece.row)}"
        return f"in_nth_cell {piece.target} (cell_{piece.target + 1} l{row}) {piece.template}"

    return render("families", name=name, about=about, families=families, in_cell=in_cell)


def _parted(cell: Row) -> tuple[tuple[tuple[Bit, ...], ...], ...]:
    return cell.lists[: cell.ordered], cell.lists[cell.ordered :]


def _bit(bit: Bit) -> str:
    return f'("{bit[0]}", {each(bit[1])})'


def _values(config: int, bits: int) -> list[bool]:
    return [bool(config >> place & 1) for place in range(bits)]


def theory_files(texts: Iterable[str]) -> dict[str, str]:
    """Returns the theory files that these texts require, in dependency order."""
    found: dict[str, str] = {}
    for text in texts:
        for name in " ".join(_REQUIRED.findall(text)).split():
            if f"theory/{name}.v" not in found:
                own = (files("bitwright.exports.rocq") / "theory" / f"{name}.v").read_text()
                found |= theory_files([own]) | {f"theory/{name}.v": own}
    return found


def project_text(paths: list[str]) -> str:
    """Returns the file list for `coq_makefile`."""
    folders = dict.fromkeys(path.partition("/")[0] for path in paths)
    return "".join(f"-Q {folder} {'Bitwright' if folder == 'theory' else folder}\n" for folder in folders) + "".join(
        f"{path}\n" for path in paths
    )


def makefile_text(paths: list[str]) -> str:
    """Returns the Makefile that checks a folder."""
    libraries = " ".join(path.removesuffix(".v").replace("/", ".") for path in paths if not path.startswith("theory/"))
    where = " ".join(line for line in project_text(paths).splitlines() if line.startswith("-Q"))
    return render("Makefile", where=where, libraries=libraries)


def module_name(text: str) -> str:
    """Returns a valid Rocq name for a folder of files: `examples/gray.bw` is `Gray`, `é` is `E`, and `λ` is `N3bb`."""
    plain = normalize("NFKD", Path(text).stem)  # é as e and an accent
    spelt = "".join(
        one if one.isascii() or not one.isalpha() else f" {ord(one):x} " for one in plain if not combining(one)
    )
    words = re.findall(r"[A-Za-z0-9]+", spelt)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    if not name:
        raise InputError(f"the name of {option('path')} must contain a letter or digit, got {text}")
    if name.lower() in ("bitwright", "coq", "theorems", "theory"):  # names of other folders
        return f"{name}Program"
    return name if name[0].isalpha() else f"N{name}"
