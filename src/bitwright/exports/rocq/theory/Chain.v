(** Words of any length, a local step, and an invariant given by an automaton, which three finite searches check. *)
From Coq Require Import List Bool Arith Lia FMapPositive.
From Bitwright Require Import Reach.
Import ListNotations.

Section Chain.
  Context {A M G Q T K I : Type} {FA : Finite A} {FM : Finite M} {FG : Finite G} {FQ : Finite Q} {FT : Finite T} {FK : Finite K}.
  (** The program: what a letter sends to the left and right, the new letter, and what a letter adds to the globals. *)
  Variables (none : M) (left right : A -> M) (make : M -> A -> M -> A) (gbegin : G -> G) (gadd : G -> A -> G).
  Definition from_right (w : list A) : M := match w with [] => none | z :: _ => left z end.
  Fixpoint step (m : M) (w : list A) : list A :=
    match w with [] => [] | x :: w => make m x (from_right w) :: step (right x) w end.
  Definition gstep (g : G) (w : list A) : G := fold_left gadd w (gbegin g).
  Fixpoint run (t : nat) (g : G) (w : list A) : G * list A :=
    match t with O => (g, w) | S t => let (g, w) := run t g w in (gstep g w, step none w) end.

  (** Start words: a path of classes with an input at each position. *)
  Variables (c0 : K) (order : K -> list K) (last : K -> bool) (inputs : K -> list I) (begins : K -> I -> A) (g0 : G).
  Inductive starts : K -> list A -> Prop :=
  | starts_end c : last c = true -> starts c []
  | starts_more c d i w : In d (order c) -> In i (inputs d) -> starts d w -> starts c (begins d i :: w).

  (** The invariant: an automaton for each value of the globals, in which [letters g q] are the letters that may follow. *)
  Variables (q0 : Q) (letters : G -> Q -> list A) (next : Q -> A -> Q) (accepts : G -> Q -> bool).
  Definition move (g : G) (q : Q) (x : A) : option Q := if isin x (letters g q) then Some (next q x) else None.
  Definition move' (g : G) (q : option Q) (x : A) : option Q := match q with Some q => move g q x | None => None end.
  Definition reads (g : G) (q : option Q) (w : list A) : option Q := fold_left (move' g) w q.
  Definition ok (g : G) (q : option Q) : bool := match q with Some q => accepts g q | None => false end.
  Definition inv (g : G) (w : list A) : Prop := ok g (reads g (Some q0) w) = true.

  (** The globals or a letter end a run. The postcondition is an automaton without forbidden letters. *)
  Variables (gstop : G -> bool) (stop : A -> bool) (t0 : T) (tnext : T -> A -> T) (holds : G -> T -> bool).
  Definition stopped (gw : G * list A) : bool := gstop (fst gw) || existsb stop (snd gw).
  Definition spec (g : G) (w : list A) : Prop := holds g (fold_left tnext w t0) = true.

  Variables (globals : list G) (fuel : nat).

  Lemma reads_none g w : reads g None w = None.
  Proof. induction w; cbn; easy. Qed.
  Lemma reads_cons g q x w : reads g (Some q) (x :: w) = reads g (move g q x) w.
  Proof. easy. Qed.
  Lemma move_some g q x q' : move g q x = Some q' -> In x (letters g q) /\ q' = next q x.
  Proof. unfold move. destruct (isin x _) eqn:E; [|easy]. intros H. injection H as <-. split; [now apply isin_ok|easy]. Qed.

  (** ** Start *)
  Definition start_succ (s : K * option Q) : list (K * option Q) :=
    flat_map (fun d => map (fun i => (d, move' g0 (snd s) (begins d i))) (inputs d)) (order (fst s)).
  Definition check_start : bool := negb (last c0) && check_reach [(c0, Some q0)] start_succ
    (fun s => if last (fst s) then ok g0 (snd s) else match snd s with None => false | _ => true end) fuel.

  Lemma start_ok : check_start = true -> forall w, starts c0 w -> inv g0 w.
  Proof.
    unfold check_start. intros E w W. apply andb_true_iff in E as [_ E]. pose proof (check_reach_ok _ _ _ _ E) as H. clear E.
    unfold inv. assert (R : reach [(c0, Some q0)] start_succ (c0, Some q0)) by (apply reach_init; now left).
    enough (X : forall c w, starts c w -> forall q, reach [(c0, Some q0)] start_succ (c, q) -> ok g0 (reads g0 q w) = true) by now apply (X c0).
    clear w W R. intros c w W'. induction W' as [c L|c d i w D J W' IH]; intros q R.
    - specialize (H _ R). cbn in H. now rewrite L in H.
    - cbn. apply IH. eapply reach_next; [exact R|]. unfold start_succ. apply in_flat_map. exists d. split; [easy|].
      apply in_map_iff. exists i. easy.
  Qed.

  (** ** Step: q is the state after reading the word up to x, r the state after reading its successor up to the letter before x, and a are the globals so far. *)
  Definition product : Type := (M * A) * G * (Q * option Q).
  Definition going (l : list A) : list A := filter (fun x => negb (stop x)) l.
  Definition step_from (a : G) (q : Q) (m : M) (r : A -> option Q) (z : A) : product := ((m, z), gadd a z, (next q z, r z)).
  Definition step_inits (g h : G) : list product := map (step_from (gbegin g) q0 none (fun _ => Some q0)) (going (letters g q0)).
  Definition step_succ (g h : G) (s : product) : list product :=
    let '((m, x), a, (q, r)) := s in map (step_from a q (right x) (fun z => move' h r (make m x (left z)))) (going (letters g q)).
  Definition step_good (g h : G) (s : product) : bool :=
    let '((m, x), a, (q, r)) := s in if accepts g q && eqb a h then ok h (move' h r (make m x none)) else true.
  (** The globals that may follow g, found by a search without the successor. *)
  Definition globals_from (a : G) (q : Q) (z : A) : G * Q := (gadd a z, next q z).
  Definition globals_inits (g : G) : list (G * Q) := map (globals_from (gbegin g) q0) (going (letters g q0)).
  Definition globals_succ (g : G) (s : G * Q) : list (G * Q) := map (globals_from (fst s) (snd s)) (going (letters g (snd s))).
  Definition globals_after (g : G) (t : table) : list G :=
    fold_left (fun hs (kb : PositiveMap.key * list (G * Q)) => fold_left (fun hs s => if accepts g (snd s) && negb (isin (fst s) hs) then fst s :: hs else hs) (snd kb) hs) (PositiveMap.elements t) [].
  Definition check_step_from (g : G) : bool :=
    let t := found (globals_inits g) (globals_succ g) fuel in
    let hs := globals_after g t in
    negb (accepts g q0) && closed (globals_inits g) (globals_succ g) (fun s => if accepts g (snd s) then isin (fst s) hs else true) t &&
    forallb (fun h => isin h globals && check_reach (step_inits g h) (step_succ g h) (step_good g h) fuel) hs.
  Definition check_step : bool := forallb (fun g => gstop g || check_step_from g) globals.

  Lemma going_in x l : In x l -> stop x = false -> In x (going l).
  Proof. intros H E. apply filter_In. now rewrite E. Qed.
  Lemma step_reach g h w : existsb stop w = false -> forall m x a q r q',
    reach (step_inits g h) (step_succ g h) ((m, x), a, (q, r)) ->
    reads g (Some q) w = Some q' ->
    exists m' x' r', reach (step_inits g h) (step_succ g h) ((m', x'), fold_left gadd w a, (q', r')) /\
      reads h r (step m (x :: w)) = move' h r' (make m' x' none).
  Proof.
    induction w as [|z w IH]; intros N m x a q r q' R E.
    - cbn in E. injection E as <-. exists m, x, r. split; easy.
    - cbn in N. apply orb_false_iff in N as [N N']. rewrite reads_cons in E. destruct (move g q z) as [qz|] eqn:D; [|now rewrite reads_none in E]. apply move_some in D as [D ->].
      destruct (IH N' (right x) z (gadd a z) (next q z) (move' h r (make m x (left z))) q') as (m' & x' & r' & R' & E').
      + eapply reach_next; [exact R|]. cbn. apply in_map_iff. exists z. split; [reflexivity|now apply going_in].
      + exact E.
      + exists m', x', r'. split; [exact R'|exact E'].
  Qed.
  Lemma globals_reach g w : existsb stop w = false -> forall a q q',
    reach (globals_inits g) (globals_succ g) (a, q) -> reads g (Some q) w = Some q' -> reach (globals_inits g) (globals_succ g) (fold_left gadd w a, q').
  Proof.
    induction w as [|z w IH]; intros N a q q' R E; [cbn in E; now injection E as <-|].
    cbn in N. apply orb_false_iff in N as [N N']. rewrite reads_cons in E. destruct (move g q z) as [qz|] eqn:D; [|now rewrite reads_none in E]. apply move_some in D as [D ->].
    apply (IH N' (gadd a z) (next q z) q'); [|exact E]. eapply reach_next; [exact R|]. apply in_map_iff. exists z. split; [reflexivity|now apply going_in].
  Qed.

  Lemma step_ok : check_step = true -> forall g w, In g globals -> inv g w -> stopped (g, w) = false ->
    In (gstep g w) globals /\ inv (gstep g w) (step none w).
  Proof.
    intros C g w IG V L. unfold stopped in L. cbn [fst snd] in L. apply orb_false_iff in L as [LG L].
    unfold check_step in C. rewrite forallb_forall in C. specialize (C g IG). rewrite LG in C. cbn [orb] in C. unfold check_step_from in C.
    rewrite !andb_true_iff in C. destruct C as [[N CG] C]. pose proof (closed_ok _ _ _ _ CG) as HG. clear CG. set (hs := globals_after g _) in *. clearbody hs. rewrite forallb_forall in C.
    unfold inv in V. destruct w as [|x w]; [cbn in V; now rewrite V in N|]. rewrite reads_cons in V.
    destruct (move g q0 x) as [q|] eqn:D; [|now rewrite reads_none in V]. apply move_some in D as [D ->].
    destruct (reads g (Some (next q0 x)) w) as [q'|] eqn:E; [|easy]. cbn in V. cbn in L. apply orb_false_iff in L as [L L'].
    assert (IN : In (gstep g (x :: w)) hs).
    { specialize (HG (gstep g (x :: w), q')). cbn [fst snd] in HG. rewrite V in HG. apply isin_ok, HG. apply (globals_reach g w L' (gadd (gbegin g) x) (next q0 x) q'); [|exact E].
      apply reach_init. unfold globals_inits. apply in_map_iff. exists x. split; [reflexivity|now apply going_in]. }
    specialize (C _ IN). apply andb_true_iff in C as [CI C]. split; [now apply isin_ok|]. set (h := gstep g (x :: w)) in *.
    pose proof (check_reach_ok _ _ _ _ C) as H.
    destruct (step_reach g h w L' none x (gadd (gbegin g) x) (next q0 x) (Some q0) q') as (m' & x' & r' & R & ES); [|exact E|].
    { apply reach_init. unfold step_inits. apply in_map_iff. exists x. split; [reflexivity|now apply going_in]. }
    specialize (H _ R). cbn in H. rewrite V in H. change (fold_left gadd w (gadd (gbegin g) x)) with h in H. rewrite eqb_refl in H. unfold inv. now rewrite ES.
  Qed.

  (** ** End: words of the invariant in which the run is over *)
  Definition end_succ (g : G) (s : Q * T * bool) : list (Q * T * bool) :=
    let '(q, t, over) := s in map (fun z => (next q z, tnext t z, over || stop z)) (letters g q).
  Definition end_good (g : G) (s : Q * T * bool) : bool := let '(q, t, over) := s in if accepts g q && over then holds g t else true.
  Definition check_end : bool := forallb (fun g => check_reach [(q0, t0, gstop g)] (end_succ g) (end_good g) fuel) globals.
  Lemma end_ok : check_end = true -> forall g w, In g globals -> inv g w -> stopped (g, w) = true -> spec g w.
  Proof.
    unfold check_end. intros C g w IG V P. rewrite forallb_forall in C. pose proof (check_reach_ok _ _ _ _ (C g IG)) as H. clear C.
    unfold inv in V. unfold spec.
    assert (R : reach [(q0, t0, gstop g)] (end_succ g) (q0, t0, gstop g)) by (apply reach_init; now left).
    unfold stopped in P. cbn [fst snd] in P.
    revert P V R. generalize q0 at 1 3 as q. generalize t0 at 2 3 as t. generalize (gstop g) at 1 3 as o.
    induction w as [|x w IH]; intros o t q P V R.
    - specialize (H _ R). cbn in *. rewrite orb_false_r in P. now rewrite P, V in H.
    - cbn in P. rewrite reads_cons in V. cbn.
      destruct (move g q x) as [q'|] eqn:D; [|now rewrite reads_none in V].
      apply move_some in D as [D ->]. apply (IH (o || stop x) (tnext t x) (next q x)); [now rewrite <- orb_assoc|exact V|].
      eapply reach_next; [exact R|]. cbn. apply in_map_iff. exists x. split; [reflexivity|exact D].
  Qed.

  (** * The theorem *)
  Definition check : bool := isin g0 globals && check_start && check_step && check_end.
  Theorem check_ok : check = true -> forall w, starts c0 w -> forall t,
    (forall u, u < t -> stopped (run u g0 w) = false) -> stopped (run t g0 w) = true ->
    let (g, v) := run t g0 w in spec g v.
  Proof.
    intros C w W t L P. unfold check in C. rewrite !andb_true_iff in C. destruct C as [[[CG CS] CT] CE].
    enough (X : In (fst (run t g0 w)) globals /\ inv (fst (run t g0 w)) (snd (run t g0 w))).
    { destruct (run t g0 w) as [g v]. apply end_ok; [assumption| | |assumption]; apply X. }
    clear P. induction t as [|t IH].
    - cbn. split; [now apply isin_ok|]. now apply start_ok.
    - destruct IH as [IG IV]; [intros; apply L; lia|]. specialize (L t (Nat.lt_succ_diag_r t)). cbn [run].
      destruct (run t g0 w) as [g v]. cbn [fst snd] in *. now apply step_ok.
  Qed.
End Chain.
