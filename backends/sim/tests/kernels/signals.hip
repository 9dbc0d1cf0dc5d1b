// Workgroups that tell each other of what they stored.
#include "prelude.hip.h"

#define STORE(place, value, order) \
    __hip_atomic_store(place, value, order, __HIP_MEMORY_SCOPE_AGENT)
#define LOAD(place, order) __hip_atomic_load(place, order, __HIP_MEMORY_SCOPE_AGENT)
#define ADD(place, value, order) \
    __hip_atomic_fetch_add(place, value, order, __HIP_MEMORY_SCOPE_AGENT)

#ifdef BROKEN_RELEASE
#define RELEASE __ATOMIC_RELAXED
#else
#define RELEASE __ATOMIC_RELEASE
#endif
#ifdef BROKEN_FENCES
// Barriers and fences that keep instructions in order and wait for nothing.
#define barrier() do { \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront"); \
    __builtin_amdgcn_s_barrier(); \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront"); } while (0)
#define DEVICE_FENCE() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "wavefront")
#else
#define DEVICE_FENCE() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent")
#endif

__device__ static void wait_for(uint *flag, uint value) {
    while (LOAD(flag, __ATOMIC_ACQUIRE) != value)
        __builtin_amdgcn_s_sleep(1);
}

// Every block hands its threads' words to the block before it, by a flag.
KERNEL ring(const uint *x, uint *data, uint *flags, uint *y) {
    uint n = block_size(), i = thread(), b = block(), other = (b + 1) % grid_size();
    data[b * n + i] = 3 * x[b * n + i];
    barrier();
    if (i == 0) {
        STORE(&flags[b], 1u, RELEASE);
        wait_for(&flags[other], 1);
    }
    barrier();
    y[b * n + i] = data[other * n + n - 1 - i];
}

// Each thread hands its words on alone: many stores, then its own flag.
KERNEL pairs(const uint *x, uint *data, uint *flags, uint *y) {
    uint n = block_size(), i = thread(), b = block(), other = b ^ 1;
    uint *mine = data + 4 * (b * n + i);
    for (uint j = 0; j < 4; ++j) mine[j] = x[b * n + i] + j;
    STORE(&flags[b * n + i], 7u, RELEASE);
    wait_for(&flags[other * n + i], 7);
    uint *theirs = data + 4 * (other * n + i), sum = 0;
    for (uint j = 0; j < 4; ++j) sum = 10 * sum + theirs[j];
    y[b * n + i] = sum;
}

// Two words whose order nobody asks for, read by who takes either value of both.
KERNEL relaxed(uint *words, uint *y) {
    uint b = block(), other = (b + 1) % grid_size();
    if (thread() != 0) return;
    STORE(&words[2 * b], b + 1, __ATOMIC_RELAXED);
    STORE(&words[2 * b + 1], b + 1, __ATOMIC_RELAXED);
    ADD(&y[0], 1u, __ATOMIC_RELAXED);
    while (LOAD(&words[2 * other + 1], __ATOMIC_RELAXED) == 0) {}
    uint first;
    while ((first = LOAD(&words[2 * other], __ATOMIC_RELAXED)) == 0) {}
    y[1 + b] = first;
}

// A sum of all: the block that counts itself last adds the others' parts.
KERNEL last_block(const uint *x, uint *parts, uint *count, uint *y) {
    __shared__ uint room[128];
    __shared__ bool last;
    uint n = block_size(), i = thread(), b = block();
    room[i] = x[b * n + i];
    for (uint half = n / 2; half > 0; half /= 2) {
        barrier();
        if (i < half) room[i] += room[i + half];
    }
    if (i == 0) {
        parts[b] = room[0];
        DEVICE_FENCE();
        uint ticket = ADD(count, 1u, __ATOMIC_RELAXED);
        last = ticket == grid_size() - 1;
        DEVICE_FENCE();
    }
    barrier();
    if (last && i == 0) {
        uint sum = 0;
        for (uint j = 0; j < grid_size(); ++j) sum += parts[j];
        y[0] = sum;
    }
}

// C of 16 x 16 per tile from `splits` blocks, each with its part of K, that add in turn: the last
// one first, so that blocks wait for later ones.
KERNEL split_k(const float *a, const float *b, float *c, uint *turn, uint n, uint k, uint splits) {
    uint tiles = n / 16, tile = block() / splits, split = block() % splits;
    uint row = tile / tiles * 16 + thread() / 16, column = tile % tiles * 16 + thread() % 16;
    uint part = k / splits;
    float sum = 0;
    for (uint j = split * part; j < (split + 1) * part; ++j)
        sum += a[row * k + j] * b[column * k + j];
    if (thread() == 0) wait_for(&turn[tile], splits - 1 - split);
    barrier();
    float *place = &c[row * n + column];
    *place = split == splits - 1 ? sum : *place + sum;
    barrier();
    if (thread() == 0) STORE(&turn[tile], splits - split, RELEASE);
}

// Inclusive sums, each block looking back over the blocks before it: state 1 beside the sum of a
// block, 2 beside that of all up to it. Blocks go from the grid's end, or take a ticket each.
KERNEL look_back(const uint *x, u64 *states, uint *tickets, uint *y, uint ticketed) {
    __shared__ uint room[256];
    __shared__ uint before, number;
    uint n = block_size(), i = thread();
    if (i == 0) number = ticketed ? ADD(tickets, 1u, __ATOMIC_RELAXED) : grid_size() - 1 - block();
    barrier();
    uint b = number;
    room[i] = x[b * n + i];
    for (uint reach = 1; reach < n; reach *= 2) {
        barrier();
        uint add = i >= reach ? room[i - reach] : 0;
        barrier();
        room[i] += add;
    }
    barrier();
    if (i == 0) {
        uint own = room[n - 1], sum = 0;
        STORE(&states[b], (u64)own << 32 | (b == 0 ? 2 : 1), __ATOMIC_RELAXED);
        for (uint j = b; j-- > 0;) {
            u64 state;
            while ((state = LOAD(&states[j], __ATOMIC_RELAXED)) == 0) {}
            sum += (uint)(state >> 32);
            if ((uint)state == 2) break;
        }
        if (b > 0) STORE(&states[b], (u64)(sum + own) << 32 | 2, __ATOMIC_RELAXED);
        before = sum;
    }
    barrier();
    y[b * n + i] = before + room[i];
}

// Two blocks take words that a third one makes. How far that one is they only look at, once, before
// they wait for their word.
KERNEL queue(const uint *x, uint *data, uint *words, uint *y) {
    uint *taken = words, *made = words + 1, *there = words + 2;
    if (thread() != 0) return;
    for (uint n = 0; block() < 2 && n < 4; ++n) {
        uint place = ADD(taken, 1u, __ATOMIC_RELAXED), before = LOAD(made, __ATOMIC_RELAXED);
        wait_for(&there[place], 1);
        y[place] = data[place] + (before > 8);
    }
    for (uint place = 0; block() == 2 && place < 8; ++place) {
        data[place] = 3 * x[place];
        ADD(made, 1u, __ATOMIC_RELAXED);
        STORE(&there[place], 1u, RELEASE);
    }
}

// A barrier of the grid: one wave of the second block looks at the flags of all blocks at once, and
// lets them go on.
KERNEL gather(const uint *x, uint *data, uint *flags, uint *y) {
    uint n = block_size(), i = thread(), b = block(), all = grid_size();
    data[b * n + i] = 3 * x[b * n + i];
    barrier();
    if (i == 0) STORE(&flags[b], 1u, RELEASE);
    if (b == 1 && i < 32) {
        uint told;
        do told = LOAD(&flags[i % all], __ATOMIC_ACQUIRE);
        while (__builtin_amdgcn_ballot_w64(told == 0));
        if (i == 0) STORE(&flags[all], 1u, RELEASE);
    }
    if (i == 0) wait_for(&flags[all], 1);
    barrier();
    y[b * n + i] = data[(b + 1) % all * n + n - 1 - i];
}

// The second block looks at a word many times, but goes on by itself.
KERNEL patient(uint *words, uint *y) {
    if (thread() != 0) return;
    if (block() == 0) {
        wait_for(&words[0], 1);
        y[0] = 5;
    } else {
        uint seen = 0;
        for (uint n = 0; n < 3000; ++n) seen += LOAD(&words[1], __ATOMIC_RELAXED);
        STORE(&words[0], 1u + seen, __ATOMIC_RELAXED);
    }
}

// One block looks at a word that a second one keeps changing until a third one stops both.
KERNEL stopped(uint *words, uint *y) {
    if (thread() != 0) return;
    uint *beats = words, *stop = words + 32;
    if (block() == 2) {
        STORE(stop, 1u, __ATOMIC_RELAXED);
    } else if (block() == 1) {
        while (LOAD(stop, __ATOMIC_RELAXED) == 0) ADD(beats, 1u, __ATOMIC_RELAXED);
        y[1] = 7;
    } else {
        while (LOAD(stop, __ATOMIC_RELAXED) == 0) {
            uint before = LOAD(beats, __ATOMIC_RELAXED);
            while (LOAD(beats, __ATOMIC_RELAXED) == before && LOAD(stop, __ATOMIC_RELAXED) == 0);
        }
        y[0] = 5;
    }
}

// The same of three waves of a block, of which the last one is told when the others have begun.
KERNEL stopped_near(uint *words, uint *y) {
    uint *beats = words, *stop = words + 32, wave = thread() / 64;
    if (block() == 0) {
        if (thread() != 0) return;
        while (LOAD(stop, __ATOMIC_RELAXED) == 0) {
            uint before = LOAD(beats, __ATOMIC_RELAXED);
            while (LOAD(beats, __ATOMIC_RELAXED) == before && LOAD(stop, __ATOMIC_RELAXED) == 0);
        }
        y[0] = 5;
    } else if (wave == 0 && thread() == 0) {
        while (LOAD(stop, __ATOMIC_RELAXED) == 0) ADD(beats, 1u, __ATOMIC_RELAXED);
        y[1] = 7;
    } else if (wave == 1 && thread() == 64) {
        STORE(stop, 1u, __ATOMIC_RELAXED);
    }
}

// The first block waits for the second, which gives up after so many looks at words in turn; a third
// one looks at more words than a loop that waits does.
KERNEL impatient(uint *words, uint *y) {
    if (thread() != 0) return;
    if (block() == 0) {
        uint seen = 0;
        for (uint n = 0; LOAD(&words[64], __ATOMIC_RELAXED) == 0; ++n)
            seen += LOAD(&words[n % 32], __ATOMIC_RELAXED);
        y[0] = 5 + seen;
    } else if (block() == 1) {
        uint seen = 0;
        for (uint n = 0; n < 3000; ++n) seen += LOAD(&words[40], __ATOMIC_RELAXED);
        STORE(&words[64], 1u + seen, __ATOMIC_RELAXED);
    }
}
