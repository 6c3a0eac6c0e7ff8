(** Machine V, a stored-program SUBLEQ computer of 2^A words of n bits (dialect `top`: it halts when the sign of its
    counter is set), as cells: a function of A and n. Nodes, words, bits and moments are counted from 0. *)
From Coq Require Import List Bool Arith Lia.
From Bitwright Require Import Rules.
Import ListNotations.

(** * 1. Bits *)

Inductive bit :=
  (* the address tree: level, node, and the number of a bit *)
  | Token (d k : nat) | Writes (d k : nat) | Fetches (d k : nat)
  | Address (d k i : nat) | Gate (d k i : nat) | Data (d k j : nat) | DataGate (d k j : nat)
  (* the words *)
  | Word (k j : nat) | Read (k j : nat) | Erase (k j : nat) | Store (k j : nat) | Stored (k j : nat)
  | Second (k : nat) | Third (k : nat)
  (* bits read from memory, moving up the tree: level, node, bit *)
  | Rising (l q j : nat)
  (* the port *)
  | Arriving (j : nat) | IsA (j : nat) | IsB (j : nat) | IsC (j : nat) | IsSubtrahend (j : nat) | IsMinuend (j : nat)
  | Target (i : nat) | Release (i : nat)
  (* the subtractor *)
  | Early (j : nat) | Minuend (j : nat) | Inverted (j : nat) | Half (j : nat) | Carry (j : nat) | Ready (j : nat) | Zero
  | Generate (d i : nat) | Keep (d i : nat) | Low (d i : nat) | Pass (d i : nat) | Equal (l i : nat)
  (* the program counter *)
  | Next (j : nat) | Count (j : nat) | NextIfNot (j : nat) | NextIf (j : nat)
  | Jump (j : nat) | JumpIfNot (j : nat) | JumpIf (j : nat) | Counter (j : nat)
  (* the sequencer *)
  | At (t : nat) | Begin | Finish | Ask | DoStore | Check | OutOfRange | Halt.

Definition bit_eq_dec (a b : bit) : {a = b} + {a <> b}.
Proof. decide equality; apply Nat.eq_dec. Defined.
Definition bit_eqb (a b : bit) : bool := if bit_eq_dec a b then true else false.
Lemma bit_eqb_ok a b : bit_eqb a b = true <-> a = b.
Proof. unfold bit_eqb. destruct (bit_eq_dec a b); split; easy. Qed.
#[global] Instance bits : Named bit := {| beq := bit_eqb; beq_ok := bit_eqb_ok |}.

(** * 2. Kinds *)

Definition T := true. Definition F := false.
Definition kinds : pattern :=
  [Kind [(1, [[T]])] [[0]];
   Kind [(1, [[T]]); (1, [[T]])] [[0]; [0; 1]];
   Kind [(1, [[T]]); (2, [[T;F]; [F;T]]); (4, [[T;F;F;F]; [F;F;T;F]; [T;F;T;F]; [F;T;T;F]; [T;T;T;F]; [T;T;T;T]])]
        [[0]; [1; 2]; [1; 2; 3]; [4; 7]; [5; 6]; [5; 6; 8]];
   Kind [(1, [[T]]); (2, [[T;F]; [F;T]; [T;T]]); (3, [[T;F;F]; [T;F;T]; [F;T;T]])] [[0]; [1; 2]; [1; 2; 4]; [3]; [5; 6]];
   Kind [(1, [[T]]); (2, [[T;T]])] [[0; 1]];
   Kind [(1, [[T]]); (3, [[T;T;F]; [T;F;T]])] [[0; 1]; [2]];
   Kind [(2, [[T;F]; [T;T]])] [[0]; [1]];
   Kind [(2, [[T;T]])] [[0]];
   Kind [(3, [[T;F;F]; [T;T;F]]); (2, [[T;T]])] [[0; 1; 2]; [1]];
   Kind [(4, [[T;F;F;F]; [F;T;F;F]; [T;T;F;F]; [T;F;T;F]]); (3, [[T;F;F]; [T;F;T]]); (1, [[T]])] [[0; 1; 6]; [2]; [3; 5]; [4]];
   Kind [(4, [[T;F;F;F]; [F;T;F;F]; [T;T;F;F]; [T;F;T;F]]); (3, [[T;F;F]; [T;F;T]]); (1, [[T]])]
        [[0; 1; 6]; [2]; [3; 5]; [4]; [6]];
   Kind [(4, [[T;F;F;F]; [F;T;F;F]; [T;F;T;F]]); (3, [[T;F;F]; [T;F;T]]); (1, [[T]])] [[0; 1; 5]; [2; 4]; [3]; [5]];
   Kind [(4, [[T;F;F;F]; [T;T;F;F]; [T;F;T;F]; [T;F;F;T]; [T;T;F;T]; [T;F;T;T]])] [[0; 1; 2]; [1]; [2]; [3; 4; 5]; [4]; [5]];
   Kind [(5, [[T;F;F;F;F]; [T;T;F;F;F]; [T;F;T;F;F]; [T;F;F;T;F]; [T;T;F;T;F]; [T;F;T;T;F];
              [T;F;F;F;T]; [T;T;F;F;T]; [T;F;T;F;T]; [T;F;F;T;T]; [T;T;F;T;T]; [T;F;T;T;T]])]
        [[0; 1; 2]; [1]; [2]; [3; 4; 5]; [4]; [5]; [6; 7; 8]; [7]; [8]; [9; 10; 11]; [10]; [11]];
   Kind [(5, [[T;F;F;F;F]; [T;T;F;F;F]; [T;F;T;F;F]; [T;F;F;T;F]; [T;T;F;T;F]; [T;F;T;T;F];
              [T;F;F;F;T]; [T;T;F;F;T]; [T;F;T;F;T]; [T;F;F;T;T]; [T;T;F;T;T]; [T;F;T;T;T]])]
        [[0; 2]; [1]; [2]; [3; 5]; [4]; [5]; [6; 8]; [7]; [8]; [9; 11]; [10]; [11]];
   Kind [(6, [[T;T;F;F;F;F]; [T;F;T;F;F;F]; [T;F;F;T;F;F]; [F;F;F;F;T;F]; [T;F;F;F;F;T]]); (2, [[T;F]; [T;T]])]
        [[0; 1; 6]; [1; 5]; [2]; [3]; [4]];
   Kind [(6, [[T;F;F;T;F;F]; [F;F;F;F;T;F]; [T;F;F;F;F;T]])] [[0]; [1]; [2]]].

(** * 3. Sizes and times *)

Section Machine.
Variables A n : nat.  (* bits of an address, bits of a word *)

Definition words : nat := 2 ^ A.
Definition depth : nat := (A + 1) / 2.
(** The number of undecided address bits at a level. Each level decides two, except that the first decides one if A is odd. *)
Definition below (d : nat) : nat := match d with O => A | S _ => 2 * (depth - d) end.
Definition digit (d : nat) : nat := below d - below (S d).
Definition nodes (d : nat) : nat := 2 ^ (A - below d).
Definition levels : nat := Nat.log2_up n.  (* of the prefix of carries *)
(** The number of levels of the reading tree; additional levels give the counter time to finish. *)
Definition pad : nat := (n - 3 - levels - 4 * depth + 1) / 2.
Definition rise : nat := depth + pad.
Definition span (l : nat) : nat := below (depth - l).
Definition answer : nat := depth + rise.
Definition subtract : nat := 2 * answer + 3.
Definition last : nat := subtract + levels.
Definition steps : nat := 2 * answer + 7 + levels.
(** The width of a level of the tree that detects a result of 0. *)
Fixpoint width (l : nat) : nat := match l with O => n | S l => (width l + 1) / 2 end.

(** * 4. Wires *)

Definition vector (f : nat -> bit) (m : nat) : list bit := map f (seq 0 m).
Definition launch_read : list bit := Token 0 0 :: vector (Gate 0 0) (below 1).
Definition launch_write : list bit := launch_read ++ Writes 0 0 :: vector (DataGate 0 0) n.
Definition launch_fetch : list bit := launch_read ++ [Fetches 0 0].

(** What a node sets for its child c, by kind of token: one level down, or at the words. *)
Definition inner (d c : nat) : list (list bit) :=
  [Token (S d) c :: vector (Gate (S d) c) (below (S (S d))); Writes (S d) c :: vector (DataGate (S d) c) n; [Fetches (S d) c]].
Definition leaf (c : nat) : list (list bit) :=
  [vector (Read c) n; vector (Erase c) n ++ vector (Store c) n; [Second ((c + 1) mod words)]].
Definition children (d k : nat) : list nat := map (fun v => k * 2 ^ digit d + v) (seq 0 (2 ^ digit d)).
Definition node_cell (d k : nat) : cell bit :=
  let token := [Token d k; Writes d k; Fetches d k; Address d k (below (S d))] in
  if S d <? depth then
    if digit d =? 1 then Cell 12 [token] (flat_map (inner d) (children d k))
    else Cell 13 [token ++ [Address d k (below (S d) + 1)]] (flat_map (inner d) (children d k))
  else Cell 14 [token ++ [Address d k (below (S d) + 1)]] (flat_map leaf (children d k)).
Definition gate_cell (d k i : nat) : cell bit :=
  Cell 7 [[Address d k i; Gate d k i]] [map (fun c => Address (S d) c i) (children d k)].
Definition data_cell (d k j : nat) : cell bit :=
  Cell 7 [[Data d k j; DataGate d k j]] [map (fun c => if S d <? depth then Data (S d) c j else Stored c j) (children d k)].

Definition risen (l k j : nat) : bit := if l =? rise then Arriving j else Rising l (k / 2 ^ span l) j.
Definition word_cell (k j : nat) : cell bit := Cell 8 [[Word k j; Read k j; Erase k j]; [Store k j; Stored k j]] [[Word k j]; [risen 1 k j]].
Definition walk_cell (k : nat) : cell bit := Cell 1 [[Second k]; [Third k]] [[Third ((k + 1) mod words)]; vector (Read k) n].
Definition rising_cell (l q j : nat) : cell bit := Cell 0 [[Rising l q j]] [[risen (S l) (q * 2 ^ span l) j]].

Definition port_cell (j : nat) : cell bit :=
  let b := [Arriving j; IsA j; IsB j; IsC j; IsSubtrahend j; IsMinuend j] in
  if j <? A then Cell 15 [b; [Target j; Release j]] [[Address 0 0 j]; [Target j]; [Jump j]; [Early j]; [Minuend j]]
  else Cell 16 [b] [[Jump j]; [Early j]; [Minuend j]].

(** A carry leaves, or would pass through, the span of 2^d positions that ends at i; position i + 1 is bit i. *)
Definition generated (d i : nat) : list bit :=
  if d =? levels then [Carry i] else Generate d i :: (if i + 2 ^ d <? n then [Low d (i + 2 ^ d)] else []).
Definition propagated (d i : nat) : list bit :=
  if (2 ^ d <=? i) && (i <? n) then Keep d i :: (if i + 2 ^ d <? n then [Pass d (i + 2 ^ d)] else []) else [].
Definition no : list bit := vector NextIfNot n ++ vector JumpIfNot n.
Definition yes : list bit := vector NextIf n ++ vector JumpIf n.
Definition bit_cell (j : nat) : cell bit :=
  if S j <? n then
    Cell 3 [[Early j]; [Minuend j; Inverted j]; [Half j; Carry j; Ready j]]
      [[Inverted j]; Equal 0 j :: propagated 0 (S j); [Half j]; generated 0 (S j); [Data 0 0 j]]
  else
    Cell 2 [[Early j]; [Minuend j; Inverted j]; [Half j; Carry j; Ready j; Zero]]
      [[Inverted j]; [Equal 0 j]; [Half j]; no; [Data 0 0 j]; yes].
Definition prefix_cell (d i : nat) : cell bit :=
  if i <? 2 ^ d then Cell 0 [[Generate d i]] [generated (S d) i]
  else if i <? 2 ^ S d then Cell 4 [[Generate d i]; [Keep d i; Low d i]] [generated (S d) i]
  else Cell 5 [[Generate d i]; [Keep d i; Low d i; Pass d i]] [generated (S d) i; propagated (S d) i].
Definition equal_out (l i : nat) : list bit := if S l <? levels then [Equal (S l) i] else [Zero].
Definition equal_cell (l i : nat) : cell bit :=
  if S (2 * i) <? width l then Cell 7 [[Equal l (2 * i); Equal l (S (2 * i))]] [equal_out l i]
  else Cell 0 [[Equal l (2 * i)]] [equal_out l i].

Definition counter_cell (j : nat) : cell bit :=
  let b := [[Next j; Count j; NextIfNot j; NextIf j]; [Jump j; JumpIfNot j; JumpIf j]; [Counter j]] in
  if S j <? n then
    if j <? A then Cell 10 b [[Next j]; [Count (S j)]; [Counter j]; [Jump j]; [Address 0 0 j]]
    else Cell 9 b [[Next j]; [Count (S j)]; [Counter j]; [Jump j]]
  else Cell 11 b [[Next j]; [Counter j]; [Jump j]; Check :: (if j <? A then [Address 0 0 j] else [])].

Definition if_at (t u : nat) (l : list bit) : list bit := if t =? u then l else [].
Definition strobes (t : nat) : list bit :=
  (if t <? last then [At (S t)] else [])
  ++ if_at t 1 [Count 0; Count 1] ++ if_at t (answer - 1) (Ask :: vector IsA n) ++ if_at t answer (Ask :: vector IsB n)
  ++ if_at t (answer + 1) (vector IsC n) ++ if_at t (2 * answer) (vector IsSubtrahend n)
  ++ if_at t (2 * answer + 1) (vector IsMinuend n) ++ if_at t subtract (generated 0 0)
  ++ if_at t last (DoStore :: vector Ready n ++ vector Release A).
Definition moment_cell (t : nat) : cell bit :=
  if t =? 1 then Cell 6 [[At t; OutOfRange]] [strobes t; [Halt]] else Cell 0 [[At t]] [strobes t].
Definition signal_cells : list (cell bit) :=
  [Cell 0 [[Ask]] [launch_read]; Cell 0 [[DoStore]] [Finish :: launch_write]; Cell 0 [[Finish]] [[Begin]];
   Cell 0 [[Begin]] [At 0 :: launch_fetch]; Cell 0 [[Check]] [[OutOfRange]]; Cell 0 [[Halt]] [[Halt]]].

(** * 5. The machine *)

Definition each (m : nat) (f : nat -> list (cell bit)) : list (cell bit) := flat_map f (seq 0 m).
Definition cells : list (cell bit) :=
  each depth (fun d => each (nodes d) (fun k => [node_cell d k]))
  ++ each (depth - 1) (fun d => each (nodes d) (fun k => each (below (S d)) (fun i => [gate_cell d k i])))
  ++ each depth (fun d => each (nodes d) (fun k => each n (fun j => [data_cell d k j])))
  ++ each words (fun k => each n (fun j => [word_cell k j]))
  ++ each words (fun k => [walk_cell k])
  ++ each (rise - 1) (fun l => each (2 ^ (A - span (S l))) (fun q => each n (fun j => [rising_cell (S l) q j])))
  ++ each n (fun j => [port_cell j])
  ++ each n (fun j => [bit_cell j])
  ++ each levels (fun d => each n (fun i => [prefix_cell d i]))
  ++ each levels (fun l => each (width (S l)) (fun i => [equal_cell l i]))
  ++ each n (fun j => [counter_cell j])
  ++ each (S last) (fun t => [moment_cell t])
  ++ signal_cells.
Definition machine : rules bit := rules_of kinds cells.
End Machine.

(** Proofs unfold these definitions only by name. *)
#[global] Arguments Nat.modulo : simpl never. #[global] Arguments Nat.div : simpl never. #[global] Arguments Nat.pow : simpl never.
#[global] Arguments words : simpl never. #[global] Arguments depth : simpl never. #[global] Arguments below : simpl never. #[global] Arguments digit : simpl never. #[global] Arguments nodes : simpl never.
#[global] Arguments levels : simpl never. #[global] Arguments pad : simpl never. #[global] Arguments rise : simpl never. #[global] Arguments span : simpl never. #[global] Arguments answer : simpl never.
#[global] Arguments subtract : simpl never. #[global] Arguments last : simpl never. #[global] Arguments steps : simpl never. #[global] Arguments vector : simpl never.
