(** The effect of half adders on words of bits in any program: the invariant of ripple-carry addition. *)
From Coq Require Import List Bool ZArith Lia Arith.
From Bitwright Require Import Rules Words.
Import ListNotations.

Open Scope Z_scope.

Lemma half_adders n p q c :
  (1 <= n)%nat ->
  val n (fun i => xorb (p i) (q i)) + val n (fun i => (2 <=? i)%nat && c (i - 1)%nat)
  + 2 * val (n - 1) (fun i => p i && q i) + 2 ^ Z.of_nat n * Z.b2z (p n && q n)
  = val n p + val n q + 2 * val (n - 1) c.
Proof.
  intros N. destruct n as [|m]; [lia|]. replace (S m - 1)%nat with m by lia. rewrite (val_up m c).
  rewrite (val_xor_and (S m) p q). cbn [val]. rewrite pow_S. lia.
Qed.

(** Words over time: one step of the adder at positions 1..n, without the last carry. *)
Definition adds (n : nat) (p q c p' q' c' : nat -> bool) : Prop :=
  (forall i, (1 <= i <= n)%nat -> p' i = xorb (p i) (q i)) /\
  (forall i, (1 <= i <= n)%nat -> q' i = (2 <=? i)%nat && c (i - 1)%nat) /\
  (forall i, (1 <= i < n)%nat -> c' i = p i && q i).

(** After t steps the first t positions no longer change. *)
Definition rests (n t : nat) (q c : nat -> bool) : Prop :=
  (forall i, (1 <= i <= n)%nat -> (2 * i <= t)%nat -> q i = false) /\
  (forall i, (1 <= i < n)%nat -> (2 * i + 1 <= t)%nat -> c i = false).

Definition content (n : nat) (p q c : nat -> bool) : Z := val n p + val n q + 2 * val (n - 1) c.

Lemma content_pos n p q c : 0 <= content n p q c.
Proof. unfold content. pose proof (val_range n p). pose proof (val_range n q). pose proof (val_range (n - 1) c). lia. Qed.

Lemma rests_start n q c : rests n 0 q c.
Proof. split; intros; lia. Qed.

Lemma rests_step n t p q c p' q' c' : adds n p q c p' q' c' -> rests n t q c -> rests n (S t) q' c'.
Proof.
  intros (_ & Q & C) (RQ & RC). split; intros i I T.
  - rewrite Q by lia. destruct (2 <=? i)%nat eqn:E; [|easy]. apply Nat.leb_le in E. cbn. apply RC; lia.
  - rewrite C by lia. rewrite RQ by lia. apply andb_false_r.
Qed.

Lemma content_step n p q c p' q' c' :
  (1 <= n)%nat -> adds n p q c p' q' c' -> content n p' q' c' + 2 ^ Z.of_nat n * Z.b2z (p n && q n) = content n p q c.
Proof.
  intros N (P & Q & C). unfold content. rewrite <- (half_adders n p q c N).
  rewrite (val_ext n p' _ P), (val_ext n q' _ Q). rewrite (val_ext (n - 1) c' (fun i => p i && q i)) by (intros; apply C; lia). lia.
Qed.

Lemma content_rest n p q c : rests n (2 * n) q c -> content n p q c = val n p.
Proof.
  intros (Q & C). unfold content. rewrite (val_zero n q) by (intros; apply Q; lia).
  rewrite (val_zero (n - 1) c) by (intros; apply C; lia). lia.
Qed.
Close Scope Z_scope.
