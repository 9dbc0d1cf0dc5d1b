// What the HIP sources use of the runtime's headers, which are not installed here.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define KERNEL extern "C" __global__ void

typedef unsigned int uint;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned char u8;

// The hidden arguments of code object version 5 and later.
__device__ static uint thread() { return __builtin_amdgcn_workitem_id_x(); }
__device__ static uint block() { return __builtin_amdgcn_workgroup_id_x(); }
__device__ static uint block_size() {
    return ((const __attribute__((address_space(4))) unsigned short *)
                __builtin_amdgcn_implicitarg_ptr())[6];
}
__device__ static uint grid_size() {
    return ((const __attribute__((address_space(4))) uint *)__builtin_amdgcn_implicitarg_ptr())[0];
}
#ifdef BROKEN_BARRIER
__device__ static void barrier() { __builtin_amdgcn_wave_barrier(); }
#else
__device__ static void barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#endif
