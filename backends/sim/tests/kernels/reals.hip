// Real arithmetic that has no instruction of its own: divisions and square roots of f32 and f64
// that are rounded correctly, remainders, conversions to and from 64-bit integers.
#include "prelude.hip.h"

KERNEL divide_f32(const float *x, const float *y, float *z) {
    uint i = block() * block_size() + thread();
    z[3 * i] = x[i] / y[i];
    z[3 * i + 1] = __builtin_sqrtf(x[i]);
    z[3 * i + 2] = 1.0f / y[i];
}

KERNEL divide_f64(const double *x, const double *y, double *z) {
    uint i = block() * block_size() + thread();
    z[4 * i] = x[i] / y[i];
    z[4 * i + 1] = __builtin_sqrt(x[i]);
    z[4 * i + 2] = __builtin_fma(x[i], y[i], -x[i]);
    z[4 * i + 3] = x[i] * y[i] + (x[i] - y[i]);
}

KERNEL divide_f16(const _Float16 *x, const _Float16 *y, _Float16 *z) {
    uint i = block() * block_size() + thread();
    z[3 * i] = x[i] / y[i];
    z[3 * i + 1] = __builtin_sqrtf16(x[i]);
    z[3 * i + 2] = x[i] * y[i] + x[i];
}

// Roundings of f32 and f64, as f32 and f64.
KERNEL round_f32(const float *x, float *z) {
    uint i = block() * block_size() + thread();
    float *out = z + 8 * i, v = x[i];
    out[0] = __builtin_floorf(v);
    out[1] = __builtin_ceilf(v);
    out[2] = __builtin_truncf(v);
    out[3] = __builtin_rintf(v);
    out[4] = __builtin_roundf(v);
    out[5] = v - __builtin_floorf(v);
    out[6] = __builtin_copysignf(1.5f, v);
    out[7] = __builtin_fabsf(-v);
}

// Conversions; the inputs lie in the range of the results.
KERNEL convert(const float *x, const double *d, const i64 *n, i64 *whole, float *f, double *g) {
    uint i = block() * block_size() + thread();
    whole[4 * i] = (i64)x[i];
    whole[4 * i + 1] = (i64)d[i];
    whole[4 * i + 2] = (i64)(u64)__builtin_fabs(d[i]);
    whole[4 * i + 3] = (int)x[i];
    f[3 * i] = (float)n[i];
    f[3 * i + 1] = (float)(u64)n[i];
    f[3 * i + 2] = (float)d[i];
    g[3 * i] = (double)n[i];
    g[3 * i + 1] = (double)(u64)n[i];
    g[3 * i + 2] = (double)x[i];
}

typedef float float4 __attribute__((ext_vector_type(4)));
typedef short short4 __attribute__((ext_vector_type(4)));
typedef unsigned short ushort4 __attribute__((ext_vector_type(4)));

// Vectors of shorts; the inputs lie in the range of the results.
KERNEL shorts(const float4 *x, const float4 *y, short4 *z, ushort4 *w) {
    uint i = block() * block_size() + thread();
    z[i] = __builtin_convertvector(x[i], short4);
    w[i] = __builtin_convertvector(y[i], ushort4);
}

// Halves and floats that are the same in all threads.
KERNEL uniform(const uint *__restrict x, const uint *__restrict y, float *__restrict z, uint *__restrict flags) {
#pragma clang fp contract(off)
    uint i = block();
    typedef _Float16 half2 __attribute__((ext_vector_type(2)));
    half2 p = __builtin_bit_cast(half2, x[i]), q = __builtin_bit_cast(half2, y[i]);
    _Float16 a = p[0], b = q[0], c = q[1];
    float *out = z + 12 * i;
    out[0] = (float)(_Float16)(a + b);
    out[1] = (float)(_Float16)((_Float16)(a * b) - c);
    out[2] = (float)__builtin_fmaf16(a, b, c);
    out[3] = (float)(_Float16)(__builtin_floorf16(a) + __builtin_ceilf16(b));
    out[4] = (float)(_Float16)(__builtin_truncf16(a) - __builtin_rintf16(b));
    out[5] = (float)(_Float16)(__builtin_fminf16(a, b) + c);
    out[6] = (float)(_Float16)(__builtin_fmaxf16(a, b) + c);
    out[7] = (float)c * (float)p[1];
    out[8] = (float)(_Float16)((float)a * (float)b + (float)c);
    out[9] = __builtin_fmaf((float)a, (float)b, 0.5f);
    out[10] = __builtin_fminf((float)a * 3.0f, (float)b);
    out[11] = __builtin_rintf((float)c * 0.5f) + 1.0f;
    float u = (float)a * 2.0f, v = (float)b * 2.0f;
    flags[i] = (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | !(a < b) << 4 |
               !(a <= b) << 5 | __builtin_isunordered(a, b) << 6 | !__builtin_islessgreater(a, b) << 7 |
               (u < v) << 8 | (u <= v) << 9 | (u == v) << 10 | (u != v) << 11 | !(u < v) << 12 |
               !(u <= v) << 13 | __builtin_isunordered(u, v) << 14 |
               !__builtin_islessgreater(u, v) << 15;
}
