// Scratch: arrays indexed at run time, more values alive than there are registers, calls with many
// arguments, recursion.
#include "prelude.h"

// An insertion sort of 24 values in a private array.
kernel void sort(global const uint *x, global uint *y) {
    uint a[24];
    int i = group_id() * 64 + local_id();
    for (int j = 0; j < 24; ++j) a[j] = x[24 * i + j];
    for (int j = 1; j < 24; ++j) {
        uint v = a[j];
        int k = j;
        for (; k > 0 && a[k - 1] > v; --k) a[k] = a[k - 1];
        a[k] = v;
    }
    for (int j = 0; j < 24; ++j) y[24 * i + j] = a[j];
}

// 96 values stay alive across a loop with room for about 32 vector registers.
__attribute__((amdgpu_num_vgpr(32)))
kernel void pressure(global const uint *x, global uint *y, int rounds) {
    uint a[96];
    int i = group_id() * 64 + local_id();
#pragma unroll
    for (int j = 0; j < 96; ++j) a[j] = x[i] * (2 * j + 1);
    for (int r = 0; r < rounds; ++r) {
#pragma unroll
        for (int j = 0; j < 96; ++j) a[j] = a[j] * 5 + a[(j + 1) % 96];
    }
    uint sum = 0;
#pragma unroll
    for (int j = 0; j < 96; ++j) sum = sum * 3 + a[j];
    y[i] = sum;
}

// Narrow and wide private elements, written and read by other widths.
kernel void bytes(global const uint *x, global uint *y) {
    int i = group_id() * 64 + local_id();
    volatile uchar b[40];
    volatile ushort h[20];
    volatile ulong w[5];
    for (int j = 0; j < 40; ++j) b[j] = (uchar)(x[i] >> (j % 32));
    for (int j = 0; j < 20; ++j) h[j] = (ushort)(b[2 * j] | b[(x[i] + j) % 40] << 8);
    for (int j = 0; j < 5; ++j) w[j] = (ulong)h[4 * j] << 32 | h[(x[i] >> 3) % 20];
    uint sum = 0;
    for (int j = 0; j < 5; ++j) sum = sum * 31 + (uint)(w[(x[i] + j) % 5] >> (x[i] % 24));
    y[i] = sum + (signed char)b[x[i] % 40] - (short)h[x[i] % 20];
}

// Twelve vectors of four do not fit the registers that arguments are passed in.
typedef uint four __attribute__((ext_vector_type(4)));
__attribute__((noinline)) static uint many(four a, four b, four c, four d, four e, four f, four g,
                                           four h, four i, uint j, ulong k, uchar l) {
    four s = a + b * 2u + c * 3u + d * 4u + e * 5u + f * 6u + g * 7u + h * 8u + i * 9u;
    return s.x ^ s.y ^ s.z ^ s.w ^ j ^ (uint)(k >> 5) ^ l;
}
kernel void arguments(global const uint *x, global uint *y) {
    int i = group_id() * 64 + local_id();
    four v = {x[i], x[i] + 1, x[i] + 2, x[i] + 3};
    y[i] = many(v, v + 1u, v + 2u, v + 3u, v + 4u, v + 5u, v + 6u, v + 7u, v + 8u, x[i] * 3,
                (ulong)x[i] * x[i], (uchar)x[i]);
}
