(** The states of machine V during an instruction, in closed form, at every size. *)
From Coq Require Import List Bool Arith Lia.
From Bitwright Require Import Rules.
From Theorems Require Import Machine MachineKinds MachineStep MachineTree.
Import ListNotations.

Section Machine.
Variables A n : nat.
Hypothesis A_least : 2 <= A.
Hypothesis A_most : A <= n.
(* Definitions and lemmas about these sizes. *)
Notation nodes_zero := (MachineStep.nodes_zero A). Notation words := (Machine.words A). Notation depth := (Machine.depth A).
Notation nodes := (Machine.nodes A). Notation levels := (Machine.levels n). Notation rise := (Machine.rise A n).
Notation answer := (Machine.answer A n). Notation last := (Machine.last A n). Notation steps := (Machine.steps A n).
Notation width := (Machine.width n). Notation valid := (MachineStep.valid A n). Notation before := (MachineStep.before A).
Notation up := (MachineStep.up A). Notation generate := (MachineStep.generate A n). Notation equal := (MachineStep.equal n).
Notation top := (MachineStep.top n). Notation next := (MachineStep.next A n). Notation two_pos := (MachineStep.two_pos A n A_least A_most).
Notation words_least := (MachineStep.words_least A A_least). Notation span_rise := (MachineStep.span_rise A n A_least A_most).
Notation levels_full := (MachineStep.levels_full A n A_least A_most). Notation width_levels := (MachineStep.width_levels A n A_least A_most).
Notation width_half := (MachineStep.width_half A n A_least A_most). Notation in_time := (MachineStep.in_time A n A_least A_most).
Notation before_after := (MachineStep.before_after A n A_least A_most). Notation after_before := (MachineStep.after_before A n A_least A_most).
Notation before_lt := (MachineStep.before_lt A n A_least A_most).

(** * The states of an instruction, in closed form *)

Section Instruction.
Variables (memory : nat -> nat -> bool) (pending : option (nat * (nat -> bool))) (pc : nat -> bool).
Hypothesis pending_word : match pending with Some (x, _) => x < words | None => True end.
Hypothesis goes_on : pc (n - 1) = false.

Notation address := (MachineTree.address A). Notation address_lt := (MachineTree.address_lt A). Notation landed := (MachineTree.landed memory pending).
(** The instruction, and its operands. *)
Definition here : nat := address pc.
Definition a : nat -> bool := landed here.
Definition b' : nat -> bool := landed ((here + 1) mod words).
Definition c' : nat -> bool := landed (((here + 1) mod words + 1) mod words).
Definition subtrahend : nat -> bool := landed (address a).
Definition minuend : nat -> bool := landed (address b').
Definition half (j : nat) : bool := xorb (minuend j) (negb (subtrahend j)).

(** Carries, by spans of 2^d positions. *)
Fixpoint spans (d : nat) : (nat -> bool) * (nat -> bool) :=
  match d with
  | O => (fun i => match i with O => true | S j => minuend j && negb (subtrahend j) end, fun i => half (i - 1))
  | S e => let (g, p) := spans e in
           (fun i => g i || (2 ^ e <=? i) && p i && g (i - 2 ^ e) && ((i <? 2 ^ S e) || negb (p (i - 2 ^ e))),
            fun i => p i && p (i - 2 ^ e) && negb (g (i - 2 ^ e)))
  end.
Definition leaves (d i : nat) : bool := fst (spans d) i.
Definition passes (d i : nat) : bool := snd (spans d) i.
Fixpoint alike (l i : nat) : bool := match l with O => half i | S l => alike l (2 * i) && ((width l <=? S (2 * i)) || alike l (S (2 * i))) end.
Definition zero : bool := alike levels 0.
Definition carry (j : nat) : bool := leaves levels j.
Definition result (j : nat) : bool := xorb (half j) (carry j) && negb ((j =? top) && zero).
Definition is_no : bool := negb zero && Bool.eqb (half top) (carry top).
Definition is_yes : bool := negb zero && xorb (half top) (carry top) || zero && half top && carry top.

(** The value of the counter and the amount still to be added, t steps after the boundary. *)
Fixpoint counting (t : nat) : (nat -> bool) * (nat -> bool) :=
  match t with
  | O => (pc, fun _ => false)
  | S u => let (h, c) := counting u in
           (fun j => xorb (h j) (c j), fun j => (j <? 2) && (u =? 2) || (1 <=? j) && h (j - 1) && c (j - 1))
  end.
Definition held (t j : nat) : bool := fst (counting t) j.
Definition added (t j : nat) : bool := snd (counting t) j.
Definition following (j : nat) : bool := held (last + 3) j && is_no && negb is_yes || c' j && negb is_no && is_yes.

(** The tokens at the root of the tree at time u. *)
Definition root (u : nat) : option (errand * nat) :=
  if u =? 1 then Some (Fetching, here) else if u =? answer + 2 then Some (Reading, address a)
  else if u =? answer + 3 then Some (Reading, address b') else if u =? last + 3 then Some (Writing result, address b') else None.
Notation wave := (MachineTree.wave pending root). Notation node := (MachineTree.node A). Notation near := (MachineTree.near A).
Notation at_node := (MachineTree.at_node A pending root). Notation writes_at := (MachineTree.writes_at A pending root).
Notation fetches_at := (MachineTree.fetches_at A pending root). Notation address_at := (MachineTree.address_at A pending root).
Notation data_at := (MachineTree.data_at A pending root). Notation word_at := (MachineTree.word_at A memory pending).
Notation second_at := (MachineTree.second_at A pending root). Notation third_at := (MachineTree.third_at A pending root).
Notation read_at := (MachineTree.read_at A pending root). Notation comes := (MachineTree.comes A memory pending root).
Notation rising_at := (MachineTree.rising_at A memory pending root).
Notation node_zero := (MachineTree.node_zero A). Notation node_depth := (MachineTree.node_depth A n A_least A_most).

Notation wave_root := (MachineTree.wave_root pending root). Notation times_are := (MachineTree.times_are A n A_least A_most).
Notation address_next := (MachineTree.address_next A n A_least A_most pending root).
Notation data_next := (MachineTree.data_next A n A_least A_most pending root).

Definition form (t : nat) : state bit := fun b =>
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
  | IsA _ => t =? answer + 1 | IsB _ => t =? answer + 2 | IsC _ => t =? answer + 3
  | IsSubtrahend _ => t =? 2 * answer + 2 | IsMinuend _ => t =? 2 * answer + 3
  | Target i => (answer + 3 <=? t) && (t <=? last + 2) && b' i
  | Release _ | Ready _ | DoStore => t =? last + 2
  | Early j => (t =? 2 * answer + 3) && negb (subtrahend j)
  | Minuend j => (t =? 2 * answer + 4) && minuend j
  | Inverted j => (t =? 2 * answer + 4) && negb (subtrahend j)
  | Half j => (2 * answer + 5 <=? t) && (t <=? last + 2) && half j
  | Carry j => (t =? last + 2) && carry j
  | Zero => (t =? last + 2) && zero
  | Generate d i => (t =? 2 * answer + 5 + d) && leaves d i
  | Keep d i => (t =? 2 * answer + 5 + d) && passes d i
  | Low d i => (t =? 2 * answer + 5 + d) && leaves d (i - 2 ^ d)
  | Pass d i => (t =? 2 * answer + 5 + d) && passes d (i - 2 ^ d)
  | Equal l i => (t =? 2 * answer + 5 + l) && alike l i
  | Next j => (1 <=? t) && (t <=? last + 3) && held t j
  | Count j => (t <=? last + 3) && added t j
  | NextIfNot _ | JumpIfNot _ => (t =? last + 3) && is_no
  | NextIf _ | JumpIf _ => (t =? last + 3) && is_yes
  | Jump j => (answer + 4 <=? t) && (t <=? last + 3) && c' j
  | Counter j => (t =? 0) && pc j || (t =? last + 4) && following j
  | At m => t =? m + 1
  | Begin => (t =? 0) || (t =? last + 4)
  | Finish => t =? last + 3
  | Ask => (t =? answer + 1) || (t =? answer + 2)
  | Check | OutOfRange | Halt => false
  end.

Lemma form_shows t : MachineTree.shows A memory pending root t (form t).
Proof. constructor; reflexivity. Qed.
Definition token_next t := MachineTree.token_next A n A_least A_most memory pending root t _ (form_shows t).
Definition write_next t := MachineTree.write_next A n A_least A_most memory pending root t _ (form_shows t).
Definition fetch_next t := MachineTree.fetch_next A n A_least A_most memory pending root t _ (form_shows t).
Definition read_next t := MachineTree.read_next A n A_least A_most memory pending root t _ (form_shows t).
Definition up_next t := MachineTree.up_next A n A_least A_most memory pending root t _ (form_shows t).

(** ** Carries *)

Definition starts (i : nat) : bool := match i with O => true | S j => minuend j && negb (subtrahend j) end.
Definition lets (i : nat) : bool := match i with O => false | S j => half j end.
(** A carry leaves, or would pass through, the last x positions up to i. *)
Fixpoint gen (x i : nat) : bool := match x with O => false | S x => starts i || lets i && gen x (i - 1) end.
Fixpoint prop (x i : nat) : bool := match x with O => true | S x => lets i && prop x (i - 1) end.
Lemma starts_not_lets i : lets i = true -> starts i = false.
Proof. destruct i as [|j]; cbn; [easy|]. unfold half. destruct (minuend j), (subtrahend j); easy. Qed.
Lemma prop_not_gen x i : prop x i = true -> gen x i = false.
Proof.
  revert i. induction x as [|x IH]; intros i H; [easy|]. cbn in *. apply andb_prop in H as [H1 H2]. rewrite (starts_not_lets _ H1), (IH _ H2).
  now rewrite andb_false_r.
Qed.
Lemma gen_add x y i : x <= i -> gen (x + y) i = gen x i || prop x i && gen y (i - x).
Proof.
  revert i. induction x as [|x IH]; intros i H; cbn; [now rewrite Nat.sub_0_r|]. destruct i as [|i]; [lia|]. rewrite IH by lia.
  replace (S i - 1 - x) with (S i - S x) by lia. destruct (starts (S i)), (lets (S i)); cbn; easy.
Qed.
Lemma prop_add x y i : x <= i -> prop (x + y) i = prop x i && prop y (i - x).
Proof.
  revert i. induction x as [|x IH]; intros i H; cbn; [now rewrite Nat.sub_0_r|]. destruct i as [|i]; [lia|]. rewrite IH by lia.
  replace (S i - 1 - x) with (S i - S x) by lia. now rewrite andb_assoc.
Qed.
(** The carry into bit i; the carry into bit 0 is on. *)
Fixpoint carries (i : nat) : bool := match i with O => true | S j => minuend j && negb (subtrahend j) || half j && carries j end.
Lemma gen_full x i : i < x -> gen x i = carries i.
Proof.
  revert x. induction i as [|i IH]; intros [|x] H; try lia; [easy|]. cbn [gen carries starts lets]. rewrite Nat.sub_succ, Nat.sub_0_r. now rewrite IH by lia.
Qed.
Lemma leaves_S e i : leaves (S e) i = leaves e i || (2 ^ e <=? i) && passes e i && leaves e (i - 2 ^ e) && ((i <? 2 ^ S e) || negb (passes e (i - 2 ^ e))).
Proof. unfold leaves, passes. cbn [spans]. now destruct (spans e). Qed.
Lemma passes_S e i : passes (S e) i = passes e i && passes e (i - 2 ^ e) && negb (leaves e (i - 2 ^ e)).
Proof. unfold leaves, passes. cbn [spans]. now destruct (spans e). Qed.
Lemma spans_are d i : leaves d i = gen (2 ^ d) i /\ (2 ^ d <= i -> passes d i = prop (2 ^ d) i).
Proof.
  revert i. induction d as [|e IH]; intros i.
  - change (2 ^ 0) with 1. cbn [gen prop]. unfold leaves, passes. cbn [spans fst snd]. rewrite andb_false_r, orb_false_r. split; [now destruct i|].
    intros H. destruct i as [|j]; [lia|]. rewrite Nat.sub_succ, Nat.sub_0_r, andb_true_r. reflexivity.
  - rewrite leaves_S, passes_S. rewrite Nat.pow_succ_r'. pose proof (two_pos e). set (x := 2 ^ e) in *. replace (2 * x) with (x + x) by lia.
    destruct (IH i) as [L P]. destruct (IH (i - x)) as [L' P']. rewrite L, L'. split.
    + destruct (Nat.leb_spec x i) as [H1|H1].
      * rewrite P by easy. rewrite gen_add by easy. destruct (gen x i); [easy|]. cbn [andb orb]. destruct (Nat.ltb_spec i (x + x)); [now rewrite andb_true_r|].
        rewrite P' by lia. cbn [orb]. destruct (prop x (i - x)) eqn:E; [|now rewrite andb_true_r]. rewrite (prop_not_gen _ _ E). now rewrite !andb_false_r.
      * cbn [andb]. rewrite orb_false_r. rewrite !gen_full by lia. reflexivity.
    + intros H1. rewrite P, P' by lia. rewrite prop_add by lia. destruct (prop x (i - x)) eqn:E; [|now rewrite !andb_false_r].
      rewrite (prop_not_gen _ _ E). now rewrite !andb_true_r.
Qed.
Lemma carry_is j : j < n -> carry j = carries j.
Proof. intros J. unfold carry. rewrite (proj1 (spans_are levels j)). apply gen_full. pose proof levels_full. lia. Qed.

Lemma width_cover l : n <= width l * 2 ^ l.
Proof.
  induction l as [|l IH]; [cbn [Machine.width]; change (2 ^ 0) with 1; lia|]. cbn [Machine.width]. rewrite Nat.pow_succ_r'.
  pose proof (Nat.div_mod (width l + 1) 2). pose proof (Nat.mod_upper_bound (width l + 1) 2). pose proof (two_pos l). nia.
Qed.
Lemma alike_all l i : i < width l -> (alike l i = true <-> forall j, i * 2 ^ l <= j < S i * 2 ^ l -> j < n -> half j = true).
Proof.
  revert i. induction l as [|l IH]; intros i I.
  - cbn [alike Machine.width] in *. change (2 ^ 0) with 1. split; [intros H j J _; now replace j with i by lia|]. intros H. apply H; lia.
  - apply width_half in I. cbn [alike]. rewrite andb_true_iff, orb_true_iff, Nat.leb_le, (IH (2 * i)) by easy.
    rewrite Nat.pow_succ_r'. pose proof (two_pos l) as P. pose proof (width_cover l) as C. set (x := 2 ^ l) in *. split.
    + intros [H1 H2] j J N. destruct (Nat.lt_ge_cases j (S (2 * i) * x)) as [L|L]; [apply H1; [nia|easy]|].
      destruct H2 as [H2|H2]; [nia|]. destruct (Nat.lt_ge_cases (S (2 * i)) (width l)) as [W|W]; [|nia].
      apply (proj1 (IH _ W) H2 j); [nia|easy].
    + intros H. split; [intros j J N; apply H; [nia|easy]|]. destruct (Nat.lt_ge_cases (S (2 * i)) (width l)) as [W|W]; [|left; lia].
      right. apply (IH _ W). intros j J N. apply H; [nia|easy].
Qed.
Lemma zero_all : zero = true <-> forall j, j < n -> half j = true.
Proof.
  unfold zero. rewrite alike_all by (rewrite width_levels; lia). pose proof levels_full. split; intros H' j; [intros J|intros _ J]; apply H'; lia.
Qed.
Lemma zero_carries : zero = true -> half top = true /\ carry top = true.
Proof.
  intros H. pose proof (proj1 zero_all H) as Z. assert (Tn : top < n) by (unfold MachineStep.top; lia). split; [now apply Z|]. rewrite carry_is by easy.
  assert (G : forall i, i < n -> carries i = true); [|now apply G]. induction i as [|i IH]; intros I; [easy|]. cbn [carries]. rewrite Z, IH by lia. apply orb_true_r.
Qed.
Lemma decided : is_no = negb is_yes.
Proof.
  unfold is_no, is_yes. destruct zero eqn:Z; [|now destruct (half top), (carry top)]. destruct (zero_carries Z) as [-> ->]. easy.
Qed.
Lemma result_is j : j < n -> result j = xorb (half j) (carries j).
Proof.
  intros J. unfold result. rewrite <- carry_is by easy. destruct (Nat.eqb_spec j top) as [->|E]; [|apply andb_true_r]. cbn [andb].
  destruct zero eqn:Z; [|apply andb_true_r]. destruct (zero_carries Z) as [-> ->]. easy.
Qed.

(** ** The counter reaches its final value *)

Lemma held_S t j : held (S t) j = xorb (held t j) (added t j).
Proof. unfold held, added. cbn [counting]. now destruct (counting t). Qed.
Lemma added_S t j : added (S t) j = (j <? 2) && (t =? 2) || (1 <=? j) && held t (j - 1) && added t (j - 1).
Proof. unfold held, added. cbn [counting]. now destruct (counting t). Qed.
Lemma added_rest t j : t <= 2 \/ j + 3 < t -> added t j = false.
Proof.
  revert j. induction t as [|t IH]; intros j H; [easy|]. rewrite added_S.
  replace ((j <? 2) && (t =? 2)) with false by (destruct (Nat.ltb_spec j 2), (Nat.eqb_spec t 2); lia). cbn [orb].
  destruct (Nat.leb_spec 1 j); [|easy]. rewrite IH by lia. apply andb_false_r.
Qed.
Lemma counted j : j < n -> added (last + 3) j = false.
Proof. intros J. apply added_rest. pose proof in_time. unfold Machine.last, Machine.subtract. lia. Qed.

(** ** What arrives at the port *)

Ltac root_is := unfold root; repeat match goal with |- context [?x =? ?y] => destruct (Nat.eqb_spec x y); try lia end; reflexivity.
Lemma wave_words u : wave (depth + u) depth = root u.
Proof. unfold MachineTree.wave. rewrite (proj2 (Nat.leb_le depth (depth + u))) by lia. f_equal. lia. Qed.
Lemma before_is k x : k < words -> x < words -> (before k =? x) = (k =? (x + 1) mod words).
Proof.
  intros K X. apply eq_true_iff_eq. rewrite !Nat.eqb_eq. split; [intros <-; symmetry; now apply before_after | intros ->; now apply after_before].
Qed.
Lemma succ_lt x : (x + 1) mod words < words.
Proof. apply Nat.mod_upper_bound. pose proof words_least. lia. Qed.
Lemma arrives u x : u + rise <= last + 4 -> depth <= u -> x < words -> (forall k, k < words -> read_at u k = (k =? x)) -> (forall k, writes_at u depth k = false) ->
  forall j, rising_at (u + rise) rise 0 j = landed x j.
Proof.
  intros U D X R W j. unfold MachineTree.rising_at. rewrite (proj2 (Nat.leb_le rise (u + rise))) by lia. cbn [andb]. rewrite span_rise. change (2 ^ A) with words.
  replace (u + rise - rise) with u by lia. unfold MachineTree.comes, MachineTree.word_at. rewrite (proj2 (Nat.ltb_ge u depth)) by lia.
  apply eq_true_iff_eq. rewrite existsb_exists. split.
  - intros (k & I & H). apply in_seq in I. rewrite Nat.mul_0_l, Nat.add_0_l in H. rewrite R in H by lia. rewrite !andb_true_iff, Nat.eqb_eq in H. destruct H as [[H E] _]. now subst.
  - intros H. exists x. split; [apply in_seq; lia|]. rewrite Nat.mul_0_l, Nat.add_0_l. rewrite H, R, W by lia. now rewrite Nat.eqb_refl.
Qed.
Lemma no_write u k : u < last + 3 -> writes_at (depth + u) depth k = false.
Proof.
  intros U. unfold MachineTree.writes_at. rewrite wave_words. unfold root. repeat match goal with |- context [?x =? ?y] => destruct (Nat.eqb_spec x y); try reflexivity; try lia end.
Qed.
Lemma arrive_a j : rising_at (answer + 1) rise 0 j = a j.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). replace (answer + 1) with (depth + 1 + rise) by lia. apply arrives; [lia|lia|apply address_lt| |].
  - intros k K. unfold MachineTree.read_at. rewrite wave_words. replace (root 1) with (Some (Fetching, here)) by (symmetry; root_is).
    replace (depth + 1) with (S depth) by lia. unfold MachineTree.second_at, MachineTree.third_at. replace (wave depth depth) with (root 0) by (rewrite <- (wave_words 0); f_equal; lia).
    replace (root 0) with (@None (errand * nat)) by (symmetry; root_is). destruct depth as [|e] eqn:E; [lia|]. unfold MachineTree.second_at. rewrite E. unfold MachineTree.wave.
    rewrite (proj2 (Nat.leb_gt (S e) e)) by lia. rewrite (proj2 (Nat.eqb_eq (S e) (e + 1))) by lia. destruct pending as [[]|]; apply orb_false_r.
  - intros k. apply no_write. lia.
Qed.
Lemma read_later u k : read_at (depth + S (S u)) k =
  match root (S (S u)) with Some (Writing _, _) | None => false | Some (_, x) => k =? x end
  || (match root (S u) with Some (Fetching, x) => before k =? x | _ => false end || match root u with Some (Fetching, x) => before (before k) =? x | _ => false end).
Proof.
  unfold MachineTree.read_at. rewrite wave_words. replace (depth + S (S u)) with (S (S (depth + u))) by lia. cbn [MachineTree.third_at]. unfold MachineTree.second_at.
  replace (S (depth + u)) with (depth + S u) by lia. now rewrite !wave_words.
Qed.
Ltac roots := unfold root; repeat match goal with |- context [?x =? ?y] => is_var x; fail 1 | |- context [?x =? ?y] => destruct (Nat.eqb_spec x y); try lia end.
Lemma arrive_b j : rising_at (answer + 2) rise 0 j = b' j.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). replace (answer + 2) with (depth + 2 + rise) by lia. apply arrives; [lia|lia|apply succ_lt| |].
  - intros k K. rewrite read_later. replace (root 2) with (@None (errand * nat)) by (symmetry; root_is). replace (root 1) with (Some (Fetching, here)) by (symmetry; root_is).
    replace (root 0) with (@None (errand * nat)) by (symmetry; root_is). cbn [orb]. rewrite orb_false_r. apply before_is; [easy|apply address_lt].
  - intros k. apply no_write. lia.
Qed.
Lemma arrive_c j : rising_at (answer + 3) rise 0 j = c' j.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). replace (answer + 3) with (depth + 3 + rise) by lia. apply arrives; [lia|lia|apply succ_lt| |].
  - intros k K. rewrite read_later. replace (root 3) with (@None (errand * nat)) by (symmetry; root_is). replace (root 1) with (Some (Fetching, here)) by (symmetry; root_is).
    replace (root 2) with (@None (errand * nat)) by (symmetry; root_is). cbn [orb]. rewrite before_is; [|apply before_lt|apply address_lt].
    apply before_is; [easy|apply succ_lt].
  - intros k. apply no_write. lia.
Qed.
Lemma arrive_subtrahend j : rising_at (2 * answer + 2) rise 0 j = subtrahend j.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). replace (2 * answer + 2) with (depth + S (S answer) + rise) by lia. apply arrives; [lia|lia|apply address_lt| |].
  - intros k K. rewrite read_later. replace (root (S (S answer))) with (Some (Reading, address a)) by (symmetry; root_is).
    replace (root (S answer)) with (@None (errand * nat)) by (symmetry; root_is). replace (root answer) with (@None (errand * nat)) by (symmetry; root_is). now rewrite !orb_false_r.
  - intros k. apply no_write. lia.
Qed.
Lemma arrive_minuend j : rising_at (2 * answer + 3) rise 0 j = minuend j.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). replace (2 * answer + 3) with (depth + S (S (S answer)) + rise) by lia. apply arrives; [lia|lia|apply address_lt| |].
  - intros k K. rewrite read_later. replace (root (S (S (S answer)))) with (Some (Reading, address b')) by (symmetry; root_is).
    replace (root (S (S answer))) with (Some (Reading, address a)) by (symmetry; root_is). replace (root (S answer)) with (@None (errand * nat)) by (symmetry; root_is). now rewrite !orb_false_r.
  - intros k. apply no_write. lia.
Qed.

(** ** Numbers *)

Lemma address_number f : address f = number n f mod 2 ^ A.
Proof. symmetry. now apply number_mod. Qed.
Lemma sum_carries m : number m minuend + number m (fun j => negb (subtrahend j)) + 1 = number m (fun j => xorb (half j) (carries j)) + Nat.b2n (carries m) * 2 ^ m.
Proof.
  induction m as [|m IH]; [reflexivity|]. cbn [number carries]. rewrite Nat.pow_succ_r'. revert IH. replace (half m) with (xorb (minuend m) (negb (subtrahend m))) by reflexivity.
  destruct (minuend m), (subtrahend m), (carries m); cbn [xorb negb andb orb Nat.b2n]; lia.
Qed.
Lemma difference : number n minuend + 2 ^ n - number n subtrahend = number n result + Nat.b2n (carries n) * 2 ^ n.
Proof.
  pose proof (sum_carries n). pose proof (number_negb n subtrahend). rewrite (number_ext n result (fun j => xorb (half j) (carries j))) by (intros; now apply result_is). lia.
Qed.
Lemma result_number : number n result = (number n minuend + 2 ^ n - number n subtrahend) mod 2 ^ n.
Proof. rewrite difference, Nat.mod_add by (apply Nat.pow_nonzero; lia). symmetry. apply Nat.mod_small, number_lt. Qed.
Lemma zero_number : zero = true <-> number n result = 0.
Proof.
  rewrite zero_all. split.
  - intros H. rewrite (number_ext n result (fun _ => false)).
    + assert (G : forall k, number k (fun _ => false) = 0) by (induction k as [|k IHk]; [easy|]; cbn [number Nat.b2n]; lia). apply G.
    + intros j J. rewrite result_is by easy. rewrite H by easy.
      assert (G : forall i, i < n -> carries i = true); [|now rewrite G]. induction i as [|i IH]; intros I; [easy|]. cbn [carries]. rewrite H, IH by lia. apply orb_true_r.
  - intros H. pose proof difference as D. rewrite H in D. pose proof (number_lt n minuend). pose proof (number_lt n subtrahend).
    assert (E : number n minuend = number n subtrahend) by (destruct (carries n); cbn [Nat.b2n] in D; lia).
    intros j J. unfold half. rewrite <- (number_bit n minuend j J), <- (number_bit n subtrahend j J), E. now destruct (Nat.testbit _ _).
Qed.
Lemma sign_number : (2 ^ (n - 1) <=? number n result) = result top.
Proof.
  unfold MachineStep.top. replace n with (S (n - 1)) at 2 by lia. cbn [number]. pose proof (number_lt (n - 1) result).
  destruct (result (n - 1)); cbn [Nat.b2n]; [apply Nat.leb_le|apply Nat.leb_gt]; lia.
Qed.
Lemma yes_number : is_yes = (number n result =? 0) || (2 ^ (n - 1) <=? number n result).
Proof.
  assert (R : result top = xorb (half top) (carry top) && negb zero) by (unfold result; now rewrite Nat.eqb_refl).
  rewrite sign_number, R. unfold is_yes. destruct zero eqn:Z.
  - destruct (zero_carries Z) as [-> ->]. now rewrite (proj2 (Nat.eqb_eq _ _) (proj1 zero_number Z)).
  - destruct (Nat.eqb_spec (number n result) 0) as [E|E]; [apply zero_number in E; congruence|]. cbn [negb andb orb]. now rewrite orb_false_r, andb_true_r.
Qed.
Lemma number_two m : 2 <= m -> number m (fun j => j <? 2) = 3.
Proof.
  intros H. induction m as [|m IH]; [lia|]. destruct (Nat.eq_dec m 1) as [->|N]; [reflexivity|]. cbn [number]. rewrite IH by lia.
  rewrite (proj2 (Nat.ltb_ge m 2)) by lia. cbn. lia.
Qed.
Lemma number_shift m f : number (S m) (fun j => (1 <=? j) && f (j - 1)) = 2 * number m f.
Proof.
  induction m as [|m IH]; [reflexivity|]. cbn [number] in *. rewrite IH. rewrite (proj2 (Nat.leb_le 1 (S m))) by lia. rewrite Nat.sub_succ, Nat.sub_0_r, Nat.pow_succ_r'. cbn [andb].
  destruct (f m); cbn [Nat.b2n]; lia.
Qed.
Lemma number_xor m f g : number m f + number m g = number m (fun j => xorb (f j) (g j)) + 2 * number m (fun j => f j && g j).
Proof. induction m as [|m IH]; [easy|]. cbn [number]. destruct (f m), (g m); cbn [xorb andb Nat.b2n]; lia. Qed.
Lemma shift_mod m x f : 1 <= m -> (x + number m (fun j => (1 <=? j) && f (j - 1))) mod 2 ^ m = (x + 2 * number m f) mod 2 ^ m.
Proof.
  intros H. destruct m as [|m]; [lia|]. rewrite number_shift. cbn [number].
  replace (x + 2 * (number m f + Nat.b2n (f m) * 2 ^ m)) with (x + 2 * number m f + Nat.b2n (f m) * 2 ^ S m) by (rewrite Nat.pow_succ_r'; lia).
  now rewrite Nat.mod_add by (apply Nat.pow_nonzero; lia).
Qed.
Lemma counting_number t : 3 <= t -> (number n (held t) + number n (added t)) mod 2 ^ n = (number n pc + 3) mod 2 ^ n.
Proof.
  intros H. induction t as [|t IH]; [lia|]. destruct (Nat.eq_dec t 2) as [->|N].
  - f_equal. f_equal.
    + apply number_ext. intros j _. rewrite !held_S. rewrite !added_rest by lia. now rewrite !xorb_false_r.
    + transitivity (number n (fun j => j <? 2)); [|apply number_two; lia]. apply number_ext. intros j _. rewrite added_S. rewrite (added_rest 2) by lia. rewrite andb_false_r, orb_false_r. apply andb_true_r.
  - rewrite <- IH by lia. clear IH. rewrite (number_xor n (held t) (added t)).
    rewrite (number_ext n (held (S t)) (fun j => xorb (held t j) (added t j))) by (intros; apply held_S).
    set (f := fun j => held t j && added t j). rewrite (number_ext n (added (S t)) (fun j => (1 <=? j) && f (j - 1))).
    2:{ intros j _. rewrite added_S. rewrite (proj2 (Nat.eqb_neq t 2)) by easy. rewrite andb_false_r. cbn [orb]. unfold f. now rewrite andb_assoc. }
    apply shift_mod. lia.
Qed.
Lemma held_number : number n (held (last + 3)) = (number n pc + 3) mod 2 ^ n.
Proof.
  rewrite <- (counting_number (last + 3)) by lia. rewrite (number_ext n (added (last + 3)) (fun _ => false)) by (intros; now apply counted). rewrite number_none, Nat.add_0_r.
  symmetry. apply Nat.mod_small, number_lt.
Qed.
Lemma following_number : number n following = if is_yes then number n c' else (number n pc + 3) mod 2 ^ n.
Proof.
  rewrite <- held_number. pose proof decided as D. destruct is_yes eqn:Y; apply number_ext; intros j J; unfold following; rewrite D, Y;
    now destruct (held (last + 3) j), (c' j).
Qed.

(** ** From boundary to boundary *)

Definition boundary (m : nat -> nat -> bool) (pend : option (nat * (nat -> bool))) (p : nat -> bool) : state bit := fun b =>
  match b with
  | Begin => true
  | Counter j => p j
  | Word k j => m k j
  | Token 1 k | Gate 1 k _ | Writes 1 k | DataGate 1 k _ => match pend with Some (x, _) => k =? node x 1 | None => false end
  | Address 1 k i => match pend with Some (x, _) => near 1 k x && Nat.testbit x i | None => false end
  | Data 1 k j => match pend with Some (x, v) => near 1 k x && v j | None => false end
  | Erase k _ | Store k _ => match pend with Some (x, _) => (depth =? 1) && (k =? x) | None => false end
  | Stored k j => match pend with Some (x, v) => (depth =? 1) && (near 1 k x && v j) | None => false end
  | _ => false
  end.
Lemma wave_0 d : wave 0 d = if d =? 1 then match pending with Some (x, v) => Some (Writing v, x) | None => None end else None.
Proof. destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). unfold MachineTree.wave. destruct d as [|d]; [cbn [Nat.leb Nat.sub Nat.eqb]; root_is|]. reflexivity. Qed.
Lemma form_0 b : valid b -> form 0 b = boundary memory pending pc b.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). intros V.
  assert (Z : forall x, 0 < x -> (0 =? x) = false) by (intros x X; apply Nat.eqb_neq; lia).
  destruct b; cbn [form boundary]; unfold MachineTree.at_node, MachineTree.writes_at, MachineTree.fetches_at, MachineTree.address_at, MachineTree.data_at, MachineTree.read_at, MachineTree.second_at, MachineTree.third_at, MachineTree.rising_at, MachineTree.word_at; rewrite ?wave_0; rewrite ?Z by lia; cbn [andb orb]; try reflexivity;
    try (destruct d as [|[|d]]; cbn [Nat.eqb]; destruct pending as [[x v]|]; reflexivity).
  - rewrite (proj2 (Nat.ltb_lt 0 depth)) by lia. reflexivity.
  - destruct (depth =? 1), pending as [[x v]|]; reflexivity.
  - destruct (Nat.eqb_spec depth 1), pending as [[x v]|]; try reflexivity. now rewrite node_depth.
  - destruct (Nat.eqb_spec depth 1), pending as [[x v]|]; try reflexivity. now rewrite node_depth.
  - destruct (Nat.eqb_spec depth 1) as [E|E], pending as [[x v]|]; try reflexivity. now rewrite E.
  - destruct (depth =? 1), pending as [[x v]|]; reflexivity.
  - rewrite (proj2 (Nat.leb_gt l 0)); [easy|]. cbn in V. lia.
  - rewrite (proj2 (Nat.leb_gt rise 0)) by lia. reflexivity.
  - rewrite (proj2 (Nat.leb_gt (answer + 3) 0)) by lia. reflexivity.
  - rewrite (proj2 (Nat.leb_gt (2 * answer + 5) 0)) by lia. reflexivity.
  - rewrite (proj2 (Nat.leb_gt (answer + 4) 0)) by lia. reflexivity.
  - rewrite (Z (last + 4)) by lia. apply orb_false_r.
Qed.
Lemma root_none u : answer + 3 < u -> u <> last + 3 -> root u = None.
Proof. destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). intros H N. root_is. Qed.
Lemma wave_end d : d <= depth -> wave (last + 4) d = if d =? 1 then Some (Writing result, address b') else None.
Proof.
  intros D. destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). unfold MachineTree.wave. rewrite (proj2 (Nat.leb_le d (last + 4))) by lia.
  destruct (Nat.eqb_spec d 1) as [->|N]; [replace (last + 4 - 1) with (last + 3) by lia; root_is|]. apply root_none; lia.
Qed.
Lemma quiet t k : depth + answer + 5 < t -> t <= last + 4 -> read_at t k = false.
Proof.
  intros H L. destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). replace t with (depth + S (S (t - depth - 2))) by lia. rewrite read_later.
  rewrite (root_none (t - depth - 2)), (root_none (S (t - depth - 2))) by lia. rewrite orb_false_r.
  destruct (Nat.eq_dec (S (S (t - depth - 2))) (last + 3)) as [->|N]; [|now rewrite root_none by lia].
  replace (root (last + 3)) with (Some (Writing result, address b')) by (symmetry; root_is). reflexivity.
Qed.
Lemma quiet_up l q j : 1 <= l <= rise -> rising_at (last + 4) l q j = false.
Proof.
  intros H. destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). unfold MachineTree.rising_at. rewrite (proj2 (Nat.leb_le l (last + 4))) by lia. cbn [andb].
  apply not_true_is_false. rewrite existsb_exists. intros (c & _ & C). unfold MachineTree.comes in C. rewrite quiet in C by lia. rewrite andb_false_r in C. discriminate C.
Qed.
Lemma form_end b : valid b -> form (last + 4) b = boundary landed (Some (address b', result)) following b.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). intros V. set (t := last + 4).
  assert (E : forall x, x <> t -> (t =? x) = false) by (intros x X; apply Nat.eqb_neq; lia).
  assert (G : forall x, x < t -> (t <=? x) = false) by (intros x X; apply Nat.leb_gt; lia).
  assert (W : forall d, d <= depth -> wave t d = if d =? 1 then Some (Writing result, address b') else None) by apply wave_end.
  assert (Sd : forall k, second_at t k = false) by (intros k; unfold MachineTree.second_at; rewrite W by easy; now destruct (depth =? 1)).
  destruct b; cbn [MachineStep.valid] in V; cbn [form boundary]; unfold MachineTree.at_node, MachineTree.writes_at, MachineTree.fetches_at, MachineTree.address_at, MachineTree.data_at, MachineTree.word_at; rewrite ?W, ?Sd by lia; rewrite ?E, ?G by (unfold t; lia); cbn [andb orb];
    rewrite ?andb_false_r; try reflexivity; try (destruct d as [|[|d]]; reflexivity).
  - rewrite (proj2 (Nat.ltb_ge t depth)) by (unfold t; lia). reflexivity.
  - apply quiet; unfold t; lia.
  - destruct (Nat.eqb_spec depth 1); [|reflexivity]. now rewrite node_depth.
  - destruct (Nat.eqb_spec depth 1); [|reflexivity]. now rewrite node_depth.
  - destruct (Nat.eqb_spec depth 1) as [Q|Q]; [|reflexivity]. now rewrite Q.
  - unfold MachineTree.third_at, t. replace (last + 4) with (S (last + 3)) by lia. unfold MachineTree.second_at. replace (last + 3) with (depth + (last + 3 - depth)) by lia. rewrite wave_words.
    rewrite root_none; [reflexivity|lia|lia].
  - apply quiet_up. lia.
  - apply quiet_up. lia.
  - unfold t. now rewrite Nat.eqb_refl.
  - apply Nat.eqb_refl.
Qed.

(** ** The step *)

Ltac one x y := destruct (Nat.eqb_spec x y); try (exfalso; lia).
Lemma hears_a t j : hears (form t) j [T;T;F;F;F;F] = (t =? answer + 1) && a j.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). unfold hears. rewrite heard_is. cbn [form]. unfold T, F. one t (answer + 1).
  - subst t. rewrite arrive_a. times; now destruct (a j).
  - now rewrite !andb_false_r.
Qed.
Lemma hears_b t j : hears (form t) j [T;F;T;F;F;F] = (t =? answer + 2) && b' j.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). unfold hears. rewrite heard_is. cbn [form]. unfold T, F. one t (answer + 2).
  - subst t. rewrite arrive_b. times; now destruct (b' j).
  - cbn [Bool.eqb]. now rewrite !andb_false_r.
Qed.
Lemma hears_c t j : hears (form t) j [T;F;F;T;F;F] = (t =? answer + 3) && c' j.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). unfold hears. rewrite heard_is. cbn [form]. unfold T, F. one t (answer + 3).
  - subst t. rewrite arrive_c. times; now destruct (c' j).
  - cbn [Bool.eqb]. now rewrite !andb_false_r.
Qed.
Lemma hears_subtrahend t j : hears (form t) j [F;F;F;F;T;F] = (t =? 2 * answer + 2) && negb (subtrahend j).
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). unfold hears. rewrite heard_is. cbn [form]. unfold T, F. one t (2 * answer + 2).
  - subst t. rewrite arrive_subtrahend. times; try now destruct (subtrahend j).
  - cbn [Bool.eqb]. now rewrite !andb_false_r.
Qed.
Lemma hears_minuend t j : hears (form t) j [T;F;F;F;F;T] = (t =? 2 * answer + 3) && minuend j.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). unfold hears. rewrite heard_is. cbn [form]. unfold T, F. one t (2 * answer + 3).
  - subst t. rewrite arrive_minuend. times; now destruct (minuend j).
  - cbn [Bool.eqb]. now rewrite !andb_false_r.
Qed.
Lemma acts_form t m : acts (form t) m = (t =? m + 1).
Proof. unfold acts. cbn [form]. rewrite andb_false_r. apply andb_true_r. Qed.

Lemma generate_next t d i : generate (form t) d i = (S t =? 2 * answer + 5 + d) && leaves d i.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). destruct d as [|e].
  - destruct i as [|j]; cbn [MachineStep.generate].
    + rewrite acts_form. unfold leaves. cbn [spans fst]. times.
    + cbn [form]. unfold leaves. cbn [spans fst]. times.
  - cbn [MachineStep.generate]. rewrite leaves_S. cbn [form]. replace (S t =? 2 * answer + 5 + S e) with (t =? 2 * answer + 5 + e) by times.
    destruct (t =? 2 * answer + 5 + e); [easy|]. cbn [andb orb]. now rewrite !andb_false_r.
Qed.
Lemma keep_next t d i : keep (form t) d i = (S t =? 2 * answer + 5 + d) && passes d i.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). destruct d as [|e].
  - cbn [keep form]. unfold passes. cbn [spans snd]. unfold half. times.
  - cbn [keep]. rewrite passes_S. cbn [form]. replace (S t =? 2 * answer + 5 + S e) with (t =? 2 * answer + 5 + e) by times.
    destruct (t =? 2 * answer + 5 + e); easy.
Qed.
Lemma equal_next t l i : equal (form t) l i = (S t =? 2 * answer + 5 + l) && alike l i.
Proof.
  destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). destruct l as [|l].
  - cbn [MachineStep.equal form alike]. unfold half. times.
  - cbn [MachineStep.equal alike form]. replace (S t =? 2 * answer + 5 + S l) with (t =? 2 * answer + 5 + l) by times.
    destruct (t =? 2 * answer + 5 + l); easy.
Qed.
Ltac at_root := unfold MachineTree.at_node, MachineTree.writes_at, MachineTree.fetches_at, MachineTree.address_at, MachineTree.data_at; rewrite wave_root; unfold root;
  repeat match goal with |- context [?x =? ?y] => lazymatch y with node _ _ => fail | _ => destruct (Nat.eqb_spec x y); try (exfalso; lia) end end;
  cbn [andb orb negb MachineTree.near]; rewrite ?node_zero by apply address_lt; cbn [Nat.eqb]; try reflexivity.

Theorem form_next t b : valid b -> t < last + 4 -> next (form t) b = form (S t) b.
Proof.
  intros V L. destruct times_are as (Ta & Td & Tl & T2 & Tr & Tx & Ts). pose proof decided as Dc.
  assert (Nz : forall k, k < nodes 0 -> k = 0) by (intros k; rewrite nodes_zero; lia).
  assert (Ed : S (depth - 1) = depth) by lia.
  destruct b; cbn [MachineStep.valid] in V; cbn [MachineStep.next].
  - (* Token *) destruct d as [|d]; cbn [form]; [|apply token_next; lia]. destruct V as [_ K]. apply Nz in K as ->. cbn [MachineStep.token_in form]. at_root.
  - destruct d as [|d]; cbn [form]; [|apply write_next; lia]. destruct V as [_ K]. apply Nz in K as ->. cbn [MachineStep.write_in form]. at_root.
  - destruct d as [|d]; cbn [form]; [|apply fetch_next; lia]. destruct V as [_ K]. apply Nz in K as ->. cbn [MachineStep.fetch_in form]. at_root.
  - (* Address *) destruct d as [|d]; cbn [form]; [|apply address_next; lia]. destruct V as (_ & K & I). apply Nz in K as ->. unfold Machine.below in I.
    rewrite hears_a, hears_b. unfold MachineTree.address_at. rewrite wave_root. unfold root, here, MachineTree.address. times; rewrite number_bit by easy; reflexivity.
  - (* Gate *) destruct d as [|d]; cbn [form]; [|apply token_next; lia]. destruct V as (_ & K & _). apply Nz in K as ->. cbn [MachineStep.token_in form]. at_root.
  - (* Data *) destruct d as [|d]; cbn [form]; [|apply data_next; lia]. destruct V as (_ & K & J). apply Nz in K as ->.
    unfold MachineTree.data_at. rewrite wave_root. unfold root, result. destruct (Nat.eqb_spec t (last + 2)) as [->|N]; cbn [andb].
    + rewrite (proj2 (Nat.leb_le (2 * answer + 5) (last + 2))), Nat.leb_refl by lia. cbn [andb].
      destruct (Nat.eqb_spec (S (last + 2)) 1); [lia|]. destruct (Nat.eqb_spec (S (last + 2)) (answer + 2)); [lia|]. destruct (Nat.eqb_spec (S (last + 2)) (answer + 3)); [lia|].
      destruct (Nat.eqb_spec (S (last + 2)) (last + 3)); [reflexivity|lia].
    + destruct (S t =? 1), (S t =? answer + 2), (S t =? answer + 3); try reflexivity. destruct (Nat.eqb_spec (S t) (last + 3)); [lia|reflexivity].
  - (* DataGate *) destruct d as [|d]; cbn [form]; [|apply write_next; lia]. destruct V as (_ & K & _). apply Nz in K as ->. cbn [MachineStep.write_in form]. at_root.
  - (* Word *) cbn [form]. apply (MachineTree.word_next A n A_least A_most). intros D. replace t with (depth + (t - depth)) by lia. apply no_write. lia.
  - (* Read *) cbn [form]. rewrite read_next. unfold MachineTree.read_at at 1. now rewrite orb_assoc.
  - cbn [form]. rewrite <- Ed. apply write_next. lia.
  - cbn [form]. rewrite <- Ed. apply write_next. lia.
  - cbn [form]. unfold MachineStep.data_in. cbn [form]. pose proof (data_next t (depth - 1) k j ltac:(lia)) as E. now rewrite Ed in E.
  - (* Second *) cbn [form]. rewrite <- Ed at 1. cbn [MachineStep.fetch_in]. rewrite fetch_next by lia. rewrite Ed. unfold MachineTree.fetches_at, MachineTree.second_at.
    destruct (wave (S t) depth) as [[[| |v] x]|]; try easy. now rewrite node_depth.
  - reflexivity.
  - (* Rising *) cbn [form]. now apply up_next.
  - cbn [form]. now apply up_next.
  - rewrite acts_form. cbn [form]. times.
  - rewrite acts_form. cbn [form]. times.
  - rewrite acts_form. cbn [form]. times.
  - rewrite acts_form. cbn [form]. times.
  - rewrite acts_form. cbn [form]. times.
  - (* Target *) rewrite hears_b. cbn [form]. times.
  - rewrite acts_form. cbn [form]. times.
  - (* Early *) rewrite hears_subtrahend. cbn [form]. times.
  - rewrite hears_minuend. cbn [form]. times.
  - cbn [form]. times.
  - (* Half *) cbn [form]. fold (half j). unfold half. times.
  - (* Carry *) rewrite generate_next. cbn [form]. fold (carry j). unfold carry. times.
  - rewrite acts_form. cbn [form]. times.
  - (* Zero *) rewrite equal_next. cbn [form]. unfold zero. times.
  - rewrite generate_next. reflexivity.
  - rewrite keep_next. reflexivity.
  - rewrite generate_next. reflexivity.
  - rewrite keep_next. reflexivity.
  - rewrite equal_next. reflexivity.
  - (* Next *) cbn [form]. rewrite held_S. destruct (Nat.eq_dec t 0) as [->|N0].
    + rewrite (added_rest 0 j) by lia. times. now rewrite xorb_false_r.
    + rewrite Dc. destruct (Nat.eq_dec t (last + 3)) as [->|N1]; [times; destruct is_yes; now rewrite ?andb_false_r|]. times.
  - (* Count *) cbn [form]. rewrite acts_form, added_S. cbn [form]. destruct (Nat.eq_dec t 0) as [->|N0].
    + rewrite (added_rest 0 (j - 1)) by lia. rewrite !andb_false_r. times.
    + rewrite Dc. destruct (Nat.eq_dec t (last + 3)) as [->|N1].
      * rewrite Nat.eqb_refl. cbn [andb]. replace (last + 3 =? 1 + 1) with false by times. replace (S (last + 3) <=? last + 3) with false by times.
        destruct is_yes; cbn [negb andb]; rewrite ?andb_false_r; now rewrite ?andb_false_r.
      * replace (S t <=? last + 3) with true by times. replace (t <=? last + 3) with true by times. replace (1 <=? t) with true by times.
        replace (t =? last + 3) with false by times. cbn [andb negb]. rewrite !andb_true_r. replace (t =? 1 + 1) with (t =? 2) by reflexivity. reflexivity.
  - cbn [form]. unfold MachineStep.decides_no. cbn [form]. unfold is_no. times.
  - cbn [form]. unfold MachineStep.decides_yes. cbn [form]. unfold is_yes. times.
  - (* Jump *) rewrite hears_c. cbn [form]. rewrite Dc. destruct (Nat.eq_dec t (last + 3)) as [->|N1]; [times; destruct is_yes; now rewrite ?andb_false_r|]. times.
  - cbn [form]. unfold MachineStep.decides_no. cbn [form]. unfold is_no. times.
  - cbn [form]. unfold MachineStep.decides_yes. cbn [form]. unfold is_yes. times.
  - (* Counter *) cbn [form]. unfold following. destruct (Nat.eq_dec t (last + 3)) as [->|N1].
    + rewrite counted by easy. times.
    + times.
  - (* At *) destruct t0 as [|m]; [|rewrite acts_form]; cbn [form]; times.
  - cbn [form]. times.
  - cbn [form]. times.
  - rewrite !acts_form. cbn [form]. times.
  - rewrite acts_form. cbn [form]. times.
  - (* Check *) cbn [form]. unfold MachineStep.top. rewrite goes_on. times.
  - reflexivity.
  - cbn [form]. now rewrite andb_false_r.
Qed.
End Instruction.
End Machine.
