/* A run makes exactly BW_STEPS steps. */
int32_t bw_run(uint8_t *state, uint8_t *next)
{
    int32_t steps;
    for (steps = 0; steps < BW_STEPS; steps++) {
        bw_step(state, next);
        bw_copy(next, state);
    }
    return steps;
}
