(** The clock of a chain program ends after exactly [steps] steps; therefore a checked certificate proves the specification. *)
From Coq Require Import List Bool ZArith NArith Lia Arith.
From Bitwright Require Import Reach Chain ChainProgram Sweeps.
Import ListNotations.

Lemma classes_length n : 5 <= n -> length (classes n) = n.
Proof. intros H. unfold classes. cbn [length]. rewrite app_length, repeat_length. cbn. lia. Qed.
Lemma classes_nth n i : 5 <= n -> i < n -> nth i (classes n) 0%N = class_at n i.
Proof.
  intros H L. unfold classes, class_at. destruct i as [|[|i]]; try easy. cbn [nth]. change (S (S i) =? 0) with false. change (S (S i) =? 1) with false. cbv iota.
  destruct (lt_dec i (n - 4)) as [B|B].
  - rewrite app_nth1 by now rewrite repeat_length. destruct (Nat.eqb_spec (S (S i)) (n - 1)); [lia|]. destruct (Nat.eqb_spec (S (S i)) (n - 2)); [lia|].
    clear - B. revert B. generalize (n - 4) as k. intros k. revert i. induction k; intros [|i] B; cbn; try lia; try easy. apply IHk; lia.
  - rewrite app_nth2 by (rewrite repeat_length; lia). rewrite repeat_length. destruct (Nat.eq_dec i (n - 3)) as [->|].
    + replace (n - 3 - (n - 4)) with 1 by lia. destruct (Nat.eqb_spec (S (S (n - 3))) (n - 1)); [easy|lia].
    + replace (i - (n - 4)) with 0 by lia. destruct (Nat.eqb_spec (S (S i)) (n - 1)); [lia|]. destruct (Nat.eqb_spec (S (S i)) (n - 2)); [easy|lia].
Qed.
Lemma step_nth {A M} (none : M) left right (make : M -> A -> M -> A) d w : forall i m, i < length w ->
  nth i (step none left right make m w) d =
  make (match i with O => m | S j => right (nth j w d) end) (nth i w d) (if S i =? length w then none else left (nth (S i) w d)).
Proof.
  induction w as [|x w IH]; intros i m L; [cbn in L; lia|]. destruct i as [|i]; cbn [step nth].
  - f_equal. destruct w; easy.
  - cbn in L. rewrite IH by lia. f_equal; destruct i; easy.
Qed.
Definition nowhere : letter := (0, (0, (0, 0)))%N.
Definition steps (p : program) (n : nat) : nat := match sweeps p with [] => fixed p | sw => delay p + total_rate sw * n - early p end.

Section Clock.
  Variable p : program.
  Lemma step_length m w : length (step nothing (send_left p) (send_right p) (make p) m w) = length w.
  Proof. revert m. induction w; intros m; cbn; congruence. Qed.
  Lemma runs_length t w : length (snd (runs p t w)) = length w.
  Proof. unfold runs. induction t as [|t IH]; [easy|]. cbn [run]. destruct (run _ _ _ _ _ _ t _ _) as [g v]. cbn [snd] in *. now rewrite step_length. Qed.
  Lemma begin_length ins : 5 <= length ins -> length (begin_word p ins) = length ins.
  Proof. intros H. unfold begin_word. rewrite map_length, combine_length, classes_length; lia. Qed.
  Lemma begin_nth ins i : 5 <= length ins -> i < length ins -> nth i (begin_word p ins) nowhere = begins p (class_at (length ins) i) (nth i ins 0%N).
  Proof.
    intros H L. unfold begin_word. set (f := fun di : N * N => begins p (fst di) (snd di)).
    rewrite (nth_indep _ _ (f (0, 0)%N)) by (rewrite map_length, combine_length, classes_length; lia).
    rewrite map_nth, combine_nth by now apply classes_length. unfold f. cbn [fst snd]. now rewrite classes_nth.
  Qed.
  Lemma time_run t w : snd (fst (runs p t w)) = match sweeps p with [] => N.of_nat t | _ => 0%N end.
  Proof.
    assert (G : forall w g, snd (fold_left (gadd p) w g) = snd g) by (induction w0; intros g; cbn; [easy|now rewrite IHw0]).
    unfold runs. induction t as [|t IH]; [now destruct (sweeps p)|]. cbn [run]. destruct (run _ _ _ _ _ _ t _ _) as [g v]. cbn [fst snd] in *. unfold gstep. rewrite G. unfold gbegins. cbn [snd]. rewrite IH.
    destruct (sweeps p); lia.
  Qed.

  Hypothesis fine : timed p = true.
  Definition clock_at (n t i : nat) : N :=
    if t <? delay p then if begins_at p (class_at n i) then N.of_nat t else wait p else sweep_value (sweeps p) (wait p) n (t - delay p) i.
  Lemma alternates : alternate (match sweeps p with [] => true | (up, _) :: _ => up end) (sweeps p) = true.
  Proof. unfold timed in fine. destruct (sweeps p) as [|(up & r) rest]; [easy|]. apply andb_true_iff in fine as [F _]. exact F. Qed.
  Lemma value_begin n i : 5 <= n -> i < n -> sweep_value (sweeps p) (wait p) n 0 i = if begins_at p (class_at n i) then (wait p + 1)%N else wait p.
  Proof.
    intros L I. pose proof alternates as A. unfold begins_at. destruct (sweeps p) as [|(up & r) rest]; [easy|]. cbn [alternate] in A. rewrite !andb_true_iff, Nat.ltb_lt in A. destruct A as ((_ & R) & _).
    rewrite (far_class n i (negb up) L I). cbn [sweep_value]. cbv zeta. assert (T : turn up n i = n - 1 - turn (negb up) n i /\ turn (negb up) n i <= n - 1) by (unfold turn; destruct up; cbn [negb]; lia).
    destruct T as [T B]. destruct (Nat.eqb_spec (turn (negb up) n i) (n - 1)).
    - replace (turn up n i) with 0 by lia. rewrite Nat.mul_0_r. split_leb; lia.
    - rewrite (proj2 (Nat.ltb_lt _ _)) by nia. reflexivity.
  Qed.
  Lemma clock_waits n t j above : t < delay p -> clock_goes p (clock_at n t j) (class_at n j) above = false.
  Proof.
    intros T. unfold clock_goes, clock_at. rewrite (proj2 (Nat.ltb_lt _ _) T). destruct (begins_at p (class_at n j)).
    - unfold wait. now rewrite (proj2 (N.ltb_lt _ _)) by lia.
    - rewrite (goes_wait _ _ _ _ _ alternates). apply andb_false_r.
  Qed.
  Lemma clock_next n t i : 5 <= n -> i < n ->
    clock_after p (clock_at n t i) (class_at n i) (started (fun j above => clock_goes p (clock_at n t j) (class_at n j) above) n i) = clock_at n (S t) i.
  Proof.
    intros L I. destruct (le_lt_dec (delay p) t) as [T|T].
    - assert (V : forall j, clock_at n t j = sweep_value (sweeps p) (wait p) n (t - delay p) j) by (intros j; unfold clock_at; now rewrite (proj2 (Nat.ltb_ge _ _)) by lia).
      assert (B : forall j, N.ltb (sweep_value (sweeps p) (wait p) n (t - delay p) j) (wait p) = false) by (intros j; apply N.ltb_ge, value_least).
      rewrite (started_ext _ (fun j above => goes (sweeps p) (wait p) (sweep_value (sweeps p) (wait p) n (t - delay p) j) (class_at n j) above) n i); [| |exact I].
      + unfold clock_after. rewrite V, B. rewrite (tick_value _ _ _ n (t - delay p) i L I alternates). unfold clock_at. rewrite (proj2 (Nat.ltb_ge _ _)) by lia. f_equal. lia.
      + intros j above _. unfold clock_goes. now rewrite V, B.
    - rewrite (started_ext _ (fun _ _ => false) n i) by (exact I || intros; now apply clock_waits). replace (started (fun _ _ => false) n i) with false by (unfold started; destruct i, (S _ =? n); easy).
      unfold clock_after. replace (clock_at n t i) with (if begins_at p (class_at n i) then N.of_nat t else wait p) by (unfold clock_at; now rewrite (proj2 (Nat.ltb_lt _ _) T)). unfold clock_at. destruct (Nat.ltb_spec (S t) (delay p)).
      + destruct (begins_at p (class_at n i)).
        * unfold wait. rewrite (proj2 (N.ltb_lt _ _)) by lia. rewrite (proj2 (N.eqb_neq _ _)) by lia. lia.
        * rewrite N.ltb_irrefl. apply (tick_wait _ _ _ _ alternates).
      + replace (S t - delay p) with 0 by lia. rewrite value_begin by assumption. destruct (begins_at p (class_at n i)).
        * unfold wait. rewrite (proj2 (N.ltb_lt _ _)) by lia. rewrite (proj2 (N.eqb_eq _ _)) by lia. lia.
        * rewrite N.ltb_irrefl. apply (tick_wait _ _ _ _ alternates).
  Qed.
  Lemma clock_run ins t i : 5 <= length ins -> i < length ins -> let x := nth i (snd (runs p t (begin_word p ins))) nowhere in
    class_of x = class_at (length ins) i /\ clock x = clock_at (length ins) t i.
  Proof.
    intros L. revert i. induction t as [|t IH]; intros i I; cbv zeta.
    - unfold runs. cbn [run snd]. rewrite begin_nth by assumption. split; [easy|]. unfold begins, clock, clock_at. cbn [fst snd]. unfold clock_begins.
      destruct (Nat.ltb_spec 0 (delay p)).
      + unfold wait. rewrite (proj2 (N.eqb_neq _ _)) by lia. easy.
      + rewrite Nat.sub_0_l. rewrite value_begin by assumption. replace (wait p) with 0%N by (unfold wait; lia). easy.
    - pose proof (runs_length t (begin_word p ins)) as N. rewrite begin_length in N by exact L. rewrite <- (clock_next (length ins) t i L I).
      unfold runs in *. cbn [run]. destruct (run _ _ _ _ _ _ t _ _) as [g w]. cbn [snd] in *. cbv zeta in IH. rewrite step_nth by lia. destruct (IH i I) as [C V]. split; [exact C|].
      unfold make, clock at 1. cbn [fst snd]. rewrite C, V. f_equal. unfold started. f_equal.
      + destruct i as [|j]; [easy|]. unfold send_right. cbn [snd]. destruct (IH j ltac:(lia)) as [-> ->]. easy.
      + rewrite N. destruct (Nat.eqb_spec (S i) (length ins)); [easy|]. unfold send_left. cbn [snd]. destruct (IH (S i) ltac:(lia)) as [-> ->]. easy.
  Qed.
  Lemma over_run ins t : 5 <= length ins -> sweeps p <> [] -> existsb (over p) (snd (runs p t (begin_word p ins))) = (steps p (length ins) <=? t).
  Proof.
    intros L S0. set (n := length ins) in *. set (w := snd (runs p t (begin_word p ins))). assert (LW : length w = n) by (unfold w; rewrite runs_length, begin_length; easy).
    pose proof alternates as A. assert (E : early p <= snd (last_sweep (sweeps p))).
    { unfold timed in fine. destruct (sweeps p); [easy|]. apply andb_true_iff in fine as [_ F]. now apply Nat.leb_le. }
    assert (O : forall i, i < n -> over p (nth i w nowhere) = (turn (fst (last_sweep (sweeps p))) n i =? n - 1) && (steps p n <=? t)).
    { intros i I. destruct (clock_run ins t i L I) as [C V]. fold w n in C, V. unfold over. rewrite C, V, (far_class n i _ L I).
      pose proof (total_last (sweeps p) S0) as TL. pose proof (ends_last (sweeps p) (wait p) S0) as EL. assert (P : total_rate (sweeps p) <= total_rate (sweeps p) * n) by nia.
      unfold steps. destruct (sweeps p) as [|x sw] eqn:SW; [easy|]. destruct (Nat.eqb_spec (turn (fst (last_sweep (x :: sw))) n i) (n - 1)) as [K|K]; [|easy]. cbn [andb]. unfold clock_at. rewrite SW.
      destruct (Nat.ltb_spec t (delay p)) as [T|T].
      - rewrite (proj2 (Nat.leb_gt _ _)) by lia. apply N.leb_gt. unfold wait in *. destruct (begins_at p (class_at n i)); lia.
      - rewrite (value_ends (x :: sw) _ (wait p) n (t - delay p) i (early p) L I A S0 E K). apply eq_true_iff_eq. rewrite !Nat.leb_le. lia. }
    apply eq_true_iff_eq. rewrite existsb_exists. split.
    - intros (x & IN & X). apply (In_nth w x nowhere) in IN as (i & I & <-). rewrite O in X by lia. now apply andb_true_iff in X.
    - intros X. set (i := if fst (last_sweep (sweeps p)) then n - 1 else 0). assert (I : i < n) by (unfold i; destruct (fst _); lia). exists (nth i w nowhere). split; [apply nth_In; lia|].
      rewrite O, X, andb_true_r by exact I. apply Nat.eqb_eq. unfold i, turn. destruct (fst _); lia.
  Qed.
  (** Start words are paths of classes. *)
  Lemma starts_path ds : forall c ins, (fix path c ds := match ds with [] => c = 5%N | d :: ds => In d (order c) /\ path d ds end) c ds ->
    Forall2 (fun d i => In i (choices p d)) ds ins ->
    starts order (N.eqb 5) (choices p) (begins p) c (map (fun di => begins p (fst di) (snd di)) (combine ds ins)).
  Proof.
    induction ds as [|d ds IH]; intros c ins P F; inversion F; subst; cbn.
    - apply starts_end. now subst.
    - destruct P as [D P]. apply starts_more; try assumption. now apply IH.
  Qed.
  Lemma starts_begin ins : allowed p ins -> starts order (N.eqb 5) (choices p) (begins p) 0%N (begin_word p ins).
  Proof.
    intros [H F]. unfold begin_word. apply starts_path; [|exact F]. unfold classes. split; [now left|]. split; [now left|].
    destruct (length ins - 4) as [|k] eqn:K; [lia|]. cbn [repeat app]. split; [now left|]. clear.
    induction k; cbn [repeat app]; [repeat split; cbn; tauto|]. split; [now left|exact IHk].
  Qed.
End Clock.

(** A run is over when its clock ends or when it halts. *)
Lemma stopped_run p ins t : timed p = true -> 5 <= length ins ->
  stopped (gstops p) (stops p) (runs p t (begin_word p ins)) = halted p (plain_run p t ins) || (steps p (length ins) <=? t).
Proof.
  intros F L. rewrite strip_run. pose proof (time_run p t (begin_word p ins)) as T. pose proof (over_run p F ins t L) as O. unfold stopped, halted, gstops. cbn [fst snd]. rewrite T. clear T.
  destruct (runs p t (begin_word p ins)) as [g w]. cbn [fst snd] in *.
  assert (E : existsb (stops p) w = existsb (over p) w || existsb (halts p) (map strip w)).
  { clear. induction w as [|x w IH]; [easy|]. cbn [existsb map]. rewrite IH. unfold stops. destruct (over p x), (halts p (strip x)), (existsb (over p) w); easy. }
  rewrite E. destruct (sweeps p) as [|x sw] eqn:SW.
  - assert (Z : existsb (over p) w = false) by (clear - SW; induction w as [|x w IH]; [easy|]; cbn; rewrite IH; unfold over; now rewrite SW). rewrite Z. cbn [orb]. unfold steps. rewrite SW.
    assert (B : N.leb (N.of_nat (fixed p)) (N.of_nat t) = (fixed p <=? t)) by (apply eq_true_iff_eq; rewrite N.leb_le, Nat.leb_le; lia). rewrite B.
    destruct (globals_halt p (fst g)), (existsb (halts p) (map strip w)), (fixed p <=? t); easy.
  - rewrite O by easy. destruct (globals_halt p (fst g)), (existsb (halts p) (map strip w)), (steps p (length ins) <=? t); easy.
Qed.
Lemma first_time (f : nat -> bool) m : f m = true -> exists t, t <= m /\ f t = true /\ forall u, u < t -> f u = false.
Proof.
  induction m as [m IH] using lt_wf_ind. intros M. destruct (existsb f (seq 0 m)) eqn:E.
  - apply existsb_exists in E as (k & K & F). apply in_seq in K. destruct (IH k ltac:(lia) F) as (t & T & H). exists t. split; [lia|exact H].
  - exists m. split; [lia|]. split; [exact M|]. intros u U. apply not_true_is_false. intros F. rewrite (proj2 (existsb_exists f (seq 0 m))) in E; [easy|]. exists u. split; [apply in_seq; lia|exact F].
Qed.

(** * What a checked certificate proves *)
(** The time at which a run is over. *)
Definition is_over (p : program) (ins : list N) (t : nat) : Prop :=
  t <= steps p (length ins) /\ (forall u, u < t -> halted p (plain_run p u ins) = false) /\ (halting p = None -> t = steps p (length ins)).
Lemma ghosts_ok p c specs post fuel : check_program p c specs post fuel = true -> forall ins, allowed p ins -> exists t, is_over p ins t /\
  let (g, w) := runs p t (begin_word p ins) in
  post (fst g) (hd_error w) (hd_error (rev w)) (map (fun f => law_run (snd f) (fst f, false) w) specs) = true.
Proof.
  intros C ins A. unfold check_program in C. apply andb_true_iff in C as [F C]. assert (L := proj1 A).
  destruct (first_time (fun t => stopped (gstops p) (stops p) (runs p t (begin_word p ins))) (steps p (length ins))) as (t & T & S & B).
  { rewrite stopped_run by assumption. rewrite (proj2 (Nat.leb_le _ _)) by lia. apply orb_true_r. }
  pose proof (check_ok _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ C (begin_word p ins) (starts_begin p ins A) t) as H.
  specialize (H B S). exists t. split.
  - split; [exact T|]. split.
    + intros u U. specialize (B u U). cbv beta in B. rewrite stopped_run in B by assumption. now apply orb_false_iff in B.
    + intros E. cbv beta in S. rewrite stopped_run in S by assumption. apply orb_true_iff in S as [S|S]; [|apply Nat.leb_le in S; lia].
      exfalso. unfold halted, globals_halt in S. rewrite E in S. cbn [orb] in S. apply existsb_exists in S as (x & _ & X). unfold halts in X. now rewrite E in X.
  - change (run _ _ _ _ _ _ t _ _) with (runs p t (begin_word p ins)) in H.
    destruct (runs p t (begin_word p ins)) as [g w]. unfold spec, holds in H.
    assert (E : forall w f l qs, fold_left (end_next specs) w ((f, l), qs) =
      ((match f with None => hd_error w | _ => f end, match w with [] => l | _ => hd_error (rev w) end), fold_left (fun q x => laws_next (map snd specs) q x) w qs)).
    { clear. induction w as [|x w IH]; intros f l qs; [now destruct f|]. cbn [fold_left]. unfold end_next at 2. cbn [fst snd]. rewrite IH. f_equal. f_equal; [now destruct f|].
      cbn [rev]. destruct w as [|z w]; [easy|]. cbn [rev]. destruct (rev w); easy. }
    rewrite E in H. cbn [fst snd] in H. rewrite laws_run in H by now rewrite !map_length.
    replace (map (fun f => law_run (snd f) (fst f, false) w) specs) with (map (fun fq => law_run (fst fq) (snd fq) w) (combine (map snd specs) (map (fun s => (fst s, false)) specs))).
    + destruct w; exact H.
    + clear. induction specs as [|f s IH]; cbn; [easy|]. now f_equal.
Qed.

(** The arguments of [post] are the globals, the bits at the first and the last position, and for each law in [specs] the carry and whether there is a remainder:
    the law's sum is 2^length * carry + remainder. *)
Definition reads_as (n : nat) (v : Z) (q : law_state) : Prop := exists r, (v = 2 ^ Z.of_nat n * fst q + r /\ 0 <= r < 2 ^ Z.of_nat n /\ (snd q = false <-> r = 0))%Z.
Lemma reads_verdict n v q : reads_as n v q -> verdict q = Z.sgn v.
Proof.
  intros (r & E & B & S). destruct q as [c b]. cbn [fst snd] in *. unfold verdict. cbn [fst snd]. subst v. set (P := (2 ^ Z.of_nat n)%Z) in *. clearbody P.
  destruct (Z.ltb_spec c 0); [symmetry; apply Z.sgn_neg; nia|]. destruct (Z.eqb_spec c 0) as [->|]; cbn [andb].
  - destruct b; cbn [negb].
    + symmetry. apply Z.sgn_pos. destruct (Z.eq_dec r 0) as [->|]; [|lia]. assert (true = false) by (now apply S). discriminate.
    + destruct S as [S _]. rewrite (S eq_refl). now rewrite Z.mul_0_r.
  - symmetry. apply Z.sgn_pos. nia.
Qed.
Lemma number_range k w : (0 <= number k w < 2 ^ Z.of_nat (length w))%Z.
Proof. induction w as [|x w IH]; [easy|]. cbn [number length]. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. destruct (N.testbit x k); cbn [Z.b2z]; lia. Qed.
(** The value of a law for a word of this length with these inputs. *)
Definition sum_of (f : law) (w : list plain) (ins : list N) : Z := (sum1 (base f) (map snd w) + sum1 (entered f) ins + extra f w)%Z.
Theorem program_ok p c specs post fuel :
  check_program p c specs (fun g f l => post g (option_map bits f) (option_map bits l)) fuel = true -> forall ins, allowed p ins -> exists t, is_over p ins t /\
  let (g, w) := plain_run p t ins in
  length w = length ins /\
  exists qs, Forall2 (fun f q => reads_as (length ins) (fst f + sum_of (snd f) w ins) q) specs qs /\
    post g (option_map snd (hd_error w)) (option_map snd (hd_error (rev w))) qs = true.
Proof.
  intros C ins A. destruct (ghosts_ok _ _ _ _ _ C ins A) as (t & O & H). exists t. split; [exact O|]. clear O. rewrite strip_run.
  pose proof (input_run p t (begin_word p ins)) as IN. pose proof (runs_length p t (begin_word p ins)) as LN.
  destruct (runs p t (begin_word p ins)) as [g w]. cbn [fst snd] in *. destruct A as [A _]. rewrite begin_length in LN by exact A.
  rewrite map_length. split; [exact LN|]. exists (map (fun f => law_run (snd f) (fst f, false) w) specs). split.
  - assert (IN' : map input w = ins).
    { rewrite IN. unfold begin_word. rewrite map_map. unfold begins, input. cbn [fst snd]. clear - A. pose proof (classes_length _ A) as L. revert L.
      generalize (classes (length ins)) as ds. generalize ins. clear. induction ins as [|i ins IH]; intros [|d ds] L; cbn in *; try easy. f_equal. apply IH. lia. }
    clear H C. induction specs as [|f fs IH]; cbn [map]; constructor; [|exact IH].
    destruct (law_run_ok (snd f) w (fst f, false)) as (r & E & B & S). exists r. rewrite total_sum in E. cbn [fst snd] in *. rewrite IN', LN in *.
    assert (MB : map snd (map strip w) = map bits w) by (rewrite map_map; easy). unfold sum_of, plain in *. rewrite MB. split; [lia|]. split; [lia|]. rewrite S. tauto.
  - rewrite <- map_rev. assert (O : forall v, option_map snd (hd_error (map strip v)) = option_map bits (hd_error v)) by (intros [|]; easy). now rewrite !O.
Qed.

(** * The run by position, for comparison with rules in another form *)
Definition at_position (p : program) (t : nat) (ins : list N) (i : nat) : N := snd (nth i (snd (plain_run p t ins)) (0, 0)%N).

Section Positions.
  Variables (p : program) (ins : list N).
  Hypothesis long : 5 <= length ins.
  Lemma plain_length t : length (snd (plain_run p t ins)) = length ins.
  Proof. rewrite strip_run. cbn [snd]. now rewrite map_length, runs_length, begin_length. Qed.
  Lemma plain_word_nth i : i < length ins -> nth i (plain_word p ins) (0, 0)%N = (class_at (length ins) i, N.lor (start_bits p (class_at (length ins) i)) (nth i ins 0%N)).
  Proof.
    intros L. unfold plain_word. set (f := fun di : N * N => (fst di, N.lor (start_bits p (fst di)) (snd di))).
    rewrite (nth_indep _ _ (f (0, 0)%N)) by (rewrite map_length, combine_length, classes_length; lia).
    rewrite (map_nth f), combine_nth by now apply classes_length. unfold f. cbn [fst snd]. now rewrite classes_nth.
  Qed.
  Lemma plain_class t i : i < length ins -> fst (nth i (snd (plain_run p t ins)) (0, 0)%N) = class_at (length ins) i.
  Proof.
    intros L. revert i L. induction t as [|t IH]; intros i L.
    - unfold plain_run. cbn [run snd]. now rewrite plain_word_nth.
    - pose proof (plain_length t) as N. unfold plain_run in *. cbn [run]. destruct (run _ _ _ _ _ _ t _ _) as [g w]. cbn [snd] in *. rewrite step_nth by lia. now apply IH.
  Qed.
  Lemma position_0 i : i < length ins -> at_position p 0 ins i = N.lor (start_bits p (class_at (length ins) i)) (nth i ins 0%N).
  Proof. intros L. unfold at_position, plain_run. cbn [run snd]. now rewrite plain_word_nth. Qed.
  Lemma position_S t i : i < length ins -> at_position p (S t) ins i =
    N.lor (match i with O => 0%N | S j => sends to_right (rules p (class_at (length ins) j)) (at_position p t ins j) end)
      (N.lor (sends here (rules p (class_at (length ins) i)) (at_position p t ins i))
        (if S i =? length ins then 0%N else sends to_left (rules p (class_at (length ins) (S i))) (at_position p t ins (S i)))).
  Proof.
    intros L. pose proof (plain_length t) as N. pose proof (plain_class t) as C. unfold at_position.
    assert (E : snd (plain_run p (S t) ins) = step 0%N (plain_left p) (plain_right p) (plain_make p) 0%N (snd (plain_run p t ins))).
    { unfold plain_run. cbn [run]. now destruct (run _ _ _ _ _ _ t _ _). }
    rewrite E, step_nth by lia. unfold plain_make. cbn [snd]. rewrite N, C by exact L. f_equal; [|f_equal].
    - destruct i as [|j]; [easy|]. unfold plain_right. now rewrite C by lia.
    - destruct (Nat.eqb_spec (S i) (length ins)); [easy|]. unfold plain_left. now rewrite C by lia.
  Qed.
End Positions.
