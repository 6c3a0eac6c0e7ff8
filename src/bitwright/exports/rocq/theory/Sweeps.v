(** The clock of a chain program in closed form: sweeps through all positions, alternately up and down, and the time when they end. *)
From Coq Require Import List Bool ZArith NArith Lia Arith.
From Bitwright Require Import Reach Chain ChainProgram.
Import ListNotations.

Definition class_at (n i : nat) : N := if i =? 0 then 1%N else if i =? 1 then 2%N else if i =? n - 1 then 5%N else if i =? n - 2 then 4%N else 3%N.

(** The clock at position i of n, t steps after the start of the first sweep. *)
Definition turn (up : bool) (n i : nat) : nat := if up then i else n - 1 - i.
Fixpoint sweep_value (sw : list (bool * nat)) (base : N) (n t i : nat) : N :=
  match sw with
  | [] => base
  | (up, r) :: rest =>
      let e := r * turn up n i in
      if t <? e then base else if t <? e + r then (base + N.of_nat (t - e + 1))%N
      else if t <? r * n then (base + N.of_nat r + 1)%N else sweep_value rest (base + N.of_nat r + 1) n (t - r * n) i
  end.

Ltac split_leb := repeat match goal with
  | |- context [?x <? ?y] => destruct (Nat.ltb_spec x y)
  | |- context [?x <=? ?y] => destruct (Nat.leb_spec x y)
  | |- context [?x =? ?y] => destruct (Nat.eqb_spec x y)
  | |- context [N.eqb ?x ?y] => destruct (N.eqb_spec x y)
  | |- context [N.leb ?x ?y] => destruct (N.leb_spec x y)
  | |- context [N.ltb ?x ?y] => destruct (N.ltb_spec x y) end.

Lemma far_class n i up : 5 <= n -> i < n -> N.eqb (class_at n i) (far up) = (turn up n i =? n - 1).
Proof. intros H L. unfold class_at, far, turn. destruct up; repeat match goal with |- context [?x =? ?y] => destruct (Nat.eqb_spec x y); try lia end; easy. Qed.
Lemma value_least sw : forall base n t i, (base <= sweep_value sw base n t i)%N.
Proof.
  induction sw as [|(up & r) rest IH]; intros base n t i; cbn [sweep_value]; [lia|]. cbv zeta. split_leb; try lia.
  specialize (IH (base + N.of_nat r + 1)%N n (t - r * n) i). lia.
Qed.
Lemma goes_wait u sw base c above : alternate u sw = true -> goes sw base base c above = false.
Proof.
  destruct sw as [|(up & r) rest]; [easy|]. cbn [alternate goes]. cbv zeta. rewrite !andb_true_iff, Nat.ltb_lt. intros ((_ & R) & _).
  split_leb; try lia; easy.
Qed.
Lemma tick_wait u sw base c : alternate u sw = true -> tick sw base base c false = base.
Proof. destruct sw as [|(up & r) rest]; [easy|]. cbn [tick]. cbv zeta. now rewrite N.eqb_refl. Qed.

Section Sweep.
  Variables (up : bool) (r : nat) (rest : list (bool * nat)) (base : N) (n : nat).
  Hypotheses (long : 5 <= n) (r_pos : 0 < r) (alternates : alternate (negb up) rest = true).
  Notation sw := ((up, r) :: rest).
  Notation base' := (base + N.of_nat r + 1)%N.
  Lemma within_sweep i : i < n -> r * turn up n i + r <= r * n.
  Proof. intros I. assert (turn up n i <= n - 1) by (unfold turn; destruct up; lia). nia. Qed.
  Lemma sweep_goes t i above : i < n -> t < r * n ->
    goes sw base (sweep_value sw base n t i) (class_at n i) above = Bool.eqb up above && (S t =? r * S (turn up n i)) && negb (turn up n i =? n - 1).
  Proof.
    intros I T. pose proof (within_sweep i I) as W. cbn [sweep_value goes]. cbv zeta. rewrite (far_class n i up long I). set (k := turn up n i) in *. rewrite Nat.mul_succ_r.
    destruct (Nat.ltb_spec t (r * k)).
    { rewrite (proj2 (N.leb_le _ _)) by lia. rewrite (proj2 (N.eqb_neq _ _)) by lia. rewrite (proj2 (Nat.eqb_neq (S t) _)) by lia. now destruct (Bool.eqb up above). }
    destruct (Nat.ltb_spec t (r * k + r)).
    { rewrite (proj2 (N.leb_le _ _)) by lia. destruct (Nat.eqb_spec (S t) (r * k + r)).
      - rewrite (proj2 (N.eqb_eq _ _)) by lia. now rewrite andb_true_r.
      - rewrite (proj2 (N.eqb_neq _ _)) by lia. now destruct (Bool.eqb up above). }
    rewrite (proj2 (Nat.ltb_lt _ _) T). rewrite (proj2 (N.leb_gt _ _)) by lia. rewrite (goes_wait _ _ _ _ _ alternates). rewrite (proj2 (Nat.eqb_neq (S t) _)) by lia. now destruct (Bool.eqb up above).
  Qed.
  Lemma sweep_after t i above : i < n -> r * n <= t -> sweep_value sw base n t i = sweep_value rest base' n (t - r * n) i /\
    (forall c, goes sw base (sweep_value sw base n t i) c above = goes rest base' (sweep_value sw base n t i) c above).
  Proof.
    intros I T. pose proof (within_sweep i I) as W.
    assert (E : sweep_value sw base n t i = sweep_value rest base' n (t - r * n) i).
    { cbn [sweep_value]. cbv zeta. rewrite (proj2 (Nat.ltb_ge _ _)) by lia. rewrite (proj2 (Nat.ltb_ge _ _)) by lia. now rewrite (proj2 (Nat.ltb_ge _ _) T). }
    split; [exact E|]. intros c. rewrite E. pose proof (value_least rest base' n (t - r * n) i). cbn [goes]. cbv zeta. now rewrite (proj2 (N.leb_gt _ _)) by lia.
  Qed.
End Sweep.

(** The bits that the neighbours of position i send. *)
Definition started (g : nat -> bool -> bool) (n i : nat) : bool := match i with O => false | S j => g j true end || (if S i =? n then false else g (S i) false).
Lemma started_ext g g' n i : (forall j above, j < n -> g j above = g' j above) -> i < n -> started g n i = started g' n i.
Proof. intros E I. unfold started. f_equal; [destruct i; [easy|apply E; lia]|]. destruct (Nat.eqb_spec (S i) n); [easy|apply E; lia]. Qed.
Lemma sweep_started up r n t i : 5 <= n -> 0 < r -> i < n ->
  started (fun j above => Bool.eqb up above && (S t =? r * S (turn up n j)) && negb (turn up n j =? n - 1)) n i = (S t =? r * turn up n i).
Proof.
  intros L R I. unfold started, turn. destruct up; cbn [Bool.eqb andb].
  - destruct (Nat.eqb_spec (S i) n); rewrite ?orb_false_r; (destruct i as [|j]; [rewrite Nat.mul_0_r; now destruct (S t =? 0) eqn:Z|]);
      rewrite (proj2 (Nat.eqb_neq j (n - 1))) by lia; now rewrite andb_true_r.
  - destruct (Nat.eqb_spec (S i) n).
    + replace (n - 1 - i) with 0 by lia. rewrite Nat.mul_0_r. now destruct i.
    + replace (S (n - 1 - S i)) with (n - 1 - i) by lia. rewrite (proj2 (Nat.eqb_neq (n - 1 - S i) (n - 1))) by lia. rewrite andb_true_r. now destruct i.
Qed.
Theorem tick_value sw : forall u base n t i, 5 <= n -> i < n -> alternate u sw = true ->
  tick sw base (sweep_value sw base n t i) (class_at n i) (started (fun j above => goes sw base (sweep_value sw base n t j) (class_at n j) above) n i) = sweep_value sw base n (S t) i.
Proof.
  induction sw as [|(up & r) rest IH]; intros u base n t i L I A; [easy|]. cbn [alternate] in A. rewrite !andb_true_iff, Nat.ltb_lt in A. destruct A as ((_ & R) & A).
  destruct (le_lt_dec (r * n) t) as [T|T].
  - rewrite (started_ext _ (fun j above => goes rest (base + N.of_nat r + 1) (sweep_value rest (base + N.of_nat r + 1) n (t - r * n) j) (class_at n j) above) n i).
    + destruct (sweep_after up r rest base n L R A t i true I T) as [E _]. rewrite E. pose proof (value_least rest (base + N.of_nat r + 1) n (t - r * n) i) as B.
      cbn [tick]. cbv zeta. rewrite (proj2 (N.eqb_neq _ _)) by lia. rewrite (proj2 (N.ltb_ge _ _)) by lia. rewrite (proj2 (N.eqb_neq _ _)) by lia.
      rewrite (IH (negb up) (base + N.of_nat r + 1)%N n (t - r * n) i L I A). destruct (sweep_after up r rest base n L R A (S t) i true I ltac:(lia)) as [E' _]. rewrite E'. f_equal. lia.
    + intros j above J. destruct (sweep_after up r rest base n L R A t j above J T) as [E G]. now rewrite G, E.
    + exact I.
  - rewrite (started_ext _ (fun j above => Bool.eqb up above && (S t =? r * S (turn up n j)) && negb (turn up n j =? n - 1)) n i) by (exact I || intros; now apply sweep_goes).
    rewrite sweep_started by assumption. pose proof (within_sweep up r _ n L R A i I) as W. assert (K : turn up n i <= n - 1) by (unfold turn; destruct up; lia).
    cbn [sweep_value tick]. cbv zeta. rewrite (far_class n i up L I).
    assert (Z : S t = r * n -> sweep_value rest (base + N.of_nat r + 1) n 0 i = if (turn up n i =? n - 1) && match rest with [] => false | _ => true end then (base + N.of_nat r + 2)%N else (base + N.of_nat r + 1)%N).
    { intros _. destruct rest as [|(up' & r') rest]; [now rewrite andb_false_r|]. cbn [alternate] in A. rewrite !andb_true_iff, Nat.ltb_lt in A. destruct A as ((D & R') & _). apply eqb_prop in D. subst up'.
      rewrite andb_true_r. cbn [sweep_value]. cbv zeta. destruct (Nat.eqb_spec (turn up n i) (n - 1)) as [E|E].
      - replace (turn (negb up) n i) with 0 by (unfold turn in *; destruct up; cbn [negb]; lia). rewrite Nat.mul_0_r. split_leb; lia.
      - assert (0 < turn (negb up) n i) by (unfold turn in *; destruct up; cbn [negb] in *; lia). rewrite (proj2 (Nat.ltb_lt _ _)) by nia. reflexivity. }
    set (k := turn up n i) in *. set (m := r * n) in *.
    destruct (Nat.ltb_spec t (r * k)).
    { rewrite N.eqb_refl. destruct (Nat.eqb_spec (S t) (r * k)).
      - rewrite (proj2 (Nat.ltb_ge _ _)) by lia. rewrite (proj2 (Nat.ltb_lt _ _)) by lia. lia.
      - now rewrite (proj2 (Nat.ltb_lt _ _)) by lia. }
    destruct (Nat.ltb_spec t (r * k + r)).
    { rewrite (proj2 (N.eqb_neq _ _)) by lia. rewrite (proj2 (Nat.ltb_ge (S t) (r * k))) by lia. destruct (Nat.ltb_spec (S t) (r * k + r)).
      - rewrite (proj2 (N.ltb_lt _ _)) by lia. lia.
      - rewrite (proj2 (N.ltb_ge _ _)) by lia. rewrite (proj2 (N.eqb_eq _ _)) by lia. destruct (Nat.ltb_spec (S t) m).
        + destruct (Nat.eqb_spec k (n - 1)) as [E|E]; [|reflexivity]. exfalso. assert (m = r * k + r) by (unfold m; rewrite E; nia). lia.
        + replace (S t - m) with 0 by lia. symmetry. apply Z. lia. }
    rewrite (proj2 (Nat.ltb_lt _ _) T). rewrite (proj2 (N.eqb_neq _ _)) by lia. rewrite (proj2 (N.ltb_ge _ _)) by lia. rewrite (proj2 (N.eqb_neq _ _)) by lia.
    rewrite (proj2 (Nat.eqb_neq (S t) (r * k))) by lia. rewrite (tick_wait _ _ _ _ A). rewrite (proj2 (Nat.ltb_ge (S t) (r * k))) by lia. rewrite (proj2 (Nat.ltb_ge (S t) (r * k + r))) by lia.
    destruct (Nat.ltb_spec (S t) m); [reflexivity|]. replace (S t - m) with 0 by lia. rewrite Z by lia.
    destruct (Nat.eqb_spec k (n - 1)) as [E|E]; [|reflexivity]. exfalso. assert (m = r * k + r) by (unfold m; rewrite E; nia). lia.
Qed.

(** The end of the clock. *)
Definition total_rate (sw : list (bool * nat)) : nat := fold_right (fun ur a => snd ur + a) 0 sw.
Lemma ends_least sw : forall base, (base <= ends sw base)%N.
Proof. induction sw as [|(up & r) rest IH]; intros base; cbn; [lia|]. specialize (IH (base + N.of_nat r + 1)%N). unfold ends in IH. lia. Qed.
Lemma ends_last sw : forall base, sw <> [] -> (base + N.of_nat (snd (last_sweep sw)) + 1 <= ends sw base)%N.
Proof.
  induction sw as [|(up & r) rest IH]; intros base E; [easy|]. unfold last_sweep. destruct rest as [|x rest]; [cbn; lia|]. change (last ((up, r) :: x :: rest) (true, 0)) with (last_sweep (x :: rest)).
  specialize (IH (base + N.of_nat r + 1)%N ltac:(easy)). change (ends ((up, r) :: x :: rest) base) with (ends (x :: rest) (base + N.of_nat r + 1)). lia.
Qed.
Lemma total_last sw : sw <> [] -> snd (last_sweep sw) <= total_rate sw.
Proof. induction sw as [|(up & r) rest IH]; intros E; [easy|]. destruct rest as [|x rest]; [cbn; lia|]. change (last_sweep ((up, r) :: x :: rest)) with (last_sweep (x :: rest)). specialize (IH ltac:(easy)). cbn [total_rate fold_right snd] in *. lia. Qed.
Theorem value_ends sw : forall u base n t i e, 5 <= n -> i < n -> alternate u sw = true -> sw <> [] -> e <= snd (last_sweep sw) -> turn (fst (last_sweep sw)) n i = n - 1 ->
  N.leb (ends sw base - N.of_nat e) (sweep_value sw base n t i) = (total_rate sw * n - e <=? t).
Proof.
  induction sw as [|(up & r) rest IH]; intros u base n t i e L I A N0 E K; [easy|]. cbn [alternate] in A. rewrite !andb_true_iff, Nat.ltb_lt in A. destruct A as ((_ & R) & A).
  pose proof (within_sweep up r _ n L R A i I) as W.
  destruct rest as [|x rest].
  - unfold last_sweep in *. cbn [last fst snd] in *. cbn [sweep_value]. cbv zeta. rewrite K. unfold ends, total_rate. cbn [fold_left fold_right snd]. rewrite Nat.add_0_r.
    replace (r * n) with (r * (n - 1) + r) by nia. set (m := r * (n - 1)). apply eq_true_iff_eq. rewrite N.leb_le, Nat.leb_le. split_leb; lia.
  - change (last_sweep ((up, r) :: x :: rest)) with (last_sweep (x :: rest)) in *. change (ends ((up, r) :: x :: rest) base) with (ends (x :: rest) (base + N.of_nat r + 1)).
    change (total_rate ((up, r) :: x :: rest)) with (r + total_rate (x :: rest)). rewrite Nat.mul_add_distr_r.
    pose proof (total_last (x :: rest) ltac:(easy)) as TL. pose proof (ends_last (x :: rest) (base + N.of_nat r + 1) ltac:(easy)) as EL.
    assert (P : total_rate (x :: rest) <= total_rate (x :: rest) * n) by nia. set (m := total_rate (x :: rest) * n) in *.
    destruct (le_lt_dec (r * n) t) as [T|T].
    + destruct (sweep_after up r (x :: rest) base n L R A t i true I T) as [EV _]. rewrite EV. rewrite (IH (negb up) _ n (t - r * n) i e L I A ltac:(easy) E K). fold m.
      apply eq_true_iff_eq. rewrite !Nat.leb_le. lia.
    + cbn [sweep_value]. cbv zeta. rewrite (proj2 (Nat.ltb_lt _ _) T). apply eq_true_iff_eq. rewrite N.leb_le, Nat.leb_le.
      set (k := turn up n i) in *. set (q := r * n) in *. split_leb; lia.
Qed.
