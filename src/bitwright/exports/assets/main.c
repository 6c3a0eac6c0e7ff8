#ifdef BW_MAIN
/* Takes decimal inputs in the order of enum bw_word from the arguments or, without arguments, from standard input, where
   each group is a run with its outputs on one line. Exit code 1: a run did not end; 2: invalid number. */
#include <stdio.h>

/* Converts decimal text to bits; returns 0 if it is not a number or does not fit. */
static int bw_from_decimal(const char *text, uint8_t *bits, uint32_t count, int is_signed)
{
    const int negative = is_signed && *text == '-';
    uint32_t i;
    text += negative;
    for (i = 0; i < count; i++)
        bits[i] = 0;
    if (*text == 0)
        return 0;
    for (; *text; text++) {
        uint32_t carry;
        if (*text < '0' || *text > '9')
            return 0;
        carry = (uint32_t)(*text - '0');
        for (i = 0; i < count; i++) {
            carry += bits[i] * (uint32_t)10;
            bits[i] = (uint8_t)(carry & 1);
            carry >>= 1;
        }
        if (carry)
            return 0;
    }
    if (negative) { /* two's complement: invert, add 1 */
        uint32_t carry = 1;
        for (i = 0; i < count; i++) {
            carry += !bits[i];
            bits[i] = (uint8_t)(carry & 1);
            carry >>= 1;
        }
        return carry || bits[count - 1];
    }
    return !(is_signed && bits[count - 1]);
}

static void bw_print(uint8_t *bits, uint32_t count, int is_signed)
{
    static char digits[BW_MOST_DIGITS]; /* lowest first */
    uint32_t used = 1, at = count, i;
    if (is_signed && bits[count - 1]) {
        uint32_t carry = 1;
        for (i = 0; i < count; i++) {
            carry += !bits[i];
            bits[i] = (uint8_t)(carry & 1);
            carry >>= 1;
        }
        putchar('-');
    }
    digits[0] = 0;
    while (at-- > 0) {
        uint32_t carry = bits[at];
        for (i = 0; i < used; i++) {
            carry += (uint32_t)digits[i] * 2;
            digits[i] = (char)(carry % 10);
            carry /= 10;
        }
        if (carry)
            digits[used++] = (char)carry;
    }
    while (used-- > 0)
        putchar('0' + digits[used]);
}

/* Reads the next number from standard input; returns 0 at the end, -1 if it is too long for any input. */
static int bw_next_number(char *text, size_t room)
{
    size_t length = 0;
    int character = getchar();
    while (character == ' ' || character == '\n' || character == '\r' || character == '\t')
        character = getchar();
    for (; character != EOF && character != ' ' && character != '\n' && character != '\r' && character != '\t';
         character = getchar()) {
        if (length + 1 == room)
            return -1;
        text[length++] = (char)character;
    }
    text[length] = 0;
    return length > 0;
}

static int bw_take(uint8_t *state, enum bw_word word, const char *text)
{
    static uint8_t bits[BW_MOST_WORD];
    if (!bw_from_decimal(text, bits, bw_word_bits(word), bw_word_signed(word))) {
        fprintf(stderr, "%s must be an integer of %lu bits%s in decimal digits\n", bw_names[word],
                (unsigned long)bw_word_bits(word), bw_word_signed(word) ? ", two's complement," : "");
        return 0;
    }
    bw_load(state, word, bits);
    return 1;
}

static int bw_finish(uint8_t *state, int with_names)
{
    static uint8_t next[BW_BITS], bits[BW_MOST_WORD];
    unsigned word;
    if (bw_run(state, next) < 0) {
        fprintf(stderr, "the run did not end within %ld steps\n", (long)BW_STEPS);
        return 0;
    }
    for (word = BW_FIRST_OUTPUT; word < BW_WORDS; word++) {
        if (with_names)
            printf("%s = ", bw_names[word]);
        bw_read(state, (enum bw_word)word, bits);
        bw_print(bits, bw_word_bits((enum bw_word)word), bw_word_signed((enum bw_word)word));
        putchar(with_names || word + 1 == BW_WORDS ? '\n' : ' ');
    }
    return 1;
}

int main(int count, char **texts)
{
    static uint8_t state[BW_BITS];
    static char text[BW_MOST_DIGITS + 2];
    unsigned word;
    if (count > 1 || BW_FIRST_OUTPUT == 1) {
        bw_start(state);
        if (count != BW_FIRST_OUTPUT) {
            fprintf(stderr, "give %d number%s:", BW_FIRST_OUTPUT - 1, BW_FIRST_OUTPUT == 2 ? "" : "s");
            for (word = 1; word < BW_FIRST_OUTPUT; word++)
                fprintf(stderr, " %s", bw_names[word]);
            fputc('\n', stderr);
            return 2;
        }
        for (word = 1; word < BW_FIRST_OUTPUT; word++)
            if (!bw_take(state, (enum bw_word)word, texts[word]))
                return 2;
        return bw_finish(state, 1) ? 0 : 1;
    }
    for (;;) {
        bw_start(state);
        for (word = 1; word < BW_FIRST_OUTPUT; word++) {
            const int found = bw_next_number(text, sizeof text);
            if (found == 0 && word == 1)
                return 0;
            if (found < 0)
                text[0] = 0; /* not a number, so rejected below */
            if (!bw_take(state, (enum bw_word)word, text))
                return 2;
        }
        if (!bw_finish(state, 0))
            return 1;
    }
}
#endif
