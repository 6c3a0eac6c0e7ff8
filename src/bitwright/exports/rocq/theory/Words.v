(** Bits with names and indices, as in rule text; families of rules; words of bits as numbers. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules.
Import ListNotations.

(** * Names *)

Definition name : Type := string * list nat.  (* a flag is ("flag", []), and p[2] is ("p", [2]) *)
Fixpoint nats_eqb (x y : list nat) : bool :=
  match x, y with [], [] => true | a :: x, b :: y => (a =? b) && nats_eqb x y | _, _ => false end.
Lemma nats_eqb_ok x y : nats_eqb x y = true <-> x = y.
Proof.
  revert y. induction x as [|a x IH]; intros [|b y]; cbn; try easy.
  rewrite andb_true_iff, Nat.eqb_eq, IH. split; [intros [-> ->]; easy | intros E; now injection E].
Qed.
Definition name_eqb (a b : name) : bool := String.eqb (fst a) (fst b) && nats_eqb (snd a) (snd b).
Lemma name_eqb_ok a b : name_eqb a b = true <-> a = b.
Proof.
  destruct a, b. unfold name_eqb. cbn. rewrite andb_true_iff, String.eqb_eq, nats_eqb_ok.
  split; [intros [-> ->]; easy | intros E; now injection E].
Qed.
#[global] Instance names : Named name := {| beq := name_eqb; beq_ok := name_eqb_ok |}.

Definition at_ (x : string) (i : nat) : name := (x, [i]).
Definition flag (x : string) : name := (x, []).
Definition all (x : string) (n : nat) : list name := map (at_ x) (seq 1 n).

(** [rows a b f] are the templates [f i] for i in a..b. *)
Definition rows {A} (a b : nat) (f : nat -> A) : list A := map f (seq a (S b - a)).

Lemma mem_one (x y : string) i j : mem (at_ x i) [at_ y j] = String.eqb x y && (i =? j).
Proof. unfold mem, at_. cbn. unfold name_eqb. cbn. now rewrite andb_true_r, orb_false_r. Qed.
Lemma mem_cons (b c d : name) l : mem b (c :: d :: l) = mem b [c] || mem b (d :: l).
Proof. unfold mem. cbn. now rewrite orb_false_r. Qed.
Lemma mem_app (b : name) l m : mem b (l ++ m) = mem b l || mem b m.
Proof. apply existsb_app. Qed.
Lemma mem_flag_at x y j : mem (flag x) [at_ y j] = false.
Proof. unfold mem, flag, at_. cbn. unfold name_eqb. cbn. now rewrite andb_false_r. Qed.
Lemma mem_at_flag x y i : mem (at_ x i) [flag y] = false.
Proof. unfold mem, flag, at_. cbn. unfold name_eqb. cbn. now rewrite andb_false_r. Qed.
Lemma mem_flag x y : mem (flag x) [flag y] = String.eqb x y.
Proof. unfold mem, flag. cbn. unfold name_eqb. cbn. now rewrite andb_true_r, orb_false_r. Qed.
Lemma mem_all x i y n : mem (at_ x i) (all y n) = String.eqb x y && ((1 <=? i) && (i <=? n)).
Proof.
  apply eq_true_iff_eq. rewrite mem_In. unfold all. rewrite in_map_iff. rewrite !andb_true_iff, String.eqb_eq, !Nat.leb_le. split.
  - intros (j & E & I). injection E as -> ->. apply in_seq in I. split; [reflexivity|lia].
  - intros (-> & H). exists i. split; [easy|]. apply in_seq. lia.
Qed.
Lemma mem_flag_all x y n : mem (flag x) (all y n) = false.
Proof. apply not_true_is_false. rewrite mem_In. unfold all. rewrite in_map_iff. intros (j & E & _). discriminate. Qed.

(** For a given bit, either no row of a family writes it, or only the row with index j does. *)
Lemma rows_none a b f (s : state name) x :
  (forall i, mem x (writes (f i)) = false) -> step (rows a b f) s x = false.
Proof.
  intros E. unfold step, rows. induction (seq a (S b - a)) as [|i l IH]; cbn; [easy|]. now rewrite E, andb_false_r, IH.
Qed.
Lemma rows_one j a b f (s : state name) x :
  (forall i, a <= i <= b -> mem x (writes (f i)) = (i =? j)) -> step (rows a b f) s x = matches s (f j) && ((a <=? j) && (j <=? b)).
Proof.
  intros E. apply eq_true_iff_eq. unfold step, rows. rewrite existsb_exists. rewrite !andb_true_iff, !Nat.leb_le. split.
  - intros (t & I & M). apply in_map_iff in I as (i & <- & I). apply in_seq in I. rewrite E, andb_true_iff, Nat.eqb_eq in M by lia.
    destruct M as [M ->]. split; [easy|lia].
  - intros (M & A & B). exists (f j). split; [apply in_map, in_seq; lia|]. now rewrite M, E, Nat.eqb_refl.
Qed.
Lemma step_app (r r' : rules name) s x : step (r ++ r') s x = step r s x || step r' s x.
Proof. apply existsb_app. Qed.
Lemma step_cons (t : template name) r s x : step (t :: r) s x = matches s t && mem x (writes t) || step r s x.
Proof. easy. Qed.
Lemma step_nil (s : state name) x : step [] s x = false.
Proof. easy. Qed.

(** * Numbers *)

Open Scope Z_scope.

(** The number with the bits f 1, the lowest, to f n. *)
Fixpoint val (n : nat) (f : nat -> bool) : Z :=
  match n with O => 0 | S m => val m f + Z.b2z (f n) * 2 ^ Z.of_nat m end.
Definition word (s : state name) (x : string) (n : nat) : Z := val n (fun i => s (at_ x i)).

Lemma pow_S m : 2 ^ Z.of_nat (S m) = 2 * 2 ^ Z.of_nat m.
Proof. rewrite Nat2Z.inj_succ. apply Z.pow_succ_r. lia. Qed.
Lemma pow_pos m : 0 < 2 ^ Z.of_nat m.
Proof. apply Z.pow_pos_nonneg; lia. Qed.

Lemma val_ext n f g : (forall i, (1 <= i <= n)%nat -> f i = g i) -> val n f = val n g.
Proof. induction n as [|n IH]; intros E; cbn; [easy|]. rewrite IH by (intros; apply E; lia). now rewrite E by lia. Qed.
Lemma val_range n f : 0 <= val n f < 2 ^ Z.of_nat n.
Proof.
  induction n as [|n IH]; cbn [val]; [cbn; lia|]. rewrite pow_S. destruct (f (S n)); cbn [Z.b2z]; lia.
Qed.
Lemma val_zero n f : (forall i, (1 <= i <= n)%nat -> f i = false) -> val n f = 0.
Proof. intros E. rewrite (val_ext n f (fun _ => false)) by easy. clear E. induction n; cbn; lia. Qed.
Lemma val_zero_inv n f : val n f = 0 -> forall i, (1 <= i <= n)%nat -> f i = false.
Proof.
  induction n as [|n IH]; cbn [val]; intros E i I; [lia|]. pose proof (val_range n f). pose proof (pow_pos n).
  destruct (f (S n)) eqn:F; cbn [Z.b2z] in E; [lia|].
  destruct (Nat.eq_dec i (S n)) as [->|]; [easy|]. apply IH; lia.
Qed.

Lemma word_ext s s' x n : (forall b, s b = s' b) -> word s x n = word s' x n.
Proof. intros E. apply val_ext. intros. apply E. Qed.

(** Half adders: x + y is the xor of x and y plus twice their and. *)
Lemma val_xor_and n f g : val n f + val n g = val n (fun i => xorb (f i) (g i)) + 2 * val n (fun i => f i && g i).
Proof. induction n as [|n IH]; cbn [val]; [easy|]. destruct (f (S n)), (g (S n)); cbn [xorb andb Z.b2z]; lia. Qed.

(** A shift up: the lowest bit becomes 0 and the highest is dropped. *)
Lemma val_up n f : val (S n) (fun i => (2 <=? i)%nat && f (i - 1)%nat) = 2 * val n f.
Proof.
  induction n as [|n IH]; [easy|]. cbn [val] in *. rewrite IH. rewrite pow_S.
  replace (2 <=? S (S n))%nat with true by (symmetry; apply Nat.leb_le; lia). replace (S (S n) - 1)%nat with (S n) by lia.
  cbn [andb]. lia.
Qed.

(** A shift down: the highest bit becomes 0 and the lowest is dropped. *)
Lemma val_down n f : val n f = Z.b2z ((1 <=? n)%nat && f 1%nat) + 2 * val n (fun i => (i <? n)%nat && f (S i)).
Proof.
  destruct n as [|n]; [easy|]. cbn [Nat.leb andb].
  enough (G : forall m, val (S m) f = Z.b2z (f 1%nat) + 2 * val m (fun i => f (S i))).
  { rewrite G. cbn [val]. rewrite Nat.ltb_irrefl. cbn [andb Z.b2z]. rewrite (val_ext n (fun i => (i <? S n)%nat && f (S i)) (fun i => f (S i))); [lia|].
    intros i I. now replace (i <? S n)%nat with true by (symmetry; apply Nat.ltb_lt; lia). }
  induction m as [|m IH]; [cbn; destruct (f 1%nat); easy|]. cbn [val] in *. rewrite IH, pow_S. lia.
Qed.

(** The bits of a number. *)
Definition bit_of (x : Z) (i : nat) : bool := Z.testbit x (Z.of_nat i - 1).
Lemma val_bits n x : val n (bit_of x) = x mod 2 ^ Z.of_nat n.
Proof.
  induction n as [|n IH]; cbn [val]; [now rewrite Z.mod_1_r|]. rewrite IH, pow_S.
  rewrite (Z.mul_comm 2), Z.rem_mul_r by (pose proof (pow_pos n); lia). f_equal.
  unfold bit_of. replace (Z.of_nat (S n) - 1) with (Z.of_nat n) by lia. rewrite Z.testbit_spec' by lia. lia.
Qed.
Lemma val_bits_small n x : 0 <= x < 2 ^ Z.of_nat n -> val n (bit_of x) = x.
Proof. intros H. rewrite val_bits. now apply Z.mod_small. Qed.

Close Scope Z_scope.

(** The value of a bit after a step: families that do not write it disappear, and of the others a single row remains. *)
Lemma skip_rules (r r' : rules name) s x v : step r s x = false -> step r' s x = v -> step (r ++ r') s x = v.
Proof. intros A B. now rewrite step_app, A. Qed.
Lemma join_rules (r r' : rules name) s x v w : step r s x = v -> step r' s x = w -> step (r ++ r') s x = v || w.
Proof. intros <- <-. apply step_app. Qed.
Lemma no_rule (t : template name) s x : mem x (writes t) = false -> step [t] s x = false.
Proof. intros E. rewrite step_cons, E. now rewrite andb_false_r. Qed.
Lemma one_rule (t : template name) s x : step [t] s x = matches s t && mem x (writes t).
Proof. rewrite step_cons. apply orb_false_r. Qed.

Ltac written := cbn [writes]; rewrite ?mem_app, ?mem_cons, ?mem_one, ?mem_at_flag, ?mem_flag_at, ?mem_flag, ?mem_all, ?mem_flag_all;
  cbn -[Nat.eqb Nat.leb Nat.mul]; rewrite ?orb_false_r.
Ltac unwritten := first [reflexivity | rewrite ?mem_app, ?mem_all, ?mem_flag_all; reflexivity].
Ltac same_row := apply eq_true_iff_eq; rewrite !Nat.eqb_eq; lia.
Ltac nothing :=
  lazymatch goal with
  | |- step (_ ++ _) _ _ = false => apply skip_rules; nothing
  | |- step (rows _ _ _) _ _ = false => apply rows_none; intros; unwritten
  | |- step [_] _ _ = false => apply no_rule; unwritten
  end.
Ltac value :=
  lazymatch goal with
  | |- step (_ ++ _) _ _ = _ => first [apply skip_rules; [nothing | value] | apply join_rules; value]
  | |- step (rows _ _ _) _ ?x = _ =>
      first [ apply rows_none; intros; unwritten
            | lazymatch x with at_ _ ?j =>
                first [ apply (rows_one j); intros; written; same_row
                      | apply (rows_one (j - 1)); intros; written; same_row
                      | apply (rows_one (j + 1)); intros; written; same_row ] end ]
  | |- step [_] _ _ = _ => first [apply no_rule; unwritten | apply one_rule]
  end.
Ltac next_bit :=
  etransitivity; [value|]; unfold matches; cbn [forallb cond fst snd]; written;
  cbn [String.eqb Ascii.eqb Bool.eqb andb orb]; rewrite ?orb_false_r, ?andb_true_r, ?andb_false_r, ?orb_false_r.

(** * Start states *)

(** Bits 1 to n of the array x contain the number v; a single bit is on; the union of states. *)
Definition word_is (x : string) (n : nat) (v : Z) : state name := fun b =>
  match b with (y, [i]) => String.eqb y x && (1 <=? i) && (i <=? n) && bit_of v i | _ => false end.
Definition bit_on (a : name) : state name := fun b => name_eqb b a.
Definition all_of (l : list (state name)) : state name := fun b => existsb (fun s => s b) l.

Lemma word_is_at x n v i : 1 <= i <= n -> word_is x n v (at_ x i) = bit_of v i.
Proof. intros I. unfold word_is, at_. now rewrite String.eqb_refl, (proj2 (Nat.leb_le 1 i)), (proj2 (Nat.leb_le i n)) by lia. Qed.
Lemma word_is_other x y n v i : String.eqb y x = false -> word_is x n v (at_ y i) = false.
Proof. intros E. unfold word_is, at_. now rewrite E. Qed.
Lemma word_word_is x n v : (0 <= v < 2 ^ Z.of_nat n)%Z -> word (word_is x n v) x n = v.
Proof. intros V. unfold word. rewrite (val_ext n _ (bit_of v)) by (intros; now apply word_is_at). now apply val_bits_small. Qed.

(** Tactics that compare indices, try all values of the bits that a goal mentions, and evaluate bits of a start state. *)
Ltac by_cases :=
  repeat match goal with
         | |- context [?a <=? ?b] => let H := fresh in destruct (a <=? b) eqn:H; rewrite ?Nat.leb_le, ?Nat.leb_gt in H; try lia
         | |- context [?a <? ?b] => let H := fresh in destruct (a <? b) eqn:H; rewrite ?Nat.ltb_lt, ?Nat.ltb_ge in H; try lia
         | |- context [?a =? ?b] => let H := fresh in destruct (a =? b) eqn:H; rewrite ?Nat.eqb_eq, ?Nat.eqb_neq in H; try lia
         end.
Ltac bools s := repeat match goal with |- context [s ?b] => destruct (s b) end; try reflexivity.
Ltac starts := cbn [all_of existsb]; rewrite ?word_is_at by lia; rewrite ?word_is_other by reflexivity; cbn [orb]; rewrite ?orb_false_r; reflexivity.
