(** This network, in the cells of machine V, is a SUBLEQ computer of every size. *)
From Coq Require Import List Bool Arith Lia.
From Bitwright Require Import Rules.
From Theorems Require Import Machine MachineStep MachineTree MachineRun Subleq.
From MachineV Require Net.

Theorem same_kinds : Net.kinds = kinds.
Proof. reflexivity. Qed.

(** At every size, every run of the network in its cells is a run of the machine's rules. *)
Theorem network_runs (A n : nat) : 2 <= A -> A <= n ->
  forall t s b, run_by_cells Net.net Net.kinds (cells A n) t s b = run (machine A n) t s b.
Proof.
  intros L M. apply cells_run; [exact Net.net_right|exact Net.kinds_proper|]. rewrite same_kinds. now apply machine_consists.
Qed.

(** A program of i instructions, from its initial to its final memory and counter: at the boundary [Begin] is on, the
    counter shows the next address, and [depth A] steps later the memory is that of the program. *)
Theorem network_executes (A n : nat) (M : nat -> nat) (pc i : nat) :
  2 <= A -> A <= n -> (forall k, k < 2 ^ A -> M k < 2 ^ n) -> pc < 2 ^ n ->
  (forall j, j < i -> snd (program A n j M pc) < 2 ^ (n - 1)) ->
  let state t := run_by_cells Net.net Net.kinds (cells A n) t (start M pc) in
  state (i * steps A n) Begin = true /\ counter n (state (i * steps A n)) = snd (program A n i M pc) /\
  (snd (program A n i M pc) < 2 ^ (n - 1) ->
   forall k, k < 2 ^ A -> word n (state (depth A + i * steps A n)) k = fst (program A n i M pc) k).
Proof.
  intros L N HM Hp H state. pose proof (machine_executes A n L N M pc i HM Hp H) as B. apply (begins_seen A n L N) in B as (B & C & W).
  assert (E : forall t b, state t b = run (machine A n) t (start M pc) b) by (intros; now apply network_runs).
  split; [now rewrite E|]. split.
  - rewrite <- C. apply number_ext. intros j _. apply E.
  - intros G k K. rewrite <- (W G (depth A) k); [|split; [easy|]|easy].
    + unfold word. rewrite <- run_plus. apply number_ext. intros j _. apply E.
    + unfold steps, answer. pose proof (depth_pos A n L N). lia.
Qed.
Print Assumptions network_executes.

(** A program whose counter becomes negative ends: [Halt] stays on, and the memory keeps the program's result. *)
Theorem network_halts (A n : nat) (M : nat -> nat) (pc i t : nat) :
  2 <= A -> A <= n -> (forall k, k < 2 ^ A -> M k < 2 ^ n) -> pc < 2 ^ n ->
  (forall j, j < i -> snd (program A n j M pc) < 2 ^ (n - 1)) -> 2 ^ (n - 1) <= snd (program A n i M pc) ->
  3 <= t -> depth A <= t ->
  let state := run_by_cells Net.net Net.kinds (cells A n) (t + i * steps A n) (start M pc) in
  state Halt = true /\ forall k, k < 2 ^ A -> word n state k = fst (program A n i M pc) k.
Proof.
  intros L N HM Hp H S T D state. pose proof (machine_executes A n L N M pc i HM Hp H) as B.
  destruct (halts A n L N _ _ _ t B S T D) as [Q W]. rewrite <- run_plus in Q, W.
  assert (E : forall b, state b = run (machine A n) (t + i * steps A n) (start M pc) b) by (intros; now apply network_runs).
  split; [now rewrite E|]. intros k K. rewrite <- W by easy. apply number_ext. intros j _. apply E.
Qed.
Print Assumptions network_halts.
