{% from 'rules.v' import nexts, bit %}
{% set start = 'start l ' ~ words.names %}
{% set before = 'step (Families.rules l) (' * steps ~ start ~ ')' * steps %}
{% macro stays(run) %}{{run}} {{steps + 1}} ({{start}}) some_bit = {{run}} {{steps}} ({{start}}) some_bit{% endmacro %}
{% macro says(run) %}({{claims|join(') /\\\n  (')}}){{' /\\\n  (forall some_bit, ' ~ stays(run) ~ ')' if rests}}{% endmacro %}
{% set rewrites %}{% for _ in written %}{{', ' if not loop.first}}?same_{{loop.index0}}{% endfor %}{% endset %}
(** What {{about}} computes in {{steps}} steps, bit by bit. The proof is automatic. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words Cover Rounds.
From {{name}} Require Net Families.
Import ListNotations.
Local Open Scope string_scope. Local Open Scope list_scope. Local Open Scope nat_scope.

Definition start {{words.given}} : state name := all_of {{words.start()|each}}.

(** The value of each bit after a step. *)
{{nexts(arrays, families, 'Families.rules', 'next_')}}(** All steps unfolded, for all values of the bits at the start. *)
Ltac written_out := repeat first [{% for array, _ in arrays %}{{' | ' if not loop.first}}rewrite !next_{{array}}'{% endfor %}].
Ltac same_indices := repeat match goal with |- context [bit_of ?number ?i] =>
  match goal with |- context [bit_of number ?j] => tryif constr_eq i j then fail else replace j with i by lia end end.
Ltac tried :=
  written_out; unfold start, all_of, word_is, bit_on, name_eqb, at_, flag;
  cbn -[bit_of Nat.leb Nat.eqb Nat.add Nat.sub Nat.mul]; by_cases; cbn [andb orb]; same_indices;
  repeat match goal with |- context [bit_of ?number ?i] => destruct (bit_of number i) end; reflexivity.

{% if rests %}
(** Only these bits are ever on, and none of them changes. *)
Lemma only l s b : step (Families.rules l) s b = true -> {% for array, single in written %}{{' \\/ ' if not loop.first}}{{'b = ' ~ bit(array, single) if single else '(exists i, b = ' ~ bit(array, single) ~ ')'}}{% endfor %}.
Proof.
  unfold step. rewrite existsb_exists. intros (t & T & M). apply andb_prop in M as [_ M]. apply mem_In in M.
  unfold Families.rules in T. each_rule; cbn [writes In] in M; repeat destruct M as [<-|M]; try contradiction;
    repeat first [reflexivity | eexists; reflexivity | left; eexists; reflexivity | left; reflexivity | right].
Qed.
Lemma rest {{words.given}} some_bit : {{stays('run (Families.rules l)')}}.
Proof.
  unfold run. cbn [Nat.iter nat_rect].
{% for array, single in written %}
  assert (same_{{loop.index0}} : {{'forall i, ' if not single}}step (Families.rules l) ({{before}}) ({{bit(array, single)}}) = {{before}} ({{bit(array, single)}})) by (intros; tried).
{% endfor %}
  apply eq_true_iff_eq. split; intros H; pose proof (only _ _ _ H) as O; repeat destruct O as [O|O]; try destruct O as (i & O); subst some_bit;
    first [rewrite {{rewrites}}; exact H | rewrite {{rewrites}} in H; exact H].
Qed.

{% endif %}
(** The rules compute it at every size from {{families.least}} on. *)
Theorem rules_compute {{words.given}} : {{families.least}} <= l ->
  let s := run (Families.rules l) {{steps}} (start l {{words.names}}) in
  {{says('run (Families.rules l)')}}.
Proof. intros large. cbv zeta. unfold run. cbn [Nat.iter nat_rect]. {% for _ in range(claims|length - (not rests)) %}split; [intros; tried|]. {% endfor %}{{'exact (rest l ' ~ words.names ~ ')' if rests else 'intros; tried'}}. Qed.

(** This network, in the cells of the program, computes it. *)
Theorem network_computes {{words.given}} : {{families.least}} <= l ->
  let s := run_by_cells Net.net Net.kinds (Families.cells l) {{steps}} (start l {{words.names}}) in
  {{says('run_by_cells Net.net Net.kinds (Families.cells l)')}}.
Proof.
  intros large. pose proof (Families.network_runs l large) as E. cbv zeta.
  pose proof (rules_compute l {{words.names}} large) as R. cbv zeta in R.
  repeat split; intros; rewrite ?E; now apply R.
Qed.
Print Assumptions network_computes.
