"""Phases of a loop as text for Rocq: what the busy arrays compute is a theorem of the verified checker, in a file of its own;
that they work undisturbed until the timer has run is shown tick by tick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bitwright.api.export.rocq.fitting import FITTED, FittedFamilies, NotAffineError, fitted
from bitwright.api.export.rocq.listed import listed
from bitwright.api.export.rocq.printed import next_lemmas, rules_text
from bitwright.api.export.rocq.shaped import RULES, Shaped, conjunction, word_name, word_names
from bitwright.api.export.rocq.theorems import function_text
from bitwright.api.export.rocq.words import coq_name
from bitwright.program import Algorithm
from bitwright.program.pattern import pattern_of
from bitwright.program.text import parse
from bitwright.proofs.function.rounds import RoundsProof
from bitwright.proofs.function.shapes import OFF
from bitwright.proofs.function.waiting import Path, Wait

_NETWORK = "(** This network, in the cells of the program, computes it. *)\n"


@dataclass(frozen=True)
class PhaseFile:
    """What a text of busy arrays computes, at every size from `families.least` on."""

    module: str
    families: FittedFamilies
    text: str


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
    kinds = pattern_of(one.program for one in sized.values())
    families = fitted(lambda l: listed(at(l).program, kinds))
    written, _ = function_text(name, at(FITTED[0]), families, sized, kinds, proof.size, certificate)
    head, network = f"From {name} Require Net Families.\n", written.find(_NETWORK)
    if head not in written or network < 0:
        raise NotAffineError("what a phase computes is no theorem about rules of its own")
    rules = f"Module Families.\nImport Rules Words.\n{rules_text(families)}End Families.\n"
    return PhaseFile(
        f"Phase{number}", families, written[:network].replace(head, "").replace("\n\n", f"\n\n{rules}\n", 1)
    )


class PhaseText:
    """One phase on a path, from the state in which its timer starts."""

    def __init__(self, shaped: Shaped, file: PhaseFile, number: str, way: Path, at: int, words: Sequence[str]) -> None:
        self.shaped, self.file, self.number, self.way, self.at = shaped, file, number, way, at
        self.wait: Wait = way.waits[at]
        self.words = word_names(words)
        self.timer = shaped.length(self.wait.timer)
        self.sums = [array for array in self.wait.busy if self.wait.after[array] != OFF]
        if any(shaped.single[array] for array in self.wait.busy):
            raise NotAffineError(f"a single bit works while {self.wait.timer} runs")

    @property
    def new(self) -> list[str]:
        """The words that the phase makes."""
        return [self.wait.after[array][1] for array in self.sums]

    def own_nexts(self) -> str:
        """What a step of the busy arrays on their own makes of each bit."""
        module, busy = self.file.module, self.wait.busy
        rewrites = " | ".join(f"rewrite {module}_{array}'" for array in busy)
        return (
            next_lemmas([(array, False) for array in busy], self.file.families.rules, f"{module}.{RULES}", f"{module}_")
            + f"Ltac working_{module} := unfold bits_of; try first [{rewrites}].\n"
        )

    def lemmas(self, before: str, after: str, ended: str) -> str:
        """That the phase leads from one state to another, whose words are `ended`; and what its new words are."""
        shaped, wait, module = self.shaped, self.wait, self.file.module
        own, words, timer = f"phase_{self.number}_{self.at}", self.words, self.timer
        state = self.way.states[self.at]
        given, names = shaped.given(self.way)
        during, over, agree = (f"{own}_{part}'" for part in ("during", "over", "agree"))
        running = shaped.state(state, (*wait.busy, wait.timer))
        same = conjunction(f'holds s "{array}" {shaped.length(array)} (bits_of u "{array}")' for array in wait.busy)
        stepped = f"(step ({RULES} l) s)"
        works = f"{agree} l {stepped} (step ({module}.{RULES} l) u)"
        ticks = f"unfold {during} in H. unfold {agree} in G. unfold {during}, {over}, {agree}. shapes. each ltac:(one_step ltac:(stepped; working_{module}) s)"
        return (
            f"Definition {during} (l : nat) ({words} : nat -> bool) (t : nat) (s : state name) : Prop :=\n"
            f"  {running} /\\ {shaped.holds(wait.timer, '(only t)')}.\n"
            + shaped.define(over, wait.after, words, wait.busy)
            + f"Definition {agree} (l : nat) (s u : state name) : Prop :=\n  {same}.\n"
            f"Lemma {own}_tick' l {words} t s u : {given} -> 1 <= t < {timer} -> {during} l {words} t s -> {agree} l s u ->\n"
            f"  {during} l {words} (t + 1) {stepped} /\\ {works}.\n"
            f"Proof. intros {names} T H G. {ticks}. Qed.\n"
            f"Lemma {own}_last' l {words} s u : {given} -> {during} l {words} {timer} s -> {agree} l s u ->\n"
            f"  {over} l {words} {stepped} /\\ {works}.\n"
            f"Proof. intros {names} H G. {ticks}. Qed.\n" + self._ends(own, before, after, ended, given, names)
        )

    def _ends(self, own: str, before: str, after: str, ended: str, given: str, names: str) -> str:
        shaped, wait, module, timer, words = self.shaped, self.wait, self.file.module, self.timer, self.words
        end = f"(run ({RULES} l) {timer} s)"
        began = {a: f"({shaped.value(a, word_name(self.way.states[self.at][a][1]))})" for a in wait.inputs}
        start = f"({module}.start l {' '.join(began.values())})"
        sums = {
            array: " + ".join(f"{factor} * {began[name]}" for name, factor in wait.sums[array].items())
            for array in self.sums
        }
        powers = {array: f"2 ^ Z.of_nat {shaped.length(array)}" for array in self.sums}
        ks = [f"k_{array}" for array in self.sums]
        laws = [
            f"({shaped.value(array, word_name(wait.after[array][1]))} = {sums[array]} - k_{array} * {powers[array]})%Z"
            for array in self.sums
        ]
        exists = f"exists {' '.join([*map(word_name, self.new), *ks])}, " if self.sums else ""
        picked = [
            *(f'(bits_of {end} "{array}")' for array in self.sums),
            *(f"(({sums[array]}) / {powers[array]})%Z" for array in self.sums),
        ]
        values = "".join(
            f'  assert (V_{array} : word {end} "{array}" {shaped.length(array)} = {module}.{coq_name(array)} l e)\n'
            f'    by (unfold {module}.{coq_name(array)}; apply val_ext; match goal with G : holds _ "{array}" _ (bits_of e _) |- _ => exact G end).\n'
            f"  rewrite O_{array} in V_{array}.\n"
            for array in wait.busy
        )
        outputs = [f"O_{array}" for array in wait.busy]
        return (
            f"Lemma {own}' l {words} s : {given} -> {before} l {words} s ->\n"
            f"  {exists}{conjunction([f'{after} l {ended} {end}', *laws])}.\n"
            f"Proof.\n  intros {names} H. unfold {before} in H. shapes.\n"
            f"  destruct (phase ({RULES} l) ({module}.{RULES} l) {timer} ({own}_during' l {words}) ({own}_over' l {words}) ({own}_agree' l)\n"
            f"    (fun t s u => {own}_tick' l {words} t s u {names}) (fun s u => {own}_last' l {words} s u {names}) s {start})\n"
            f"    as (HO & GO); [lia|unfold {own}_during'; each assumption|unfold {own}_agree'; each ltac:(started {module}.start)|].\n"
            f"  destruct ({module}.rules_compute l {' '.join(began.values())} ltac:(lia){' (val_range _ _)' * len(began)}) as {'(' + ' & '.join(outputs) + ')'}.\n"
            f"  set (e := run ({module}.{RULES} l) {timer} {start}) in *. unfold {own}_over' in HO. unfold {own}_agree' in GO. shapes.\n"
            f"{values}"
            + (f"  exists {', '.join(picked)}. split; [|each modular].\n" if self.sums else "")
            + f"  unfold {after}. each ltac:(first [assumption | apply holds_bits | apply word_off; assumption]).\nQed.\n"
        )
