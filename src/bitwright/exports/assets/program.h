/* A state is BW_BITS bytes, each 0 or 1. Words are the numbers in it: inputs, then outputs. */
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

/* Sets the start state of a run, with all inputs 0. */
void bw_start(uint8_t *state);

/* Writes or reads the bits of a word in a state, lowest first. */
void bw_load(uint8_t *state, enum bw_word word, const uint8_t *bits);
void bw_read(const uint8_t *state, enum bw_word word, uint8_t *bits);

/* The number of bits of a word, and whether it is in two's complement. */
uint32_t bw_word_bits(enum bw_word word);
int bw_word_signed(enum bw_word word);

/* Makes one step: evaluates the network in every cell and writes the next state. */
void bw_step(const uint8_t *state, uint8_t *next);

/* Runs to the end; returns the number of steps, or -1 if BW_STEPS were not enough. `next` is a buffer for a state. */
int32_t bw_run(uint8_t *state, uint8_t *next);
