(** Chain programs as bit rules (Rules.v) at every length, with a proof that their runs are the same. *)
From Coq Require Import List ZArith NArith Bool Lia Arith String.
From Bitwright Require Rules Words Cover.
From Bitwright Require Import Reach Chain ChainProgram Sweeps Clock.
Import ListNotations.
Notation at_ := Words.at_. Notation flag := Words.flag. Notation name := Words.name.

Open Scope Z_scope.
Lemma number_map k (f : nat -> N) n : number k (map f (seq 0 n)) = Words.val n (fun i => N.testbit (f (i - 1)%nat) k).
Proof.
  assert (A : forall v x, number k (v ++ [x]) = number k v + 2 ^ Z.of_nat (List.length v) * Z.b2z (N.testbit x k)).
  { induction v as [|z v IH]; intros x; cbn [app number List.length]; [change (2 ^ Z.of_nat 0) with 1; lia|]. rewrite IH, Nat2Z.inj_succ, Z.pow_succ_r by lia. lia. }
  induction n as [|n IH]; [reflexivity|]. rewrite seq_S, map_app. cbn [map]. rewrite A, IH, map_length, seq_length. cbn [Words.val Nat.add].
  replace (S n - 1)%nat with n by lia. lia.
Qed.
Close Scope Z_scope.

(** A track: bit k of the letter at position i, counted from 0, is bit x[g * i + o]. *)
Definition track : Type := string * (nat * nat).
Definition place (t : track) (i : nat) : name := at_ (fst t) (fst (snd t) * i + snd (snd t)).

Section Bridge.
  Variables (p : program) (tracks : list track) (flags : list name).
  Definition numbered {T} (l : list T) : list (N * T) := combine (map N.of_nat (seq 0 (List.length l))) l.
  Definition among {T} (l : list T) (m : N) : list (N * T) := filter (fun kt => N.testbit m (fst kt)) (numbered l).
  Definition template_of (i : nat) (r : rule) : Rules.template name :=
    Rules.when_write (map (fun kt => (place (snd kt) i, N.testbit (value r) (fst kt))) (among tracks (mask r)))
      (map (fun kt => place (snd kt) i) (among tracks (here r)) ++ map (fun kt => place (snd kt) (i - 1)) (among tracks (to_left r)) ++
       map (fun kt => place (snd kt) (i + 1)) (among tracks (to_right r)) ++ map snd (among flags (to_globals r))).
  Definition global_template (r : rule) : Rules.template name :=
    Rules.when_write (map (fun kf => (snd kf, N.testbit (value r) (fst kf))) (among flags (mask r))) (map snd (among flags (here r))).
  Definition chain_rules (n : nat) : Rules.rules name :=
    flat_map (fun i => map (template_of i) (rules p (class_at n i))) (seq 0 n) ++ map global_template (global_rules p).

  (** All bits are distinct, masks contain only tracks, values are within their masks, and no rule writes before position 0. *)
  Fixpoint distinct {T} (apart : T -> T -> bool) (l : list T) : bool := match l with [] => true | x :: l => forallb (apart x) l && distinct apart l end.
  Definition apart (t u : track) : bool :=
    negb (String.eqb (fst t) (fst u)) ||
    (Nat.eqb (fst (snd t)) (fst (snd u)) && negb (Nat.eqb (snd (snd t) mod fst (snd t)) (snd (snd u) mod fst (snd t)))).
  Definition fits (k : nat) (m : N) : bool := N.ltb m (2 ^ N.of_nat k).
  Definition inside (r : rule) : bool := N.eqb (N.ldiff (value r) (mask r)) 0.
  Definition well_formed : bool :=
    distinct apart tracks && forallb (fun t => 0 <? fst (snd t)) tracks &&
    distinct (fun x y => negb (Words.name_eqb x y)) flags && forallb (fun x => forallb (fun t => negb (String.eqb (fst t) (fst x))) tracks) flags &&
    forallb (fun c => forallb (fun r => fits (List.length tracks) (mask r) && inside r && fits (List.length tracks) (here r) && fits (List.length tracks) (to_left r)
      && fits (List.length tracks) (to_right r)) (rules p c)) [1; 2; 3; 4; 5]%N &&
    forallb (fun r => N.eqb (to_left r) 0) (rules p 1) &&
    forallb (fun r => fits (List.length flags) (mask r) && inside r) (global_rules p).
  Hypothesis wf : well_formed = true.

  Definition bit_at (k : N) (i : nat) : name := place (nth (N.to_nat k) tracks (""%string, (1, 0))) i.
  Definition flag_at (k : N) : name := nth (N.to_nat k) flags (flag "").
  Notation T := (N.of_nat (List.length tracks)).
  Notation F := (N.of_nat (List.length flags)).

  Lemma numbered_in {X} (l : list X) d k t : In (k, t) (numbered l) <-> (k < N.of_nat (List.length l))%N /\ t = nth (N.to_nat k) l d.
  Proof.
    unfold numbered. enough (G : forall a k t, In (k, t) (combine (map N.of_nat (seq a (List.length l))) l) <-> (N.of_nat a <= k < N.of_nat (a + List.length l))%N /\ t = nth (N.to_nat k - a) l d).
    { rewrite G. rewrite Nat.sub_0_r. cbn [Nat.add]. intuition lia. }
    clear k t. induction l as [|x l IH]; intros a k t; cbn [List.length seq map combine In nth].
    - split; [easy|lia].
    - rewrite IH. split.
      + intros [E|(B & ->)]; [injection E as <- <-; split; [lia|]; now replace (N.to_nat (N.of_nat a) - a) with 0 by lia|].
        split; [lia|]. now replace (N.to_nat k - a) with (S (N.to_nat k - S a)) by lia.
      + intros (B & ->). destruct (N.eq_dec k (N.of_nat a)) as [->|D]; [left; now replace (N.to_nat (N.of_nat a) - a) with 0 by lia|].
        right. split; [lia|]. now replace (N.to_nat k - a) with (S (N.to_nat k - S a)) by lia.
  Qed.
  Lemma among_in {X} (l : list X) d m k t : In (k, t) (among l m) <-> (k < N.of_nat (List.length l))%N /\ N.testbit m k = true /\ t = nth (N.to_nat k) l d.
  Proof. unfold among. rewrite filter_In, (numbered_in l d). cbn [fst]. tauto. Qed.
  Lemma distinct_nth {X} (e : X -> X -> bool) d l j k : distinct e l = true -> j < k < List.length l -> e (nth j l d) (nth k l d) = true.
  Proof.
    revert j k. induction l as [|x l IH]; intros j k D L; cbn in L; [lia|]. cbn in D. apply andb_true_iff in D as [A D]. destruct k as [|k]; [lia|]. destruct j as [|j]; cbn [nth].
    - rewrite forallb_forall in A. apply A, nth_In. lia.
    - apply IH; [easy|lia].
  Qed.
  Ltac parts := pose proof wf as W; unfold well_formed in W; rewrite !andb_true_iff in W; destruct W as ((((((WT & WP) & WF) & WX) & WR) & WL) & WG).

  Lemma bit_inj j k i i' : (j < T)%N -> (k < T)%N -> bit_at j i = bit_at k i' -> j = k /\ i = i'.
  Proof.
    intros J K E. parts. clear WF WX WR WL WG.
    assert (P : forall k, (k < T)%N -> 0 < fst (snd (nth (N.to_nat k) tracks (""%string, (1, 0))))).
    { intros h H. rewrite forallb_forall in WP. apply Nat.ltb_lt, WP, nth_In. lia. }
    unfold bit_at, place, Words.at_ in E.
    assert (A : forall j k i i', (j < k)%N -> (k < T)%N -> (fst (nth (N.to_nat j) tracks (""%string, (1, 0))), [fst (snd (nth (N.to_nat j) tracks (""%string, (1, 0)))) * i + snd (snd (nth (N.to_nat j) tracks (""%string, (1, 0))))]) =
       (fst (nth (N.to_nat k) tracks (""%string, (1, 0))), [fst (snd (nth (N.to_nat k) tracks (""%string, (1, 0)))) * i' + snd (snd (nth (N.to_nat k) tracks (""%string, (1, 0))))]) -> False).
    { clear - WT P. intros j k i i' JK K E. pose proof (distinct_nth apart (""%string, (1, 0)) tracks (N.to_nat j) (N.to_nat k) WT ltac:(lia)) as A. pose proof (P j ltac:(lia)) as PJ.
      destruct (nth (N.to_nat j) tracks (""%string, (1, 0))) as (x & g & o), (nth (N.to_nat k) tracks (""%string, (1, 0))) as (y & g' & o'). cbn [fst snd] in *. injection E as -> E.
      unfold apart in A. cbn [fst snd] in A. rewrite String.eqb_refl in A. cbn in A. apply andb_true_iff in A as [A B]. apply Nat.eqb_eq in A as ->. apply negb_true_iff, Nat.eqb_neq in B. apply B.
      rewrite <- (Nat.mod_add o i g'), <- (Nat.mod_add o' i' g') by lia. replace (o + i * g') with (o' + i' * g') by nia. reflexivity. }
    destruct (N.lt_trichotomy j k) as [L|[->|L]]; [now apply (A j k i i') in E| |symmetry in E; now apply (A k j i' i) in E].
    split; [easy|]. injection E as E. specialize (P k K). nia.
  Qed.
  Lemma flag_inj j k : (j < F)%N -> (k < F)%N -> flag_at j = flag_at k -> j = k.
  Proof.
    intros J K E. parts. clear WT WP WX WR WL WG. unfold flag_at in E.
    assert (A : forall j k, (j < k)%N -> (k < F)%N -> nth (N.to_nat j) flags (flag "") <> nth (N.to_nat k) flags (flag "")).
    { intros a b AB B H. pose proof (distinct_nth _ (flag "") flags (N.to_nat a) (N.to_nat b) WF ltac:(lia)) as D. cbn beta in D. rewrite H in D.
      rewrite (proj2 (Words.name_eqb_ok _ _) eq_refl) in D. easy. }
    destruct (N.lt_trichotomy j k) as [L|[->|L]]; [now apply A in E|easy|symmetry in E; now apply A in E].
  Qed.
  Lemma flag_not_bit j k i : (j < F)%N -> (k < T)%N -> flag_at j <> bit_at k i.
  Proof.
    intros J K E. parts. rewrite forallb_forall in WX. specialize (WX (flag_at j) ltac:(apply nth_In; lia)). rewrite forallb_forall in WX.
    assert (KI : In (nth (N.to_nat k) tracks (""%string, (1, 0))) tracks) by (apply nth_In; lia). specialize (WX _ KI). rewrite E in WX. unfold bit_at, place, Words.at_ in WX. cbn [fst] in WX.
    rewrite String.eqb_refl in WX. easy.
  Qed.
  Lemma fits_bit n m k : fits n m = true -> N.testbit m k = true -> (k < N.of_nat n)%N.
  Proof.
    intros B H. apply N.ltb_lt in B. destruct (N.lt_ge_cases k (N.of_nat n)) as [L|L]; [exact L|].
    destruct (N.eq_dec m 0) as [->|Z]; [now rewrite N.bits_0 in H|]. apply N.log2_lt_pow2 in B; [|lia]. rewrite N.bits_above_log2 in H by lia. discriminate.
  Qed.
  Lemma class_range n i : (1 <= class_at n i <= 5)%N.
  Proof. unfold class_at. repeat match goal with |- context [?u =? ?v] => destruct (u =? v) end; lia. Qed.
  Lemma rule_wf c r : (1 <= c <= 5)%N -> In r (rules p c) -> fits (List.length tracks) (mask r) = true /\ inside r = true /\ (c = 1%N -> to_left r = 0%N).
  Proof.
    intros C I. parts. rewrite forallb_forall in WR. specialize (WR c).
    assert (IC : In c [1; 2; 3; 4; 5]%N) by (cbn; lia). specialize (WR IC). rewrite forallb_forall in WR. specialize (WR r I). rewrite !andb_true_iff in WR.
    split; [tauto|]. split; [tauto|]. intros ->. rewrite forallb_forall in WL. now apply N.eqb_eq, WL.
  Qed.

  (** Conditions on arbitrary lists of bits. *)
  Lemma matches_ok {X} (l : list X) d (s : Rules.state name) (at_k : X -> name) r x ws : fits (List.length l) (mask r) = true -> inside r = true ->
    (forall k, (k < N.of_nat (List.length l))%N -> s (at_k (nth (N.to_nat k) l d)) = N.testbit x k) ->
    Rules.matches s (Rules.when_write (map (fun kt => (at_k (snd kt), N.testbit (value r) (fst kt))) (among l (mask r))) ws) = N.eqb (N.land x (mask r)) (value r).
  Proof.
    intros B V S. apply N.eqb_eq in V. apply eq_true_iff_eq. unfold Rules.matches. cbn [Rules.cond]. rewrite forallb_forall, N.eqb_eq. split.
    - intros H. apply N.bits_inj. intros k. rewrite N.land_spec. destruct (N.testbit (mask r) k) eqn:M.
      + rewrite andb_true_r. assert (K := fits_bit _ _ _ B M). specialize (H (at_k (nth (N.to_nat k) l d), N.testbit (value r) k)). cbn [fst snd] in H.
        rewrite <- S by exact K. apply eqb_prop, H. apply in_map_iff. exists (k, nth (N.to_nat k) l d). split; [easy|]. now apply (among_in l d).
      + rewrite andb_false_r. symmetry. apply (f_equal (fun n => N.testbit n k)) in V. rewrite N.ldiff_spec, M, N.bits_0 in V. cbn in V. now rewrite andb_true_r in V.
    - intros E c I. apply in_map_iff in I as ((k & t) & <- & I). apply (among_in l d) in I as (K & M & ->). cbn [fst snd]. rewrite S by exact K. rewrite <- E, N.land_spec, M, andb_true_r. apply eqb_reflx.
  Qed.
  Lemma sends_bit f rs x k : N.testbit (sends f rs x) k = existsb (fun r => N.eqb (N.land x (mask r)) (value r) && N.testbit (f r) k) rs.
  Proof. induction rs as [|r rs IH]; cbn [sends fold_right existsb]; [apply N.bits_0|]. fold (sends f rs x). destruct (N.eqb _ _); cbn [andb orb]; [now rewrite N.lor_spec, IH|exact IH]. Qed.

  Lemma mem_places k j a m : (k < T)%N -> Rules.mem (bit_at k j) (map (fun kt => place (snd kt) a) (among tracks m)) = (a =? j) && N.testbit m k.
  Proof.
    intros K. apply eq_true_iff_eq. rewrite Rules.mem_In, in_map_iff, andb_true_iff, Nat.eqb_eq. split.
    - intros ((h & t) & E & I). apply (among_in tracks (""%string, (1, 0))) in I as (H & M & ->). cbn [snd] in E. change (bit_at h a = bit_at k j) in E. apply bit_inj in E as [-> ->]; easy.
    - intros (-> & M). exists (k, nth (N.to_nat k) tracks (""%string, (1, 0))). split; [easy|]. now apply (among_in tracks (""%string, (1, 0))).
  Qed.
  Lemma mem_flags k m : (k < F)%N -> Rules.mem (flag_at k) (map snd (among flags m)) = N.testbit m k.
  Proof.
    intros K. apply eq_true_iff_eq. rewrite Rules.mem_In, in_map_iff. split.
    - intros ((h & t) & E & I). apply (among_in flags (flag "")) in I as (H & M & ->). cbn [snd] in E. change (flag_at h = flag_at k) in E. apply flag_inj in E; [now subst|easy|easy].
    - intros M. exists (k, nth (N.to_nat k) flags (flag "")). split; [easy|]. now apply (among_in flags (flag "")).
  Qed.
  Lemma mem_bit_flags k j m : (k < T)%N -> Rules.mem (bit_at k j) (map snd (among flags m)) = false.
  Proof.
    intros K. apply not_true_is_false. rewrite Rules.mem_In, in_map_iff. intros ((h & t) & E & I). apply (among_in flags (flag "")) in I as (H & M & ->).
    cbn [snd] in E. exact (flag_not_bit h k j H K E).
  Qed.
  Lemma mem_flag_places k a m : (k < F)%N -> Rules.mem (flag_at k) (map (fun kt => place (snd kt) a) (among tracks m)) = false.
  Proof.
    intros K. apply not_true_is_false. rewrite Rules.mem_In, in_map_iff. intros ((h & t) & E & I). apply (among_in tracks (""%string, (1, 0))) in I as (H & M & ->).
    cbn [snd] in E. symmetry in E. exact (flag_not_bit k h a K H E).
  Qed.
  Lemma writes_bit i r j k : (k < T)%N ->
    Rules.mem (bit_at k j) (Rules.writes (template_of i r)) =
    (i =? j) && N.testbit (here r) k || (i - 1 =? j) && N.testbit (to_left r) k || (i + 1 =? j) && N.testbit (to_right r) k.
  Proof. intros K. unfold template_of. cbn [Rules.writes]. rewrite !Words.mem_app, !mem_places, mem_bit_flags by easy. now rewrite orb_false_r, orb_assoc. Qed.
  Lemma writes_flag i r k : (k < F)%N -> Rules.mem (flag_at k) (Rules.writes (template_of i r)) = N.testbit (to_globals r) k.
  Proof. intros K. unfold template_of. cbn [Rules.writes]. rewrite !Words.mem_app, !mem_flag_places, mem_flags by easy. easy. Qed.

  (** State s represents the letters x 0 .. x (n - 1) and the globals g. *)
  Definition shows (n : nat) (s : Rules.state name) (g : N) (x : nat -> N) : Prop :=
    (forall i k, i < n -> (k < T)%N -> s (bit_at k i) = N.testbit (x i) k) /\ (forall k, (k < F)%N -> s (flag_at k) = N.testbit g k).

  Lemma template_matches n s g x i c r : shows n s g x -> i < n -> (1 <= c <= 5)%N -> In r (rules p c) ->
    Rules.matches s (template_of i r) = N.eqb (N.land (x i) (mask r)) (value r).
  Proof.
    intros (S & _) I C R. destruct (rule_wf c r C R) as (B & V & _). unfold template_of.
    apply (matches_ok tracks (""%string, (1, 0)) s (fun t => place t i) r (x i) _ B V). intros k K. now apply S.
  Qed.
  Lemma global_matches n s g x r : shows n s g x -> In r (global_rules p) -> Rules.matches s (global_template r) = N.eqb (N.land g (mask r)) (value r).
  Proof.
    intros (_ & S) R. parts. rewrite forallb_forall in WG. specialize (WG r R). apply andb_true_iff in WG as [B V]. unfold global_template.
    apply (matches_ok flags (flag "") s (fun t => t) r g _ B V). intros k K. now apply S.
  Qed.

  Lemma step_bit n s g x j k : shows n s g x -> j < n -> (k < T)%N ->
    Rules.step (chain_rules n) s (bit_at k j) =
    N.testbit (N.lor (match j with O => 0%N | S h => sends to_right (rules p (class_at n h)) (x h) end)
      (N.lor (sends here (rules p (class_at n j)) (x j)) (if S j =? n then 0%N else sends to_left (rules p (class_at n (S j))) (x (S j))))) k.
  Proof.
    intros Sh J K. apply eq_true_iff_eq. unfold Rules.step, chain_rules. rewrite existsb_app, orb_true_iff, !existsb_exists, !N.lor_spec, !orb_true_iff. split.
    - intros [(t & I & E)|(t & I & E)].
      2:{ apply in_map_iff in I as (r & <- & R). apply andb_true_iff in E as [_ E]. unfold global_template in E. cbn [Rules.writes] in E. now rewrite mem_bit_flags in E. }
      apply in_flat_map in I as (i & I & R). apply in_map_iff in R as (r & <- & R). apply in_seq in I.
      apply andb_true_iff in E as [E W]. rewrite writes_bit in W by exact K. rewrite (template_matches n s g x i _ r Sh ltac:(lia) (class_range n i) R) in E.
      rewrite !orb_true_iff, !andb_true_iff, !Nat.eqb_eq in W. destruct W as [[[-> W]|[W1 W]]|[W1 W]].
      + right. left. rewrite sends_bit. apply existsb_exists. exists r. split; [exact R|]. now rewrite E.
      + right. right. destruct i as [|i]; [destruct (rule_wf _ _ (class_range n 0) R) as (_ & _ & Z); rewrite Z in W by reflexivity; now rewrite N.bits_0 in W|].
        replace (S i - 1) with i in W1 by lia. subst j. destruct (Nat.eqb_spec (S i) n); [lia|]. rewrite sends_bit. apply existsb_exists. exists r. split; [exact R|now rewrite E].
      + left. destruct j as [|h]; [lia|]. replace i with h in * by lia. rewrite sends_bit. apply existsb_exists. exists r. split; [exact R|now rewrite E].
    - assert (G : forall i f, i < n -> N.testbit (sends f (rules p (class_at n i)) (x i)) k = true ->
        (forall r, N.testbit (f r) k = true -> Rules.mem (bit_at k j) (Rules.writes (template_of i r)) = true) ->
        exists t, In t (flat_map (fun i => map (template_of i) (rules p (class_at n i))) (seq 0 n)) /\ Rules.matches s t && Rules.mem (bit_at k j) (Rules.writes t) = true).
      { intros i f I B W. rewrite sends_bit in B. apply existsb_exists in B as (r & R & B). apply andb_true_iff in B as [E B]. exists (template_of i r). split.
        - apply in_flat_map. exists i. split; [apply in_seq; lia|]. now apply in_map.
        - rewrite (template_matches n s g x i _ r Sh I (class_range n i) R), E. now apply W. }
      intros [B|[B|B]]; left.
      + destruct j as [|h]; [now rewrite N.bits_0 in B|]. apply (G h to_right); [lia|exact B|].
        intros r E. rewrite writes_bit, E by exact K. rewrite Nat.add_1_r, Nat.eqb_refl. apply orb_true_r.
      + apply (G j here); [lia|exact B|]. intros r E. rewrite writes_bit, E, Nat.eqb_refl by exact K. easy.
      + destruct (Nat.eqb_spec (S j) n); [now rewrite N.bits_0 in B|]. apply (G (S j) to_left); [lia|exact B|].
        intros r E. rewrite writes_bit, E by exact K. replace (S j - 1) with j by lia. rewrite Nat.eqb_refl. cbn [andb]. now rewrite orb_true_r.
  Qed.

  Definition letters_of (n : nat) (x : nat -> N) : list plain := map (fun i => (class_at n i, x i)) (seq 0 n).
  Lemma gadd_bit w g k : N.testbit (fold_left (plain_gadd p) w g) k = N.testbit g k || existsb (fun x => N.testbit (sends to_globals (rules p (fst x)) (snd x)) k) w.
  Proof. revert g. induction w as [|x w IH]; intros g; cbn [fold_left existsb]; [now rewrite orb_false_r|]. rewrite IH. unfold plain_gadd. now rewrite N.lor_spec, orb_assoc. Qed.
  Lemma step_flag n s g x k : shows n s g x -> (k < F)%N ->
    Rules.step (chain_rules n) s (flag_at k) = N.testbit (gstep (gbegin p) (plain_gadd p) g (letters_of n x)) k.
  Proof.
    intros Sh K. unfold gstep. rewrite gadd_bit. unfold gbegin. rewrite sends_bit. apply eq_true_iff_eq. unfold Rules.step, chain_rules. rewrite existsb_app, !orb_true_iff, !existsb_exists. split.
    - intros [(t & I & E)|(t & I & E)].
      + right. apply in_flat_map in I as (i & I & R). apply in_map_iff in R as (r & <- & R). apply in_seq in I. apply andb_true_iff in E as [E W]. rewrite writes_flag in W by exact K.
        rewrite (template_matches n s g x i _ r Sh ltac:(lia) (class_range n i) R) in E. exists (class_at n i, x i). split; [unfold letters_of; apply in_map_iff; exists i; split; [easy|apply in_seq; lia]|].
        cbn [fst snd]. rewrite sends_bit. apply existsb_exists. exists r. split; [exact R|now rewrite E].
      + left. apply in_map_iff in I as (r & <- & R). apply andb_true_iff in E as [E W]. exists r. split; [exact R|]. rewrite <- (global_matches n s g x r Sh R), E.
        unfold global_template in W. cbn [Rules.writes] in W. now rewrite mem_flags in W.
    - intros [(r & R & E)|(y & I & B)].
      + right. exists (global_template r). split; [now apply in_map|]. rewrite (global_matches n s g x r Sh R). unfold global_template. cbn [Rules.writes]. now rewrite mem_flags.
      + left. unfold letters_of in I. apply in_map_iff in I as (i & <- & I). apply in_seq in I. cbn [fst snd] in B. rewrite sends_bit in B. apply existsb_exists in B as (r & R & B).
        exists (template_of i r). split; [apply in_flat_map; exists i; split; [apply in_seq; lia|now apply in_map]|]. rewrite (template_matches n s g x i _ r Sh ltac:(lia) (class_range n i) R).
        now rewrite writes_flag.
  Qed.

  (** From a state that represents the start word, every run of the rules at length n represents the chain's run. *)
  Theorem rules_run ins s t : 5 <= List.length ins -> let n := List.length ins in
    shows n s (start_globals p) (fun i => N.lor (start_bits p (class_at n i)) (nth i ins 0%N)) ->
    shows n (Rules.run (chain_rules n) t s) (fst (plain_run p t ins)) (at_position p t ins).
  Proof.
    intros L n Sh. induction t as [|t IH].
    - cbn [Rules.run Nat.iter nat_rect]. destruct Sh as (S0 & S1). split; [|exact S1]. intros i k I K. unfold Rules.run. cbn [Nat.iter nat_rect].
      rewrite position_0 by (unfold n in *; lia). now apply S0.
    - change (Rules.run (chain_rules n) (Datatypes.S t) s) with (Rules.step (chain_rules n) (Rules.run (chain_rules n) t s)). split.
      + intros i k I K. rewrite (step_bit n _ _ _ i k IH I K). rewrite position_S by (unfold n in *; lia). reflexivity.
      + intros k K. rewrite (step_flag n _ _ _ k IH K). f_equal.
        assert (E : snd (plain_run p t ins) = letters_of n (at_position p t ins)).
        { pose proof (plain_length p ins L t) as N. fold n in N. apply (nth_ext _ _ (0, 0)%N (class_at n 0, at_position p t ins 0)).
          - unfold letters_of. now rewrite map_length, seq_length.
          - intros i I'. assert (I : i < n) by (rewrite <- N; exact I'). clear I'. unfold letters_of. rewrite (map_nth (fun i => (class_at n i, at_position p t ins i)) (seq 0 n) 0), seq_nth by exact I. cbn [Nat.add].
            pose proof (plain_class p ins L t i I) as C. fold n in C. rewrite <- C. apply surjective_pairing. }
        unfold plain_run in *. cbn [run]. destruct (run _ _ _ _ _ _ t _ _) as [g w]. cbn [fst snd] in *. now rewrite E.
  Qed.
End Bridge.

(** The rules of a chain by class, for comparison with explicit rules. *)
Definition middle {X} (n : nat) (f : nat -> list X) : list X := flat_map f (seq 2 (n - 4)).
Lemma In_middle {X} (x : X) n f : In x (middle n f) -> exists i, In x (f i) /\ 2 <= i <= n - 3.
Proof. intros H. apply in_flat_map in H as (i & I & H). apply in_seq in I. exists i. split; [exact H|lia]. Qed.
Lemma chain_rules_parts p tracks flags n t : 5 <= n ->
  In t (chain_rules p tracks flags n) <->
  In t (map (template_of tracks flags 0) (rules p 1) ++ map (template_of tracks flags 1) (rules p 2) ++
        middle n (fun i => map (template_of tracks flags i) (rules p 3)) ++
        map (template_of tracks flags (n - 2)) (rules p 4) ++ map (template_of tracks flags (n - 1)) (rules p 5) ++ map (global_template flags) (global_rules p)).
Proof.
  intros L. unfold chain_rules, middle. rewrite !in_app_iff, !in_flat_map. split.
  - intros [(i & I & R)|G]; [|tauto]. apply in_seq in I. unfold class_at in R.
    destruct (Nat.eqb_spec i 0) as [->|]; [tauto|]. destruct (Nat.eqb_spec i 1) as [->|]; [tauto|]. destruct (Nat.eqb_spec i (n - 1)) as [->|]; [tauto|].
    destruct (Nat.eqb_spec i (n - 2)) as [->|]; [tauto|]. right. right. left. exists i. split; [apply in_seq; lia|exact R].
  - assert (G : forall i, i < n -> In t (map (template_of tracks flags i) (rules p (class_at n i))) -> exists x, In x (seq 0 n) /\ In t (map (template_of tracks flags x) (rules p (class_at n x)))).
    { intros i I R. exists i. split; [apply in_seq; lia|exact R]. }
    intros [R|[R|[(i & I & R)|[R|[R|R]]]]]; [left|left|left|left|left|right; exact R].
    + now apply (G 0); [lia|].
    + now apply (G 1); [lia|].
    + apply in_seq in I. apply (G i); [lia|]. replace (class_at n i) with 3%N; [exact R|]. unfold class_at.
      destruct (Nat.eqb_spec i 0); [lia|]. destruct (Nat.eqb_spec i 1); [lia|]. destruct (Nat.eqb_spec i (n - 1)); [lia|]. destruct (Nat.eqb_spec i (n - 2)); [lia|easy].
    + apply (G (n - 2)); [lia|]. replace (class_at n (n - 2)) with 4%N; [exact R|]. unfold class_at.
      destruct (Nat.eqb_spec (n - 2) 0); [lia|]. destruct (Nat.eqb_spec (n - 2) 1); [lia|]. destruct (Nat.eqb_spec (n - 2) (n - 1)); [lia|]. now rewrite Nat.eqb_refl.
    + apply (G (n - 1)); [lia|]. replace (class_at n (n - 1)) with 5%N; [exact R|]. unfold class_at.
      destruct (Nat.eqb_spec (n - 1) 0); [lia|]. destruct (Nat.eqb_spec (n - 1) 1); [lia|]. now rewrite Nat.eqb_refl.
Qed.
(** Rule k of a class at its position, without expanding the other rules. *)
Section At.
  Variables (P : Rules.template name -> Prop) (p : program) (tracks : list track) (flags : list name) (n : nat).
  Hypothesis long : 5 <= n.
  Lemma Exists_at i k r : i < n -> nth_error (rules p (class_at n i)) k = Some r -> P (template_of tracks flags i r) -> Exists P (chain_rules p tracks flags n).
  Proof using Type. clear long.
    intros I K H. apply Exists_exists. exists (template_of tracks flags i r). split; [|exact H]. unfold chain_rules. apply in_or_app. left. apply in_flat_map.
    exists i. split; [apply in_seq; lia|]. apply in_map. eapply nth_error_In. exact K.
  Qed.
  Lemma Exists_at_1 k r : nth_error (rules p 1) k = Some r -> P (template_of tracks flags 0 r) -> Exists P (chain_rules p tracks flags n).
  Proof. apply (Exists_at 0). lia. Qed.
  Lemma Exists_at_2 k r : nth_error (rules p 2) k = Some r -> P (template_of tracks flags 1 r) -> Exists P (chain_rules p tracks flags n).
  Proof. apply (Exists_at 1). lia. Qed.
  Lemma Exists_at_3 i k r : 2 <= i <= n - 3 -> nth_error (rules p 3) k = Some r -> P (template_of tracks flags i r) -> Exists P (chain_rules p tracks flags n).
  Proof.
    intros I K. apply (Exists_at i k); [lia|]. replace (class_at n i) with 3%N; [exact K|]. unfold class_at.
    destruct (Nat.eqb_spec i 0); [lia|]. destruct (Nat.eqb_spec i 1); [lia|]. destruct (Nat.eqb_spec i (n - 1)); [lia|]. destruct (Nat.eqb_spec i (n - 2)); [lia|easy].
  Qed.
  Lemma Exists_at_4 k r : nth_error (rules p 4) k = Some r -> P (template_of tracks flags (n - 2) r) -> Exists P (chain_rules p tracks flags n).
  Proof.
    intros K. apply (Exists_at (n - 2) k); [lia|]. replace (class_at n (n - 2)) with 4%N; [exact K|]. unfold class_at.
    destruct (Nat.eqb_spec (n - 2) 0); [lia|]. destruct (Nat.eqb_spec (n - 2) 1); [lia|]. destruct (Nat.eqb_spec (n - 2) (n - 1)); [lia|]. now rewrite Nat.eqb_refl.
  Qed.
  Lemma Exists_at_5 k r : nth_error (rules p 5) k = Some r -> P (template_of tracks flags (n - 1) r) -> Exists P (chain_rules p tracks flags n).
  Proof.
    intros K. apply (Exists_at (n - 1) k); [lia|]. replace (class_at n (n - 1)) with 5%N; [exact K|]. unfold class_at.
    destruct (Nat.eqb_spec (n - 1) 0); [lia|]. destruct (Nat.eqb_spec (n - 1) 1); [lia|]. now rewrite Nat.eqb_refl.
  Qed.
  Lemma Exists_at_globals k r : nth_error (global_rules p) k = Some r -> P (global_template flags r) -> Exists P (chain_rules p tracks flags n).
  Proof using Type. clear long.
    intros K H. apply Exists_exists. exists (global_template flags r). split; [|exact H]. unfold chain_rules. apply in_or_app. right. apply in_map. eapply nth_error_In. exact K.
  Qed.
End At.

(** Tactics for generated proofs: the explicit rules of a chain; rule t of part n (classes 1 to 5, globals), at position i if the part is the middle. *)
Ltac written_out H := cbv -[middle Words.at_ Words.flag Nat.add Nat.mul Nat.sub In List.app Cover.covers] in H.
Ltac written_out_goal := cbv -[middle Words.at_ Words.flag Words.all Nat.add Nat.mul Nat.sub In List.app Cover.covers].
Ltac each_chain_rule :=
  Cover.each_rule;
  try (match goal with H : In _ (middle _ _) |- _ => let i := fresh "i" in let I := fresh in apply In_middle in H; destruct H as (i & H & I); cbv beta in H end; Cover.each_rule).
Ltac rule_of rules t := let r := eval vm_compute in (nth_error rules t) in lazymatch r with Some ?r => r end.
Ltac nth_chain n t i :=
  lazymatch goal with |- Exists ?P (chain_rules ?p ?tracks ?flags ?n') =>
    lazymatch n with
    | 0 => let r := rule_of (rules p 1) t in refine (Exists_at_1 P p tracks flags n' _ t r eq_refl _); [lia|]
    | 1 => let r := rule_of (rules p 2) t in refine (Exists_at_2 P p tracks flags n' _ t r eq_refl _); [lia|]
    | 2 => let r := rule_of (rules p 3) t in refine (Exists_at_3 P p tracks flags n' _ i t r _ eq_refl _); [lia|lia|]
    | 3 => let r := rule_of (rules p 4) t in refine (Exists_at_4 P p tracks flags n' _ t r eq_refl _); [lia|]
    | 4 => let r := rule_of (rules p 5) t in refine (Exists_at_5 P p tracks flags n' _ t r eq_refl _); [lia|]
    | 5 => let r := rule_of (global_rules p) t in refine (Exists_at_globals P p tracks flags n' t r eq_refl _)
    end
  end; written_out_goal; Cover.covered.
