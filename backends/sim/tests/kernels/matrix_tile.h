// A GEMM on matrix instructions: C = A x B^T, rows of A and B being k-contiguous words. Four waves
// make a tile of 2 SIDE x 2 SIDE through LDS. The file that includes this defines NAME, SIDE, the
// words of a lane's fragment WORDS, the lanes that share a row PARTS, OUT, the accumulators ACC and
// their number COUNT, MMA(a, b, acc), RESULT(acc, r), and the row ROW(r, part) of result r.
typedef uint FRAGMENT __attribute__((ext_vector_type(WORDS)));
kernel __attribute__((reqd_work_group_size(4 * WAVE, 1, 1)))
void NAME(global const uint *a, global const uint *b, global OUT *c, int n, int k) {
    local uint ta[2 * SIDE * WORDS * PARTS], tb[2 * SIDE * WORDS * PARTS];
    int t = local_id(), lane = t % WAVE, wave = t / WAVE;
    int lo = lane % SIDE, part = PARTS == 1 ? 0 : lane / SIDE, group = lane / SIDE;
    int m0 = __builtin_amdgcn_workgroup_id_y() * 2 * SIDE;
    int n0 = __builtin_amdgcn_workgroup_id_x() * 2 * SIDE;
    int wm = wave / 2 * SIDE, wn = wave % 2 * SIDE;
    ACC acc = 0;
    for (int kk = 0; kk < k; kk += WORDS * PARTS) {
        for (int i = t; i < 2 * SIDE * WORDS * PARTS; i += 4 * WAVE) {
            int row = i / (WORDS * PARTS), word = i % (WORDS * PARTS);
            ta[i] = a[(m0 + row) * k + kk + word];
            tb[i] = b[(n0 + row) * k + kk + word];
        }
        BARRIER();
        FRAGMENT fa, fb;
        for (int i = 0; i < WORDS; ++i) {
            fa[i] = ta[(wm + lo) * WORDS * PARTS + part * WORDS + i];
            fb[i] = tb[(wn + lo) * WORDS * PARTS + part * WORDS + i];
        }
        acc = MMA(fa, fb, acc);
        BARRIER();
    }
    for (int r = 0; r < COUNT; ++r) c[(m0 + wm + ROW(r, group)) * n + n0 + wn + lo] = RESULT(acc, r);
}
#undef NAME
#undef FRAGMENT
#undef WORDS
#undef MMA
