(** Subtraction (examples/subtraction.bw) by a trained network, at every length. a - b is the complement of (not a) + b, so
    the adder's invariant applies here as well. Rules, cells and network_runs are generated; this file contains the rest of the proof. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words.
From Theorems Require Import Adder.
From Subtraction Require Net.
From Subtraction Require Import Families.
Import ListNotations.

(** * Encoding and outputs *)
Definition start (l : nat) (x y : Z) : state name := all_of [word_is "a" l x; word_is "b" l y].
Definition difference (l : nat) (s : state name) : Z := word s "a" l.
Definition negative (l : nat) (s : state name) : bool := s (at_ "borrow" l).

(** * The value of every bit after a step *)
Section Next.
Variables (l : nat) (s : state name).
Ltac next := intros I; unfold rules; next_bit; by_cases; bools s.
Lemma next_a i : 1 <= i <= l -> step (rules l) s (at_ "a" i) = xorb (s (at_ "a" i)) (s (at_ "b" i)).
Proof. next. Qed.
Lemma next_b i : 1 <= i <= l -> step (rules l) s (at_ "b" i) = (2 <=? i) && s (at_ "borrow" (i - 1)).
Proof. next. Qed.
Lemma next_borrow i : 1 <= i <= l ->
  step (rules l) s (at_ "borrow" i) = (negb (s (at_ "a" i)) && s (at_ "b" i)) || ((i =? l) && s (at_ "borrow" l)).
Proof. next. Qed.
End Next.

Open Scope Z_scope.
Lemma val_not n f : val n (fun i => negb (f i)) = 2 ^ Z.of_nat n - 1 - val n f.
Proof. induction n as [|n IH]; [easy|]. cbn [val]. rewrite IH, pow_S. destruct (f (S n)); cbn [negb Z.b2z]; lia. Qed.

Lemma subtraction_run l x y t :
  (1 <= l)%nat -> 0 <= x < 2 ^ Z.of_nat l -> 0 <= y < 2 ^ Z.of_nat l ->
  let s := run (rules l) t (start l x y) in
  let p i := negb (s (at_ "a" i)) in let q i := s (at_ "b" i) in let c i := s (at_ "borrow" i) in
  content l p q c + 2 ^ Z.of_nat l * Z.b2z (c l) = 2 ^ Z.of_nat l - 1 - x + y /\ rests l t q c.
Proof.
  intros N X Y. induction t as [|t IH]; cbn zeta.
  - split; [|apply rests_start]. unfold run. cbn [Nat.iter nat_rect]. unfold content. rewrite val_not.
    rewrite (val_ext l (fun i => start l x y (at_ "a" i)) (bit_of x)) by (intros; unfold start; starts).
    rewrite (val_ext l (fun i => start l x y (at_ "b" i)) (bit_of y)) by (intros; unfold start; starts).
    rewrite (val_zero (l - 1)) by (intros; unfold start; starts).
    replace (start l x y (at_ "borrow" l)) with false by (unfold start; starts). rewrite !val_bits_small by easy. cbn. lia.
  - cbn zeta in IH. change (run (rules l) (S t) (start l x y)) with (step (rules l) (run (rules l) t (start l x y))).
    set (s := run (rules l) t (start l x y)) in *. destruct IH as (V & R).
    set (s' := step (rules l) s).
    assert (A : adds l (fun i => negb (s (at_ "a" i))) (fun i => s (at_ "b" i)) (fun i => s (at_ "borrow" i))
                  (fun i => negb (s' (at_ "a" i))) (fun i => s' (at_ "b" i)) (fun i => s' (at_ "borrow" i))).
    { split; [|split]; intros i I; unfold s'; [rewrite next_a by lia | apply next_b; lia | rewrite next_borrow by lia].
      - now destruct (s (at_ "a" i)), (s (at_ "b" i)).
      - replace (i =? l)%nat with false by (symmetry; apply Nat.eqb_neq; lia). cbn. now rewrite orb_false_r. }
    split; [|now apply (rests_step l t _ _ _ _ _ _ A)].
    pose proof (content_step l _ _ _ _ _ _ N A) as E. cbn beta in E.
    pose proof (content_pos l (fun i => negb (s' (at_ "a" i))) (fun i => s' (at_ "b" i)) (fun i => s' (at_ "borrow" i))).
    unfold s' at 4. rewrite next_borrow by lia. rewrite Nat.eqb_refl. cbn [andb].
    destruct (negb (s (at_ "a" l)) && s (at_ "b" l)), (s (at_ "borrow" l)); cbn [orb Z.b2z] in *; lia.
Qed.

Theorem rules_subtract l x y :
  (1 <= l)%nat -> 0 <= x < 2 ^ Z.of_nat l -> 0 <= y < 2 ^ Z.of_nat l ->
  let s := run (rules l) (2 * l) (start l x y) in
  difference l s = (x - y) mod 2 ^ Z.of_nat l /\ negative l s = (x <? y).
Proof.
  intros N X Y. destruct (subtraction_run l x y (2 * l) N X Y) as (V & R). cbn zeta in *.
  rewrite (content_rest _ _ _ _ R), val_not in V. unfold difference, negative, word.
  set (s := run (rules l) (2 * l) (start l x y)) in *. pose proof (val_range l (fun i => s (at_ "a" i))).
  destruct (s (at_ "borrow" l)); cbn [Z.b2z] in V; split.
  - apply (Z.mod_unique _ _ (-1)); lia.
  - symmetry. apply Z.ltb_lt. lia.
  - apply (Z.mod_unique _ _ 0); lia.
  - symmetry. apply Z.ltb_ge. lia.
Qed.
Close Scope Z_scope.

(** This network, in the cells of subtraction, subtracts numbers of every length. *)
Theorem network_subtracts (l : nat) (x y : Z) :
  1 <= l -> (0 <= x < 2 ^ Z.of_nat l)%Z -> (0 <= y < 2 ^ Z.of_nat l)%Z ->
  let s := run_by_cells Net.net Net.kinds (cells l) (2 * l) (start l x y) in
  difference l s = ((x - y) mod 2 ^ Z.of_nat l)%Z /\ negative l s = (x <? y)%Z.
Proof.
  intros N X Y. destruct (rules_subtract l x y N X Y) as (D & G). pose proof (network_runs l N (2 * l) (start l x y)) as E.
  split; [rewrite <- D; now apply val_ext | rewrite <- G; apply E].
Qed.
Print Assumptions network_subtracts.
