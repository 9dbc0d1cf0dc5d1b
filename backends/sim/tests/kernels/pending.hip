// Accesses that must be complete when their wave signals, each with a twin where they may not be.
#include "twins.hip.h"

#define ORDER (right ? __ATOMIC_RELEASE : __ATOMIC_RELAXED)

// The barrier of the workgroup, which waits for what came before or keeps instructions in order alone.
INLINE meet(bool right) {
    if (right) __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    else __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// A word is stored anew once another workgroup has loaded it.
TWINS(loaded) {
    if (thread() != 0) return;
    if (block() == 0) {
        uint old = a[5];
        __hip_atomic_store(b, 1u, ORDER, AGENT);
        y[0] = old;
    } else if (block() == 1) {
        acquire(b);
        a[5] = x[1];
    }
}

// The same by an atomic operation.
TWINS(loaded_then_added) {
    if (thread() != 0) return;
    if (block() == 0) {
        uint old = a[5];
        __hip_atomic_store(b, 1u, ORDER, AGENT);
        y[0] = old;
    } else if (block() == 1) {
        acquire(b);
        ADD(a + 5, x[1], __ATOMIC_RELAXED);
    }
}

// A word is stored anew by another workgroup than the one that stored it first.
TWINS(stored) {
    if (thread() != 0) return;
    if (block() == 0) {
        a[5] = x[2];
        __hip_atomic_store(b, 1u, ORDER, AGENT);
    } else if (block() == 1) {
        acquire(b);
        a[5] = x[1];
    }
}

// The workgroup that comes last has added to the words itself.
TWINS(added) {
    if (thread() != 0) return;
    ADD(a, x[block()], __ATOMIC_RELAXED);
    uint count = __hip_atomic_fetch_add(b, 1u, right ? __ATOMIC_ACQ_REL : __ATOMIC_ACQUIRE, AGENT);
    if (count == grid_size() - 1) y[0] = *a;
}

// One wave of a workgroup stores what another loaded, stored or added to before the barrier.
TWINS(near_loaded) {
    uint old = a[own() ^ 64];
    meet(right);
    a[own()] = x[own()];
    y[own()] = old;
}

TWINS(near_loaded_then_added) {
    uint old = a[own() ^ 64];
    meet(right);
    ADD(a + own(), x[own()], __ATOMIC_RELAXED);
    y[own()] = old;
}

TWINS(near_stored) {
    a[own()] = x[own()];
    meet(right);
    a[own() ^ 64] = 3;
}

TWINS(near_added) {
    ADD(a + own(), x[own()], __ATOMIC_RELAXED);
    meet(right);
    a[own() ^ 64] = 3;
}

// Of two loads the first is complete at the barrier.
TWINS(near_first_of_two) {
    uint first = a[own() ^ 64];
    uint second = b[own() ^ 64];
    asm volatile("" ::"v"(first));
    meet(false);
    (right ? a : b)[own()] = x[own()];
    y[own()] = first + second;
}

TWINS(first_of_two) {
    if (thread() != 0) return;
    if (block() == 0) {
        uint first = a[5];
        asm volatile("" ::: "memory");
        uint second = b[5];
        asm volatile("" ::"v"(first));
        raise(b);
        asm volatile("" : "+v"(second)::"memory");
        y[0] = first + second;
    } else if (block() == 1) {
        acquire(b);
        (right ? a : b)[5] = x[1];
    }
}

// Of two workgroups that load a word only the second has waited when it signals.
TWINS(loaded_by_two) {
    if (thread() != 0 || block() == 3) return;
    if (block() == 2) {
        acquire(b + 1);
        a[5] = x[1];
        return;
    }
    if (block() == 1) acquire(b);
    uint old = a[5];
    if (block() == 1) release(b + 1);
    else __hip_atomic_store(b, 1u, ORDER, AGENT);
    y[block()] = old;
}

// Atomic operations on words to which others add, while theirs are pending.
TWINS(near_added_twice) {
    ADD(a + own(), x[own()], __ATOMIC_RELAXED);
    meet(false);
    if (right) ADD(a + (own() ^ 64), 3u, __ATOMIC_RELAXED);
    else a[own() ^ 64] = 3;
}

// What was complete at the barrier before may be stored over.
TWINS(near_later) {
    uint old = a[own() ^ 64];
    meet(false);
    if (!right) a[own()] = x[own()];
    asm volatile("" : "+v"(old)::"memory");
    meet(false);
    meet(false);
    if (right) a[own()] = x[own()];
    y[own()] = old;
}

// Neighbours in a word behind a barrier that waits for nothing.
TWINS(near_bytes_stored) {
    u8 *bytes = (u8 *)(a + block() * 64);
    uint half = thread() / 64, at = thread() % 64;
    bytes[2 * at + half] = x[own()];
    meet(false);
    y[own()] = bytes[2 * at + (right ? half : half ^ 1)];
}

// What an atomic load found, or a plain one, before others raise the word.
TWINS(near_raised) {
    uint *top = a + block();
    uint old = right ? __hip_atomic_load(top, __ATOMIC_RELAXED, AGENT) : *top;
    meet(false);
    if (x[own()] > old) __hip_atomic_fetch_max(top, x[own()], __ATOMIC_RELAXED, AGENT);
}

// A store that is pending at a barrier and complete before the flag behind it.
TWINS(near_handed_stored) {
    if (thread() < 32) a[own()] = x[own()];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
    if (thread() < 32) {
        if (right) __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        if (thread() == 0) __hip_atomic_fetch_add(b + block(), 1u, __ATOMIC_RELAXED, GROUP);
    } else if (thread() >= 64 && thread() < 96) {
        while (__hip_atomic_load(b + block(), __ATOMIC_ACQUIRE, GROUP) == 0) SLEEP;
        y[own()] = a[own() - 64];
    }
}

// Who saw half of what one store wrote knows of the other half.
TWINS(pair_stored) {
    if (thread() != 0) return;
    if (block() == 0) {
        if (right) __hip_atomic_store((u64 *)a, 1ull << 32 | 1, __ATOMIC_RELAXED, AGENT);
        else {
            a[1] = 1;
            raise(a);
        }
    } else if (block() == 1) {
        await(a);
        a[1] = 7;
    }
}

// Who adds to a counter passes on what it found there, also where a later signal of the same wave,
// which had not looked, was heard of first.
TWINS(passed_on) {
    if (thread() != 0) return;
    if (block() == 0) {
        *a = x[0];
        if (right) ADD(b, 1u, __ATOMIC_RELEASE);
    } else if (block() == 1) {
        ADD(b, 1u, __ATOMIC_RELEASE);
        release(b + 1);
    } else if (block() == 2) {
        acquire(b + 1);
        while (__hip_atomic_load(b, __ATOMIC_ACQUIRE, AGENT) < 1 + right) SLEEP;
        y[0] = *a;
    }
}

// Two waves of a workgroup load a word, on both sides of a barrier; the second one tells that it may
// be stored anew.
TWINS(loaded_twice) {
    if (block() == 0) {
        uint old = thread() < 64 ? a[5] : 0;
        meet(right);
        if (thread() == 64) {
            old = a[5];
            release(b);
        }
        y[own()] = old;
    } else if (block() == 1 && thread() == 0) {
        acquire(b);
        a[5] = x[1];
    }
}
