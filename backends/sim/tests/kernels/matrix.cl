// GEMMs on the chip's matrix instructions, of every type that it multiplies.
#include "prelude.h"

typedef half half16v __attribute__((ext_vector_type(16)));
typedef half half8v __attribute__((ext_vector_type(8)));
typedef half half4v __attribute__((ext_vector_type(4)));
typedef short short16v __attribute__((ext_vector_type(16)));
typedef short short8v __attribute__((ext_vector_type(8)));
typedef short short4v __attribute__((ext_vector_type(4)));
typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef int int2v __attribute__((ext_vector_type(2)));
typedef int int4v __attribute__((ext_vector_type(4)));
typedef int int8v __attribute__((ext_vector_type(8)));
typedef int int16v __attribute__((ext_vector_type(16)));
typedef float float4v __attribute__((ext_vector_type(4)));
typedef float float8v __attribute__((ext_vector_type(8)));
typedef float float16v __attribute__((ext_vector_type(16)));
#define AS(type, x) __builtin_bit_cast(type, x)
#define RESULT(acc, r) acc[r]

#ifndef __GFX9__
#ifdef WAVE64
#define WAVE 64
#define COUNT 4
#define FLOATS float4v
#define INTS int4v
#else
#define WAVE 32
#define COUNT 8
#define FLOATS float8v
#define INTS int8v
#endif
#endif

#if defined(__GFX11__)
#define SIDE 16
#define PARTS 1
#ifdef WAVE64
#define ROW(r, part) (4 * (r) + (part))
#define WMMA(types) __builtin_amdgcn_wmma_##types##_w64
#define HALVES half8v
#else
#define ROW(r, part) (2 * (r) + (part))
#define WMMA(types) __builtin_amdgcn_wmma_##types##_w32
#define HALVES half16v
#endif

#define ACC FLOATS
#define OUT float
#define NAME matrix_f16
#define FRAGMENT f_f16
#define WORDS 8
#define MMA(a, b, acc) WMMA(f32_16x16x16_f16)(AS(half16v, a), AS(half16v, b), acc)
#include "matrix_tile.h"

#define NAME matrix_bf16
#define FRAGMENT f_bf16
#define WORDS 8
#define MMA(a, b, acc) WMMA(f32_16x16x16_bf16)(AS(short16v, a), AS(short16v, b), acc)
#include "matrix_tile.h"
#undef ACC
#undef OUT

// Results are the high halves of registers.
#define ACC HALVES
#define OUT half
#undef RESULT
#define RESULT(acc, r) acc[2 * (r) + 1]
#define NAME matrix_half
#define FRAGMENT f_half
#define WORDS 8
#define MMA(a, b, acc) WMMA(f16_16x16x16_f16)(AS(half16v, a), AS(half16v, b), acc, true)
#include "matrix_tile.h"
#undef ACC
#undef OUT
#undef RESULT
#define RESULT(acc, r) acc[r]

#define ACC INTS
#define OUT int
#define NAME matrix_i8
#define FRAGMENT f_i8
#define WORDS 4
#define MMA(a, b, acc) WMMA(i32_16x16x16_iu8)(true, AS(int4v, a), true, AS(int4v, b), acc, false)
#include "matrix_tile.h"

#define NAME matrix_u8
#define FRAGMENT f_u8
#define WORDS 4
#define MMA(a, b, acc) WMMA(i32_16x16x16_iu8)(false, AS(int4v, a), false, AS(int4v, b), acc, true)
#include "matrix_tile.h"

#define NAME matrix_i4
#define FRAGMENT f_i4
#define WORDS 2
#define MMA(a, b, acc) WMMA(i32_16x16x16_iu4)(true, AS(int2v, a), true, AS(int2v, b), acc, false)
#include "matrix_tile.h"
#endif

#if defined(__GFX12__)
#define SIDE 16
#ifdef WAVE64
#define PARTS 4
#define ROW(r, part) ((r) + 8 * ((part) % 2) + 4 * ((part) / 2))
#define WMMA(types) __builtin_amdgcn_wmma_##types##_w64_gfx12
#define HALVES half4v
#define SHORTS short4v
#define BYTES int
#else
#define PARTS 2
#define ROW(r, part) ((r) + 8 * (part))
#define WMMA(types) __builtin_amdgcn_wmma_##types##_w32_gfx12
#define HALVES half8v
#define SHORTS short8v
#define BYTES int2v
#endif
// Words of 16-bit elements, and of narrower ones.
#define WORDS16 (8 / PARTS)
#define WORDS8 (4 / PARTS)

#define ACC FLOATS
#define OUT float
#define NAME matrix_f16
#define FRAGMENT f_f16
#define WORDS WORDS16
#define MMA(a, b, acc) WMMA(f32_16x16x16_f16)(AS(HALVES, a), AS(HALVES, b), acc)
#include "matrix_tile.h"

#define NAME matrix_bf16
#define FRAGMENT f_bf16
#define WORDS WORDS16
#define MMA(a, b, acc) WMMA(f32_16x16x16_bf16)(AS(SHORTS, a), AS(SHORTS, b), acc)
#include "matrix_tile.h"

#define NAME matrix_fp8
#define FRAGMENT f_fp8
#define WORDS WORDS8
#define MMA(a, b, acc) WMMA(f32_16x16x16_fp8_fp8)(AS(BYTES, a), AS(BYTES, b), acc)
#include "matrix_tile.h"

#define NAME matrix_bf8
#define FRAGMENT f_bf8
#define WORDS WORDS8
#define MMA(a, b, acc) WMMA(f32_16x16x16_bf8_bf8)(AS(BYTES, a), AS(BYTES, b), acc)
#include "matrix_tile.h"
#undef ACC
#undef OUT

#define ACC HALVES
#define OUT half
#define NAME matrix_half
#define FRAGMENT f_half
#define WORDS WORDS16
#define MMA(a, b, acc) WMMA(f16_16x16x16_f16)(AS(HALVES, a), AS(HALVES, b), acc)
#include "matrix_tile.h"
#undef ACC
#undef OUT

#define ACC INTS
#define OUT int
#define NAME matrix_i8
#define FRAGMENT f_i8
#define WORDS WORDS8
#define MMA(a, b, acc) WMMA(i32_16x16x16_iu8)(true, AS(BYTES, a), true, AS(BYTES, b), acc, false)
#include "matrix_tile.h"

#define NAME matrix_u8
#define FRAGMENT f_u8
#define WORDS WORDS8
#define MMA(a, b, acc) WMMA(i32_16x16x16_iu8)(false, AS(BYTES, a), false, AS(BYTES, b), acc, true)
#include "matrix_tile.h"

#define NAME matrix_i4
#define FRAGMENT f_i4
#define WORDS WORDS8
#define MMA(a, b, acc) WMMA(i32_16x16x32_iu4)(true, AS(BYTES, a), true, AS(BYTES, b), acc, false)
#include "matrix_tile.h"
#endif

#if defined(__GFX9__)
#define WAVE 64
#define SIDE 16
#define PARTS 4
#define COUNT 4
#define ROW(r, part) ((r) + 4 * (part))

#define ACC float4v
#define OUT float
#define NAME matrix_f16
#define FRAGMENT f_f16
#define WORDS 4
#define MMA(a, b, acc) \
    __builtin_amdgcn_mfma_f32_16x16x32_f16(AS(half8v, a), AS(half8v, b), acc, 0, 0, 0)
#include "matrix_tile.h"

#define NAME matrix_bf16
#define FRAGMENT f_bf16
#define WORDS 4
#define MMA(a, b, acc) \
    __builtin_amdgcn_mfma_f32_16x16x32_bf16(AS(bf16x8, a), AS(bf16x8, b), acc, 0, 0, 0)
#include "matrix_tile.h"

#define NAME matrix_fp8
#define FRAGMENT f_fp8
#define WORDS 2
#define MMA(a, b, acc) \
    __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(AS(long, a), AS(long, b), acc, 0, 0, 0)
#include "matrix_tile.h"

#define NAME matrix_bf8
#define FRAGMENT f_bf8
#define WORDS 2
#define MMA(a, b, acc) \
    __builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8(AS(long, a), AS(long, b), acc, 0, 0, 0)
#include "matrix_tile.h"

// Scales of 2 and 1/4 for all blocks.
#define NAME matrix_scaled_fp8
#define FRAGMENT f_scaled_fp8
#define WORDS 8
#define MMA(a, b, acc) __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4( \
    AS(int8v, a), AS(int8v, b), acc, 0, 0, 0, 128, 0, 125)
#include "matrix_tile.h"
#undef ACC
#undef OUT

#define ACC int4v
#define OUT int
#define NAME matrix_i8
#define FRAGMENT f_i8
#define WORDS 4
#define MMA(a, b, acc) \
    __builtin_amdgcn_mfma_i32_16x16x64_i8(AS(int4v, a), AS(int4v, b), acc, 0, 0, 0)
#include "matrix_tile.h"
#undef ACC
#undef OUT
#undef SIDE
#undef PARTS
#undef COUNT
#undef ROW

#define SIDE 32
#define PARTS 2
#define COUNT 16
#define ROW(r, part) ((r) % 4 + (r) / 4 * 8 + 4 * (part))
#define ACC float16v
#define OUT float
#define NAME matrix_f16_32
#define FRAGMENT f_f16_32
#define WORDS 4
#define MMA(a, b, acc) \
    __builtin_amdgcn_mfma_f32_32x32x16_f16(AS(half8v, a), AS(half8v, b), acc, 0, 0, 0)
#include "matrix_tile.h"
#undef ACC
#undef OUT

#define ACC int16v
#define OUT int
#define NAME matrix_i8_32
#define FRAGMENT f_i8_32
#define WORDS 4
#define MMA(a, b, acc) \
    __builtin_amdgcn_mfma_i32_32x32x32_i8(AS(int4v, a), AS(int4v, b), acc, 0, 0, 0)
#include "matrix_tile.h"
#endif
