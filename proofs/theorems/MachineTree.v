(** The tokens that move down the address tree of machine V and up from its words, for any tokens at the root. *)
From Coq Require Import List Bool Arith Lia.
From Bitwright Require Import Rules.
From Theorems Require Import Machine MachineKinds MachineStep.
Import ListNotations.

(** The number represented by m bits. *)
Fixpoint number (m : nat) (f : nat -> bool) : nat := match m with O => 0 | S m => number m f + Nat.b2n (f m) * 2 ^ m end.
Lemma number_lt m f : number m f < 2 ^ m.
Proof. induction m as [|m IH]; [cbn [number]; change (2 ^ 0) with 1; lia|]. cbn [number]. rewrite Nat.pow_succ_r'. destruct (f m); cbn [Nat.b2n]; lia. Qed.
Lemma number_bit m f i : i < m -> Nat.testbit (number m f) i = f i.
Proof.
  revert i. induction m as [|m IH]; intros i I; [lia|]. cbn [number]. pose proof (number_lt m f).
  destruct (Nat.eq_dec i m) as [->|N].
  - rewrite Nat.testbit_odd, Nat.shiftr_div_pow2. rewrite Nat.div_add by (apply Nat.pow_nonzero; lia). rewrite Nat.div_small by easy.
    destruct (f m); reflexivity.
  - rewrite <- (IH i) by lia. rewrite <- (Nat.mod_pow2_bits_low (number m f + _) m i) by lia. rewrite Nat.mod_add by (apply Nat.pow_nonzero; lia).
    rewrite Nat.mod_small by easy. reflexivity.
Qed.
Lemma number_ext m f g : (forall j, j < m -> f j = g j) -> number m f = number m g.
Proof. intros E. induction m as [|m IH]; [easy|]. cbn [number]. rewrite IH by (intros; apply E; lia). now rewrite E by lia. Qed.
Lemma number_negb m f : number m f + number m (fun j => negb (f j)) + 1 = 2 ^ m.
Proof. induction m as [|m IH]; [reflexivity|]. cbn [number]. rewrite Nat.pow_succ_r'. destruct (f m); cbn [negb Nat.b2n]; lia. Qed.
Lemma number_mod m k f : m <= k -> number k f mod 2 ^ m = number m f.
Proof.
  intros H. induction k as [|k IH]; [replace m with 0 by lia; reflexivity|]. destruct (Nat.eq_dec m (S k)) as [->|N]; [apply Nat.mod_small, number_lt|].
  cbn [number]. replace (2 ^ k) with (2 ^ (k - m) * 2 ^ m) by (rewrite <- Nat.pow_add_r; f_equal; lia). rewrite Nat.mul_assoc, Nat.mod_add by (apply Nat.pow_nonzero; lia). apply IH. lia.
Qed.
Lemma number_none m : number m (fun _ => false) = 0.
Proof. induction m as [|m IH]; [easy|]. cbn [number Nat.b2n]. lia. Qed.

Lemma heard_is s w x0 x1 x2 x3 x4 l0 l1 l2 l3 l4 l5 :
  heard s w x0 x1 x2 x3 x4 [l0; l1; l2; l3; l4; l5] =
  Bool.eqb l0 (s w) && Bool.eqb l1 (s x0) && Bool.eqb l2 (s x1) && Bool.eqb l3 (s x2) && Bool.eqb l4 (s x3) && Bool.eqb l5 (s x4).
Proof.
  unfold heard. cbn [map]. apply eq_true_iff_eq. rewrite vec_eqb_ok, !andb_true_iff, !eqb_true_iff. split; [|intuition congruence].
  intros E. injection E as -> -> -> -> -> ->. intuition.
Qed.
Ltac times := 
  repeat match goal with
         | |- context [?x =? ?y] => destruct (Nat.eqb_spec x y); try (exfalso; lia)
         | |- context [?x <=? ?y] => destruct (Nat.leb_spec x y); try (exfalso; lia)
         | |- context [?x <? ?y] => destruct (Nat.ltb_spec x y); try (exfalso; lia)
         end; cbn [andb orb negb xorb]; rewrite ?andb_true_r, ?andb_false_r, ?orb_false_r; cbn [andb orb negb xorb]; try reflexivity.

(** Tokens that move down the address tree. *)
Inductive errand := Reading | Fetching | Writing (v : nat -> bool).

Section Tree.
Variables A n : nat.
Hypothesis A_least : 2 <= A.
Hypothesis A_most : A <= n.
Notation nodes_zero := (MachineStep.nodes_zero A). Notation words := (Machine.words A). Notation depth := (Machine.depth A).
Notation below := (Machine.below A). Notation digit := (Machine.digit A). Notation levels := (Machine.levels n). Notation rise := (Machine.rise A n).
Notation span := (Machine.span A). Notation answer := (Machine.answer A n). Notation subtract := (Machine.subtract A n).
Notation last := (Machine.last A n). Notation parent := (MachineStep.parent A). Notation picks := (MachineStep.picks A).
Notation writing := (MachineStep.writing A). Notation fetching := (MachineStep.fetching A). Notation before := (MachineStep.before A).
Notation up := (MachineStep.up A). Notation depth_pos := (MachineStep.depth_pos A n A_least A_most).
Notation below_depth := (MachineStep.below_depth A n A_least A_most). Notation digit_cases := (MachineStep.digit_cases A n A_least A_most).
Notation below_step := (MachineStep.below_step A n A_least A_most). Notation two_pos := (MachineStep.two_pos A n A_least A_most).
Notation child_parent := (MachineStep.child_parent A n A_least A_most). Notation span_le := (MachineStep.span_le A n A_least A_most).
Notation rise_pos := (MachineStep.rise_pos A n A_least A_most). Notation levels_pos := (MachineStep.levels_pos A n A_least A_most).
Notation answer_least := (MachineStep.answer_least A n A_least A_most).
Lemma times_are : answer = depth + rise /\ 1 <= depth /\ 1 <= levels /\ 2 <= answer /\ 1 <= rise /\ last = 2 * answer + 3 + levels /\ subtract = 2 * answer + 3.
Proof.
  pose proof depth_pos. pose proof levels_pos. pose proof answer_least. pose proof rise_pos. unfold Machine.last, Machine.subtract, Machine.answer in *. lia.
Qed.
Definition address (f : nat -> bool) : nat := number A f.
Lemma address_lt f : address f < words.
Proof. apply number_lt. Qed.

(** The memory, a word on its way to it, and the tokens at the root of the tree at each time. *)
Variables (memory : nat -> nat -> bool) (pending : option (nat * (nat -> bool))) (root : nat -> option (errand * nat)).
Definition landed (k j : nat) : bool := match pending with Some (x, v) => if k =? x then v j else memory k j | None => memory k j end.
(** The tokens at level d at time t; the words are at level [depth]. *)
Definition wave (t d : nat) : option (errand * nat) :=
  if d <=? t then root (t - d) else if d =? t + 1 then match pending with Some (x, v) => Some (Writing v, x) | None => None end else None.
Definition node (x d : nat) : nat := x / 2 ^ below d.
Definition near (d k x : nat) : bool := match d with O => true | S e => parent e k =? node x e end.
Definition at_node (t d k : nat) : bool := match wave t d with Some (_, x) => k =? node x d | None => false end.
Definition writes_at (t d k : nat) : bool := match wave t d with Some (Writing _, x) => k =? node x d | _ => false end.
Definition fetches_at (t d k : nat) : bool := match wave t d with Some (Fetching, x) => k =? node x d | _ => false end.
Definition address_at (t d k i : nat) : bool := match wave t d with Some (_, x) => near d k x && Nat.testbit x i | None => false end.
Definition data_at (t d k j : nat) : bool := match wave t d with Some (Writing v, x) => near d k x && v j | _ => false end.
Definition word_at (t k j : nat) : bool := if t <? depth then memory k j else landed k j.
Definition second_at (t k : nat) : bool := match wave t depth with Some (Fetching, x) => before k =? x | _ => false end.
Definition third_at (t k : nat) : bool := match t with O => false | S u => second_at u (before k) end.
Definition read_at (t k : nat) : bool :=
  match wave t depth with Some (Writing _, _) | None => false | Some (_, x) => k =? x end
  || match t with O => false | S u => second_at u k || third_at u k end.
Definition comes (t k j : nat) : bool := word_at t k j && read_at t k && negb (writes_at t depth k).
Definition rising_at (t l q j : nat) : bool := (l <=? t) && existsb (fun c => comes (t - l) (q * 2 ^ span l + c) j) (seq 0 (2 ^ span l)).

Lemma node_zero x : x < words -> node x 0 = 0.
Proof. intros X. unfold node, Machine.below. now apply Nat.div_small. Qed.
Lemma node_depth x : node x depth = x.
Proof. unfold node. rewrite below_depth. change (2 ^ 0) with 1. apply Nat.div_1_r. Qed.
Lemma node_step x d : d < depth -> parent d (node x (S d)) = node x d.
Proof.
  intros D. unfold node, MachineStep.parent. pose proof (two_pos (below (S d))). pose proof (two_pos (digit d)). rewrite Nat.div_div by lia.
  rewrite <- Nat.pow_add_r. now rewrite <- below_step.
Qed.
Lemma near_node x d : d < depth -> near d (node x d) x = true.
Proof. intros D. destruct d as [|d]; [easy|]. cbn [near]. rewrite node_step by lia. apply Nat.eqb_refl. Qed.
Lemma odd_node x d : Nat.odd (node x d) = Nat.testbit x (below d).
Proof. unfold node. now rewrite Nat.testbit_odd, Nat.shiftr_div_pow2. Qed.
Lemma odd_half_node x d : Nat.odd (node x d / 2) = Nat.testbit x (below d + 1).
Proof.
  unfold node. rewrite Nat.testbit_odd, Nat.shiftr_div_pow2, Nat.pow_add_r. change (2 ^ 1) with 2. pose proof (two_pos (below d)).
  now rewrite Nat.div_div by lia.
Qed.
Lemma odd_mod c : c mod 2 = Nat.b2n (Nat.odd c).
Proof. rewrite <- Nat.bit0_mod. now rewrite Nat.bit0_odd. Qed.
Lemma from_digits d c y : d < depth -> parent d c = parent d y -> Nat.odd c = Nat.odd y -> (digit d = 1 \/ Nat.odd (c / 2) = Nat.odd (y / 2)) -> c = y.
Proof.
  intros D P O H. pose proof (child_parent d c) as C. pose proof (child_parent d y) as Y. rewrite P in C.
  enough (c mod 2 ^ digit d = y mod 2 ^ digit d) by lia. destruct (digit_cases d D) as [(E & _)|E]; rewrite E.
  - change (2 ^ 1) with 2. now rewrite !odd_mod, O.
  - destruct H as [H|H]; [lia|]. change (2 ^ 2) with (2 * 2). rewrite !Nat.mod_mul_r by lia. rewrite !odd_mod. now rewrite O, H.
Qed.
Lemma wave_next t d : wave (S t) (S d) = wave t d.
Proof. reflexivity. Qed.
Lemma wave_root t : wave t 0 = root t.
Proof. unfold wave. cbn [Nat.leb]. now rewrite Nat.sub_0_r. Qed.
Lemma address_next t d k i : d < depth -> address_at t d (parent d k) i && at_node t d (parent d k) = address_at (S t) (S d) k i.
Proof.
  intros D. unfold address_at, at_node. rewrite wave_next. destruct (wave t d) as [[e x]|]; [|easy]. cbn [near].
  destruct (Nat.eqb_spec (parent d k) (node x d)) as [E|E]; [|now rewrite andb_false_r]. rewrite E, near_node by easy. now rewrite andb_true_r.
Qed.
Lemma data_next t d k j : d < depth -> data_at t d (parent d k) j && writes_at t d (parent d k) = data_at (S t) (S d) k j.
Proof.
  intros D. unfold data_at, writes_at. rewrite wave_next. destruct (wave t d) as [[[| |v] x]|]; try easy. cbn [near].
  destruct (Nat.eqb_spec (parent d k) (node x d)) as [E|E]; [|now rewrite andb_false_r]. rewrite E, near_node by easy. now rewrite andb_true_r.
Qed.
Lemma word_next t k j : (depth <= t -> writes_at t depth k = false) ->
  word_at t k j && negb (writes_at t depth k) || writes_at t depth k && data_at t depth k j = word_at (S t) k j.
Proof.
  intros L. destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). destruct (Nat.lt_ge_cases t depth) as [H|H].
  - unfold word_at. rewrite (proj2 (Nat.ltb_lt _ _) H). unfold writes_at, data_at, wave. rewrite (proj2 (Nat.leb_gt depth t)) by lia.
    destruct (Nat.eqb_spec depth (t + 1)) as [E|E].
    + rewrite (proj2 (Nat.ltb_ge (S t) depth)) by lia. unfold landed. destruct pending as [[x v]|]; [|cbn; now rewrite andb_true_r, orb_false_r].
      rewrite node_depth. destruct (Nat.eqb_spec k x) as [->|N]; cbn [negb andb]; [|now rewrite andb_true_r, orb_false_r].
      rewrite andb_false_r. cbn [orb]. replace (near depth x x) with true; [easy|]. symmetry. rewrite <- (node_depth x) at 1. replace depth with (S t) by lia.
      cbn [near]. rewrite node_step by lia. apply Nat.eqb_refl.
    + rewrite (proj2 (Nat.ltb_lt (S t) depth)) by lia. cbn [negb andb]. now rewrite andb_true_r, orb_false_r.
  - rewrite L by lia. cbn [negb andb]. rewrite andb_true_r, orb_false_r. unfold word_at.
    now rewrite (proj2 (Nat.ltb_ge t depth)), (proj2 (Nat.ltb_ge (S t) depth)) by lia.
Qed.

(** A state that has these tokens at time t. *)
Record shows (t : nat) (s : state bit) : Prop := {
  tokens : forall d k, s (Token d k) = at_node t d k; written : forall d k, s (Writes d k) = writes_at t d k;
  fetched : forall d k, s (Fetches d k) = fetches_at t d k; addresses : forall d k i, s (Address d k i) = address_at t d k i;
  stored : forall k j, s (Word k j) = word_at t k j; reads : forall k j, s (Read k j) = read_at t k;
  erased : forall k j, s (Erase k j) = writes_at t depth k; risen : forall l q j, s (Rising l q j) = rising_at t l q j }.
Section Shown.
Variables (t : nat) (s : state bit).
Hypothesis shown : shows t s.
Lemma picks_wave d k : d < depth -> picks s d k = match wave t d with Some (_, x) => k =? node x (S d) | None => false end.
Proof.
  intros D. unfold MachineStep.picks. rewrite (tokens _ _ shown), !(addresses _ _ shown). unfold at_node, address_at. destruct (wave t d) as [[e x]|]; [|easy].
  destruct (Nat.eqb_spec (parent d k) (node x d)) as [E|E].
  - cbn [andb]. rewrite E, near_node by easy. cbn [andb]. rewrite <- odd_node, <- odd_half_node.
    apply eq_true_iff_eq. rewrite andb_true_iff, orb_true_iff, !eqb_true_iff, !Nat.eqb_eq. split.
    + intros [O H]. apply (from_digits d); [easy| | |].
      * now rewrite node_step.
      * now symmetry.
      * destruct H as [H|H]; [now left|right; now symmetry].
    + intros ->. auto.
  - cbn [andb]. symmetry. apply Nat.eqb_neq. intros ->. now rewrite node_step in E.
Qed.
Lemma token_next d k : d < depth -> picks s d k && negb (writing s d k && fetching s d k) = at_node (S t) (S d) k.
Proof.
  intros D. rewrite picks_wave by easy. unfold MachineStep.writing, MachineStep.fetching. rewrite (written _ _ shown), (fetched _ _ shown). unfold at_node, writes_at, fetches_at. rewrite wave_next.
  destruct (wave t d) as [[[| |v] x]|]; cbn [andb negb]; rewrite ?andb_false_r; cbn [negb]; now rewrite ?andb_true_r.
Qed.
Lemma write_next d k : d < depth -> picks s d k && writing s d k && negb (fetching s d k) = writes_at (S t) (S d) k.
Proof.
  intros D. rewrite picks_wave by easy. unfold MachineStep.writing, MachineStep.fetching. rewrite (written _ _ shown), (fetched _ _ shown). unfold writes_at, fetches_at. rewrite wave_next.
  destruct (wave t d) as [[[| |v] x]|]; cbn [andb negb]; rewrite ?andb_false_r, ?andb_true_r; try easy.
  destruct (Nat.eqb_spec k (node x (S d))) as [->|E]; [|easy]. rewrite node_step by easy. now rewrite Nat.eqb_refl.
Qed.
Lemma fetch_next d k : d < depth -> picks s d k && fetching s d k && negb (writing s d k) = fetches_at (S t) (S d) k.
Proof.
  intros D. rewrite picks_wave by easy. unfold MachineStep.writing, MachineStep.fetching. rewrite (written _ _ shown), (fetched _ _ shown). unfold writes_at, fetches_at. rewrite wave_next.
  destruct (wave t d) as [[[| |v] x]|]; cbn [andb negb]; rewrite ?andb_false_r, ?andb_true_r; try easy.
  destruct (Nat.eqb_spec k (node x (S d))) as [->|E]; [|easy]. rewrite node_step by easy. now rewrite Nat.eqb_refl.
Qed.
Lemma read_next k : picks s (depth - 1) k && negb (writing s (depth - 1) k)
  = match wave (S t) depth with Some (Writing _, _) | None => false | Some (_, x) => k =? x end.
Proof.
  pose proof depth_pos. set (d := depth - 1). assert (E : depth = S d) by (unfold d; lia). rewrite picks_wave by lia.
  unfold MachineStep.writing. rewrite (written _ _ shown). unfold writes_at. rewrite E, wave_next.
  destruct (wave t d) as [[[| |v] x]|]; cbn [andb negb]; rewrite ?andb_true_r; try easy; rewrite <- E; rewrite ?node_depth; try easy.
  destruct (Nat.eqb_spec k x) as [->|N]; [|easy]. rewrite <- (node_depth x) at 1. rewrite E. rewrite node_step by lia. now rewrite Nat.eqb_refl.
Qed.
Lemma up_next l q j : 1 <= l -> up s l q j = rising_at (S t) l q j.
Proof.
  intros L. destruct l as [|[|l]]; [lia| |].
  - cbn [MachineStep.up]. unfold rising_at. cbn [Nat.leb andb]. rewrite Nat.sub_succ, Nat.sub_0_r. apply existsb_ext. intros c _. cbv zeta.
    now rewrite (stored _ _ shown), (reads _ _ shown), (erased _ _ shown).
  - cbn [MachineStep.up]. set (m := S l). pose proof (span_le m). set (w := span (S m) - span m). assert (E : 2 ^ span (S m) = 2 ^ w * 2 ^ span m) by (rewrite <- Nat.pow_add_r; f_equal; lia).
    pose proof (two_pos (span m)). pose proof (two_pos w). rewrite (existsb_ext _ (fun c => rising_at t m (q * 2 ^ w + c) j)) by (intros; apply (risen _ _ shown)). unfold rising_at. replace (S m <=? S t) with (m <=? t) by reflexivity. rewrite Nat.sub_succ. destruct (m <=? t); cbn [andb].
    2:{ generalize (seq 0 (2 ^ w)). induction l0; [easy|exact IHl0]. }
    apply eq_true_iff_eq. rewrite !existsb_exists. split.
    + intros (c & I & H'). apply in_seq in I. apply existsb_exists in H' as (e & I' & H'). apply in_seq in I'. exists (c * 2 ^ span m + e). split.
      * apply in_seq. rewrite E. nia.
      * rewrite E. replace (q * (2 ^ w * 2 ^ span m) + (c * 2 ^ span m + e)) with ((q * 2 ^ w + c) * 2 ^ span m + e) by lia. exact H'.
    + intros (c & I & H'). apply in_seq in I. rewrite E in *. pose proof (Nat.div_mod c (2 ^ span m) ltac:(lia)). pose proof (Nat.mod_upper_bound c (2 ^ span m) ltac:(lia)).
      exists (c / 2 ^ span m). split; [apply in_seq; split; [lia|]; apply Nat.div_lt_upper_bound; lia|]. apply existsb_exists. exists (c mod 2 ^ span m).
      split; [apply in_seq; lia|]. replace ((q * 2 ^ w + c / 2 ^ span m) * 2 ^ span m + c mod 2 ^ span m) with (q * (2 ^ w * 2 ^ span m) + c) by nia. exact H'.
Qed.
End Shown.
End Tree.
