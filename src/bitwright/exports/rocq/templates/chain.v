{% set chain = certificate.chain %}
{% set clock = certificate.clock %}
{% set n = '(' ~ chained.positions|nat ~ ')' %}
{% set names = words.names %}
{% set known = words.known %}
{% set least = '(' ~ long ~ ' <= l)%nat -> ' ~ words.bounds %}
{% set first = '(' ~ families.least ~ ' <= l)%nat -> ' ~ words.bounds %}
{% set halts = halt is not none %}
{% set start = '(start l ' ~ names ~ ')' %}
{% set steps = '(' ~ chained.steps|nat ~ ')%nat' %}
{% set given = words.given ~ ' (s : Rules.state name)' %}
{% macro by_class(key, other) %}fun c => match c with {% for c, own in chain.classes.items() %}{{c}} => {{key(own)}} | {% endfor %}_ => {{other}} end{% endmacro %}
{% macro class_rules(own) %}{{own.rules|each('Rule {0} {1} {2} {3} {4} {5}')}}{% endmacro %}
{% macro class_free(own) %}{{own.free|bits_of|each}}{% endmacro %}
{% macro class_start(own) %}{{own.start}}{% endmacro %}
{% macro at_the_end(run, what) -%}
{% if halts %}exists t, (t <= {{steps}})%nat /\ (forall u, (u < t)%nat -> {{run}} u {{start}} ({{halt}}) = false) /\
  let s := {{run}} t {{start}} in
  {{what}}{% else %}let s := {{run}} {{steps}} {{start}} in
  {{what}}{% endif %}
{%- endmacro %}
{% set the_rules = 'Rules.run (Families.rules l)' %}
{% set the_cells = 'Rules.run_by_cells Net.net Net.kinds (Families.cells l)' %}
{% set tested = at_the_end(the_rules, 'test l ' ~ names ~ ' s = true') %}
{% set by_tested %}destruct (tested l {{names}} L {{known}}) as (t & T & N & H). exists t. split; [exact T|].{% endset %}
{% set absent %}{% for k in missing %}  s (bit_at tracks {{k}} 0) = false ->
{% endfor %}{% endset %}
(** What {{about}} computes, proved automatically with a certificate from bitwright. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Coq Require Import NArith ZifyBool.
From Bitwright Require Rules Words Table.
From Bitwright Require Import Cover Reach Chain ChainProgram Sweeps Clock ChainRules Specification.
From {{name}} Require Net Families.
Import ListNotations.
Local Open Scope string_scope. Local Open Scope list_scope.

(** The program as a chain with one letter at each position. *)
Local Open Scope N_scope.
Definition chain : program := {|
  rules := {{by_class(class_rules, '[]')}};
  global_rules := {{chain.global_rules|each('Rule {0} {1} 0 {2} 0 0')}};
  free := {{by_class(class_free, '[]')}};
  start_bits := {{by_class(class_start, '0')}};
  start_globals := {{chain.start_globals}};
  delay := {{clock.delay}}%nat; sweeps := {{sweeps|each('({0}, {1}%nat)')}}; early := {{clock.early}}%nat; fixed := {{clock.fixed or 0}}%nat; halting := {{halting}} |}.
(** The invariant: the letters that may follow each other, and the signs of the laws. *)
Definition found : certificate := {|
  global_values := {{states|each}};
  left_out := {{(not certificate.inputs_in_windows)|bool}};
  windows := {{windows|each('(({0}, {1}), {2})', ';\n    ')|replace('[(', '[\n    (', 1)}};
  laws := {{certified|each('((({0})%Z, ({1})%Z), Law {2} {3} [] [])')}};
  verdicts := {{verdicts|each('({0}, {1})')}} |}.
Local Close Scope N_scope.

Definition tracks : list track := {{chained.tracks|each('("{0}", ({1}, {2}))')}}.
Definition flags : list name := {{flags|each}}.
(** The claim in the checker's form: laws, and a formula over their signs and single bits. *)
Definition laws : list (Z * law) := {{laws|map(attribute='text')|each}}%N.
Definition claim : formula := ({% for one in formulas[:-1] %}And ({{one}}) ({% endfor %}{{formulas[-1]}}{{')' * (formulas|length - 1)}})%N.

Lemma chain_well_formed : well_formed chain tracks flags = true.
Proof. vm_compute. reflexivity. Qed.
Lemma claim_proper : proper chain tracks flags laws claim = true.
Proof. vm_compute. reflexivity. Qed.
Theorem checked : check_program chain found laws (fun some_global one other => judge claim some_global (option_map bits one) (option_map bits other)) {{fuel}} = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

(** The rules of the chain equal the program's rules at every size. *)
Theorem same l : {{long}} <= l -> Rules.same_rules (chain_rules chain tracks flags {{n}}) (Families.rules l).
Proof.
  intros large. split; apply within_intro; intros t T.
  - apply chain_rules_parts in T; [|lia]. written_out T. unfold Families.rules. each_chain_rule.
{% for link in chain_links %}    + {{link|cases('nth_rule {0.target} {1}')}}.
{% endfor %}
  - unfold Families.rules in T. each_rule.
{% for link in rule_links %}    + {{link|cases('nth_chain {0.target} {0.template} {1}')}}.
{% endfor %}
Qed.

(** The first state, and the input at every position. *)
Definition start (l : nat) {{words.typed}} : Rules.state name := Words.all_of {{words.start()|each}}.
Definition entries {{words.typed}} (k : N) (i : nat) : bool := match k with {{entries}} | _ => false end%N.
Lemma start_shown l {{names}} : {{long}} <= l -> shows tracks flags {{n}} (start l {{names}}) (start_globals chain)
  (fun i => N.lor (start_bits chain (class_at {{n}} i)) (entry chain {{n}} (entries {{names}}) i)).
Proof. intros large. split; [intros i k I K; each_track k K; shown i I | intros k K; each_track k K; reflexivity]. Qed.

(** The outputs. *)
Local Open Scope Z_scope.
{% for word in words.outputs %}
Definition {{word|output}} (l : nat) (s : Rules.state name) : {{'bool' if words.is_bit(word) else 'Z'}} := {{words.output_text(word)}}.
{% endfor %}

(** The weights of the laws. *)
{% for law in laws %}
Lemma law_{{loop.index0}} l {{names}} (s : Rules.state name) : {{least}}
{{absent}}  law_at chain tracks laws {{n}} (entries {{names}}) s {{loop.index0}} = {{law.value}}.
Proof.
  intros. unfold laws. law_value.
{{law.facts}}  {% for word in law.outputs %}unfold {{word|output}}. {% endfor %}{{law.ends}}lia.
Qed.
{% endfor %}

(** The lines in the checker's form and in readable form. *)
{% for line in lines %}
Lemma line_{{loop.index0}} l {{names}} (s : Rules.state name) : {{least}}
{{absent}}{% if line.after %}  {{line.after}} ->
{% endif %}
  means ({{line.truth.formula}})%N {{n}} (fun k i => s (bit_at tracks k i)) (fun k => s (flag_at flags k)) (law_at chain tracks laws {{n}} (entries {{names}}) s) =
  {{line.truth.test}}.
Proof.
  intros. cbn [means]. {% for law in line.laws %}rewrite (law_{{law}} l {{names}} s) by assumption. {% endfor %}{% for word in bit_outputs %}try unfold {{word|output}}. {% endfor %}same_line s.
Qed.
{% endfor %}

(** All lines as a computed test, and its meaning. *)
Definition test {{given}} : bool := {{"s (" ~ halt ~ ") && " if halts}}{{lines|map(attribute='truth.test')|join(' && ')}}.
Lemma test_says {{given}} : test l {{names}} s = true ->
  {{conclusion}}.
Proof. unfold test. intros H. lia. Qed.
Lemma test_same {{words.given}} (s u : Rules.state name) : (forall some_bit, s some_bit = u some_bit) -> test l {{names}} s = test l {{names}} u.
Proof. intros E. unfold test. {% for word in words.outputs %}unfold {{word|output}}. {% endfor %}repeat rewrite (Words.word_ext s u _ _ E). rewrite ?E. reflexivity. Qed.

(** The rules satisfy all lines at every size from {{long}} on, by the certificate. *)
Theorem tested_long {{words.given}} : {{least}}
  {{tested}}.
Proof.
  intros L {{known}}.
  destruct (chain_computes chain tracks flags found laws claim {{fuel}} chain_well_formed claim_proper checked {{n}}%nat
    (entries {{names}}) {{start}} (Families.rules l) ltac:(lia) (same l L) (start_shown l {{names}} L)) as (t & T & N & Z & H). cbv zeta in H.
  replace (Clock.steps chain {{n}}%nat) with {{steps}} in T, N by (steps_are chain).
{% if halts %}
  assert (K : halt_bit chain tracks flags {{n}}%nat = Some ({{halt}})) by (halt_is chain).
  exists t. split; [exact T|]. split; [intros u I; exact (Z u _ I K)|]. cbv zeta.
{% else %}
  specialize (N eq_refl). subst t. cbv zeta.
{% endif %}
  set (s := Rules.run (Families.rules l) {{'t' if halts else steps}} {{start}}) in *. clearbody s.
  unfold claim in H. {% for part in parts[:-1] %}apply means_and in H as [{{part}} H]. {% endfor %}rename H into {{parts[-1]}}.
{% for k in missing %}
  apply means_absent in A{{k}}.
{% endfor %}
{% if halts %}
  assert (HT : s ({{halt}}) = true) by (refine (eq_trans _ HH); cbn [means]; same_bit).
{% endif %}
{% for line in lines %}
  rewrite (line_{{loop.index0}} l {{names}} s L {{known}} {% for k in missing %}A{{k}} {% endfor %}{{'ltac:(lia)' if line.after}}) in H{{loop.index0}}.
{% endfor %}
  unfold test. repeat first [assumption | apply andb_true_intro; split].
Qed.
{% if sizes %}
(** Smaller sizes, proved by running all inputs. *)
{% macro last(rules) %}{% if halts %}(Table.halts_at {{rules}} ({{halt}}) {{steps}} {{start}}){% else %}{{steps}}{% endif %}{% endmacro %}
Definition tried (l : nat) : bool := let the_rules := Families.rules l in {% for word, variable in words.variables.items() %}forallb (fun {{variable}} => {% endfor %}
{% if halts %}negb ({{start}} ({{halt}})) && ((({{last('the_rules')}} <=? {{steps}})%nat) && {% endif %}test l {{names}} (Table.lookup (Table.run_table the_rules {{last('the_rules')}} {{start}})){{')' if halts}}
{%- for word in words.variables|reverse %}) (Table.numbers ({{words.length(word)}})){% endfor %}.
Lemma all_tried : forallb tried {{sizes|each('{0}%nat')}} = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
{% endif %}
Theorem tested {{words.given}} : {{first}}
  {{tested}}.
{% if sizes %}
Proof.
  intros L {{known}}. destruct (le_lt_dec {{long}} l) as [N|N]; [exact (tested_long l {{names}} N {{known}})|].
  assert (T : tried l = true) by (apply (Table.in_all _ _ l all_tried); cbn [In]; lia).
  unfold tried in T. cbv zeta in T. {% for variable in words.variables.values() %}apply (Table.in_all _ _ {{variable}}) in T; [|exact (Table.In_numbers _ _ B{{loop.index0}})]. cbv beta in T. {% endfor %}rename T into H.
{% if halts %}
  apply andb_prop in H as [Z H]. apply negb_true_iff in Z. apply andb_prop in H as [I H]. apply Nat.leb_le in I.
  exists {{last('(Families.rules l)')}}. split; [exact I|]. split; [intros u; apply Table.halts_at_off; exact Z|].
{% endif %}
  cbv zeta. refine (eq_trans _ H). apply test_same. intros some_bit. symmetry. apply Table.run_table_ok. {{'unfold Table.halts_at; ' if halts}}lia.
Qed.
{% else %}
Proof. exact (tested_long l {{names}}). Qed.
{% endif %}

(** The rules satisfy all lines at every size from {{families.least}} on. *)
Theorem rules_compute {{words.given}} : {{first}}
  {{at_the_end(the_rules, conclusion)}}.
Proof.
  intros L {{known}}. {% if halts %}{{by_tested}} split; [exact N|]. exact (test_says l {{names}} _ H).{% else %}cbv zeta. apply test_says. exact (tested l {{names}} L {{known}}).{% endif %}

Qed.

(** The network in the cells of the program satisfies all lines. *)
Theorem network_computes {{words.given}} : {{first}}
  {{at_the_end(the_cells, conclusion)}}.
Proof.
  intros L {{known}}. {% if halts %}{{by_tested}}
  split; [intros u I; rewrite (Families.network_runs l ltac:(lia) u {{start}}); exact (N u I)|].
  cbv zeta. apply test_says. rewrite (test_same l {{names}} _ _ (Families.network_runs l ltac:(lia) t {{start}})). exact H.{% else %}cbv zeta. apply test_says. rewrite (test_same l {{names}} _ _ (Families.network_runs l ltac:(lia) {{steps}} {{start}})).
  exact (tested l {{names}} L {{known}}).{% endif %}

Qed.
Print Assumptions network_computes.
