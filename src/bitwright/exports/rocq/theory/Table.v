(** Small sizes by computation for all inputs, with states as tables. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words.
Import ListNotations.

(** A state, represented by the list of bits that are on. *)
Definition table : Type := list name.
Definition lookup (t : table) : state name := fun b => mem b t.
(** The bits that occur in rules. *)
Definition used (r : rules name) : list name := flat_map (fun t => map fst (cond t) ++ writes t) r.
Definition next_table (r : rules name) (t : table) : table := flat_map (@writes name) (filter (matches (lookup t)) r).
Definition run_table (r : rules name) (n : nat) (s : state name) : table := Nat.iter n (next_table r) (filter s (used r)).

Lemma lookup_next r t b : lookup (next_table r t) b = step r (lookup t) b.
Proof.
  unfold lookup at 1, next_table, step. induction r as [|x r IH]; [easy|]. cbn [filter existsb]. destruct (matches (lookup t) x); cbn [flat_map andb orb]; [|exact IH].
  now rewrite mem_app, IH.
Qed.
Lemma lookup_first r (s : state name) b : lookup (filter s (used r)) b = mem b (used r) && s b.
Proof. apply eq_true_iff_eq. unfold lookup. rewrite andb_true_iff, !mem_In, filter_In. tauto. Qed.
Lemma used_in r t b : In t r -> In b (map fst (cond t)) -> mem b (used r) = true.
Proof. intros T B. apply mem_In, in_flat_map. exists t. split; [exact T|]. apply in_or_app. now left. Qed.
Lemma step_used r s s' b : (forall c, mem c (used r) = true -> s c = s' c) -> step r s b = step r s' b.
Proof.
  intros E. unfold step. apply existsb_ext. intros t T. f_equal. unfold matches.
  assert (G : forall c, In c (cond t) -> s (fst c) = s' (fst c)) by (intros c C; apply E, (used_in r t); [exact T|now apply in_map]).
  induction (cond t) as [|c l IH]; cbn; [easy|]. rewrite G by now left. f_equal. apply IH. intros. apply G. now right.
Qed.
Theorem run_table_ok r n s b : (1 <= n)%nat -> lookup (run_table r n s) b = run r n s b.
Proof.
  destruct n as [|n]; [lia|]. intros _. revert b. induction n as [|n IH]; intros b; unfold run_table in *; cbn [Nat.iter nat_rect] in *; rewrite lookup_next.
  - change (run r 1 s) with (step r s). apply step_used. intros c C. now rewrite lookup_first, C.
  - change (run r (Datatypes.S (Datatypes.S n)) s) with (step r (run r (Datatypes.S n) s)). apply step_used. intros c _. apply IH.
Qed.

Definition numbers (n : nat) : list Z := map Z.of_nat (seq 0 (2 ^ n)).
Lemma In_numbers n x : (0 <= x < 2 ^ Z.of_nat n)%Z -> In x (numbers n).
Proof.
  intros B. apply in_map_iff. exists (Z.to_nat x). split; [lia|]. apply in_seq. split; [lia|]. rewrite Nat.add_0_l.
  apply Nat2Z.inj_lt. rewrite Nat2Z.inj_pow. lia.
Qed.
Lemma in_all {X} (f : X -> bool) l x : forallb f l = true -> In x l -> f x = true.
Proof. intros A I. rewrite forallb_forall in A. now apply A. Qed.

Lemma iter_swap {X} (f : X -> X) k x : Nat.iter k f (f x) = f (Nat.iter k f x).
Proof. induction k as [|k IH]; [easy|]. change (f (Nat.iter k f (f x)) = f (f (Nat.iter k f x))). now rewrite IH. Qed.
(** The first state after a step in which bit h is on. *)
Fixpoint until (r : rules name) (h : name) (fuel : nat) (t : table) : nat := match fuel with O => O | S fuel => if lookup t h then O else S (until r h fuel (next_table r t)) end.
Lemma until_off r h fuel : forall t k, (k < until r h fuel t)%nat -> lookup (Nat.iter k (next_table r) t) h = false.
Proof.
  induction fuel as [|fuel IH]; intros t k K; cbn [until] in K; [lia|]. destruct (lookup t h) eqn:E; [lia|]. destruct k as [|k]; [exact E|].
  change (lookup (next_table r (Nat.iter k (next_table r) t)) h = false). rewrite <- iter_swap. apply IH. lia.
Qed.
Definition halts_at (r : rules name) (h : name) (most : nat) (s : state name) : nat := S (until r h most (run_table r 1 s)).
Lemma halts_at_off r h most s k : s h = false -> (k < halts_at r h most s)%nat -> run r k s h = false.
Proof.
  intros S0 K. destruct k as [|k]; [exact S0|]. unfold halts_at in K. rewrite <- run_table_ok by lia.
  rewrite <- (until_off r h most (run_table r 1 s) k ltac:(lia)). do 2 f_equal. symmetry. exact (iter_swap (next_table r) k (filter s (used r))).
Qed.
