(** Addition by a trained network, at every length. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words.
From Theorems Require Import Adder.
From Addition Require Net.
From Addition Require Import Families.
Import ListNotations.

(** The first state holds x in p and y in q. The sum is c[l] followed by p. *)
Definition start (l : nat) (x y : Z) : state name := all_of [word_is "p" l x; word_is "q" l y].
Definition sum (l : nat) (s : state name) : Z := (word s "p" l + 2 ^ Z.of_nat l * Z.b2z (s (at_ "c" l)))%Z.

(** * The value of every bit after a step *)
Lemma next_p l s i : 1 <= i <= l -> step (rules l) s (at_ "p" i) = xorb (s (at_ "p" i)) (s (at_ "q" i)).
Proof. intros I. unfold rules. next_bit. by_cases. bools s. Qed.
Lemma next_q l s i : 1 <= i <= l -> step (rules l) s (at_ "q" i) = (2 <=? i) && s (at_ "c" (i - 1)).
Proof. intros I. unfold rules. next_bit. by_cases; bools s. Qed.
Lemma next_c l s i : 1 <= i <= l ->
  step (rules l) s (at_ "c" i) = (s (at_ "p" i) && s (at_ "q" i)) || ((i =? l) && s (at_ "c" l)).
Proof. intros I. unfold rules. next_bit. by_cases; bools s. Qed.

(** * The invariant: p + q + 2 c, with the last carry, is the sum *)
Open Scope Z_scope.
Lemma addition_run l x y t :
  (1 <= l)%nat -> 0 <= x < 2 ^ Z.of_nat l -> 0 <= y < 2 ^ Z.of_nat l ->
  let s := run (rules l) t (start l x y) in
  let p i := s (at_ "p" i) in let q i := s (at_ "q" i) in let c i := s (at_ "c" i) in
  content l p q c + 2 ^ Z.of_nat l * Z.b2z (c l) = x + y /\ rests l t q c.
Proof.
  intros L X Y. induction t as [|t IH]; cbn zeta.
  - split; [|apply rests_start]. unfold run. cbn [Nat.iter nat_rect]. unfold content.
    rewrite (val_ext l (fun i => start l x y (at_ "p" i)) (bit_of x)) by (intros; unfold start; starts).
    rewrite (val_ext l (fun i => start l x y (at_ "q" i)) (bit_of y)) by (intros; unfold start; starts).
    rewrite (val_zero (l - 1)) by (intros; unfold start; starts).
    replace (start l x y (at_ "c" l)) with false by (unfold start; starts). rewrite !val_bits_small by easy. cbn [Z.b2z]. lia.
  - cbn zeta in IH. change (run (rules l) (S t) (start l x y)) with (step (rules l) (run (rules l) t (start l x y))).
    set (s := run (rules l) t (start l x y)) in *. destruct IH as (V & R).
    assert (A : adds l (fun i => s (at_ "p" i)) (fun i => s (at_ "q" i)) (fun i => s (at_ "c" i))
                  (fun i => step (rules l) s (at_ "p" i)) (fun i => step (rules l) s (at_ "q" i)) (fun i => step (rules l) s (at_ "c" i))).
    { split; [|split]; intros i I; [apply next_p | apply next_q | rewrite next_c by lia]; try lia.
      replace (i =? l)%nat with false by (symmetry; apply Nat.eqb_neq; lia). cbn. now rewrite orb_false_r. }
    split; [|now apply (rests_step l t _ _ _ _ _ _ A)].
    pose proof (content_step l _ _ _ _ _ _ L A) as E. cbn beta in E.
    rewrite next_c by lia. rewrite Nat.eqb_refl. cbn [andb].
    (* the last carry is never written twice, since the sum would be too large *)
    pose proof (content_pos l (fun i => step (rules l) s (at_ "p" i)) (fun i => step (rules l) s (at_ "q" i)) (fun i => step (rules l) s (at_ "c" i))).
    destruct (s (at_ "p" l) && s (at_ "q" l)), (s (at_ "c" l)); cbn [orb Z.b2z] in *; lia.
Qed.

(** The rules of addition add, at every length. *)
Theorem rules_add l x y :
  (1 <= l)%nat -> 0 <= x < 2 ^ Z.of_nat l -> 0 <= y < 2 ^ Z.of_nat l ->
  sum l (run (rules l) (2 * l) (start l x y)) = x + y.
Proof.
  intros L X Y. destruct (addition_run l x y (2 * l) L X Y) as (V & R). cbn zeta in V, R.
  rewrite content_rest in V by exact R. exact V.
Qed.

(** This network, in the cells of addition, adds numbers of every length. *)
Theorem network_adds (l : nat) (x y : Z) :
  (1 <= l)%nat -> 0 <= x < 2 ^ Z.of_nat l -> 0 <= y < 2 ^ Z.of_nat l ->
  sum l (run_by_cells Net.net Net.kinds (cells l) (2 * l) (start l x y)) = x + y.
Proof.
  intros L X Y. rewrite <- (rules_add l x y L X Y). unfold sum, word. f_equal.
  - apply val_ext. intros. now apply network_runs.
  - now rewrite network_runs.
Qed.
Print Assumptions network_adds.
