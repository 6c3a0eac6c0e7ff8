"""From `ensure` lines and the invariant that was found for them to a theorem: `function_text` writes the file.

Everything in it is text that Rocq checks: the chain, its certificate and its laws by computation, the rules of the chain
against those of the program by tactics (`instance`), and the statement against what the checker says by arithmetic
(`claimed`). Runs of the same few steps at every size need no certificate (`local`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitwright.api.export.rocq.claimed import ClaimedLines
from bitwright.api.export.rocq.fitting import FITTED, AffineIndex, FittedFamilies, NotAffineError
from bitwright.api.export.rocq.instance import FUEL, InstanceText
from bitwright.api.export.rocq.linear import Chained, LinearForm
from bitwright.api.export.rocq.listed import listed
from bitwright.api.export.rocq.local import LocalText
from bitwright.api.export.rocq.printed import IMPORTS, comment, listing
from bitwright.api.export.rocq.words import Words, output_name
from bitwright.program import Algorithm
from bitwright.program.algorithm import FIXED_POINT
from bitwright.program.pattern import Pattern

_RULES, _CELLS = "Rules.run (Families.rules l)", "Rules.run_by_cells Net.net Net.kinds (Families.cells l)"


class TheoremText:
    """What a file says of the runs, part by part."""

    def __init__(self, chain: InstanceText) -> None:
        self.chain, self.claim, self.families = chain, chain.claim, chain.families
        self.chained, self.words, self.terms = chain.chained, chain.words, chain.claim.terms
        self.outputs, self.n, self.variables = self.terms.outputs, chain.n, chain.variables
        self.steps = f"({self.chained.steps.text()})%nat"
        self.halt = self.claim.halt.bit("").strip()[1:-1] if self.claim.halt else ""
        self.given, self.start = chain.words.given, f"(start l {chain.names})"
        self.bounds = " ".join(f"B{number}" for number in range(len(self.variables)))
        self.absent = [k for k, (_, _, o) in enumerate(self.chained.tracks) if o == 0]

    def text(self) -> str:
        return (
            self._outputs() + self._laws() + self._lines() + self._test() + self._long() + self._short() + self._all()
        )

    def _outputs(self) -> str:
        text = "(** The outputs. *)\nLocal Open Scope Z_scope.\n"
        for word, parts in self.outputs.items():
            one_bit = len(parts) == 1 and parts[0].length is None
            body = parts[0].bit("s") if one_bit else " + ".join(part.text("s") for part in parts)
            text += f"Definition {output_name(word)} (l : nat) (s : Rules.state name) : {'bool' if one_bit else 'Z'} := {body}.\n"
        return text

    def _for_every(self, least: int) -> str:
        return f"({least} <= l)%nat -> {self.chain.bounds()}"

    def _laws(self) -> str:
        """The value of every law in terms of inputs and outputs."""
        text = "\n(** What the laws weigh. *)\n"
        for number, (constant, sum_, scale) in enumerate(self.terms.laws):
            terms = [f"({factor}) * {self._value(word)}" for word, factor in sum_.words.items()]
            value = f"{scale} * ({constant}{''.join(f' + {term}' for term in terms)})"
            facts, ends = self._facts(sum_)
            text += (
                f"Lemma law_{number} l {self.chain.names} (s : Rules.state name) : {self._for_every(self.chain.least)}\n"
                + "".join(f"  s (bit_at tracks {k} 0) = false ->\n" for k in self.absent)
                + f"  law_at chain tracks laws {self.n} (entries {self.chain.names}) s {number} = {value}.\n"
                "Proof.\n  intros. unfold laws. law_value.\n"
                + "".join(f"  {fact}\n" for fact in facts)
                + f"  {' '.join(f'unfold {output_name(word)}.' for word in self.outputs if (False, word) in sum_.words)} {ends}lia.\nQed.\n"
            )
        return text

    def _value(self, word: tuple[bool, str]) -> str:
        entered, name = word
        if entered:
            return self.variables[name]
        parts = self.outputs[name]
        name = output_name(name)
        return f"Z.b2z ({name} l s)" if len(parts) == 1 and parts[0].length is None else f"{name} l s"

    def _facts(self, sum_: LinearForm) -> tuple[list[str], str]:
        facts, ends = [], ""
        for word in sum_.words:
            for part in self.terms.parts(word):
                if part.length is None:
                    _, end, track = self.terms.end(part)
                    facts.append(f"end_bit s {track}%N ({part.bit('')}).")
                    if end == "last":
                        ends += f"top_bit ({part.exponent.text()})%nat {self.n}%nat. destruct ({part.bit('s')}); cbn [Z.b2z]; "
                    continue
                track, first = self.chained.place((part.array, (1,)))  # type: ignore[misc]
                if part.length.plus(AffineIndex(0, 0, first)) != self.chained.positions:
                    raise NotAffineError(f"{word[1]} has fewer bits than the chain of {part.array} has positions")
                if word[0]:
                    facts.append(
                        f"entered_word chain {track}%N {self.variables[word[1]]} ({part.length.text()})%nat {first}%nat."
                    )
                else:
                    facts.append(f'track_word s {track}%N "{part.array}" ({part.length.text()})%nat {first}%nat.')
        return facts, ends

    def _lines(self) -> str:
        """What the checker says of a line is the line."""
        text = "\n(** The lines, as the checker and as people say them. *)\n"
        state = "(fun k i => s (bit_at tracks k i)) (fun k => s (flag_at flags k))"
        bits = [output_name(word) for word, parts in self.outputs.items() if all(part.length is None for part in parts)]
        for number, line in enumerate(self.claim.lines):
            text += (
                f"Lemma line_{number} l {self.chain.names} (s : Rules.state name) : {self._for_every(self.chain.least)}\n"
                + "".join(f"  s (bit_at tracks {k} 0) = false ->\n" for k in self.absent)
                + (f"  {line.after} ->\n" if line.after else "")
                + f"  means ({line.truth.formula})%N {self.n} {state} (law_at chain tracks laws {self.n} (entries {self.chain.names}) s) =\n"
                f"  {line.truth.test}.\n"
                "Proof.\n  intros. cbn [means]. "
                + "".join(f"rewrite (law_{law} l {self.chain.names} s) by assumption. " for law in line.laws)
                + "".join(f"try unfold {bit}. " for bit in bits)
                + "same_line s.\nQed.\n"
            )
        return text

    def _test(self) -> str:
        """All lines together, as something that can be computed."""
        tests = [line.truth.test for line in self.claim.lines]
        *before, test = [f"s ({self.halt})", *tests] if self.halt else tests
        for one in reversed(before):
            test = f"({one} && {test})"
        unfold = " ".join(f"unfold {output_name(word)}." for word in self.outputs)
        return (
            "\n(** All of them, computed; and what that means. *)\n"
            f"Definition test {self.given} (s : Rules.state name) : bool := {test}.\n"
            f"Lemma test_says {self.given} (s : Rules.state name) : test l {self.chain.names} s = true ->\n  {self._conclusion()}.\n"
            "Proof. unfold test. intros H. lia. Qed.\n"
            f"Lemma test_same {self.given} (s u : Rules.state name) : (forall some_bit, s some_bit = u some_bit) -> test l {self.chain.names} s = test l {self.chain.names} u.\n"
            f"Proof. intros E. unfold test. {unfold} repeat rewrite (Words.word_ext s u _ _ E). rewrite ?E. reflexivity. Qed.\n"
        )

    def _conclusion(self) -> str:
        statements = [line.truth.statement for line in self.claim.lines]
        return " /\\\n  ".join(f"({one})" for one in ([f"s ({self.halt}) = true"] if self.halt else []) + statements)

    def _run(self, run: str, what: str) -> str:
        """That something is so at the end of a run; `what` is about s."""
        if not self.halt:
            return f"let s := {run} {self.steps} {self.start} in\n  {what}"
        return (
            f"exists t, (t <= {self.steps})%nat /\\ (forall u, (u < t)%nat -> {run} u {self.start} ({self.halt}) = false) /\\\n"
            f"  let s := {run} t {self.start} in\n  {what}"
        )

    def _long(self) -> str:
        names, n = self.chain.names, f"{self.n}%nat"
        known = " ".join(f"A{k}" for k in self.absent)
        claims = ["HH"] * bool(self.halt) + [f"H{number}" for number in range(len(self.claim.lines))]
        parts = [*claims, *(f"A{k}" for k in self.absent)]
        taken = (
            "".join(f"apply means_and in H as [{part} H]. " for part in parts[:-1]) + f"rename H into {parts[-1]}.\n"
        )
        taken += "".join(f"  apply means_absent in A{k}.\n" for k in self.absent)
        if self.halt:
            taken += f"  assert (HT : s ({self.halt}) = true) by (refine (eq_trans _ HH); cbn [means]; same_bit).\n"
        for number, line in enumerate(self.claim.lines):
            after = " ltac:(lia)" if line.after else ""
            taken += f"  rewrite (line_{number} l {names} s L {self.bounds} {known}{after}) in H{number}.\n"
        *before, proof = ["HT"] * bool(self.halt) + [f"H{number}" for number in range(len(self.claim.lines))]
        for one in reversed(before):
            proof = f"(andb_true_intro (conj {one} {proof}))"
        if self.halt:
            ended = (
                f"  assert (K : halt_bit chain tracks flags {n} = Some ({self.halt})) by (halt_is chain).\n"
                "  exists t. split; [exact T|]. split; [intros u I; exact (Z u _ I K)|]. cbv zeta.\n"
            )
        else:
            ended = "  specialize (N eq_refl). subst t. cbv zeta.\n"
        return (
            f"\n(** The rules compute it at every size from {self.chain.least} on, by the certificate. *)\n"
            f"Theorem tested_long {self.given} : {self._for_every(self.chain.least)}\n  {self._run(_RULES, f'test l {names} s = true')}.\n"
            f"Proof.\n  intros L {self.bounds}.\n"
            f"  destruct (chain_computes chain tracks flags found laws claim {FUEL} chain_well_formed claim_proper checked {n}\n"
            f"    (entries {names}) {self.start} (Families.rules l) ltac:(lia) (same l L) (start_shown l {names} L)) as (t & T & N & Z & H). cbv zeta in H.\n"
            f"  replace (Clock.steps chain {n}) with {self.steps} in T, N by (steps_are chain).\n{ended}"
            f"  set (s := Rules.run (Families.rules l) {'t' if self.halt else self.steps} {self.start}) in *. clearbody s.\n"
            f"  unfold claim in H. {taken}  unfold test. exact {proof}.\nQed.\n"
        )

    def _short(self) -> str:
        """Smaller sizes, by running all inputs; and all sizes together."""
        names, run = self.chain.names, self._run(_RULES, f"test l {self.chain.names} s = true")
        sizes = range(self.families.least, self.chain.least)
        if any(self.chained.steps.at(0, size) < 1 for size in sizes):
            raise NotAffineError(f"a run of size {sizes[0]} takes no step")
        theorem = f"Theorem tested {self.given} : {self._for_every(self.families.least)}\n  {run}.\n"
        if not sizes:
            return f"{theorem}Proof. exact (tested_long l {names}). Qed.\n\n"
        at = f"(Table.halts_at the_rules ({self.halt}) {self.steps} {self.start})" if self.halt else self.steps
        tried = f"test l {names} (Table.lookup (Table.run_table the_rules {at} {self.start}))"
        if self.halt:
            tried = f"negb ({self.start} ({self.halt})) && ((({at} <=? {self.steps})%nat) && {tried})"
        at = at.replace(" the_rules ", " (Families.rules l) ")
        inside = "T"
        for word, variable in reversed(self.variables.items()):
            tried = f"forallb (fun {variable} => {tried}) (Table.numbers ({self.words.length(word)}))"
        for number, variable in enumerate(self.variables.values()):
            inside = f"Table.in_all _ _ {variable} ({inside}) (Table.In_numbers _ _ B{number})"
        halts = (
            "  apply andb_prop in H as [Z H]. apply negb_true_iff in Z. apply andb_prop in H as [I H]. apply Nat.leb_le in I.\n"
            f"  exists {at}. split; [exact I|]. split; [intros u; apply Table.halts_at_off; exact Z|].\n"
        )
        return (
            "(** Smaller sizes, by running all inputs. *)\n"
            f"Definition tried (l : nat) : bool := let the_rules := Families.rules l in {tried}.\n"
            f"Lemma all_tried : forallb tried {listing(f'{size}%nat' for size in sizes)} = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\n"
            + theorem
            + f"Proof.\n  intros L {self.bounds}. destruct (le_lt_dec {self.chain.least} l) as [N|N]; [exact (tested_long l {names} N {self.bounds})|].\n"
            f"  assert (T : tried l = true) by (apply (Table.in_all _ _ l all_tried); cbn [In]; lia).\n"
            f"  unfold tried in T. cbv zeta in T. pose proof ({inside}) as H. cbv beta in H. clear T.\n{halts if self.halt else ''}"
            f"  cbv zeta. refine (eq_trans _ H). apply test_same. intros some_bit. symmetry. apply Table.run_table_ok. {'unfold Table.halts_at; ' if self.halt else ''}lia.\nQed.\n\n"
        )

    def _all(self) -> str:
        names, least = self.chain.names, self._for_every(self.families.least)
        runs = "Families.network_runs l ltac:(lia)"
        tested = f"tested l {names} L {self.bounds}"
        if self.halt:
            rules = f"destruct ({tested}) as (t & T & N & H). exists t. split; [exact T|]. split; [exact N|]. exact (test_says l {names} _ H)."
            cells = (
                f"destruct ({tested}) as (t & T & N & H). exists t. split; [exact T|].\n"
                f"  split; [intros u I; rewrite ({runs} u {self.start}); exact (N u I)|].\n"
                f"  cbv zeta. apply test_says. rewrite (test_same l {names} _ _ ({runs} t {self.start})). exact H."
            )
        else:
            rules = f"cbv zeta. apply test_says. exact ({tested})."
            cells = (
                f"cbv zeta. apply test_says. rewrite (test_same l {names} _ _ ({runs} {self.steps} {self.start})).\n"
                f"  exact ({tested})."
            )
        return (
            f"(** The rules compute it at every size from {self.families.least} on. *)\n"
            f"Theorem rules_compute {self.given} : {least}\n  {self._run(_RULES, self._conclusion())}.\n"
            f"Proof.\n  intros L {self.bounds}. {rules}\nQed.\n\n"
            "(** This network, in the cells of the program, computes it. *)\n"
            f"Theorem network_computes {self.given} : {least}\n  {self._run(_CELLS, self._conclusion())}.\n"
            f"Proof.\n  intros L {self.bounds}. {cells}\nQed.\n"
            "Print Assumptions network_computes.\n"
        )


_HEAD = (
    "(** What {} computes, by a certificate that bitwright found. Nothing is proved by hand. *)\n"
    f"{IMPORTS}From Coq Require Import NArith ZifyBool.\nFrom Bitwright Require Rules Words Table.\n"
    "From Bitwright Require Import Cover Reach Chain ChainProgram Sweeps Clock ChainRules Specification.\n"
    "From {name} Require Net Families.\nImport ListNotations.\n"
    "Local Open Scope string_scope. Local Open Scope list_scope.\n\n"
)


def function_text(
    name: str,
    algorithm: Algorithm,
    families: FittedFamilies,
    sized: Mapping[int, Algorithm],
    pattern: Pattern,
    size: str,
    certificate: Mapping[str, Any] | None,
) -> tuple[str, int]:
    """The file, with marks for names, and the size from which on its theorem holds; raises NotAffineError for what is outside of the form."""
    words = Words.of(algorithm, sized)
    steps = _few_steps(algorithm, sized, certificate)
    if steps is not None:
        rests = algorithm.halt is not None
        local = LocalText(name, comment(algorithm.name), families, algorithm.ensures, words, size, steps, rests)
        try:
            return local.file(), families.least
        except NotAffineError:
            if rests or certificate is None or any(line.ranges for line in algorithm.ensures):
                raise  # else the certificate may prove it, which takes lines about words
    if certificate is None:
        raise NotAffineError("its proof has no certificate")
    if algorithm.halt == FIXED_POINT:
        raise NotAffineError("the run ends when nothing changes, after more steps for longer words")
    chained = Chained.of(certificate)
    if algorithm.halt is None and any(a.steps != chained.steps.at(0, l) for l, a in sized.items()):
        raise NotAffineError("the number of steps is not the same function of the size at every size")
    claim = ClaimedLines(chained, algorithm, words, size)
    chain = InstanceText(claim, families, {l: listed(sized[l].program, pattern) for l in FITTED})
    return _HEAD.format(comment(algorithm.name), name=name) + chain.text() + TheoremText(chain).text(), families.least


def _few_steps(
    algorithm: Algorithm, sized: Mapping[int, Algorithm], certificate: Mapping[str, Any] | None
) -> int | None:
    """The number of steps, if it is the same at every size."""
    if algorithm.halt == FIXED_POINT:
        fixed: int | None = certificate["clock"]["fixed"] if certificate else None
        return fixed
    counts = {one.steps for one in sized.values()}
    return counts.pop() if len(counts) == 1 and algorithm.halt is None else None
