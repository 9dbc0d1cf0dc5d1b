// Kernels over rows: softmax in f32 and f16, layer norm. A workgroup of 128 has a row.
#include "prelude.h"

static float row_reduce(local float *part, float x, bool most) {
    int l = local_id();
    part[l] = x;
    for (int stride = 64; stride > 0; stride /= 2) {
        BARRIER();
        if (l < stride)
            part[l] = most ? __builtin_fmaxf(part[l], part[l + stride]) : part[l] + part[l + stride];
    }
    BARRIER();
    float result = part[0];
    BARRIER();
    return result;
}

static float power_of_e(float x) { return __builtin_amdgcn_exp2f(x * 1.44269504f); }

kernel void softmax(global const float *x, global float *y, int n) {
    local float part[128];
    x += group_id() * n;
    y += group_id() * n;
    float most = -__builtin_inff(), sum = 0;
    for (int i = local_id(); i < n; i += 128) most = __builtin_fmaxf(most, x[i]);
    most = row_reduce(part, most, true);
    for (int i = local_id(); i < n; i += 128) sum += power_of_e(x[i] - most);
    sum = row_reduce(part, sum, false);
    for (int i = local_id(); i < n; i += 128) y[i] = power_of_e(x[i] - most) / sum;
}

// Half precision in and out, one pass: what an element adds to the sum is mended when the largest
// so far changes.
kernel void softmax_half(global const half *x, global half *y, int n) {
    local float part[128];
    x += group_id() * n;
    y += group_id() * n;
    float most = -65504.0f, sum = 0;
    for (int i = local_id(); i < n; i += 128) {
        float v = x[i], next = __builtin_fmaxf(most, v);
        sum = sum * power_of_e(most - next) + power_of_e(v - next);
        most = next;
    }
    float all = row_reduce(part, most, true);
    sum = row_reduce(part, sum * power_of_e(most - all), false);
    for (int i = local_id(); i < n; i += 128) y[i] = (half)(power_of_e((float)x[i] - all) / sum);
}

kernel void layer_norm(global const float *x, global const float *gain, global const float *bias,
                       global float *y, int n, float epsilon) {
    local float part[128];
    x += group_id() * n;
    y += group_id() * n;
    float sum = 0, squares = 0;
    for (int i = local_id(); i < n; i += 128) sum += x[i];
    float mean = row_reduce(part, sum, false) / n;
    for (int i = local_id(); i < n; i += 128) squares += (x[i] - mean) * (x[i] - mean);
    float variance = row_reduce(part, squares, false) / n;
    float scale = 1.0f / __builtin_sqrtf(variance + epsilon);
    for (int i = local_id(); i < n; i += 128) y[i] = (x[i] - mean) * scale * gain[i] + bias[i];
}
