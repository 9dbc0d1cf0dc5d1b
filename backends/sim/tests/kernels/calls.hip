// Calls: function pointers chosen by the data, recursion, virtual methods of an object in memory,
// results returned through memory.
#include "prelude.hip.h"

typedef uint (*Step)(uint, uint);
__device__ __noinline__ uint add(uint a, uint b) { return a + b; }
__device__ __noinline__ uint mix(uint a, uint b) { return (a ^ b) * 0x9e3779b1u; }
__device__ __noinline__ uint turn(uint a, uint b) { return a << (b & 31) | a >> (-b & 31); }
__device__ __noinline__ uint divide(uint a, uint b) { return a / (b | 1); }

// Lanes of one wave call different functions.
KERNEL pointers(const uint *x, uint *y) {
    uint i = block() * block_size() + thread();
    Step steps[4] = {add, mix, turn, divide};
    uint v = x[i];
    for (int j = 0; j < 4; ++j) v = steps[(v + i) & 3](v, x[i] + j);
    y[i] = v;
}

__device__ __noinline__ uint ackermann(uint m, uint n) {
    if (m == 0) return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

__device__ __noinline__ uint fibonacci(uint n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

KERNEL recursion(const uint *x, uint *y) {
    uint i = block() * block_size() + thread();
    y[i] = ackermann(x[i] % 3, x[i] % 4) * 1000 + fibonacci(x[i] % 10);
}

struct Big { uint v[12]; };
__device__ __noinline__ Big fill(uint seed) {
    Big big;
    for (int i = 0; i < 12; ++i) big.v[i] = seed * (i + 1);
    return big;
}

KERNEL structures(const uint *x, uint *y) {
    uint i = block() * block_size() + thread();
    Big big = fill(x[i]), other = big;
    other.v[x[i] % 12] += 7;
    uint sum = 0;
    for (int j = 0; j < 12; ++j) sum = sum * 5 + other.v[(j + x[i]) % 12] - big.v[j];
    y[i] = sum;
}
