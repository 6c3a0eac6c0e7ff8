{% macro when(rule) %}when_write [{% for value, item in zip(rule.form, rule.lists[0]) %}({{item|item}}, {{'true' if value else 'false'}}){{'; ' if not loop.last}}{% endfor %}] {{rule.lists[1]|written}}{% endmacro %}
{% macro family(segment, row, function) %}{% if segment.single %}[{{row}}]{% else %}rows {{segment.first|argument}} {{segment.last|argument}} {{function}}{% endif %}{% endmacro %}
{% macro rules(families) %}
Definition rules (l : nat) : rules name :=
  {%+ for rule in families.rules %}{{family(rule, when(rule), '(fun i => ' ~ when(rule) ~ ')')}}{{' ++\n  ' if not loop.last}}{% endfor %}.
{% endmacro %}
{% macro bit(array, single) %}{% if single %}flag "{{array}}"{% else %}at_ "{{array}}" i{% endif %}{% endmacro %}
{# The value of each bit of these arrays after a step by the rules `of`; the pairs tell whether an array is a single bit. #}
{% macro nexts(arrays, families, of, name) %}
{% for array, single in arrays %}
{% set writers = families.rules|writers(array) %}
Lemma {{name}}{{array}}' l s{{' i' if not single}} : step ({{of}} l) s ({{bit(array, single)}}) =
  {{writers|join(' || (') ~ ')' * (writers|length - 1) if writers else 'false'}}.
Proof. next_of {{of}} s. Qed.
{% endfor %}
{% endmacro %}
{% if families is defined %}
{{rules(families)}}
{%- endif %}
