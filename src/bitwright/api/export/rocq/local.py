"""From `ensure` lines about single bits to a theorem, where a run takes the same few steps at every size.

Every bit of the last state depends on a few bits of the first one. So Rocq writes the steps out and tries all values of
those bits, and no certificate is needed. Lines about sums, and longer runs of longer words, are left to `function`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bitwright.api.export.rocq.fitting import AffineIndex, FittedFamilies, NotAffineError, affine_of
from bitwright.api.export.rocq.printed import IMPORTS, listing, matches
from bitwright.api.export.rocq.words import Words
from bitwright.program.ensures import EnsureLine
from bitwright.program.expressions import Combined, Constant, Expression, Named, Negation

_RULES, _CELLS = "Rules.run (Families.rules l)", "Rules.run_by_cells Net.net Net.kinds (Families.cells l)"
_BOOLEAN: Mapping[str, str] = {
    "and": "({} && {})",
    "or": "({} || {})",
    "=>": "(implb {} {})",
    "==": "(Bool.eqb {} {})",
    "!=": "(xorb {} {})",
}
_SAME_BITS = """\
Ltac same_bits s := repeat match goal with |- context [s (Words.at_ ?array ?i)] =>
  match goal with |- context [s (Words.at_ array ?j)] => tryif constr_eq i j then fail else replace j with i by lia end end.
"""
_TACTICS = """\
(** All steps, written out; then all values of the bits at the start. *)
Ltac written_out := repeat first [{rewrites}].
Ltac same_indices := repeat match goal with |- context [Words.bit_of ?number ?i] =>
  match goal with |- context [Words.bit_of number ?j] => tryif constr_eq i j then fail else replace j with i by lia end end.
Ltac tried :=
  written_out; unfold start, Words.all_of, Words.word_is, Words.bit_on, Words.name_eqb, Words.at_, Words.flag;
  cbn -[Words.bit_of Nat.leb Nat.eqb Nat.add Nat.sub Nat.mul]; Words.by_cases; cbn [andb orb]; same_indices;
  repeat match goal with |- context [Words.bit_of ?number ?i] => destruct (Words.bit_of number i) end; reflexivity.
"""


@dataclass(frozen=True)
class LocalText:
    """A theorem about `steps` steps; `rests`: which also says that nothing changes any more."""

    name: str
    about: str
    families: FittedFamilies
    lines: tuple[EnsureLine, ...]
    words: Words
    size: str
    steps: int
    rests: bool

    def file(self) -> str:
        names = " ".join(self.words.variables.values())
        given, start = self.words.given, f"(start l {names})"
        written = sorted(
            {(item.array, item.index is None) for rule in self.families.rules for item in rule.items[1]},
        )
        if any(item.whole for rule in self.families.rules for item in rule.items[1]):
            raise NotAffineError("a rule writes a whole array")
        claims = [self._line(line) for line in self.lines]
        rest = f"forall some_bit, RUN {self.steps + 1} {start} some_bit = RUN {self.steps} {start} some_bit"
        claims += [rest] if self.rests else []
        conclusion = " /\\\n  ".join(f"({claim})" for claim in claims)
        proofs = ["intros; tried"] * len(self.lines) + [f"exact (rest l {names})"] * self.rests
        proof = "".join(f"split; [{one}|]. " for one in proofs[:-1]) + f"{proofs[-1]}."
        least = self.families.least
        return (
            f"(** What {self.about} computes in {self.steps} steps, bit by bit. Nothing is proved by hand. *)\n{IMPORTS}"
            f"From Bitwright Require Rules Words Cover.\nFrom {self.name} Require Net Families.\nImport ListNotations.\n"
            "Local Open Scope string_scope. Local Open Scope list_scope. Local Open Scope nat_scope.\n"
            "Notation at_ := Words.at_. Notation flag := Words.flag. Notation name := Words.name.\n\n"
            f"Definition start {given} : Rules.state name := Words.all_of {listing(self.words.start())}.\n\n"
            + self._nexts(written)
            + (self._rest(written, given, names, rest) if self.rests else "")
            + f"(** The rules compute it at every size from {least} on. *)\n"
            f"Theorem rules_compute {given} : {least} <= l ->\n"
            f"  let s := {_RULES} {self.steps} {start} in\n  {conclusion.replace('RUN', _RULES)}.\n"
            f"Proof. intros large. cbv zeta. unfold Rules.run. cbn [Nat.iter nat_rect]. {proof} Qed.\n\n"
            "(** This network, in the cells of the program, computes it. *)\n"
            f"Theorem network_computes {given} : {least} <= l ->\n"
            f"  let s := {_CELLS} {self.steps} {start} in\n  {conclusion.replace('RUN', _CELLS)}.\n"
            "Proof.\n  intros large. pose proof (Families.network_runs l large) as E. cbv zeta.\n"
            f"  pose proof (rules_compute l {names} large) as R. cbv zeta in R.\n"
            "  repeat split; intros; rewrite ?E; now apply R.\nQed.\nPrint Assumptions network_computes.\n"
        )

    def _nexts(self, written: list[tuple[str, bool]]) -> str:
        """For each bit the rules that write it."""
        text = "(** What a step makes of each bit. *)\n"
        for array, single in written:
            bit, more = (f'flag "{array}"', "") if single else (f'at_ "{array}" i', " i")
            rules = [
                matches(rule, item) for rule in self.families.rules for item in rule.items[1] if item.array == array
            ]
            text += (
                f"Lemma next_{array} l s{more} : Rules.step (Families.rules l) s ({bit}) =\n  {' || '.join(rules)}.\n"
                "Proof. unfold Families.rules. Words.next_bit. Words.by_cases; same_bits s; Words.bools s. Qed.\n"
            )
        read = {(item.array, item.index is None) for rule in self.families.rules for item in rule.items[0]}
        only_read = sorted(read - set(written))
        for array, single in only_read:
            bit, more = (f'flag "{array}"', "") if single else (f'at_ "{array}" i', " i")
            text += (
                f"Lemma next_{array} l s{more} : Rules.step (Families.rules l) s ({bit}) = false.\n"
                "Proof. unfold Families.rules. Words.nothing. Qed.\n"
            )
        rewrites = " | ".join(f"rewrite !next_{array}" for array, _ in (*written, *only_read))
        return _SAME_BITS + text + _TACTICS.format(rewrites=rewrites) + "\n"

    def _rest(self, written: list[tuple[str, bool]], given: str, names: str, rest: str) -> str:
        """That the last state stays as it is: bits that rules write one by one, and no others are ever on."""
        bits = [f'b = flag "{array}"' if single else f'(exists i, b = at_ "{array}" i)' for array, single in written]
        own = [(f'(flag "{array}")', "") if single else (f'(at_ "{array}" i)', "i") for array, single in written]
        either = " \\/ ".join(bits)
        same = rest.partition(", ")[2].replace("RUN", _RULES)
        text = (
            "(** Only these bits are ever on; each stays as it is. *)\n"
            f"Lemma only l s b : Rules.step (Families.rules l) s b = true -> {either}.\n"
            "Proof.\n  unfold Rules.step. rewrite existsb_exists. intros (t & T & M). apply andb_prop in M as [_ M]. apply Rules.mem_In in M.\n"
            "  unfold Families.rules in T. Cover.each_rule; cbn [Rules.writes In] in M; repeat destruct M as [<-|M]; try contradiction;\n"
            "    repeat first [reflexivity | eexists; reflexivity | left; eexists; reflexivity | left; reflexivity | right].\nQed.\n"
            f"Lemma rest {given} some_bit : {same}.\n"
            "Proof.\n  unfold Rules.run. cbn [Nat.iter nat_rect].\n"
        )
        nested = [
            f"Rules.step (Families.rules l) ({inner})"
            for inner in (self._nested(self.steps, names), self._nested(self.steps - 1, names))
        ]
        for number, (bit, i) in enumerate(own):
            bound = f"forall {i}, " if i else ""
            text += f"  assert (same_{number} : {bound}{nested[0]} {bit} = {nested[1]} {bit}) by (intros; tried).\n"
        rewrites = ", ".join(f"?same_{number}" for number in range(len(own)))
        return text + (
            "  apply eq_true_iff_eq. split; intros H; pose proof (only _ _ _ H) as O; repeat destruct O as [O|O]; try destruct O as (i & O); subst some_bit;\n"
            f"    first [rewrite {rewrites}; exact H | rewrite {rewrites} in H; exact H].\nQed.\n\n"
        )

    def _nested(self, steps: int, names: str) -> str:
        return f"start l {names}" if not steps else f"Rules.step (Families.rules l) ({self._nested(steps - 1, names)})"

    def _line(self, line: EnsureLine) -> str:
        if len(line.ranges) > 1:
            raise NotAffineError(f"'{line}' has more than one index")
        index = line.ranges[0].name if line.ranges else ""
        truth = line.truth
        if isinstance(truth, Combined) and truth.sign == "==":
            claim = f"{self._bool(truth.left, line, index)} = {self._bool(truth.right, line, index)}"
        else:
            claim = f"{self._bool(truth, line, index)} = true"
        if not line.ranges:
            return claim
        first, last = (self._index(bound, line, "").text() for bound in (line.ranges[0].first, line.ranges[0].last))
        return f"forall i, {first} <= i <= {last} -> {claim}"

    def _bool(self, part: Expression, line: EnsureLine, index: str) -> str:
        if isinstance(part, Constant) and part.value in (0, 1):
            return "true" if part.value else "false"
        if isinstance(part, Named) and part.index is not None:
            at = self._index(part.index, line, index).text()
            if not part.entered and part.text in self.words.outputs:
                array, *others = self.words.outputs[part.text]
                if others or array.length is None:
                    raise NotAffineError(f"'{part.text}' is no array from its first bit on")
                return f'(s (at_ "{array.array}" ({at})))'
            if part.text in self.words.inputs:
                return f"(Words.bit_of {self.words.variables[part.text]} ({at}))"
        if isinstance(part, Negation):
            return f"(negb {self._bool(part.body, line, index)})"
        if isinstance(part, Combined) and part.sign in _BOOLEAN:
            left, right = self._bool(part.left, line, index), self._bool(part.right, line, index)
            return _BOOLEAN[part.sign].format(left, right)
        raise NotAffineError(f"'{line}' is not about single bits, and the run takes {self.steps} steps at every size")

    def _index(self, part: Expression, line: EnsureLine, index: str) -> AffineIndex:
        found = affine_of(part, self.size, index)
        if found is None:
            raise NotAffineError(f"an index in '{line}' is not made of {self.size}, its own index and constants")
        return found
