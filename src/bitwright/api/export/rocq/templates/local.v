(*** file ***)
(** What {{about}} computes in {{steps}} steps, bit by bit. Nothing is proved by hand. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Rules Words Cover.
From {{name}} Require Net Families.
Import ListNotations.
Local Open Scope string_scope. Local Open Scope list_scope. Local Open Scope nat_scope.
Notation at_ := Words.at_. Notation flag := Words.flag. Notation name := Words.name.

Definition start {{given}} : Rules.state name := Words.all_of {{first_state}}.

Ltac same_bits s := repeat match goal with |- context [s (Words.at_ ?array ?i)] =>
  match goal with |- context [s (Words.at_ array ?j)] => tryif constr_eq i j then fail else replace j with i by lia end end.
(** What a step makes of each bit. *)
{{nexts}}(** All steps, written out; then all values of the bits at the start. *)
Ltac written_out := repeat first [{{rewrites}}].
Ltac same_indices := repeat match goal with |- context [Words.bit_of ?number ?i] =>
  match goal with |- context [Words.bit_of number ?j] => tryif constr_eq i j then fail else replace j with i by lia end end.
Ltac tried :=
  written_out; unfold start, Words.all_of, Words.word_is, Words.bit_on, Words.name_eqb, Words.at_, Words.flag;
  cbn -[Words.bit_of Nat.leb Nat.eqb Nat.add Nat.sub Nat.mul]; Words.by_cases; cbn [andb orb]; same_indices;
  repeat match goal with |- context [Words.bit_of ?number ?i] => destruct (Words.bit_of number i) end; reflexivity.

{{rest}}(** The rules compute it at every size from {{least}} on. *)
Theorem rules_compute {{given}} : {{least}} <= l ->
  let s := Rules.run (Families.rules l) {{steps}} (start l {{names}}) in
  {{rules_say}}.
Proof. intros large. cbv zeta. unfold Rules.run. cbn [Nat.iter nat_rect]. {{proof}} Qed.

(** This network, in the cells of the program, computes it. *)
Theorem network_computes {{given}} : {{least}} <= l ->
  let s := Rules.run_by_cells Net.net Net.kinds (Families.cells l) {{steps}} (start l {{names}}) in
  {{cells_say}}.
Proof.
  intros large. pose proof (Families.network_runs l large) as E. cbv zeta.
  pose proof (rules_compute l {{names}} large) as R. cbv zeta in R.
  repeat split; intros; rewrite ?E; now apply R.
Qed.
Print Assumptions network_computes.
(*** next ***)
Lemma next_{{array}} l s{{more}} : Rules.step (Families.rules l) s ({{bit}}) =
  {{value}}.
Proof. unfold Families.rules. Words.next_bit. Words.by_cases; same_bits s; Words.bools s. Qed.
(*** next_off ***)
Lemma next_{{array}} l s{{more}} : Rules.step (Families.rules l) s ({{bit}}) = false.
Proof. unfold Families.rules. Words.nothing. Qed.
(*** stays ***)
forall some_bit, {{run}} {{after}} (start l {{names}}) some_bit = {{run}} {{steps}} (start l {{names}}) some_bit
(*** rest ***)
(** Only these bits are ever on; each stays as it is. *)
Lemma only l s b : Rules.step (Families.rules l) s b = true -> {{either}}.
Proof.
  unfold Rules.step. rewrite existsb_exists. intros (t & T & M). apply andb_prop in M as [_ M]. apply Rules.mem_In in M.
  unfold Families.rules in T. Cover.each_rule; cbn [Rules.writes In] in M; repeat destruct M as [<-|M]; try contradiction;
    repeat first [reflexivity | eexists; reflexivity | left; eexists; reflexivity | left; reflexivity | right].
Qed.
Lemma rest {{given}} some_bit : {{same}}.
Proof.
  unfold Rules.run. cbn [Nat.iter nat_rect].
{{same_bits}}  apply eq_true_iff_eq. split; intros H; pose proof (only _ _ _ H) as O; repeat destruct O as [O|O]; try destruct O as (i & O); subst some_bit;
    first [rewrite {{rewrites}}; exact H | rewrite {{rewrites}} in H; exact H].
Qed.

(*** same_bit ***)
  assert (same_{{number}} : {{bound}}{{state}} {{bit}} = {{before}} {{bit}}) by (intros; tried).
