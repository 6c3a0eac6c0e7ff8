"""Turns a proof by rounds, a loop with an invariant at a bit, into a Rocq theorem.

The functions of phases are theorems of the verified checker, each in a separate file (`phases`). The file about the
loop contains the steps from one state of the arrays to the next (`states`), the paths of a round, the steps after the
last round, and the algebra of the invariant (`algebra`); `Rounds.v` joins them. This module need not be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitwright.exports.rocq.algebra import Algebra
from bitwright.exports.rocq.forms import NotAffineError, natural_sum, text_of, value_at
from bitwright.exports.rocq.phases import Phase, PhaseFile, phase_file
from bitwright.exports.rocq.program import SizedProgram
from bitwright.exports.rocq.states import States, affine, cases_of, conjunction, pattern, taken, word_name, word_names
from bitwright.exports.rocq.templates import render
from bitwright.exports.rocq.words import output_name, with_names
from bitwright.proofs.function.affine import growth_of
from bitwright.proofs.function.phases import Path
from bitwright.proofs.function.rounds import RoundsProof
from bitwright.proofs.function.shapes import OFF
from bitwright.rules import Algorithm
from bitwright.rules.expressions import Constant, Expression, Named
from bitwright.rules.text import syntax


def rounds_files(program: SizedProgram, proof: RoundsProof) -> tuple[dict[str, str], int]:
    """Returns the files, ending with the theorem, and its smallest size; raises NotAffineError if unsupported."""
    if not proof.plain:
        raise NotAffineError("its loop needs inequalities, remainders or where lines, which are not exported yet")
    name, algorithm, families, words = program.name, program.algorithm, program.families, program.words
    files = {
        text: phase_file(name, proof, text, number, own.certificate)
        for number, (text, own) in enumerate(proof.inside.items(), 1)
    }
    lengths = [affine(length) for length in proof.lengths.values()]
    long = next(l for l in range(1, 99) if all(value_at(length, l) >= 1 for length in lengths))
    least = max(families.least, long, *(file.families.least for file in files.values()))
    if any(way.states[-1][proof.measure][0] == "up" for way in proof.ways):
        raise NotAffineError(f"{proof.measure} loses its highest bits, but Rocq's loop needs a word that is halved")
    states = States(proof, least)
    algebra = Algebra(proof, states, words.variables)
    shown = list(dict.fromkeys(proof.array_of(word.name) for word in algorithm.outputs))
    others = [word for word in proof.words if word not in (*shown, proof.measure)]
    start = f"(start l {words.names})"
    outputs = [word.name for word in algorithm.outputs]
    values = {output: f"({states.values()[proof.array_of(output)]})" for output in outputs}
    texts = {output: f"{output_name(output)} l s" for output in outputs}
    text = render(
        "loop",
        **program.pieces,
        files=list(files.values()),
        proof=proof,
        states=states,
        least=least,
        steps=_steps(proof, program.sized),
        shown=shown,
        others=others,
        equations=algebra.equations(),
        kept_pattern=pattern([f"K{number}" for number in range(1, len(algebra.kept) + 1)]),
        paths=_paths(states, algebra, files),
        round_cases=cases_of(proof.ways),
        rests=_rests(states, [*shown, *others]),
        rest_state={**proof.cut_state, proof.measure: OFF},
        rest_cases=cases_of(proof.resting, "C"),
        outputs_hold=conjunction(states.holds(array, word_name(array)) for array in shown),
        lines=conjunction(_line(line.truth, words.variables, values) for line in algorithm.claims),
        line_proofs=[algebra.concludes(line) for line in algorithm.claims],
        starts=algebra.starts(start, {word: words.length(word) for word in words.variables}),
        conclusion=" /\\\n  ".join(f"({_line(line.truth, words.variables, texts)})" for line in algorithm.claims),
        opened_outputs=taken(f"(shown' l {word_names(shown)} s D)", [f"O_{array}" for array in shown]),
        rewritten_outputs=", ".join(f"(holds_word _ _ _ _ O_{array})" for array in shown),
    )
    found = {f"{name}/{file.module}.v": file.text for file in files.values()}
    return {**found, f"{name}/Function.v": with_names(text)}, least


def _paths(states: States, algebra: Algebra, files: Mapping[str, PhaseFile]) -> list[dict[str, Any]]:
    """Returns the paths of a round step by step; the first phase of a module includes its lemmas about bits."""
    known: set[str] = set()
    paths = []
    for number, way in enumerate(states.proof.ways, 1):
        moves = _moves(number, way, states, files)
        for move in moves:
            if (phase := move["phase"]) is not None:
                move["fresh"] = phase.module not in known
                known.add(phase.module)
        final = states.shape(states.proof.measure, way.states[-1][states.proof.measure])
        ended = states.shapes(states.proof.words, way.states[-1], ", ")
        paths.append(
            {"number": number, "way": way, "moves": moves, "final": final, "ended": ended, **algebra.path(way)}
        )
    return paths


def _moves(number: int, way: Path, states: States, files: Mapping[str, PhaseFile]) -> list[dict[str, Any]]:
    """Returns the steps and phases of a path."""
    words, last, moves = list(states.proof.words), len(way.states) - 1, []
    for at in range(last):
        before, phase, own = f"state_{number}_{at}'" if at else "cut'", None, word_names(words)
        move: dict[str, Any] = {"before": before, "words": own, "lemma": f"step_{number}_{at}'"}
        if at in way.waits:
            phase = Phase(states, files[way.waits[at].parts[0][1]], number, way, at, words)
            words += phase.new
            parts = [*map(word_name, phase.new), *(f"k{at}_{array}" for array in phase.sums), f"H{at + 1}"]
            fact = f"({phase.name}' l {own} _ {states.assumptions(way)} H{at})"
            move["opened"] = taken(fact, [*parts, *(f"E{at}_{array}" for array in phase.sums)])
            move["arrays"] = [(array, False) for array in phase.wait.busy]
        ended = word_names(words) if at + 1 < last else states.shapes(states.proof.words, way.states[-1])
        after = f"state_{number}_{at + 1}'" if at + 1 < last else "cut'"
        state = way.states[at + 1] if at + 1 < last else None
        moves.append(move | {"phase": phase, "after": after, "ended": ended, "state": state})
    return moves


def _rests(states: States, words: list[str]) -> list[dict[str, Any]]:
    """Returns the steps after the last round: every state but the last, which begins the next path."""
    rests = []
    for number, way in enumerate(states.proof.resting, 1):
        for at in range(len(way.states) - 1):
            last = at + 1 == len(way.states) - 1
            rests.append(
                {
                    "at": at,
                    "way": way,
                    "state": way.states[at],
                    "name": f"rest_{number}_{at}'" if at else "rest'",
                    "lemma": f"rest_step_{number}_{at}'",
                    "after": "rest'" if last else f"rest_{number}_{at + 1}'",
                    "ended": states.shapes(words, way.states[-1]) if last else word_names(words),
                }
            )
    return rests


def _line(part: Expression, inputs: Mapping[str, str], outputs: Mapping[str, str]) -> str:
    """Formats an `ensure` line with these texts for inputs and outputs."""

    def leaf(part: Expression) -> str | None:
        if isinstance(part, Constant):
            return str(part.value)
        if not isinstance(part, Named):
            return None
        known = inputs if part.entered else {**inputs, **outputs}
        if part.text not in known:
            raise NotAffineError(f"an ensure line of a loop is about {part.text}, which is not an input or output")
        return known[part.text]

    signs = {"==": "{} = {}"} | {sign: f"({{}} {sign} {{}})" for sign in "+-*^"}
    return text_of(part, leaf, signs, "an ensure line is not an equation of polynomials")


def _steps(proof: RoundsProof, sized: Mapping[int, Algorithm]) -> str:
    """Returns the number of steps as a polynomial in the size."""
    (count,) = (
        item.value for item in proof.tree.statements if isinstance(item, syntax.Count) and item.token.text == "steps"
    )
    growth = growth_of(proof.reader, count)
    if any(a.steps != growth(l) for l, a in sized.items()):
        raise NotAffineError("the number of steps is not a polynomial in the size")
    return natural_sum([(int(factor), ["l"] * power) for power, factor in enumerate(growth.coeffs())][::-1])
