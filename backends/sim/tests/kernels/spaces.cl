// Generic pointers: the same code reads and writes global memory, LDS and scratch, by pointers
// chosen at run time.
#include "prelude.h"

__attribute__((noinline)) static uint touch(uint *p, int n, uint seed) {
    uint sum = 0;
    for (int i = 0; i < n; ++i) {
        sum = sum * 7 + p[i];
        p[i] = sum ^ seed;
    }
    return sum;
}

// Each work-item picks the space by its number; lanes of one wave differ.
kernel void any_space(global uint *x, global uint *y) {
    local uint shared[64 * 4];
    uint own[4];
    int l = local_id();
    for (int j = 0; j < 4; ++j) {
        shared[4 * l + j] = 100 * l + j;
        own[j] = 1000 * l + j;
    }
    BARRIER();
    uint *p = l % 3 == 0 ? (uint *)(x + 4 * l) : l % 3 == 1 ? (uint *)(shared + 4 * l) : (uint *)own;
    uint sum = touch(p, 4, l);
    BARRIER();
    for (int j = 0; j < 4; ++j) sum = sum * 3 + x[4 * l + j] + shared[4 * l + j] + own[j];
    y[l] = sum;
}

// Which space a generic pointer is of, found from its bits.
kernel void kinds(global uint *x, global uint *y) {
    local uint shared[64];
    volatile uint own[2] = {1, 2};
    int l = local_id();
    shared[l] = l;
    BARRIER();
    uint *p = l % 3 == 0 ? (uint *)(x + l) : l % 3 == 1 ? (uint *)(shared + l) : (uint *)own;
    uint kind = __builtin_amdgcn_is_shared(p) ? 1 : __builtin_amdgcn_is_private(p) ? 2 : 0;
    y[l] = kind;
}

// Bytes, halves and wide vectors through generic pointers, and an atomic.
typedef uint four __attribute__((ext_vector_type(4)));
kernel void widths(global uint *x, global uint *y) {
    local four shared[64];
    int l = local_id();
    shared[l] = (four)(l);
    BARRIER();
    four *p = l & 1 ? (four *)(x + 4 * l) : (four *)(shared + l);
    uchar *bytes = (uchar *)p;
    bytes[5] = (uchar)(l + 3);
    ((ushort *)p)[4] = (ushort)(l * 257);
    four v = *p;
    *p = v.wzyx;
    __opencl_atomic_fetch_add((atomic_uint *)p, 5u, memory_order_relaxed,
                              memory_scope_work_group);
    BARRIER();
    v = *p;
    y[l] = v.x ^ v.y * 3 ^ v.z * 5 ^ v.w * 7 ^ (uint)((signed char *)p)[6] ^ ((short *)p)[3];
}
