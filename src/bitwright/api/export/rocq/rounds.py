"""From a proof by rounds to a theorem: a loop with an invariant at a bit, for Rocq.

What the phases compute are theorems of the verified checker, each in a file of its own (`phases`). The file about the loop has
the steps from one shape of the arrays to the next (`shaped`), the paths of a round and the rest (`turns`), and the algebra of
the invariant (`algebra`); `Rounds.v` joins them. Nothing here has to be believed.
"""

from __future__ import annotations

from collections.abc import Mapping

from bitwright.api.export.rocq.algebra import Algebra
from bitwright.api.export.rocq.fitting import FittedFamilies, NotAffineError
from bitwright.api.export.rocq.printed import IMPORTS, comment, listing, next_lemmas
from bitwright.api.export.rocq.shaped import RULES, Shaped, affine, conjunction, pattern, word_name, word_names
from bitwright.api.export.rocq.turns import PhaseFile, TurnsText, phase_files
from bitwright.api.export.rocq.words import Words, output_name, with_names
from bitwright.program import Algorithm
from bitwright.program.expressions import Combined, Constant, Expression, Named
from bitwright.program.text import syntax
from bitwright.proofs.function.growth import Growth, growth_of
from bitwright.proofs.function.rounds import RoundsProof


def rounds_files(
    name: str, algorithm: Algorithm, families: FittedFamilies, sized: Mapping[int, Algorithm], proof: RoundsProof
) -> tuple[dict[str, str], int]:
    """The files, the one with the theorem last, and the size from which on it holds; raises NotAffineError."""
    files = phase_files(name, proof)
    text = _Text(name, algorithm, families, sized, proof, files)
    found = {f"{name}/{one.module}.v": one.text for one in files.values()}
    return {**found, f"{name}/Function.v": with_names(text.file())}, text.least


class _Text:
    """The file about the loop, part by part."""

    def __init__(
        self,
        name: str,
        algorithm: Algorithm,
        families: FittedFamilies,
        sized: Mapping[int, Algorithm],
        proof: RoundsProof,
        files: Mapping[str, PhaseFile],
    ) -> None:
        self.name, self.algorithm, self.families, self.proof = name, algorithm, families, proof
        self.words = Words.of(algorithm, sized)
        self.modules = [one.module for one in files.values()]
        lengths = [affine(length) for length in proof.lengths.values()]
        long = next(l for l in range(1, 99) if all(length.at(0, l) >= 1 for length in lengths))
        self.least = max(families.least, long, *(one.families.least for one in files.values()))
        self.shaped = Shaped(proof, self.least)
        self.inputs = " ".join(self.words.variables.values())
        self.start = f"(start l {self.inputs})"
        self.steps = _steps(proof, sized)
        self.turns = TurnsText(self.shaped, Algebra(proof, self.words.variables), files, self.steps, self.inputs)
        if any(way.states[-1][proof.measure][0] == "up" for way in proof.ways):
            raise NotAffineError(f"{proof.measure} loses its highest bits, and Rocq's loop takes a word that is halved")

    def file(self) -> str:
        arrays = self.shaped.single
        rewrites = " | ".join(f"rewrite next_{array}'" for array in arrays)
        return (
            f"(** What {comment(self.algorithm.name)} computes: a loop with an invariant. Nothing is proved by hand. *)\n{IMPORTS}"
            f"From Bitwright Require Import Rules Words Rounds.\nFrom {self.name} Require {' '.join(['Net Families', *self.modules])}.\n"
            "Import ListNotations.\nLocal Open Scope string_scope. Local Open Scope list_scope. Local Open Scope nat_scope.\n\n"
            + self._words()
            + "\n(** What a step makes of each bit. *)\n"
            + next_lemmas(arrays.items(), self.families.rules, RULES, "next_")
            + f"Ltac stepped := first [{rewrites}].\n"
            + self.turns.text()
            + self._ends()
            + self._begins()
            + self._theorems()
        )

    @property
    def _bounds(self) -> str:
        return "".join(
            f"0 <= {variable} < 2 ^ Z.of_nat ({self.words.length(word)}) -> "
            for word, variable in self.words.variables.items()
        )

    @property
    def _known(self) -> str:
        return " ".join(["L", *(f"B{number}" for number in range(len(self.words.variables)))])

    def _words(self) -> str:
        text = f"(** The first state, and the outputs. *)\nDefinition start {self.words.given} : state name := all_of {listing(self.words.start())}.\n"
        for word, parts in self.words.outputs.items():
            value = " + ".join(part.text("s") for part in parts)
            text += f"Definition {output_name(word)} (l : nat) (s : state name) : Z := ({value})%Z.\n"
        return text

    def _ends(self) -> str:
        """What holds when the measure is 0, and that it stays so."""
        proof, turns = self.proof, self.turns
        outputs = {word.name: proof.array_of(word.name) for word in self.algorithm.outputs}
        values = {name: f"({self.shaped.values()[array]})" for name, array in outputs.items()}
        lines = [self._line(line.truth, values) for line in self.algorithm.ensures]
        outs, picked = word_names(turns.shown), ", ".join(map(word_name, turns.shown))
        opened = " & ".join(map(word_name, turns.shown))
        others = f"exists {', '.join(map(word_name, turns.others))}. " if turns.others else ""
        first = "left. " if any(len(way.states) > 2 for way in proof.resting) else ""
        proofs = "".join(f"  - {turns.algebra.concludes(line, self.shaped)}" for line in self.algorithm.ensures)
        return (
            "\n(** In the end the outputs are what is ensured. *)\nLocal Open Scope Z_scope.\n"
            f"Definition done' {self.words.given} (s : state name) : Prop :=\n  exists {outs}, resting' l {outs} s /\\ {conjunction(lines)}.\n"
            f"Lemma ends' {self.words.given} s : ({self.least} <= l)%nat -> {self._bounds}cut_with' l {self.inputs} s 0 -> done' l {self.inputs} s.\n"
            f"Proof.\n  intros {self._known} ({' & '.join(map(word_name, proof.words))} & H & {pattern(turns.kept)} & Z). symmetry in Z. exists {picked}.\n"
            f"  split; [unfold resting'; {others.replace('. ', '; ')}{first.replace('. ', '; ')}unfold cut' in H; unfold rest'; shapes; each ltac:(first [assumption | eapply holds_off; eassumption])|].\n"
            f"{'  each idtac.' + chr(10) if len(lines) > 1 else ''}{proofs}Qed.\n"
            f"Lemma done_stays' {self.words.given} s : ({self.least} <= l)%nat -> done' l {self.inputs} s -> done' l {self.inputs} (step ({RULES} l) s).\n"
            f"Proof. intros L ({opened} & D & E). exists {picked}. split; [exact (stays' l {outs} s L D)|exact E]. Qed.\n"
        )

    def _begins(self) -> str:
        """The start is a cut state, with the invariant."""
        bits = ", ".join(f'(bits_of {self.start} "{word}")' for word in self.proof.words)
        lengths = {word: self.words.length(word) for word in self.words.variables}
        return (
            f"Lemma begins' {self.words.given} : ({self.least} <= l)%nat -> {self._bounds}\n"
            f"  exists m, cut_with' l {self.inputs} {self.start} m /\\ 0 <= m < 2 ^ Z.of_nat {self.shaped.length(self.proof.measure)}.\n"
            f"Proof.\n  intros {self._known}. eexists. split; [exists {bits}|apply val_range].\n"
            "  split; [unfold cut'; each ltac:(first [apply holds_bits | starting])|split; [|reflexivity]].\n"
            f"{self.turns.algebra.starts(self.shaped, self.start, lengths)}Qed.\n\n"
        )

    def _theorems(self) -> str:
        turns, outputs = self.turns, {word.name: f"{output_name(word.name)} l s" for word in self.algorithm.outputs}
        conclusion = " /\\\n  ".join(f"({self._line(line.truth, outputs)})" for line in self.algorithm.ensures)
        unfold = ", ".join(map(output_name, outputs))
        outs, steps = word_names(turns.shown), f"({self.steps})%nat"
        shown = [f"O_{array}" for array in turns.shown]
        fact = f"(shown' l {outs} s D)"
        opened = f"pose proof {fact} as {shown[0]}" if len(shown) == 1 else f"destruct {fact} as {pattern(shown)}"
        rewrites = ", ".join(f"(holds_word _ _ _ _ {one})" for one in shown)
        length = self.shaped.length(self.proof.measure)
        return (
            f"(** The rules compute it at every size from {self.least} on. *)\n"
            f"Theorem rules_compute {self.words.given} : ({self.least} <= l)%nat -> {self._bounds}\n"
            f"  let s := run ({RULES} l) {steps} {self.start} in\n  {conclusion}.\n"
            f"Proof.\n  intros {self._known} s. destruct (begins' l {self.inputs} {self._known}) as (m & C & M).\n"
            f"  destruct (rounds ({RULES} l) (cut_with' l {self.inputs}) (done' l {self.inputs}) {length} {steps}\n"
            f"    (fun s m => round' l {self.inputs} s m L) (fun s => ends' l {self.inputs} s {self._known})\n"
            f"    (fun s => done_stays' l {self.inputs} s L) {self.start} m ltac:(lia) C M) as ({' & '.join(map(word_name, turns.shown))} & D & E).\n"
            f"  fold s in D. clearbody s. {opened}. unfold {unfold}. rewrite {rewrites}. exact E.\nQed.\n\n"
            "(** This network, in the cells of the program, computes it. *)\n"
            f"Theorem network_computes {self.words.given} : ({self.least} <= l)%nat -> {self._bounds}\n"
            f"  let s := run_by_cells Net.net Net.kinds (Families.cells l) {steps} {self.start} in\n  {conclusion}.\n"
            f"Proof.\n  intros {self._known} s. pose proof (Families.network_runs l ltac:(lia) {steps} {self.start}) as E. fold s in E.\n"
            f"  pose proof (rules_compute l {self.inputs} {self._known}) as R. cbv zeta in R. clearbody s. unfold {unfold} in *.\n"
            "  repeat rewrite (word_ext s _ _ _ E). exact R.\nQed.\nPrint Assumptions network_computes.\n"
        )

    def _line(self, part: Expression, outputs: Mapping[str, str]) -> str:
        """An `ensure` line, with these texts for outputs."""
        if isinstance(part, Constant):
            return str(part.value)
        if isinstance(part, Named):
            known = self.words.variables if part.entered else {**self.words.variables, **outputs}
            if part.text not in known:
                raise NotAffineError(f"an ensure line of a loop is about {part.text}, which is no input or output")
            return known[part.text]
        if isinstance(part, Combined):
            left, right = self._line(part.left, outputs), self._line(part.right, outputs)
            return f"{left} = {right}" if part.sign == "==" else f"({left} {part.sign} {right})"
        raise NotAffineError("an ensure line is no equation of polynomials")


def _steps(proof: RoundsProof, sized: Mapping[int, Algorithm]) -> str:
    """The number of steps, as a polynomial in the size."""
    (count,) = (
        item.value for item in proof.tree.statements if isinstance(item, syntax.Count) and item.token.text == "steps"
    )
    growth = growth_of(proof.reader, count)
    if any(a.steps != growth(l) for l, a in sized.items()):
        raise NotAffineError("the number of steps is no polynomial in the size")
    return growth_text(growth)


def growth_text(growth: Growth) -> str:
    """A polynomial in l, as natural numbers: what is added first.

    >>> growth_text(Growth([-1, 3, 4]))
    '4 * l * l + 3 * l - 1'
    """
    terms = [
        (factor, " * ".join([str(abs(factor))] * (abs(factor) != 1 or not power) + ["l"] * power))
        for power, factor in reversed(list(enumerate(map(int, growth.coeffs()))))
        if factor
    ]
    added, taken = [text for factor, text in terms if factor > 0], [text for factor, text in terms if factor < 0]
    return " + ".join(added or ["0"]) + "".join(f" - {text}" for text in taken)
