(*** file ***)
(** What {{about}} computes in {{steps}} steps, bit by bit. Nothing is proved by hand. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words Cover Rounds.
From {{name}} Require Net Families.
Import ListNotations.
Local Open Scope string_scope. Local Open Scope list_scope. Local Open Scope nat_scope.

Definition start {{given}} : state name := all_of {{first_state}}.

(** What a step makes of each bit. *)
{{nexts}}(** All steps, written out; then all values of the bits at the start. *)
Ltac written_out := repeat first [{{rewrites}}].
Ltac same_indices := repeat match goal with |- context [bit_of ?number ?i] =>
  match goal with |- context [bit_of number ?j] => tryif constr_eq i j then fail else replace j with i by lia end end.
Ltac tried :=
  written_out; unfold start, all_of, word_is, bit_on, name_eqb, at_, flag;
  cbn -[bit_of Nat.leb Nat.eqb Nat.add Nat.sub Nat.mul]; by_cases; cbn [andb orb]; same_indices;
  repeat match goal with |- context [bit_of ?number ?i] => destruct (bit_of number i) end; reflexivity.

{{rest}}(** The rules compute it at every size from {{least}} on. *)
Theorem rules_compute {{given}} : {{least}} <= l ->
  let s := run (Families.rules l) {{steps}} (start l {{names}}) in
  {{rules_say}}.
Proof. intros large. cbv zeta. unfold run. cbn [Nat.iter nat_rect]. {{proof}} Qed.

(** This network, in the cells of the program, computes it. *)
Theorem network_computes {{given}} : {{least}} <= l ->
  let s := run_by_cells Net.net Net.kinds (Families.cells l) {{steps}} (start l {{names}}) in
  {{cells_say}}.
Proof.
  intros large. pose proof (Families.network_runs l large) as E. cbv zeta.
  pose proof (rules_compute l {{names}} large) as R. cbv zeta in R.
  repeat split; intros; rewrite ?E; now apply R.
Qed.
Print Assumptions network_computes.
(*** stays ***)
forall some_bit, {{run}} {{after}} (start l {{names}}) some_bit = {{run}} {{steps}} (start l {{names}}) some_bit
(*** rest ***)
(** Only these bits are ever on; each stays as it is. *)
Lemma only l s b : step (Families.rules l) s b = true -> {{either}}.
Proof.
  unfold step. rewrite existsb_exists. intros (t & T & M). apply andb_prop in M as [_ M]. apply mem_In in M.
  unfold Families.rules in T. each_rule; cbn [writes In] in M; repeat destruct M as [<-|M]; try contradiction;
    repeat first [reflexivity | eexists; reflexivity | left; eexists; reflexivity | left; reflexivity | right].
Qed.
Lemma rest {{given}} some_bit : {{same}}.
Proof.
  unfold run. cbn [Nat.iter nat_rect].
{{same_bits}}  apply eq_true_iff_eq. split; intros H; pose proof (only _ _ _ H) as O; repeat destruct O as [O|O]; try destruct O as (i & O); subst some_bit;
    first [rewrite {{rewrites}}; exact H | rewrite {{rewrites}} in H; exact H].
Qed.

(*** same_bit ***)
  assert (same_{{number}} : {{bound}}{{state}} {{bit}} = {{before}} {{bit}}) by (intros; tried).
