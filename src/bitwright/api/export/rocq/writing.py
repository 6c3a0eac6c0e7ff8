"""The folder for Rocq: the theory, the network, the program at one size and at every size, and how to check it all."""

from __future__ import annotations

import re
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from bitwright.api.export.rocq.fitting import NotAffine, fitted
from bitwright.api.export.rocq.listed import listed
from bitwright.api.export.rocq.printed import families_text, network_text, program_text
from bitwright.api.export.writing import Export, Subject
from bitwright.errors import InputError, counted, option
from bitwright.files.storage import make_folder, write_atomically
from bitwright.networks import IntegerNetwork
from bitwright.program import Algorithm
from bitwright.program.pattern import Pattern

THEORY = ("Rules", "Words", "Cover", "Compare")
MOST_NUMBERS = 4_000_000  # weights in a file


def write_rocq(given: Subject, folder: Path, file: Path | None) -> Export:
    """A folder in which `make` proves everything; raises InputError unless it is new or empty."""
    if given.pattern is None:
        raise InputError("files for Rocq are written of networks of cells, and this one is of a whole state")
    network = given.whole_numbers
    name = module_name(given.algorithm.name if given.algorithm is not None else folder.name)
    found, proved = rocq_files(name, network, given.pattern, given.algorithm, file)
    found = theory_files() | found
    paths = list(found)
    found |= {"_CoqProject": project_text(paths), "Makefile": makefile_text(paths)}
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"files for Rocq are written into a folder that is new or empty, and {folder} is not")
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}") from None
    for path, text in found.items():
        make_folder((folder / path).parent)
        write_atomically(folder / path, text.encode())
    about = {
        "theorems": [line for line in proved if not line.startswith("no ")],
        "left": [line for line in proved if line.startswith("no ")],
    }
    note = f"make in this folder proves: {'; '.join(proved)}"
    return Export([folder / path for path in found], note, about)


def rocq_files(
    name: str, network: IntegerNetwork, pattern: Pattern, algorithm: Algorithm | None, file: Path | None
) -> tuple[dict[str, str], list[str]]:
    """The files of one network by their paths in the folder, and what they prove, line by line."""
    if network.origin.padding:
        raise InputError("a network with padding is not written for Rocq; train it without")
    if network.first.size + network.last.size > MOST_NUMBERS:
        raise InputError(f"Rocq is given at most {MOST_NUMBERS:,} weights; take a narrower network")
    digest = None if file is None else sha256(file.read_bytes()).hexdigest()
    found = {f"{name}/Net.v": network_text(network, pattern, digest)}
    proved = [f"{name}.Net.net_right: the network is right in all {pattern.local_states:,} local states"]
    if algorithm is None:
        return found, proved
    families, size = None, None
    if (sizing := algorithm.sizing) is not None and sizing.numbers:
        key, size = next(iter(sizing.numbers.items()))
        try:
            families = fitted(lambda l: listed(sizing.at(**{key: l}).program, pattern))
        except NotAffine as error:
            proved.append(f"no theorem at every size: {error}")
    if families is not None:
        found[f"{name}/Families.v"] = families_text(name, algorithm.name, families)
        proved.append(
            f"{name}.Families.network_runs: at every size from {families.least} on, its runs are the rules' runs"
        )
    compare = size if families is not None and size is not None and size >= families.least else None
    own = listed(algorithm.program, pattern)
    about = algorithm.name if size is None else f"{algorithm.name} of size {size}"
    found[f"{name}/Program.v"] = program_text(name, about, own, compare)
    proved.append(
        f"{name}.Program.network_steps: {about}, {counted(len(own.rules), 'rule')}: its runs are the rules' runs"
    )
    return found, proved


def theory_files(names: tuple[str, ...] = THEORY) -> dict[str, str]:
    """What every proof rests on, which nobody has to write again."""
    here = files("bitwright.api.export.rocq") / "theory"
    return {f"theory/{name}.v": (here / f"{name}.v").read_text() for name in names}


def project_text(paths: list[str]) -> str:
    """The list of files that `coq_makefile` reads."""
    folders = dict.fromkeys(path.partition("/")[0] for path in paths)
    return "".join(f"-Q {folder} {'Bitwright' if folder == 'theory' else folder}\n" for folder in folders) + "".join(
        f"{path}\n" for path in paths
    )


def makefile_text(paths: list[str]) -> str:
    """How to check a folder."""
    libraries = " ".join(path.removesuffix(".v").replace("/", ".") for path in paths if not path.startswith("theory/"))
    folders = dict.fromkeys(path.partition("/")[0] for path in paths)
    where = " ".join(f"-Q {folder} {'Bitwright' if folder == 'theory' else folder}" for folder in folders)
    return f"""\
# make: Rocq (Coq 8.16 or later) proves everything.   make check: coqchk, a separate program, checks it once more.
all:
	@command -v coqc >/dev/null || {{ echo 'Rocq is missing: apt-get install coq, or opam install rocq-prover'; exit 1; }}
	@coq_makefile -f _CoqProject -o CoqMakefile
	$(MAKE) -f CoqMakefile
check: all
	coqchk -silent -o {where} {libraries}
.PHONY: all check
"""


def module_name(text: str) -> str:
    """A name that Rocq takes for a folder of files: `examples/gray.bw` is `Gray`."""
    words = re.findall(r"[A-Za-z0-9]+", Path(text).stem)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    if not name:
        raise InputError(f"{option('path')} needs a name with a letter, got {text}")
    return name if name[0].isalpha() else f"N{name}"
