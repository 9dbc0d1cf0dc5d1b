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
