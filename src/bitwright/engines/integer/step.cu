// One step by the rules, a warp for each state: which templates match, how many, and which bits they write.
//
// A template's literals are bits, the lowest bit of an entry saying whether it wants 1. INPUTS and COLUMNS are the bytes of a
// row of what is matched and of a state, both padded; WARPS are in a block.
typedef unsigned char u8; typedef long long i64;

extern "C" __global__ void step(
    const u8* __restrict__ states, const int* __restrict__ literal_start, const int* __restrict__ literals,
    const int* __restrict__ write_start, const int* __restrict__ writes,
    u8* __restrict__ matched, i64* __restrict__ n, u8* __restrict__ following, int count, int templates) {
  __shared__ u8 rows[WARPS][2][COLUMNS];
  int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  u8 *now = rows[warp][0], *next = rows[warp][1];
  for (int state = blockIdx.x * WARPS + warp; state < count; state += gridDim.x * WARPS) {
    for (int i = lane * 4; i < COLUMNS; i += 128) {
      *(unsigned*)(now + i) = *(const unsigned*)(states + (i64)state * COLUMNS + i);
      *(unsigned*)(next + i) = 0;
    }
    __syncwarp();
    int found = 0;
    for (int begin = 0; begin < INPUTS; begin += 32) {
      int template_ = begin + lane;
      bool on = template_ < templates;
      if (on)
        for (int i = literal_start[template_], end = literal_start[template_ + 1]; on && i < end; i++)
          on = now[literals[i] >> 1] == (literals[i] & 1);
      if (on)
        for (int i = write_start[template_], end = write_start[template_ + 1]; i < end; i++) next[writes[i]] = 1;
      if (template_ < INPUTS) matched[(i64)state * INPUTS + template_] = on;
      found += __popc(__ballot_sync(0xFFFFFFFF, on));
    }
    __syncwarp();
    for (int i = lane * 4; i < COLUMNS; i += 128)
      *(unsigned*)(following + (i64)state * COLUMNS + i) = *(unsigned*)(next + i);
    if (lane == 0) n[state] = found;
    __syncwarp();
  }
}
