{% include "core.c" %}

{% if algorithm %}
{% include "program.c" %}

{% include "main.c" %}
{% else %}
#ifdef BW_MAIN
#error "this file has a network of cells and no program to run; bitwright export --program NAME adds one"
#endif
{% endif %}
