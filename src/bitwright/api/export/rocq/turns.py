"""The rounds of a loop as text for Rocq: the paths from a cut state to the next, and what comes after the last round.

What the busy arrays of a phase compute is a theorem of the verified checker, in a file of its own; that they work
undisturbed until the timer has run is shown tick by tick.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bitwright.api.export.rocq.algebra import Algebra
from bitwright.api.export.rocq.fitting import FITTED, FittedFamilies, NotAffineError, fitted
from bitwright.api.export.rocq.listed import listed
from bitwright.api.export.rocq.printed import next_lemmas, rules_text
from bitwright.api.export.rocq.shaped import (
    RULES,
    Shaped,
    cases_of,
    conjunction,
    pattern,
    word_name,
    word_names,
)
from bitwright.api.export.rocq.theorems import function_text
from bitwright.api.export.rocq.words import names_in, output_name, with_names
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
    return PhaseFile(
        f"Phase{number}", families, text, {word.name: names[output_name(word.name)] for word in phase.outputs}
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
            f'  assert (V_{array} : word {end} "{array}" {shaped.length(array)} = {module}.{self.file.outputs[array]} l e)\n'
            f'    by (unfold {module}.{self.file.outputs[array]}; apply val_ext; match goal with G : holds _ "{array}" _ (bits_of e _) |- _ => exact G end).\n'
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


class TurnsText:
    """The rounds, part by part; `steps` and `inputs` are those of the theorem."""

    def __init__(
        self, shaped: Shaped, algebra: Algebra, files: Mapping[str, PhaseFile], steps: str, inputs: str
    ) -> None:
        self.shaped, self.algebra, self.files, self.steps, self.inputs = shaped, algebra, files, steps, inputs
        self.proof, self.words = shaped.proof, word_names(shaped.proof.words)
        self.measure = shaped.proof.measure
        self.kept = [f"K{number}" for number in range(1, len(algebra.kept) + 1)]
        self.shown = list(dict.fromkeys(self.proof.array_of(word.name) for word in self.proof.algorithm.outputs))
        self.others = [word for word in self.proof.words if word not in (*self.shown, self.measure)]

    def text(self) -> str:
        text = "\n(** The cut state, in which rounds begin and end, and the invariant. *)\n"
        text += self.shaped.define("cut'", self.proof.cut_state, self.words) + self._invariants()
        known: set[str] = set()
        for number, way in enumerate(self.proof.ways, 1):
            text += f"\n(** Path {number} of a round. *)\n" + self._path(str(number), way, known)
        return text + self._round() + self._rest()

    def _invariants(self) -> str:
        given = f"(l : nat) ({self.inputs} : Z)"
        text = "".join(
            f"Definition kept_{number}' {given} ({self.words} : nat -> bool) : Prop :=\n  exists k, ({equation})%Z.\n"
            for number, equation in enumerate(self.algebra.equations(self.shaped.values()), 1)
        )
        kept = conjunction(f"kept_{at}' l {self.inputs} {self.words}" for at in range(1, len(self.kept) + 1))
        return text + (
            f"Definition cut_with' {given} (s : state name) (m : Z) : Prop :=\n"
            f"  exists {self.words}, cut' l {self.words} s /\\ ({kept}) /\\ m = {self.shaped.values()[self.measure]}.\n"
        )

    def _turns(self, m: str) -> str:
        """What a round does to a cut state with this measure."""
        length = self.shaped.length(self.measure)
        return (
            f"exists t m', t * {length} <= {self.steps} /\\ cut_with' l {self.inputs} (run ({RULES} l) t s) m' /\\\n"
            f"  (0 <= 2 * m' <= {m})%Z"
        )

    def _path(self, number: str, way: Path, known: set[str]) -> str:
        shaped, words, last = self.shaped, list(self.proof.words), len(way.states) - 1
        _, names = shaped.given(way)
        text, proof = "", ""
        for at in range(last):
            before, after = "cut'" if not at else f"state_{number}_{at}'", f"state_{number}_{at + 1}'"
            own, phase = word_names(words), None
            if at in way.waits:
                phase = PhaseText(shaped, self.files[way.waits[at].text], number, way, at, words)
                words += phase.new
            ended = word_names(words)
            if at + 1 < last:
                text += shaped.define(after, way.states[at + 1], ended)
            else:
                after, ended = "cut'", " ".join(shaped.shapes(self.proof.words, way.states[-1]))
            if phase is None:
                text += shaped.step(f"step_{number}_{at}'", way, own, before, after, ended)
                proof += f"  pose proof (step_{number}_{at}' l {own} _ {names} H{at}) as H{at + 1}. apply reaches_step in R.\n"
                continue
            text += phase.own_nexts() if phase.file.module not in known else ""
            known.add(phase.file.module)
            text += phase.lemmas(before, after, ended)
            opened = [
                *map(word_name, phase.new),
                *(f"k{at}_{array}" for array in phase.sums),
                f"H{at + 1}",
                *(f"E{at}_{array}" for array in phase.sums),
            ]
            fact = f"(phase_{number}_{at}' l {own} _ {names} H{at})"
            proof += f"  {f'pose proof {fact} as {opened[0]}' if len(opened) == 1 else f'destruct {fact} as {pattern(opened)}'}. apply (reaches_run _ _ _ _ {phase.timer}) in R.\n"
        return text + self._path_lemma(number, way, proof, last)

    def _path_lemma(self, number: str, way: Path, proof: str, last: int) -> str:
        shaped, measure = self.shaped, self.measure
        given, names = shaped.given(way)
        kept = "".join(f"kept_{at}' l {self.inputs} {self.words} -> " for at in range(1, len(self.kept) + 1))
        ended = shaped.shapes(self.proof.words, way.states[-1])
        final, length = shaped.shape(measure, way.states[-1][measure]), shaped.length(measure)
        ranges = f"pose proof (val_range {length} {word_name(measure)}); pose proof (val_range {length} {final})"
        return (
            f"Lemma path_{number}' l {self.inputs} {self.words} s : {given} -> cut' l {self.words} s -> {kept}\n"
            f"  {self._turns(shaped.values()[measure])}.\n"
            f"Proof.\n  intros {names} H0 {' '.join(self.kept)}. pose proof (reaches_none ({RULES} l) s) as R.\n{proof}{self.algebra.moved(way, shaped)}"
            f"  lazymatch type of R with reaches _ _ ?t _ => exists t end. exists ({shaped.value(measure, final)}).\n"
            f"  split; [nia|]. split; [|{ranges}; rewrite ?val_off in *; lia].\n"
            f"  unfold reaches in R. rewrite R. exists {', '.join(ended)}. split; [exact H{last}|]. split; [|reflexivity].\n"
            f"  clear H{' H'.join(map(str, range(last + 1)))} R.\n" + self.algebra.keeps(way, shaped) + "Qed.\n"
        )

    def _round(self) -> str:
        words = map(word_name, self.proof.words)
        paths = " | ".join(f"eapply path_{number}'; eassumption" for number in range(1, len(self.proof.ways) + 1))
        return (
            f"\n(** All paths together: every case has one. *)\n"
            f"Lemma round' l {self.inputs} s m : {self.shaped.least} <= l -> cut_with' l {self.inputs} s m ->\n  {self._turns('m')}.\n"
            f"Proof.\n  intros L ({' & '.join(words)} & H & {pattern(self.kept)} & ->).\n"
            f"  {cases_of(self.proof.ways)}first [{paths}].\nQed.\n"
        )

    # What comes after the last round.

    def _rest(self) -> str:
        shaped, words = self.shaped, word_names([*self.shown, *self.others])
        resting = enumerate(self.proof.resting, 1)  # every state but the last, which is the first of the next path
        states = [(str(number), way, at) for number, way in resting for at in range(len(way.states) - 1)]
        text = f"\n(** Rest: {self.measure} is 0, and the outputs stay. *)\n"
        text += shaped.define("rest'", {**self.proof.cut_state, self.measure: OFF}, words)
        cases = [f"rest' l {words} s"]
        for number, way, at in states:
            if at:
                text += shaped.define(f"rest_{number}_{at}'", way.states[at], words)
                parts = [f"rest_{number}_{at}' l {words} s", *shaped.facts(way)]
                cases.append(f"({conjunction(parts)})")
        exists = f"exists {word_names(self.others)}, " if self.others else ""
        either = " \\/ ".join(cases)
        outs = word_names(self.shown)
        text += (
            f"Definition resting' (l : nat) ({outs} : nat -> bool) (s : state name) : Prop :=\n  {exists}{either}.\n"
        )
        for number, way, at in states:
            last = at + 1 == len(way.states) - 1
            ended = " ".join(shaped.shapes([*self.shown, *self.others], way.states[-1])) if last else words
            before, after = f"rest_{number}_{at}'" if at else "rest'", "rest'" if last else f"rest_{number}_{at + 1}'"
            text += shaped.step(f"rest_step_{number}_{at}'", way, words, before, after, ended)
        return text + self._stays(states, words, outs)

    def _stays(self, states: list[tuple[str, Path, int]], words: str, outs: str) -> str:
        applied = " | ".join(
            f"pose proof (rest_step_{number}_{at}' l {words} s L{' ltac:(assumption)' * len(way.fixed)} H) as N"
            for number, way, at in states
        )
        opened = f"destruct H as ({' & '.join(map(word_name, self.others))} & H). " if self.others else ""
        holds = conjunction(self.shaped.holds(array, word_name(array)) for array in self.shown)
        unfolded = ", ".join(
            dict.fromkeys(["resting'", "rest'", *(f"rest_{number}_{at}'" for number, _, at in states if at)])
        )
        return (
            f"Lemma stays' l {outs} s : {self.shaped.least} <= l -> resting' l {outs} s -> resting' l {outs} (step ({RULES} l) s).\n"
            f"Proof.\n  intros L H. unfold resting' in *. {opened}{cases_of(self.proof.resting, 'C')}\n"
            f"    each_case H; try congruence; (first [{applied}]; {'eexists; ' * len(self.others)}found_case).\nQed.\n"
            f"Lemma shown' l {outs} s : resting' l {outs} s -> {holds}.\n"
            f"Proof. unfold {unfolded}. intros H. {opened}tauto. Qed.\n"
        )
