"""Phases of a loop as text for Rocq: what the busy arrays compute while a timer runs.

That is a theorem of the verified checker, in a file of its own; that they work undisturbed until the timer has run is
shown tick by tick, in the file about the loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bitwright.exports.rocq.fitting import FITTED, FittedFamilies, NotAffineError, fitted
from bitwright.exports.rocq.listed import listed
from bitwright.exports.rocq.printed import next_lemmas, rules_text
from bitwright.exports.rocq.shaped import Shaped, conjunction, word_name, word_names
from bitwright.exports.rocq.theorems import function_text
from bitwright.exports.rocq.words import names_in, output_name, with_names
from bitwright.proofs.function.phases import Path, Wait
from bitwright.proofs.function.rounds import RoundsProof
from bitwright.proofs.function.shapes import OFF
from bitwright.rules import Algorithm
from bitwright.rules.pattern import pattern_of
from bitwright.rules.text import parse

_NETWORK = "(** This network, in the cells of the program, computes it. *)\n"


@dataclass(frozen=True)
class PhaseFile:
    """What a text of busy arrays computes, at every size from `families.least` on."""

    module: str
    families: FittedFamilies
    text: str
    outputs: Mapping[str, str]  # the names of their definitions


def phase_files(name: str, proof: RoundsProof) -> dict[str, PhaseFile]:
    """The files, by the texts of busy arrays; raises NotAffineError where the checker takes no such text."""
    return {
        text: _phase_file(name, proof, text, number, own.certificate)
        for number, (text, own) in enumerate(proof.inside.items(), 1)
    }


def _phase_file(name: str, proof: RoundsProof, text: str, number: int, certificate: Mapping[str, Any]) -> PhaseFile:
    def at(size: int) -> Algorithm:
        numbers = {**proof.numbers_of(text), proof.size: size}
        return parse(text, f"phase {number} of {proof.algorithm.name}", numbers)

    sized = {l: at(l) for l in FITTED}
    kinds = pattern_of([one.program for one in sized.values()])
    families = fitted(lambda l: listed(at(l).program, kinds))
    sized |= {l: at(l) for l in families.compared}
    phase = at(FITTED[0])
    marked, _ = function_text(name, phase, families, sized, kinds, proof.size, certificate)
    names, written = names_in(marked), with_names(marked)
    head, network = f"From {name} Require Net Families.\n", written.find(_NETWORK)
    if head not in written or network < 0:
        raise NotAffineError("what a phase computes is no theorem about rules of its own")
    rules = f"Module Families.\nImport Rules Words.\n{rules_text(families)}End Families.\n"
    text = written[:network].replace(head, "").replace("\n\n", f"\n\n{rules}\n", 1)
    outputs = {word.name: names[output_name(word.name)] for word in phase.outputs}
    return PhaseFile(f"Phase{number}", families, text, outputs)


class PhaseText:
    """One phase on a path, from the state in which its timer starts."""

    def __init__(self, shaped: Shaped, file: PhaseFile, number: str, way: Path, at: int, words: Sequence[str]) -> None:
        self.shaped, self.file, self.way, self.at = shaped, file, way, at
        self.own, self.wait, self.words = f"phase_{number}_{at}", way.waits[at], word_names(words)
        wait: Wait = self.wait
        self.timer = shaped.length(wait.timer)
        self.sums = [array for array in wait.busy if wait.after[array] != OFF]
        self.new = [wait.after[array][1] for array in self.sums]  # the words that the phase makes
        if any(shaped.single[array] for array in wait.busy):
            raise NotAffineError(f"a single bit works while {wait.timer} runs")

    def own_nexts(self) -> str:
        """What a step of the busy arrays on their own makes of each bit."""
        module, arrays = self.file.module, [(array, False) for array in self.wait.busy]
        nexts = next_lemmas(arrays, self.file.families.rules, f"{module}.Families.rules", f"{module}_")
        rewrites = " | ".join(f"rewrite {module}_{array}'" for array in self.wait.busy)
        return self.shaped.form("busy", nexts=nexts, module=module, rewrites=rewrites)

    def lemmas(self, before: str, after: str, ended: str) -> str:
        """That the phase leads from one state to another, whose words are `ended`; and what its new words are."""
        shaped, wait, module, form, busy = self.shaped, self.wait, self.file.module, self.shaped.form, self.wait.busy
        state, end = self.way.states[self.at], f"(run (Families.rules l) {self.timer} s)"
        began = {a: f"({shaped.value(a, word_name(state[a][1]))})" for a in wait.inputs}
        entered = " ".join(began.values())
        sums, powers, laws = {}, {}, []
        for array, new in zip(self.sums, self.new, strict=True):
            sums[array] = " + ".join(f"{factor} * {began[name]}" for name, factor in wait.sums[array].items())
            powers[array] = f"2 ^ Z.of_nat {shaped.length(array)}"
            value = shaped.value(array, word_name(new))
            laws.append(f"({value} = {sums[array]} - k_{array} * {powers[array]})%Z")
        found = [word_names(self.new), *(f"k_{array}" for array in self.sums)]
        picked = [f'(bits_of {end} "{array}")' for array in self.sums]
        picked += [f"(({sums[array]}) / {powers[array]})%Z" for array in self.sums]
        values = (
            form("phase_value", array=a, end=end, length=shaped.length(a), module=module, output=self.file.outputs[a])
            for a in busy
        )
        return form(
            "phase",
            **shaped.assumptions(self.way),
            own=self.own,
            words=self.words,
            running=shaped.state(state, (*busy, wait.timer)),
            ticking=shaped.holds(wait.timer, "(only t)"),
            over=shaped.define(f"{self.own}_over'", wait.after, self.words, busy),
            same=conjunction(f'holds s "{array}" {shaped.length(array)} (bits_of u "{array}")' for array in busy),
            timer=self.timer,
            module=module,
            before=before,
            after=after,
            exists=f"exists {' '.join(found)}, " if self.sums else "",
            reached=conjunction([f"{after} l {ended} {end}", *laws]),
            began=f"({module}.start l {entered})",
            entered=entered,
            entered_ranges=" (val_range _ _)" * len(began),
            output_pattern=" & ".join(f"O_{array}" for array in busy),
            values="".join(values),
            picked=f"  exists {', '.join(picked)}. split; [|each modular].\n" if self.sums else "",
        )
