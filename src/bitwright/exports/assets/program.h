/* A state is BW_BITS bytes, each 0 or 1. Words are numbers in it: inputs, then outputs. */
#define BW_BITS {{algorithm.program.bits}}
#define BW_FIRST_OUTPUT {{1 + algorithm.inputs|length}}
#define BW_WORDS {{1 + words|length}}
enum bw_word {
    BW_START,
{% for word in algorithm.inputs %}
    BW_INPUT_{{word.name}},
{% endfor %}
{% for word in algorithm.outputs %}
    BW_OUTPUT_{{word.name}},
{% endfor %}
    BW_NO_WORD
};

/* The state in which a run starts, all inputs 0. */
void bw_start(uint8_t *state);

/* Puts the bits of a word into a state, or reads them, the lowest first. */
void bw_load(uint8_t *state, enum bw_word word, const uint8_t *bits);
void bw_read(const uint8_t *state, enum bw_word word, uint8_t *bits);

/* How many bits a word has, and whether they are two's complement. */
uint32_t bw_word_bits(enum bw_word word);
int bw_word_signed(enum bw_word word);

/* One step: the next state, by what the network says of every cell. */
void bw_step(const uint8_t *state, uint8_t *next);

/* Steps to the end; how many there were, or -1 if it did not end within BW_STEPS. `next` is room for a state. */
int32_t bw_run(uint8_t *state, uint8_t *next);
