// Weights of four bits: unpacking to integers and to scaled halves, and a matrix-vector product on
// them with a scale and a zero point for each group of 32.
#include "prelude.h"

// Eight signed nibbles of a word to eight bytes.
kernel void unpack_bytes(global const uint *x, global char *y) {
    int i = group_id() * 64 + local_id();
    for (int j = 0; j < 8; ++j) y[8 * i + j] = (char)((int)(x[i] << (28 - 4 * j)) >> 28);
}

// Eight unsigned nibbles to halves: put under the mantissa of 1024, whose unit is one.
kernel void unpack_halves(global const uint *x, global uint *y, half scale, half zero) {
    int i = group_id() * 64 + local_id();
    typedef half pair __attribute__((ext_vector_type(2)));
    for (int j = 0; j < 4; ++j) {
        uint low = x[i] >> (4 * j) & 0x000f000f;
        pair v = __builtin_bit_cast(pair, low | 0x64006400) - (pair)((half)1024);
        y[4 * i + j] = __builtin_bit_cast(uint, (v - (pair)zero) * (pair)scale);
    }
}

// A row of n weights a work-item; the vector in LDS.
kernel void matvec(global const uint *w, global const float *scales, global const uchar *zeros,
                   global const float *x, global float *y, int n) {
    local float vec[256];
    int row = group_id() * 64 + local_id();
    for (int i = local_id(); i < n; i += 64) vec[i] = x[i];
    BARRIER();
    float sum = 0;
    for (int g = 0; g < n / 32; ++g) {
        float part = 0;
        int zero = zeros[row * (n / 32) + g];
        for (int j = 0; j < 4; ++j) {
            uint word = w[row * (n / 8) + 4 * g + j];
            for (int k = 0; k < 8; ++k)
                part += vec[32 * g + 8 * j + k] * (float)((int)(word >> (4 * k) & 15) - zero);
        }
        sum += part * scales[row * (n / 32) + g];
    }
    y[row] = sum;
}
