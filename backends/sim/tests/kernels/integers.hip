// Integer arithmetic that has no instruction of its own: divisions of 64 and 32 bits, 128-bit
// products, bit counts, rotations, saturation, byte swaps.
#include "prelude.hip.h"

// Per thread: quotient and remainder, unsigned then signed.
KERNEL divide64(const u64 *x, const u64 *y, u64 *z) {
    uint i = block() * block_size() + thread();
    u64 a = x[i], b = y[i];
    z[4 * i] = a / b;
    z[4 * i + 1] = a % b;
    z[4 * i + 2] = (i64)a / (i64)b;
    z[4 * i + 3] = (i64)a % (i64)b;
}

KERNEL divide32(const uint *x, const uint *y, uint *z) {
    uint i = block() * block_size() + thread();
    uint a = x[i], b = y[i];
    z[6 * i] = a / b;
    z[6 * i + 1] = a % b;
    z[6 * i + 2] = (int)a / (int)b;
    z[6 * i + 3] = (int)a % (int)b;
    z[6 * i + 4] = (unsigned short)a / ((unsigned short)b | 1);
    z[6 * i + 5] = (signed char)a / ((signed char)b | 1);
}

// Scalar operands: every thread divides by the same number.
KERNEL divide_uniform(const u64 *x, u64 *z, u64 by, uint small) {
    uint i = block() * block_size() + thread();
    z[3 * i] = x[i] / by;
    z[3 * i + 1] = (uint)x[i] % small;
    z[3 * i + 2] = by / small + (i64)by % 1000003;
}

KERNEL bits(const u64 *x, const u64 *y, u64 *z) {
    uint i = block() * block_size() + thread();
    u64 a = x[i], b = y[i];
    uint c = (uint)a, d = (uint)b;
    u64 *out = z + 12 * i;
    unsigned __int128 product = (unsigned __int128)a * b;
    out[0] = (u64)(product >> 64);
    out[1] = (u64)(((__int128)(i64)a * (i64)b) >> 64);
    out[2] = __builtin_popcountll(a) | (u64)__builtin_popcount(d) << 32;
    out[3] = a ? __builtin_clzll(a) | (u64)__builtin_ctzll(a) << 32 : 64;
    out[4] = c ? __builtin_clz(c) | (u64)__builtin_ctz(c) << 32 : 32;
    out[5] = __builtin_bitreverse64(a);
    // LLVM 22 loses half of a 64-bit swap on gfx11 when it does not optimise.
    u64 swapped = (u64)__builtin_bswap32(c) << 32 | __builtin_bswap32((uint)(a >> 32));
    out[6] = swapped ^ __builtin_bswap32(d);
    out[7] = __builtin_rotateleft64(a, b & 63) ^ __builtin_rotateright32(c, d & 31);
    out[8] = __builtin_elementwise_add_sat(c, d) | (u64)__builtin_elementwise_sub_sat(c, d) << 32;
    out[9] = (uint)__builtin_elementwise_add_sat((int)c, (int)d) |
             (u64)(uint)__builtin_elementwise_sub_sat((int)c, (int)d) << 32;
    out[10] = ((i64)a >> (b & 63)) ^ (a << (d & 63)) ^ (a >> (c & 63));
    out[11] = (a < b) | ((i64)a < (i64)b) << 1 | (a == b) << 2 | ((u64)(c > d ? c - d : d - c) << 8);
}
