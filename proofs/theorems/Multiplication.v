(** Multiplication by a trained network, at every length: the invariant of shift and add. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words.
From Theorems Require Import Adder.
From Multiplication Require Net.
From Multiplication Require Import Families.
Import ListNotations.

Notation M := (at_ "multiplier").
Notation R := (at_ "to_shift_right").
Notation K := (flag "to_check_lsb").
Notation A := (at_ "multiplicand").
Notation L := (at_ "to_shift_left").
Notation Y := (at_ "to_copy_to_sum_q").
Notation P := (at_ "sum_p").
Notation Q := (at_ "sum_q").
Notation C := (at_ "sum_c").
Notation T := (at_ "sum_counter").


(** The first state: both numbers, and the control bit that begins. The product is sum_p. *)
Definition start (l : nat) (x y : Z) : state name :=
  all_of [word_is "multiplicand" l x; word_is "multiplier" l y; bit_on K].
Definition product (l : nat) (s : state name) : Z := word s "sum_p" (2 * l).

(** * What a step makes of every bit *)

Ltac next := intros; unfold rules; next_bit.
Section Next.
Variables (l : nat) (s : state name).
Hypothesis l_pos : 1 <= l.

Lemma next_P i : 1 <= i <= 2 * l -> step (rules l) s (P i) = xorb (s (P i)) (s (Q i)).
Proof. next. by_cases. bools s. Qed.
Lemma next_C i : 1 <= i <= 2 * l -> step (rules l) s (C i) = s (P i) && s (Q i).
Proof. next. by_cases. bools s. Qed.
Lemma next_Q i : 1 <= i <= 2 * l ->
  step (rules l) s (Q i) = ((2 <=? i) && s (C (i - 1))) || (s (A i) && negb (s (L i)) && s (Y i)).
Proof. next. by_cases; try (replace i with 1 by lia); cbn; bools s. Qed.
Lemma next_K : step (rules l) s K = s (R 1) && negb (s K).
Proof. next. bools s. Qed.
Lemma next_R i : 1 <= i <= l ->
  step (rules l) s (R i) = (negb (s (M 1)) && negb (s (R 1)) && s K) || s (T (4 * l)).
Proof. next. by_cases. bools s. Qed.
Lemma next_L i : 1 <= i <= 2 * l ->
  step (rules l) s (L i) = (negb (s (M 1)) && negb (s (R 1)) && s K) || s (T (4 * l)).
Proof. next. by_cases. bools s. Qed.
Lemma next_Y i : 1 <= i <= 2 * l -> step (rules l) s (Y i) = s (M 1) && negb (s (R 1)) && s K.
Proof. next. by_cases. bools s. Qed.
Lemma next_T i : 1 <= i <= 4 * l ->
  step (rules l) s (T i) = if i =? 1 then negb (s (L 1)) && s (Y 1) else s (T (i - 1)).
Proof. next. by_cases; cbn; bools s. Qed.
Lemma next_M i : 1 <= i <= l ->
  step (rules l) s (M i) = (s (M i) && negb (s (R i))) || ((i <? l) && s (M (i + 1)) && s (R (i + 1))).
Proof. next. by_cases; try (replace i with 1 by lia); cbn; bools s. Qed.
Lemma next_A i : 1 <= i <= 2 * l ->
  step (rules l) s (A i) =
  (s (A i) && negb (s (L i))) || ((2 <=? i) && s (A (i - 1)) && s (L (i - 1)) && negb (s (Y (i - 1)))).
Proof. next. by_cases; try (replace i with 1 by lia); cbn; bools s. Qed.
End Next.
(** * Phases *)

(** The control bits: to check; to shift, both ways; to copy; the counter, on at one tick or (0) at none. *)
Definition phase (l : nat) (s : state name) (check shift copy : bool) (tick : nat) : Prop :=
  s K = check /\ (forall i, 1 <= i <= l -> s (R i) = shift) /\ (forall i, 1 <= i <= 2 * l -> s (L i) = shift) /\
  (forall i, 1 <= i <= 2 * l -> s (Y i) = copy) /\ (forall i, 1 <= i <= 4 * l -> s (T i) = (i =? tick)).

(** What a step leaves as it is. *)
Definition keeps (n : nat) (f : nat -> name) (s s' : state name) : Prop := forall i, 1 <= i <= n -> s' (f i) = s (f i).
Definition adder_step (l : nat) (s s' : state name) : Prop :=
  adds (2 * l) (fun i => s (P i)) (fun i => s (Q i)) (fun i => s (C i)) (fun i => s' (P i)) (fun i => s' (Q i)) (fun i => s' (C i)).

Section Phases.
Variables (l : nat) (s : state name).
Hypothesis l_pos : 1 <= l.
Let s' := step (rules l) s.

Ltac known :=
  match goal with H : phase _ _ _ _ _ _ |- _ =>
    let K0 := fresh "K0" in let R0 := fresh "R0" in let L0 := fresh "L0" in let Y0 := fresh "Y0" in let T0 := fresh "T0" in
    destruct H as (K0 & R0 & L0 & Y0 & T0)
  end.
Ltac next_phase :=
  unfold phase, keeps, adder_step, adds, s'; repeat split; intros;
  rewrite ?(next_K l s), ?(next_R l s), ?(next_L l s), ?(next_Y l s), ?(next_T l s), ?(next_M l s), ?(next_A l s), ?(next_P l s), ?(next_Q l s), ?(next_C l s) by lia;
  repeat match goal with
         | |- context [?i <? l] => destruct (Nat.ltb_spec i l)
         | |- context [2 <=? ?i] => destruct (Nat.leb_spec 2 i)
         | |- context [?i =? 1] => destruct (Nat.eqb_spec i 1)
         end; cbn [andb];
  repeat match goal with
         | H : s _ = _ |- _ => rewrite ?H; clear H
         | H : forall i, _ -> s (_ i) = _ |- _ => rewrite ?H by lia; clear H
         end; cbn [negb andb orb]; rewrite ?andb_true_r, ?andb_false_r, ?orb_false_r, ?andb_true_r; try reflexivity.
Ltac ticks :=
  repeat match goal with
         | |- context [?a =? ?b] => let H := fresh in destruct (a =? b) eqn:H; rewrite ?Nat.eqb_eq, ?Nat.eqb_neq in H; try lia
         end; try reflexivity.

Lemma check_even : phase l s true false false 0 -> s (M 1) = false ->
  phase l s' false true false 0 /\ keeps l M s s' /\ keeps (2 * l) A s s' /\ adder_step l s s'.
Proof. intros H M0. known. next_phase; ticks. Qed.

Lemma check_odd : phase l s true false false 0 -> s (M 1) = true ->
  phase l s' false false true 0 /\ keeps l M s s' /\ keeps (2 * l) A s s' /\ adder_step l s s'.
Proof. intros H M0. known. next_phase; ticks. Qed.

Lemma copy : phase l s false false true 0 ->
  phase l s' false false false 1 /\ keeps l M s s' /\ keeps (2 * l) A s s' /\
  (forall i, 1 <= i <= 2 * l -> s' (P i) = xorb (s (P i)) (s (Q i))) /\
  (forall i, 1 <= i <= 2 * l -> s' (Q i) = ((2 <=? i) && s (C (i - 1))) || s (A i)) /\
  (forall i, 1 <= i <= 2 * l -> s' (C i) = s (P i) && s (Q i)).
Proof. intros H. known. next_phase; ticks. Qed.

Lemma tick t : 1 <= t < 4 * l -> phase l s false false false t ->
  phase l s' false false false (t + 1) /\ keeps l M s s' /\ keeps (2 * l) A s s' /\ adder_step l s s'.
Proof. intros I H. known. next_phase; ticks. Qed.

Lemma last_tick : phase l s false false false (4 * l) ->
  phase l s' false true false 0 /\ keeps l M s s' /\ keeps (2 * l) A s s' /\ adder_step l s s'.
Proof. intros H. known. next_phase; ticks. Qed.

Lemma shift : phase l s false true false 0 ->
  phase l s' true false false 0 /\
  (forall i, 1 <= i <= l -> s' (M i) = (i <? l) && s (M (i + 1))) /\
  (forall i, 1 <= i <= 2 * l -> s' (A i) = (2 <=? i) && s (A (i - 1))) /\ adder_step l s s'.
Proof. intros H. known. next_phase; ticks. Qed.
End Phases.

(** * The loop *)

(** The adder is at rest; its last carry is written, but nothing reads it. *)
Definition calm (l : nat) (s : state name) : Prop :=
  (forall i, 1 <= i <= 2 * l -> s (Q i) = false) /\ (forall i, 1 <= i < 2 * l -> s (C i) = false).

Lemma calm_step l s s' : adder_step l s s' -> calm l s -> calm l s' /\ keeps (2 * l) P s s'.
Proof.
  intros (AP & AQ & AC) (HQ & HC). repeat split; intros i I.
  - rewrite AQ by lia. destruct (Nat.leb_spec 2 i); [|easy]. cbn. apply HC. lia.
  - rewrite AC by lia. rewrite HQ by lia. apply andb_false_r.
  - rewrite AP by lia. rewrite HQ by lia. apply xorb_false_r.
Qed.

Lemma keeps_word n v s s' : keeps n (at_ v) s s' -> word s' v n = word s v n.
Proof. intros H. now apply val_ext. Qed.

Lemma run_add (r : Rules.rules name) n k s : run r (n + k) s = run r n (run r k s).
Proof. induction n as [|n IH]; [easy|]. cbn [Nat.add]. unfold run in *. cbn [Nat.iter nat_rect]. f_equal. exact IH. Qed.

Open Scope Z_scope.

(** The registers: what is left of the multiplier, the multiplicand where it stands now, the sum so far. *)
Definition registers (l : nat) (s : state name) (m a x : Z) : Prop :=
  word s "multiplier" l = m /\ word s "multiplicand" (2 * l) = a /\ word s "sum_p" (2 * l) = x.
Definition at_check l s m a x : Prop := phase l s true false false 0 /\ registers l s m a x /\ calm l s.
Definition at_shift l s m a x : Prop := phase l s false true false 0 /\ registers l s m a x /\ calm l s.
Definition at_copy l s m a x : Prop := phase l s false false true 0 /\ registers l s m a x /\ calm l s.
(** After t steps of the adder, which began with x and a. *)
Definition at_tick l s t m a x : Prop :=
  phase l s false false false (t + 1) /\ word s "multiplier" l = m /\ word s "multiplicand" (2 * l) = a /\
  content (2 * l) (fun i => s (P i)) (fun i => s (Q i)) (fun i => s (C i)) mod 2 ^ Z.of_nat (2 * l) = (x + a) mod 2 ^ Z.of_nat (2 * l) /\
  rests (2 * l) t (fun i => s (Q i)) (fun i => s (C i)).

Section Loop.
Variable l : nat.
Hypothesis l_pos : (1 <= l)%nat.
Notation next := (step (rules l)).
Notation full := (2 ^ Z.of_nat (2 * l)).

Lemma full_pos : 0 < full.
Proof. apply pow_pos. Qed.

Lemma registers_keep s s' m a x :
  keeps l M s s' -> keeps (2 * l) A s s' -> keeps (2 * l) P s s' -> registers l s m a x -> registers l s' m a x.
Proof. intros KM KA KP (<- & <- & <-). repeat split; now apply keeps_word. Qed.

Lemma check_shift s m a x : at_check l s m a x -> s (M 1%nat) = false -> at_shift l (next s) m a x.
Proof.
  intros (H & G & Q) E. destruct (check_even l s l_pos H E) as (H' & KM & KA & AS).
  destruct (calm_step l _ _ AS Q) as (Q' & KP). split; [easy|]. split; [|easy]. now apply (registers_keep s).
Qed.

Lemma check_copy s m a x : at_check l s m a x -> s (M 1%nat) = true -> at_copy l (next s) m a x.
Proof.
  intros (H & G & Q) E. destruct (check_odd l s l_pos H E) as (H' & KM & KA & AS).
  destruct (calm_step l _ _ AS Q) as (Q' & KP). split; [easy|]. split; [|easy]. now apply (registers_keep s).
Qed.

Lemma copy_tick s m a x : at_copy l s m a x -> at_tick l (next s) 0 m a x.
Proof.
  intros (H & (<- & <- & <-) & (Q0 & C0)). destruct (copy l s l_pos H) as (H' & KM & KA & EP & EQ & EC).
  split; [easy|]. split; [now apply keeps_word|]. split; [now apply keeps_word|]. split; [|apply rests_start].
  f_equal. unfold content, word. rewrite (val_zero (2 * l - 1)).
  2:{ intros i I. rewrite EC by lia. rewrite Q0 by lia. apply andb_false_r. }
  rewrite (val_ext (2 * l) (fun i => next s (P i)) (fun i => s (P i))).
  2:{ intros i I. rewrite EP by lia. rewrite Q0 by lia. apply xorb_false_r. }
  rewrite (val_ext (2 * l) (fun i => next s (Q i)) (fun i => s (A i))); [lia|].
  intros i I. rewrite EQ by lia. destruct (Nat.leb_spec 2 i); [|easy]. cbn [andb]. rewrite C0 by lia. easy.
Qed.

Lemma content_next s :
  adder_step l s (next s) ->
  content (2 * l) (fun i => next s (P i)) (fun i => next s (Q i)) (fun i => next s (C i)) mod full
  = content (2 * l) (fun i => s (P i)) (fun i => s (Q i)) (fun i => s (C i)) mod full.
Proof.
  intros AS. rewrite <- (content_step (2 * l) _ _ _ _ _ _ ltac:(lia) AS). pose proof full_pos.
  rewrite (Z.mul_comm full), Z.mod_add by lia. reflexivity.
Qed.

Lemma tick_tick s t m a x : (t + 1 < 4 * l)%nat -> at_tick l s t m a x -> at_tick l (next s) (S t) m a x.
Proof.
  intros I (H & <- & <- & E & W). destruct (tick l s l_pos (t + 1) ltac:(lia) H) as (H' & KM & KA & AS).
  split; [now replace (S t + 1)%nat with (t + 1 + 1)%nat by lia|]. split; [now apply keeps_word|]. split; [now apply keeps_word|].
  split; [now rewrite content_next|]. now apply (rests_step _ t _ _ _ _ _ _ AS).
Qed.

Lemma ticks s m a x t : (t < 4 * l)%nat -> at_tick l s 0 m a x -> at_tick l (run (rules l) t s) t m a x.
Proof.
  intros I H. induction t as [|t IH]; [easy|]. apply (tick_tick (run (rules l) t s)); [lia|]. apply IH. lia.
Qed.

Lemma tick_shift s m a x : at_tick l s (4 * l - 1) m a x -> at_shift l (next s) m a ((x + a) mod full).
Proof.
  intros (H & <- & <- & E & W). replace (4 * l - 1 + 1)%nat with (4 * l)%nat in H by lia.
  destruct (last_tick l s l_pos H) as (H' & KM & KA & AS).
  pose proof (rests_step _ _ _ _ _ _ _ _ AS W) as W'. replace (S (4 * l - 1)) with (2 * (2 * l))%nat in W' by lia.
  split; [easy|]. split; [split; [now apply keeps_word|]; split; [now apply keeps_word|]|].
  - rewrite <- E, <- content_next by easy. rewrite (content_rest (2 * l) _ _ _ W'). symmetry. apply Z.mod_small. apply val_range.
  - destruct W' as (Q' & C'). split; intros i I; [apply Q' | apply C']; lia.
Qed.

Lemma shift_check s m a x : at_shift l s m a x -> at_check l (next s) (m / 2) (2 * a mod full) x.
Proof.
  intros (H & (<- & <- & <-) & G). destruct (shift l s l_pos H) as (H' & EM & EA & AS).
  destruct (calm_step l _ _ AS G) as (G' & KP). split; [easy|]. split; [|easy]. split; [|split; [|now apply keeps_word]]; unfold word.
  - rewrite (val_ext l _ _ EM). rewrite (val_down l (fun i => s (M i))).
    rewrite (val_ext l (fun i => (i <? l)%nat && s (M (i + 1)%nat)) (fun i => (i <? l)%nat && s (M (S i)))) by (intros; now rewrite Nat.add_1_r).
    apply (Z.div_unique _ 2 _ (Z.b2z ((1 <=? l)%nat && s (M 1%nat)))); [left; destruct ((1 <=? l)%nat && s (M 1%nat)); cbn; lia | lia].
  - rewrite (val_ext (2 * l) _ _ EA). pose proof full_pos as F. destruct (2 * l)%nat as [|n] eqn:N; [lia|].
    rewrite (val_up n (fun i => s (A i))). cbn [val].
    replace (2 * (val n (fun i => s (A i)) + Z.b2z (s (A (S n))) * 2 ^ Z.of_nat n))
      with (2 * val n (fun i => s (A i)) + Z.b2z (s (A (S n))) * 2 ^ Z.of_nat (S n)) by (rewrite pow_S; lia).
    rewrite Z.mod_add by lia. symmetry. apply Z.mod_small. pose proof (val_range n (fun i => s (A i))). rewrite pow_S. lia.
Qed.

(** A round: where the lowest bit is off, two steps; where it is on, 4l + 3. *)
Lemma round_even s m a x : at_check l s m a x -> s (M 1%nat) = false ->
  at_check l (run (rules l) 2 s) (m / 2) (2 * a mod full) x.
Proof. intros H E. apply (shift_check (next s)). now apply check_shift. Qed.

Lemma round_odd s m a x : at_check l s m a x -> s (M 1%nat) = true ->
  at_check l (run (rules l) (4 * l + 3) s) (m / 2) (2 * a mod full) ((x + a) mod full).
Proof.
  intros H E. replace (4 * l + 3)%nat with (2 + (4 * l - 1 + 2))%nat by lia. rewrite run_add, run_add.
  change (run (rules l) 2 ?u) with (next (next u)). apply shift_check, tick_shift, ticks; [lia|].
  apply copy_tick. now apply check_copy.
Qed.

Lemma lowest_bit s m a x : at_check l s m a x -> m = Z.b2z (s (M 1%nat)) + 2 * (m / 2) /\ 0 <= m.
Proof.
  intros (_ & (<- & _ & _) & _). unfold word. pose proof (val_range l (fun i => s (M i))). split; [|lia].
  rewrite (val_down l (fun i => s (M i))) at 1. rewrite (proj2 (Nat.leb_le 1 l)) by lia. cbn [andb].
  rewrite (val_down l (fun i => s (M i))). rewrite (proj2 (Nat.leb_le 1 l)) by lia. cbn [andb].
  set (v := val l _). rewrite (Z.mul_comm 2 v), Z.div_add by lia. destruct (s (M 1%nat)); cbn [Z.b2z]; rewrite ?Z.div_small by lia; lia.
Qed.

(** An empty multiplier is checked and shifted for ever, which leaves the sum alone. *)
Lemma idle n s a x : at_check l s 0 a x ->
  exists a', at_check l (run (rules l) n s) 0 a' x \/ at_shift l (run (rules l) n s) 0 a' x.
Proof.
  intros H. induction n as [|n (a' & IH)]; [now exists a; left|].
  change (run (rules l) (S n) s) with (next (run (rules l) n s)). destruct IH as [IH|IH].
  - exists a'. right. apply check_shift; [easy|]. destruct (lowest_bit _ _ _ _ IH) as (E & _).
    destruct (run (rules l) n s (M 1%nat)); [|easy]. cbn in E. lia.
  - exists (2 * a' mod full). left. now apply (shift_check (run (rules l) n s) 0 a' x).
Qed.

(** The invariant: x + m a, modulo 2^2l, is the product in every round. *)
Theorem loop k : forall n s m a x,
  at_check l s m a x -> m < 2 ^ Z.of_nat k -> (k * (4 * l + 3) <= n)%nat ->
  word (run (rules l) n s) "sum_p" (2 * l) = (x + m * a) mod full.
Proof.
  pose proof full_pos as F. induction k as [|k IH]; intros n s m a x H Hm N; destruct (lowest_bit s m a x H) as (E & P0).
  - cbn in Hm. assert (m = 0) as -> by lia. destruct (idle n s a x H) as (a' & D).
    assert (W : word (run (rules l) n s) "sum_p" (2 * l) = x) by (destruct D as [D|D]; apply D).
    rewrite W. symmetry. rewrite Z.mul_0_l, Z.add_0_r. apply Z.mod_small. rewrite <- W. apply val_range.
  - rewrite pow_S in Hm. destruct (s (M 1%nat)) eqn:B; cbn [Z.b2z] in E.
    + replace n with ((n - (4 * l + 3)) + (4 * l + 3))%nat by lia. rewrite run_add.
      rewrite (IH _ _ _ _ _ (round_odd s m a x H B)); [|lia|lia].
      rewrite Z.add_mod_idemp_l by lia. rewrite <- (Z.add_mod_idemp_r (x + a)) by lia. rewrite Z.mul_mod_idemp_r by lia.
      rewrite Z.add_mod_idemp_r by lia. f_equal. rewrite E at 2. ring.
    + replace n with ((n - 2) + 2)%nat by lia. rewrite run_add.
      rewrite (IH _ _ _ _ _ (round_even s m a x H B)); [|lia|lia].
      rewrite <- (Z.add_mod_idemp_r x) by lia. rewrite Z.mul_mod_idemp_r by lia.
      rewrite Z.add_mod_idemp_r by lia. f_equal. rewrite E at 2. ring.
Qed.
End Loop.

Lemma word_wider x n m v : (n <= m)%nat -> 0 <= v < 2 ^ Z.of_nat n -> word (word_is x n v) x m = v.
Proof.
  intros N V. induction m as [|m IH]; [replace n with O in * by lia; cbn in *; lia|].
  destruct (Nat.eq_dec n (S m)) as [->|D]; [now apply word_word_is|]. unfold word in *. cbn [val]. rewrite IH by lia.
  unfold word_is at 1, at_. rewrite (proj2 (Nat.leb_gt (S m) n)) by lia. rewrite andb_false_r. cbn. lia.
Qed.

(** The rules of multiplication multiply, at every length. *)
Theorem rules_multiply l x y :
  (1 <= l)%nat -> 0 <= x < 2 ^ Z.of_nat l -> 0 <= y < 2 ^ Z.of_nat l ->
  product l (run (rules l) (4 * l * l + 3 * l) (start l x y)) = x * y.
Proof.
  intros N X Y. unfold product. rewrite (loop l N l (4 * l * l + 3 * l) (start l x y) y x 0).
  - rewrite Z.add_0_l, Z.mul_comm. apply Z.mod_small. replace (Z.of_nat (2 * l)) with (Z.of_nat l + Z.of_nat l) by lia.
    rewrite Z.pow_add_r by lia. nia.
  - split; [|split].
    + repeat split; intros i I; unfold start, all_of, word_is, bit_on, name_eqb, at_; cbn; try reflexivity.
      symmetry. apply Nat.eqb_neq. lia.
    + unfold registers, start, all_of. cbn [existsb]. split; [|split].
      * transitivity (word (word_is "multiplier" l y) "multiplier" l); [|now apply word_word_is].
        apply val_ext. intros i I. cbn. now rewrite orb_false_r.
      * transitivity (word (word_is "multiplicand" l x) "multiplicand" (2 * l)); [|apply word_wider; [lia|easy]].
        apply val_ext. intros i I. cbn. now rewrite orb_false_r.
      * apply val_zero. intros i I. reflexivity.
    + split; intros i I; reflexivity.
  - easy.
  - nia.
Qed.

(** This network, in the cells of multiplication, multiplies numbers of every length. *)
Theorem network_multiplies (l : nat) (x y : Z) :
  (1 <= l)%nat -> 0 <= x < 2 ^ Z.of_nat l -> 0 <= y < 2 ^ Z.of_nat l ->
  product l (run_by_cells Net.net Net.kinds (cells l) (4 * l * l + 3 * l) (start l x y)) = x * y.
Proof.
  intros L X Y. rewrite <- (rules_multiply l x y L X Y). unfold product, word. apply val_ext. intros. now apply network_runs.
Qed.
Print Assumptions network_multiplies.
