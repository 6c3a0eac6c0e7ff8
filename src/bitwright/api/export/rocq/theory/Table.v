(** Small sizes by computation: states as tables, and all inputs. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words.
Import ListNotations.

Definition table : Type := list (name * bool).
Definition lookup (t : table) : state name := fun b => existsb (fun e => name_eqb b (fst e) && snd e) t.
Definition tabulate (u : list name) (s : state name) : table := map (fun b => (b, s b)) u.
(** The bits that rules have, each once. *)
Definition used (r : rules name) : list name :=
  fold_right (fun b l => if mem b l then l else b :: l) [] (flat_map (fun t => map fst (cond t) ++ writes t) r).
Definition run_table (r : rules name) (u : list name) (n : nat) (s : state name) : table :=
  Nat.iter n (fun t => tabulate u (step r (lookup t))) (tabulate u s).

Lemma lookup_tabulate u s b : lookup (tabulate u s) b = mem b u && s b.
Proof.
  unfold lookup, tabulate. induction u as [|a u IH]; [easy|]. cbn [map existsb fst snd]. rewrite IH.
  change (mem b (a :: u)) with (name_eqb b a || mem b u). destruct (name_eqb b a) eqn:E; cbn [andb orb]; [|easy].
  apply name_eqb_ok in E. subst a. now destruct (s b), (mem b u).
Qed.
Lemma used_in r t b : In t r -> In b (map fst (cond t) ++ writes t) -> mem b (used r) = true.
Proof.
  intros T B. apply mem_In. unfold used. assert (I : In b (flat_map (fun t => map fst (cond t) ++ writes t) r)) by (apply in_flat_map; now exists t).
  revert I. generalize (flat_map (fun t => map fst (cond t) ++ writes t) r). induction l as [|a l IH]; cbn; [easy|]. intros [->|I].
  - destruct (mem b _) eqn:E; [now apply mem_In|now left].
  - destruct (mem a _); [now apply IH|right; now apply IH].
Qed.
Lemma step_used r s s' b : (forall c, mem c (used r) = true -> s c = s' c) -> step r s b = step r s' b.
Proof.
  intros E. unfold step. apply existsb_ext. intros t T. f_equal. unfold matches.
  assert (G : forall c, In c (cond t) -> s (fst c) = s' (fst c)).
  { intros c C. apply E, (used_in r t); [exact T|]. apply in_or_app. left. now apply in_map. }
  induction (cond t) as [|c l IH]; cbn; [easy|]. rewrite G by now left. f_equal. apply IH. intros. apply G. now right.
Qed.
Lemma step_outside r s b : mem b (used r) = false -> step r s b = false.
Proof.
  intros E. apply not_true_is_false. unfold step. rewrite existsb_exists. intros (t & T & M). apply andb_prop in M as [_ M]. apply mem_In in M.
  rewrite (used_in r t b T) in E; [easy|]. apply in_or_app. now right.
Qed.
Theorem run_table_ok r n s b : (1 <= n)%nat -> lookup (run_table r (used r) n s) b = run r n s b.
Proof.
  destruct n as [|n]; [lia|]. intros _. assert (S : forall n b, lookup (run_table r (used r) (S n) s) b = step r (lookup (run_table r (used r) n s)) b).
  { intros m c. unfold run_table. cbn [Nat.iter nat_rect]. rewrite lookup_tabulate. destruct (mem c (used r)) eqn:E; [easy|]. symmetry. now apply step_outside. }
  revert b. induction n as [|n IH]; intros b; rewrite S.
  - change (run r 1 s) with (step r s). apply step_used. intros c C. unfold run_table. cbn [Nat.iter nat_rect]. now rewrite lookup_tabulate, C.
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
