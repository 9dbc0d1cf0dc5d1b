// A GEMM on vector instructions: C = A x B^T, A of m x k and B of n x k units of UNIT, tiles of
// 64 x 64 through LDS, 4 x 4 results a work-item. The file that includes this defines NAME, UNIT, ACC, OUT,
// MAC(a, b, acc) and RESULT(acc).
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void NAME(global const UNIT *a, global const UNIT *b, global OUT *c, int n, int k) {
    local UNIT ta[64 * 9], tb[64 * 9];
    int t = local_id(), tx = t % 16, ty = t / 16;
    int m0 = __builtin_amdgcn_workgroup_id_y() * 64, n0 = __builtin_amdgcn_workgroup_id_x() * 64;
    ACC acc[4][4] = {};
    for (int kk = 0; kk < k; kk += 8) {
        for (int i = t; i < 512; i += 256) {
            ta[i / 8 * 9 + i % 8] = a[(m0 + i / 8) * k + kk + i % 8];
            tb[i / 8 * 9 + i % 8] = b[(n0 + i / 8) * k + kk + i % 8];
        }
        BARRIER();
        for (int q = 0; q < 8; ++q)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j)
                    acc[i][j] = MAC(ta[(ty + 16 * i) * 9 + q], tb[(tx + 16 * j) * 9 + q], acc[i][j]);
        BARRIER();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            c[(m0 + ty + 16 * i) * n + n0 + tx + 16 * j] = RESULT(acc[i][j]);
}
#undef NAME
#undef UNIT
#undef ACC
#undef OUT
#undef MAC
#undef RESULT
