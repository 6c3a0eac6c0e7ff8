"""Rocq text for the phases of a loop: what the busy arrays compute while a timer runs.

The result is a theorem of the verified checker in a separate file. The file about the loop shows, tick by tick, that
nothing disturbs these arrays until the timer ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bitwright.exports.rocq.families import ProgramSegments
from bitwright.exports.rocq.forms import FITTED, NotAffineError
from bitwright.exports.rocq.program import SizedProgram
from bitwright.exports.rocq.states import States, word_name, word_names
from bitwright.exports.rocq.templates import render
from bitwright.exports.rocq.theorems import function_text
from bitwright.exports.rocq.words import names_in, output_name, with_names
from bitwright.proofs.function.phases import Path
from bitwright.proofs.function.rounds import RoundsProof
from bitwright.proofs.function.shapes import OFF
from bitwright.rules import Algorithm
from bitwright.rules.pattern import pattern_of
from bitwright.rules.text import parse

_NETWORK = "(** This network, in the cells of the program, computes it. *)\n"


@dataclass(frozen=True)
class PhaseFile:
    """The function of a text of busy arrays, at every size from `families.least` on."""

    module: str
    families: ProgramSegments
    text: str
    outputs: Mapping[str, str]  # the names of their definitions


def phase_file(name: str, proof: RoundsProof, text: str, number: int, certificate: Mapping[str, Any]) -> PhaseFile:
    """Returns the file about one text; raises NotAffineError if the checker does not support it."""

    def make(size: int) -> Algorithm:
        numbers = {**proof.numbers_of(text), proof.size: size}
        return parse(text, f"phase {number} of {proof.algorithm.name}", numbers)

    kinds = pattern_of([make(size).program for size in FITTED])
    program = SizedProgram(name, make(FITTED[0]), proof.size, make, kinds)
    marked, families = function_text(program, certificate), program.families
    names, written = names_in(marked), with_names(marked)
    head, network = f"From {name} Require Net Families.\n", written.find(_NETWORK)
    if head not in written or network < 0:
        raise NotAffineError("the function of a phase is not a theorem about separate rules")
    rules = f"Module Families.\nImport Rules Words.\n{render('rules', families=families)}End Families.\n"
    text = written[:network].replace(head, "").replace("\n\n", f"\n\n{rules}\n", 1)
    outputs = {word.name: names[output_name(word.name)] for word in program.algorithm.outputs}
    return PhaseFile(f"Phase{number}", families, text, outputs)


class Phase:
    """One phase on a path, from the state in which its timer starts."""

    def __init__(self, states: States, file: PhaseFile, number: int, way: Path, at: int, words: Sequence[str]) -> None:
        self.file, self.wait, self.state = file, way.waits[at], way.states[at]
        self.module, self.name, self.words = file.module, f"phase_{number}_{at}", word_names(words)
        wait = self.wait
        self.timer = states.length(wait.timer)
        self.sums = [array for array in wait.busy if wait.after[array] != OFF]
        self.new = [wait.after[array][1] for array in self.sums]  # the words that the phase produces
        if any(states.single[array] for array in wait.busy):
            raise NotAffineError(f"a single bit changes while {wait.timer} runs")
        began = {a: f"({states.value(a, word_name(self.state[a][1]))})" for a in wait.inputs}
        self.entered, self.ranges = " ".join(began.values()), " (val_range _ _)" * len(began)
        self.made = [  # for each sum: its array, its terms, the power of two, and the resulting word
            (
                array,
                " + ".join(f"{factor} * {began[name]}" for name, factor in wait.sums[array].items()),
                f"2 ^ Z.of_nat {states.length(array)}",
                states.value(array, word_name(new)),
            )
            for array, new in zip(self.sums, self.new, strict=True)
        ]
        self.exists = " ".join([word_names(self.new), *(f"k_{array}" for array in self.sums)])
