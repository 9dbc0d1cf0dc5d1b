//! Kernel sources that the tests and the bench share.

/// A GEMM in OpenCL C: C = A x B^T with A of m x k and B of n x k, both with k contiguous, and C
/// of m x n. A workgroup has `waves` x `waves` waves of `tiles` x `tiles` WMMA tiles and goes
/// through LDS in steps of 16 along k.
pub fn gemm(chip: &str, element: &str, accumulator: &str, waves: u32, tiles: u32) -> String {
    let gfx12 = chip.starts_with("gfx12");
    let suffix = if gfx12 { "w32_gfx12" } else { "w32" };
    let input = if element == "bf16" { "short" } else { "half" };
    let (c_vector, c_scalar) = match (accumulator, gfx12) {
        ("f16", false) => ("half16", "half"),
        ("f16", true) => ("half8", "half"),
        _ => ("float8", "float"),
    };
    let lanes = if gfx12 { 8 } else { 16 };
    let arguments = if accumulator == "f16" && !gfx12 {
        ", 0"
    } else {
        ""
    };
    let (element_of, row) = match (accumulator, gfx12) {
        ("f16", false) => ("2 * r", "2 * r + hi"),
        (_, false) => ("r", "2 * r + hi"),
        (_, true) => ("r", "r + 8 * hi"),
    };
    // On RDNA 4 the upper half of a wave holds the second eight of k, in A and B alike.
    let part = if gfx12 { "8 * hi" } else { "0" };
    format!(
        r"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define LD 24
#define WAVES {waves}
#define TILES {tiles}
#define BLOCK (WAVES * TILES * 16)
#define ITEMS (WAVES * WAVES * 32)
typedef {input} vec __attribute__((ext_vector_type({lanes}), aligned(16)));
typedef {input} chunk __attribute__((ext_vector_type(8)));
static vec fragment(local {input} *tile, int row, int hi) {{
    return *(local vec *)(tile + row * LD + {part});
}}
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm(global const {input} *a, global const {input} *b, global {c_scalar} *c, int n, int k) {{
    local {input} ta[BLOCK * LD], tb[BLOCK * LD];
    int t = get_local_id(0), lane = t % 32, wave = t / 32, lo = lane % 16, hi = lane / 16;
    int m0 = get_group_id(1) * BLOCK, n0 = get_group_id(0) * BLOCK;
    int wm = wave / WAVES * TILES * 16, wn = wave % WAVES * TILES * 16;
    {c_vector} acc[TILES][TILES] = {{}};
    for (int kk = 0; kk < k; kk += 16) {{
        chunk x[BLOCK * 2 / ITEMS], y[BLOCK * 2 / ITEMS];
        for (int i = 0; i < BLOCK * 2 / ITEMS; ++i) {{
            int row = (t + i * ITEMS) / 2, col = t % 2 * 8;
            x[i] = *(global const chunk *)(a + (m0 + row) * k + kk + col);
            y[i] = *(global const chunk *)(b + (n0 + row) * k + kk + col);
        }}
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < BLOCK * 2 / ITEMS; ++i) {{
            int row = (t + i * ITEMS) / 2, col = t % 2 * 8;
            *(local chunk *)(ta + row * LD + col) = x[i];
            *(local chunk *)(tb + row * LD + col) = y[i];
        }}
        barrier(CLK_LOCAL_MEM_FENCE);
        vec fa[TILES], fb[TILES];
        for (int i = 0; i < TILES; ++i) {{
            fa[i] = fragment(ta, wm + 16 * i + lo, hi);
            fb[i] = fragment(tb, wn + 16 * i + lo, hi);
        }}
        for (int i = 0; i < TILES; ++i)
            for (int j = 0; j < TILES; ++j)
                acc[i][j] = __builtin_amdgcn_wmma_{accumulator}_16x16x16_{element}_{suffix}(
                    fa[i], fb[j], acc[i][j]{arguments});
    }}
    for (int i = 0; i < TILES; ++i)
        for (int j = 0; j < TILES; ++j)
            for (int r = 0; r < 8; ++r)
                c[(m0 + wm + 16 * i + {row}) * n + n0 + wn + 16 * j + lo] = acc[i][j][{element_of}];
}}"
    )
}
