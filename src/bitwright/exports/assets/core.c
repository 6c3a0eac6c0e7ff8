/*
{% for line in about %}
 *{{' ' ~ line if line}}
{% endfor %}
 *
 * A cell that matches a set S of n examples outputs 1 at its port i exactly if n > 0 and G_i > T[n, column of i],
 * where G_i is the sum over all units u of B[u, i] * max(0, sum of A[u, j] for j in S), in integers.
 *
 * C99 without libraries, allocation or global state; call the functions below.
 * If the file contains a program, run it with: cc -std=c99 -O2 -DBW_MAIN -o program FILE.c && ./program INPUTS
 */
#include <stddef.h>
#include <stdint.h>

{% for name, value in sizes.items() %}
#define BW_{{name}} {{value}}
{% endfor %}

typedef {{sum}} bw_sum;
typedef {{index|c_type}} bw_index; /* index of an example */

/* Writes the examples that a cell of this kind matches, given its blocks' configurations; returns their number. */
uint32_t bw_match(uint32_t kind, const uint16_t *configurations, bw_index *matched);

/* Computes G for each port of a cell that matches these n examples. */
void bw_sums(uint32_t kind, const bw_index *matched, uint32_t n, bw_sum *sums);

/* Writes the network's output for a cell that matches these n examples: 0 or 1 for each port of its kind. */
void bw_cell(uint32_t kind, const bw_index *matched, uint32_t n, uint8_t *ports);
{% if algorithm %}

{% include "program.h" %}
{% endif %}
/* bw_first is A, unit by unit; bw_last is B, unit by unit; bw_threshold is T, row n - 1. */
{% for name, values, kind in tables %}
static const {{kind or values|c_type}} {{name}}[{{[values.size, 1]|max}}] = {
{{values|numbers or '0'}}
};
{% endfor %}

uint32_t bw_match(uint32_t kind, const uint16_t *configurations, bw_index *matched)
{
    uint32_t block, n = 0;
    for (block = bw_kind_block[kind]; block < bw_kind_block[kind + 1]; block++) {
        const uint32_t wanted = *configurations++, end = bw_block_example[block + 1];
        uint32_t low = bw_block_example[block], high = end;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (bw_configuration[middle] < wanted)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < end && bw_configuration[low] == wanted)
            matched[n++] = (bw_index)low;
    }
    return n;
}

void bw_sums(uint32_t kind, const bw_index *matched, uint32_t n, bw_sum *sums)
{
    const uint32_t from = bw_kind_port[kind], count = (uint32_t)bw_kind_port[kind + 1] - from;
    uint32_t unit, i;
    for (i = 0; i < count; i++)
        sums[i] = 0;
    for (unit = 0; unit < BW_WIDTH; unit++) {
        const int8_t *first = bw_first + (size_t)unit * BW_EXAMPLES;
        const int8_t *last = bw_last + (size_t)unit * BW_PORTS + from;
        bw_sum hidden = 0;
        for (i = 0; i < n; i++)
            hidden += first[matched[i]];
        if (hidden > 0)
            for (i = 0; i < count; i++)
                sums[i] += hidden * last[i];
    }
}

void bw_cell(uint32_t kind, const bw_index *matched, uint32_t n, uint8_t *ports)
{
    const uint32_t from = bw_kind_port[kind], count = (uint32_t)bw_kind_port[kind + 1] - from;
    bw_sum sums[BW_MOST_PORTS];
    uint32_t i;
    if (n > 0)
        bw_sums(kind, matched, n, sums);
    for (i = 0; i < count; i++)
        ports[i] = n > 0 && sums[i] > bw_threshold[(size_t)(n - 1) * BW_COLUMNS + bw_port_column[from + i]];
}
