(** Multiplication by a trained network, at every length: what bitwright proves about its file, as stated in README.md. *)
From Coq Require Import ZArith.
From Bitwright Require Import Rules.
From Multiplication Require Net.
From Multiplication Require Import Families Function.
Local Open Scope Z_scope.

Theorem network_multiplies (l : nat) (x y : Z) :
  (1 <= l)%nat -> 0 <= x < 2 ^ Z.of_nat l -> 0 <= y < 2 ^ Z.of_nat l ->
  product l (run_by_cells Net.net Net.kinds (cells l) (4 * l * l + 3 * l) (start l x y)) = x * y.
Proof. exact (network_computes l x y). Qed.
Print Assumptions network_multiplies.
