// G = relu(matched first) last in integers, on the tensor cores of Hopper chips (sm_90a).
//
// A block of threads takes 128 states, 64 for each of two warp groups, and all hidden units in turn; a third group brings
// the weights. Hidden values never leave the registers: what the first product leaves in a thread is, after relu, just
// what the second one wants from it, once the units are stored in the right order (tensor_cores.py). A hidden value has
// two digits of 8 bits. For 128 units at a time first all higher digits are added to the totals without their lowest
// byte, which waits aside; then the totals are shifted back and the lower digits are added. Every number fits 32 bits.
//
// SLABS: examples / 32. OUT: outputs of a tile. STAGES: blocks of 128 units that wait in shared memory.
typedef unsigned char u8; typedef unsigned u32; typedef unsigned long long u64; typedef long long i64;
#define UNITS 64                                   // hidden units in a chunk; a block holds two chunks
#define FIRST (SLABS * UNITS * 32)                 // bytes of a chunk's first layer: slabs of 32 examples
#define LAST (OUT * 32)                            // bytes of the last layer of 32 units
#define STAGE (2 * FIRST + 4 * LAST)
#define STATES 64                                  // of a warp group
#define TILE (SLABS * STATES * 32)                 // bytes of what they match

@PRODUCTS@
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory"); }
__device__ __forceinline__ void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory"); }
// Core matrices of 8 rows of 16 bytes; the two halves of a slab are 128 bytes apart, groups of 8 rows 256.
__device__ __forceinline__ u64 descriptor(u32 address) {
  return (u64)((address & 0x3FFFF) >> 4) | (u64)(128 >> 4) << 16 | (u64)(256 >> 4) << 32;
}
__device__ __forceinline__ void barrier_init(u32 at, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" :: "r"(at), "r"(count));
}
__device__ __forceinline__ void barrier_arrive(u32 at) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" :: "r"(at) : "memory");
}
__device__ __forceinline__ void barrier_expect(u32 at, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" :: "r"(at), "r"(bytes) : "memory");
}
__device__ __forceinline__ void barrier_wait(u32 at, int phase) {
  asm volatile("{ .reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra done;\nbra again;\ndone: }\n"
    :: "r"(at), "r"(phase) : "memory");
}
__device__ __forceinline__ void copy(u32 to, const u8* from, int bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n"
    :: "r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}

// relu, then two digits of 8 bits: the order of a thread's hidden values is that in which the last layer is stored.
__device__ __forceinline__ void digits(int (&s)[32], u32 (&low)[8], u32 (&high)[8]) {
#pragma unroll
  for (int i = 0; i < 32; i++) s[i] = max(s[i], 0);
#pragma unroll
  for (int i = 0; i < 8; i++) {
    int at = (i >> 1) * 8 + (i & 1) * 2;           // i: row and row + 8 in turn, then the next 16 units
    u32 a = __byte_perm(s[at], s[at + 1], 0x5140), b = __byte_perm(s[at + 4], s[at + 5], 0x5140);
    low[i] = __byte_perm(a, b, 0x5410);
    high[i] = __byte_perm(a, b, 0x7632);
  }
}
// total = 256 (total >> 8) + lowest byte; the bytes wait while higher digits are added to the rest.
__device__ __forceinline__ void put_aside(int (&total)[OUT / 2], u32 (&bytes)[OUT / 8]) {
#pragma unroll
  for (int i = 0; i < OUT / 8; i++)
    asm volatile("{ .reg .b32 a, b;\nprmt.b32 a, %0, %1, 0x0040;\nprmt.b32 b, %2, %3, 0x0040;\nprmt.b32 %4, a, b, 0x5410;\n"
      "shr.s32 %0, %0, 8;\nshr.s32 %1, %1, 8;\nshr.s32 %2, %2, 8;\nshr.s32 %3, %3, 8; }\n"
      : "+r"(total[4 * i]), "+r"(total[4 * i + 1]), "+r"(total[4 * i + 2]), "+r"(total[4 * i + 3]), "=r"(bytes[i]));
}
__device__ __forceinline__ void take_back(int (&total)[OUT / 2], const u32 (&bytes)[OUT / 8]) {
#pragma unroll
  for (int i = 0; i < OUT / 8; i++)
    asm volatile("prmt.b32 %0, %0, %4, 0x2104;\nprmt.b32 %1, %1, %4, 0x2105;\nprmt.b32 %2, %2, %4, 0x2106;\nprmt.b32 %3, %3, %4, 0x2107;\n"
      : "+r"(total[4 * i]), "+r"(total[4 * i + 1]), "+r"(total[4 * i + 2]), "+r"(total[4 * i + 3]) : "r"(bytes[i]));
}
__device__ __forceinline__ void first_products(int (&s)[32], u64 matches, u64 weights) {
#pragma unroll
  for (int k = 0; k < SLABS; k++)
    first_product(s, matches + k * (STATES * 32 >> 4), weights + k * (UNITS * 32 >> 4), k > 0);
}
__device__ __forceinline__ void second_products(int (&total)[OUT / 2], const u32 (&digit)[8], u64 weights) {
  second_product(total, digit[0], digit[1], digit[2], digit[3], weights, 1);
  second_product(total, digit[4], digit[5], digit[6], digit[7], weights + (LAST >> 4), 1);
}

extern "C" __global__ void __launch_bounds__(384, 1) sums(
    const u8* __restrict__ matched, const u8* __restrict__ weights, const i64* __restrict__ n,
    const u8* __restrict__ truth, const int* __restrict__ thresholds, int* __restrict__ found,
    int count, int stages, int columns, int judge) {
  extern __shared__ __align__(1024) u8 shared[];
  __shared__ u64 barriers[2 * STAGES];
  u32 base = (u32)__cvta_generic_to_shared(shared), full = (u32)__cvta_generic_to_shared(barriers);
  u32 empty = full + 8 * STAGES;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; i++) { barrier_init(full + 8 * i, 1); barrier_init(empty + 8 * i, 2); }
    asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
  }
  __syncthreads();
  int tiles = (count + 2 * STATES - 1) / (2 * STATES);
  int group = threadIdx.x / 128 - 1;
  weights += (i64)blockIdx.y * stages * STAGE;
  if (group < 0) {                                 // brings the weights, again for every tile
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;\n");
    if (threadIdx.x == 0) {
      int slot = 0, phase = 1;
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
        for (int stage = 0; stage < stages; stage++) {
          barrier_wait(empty + 8 * slot, phase);
          barrier_expect(full + 8 * slot, STAGE);
          copy(base + slot * STAGE, weights + (i64)stage * STAGE, STAGE, full + 8 * slot);
          if (++slot == STAGES) slot = 0, phase ^= 1;
        }
    }
  } else {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;\n");
  int thread = threadIdx.x & 127, lane = thread & 31, quarter = lane & 3;
  u32 mine = base + STAGES * STAGE + group * TILE;
  u8* mine_plain = shared + STAGES * STAGE + group * TILE;
  u64 matches = descriptor(mine);
  int slot = 0, phase = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    int begin = tile * 2 * STATES + group * STATES;
    for (int i = thread; i < STATES * SLABS * 2; i += 128) {
      int row = i / (SLABS * 2), piece = i % (SLABS * 2);
      uint4 some = begin + row < count ? *(const uint4*)(matched + (i64)(begin + row) * (SLABS * 32) + piece * 16)
                                       : make_uint4(0, 0, 0, 0);
      *(uint4*)(mine_plain + (piece >> 1) * (STATES * 32) + (row >> 3) * 256 + (piece & 1) * 128 + (row & 7) * 16) = some;
    }
    asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
    if (group) asm volatile("bar.sync 2, 128;\n" ::: "memory");
    else asm volatile("bar.sync 1, 128;\n" ::: "memory");
    int total[OUT / 2], s[32];
    u32 low[8], more_low[8], high[8], bytes[OUT / 8];
#pragma unroll
    for (int i = 0; i < OUT / 2; i++) total[i] = 0;
    barrier_wait(full + 8 * slot, phase);
    wgmma_fence();
    first_products(s, matches, descriptor(base + slot * STAGE));
    wgmma_commit();
    wgmma_wait();
#pragma unroll
    for (int i = 0; i < OUT / 8; i++) bytes[i] = 0;
    for (int stage = 0; stage < stages; stage++) {
      u64 here = descriptor(base + slot * STAGE), last = here + (2 * FIRST >> 4);
      u32 done = empty + 8 * slot;
      digits(s, low, high);

      wgmma_fence();
      second_products(total, high, last);
      first_products(s, matches, here + (FIRST >> 4));
      wgmma_commit();
      wgmma_wait();
      digits(s, more_low, high);
      wgmma_fence();
      second_products(total, high, last + (2 * LAST >> 4));
      wgmma_commit();
      if (++slot == STAGES) slot = 0, phase ^= 1;
      wgmma_wait();
      take_back(total, bytes);
      wgmma_fence();
      second_products(total, low, last);
      second_products(total, more_low, last + (2 * LAST >> 4));
      if (stage + 1 < stages) {
        barrier_wait(full + 8 * slot, phase);
        first_products(s, matches, descriptor(base + slot * STAGE));
      }
      wgmma_commit();
      wgmma_wait();
      if (thread == 0) barrier_arrive(done);
      if (stage + 1 < stages) put_aside(total, bytes);
    }
    int row = begin + (thread >> 5) * 16 + (lane >> 2), column = blockIdx.y * OUT + 2 * quarter;
#pragma unroll
    for (int half = 0; half < 2; half++, row += 8) {
      bool there = row < count;
      if (judge) {
        i64 matches_n = there ? n[row] : 0;
        int smallest = 0x7FFFFFFF;
#pragma unroll
        for (int j = 0; j < OUT / 8; j++)
#pragma unroll
          for (int e = 0; e < 2; e++) {
            int at = column + 8 * j + e, g = total[4 * j + 2 * half + e];
            int threshold = thresholds[matches_n * columns + at];
            bool wanted = there && truth[(i64)row * columns + at];
            smallest = min(smallest, wanted ? g - threshold : threshold + 1 - g);
          }
        smallest = min(smallest, __shfl_xor_sync(0xFFFFFFFF, smallest, 1));
        smallest = min(smallest, __shfl_xor_sync(0xFFFFFFFF, smallest, 2));
        if (there && quarter == 0) atomicMin(found + row, smallest);
      } else if (there) {
#pragma unroll
        for (int j = 0; j < OUT / 8; j++) {
          int* to = found + (i64)row * columns + column + 8 * j;
          to[0] = total[4 * j + 2 * half];
          to[1] = total[4 * j + 2 * half + 1];
        }
      }
    }
  }
  }
}
