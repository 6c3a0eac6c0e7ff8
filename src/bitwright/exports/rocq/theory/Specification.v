(** Specifications of chain programs: comparisons of weighted sums of words, and single bits. A checked certificate proves
    them for every run of the rules. *)
From Coq Require Import List ZArith NArith Bool Lia Arith String.
From Bitwright Require Rules Words.
From Bitwright Require Import Reach Chain ChainProgram Sweeps Clock ChainRules.
Import ListNotations.
Notation val := Words.val.

(** The sum of law j and p * 2^n has one of these signs; the law is a multiple of 2^n; a global is on; a bit at the first or last position is on. *)
Inductive formula :=
| Sign (j : nat) (p : Z) (negative zero positive : bool)
| Multiple (j : nat)
| Global (k : N) | First (k : N) | Last (k : N)
| Not (f : formula) | And (f g : formula) | Or (f g : formula) | Implies (f g : formula) | Same (f g : formula).

Definition of_sign (v : Z) (negative zero positive : bool) : bool := if Z.ltb v 0 then negative else if Z.eqb v 0 then zero else positive.

(** The test that the checker applies to the automata. *)
Fixpoint judge (f : formula) (g : N) (first last : option N) (qs : list law_state) : bool :=
  let bit x k := match x with Some x => N.testbit x k | None => false end in
  match f with
  | Sign j p a b c => let q := nth j qs (0%Z, false) in of_sign (verdict (p + fst q, snd q)%Z) a b c
  | Multiple j => negb (snd (nth j qs (0%Z, false)))
  | Global k => N.testbit g k | First k => bit first k | Last k => bit last k
  | Not f => negb (judge f g first last qs)
  | And f h => judge f g first last qs && judge h g first last qs
  | Or f h => judge f g first last qs || judge h g first last qs
  | Implies f h => implb (judge f g first last qs) (judge h g first last qs)
  | Same f h => Bool.eqb (judge f g first last qs) (judge h g first last qs)
  end.

(** Its meaning in numbers, where e k i is bit k at position i, g k is a global, and v j is the value of law j. *)
Open Scope Z_scope.
Definition word_sum (n : nat) (e : N -> nat -> bool) (f : weights) : Z := fold_right (fun kw a => snd kw * val n (fun i => e (fst kw) (i - 1)%nat) + a) 0 f.
Definition bit_sum (e : N -> bool) (f : weights) : Z := fold_right (fun kw a => snd kw * Z.b2z (e (fst kw)) + a) 0 f.
Definition law_value (n : nat) (e y : N -> nat -> bool) (f : law) : Z :=
  word_sum n e (base f) + word_sum n y (entered f) + bit_sum (fun k => e k 0%nat) (at_first f) + 2 ^ Z.of_nat (n - 1) * bit_sum (fun k => e k (n - 1)%nat) (at_last f).
Fixpoint means (f : formula) (n : nat) (e : N -> nat -> bool) (g : N -> bool) (v : nat -> Z) : bool :=
  match f with
  | Sign j p a b c => of_sign (v j + p * 2 ^ Z.of_nat n) a b c
  | Multiple j => Z.eqb (v j mod 2 ^ Z.of_nat n) 0
  | Global k => g k | First k => e k 0%nat | Last k => e k (n - 1)%nat
  | Not f => negb (means f n e g v)
  | And f h => means f n e g v && means h n e g v
  | Or f h => means f n e g v || means h n e g v
  | Implies f h => implb (means f n e g v) (means h n e g v)
  | Same f h => Bool.eqb (means f n e g v) (means h n e g v)
  end.
Close Scope Z_scope.

Section Computes.
  Variables (p : program) (tracks : list track) (flags : list name) (c : certificate) (specs : list (Z * law)) (f : formula) (fuel : nat).
  Fixpoint in_range (f : formula) : bool :=
    match f with
    | Sign j _ _ _ _ | Multiple j => j <? List.length specs
    | Global k => N.ltb k (N.of_nat (List.length flags)) | First k | Last k => N.ltb k (N.of_nat (List.length tracks))
    | Not f => in_range f | And f g | Or f g | Implies f g | Same f g => in_range f && in_range g
    end.
  Definition weights_in_range (ws : weights) : bool := forallb (fun kw => N.ltb (fst kw) (N.of_nat (List.length tracks))) ws.
  (** The bit that ends a run is at an end or global. *)
  Definition halt_in_range : bool :=
    match halting p with Some (c, k) => if N.eqb c 0 then N.ltb k (N.of_nat (List.length flags)) else (N.eqb c 1 || N.eqb c 5) && N.ltb k (N.of_nat (List.length tracks)) | None => true end.
  Definition halt_bit (n : nat) : option name :=
    match halting p with Some (c, k) => Some (if N.eqb c 0 then flag_at flags k else bit_at tracks k (if N.eqb c 1 then 0 else n - 1)) | None => None end.
  Definition proper : bool := halt_in_range && in_range f && forallb (fun s => weights_in_range (base (snd s)) && weights_in_range (at_first (snd s)) && weights_in_range (at_last (snd s))) specs.
  Hypothesis wf : well_formed p tracks flags = true.
  Hypothesis fine : proper = true.
  Hypothesis checked : check_program p c specs (fun g x y => judge f g (option_map bits x) (option_map bits y)) fuel = true.

  (** Inputs, where inb k i is bit k of the input at position i. *)
  Definition entry (n : nat) (inb : N -> nat -> bool) (i : nat) : N := pick (fun k => inb k i) (free p (class_at n i)).
  Definition word_of (n : nat) (inb : N -> nat -> bool) : list N := map (entry n inb) (seq 0 n).
  Lemma word_of_length n inb : List.length (word_of n inb) = n.
  Proof. unfold word_of. now rewrite map_length, seq_length. Qed.
  Lemma word_of_nth n inb i : i < n -> nth i (word_of n inb) 0%N = entry n inb i.
  Proof. intros I. unfold word_of. rewrite (nth_indep _ 0%N (entry n inb 0)) by (rewrite map_length, seq_length; exact I). now rewrite map_nth, seq_nth. Qed.
  Lemma word_of_allowed n inb : 5 <= n -> allowed p (word_of n inb).
  Proof.
    intros L. split; rewrite word_of_length; [exact L|].
    assert (E : classes n = map (class_at n) (seq 0 n)).
    { apply (nth_ext _ _ 0%N (class_at n 0)); [rewrite map_length, seq_length; now apply classes_length|]. intros i I. rewrite classes_length in I by exact L.
      rewrite (map_nth (class_at n)), seq_nth by exact I. now apply classes_nth. }
    rewrite E. unfold word_of. clear E. induction (seq 0 n) as [|i l IH]; cbn; [constructor|constructor; [apply pick_in|exact IH]].
  Qed.

  Lemma sgn_verdict n v q : reads_as n v q -> forall a b z, of_sign (verdict q) a b z = of_sign v a b z.
  Proof. intros R a b z. rewrite (reads_verdict n v q R). unfold of_sign. destruct v; easy. Qed.
  Lemma reads_more n v q m : reads_as n v q -> reads_as n (v + m * 2 ^ Z.of_nat n) (m + fst q, snd q)%Z.
  Proof. intros (r & E & B & S). exists r. cbn [fst snd]. split; [rewrite E; ring|]. now split. Qed.
  Lemma multiple n v q : reads_as n v q -> negb (snd q) = Z.eqb (v mod 2 ^ Z.of_nat n) 0.
  Proof.
    intros (r & E & B & S). assert (M : (v mod 2 ^ Z.of_nat n = r)%Z) by (symmetry; apply (Z.mod_unique_pos _ _ (fst q)); lia).
    rewrite M. apply eq_true_iff_eq. rewrite negb_true_iff, Z.eqb_eq. exact S.
  Qed.

  (** The value of law j in a state, with these inputs. *)
  Definition law_at (n : nat) (inb : N -> nat -> bool) (e : Rules.state name) (j : nat) : Z :=
    nth j (map (fun s => (fst s + law_value n (fun k i => e (bit_at tracks k i)) (fun k i => N.testbit (entry n inb i) k) (snd s))%Z) specs) 0%Z.

  Theorem chain_computes n inb s r : 5 <= n -> Rules.same_rules (chain_rules p tracks flags n) r ->
    shows tracks flags n s (start_globals p) (fun i => N.lor (start_bits p (class_at n i)) (entry n inb i)) ->
    exists t, t <= steps p n /\ (halting p = None -> t = steps p n) /\ (forall u b, u < t -> halt_bit n = Some b -> Rules.run r u s b = false) /\
    let e := Rules.run r t s in means f n (fun k i => e (bit_at tracks k i)) (fun k => e (flag_at flags k)) (law_at n inb e) = true.
  Proof.
    intros L R Sh. assert (E : forall u b, Rules.run r u s b = Rules.run (chain_rules p tracks flags n) u s b).
    { induction u as [|u IH]; intros b; [easy|]. unfold Rules.run in *. cbn [Nat.iter nat_rect]. rewrite (Rules.step_ext _ _ _ b IH). symmetry. now apply Rules.same_rules_step. }
    set (ins := word_of n inb). assert (LI : List.length ins = n) by apply word_of_length.
    assert (V : forall u, shows tracks flags n (Rules.run r u s) (fst (plain_run p u ins)) (at_position p u ins)).
    { intros u. pose proof (rules_run p tracks flags wf ins s u ltac:(lia)) as V. cbv zeta in V. rewrite LI in V. destruct V as (V0 & V1).
      - destruct Sh as (S0 & S1). split; [|exact S1]. intros i k I K. rewrite S0 by assumption. unfold ins. now rewrite word_of_nth.
      - split; intros; rewrite E; [now apply V0|now apply V1]. }
    clear E Sh R.
    unfold proper in fine. rewrite !andb_true_iff in fine. destruct fine as [[FH FR] FW]. rewrite forallb_forall in FW.
    destruct (program_ok p c specs (judge f) fuel checked ins (word_of_allowed n inb L)) as (t & (T & B & Z) & H). rewrite LI in T, Z, H. exists t. split; [exact T|]. split; [exact Z|]. clear T Z. split.
    { intros u b U HB. specialize (B u U). unfold halt_bit in HB. unfold halt_in_range in FH. unfold halted, globals_halt, halts in B. destruct (halting p) as [(hc & k)|]; [|easy]. injection HB as <-.
      apply orb_false_iff in B as [B1 B2]. destruct (V u) as (V0 & V1). destruct (N.eqb_spec hc 0) as [->|_].
      - apply N.ltb_lt in FH. rewrite V1 by exact FH. exact B1.
      - apply andb_true_iff in FH as [FC FK]. apply N.ltb_lt in FK. set (i := if N.eqb hc 1 then 0 else n - 1). assert (I : i < n) by (unfold i; destruct (N.eqb hc 1); lia). rewrite V0 by assumption.
        pose proof (plain_length p ins ltac:(lia) u) as LP. pose proof (plain_class p ins ltac:(lia) u i ltac:(lia)) as CP. rewrite LI in LP, CP. unfold at_position.
        destruct (plain_run p u ins) as [g w]. cbn [fst snd] in *. unfold plain in *. apply not_true_is_false. intros X.
        rewrite (proj2 (existsb_exists (fun x : N * N => N.eqb (fst x) hc && N.testbit (snd x) k) w)) in B2; [easy|]. exists (nth i w (0, 0)%N). split; [apply nth_In; unfold plain; rewrite LP; lia|]. rewrite X, CP, andb_true_r. apply N.eqb_eq.
        unfold class_at, i. apply orb_true_iff in FC as [FC|FC]; apply N.eqb_eq in FC; subst hc; [easy|]. change (N.eqb 5 1) with false. cbv iota. destruct (Nat.eqb_spec (n - 1) 0); [lia|]. destruct (Nat.eqb_spec (n - 1) 1); [lia|]. now rewrite Nat.eqb_refl. }
    intros e. specialize (V t). fold e in V. clearbody e. clear B FH. destruct V as (V0 & V1).
    pose proof (plain_length p ins ltac:(lia) t) as LP. pose proof (plain_class p ins ltac:(lia) t) as CP. rewrite LI in LP, CP.
    assert (V0' : forall i k, i < n -> (k < N.of_nat (List.length tracks))%N -> e (bit_at tracks k i) = N.testbit (snd (nth i (snd (plain_run p t ins)) (0, 0)%N)) k) by exact V0.
    assert (V1' : forall k, (k < N.of_nat (List.length flags))%N -> e (flag_at flags k) = N.testbit (fst (plain_run p t ins)) k) by exact V1.
    clear V0 V1. destruct (plain_run p t ins) as [g w]. cbn [fst snd] in *. destruct H as (_ & qs & F & J).
    unfold plain in *. change (List.length w = n) in LP.
    assert (WE : w = map (fun i => nth i w (0, 0)%N) (seq 0 n)).
    { apply (nth_ext _ _ (0, 0)%N (0, 0)%N); [now rewrite map_length, seq_length|]. intros i I. rewrite (nth_indep (map _ _) (0, 0)%N (nth 0 w (0, 0)%N)) by (rewrite map_length, seq_length; lia).
      rewrite (map_nth (fun i => nth i w (0, 0)%N)), seq_nth by lia. easy. }
    (* the values of the laws *)
    assert (VS : forall s, In s specs -> sum_of (snd s) w ins = law_value n (fun k i => e (bit_at tracks k i)) (fun k i => N.testbit (entry n inb i) k) (snd s)).
    { intros (b & lw) I. specialize (FW _ I). cbn [snd] in *. rewrite !andb_true_iff in FW. destruct FW as [[W1 W2] W3]. unfold weights_in_range in *. rewrite forallb_forall in W1, W2, W3.
      unfold sum_of, law_value. rewrite <- !Z.add_assoc. f_equal; [|f_equal].
      - unfold sum1, word_sum. rewrite WE, map_map. induction (base lw) as [|(k & v) ws IH]; [easy|]. cbn [fold_right fst snd]. f_equal; [|apply IH; intros; apply W1; now right]. f_equal.
        rewrite number_map. apply Words.val_ext. intros i J'. symmetry. apply V0'; [lia|]. apply N.ltb_lt. exact (W1 (k, v) (or_introl eq_refl)).
      - unfold sum1, word_sum. unfold ins, word_of. induction (entered lw) as [|(k & v) ws IH]; [easy|]. cbn [fold_right fst snd]. rewrite IH. f_equal. f_equal. apply number_map.
      - assert (X0 : w = nth 0 w (0, 0)%N :: map (fun i => nth i w (0, 0)%N) (seq 1 (n - 2)) ++ [nth (n - 1) w (0, 0)%N]).
        { rewrite WE at 1. destruct n as [|[|m]]; [lia|lia|]. change (seq 0 (S (S m))) with (0 :: seq 1 (S m)). cbn [map]. f_equal. replace (S (S m) - 2) with m by lia. replace (S (S m) - 1) with (S m) by lia. rewrite seq_S, map_app. easy. }
        rewrite X0. rewrite extra_ends.
        + rewrite map_length, seq_length. replace (S (n - 2)) with (n - 1) by lia.
          assert (G : forall i ws, i < n -> (forall x, In x ws -> N.ltb (fst x) (N.of_nat (List.length tracks)) = true) -> weigh1 ws (snd (nth i w (0, 0)%N)) = bit_sum (fun k => e (bit_at tracks k i)) ws).
          { intros i ws I' W. unfold bit_sum. induction ws as [|(k & v) ws IH]; [easy|]. cbn [weigh1 fold_right fst snd]. fold (weigh1 ws (snd (nth i w (0, 0)%N))). rewrite IH by (intros; apply W; now right).
            rewrite (V0' i k I') by (apply N.ltb_lt; exact (W (k, v) (or_introl eq_refl))). destruct (N.testbit _ k); cbn [Z.b2z]; lia. }
          now rewrite !G by (lia || assumption).
        + rewrite CP by lia. reflexivity.
        + apply Forall_forall. intros x X. apply in_map_iff in X as (i & <- & X). apply in_seq in X. rewrite CP by lia. unfold class_at.
          destruct (Nat.eqb_spec i 0); [lia|]. destruct (Nat.eqb_spec i 1); [easy|]. destruct (Nat.eqb_spec i (n - 1)); [lia|]. destruct (Nat.eqb_spec i (n - 2)); easy.
        + rewrite CP by lia. unfold class_at. destruct (Nat.eqb_spec (n - 1) 0); [lia|]. destruct (Nat.eqb_spec (n - 1) 1); [lia|]. now rewrite Nat.eqb_refl. }
    assert (Q : forall j, j < List.length specs -> reads_as n (law_at n inb e j) (nth j qs (0%Z, false))).
    { unfold law_at. clear - F VS. induction F as [|s q specs qs A F IH]; intros j I; cbn in I; [lia|]. destruct j as [|j]; cbn [map nth].
      - rewrite <- VS by now left. exact A.
      - apply IH; [intros; apply VS; now right|lia]. }
    assert (H0 : option_map snd (hd_error w) = Some (snd (nth 0 w (0, 0)%N))) by (destruct w; [cbn in LP; lia|easy]).
    assert (H1 : option_map snd (hd_error (rev w)) = Some (snd (nth (n - 1) w (0, 0)%N))).
    { destruct (rev w) as [|z u] eqn:RW; [apply (f_equal (@List.length _)) in RW; rewrite rev_length in RW; cbn in RW; lia|]. cbn. f_equal. f_equal.
      apply (f_equal (@rev _)) in RW. rewrite rev_involutive in RW. cbn in RW. rewrite RW. rewrite app_nth2; [|apply (f_equal (@List.length _)) in RW; rewrite app_length in RW; cbn in RW; lia].
      apply (f_equal (@List.length _)) in RW. rewrite app_length in RW. cbn in RW. replace (n - 1 - List.length (rev u)) with 0 by lia. easy. }
    rewrite H0, H1 in J. rewrite <- J. clear J F H0 H1 VS checked fine. revert FR.
    induction f as [j m a b z|j|k|k|k|h IH|h IH1 h' IH2|h IH1 h' IH2|h IH1 h' IH2|h IH1 h' IH2]; cbn [in_range judge means]; intros FR.
    - apply Nat.ltb_lt in FR. symmetry. apply (sgn_verdict n), reads_more, Q, FR.
    - apply Nat.ltb_lt in FR. symmetry. apply (multiple n), Q, FR.
    - apply N.ltb_lt in FR. now apply V1'.
    - apply N.ltb_lt in FR. apply V0'; [lia|easy].
    - apply N.ltb_lt in FR. apply V0'; [lia|easy].
    - f_equal. now apply IH.
    - apply andb_true_iff in FR as [A B]. now rewrite IH1, IH2.
    - apply andb_true_iff in FR as [A B]. now rewrite IH1, IH2.
    - apply andb_true_iff in FR as [A B]. now rewrite IH1, IH2.
    - apply andb_true_iff in FR as [A B]. now rewrite IH1, IH2.
  Qed.
End Computes.

(** * For generated theorems *)
From Coq Require Import ZifyBool.
Open Scope Z_scope.
(** A track that is an array, with bit x[i + 1] at position i, or bit x[i] and no bit at position 0. *)
Lemma word_at_1 (e : Rules.state name) x n : val n (fun i => e (place (x, (1, 1)%nat) (i - 1))) = Words.word e x n.
Proof. apply Words.val_ext. intros i I. unfold place. cbn [fst snd]. do 2 f_equal. lia. Qed.
Lemma word_at_0 (e : Rules.state name) x n : (1 <= n)%nat -> e (place (x, (1, 0)%nat) 0) = false -> val n (fun i => e (place (x, (1, 0)%nat) (i - 1))) = 2 * Words.word e x (n - 1).
Proof.
  intros L Z. unfold Words.word. rewrite <- (Words.val_up (n - 1) (fun i => e (at_ x i))). replace (S (n - 1)) with n by lia. apply Words.val_ext. intros i I. unfold place in *. cbn [fst snd] in *.
  destruct (Nat.leb_spec 2 i); cbn [andb]; [do 2 f_equal; lia|]. rewrite <- Z. do 2 f_equal. lia.
Qed.
(** An input of n bits that starts at position 0 or 1. *)
Lemma entered_at_0 n v (e : nat -> bool) : 0 <= v < 2 ^ Z.of_nat n -> (forall i, (i < n)%nat -> e i = Words.bit_of v (i + 1)) -> val n (fun i => e (i - 1)%nat) = v.
Proof. intros B E. transitivity (val n (Words.bit_of v)); [|now apply Words.val_bits_small]. apply Words.val_ext. intros i I. rewrite E by lia. f_equal. lia. Qed.
Lemma entered_at_1 n v (e : nat -> bool) : (1 <= n)%nat -> 0 <= v < 2 ^ Z.of_nat (n - 1) -> (forall i, (i < n)%nat -> e i = (1 <=? i)%nat && Words.bit_of v i) -> val n (fun i => e (i - 1)%nat) = 2 * v.
Proof.
  intros L B E. transitivity (2 * val (n - 1) (Words.bit_of v)); [|now rewrite Words.val_bits_small]. rewrite <- Words.val_up. replace (S (n - 1)) with n by lia. apply Words.val_ext. intros i I. rewrite E by lia.
  destruct (Nat.leb_spec 1 (i - 1)), (Nat.leb_spec 2 i); try lia; easy.
Qed.
Lemma class_cases n i : (5 <= n)%nat -> (i < n)%nat ->
  (i = 0%nat /\ class_at n i = 1%N) \/ (i = 1%nat /\ class_at n i = 2%N) \/ ((2 <= i < n - 2)%nat /\ class_at n i = 3%N) \/
  (i = (n - 2)%nat /\ class_at n i = 4%N) \/ (i = (n - 1)%nat /\ class_at n i = 5%N).
Proof.
  intros L I. unfold class_at. destruct (Nat.eqb_spec i 0); [now left|]. destruct (Nat.eqb_spec i 1); [now right; left|].
  destruct (Nat.eqb_spec i (n - 1)); [now do 4 right|]. destruct (Nat.eqb_spec i (n - 2)); [do 3 right; now left|].
  do 2 right. left. split; [lia|reflexivity].
Qed.
Lemma below k n : (k < N.of_nat n)%N -> In k (map N.of_nat (seq 0 n)).
Proof. intros K. apply in_map_iff. exists (N.to_nat k). split; [lia|]. apply in_seq. lia. Qed.

Ltac each_track k K :=
  apply below in K; cbv in K; repeat match type of K with _ \/ _ => destruct K as [<- | K] | False => destruct K end.
Ltac by_class n i I := let L := fresh in let Z := fresh in let C := fresh in
  assert (L : (5 <= n)%nat) by lia; destruct (class_cases n i L I) as [(Z & C)|[(Z & C)|[(Z & C)|[(Z & C)|(Z & C)]]]]; rewrite ?C; clear C.
Ltac spell_bit :=
  lazymatch goal with |- context [bit_at ?tracks ?k ?i] =>
    let t := eval vm_compute in (nth (N.to_nat k) tracks (""%string, (1, 0)%nat)) in change (bit_at tracks k i) with (place t i) end;
  unfold place; cbn [fst snd].
(** The start state represents the start word. *)
Ltac shown i I :=
  spell_bit; lazymatch goal with |- _ = N.testbit (N.lor _ (entry _ ?n _ _)) _ =>
    unfold entry; rewrite N.lor_spec, pick_bit; by_class n i I;
    cbn -[Words.bit_of Nat.leb Nat.eqb Nat.mul Nat.add Nat.sub]; unfold Words.name_eqb; cbn -[Words.bit_of Nat.leb Nat.eqb Nat.mul Nat.add Nat.sub];
    rewrite ?Nat.mul_1_l, ?Nat.add_0_r; Words.by_cases; cbn [andb orb]; rewrite ?orb_false_r; try reflexivity; try (f_equal; lia)
  end.
(** The value of a law in terms of words. *)
Ltac law_value :=
  unfold law_at; cbn [nth map]; unfold law_value, word_sum, bit_sum; cbn [fold_right fst snd base entered at_first at_last].
Ltac track_word s k x len first :=
  lazymatch goal with |- context [val ?n (fun i => s (bit_at ?tracks k (i - 1)%nat))] =>
    lazymatch first with
    | 0%nat => rewrite (word_at_1 s x n : val n (fun i => s (bit_at tracks k (i - 1)%nat)) = Words.word s x n)
    | _ => let A := fresh in
        assert (A : val n (fun i => s (bit_at tracks k (i - 1)%nat)) = 2 * Words.word s x (n - 1))
          by (apply (word_at_0 s x n); [lia | match goal with B : s (bit_at _ k _) = false |- _ => exact B end]);
        rewrite A; clear A; replace (n - 1)%nat with len by lia
    end
  end.
Ltac entries :=
  let i := fresh "i" in let I := fresh in intros i I;
  lazymatch goal with |- N.testbit (entry _ ?n _ _) _ = _ =>
    unfold entry; rewrite pick_bit; by_class n i I; try match goal with Z : i = 0%nat |- _ => subst i end; try (rewrite (proj2 (Nat.leb_le 1 i)) by lia); reflexivity
  end.
Ltac entered_word program k v len first :=
  lazymatch goal with |- context [val ?n (fun i => N.testbit (entry program ?n ?inb (i - 1)%nat) k)] =>
    let A := fresh in
    lazymatch first with
    | 0%nat => assert (A : val n (fun i => N.testbit (entry program n inb (i - 1)%nat) k) = v)
                 by (apply (entered_at_0 n v (fun i => N.testbit (entry program n inb i) k)); [assumption | entries])
    | _ => assert (A : val n (fun i => N.testbit (entry program n inb (i - 1)%nat) k) = 2 * v)
             by (apply (entered_at_1 n v (fun i => N.testbit (entry program n inb i) k)); [lia | replace (n - 1)%nat with len by lia; assumption | entries])
    end; rewrite A; clear A
  end.
Ltac end_bit s k b :=
  lazymatch goal with |- context [s (bit_at ?tracks k ?j)] => replace (bit_at tracks k j) with b by (spell_bit; apply f_equal; lia) end.
(** For a bit at the last position: 2^n is twice 2^(n - 1). *)
Ltac top_bit l n := replace (2 ^ Z.of_nat l) with (2 * 2 ^ Z.of_nat (n - 1)) by (rewrite <- Words.pow_S; do 2 f_equal; lia).
Lemma means_and f h n e g v : means (And f h) n e g v = true -> means f n e g v = true /\ means h n e g v = true.
Proof. apply andb_prop. Qed.
Lemma means_absent k n e g v : means (Not (First k)) n e g v = true -> e k 0%nat = false.
Proof. apply negb_true_iff. Qed.
Ltac steps_are chain := unfold Clock.steps; cbn [sweeps delay early fixed chain]; unfold total_rate; cbn [fold_right snd]; lia.
Ltac halt_is chain := unfold halt_bit; cbn [halting chain N.eqb Pos.eqb]; apply f_equal; first [reflexivity | spell_bit; apply f_equal; lia].
(** A line in the checker's form equals the line in terms of words, connective by connective and comparison by comparison. *)
Lemma residue_eq (n m k : nat) v w e : 0 <= w < 2 ^ Z.of_nat m -> n = (m + k)%nat -> v = 2 ^ Z.of_nat k * (w - e) -> Z.eqb (v mod 2 ^ Z.of_nat n) 0 = Z.eqb w (e mod 2 ^ Z.of_nat m).
Proof.
  intros R -> ->. rewrite Nat2Z.inj_add, Z.pow_add_r by lia. rewrite (Z.mul_comm (2 ^ Z.of_nat m)). pose proof (Words.pow_pos m) as M. pose proof (Words.pow_pos k) as K.
  rewrite Z.mul_mod_distr_l by lia. apply eq_true_iff_eq. rewrite !Z.eqb_eq. split; intros H.
  - assert (Z0 : (w - e) mod 2 ^ Z.of_nat m = 0) by nia. apply Z.mod_divide in Z0; [|lia]. destruct Z0 as (q & Q). apply (Z.mod_unique_pos e (2 ^ Z.of_nat m) (- q) w); lia.
  - rewrite H. rewrite Zminus_mod_idemp_l, Z.sub_diag, Z.mod_0_l by lia. lia.
Qed.
Ltac spell_bits s :=
  repeat spell_bit;
  repeat lazymatch goal with |- context [flag_at ?flags ?k] => let t := eval vm_compute in (flag_at flags k) in change (flag_at flags k) with t end;
  unfold Words.flag;
  repeat match goal with |- context [s (Words.at_ ?x ?i)] =>
    match goal with |- context [s (Words.at_ x ?j)] => tryif constr_eq i j then fail else replace j with i by lia end end.
Ltac same_bit := first [reflexivity | apply f_equal; spell_bit; apply f_equal; lia].
Ltac residue_is k :=
  lazymatch goal with |- Z.eqb (?v mod 2 ^ Z.of_nat ?n) 0 = Z.eqb ?w (?e mod 2 ^ Z.of_nat ?m) =>
    apply (residue_eq n m k v w e);
    [first [assumption | lazymatch goal with |- 0 <= ?f _ _ < _ => unfold f end; unfold Words.word; apply Words.val_range] | lia | cbn [Z.of_nat Z.pow]; lia] end.
Ltac divisions :=
  repeat match goal with
         | |- context [?x / Zpos ?k] => pose proof (Z.div_mod x (Zpos k) ltac:(easy)); pose proof (Z.mod_pos_bound x (Zpos k) ltac:(easy)); generalize dependent (x / Zpos k); intros
         | |- context [?x mod Zpos ?k] => pose proof (Z.div_mod x (Zpos k) ltac:(easy)); pose proof (Z.mod_pos_bound x (Zpos k) ltac:(easy)); generalize dependent (x mod Zpos k); intros
         end.
Ltac same_signs s :=
  unfold of_sign; divisions; spell_bits s; repeat match goal with |- context [s ?b] => destruct (s b) end; cbn [Z.b2z andb orb negb];
  repeat match goal with
         | |- context [Z.ltb ?x 0] => destruct (Z.ltb_spec x 0)
         | |- context [if Z.eqb ?x 0 then _ else _] => destruct (Z.eqb_spec x 0)
         end; cbn [andb orb negb]; lia.
Ltac same_line s :=
  lazymatch goal with
  | |- _ && _ = _ && _ => apply f_equal2; same_line s
  | |- _ || _ = _ || _ => apply f_equal2; same_line s
  | |- implb _ _ = implb _ _ => apply f_equal2; same_line s
  | |- Bool.eqb _ _ = Bool.eqb _ _ => apply f_equal2; same_line s
  | |- negb _ = negb _ => apply f_equal; same_line s
  | |- s _ = s _ => same_bit
  | |- Z.eqb (_ mod _) 0 = Z.eqb _ (_ mod 2 ^ _) => first [residue_is 0%nat | residue_is 1%nat | residue_is 2%nat]
  | |- _ => same_signs s
  end.
Close Scope Z_scope.
