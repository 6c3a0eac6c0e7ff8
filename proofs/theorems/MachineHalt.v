(** Machine V halts: once its counter is negative, its state no longer changes, and its memory is complete. *)
From Coq Require Import List Bool Arith Lia.
From Bitwright Require Import Rules.
From Theorems Require Import Machine MachineKinds MachineStep MachineTree MachineRun.
Import ListNotations.

Section Machine.
Variables A n : nat.
Hypothesis A_least : 2 <= A.
Hypothesis A_most : A <= n.
(* Definitions and lemmas about these sizes. *)
Notation nodes_zero := (MachineStep.nodes_zero A). Notation depth := (Machine.depth A). Notation nodes := (Machine.nodes A).
Notation rise := (Machine.rise A n). Notation valid := (MachineStep.valid A n). Notation generate := (MachineStep.generate A n).
Notation equal := (MachineStep.equal n). Notation next := (MachineStep.next A n).

Section Halted.
Variables (memory : nat -> nat -> bool) (pending : option (nat * (nat -> bool))) (pc : nat -> bool).
Hypothesis negative : pc (n - 1) = true.
 Notation address_lt := (MachineTree.address_lt A).  Notation here := (MachineRun.here A pc).

Definition root (u : nat) : option (errand * nat) := if u =? 1 then Some (Fetching, here) else None.
Notation wave := (MachineTree.wave pending root). Notation node := (MachineTree.node A).
Notation at_node := (MachineTree.at_node A pending root). Notation writes_at := (MachineTree.writes_at A pending root).
Notation fetches_at := (MachineTree.fetches_at A pending root). Notation address_at := (MachineTree.address_at A pending root).
Notation data_at := (MachineTree.data_at A pending root). Notation word_at := (MachineTree.word_at A memory pending).
Notation second_at := (MachineTree.second_at A pending root). Notation third_at := (MachineTree.third_at A pending root).
Notation read_at := (MachineTree.read_at A pending root).
Notation rising_at := (MachineTree.rising_at A memory pending root).
Notation node_zero := (MachineTree.node_zero A). Notation node_depth := (MachineTree.node_depth A n A_least A_most).

Notation wave_root := (MachineTree.wave_root pending root). Notation times_are := (MachineTree.times_are A n A_least A_most).
Notation address_next := (MachineTree.address_next A n A_least A_most pending root).
Notation data_next := (MachineTree.data_next A n A_least A_most pending root).

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

Lemma rest_shows t : MachineTree.shows A memory pending root t (rest t).
Proof. constructor; reflexivity. Qed.
Definition token_next t := MachineTree.token_next A n A_least A_most memory pending root t _ (rest_shows t).
Definition write_next t := MachineTree.write_next A n A_least A_most memory pending root t _ (rest_shows t).
Definition fetch_next t := MachineTree.fetch_next A n A_least A_most memory pending root t _ (rest_shows t).
Definition read_next t := MachineTree.read_next A n A_least A_most memory pending root t _ (rest_shows t).
Definition up_next t := MachineTree.up_next A n A_least A_most memory pending root t _ (rest_shows t).
Lemma acts_none t m : 1 <= m -> acts (rest t) m = false.
Proof. intros M. unfold acts. cbn [rest]. times. Qed.
Lemma hears_none t j w x0 x1 x2 x3 x4 : x0 || x1 || x2 || x3 || x4 = true -> hears (rest t) j [w; x0; x1; x2; x3; x4] = false.
Proof. intros H. unfold hears. rewrite heard_is. cbn [rest]. destruct w, x0, x1, x2, x3, x4; try discriminate H; cbn [Bool.eqb]; rewrite ?andb_false_r; reflexivity. Qed.
Ltac at_root := unfold MachineTree.at_node, MachineTree.writes_at, MachineTree.fetches_at, MachineTree.address_at, MachineTree.data_at; rewrite wave_root; unfold root;
  repeat match goal with |- context [?x =? ?y] => lazymatch y with node _ _ => fail | _ => destruct (Nat.eqb_spec x y); try (exfalso; lia) end end;
  cbn [andb orb negb MachineTree.near]; rewrite ?node_zero by apply address_lt; cbn [Nat.eqb]; try reflexivity.

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
    rewrite !hears_none by reflexivity. unfold MachineTree.address_at. rewrite wave_root. unfold root, MachineRun.here, MachineTree.address. times. now rewrite number_bit by easy.
  - destruct d as [|d]; cbn [rest]; [|apply token_next; lia]. destruct V as (_ & K & _). apply Nz in K as ->. cbn [MachineStep.token_in rest]. at_root.
  - destruct d as [|d]; cbn [rest]; [|apply data_next; lia]. destruct V as (_ & K & J). apply Nz in K as ->. at_root.
  - destruct d as [|d]; cbn [rest]; [|apply write_next; lia]. destruct V as (_ & K & _). apply Nz in K as ->. cbn [MachineStep.write_in rest]. at_root.
  - cbn [rest]. apply (MachineTree.word_next A n A_least A_most). intros D. unfold MachineTree.writes_at, MachineTree.wave.
    rewrite (proj2 (Nat.leb_le depth t)) by lia. unfold root. now destruct (t - depth =? 1).
  - cbn [rest]. rewrite read_next. unfold MachineTree.read_at at 1. now rewrite orb_assoc.
  - cbn [rest]. rewrite <- Ed. apply write_next. lia.
  - cbn [rest]. rewrite <- Ed. apply write_next. lia.
  - cbn [rest]. unfold MachineStep.data_in. cbn [rest]. pose proof (data_next t (depth - 1) k j ltac:(lia)) as E. now rewrite Ed in E.
  - cbn [rest]. rewrite <- Ed at 1. cbn [MachineStep.fetch_in]. rewrite fetch_next by lia. rewrite Ed. unfold MachineTree.fetches_at, MachineTree.second_at.
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
Proof. unfold MachineTree.wave. destruct d as [|d]; reflexivity. Qed.
Lemma rest_0 b : valid b -> rest 0 b = boundary A memory pending pc b.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). intros V.
  destruct b; cbn [rest boundary]; unfold MachineTree.at_node, MachineTree.writes_at, MachineTree.fetches_at, MachineTree.address_at, MachineTree.data_at, MachineTree.read_at, MachineTree.second_at, MachineTree.third_at, MachineTree.rising_at, MachineTree.word_at; rewrite ?wave_0; cbn [andb orb]; try reflexivity;
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
