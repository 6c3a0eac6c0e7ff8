{% from 'rules.v' import rules, family %}
(** {{about}}: rules and cells as functions of l.
    bitwright compared them with the generated rules and cells at the sizes {{families.compared_sizes}}. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words Cover.
From {{name}} Require Net.
Import ListNotations.
Local Open Scope string_scope. Local Open Scope list_scope.

{{rules(families)}}
{% for cell in families.cells %}
Definition cell_{{loop.index}} (l{{' i' if not cell.single}} : nat) : cell name :=
  Cell {{cell.form[0]}} [{{cell.lists[:cell.ordered]|map('items')|join('; ')}}]
    [{{cell.lists[cell.ordered:]|map('written')|join('; ')}}].
{% endfor %}
Definition cells (l : nat) : list (cell name) :=
  {%+ for cell in families.cells %}{% set name = 'cell_' ~ loop.index ~ ' l' %}{{family(cell, name, '(' ~ name ~ ')')}}{{' ++ ' if not loop.last}}{% endfor %}.

Section Size.
Variable l : nat.
Hypothesis large : {{families.least}} <= l.

Lemma cells_fit : Forall (fits Net.kinds) (cells l).
Proof. apply Forall_forall. unfold cells. intros c I. each_rule; (split; [repeat constructor | reflexivity]). Qed.

Lemma rules_in_cells : within (rules l) (rules_of Net.kinds (cells l)).
Proof.
  apply within_intro. unfold rules. intros t I. each_rule.
{% for link in families.to_cell %}
  - {{link|cases(in_cell)}}.
{% endfor %}
Qed.

Lemma cells_in_rules : within (rules_of Net.kinds (cells l)) (rules l).
Proof.
  apply within_intro. unfold rules_of, cells. intros t I. apply in_flat_map in I as (c & Ic & It).
  each_rule; spell_in It; unfold rules; each_rule.
{% for links in families.to_rule %}{% for link in links %}
  - {{link|cases('nth_rule {0.target} {1}')}}.
{% endfor %}{% endfor %}
Qed.

(** At every size the rules consist of these cells. *)
Theorem consists : consists_of (rules l) Net.kinds (cells l).
Proof. split; [exact cells_fit|]. split; [exact rules_in_cells | exact cells_in_rules]. Qed.

(** Therefore every run by cells of this network is a run of the rules, from every state. *)
Theorem network_runs : forall n s b, run_by_cells Net.net Net.kinds (cells l) n s b = run (rules l) n s b.
Proof. exact (cells_run _ _ _ _ Net.net_right Net.kinds_proper consists). Qed.
End Size.
Print Assumptions network_runs.
