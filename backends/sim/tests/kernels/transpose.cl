// Transposes of square matrices through LDS: words in padded rows, halves by a swizzle in place of
// padding, bytes packed four to a word.
#include "prelude.h"

#ifdef BROKEN_INDEX
#define ROW 32
#define AT(r, c) ((r) * 33 + (c))
#else
#define ROW 33
#define AT(r, c) ((r) * ROW + (c))
#endif

// Blocks of 32 x 8 work-items, tiles of 32 x 32 words.
kernel void transpose_words(global const uint *x, global uint *y, int n) {
    local uint tile[32 * ROW];
    int lx = __builtin_amdgcn_workitem_id_x(), ly = __builtin_amdgcn_workitem_id_y();
    int bx = __builtin_amdgcn_workgroup_id_x() * 32, by = __builtin_amdgcn_workgroup_id_y() * 32;
    for (int j = 0; j < 32; j += 8) tile[AT(ly + j, lx)] = x[(by + ly + j) * n + bx + lx];
    BARRIER();
    for (int j = 0; j < 32; j += 8) y[(bx + ly + j) * n + by + lx] = tile[AT(lx, ly + j)];
}

// The column of an element is exclusive-ored with its row.
kernel void transpose_halves(global const ushort *x, global ushort *y, int n) {
    local ushort tile[32 * 32];
    int lx = __builtin_amdgcn_workitem_id_x(), ly = __builtin_amdgcn_workitem_id_y();
    int bx = __builtin_amdgcn_workgroup_id_x() * 32, by = __builtin_amdgcn_workgroup_id_y() * 32;
    for (int j = 0; j < 32; j += 8)
        tile[(ly + j) * 32 + (lx ^ (ly + j))] = x[(by + ly + j) * n + bx + lx];
    BARRIER();
    for (int j = 0; j < 32; j += 8)
        y[(bx + ly + j) * n + by + lx] = tile[lx * 32 + (lx ^ (ly + j))];
}

// 64 work-items transpose a 16 x 16 tile of bytes, four bytes each.
kernel void transpose_bytes(global const uint *x, global uint *y, int n) {
    local uchar tile[16 * 16];
    int l = local_id(), row = l / 4, col = l % 4 * 4;
    int bx = __builtin_amdgcn_workgroup_id_x() * 16, by = __builtin_amdgcn_workgroup_id_y() * 16;
    *(local uint *)(tile + row * 16 + col) = x[((by + row) * n + bx + col) / 4];
    BARRIER();
    uint out = 0;
    for (int j = 0; j < 4; ++j) out |= (uint)tile[(col + j) * 16 + row] << (8 * j);
    y[((bx + row) * n + by + col) / 4] = out;
}
