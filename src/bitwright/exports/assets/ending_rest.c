/* A run ends when a step changes nothing; that step is not counted. */
int32_t bw_run(uint8_t *state, uint8_t *next)
{
    int32_t steps;
    for (steps = 0;; steps++) {
        uint32_t i = 0;
        bw_step(state, next);
        while (i < BW_BITS && state[i] == next[i])
            i++;
        if (i == BW_BITS)
            return steps;
        if (steps == BW_STEPS)
            return -1;
        bw_copy(next, state);
    }
}
