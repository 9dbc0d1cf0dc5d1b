// Atomic operations on global memory and LDS, with and without the old value, of 32 and 64 bits.
#include "prelude.h"
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#define G32(p) (volatile global atomic_uint *)(p)
#define GI32(p) (volatile global atomic_int *)(p)
#define G64(p) (volatile global atomic_ulong *)(p)
#define GI64(p) (volatile global atomic_long *)(p)
#define L32(p) (volatile local atomic_uint *)(p)
#define L64(p) (volatile local atomic_ulong *)(p)
#define HOW memory_order_relaxed, memory_scope_device

// Every work-item of the grid on the same ten words.
kernel void words(global const uint *x, global uint *y) {
    uint v = x[group_id() * group_size() + local_id()];
    __opencl_atomic_fetch_add(G32(y), v, HOW);
    __opencl_atomic_fetch_sub(G32(y + 1), v, HOW);
    __opencl_atomic_fetch_min(G32(y + 2), v, HOW);
    __opencl_atomic_fetch_max(G32(y + 3), v, HOW);
    __opencl_atomic_fetch_min(GI32(y + 4), (int)v, HOW);
    __opencl_atomic_fetch_max(GI32(y + 5), (int)v, HOW);
    __opencl_atomic_fetch_and(G32(y + 6), v | 0xf0000000, HOW);
    __opencl_atomic_fetch_or(G32(y + 7), v & 0x0f0f0f0f, HOW);
    __opencl_atomic_fetch_xor(G32(y + 8), v, HOW);
    // The sum again, by comparing and swapping.
    uint old = __opencl_atomic_load(G32(y + 9), HOW);
    while (!__opencl_atomic_compare_exchange_weak(G32(y + 9), &old, old + v, memory_order_relaxed,
                                                  HOW)) {
    }
}

kernel void longs(global const ulong *x, global ulong *y) {
    ulong v = x[group_id() * group_size() + local_id()];
    __opencl_atomic_fetch_add(G64(y), v, HOW);
    __opencl_atomic_fetch_sub(G64(y + 1), v, HOW);
    __opencl_atomic_fetch_min(G64(y + 2), v, HOW);
    __opencl_atomic_fetch_max(G64(y + 3), v, HOW);
    __opencl_atomic_fetch_min(GI64(y + 4), (long)v, HOW);
    __opencl_atomic_fetch_max(GI64(y + 5), (long)v, HOW);
    __opencl_atomic_fetch_and(G64(y + 6), v | 0xf000000000000000, HOW);
    __opencl_atomic_fetch_or(G64(y + 7), v & 0x0f0f0f0f0f0f0f0f, HOW);
    __opencl_atomic_fetch_xor(G64(y + 8), v, HOW);
    ulong old = __opencl_atomic_load(G64(y + 9), HOW);
    while (!__opencl_atomic_compare_exchange_weak(G64(y + 9), &old, old + v, memory_order_relaxed,
                                                  HOW)) {
    }
}

// Every work-item draws a ticket and leaves a mark at its place; exchanged words go round.
kernel void tickets(global uint *counter, global uint *taken, global ulong *wide,
                    global uint *round) {
    uint mine = __opencl_atomic_fetch_add(G32(counter), 1, HOW);
    taken[mine] = group_id() * group_size() + local_id();
    ulong old = __opencl_atomic_fetch_add(G64(wide), 0x100000001, HOW);
    round[1 + mine] = (uint)(old >> 32) == (uint)old;
    __opencl_atomic_exchange(G32(round), mine, HOW);
}

// Sums of small whole numbers are exact in any order.
kernel void floats(global const float *x, global float *y) {
    float v = x[group_id() * group_size() + local_id()];
    __opencl_atomic_fetch_add((volatile global atomic_float *)y, v, HOW);
    __opencl_atomic_fetch_add((volatile global atomic_float *)(y + 1 + local_id() % 4), v, HOW);
}

// Pairs of words, where the chip has no such addition a loop around a compare-and-swap. What the
// workgroup stores beside it and the barriers between must not matter.
kernel void doubles(global const float *x, global double *y, global double *own) {
    double v = x[group_id() * group_size() + local_id()];
    own[group_id() * group_size() + local_id()] = v;
    BARRIER();
    __opencl_atomic_fetch_add((volatile global atomic_double *)y, v, HOW);
    __opencl_atomic_fetch_add((volatile global atomic_double *)(y + 1 + group_id()), v, HOW);
    BARRIER();
    __opencl_atomic_fetch_add((volatile global atomic_double *)y, v, HOW);
    __opencl_atomic_fetch_add((volatile global atomic_double *)(y + 4 + local_id() % 4), v, HOW);
}

// The same operations on LDS, then written out.
kernel void shared_words(global const uint *x, global uint *y, global ulong *w) {
    local uint part[10];
    local ulong wide[4];
    local float real;
    int l = local_id();
    uint v = x[group_id() * group_size() + l];
    if (l < 10) part[l] = l == 2 || l == 6 ? 0xffffffff : 0;
    if (l < 4) wide[l] = l;
    if (l == 0) real = 0;
    BARRIER();
    __opencl_atomic_fetch_add(L32(part), v, HOW);
    __opencl_atomic_fetch_sub(L32(part + 1), v, HOW);
    __opencl_atomic_fetch_min(L32(part + 2), v, HOW);
    __opencl_atomic_fetch_max(L32(part + 3), v, HOW);
    __opencl_atomic_fetch_min((volatile local atomic_int *)(part + 4), (int)v, HOW);
    __opencl_atomic_fetch_max((volatile local atomic_int *)(part + 5), (int)v, HOW);
    __opencl_atomic_fetch_and(L32(part + 6), v | 0xf0000000, HOW);
    __opencl_atomic_fetch_or(L32(part + 7), v & 0x0f0f0f0f, HOW);
    __opencl_atomic_fetch_xor(L32(part + 8), v, HOW);
    // A guess to start from: an atomic load of LDS is no other instruction than a plain one.
    uint old = 0;
    while (!__opencl_atomic_compare_exchange_weak(L32(part + 9), &old, old + v,
                                                  memory_order_relaxed, HOW)) {
    }
    __opencl_atomic_fetch_add(L64(wide), (ulong)v << 7, HOW);
    __opencl_atomic_fetch_max(L64(wide + 1), (ulong)v << 9, HOW);
    __opencl_atomic_fetch_xor(L64(wide + 2), (ulong)v << 31, HOW);
    ulong before = 0;
    while (!__opencl_atomic_compare_exchange_weak(L64(wide + 3), &before, before + v,
                                                  memory_order_relaxed, HOW)) {
    }
    __opencl_atomic_fetch_add((volatile local atomic_float *)&real, (float)(v & 15), HOW);
    BARRIER();
    if (l < 10) y[group_id() * 11 + l] = part[l];
    if (l == 10) y[group_id() * 11 + l] = as_bits(real);
    if (l < 4) w[group_id() * 4 + l] = wide[l];
}
