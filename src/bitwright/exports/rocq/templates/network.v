(*** net ***)
(** The integer network with sha256 {{digest}}{{file}}.
    The sha256 of its tensors, row by row, lowest byte first:{{tensor_digests}}
    It was trained for the pattern {{pattern}}. Written by bitwright.
    Rocq reads names three times as fast as numerals, so every weight has one: p43 is 43, m43 is -43. *)
From Coq Require Import List ZArith Bool.
From Bitwright Require Import Rules.
Import ListNotations.

Definition kinds : pattern :=
  {{kinds}}.

Local Open Scope Z_scope.
{{tensors}}Close Scope Z_scope.
Definition net : network := Network first last thresholds.

(** The kernel evaluates the network in all {{states}} local states{{right}}

Theorem kinds_proper : forallb proper kinds = true.
Proof. vm_compute. reflexivity. Qed.
(*** right ***)
. *)
Theorem net_right : right net kinds = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
(*** right_large ***)
, with machine integers:
    this rests on the standard library's axioms about them. *)
From Bitwright Require Fast.
Theorem net_right : right net kinds = true.
Proof. apply Fast.right_fast_ok. vm_cast_no_check (eq_refl true). Qed.
(*** program ***)
(** {{about}}: its rules and cells as bitwright has them. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words Compare.
From {{name}} Require Net{{families}}.
Import ListNotations.
Local Open Scope string_scope. Local Open Scope list_scope.

Definition program : rules name :=
  {{rules}}.
Definition cells : list (cell name) :=
  {{cells}}.

Theorem program_consists_of : consists_of program Net.kinds cells.
Proof. apply consists_ofb_ok. vm_compute. reflexivity. Qed.

(** In every state and for every number of steps, the network in its cells does what the rules say. *)
Theorem network_steps : forall n s b, run_by_cells Net.net Net.kinds cells n s b = run program n s b.
Proof. exact (cells_run _ _ _ _ Net.net_right Net.kinds_proper program_consists_of). Qed.
Print Assumptions network_steps.
(*** compared ***)

(** The same rules and cells as the families give at this size. *)
Example same_rules : same_rulesb program (Families.rules {{size}}) = true.
Proof. vm_compute. reflexivity. Qed.
Example same_cells : same_cellsb cells (Families.cells {{size}}) = true.
Proof. vm_compute. reflexivity. Qed.
(*** families ***)
(** {{about}}: rules and cells as functions of l.
    bitwright compared both with its own at the sizes {{compared}}. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words Cover.
From {{name}} Require Net.
Import ListNotations.
Local Open Scope string_scope. Local Open Scope list_scope.

{{rules}}
{{each_cell}}Definition cells (l : nat) : list (cell name) :=
  {{cells}}.

Section Size.
Variable l : nat.
Hypothesis large : {{least}} <= l.

Lemma cells_fit : Forall (fits Net.kinds) (cells l).
Proof. apply Forall_forall. unfold cells. intros c I. each_rule; (split; [repeat constructor | reflexivity]). Qed.

Lemma rules_in_cells : within (rules l) (rules_of Net.kinds (cells l)).
Proof.
  apply within_intro. unfold rules. intros t I. each_rule.
{{rules_in_cells}}Qed.

Lemma cells_in_rules : within (rules_of Net.kinds (cells l)) (rules l).
Proof.
  apply within_intro. unfold rules_of, cells. intros t I. apply in_flat_map in I as (c & Ic & It).
  each_rule; spell_in It; unfold rules; each_rule.
{{cells_in_rules}}Qed.

(** At every size the rules consist of these cells. *)
Theorem consists : consists_of (rules l) Net.kinds (cells l).
Proof. split; [exact cells_fit|]. split; [exact rules_in_cells | exact cells_in_rules]. Qed.

(** So every run by cells of this network is a run of the rules, from every state. *)
Theorem network_runs : forall n s b, run_by_cells Net.net Net.kinds (cells l) n s b = run (rules l) n s b.
Proof. exact (cells_run _ _ _ _ Net.net_right Net.kinds_proper consists). Qed.
End Size.
Print Assumptions network_runs.
(*** cell ***)
Definition cell_{{number}} ({{given}} : nat) : cell name :=
  Cell {{kind}} {{blocks}}
    {{wires}}.
(*** next ***)
Lemma {{name}}{{array}}' l s{{more}} : step ({{of}} l) s ({{bit}}) =
  {{value}}.
Proof. next_of {{of}} s. Qed.
(*** makefile ***)
# make: Rocq (Coq 8.16 or later) proves everything.   make check: coqchk, a separate program, checks it once more.
all:
	@command -v coqc >/dev/null || { echo 'Rocq is missing: apt-get install coq, or opam install rocq-prover'; exit 1; }
	@coq_makefile -f _CoqProject -o CoqMakefile
	$(MAKE) -f CoqMakefile
check: all
	coqchk -silent -o {{where}} {{libraries}}
.PHONY: all check
