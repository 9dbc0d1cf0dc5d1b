// Reductions: a tree in LDS, DPP steps within a wave, a scan, and a histogram.
#include "prelude.h"

#if defined(__GFX9__)
#define CDNA 1
#endif

// Sums of blocks of 256 by halving.
kernel void reduce_tree(global const int *x, global int *y, int n) {
    local int part[256];
    int l = local_id(), sum = 0;
    for (int i = group_id() * 256 + l; i < n; i += 256 * groups()) sum += x[i];
    part[l] = sum;
    for (int stride = 128; stride > 0; stride /= 2) {
        BARRIER();
        if (l < stride) part[l] += part[l + stride];
    }
    if (l == 0) y[group_id()] = part[0];
}

#define DPP(old, x, control) \
    __builtin_amdgcn_update_dpp((int)(old), (int)(x), control, 0xf, 0xf, false)

// The sum of a wave in its last lane: shifts within rows of 16, then rows into rows.
static int wave_sum(int x) {
    x += DPP(0, x, 0x111); // row_shr:1
    x += DPP(0, x, 0x112);
    x += DPP(0, x, 0x114);
    x += DPP(0, x, 0x118);
#ifdef CDNA
    x += __builtin_amdgcn_update_dpp(0, x, 0x142, 0xa, 0xf, false); // row_bcast:15
    x += __builtin_amdgcn_update_dpp(0, x, 0x143, 0xc, 0xf, false); // row_bcast:31
    return __builtin_amdgcn_readlane(x, 63);
#else
    int sum = __builtin_amdgcn_readlane(x, 15) + __builtin_amdgcn_readlane(x, 31);
    if (__builtin_amdgcn_wavefrontsize() == 64)
        sum += __builtin_amdgcn_readlane(x, 47) + __builtin_amdgcn_readlane(x, 63);
    return sum;
#endif
}

static float wave_max(float x) {
#define STEP(control) \
    x = __builtin_fmaxf(x, as_real(__builtin_amdgcn_update_dpp( \
        as_bits(x), as_bits(x), control, 0xf, 0xf, false)))
    STEP(0xb1);  // quad_perm:[1,0,3,2]
    STEP(0x4e);  // quad_perm:[2,3,0,1]
    STEP(0x141); // row_half_mirror
    STEP(0x140); // row_mirror
#ifdef CDNA
    STEP(0x142);
    STEP(0x143);
    return as_real(__builtin_amdgcn_readlane(as_bits(x), 63));
#else
    x = __builtin_fmaxf(x, as_real(__builtin_amdgcn_permlanex16(
        as_bits(x), as_bits(x), 0x76543210, 0xfedcba98, false, false)));
    if (__builtin_amdgcn_wavefrontsize() == 64) {
        float low = as_real(__builtin_amdgcn_readlane(as_bits(x), 0));
        float high = as_real(__builtin_amdgcn_readlane(as_bits(x), 32));
        x = __builtin_fmaxf(low, high);
    }
    return as_real(__builtin_amdgcn_readfirstlane(as_bits(x)));
#endif
}

// Sum and maximum of blocks of 256: DPP in the wave, LDS between waves.
kernel void reduce_dpp(global const int *x, global const float *f, global int *sum,
                       global float *most) {
    local int sums[8];
    local float maxima[8];
    int l = local_id(), size = __builtin_amdgcn_wavefrontsize(), wave = l / size;
    int s = wave_sum(x[group_id() * 256 + l]);
    float m = wave_max(f[group_id() * 256 + l]);
    if (l % size == 0) {
        sums[wave] = s;
        maxima[wave] = m;
    }
    BARRIER();
    if (l == 0) {
        s = 0;
        m = -__builtin_inff();
        for (int i = 0; i < 256 / size; ++i) {
            s += sums[i];
            m = __builtin_fmaxf(m, maxima[i]);
        }
        sum[group_id()] = s;
        most[group_id()] = m;
    }
}

// Inclusive prefix sums of blocks of 256, two buffers in turn.
kernel void scan(global const uint *x, global uint *y) {
    local uint part[2][256];
    int l = local_id(), from = 0;
    part[0][l] = x[group_id() * 256 + l];
    BARRIER();
    for (int step = 1; step < 256; step *= 2) {
        part[1 - from][l] = part[from][l] + (l >= step ? part[from][l - step] : 0);
        from = 1 - from;
        BARRIER();
    }
    y[group_id() * 256 + l] = part[from][l];
}

// Exclusive prefix counts of odd values within a wave, by ballot and mbcnt.
kernel void rank(global const uint *x, global uint *y) {
    int i = group_id() * 256 + local_id();
    bool odd = x[i] & 1;
#if defined(CDNA) || defined(WAVE64)
    ulong mask = __builtin_amdgcn_ballot_w64(odd);
    uint below = __builtin_amdgcn_mbcnt_hi(mask >> 32, __builtin_amdgcn_mbcnt_lo((uint)mask, 0));
    uint all = __builtin_popcountl(mask);
#else
    uint mask = __builtin_amdgcn_ballot_w32(odd);
    uint below = __builtin_amdgcn_mbcnt_lo(mask, 0);
    uint all = __builtin_popcount(mask);
#endif
    y[i] = below | all << 16;
}

// Counts of the 16 values that the low bits take, LDS atomics first, global ones at the end.
kernel void histogram(global const uint *x, global uint *y, int n) {
    local uint bins[16];
    int l = local_id();
    if (l < 16) bins[l] = 0;
    BARRIER();
    for (int i = group_id() * 256 + l; i < n; i += 256 * groups())
        __opencl_atomic_fetch_add((local atomic_uint *)&bins[x[i] % 16], 1, memory_order_relaxed,
                                  memory_scope_work_group);
    BARRIER();
    if (l < 16)
        __opencl_atomic_fetch_add((global atomic_uint *)&y[l], bins[l], memory_order_relaxed,
                                  memory_scope_device);
}
