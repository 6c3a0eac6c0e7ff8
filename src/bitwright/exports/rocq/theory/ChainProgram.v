(** Chain programs as rules on bit masks, the clock, certificates (windows, laws and verdicts), and their check. *)
From Coq Require Import List Bool ZArith NArith Lia Arith FMapPositive.
From Bitwright Require Import Reach Chain.
Import ListNotations.

(** * Programs *)
(** The classes of positions are 1 (first), 2 (second), 3 (middle), 4 (last but one) and 5 (last); 0 stands for the start. *)
Definition order (c : N) : list N := match c with 0 => [1] | 1 => [2] | 2 => [3] | 3 => [3; 4] | 4 => [5] | _ => [] end%N.
Definition classes (n : nat) : list N := (1 :: 2 :: repeat 3 (n - 4) ++ [4; 5])%N.

(** If the bits of a letter in [mask] are [value], writes these bits to the left, here and to the right, and these globals. *)
Record rule := Rule { mask : N; value : N; to_left : N; here : N; to_right : N; to_globals : N }.
Definition sends (f : rule -> N) (rs : list rule) (x : N) : N :=
  fold_right (fun r a => if N.eqb (N.land x (mask r)) (value r) then N.lor (f r) a else a) 0%N rs.

Record program := Program {
  rules : N -> list rule;          (* of a class *)
  global_rules : list rule;        (* rules from globals to globals, which use [here] *)
  free : N -> list N;              (* the input bits at a position of a class *)
  start_bits : N -> N; start_globals : N;
  delay : nat;                     (* steps before the clock starts *)
  sweeps : list (bool * nat);      (* sweeps through all positions: whether upwards, and the steps at each *)
  early : nat;                     (* steps by which the run ends before its last sweep *)
  fixed : nat;                     (* without sweeps, the number of steps *)
  halting : option (N * N) }.      (* the bit that ends a run: 0 and a global, or a class and a bit there *)

(** All inputs at a position with the free bits ks, and the input with given values of these bits. *)
Fixpoint all_choices (ks : list N) : list N := match ks with [] => [0%N] | k :: ks => let l := all_choices ks in l ++ map (N.lor (2 ^ k)) l end.
Fixpoint pick (b : N -> bool) (ks : list N) : N := match ks with [] => 0%N | k :: ks => if b k then N.lor (2 ^ k) (pick b ks) else pick b ks end.
Lemma pick_in b ks : In (pick b ks) (all_choices ks).
Proof. induction ks as [|k ks IH]; cbn; [now left|]. apply in_or_app. destruct (b k); [right; now apply in_map|now left]. Qed.
Lemma pick_bit b ks k : N.testbit (pick b ks) k = existsb (N.eqb k) ks && b k.
Proof.
  induction ks as [|h ks IH]; cbn [pick existsb]; [apply N.bits_0|]. destruct (N.eqb_spec k h) as [->|D]; cbn [orb].
  - destruct (b h) eqn:B; [|rewrite IH; destruct (existsb (N.eqb h) ks); cbn; congruence]. now rewrite N.lor_spec, N.pow2_bits_true.
  - destruct (b h); [|exact IH]. now rewrite N.lor_spec, N.pow2_bits_false, IH by congruence.
Qed.
Definition choices (p : program) (c : N) : list N := all_choices (free p c).

(** The actual run: a word of letters with their classes, and the globals. *)
Section Plain.
  Variable p : program.
  Definition plain : Type := N * N.  (* class and bits *)
  Definition plain_left (x : plain) : N := sends to_left (rules p (fst x)) (snd x).
  Definition plain_right (x : plain) : N := sends to_right (rules p (fst x)) (snd x).
  Definition plain_make (m : N) (x : plain) (m' : N) : plain := (fst x, N.lor m (N.lor (sends here (rules p (fst x)) (snd x)) m')).
  Definition gbegin (g : N) : N := sends here (global_rules p) g.
  Definition plain_gadd (g : N) (x : plain) : N := N.lor g (sends to_globals (rules p (fst x)) (snd x)).
  Definition plain_word (ins : list N) : list plain := map (fun di => (fst di, N.lor (start_bits p (fst di)) (snd di))) (combine (classes (length ins)) ins).
  (** The globals and the word after t steps. *)
  Definition plain_run (t : nat) (ins : list N) : N * list plain :=
    run 0%N plain_left plain_right plain_make gbegin plain_gadd t (start_globals p) (plain_word ins).
  (** Inputs, as the bits to turn on at each position. *)
  Definition allowed (ins : list N) : Prop := 5 <= length ins /\ Forall2 (fun d i => In i (choices p d)) (classes (length ins)) ins.
End Plain.

(** The clock of a letter is [base] before a sweep and increases by one at each of its steps, and likewise for the next sweep, which begins where
    the previous one ended. These are its value after a step, and whether it moves to the next higher (or lower) position. *)
Definition far (up : bool) : N := if up then 5%N else 1%N.
Fixpoint tick (sw : list (bool * nat)) (base v c : N) (started : bool) : N :=
  match sw with
  | [] => v
  | (up, r) :: rest =>
      let last := (base + N.of_nat r)%N in
      if N.eqb v base then if started then (base + 1)%N else base
      else if N.ltb v last then (v + 1)%N
      else if N.eqb v last then if N.eqb c (far up) && match rest with [] => false | _ => true end then (last + 2)%N else (last + 1)%N
      else tick rest (last + 1) v c started
  end.
Fixpoint goes (sw : list (bool * nat)) (base v c : N) (above : bool) : bool :=
  match sw with
  | [] => false
  | (up, r) :: rest =>
      let last := (base + N.of_nat r)%N in
      if N.leb v last then N.eqb v last && Bool.eqb up above && negb (N.eqb c (far up)) else goes rest (last + 1) v c above
  end.
(** The value after all sweeps, and the class of the position where the last sweep ends. *)
Definition ends (sw : list (bool * nat)) (base : N) : N := fold_left (fun b ur => (b + N.of_nat (snd ur) + 1)%N) sw base.
Definition last_sweep (sw : list (bool * nat)) : bool * nat := last sw (true, 0).
(** Before the first sweep, only the clock at its first position runs, from 0 to delay - 1. *)
Definition wait (p : program) : N := N.of_nat (delay p).
Definition begins_at (p : program) (c : N) : bool := match sweeps p with [] => false | (up, _) :: _ => N.eqb c (far (negb up)) end.
Definition clock_begins (p : program) (c : N) : N := if begins_at p c then if N.eqb (wait p) 0 then 1%N else 0%N else wait p.
Definition clock_after (p : program) (v c : N) (started : bool) : N :=
  if N.ltb v (wait p) then if N.eqb (v + 1) (wait p) then (v + 2)%N else (v + 1)%N else tick (sweeps p) (wait p) v c started.
Definition clock_goes (p : program) (v c : N) (above : bool) : bool := negb (N.ltb v (wait p)) && goes (sweeps p) (wait p) v c above.
(** Every sweep takes at least one step and begins where its predecessor ended. *)
Fixpoint alternate (u : bool) (sw : list (bool * nat)) : bool := match sw with [] => true | (up, r) :: sw => Bool.eqb u up && (0 <? r) && alternate (negb up) sw end.
Definition timed (p : program) : bool :=
  match sweeps p with
  | [] => delay p =? 0
  | _ => alternate (fst (hd (true, 0) (sweeps p))) (sweeps p) && (early p <=? snd (last_sweep (sweeps p)))
  end.

(** The run with ghost state. A letter consists of a class, a clock, an input and bits. Without sweeps, the globals contain the number of steps so far. *)
Definition letter : Type := N * (N * (N * N)).
Definition class_of (x : letter) : N := fst x.
Definition clock (x : letter) : N := fst (snd x).
Definition input (x : letter) : N := fst (snd (snd x)).
Definition bits (x : letter) : N := snd (snd (snd x)).
Definition strip (x : letter) : plain := (class_of x, bits x).
Definition global : Type := N * N.
Definition over (p : program) (x : letter) : bool :=
  match sweeps p with [] => false | _ => N.eqb (class_of x) (far (fst (last_sweep (sweeps p)))) && N.leb (ends (sweeps p) (wait p) - N.of_nat (early p)) (clock x) end.
Definition halts (p : program) (x : plain) : bool := match halting p with Some (c, k) => N.eqb (fst x) c && N.testbit (snd x) k | None => false end.
Definition globals_halt (p : program) (g : N) : bool := match halting p with Some (c, k) => N.eqb c 0 && N.testbit g k | None => false end.
Definition halted (p : program) (gw : N * list plain) : bool := globals_halt p (fst gw) || existsb (halts p) (snd gw).

Section Run.
  Variable p : program.
  Definition message : Type := N * bool.
  Definition nothing : message := (0%N, false).
  Definition send_left (x : letter) : message := (plain_left p (strip x), clock_goes p (clock x) (class_of x) false).
  Definition send_right (x : letter) : message := (plain_right p (strip x), clock_goes p (clock x) (class_of x) true).
  Definition make (m : message) (x : letter) (m' : message) : letter :=
    (class_of x, (clock_after p (clock x) (class_of x) (snd m || snd m'), (input x, snd (plain_make p (fst m) (strip x) (fst m'))))).
  Definition gbegins (g : global) : global := (gbegin p (fst g), match sweeps p with [] => snd g + 1 | _ => 0 end)%N.
  Definition gadd (g : global) (x : letter) : global := (plain_gadd p (fst g) (strip x), snd g).
  Definition stops (x : letter) : bool := over p x || halts p (strip x).
  Definition gstops (g : global) : bool := globals_halt p (fst g) || match sweeps p with [] => N.leb (N.of_nat (fixed p)) (snd g) | _ => false end.
  Definition runs (t : nat) (w : list letter) : global * list letter := run nothing send_left send_right make gbegins gadd t (start_globals p, 0%N) w.
  Definition begins (d i : N) : letter := (d, (clock_begins p d, (i, N.lor (start_bits p d) i))).
  Definition begin_word (ins : list N) : list letter := map (fun di => begins (fst di) (snd di)) (combine (classes (length ins)) ins).

  (** The ghost state does not affect the run, and the input does not change. *)
  Lemma strip_step w : forall m, map strip (step nothing send_left send_right make m w) = step 0%N (plain_left p) (plain_right p) (plain_make p) (fst m) (map strip w).
  Proof. induction w as [|x w IH]; intros m; cbn [step map]; [easy|]. rewrite IH. f_equal. destruct w; easy. Qed.
  Lemma strip_run t ins : plain_run p t ins = (fst (fst (runs t (begin_word ins))), map strip (snd (runs t (begin_word ins)))).
  Proof.
    unfold runs, plain_run. induction t as [|t IH].
    - cbn [run fst snd]. f_equal. unfold plain_word, begin_word. now rewrite map_map.
    - cbn [run]. rewrite IH. destruct (run nothing _ _ _ _ _ t _ _) as [g w]. cbn [fst snd]. rewrite strip_step. apply f_equal2; [|reflexivity].
      unfold gstep. clear IH. change (gbegin p (fst g)) with (fst (gbegins g)). generalize (gbegins g). induction w as [|x w IHw]; intros h; cbn; [easy|]. now rewrite <- IHw.
  Qed.
  Lemma input_step w : forall m, map input (step nothing send_left send_right make m w) = map input w.
  Proof. induction w as [|x w IH]; intros m; cbn [step map]; [easy|]. now rewrite IH. Qed.
  Lemma input_run t w : map input (snd (runs t w)) = map input w.
  Proof. unfold runs. induction t as [|t IH]; [easy|]. cbn [run]. destruct (run nothing _ _ _ _ _ t _ _) as [g v]. cbn [snd] in *. now rewrite input_step. Qed.
End Run.

(** * Laws *)
(** The weights of the bits and of the inputs, and additional weights for the bits at the first and the last position. *)
Definition weights : Type := list (N * Z).  (* a bit and its weight *)
Record law := Law { base : weights; entered : weights; at_first : weights; at_last : weights }.
Definition weigh1 (f : weights) (x : N) : Z := fold_right (fun kw a => if N.testbit x (fst kw) then (snd kw + a)%Z else a) 0%Z f.
Definition more (f : law) (c x : N) : Z := ((if N.eqb c 1 then weigh1 (at_first f) x else 0) + (if N.eqb c 5 then weigh1 (at_last f) x else 0))%Z.
Definition weigh (f : law) (x : letter) : Z := (weigh1 (base f) (bits x) + weigh1 (entered f) (input x) + more f (class_of x) (bits x))%Z.
Definition law_state : Type := Z * bool.
Definition law_next (f : law) (q : law_state) (x : letter) : law_state :=
  let v := (fst q + weigh f x)%Z in (Z.div2 v, snd q || Z.odd v).
Definition verdict (q : law_state) : Z := if Z.ltb (fst q) 0 then (-1)%Z else if Z.eqb (fst q) 0 && negb (snd q) then 0%Z else 1%Z.
Definition laws_next (fs : list law) (qs : list law_state) (x : letter) : list law_state := map (fun fq => law_next (fst fq) (snd fq) x) (combine fs qs).

(** The state of a law after a word, read from the lowest position up. *)
Fixpoint total (f : law) (w : list letter) : Z := match w with [] => 0 | x :: w => weigh f x + 2 * total f w end.
Definition law_run (f : law) (q : law_state) (w : list letter) : law_state := fold_left (fun q x => law_next f q x) w q.
Lemma law_run_ok f w : forall q, exists r, (fst q + total f w = 2 ^ Z.of_nat (length w) * fst (law_run f q w) + r /\ 0 <= r < 2 ^ Z.of_nat (length w) /\
  (snd (law_run f q w) = false <-> snd q = false /\ r = 0))%Z.
Proof.
  induction w as [|x w IH]; intros q.
  - exists 0%Z. unfold law_run. cbn [fold_left total length]. change (2 ^ Z.of_nat 0)%Z with 1%Z. split; [lia|]. split; [lia|tauto].
  - destruct (IH (law_next f q x)) as (r & E & B & S). cbn [total length]. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia.
    change (law_run f q (x :: w)) with (law_run f (law_next f q x) w).
    set (v := (fst q + weigh f x)%Z) in *. pose proof (Z.div2_odd v) as O. unfold law_next at 1 in E. fold v in E. cbn [fst] in E.
    exists (2 * r + Z.b2z (Z.odd v))%Z. assert (V : (0 <= Z.b2z (Z.odd v) <= 1)%Z) by (destruct (Z.odd v); cbn; lia).
    split; [|split].
    + assert (D : (fst q + weigh f x = v)%Z) by easy. clearbody v. set (e := fst (law_run f (law_next f q x) w)) in *. clearbody e. nia.
    + lia.
    + rewrite S. unfold law_next at 1. fold v. cbn [snd]. rewrite orb_false_iff. destruct (Z.odd v); cbn [Z.b2z]; split; intros H; intuition (try discriminate; try lia).
Qed.
Lemma laws_run fs w : forall qs, length qs = length fs ->
  fold_left (fun q x => laws_next fs q x) w qs = map (fun fq => law_run (fst fq) (snd fq) w) (combine fs qs).
Proof.
  induction w as [|x w IH]; intros qs L.
  - cbn. revert qs L. induction fs as [|f fs IHf]; intros [|q qs] L; cbn in *; try easy. f_equal. apply IHf. lia.
  - cbn [fold_left]. rewrite IH by (unfold laws_next; rewrite map_length, combine_length; lia).
    unfold laws_next. revert qs L. clear. induction fs as [|f fs IHf]; intros [|q qs] L; cbn in *; try easy. f_equal. apply IHf. lia.
Qed.

(** The sum of a law as a number, from the number on each track. *)
Fixpoint number (k : N) (w : list N) : Z := match w with [] => 0 | x :: w => Z.b2z (N.testbit x k) + 2 * number k w end.
Definition sum1 (f : weights) (w : list N) : Z := fold_right (fun kw a => (snd kw * number (fst kw) w + a)%Z) 0%Z f.
Lemma sum1_cons f x w : sum1 f (x :: w) = (weigh1 f x + 2 * sum1 f w)%Z.
Proof.
  induction f as [|[k v] f IH]; [easy|]. change (sum1 ((k, v) :: f) (x :: w)) with (v * number k (x :: w) + sum1 f (x :: w))%Z.
  change (sum1 ((k, v) :: f) w) with (v * number k w + sum1 f w)%Z. change (weigh1 ((k, v) :: f) x) with (if N.testbit x k then v + weigh1 f x else weigh1 f x)%Z.
  rewrite IH. cbn [number]. destruct (N.testbit x k); cbn [Z.b2z]; lia.
Qed.
Fixpoint extra (f : law) (w : list plain) : Z := match w with [] => 0 | x :: w => more f (fst x) (snd x) + 2 * extra f w end.
Lemma total_sum f w : total f w = (sum1 (base f) (map bits w) + sum1 (entered f) (map input w) + extra f (map strip w))%Z.
Proof.
  induction w as [|x w IH]; cbn [map total extra].
  - assert (E : forall g, sum1 g [] = 0%Z) by (induction g as [|[k v] g IHg]; [easy|]; change (sum1 ((k, v) :: g) []) with (v * 0 + sum1 g [])%Z; lia). now rewrite !E.
  - rewrite !sum1_cons, IH. unfold weigh, strip, class_of. cbn [fst snd]. lia.
Qed.
(** Additional weights exist only at the two ends. *)
Lemma extra_app f u v : extra f (u ++ v) = (extra f u + 2 ^ Z.of_nat (length u) * extra f v)%Z.
Proof.
  induction u as [|x u IH]; cbn [app extra length]; [change (2 ^ Z.of_nat 0)%Z with 1%Z; lia|].
  rewrite IH, Nat2Z.inj_succ, Z.pow_succ_r by lia. lia.
Qed.
Lemma extra_none f u : Forall (fun x => fst x <> 1%N /\ fst x <> 5%N) u -> extra f u = 0%Z.
Proof.
  induction 1 as [|x u [A B] H IH]; cbn [extra]; [easy|]. rewrite IH. unfold more. apply N.eqb_neq in A, B. now rewrite A, B.
Qed.
Lemma extra_ends f x u z : fst x = 1%N -> Forall (fun y => fst y <> 1%N /\ fst y <> 5%N) u -> fst z = 5%N ->
  extra f (x :: u ++ [z]) = (weigh1 (at_first f) (snd x) + 2 ^ Z.of_nat (S (length u)) * weigh1 (at_last f) (snd z))%Z.
Proof.
  intros X U Y. cbn [extra]. rewrite extra_app, (extra_none f u U). cbn [extra]. unfold more. rewrite X, Y.
  change (N.eqb 1 1) with true. change (N.eqb 1 5) with false. change (N.eqb 5 1) with false. change (N.eqb 5 5) with true. cbv iota.
  unfold plain in *. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. ring.
Qed.
(** * Certificates *)
Record certificate := Certificate {
  global_values : list global;
  left_out : bool;                                     (* windows omit inputs *)
  windows : list ((global * option letter) * list letter);  (* for globals and a letter, or the start of the word: the letters that may follow *)
  laws : list ((Z * Z) * law);  (* a constant, a multiple of 2^length, and the weights *)
  verdicts : list (global * list Z) }.

Definition state : Type := option letter * list law_state.
Definition table : Type := PositiveMap.t (list letter).
Definition key (g : global) (x : option letter) : positive := hash (g, x) 1%positive.
Definition with_input (x : letter) (i : N) : letter := (class_of x, (clock x, (i, bits x))).
Definition build (p : program) (c : certificate) : table :=
  fold_left (fun t w => PositiveMap.add (key (fst (fst w)) (snd (fst w)))
    (if left_out c then flat_map (fun x => map (with_input x) (choices p (class_of x))) (snd w) else snd w) t) (windows c) (PositiveMap.empty _).

Section Check.
  Variables (p : program) (c : certificate) (specs : list (Z * law)) (post : N -> option letter -> option letter -> list law_state -> bool) (fuel : nat).
  Definition letters (t : table) (g : global) (q : state) : list letter :=
    match PositiveMap.find (key g (fst q)) t with Some l => l | None => [] end.
  Definition next (q : state) (x : letter) : state := (Some (if left_out c then with_input x 0%N else x), laws_next (map snd (laws c)) (snd q) x).
  Definition signs (qs : list law_state) : list Z :=
    map (fun fq => verdict (snd (fst (fst fq)) + fst (snd fq), snd (snd fq))%Z) (combine (laws c) qs).
  Definition accepts (g : global) (q : state) : bool :=
    match fst q with Some x => N.eqb (class_of x) 5 && isin (g, signs (snd q)) (verdicts c) | None => false end.
  Definition constants : list law_state := map (fun f => (fst (fst f), false)) (laws c).
  Definition end_state : Type := (option letter * option letter) * list law_state.
  Definition end_next (s : end_state) (x : letter) : end_state :=
    ((match fst (fst s) with None => Some x | f => f end, Some x), laws_next (map snd specs) (snd s) x).
  Definition holds (g : global) (s : end_state) : bool := post (fst g) (fst (fst s)) (snd (fst s)) (snd s).
  Definition check_program : bool :=
    let t := build p c in
    timed p &&
    check nothing (send_left p) (send_right p) (make p) (gbegins p) (gadd p) 0%N order (N.eqb 5) (choices p) (begins p) (start_globals p, 0%N)
      (None, constants) (letters t) next accepts (gstops p) (stops p) ((None, None), map (fun s => (fst s, false)) specs) end_next holds (global_values c) fuel.
End Check.
