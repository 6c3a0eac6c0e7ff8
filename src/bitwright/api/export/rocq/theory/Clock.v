(** The clock of a chain program is over after rate * length steps, and not before; so a checked certificate proves the specification. *)
From Coq Require Import List Bool ZArith NArith Lia Arith.
From Bitwright Require Import Reach Chain ChainProgram.
Import ListNotations.

(** The clock at the i-th position that it comes to, after t steps. *)
Definition phase (a t i : nat) : N := N.of_nat (if t <? a * i then 0 else if t <? a * i + a then t - a * i + 1 else a + 1).

Ltac split_leb := repeat match goal with
  | |- context [?x <? ?y] => destruct (Nat.ltb_spec x y)
  | |- context [N.eqb ?x ?y] => destruct (N.eqb_spec x y)
  | |- context [N.leb ?x ?y] => destruct (N.leb_spec x y)
  | |- context [N.ltb ?x ?y] => destruct (N.ltb_spec x y) end.

Lemma phase_first a t : 0 < a -> advance a (phase a t 0) = phase a (S t) 0.
Proof. intros H. unfold advance, phase. rewrite Nat.mul_0_r. split_leb; lia. Qed.
Lemma phase_next a t i : 0 < a ->
  (if N.eqb (phase a t i) (N.of_nat a) then 1%N else advance a (phase a t (S i))) = phase a (S t) (S i).
Proof. intros H. unfold advance, phase. rewrite Nat.mul_succ_r. set (u := a * i). split_leb; lia. Qed.
Lemma phase_start a i : 0 < a -> phase a 0 i = if i =? 0 then 1%N else 0%N.
Proof.
  intros H. unfold phase. destruct (Nat.eqb_spec i 0) as [->|N0]; [rewrite Nat.mul_0_r; split_leb; lia|].
  assert (a * 1 <= a * i) by (apply Nat.mul_le_mono_l; lia). split_leb; lia.
Qed.
Lemma phase_over a e t n : 0 < a -> e <= a -> N.leb (N.of_nat (a - e) + 1) (phase a t n) = (a * S n - e <=? t).
Proof.
  intros H L. unfold phase. rewrite Nat.mul_succ_r. set (u := a * n). apply eq_true_iff_eq. rewrite N.leb_le, Nat.leb_le. split_leb; lia.
Qed.

Section Clock.
  Variable p : program.
  Hypothesis a_pos : 0 < rate p.
  Notation a := (rate p).
  (** Positions i, i + 1, ...; the clock comes up from 0, or down from n. *)
  Definition turn (n i : nat) : nat := if down p then n - i else i.
  Definition clocks (n t i k : nat) : list N := map (fun i => phase a t (turn n i)) (seq i k).

  Lemma clock_step n t : forall w i m,
    map clock w = clocks n t i (length w) -> i + length w = S n ->
    snd m = (if down p then false else match i with O => false | S j => N.eqb (phase a t j) (N.of_nat a) end) ->
    map clock (step nothing (send_left p) (send_right p) (make p) m w) = clocks n (S t) i (length w).
  Proof.
    induction w as [|x w IH]; intros i m E L M; [easy|]. unfold clocks in *. cbn [length seq map step] in *. injection E as X E. f_equal.
    - unfold make, clock at 1. cbn [fst snd]. rewrite X, M. unfold turn. destruct (down p) eqn:D.
      + cbn [orb]. destruct w as [|z w]; cbn [from_right].
        * cbn [nothing snd]. cbn in L. replace (n - i) with 0 by lia. now apply phase_first.
        * unfold send_left. cbn [snd]. rewrite D. cbn [andb]. cbn [map length seq] in E. injection E as Z _. rewrite Z. unfold turn. rewrite D.
          cbn in L. replace (n - i) with (S (n - S i)) by lia. now apply phase_next.
      + assert (F : snd (from_right nothing (send_left p) w) = false) by (destruct w; cbn; [easy|now rewrite D]). rewrite F, orb_false_r.
        destruct i as [|j]; [now apply phase_first|now apply phase_next].
    - apply IH; [exact E|cbn in L; lia|]. unfold send_right. cbn [snd]. rewrite X. unfold turn. now destruct (down p).
  Qed.
  Lemma step_length m w : length (step nothing (send_left p) (send_right p) (make p) m w) = length w.
  Proof using Type. clear a_pos. revert m. induction w; intros m; cbn; congruence. Qed.
  Lemma class_step m w : map class_of (step nothing (send_left p) (send_right p) (make p) m w) = map class_of w.
  Proof using Type. clear a_pos. revert m. induction w as [|x w IH]; intros m; cbn [step map]; [easy|]. now rewrite IH. Qed.
  Lemma runs_length t w : length (snd (runs p t w)) = length w.
  Proof using Type. clear a_pos.
    unfold runs. induction t as [|t IH]; [easy|]. cbn [run]. destruct (run _ _ _ _ _ _ t _ _) as [g v]. cbn [snd] in *. now rewrite step_length.
  Qed.
  Lemma clock_run n t w : length w = S n -> map clock w = clocks n 0 0 (S n) -> map clock (snd (runs p t w)) = clocks n t 0 (S n).
  Proof.
    intros L E. induction t as [|t IH]; [exact E|]. pose proof (runs_length t w) as R. unfold runs in *. cbn [run].
    destruct (run _ _ _ _ _ _ t _ _) as [g v]. cbn [snd] in *. rewrite L in R. rewrite <- R. apply clock_step; [now rewrite R|lia|]. now destruct (down p).
  Qed.
  Lemma classes_length n : 5 <= n -> length (classes n) = n.
  Proof using Type. clear a_pos. intros H. unfold classes. cbn [length]. rewrite app_length, repeat_length. cbn. lia. Qed.
  Lemma begin_length ins : 5 <= length ins -> length (begin_word p ins) = length ins.
  Proof using Type. clear a_pos. intros H. unfold begin_word. rewrite map_length, combine_length, classes_length; lia. Qed.
  Lemma classes_nth n i : 5 <= n -> i < n -> nth i (classes n) 0%N = if i =? 0 then 1%N else if i =? 1 then 2%N else if i =? n - 1 then 5%N else if i =? n - 2 then 4%N else 3%N.
  Proof using Type. clear a_pos.
    intros H L. unfold classes. destruct i as [|[|i]]; try easy. cbn [nth]. change (S (S i) =? 0) with false. change (S (S i) =? 1) with false. cbv iota.
    destruct (lt_dec i (n - 4)) as [B|B].
    - rewrite app_nth1 by now rewrite repeat_length. destruct (Nat.eqb_spec (S (S i)) (n - 1)); [lia|]. destruct (Nat.eqb_spec (S (S i)) (n - 2)); [lia|].
      clear - B. revert B. generalize (n - 4) as k. intros k. revert i. induction k; intros [|i] B; cbn; try lia; try easy. apply IHk; lia.
    - rewrite app_nth2 by (rewrite repeat_length; lia). rewrite repeat_length. destruct (Nat.eq_dec i (n - 3)) as [->|].
      + replace (n - 3 - (n - 4)) with 1 by lia. destruct (Nat.eqb_spec (S (S (n - 3))) (n - 1)); [easy|lia].
      + replace (i - (n - 4)) with 0 by lia. destruct (Nat.eqb_spec (S (S i)) (n - 1)); [lia|]. destruct (Nat.eqb_spec (S (S i)) (n - 2)); [easy|lia].
  Qed.
  Lemma begin_nth ins i : 5 <= length ins -> i < length ins ->
    nth i (begin_word p ins) (0, (0, (0, 0)))%N = begins p (nth i (classes (length ins)) 0%N) (nth i ins 0%N).
  Proof using Type. clear a_pos.
    intros H L. unfold begin_word. set (f := fun di : N * N => begins p (fst di) (snd di)).
    rewrite (nth_indep _ _ (f (0, 0)%N)) by (rewrite map_length, combine_length, classes_length; lia).
    rewrite map_nth, combine_nth by now apply classes_length. easy.
  Qed.
  Lemma clock_begin ins n : 5 <= length ins -> length ins = S n -> map clock (begin_word p ins) = clocks n 0 0 (S n).
  Proof.
    intros H L. apply (nth_ext _ _ 0%N 0%N).
    - unfold clocks. rewrite !map_length, seq_length, begin_length; lia.
    - rewrite map_length, begin_length by lia. intros i I. change 0%N with (clock (0, (0, (0, 0)))%N) at 1. rewrite map_nth, begin_nth by lia.
      unfold clocks. set (f := fun i => phase a 0 (turn n i)). rewrite (nth_indep (map f (seq 0 (S n))) 0%N (f 0)) by (rewrite map_length, seq_length; lia). rewrite (map_nth f), seq_nth by lia.
      unfold f. cbn [Nat.add]. rewrite phase_start by easy. rewrite classes_nth by lia. unfold begins, clock, turn. cbn [fst snd].
      destruct (down p); repeat match goal with |- context [?x =? ?y] => destruct (Nat.eqb_spec x y) end; cbn; try easy; lia.
  Qed.

  Lemma over_run ins t : early p <= a -> allowed p ins -> existsb (over p) (snd (runs p t (begin_word p ins))) = (a * length ins - early p <=? t).
  Proof.
    intros EA [H _]. destruct (length ins) as [|n] eqn:N; [lia|].
    assert (E : map clock (snd (runs p t (begin_word p ins))) = clocks n t 0 (S n)).
    { apply clock_run; [rewrite begin_length; lia|apply clock_begin; lia]. }
    assert (C : map class_of (snd (runs p t (begin_word p ins))) = classes (S n)).
    { clear E. induction t as [|t IH].
      - unfold runs. cbn [run snd]. unfold begin_word. rewrite map_map. rewrite N. pose proof (classes_length (S n) ltac:(lia)) as L. rewrite <- N in L at 2.
        revert L. generalize (classes (S n)). generalize ins. clear. intros ins ds. revert ins. induction ds as [|d ds IH]; intros [|i ins] L; cbn in *; try easy. f_equal. apply IH. lia.
      - unfold runs in *. cbn [run]. destruct (run _ _ _ _ _ _ t _ _) as [g w]. cbn [snd] in *. now rewrite class_step. }
    rewrite <- (phase_over a (early p) t n a_pos EA).
    set (w := snd (runs p t (begin_word p ins))) in *. assert (LW : length w = S n) by (unfold w; rewrite runs_length, begin_length; lia).
    set (z := (0, (0, (0, 0)))%N : letter).
    assert (A : forall i, i < S n -> clock (nth i w z) = phase a t (turn n i) /\ class_of (nth i w z) = nth i (classes (S n)) 0%N).
    { intros i I. split.
      - change (clock (nth i w z)) with (clock (nth i w z)). rewrite <- (map_nth clock w z i), E. unfold clocks.
        change (clock z) with 0%N. rewrite (nth_indep _ 0%N (phase a t (turn n 0))) by (rewrite map_length, seq_length; lia).
        rewrite (map_nth (fun i => phase a t (turn n i)) (seq 0 (S n)) 0), seq_nth by lia. easy.
      - rewrite <- (map_nth class_of w z i), C. easy. }
    apply eq_true_iff_eq. rewrite existsb_exists. split.
    - intros (x & I & O). apply (In_nth w x z) in I as (i & I & <-). rewrite LW in I. destruct (A i I) as [A1 A2]. unfold over in O. rewrite A1, A2 in O.
      rewrite classes_nth in O by lia. apply andb_true_iff in O as [O1 O2]. unfold turn in O2. destruct (down p).
      + destruct (Nat.eqb_spec i 0) as [->|]; [now rewrite Nat.sub_0_r in O2|]. exfalso. revert O1. repeat match goal with |- context [?u =? ?v] => destruct (u =? v) end; easy.
      + destruct (Nat.eqb_spec i 0) as [->|]; [easy|]. destruct (Nat.eqb_spec i 1) as [->|]; [easy|]. destruct (Nat.eqb_spec i (S n - 1)) as [->|]; [now replace (S n - 1) with n in O2 by lia|].
        destruct (Nat.eqb_spec i (S n - 2)) as [->|]; easy.
    - intros O. set (i := if down p then 0 else n). assert (I : i < S n) by (unfold i; destruct (down p); lia). exists (nth i w z). split; [apply nth_In; lia|].
      destruct (A i I) as [A1 A2]. unfold over. rewrite A1, A2, classes_nth by lia. unfold i, turn. destruct (down p).
      + cbn [Nat.eqb]. now rewrite Nat.sub_0_r.
      + destruct (Nat.eqb_spec n 0); [lia|]. destruct (Nat.eqb_spec n 1); [lia|]. replace (S n - 1) with n by lia. now rewrite Nat.eqb_refl.
  Qed.

  (** Start words are paths of classes. *)
  Lemma starts_path ds : forall c ins, (fix path c ds := match ds with [] => c = 5%N | d :: ds => In d (order c) /\ path d ds end) c ds ->
    Forall2 (fun d i => In i (choices p d)) ds ins ->
    starts order (N.eqb 5) (choices p) (begins p) c (map (fun di => begins p (fst di) (snd di)) (combine ds ins)).
  Proof using Type. clear a_pos.
    induction ds as [|d ds IH]; intros c ins P F; inversion F; subst; cbn.
    - apply starts_end. now subst.
    - destruct P as [D P]. apply starts_more; try assumption. now apply IH.
  Qed.
  Lemma starts_begin ins : allowed p ins -> starts order (N.eqb 5) (choices p) (begins p) 0%N (begin_word p ins).
  Proof using Type. clear a_pos.
    intros [H F]. unfold begin_word. apply starts_path; [|exact F]. unfold classes. split; [now left|]. split; [now left|].
    destruct (length ins - 4) as [|k] eqn:K; [lia|]. cbn [repeat app]. split; [now left|]. clear.
    induction k; cbn [repeat app]; [repeat split; cbn; tauto|]. split; [now left|exact IHk].
  Qed.
End Clock.

(** * What a checked certificate proves *)
Definition steps (p : program) (n : nat) : nat := rate p * n - early p.
Lemma ghosts_ok p c specs post fuel : check_program p c specs post fuel = true -> forall ins, allowed p ins ->
  let (g, w) := runs p (steps p (length ins)) (begin_word p ins) in
  post g (hd_error w) (hd_error (rev w)) (map (fun f => law_run (snd f) (fst f, false) w) specs) = true.
Proof.
  intros C ins A. unfold check_program in C. rewrite !andb_true_iff in C. destruct C as [[P PE] C]. apply Nat.ltb_lt in P. apply Nat.leb_le in PE.
  pose proof (check_ok _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ C (begin_word p ins) (starts_begin p ins A) (steps p (length ins))) as H.
  assert (O := fun u => over_run p P ins u PE A). unfold runs in O.
  specialize (H (fun u U => eq_trans (O u) (proj2 (Nat.leb_gt _ _) U)) (eq_trans (O _) (proj2 (Nat.leb_le _ _) (le_n _)))).
  change (run _ _ _ _ _ _ (steps p (length ins)) _ _) with (runs p (steps p (length ins)) (begin_word p ins)) in H.
  destruct (runs p (steps p (length ins)) (begin_word p ins)) as [g w]. unfold spec, holds in H.
  assert (E : forall w f l qs, fold_left (end_next specs) w ((f, l), qs) =
    ((match f with None => hd_error w | _ => f end, match w with [] => l | _ => hd_error (rev w) end), fold_left (fun q x => laws_next (map snd specs) q x) w qs)).
  { clear. induction w as [|x w IH]; intros f l qs; [now destruct f|]. cbn [fold_left]. unfold end_next at 2. cbn [fst snd]. rewrite IH. f_equal. f_equal; [now destruct f|].
    cbn [rev]. destruct w as [|z w]; [easy|]. cbn [rev]. destruct (rev w); easy. }
  rewrite E in H. cbn [fst snd] in H. rewrite laws_run in H by now rewrite !map_length.
  replace (map (fun f => law_run (snd f) (fst f, false) w) specs) with (map (fun fq => law_run (fst fq) (snd fq) w) (combine (map snd specs) (map (fun s => (fst s, false)) specs))).
  - destruct w; exact H.
  - clear. induction specs as [|f s IH]; cbn; [easy|]. now f_equal.
Qed.

(** [post] gets the globals, the bits at the first and at the last position, and for each law in [specs] the carry and whether there is a remainder:
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
(** What a law says of a word of this length, with these inputs. *)
Definition sum_of (f : law) (w : list plain) (ins : list N) : Z := (sum1 (base f) (map snd w) + sum1 (entered f) ins + extra f w)%Z.
Theorem program_ok p c specs post fuel :
  check_program p c specs (fun g f l => post g (option_map bits f) (option_map bits l)) fuel = true -> forall ins, allowed p ins ->
  let (g, w) := plain_run p (steps p (length ins)) ins in
  length w = length ins /\
  exists qs, Forall2 (fun f q => reads_as (length ins) (fst f + sum_of (snd f) w ins) q) specs qs /\
    post g (option_map snd (hd_error w)) (option_map snd (hd_error (rev w))) qs = true.
Proof.
  intros C ins A. pose proof (ghosts_ok _ _ _ _ _ C ins A) as H. rewrite strip_run.
  pose proof (input_run p (steps p (length ins)) (begin_word p ins)) as IN. pose proof (runs_length p (steps p (length ins)) (begin_word p ins)) as LN.
  destruct (runs p (steps p (length ins)) (begin_word p ins)) as [g w]. cbn [fst snd] in *. destruct A as [A _]. rewrite begin_length in LN by exact A.
  rewrite map_length. split; [exact LN|]. exists (map (fun f => law_run (snd f) (fst f, false) w) specs). split.
  - assert (IN' : map input w = ins).
    { rewrite IN. unfold begin_word. rewrite map_map. unfold begins, input. cbn [fst snd]. clear - A. pose proof (classes_length _ A) as L. revert L.
      generalize (classes (length ins)) as ds. generalize ins. clear. induction ins as [|i ins IH]; intros [|d ds] L; cbn in *; try easy. f_equal. apply IH. lia. }
    clear H C. induction specs as [|f fs IH]; cbn [map]; constructor; [|exact IH].
    destruct (law_run_ok (snd f) w (fst f, false)) as (r & E & B & S). exists r. rewrite total_sum in E. cbn [fst snd] in *. rewrite IN', LN in *.
    assert (MB : map snd (map strip w) = map bits w) by (rewrite map_map; easy). unfold sum_of, plain in *. rewrite MB. split; [lia|]. split; [lia|]. rewrite S. tauto.
  - rewrite <- map_rev. assert (O : forall v, option_map snd (hd_error (map strip v)) = option_map bits (hd_error v)) by (intros [|]; easy). now rewrite !O.
Qed.

(** * The run, position by position: to compare with rules of another form *)
Definition class_at (n i : nat) : N := if i =? 0 then 1%N else if i =? 1 then 2%N else if i =? n - 1 then 5%N else if i =? n - 2 then 4%N else 3%N.
Definition at_position (p : program) (t : nat) (ins : list N) (i : nat) : N := snd (nth i (snd (plain_run p t ins)) (0, 0)%N).

Lemma step_nth {A M} (none : M) left right (make : M -> A -> M -> A) d w : forall i m, i < length w ->
  nth i (step none left right make m w) d =
  make (match i with O => m | S j => right (nth j w d) end) (nth i w d) (if S i =? length w then none else left (nth (S i) w d)).
Proof.
  induction w as [|x w IH]; intros i m L; [cbn in L; lia|]. destruct i as [|i]; cbn [step nth].
  - f_equal. destruct w; easy.
  - cbn in L. rewrite IH by lia. f_equal; destruct i; easy.
Qed.
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
