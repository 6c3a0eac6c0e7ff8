(** The check of all local states with machine integers, for networks that are too large for lists of Z. It relies on the
    axioms of the standard library about primitive integers (Uint63). *)
From Coq Require Import List Bool ZArith Lia Arith Uint63.
From Bitwright Require Import Rules.
Import ListNotations.
Local Open Scope Z_scope.

(** x represents z in two's complement with 63 bits. *)
Definition stands (x : int) (z : Z) : Prop := to_Z x = z mod wB.
Definition half : int := (4611686018427387904)%uint63.  (* 2^62 *)
Lemma wB_is : wB = 2 * 2 ^ 62.
Proof. reflexivity. Qed.
Lemma stands_of z : stands (of_Z z) z.
Proof. apply of_Z_spec. Qed.
Lemma stands_add x y a b : stands x a -> stands y b -> stands (x + y)%uint63 (a + b).
Proof. unfold stands. intros A B. rewrite add_spec, A, B. now rewrite <- Zplus_mod. Qed.
Lemma stands_mul x y a b : stands x a -> stands y b -> stands (x * y)%uint63 (a * b).
Proof. unfold stands. intros A B. rewrite mul_spec, A, B. now rewrite <- Zmult_mod. Qed.
Lemma stands_sub x y a b : stands x a -> stands y b -> stands (x - y)%uint63 (a - b).
Proof. unfold stands. intros A B. rewrite sub_spec, A, B. now rewrite <- Zminus_mod. Qed.
Lemma half_is : to_Z half = 2 ^ 62.
Proof. reflexivity. Qed.
Lemma small_mod z : - 2 ^ 62 < z < 2 ^ 62 -> z mod wB = if z <? 0 then z + wB else z.
Proof.
  intros B. pose proof wB_is as W. destruct (Z.ltb_spec z 0).
  - symmetry. apply (Z.mod_unique_pos _ _ (-1)); lia.
  - apply Z.mod_small. lia.
Qed.

Definition relu_fast (x : int) : int := if ltb x half then x else 0%uint63.
Lemma stands_relu x z : - 2 ^ 62 < z < 2 ^ 62 -> stands x z -> stands (relu_fast x) (relu z).
Proof.
  intros B S. unfold relu_fast, relu, stands in *. rewrite (small_mod z B) in S. pose proof wB_is as W. pose proof (ltb_spec x half) as L. rewrite half_is in L.
  destruct (Z.ltb_spec z 0).
  - replace (ltb x half) with false by (symmetry; apply not_true_is_false; rewrite L; lia). rewrite Z.max_l by lia. reflexivity.
  - replace (ltb x half) with true by (symmetry; apply L; lia). rewrite Z.max_r by lia. rewrite S. symmetry. apply Z.mod_small. lia.
Qed.
Definition positive_fast (x : int) : bool := ltb 0%uint63 x && ltb x half.
Lemma positive_ok x z : - 2 ^ 62 < z < 2 ^ 62 -> stands x z -> positive_fast x = (0 <? z).
Proof.
  intros B S. unfold positive_fast, stands in *. rewrite (small_mod z B) in S. pose proof wB_is as W.
  pose proof (ltb_spec x half) as L. pose proof (ltb_spec 0%uint63 x) as M. rewrite half_is in L. change (to_Z 0%uint63) with 0 in M.
  apply eq_true_iff_eq. rewrite andb_true_iff, L, M, Z.ltb_lt. destruct (Z.ltb_spec z 0); lia.
Qed.

(** Columns are added, which avoids looking up elements of rows. *)
Fixpoint add_all (x y : list int) : list int := match x, y with a :: x, b :: y => (a + b)%uint63 :: add_all x y | _, _ => [] end.
Fixpoint dot_fast (x y : list int) : int := match x, y with a :: x, b :: y => (a * b + dot_fast x y)%uint63 | _, _ => 0%uint63 end.
Definition column_of (net : network) (j : nat) : list int := map (fun row => of_Z (nth j row 0)) (first net).
Definition get (net : network) (cols : list (list int)) (j : nat) : list int := match nth_error cols j with Some c => c | None => column_of net j end.
Definition columns (net : network) (m : nat) : list (list int) := map (column_of net) (seq 0 m).
Lemma get_ok net m j : get net (columns net m) j = column_of net j.
Proof.
  unfold get, columns. destruct (nth_error (map (column_of net) (seq 0 m)) j) as [c|] eqn:E; [|easy].
  assert (L : (j < m)%nat) by (apply nth_error_Some_length in E || (pose proof (nth_error_Some (map (column_of net) (seq 0 m)) j) as H; rewrite E, map_length, seq_length in H; apply H; discriminate)).
  apply (nth_error_nth _ _ []) in E. rewrite <- E. rewrite (nth_indep _ [] (column_of net 0)) by now rewrite map_length, seq_length. now rewrite map_nth, seq_nth.
Qed.
Definition pre_fast (net : network) (cols : list (list int)) (S : list nat) : list int :=
  fold_right (fun j a => add_all (get net cols j) a) (map (fun _ => 0%uint63) (first net)) S.

(** Bounds: weights are bytes, with at most 4,096 matches, 2^20 hidden units and 50-bit thresholds. *)
Definition byte (z : Z) : bool := (-128 <=? z) && (z <=? 128).
Definition bounded (net : network) : bool :=
  forallb (forallb byte) (first net) && forallb (forallb byte) (last net) && (Z.of_nat (length (first net)) <=? 2 ^ 20)
  && forallb (forallb (fun t => (- 2 ^ 50 <=? t) && (t <=? 2 ^ 50))) (thresholds net).
Lemma nth_byte row j : forallb byte row = true -> -128 <= nth j row 0 <= 128.
Proof.
  revert j. induction row as [|x row IH]; intros [|j] H; cbn in *; try lia; apply andb_true_iff in H as [A B].
  - apply andb_true_iff in A as [A C]. lia.
  - now apply IH.
Qed.

(** One output bit, given its row of the second layer. *)
Definition says_fast (net : network) (cols : list (list int)) (S : list nat) : list int -> nat -> bool :=
  match S with
  | [] => fun _ _ => false
  | _ => let h := map relu_fast (pre_fast net cols S) in let T := nth (length S - 1) (thresholds net) [] in
         fun row c => positive_fast (dot_fast row h - of_Z (nth c T 0))
  end.

Section Net.
  Variables (net : network) (m : nat).
  Hypothesis small : bounded net = true.
  Notation cols := (columns net m).

  Lemma pre_ok S : Forall2 stands (pre_fast net cols S) (map (fun row => sum (map (fun j => nth j row 0) S)) (first net)).
  Proof.
    induction S as [|j S IH]; cbn [pre_fast fold_right map sum].
    - induction (first net); cbn; constructor; [reflexivity|assumption].
    - fold (pre_fast net cols S). rewrite get_ok. unfold column_of. revert IH. generalize (pre_fast net cols S). induction (first net) as [|row f IHf]; intros l H; inversion H; subst; cbn; constructor.
      + apply stands_add; [apply stands_of|assumption].
      + now apply IHf.
  Qed.
  Lemma sum_small row S : forallb byte row = true -> - 128 * Z.of_nat (length S) <= sum (map (fun j => nth j row 0) S) <= 128 * Z.of_nat (length S).
  Proof.
    intros B. induction S as [|j S IH]; [cbn; lia|]. cbn [map sum fold_right length]. fold (sum (map (fun j => nth j row 0) S)).
    pose proof (nth_byte row j B). lia.
  Qed.
  Lemma hidden_ok S : (length S <= 4096)%nat ->
    Forall2 stands (map relu_fast (pre_fast net cols S)) (hidden net S) /\ Forall (fun h => 0 <= h <= 2 ^ 19) (hidden net S).
  Proof.
    intros L. pose proof (pre_ok S) as H. unfold hidden. pose proof small as B. unfold bounded in B. rewrite !andb_true_iff in B. destruct B as [[[B _] _] _].
    revert H B. generalize (pre_fast net cols S). induction (first net) as [|row f IH]; intros l H B; inversion H; subst; cbn [map]; [split; constructor|].
    cbn in B. apply andb_true_iff in B as [B1 B2]. pose proof (sum_small row S B1) as Bd. destruct (IH _ H4 B2) as [I1 I2]. split; constructor; try assumption.
    - apply stands_relu; [lia|assumption].
    - unfold relu. lia.
  Qed.
  Lemma dot_ok row rowI h hI : Forall2 stands rowI row -> Forall2 stands hI h -> stands (dot_fast rowI hI) (dot row h).
  Proof.
    intros R. revert h hI. induction R as [|x y rowI row A R IH]; intros h hI H; [reflexivity|]. destruct H as [|a b hI h C H]; [reflexivity|]. cbn.
    apply stands_add; [now apply stands_mul|now apply IH].
  Qed.
  Lemma dot_small row h : forallb byte row = true -> Forall (fun h => 0 <= h <= 2 ^ 19) h -> - 2 ^ 26 * Z.of_nat (length h) <= dot row h <= 2 ^ 26 * Z.of_nat (length h).
  Proof.
    intros B H. revert row B. induction H as [|a h A H IH]; intros [|x row] B; cbn [dot length]; try lia. cbn in B. apply andb_true_iff in B as [B1 B2]. specialize (IH row B2).
    unfold byte in B1. apply andb_true_iff in B1 as [C D]. assert (- 2 ^ 26 <= x * a <= 2 ^ 26) by nia. lia.
  Qed.

  Lemma says_ok S i c : (length S <= 4096)%nat -> says_fast net cols S (map of_Z (nth i (last net) [])) c = says net S i c.
  Proof.
    intros L. unfold says_fast, says. destruct S as [|j S]; [easy|]. set (U := j :: S) in *. clearbody U. cbv zeta. destruct (hidden_ok U L) as [H Hs].
    pose proof small as B. unfold bounded in B. rewrite !andb_true_iff in B. destruct B as [[[_ B] W] BT]. apply Z.leb_le in W.
    set (row := nth i (last net) []). set (t := nth c (nth (length U - 1) (thresholds net) []) 0).
    assert (BR : forallb byte row = true) by (unfold row; destruct (nth_in_or_default i (last net) []) as [I|E]; [rewrite forallb_forall in B; now apply B|now rewrite E]).
    assert (Bt : - 2 ^ 50 <= t <= 2 ^ 50).
    { unfold t. set (T := nth (length U - 1) (thresholds net) []). assert (G : forallb (fun t => (- 2 ^ 50 <=? t) && (t <=? 2 ^ 50)) T = true)
        by (unfold T; destruct (nth_in_or_default (length U - 1) (thresholds net) []) as [I|E]; [rewrite forallb_forall in BT; now apply BT|now rewrite E]).
      destruct (nth_in_or_default c T 0) as [I|E]; [|rewrite E; lia]. rewrite forallb_forall in G. specialize (G _ I). cbv beta in G. apply andb_true_iff in G as [G1 G2]. apply Z.leb_le in G1, G2. lia. }
    pose proof (dot_small row _ BR Hs) as D. assert (LH : length (hidden net U) = length (first net)) by (unfold hidden; apply map_length). rewrite LH in D.
    assert (RS : Forall2 stands (map of_Z row) row) by (clear; induction row; constructor; [apply stands_of|assumption]).
    rewrite (positive_ok _ (dot row (hidden net U) - t)); [|lia|apply stands_sub; [now apply dot_ok|apply stands_of]].
    apply eq_true_iff_eq. rewrite !Z.ltb_lt. lia.
  Qed.
End Net.

(** * The check *)
Definition right_kind_fast (net : network) (cols : list (list int)) (pat : pattern) (k : nat) (kd : kind) : bool :=
  let off := first_template pat k in
  let qs := map (fun q => let i := port_bit pat k q in (map of_Z (nth i (last net) []), column pat (nth i (writers pat) 0%nat), nth q (ports kd) [])) (seq 0 (length (ports kd))) in
  forallb (fun S => (length S <=? 4096)%nat &&
    let a := says_fast net cols (map (Nat.add off) S) in
    forallb (fun x => Bool.eqb (a (fst (fst x)) (snd (fst x))) (existsb (fun t => has t (snd x)) S)) qs) (local_states 0 (blocks kd)).
Fixpoint right_from_fast (net : network) (cols : list (list int)) (pat : pattern) (k : nat) (kinds : list kind) : bool :=
  match kinds with [] => true | kd :: kinds => right_kind_fast net cols pat k kd && right_from_fast net cols pat (S k) kinds end.
Definition right_fast (net : network) (pat : pattern) : bool :=
  bounded net && fits_pattern net pat && let cols := columns net (total (map templates_of pat)) in right_from_fast net cols pat 0 pat.

Theorem right_fast_ok net pat : right_fast net pat = true -> right net pat = true.
Proof.
  unfold right_fast, right. rewrite !andb_true_iff. intros [[B F] R]. split; [exact F|]. revert R. cbv zeta. generalize (total (map templates_of pat)) as m. intros m. generalize 0%nat as k.
  generalize pat at 2 4 as kinds. induction kinds as [|kd kinds IH]; intros k; cbn [right_from_fast right_from]; [easy|]. rewrite !andb_true_iff. intros [A C]. split; [|now apply IH].
  clear IH C. unfold right_kind_fast, right_kind in *. cbv zeta in A. rewrite forallb_forall in *. intros U I. specialize (A U I). apply andb_true_iff in A as [L A].
  apply Nat.leb_le in L. unfold right_in, port_says. rewrite forallb_forall in *. intros q Q.
  specialize (A _ (in_map (fun q => (map of_Z (nth (port_bit pat k q) (last net) []), column pat (nth (port_bit pat k q) (writers pat) 0%nat), nth q (ports kd) [])) _ q Q)). cbn [fst snd] in A.
  rewrite says_ok in A; [exact A|exact B|now rewrite map_length].
Qed.
