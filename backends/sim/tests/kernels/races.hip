// Waves that meet in global memory: what orders them, each with a twin that leaves it out.
#include "twins.hip.h"

// All workgroups come here before one goes on, for the `round`th time.
INLINE meet(uint *count, uint round, bool first, bool second) {
    if (first) barrier();
    if (thread() == 0) {
        ADD(count, 1u, __ATOMIC_RELEASE);
        while (__hip_atomic_load(count, __ATOMIC_ACQUIRE, AGENT) < round * grid_size())
            __builtin_amdgcn_s_sleep(1);
    }
    if (second) barrier();
}

__device__ static uint across() {
    return (block() + 1) % grid_size() * block_size() + block_size() - 1 - thread();
}

// The first barrier of a barrier of the grid.
TWINS(grid_first) {
    a[own()] = x[own()];
    meet(b, 1, right, true);
    y[own()] = a[across()];
}

TWINS(grid_second) {
    a[own()] = x[own()];
    meet(b, 1, true, right);
    y[own()] = a[across()];
}

// A buffer is used again once all have read it.
TWINS(again) {
    uint sum = 0;
    for (uint round = 0; round < 2; ++round) {
        a[own()] = x[own()] + round;
        meet(b, 2 * round + 1, true, true);
        sum += a[across()];
        if (right) meet(b, 2 * round + 2, true, true);
        else if (thread() == 0) ADD(b, 1u, __ATOMIC_RELAXED);
    }
    y[own()] = sum;
}

// Waves of one workgroup: store and load, load and store, store and store.
TWINS(store_load) {
    a[own()] = x[own()];
    if (right) barrier();
    y[own()] = a[own() ^ 64];
}

// A branch behind the load, which hangs on something else.
TWINS(load_branch) {
    uint at = block() * 128 + thread();
    a[at] = x[at];
    if (right) barrier();
    y[at] = a[at ^ 64];
    if (thread() < x[3] % 100) y[at ^ 1] = x[at];
}

TWINS(load_store) {
    a[own()] = x[own()];
    barrier();
    uint other = a[own() ^ 64];
    if (right) barrier();
    a[own()] = other + 1;
}

TWINS(store_store) {
    a[own()] = x[own()];
    if (right) barrier();
    a[own() ^ 64] = 3;
}

// Workgroups: without anything between them, and with atomic operations.
TWINS(count) {
    if (thread() != 0) return;
    if (right) ADD(a, 3u, __ATOMIC_RELAXED);
    else *a += 3;
}

// What atomic operations add to must be there first.
TWINS(start) {
    if (thread() == 0) a[block()] = 0;
    if (right) barrier();
    ADD(&a[block()], x[own()], __ATOMIC_RELAXED);
}

// And what they made is read when they are done.
TWINS(finish) {
    ADD(&a[block()], x[own()], __ATOMIC_RELAXED);
    if (right) barrier();
    y[own()] = a[block()];
}

// The same with atomic operations that must be complete before the barrier where waves do not share a
// cache.
TWINS(finish_all) {
    ADD(&a[block()], x[own()], __ATOMIC_RELAXED);
    if (right) __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    else __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    y[own()] = a[block()];
}

// The workgroup that comes last reads what all added to: behind a ticket that each takes when all its
// waves have added, and that is taken at all.
INLINE last_reads(const uint *x, uint *a, uint *b, uint *y, bool all, bool ticket) {
    __shared__ uint taken;
    ADD(&a[thread()], x[own()], __ATOMIC_RELAXED);
    if (all) barrier();
    if (thread() == 0) taken = ticket ? ADD(b, 1u, __ATOMIC_ACQ_REL) : block();
    barrier();
    if (taken == grid_size() - 1) y[thread()] = a[thread()];
}

TWINS(last_adds) {
    last_reads(x, a, b, y, right, true);
}

TWINS(last_number) {
    last_reads(x, a, b, y, true, right);
}

// Only who holds the lock changes the words.
TWINS(lock) {
    if (thread() != 0) return;
    uint open;
    do {
        open = 0;
    } while (right && !__hip_atomic_compare_exchange_weak(
        a, &open, 1u, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, AGENT));
    b[0] += x[block()];
    b[1] = block();
    if (right) __hip_atomic_store(a, 0u, __ATOMIC_RELEASE, AGENT);
}

// One wave hands a word to the others of its workgroup by a flag in memory.
TWINS(hand_down) {
    if (thread() == 0) {
        a[block()] = x[block()];
        __hip_atomic_store(&b[block()], 1u, __ATOMIC_RELEASE, GROUP);
    }
    if (thread() < 64) return;
    while (right && __hip_atomic_load(&b[block()], __ATOMIC_ACQUIRE, GROUP) == 0)
        __builtin_amdgcn_s_sleep(1);
    y[own()] = a[block()];
}

// The same with a store that must be complete before the flag where the two waves do not share a
// cache.
TWINS(hand_over) {
    if (thread() == 0) {
        a[block()] = x[block()];
        if (right) __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        else __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
        __hip_atomic_store(&b[block()], 1u, __ATOMIC_RELAXED, GROUP);
    }
    if (thread() < 64) return;
    while (__hip_atomic_load(&b[block()], __ATOMIC_ACQUIRE, GROUP) == 0)
        __builtin_amdgcn_s_sleep(1);
    y[own()] = a[block()];
}

// The same by a flag in LDS that is changed by atomic operations.
TWINS(hand_in_lds) {
    __shared__ uint flag;
    if (thread() == 0) flag = 0;
    barrier();
    if (thread() == 0) {
        a[block()] = x[block()];
        __hip_atomic_fetch_add(&flag, 1u, __ATOMIC_ACQ_REL, GROUP);
    }
    if (thread() < 64) return;
    while (__hip_atomic_fetch_add(&flag, right ? 0u : 1u, __ATOMIC_ACQ_REL, GROUP) == 0 && right) {}
    y[own()] = right ? a[block()] : a[(block() + 1) % grid_size()];
}

// Words that all store: the same value, or any where another loads it as an atomic one.
TWINS(flags) {
    a[0] = 1;
    if (thread() != 0) return;
    __hip_atomic_store(&a[1], block() + 1, __ATOMIC_RELAXED, AGENT);
    if (right) while (__hip_atomic_load(&a[1], __ATOMIC_RELAXED, AGENT) == 0) {}
    else a[2] = block();
}

// Neighbours in a word belong to different waves and workgroups.
TWINS(bytes) {
    u8 *into = (u8 *)a;
    uint n = grid_size() * block_size(), at = own() % 64 * (n / 64) + own() / 64;
    into[at] = x[own()];
    u8 read = into[right ? at : at ^ 1];
    ((u8 *)y)[at] = read;
}

// Several waves store one value in LDS; the twin stores different ones.
TWINS(one_value) {
    __shared__ uint found;
    if (thread() == 0) found = 0;
    barrier();
    if (x[own()] % 3 == 0) found = right ? 1 : thread() + 1;
    barrier();
    y[own()] = found;
}

// Workgroups count in bytes of the same words, by swaps of the word, and read their own.
TWINS(byte_counts) {
    u8 *counts = (u8 *)a;
    ADD(counts + thread() % 16 * 4 + block(), (u8)1, __ATOMIC_RELAXED);
    if (right) barrier();
    if (thread() < 16) y[block() * 16 + thread()] = counts[thread() * 4 + block()];
}

// One workgroup adds to a byte between another's store and load of its neighbour.
TWINS(byte_between) {
    if (thread() != 0) return;
    u8 *bytes = (u8 *)a;
    if (block() == 0) {
        bytes[0] = 3;
        await(b);
        y[0] = bytes[0];
    } else if (block() == 1) ADD(bytes + right, (u8)7, __ATOMIC_RELAXED);
    else if (block() == 2) raise(b);
}

// The same with half a word, to which it adds nothing.
TWINS(nothing_between) {
    if (thread() != 0) return;
    unsigned short *halves = (unsigned short *)a;
    if (block() == 0) {
        halves[0] = 3;
        await(b);
        y[0] = halves[0];
    } else if (block() == 1) {
        unsigned short more = right ? x[0] - 1 : 1;
        ADD(halves + right, more, __ATOMIC_RELAXED);
    }
    else if (block() == 2) raise(b);
}

// An atomic operation on half a word loads the other half, whatever became of that.
TWINS(half_unreleased) {
    if (thread() != 0) return;
    unsigned short *halves = (unsigned short *)a;
    if (block() == 0) {
        halves[0] = 3;
        raise(b);
        await(b + 1);
        y[0] = halves[0];
    } else if (block() == 1) {
        await(b);
        raise(b + 1);
        if (right) ADD(halves + 1, (unsigned short)2, __ATOMIC_RELAXED);
        else y[1] = halves[0];
    }
}

// A word that one stored and another added to is read behind both.
TWINS(added_to) {
    if (thread() != 0) return;
    if (block() == 0) {
        __hip_atomic_store(a, 5u, __ATOMIC_RELAXED, AGENT);
        release(b + 1);
    } else if (block() == 1) {
        ADD(a, x[1], __ATOMIC_RELAXED);
        release(b);
    } else if (block() == 2) {
        acquire(b);
        if (right) acquire(b + 1);
        y[0] = *a;
    } else y[1] = __hip_atomic_load(a, __ATOMIC_RELAXED, AGENT);
}

// Lanes of one load read bytes of one word, all but one that another stored.
TWINS(all_but_one) {
    const u8 *bytes = (const u8 *)a;
    if (block() == 0 && thread() == 0) ((u8 *)a)[2] = 1;
    if (block() == 1 && thread() < 4 && (thread() != 2 || !right)) y[thread()] = bytes[thread()];
}

// Two store one value; who reads it waited for the first of them.
TWINS(agreed) {
    if (thread() != 0) return;
    if (block() < 2) *a = 7;
    if (block() == 0) release(b);
    if (block() != 2) return;
    if (right) acquire(b);
    y[0] = *a;
}

// A word that another read plainly, and to which nothing is added.
TWINS(nothing_added) {
    if (thread() != 0) return;
    if (block() == 0) y[0] = *a;
    else if (block() == 1) ADD(a, right ? x[0] - 1 : 1, __ATOMIC_RELAXED);
}

// A store that others may load at any time, of what was stored as if none could.
TWINS(published) {
    if (thread() != 0) return;
    if (block() == 0) {
        *a = 1;
        release(b);
    } else if (block() == 1) {
        if (right) acquire(b);
        __hip_atomic_store(a, 2u, __ATOMIC_RELAXED, AGENT);
    }
}

// A store of the value that was there over what another read, who had stored it or had not.
TWINS(left_as_it_was) {
    if (thread() != 0) return;
    if (block() == 0) {
        if (right) *a = 0;
        asm volatile("" ::: "memory");
        y[0] = *a;
    } else if (block() == 1) *a = 0;
}

// One wave runs ahead and hears of a store; the others know of it behind their next barrier.
TWINS(ahead) {
    if (block() == 0 && thread() == 0) {
        a[5] = x[5];
        release(b);
    }
    if (block() != 1) return;
    barrier();
    if (thread() == 0) acquire(b);
    if (right) barrier();
    uint read = thread() == 64 ? a[5] : 0;
    if (!right) barrier();
    y[own()] = read;
}
