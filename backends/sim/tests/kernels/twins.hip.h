// Kernels that are right, each with a twin that is not.
#include "prelude.hip.h"

#define INLINE __device__ __attribute__((always_inline)) static void
#define AGENT __HIP_MEMORY_SCOPE_AGENT
#define SLEEP __builtin_amdgcn_s_sleep(1)
#define GROUP __HIP_MEMORY_SCOPE_WORKGROUP
#define ADD(place, value, order) __hip_atomic_fetch_add(place, value, order, AGENT)

// A kernel of four buffers whose body is told whether it is right.
#define TWINS(name) \
    INLINE name##_body(const uint *x, uint *a, uint *b, uint *y, bool right); \
    KERNEL name(const uint *x, uint *a, uint *b, uint *y) { name##_body(x, a, b, y, true); } \
    KERNEL name##_broken(const uint *x, uint *a, uint *b, uint *y) { \
        name##_body(x, a, b, y, false); \
    } \
    INLINE name##_body(const uint *x, uint *a, uint *b, uint *y, bool right)

// A work-item's place in the grid.
__device__ static uint own() { return block() * block_size() + thread(); }

// A flag, without any order of its own or as a release and an acquire.
INLINE raise(uint *flag) { __hip_atomic_store(flag, 1u, __ATOMIC_RELAXED, AGENT); }
INLINE await(uint *flag) {
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, AGENT) == 0) SLEEP;
}
INLINE release(uint *flag) { __hip_atomic_store(flag, 1u, __ATOMIC_RELEASE, AGENT); }
INLINE acquire(uint *flag) {
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, AGENT) == 0) SLEEP;
}
