{% include "core.c" %}

{% if algorithm %}
{% include "program.c" %}

{% include "main.c" %}
{% else %}
#ifdef BW_MAIN
#error "this file contains a network of cells but no program to run; add one with bitwright export --program NAME"
#endif
{% endif %}
