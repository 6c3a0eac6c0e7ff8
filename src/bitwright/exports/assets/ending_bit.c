/* A run ends when this bit is on. */
#define BW_HALT {{halt}}

int32_t bw_run(uint8_t *state, uint8_t *next)
{
    int32_t steps;
    for (steps = 0; !state[BW_HALT]; steps++) {
        if (steps == BW_STEPS)
            return -1;
        bw_step(state, next);
        bw_copy(next, state);
    }
    return steps;
}
