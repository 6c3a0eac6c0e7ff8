(** Machine V halts: once its counter is negative, it stands still, and its memory is complete. *)
From Coq Require Import List Bool Arith Lia.
From Bitwright Require Import Rules.
From Theorems Require Import Machine MachineKinds MachineStep MachineRun.
Import ListNotations.
#[local] Arguments Nat.modulo : simpl never.
#[local] Arguments Nat.div : simpl never.
#[local] Arguments Nat.pow : simpl never.
#[local] Arguments Machine.words : simpl never.
#[local] Arguments Machine.depth : simpl never.
#[local] Arguments Machine.below : simpl never.
#[local] Arguments Machine.digit : simpl never.
#[local] Arguments Machine.nodes : simpl never.
#[local] Arguments Machine.levels : simpl never.
#[local] Arguments Machine.pad : simpl never.
#[local] Arguments Machine.rise : simpl never.
#[local] Arguments Machine.span : simpl never.
#[local] Arguments Machine.answer : simpl never.
#[local] Arguments Machine.subtract : simpl never.
#[local] Arguments Machine.last : simpl never.
#[local] Arguments Machine.steps : simpl never.
#[local] Arguments Machine.vector : simpl never.

Section Machine.
Variables A n : nat.
Hypothesis A_least : 2 <= A.
Hypothesis A_most : A <= n.
(* Definitions and lemmas about these sizes. *)
Notation nodes_zero := (MachineStep.nodes_zero A). Notation words := (Machine.words A). Notation depth := (Machine.depth A).
Notation below := (Machine.below A). Notation digit := (Machine.digit A). Notation nodes := (Machine.nodes A). Notation levels := (Machine.levels n).
Notation rise := (Machine.rise A n). Notation span := (Machine.span A). Notation answer := (Machine.answer A n).
Notation subtract := (Machine.subtract A n). Notation last := (Machine.last A n). Notation steps := (Machine.steps A n).
Notation width := (Machine.width n). Notation valid := (MachineStep.valid A n). Notation parent := (MachineStep.parent A).
Notation picks := (MachineStep.picks A). Notation writing := (MachineStep.writing A). Notation fetching := (MachineStep.fetching A).
Notation before := (MachineStep.before A). Notation up := (MachineStep.up A). Notation generate := (MachineStep.generate A n).
Notation equal := (MachineStep.equal n). Notation top := (MachineStep.top n). Notation next := (MachineStep.next A n).
Notation depth_pos := (MachineStep.depth_pos A n A_least A_most). Notation below_depth := (MachineStep.below_depth A n A_least A_most).
Notation digit_cases := (MachineStep.digit_cases A n A_least A_most). Notation below_step := (MachineStep.below_step A n A_least A_most).
Notation two_pos := (MachineStep.two_pos A n A_least A_most). Notation words_least := (MachineStep.words_least A A_least).
Notation child_parent := (MachineStep.child_parent A n A_least A_most). Notation span_le := (MachineStep.span_le A n A_least A_most).
Notation span_rise := (MachineStep.span_rise A n A_least A_most). Notation rise_pos := (MachineStep.rise_pos A n A_least A_most).
Notation levels_pos := (MachineStep.levels_pos A n A_least A_most). Notation levels_full := (MachineStep.levels_full A n A_least A_most).
Notation width_levels := (MachineStep.width_levels A n A_least A_most). Notation width_half := (MachineStep.width_half A n A_least A_most).
Notation answer_least := (MachineStep.answer_least A n A_least A_most). Notation in_time := (MachineStep.in_time A n A_least A_most).
Notation before_after := (MachineStep.before_after A n A_least A_most). Notation after_before := (MachineStep.after_before A n A_least A_most).
Notation before_lt := (MachineStep.before_lt A n A_least A_most).


Section Halted.
Variables (memory : nat -> nat -> bool) (pending : option (nat * (nat -> bool))) (pc : nat -> bool).
Hypothesis negative : pc (n - 1) = true.
Notation landed := (landed memory pending). Notation here := (here A pc). Notation address := (address A).

Definition root (u : nat) : option (errand * nat) := if u =? 1 then Some (Fetching, here) else None.
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


Definition rest (t : nat) : state bit := fun b =>
  match b with
  | Token d k | Gate d k _ => at_node t d k
  | Writes d k | DataGate d k _ => writes_at t d k
  | Fetches d k => fetches_at t d k
  | Address d k i => address_at t d k i
  | Data d k j => data_at t d k j
  | Word k j => word_at t k j
  | Read k _ => read_at t k
  | Erase k _ | Store k _ => writes_at t depth k
  | Stored k j => data_at t depth k j
  | Second k => second_at t k
  | Third k => third_at t k
  | Rising l q j => rising_at t l q j
  | Arriving j => rising_at t rise 0 j
  | Next j => (1 <=? t) && pc j
  | Counter j => (t =? 0) && pc j
  | At m => (m <? 2) && (t =? m + 1)
  | Begin => t =? 0
  | Check => t =? 1
  | OutOfRange => t =? 2
  | Halt => 3 <=? t
  | _ => false
  end.

(** ** The tree *)

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
Lemma picks_wave t d k : d < depth -> picks (rest t) d k = match wave t d with Some (_, x) => k =? node x (S d) | None => false end.
Proof.
  intros D. unfold MachineStep.picks. cbn [rest]. unfold at_node, address_at. destruct (wave t d) as [[e x]|]; [|easy].
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
Lemma wave_next t d : wave (S t) (S d) = wave t d.
Proof. reflexivity. Qed.
Lemma wave_root t : wave t 0 = root t.
Proof. unfold wave. cbn [Nat.leb]. now rewrite Nat.sub_0_r. Qed.

Lemma token_next t d k : d < depth -> picks (rest t) d k && negb (writing (rest t) d k && fetching (rest t) d k) = at_node (S t) (S d) k.
Proof.
  intros D. rewrite picks_wave by easy. unfold MachineStep.writing, MachineStep.fetching, at_node. cbn [rest]. unfold writes_at, fetches_at. rewrite wave_next.
  destruct (wave t d) as [[[| |v] x]|]; cbn [andb negb]; rewrite ?andb_false_r; cbn [negb]; now rewrite ?andb_true_r.
Qed.
Lemma write_next t d k : d < depth -> picks (rest t) d k && writing (rest t) d k && negb (fetching (rest t) d k) = writes_at (S t) (S d) k.
Proof.
  intros D. rewrite picks_wave by easy. unfold MachineStep.writing, MachineStep.fetching. cbn [rest]. unfold writes_at, fetches_at. rewrite wave_next.
  destruct (wave t d) as [[[| |v] x]|]; cbn [andb negb]; rewrite ?andb_false_r, ?andb_true_r; try easy.
  destruct (Nat.eqb_spec k (node x (S d))) as [->|E]; [|easy]. rewrite node_step by easy. now rewrite Nat.eqb_refl.
Qed.
Lemma fetch_next t d k : d < depth -> picks (rest t) d k && fetching (rest t) d k && negb (writing (rest t) d k) = fetches_at (S t) (S d) k.
Proof.
  intros D. rewrite picks_wave by easy. unfold MachineStep.writing, MachineStep.fetching. cbn [rest]. unfold writes_at, fetches_at. rewrite wave_next.
  destruct (wave t d) as [[[| |v] x]|]; cbn [andb negb]; rewrite ?andb_false_r, ?andb_true_r; try easy.
  destruct (Nat.eqb_spec k (node x (S d))) as [->|E]; [|easy]. rewrite node_step by easy. now rewrite Nat.eqb_refl.
Qed.
Lemma read_next t k : picks (rest t) (depth - 1) k && negb (writing (rest t) (depth - 1) k)
  = match wave (S t) depth with Some (Writing _, _) | None => false | Some (_, x) => k =? x end.
Proof.
  pose proof depth_pos. set (d := depth - 1). assert (E : depth = S d) by (unfold d; lia). rewrite picks_wave by lia.
  unfold MachineStep.writing. cbn [rest]. unfold writes_at. rewrite E, wave_next.
  destruct (wave t d) as [[[| |v] x]|]; cbn [andb negb]; rewrite ?andb_true_r; try easy; rewrite <- E; rewrite ?node_depth; try easy.
  destruct (Nat.eqb_spec k x) as [->|N]; [|easy]. rewrite <- (node_depth x) at 1. rewrite E. rewrite node_step by lia. now rewrite Nat.eqb_refl.
Qed.
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


Lemma times_are : answer = depth + rise /\ 1 <= depth /\ 1 <= levels /\ 2 <= answer /\ 1 <= rise /\ last = 2 * answer + 3 + levels /\ subtract = 2 * answer + 3.
Proof.
  pose proof depth_pos. pose proof levels_pos. pose proof answer_least. pose proof rise_pos. unfold Machine.last, Machine.subtract, Machine.answer in *. lia.
Qed.
Lemma address_lt f : address f < words.
Proof. apply (number_lt A n A_least A_most). Qed.
Lemma acts_none t m : 1 <= m -> acts (rest t) m = false.
Proof. intros M. unfold acts. cbn [rest]. times. Qed.
Lemma hears_none t j w x0 x1 x2 x3 x4 : x0 || x1 || x2 || x3 || x4 = true -> hears (rest t) j [w; x0; x1; x2; x3; x4] = false.
Proof. intros H. unfold hears. rewrite heard_is. cbn [rest]. destruct w, x0, x1, x2, x3, x4; try discriminate H; cbn [Bool.eqb]; rewrite ?andb_false_r; reflexivity. Qed.
Lemma up_next t l q j : 1 <= l -> up (rest t) l q j = rising_at (S t) l q j.
Proof.
  intros L. destruct l as [|[|l]]; [lia| |].
  - cbn [MachineStep.up]. unfold rising_at. cbn [Nat.leb andb]. now rewrite Nat.sub_succ, Nat.sub_0_r.
  - cbn [MachineStep.up]. set (m := S l). pose proof (span_le m). set (w := span (S m) - span m). assert (E : 2 ^ span (S m) = 2 ^ w * 2 ^ span m) by (rewrite <- Nat.pow_add_r; f_equal; lia).
    pose proof (two_pos (span m)). pose proof (two_pos w). cbn [rest]. unfold rising_at. replace (S m <=? S t) with (m <=? t) by reflexivity. rewrite Nat.sub_succ. destruct (m <=? t); cbn [andb].
    2:{ generalize (seq 0 (2 ^ w)). induction l0; [easy|exact IHl0]. }
    apply eq_true_iff_eq. rewrite !existsb_exists. split.
    + intros (c & I & H'). apply in_seq in I. apply existsb_exists in H' as (e & I' & H'). apply in_seq in I'. exists (c * 2 ^ span m + e). split.
      * apply in_seq. rewrite E. nia.
      * rewrite E. replace (q * (2 ^ w * 2 ^ span m) + (c * 2 ^ span m + e)) with ((q * 2 ^ w + c) * 2 ^ span m + e) by lia. exact H'.
    + intros (c & I & H'). apply in_seq in I. rewrite E in *. pose proof (Nat.div_mod c (2 ^ span m) ltac:(lia)). pose proof (Nat.mod_upper_bound c (2 ^ span m) ltac:(lia)).
      exists (c / 2 ^ span m). split; [apply in_seq; split; [lia|]; apply Nat.div_lt_upper_bound; lia|]. apply existsb_exists. exists (c mod 2 ^ span m).
      split; [apply in_seq; lia|]. replace ((q * 2 ^ w + c / 2 ^ span m) * 2 ^ span m + c mod 2 ^ span m) with (q * (2 ^ w * 2 ^ span m) + c) by nia. exact H'.
Qed.

Lemma word_next t k j :
  word_at t k j && negb (writes_at t depth k) || writes_at t depth k && data_at t depth k j = word_at (S t) k j.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). destruct (Nat.lt_ge_cases t depth) as [H|H].
  - unfold word_at. rewrite (proj2 (Nat.ltb_lt _ _) H). unfold writes_at, data_at, wave. rewrite (proj2 (Nat.leb_gt depth t)) by lia.
    destruct (Nat.eqb_spec depth (t + 1)) as [E|E].
    + rewrite (proj2 (Nat.ltb_ge (S t) depth)) by lia. unfold MachineRun.landed. destruct pending as [[x v]|]; [|cbn; now rewrite andb_true_r, orb_false_r].
      rewrite node_depth. destruct (Nat.eqb_spec k x) as [->|N]; cbn [negb andb]; [|now rewrite andb_true_r, orb_false_r].
      rewrite andb_false_r. cbn [orb]. replace (near depth x x) with true; [easy|]. symmetry. rewrite <- (node_depth x) at 1. replace depth with (S t) by lia.
      cbn [near]. rewrite node_step by lia. apply Nat.eqb_refl.
    + rewrite (proj2 (Nat.ltb_lt (S t) depth)) by lia. cbn [negb andb]. now rewrite andb_true_r, orb_false_r.
  - assert (W : writes_at t depth k = false).
    { unfold writes_at, wave. rewrite (proj2 (Nat.leb_le depth t)) by lia. unfold root. now destruct (t - depth =? 1). }
    rewrite W. cbn [negb andb]. rewrite andb_true_r, orb_false_r. unfold word_at.
    now rewrite (proj2 (Nat.ltb_ge t depth)), (proj2 (Nat.ltb_ge (S t) depth)) by lia.
Qed.
Ltac at_root := unfold at_node, writes_at, fetches_at, address_at, data_at; rewrite wave_root; unfold root;
  repeat match goal with |- context [?x =? ?y] => lazymatch y with node _ _ => fail | _ => destruct (Nat.eqb_spec x y); try (exfalso; lia) end end;
  cbn [andb orb negb near]; rewrite ?node_zero by apply address_lt; cbn [Nat.eqb]; try reflexivity.

Theorem rest_next t b : valid b -> next (rest t) b = rest (S t) b.
Proof.
  intros V. destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts).
  assert (Nz : forall k, k < nodes 0 -> k = 0) by (intros k; rewrite nodes_zero; lia).
  assert (Ed : S (depth - 1) = depth) by lia.
  assert (Gn : forall d i, generate (rest t) d i = false).
  { intros [|e] i; cbn [MachineStep.generate rest]; [destruct i; [apply acts_none; lia|reflexivity]|]. now rewrite !andb_false_r. }
  assert (Kn : forall d i, keep (rest t) d i = false) by (intros [|e] i; reflexivity).
  assert (En : forall l i, equal (rest t) l i = false) by (intros [|l] i; reflexivity).
  destruct b; cbn [MachineStep.valid] in V; cbn [MachineStep.next];
    try (rewrite ?acts_none by lia; cbn [rest]; reflexivity); try (rewrite hears_none by reflexivity; reflexivity);
    try (rewrite ?Gn, ?Kn, ?En; reflexivity).
  - destruct d as [|d]; cbn [rest]; [|apply token_next; lia]. destruct V as [_ K]. apply Nz in K as ->. cbn [MachineStep.token_in rest]. at_root.
  - destruct d as [|d]; cbn [rest]; [|apply write_next; lia]. destruct V as [_ K]. apply Nz in K as ->. cbn [MachineStep.write_in rest]. at_root.
  - destruct d as [|d]; cbn [rest]; [|apply fetch_next; lia]. destruct V as [_ K]. apply Nz in K as ->. cbn [MachineStep.fetch_in rest]. at_root.
  - destruct d as [|d]; cbn [rest]; [|apply address_next; lia]. destruct V as (_ & K & I). apply Nz in K as ->. unfold Machine.below in I.
    rewrite !hears_none by reflexivity. unfold address_at. rewrite wave_root. unfold root, MachineRun.here, MachineRun.address. times. now rewrite (number_bit A n A_least A_most) by easy.
  - destruct d as [|d]; cbn [rest]; [|apply token_next; lia]. destruct V as (_ & K & _). apply Nz in K as ->. cbn [MachineStep.token_in rest]. at_root.
  - destruct d as [|d]; cbn [rest]; [|apply data_next; lia]. destruct V as (_ & K & J). apply Nz in K as ->. at_root.
  - destruct d as [|d]; cbn [rest]; [|apply write_next; lia]. destruct V as (_ & K & _). apply Nz in K as ->. cbn [MachineStep.write_in rest]. at_root.
  - cbn [rest]. apply word_next.
  - cbn [rest]. rewrite read_next. unfold read_at at 1. now rewrite orb_assoc.
  - cbn [rest]. rewrite <- Ed. apply write_next. lia.
  - cbn [rest]. rewrite <- Ed. apply write_next. lia.
  - cbn [rest]. unfold MachineStep.data_in. cbn [rest]. pose proof (data_next t (depth - 1) k j ltac:(lia)) as E. now rewrite Ed in E.
  - cbn [rest]. rewrite <- Ed at 1. cbn [MachineStep.fetch_in]. rewrite fetch_next by lia. rewrite Ed. unfold fetches_at, second_at.
    destruct (wave (S t) depth) as [[[| |v] x]|]; try easy. now rewrite node_depth.
  - cbn [rest]. now apply up_next.
  - cbn [rest]. now apply up_next.
  - cbn [rest]. times; now destruct (pc j).
  - cbn [rest]. rewrite acts_none by lia. now rewrite !andb_false_r.
  - cbn [rest]. now rewrite !andb_false_r.
  - destruct t0 as [|[|m]]; cbn [rest]; [times| |].
    + unfold acts. cbn [rest]. times.
    + rewrite acts_none by lia. reflexivity.
  - cbn [rest]. unfold MachineStep.top. rewrite negative. times.
  - cbn [rest]. times.
Qed.

Lemma wave_0 d : wave 0 d = if d =? 1 then match pending with Some (x, v) => Some (Writing v, x) | None => None end else None.
Proof. unfold wave. destruct d as [|d]; reflexivity. Qed.
Lemma rest_0 b : valid b -> rest 0 b = boundary A memory pending pc b.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). intros V.
  destruct b; cbn [rest boundary]; unfold at_node, writes_at, fetches_at, address_at, data_at, read_at, second_at, third_at, rising_at, word_at; rewrite ?wave_0; cbn [andb orb]; try reflexivity;
    try (destruct d as [|[|d]]; cbn [Nat.eqb]; destruct pending as [[x v]|]; reflexivity).
  - rewrite (proj2 (Nat.ltb_lt 0 depth)) by lia. reflexivity.
  - destruct (depth =? 1), pending as [[x v]|]; reflexivity.
  - destruct (Nat.eqb_spec depth 1), pending as [[x v]|]; try reflexivity. now rewrite node_depth.
  - destruct (Nat.eqb_spec depth 1), pending as [[x v]|]; try reflexivity. now rewrite node_depth.
  - destruct (Nat.eqb_spec depth 1) as [E|E], pending as [[x v]|]; try reflexivity. now rewrite E.
  - destruct (depth =? 1), pending as [[x v]|]; reflexivity.
  - rewrite (proj2 (Nat.leb_gt l 0)); [easy|]. cbn in V. lia.
  - rewrite (proj2 (Nat.leb_gt rise 0)) by lia. reflexivity.
  - replace (t + 1) with (S t) by lia. apply andb_false_r.
Qed.
End Halted.
End Machine.
