"""The chain and its certificate as text: the instance of the verified checker, and that its rules are the program's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bitwright.api.export.rocq.claimed import ClaimedLines
from bitwright.api.export.rocq.fitting import FittedFamilies, NotAffineError, link
from bitwright.api.export.rocq.listed import Bit, Listed
from bitwright.api.export.rocq.printed import cases, listing
from bitwright.proofs.function.chain import class_of

FUEL = 4000


class InstanceText:
    """What a file says of the chain, part by part."""

    def __init__(self, claim: ClaimedLines, families: FittedFamilies, programs: Mapping[int, Listed]) -> None:
        self.claim, self.families, self.programs = claim, families, programs
        self.chained, self.words, self.inputs = claim.terms.chained, claim.terms.words, claim.terms.inputs
        positions = self.chained.positions
        self.n = f"({positions.text()})"
        self.least = max(families.least, next(l for l in range(1, 99) if positions.at(0, l) >= 5))
        self.variables = self.words.variables

    def text(self) -> str:
        return self._chain() + self._same() + self._start()

    @property
    def names(self) -> str:
        return " ".join(self.variables.values())

    def bounds(self) -> str:
        """That the inputs lie in their ranges."""
        return " ".join(
            f"0 <= {variable} < 2 ^ Z.of_nat ({self.words.length(word)}) ->"
            for word, variable in self.variables.items()
        )

    def _chain(self) -> str:
        chained, certificate = self.chained, self.chained.certificate
        chain, clock = certificate["chain"], certificate["clock"]
        sweeps = listing(f"({'true' if way == 'up' else 'false'}, {rate}%nat)" for way, rate in clock["sweeps"])
        delay, flags = clock["delay"], len(chain["globals"])

        def state_text(state: int) -> str:
            return f"({state & ((1 << flags) - 1)}, {state >> flags})"

        def by_class(values: Mapping[str, str], other: str) -> str:
            return (
                "fun c => match c with "
                + " | ".join(f"{c} => {value}" for c, value in values.items())
                + f" | _ => {other} end"
            )

        def mask(bits: int) -> str:
            return listing(str(k) for k in range(bits.bit_length()) if bits >> k & 1)

        rules = {
            c: listing("Rule " + " ".join(map(str, rule)) for rule in own["rules"])
            for c, own in self.chained.classes.items()
        }
        globals_ = listing(f"Rule {m} {v} 0 {h} 0 0" for m, v, h in chain["global_rules"])
        letters = [None, *(f"({c}, ({t + delay}, ({i}, {b})))" for c, t, i, b in certificate["letters"])]
        windows = ";\n    ".join(
            f"(({state_text(state)}, {'None' if not before else f'Some {letters[before]}'}), {listing(str(letters[one]) for one in after)})"
            for state, own in certificate["windows"]
            for before, after in own
        )
        width = len(chain["tracks"])
        laws = listing(
            f"((({constant})%Z, ({power})%Z), Law {_weights(tracks, width)} {_weights(inputs, width)} [] [])"
            for tracks, inputs, constant, power in certificate["laws"]
        )
        verdicts = listing(
            f"({state_text(state)}, {listing(f'({sign})%Z' for sign in signs)})"
            for state, own in certificate["verdicts"]
            for signs in own
        )
        states = listing(state_text(state) for state, _ in certificate["windows"])
        tracks = listing(f'("{x}", ({g}, {o}))' for x, g, o in chained.tracks)
        absent = [f"Not (First {k})" for k, (_, _, o) in enumerate(chained.tracks) if o == 0]
        formulas = [*self.claim.formulas, *absent]
        formula = formulas[-1]
        for one in reversed(formulas[:-1]):
            formula = f"And ({one}) ({formula})"
        return (
            "(** The program as a chain of letters, one a position. *)\nLocal Open Scope N_scope.\n"
            f"Definition chain : program := {{|\n  rules := {by_class(rules, '[]')};\n  global_rules := {globals_};\n"
            f"  free := {by_class({c: mask(own['free']) for c, own in self.chained.classes.items()}, '[]')};\n"
            f"  start_bits := {by_class({c: str(own['start']) for c, own in self.chained.classes.items()}, '0')};\n"
            f"  start_globals := {chain['start_globals']};\n"
            f"  delay := {delay}%nat; sweeps := {sweeps}; early := {clock['early']}%nat; fixed := {clock['fixed'] or 0}%nat; halting := {self.claim.halting} |}}.\n"
            f"(** The invariant: which letters may follow each other, and the signs of the laws. *)\n"
            f"Definition found : certificate := {{|\n  global_values := {states};\n  left_out := {'false' if certificate['inputs_in_windows'] else 'true'};\n"
            f"  windows := [\n    {windows}];\n  laws := {laws};\n  verdicts := {verdicts} |}}.\nLocal Close Scope N_scope.\n\n"
            f"Definition tracks : list track := {tracks}.\nDefinition flags : list name := {listing(_flag(x) for x in chained.flags)}.\n"
            f"(** What is claimed, for the checker: laws, and a formula of their signs and of single bits. *)\n"
            f"Definition laws : list (Z * law) := {listing(map(self.claim.terms.law_text, self.claim.terms.laws))}%N.\n"
            f"Definition claim : formula := ({formula})%N.\n\n"
            "Lemma chain_well_formed : well_formed chain tracks flags = true.\nProof. vm_compute. reflexivity. Qed.\n"
            "Lemma claim_proper : proper chain tracks flags laws claim = true.\nProof. vm_compute. reflexivity. Qed.\n"
            "Theorem checked : check_program chain found laws (fun some_global one other => judge claim some_global (option_map bits one) (option_map bits other)) "
            f"{FUEL} = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\n\n"
        )

    def _same(self) -> str:
        """The rules of the chain are those of the program, at every length."""
        chained = self.chained
        numbers: dict[tuple[str, int, int], int] = {}  # class, mask, value: number of the rule
        for c, own in self.chained.classes.items():
            numbers |= {(c, rule[0], rule[1]): at for at, rule in enumerate(own["rules"])}
        globals_ = {(m, v): at for at, (m, v, _) in enumerate(chained.certificate["chain"]["global_rules"])}
        to_chain: list[dict[int, list[tuple[int, int, int, int]]]] = [{} for _ in self.families.rules]
        to_rule: dict[tuple[int, int], dict[int, list[tuple[int, int, int, int]]]] = {}
        for l, program in self.programs.items():
            n = chained.positions.at(0, l)
            for rule, (segment, i) in zip(program.rules, self.families.places[l], strict=True):
                part, number, position = self._place(rule.conditions, n, numbers, globals_)
                to_chain[segment].setdefault(l, []).append((i, part, number, position))
                to_rule.setdefault((part, number), {}).setdefault(l, []).append((position, segment, 0, i))
        before = [link(own) for own in to_chain]
        after = [link(to_rule[key]) for key in sorted(to_rule)]
        return (
            "(** The rules of the chain are those of the program, at every size. *)\n"
            f"Theorem same l : {self.least} <= l -> Rules.same_rules (chain_rules chain tracks flags {self.n}) (Families.rules l).\n"
            "Proof.\n  intros large. split; apply within_intro; intros t T.\n"
            "  - apply chain_rules_parts in T; [|lia]. written_out T. unfold Families.rules. each_chain_rule.\n"
            + "".join(
                _indented(cases(one, lambda piece, k: f"nth_rule {piece.target} {piece.row.argument(k)}"))
                for one in after
            )
            + "  - unfold Families.rules in T. each_rule.\n"
            + "".join(
                _indented(
                    cases(one, lambda piece, k: f"nth_chain {piece.target} {piece.template} {piece.row.argument(k)}")
                )
                for one in before
            )
            + "Qed.\n\n"
        )

    def _place(
        self, conditions: Sequence[tuple[Bit, bool]], n: int, numbers: Mapping[Any, int], globals_: Mapping[Any, int]
    ) -> tuple[int, int, int]:
        """Part of the chain's rules (classes 1 to 5, globals), number there, and position."""
        places = [self.chained.place(bit) for bit, _ in conditions]
        if places[0] is None:
            own = [self.chained.flags.index(_name(bit)) for bit, _ in conditions]
            if own != sorted(own):
                raise NotAffineError("a block has its bits in another order than the chain")
            key = sum(1 << k for k in own), sum(value << k for k, (_, value) in zip(own, conditions, strict=True))
            return 5, globals_[key], 0
        tracks = [place[0] for place in places if place is not None]
        position = places[0][1]
        if tracks != sorted(tracks):
            raise NotAffineError("a block has its bits in another order than the chain")
        c = class_of(position, n)
        mask, value = sum(1 << k for k in tracks), sum(v << k for k, (_, v) in zip(tracks, conditions, strict=True))
        return c - 1, numbers[str(c), mask, value], position if c == 3 else 0

    def _start(self) -> str:
        given = " ".join(f"({variable} : Z)" for variable in self.variables.values())
        tracks = []
        for word, variable in self.variables.items():
            track, first = self.chained.place((self.inputs[word].array, (1,)))  # type: ignore[misc]
            tracks.append(f"{track} => Words.bit_of {variable} {'(i + 1)' if first == 0 else 'i'}")
        return (
            "(** The first state, and the input at every position. *)\n"
            f"Definition start (l : nat) {given} : Rules.state name := Words.all_of {listing(self.words.start())}.\n"
            f"Definition entries {given} (k : N) (i : nat) : bool := match k with {' | '.join(tracks)} | _ => false end%N.\n"
            f"Lemma start_shown l {self.names} : {self.least} <= l -> shows tracks flags {self.n} (start l {self.names}) (start_globals chain)\n"
            f"  (fun i => N.lor (start_bits chain (class_at {self.n} i)) (entry chain {self.n} (entries {self.names}) i)).\n"
            f"Proof. intros large. split; [intros i k I K; each_track k K; shown i I | intros k K; each_track k K; reflexivity]. Qed.\n\n"
        )


def _weights(values: Sequence[int], width: int) -> str:
    return listing(f"({k}, ({values[k]})%Z)" for k in range(width) if values[k])


def _flag(name: str) -> str:
    head, _, rest = name.removesuffix("]").partition("[")
    return f'at_ "{head}" {rest}' if rest else f'flag "{head}"'


def _name(bit: Bit) -> str:
    return bit[0] + (f"[{bit[1][0]}]" if bit[1] else "")


def _indented(text: str) -> str:
    return "  " + text.replace("- ", "+ ", 1)
