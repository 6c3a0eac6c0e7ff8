(** {{about}}: its rules and cells as in bitwright. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words Compare.
From {{name}} Require Net{{' Families' if size is not none}}.
Import ListNotations.
Local Open Scope string_scope. Local Open Scope list_scope.

Definition program : rules name :=
  {{rules|lines}}.
Definition cells : list (cell name) :=
  {{cells|lines}}.

Theorem program_consists_of : consists_of program Net.kinds cells.
Proof. apply consists_ofb_ok. vm_compute. reflexivity. Qed.

(** In every state and for every number of steps, the network in its cells follows the rules. *)
Theorem network_steps : forall n s b, run_by_cells Net.net Net.kinds cells n s b = run program n s b.
Proof. exact (cells_run _ _ _ _ Net.net_right Net.kinds_proper program_consists_of). Qed.
Print Assumptions network_steps.
{% if size is not none %}

(** These are the rules and cells of the families at this size. *)
Example same_rules : same_rulesb program (Families.rules {{size}}) = true.
Proof. vm_compute. reflexivity. Qed.
Example same_cells : same_cellsb cells (Families.cells {{size}}) = true.
Proof. vm_compute. reflexivity. Qed.
{% endif %}
