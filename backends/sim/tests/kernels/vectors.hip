// Vector kernels in HIP: addition with a ragged end, a strided loop over more elements than there
// are threads, wide accesses, and a structure passed by value.
#include "prelude.hip.h"

KERNEL vector_add(const float *x, const float *y, float *z, int n) {
    uint i = block() * block_size() + thread();
#ifdef BROKEN_INDEX
    z[i] = x[i] + y[i];
#else
    if (i < n) z[i] = x[i] + y[i];
#endif
}

// z = a x + y, by a loop that strides over the grid.
KERNEL axpy(const float *x, const float *y, float *z, float a, u64 n) {
    for (u64 i = block() * block_size() + thread(); i < n; i += grid_size() * block_size())
        z[i] = __builtin_fmaf(a, x[i], y[i]);
}

typedef float float4 __attribute__((ext_vector_type(4)));
struct Scale { float factor; u8 shift; double offset; short add[3]; };

KERNEL affine(const float4 *x, float4 *z, Scale scale) {
    uint i = block() * block_size() + thread();
    float4 v = x[i] * scale.factor + (float)scale.offset;
    for (int j = 0; j < 3; ++j) v[j] += scale.add[j] << scale.shift;
    z[i] = v;
}

// Bytes, signed bytes and shorts in, sums of neighbours out.
KERNEL narrow(const u8 *x, const signed char *y, const short *s, short *z, u8 *w, int n) {
    int i = block() * block_size() + thread();
    if (i >= n) return;
    int left = i > 0 ? x[i - 1] : 0;
    z[i] = left + x[i] * y[i] - s[i];
    w[i] = x[i] > 127 ? (u8)~x[i] : (u8)(x[i] << 1 | x[i] >> 7);
}
