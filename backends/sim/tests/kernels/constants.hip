// Constants of two numbers that fit into an instruction, where the two are told apart.
#include "prelude.hip.h"

typedef short short2 __attribute__((ext_vector_type(2)));
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
typedef __bf16 bf2 __attribute__((ext_vector_type(2)));

template <typename T> __device__ static T as(uint word) { return __builtin_bit_cast(T, word); }
template <typename T> __device__ static uint word(T value) { return __builtin_bit_cast(uint, value); }

KERNEL packed(const uint *x, uint *y) {
    uint i = thread();
    short2 v = as<short2>(x[i]);
    y[4 * i] = word(short2(v + (short2){0, 0x4000}));
    y[4 * i + 1] = word(short2(v * (short2){0, 0x3f80}));
    y[4 * i + 2] = word(short2(v - (short2){0x3f80, 0}));
    half2 h = as<half2>(x[i]);
    y[4 * i + 3] = word(half2(h + (half2){1, 0}));
}

KERNEL dots(const uint *x, float *y) {
    uint i = thread();
    y[4 * i] = __builtin_amdgcn_fdot2(as<half2>(x[i]), (half2){1, 0}, 0.5f, false);
    y[4 * i + 1] = __builtin_amdgcn_fdot2(as<half2>(x[i]), (half2){0, -4}, 2, false);
    bf2 one = as<bf2>(0x3f80u);
    y[4 * i + 2] = __builtin_amdgcn_fdot2_f32_bf16(as<bf2>(x[i]), one, 0.5f, false);
#ifdef __GFX9__
    y[4 * i + 3] = 0;
#else
    y[4 * i + 3] = __builtin_amdgcn_fdot2_f16_f16(as<half2>(x[i]), (half2){1, 0}, (_Float16)2);
#endif
}
