(*** file ***)
(** What {{about}} computes, by a certificate that bitwright found. Nothing is proved by hand. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Coq Require Import NArith ZifyBool.
From Bitwright Require Rules Words Table.
From Bitwright Require Import Cover Reach Chain ChainProgram Sweeps Clock ChainRules Specification.
From {{name}} Require Net Families.
Import ListNotations.
Local Open Scope string_scope. Local Open Scope list_scope.

(** The program as a chain of letters, one a position. *)
Local Open Scope N_scope.
Definition chain : program := {|
  rules := {{rules}};
  global_rules := {{global_rules}};
  free := {{free}};
  start_bits := {{start_bits}};
  start_globals := {{start_globals}};
  delay := {{delay}}%nat; sweeps := {{sweeps}}; early := {{early}}%nat; fixed := {{fixed}}%nat; halting := {{halting}} |}.
(** The invariant: which letters may follow each other, and the signs of the laws. *)
Definition found : certificate := {|
  global_values := {{states}};
  left_out := {{left_out}};
  windows := [
    {{windows}}];
  laws := {{certified_laws}};
  verdicts := {{verdicts}} |}.
Local Close Scope N_scope.

Definition tracks : list track := {{tracks}}.
Definition flags : list name := {{flags}}.
(** What is claimed, for the checker: laws, and a formula of their signs and of single bits. *)
Definition laws : list (Z * law) := {{claimed_laws}}%N.
Definition claim : formula := ({{claim}})%N.

Lemma chain_well_formed : well_formed chain tracks flags = true.
Proof. vm_compute. reflexivity. Qed.
Lemma claim_proper : proper chain tracks flags laws claim = true.
Proof. vm_compute. reflexivity. Qed.
Theorem checked : check_program chain found laws (fun some_global one other => judge claim some_global (option_map bits one) (option_map bits other)) {{fuel}} = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

(** The rules of the chain are those of the program, at every size. *)
Theorem same l : {{least}} <= l -> Rules.same_rules (chain_rules chain tracks flags {{n}}) (Families.rules l).
Proof.
  intros large. split; apply within_intro; intros t T.
  - apply chain_rules_parts in T; [|lia]. written_out T. unfold Families.rules. each_chain_rule.
{{chain_rules}}  - unfold Families.rules in T. each_rule.
{{program_rules}}Qed.

(** The first state, and the input at every position. *)
Definition start (l : nat) {{inputs}} : Rules.state name := Words.all_of {{first_state}}.
Definition entries {{inputs}} (k : N) (i : nat) : bool := match k with {{entries}} | _ => false end%N.
Lemma start_shown l {{names}} : {{least}} <= l -> shows tracks flags {{n}} (start l {{names}}) (start_globals chain)
  (fun i => N.lor (start_bits chain (class_at {{n}} i)) (entry chain {{n}} (entries {{names}}) i)).
Proof. intros large. split; [intros i k I K; each_track k K; shown i I | intros k K; each_track k K; reflexivity]. Qed.

(** The outputs. *)
Local Open Scope Z_scope.
{{outputs}}
(** What the laws weigh. *)
{{laws}}
(** The lines, as the checker and as people say them. *)
{{lines}}
(** All of them, computed; and what that means. *)
Definition test {{given}} (s : Rules.state name) : bool := {{test}}.
Lemma test_says {{given}} (s : Rules.state name) : test l {{names}} s = true ->
  {{conclusion}}.
Proof. unfold test. intros H. lia. Qed.
Lemma test_same {{given}} (s u : Rules.state name) : (forall some_bit, s some_bit = u some_bit) -> test l {{names}} s = test l {{names}} u.
Proof. intros E. unfold test. {{unfold}} repeat rewrite (Words.word_ext s u _ _ E). rewrite ?E. reflexivity. Qed.

(** The rules compute it at every size from {{least}} on, by the certificate. *)
Theorem tested_long {{given}} : ({{least}} <= l)%nat -> {{bounds}}
  {{tested}}.
Proof.
  intros L {{known}}.
  destruct (chain_computes chain tracks flags found laws claim {{fuel}} chain_well_formed claim_proper checked {{n}}%nat
    (entries {{names}}) {{start}} (Families.rules l) ltac:(lia) (same l L) (start_shown l {{names}} L)) as (t & T & N & Z & H). cbv zeta in H.
  replace (Clock.steps chain {{n}}%nat) with {{steps}} in T, N by (steps_are chain).
{{ended}}
  set (s := Rules.run (Families.rules l) {{last}} {{start}}) in *. clearbody s.
  unfold claim in H. {{claims}}
{{proved}}  unfold test. exact {{proof}}.
Qed.
{{short}}
(** The rules compute it at every size from {{first}} on. *)
Theorem rules_compute {{given}} : ({{first}} <= l)%nat -> {{bounds}}
  {{rules_say}}.
Proof.
  intros L {{known}}. {{by_test}}
Qed.

(** This network, in the cells of the program, computes it. *)
Theorem network_computes {{given}} : ({{first}} <= l)%nat -> {{bounds}}
  {{cells_say}}.
Proof.
  intros L {{known}}. {{by_cells}}
Qed.
Print Assumptions network_computes.
(*** law ***)
Lemma law_{{number}} l {{names}} (s : Rules.state name) : ({{least}} <= l)%nat -> {{bounds}}
{{absent}}  law_at chain tracks laws {{n}} (entries {{names}}) s {{number}} = {{value}}.
Proof.
  intros. unfold laws. law_value.
{{facts}}  {{unfold}} {{ends}}lia.
Qed.
(*** line ***)
Lemma line_{{number}} l {{names}} (s : Rules.state name) : ({{least}} <= l)%nat -> {{bounds}}
{{absent}}{{after}}  means ({{formula}})%N {{n}} (fun k i => s (bit_at tracks k i)) (fun k => s (flag_at flags k)) (law_at chain tracks laws {{n}} (entries {{names}}) s) =
  {{test}}.
Proof.
  intros. cbn [means]. {{laws}}{{bits}}same_line s.
Qed.
(*** statement_steps ***)
let s := {{run}} {{steps}} {{start}} in
  {{what}}
(*** statement_halts ***)
exists t, (t <= {{steps}})%nat /\ (forall u, (u < t)%nat -> {{run}} u {{start}} ({{halt}}) = false) /\
  let s := {{run}} t {{start}} in
  {{what}}
(*** ended_steps ***)
  specialize (N eq_refl). subst t. cbv zeta.
(*** ended_halts ***)
  assert (K : halt_bit chain tracks flags {{n}}%nat = Some ({{halt}})) by (halt_is chain).
  exists t. split; [exact T|]. split; [intros u I; exact (Z u _ I K)|]. cbv zeta.
(*** by_test_steps ***)
cbv zeta. apply test_says. exact (tested l {{names}} L {{known}}).
(*** by_test_halts ***)
destruct (tested l {{names}} L {{known}}) as (t & T & N & H). exists t. split; [exact T|]. split; [exact N|]. exact (test_says l {{names}} _ H).
(*** by_cells_steps ***)
cbv zeta. apply test_says. rewrite (test_same l {{names}} _ _ (Families.network_runs l ltac:(lia) {{steps}} {{start}})).
  exact (tested l {{names}} L {{known}}).
(*** by_cells_halts ***)
destruct (tested l {{names}} L {{known}}) as (t & T & N & H). exists t. split; [exact T|].
  split; [intros u I; rewrite (Families.network_runs l ltac:(lia) u {{start}}); exact (N u I)|].
  cbv zeta. apply test_says. rewrite (test_same l {{names}} _ _ (Families.network_runs l ltac:(lia) t {{start}})). exact H.
(*** nothing_short ***)
Theorem tested {{given}} : ({{first}} <= l)%nat -> {{bounds}}
  {{tested}}.
Proof. exact (tested_long l {{names}}). Qed.
(*** short ***)
(** Smaller sizes, by running all inputs. *)
Definition tried (l : nat) : bool := let the_rules := Families.rules l in {{tried}}.
Lemma all_tried : forallb tried {{sizes}} = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Theorem tested {{given}} : ({{first}} <= l)%nat -> {{bounds}}
  {{tested}}.
Proof.
  intros L {{known}}. destruct (le_lt_dec {{least}} l) as [N|N]; [exact (tested_long l {{names}} N {{known}})|].
  assert (T : tried l = true) by (apply (Table.in_all _ _ l all_tried); cbn [In]; lia).
  unfold tried in T. cbv zeta in T. pose proof ({{inside}}) as H. cbv beta in H. clear T.
{{halting_short}}  cbv zeta. refine (eq_trans _ H). apply test_same. intros some_bit. symmetry. apply Table.run_table_ok. {{unfold_halts}}lia.
Qed.
(*** halting_short ***)
  apply andb_prop in H as [Z H]. apply negb_true_iff in Z. apply andb_prop in H as [I H]. apply Nat.leb_le in I.
  exists {{at}}. split; [exact I|]. split; [intros u; apply Table.halts_at_off; exact Z|].
(*** halting_table ***)
(Table.halts_at {{the_rules}} ({{halt}}) {{steps}} {{start}})
