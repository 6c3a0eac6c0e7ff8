/* The program: its cells in order. bw_cell_bit lists the bits that each reads, block by block. For each port of all
   cells, bw_wire_start is the index in bw_wire_bit where the bits that it sets begin. */
{% for name, value in program_sizes.items() %}
#define BW_{{name}} {{value}}
{% endfor %}

{% for name, values, kind in program_tables %}
static const {{kind or values|c_type}} {{name}}[{{[values.size, 1]|max}}] = {
{{values|numbers or '0'}}
};
{% endfor %}
static const uint8_t bw_signed[BW_WORDS] = { 0{% for word in words %}, {{word.signed|int}}{% endfor %} };

void bw_start(uint8_t *state)
{
    uint32_t i;
    for (i = 0; i < BW_BITS; i++)
        state[i] = 0;
    for (i = bw_word_start[BW_START]; i < bw_word_start[BW_START + 1]; i++)
        state[bw_word_bit[i]] = 1;
}

void bw_load(uint8_t *state, enum bw_word word, const uint8_t *bits)
{
    uint32_t i;
    for (i = bw_word_start[word]; i < bw_word_start[word + 1]; i++)
        state[bw_word_bit[i]] = *bits++;
}

void bw_read(const uint8_t *state, enum bw_word word, uint8_t *bits)
{
    uint32_t i;
    for (i = bw_word_start[word]; i < bw_word_start[word + 1]; i++)
        *bits++ = state[bw_word_bit[i]];
}

uint32_t bw_word_bits(enum bw_word word)
{
    return (uint32_t)bw_word_start[word + 1] - bw_word_start[word];
}

int bw_word_signed(enum bw_word word)
{
    return bw_signed[word];
}

void bw_step(const uint8_t *state, uint8_t *next)
{
    uint16_t configurations[BW_MOST_BLOCKS];
    bw_index matched[BW_MOST_BLOCKS]; /* at most one match for each block */
    uint8_t ports[BW_MOST_PORTS];
    uint32_t cell, at = 0, port = 0, i;
    for (i = 0; i < BW_BITS; i++)
        next[i] = 0;
    for (cell = 0; cell < BW_CELLS; cell++) {
        const uint32_t kind = bw_cell_kind[cell], from = bw_kind_block[kind];
        const uint32_t count = (uint32_t)bw_kind_port[kind + 1] - bw_kind_port[kind];
        uint32_t block, n;
        for (block = from; block < bw_kind_block[kind + 1]; block++) {
            uint32_t configuration = 0;
            for (i = 0; i < bw_block_bits[block]; i++)
                configuration |= (uint32_t)(state[bw_cell_bit[at++]] != 0) << i;
            configurations[block - from] = (uint16_t)configuration;
        }
        n = bw_match(kind, configurations, matched);
        if (n > 0) {
            bw_cell(kind, matched, n, ports);
            for (i = 0; i < count; i++)
                if (ports[i]) {
                    uint32_t wire;
                    for (wire = bw_wire_start[port + i]; wire < bw_wire_start[port + i + 1]; wire++)
                        next[bw_wire_bit[wire]] = 1;
                }
        }
        port += count;
    }
}

static void bw_copy(const uint8_t *from, uint8_t *to)
{
    uint32_t i;
    for (i = 0; i < BW_BITS; i++)
        to[i] = from[i];
}

{% include "ending_" ~ ending ~ ".c" %}
#ifdef BW_MAIN
static const char *const bw_names[BW_WORDS] = { "start"{% for word in words %}, "{{word.name}}"{% endfor %} };
#endif
