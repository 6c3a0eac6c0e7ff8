(** The value of every bit of machine V after a step, at every size. *)
From Coq Require Import List Bool Arith Lia.
From Bitwright Require Import Rules.
From Theorems Require Import Machine MachineKinds.
Import ListNotations.
Section Step.
Variables A n : nat.
Hypothesis A_least : 2 <= A.
Hypothesis A_most : A <= n.
Notation words := (words A). Notation depth := (depth A). Notation below := (below A). Notation digit := (digit A). Notation nodes := (nodes A).
Notation levels := (levels n). Notation pad := (pad A n). Notation rise := (rise A n). Notation span := (span A). Notation answer := (answer A n).
Notation subtract := (subtract A n). Notation last := (last A n). Notation steps := (steps A n). Notation width := (width n).
Notation machine := (machine A n). Notation cells := (cells A n).

(** The bits of the machine. *)
Definition valid (b : bit) : Prop :=
  match b with
  | Token d k | Writes d k | Fetches d k => d < depth /\ k < nodes d
  | Address d k i => d < depth /\ k < nodes d /\ i < below d
  | Gate d k i => d < depth /\ k < nodes d /\ i < below (S d)
  | Data d k j | DataGate d k j => d < depth /\ k < nodes d /\ j < n
  | Word k j | Read k j | Erase k j | Store k j | Stored k j => k < words /\ j < n
  | Second k | Third k => k < words
  | Rising l q j => 1 <= l < rise /\ q < 2 ^ (A - span l) /\ j < n
  | Arriving j | IsA j | IsB j | IsC j | IsSubtrahend j | IsMinuend j => j < n
  | Target i | Release i => i < A
  | Early j | Minuend j | Inverted j | Half j | Carry j | Ready j => j < n
  | Generate d i => d < levels /\ i < n
  | Keep d i | Low d i => d < levels /\ 2 ^ d <= i < n
  | Pass d i => d < levels /\ 2 ^ S d <= i < n
  | Equal l i => l < levels /\ i < width l
  | Next j | Count j | NextIfNot j | NextIf j | Jump j | JumpIfNot j | JumpIf j | Counter j => j < n
  | At t => t <= last
  | _ => True
  end.

Section State.
Variable s : state bit.

(** A moment acts unless the counter was found to be out of range at it. *)
Definition acts (t : nat) : bool := s (At t) && negb ((t =? 1) && s OutOfRange).
(** A token at the parent of node c moves to c. *)
Definition parent (d c : nat) : nat := c / 2 ^ digit d.
Definition picks (d c : nat) : bool :=
  s (Token d (parent d c)) && Bool.eqb (s (Address d (parent d c) (below (S d)))) (Nat.odd c)
  && ((digit d =? 1) || Bool.eqb (s (Address d (parent d c) (below (S d) + 1))) (Nat.odd (c / 2))).
Definition writing (d c : nat) : bool := s (Writes d (parent d c)).
Definition fetching (d c : nat) : bool := s (Fetches d (parent d c)).
Definition token_in (d c : nat) : bool :=
  match d with O => s Begin || s Ask || s DoStore | S d => picks d c && negb (writing d c && fetching d c) end.
Definition write_in (d c : nat) : bool := match d with O => s DoStore | S d => picks d c && writing d c && negb (fetching d c) end.
Definition fetch_in (d c : nat) : bool := match d with O => s Begin | S d => picks d c && fetching d c && negb (writing d c) end.
Definition data_in (d c j : nat) : bool := s (Data d (parent d c) j) && s (DataGate d (parent d c) j).
Definition before (k : nat) : nat := (k + words - 1) mod words.
Definition up (l q j : nat) : bool :=
  match l with
  | O | 1 => existsb (fun c => let k := q * 2 ^ span 1 + c in s (Word k j) && s (Read k j) && negb (s (Erase k j))) (seq 0 (2 ^ span 1))
  | S l => existsb (fun c => s (Rising l (q * 2 ^ (span (S l) - span l) + c) j)) (seq 0 (2 ^ (span (S l) - span l)))
  end.
Definition hears (j : nat) (l : list bool) : bool := heard s (Arriving j) (IsA j) (IsB j) (IsC j) (IsSubtrahend j) (IsMinuend j) l.
Definition generate (d i : nat) : bool :=
  match d with
  | O => match i with O => acts subtract | S j => s (Minuend j) && s (Inverted j) end
  | S e => s (Generate e i) || (2 ^ e <=? i) && s (Keep e i) && s (Low e i) && ((i <? 2 ^ S e) || negb (s (Pass e i)))
  end.
Definition keep (d i : nat) : bool :=
  match d with O => xorb (s (Minuend (i - 1))) (s (Inverted (i - 1))) | S e => s (Keep e i) && s (Pass e i) && negb (s (Low e i)) end.
Definition equal (l i : nat) : bool :=
  match l with
  | O => xorb (s (Minuend i)) (s (Inverted i))
  | S l => s (Equal l (2 * i)) && ((width l <=? S (2 * i)) || s (Equal l (S (2 * i))))
  end.
Definition top : nat := n - 1.
Definition decides_no : bool := s (Ready top) && negb (s Zero) && Bool.eqb (s (Half top)) (s (Carry top)).
Definition decides_yes : bool :=
  s (Ready top) && (negb (s Zero) && xorb (s (Half top)) (s (Carry top)) || s Zero && s (Half top) && s (Carry top)).

(** The value of a bit after a step. *)
Definition next (b : bit) : bool :=
  match b with
  | Token d k | Gate d k _ => token_in d k
  | Writes d k | DataGate d k _ => write_in d k
  | Fetches d k => fetch_in d k
  | Address O _ i => s (Counter i) || hears i [T;T;F;F;F;F] || hears i [T;F;T;F;F;F] || s (Target i) && s (Release i)
  | Address (S d) k i => s (Address d (parent d k) i) && s (Gate d (parent d k) i)
  | Data O _ j => s (Ready j) && xorb (s (Half j)) (s (Carry j)) && negb ((j =? top) && s Zero)
  | Data (S d) k j => data_in d k j
  | Word k j => s (Word k j) && negb (s (Erase k j)) || s (Store k j) && s (Stored k j)
  | Read k j => picks (depth - 1) k && negb (writing (depth - 1) k) || s (Second k) || s (Third k)
  | Erase k j | Store k j => write_in depth k
  | Stored k j => data_in (depth - 1) k j
  | Second k => fetch_in depth (before k)
  | Third k => s (Second (before k))
  | Rising l q j => up l q j
  | Arriving j => up rise 0 j
  | IsA j => acts (answer - 1) | IsB j => acts answer | IsC j => acts (answer + 1)
  | IsSubtrahend j => acts (2 * answer) | IsMinuend j => acts (2 * answer + 1)
  | Target i => hears i [T;F;T;F;F;F] || s (Target i) && negb (s (Release i))
  | Release _ | Ready _ | DoStore => acts last
  | Early j => hears j [F;F;F;F;T;F]
  | Minuend j => hears j [T;F;F;F;F;T]
  | Inverted j => s (Early j)
  | Half j => xorb (s (Minuend j)) (s (Inverted j)) || s (Half j) && negb (s (Carry j)) && negb (s (Ready j)) && negb ((j =? top) && s Zero)
  | Carry j => generate levels j
  | Zero => equal levels 0
  | Generate d i => generate d i
  | Keep d i => keep d i
  | Low d i => generate d (i - 2 ^ d)
  | Pass d i => keep d (i - 2 ^ d)
  | Equal l i => equal l i
  | Next j => xorb (s (Next j)) (s (Count j)) && negb (s (NextIfNot j)) && negb (s (NextIf j)) || s (Counter j)
  | Count j => (j <? 2) && acts 1
               || (1 <=? j) && s (Next (j - 1)) && s (Count (j - 1)) && negb (s (NextIfNot (j - 1))) && negb (s (NextIf (j - 1)))
  | NextIfNot _ | JumpIfNot _ => decides_no
  | NextIf _ | JumpIf _ => decides_yes
  | Jump j => s (Jump j) && negb (s (JumpIfNot j)) && negb (s (JumpIf j)) || hears j [T;F;F;T;F;F]
  | Counter j => s (Next j) && negb (s (Count j)) && s (NextIfNot j) && negb (s (NextIf j)) || s (Jump j) && negb (s (JumpIfNot j)) && s (JumpIf j)
  | At O => s Begin
  | At (S t) => acts t
  | Begin => s Finish
  | Finish => s DoStore
  | Ask => acts (answer - 1) || acts answer
  | Check => s (Counter top)
  | OutOfRange => s Check
  | Halt => s Halt || s (At 1) && s OutOfRange
  end.
End State.

(** * Arithmetic of sizes *)

Lemma depth_cases : A = 2 * depth \/ A = 2 * depth - 1 /\ 1 < depth.
Proof. unfold Machine.depth. pose proof (Nat.div_mod (A + 1) 2). pose proof (Nat.mod_upper_bound (A + 1) 2). lia. Qed.
Lemma depth_pos : 1 <= depth.
Proof. destruct depth_cases; lia. Qed.
Lemma below_depth : below depth = 0.
Proof. unfold Machine.below. pose proof depth_pos. destruct depth eqn:E; lia. Qed.
Lemma digit_cases d : d < depth -> digit d = 1 /\ d = 0 /\ 1 < depth \/ digit d = 2.
Proof. intros H. unfold Machine.digit, Machine.below. destruct depth_cases; destruct d; lia. Qed.
Lemma digit_last d : S d = depth -> digit d = 2.
Proof. intros H. unfold Machine.digit, Machine.below. destruct depth_cases; destruct d; lia. Qed.
Lemma below_step d : d < depth -> below d = below (S d) + digit d.
Proof. intros H. unfold Machine.digit, Machine.below. destruct depth_cases; destruct d; lia. Qed.
Lemma below_most d : below d <= A.
Proof. unfold Machine.below. destruct depth_cases; destruct d; lia. Qed.
Lemma nodes_step d : d < depth -> nodes (S d) = nodes d * 2 ^ digit d.
Proof.
  intros H. unfold Machine.nodes. rewrite <- Nat.pow_add_r. f_equal. pose proof (below_step d H). pose proof (below_most d). lia.
Qed.
Lemma nodes_depth : nodes depth = words.
Proof. unfold Machine.nodes, Machine.words. rewrite below_depth. f_equal. lia. Qed.
Lemma nodes_zero : nodes 0 = 1.
Proof. unfold Machine.nodes. unfold Machine.below. now rewrite Nat.sub_diag. Qed.
Lemma two_pos k : 0 < 2 ^ k.
Proof. apply Nat.neq_0_lt_0, Nat.pow_nonzero. lia. Qed.
Lemma words_least : 4 <= words.
Proof. unfold Machine.words. change 4 with (2 ^ 2). now apply Nat.pow_le_mono_r. Qed.
Lemma child_node d k v : d < depth -> k < nodes d -> v < 2 ^ digit d -> k * 2 ^ digit d + v < nodes (S d).
Proof. intros H K V. rewrite nodes_step by easy. nia. Qed.
Lemma parent_node d c : d < depth -> c < nodes (S d) -> parent d c < nodes d.
Proof.
  intros H C. unfold parent. rewrite nodes_step in C by easy. apply Nat.div_lt_upper_bound; [apply Nat.pow_nonzero; lia|]. lia.
Qed.
Lemma parent_child d k v : v < 2 ^ digit d -> parent d (k * 2 ^ digit d + v) = k.
Proof. intros V. unfold parent. symmetry. apply (Nat.div_unique _ _ _ v); lia. Qed.
Lemma child_parent d c : c = parent d c * 2 ^ digit d + c mod 2 ^ digit d.
Proof. unfold parent. pose proof (Nat.div_mod c (2 ^ digit d)). pose proof (two_pos (digit d)). lia. Qed.

Lemma span_step l : l < depth -> span l + digit (depth - S l) = span (S l).
Proof.
  intros H. unfold Machine.span. rewrite (below_step (depth - S l)) by lia. now replace (S (depth - S l)) with (depth - l) by lia.
Qed.
Lemma span_le l : span l <= span (S l).
Proof.
  destruct (Nat.lt_ge_cases l depth) as [H|H]; [rewrite <- (span_step l H); lia|].
  unfold Machine.span. replace (depth - l) with 0 by lia. now replace (depth - S l) with 0 by lia.
Qed.
Lemma span_most l : span l <= A.
Proof. apply below_most. Qed.
Lemma span_rise : span rise = A.
Proof. unfold Machine.span, Machine.rise. now replace (depth - (depth + pad)) with 0 by lia. Qed.
Lemma span_zero : span 0 = 0.
Proof. unfold Machine.span. rewrite Nat.sub_0_r. apply below_depth. Qed.
Lemma rise_pos : 1 <= rise.
Proof. pose proof depth_pos. unfold Machine.rise. lia. Qed.
Lemma levels_pos : 1 <= levels.
Proof. unfold Machine.levels. pose proof (Nat.log2_up_pos n). lia. Qed.
Lemma levels_full : n <= 2 ^ levels.
Proof. unfold Machine.levels. pose proof (Nat.log2_up_spec n). lia. Qed.
Lemma levels_need d : 2 ^ d < n -> d < levels.
Proof. intros H. apply (Nat.pow_lt_mono_r_iff 2); [lia|]. pose proof levels_full. lia. Qed.
Lemma width_levels : width levels = 1.
Proof.
  pose proof levels_full as H.
  assert (G : forall l, 1 <= width l /\ (n <= 2 ^ levels -> l <= levels -> width l <= 2 ^ (levels - l))).
  { induction l as [|l (P & IH)]; [cbn; rewrite Nat.sub_0_r; lia|]. cbn [Machine.width].
    pose proof (Nat.div_mod (width l + 1) 2). pose proof (Nat.mod_upper_bound (width l + 1) 2). split; [lia|]. intros N L.
    specialize (IH N ltac:(lia)). replace (levels - l) with (S (levels - S l)) in IH by lia. rewrite Nat.pow_succ_r' in IH. lia. }
  destruct (G levels) as (P & Q). specialize (Q H (le_n _)). rewrite Nat.sub_diag in Q. change (2 ^ 0) with 1 in Q. lia.
Qed.
Lemma width_half l i : i < width (S l) <-> 2 * i < width l.
Proof. cbn [Machine.width]. pose proof (Nat.div_mod (width l + 1) 2). pose proof (Nat.mod_upper_bound (width l + 1) 2). lia. Qed.
Lemma answer_least : 2 <= answer.
Proof. pose proof depth_pos. unfold Machine.answer, Machine.rise. lia. Qed.
(** The counter has finished counting when it is read. *)
Lemma in_time : n + 2 <= 2 * answer + 5 + levels.
Proof.
  unfold Machine.answer, Machine.rise, Machine.pad. set (L := levels). pose proof (Nat.div_mod (n - 3 - L - 4 * depth + 1) 2).
  pose proof (Nat.mod_upper_bound (n - 3 - L - 4 * depth + 1) 2). lia.
Qed.

Lemma before_after k : k < words -> (before k + 1) mod words = k.
Proof.
  intros K. unfold before. rewrite Nat.add_mod_idemp_l by lia. replace (k + words - 1 + 1) with (k + 1 * words) by lia.
  rewrite Nat.mod_add by lia. now apply Nat.mod_small.
Qed.
Lemma after_before k : k < words -> before ((k + 1) mod words) = k.
Proof.
  intros K. unfold before. rewrite <- Nat.add_sub_assoc by lia. rewrite Nat.add_mod_idemp_l by lia.
  replace (k + 1 + (words - 1)) with (k + 1 * words) by lia. rewrite Nat.mod_add by lia. now apply Nat.mod_small.
Qed.
Lemma before_lt k : before k < words.
Proof. apply Nat.mod_upper_bound. pose proof words_least. lia. Qed.
Notation node_cell := (node_cell A n). Notation risen := (risen A n). Notation generated := (generated n). Notation propagated := (propagated n).
Notation strobes := (strobes A n). Notation inner := (inner A n). Notation leaf := (leaf A n). Notation children := (children A).


Notation gate_cell := (gate_cell A). Notation data_cell := (data_cell A). Notation word_cell := (word_cell A n). Notation walk_cell := (walk_cell A n).
Notation rising_cell := (rising_cell A n). Notation port_cell := (port_cell A). Notation bit_cell := (bit_cell n). Notation prefix_cell := (prefix_cell n).
Notation equal_cell := (equal_cell n). Notation equal_out := (equal_out n). Notation counter_cell := (counter_cell A n). Notation moment_cell := (moment_cell A n).
Notation signal_cells := (signal_cells A n).

(** * 2. The cells, and the contents of their wires *)

Lemma in_each c m f : In c (each m f) <-> exists x, x < m /\ In c (f x).
Proof.
  unfold each. rewrite in_flat_map. split; intros (x & I & J); exists x; (split; [|exact J]).
  - apply in_seq in I. lia.
  - apply in_seq. lia.
Qed.
Lemma in_vector b f m : In b (vector f m) <-> exists j, j < m /\ b = f j.
Proof.
  unfold vector. rewrite in_map_iff. split; intros (j & I & J); exists j.
  - apply in_seq in J. split; [lia|easy].
  - split; [easy|]. apply in_seq. lia.
Qed.
Lemma vector_in (f : nat -> bit) j m : j < m -> In (f j) (vector f m).
Proof. intros H. apply in_vector. now exists j. Qed.

Inductive part : cell bit -> Prop :=
  | p_node d k : d < depth -> k < nodes d -> part (node_cell d k)
  | p_gate d k i : S d < depth -> k < nodes d -> i < below (S d) -> part (gate_cell d k i)
  | p_data d k j : d < depth -> k < nodes d -> j < n -> part (data_cell d k j)
  | p_word k j : k < words -> j < n -> part (word_cell k j)
  | p_walk k : k < words -> part (walk_cell k)
  | p_rising l q j : 1 <= l < rise -> q < 2 ^ (A - span l) -> j < n -> part (rising_cell l q j)
  | p_port j : j < n -> part (port_cell j)
  | p_bit j : j < n -> part (bit_cell j)
  | p_prefix d i : d < levels -> i < n -> part (prefix_cell d i)
  | p_equal l i : l < levels -> i < width (S l) -> part (equal_cell l i)
  | p_counter j : j < n -> part (counter_cell j)
  | p_moment t : t <= last -> part (moment_cell t)
  | p_signal c : In c signal_cells -> part c.

Lemma in_cells c : In c cells <-> part c.
Proof.
  unfold Machine.cells. rewrite !in_app_iff. split.
  - intros [H|[H|[H|[H|[H|[H|[H|[H|[H|[H|[H|[H|H]]]]]]]]]]]]; try (apply p_signal; exact H);
      repeat match goal with H : In c (each _ _) |- _ => apply in_each in H as (? & ? & H) end;
      destruct H as [<-|[]]; constructor; lia.
  - intros H. destruct H;
      [ do 0 right; left | do 1 right; left | do 2 right; left | do 3 right; left | do 4 right; left | do 5 right; left
      | do 6 right; left | do 7 right; left | do 8 right; left | do 9 right; left | do 10 right; left | do 11 right; left | do 12 right; assumption ];
      try (apply in_each; eexists; split; [|apply in_each; eexists; split; [|apply in_each; eexists; split; [|left; reflexivity]]]; lia);
      try (apply in_each; eexists; split; [|apply in_each; eexists; split; [|left; reflexivity]]; lia);
      try (apply in_each; eexists; split; [|left; reflexivity]; lia).
    apply in_each. exists (l - 1). split; [lia|]. replace (S (l - 1)) with l by lia.
    apply in_each; eexists; split; [|apply in_each; eexists; split; [|left; reflexivity]]; lia.
Qed.

Lemma step_part s b : step machine s b = true <-> exists c, part c /\ on s c b = true.
Proof.
  unfold Machine.machine, rules_of, on, step. rewrite existsb_exists. split.
  - intros (t & I & E). apply in_flat_map in I as (c & I & J). exists c. split; [now apply in_cells|].
    apply existsb_exists. now exists t.
  - intros (c & I & E). apply existsb_exists in E as (t & J & E). exists t. split; [|easy]. apply in_flat_map. exists c.
    split; [now apply in_cells|easy].
Qed.
Lemma fire c s b : part c -> on s c b = true -> step machine s b = true.
Proof. intros P O. apply step_part. now exists c. Qed.

Lemma in_generated d i b :
  In b (generated d i) <-> d = levels /\ Carry i = b \/ d <> levels /\ (Generate d i = b \/ i + 2 ^ d < n /\ Low d (i + 2 ^ d) = b).
Proof.
  unfold Machine.generated. destruct (Nat.eqb_spec d levels); cbn [In]; [tauto|].
  destruct (Nat.ltb_spec (i + 2 ^ d) n) as [L|L]; cbn [In]; [tauto|]. apply Nat.le_ngt in L. tauto.
Qed.
Lemma in_propagated d i b :
  In b (propagated d i) <-> 2 ^ d <= i < n /\ (Keep d i = b \/ i + 2 ^ d < n /\ Pass d (i + 2 ^ d) = b).
Proof.
  unfold Machine.propagated. destruct (Nat.leb_spec (2 ^ d) i), (Nat.ltb_spec i n); cbn [andb In]; try (split; [easy|lia]).
  destruct (Nat.ltb_spec (i + 2 ^ d) n) as [L|L]; cbn [In]; [tauto|]. apply Nat.le_ngt in L. tauto.
Qed.
Lemma in_if_at t u l b : In b (if_at t u l) <-> t = u /\ In b l.
Proof. unfold if_at. destruct (Nat.eqb_spec t u); cbn; intuition. Qed.

(** * 3. Nodes of the address tree *)

Lemma odd_child d k v : d < depth -> Nat.odd (k * 2 ^ digit d + v) = Nat.odd v.
Proof.
  intros H. rewrite Nat.odd_add, Nat.odd_mul. destruct (digit_cases d H) as [(E & _)|E]; rewrite E;
    [change (Nat.odd (2 ^ 1)) with false | change (Nat.odd (2 ^ 2)) with false]; now rewrite andb_false_r, xorb_false_l.
Qed.
Lemma odd_half_child d k v : digit d = 2 -> Nat.odd ((k * 2 ^ digit d + v) / 2) = Nat.odd (v / 2).
Proof.
  intros E. rewrite E. change (2 ^ 2) with 4. replace (k * 4 + v) with (v + (k * 2) * 2) by lia. rewrite Nat.div_add by lia.
  rewrite Nat.odd_add, Nat.odd_mul. change (Nat.odd 2) with false. now rewrite andb_false_r, xorb_false_r.
Qed.
Lemma picks_child s d k v : d < depth -> v < 2 ^ digit d ->
  picks s d (k * 2 ^ digit d + v) =
  s (Token d k) && Bool.eqb (s (Address d k (below (S d)))) (Nat.odd v)
  && ((digit d =? 1) || Bool.eqb (s (Address d k (below (S d) + 1))) (Nat.odd (v / 2))).
Proof.
  intros H V. unfold picks. rewrite parent_child by easy. rewrite odd_child by easy.
  destruct (digit_cases d H) as [(E & _)|E]; [now rewrite E|]. now rewrite odd_half_child.
Qed.

Definition goes (s : state bit) (d c : nat) (reading : bool) (outs : list (list bit)) (b : bit) : Prop :=
  reading = true /\ In b (nth 0 outs []) \/ write_in s (S d) c = true /\ In b (nth 1 outs []) \/ fetch_in s (S d) c = true /\ In b (nth 2 outs []).
Ltac all_ports b :=
  unfold ports_of, reads, reads'; cbn [app combine existsb fst snd]; rewrite ?orb_false_r, ?orb_true_iff, ?andb_true_iff, ?mem_In.

Lemma below_four v : v < 4 -> v = 0 \/ v = 1 \/ v = 2 \/ v = 3.
Proof. cbn. lia. Qed.
Lemma below_two v : v < 2 -> v = 0 \/ v = 1.
Proof. cbn. lia. Qed.

Lemma on_inner s d k b : S d < depth ->
  on s (node_cell d k) b = true <->
  exists v, v < 2 ^ digit d /\ goes s d (k * 2 ^ digit d + v) (token_in s (S d) (k * 2 ^ digit d + v)) (inner d (k * 2 ^ digit d + v)) b.
Proof.
  intros H. assert (D : d < depth) by lia. unfold Machine.node_cell. rewrite (proj2 (Nat.ltb_lt _ _) H).
  assert (G : forall v, v < 2 ^ digit d -> goes s d (k * 2 ^ digit d + v) (token_in s (S d) (k * 2 ^ digit d + v)) (inner d (k * 2 ^ digit d + v)) b <->
    let x := Bool.eqb (s (Address d k (below (S d)))) (Nat.odd v)  && ((digit d =? 1) || Bool.eqb (s (Address d k (below (S d) + 1))) (Nat.odd (v / 2))) in
    s (Token d k) && x && negb (s (Writes d k) && s (Fetches d k)) = true /\ In b (nth 0 (inner d (k * 2 ^ digit d + v)) []) \/
    s (Token d k) && x && s (Writes d k) && negb (s (Fetches d k)) = true /\ In b (nth 1 (inner d (k * 2 ^ digit d + v)) []) \/
    s (Token d k) && x && s (Fetches d k) && negb (s (Writes d k)) = true /\ In b (nth 2 (inner d (k * 2 ^ digit d + v)) [])).
  { intros v V. unfold goes, token_in, write_in, fetch_in, writing, fetching. rewrite picks_child, parent_child by easy.
    rewrite !andb_assoc. reflexivity. }
  unfold Machine.children. destruct (digit_cases d D) as [(E & _)|E]; rewrite E in *;
    [change (2 ^ 1) with 2 in * | change (2 ^ 2) with 4 in *]; cbn [Nat.eqb seq map flat_map app Machine.inner].
  - rewrite on_12. unfold ports_of, reads; cbn [app combine existsb fst snd]. rewrite orb_false_r, !orb_true_iff, !(andb_true_iff _ (mem _ _)), !mem_In. split.
    + intros K. repeat destruct K as [K|K];
        [exists 0|exists 0|exists 0|exists 1|exists 1|exists 1]; (split; [cbn; lia|]); apply G; try (cbn; lia); cbn -[Nat.add Nat.mul vector] in *;
        rewrite ?andb_true_r; destruct (s (Address d k (below (S d)))); cbn -[Nat.add Nat.mul vector] in *; tauto.
    + intros (v & V & K). apply G in K; [|easy]. destruct (below_two v V) as [-> | ->]; cbn -[Nat.add Nat.mul vector] in K;
        rewrite ?andb_true_r in K; destruct (s (Address d k (below (S d)))); cbn -[Nat.add Nat.mul vector] in *; tauto.
  - rewrite on_13. unfold ports_of, reads; cbn [app combine existsb fst snd]. rewrite orb_false_r, !orb_true_iff, !(andb_true_iff _ (mem _ _)), !mem_In. split.
    + intros K. repeat destruct K as [K|K];
        [exists 0|exists 0|exists 0|exists 1|exists 1|exists 1|exists 2|exists 2|exists 2|exists 3|exists 3|exists 3]; (split; [cbn; lia|]); apply G; try (cbn; lia);
        cbn -[Nat.add Nat.mul vector] in *; destruct (s (Address d k (below (S d)))), (s (Address d k (below (S d) + 1))); cbn -[Nat.add Nat.mul vector] in *; tauto.
    + intros (v & V & K). apply G in K; [|easy]. destruct (below_four v V) as [-> | [-> | [-> | ->]]]; cbn -[Nat.add Nat.mul vector] in K;
        destruct (s (Address d k (below (S d)))), (s (Address d k (below (S d) + 1))); cbn -[Nat.add Nat.mul vector] in *; tauto.
Qed.

Lemma on_leaf s d k b : S d = depth ->
  on s (node_cell d k) b = true <->
  exists v, v < 2 ^ digit d /\ goes s d (k * 2 ^ digit d + v) (picks s d (k * 2 ^ digit d + v) && negb (s (Writes d k))) (leaf (k * 2 ^ digit d + v)) b.
Proof.
  intros H. assert (D : d < depth) by lia. unfold Machine.node_cell. rewrite (proj2 (Nat.ltb_ge _ _) (Nat.eq_le_incl _ _ (eq_sym H))).
  assert (E : digit d = 2) by now apply digit_last.
  assert (G : forall v, v < 2 ^ digit d -> goes s d (k * 2 ^ digit d + v) (picks s d (k * 2 ^ digit d + v) && negb (s (Writes d k))) (leaf (k * 2 ^ digit d + v)) b <->
    let x := Bool.eqb (s (Address d k (below (S d)))) (Nat.odd v)  && ((digit d =? 1) || Bool.eqb (s (Address d k (below (S d) + 1))) (Nat.odd (v / 2))) in
    s (Token d k) && x && negb (s (Writes d k)) = true /\ In b (nth 0 (leaf (k * 2 ^ digit d + v)) []) \/
    s (Token d k) && x && s (Writes d k) && negb (s (Fetches d k)) = true /\ In b (nth 1 (leaf (k * 2 ^ digit d + v)) []) \/
    s (Token d k) && x && s (Fetches d k) && negb (s (Writes d k)) = true /\ In b (nth 2 (leaf (k * 2 ^ digit d + v)) [])).
  { intros v V. unfold goes, write_in, fetch_in, writing, fetching. rewrite picks_child, parent_child by easy.
    rewrite !andb_assoc. reflexivity. }
  unfold Machine.children. rewrite E in *; change (2 ^ 2) with 4 in *; cbn [Nat.eqb seq map flat_map app Machine.leaf].
  rewrite on_14. unfold ports_of, reads'; cbn [app combine existsb fst snd]. rewrite orb_false_r, !orb_true_iff, !(andb_true_iff _ (mem _ _)), !mem_In. split.
  - intros K. repeat destruct K as [K|K];
      [exists 0|exists 0|exists 0|exists 1|exists 1|exists 1|exists 2|exists 2|exists 2|exists 3|exists 3|exists 3]; (split; [cbn; lia|]); apply G; try (cbn; lia);
      cbn -[Nat.add Nat.mul vector Nat.modulo] in *; destruct (s (Address d k (below (S d)))), (s (Address d k (below (S d) + 1))); cbn -[Nat.add Nat.mul vector Nat.modulo] in *; tauto.
  - intros (v & V & K). apply G in K; [|easy]. destruct (below_four v V) as [-> | [-> | [-> | ->]]]; cbn -[Nat.add Nat.mul vector Nat.modulo] in K;
      destruct (s (Address d k (below (S d)))), (s (Address d k (below (S d) + 1))); cbn -[Nat.add Nat.mul vector Nat.modulo] in *; tauto.
Qed.
(** * 4. A step is [next] *)

Lemma next_risen s l k j : k < words -> next s (risen l k j) = up s l (k / 2 ^ span l) j.
Proof.
  intros K. unfold Machine.risen. destruct (Nat.eqb_spec l rise) as [->|E]; [|easy]. cbn [next].
  rewrite span_rise. now rewrite Nat.div_small.
Qed.
Lemma up_word s k j : s (Word k j) && s (Read k j) && negb (s (Erase k j)) = true -> up s 1 (k / 2 ^ span 1) j = true.
Proof.
  intros H. cbn [up]. apply existsb_exists. exists (k mod 2 ^ span 1). pose proof (two_pos (span 1)). split.
  - apply in_seq. pose proof (Nat.mod_upper_bound k (2 ^ span 1)). lia.
  - cbv zeta. rewrite (Nat.mul_comm (k / 2 ^ span 1)). rewrite <- Nat.div_mod by lia. exact H.
Qed.
Lemma up_rising s l q j : 1 <= l -> s (Rising l q j) = true -> up s (S l) (q * 2 ^ span l / 2 ^ span (S l)) j = true.
Proof.
  intros L H. destruct l as [|l]; [lia|]. set (m := S l) in *. cbn [up]. pose proof (span_le m) as P.
  set (w := span (S m) - span m). assert (E : 2 ^ span (S m) = 2 ^ w * 2 ^ span m) by (rewrite <- Nat.pow_add_r; f_equal; lia).
  rewrite E. pose proof (two_pos (span m)). pose proof (two_pos w).
  rewrite Nat.div_mul_cancel_r by lia. apply existsb_exists. exists (q mod 2 ^ w). split.
  - apply in_seq. pose proof (Nat.mod_upper_bound q (2 ^ w)). lia.
  - rewrite (Nat.mul_comm (q / 2 ^ w)). rewrite <- Nat.div_mod by lia. exact H.
Qed.

Lemma on_moment s t b : on s (moment_cell t) b = true <-> acts s t = true /\ In b (strobes t) \/ t = 1 /\ s (At 1) && s OutOfRange = true /\ Halt = b.
Proof.
  unfold Machine.moment_cell, acts. destruct (Nat.eqb_spec t 1) as [->|E].
  - rewrite on_6, orb_true_iff, !(andb_true_iff _ (mem _ _)), !mem_In. cbn [In andb negb Nat.eqb]. tauto.
  - rewrite on_0, andb_true_iff, mem_In. cbn [andb negb]. rewrite andb_true_r. tauto.
Qed.
Lemma in_strobes t b : In b (strobes t) <->
  t < last /\ At (S t) = b \/ t = 1 /\ (Count 0 = b \/ Count 1 = b) \/ t = answer - 1 /\ (Ask = b \/ In b (vector IsA n))
  \/ t = answer /\ (Ask = b \/ In b (vector IsB n)) \/ t = answer + 1 /\ In b (vector IsC n) \/ t = 2 * answer /\ In b (vector IsSubtrahend n)
  \/ t = 2 * answer + 1 /\ In b (vector IsMinuend n) \/ t = subtract /\ In b (generated 0 0)
  \/ t = last /\ (DoStore = b \/ In b (vector Ready n) \/ In b (vector Release A)).
Proof.
  unfold Machine.strobes. rewrite !in_app_iff, !in_if_at. cbn [In app]. rewrite !in_app_iff.
  assert (X : In b (if t <? last then [At (S t)] else []) <-> t < last /\ At (S t) = b).
  { destruct (Nat.ltb_spec t last); cbn [In]; [tauto|]. split; [easy|lia]. }
  rewrite X. cbn [In]. tauto.
Qed.

Ltac split_ports H :=
  rewrite ?orb_true_iff, ?(andb_true_iff _ (mem _ _)), ?mem_In in H; cbn [In] in H;
  repeat match type of H with _ \/ _ => destruct H as [H|H] end;
  match type of H with _ /\ _ => let I := fresh "I" in destruct H as [H I] end.
Ltac open_wires :=
  repeat match goal with
         | I : _ \/ _ |- _ => destruct I as [I|I]
         | I : False |- _ => destruct I
         | I : In _ (_ ++ _) |- _ => apply in_app_or in I
         | I : In _ (_ :: _) |- _ => destruct I as [I|I]
         | I : In _ [] |- _ => destruct I
         | I : In _ (vector _ _) |- _ => apply in_vector in I as (? & ? & ->)
         | I : _ = ?b |- _ => is_var b; subst b
         end.
Ltac done H := cbn [next]; unfold token_in, write_in, fetch_in, acts, hears; rewrite ?H, ?orb_true_r; try reflexivity; try exact H.

Lemma generated_next s d i b : d <= levels -> generate s d i = true -> In b (generated d i) -> next s b = true.
Proof.
  intros L G I. apply in_generated in I as [(-> & <-)|(_ & [<-|(_ & <-)])]; cbn [next]; try exact G. now rewrite Nat.add_sub.
Qed.
Lemma propagated_next s d i b : keep s d i = true -> In b (propagated d i) -> next s b = true.
Proof. intros G I. apply in_propagated in I as (_ & [<-|(_ & <-)]); cbn [next]; try exact G. now rewrite Nat.add_sub. Qed.

Lemma push s b : step machine s b = true -> next s b = true.
Proof.
  intros H. apply step_part in H as (c & P & H). destruct P as [d k Hd Hk|d k i Hd Hk Hi|d k j Hd Hk Hj|k j Hk Hj|k Hk|l q j Hl Hq Hj|j Hj|j Hj|d i Hd Hi|l i Hl Hi|j Hj|t Ht|c Hc].
  - destruct (Nat.lt_ge_cases (S d) depth) as [D|D].
    + apply on_inner in H as (v & V & G); [|easy]. unfold goes in G. set (c := k * 2 ^ digit d + v) in *. cbn [Machine.inner nth] in G.
      destruct G as [(G & I)|[(G & I)|(G & I)]]; open_wires; cbn [next]; exact G.
    + assert (E : S d = depth) by lia. apply on_leaf in H as (v & V & G); [|easy]. unfold goes in G. 
      assert (Pa : parent d (k * 2 ^ digit d + v) = k) by now apply parent_child.
      assert (Cw : k * 2 ^ digit d + v < words) by (rewrite <- nodes_depth, <- E; now apply child_node).
      set (c := k * 2 ^ digit d + v) in *. cbn [Machine.leaf nth] in G. assert (Ed : depth - 1 = d) by lia.
      destruct G as [(G & I)|[(G & I)|(G & I)]].
      * apply in_vector in I as (j & J & ->). cbn [next]. rewrite Ed. unfold writing. rewrite Pa, G. reflexivity.
      * rewrite E in G. open_wires; exact G.
      * rewrite E in G. open_wires. cbn [next]. rewrite after_before by easy. exact G.
  - unfold Machine.gate_cell in H. rewrite on_7 in H. split_ports H. apply in_map_iff in I as (c & <- & I). unfold Machine.children in I.
    apply in_map_iff in I as (v & <- & I). apply in_seq in I. cbn [next]. rewrite parent_child by lia. exact H.
  - unfold Machine.data_cell in H. rewrite on_7 in H. split_ports H. apply in_map_iff in I as (c & <- & I). unfold Machine.children in I.
    apply in_map_iff in I as (v & <- & I). apply in_seq in I. destruct (Nat.ltb_spec (S d) depth); cbn [next]; unfold data_in.
    + rewrite parent_child by lia. exact H.
    + replace (depth - 1) with d by lia. rewrite parent_child by lia. exact H.
  - unfold Machine.word_cell in H. rewrite on_8 in H. split_ports H; open_wires; [exact H|]. rewrite next_risen by easy. now apply up_word.
  - unfold Machine.walk_cell in H. rewrite on_1 in H. split_ports H; open_wires; cbn [next]; [now rewrite after_before|].
    apply orb_true_iff in H as [H|H]; rewrite H; now rewrite ?orb_true_r.
  - unfold Machine.rising_cell in H. rewrite on_0 in H. split_ports H; open_wires. rewrite next_risen.
    + apply up_rising; [lia|easy].
    + unfold Machine.words. replace (2 ^ A) with (2 ^ (A - span l) * 2 ^ span l) by (rewrite <- Nat.pow_add_r; f_equal; pose proof (span_most l); lia).
      pose proof (two_pos (span l)). nia.
  - unfold Machine.port_cell in H. destruct (Nat.ltb_spec j A).
    + rewrite on_15 in H. split_ports H; open_wires; cbn [next]; unfold hears; try exact H; try (rewrite H; now rewrite ?orb_true_r).
      rewrite <- !orb_assoc. rewrite <- orb_assoc in H. rewrite H. now rewrite orb_true_r.
    + rewrite on_16 in H. split_ports H; open_wires; cbn [next]; unfold hears; try exact H; try (rewrite H; now rewrite ?orb_true_r).
  - unfold Machine.bit_cell in H. pose proof levels_pos. destruct (Nat.ltb_spec (S j) n) as [L|L].
    + assert (Tp : (j =? top) = false) by (apply Nat.eqb_neq; unfold top; lia).
      rewrite on_3 in H. split_ports H; cbn [In] in I.
      * open_wires. exact H.
      * destruct I as [<-|I]; [exact H|]. apply (propagated_next s 0 (S j)); [|easy]. cbn [keep]. now replace (S j - 1) with j by lia.
      * open_wires. cbn [next]. rewrite Tp. cbn [andb negb]. now rewrite andb_true_r.
      * apply (generated_next s 0 (S j)); [lia|exact H|easy].
      * open_wires. cbn [next]. rewrite Tp. cbn [andb negb]. now rewrite andb_true_r.
    + assert (Tp : j = top) by (unfold top; lia). rewrite on_2 in H. rewrite Tp in *. unfold no, yes in H.
      split_ports H; open_wires; cbn [next]; unfold decides_no, decides_yes; rewrite ?Nat.eqb_refl; cbn [andb]; try exact H.
      destruct (s (Ready top)), (s Zero); cbn in *; try easy. now rewrite andb_true_r.
  - unfold Machine.prefix_cell in H. destruct (Nat.ltb_spec i (2 ^ d)) as [I1|I1]; [|destruct (Nat.ltb_spec i (2 ^ S d)) as [I2|I2]].
    + rewrite on_0 in H. split_ports H. apply (generated_next s (S d) i); [lia| |easy]. cbn [generate]. now rewrite H.
    + rewrite on_4 in H. split_ports H. apply (generated_next s (S d) i); [lia| |easy]. cbn [generate].
      rewrite (proj2 (Nat.leb_le _ _) I1), (proj2 (Nat.ltb_lt _ _) I2). cbn [andb orb]. now rewrite andb_true_r.
    + rewrite on_5 in H. split_ports H.
      * apply (generated_next s (S d) i); [lia| |easy]. cbn [generate].
        rewrite (proj2 (Nat.leb_le _ _) I1), (proj2 (Nat.ltb_ge _ _) I2). cbn [andb orb]. exact H.
      * apply (propagated_next s (S d) i); [exact H|easy].
  - unfold Machine.equal_cell, Machine.equal_out in H.
    assert (G : equal s (S l) i = true /\ In b (if S l <? levels then [Equal (S l) i] else [Zero])).
    { destruct (Nat.ltb_spec (S (2 * i)) (width l)) as [L|L].
      - rewrite on_7 in H. apply andb_true_iff in H as [H I]. apply mem_In in I. split; [|exact I]. cbn [equal].
        apply andb_true_iff in H as [H1 H2]. rewrite H1, H2. now rewrite orb_true_r.
      - rewrite on_0 in H. apply andb_true_iff in H as [H I]. apply mem_In in I. split; [|exact I]. cbn [equal].
        rewrite H. now rewrite (proj2 (Nat.leb_le _ _) L). }
    destruct G as [G I]. destruct (Nat.ltb_spec (S l) levels) as [L|L]; open_wires; cbn [next]; [exact G|].
    replace (S l) with levels in * by lia. rewrite width_levels in Hi. now replace i with 0 in G by lia.
  - unfold Machine.counter_cell in H. assert (X : forall x y, (x || y) = true -> y = true \/ x = true) by (intros [] []; cbn; tauto).
    destruct (Nat.ltb_spec (S j) n) as [L|L]; [destruct (Nat.ltb_spec j A) as [L'|L']|].
    + rewrite on_10 in H. split_ports H; open_wires; cbn [next]; try exact H; try (rewrite H; reflexivity).
      replace (S j - 1) with j by lia. rewrite (proj2 (Nat.leb_le 1 (S j))) by lia. cbn [andb]. rewrite H. apply orb_true_r.
    + rewrite on_9 in H. split_ports H; open_wires; cbn [next]; try exact H; try (rewrite H; reflexivity).
      replace (S j - 1) with j by lia. rewrite (proj2 (Nat.leb_le 1 (S j))) by lia. cbn [andb]. rewrite H. apply orb_true_r.
    + rewrite on_11 in H. split_ports H; cbn [In] in I.
      all: try (open_wires; cbn [next]; try exact H; rewrite H; reflexivity).
      destruct I as [<-|I]; [cbn [next]; now replace top with j by (unfold top; lia)|].
      destruct (Nat.ltb_spec j A); open_wires. cbn [next]. now rewrite H.
  - apply on_moment in H as [(H & I)|(-> & H & <-)]; [|cbn [next]; rewrite H; apply orb_true_r].
    apply in_strobes in I. pose proof levels_pos.
    destruct I as [(L & <-)|[(-> & I)|[(-> & I)|[(-> & I)|[(-> & I)|[(-> & I)|[(-> & I)|[(-> & I)|(-> & I)]]]]]]]].
    + exact H.
    + destruct I as [<-|<-]; cbn [next Nat.ltb Nat.leb andb]; now rewrite H.
    + open_wires; cbn [next]; rewrite H; reflexivity.
    + open_wires; cbn [next]; rewrite H; now rewrite ?orb_true_r.
    + open_wires; exact H.
    + open_wires; exact H.
    + open_wires; exact H.
    + apply (generated_next s 0 0); [lia|exact H|easy].
    + open_wires; exact H.
  - cbn [Machine.signal_cells In] in Hc. unfold Machine.launch_write, Machine.launch_fetch, Machine.launch_read in Hc.
    destruct Hc as [<-|[<-|[<-|[<-|[<-|[<-|[]]]]]]]; rewrite on_0 in H; apply andb_true_iff in H as [H I]; apply mem_In in I; 
      cbn [app] in I; open_wires; cbn [next token_in write_in fetch_in]; rewrite H; now rewrite ?orb_true_r.
Qed.

Ltac inside :=
  first [ left; reflexivity | apply vector_in; lia | right; inside | apply in_or_app; left; inside | apply in_or_app; right; inside | assumption ].
Ltac port H :=
  first [ apply andb_true_iff; split; [exact H | apply mem_In; inside]
        | apply orb_true_iff; right; port H | apply orb_true_iff; left; port H ].
Ltac from c := apply (fire c).

Lemma pull_inner s d c b : S d < depth -> c < nodes (S d) -> goes s d c (token_in s (S d) c) (inner d c) b -> step machine s b = true.
Proof.
  intros D C G. apply (fire (node_cell d (parent d c))).
  - constructor; [lia|]. apply parent_node; [lia|easy].
  - apply on_inner; [easy|]. exists (c mod 2 ^ digit d). rewrite <- child_parent. split; [|exact G]. apply Nat.mod_upper_bound.
    pose proof (two_pos (digit d)). lia.
Qed.
Lemma pull_leaf s c b : c < words ->
  goes s (depth - 1) c (picks s (depth - 1) c && negb (writing s (depth - 1) c)) (leaf c) b -> step machine s b = true.
Proof.
  intros C G. pose proof depth_pos. set (d := depth - 1) in *. assert (E : S d = depth) by (unfold d; lia).
  rewrite <- nodes_depth, <- E in C. apply (fire (node_cell d (parent d c))).
  - constructor; [lia|]. apply parent_node; [lia|easy].
  - apply on_leaf; [easy|]. exists (c mod 2 ^ digit d). rewrite <- child_parent. split; [|exact G]. apply Nat.mod_upper_bound.
    pose proof (two_pos (digit d)). lia.
Qed.
Lemma pull_moment s t b : t <= last -> acts s t = true -> In b (strobes t) -> step machine s b = true.
Proof. intros L H I. apply (fire (moment_cell t)); [now constructor|]. apply on_moment. now left. Qed.
Lemma pull_signal s x b W : In (Cell 0 [[x]] [W]) signal_cells -> s x = true -> In b W -> step machine s b = true.
Proof.
  intros I H J. apply (fire (Cell 0 [[x]] [W])); [now apply p_signal|]. rewrite on_0, H. now apply mem_In.
Qed.
Ltac strobe := apply in_strobes; cbn [In]; rewrite ?in_vector; 
  repeat first [ left; solve [split; [reflexivity | repeat first [left; reflexivity | left; eexists; split; [|reflexivity]; lia | eexists; split; [|reflexivity]; lia | right]]] | right ];
  split; [reflexivity | repeat first [left; reflexivity | left; eexists; split; [|reflexivity]; lia | eexists; split; [|reflexivity]; lia | right]].

Lemma pull_up s l q j : 1 <= l <= rise -> q < 2 ^ (A - span l) -> j < n -> up s l q j = true -> step machine s (risen l (q * 2 ^ span l) j) = true.
Proof.
  intros L Q J H. pose proof (two_pos (span l)). assert (P : forall m, 2 ^ A = 2 ^ (A - span m) * 2 ^ span m).
  { intros m. rewrite <- Nat.pow_add_r. f_equal. pose proof (span_most m). lia. }
  destruct l as [|[|l]]; [lia| |].
  - cbn [up] in H. apply existsb_exists in H as (c & I & H). apply in_seq in I. cbv zeta in H.
    apply (fire (word_cell (q * 2 ^ span 1 + c) j)).
    + constructor; [|easy]. unfold Machine.words. rewrite (P 1). nia.
    + unfold Machine.word_cell. rewrite on_8. apply orb_true_iff. right. rewrite H. apply mem_In. left.
      unfold Machine.risen. destruct (1 =? rise); [easy|]. rewrite Nat.div_mul by lia. f_equal.
      symmetry. apply (Nat.div_unique _ _ _ c); lia.
  - set (m := S l) in *. cbn [up] in H. apply existsb_exists in H as (c & I & H). apply in_seq in I. pose proof (span_le m) as Sm.
    set (w := span (S m) - span m) in *. assert (E : 2 ^ span (S m) = 2 ^ w * 2 ^ span m) by (rewrite <- Nat.pow_add_r; f_equal; lia).
    pose proof (two_pos (span m)). pose proof (two_pos w).
    apply (fire (rising_cell m (q * 2 ^ w + c) j)).
    + constructor; [lia| |easy]. pose proof (span_most (S m)). replace (A - span m) with (A - span (S m) + w) by lia. rewrite Nat.pow_add_r. nia.
    + unfold Machine.rising_cell. rewrite on_0, H. apply mem_In. left. unfold Machine.risen. destruct (S m =? rise); [easy|]. f_equal.
      rewrite Nat.div_mul by lia. rewrite E. rewrite Nat.div_mul_cancel_r by lia. symmetry. apply (Nat.div_unique _ _ _ c); lia.
Qed.

Lemma pull_generate s d i b : d <= levels -> i < n -> generate s d i = true -> In b (generated d i) -> step machine s b = true.
Proof.
  intros L I G J. destruct d as [|e].
  - destruct i as [|j].
    + cbn [generate] in G. apply (pull_moment s subtract); [unfold Machine.last; lia|exact G|]. apply in_strobes. tauto.
    + apply (fire (bit_cell j)); [constructor; lia|]. unfold Machine.bit_cell. rewrite (proj2 (Nat.ltb_lt _ _) I).
      cbn [generate] in G. rewrite on_3. port G.
  - apply (fire (prefix_cell e i)); [constructor; lia|]. unfold Machine.prefix_cell. cbn [generate] in G.
    destruct (Nat.ltb_spec i (2 ^ e)) as [I1|I1]; [|destruct (Nat.ltb_spec i (2 ^ S e)) as [I2|I2]].
    + rewrite on_0. rewrite (proj2 (Nat.leb_gt _ _) I1) in G. cbn [andb] in G. rewrite orb_false_r in G. port G.
    + rewrite on_4. rewrite (proj2 (Nat.leb_le _ _) I1) in G. cbn [andb orb] in G. rewrite andb_true_r in G. port G.
    + rewrite on_5. rewrite (proj2 (Nat.leb_le _ _) I1) in G. cbn [andb orb] in G. port G.
Qed.
Lemma pull_keep s d i b : d < levels -> 2 ^ d <= i < n -> keep s d i = true -> In b (propagated d i) -> step machine s b = true.
Proof.
  intros L I G J. destruct d as [|e].
  - change (2 ^ 0) with 1 in I. destruct i as [|j]; [lia|]. apply (fire (bit_cell j)); [constructor; lia|]. unfold Machine.bit_cell.
    rewrite (proj2 (Nat.ltb_lt _ _) (proj2 I)). cbn [keep] in G. replace (S j - 1) with j in G by lia. rewrite on_3. port G.
  - apply (fire (prefix_cell e i)); [constructor; lia|]. unfold Machine.prefix_cell. cbn [keep] in G.
    rewrite Nat.pow_succ_r' in *. rewrite (proj2 (Nat.ltb_ge i (2 ^ e))), (proj2 (Nat.ltb_ge i (2 * 2 ^ e))) by lia. rewrite on_5. port G.
Qed.
Lemma pull_equal s l i b : 1 <= l <= levels -> i < width l -> equal s l i = true -> In b (equal_out (l - 1) i) -> step machine s b = true.
Proof.
  intros L I G J. destruct l as [|l]; [lia|]. rewrite Nat.sub_succ, Nat.sub_0_r in J.
  apply (fire (equal_cell l i)); [constructor; [lia|easy]|]. unfold Machine.equal_cell. cbn [equal] in G.
  destruct (Nat.ltb_spec (S (2 * i)) (width l)) as [W|W].
  - rewrite (proj2 (Nat.leb_gt _ _) W) in G. cbn [orb] in G. rewrite on_7. port G.
  - rewrite (proj2 (Nat.leb_le _ _) W) in G. cbn [orb] in G. rewrite andb_true_r in G. rewrite on_0. port G.
Qed.
Lemma pull_port s j b W l : j < n -> hears s j l = true ->
  In (l, W) [([T;F;F;T;F;F], [Jump j]); ([F;F;F;F;T;F], [Early j]); ([T;F;F;F;F;T], [Minuend j])] -> In b W -> step machine s b = true.
Proof.
  intros J H I K. apply (fire (port_cell j)); [now constructor|]. unfold Machine.port_cell, hears in *.
  destruct I as [I|[I|[I|[]]]]; injection I as <- <-; (destruct (j <? A); [rewrite on_15 | rewrite on_16]; port H).
Qed.
Ltac signal x := first [ eapply (pull_signal _ x); [do 0 right; left; reflexivity | eassumption | cbn [In]]
  | eapply (pull_signal _ x); [do 1 right; left; reflexivity | eassumption | cbn [In]]
  | eapply (pull_signal _ x); [do 2 right; left; reflexivity | eassumption | cbn [In]]
  | eapply (pull_signal _ x); [do 3 right; left; reflexivity | eassumption | cbn [In]]
  | eapply (pull_signal _ x); [do 4 right; left; reflexivity | eassumption | cbn [In]]
  | eapply (pull_signal _ x); [do 5 right; left; reflexivity | eassumption | cbn [In]] ].
Ltac signals := unfold Machine.launch_write, Machine.launch_fetch, Machine.launch_read; cbn [app]; inside.

Ltac or3 H := repeat (apply orb_true_iff in H as [H|H]).
Lemma pull s b : valid b -> next s b = true -> step machine s b = true.
Proof.
  intros V H. pose proof levels_pos as Lp. pose proof answer_least as Al. pose proof depth_pos as Dp. pose proof rise_pos as Rp.
  assert (Nz : forall k, k < nodes 0 -> k = 0) by (intros k; rewrite nodes_zero; lia).
  assert (La : 2 * answer + 3 < last) by (unfold Machine.last, Machine.subtract; lia).
  destruct b; cbn [valid next] in V, H.
  - (* Token *) destruct V as [D K]. destruct d as [|d].
    + apply Nz in K as ->. cbn [token_in] in H. or3 H; [signal Begin|signal Ask|signal DoStore]; signals.
    + apply (pull_inner s d k); [easy|easy|]. left. split; [exact H|]. left. reflexivity.
  - (* Writes *) destruct V as [D K]. destruct d as [|d].
    + apply Nz in K as ->. cbn [write_in] in H. signal DoStore. signals.
    + apply (pull_inner s d k); [easy|easy|]. right. left. split; [exact H|]. left. reflexivity.
  - (* Fetches *) destruct V as [D K]. destruct d as [|d].
    + apply Nz in K as ->. cbn [fetch_in] in H. signal Begin. signals.
    + apply (pull_inner s d k); [easy|easy|]. right. right. split; [exact H|]. left. reflexivity.
  - (* Address *) destruct V as (D & K & I). destruct d as [|d].
    + apply Nz in K as ->. unfold Machine.below in I. or3 H.
      * apply (fire (counter_cell i)); [constructor; lia|]. unfold Machine.counter_cell. rewrite (proj2 (Nat.ltb_lt i A) I).
        destruct (S i <? n); [rewrite on_10|rewrite on_11]; port H.
      * apply (fire (port_cell i)); [constructor; lia|]. unfold Machine.port_cell, hears in *. rewrite (proj2 (Nat.ltb_lt i A) I), on_15.
        do 4 (apply orb_true_iff; left). rewrite H. apply mem_In. left. reflexivity.
      * apply (fire (port_cell i)); [constructor; lia|]. unfold Machine.port_cell, hears in *. rewrite (proj2 (Nat.ltb_lt i A) I), on_15.
        do 4 (apply orb_true_iff; left). rewrite H, orb_true_r. apply mem_In. left. reflexivity.
      * apply (fire (port_cell i)); [constructor; lia|]. unfold Machine.port_cell, hears in *. rewrite (proj2 (Nat.ltb_lt i A) I), on_15.
        do 4 (apply orb_true_iff; left). rewrite H, orb_true_r. apply mem_In. left. reflexivity.
    + apply (fire (gate_cell d (parent d k) i)); [constructor; [lia|apply parent_node; [lia|easy]|easy]|].
      unfold Machine.gate_cell. rewrite on_7, H. apply mem_In. apply (in_map (fun c => Address (S d) c i)). unfold Machine.children.
      apply in_map_iff. exists (k mod 2 ^ digit d). split; [symmetry; apply child_parent|]. apply in_seq. pose proof (two_pos (digit d)).
      pose proof (Nat.mod_upper_bound k (2 ^ digit d)). lia.
  - (* Gate *) destruct V as (D & K & I). destruct d as [|d].
    + apply Nz in K as ->. cbn [token_in] in H. or3 H; [signal Begin|signal Ask|signal DoStore]; signals.
    + apply (pull_inner s d k); [easy|easy|]. left. split; [exact H|]. right. now apply vector_in.
  - (* Data *) destruct V as (D & K & J). destruct d as [|d].
    + apply Nz in K as ->. apply (fire (bit_cell j)); [now constructor|]. unfold Machine.bit_cell. apply andb_true_iff in H as [H Z].
      destruct (Nat.ltb_spec (S j) n) as [L|L]; [rewrite on_3; port H|].
      replace (j =? top) with true in Z by (symmetry; apply Nat.eqb_eq; unfold top; lia). cbn [andb] in Z.
      rewrite on_2. apply orb_true_iff. left. apply orb_true_iff. right. apply andb_true_iff in H as [H1 H2]. rewrite H1, H2, Z. apply mem_In. now left.
    + apply (fire (data_cell d (parent d k) j)); [constructor; [lia|apply parent_node; [lia|easy]|easy]|].
      unfold Machine.data_cell. rewrite (proj2 (Nat.ltb_lt _ _) D). unfold data_in in H. rewrite on_7, H. apply mem_In.
      apply (in_map (fun c => Data (S d) c j)). unfold Machine.children.
      apply in_map_iff. exists (k mod 2 ^ digit d). split; [symmetry; apply child_parent|]. apply in_seq. pose proof (two_pos (digit d)).
      pose proof (Nat.mod_upper_bound k (2 ^ digit d)). lia.
  - (* DataGate *) destruct V as (D & K & J). destruct d as [|d].
    + apply Nz in K as ->. cbn [write_in] in H. signal DoStore. signals.
    + apply (pull_inner s d k); [easy|easy|]. right. left. split; [exact H|]. right. now apply vector_in.
  - (* Word *) destruct V as [K J]. apply (fire (word_cell k j)); [now constructor|]. unfold Machine.word_cell. rewrite on_8. port H.
  - (* Read *) destruct V as [K J]. or3 H.
    + apply (pull_leaf s k); [easy|]. left. split; [exact H|]. cbn [Machine.leaf nth]. now apply vector_in.
    + apply (fire (walk_cell k)); [now constructor|]. unfold Machine.walk_cell. rewrite on_1. apply orb_true_iff. right. rewrite H. apply mem_In. now apply vector_in.
    + apply (fire (walk_cell k)); [now constructor|]. unfold Machine.walk_cell. rewrite on_1. apply orb_true_iff. right. rewrite H, orb_true_r. apply mem_In. now apply vector_in.
  - (* Erase *) destruct V as [K J]. apply (pull_leaf s k); [easy|]. right. left. replace (S (depth - 1)) with depth by lia. split; [exact H|]. cbn [Machine.leaf nth]. inside.
  - (* Store *) destruct V as [K J]. apply (pull_leaf s k); [easy|]. right. left. replace (S (depth - 1)) with depth by lia. split; [exact H|]. cbn [Machine.leaf nth]. inside.
  - (* Stored *) destruct V as [K J]. apply (fire (data_cell (depth - 1) (parent (depth - 1) k) j)).
    + constructor; [lia| |easy]. apply parent_node; [lia|]. replace (S (depth - 1)) with depth by lia. now rewrite nodes_depth.
    + unfold Machine.data_cell. rewrite (proj2 (Nat.ltb_ge (S (depth - 1)) depth)) by lia. unfold data_in in H. rewrite on_7, H. apply mem_In.
      apply (in_map (fun c => Stored c j)). unfold Machine.children. apply in_map_iff. exists (k mod 2 ^ digit (depth - 1)).
      split; [symmetry; apply child_parent|]. apply in_seq. pose proof (two_pos (digit (depth - 1))).
      pose proof (Nat.mod_upper_bound k (2 ^ digit (depth - 1))). lia.
  - (* Second *) apply (pull_leaf s (before k)); [apply before_lt|]. right. right. replace (S (depth - 1)) with depth by lia. split; [exact H|].
    cbn [Machine.leaf nth]. rewrite before_after by easy. now left.
  - (* Third *) apply (fire (walk_cell (before k))); [constructor; apply before_lt|]. unfold Machine.walk_cell. rewrite on_1, before_after by easy. port H.
  - (* Rising *) destruct V as (L & Q & J). pose proof (pull_up s l q j ltac:(lia) Q J H) as G. unfold Machine.risen in G.
    rewrite (proj2 (Nat.eqb_neq l rise)) in G by lia. rewrite Nat.div_mul in G by (pose proof (two_pos (span l)); lia). exact G.
  - (* Arriving *) pose proof (pull_up s rise 0 j ltac:(lia) (two_pos _) V H) as G. unfold Machine.risen in G. now rewrite Nat.eqb_refl in G.
  - (* IsA *) apply (pull_moment s (answer - 1)); [lia|exact H|]. apply in_strobes. pose proof (vector_in IsA j n V). tauto.
  - (* IsB *) apply (pull_moment s answer); [lia|exact H|]. apply in_strobes. pose proof (vector_in IsB j n V). tauto.
  - (* IsC *) apply (pull_moment s (answer + 1)); [lia|exact H|]. apply in_strobes. pose proof (vector_in IsC j n V). tauto.
  - (* IsSubtrahend *) apply (pull_moment s (2 * answer)); [lia|exact H|]. apply in_strobes. pose proof (vector_in IsSubtrahend j n V). tauto.
  - (* IsMinuend *) apply (pull_moment s (2 * answer + 1)); [lia|exact H|]. apply in_strobes. pose proof (vector_in IsMinuend j n V). tauto.
  - (* Target *) apply (fire (port_cell i)); [constructor; lia|]. unfold Machine.port_cell, hears in *. rewrite (proj2 (Nat.ltb_lt i A) V), on_15. port H.
  - (* Release *) apply (pull_moment s last); [lia|exact H|]. apply in_strobes. pose proof (vector_in Release i A V). tauto.
  - (* Early *) eapply (pull_port s j); [easy|exact H|right; left; reflexivity|now left].
  - (* Minuend *) eapply (pull_port s j); [easy|exact H|right; right; left; reflexivity|now left].
  - (* Inverted *) apply (fire (bit_cell j)); [now constructor|]. unfold Machine.bit_cell. destruct (S j <? n); [rewrite on_3|rewrite on_2]; port H.
  - (* Half *) apply (fire (bit_cell j)); [now constructor|]. unfold Machine.bit_cell. destruct (Nat.ltb_spec (S j) n) as [L|L].
    + replace (j =? top) with false in H by (symmetry; apply Nat.eqb_neq; unfold top; lia). cbn [andb negb] in H. rewrite andb_true_r in H. rewrite on_3. port H.
    + replace (j =? top) with true in H by (symmetry; apply Nat.eqb_eq; unfold top; lia). cbn [andb negb] in H. rewrite on_2. port H.
  - (* Carry *) apply (pull_generate s levels j); [easy|easy|exact H|]. apply in_generated. now left.
  - (* Ready *) apply (pull_moment s last); [lia|exact H|]. apply in_strobes. pose proof (vector_in Ready j n V). tauto.
  - (* Zero *) apply (pull_equal s levels 0); [lia|rewrite width_levels; lia|exact H|]. unfold Machine.equal_out.
    rewrite (proj2 (Nat.ltb_ge (S (levels - 1)) levels)) by lia. now left.
  - (* Generate *) destruct V as [D I]. apply (pull_generate s d i); [lia|easy|exact H|]. apply in_generated. right. split; [lia|now left].
  - (* Keep *) destruct V as [D I]. apply (pull_keep s d i); [lia|easy|exact H|]. apply in_propagated. split; [easy|now left].
  - (* Low *) destruct V as [D I]. apply (pull_generate s d (i - 2 ^ d)); [lia|lia|exact H|]. apply in_generated. right. split; [lia|]. right.
    replace (i - 2 ^ d + 2 ^ d) with i by lia. split; [lia|easy].
  - (* Pass *) destruct V as [D I]. rewrite Nat.pow_succ_r' in I. apply (pull_keep s d (i - 2 ^ d)); [lia|lia|exact H|]. apply in_propagated. split; [lia|]. right.
    replace (i - 2 ^ d + 2 ^ d) with i by lia. split; [lia|easy].
  - (* Equal *) destruct V as [L I]. destruct l as [|l].
    + cbn [equal] in H. cbn [Machine.width] in I. apply (fire (bit_cell i)); [now constructor|]. unfold Machine.bit_cell.
      destruct (S i <? n); [rewrite on_3|rewrite on_2]; port H.
    + apply (pull_equal s (S l) i); [lia|easy|exact H|]. rewrite Nat.sub_succ, Nat.sub_0_r. unfold Machine.equal_out. rewrite (proj2 (Nat.ltb_lt _ _) L). now left.
  - (* Next *) apply (fire (counter_cell j)); [now constructor|]. unfold Machine.counter_cell. destruct (S j <? n); [destruct (j <? A); [rewrite on_10|rewrite on_9]|rewrite on_11]; port H.
  - (* Count *) apply orb_true_iff in H as [H|H].
    + apply andb_true_iff in H as [J H]. apply Nat.ltb_lt in J. apply (pull_moment s 1); [lia|exact H|]. apply in_strobes. right. left. split; [easy|].
      destruct j as [|[|]]; [now left|now right|lia].
    + destruct j as [|j]; [cbn in H; discriminate|]. rewrite Nat.sub_succ, Nat.sub_0_r in H. cbn [Nat.leb andb] in H.
      apply (fire (counter_cell j)); [constructor; lia|]. unfold Machine.counter_cell. rewrite (proj2 (Nat.ltb_lt _ _) V).
      destruct (j <? A); [rewrite on_10|rewrite on_9]; port H.
  - (* NextIfNot *) apply (fire (bit_cell top)); [constructor; unfold top; lia|]. unfold Machine.bit_cell. rewrite (proj2 (Nat.ltb_ge (S top) n)) by (unfold top; lia).
    unfold decides_no in H. unfold Machine.no, Machine.yes. rewrite on_2. port H.
  - (* NextIf *) apply (fire (bit_cell top)); [constructor; unfold top; lia|]. unfold Machine.bit_cell. rewrite (proj2 (Nat.ltb_ge (S top) n)) by (unfold top; lia).
    unfold decides_yes in H. unfold Machine.no, Machine.yes. rewrite on_2. port H.
  - (* Jump *) apply orb_true_iff in H as [H|H]; [|eapply (pull_port s j); [easy|exact H|left; reflexivity|now left]].
    apply (fire (counter_cell j)); [now constructor|]. unfold Machine.counter_cell. destruct (S j <? n); [destruct (j <? A); [rewrite on_10|rewrite on_9]|rewrite on_11]; port H.
  - (* JumpIfNot *) apply (fire (bit_cell top)); [constructor; unfold top; lia|]. unfold Machine.bit_cell. rewrite (proj2 (Nat.ltb_ge (S top) n)) by (unfold top; lia).
    unfold decides_no in H. unfold Machine.no, Machine.yes. rewrite on_2. port H.
  - (* JumpIf *) apply (fire (bit_cell top)); [constructor; unfold top; lia|]. unfold Machine.bit_cell. rewrite (proj2 (Nat.ltb_ge (S top) n)) by (unfold top; lia).
    unfold decides_yes in H. unfold Machine.no, Machine.yes. rewrite on_2. port H.
  - (* Counter *) apply (fire (counter_cell j)); [now constructor|]. unfold Machine.counter_cell. destruct (S j <? n); [destruct (j <? A); [rewrite on_10|rewrite on_9]|rewrite on_11]; port H.
  - (* At *) destruct t as [|t]; [signal Begin; signals|]. apply (pull_moment s t); [lia|exact H|]. apply in_strobes. left. split; [lia|easy].
  - (* Begin *) signal Finish. inside.
  - (* Finish *) signal DoStore. inside.
  - (* Ask *) apply orb_true_iff in H as [H|H]; [apply (pull_moment s (answer - 1))|apply (pull_moment s answer)]; try exact H; try lia; apply in_strobes; tauto.
  - (* DoStore *) apply (pull_moment s last); [lia|exact H|]. apply in_strobes. tauto.
  - (* Check *) apply (fire (counter_cell top)); [constructor; unfold top; lia|]. unfold Machine.counter_cell. rewrite (proj2 (Nat.ltb_ge (S top) n)) by (unfold top; lia).
    rewrite on_11. port H.
  - (* OutOfRange *) signal Check. inside.
  - (* Halt *) apply orb_true_iff in H as [H|H]; [signal Halt; inside|]. apply (fire (moment_cell 1)); [constructor; lia|]. apply on_moment. right. now split.
Qed.

(** At every size, the value of each bit after a step of the machine is [next]. *)
Theorem step_next s b : valid b -> step machine s b = next s b.
Proof. intros V. apply eq_true_iff_eq. split; [apply push | now apply pull]. Qed.

(** At every size, every cell is of one of the 17 kinds. *)
Theorem machine_consists : consists_of machine kinds cells.
Proof.
  split; [|split; intros t I; exists t; auto]. apply Forall_forall. intros c I. apply in_cells in I.
  assert (V : forall d k (f : nat -> list (list bit)), (forall x, length (f x) = 3) -> length (flat_map f (children d k)) = 3 * 2 ^ digit d).
  { intros d k f E. unfold Machine.children. rewrite <- (seq_length (2 ^ digit d) 0) at 2. rewrite <- (map_length (fun v => k * 2 ^ digit d + v) (seq 0 (2 ^ digit d))).
    set (l := map _ _). clearbody l. induction l as [|x l IH]; [easy|]. cbn [flat_map length]. rewrite app_length, IH, E. lia. }
  assert (P : forall (k : nat) (x : kind) (bs ws : list (list bit)), nth_error kinds k = Some x ->
     map (@length bit) bs = map fst (blocks x) -> length ws = length (ports x) -> fits kinds (Cell k bs ws)).
  { intros k x bs ws E M L. unfold fits. cbn [kind_of block_bits wires]. rewrite E. split; [|exact L]. clear E L. revert bs M.
    induction (blocks x) as [|y l IH]; intros [|z bs] M; try discriminate M; constructor; [now injection M|]. apply IH. now injection M. }
  destruct I as [d k D K|d k i D K I|d k j D K J|k j K J|k K|l q j L Q J|j J|j J|d i D I|l i L I|j J|t Tl|c I].
  - unfold Machine.node_cell. destruct (Nat.ltb_spec (S d) depth) as [L|L].
    + destruct (digit_cases d D) as [(E & _)|E]; rewrite E; cbn [Nat.eqb]; (eapply P; [reflexivity|reflexivity|]; rewrite V by reflexivity; now rewrite E).
    + eapply P; [reflexivity|reflexivity|]. rewrite V by reflexivity. rewrite digit_last by lia. reflexivity.
  - eapply P; reflexivity.
  - eapply P; reflexivity.
  - eapply P; reflexivity.
  - eapply P; reflexivity.
  - eapply P; reflexivity.
  - unfold Machine.port_cell. destruct (j <? A); eapply P; reflexivity.
  - unfold Machine.bit_cell. destruct (S j <? n); eapply P; reflexivity.
  - unfold Machine.prefix_cell. destruct (i <? 2 ^ d), (i <? 2 ^ S d); eapply P; reflexivity.
  - unfold Machine.equal_cell. destruct (S (2 * i) <? width l); eapply P; reflexivity.
  - unfold Machine.counter_cell. destruct (S j <? n), (j <? A); eapply P; reflexivity.
  - unfold Machine.moment_cell. destruct (t =? 1); eapply P; reflexivity.
  - repeat destruct I as [<-|I]; try (eapply P; reflexivity). destruct I.
Qed.

End Step.
