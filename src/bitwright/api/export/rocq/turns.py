"""The rounds of a loop as text for Rocq: the paths from a cut state to the next, and what comes after the last round."""

from __future__ import annotations

from collections.abc import Mapping

from bitwright.api.export.rocq.algebra import Algebra
from bitwright.api.export.rocq.phases import PhaseFile, PhaseText
from bitwright.api.export.rocq.shaped import (
    RULES,
    Shaped,
    cases_of,
    conjunction,
    pattern,
    word_name,
    word_names,
)
from bitwright.proofs.function.shapes import OFF
from bitwright.proofs.function.waiting import Path


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
