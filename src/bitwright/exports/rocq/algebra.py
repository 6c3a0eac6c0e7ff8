"""The algebra of a loop as Rocq text: each round keeps the invariants, and `ensure` lines follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitwright.exports.rocq.forms import SIZE, NotAffineError, natural
from bitwright.exports.rocq.states import States, affine, word_name
from bitwright.proofs.function.affine import Growth
from bitwright.proofs.function.phases import Path
from bitwright.proofs.function.rounds import RoundsProof
from bitwright.proofs.kinds.affine import ONE, Affine
from bitwright.proofs.unrolling.polynomials import Polynomial, combine, multiply, substitute
from bitwright.rules.ensures import EnsureLine

_POWER = "2^"  # an invariant's power of two; a longer word has this power times `more LENGTH`


class Algebra:
    """The invariants of a proof by rounds: polynomials that are 0 modulo 2^exponent, or exactly 0 for exponent 0.

    `inputs` are the variables of the theorem.
    """

    def __init__(self, proof: RoundsProof, states: States, inputs: Mapping[str, str]) -> None:
        self.proof, self.states = proof, states
        self.kept = [(difference, affine(exponent)) for difference, exponent in proof.kept]
        self.inputs = {f"in.{word}": variable for word, variable in inputs.items()}

    def equations(self) -> list[str]:
        """The invariants as equations with a multiple of the power."""
        names = {**self.states.values(), **self.inputs}
        return [f"{_text(one, names)} = k * {_power(e) if e.terms else 0}" for one, e in self.kept]

    # A round.

    def path(self, way: Path) -> dict[str, Any]:
        """Shows that a path keeps every invariant, up to a multiple of the power of two."""
        ended = way.states[-1]
        up = [f"?U_{word}" for word in self.proof.words if ended[word][0] == "up"]
        up += [
            f"?E{at}_{array}" for at, wait in reversed(way.waits.items()) for array, sum_ in wait.sums.items() if sum_
        ]
        down = [f"?D_{word}" for word in self.proof.words if ended[word][0] == "down"]
        return {
            "moved": self._moved(way),
            "up": ", ".join(["?val_off", *up]),
            "down": ", ".join(["?val_off", *down]),
            "kept": [self._added(way, number) for number in range(len(self.kept))],
        }

    def _moved(self, way: Path) -> str:
        """Relates the number of a word before and after moving it up or down."""
        text = ""
        for word in self.proof.words:
            what, of = way.states[-1][word]
            if what == "up":
                text += (
                    f"  destruct (val_moved_up {self.states.length(word)} {word_name(of)}) as (k_{word} & U_{word}).\n"
                )
            elif what == "down":
                text += (
                    f"  pose proof (val_moved_down {self.states.length(word)} {word_name(of)} ltac:(lia)) as D_{word}."
                )
                if of in way.fixed:
                    text += f" rewrite F{list(way.fixed).index(of)} in D_{word}. cbn [Z.b2z] in D_{word}."
                else:
                    text += f" pose proof (b2z_range ({word_name(of)} 1%nat))."
                text += "\n"
        return text

    def _added(self, way: Path, number: int) -> dict[str, str]:
        """Returns how often a round adds the power of two, and a tactic for longer powers."""
        proof, (difference, exponent), ended = self.proof, self.kept[number], way.states[-1]
        exact: dict[str, Polynomial] = {}
        given: dict[str, Polynomial] = {}
        names = {**self.states.values(), **self.inputs, _POWER: _power(exponent)}
        longer: dict[str, str] = {}

        def less(sum_: Polynomial, times: str, length: Growth) -> Polynomial:
            """Returns a sum modulo 2^length, with a variable for the quotient."""
            own, names[times] = affine(length), times
            if own == exponent:
                return combine(sum_, {(times, _POWER): -1})
            more, power = own - exponent, f"more {natural(own)}"
            names[power] = _power(more)
            if not exponent.terms:
                return combine(sum_, {(times, power): -1})
            longer[_power(own)] = f"{_power(exponent)} * {_power(more)}"
            return combine(sum_, multiply({(_POWER,): -1}, {(times, power): 1}))

        for word in proof.words:
            what, of = ended[word]
            names[f"{word}'"] = self.states.value(word, self.states.shape(word, ended[word]))
            names[f"{of}[1]"] = f"Z.b2z ({word_name(of)} 1%nat)"
            if what == "down":
                lowest: Polynomial = {(): way.fixed[of]} if of in way.fixed else {(f"{of}[1]",): 1}
                exact[of] = combine({(f"{word}'",): 2}, lowest)
            elif what == "up":
                given[f"{word}'"] = less({(of,): 2}, f"k_{word}", proof.lengths[word])
            else:
                given[f"{word}'"] = {(of,): 1} if what == "word" else {}
        for at, wait in way.waits.items():
            for array, factors in wait.sums.items():
                if factors:
                    sum_: Polynomial = {(way.states[at][name][1],): factor for name, factor in factors.items()}
                    given[wait.after[array][1]] = less(sum_, f"k{at}_{array}", proof.lengths[array])
        change = combine(substitute(difference, {word: {(f"{word}'",): 1} for word in proof.words}), difference, -1)
        for _ in range(2 + len(way.waits)):
            change = substitute(substitute(change, given), exact)
        added: Polynomial = {}
        for monomial, factor in change.items():
            if _POWER not in monomial:
                raise NotAffineError("a round was not shown to keep the invariant")
            at = monomial.index(_POWER)
            added[monomial[:at] + monomial[at + 1 :]] = factor
        powers = "".join(
            f"replace ({power})%Z with ({product})%Z in * by (rewrite <- Z.pow_add_r by lia; f_equal; lia). "
            for power, product in longer.items()
        )
        return {"added": _text(added, names), "powers": powers}

    # The start and the end of a run.

    def starts(self, start: str, lengths: Mapping[str, str]) -> str:
        """Shows the invariants at the start, where every word is 0 or an input with a length from `lengths`."""
        text = ""
        for word, value in self.proof.entered.items():
            bits, length = f'(bits_of {start} "{word}")', self.states.length(word)
            if value:
                ((name,),) = value
                entered = lengths[name.removeprefix("in.")]
                how = f"apply (val_low ({entered}) {length}); [lia|assumption|starting_word start]"
            else:
                name, how = "", "apply val_zero; starting"
            text += f"  assert (V_{word} : val {length} {bits} = {self.inputs.get(name, '0')}) by ({how}).\n"
        rewrites = ", ".join(f"?V_{word}" for word in self.proof.entered)
        return text + f"  each ltac:(exists 0; rewrite {rewrites}; ring).\n"

    def concludes(self, line: EnsureLine) -> dict[str, Any]:
        """Derives a line from an invariant: its difference is a multiple of a power of two, too small to be nonzero."""
        proof, stated = self.proof, self.proof.stated.get(str(line))
        found = [
            (number, difference, exponent)
            for number, (difference, exponent) in enumerate(self.kept, 1)
            if stated is not None
            and proof.follows(stated, difference, Growth([int(exponent[ONE]), int(exponent["l"])]))
        ]
        if not found:
            raise NotAffineError(f"'{line}' does not follow from the invariants")
        number, difference, exponent = found[0]
        if not exponent.terms:
            return {"number": number, "exact": True}
        left = substitute(difference, {proof.measure: {}})
        names = {**self.states.values(), **self.inputs}
        lengths = {name: affine(proof.length_of(name) or Growth([0])) for monomial in left for name in monomial}
        products = ""
        for monomial in left:
            product, top = "", ""
            for name in monomial:
                most = f"({_power(lengths[name])} - 1)"
                if product:
                    products += (
                        f"pose proof (product_range ({product}) ({names[name]}) ({top}) {most} ltac:(lia) ltac:(lia)). "
                    )
                product, top = (
                    (f"{product} * ({names[name]})", f"{top} * {most}") if product else (f"({names[name]})", most)
                )
        ranges = "".join(
            f"pose proof (val_range {self.states.length(name)} {word_name(name)}). "
            for name in lengths
            if name in proof.words
        )
        powers = "".join(
            f"replace ({_power(one)}) with ({' * '.join(['q'] * int(one['l']) + [str(2 ** int(one[ONE]))])}) in * by "
            f"(unfold q; replace (Z.of_nat ({natural(one)})) with "
            f"({' + '.join(['Z.of_nat l'] * int(one['l']) + [str(one[ONE])])}) by lia; "
            "rewrite !Z.pow_add_r by lia; ring). "
            for one in dict.fromkeys([exponent, *lengths.values()])
            if one != SIZE
        )
        return {"number": number, "exact": False, "ranges": ranges, "products": products, "powers": powers}


def _power(exponent: Affine) -> str:
    return f"2 ^ Z.of_nat ({natural(exponent)})"


def _text(polynomial: Polynomial, names: Mapping[str, str]) -> str:
    """Formats a polynomial with these texts for its names."""
    terms = []
    for monomial, factor in sorted(polynomial.items(), reverse=True):
        terms.append(
            " * ".join(
                [
                    *([f"({factor})"] if factor != 1 or not monomial else []),
                    *(f"({names[name]})" if " " in names[name] else names[name] for name in monomial),
                ]
            )
        )
    return " + ".join(terms) or "0"
