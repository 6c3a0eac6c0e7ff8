(** Loops: arrays with shapes, phases in which some arrays follow separate rules, and rounds bounded by a decreasing word. *)
From Coq Require Import List Bool ZArith Lia Arith String Btauto.
From Bitwright Require Import Rules Words.
Import ListNotations.

(** * Shapes *)

(** Bits 1 to n of the array x are f. *)
Definition holds (s : state name) (x : string) (n : nat) (f : nat -> bool) : Prop := forall i, 1 <= i <= n -> s (at_ x i) = f i.
Definition off : nat -> bool := fun _ => false.
Definition on : nat -> bool := fun _ => true.
Definition only (k : nat) : nat -> bool := fun i => i =? k.
Definition up (f : nat -> bool) : nat -> bool := fun i => (2 <=? i) && f (i - 1).
Definition down (n : nat) (f : nat -> bool) : nat -> bool := fun i => (i <? n) && f (i + 1).
Definition bits_of (s : state name) (x : string) : nat -> bool := fun i => s (at_ x i).

Lemma holds_bits s x n : holds s x n (bits_of s x).
Proof. intros i _. reflexivity. Qed.
Lemma holds_off s x n f : holds s x n f -> val n f = 0%Z -> holds s x n off.
Proof. intros H V i I. rewrite (H i I). exact (val_zero_inv n f V i I). Qed.
Lemma holds_word s x n f : holds s x n f -> word s x n = val n f.
Proof. intros H. now apply val_ext. Qed.
Lemma word_off s x n : word s x n = 0%Z -> holds s x n off.
Proof. intros V i I. exact (val_zero_inv n _ V i I). Qed.

Open Scope Z_scope.
Lemma val_off n : val n off = 0.
Proof. now apply val_zero. Qed.
Lemma val_moved_up n f : exists k, val n (up f) = 2 * val n f - k * 2 ^ Z.of_nat n.
Proof.
  destruct n as [|n]; [exists 0; reflexivity|]. exists (Z.b2z (f (S n))). unfold up. rewrite val_up. cbn [val]. rewrite pow_S. lia.
Qed.
Lemma val_moved_down n f : (1 <= n)%nat -> val n f = Z.b2z (f 1%nat) + 2 * val n (down n f).
Proof.
  intros N. rewrite (val_down n f), (proj2 (Nat.leb_le 1 n) N). cbn [andb]. do 2 f_equal. apply val_ext. intros i _. unfold down. now rewrite Nat.add_1_r.
Qed.
Lemma b2z_range b : 0 <= Z.b2z b <= 1.
Proof. destruct b; cbn; lia. Qed.
(** The number represented by bits has these bits. *)
Lemma bit_of_val n f i : (1 <= i <= n)%nat -> bit_of (val n f) i = f i.
Proof.
  revert i. induction n as [|n IH]; intros i I; [lia|]. cbn [val]. pose proof (val_range n f) as R. unfold bit_of in *.
  destruct (Nat.eq_dec i (S n)) as [->|D].
  - replace (Z.of_nat (S n) - 1) with (0 + Z.of_nat n) by lia. rewrite <- Z.div_pow2_bits by lia. rewrite Z.div_add, Z.div_small by lia. now destruct (f (S n)).
  - rewrite <- (Z.mod_pow2_bits_low _ (Z.of_nat n)) by lia. rewrite Z.mod_add, Z.mod_small by lia. apply IH. lia.
Qed.
(** A number in the lower bits of an array whose other bits are off. *)
Lemma val_low n m v (f : nat -> bool) : (n <= m)%nat -> 0 <= v < 2 ^ Z.of_nat n -> (forall i, (1 <= i <= m)%nat -> f i = (i <=? n)%nat && bit_of v i) -> val m f = v.
Proof.
  intros N V E. rewrite (val_ext _ _ _ E). clear E f. induction m as [|m IH]; [replace n with O in * by lia; cbn in *; lia|].
  destruct (Nat.eq_dec n (S m)) as [->|D].
  - transitivity (val (S m) (bit_of v)); [|now apply val_bits_small]. apply val_ext. intros i I. now rewrite (proj2 (Nat.leb_le i (S m))) by lia.
  - cbn [val]. rewrite IH by lia. rewrite (proj2 (Nat.leb_gt (S m) n)) by lia. cbn [andb Z.b2z]. lia.
Qed.
(** A multiple of a number that is smaller than this number is 0. *)
Lemma small_multiple d k w : d = k * w -> - w < d < w -> d = 0.
Proof. intros -> B. destruct (Z.lt_trichotomy k 0) as [K|[->|K]]; nia. Qed.
Lemma pow_two n : (1 <= n)%nat -> 2 <= 2 ^ Z.of_nat n.
Proof. intros N. apply (Z.pow_le_mono_r 2 1). lia. lia. Qed.
Lemma product_range a b c d : 0 <= a <= c -> 0 <= b <= d -> 0 <= a * b <= c * d.
Proof. intros A B. split; [lia|now apply Z.mul_le_mono_nonneg]. Qed.
Lemma quotient_is v e n : v = e mod 2 ^ Z.of_nat n -> v = e - e / 2 ^ Z.of_nat n * 2 ^ Z.of_nat n.
Proof. intros ->. pose proof (Z.div_mod e (2 ^ Z.of_nat n)) as D. pose proof (pow_pos n). lia. Qed.
Close Scope Z_scope.

(** * Phases *)

Lemma run_add (r : rules name) n k s : run r (n + k) s = run r n (run r k s).
Proof. induction n as [|n IH]; [easy|]. cbn [Nat.add]. unfold run in *. cbn [Nat.iter nat_rect]. f_equal. exact IH. Qed.

(** While a timer runs, some arrays follow separate rules, and all others are known. *)
Section Phase.
  Variables (r own : rules name) (T : nat) (during : nat -> state name -> Prop) (over : state name -> Prop) (agree : state name -> state name -> Prop).
  Hypothesis tick : forall t s s', 1 <= t < T -> during t s -> agree s s' -> during (t + 1) (step r s) /\ agree (step r s) (step own s').
  Hypothesis last_tick : forall s s', during T s -> agree s s' -> over (step r s) /\ agree (step r s) (step own s').
  Theorem phase s s' : 1 <= T -> during 1 s -> agree s s' -> over (run r T s) /\ agree (run r T s) (run own T s').
  Proof.
    intros L D A. assert (G : forall u, u < T -> during (u + 1) (run r u s) /\ agree (run r u s) (run own u s')).
    { induction u as [|u IH]; intros U; [easy|]. destruct IH as [D' A']; [lia|]. apply (tick (u + 1)) in A' as [D'' A'']; [|lia|easy].
      split; [now replace (S u + 1) with (u + 1 + 1) by lia|exact A'']. }
    destruct T as [|u]; [lia|]. destruct (G u ltac:(lia)) as [D' A']. replace (u + 1) with (S u) in D' by lia. exact (last_tick _ _ D' A').
  Qed.
End Phase.

(** * Rounds *)

(** From every cut state, a round leads to the next cut state in t steps and at least halves the measure, which has L bits. If it is 0,
    the outputs no longer change. N steps are enough if every round has t * L <= N. *)
Section Loop.
  Variables (r : rules name) (cut : state name -> Z -> Prop) (rest : state name -> Prop) (L N : nat).
  Hypothesis round : forall s m, cut s m -> exists t m', t * L <= N /\ cut (run r t s) m' /\ (0 <= 2 * m' <= m)%Z.
  Hypothesis ends : forall s, cut s 0%Z -> rest s.
  Hypothesis stays : forall s, rest s -> rest (step r s).
  Theorem rounds s m : 1 <= L -> cut s m -> (0 <= m < 2 ^ Z.of_nat L)%Z -> rest (run r N s).
  Proof.
    intros P. enough (G : forall k n s m, k <= L -> k * N <= n * L -> cut s m -> (0 <= m < 2 ^ Z.of_nat k)%Z -> rest (run r n s)).
    { intros C M. apply (G L N s m); [lia|lia|exact C|exact M]. }
    clear s m. induction k as [|k IH]; intros n s m K E C M.
    - change (2 ^ Z.of_nat 0)%Z with 1%Z in M. assert (m = 0%Z) as -> by lia. clear - ends stays C. induction n as [|n IHn]; [now apply ends|]. now apply (stays (run r n s)).
    - destruct (round s m C) as (t & m' & B & C' & D). assert (T : t <= n) by nia. replace n with ((n - t) + t) by lia. rewrite run_add.
      apply (IH (n - t) (run r t s) m'); [lia|nia|exact C'|]. rewrite pow_S in M. lia.
  Qed.
End Loop.

(** * For generated theorems *)

(** After t steps. *)
Definition reaches (r : rules name) (s : state name) (t : nat) (s' : state name) : Prop := run r t s = s'.
Lemma reaches_none r s : reaches r s 0 s.
Proof. reflexivity. Qed.
Lemma reaches_step r s t s' : reaches r s t s' -> reaches r s (1 + t) (step r s').
Proof. unfold reaches. now intros <-. Qed.
Lemma reaches_run r s t s' n : reaches r s t s' -> reaches r s (n + t) (run r n s').
Proof. unfold reaches. intros <-. apply run_add. Qed.

(** A tactic for each conjunct, and one that proves all known conjuncts. *)
Ltac each tac := lazymatch goal with |- _ /\ _ => split; each tac | _ => tac end.
Ltac shapes := repeat match goal with H : _ /\ _ |- _ => destruct H end.

(** The value of a bit after a step, by the rules that write it. *)
Ltac same_bits s := repeat match goal with |- context [s (at_ ?x ?i)] =>
  match goal with |- context [s (at_ x ?j)] => tryif constr_eq i j then fail else replace j with i by lia end end.
Lemma is_on b : Bool.eqb b true = b.
Proof. now destruct b. Qed.
Lemma is_off b : Bool.eqb b false = negb b.
Proof. now destruct b. Qed.
Ltac next_of r s := unfold r; next_bit; rewrite ?is_on, ?is_off; first [reflexivity | solve [btauto] | by_cases; same_bits s; bools s].

(** One step from shapes to shapes. Bits with a known position in their array come first, since most of them are off. Facts about single bits are
    hidden from [lia], which may support booleans because of other files but does not need them here. *)
Definition bit_is (a b : bool) : Prop := a = b.
Ltac by_bit H := let E := fresh in pose proof H as E; unfold bit_is in E; rewrite E; clear E.
Ltac known_bits s :=
  repeat match goal with
         | |- context [s (at_ ?x ?j)] => match goal with H : holds s x _ _ |- _ => rewrite (H j) by lia end
         | |- context [s (flag ?x)] => match goal with H : bit_is (s (flag x)) _ |- _ => by_bit H end
         end.
Ltac simple := cbn [andb orb negb]; rewrite ?andb_false_r, ?andb_true_r, ?orb_false_r, ?orb_true_r; cbn [andb orb negb].
Ltac by_places :=
  repeat match goal with
         | |- context [?a <=? ?b] => let H := fresh in destruct (a <=? b) eqn:H; rewrite ?Nat.leb_le, ?Nat.leb_gt in H; try (exfalso; lia)
         | |- context [?a <? ?b] => let H := fresh in destruct (a <? b) eqn:H; rewrite ?Nat.ltb_lt, ?Nat.ltb_ge in H; try (exfalso; lia)
         | |- context [?a =? ?b] => let H := fresh in destruct (a =? b) eqn:H; rewrite ?Nat.eqb_eq, ?Nat.eqb_neq in H; try (exfalso; lia)
         end.
Ltac same_places :=
  repeat match goal with
         | F : bit_is (?f 1) _ |- context [?f ?j] => replace (f j) with (f 1) by (apply f_equal; lia); by_bit F
         | |- context [?f ?i] => lazymatch type of f with nat -> bool =>
             match goal with |- context [f ?j] => tryif constr_eq i j then fail else replace (f j) with (f i) by (apply f_equal; lia) end end
         end.
Ltac all_bits := repeat match goal with |- context [?f ?i] => lazymatch type of f with nat -> bool => destruct (f i) end end; try reflexivity.
Ltac one_step stepped s :=
  repeat match goal with H : @eq bool ?a ?b |- _ => change (bit_is a b) in H end;
  try (let i := fresh "i" in let I := fresh "I" in intros i I);
  stepped; known_bits s; unfold off, on, only, up, down; simple; try reflexivity;
  by_places; simple; known_bits s; unfold off, on, only, up, down; simple; by_places; simple; try reflexivity; same_places; all_bits.

(** States composed of words and bits. *)
Ltac started start :=
  let i := fresh "i" in let I := fresh "I" in intros i I;
  match goal with H : holds ?s ?x _ _ |- ?s (at_ ?x i) = _ => rewrite (H i I) end; unfold bits_of, start, all_of; cbn [existsb];
  rewrite ?word_is_at by lia; rewrite ?word_is_other by reflexivity; rewrite ?bit_of_val by lia; cbn [orb]; rewrite ?orb_false_r; reflexivity.
Ltac starting := intros; reflexivity.
Ltac starting_word start :=
  let i := fresh "i" in intros i ?; unfold bits_of, start, all_of, word_is, bit_on, name_eqb, at_, flag; cbn -[bit_of Nat.leb]; by_cases; cbn [andb orb]; rewrite ?orb_false_r; reflexivity.
(** A residue modulo a power, by subtracting a multiple of that power. *)
Ltac modular := match goal with V : word ?s ?x ?n = _ |- val ?n (bits_of ?s ?x) = _ => apply quotient_is; etransitivity; [exact V|apply f_equal2; [ring|reflexivity]] end.
(** All cases of a disjunction, and its known case. *)
Ltac each_case H :=
  repeat lazymatch type of H with _ \/ _ => destruct H as [H|H] end;
  repeat lazymatch type of H with _ /\ _ => let F := fresh "F" in destruct H as [H F] end.
Ltac found_case := first [eassumption | left; found_case | right; found_case | split; [found_case|assumption]].
