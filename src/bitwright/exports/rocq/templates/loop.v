(*** file ***)
(** What {{about}} computes: a loop with an invariant. Nothing is proved by hand. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words Rounds.
From {{name}} Require {{modules}}.
Import ListNotations.
Local Open Scope string_scope. Local Open Scope list_scope. Local Open Scope nat_scope.

(** The first state, and the outputs. *)
Definition start {{given}} : state name := all_of {{first_state}}.
{{outputs}}
(** What a step makes of each bit. *)
{{nexts}}Ltac stepped := first [{{rewrites}}].

(** The cut state, in which rounds begin and end, and the invariant. *)
{{cut}}{{invariants}}Definition cut_with' (l : nat) ({{inputs}} : Z) (s : state name) (m : Z) : Prop :=
  exists {{words}}, cut' l {{words}} s /\ ({{kept}}) /\ m = {{measured}}.
{{paths}}
(** All paths together: every case has one. *)
Lemma round' l {{inputs}} s m : {{least}} <= l -> cut_with' l {{inputs}} s m ->
  exists t m', t * {{length}} <= {{steps}} /\ cut_with' l {{inputs}} (run (Families.rules l) t s) m' /\
  (0 <= 2 * m' <= m)%Z.
Proof.
  intros L ({{word_pattern}} & H & {{kept_pattern}} & ->).
  {{round_cases}}first [{{applied_paths}}].
Qed.

(** Rest: {{measure}} is 0, and the outputs stay. *)
{{rest_states}}Definition resting' (l : nat) ({{outs}} : nat -> bool) (s : state name) : Prop :=
  {{exist_others}}{{resting}}.
{{rest_steps}}Lemma stays' l {{outs}} s : {{least}} <= l -> resting' l {{outs}} s -> resting' l {{outs}} (step (Families.rules l) s).
Proof.
  intros L H. unfold resting' in *. {{open_others}}{{rest_cases}}
    each_case H; try congruence; (first [{{applied_rests}}]; {{some_others}}found_case).
Qed.
Lemma shown' l {{outs}} s : resting' l {{outs}} s -> {{outputs_hold}}.
Proof. unfold {{unfold_rest}}. intros H. {{open_others}}tauto. Qed.

(** In the end the outputs are what is ensured. *)
Local Open Scope Z_scope.
Definition done' {{given}} (s : state name) : Prop :=
  exists {{outs}}, resting' l {{outs}} s /\ {{lines}}.
Lemma ends' {{given}} s : ({{least}} <= l)%nat -> {{bounds}} cut_with' l {{inputs}} s 0 -> done' l {{inputs}} s.
Proof.
  intros {{known}} ({{word_pattern}} & H & {{kept_pattern}} & Z). symmetry in Z. exists {{picked}}.
  split; [unfold resting'; {{pick_others}}{{pick_rest}}unfold cut' in H; unfold rest'; shapes; each ltac:(first [assumption | eapply holds_off; eassumption])|].
{{line_proofs}}Qed.
Lemma done_stays' {{given}} s : ({{least}} <= l)%nat -> done' l {{inputs}} s -> done' l {{inputs}} (step (Families.rules l) s).
Proof. intros L ({{out_pattern}} & D & E). exists {{picked}}. split; [exact (stays' l {{outs}} s L D)|exact E]. Qed.
Lemma begins' {{given}} : ({{least}} <= l)%nat -> {{bounds}}
  exists m, cut_with' l {{inputs}} {{start}} m /\ 0 <= m < 2 ^ Z.of_nat {{length}}.
Proof.
  intros {{known}}. eexists. split; [exists {{first_bits}}|apply val_range].
  split; [unfold cut'; each ltac:(first [apply holds_bits | starting])|split; [|reflexivity]].
{{starts}}Qed.

(** The rules compute it at every size from {{least}} on. *)
Theorem rules_compute {{given}} : ({{least}} <= l)%nat -> {{bounds}}
  let s := run (Families.rules l) ({{steps}})%nat {{start}} in
  {{conclusion}}.
Proof.
  intros {{known}} s. destruct (begins' l {{inputs}} {{known}}) as (m & C & M).
  destruct (rounds (Families.rules l) (cut_with' l {{inputs}}) (done' l {{inputs}}) {{length}} ({{steps}})%nat
    (fun s m => round' l {{inputs}} s m L) (fun s => ends' l {{inputs}} s {{known}})
    (fun s => done_stays' l {{inputs}} s L) {{start}} m ltac:(lia) C M) as ({{out_pattern}} & D & E).
  fold s in D. clearbody s. {{opened_outputs}}. unfold {{output_names}}. rewrite {{rewritten_outputs}}. exact E.
Qed.

(** This network, in the cells of the program, computes it. *)
Theorem network_computes {{given}} : ({{least}} <= l)%nat -> {{bounds}}
  let s := run_by_cells Net.net Net.kinds (Families.cells l) ({{steps}})%nat {{start}} in
  {{conclusion}}.
Proof.
  intros {{known}} s. pose proof (Families.network_runs l ltac:(lia) ({{steps}})%nat {{start}}) as E. fold s in E.
  pose proof (rules_compute l {{inputs}} {{known}}) as R. cbv zeta in R. clearbody s. unfold {{output_names}} in *.
  repeat rewrite (word_ext s _ _ _ E). exact R.
Qed.
Print Assumptions network_computes.
(*** invariant ***)
Definition kept_{{number}}' (l : nat) ({{inputs}} : Z) ({{words}} : nat -> bool) : Prop :=
  exists k, ({{equation}})%Z.
(*** state ***)
Definition {{lemma}} (l : nat){{given_words}} (s : state name) : Prop :=
  {{holds}}.
(*** step ***)
Lemma {{lemma}} l {{words}} s : {{assumed}} -> {{before}} l {{words}} s -> {{after}} l {{ended}} (step (Families.rules l) s).
Proof. intros {{names}} H. unfold {{before}} in H. unfold {{after}}. shapes. each ltac:(one_step stepped s). Qed.
(*** path ***)

(** Path {{number}} of a round. *)
{{states}}Lemma path_{{number}}' l {{inputs}} {{words}} s : {{assumed}} -> cut' l {{words}} s ->{{keeping}}
  exists t m', t * {{length}} <= {{steps}} /\ cut_with' l {{inputs}} (run (Families.rules l) t s) m' /\
  (0 <= 2 * m' <= {{measured}})%Z.
Proof.
  intros {{names}} H0 {{kept_names}}. pose proof (reaches_none (Families.rules l) s) as R.
{{proof}}{{moved}}  lazymatch type of R with reaches _ _ ?t _ => exists t end. exists (val {{length}} {{final}}).
  split; [nia|]. split; [|pose proof (val_range {{length}} {{measure_word}}); pose proof (val_range {{length}} {{final}}); rewrite ?val_off in *; lia].
  unfold reaches in R. rewrite R. exists {{ended}}. split; [exact {{last}}|]. split; [|reflexivity].
  clear {{facts}} R.
{{keeps}}Qed.
(*** kept ***)
  - destruct K{{number}} as (k & K). exists (k + ({{added}}))%Z. {{powers}}
    rewrite {{up}}; rewrite {{down}} in *; clear - K; rewrite Z.mul_add_distr_r, <- K; ring.
(*** concluded ***)
  - destruct K{{number}} as (k & K). rewrite ?Z in K. apply small_multiple in K; [clear - K; lia|]. clear K.
    {{ranges}}{{products}}
    pose proof (pow_two l ltac:(lia)). set (q := 2 ^ Z.of_nat l) in *. {{powers}}clearbody q. nia.
(*** power ***)
replace ({{power}}) with ({{product}}) in * by (unfold q; replace (Z.of_nat ({{exponent}})) with ({{sum}}) by lia; rewrite !Z.pow_add_r by lia; ring).
(*** busy ***)
{{nexts}}Ltac working_{{module}} := unfold bits_of; try first [{{rewrites}}].
(*** phase ***)
Definition {{own}}_during' (l : nat) ({{words}} : nat -> bool) (t : nat) (s : state name) : Prop :=
  {{running}} /\ {{ticking}}.
{{over}}Definition {{own}}_agree' (l : nat) (s u : state name) : Prop :=
  {{same}}.
Lemma {{own}}_tick' l {{words}} t s u : {{assumed}} -> 1 <= t < {{timer}} -> {{own}}_during' l {{words}} t s -> {{own}}_agree' l s u ->
  {{own}}_during' l {{words}} (t + 1) (step (Families.rules l) s) /\ {{own}}_agree' l (step (Families.rules l) s) (step ({{module}}.Families.rules l) u).
Proof. intros {{names}} T H G. unfold {{own}}_during' in H. unfold {{own}}_agree' in G. unfold {{own}}_during', {{own}}_over', {{own}}_agree'. shapes. each ltac:(one_step ltac:(stepped; working_{{module}}) s). Qed.
Lemma {{own}}_last' l {{words}} s u : {{assumed}} -> {{own}}_during' l {{words}} {{timer}} s -> {{own}}_agree' l s u ->
  {{own}}_over' l {{words}} (step (Families.rules l) s) /\ {{own}}_agree' l (step (Families.rules l) s) (step ({{module}}.Families.rules l) u).
Proof. intros {{names}} H G. unfold {{own}}_during' in H. unfold {{own}}_agree' in G. unfold {{own}}_during', {{own}}_over', {{own}}_agree'. shapes. each ltac:(one_step ltac:(stepped; working_{{module}}) s). Qed.
Lemma {{own}}' l {{words}} s : {{assumed}} -> {{before}} l {{words}} s ->
  {{exists}}{{reached}}.
Proof.
  intros {{names}} H. unfold {{before}} in H. shapes.
  destruct (phase (Families.rules l) ({{module}}.Families.rules l) {{timer}} ({{own}}_during' l {{words}}) ({{own}}_over' l {{words}}) ({{own}}_agree' l)
    (fun t s u => {{own}}_tick' l {{words}} t s u {{names}}) (fun s u => {{own}}_last' l {{words}} s u {{names}}) s {{began}})
    as (HO & GO); [lia|unfold {{own}}_during'; each assumption|unfold {{own}}_agree'; each ltac:(started {{module}}.start)|].
  destruct ({{module}}.rules_compute l {{entered}} ltac:(lia){{entered_ranges}}) as ({{output_pattern}}).
  set (e := run ({{module}}.Families.rules l) {{timer}} {{began}}) in *. unfold {{own}}_over' in HO. unfold {{own}}_agree' in GO. shapes.
{{values}}{{picked}}  unfold {{after}}. each ltac:(first [assumption | apply holds_bits | apply word_off; assumption]).
Qed.
(*** phase_value ***)
  assert (V_{{array}} : word {{end}} "{{array}}" {{length}} = {{module}}.{{output}} l e)
    by (unfold {{module}}.{{output}}; apply val_ext; match goal with G : holds _ "{{array}}" _ (bits_of e _) |- _ => exact G end).
  rewrite O_{{array}} in V_{{array}}.
