"""From a proof by rounds to a theorem: a loop with an invariant at a bit, for Rocq.

What the phases compute are theorems of the verified checker, each in a file of its own (`phases`). The file about the
loop has the steps from one shape of the arrays to the next (`shaped`), the paths of a round, what comes after the last
round, and the algebra of the invariant (`algebra`); `Rounds.v` joins them. Nothing here has to be believed.
"""

from __future__ import annotations

from collections.abc import Mapping

from bitwright.exports.rocq.algebra import Algebra
from bitwright.exports.rocq.fitting import FittedFamilies, NotAffineError
from bitwright.exports.rocq.phases import PhaseFile, PhaseText, phase_files
from bitwright.exports.rocq.printed import comment, listing, next_lemmas
from bitwright.exports.rocq.shaped import (
    Shaped,
    affine,
    cases_of,
    conjunction,
    pattern,
    taken,
    word_name,
    word_names,
)
from bitwright.exports.rocq.templates import Templates
from bitwright.exports.rocq.words import Words, output_name, with_names
from bitwright.proofs.function.growth import Growth, growth_of
from bitwright.proofs.function.phases import Path
from bitwright.proofs.function.rounds import RoundsProof
from bitwright.proofs.function.shapes import OFF
from bitwright.rules import Algorithm
from bitwright.rules.expressions import Combined, Constant, Expression, Named
from bitwright.rules.text import syntax


def rounds_files(
    name: str, algorithm: Algorithm, families: FittedFamilies, sized: Mapping[int, Algorithm], proof: RoundsProof
) -> tuple[dict[str, str], int]:
    """The files, the one with the theorem last, and the size from which on it holds; raises NotAffineError."""
    if not proof.plain:
        raise NotAffineError("its loop needs inequalities, remainders or where lines, which are not exported yet")
    files = phase_files(name, proof)
    text = LoopText(name, algorithm, families, sized, proof, files)
    found = {f"{name}/{one.module}.v": one.text for one in files.values()}
    return {**found, f"{name}/Function.v": with_names(text.file())}, text.least


class LoopText:
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
        self.algorithm, self.families, self.proof, self.files = algorithm, families, proof, files
        words = self.words = Words.of(algorithm, sized)
        lengths = [affine(length) for length in proof.lengths.values()]
        long = next(l for l in range(1, 99) if all(length.at(0, l) >= 1 for length in lengths))
        self.least = max(families.least, long, *(one.families.least for one in files.values()))
        if any(way.states[-1][proof.measure][0] == "up" for way in proof.ways):
            raise NotAffineError(f"{proof.measure} loses its highest bits, and Rocq's loop takes a word that is halved")
        inputs = " ".join(words.variables.values())
        self.form = Templates(
            "loop", name=name, given=words.given, bounds=words.bounds, inputs=inputs, least=self.least
        )
        shaped = self.shaped = Shaped(proof, self.least, self.form)
        self.algebra = Algebra(proof, words.variables)
        self.kept = [f"K{number}" for number in range(1, len(self.algebra.kept) + 1)]
        self.shown = list(dict.fromkeys(proof.array_of(word.name) for word in algorithm.outputs))
        self.others = [word for word in proof.words if word not in (*self.shown, proof.measure)]
        self.form.pieces |= {
            "about": comment(algorithm.name),
            "start": f"(start l {inputs})",
            "steps": _steps(proof, sized),
            "known": " ".join(["L", *(f"B{number}" for number in range(len(words.variables)))]),
            "words": word_names(proof.words),
            "word_pattern": word_names(proof.words, " & "),
            "kept_pattern": pattern(self.kept),
            "measure": proof.measure,
            "measured": shaped.values()[proof.measure],
            "length": shaped.length(proof.measure),
            "outs": word_names(self.shown),
            "out_pattern": word_names(self.shown, " & "),
            "picked": word_names(self.shown, ", "),
        }

    def file(self) -> str:
        proof, shaped, arrays = self.proof, self.shaped, self.shaped.single
        outputs = ""
        for word, parts in self.words.outputs.items():
            value = " + ".join(part.text("s") for part in parts)
            outputs += f"Definition {output_name(word)} (l : nat) (s : state name) : Z := ({value})%Z.\n"
        invariants = (
            self.form("invariant", number=number, equation=equation)
            for number, equation in enumerate(self.algebra.equations(shaped.values()), 1)
        )
        known: set[str] = set()
        paths = [self._path(number, way, known) for number, way in enumerate(proof.ways, 1)]
        return self.form(
            "file",
            modules=" ".join(["Net Families", *(one.module for one in self.files.values())]),
            first_state=listing(self.words.start()),
            outputs=outputs,
            nexts=next_lemmas(arrays.items(), self.families.rules, "Families.rules", "next_"),
            rewrites=" | ".join(f"rewrite next_{array}'" for array in arrays),
            cut=shaped.define("cut'", proof.cut_state, word_names(proof.words)),
            invariants="".join(invariants),
            kept=conjunction(self._keeping()),
            paths="".join(paths),
            round_cases=cases_of(proof.ways),
            applied_paths=" | ".join(f"eapply path_{number}'; eassumption" for number in range(1, len(paths) + 1)),
            **self._rest(),
            **self._ends(),
        )

    def _keeping(self) -> list[str]:
        pieces = self.form.pieces
        return [f"kept_{at}' l {pieces['inputs']} {pieces['words']}" for at in range(1, len(self.kept) + 1)]

    def _path(self, number: int, way: Path, known: set[str]) -> str:
        """One path of a round, step by step; `known` are the phases that have their lemmas."""
        proof, shaped, last, words = self.proof, self.shaped, len(way.states) - 1, list(self.proof.words)
        assumptions, states, steps = shaped.assumptions(way), "", ""
        for at in range(last):
            before, after = "cut'" if not at else f"state_{number}_{at}'", f"state_{number}_{at + 1}'"
            own, phase = word_names(words), None
            if at in way.waits:
                phase = PhaseText(shaped, self.files[way.waits[at].parts[0][1]], str(number), way, at, words)
                words += phase.new
            ended = word_names(words)
            if at + 1 < last:
                states += shaped.define(after, way.states[at + 1], ended)
            else:
                after, ended = "cut'", shaped.shapes(proof.words, way.states[-1])
            if phase is None:
                states += shaped.step(f"step_{number}_{at}'", way, own, before, after, ended)
                fact = f"(step_{number}_{at}' l {own} _ {assumptions['names']} H{at})"
                steps += f"  pose proof {fact} as H{at + 1}. apply reaches_step in R.\n"
                continue
            states += phase.own_nexts() if phase.file.module not in known else ""
            known.add(phase.file.module)
            states += phase.lemmas(before, after, ended)
            ks, equations = ([f"{letter}{at}_{array}" for array in phase.sums] for letter in "kE")
            fact = f"(phase_{number}_{at}' l {own} _ {assumptions['names']} H{at})"
            opened = taken(fact, [*map(word_name, phase.new), *ks, f"H{at + 1}", *equations])
            steps += f"  {opened}. apply (reaches_run _ _ _ _ {phase.timer}) in R.\n"
        return self.form(
            "path",
            **assumptions,
            number=number,
            states=states,
            keeping="".join(f" {one} ->" for one in self._keeping()),
            kept_names=" ".join(self.kept),
            proof=steps,
            moved=self.algebra.moved(way, shaped),
            measure_word=word_name(proof.measure),
            final=shaped.shape(proof.measure, way.states[-1][proof.measure]),
            ended=shaped.shapes(proof.words, way.states[-1], ", "),
            last=f"H{last}",
            facts=" ".join(f"H{at}" for at in range(last + 1)),
            keeps=self.algebra.keeps(way, shaped),
        )

    def _rest(self) -> dict[str, object]:
        """What comes after the last round: the measure is 0, and the outputs stay."""
        proof, shaped, words = self.proof, self.shaped, word_names([*self.shown, *self.others])
        resting = enumerate(proof.resting, 1)  # every state but the last, which is the first of the next path
        states = [(number, way, at) for number, way in resting for at in range(len(way.states) - 1)]

        def name(number: int, at: int) -> str:
            return f"rest_{number}_{at}'" if at else "rest'"

        defined = shaped.define("rest'", {**proof.cut_state, proof.measure: OFF}, words)
        cases, steps, applied = [f"rest' l {words} s"], "", []
        for number, way, at in states:
            if at:
                defined += shaped.define(name(number, at), way.states[at], words)
                cases.append(f"({conjunction([f'{name(number, at)} l {words} s', *shaped.facts(way)])})")
            last = at + 1 == len(way.states) - 1
            ended = shaped.shapes([*self.shown, *self.others], way.states[-1]) if last else words
            after = "rest'" if last else name(number, at + 1)
            steps += shaped.step(f"rest_step_{number}_{at}'", way, words, name(number, at), after, ended)
            assumed = " ltac:(assumption)" * len(way.fixed)
            applied.append(f"pose proof (rest_step_{number}_{at}' l {words} s L{assumed} H) as N")
        names = dict.fromkeys(["resting'", "rest'", *(name(number, at) for number, _, at in states)])
        some = bool(self.others)
        return {
            "rest_states": defined,
            "exist_others": f"exists {word_names(self.others)}, " * some,
            "resting": " \\/ ".join(cases),
            "rest_steps": steps,
            "open_others": f"destruct H as ({word_names(self.others, ' & ')} & H). " * some,
            "rest_cases": cases_of(proof.resting, "C"),
            "applied_rests": " | ".join(applied),
            "some_others": "eexists; " * len(self.others),
            "outputs_hold": conjunction(shaped.holds(array, word_name(array)) for array in self.shown),
            "unfold_rest": ", ".join(names),
            "pick_others": f"exists {word_names(self.others, ', ')}; " * some,
            "pick_rest": "left; " * any(len(way.states) > 2 for way in proof.resting),
        }

    def _ends(self) -> dict[str, object]:
        """What holds when the measure is 0; that the start is a cut state, with the invariant; and the theorem."""
        proof, shaped, ensures, pieces = self.proof, self.shaped, self.algorithm.ensures, self.form.pieces
        names = [word.name for word in self.algorithm.outputs]
        values = {name: f"({shaped.values()[proof.array_of(name)]})" for name in names}
        outputs = {name: f"{output_name(name)} l s" for name in names}
        lengths = {word: self.words.length(word) for word in self.words.variables}
        shown = [f"O_{array}" for array in self.shown]
        each = "  each idtac.\n" * (len(ensures) > 1)
        return {
            "lines": conjunction(self._line(line.truth, values) for line in ensures),
            "line_proofs": each + "".join(self.algebra.concludes(line, shaped) for line in ensures),
            "first_bits": ", ".join(f'(bits_of {pieces["start"]} "{word}")' for word in proof.words),
            "starts": self.algebra.starts(shaped, str(pieces["start"]), lengths),
            "conclusion": " /\\\n  ".join(f"({self._line(line.truth, outputs)})" for line in ensures),
            "opened_outputs": taken(f"(shown' l {pieces['outs']} s D)", shown),
            "output_names": ", ".join(map(output_name, names)),
            "rewritten_outputs": ", ".join(f"(holds_word _ _ _ _ {one})" for one in shown),
        }

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
    added, taken_off = [text for factor, text in terms if factor > 0], [text for factor, text in terms if factor < 0]
    return " + ".join(added or ["0"]) + "".join(f" - {text}" for text in taken_off)
