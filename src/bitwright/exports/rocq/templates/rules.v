{% macro when(rule) %}when_write [{% for value, item in zip(rule.form, rule.lists[0]) %}({{item|item}}, {{'true' if value else 'false'}}){{'; ' if not loop.last}}{% endfor %}] {{rule.lists[1]|written}}{% endmacro %}
{% macro family(segment, row, function) %}{% if segment.single %}[{{row}}]{% else %}rows {{segment.first|argument}} {{segment.last|argument}} {{function}}{% endif %}{% endmacro %}
{% macro rules(families) %}
Definition rules (l : nat) : rules name :=
  {%+ for rule in families.rules %}{{family(rule, when(rule), '(fun i => ' ~ when(rule) ~ ')')}}{{' ++\n  ' if not loop.last}}{% endfor %}.
{% endmacro %}
