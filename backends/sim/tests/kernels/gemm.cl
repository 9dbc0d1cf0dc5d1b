// GEMMs on vector instructions: f32, dot products of f16 and int8, packed f16, and bf16 and fp8
// that are widened by hand.
#include "prelude.h"

typedef half pair __attribute__((ext_vector_type(2)));

#define NAME gemm_f32
#define UNIT float
#define ACC float
#define OUT float
#define MAC(a, b, acc) __builtin_fmaf(a, b, acc)
#define RESULT(acc) acc
#include "gemm_tile.h"

// Two of k a unit.
#define NAME gemm_f16_dot
#define UNIT pair
#define ACC float
#define OUT float
#define MAC(a, b, acc) __builtin_amdgcn_fdot2(a, b, acc, false)
#define RESULT(acc) acc
#include "gemm_tile.h"

// Even and odd k apart until the end.
#define NAME gemm_f16_packed
#define UNIT pair
#define ACC pair
#define OUT half
#define MAC(a, b, acc) __builtin_elementwise_fma(a, b, acc)
#define RESULT(acc) ((acc).x + (acc).y)
#include "gemm_tile.h"

// Four of k a unit.
#if defined(__GFX9__)
#define DOT4(a, b, acc) __builtin_amdgcn_sdot4(a, b, acc, false)
#else
#define DOT4(a, b, acc) __builtin_amdgcn_sudot4(true, a, true, b, acc, false)
#endif
#define NAME gemm_i8_dot
#define UNIT int
#define ACC int
#define OUT int
#define MAC(a, b, acc) DOT4(a, b, acc)
#define RESULT(acc) acc
#include "gemm_tile.h"

static float from_bf16(uint bits) { return as_real(bits << 16); }
static float bf16_mac(uint a, uint b, float acc) {
    acc = __builtin_fmaf(from_bf16(a & 0xffff), from_bf16(b & 0xffff), acc);
    return __builtin_fmaf(as_real(a & 0xffff0000), as_real(b & 0xffff0000), acc);
}
#define NAME gemm_bf16
#define UNIT uint
#define ACC float
#define OUT float
#define MAC(a, b, acc) bf16_mac(a, b, acc)
#define RESULT(acc) acc
#include "gemm_tile.h"

// E4M3 to f32: exponent and mantissa moved into place are 2^-120 of the value.
static float from_fp8(uint bits) {
    return as_real((bits & 0x80) << 24 | (bits & 0x7f) << 20) * 0x1p120f;
}
static float fp8_mac(uint a, uint b, float acc) {
    for (int i = 0; i < 32; i += 8)
        acc = __builtin_fmaf(from_fp8(a >> i & 0xff), from_fp8(b >> i & 0xff), acc);
    return acc;
}
#define NAME gemm_fp8
#define UNIT uint
#define ACC float
#define OUT float
#define MAC(a, b, acc) fp8_mac(a, b, acc)
#define RESULT(acc) acc
#include "gemm_tile.h"
