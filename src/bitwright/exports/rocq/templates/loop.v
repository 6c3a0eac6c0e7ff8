{% from 'rules.v' import nexts %}
{% set inputs = words.names %}
{% set ws = proof.words|word_names %}
{% set outs = shown|word_names %}
{% set rest_words = (shown + others)|word_names %}
{% set length = states.length(proof.measure) %}
{% set measured = states.values()[proof.measure] %}
{% set given = words.given %}
{% set bounds = words.bounds %}
{% set known = 'L ' ~ words.known %}
{% set start = '(start l ' ~ inputs ~ ')' %}
{% macro first_of(names, form) %}first [{% for name in names %}{{' | ' if not loop.first}}{{form % name}}{% endfor %}]{% endmacro %}
{% macro each_idtac(goals) %}{{'  each idtac.\n' if goals|length > 1}}{% endmacro %}
{% macro define(name, state, words, but=()) %}
Definition {{name}} (l : nat){{' (' ~ words ~ ' : nat -> bool)' if words}} (s : state name) : Prop :=
  {{states.state(state, but)}}.
{%- endmacro %}
{% macro step(lemma, way, words, before, after, ended) %}
Lemma {{lemma}} l {{words}} s : {{states.assumed(way)}} -> {{before}} l {{words}} s -> {{after}} l {{ended}} (step (Families.rules l) s).
Proof. intros {{states.assumptions(way)}} H. unfold {{before}} in H. unfold {{after}}. shapes. each ltac:(one_step stepped s). Qed.
{%- endmacro %}
{% macro phase_lemmas(phase, way, before, after, ended) %}
{% set own = phase.name %}
{% set wait = phase.wait %}
{% set end = '(run (Families.rules l) ' ~ phase.timer ~ ' s)' %}
{% set began = '(' ~ phase.module ~ '.start l ' ~ phase.entered ~ ')' %}
Definition {{own}}_during' (l : nat) ({{phase.words}} : nat -> bool) (t : nat) (s : state name) : Prop :=
  {{states.state(phase.state, wait.busy + (wait.timer,))}} /\ {{states.holds(wait.timer, '(only t)')}}.
{{define(own ~ "_over'", wait.after, phase.words, wait.busy)}}
Definition {{own}}_agree' (l : nat) (s u : state name) : Prop :=
  {%+ for array in wait.busy %}{{' /\\ ' if not loop.first}}holds s "{{array}}" {{states.length(array)}} (bits_of u "{{array}}"){% endfor %}.
Lemma {{own}}_tick' l {{phase.words}} t s u : {{states.assumed(way)}} -> 1 <= t < {{phase.timer}} -> {{own}}_during' l {{phase.words}} t s -> {{own}}_agree' l s u ->
  {{own}}_during' l {{phase.words}} (t + 1) (step (Families.rules l) s) /\ {{own}}_agree' l (step (Families.rules l) s) (step ({{phase.module}}.Families.rules l) u).
Proof. intros {{states.assumptions(way)}} T H G. unfold {{own}}_during' in H. unfold {{own}}_agree' in G. unfold {{own}}_during', {{own}}_over', {{own}}_agree'. shapes. each ltac:(one_step ltac:(stepped; working_{{phase.module}}) s). Qed.
Lemma {{own}}_last' l {{phase.words}} s u : {{states.assumed(way)}} -> {{own}}_during' l {{phase.words}} {{phase.timer}} s -> {{own}}_agree' l s u ->
  {{own}}_over' l {{phase.words}} (step (Families.rules l) s) /\ {{own}}_agree' l (step (Families.rules l) s) (step ({{phase.module}}.Families.rules l) u).
Proof. intros {{states.assumptions(way)}} H G. unfold {{own}}_during' in H. unfold {{own}}_agree' in G. unfold {{own}}_during', {{own}}_over', {{own}}_agree'. shapes. each ltac:(one_step ltac:(stepped; working_{{phase.module}}) s). Qed.
Lemma {{own}}' l {{phase.words}} s : {{states.assumed(way)}} -> {{before}} l {{phase.words}} s ->
  {{'exists ' ~ phase.exists ~ ', ' if phase.made}}{{after}} l {{ended}} {{end}}{% for array, sum, power, value in phase.made %} /\ ({{value}} = {{sum}} - k_{{array}} * {{power}})%Z{% endfor %}.
Proof.
  intros {{states.assumptions(way)}} H. unfold {{before}} in H. shapes.
  destruct (phase (Families.rules l) ({{phase.module}}.Families.rules l) {{phase.timer}} ({{own}}_during' l {{phase.words}}) ({{own}}_over' l {{phase.words}}) ({{own}}_agree' l)
    (fun t s u => {{own}}_tick' l {{phase.words}} t s u {{states.assumptions(way)}}) (fun s u => {{own}}_last' l {{phase.words}} s u {{states.assumptions(way)}}) s {{began}})
    as (HO & GO); [lia|unfold {{own}}_during'; each assumption|unfold {{own}}_agree'; each ltac:(started {{phase.module}}.start)|].
  destruct ({{phase.module}}.rules_compute l {{phase.entered}} ltac:(lia){{phase.ranges}}) as ({% for array in wait.busy %}{{' & ' if not loop.first}}O_{{array}}{% endfor %}).
  set (e := run ({{phase.module}}.Families.rules l) {{phase.timer}} {{began}}) in *. unfold {{own}}_over' in HO. unfold {{own}}_agree' in GO. shapes.
{% for array in wait.busy %}
  assert (V_{{array}} : word {{end}} "{{array}}" {{states.length(array)}} = {{phase.module}}.{{phase.file.outputs[array]}} l e)
    by (unfold {{phase.module}}.{{phase.file.outputs[array]}}; apply val_ext; match goal with G : holds _ "{{array}}" _ (bits_of e _) |- _ => exact G end).
  rewrite O_{{array}} in V_{{array}}.
{% endfor %}
{% if phase.made %}
  exists {% for array in phase.sums %}(bits_of {{end}} "{{array}}"), {% endfor %}{% for _, sum, power, _ in phase.made %}{{', ' if not loop.first}}(({{sum}}) / {{power}})%Z{% endfor %}. split; [|each modular].
{% endif %}
  unfold {{after}}. each ltac:(first [assumption | apply holds_bits | apply word_off; assumption]).
Qed.
{% endmacro %}
{% macro path_lemmas(path) %}
{% set way = path.way %}
{% set assumed = states.assumed(way) %}
{% set number = path.number %}

(** Path {{number}} of a round. *)
{% for move in path.moves %}
{% if move.state %}
{{define(move.after, move.state, move.ended)}}
{% endif %}
{% if move.phase %}
{% set module = move.phase.module %}
{% if move.fresh %}
{{nexts(move.arrays, move.phase.file.families, module ~ '.Families.rules', module ~ '_')}}Ltac working_{{module}} := unfold bits_of; try {{first_of(move.phase.wait.busy, 'rewrite ' ~ module ~ "_%s'")}}.
{% endif %}
{{phase_lemmas(move.phase, way, move.before, move.after, move.ended)}}
{%- else %}
{{step(move.lemma, way, move.words, move.before, move.after, move.ended)}}
{% endif %}
{% endfor %}
Lemma path_{{number}}' l {{inputs}} {{ws}} s : {{assumed}} -> cut' l {{ws}} s ->{% for _ in equations %} kept_{{loop.index}}' l {{inputs}} {{ws}} ->{% endfor +%}
  exists t m', t * {{length}} <= {{steps}} /\ cut_with' l {{inputs}} (run (Families.rules l) t s) m' /\
  (0 <= 2 * m' <= {{measured}})%Z.
Proof.
  intros {{states.assumptions(way)}} H0 {% for _ in equations %}{{' ' if not loop.first}}K{{loop.index}}{% endfor %}. pose proof (reaches_none (Families.rules l) s) as R.
{% for move in path.moves %}
{% if move.phase %}
  {{move.opened}}. apply (reaches_run _ _ _ _ {{move.phase.timer}}) in R.
{% else %}
  pose proof ({{move.lemma}} l {{move.words}} _ {{states.assumptions(way)}} H{{loop.index0}}) as H{{loop.index}}. apply reaches_step in R.
{% endif %}
{% endfor %}
{{path.moved}}  lazymatch type of R with reaches _ _ ?t _ => exists t end. exists (val {{length}} {{path.final}}).
  split; [nia|]. split; [|pose proof (val_range {{length}} {{[proof.measure]|word_names}}); pose proof (val_range {{length}} {{path.final}}); rewrite ?val_off in *; lia].
  unfold reaches in R. rewrite R. exists {{path.ended}}. split; [exact H{{path.moves|length}}|]. split; [|reflexivity].
  clear {% for _ in path.moves %}H{{loop.index0}} {% endfor %}H{{path.moves|length}} R.
{{each_idtac(equations)}}{% for one in path.kept %}
  - destruct K{{loop.index}} as (k & K). exists (k + ({{one.added}}))%Z. {{one.powers}}
    rewrite {{path.up}}; rewrite {{path.down}} in *; clear - K; rewrite Z.mul_add_distr_r, <- K; ring.
{% endfor %}
Qed.
{% endmacro %}
(** What {{about}} computes: a loop with an invariant. The proof is automatic. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words Rounds.
From {{name}} Require Net Families{% for file in files %} {{file.module}}{% endfor %}.
Import ListNotations.
Local Open Scope string_scope. Local Open Scope list_scope. Local Open Scope nat_scope.

(** The first state, and the outputs. *)
Definition start {{given}} : state name := all_of {{words.start()|each}}.
{% for word in words.outputs %}
Definition {{word|output}} (l : nat) (s : state name) : Z := ({{words.output_text(word)}})%Z.
{% endfor %}

(** The value of each bit after a step. *)
{{nexts(states.single.items(), families, 'Families.rules', 'next_')}}Ltac stepped := {{first_of(states.single, "rewrite next_%s'")}}.

(** The cut state, where rounds begin and end, and the invariant. *)
{{define("cut'", proof.cut_state, ws)}}
{% for equation in equations %}
Definition kept_{{loop.index}}' (l : nat) ({{inputs}} : Z) ({{ws}} : nat -> bool) : Prop :=
  exists k, ({{equation}})%Z.
{% endfor %}
Definition cut_with' (l : nat) ({{inputs}} : Z) (s : state name) (m : Z) : Prop :=
  exists {{ws}}, cut' l {{ws}} s /\ ({% for _ in equations %}{{' /\\ ' if not loop.first}}kept_{{loop.index}}' l {{inputs}} {{ws}}{% endfor %}) /\ m = {{measured}}.
{% for path in paths %}{{path_lemmas(path)}}{% endfor %}
(** All paths together cover every case. *)
Lemma round' l {{inputs}} s m : {{least}} <= l -> cut_with' l {{inputs}} s m ->
  exists t m', t * {{length}} <= {{steps}} /\ cut_with' l {{inputs}} (run (Families.rules l) t s) m' /\
  (0 <= 2 * m' <= m)%Z.
Proof.
  intros L ({{proof.words|word_names(' & ')}} & H & {{kept_pattern}} & ->).
  {{round_cases}}first [{% for path in paths %}{{' | ' if not loop.first}}eapply path_{{loop.index}}'; eassumption{% endfor %}].
Qed.

(** At rest {{proof.measure}} is 0, and the outputs do not change. *)
{{define("rest'", rest_state, rest_words)}}
{% for rest in rests if rest.at %}
{{define(rest.name, rest.state, rest_words)}}
{% endfor %}
Definition resting' (l : nat) ({{outs}} : nat -> bool) (s : state name) : Prop :=
  {{'exists ' ~ others|word_names ~ ', ' if others}}rest' l {{rest_words}} s{% for rest in rests if rest.at %} \/ ({{([rest.name ~ ' l ' ~ rest_words ~ ' s'] + states.facts(rest.way))|join(' /\\ ')}}){% endfor %}.
{% for rest in rests %}
{{step(rest.lemma, rest.way, rest_words, rest.name, rest.after, rest.ended)}}
{% endfor %}
Lemma stays' l {{outs}} s : {{least}} <= l -> resting' l {{outs}} s -> resting' l {{outs}} (step (Families.rules l) s).
Proof.
  intros L H. unfold resting' in *. {{'destruct H as (' ~ others|word_names(' & ') ~ ' & H). ' if others}}{{rest_cases}}
    each_case H; try congruence; (first [{% for rest in rests %}{{' | ' if not loop.first}}pose proof ({{rest.lemma}} l {{rest_words}} s L{{' ltac:(assumption)' * (rest.way.fixed|length)}} H) as N{% endfor %}]; {{'eexists; ' * others|length}}found_case).
Qed.
Lemma shown' l {{outs}} s : resting' l {{outs}} s -> {{outputs_hold}}.
Proof. unfold {{(["resting'"] + rests|map(attribute='name')|unique|list)|join(', ')}}. intros H. {{'destruct H as (' ~ others|word_names(' & ') ~ ' & H). ' if others}}tauto. Qed.

(** At the end the outputs satisfy the ensure lines. *)
Local Open Scope Z_scope.
Definition done' {{given}} (s : state name) : Prop :=
  exists {{outs}}, resting' l {{outs}} s /\ {{lines}}.
Lemma ends' {{given}} s : ({{least}} <= l)%nat -> {{bounds}} cut_with' l {{inputs}} s 0 -> done' l {{inputs}} s.
Proof.
  intros {{known}} ({{proof.words|word_names(' & ')}} & H & {{kept_pattern}} & Z). symmetry in Z. exists {{shown|word_names(', ')}}.
  split; [unfold resting'; {{'exists ' ~ others|word_names(', ') ~ '; ' if others}}{{'left; ' if rests|selectattr('at')|list}}unfold cut' in H; unfold rest'; shapes; each ltac:(first [assumption | eapply holds_off; eassumption])|].
{{each_idtac(line_proofs)}}{% for proof in line_proofs %}
  - destruct K{{proof.number}} as (k & K). rewrite ?Z in K. {% if proof.exact %}clear - K; lia.{% else %}apply small_multiple in K; [clear - K; lia|]. clear K.
    {{proof.ranges}}{{proof.products}}
    pose proof (pow_two l ltac:(lia)). set (q := 2 ^ Z.of_nat l) in *. {{proof.powers}}clearbody q. nia.{% endif +%}
{% endfor %}
Qed.
Lemma done_stays' {{given}} s : ({{least}} <= l)%nat -> done' l {{inputs}} s -> done' l {{inputs}} (step (Families.rules l) s).
Proof. intros L ({{shown|word_names(' & ')}} & D & E). exists {{shown|word_names(', ')}}. split; [exact (stays' l {{outs}} s L D)|exact E]. Qed.
Lemma begins' {{given}} : ({{least}} <= l)%nat -> {{bounds}}
  exists m, cut_with' l {{inputs}} {{start}} m /\ 0 <= m < 2 ^ Z.of_nat {{length}}.
Proof.
  intros {{known}}. eexists. split; [exists {% for word in proof.words %}{{', ' if not loop.first}}(bits_of {{start}} "{{word}}"){% endfor %}|apply val_range].
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
    (fun s => done_stays' l {{inputs}} s L) {{start}} m ltac:(lia) C M) as ({{shown|word_names(' & ')}} & D & E).
  fold s in D. clearbody s. {{opened_outputs}}. unfold {{words.outputs|map('output')|join(', ')}}. rewrite {{rewritten_outputs}}. exact E.
Qed.

(** This network, in the cells of the program, computes it. *)
Theorem network_computes {{given}} : ({{least}} <= l)%nat -> {{bounds}}
  let s := run_by_cells Net.net Net.kinds (Families.cells l) ({{steps}})%nat {{start}} in
  {{conclusion}}.
Proof.
  intros {{known}} s. pose proof (Families.network_runs l ltac:(lia) ({{steps}})%nat {{start}}) as E. fold s in E.
  pose proof (rules_compute l {{inputs}} {{known}}) as R. cbv zeta in R. clearbody s. unfold {{words.outputs|map('output')|join(', ')}} in *.
  repeat rewrite (word_ext s _ _ _ E). exact R.
Qed.
Print Assumptions network_computes.
