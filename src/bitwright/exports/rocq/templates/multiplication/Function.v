(** What multiplication computes, as a loop with an invariant. The proof is automatic. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words Rounds.
From {{name}} Require Net Families Phase1.
Import ListNotations.
Local Open Scope string_scope. Local Open Scope list_scope. Local Open Scope nat_scope.

(** The first state, and the outputs. *)
Definition start (l : nat) (multiplicand multiplier : Z) : state name := all_of [Words.word_is "multiplicand" (l) multiplicand; Words.word_is "multiplier" (l) multiplier; Words.bit_on ( (flag "to_check_lsb"))].
Definition product (l : nat) (s : state name) : Z := (Words.word s "sum_p" (2 * l))%Z.

(** The value of each bit after a step. *)
Lemma next_multiplier' l s i : step (Families.rules l) s (at_ "multiplier" i) =
  ((s (at_ "multiplier" (1)) && (negb (s (at_ "to_shift_right" (1))) && (negb (s (flag "to_check_lsb"))))) && ((i =? 1))) || (((s (at_ "multiplier" (i)) && (negb (s (at_ "to_shift_right" (i))))) && ((2 <=? i) && (i <=? l))) || (((s (at_ "multiplier" (1)) && (negb (s (at_ "to_shift_right" (1))) && (s (flag "to_check_lsb")))) && ((i =? 1))) || (((s (at_ "multiplier" (i + 1)) && (s (at_ "to_shift_right" (i + 1)))) && ((2 <=? i + 1) && (i + 1 <=? l)))))).
Proof. next_of Families.rules s. Qed.
Lemma next_to_shift_right' l s i : step (Families.rules l) s (at_ "to_shift_right" i) =
  ((negb (s (at_ "multiplier" (1))) && (negb (s (at_ "to_shift_right" (1))) && (s (flag "to_check_lsb")))) && ((1 <=? i) && (i <=? l))) || (((s (at_ "sum_counter" (4 * l))) && ((1 <=? i) && (i <=? l)))).
Proof. next_of Families.rules s. Qed.
Lemma next_to_check_lsb' l s : step (Families.rules l) s (flag "to_check_lsb") =
  ((negb (s (at_ "multiplier" (1))) && (s (at_ "to_shift_right" (1)) && (negb (s (flag "to_check_lsb")))))) || (((s (at_ "multiplier" (1)) && (s (at_ "to_shift_right" (1)) && (negb (s (flag "to_check_lsb"))))))).
Proof. next_of Families.rules s. Qed.
Lemma next_multiplicand' l s i : step (Families.rules l) s (at_ "multiplicand" i) =
  ((s (at_ "multiplicand" (i)) && (negb (s (at_ "to_shift_left" (i))) && (negb (s (at_ "to_copy_to_sum_q" (i)))))) && ((1 <=? i) && (i <=? 2 * l))) || (((s (at_ "multiplicand" (1)) && (negb (s (at_ "to_shift_left" (1))) && (s (at_ "to_copy_to_sum_q" (1))))) && ((i =? 1))) || (((s (at_ "multiplicand" (i)) && (negb (s (at_ "to_shift_left" (i))) && (s (at_ "to_copy_to_sum_q" (i))))) && ((2 <=? i) && (i <=? 2 * l))) || (((s (at_ "multiplicand" (i - 1)) && (s (at_ "to_shift_left" (i - 1)) && (negb (s (at_ "to_copy_to_sum_q" (i - 1)))))) && ((1 <=? i - 1) && (i - 1 <=? 2 * l - 1)))))).
Proof. next_of Families.rules s. Qed.
Lemma next_to_shift_left' l s i : step (Families.rules l) s (at_ "to_shift_left" i) =
  ((negb (s (at_ "multiplier" (1))) && (negb (s (at_ "to_shift_right" (1))) && (s (flag "to_check_lsb")))) && ((1 <=? i) && (i <=? 2 * l))) || (((s (at_ "sum_counter" (4 * l))) && ((1 <=? i) && (i <=? 2 * l)))).
Proof. next_of Families.rules s. Qed.
Lemma next_to_copy_to_sum_q' l s i : step (Families.rules l) s (at_ "to_copy_to_sum_q" i) =
  ((s (at_ "multiplier" (1)) && (negb (s (at_ "to_shift_right" (1))) && (s (flag "to_check_lsb")))) && ((1 <=? i) && (i <=? 2 * l))).
Proof. next_of Families.rules s. Qed.
Lemma next_sum_p' l s i : step (Families.rules l) s (at_ "sum_p" i) =
  ((negb (s (at_ "sum_p" (i))) && (s (at_ "sum_q" (i)))) && ((1 <=? i) && (i <=? 2 * l))) || (((s (at_ "sum_p" (i)) && (negb (s (at_ "sum_q" (i))))) && ((1 <=? i) && (i <=? 2 * l)))).
Proof. next_of Families.rules s. Qed.
Lemma next_sum_q' l s i : step (Families.rules l) s (at_ "sum_q" i) =
  ((s (at_ "multiplicand" (1)) && (negb (s (at_ "to_shift_left" (1))) && (s (at_ "to_copy_to_sum_q" (1))))) && ((i =? 1))) || (((s (at_ "multiplicand" (i)) && (negb (s (at_ "to_shift_left" (i))) && (s (at_ "to_copy_to_sum_q" (i))))) && ((2 <=? i) && (i <=? 2 * l))) || (((s (at_ "sum_c" (i - 1))) && ((1 <=? i - 1) && (i - 1 <=? 2 * l - 1))))).
Proof. next_of Families.rules s. Qed.
Lemma next_sum_c' l s i : step (Families.rules l) s (at_ "sum_c" i) =
  ((s (at_ "sum_p" (i)) && (s (at_ "sum_q" (i)))) && ((1 <=? i) && (i <=? 2 * l))).
Proof. next_of Families.rules s. Qed.
Lemma next_sum_counter' l s i : step (Families.rules l) s (at_ "sum_counter" i) =
  ((negb (s (at_ "multiplicand" (1))) && (negb (s (at_ "to_shift_left" (1))) && (s (at_ "to_copy_to_sum_q" (1))))) && ((i =? 1))) || (((s (at_ "multiplicand" (1)) && (negb (s (at_ "to_shift_left" (1))) && (s (at_ "to_copy_to_sum_q" (1))))) && ((i =? 1))) || (((s (at_ "sum_counter" (i - 1))) && ((1 <=? i - 1) && (i - 1 <=? 4 * l - 1))))).
Proof. next_of Families.rules s. Qed.
Ltac stepped := first [rewrite next_multiplier' | rewrite next_to_shift_right' | rewrite next_to_check_lsb' | rewrite next_multiplicand' | rewrite next_to_shift_left' | rewrite next_to_copy_to_sum_q' | rewrite next_sum_p' | rewrite next_sum_q' | rewrite next_sum_c' | rewrite next_sum_counter'].

(** The cut state, where rounds begin and end, and the invariant. *)
Definition cut' (l : nat) (multiplier' multiplicand' sum_p' : nat -> bool) (s : state name) : Prop :=
  holds s "multiplier" l multiplier' /\ holds s "to_shift_right" l off /\ s (flag "to_check_lsb") = true /\ holds s "multiplicand" (2 * l) multiplicand' /\ holds s "to_shift_left" (2 * l) off /\ holds s "to_copy_to_sum_q" (2 * l) off /\ holds s "sum_p" (2 * l) sum_p' /\ holds s "sum_q" (2 * l) off /\ holds s "sum_c" (2 * l) off /\ holds s "sum_counter" (4 * l) off.
Definition kept_1' (l : nat) (multiplicand multiplier : Z) (multiplier' multiplicand' sum_p' : nat -> bool) : Prop :=
  exists k, ((val (2 * l) sum_p') + (val (2 * l) multiplicand') * (val l multiplier') + (-1) * (multiplicand) * (multiplier) = k * 2 ^ Z.of_nat (2 * l))%Z.
Definition cut_with' (l : nat) (multiplicand multiplier : Z) (s : state name) (m : Z) : Prop :=
  exists multiplier' multiplicand' sum_p', cut' l multiplier' multiplicand' sum_p' s /\ (kept_1' l multiplicand multiplier multiplier' multiplicand' sum_p') /\ m = val l multiplier'.

(** Path 1 of a round. *)
Definition state_1_1' (l : nat) (multiplier' multiplicand' sum_p' : nat -> bool) (s : state name) : Prop :=
  holds s "multiplier" l multiplier' /\ holds s "to_shift_right" l on /\ s (flag "to_check_lsb") = false /\ holds s "multiplicand" (2 * l) multiplicand' /\ holds s "to_shift_left" (2 * l) on /\ holds s "to_copy_to_sum_q" (2 * l) off /\ holds s "sum_p" (2 * l) sum_p' /\ holds s "sum_q" (2 * l) off /\ holds s "sum_c" (2 * l) off /\ holds s "sum_counter" (4 * l) off.
Lemma step_1_0' l multiplier' multiplicand' sum_p' s : 1 <= l -> multiplier' 1 = false -> cut' l multiplier' multiplicand' sum_p' s -> state_1_1' l multiplier' multiplicand' sum_p' (step (Families.rules l) s).
Proof. intros L F0 H. unfold cut' in H. unfold state_1_1'. shapes. each ltac:(one_step stepped s). Qed.
Lemma step_1_1' l multiplier' multiplicand' sum_p' s : 1 <= l -> multiplier' 1 = false -> state_1_1' l multiplier' multiplicand' sum_p' s -> cut' l (down l multiplier') (up multiplicand') sum_p' (step (Families.rules l) s).
Proof. intros L F0 H. unfold state_1_1' in H. unfold cut'. shapes. each ltac:(one_step stepped s). Qed.
Lemma path_1' l multiplicand multiplier multiplier' multiplicand' sum_p' s : 1 <= l -> multiplier' 1 = false -> cut' l multiplier' multiplicand' sum_p' s -> kept_1' l multiplicand multiplier multiplier' multiplicand' sum_p' ->
  exists t m', t * l <= 4 * l * l + 3 * l /\ cut_with' l multiplicand multiplier (run (Families.rules l) t s) m' /\
  (0 <= 2 * m' <= val l multiplier')%Z.
Proof.
  intros L F0 H0 K1. pose proof (reaches_none (Families.rules l) s) as R.
  pose proof (step_1_0' l multiplier' multiplicand' sum_p' _ L F0 H0) as H1. apply reaches_step in R.
  pose proof (step_1_1' l multiplier' multiplicand' sum_p' _ L F0 H1) as H2. apply reaches_step in R.
  pose proof (val_moved_down l multiplier' ltac:(lia)) as D_multiplier. rewrite F0 in D_multiplier. cbn [Z.b2z] in D_multiplier.
  destruct (val_moved_up (2 * l) multiplicand') as (k_multiplicand & U_multiplicand).
  lazymatch type of R with reaches _ _ ?t _ => exists t end. exists (val l (down l multiplier')).
  split; [nia|]. split; [|pose proof (val_range l multiplier'); pose proof (val_range l (down l multiplier')); rewrite ?val_off in *; lia].
  unfold reaches in R. rewrite R. exists (down l multiplier'), (up multiplicand'), sum_p'. split; [exact H2|]. split; [|reflexivity].
  clear H0 H1 H2 R.
  - destruct K1 as (k & K). exists (k + ((-1) * k_multiplicand * (val l (down l multiplier'))))%Z. 
    rewrite ?val_off, ?U_multiplicand; rewrite ?val_off, ?D_multiplier in *; clear - K; rewrite Z.mul_add_distr_r, <- K; ring.
Qed.

(** Path 2 of a round. *)
Definition state_2_1' (l : nat) (multiplier' multiplicand' sum_p' : nat -> bool) (s : state name) : Prop :=
  holds s "multiplier" l multiplier' /\ holds s "to_shift_right" l off /\ s (flag "to_check_lsb") = false /\ holds s "multiplicand" (2 * l) multiplicand' /\ holds s "to_shift_left" (2 * l) off /\ holds s "to_copy_to_sum_q" (2 * l) on /\ holds s "sum_p" (2 * l) sum_p' /\ holds s "sum_q" (2 * l) off /\ holds s "sum_c" (2 * l) off /\ holds s "sum_counter" (4 * l) off.
Lemma step_2_0' l multiplier' multiplicand' sum_p' s : 1 <= l -> multiplier' 1 = true -> cut' l multiplier' multiplicand' sum_p' s -> state_2_1' l multiplier' multiplicand' sum_p' (step (Families.rules l) s).
Proof. intros L F0 H. unfold cut' in H. unfold state_2_1'. shapes. each ltac:(one_step stepped s). Qed.
Definition state_2_2' (l : nat) (multiplier' multiplicand' sum_p' : nat -> bool) (s : state name) : Prop :=
  holds s "multiplier" l multiplier' /\ holds s "to_shift_right" l off /\ s (flag "to_check_lsb") = false /\ holds s "multiplicand" (2 * l) multiplicand' /\ holds s "to_shift_left" (2 * l) off /\ holds s "to_copy_to_sum_q" (2 * l) off /\ holds s "sum_p" (2 * l) sum_p' /\ holds s "sum_q" (2 * l) multiplicand' /\ holds s "sum_c" (2 * l) off /\ holds s "sum_counter" (4 * l) (only 1).
Lemma step_2_1' l multiplier' multiplicand' sum_p' s : 1 <= l -> multiplier' 1 = true -> state_2_1' l multiplier' multiplicand' sum_p' s -> state_2_2' l multiplier' multiplicand' sum_p' (step (Families.rules l) s).
Proof. intros L F0 H. unfold state_2_1' in H. unfold state_2_2'. shapes. each ltac:(one_step stepped s). Qed.
Definition state_2_3' (l : nat) (multiplier' multiplicand' sum_p' sum_p'1 : nat -> bool) (s : state name) : Prop :=
  holds s "multiplier" l multiplier' /\ holds s "to_shift_right" l on /\ s (flag "to_check_lsb") = false /\ holds s "multiplicand" (2 * l) multiplicand' /\ holds s "to_shift_left" (2 * l) on /\ holds s "to_copy_to_sum_q" (2 * l) off /\ holds s "sum_p" (2 * l) sum_p'1 /\ holds s "sum_q" (2 * l) off /\ holds s "sum_c" (2 * l) off /\ holds s "sum_counter" (4 * l) off.
Lemma Phase1_sum_p' l s i : step (Phase1.Families.rules l) s (at_ "sum_p" i) =
  ((negb (s (at_ "sum_p" (i))) && (s (at_ "sum_q" (i)))) && ((1 <=? i) && (i <=? 2 * l))) || (((s (at_ "sum_p" (i)) && (negb (s (at_ "sum_q" (i))))) && ((1 <=? i) && (i <=? 2 * l)))).
Proof. next_of Phase1.Families.rules s. Qed.
Lemma Phase1_sum_q' l s i : step (Phase1.Families.rules l) s (at_ "sum_q" i) =
  ((s (at_ "sum_c" (i - 1))) && ((1 <=? i - 1) && (i - 1 <=? 2 * l - 1))).
Proof. next_of Phase1.Families.rules s. Qed.
Lemma Phase1_sum_c' l s i : step (Phase1.Families.rules l) s (at_ "sum_c" i) =
  ((s (at_ "sum_p" (i)) && (s (at_ "sum_q" (i)))) && ((1 <=? i) && (i <=? 2 * l))).
Proof. next_of Phase1.Families.rules s. Qed.
Ltac working_Phase1 := unfold bits_of; try first [rewrite Phase1_sum_p' | rewrite Phase1_sum_q' | rewrite Phase1_sum_c'].
Definition phase_2_2_during' (l : nat) (multiplier' multiplicand' sum_p' : nat -> bool) (t : nat) (s : state name) : Prop :=
  holds s "multiplier" l multiplier' /\ holds s "to_shift_right" l off /\ s (flag "to_check_lsb") = false /\ holds s "multiplicand" (2 * l) multiplicand' /\ holds s "to_shift_left" (2 * l) off /\ holds s "to_copy_to_sum_q" (2 * l) off /\ holds s "sum_counter" (4 * l) (only t).
Definition phase_2_2_over' (l : nat) (multiplier' multiplicand' sum_p' : nat -> bool) (s : state name) : Prop :=
  holds s "multiplier" l multiplier' /\ holds s "to_shift_right" l on /\ s (flag "to_check_lsb") = false /\ holds s "multiplicand" (2 * l) multiplicand' /\ holds s "to_shift_left" (2 * l) on /\ holds s "to_copy_to_sum_q" (2 * l) off /\ holds s "sum_counter" (4 * l) off.
Definition phase_2_2_agree' (l : nat) (s u : state name) : Prop :=
  holds s "sum_p" (2 * l) (bits_of u "sum_p") /\ holds s "sum_q" (2 * l) (bits_of u "sum_q") /\ holds s "sum_c" (2 * l) (bits_of u "sum_c").
Lemma phase_2_2_tick' l multiplier' multiplicand' sum_p' t s u : 1 <= l -> multiplier' 1 = true -> 1 <= t < (4 * l) -> phase_2_2_during' l multiplier' multiplicand' sum_p' t s -> phase_2_2_agree' l s u ->
  phase_2_2_during' l multiplier' multiplicand' sum_p' (t + 1) (step (Families.rules l) s) /\ phase_2_2_agree' l (step (Families.rules l) s) (step (Phase1.Families.rules l) u).
Proof. intros L F0 T H G. unfold phase_2_2_during' in H. unfold phase_2_2_agree' in G. unfold phase_2_2_during', phase_2_2_over', phase_2_2_agree'. shapes. each ltac:(one_step ltac:(stepped; working_Phase1) s). Qed.
Lemma phase_2_2_last' l multiplier' multiplicand' sum_p' s u : 1 <= l -> multiplier' 1 = true -> phase_2_2_during' l multiplier' multiplicand' sum_p' (4 * l) s -> phase_2_2_agree' l s u ->
  phase_2_2_over' l multiplier' multiplicand' sum_p' (step (Families.rules l) s) /\ phase_2_2_agree' l (step (Families.rules l) s) (step (Phase1.Families.rules l) u).
Proof. intros L F0 H G. unfold phase_2_2_during' in H. unfold phase_2_2_agree' in G. unfold phase_2_2_during', phase_2_2_over', phase_2_2_agree'. shapes. each ltac:(one_step ltac:(stepped; working_Phase1) s). Qed.
Lemma phase_2_2' l multiplier' multiplicand' sum_p' s : 1 <= l -> multiplier' 1 = true -> state_2_2' l multiplier' multiplicand' sum_p' s ->
  exists sum_p'1 k_sum_p, state_2_3' l multiplier' multiplicand' sum_p' sum_p'1 (run (Families.rules l) (4 * l) s) /\ (val (2 * l) sum_p'1 = 1 * (val (2 * l) sum_p') + 1 * (val (2 * l) multiplicand') - k_sum_p * 2 ^ Z.of_nat (2 * l))%Z.
Proof.
  intros L F0 H. unfold state_2_2' in H. shapes.
  destruct (phase (Families.rules l) (Phase1.Families.rules l) (4 * l) (phase_2_2_during' l multiplier' multiplicand' sum_p') (phase_2_2_over' l multiplier' multiplicand' sum_p') (phase_2_2_agree' l)
    (fun t s u => phase_2_2_tick' l multiplier' multiplicand' sum_p' t s u L F0) (fun s u => phase_2_2_last' l multiplier' multiplicand' sum_p' s u L F0) s (Phase1.start l (val (2 * l) sum_p') (val (2 * l) multiplicand')))
    as (HO & GO); [lia|unfold phase_2_2_during'; each assumption|unfold phase_2_2_agree'; each ltac:(started Phase1.start)|].
  destruct (Phase1.rules_compute l (val (2 * l) sum_p') (val (2 * l) multiplicand') ltac:(lia) (val_range _ _) (val_range _ _)) as (O_sum_p & O_sum_q & O_sum_c).
  set (e := run (Phase1.Families.rules l) (4 * l) (Phase1.start l (val (2 * l) sum_p') (val (2 * l) multiplicand'))) in *. unfold phase_2_2_over' in HO. unfold phase_2_2_agree' in GO. shapes.
  assert (V_sum_p : word (run (Families.rules l) (4 * l) s) "sum_p" (2 * l) = Phase1.sum_p l e)
    by (unfold Phase1.sum_p; apply val_ext; match goal with G : holds _ "sum_p" _ (bits_of e _) |- _ => exact G end).
  rewrite O_sum_p in V_sum_p.
  assert (V_sum_q : word (run (Families.rules l) (4 * l) s) "sum_q" (2 * l) = Phase1.sum_q l e)
    by (unfold Phase1.sum_q; apply val_ext; match goal with G : holds _ "sum_q" _ (bits_of e _) |- _ => exact G end).
  rewrite O_sum_q in V_sum_q.
  assert (V_sum_c : word (run (Families.rules l) (4 * l) s) "sum_c" (2 * l) = Phase1.sum_c l e)
    by (unfold Phase1.sum_c; apply val_ext; match goal with G : holds _ "sum_c" _ (bits_of e _) |- _ => exact G end).
  rewrite O_sum_c in V_sum_c.
  exists (bits_of (run (Families.rules l) (4 * l) s) "sum_p"), ((1 * (val (2 * l) sum_p') + 1 * (val (2 * l) multiplicand')) / 2 ^ Z.of_nat (2 * l))%Z. split; [|each modular].
  unfold state_2_3'. each ltac:(first [assumption | apply holds_bits | apply word_off; assumption]).
Qed.
Lemma step_2_3' l multiplier' multiplicand' sum_p' sum_p'1 s : 1 <= l -> multiplier' 1 = true -> state_2_3' l multiplier' multiplicand' sum_p' sum_p'1 s -> cut' l (down l multiplier') (up multiplicand') sum_p'1 (step (Families.rules l) s).
Proof. intros L F0 H. unfold state_2_3' in H. unfold cut'. shapes. each ltac:(one_step stepped s). Qed.
Lemma path_2' l multiplicand multiplier multiplier' multiplicand' sum_p' s : 1 <= l -> multiplier' 1 = true -> cut' l multiplier' multiplicand' sum_p' s -> kept_1' l multiplicand multiplier multiplier' multiplicand' sum_p' ->
  exists t m', t * l <= 4 * l * l + 3 * l /\ cut_with' l multiplicand multiplier (run (Families.rules l) t s) m' /\
  (0 <= 2 * m' <= val l multiplier')%Z.
Proof.
  intros L F0 H0 K1. pose proof (reaches_none (Families.rules l) s) as R.
  pose proof (step_2_0' l multiplier' multiplicand' sum_p' _ L F0 H0) as H1. apply reaches_step in R.
  pose proof (step_2_1' l multiplier' multiplicand' sum_p' _ L F0 H1) as H2. apply reaches_step in R.
  destruct (phase_2_2' l multiplier' multiplicand' sum_p' _ L F0 H2) as (sum_p'1 & k2_sum_p & H3 & E2_sum_p). apply (reaches_run _ _ _ _ (4 * l)) in R.
  pose proof (step_2_3' l multiplier' multiplicand' sum_p' sum_p'1 _ L F0 H3) as H4. apply reaches_step in R.
  pose proof (val_moved_down l multiplier' ltac:(lia)) as D_multiplier. rewrite F0 in D_multiplier. cbn [Z.b2z] in D_multiplier.
  destruct (val_moved_up (2 * l) multiplicand') as (k_multiplicand & U_multiplicand).
  lazymatch type of R with reaches _ _ ?t _ => exists t end. exists (val l (down l multiplier')).
  split; [nia|]. split; [|pose proof (val_range l multiplier'); pose proof (val_range l (down l multiplier')); rewrite ?val_off in *; lia].
  unfold reaches in R. rewrite R. exists (down l multiplier'), (up multiplicand'), sum_p'1. split; [exact H4|]. split; [|reflexivity].
  clear H0 H1 H2 H3 H4 R.
  - destruct K1 as (k & K). exists (k + ((-1) * k_multiplicand * (val l (down l multiplier')) + (-1) * k2_sum_p))%Z. 
    rewrite ?val_off, ?U_multiplicand, ?E2_sum_p; rewrite ?val_off, ?D_multiplier in *; clear - K; rewrite Z.mul_add_distr_r, <- K; ring.
Qed.
(** All paths together cover every case. *)
Lemma round' l multiplicand multiplier s m : 1 <= l -> cut_with' l multiplicand multiplier s m ->
  exists t m', t * l <= 4 * l * l + 3 * l /\ cut_with' l multiplicand multiplier (run (Families.rules l) t s) m' /\
  (0 <= 2 * m' <= m)%Z.
Proof.
  intros L (multiplier' & multiplicand' & sum_p' & H & K1 & ->).
  destruct (multiplier' 1) eqn:F0; first [eapply path_1'; eassumption | eapply path_2'; eassumption].
Qed.

(** After the last round, multiplier is 0 and the outputs do not change. *)
Definition rest' (l : nat) (sum_p' multiplicand' : nat -> bool) (s : state name) : Prop :=
  holds s "multiplier" l off /\ holds s "to_shift_right" l off /\ s (flag "to_check_lsb") = true /\ holds s "multiplicand" (2 * l) multiplicand' /\ holds s "to_shift_left" (2 * l) off /\ holds s "to_copy_to_sum_q" (2 * l) off /\ holds s "sum_p" (2 * l) sum_p' /\ holds s "sum_q" (2 * l) off /\ holds s "sum_c" (2 * l) off /\ holds s "sum_counter" (4 * l) off.
Definition rest_1_1' (l : nat) (sum_p' multiplicand' : nat -> bool) (s : state name) : Prop :=
  holds s "multiplier" l off /\ holds s "to_shift_right" l on /\ s (flag "to_check_lsb") = false /\ holds s "multiplicand" (2 * l) multiplicand' /\ holds s "to_shift_left" (2 * l) on /\ holds s "to_copy_to_sum_q" (2 * l) off /\ holds s "sum_p" (2 * l) sum_p' /\ holds s "sum_q" (2 * l) off /\ holds s "sum_c" (2 * l) off /\ holds s "sum_counter" (4 * l) off.
Definition resting' (l : nat) (sum_p' : nat -> bool) (s : state name) : Prop :=
  exists multiplicand', rest' l sum_p' multiplicand' s \/ (rest_1_1' l sum_p' multiplicand' s).
Lemma rest_step_1_0' l sum_p' multiplicand' s : 1 <= l -> rest' l sum_p' multiplicand' s -> rest_1_1' l sum_p' multiplicand' (step (Families.rules l) s).
Proof. intros L H. unfold rest' in H. unfold rest_1_1'. shapes. each ltac:(one_step stepped s). Qed.
Lemma rest_step_1_1' l sum_p' multiplicand' s : 1 <= l -> rest_1_1' l sum_p' multiplicand' s -> rest' l sum_p' (up multiplicand') (step (Families.rules l) s).
Proof. intros L H. unfold rest_1_1' in H. unfold rest'. shapes. each ltac:(one_step stepped s). Qed.
Lemma stays' l sum_p' s : 1 <= l -> resting' l sum_p' s -> resting' l sum_p' (step (Families.rules l) s).
Proof.
  intros L H. unfold resting' in *. destruct H as (multiplicand' & H). 
    each_case H; try congruence; (first [pose proof (rest_step_1_0' l sum_p' multiplicand' s L H) as N | pose proof (rest_step_1_1' l sum_p' multiplicand' s L H) as N]; eexists; found_case).
Qed.
Lemma shown' l sum_p' s : resting' l sum_p' s -> holds s "sum_p" (2 * l) sum_p'.
Proof. unfold resting', rest', rest_1_1'. intros H. destruct H as (multiplicand' & H). tauto. Qed.

(** At the end the outputs satisfy the ensure lines. *)
Local Open Scope Z_scope.
Definition done' (l : nat) (multiplicand multiplier : Z) (s : state name) : Prop :=
  exists sum_p', resting' l sum_p' s /\ (val (2 * l) sum_p') = (multiplicand * multiplier).
Lemma ends' (l : nat) (multiplicand multiplier : Z) s : (1 <= l)%nat -> 0 <= multiplicand < 2 ^ Z.of_nat (l) -> 0 <= multiplier < 2 ^ Z.of_nat (l) -> cut_with' l multiplicand multiplier s 0 -> done' l multiplicand multiplier s.
Proof.
  intros L B0 B1 (multiplier' & multiplicand' & sum_p' & H & K1 & Z). symmetry in Z. exists sum_p'.
  split; [unfold resting'; exists multiplicand'; left; unfold cut' in H; unfold rest'; shapes; each ltac:(first [assumption | eapply holds_off; eassumption])|].
  - destruct K1 as (k & K). rewrite ?Z in K. apply small_multiple in K; [clear - K; lia|]. clear K.
    pose proof (val_range (2 * l) sum_p'). pose proof (product_range ((multiplicand)) (multiplier) ((2 ^ Z.of_nat (l) - 1)) (2 ^ Z.of_nat (l) - 1) ltac:(lia) ltac:(lia)). 
    pose proof (pow_two l ltac:(lia)). set (q := 2 ^ Z.of_nat l) in *. replace (2 ^ Z.of_nat (2 * l)) with (q * q * 1) in * by (unfold q; replace (Z.of_nat (2 * l)) with (Z.of_nat l + Z.of_nat l + 0) by lia; rewrite !Z.pow_add_r by lia; ring). clearbody q. nia.
Qed.
Lemma done_stays' (l : nat) (multiplicand multiplier : Z) s : (1 <= l)%nat -> done' l multiplicand multiplier s -> done' l multiplicand multiplier (step (Families.rules l) s).
Proof. intros L (sum_p' & D & E). exists sum_p'. split; [exact (stays' l sum_p' s L D)|exact E]. Qed.
Lemma begins' (l : nat) (multiplicand multiplier : Z) : (1 <= l)%nat -> 0 <= multiplicand < 2 ^ Z.of_nat (l) -> 0 <= multiplier < 2 ^ Z.of_nat (l) ->
  exists m, cut_with' l multiplicand multiplier (start l multiplicand multiplier) m /\ 0 <= m < 2 ^ Z.of_nat l.
Proof.
  intros L B0 B1. eexists. split; [exists (bits_of (start l multiplicand multiplier) "multiplier"), (bits_of (start l multiplicand multiplier) "multiplicand"), (bits_of (start l multiplicand multiplier) "sum_p")|apply val_range].
  split; [unfold cut'; each ltac:(first [apply holds_bits | starting])|split; [|reflexivity]].
  assert (V_multiplier : val l (bits_of (start l multiplicand multiplier) "multiplier") = multiplier) by (apply (val_low (l) l); [lia|assumption|starting_word start]).
  assert (V_multiplicand : val (2 * l) (bits_of (start l multiplicand multiplier) "multiplicand") = multiplicand) by (apply (val_low (l) (2 * l)); [lia|assumption|starting_word start]).
  assert (V_sum_p : val (2 * l) (bits_of (start l multiplicand multiplier) "sum_p") = 0) by (apply val_zero; starting).
  each ltac:(exists 0; rewrite ?V_multiplier, ?V_multiplicand, ?V_sum_p; ring).
Qed.

(** The rules satisfy all lines at every size from 1 on. *)
Theorem rules_compute (l : nat) (multiplicand multiplier : Z) : (1 <= l)%nat -> 0 <= multiplicand < 2 ^ Z.of_nat (l) -> 0 <= multiplier < 2 ^ Z.of_nat (l) ->
  let s := run (Families.rules l) (4 * l * l + 3 * l)%nat (start l multiplicand multiplier) in
  (product l s = (multiplicand * multiplier)).
Proof.
  intros L B0 B1 s. destruct (begins' l multiplicand multiplier L B0 B1) as (m & C & M).
  destruct (rounds (Families.rules l) (cut_with' l multiplicand multiplier) (done' l multiplicand multiplier) l (4 * l * l + 3 * l)%nat
    (fun s m => round' l multiplicand multiplier s m L) (fun s => ends' l multiplicand multiplier s L B0 B1)
    (fun s => done_stays' l multiplicand multiplier s L) (start l multiplicand multiplier) m ltac:(lia) C M) as (sum_p' & D & E).
  fold s in D. clearbody s. pose proof (shown' l sum_p' s D) as O_sum_p. unfold product. rewrite (holds_word _ _ _ _ O_sum_p). exact E.
Qed.

(** The network in the cells of the program satisfies all lines. *)
Theorem network_computes (l : nat) (multiplicand multiplier : Z) : (1 <= l)%nat -> 0 <= multiplicand < 2 ^ Z.of_nat (l) -> 0 <= multiplier < 2 ^ Z.of_nat (l) ->
  let s := run_by_cells Net.net Net.kinds (Families.cells l) (4 * l * l + 3 * l)%nat (start l multiplicand multiplier) in
  (product l s = (multiplicand * multiplier)).
Proof.
  intros L B0 B1 s. pose proof (Families.network_runs l ltac:(lia) (4 * l * l + 3 * l)%nat (start l multiplicand multiplier)) as E. fold s in E.
  pose proof (rules_compute l multiplicand multiplier L B0 B1) as R. cbv zeta in R. clearbody s. unfold product in *.
  repeat rewrite (word_ext s _ _ _ E). exact R.
Qed.
Print Assumptions network_computes.
