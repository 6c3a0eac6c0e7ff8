(** Permutation by a trained network: in one step every bit moves to its destination, for every length and every permutation. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words Cover.
From Permutation Require Net.
Import ListNotations.

(** Bit i moves to position pi i. Every bit is a cell, and all cells are of one kind. *)
Definition rules (l : nat) (pi : nat -> nat) : rules name :=
  rows 1 l (fun i => when_write [(at_ "p" i, true)] [at_ "p" (pi i)]).
Definition cells (l : nat) (pi : nat -> nat) : list (cell name) := rows 1 l (fun i => Cell 0 [[at_ "p" i]] [[at_ "p" (pi i)]]).

Theorem consists l pi : consists_of (rules l pi) Net.kinds (cells l pi).
Proof.
  split; [|split].
  - apply Forall_forall. unfold cells. intros c I. each_rule; (split; [repeat constructor | reflexivity]).
  - apply within_intro. unfold rules. intros t I. each_rule.
    apply (Exists_rules_of _ _ (Cell 0 [[at_ "p" i]] [[at_ "p" (pi i)]])); [|spell; nth_written 0].
    now apply (In_rows_intro i 1 l (fun i => Cell 0 [[at_ "p" i]] [[at_ "p" (pi i)]])).
  - apply within_intro. unfold rules_of, cells. intros t I. apply in_flat_map in I as (c & Ic & It).
    each_rule; spell_in It; unfold rules; each_rule. nth_rule 0 i.
Qed.

Theorem network_permutes (l : nat) (pi : nat -> nat) (s : state name) (i : nat) :
  (forall i j, 1 <= i <= l -> 1 <= j <= l -> pi i = pi j -> i = j) -> 1 <= i <= l ->
  run_by_cells Net.net Net.kinds (cells l pi) 1 s (at_ "p" (pi i)) = s (at_ "p" i).
Proof.
  intros Inj I. rewrite (cells_run _ _ _ _ Net.net_right Net.kinds_proper (consists l pi)).
  cbn [run Nat.iter nat_rect]. unfold run. cbn [Nat.iter nat_rect]. apply eq_true_iff_eq. unfold step, rules. rewrite existsb_exists. split.
  - intros (t & T & E). apply In_rows in T as (j & <- & J). apply andb_prop in E as [E W]. unfold matches in E. cbn in E.
    cbn [writes] in W. rewrite mem_one in W. apply andb_prop in W as [_ W]. apply Nat.eqb_eq in W. apply Inj in W; [|easy|easy]. subst j.
    rewrite andb_true_r in E. now apply eqb_prop in E.
  - intros E. exists (when_write [(at_ "p" i, true)] [at_ "p" (pi i)]). split.
    + now apply (In_rows_intro i 1 l (fun i => when_write [(at_ "p" i, true)] [at_ "p" (pi i)])).
    + unfold matches. cbn [cond forallb fst snd writes]. rewrite E, mem_one, Nat.eqb_refl. reflexivity.
Qed.
Print Assumptions network_permutes.
