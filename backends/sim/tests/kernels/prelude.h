// What the OpenCL C sources use of the language's library, whose functions are not linked here.
// Functions stay functions: without optimisation they are called, which is part of the test.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))

static int local_id(void) { return __builtin_amdgcn_workitem_id_x(); }
static int group_id(void) { return __builtin_amdgcn_workgroup_id_x(); }
// Work-items of a workgroup along x, from the hidden arguments.
static int group_size(void) {
    return ((constant ushort *)__builtin_amdgcn_implicitarg_ptr())[6];
}
// Workgroups of the grid along x.
static int groups(void) { return ((constant uint *)__builtin_amdgcn_implicitarg_ptr())[0]; }

#ifdef BROKEN_BARRIER
#define BARRIER() __builtin_amdgcn_wave_barrier()
#else
#define BARRIER() do { \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier(); \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
#endif

static uint as_bits(float x) { return __builtin_bit_cast(uint, x); }
static float as_real(uint x) { return __builtin_bit_cast(float, x); }
