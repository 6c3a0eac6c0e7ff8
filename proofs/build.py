"""Fills proofs/build: the theory, what bitwright writes of each network, the theorems by hand, and the list of files.

python proofs/build.py [NAME ...]        # all networks, or these
"""

from __future__ import annotations

import sys
from pathlib import Path

from machine import compared_text

from bitwright import open as open_program
from bitwright.exports.rocq.folder import makefile_text, project_text, rocq_files, theory_files
from bitwright.networks import load_any_network
from bitwright.networks.store import read_about
from bitwright.rules.pattern import read_pattern

HERE = Path(__file__).parent
PROGRAMS = {
    "Permutation": None,  # its theorem is about every order, so its rules are written by hand
    "Addition": "addition",
    "Subtraction": "examples/subtraction.bw",
    "Comparison": "examples/comparison.bw",
    "DivisionByThree": "proofs/division-by-three.bw",
    "Multiplication": "multiplication",
    "MachineV": None,  # its theorem is about every size, so its cells are written by hand
}
USED = {  # by theorems with an invariant by hand, which need no certificate
    **dict.fromkeys(("Addition", "Subtraction"), ("Adder",)),
    "MachineV": ("Machine", *(f"Machine{part}" for part in ("Same", "Kinds", "Step", "Tree", "Run", "Halt")), "Subleq"),
}


def main(names: list[str], build: Path = HERE / "build", networks: Path = HERE / "networks") -> None:
    found: dict[str, str] = {}
    by_hand: dict[str, str] = {}
    for name in names or PROGRAMS:
        file, program = networks / f"{name}.safetensors", PROGRAMS[name]
        about = read_about(file)
        pattern = read_pattern(about.bits, about.examples)
        assert pattern is not None
        network = load_any_network(file, pattern.program)
        algorithm = None if program is None else open_program(_place(program))
        written = rocq_files(name, network, pattern, algorithm, file, function=name not in USED)
        found |= written.files
        if name == "MachineV":
            by_hand["Theorems/MachineCompared.v"] = compared_text()
        stated = (HERE / "theorems" / f"{name}.v").exists()
        for theorem in (*USED.get(name, ()), name) if stated else ():
            by_hand[f"Theorems/{theorem}.v"] = (HERE / "theorems" / f"{theorem}.v").read_text()
        print(*written.theorems, *written.left, sep="\n")
    found |= by_hand
    found = theory_files(found.values()) | found
    paths = list(found)
    for path, text in (found | {"_CoqProject": project_text(paths), "Makefile": makefile_text(paths)}).items():
        (build / path).parent.mkdir(parents=True, exist_ok=True)
        if not (build / path).exists() or (build / path).read_text() != text:  # what is proved need not be proved again
            (build / path).write_text(text)


def _place(program: str) -> str:
    return str(HERE.parent / program) if program.endswith(".bw") else program


if __name__ == "__main__":
    main(sys.argv[1:])
