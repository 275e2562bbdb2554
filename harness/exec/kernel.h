/* How a kernel is written: once, as a body that is valid C17 and C++17, compiled for each place where it runs.
 *
 * The bodies of method NAME live in methods/NAME/NAME_kernels.h. That header is compiled, for float and for double, as
 * part of NAME.c for the CPU, on its own with -DPBD_EMULATE for the emulation of CUDA threads, and by nvcc.
 *
 * A body is a function `PBD_FN void NAME(const ARGS *a, size_t i)` (item and tile) or
 * `PBD_FN void NAME(const ARGS *a, size_t first, int count)` (batch). ARGS is a plain struct of numbers and device
 * pointers; for launches that are put off and compared (pbd_repeat_begin) it has no gaps between them, in either
 * precision (gcc -Wpadded shows them): what lies in a gap is anything, and a repeat would not be known as one. A body
 * writes only what its own item owns: the caller's colouring or gather form sees to that.
 *
 *   item    one constraint or particle per lane
 *   tile    one particle per tile of PBD_LANES lanes, lanes over its neighbours:
 *           `for (k = begin + PBD_LANE; k < end; k += PBD_LANES)`, then tile_sum (tile.h); the lane with PBD_LANE == 0
 *           writes. One lane on the CPU.
 *   batch   `count` <= PBD_BATCH independent constraints of one colour from `first` on, held in arrays of PBD_BATCH and
 *           worked through in short loops without branches, which the compiler turns into SIMD. On a GPU PBD_BATCH is 1
 *           and the batch is an item.
 *
 * One line after the body makes it launchable: PBD_ITEM_KERNEL(NAME, ARGS, bytes, flops), and likewise for the others;
 * bytes and flops are what one item must move and do. The kernel is then PBD_KERNEL(NAME), of this precision. The build
 * defines PBD_UNIT as the method's name, so that two methods may use kernels of one name, or of one shared header.
 */
#ifndef PBD_KERNEL_H
#define PBD_KERNEL_H

#include "harness/exec/exec.h"
#include "harness/exec/lanes.h"

#define PBD_KERNEL(name) PBD_NAME(pbd_kernel_##name)
/* The symbol of a kernel's entry in another object: pbd_emu_UNIT_NAME_float. */
#define PBD_ENTRY(place, name) PBD_NAME(PBD_PASTE(PBD_PASTE(pbd_##place, PBD_UNIT), name))

#if defined(__CUDACC__)

/* nvcc: the __global__ function and its launch. Threads in blocks of PBD_BLOCK; a launch over n items takes
 * n * lanes threads. */
#define PBD_GPU_KERNEL(name, ARGS, lanes, CALL)                                                                        \
    static __global__ void __launch_bounds__(PBD_BLOCK) PBD_NAME(pbd_global_##name)(const ARGS args, size_t n) {       \
        const ARGS *a = &args;                                                                                         \
        size_t i = ((size_t)blockIdx.x * PBD_BLOCK + threadIdx.x) / (lanes);                                           \
        if (i < n) CALL;                                                                                               \
    }                                                                                                                  \
    extern "C" int PBD_ENTRY(cuda, name)(const void *args, size_t n, void *stream) {                                   \
        size_t blocks = (n * (lanes) + PBD_BLOCK - 1) / PBD_BLOCK;                                                     \
        PBD_NAME(pbd_global_##name)<<<(unsigned)blocks, PBD_BLOCK, 0, (cudaStream_t)stream>>>(*(const ARGS *)args, n); \
        return (int)cudaGetLastError();                                                                                \
    }
#define PBD_ITEM_KERNEL(name, ARGS, bytes, flops) PBD_GPU_KERNEL(name, ARGS, 1, name(a, i))
#define PBD_TILE_KERNEL(name, ARGS, bytes, flops) PBD_GPU_KERNEL(name, ARGS, PBD_LANES, name(a, i))
#define PBD_BATCH_KERNEL(name, ARGS, bytes, flops) PBD_GPU_KERNEL(name, ARGS, 1, name(a, i, 1))

#elif defined(PBD_EMULATE)

/* The emulation: what one thread of a launch runs. */
#define PBD_EMU_KERNEL(name, ARGS, lanes, CALL)                              \
    void PBD_ENTRY(emu, name)(const void *args, size_t n);                   \
    void PBD_ENTRY(emu, name)(const void *args, size_t n) {                  \
        const ARGS *a = (const ARGS *)args;                                  \
        size_t i = ((size_t)blockIdx.x * PBD_BLOCK + threadIdx.x) / (lanes); \
        if (i < n) CALL;                                                     \
    }
#define PBD_ITEM_KERNEL(name, ARGS, bytes, flops) PBD_EMU_KERNEL(name, ARGS, 1, name(a, i))
#define PBD_TILE_KERNEL(name, ARGS, bytes, flops) PBD_EMU_KERNEL(name, ARGS, PBD_LANES, name(a, i))
#define PBD_BATCH_KERNEL(name, ARGS, bytes, flops) PBD_EMU_KERNEL(name, ARGS, 1, name(a, i, 1))

#else

/* The CPU, and the table that joins the three. The arguments are copied to a local so that the compiler can hold them
 * in registers. Remainders of a batch take the same road with a smaller count; chunks start at multiples of 64
 * (cpu.c), so which items form a batch never depends on the number of threads. */
#if PBD_HAVE_CUDA
#define PBD_CUDA_ENTRY(name) PBD_ENTRY(cuda, name)
#define PBD_DECLARE_CUDA(name) int PBD_CUDA_ENTRY(name)(const void *args, size_t n, void *stream);
#else
#define PBD_CUDA_ENTRY(name) NULL
#define PBD_DECLARE_CUDA(name)
#endif

#define PBD_KERNEL_TABLE(name, ARGS, shape, bytes, flops)                                                          \
    void PBD_ENTRY(emu, name)(const void *args, size_t n);                                                         \
    PBD_DECLARE_CUDA(name)                                                                                         \
    static const pbd_kernel PBD_KERNEL(                                                                            \
        name) = {#name, shape, sizeof(ARGS), PBD_NAME(pbd_cpu_##name), PBD_ENTRY(emu, name), PBD_CUDA_ENTRY(name), \
                 bytes, flops};

#define PBD_LOOP_KERNEL(name, ARGS, shape, bytes, flops)                               \
    static void PBD_NAME(pbd_cpu_##name)(const void *args, size_t begin, size_t end) { \
        const ARGS a = *(const ARGS *)args;                                            \
        for (size_t i = begin; i < end; i++) name(&a, i);                              \
    }                                                                                  \
    PBD_KERNEL_TABLE(name, ARGS, shape, bytes, flops)

#define PBD_ITEM_KERNEL(name, ARGS, bytes, flops) PBD_LOOP_KERNEL(name, ARGS, PBD_SHAPE_ITEM, bytes, flops)
#define PBD_TILE_KERNEL(name, ARGS, bytes, flops) PBD_LOOP_KERNEL(name, ARGS, PBD_SHAPE_TILE, bytes, flops)
#define PBD_BATCH_KERNEL(name, ARGS, bytes, flops)                                     \
    static void PBD_NAME(pbd_cpu_##name)(const void *args, size_t begin, size_t end) { \
        const ARGS a = *(const ARGS *)args;                                            \
        size_t i = begin;                                                              \
        for (; i + PBD_BATCH <= end; i += PBD_BATCH) name(&a, i, PBD_BATCH);           \
        if (i < end) name(&a, i, (int)(end - i));                                      \
    }                                                                                  \
    PBD_KERNEL_TABLE(name, ARGS, PBD_SHAPE_BATCH, bytes, flops)

#endif
#endif
