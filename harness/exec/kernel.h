/* How to write a kernel: once, as a body that is valid C17 and C++17 and is compiled for each backend.
 *
 * The kernels of method NAME are in methods/NAME/NAME_kernels.h. For float and for double that header is compiled as
 * part of NAME.c for the CPU, separately with -DPBD_EMULATE for the emulation of CUDA threads, and by nvcc.
 *
 * A kernel consists of a plain struct ARGS of numbers and device pointers, and one definition:
 *
 *     PBD_ITEM(drift, drift_args, i, 10 * sizeof(real), 6) {
 *         for (size_t d = 3 * i; d < 3 * i + 3; d++) a->x[d] += a->dt * a->v[d];
 *     }
 *     ...
 *     PBD_TRY(PBD_RUN(exec, drift, n, &args));
 *
 * `a` points to the arguments, `i` is the item. The two numbers are the minimal bytes and operations per item, with
 * each argument read or written once. PBD_RUN checks the type of the arguments at compile time.
 *
 * Kernels whose items traverse lists (neighbours, pairs, particles of a cell) use PBD_ITEM_OVER, PBD_TILE_OVER or
 * PBD_BATCH_OVER. Two further numbers are the cost per list entry, and a launch gives the numbers of items and entries,
 * without padding of slices and lanes:
 *
 *     PBD_TRY(PBD_RUN(exec, name, n, (pbd_work){.items = particles, .entries = neighbours}, &args));
 *
 * Bytes and operations of the launch, and the decision to use threads, are work.items times the first pair of numbers
 * plus work.entries times the second, plus work.more_flops operations. Where the host knows the number of entries only
 * after waiting for the device, it passes an estimate, documented at the launch.
 *
 * Repeats (pbd_repeat_begin) compare arguments by bytes, after clearing their padding. A body writes only data of its
 * own item; the method ensures this by colouring or by gathering.
 *
 *   item    one constraint or particle per lane
 *   tile    one particle per tile of PBD_LANES lanes, lanes over its neighbours:
 *           `for (k = begin + PBD_LANE; k < end; k += PBD_LANES)`, then tile_sum (tile.h); the lane with PBD_LANE == 0
 *           writes. One lane on the CPU. Or one cluster of elements per tile, which shares their particles
 *           (methods/physics/parts/element_clusters.h).
 *   batch   `count` <= PBD_BATCH independent constraints of one colour from `first` on, held in arrays of PBD_BATCH and
 *           worked through in short loops without branches, which the compiler turns into SIMD. On a GPU PBD_BATCH is 1
 *           and the batch is an item.
 *   batches the same with `count` <= 2 PBD_BATCH, for bodies that compute two batches together (mat3_svds).
 *
 * The build defines PBD_UNIT as the method's name, so that several methods may have kernels of the same name or include
 * the same header.
 */
#ifndef PBD_KERNEL_H
#define PBD_KERNEL_H

#include "harness/exec/exec.h"
#include "harness/exec/lanes.h"

#define PBD_KERNEL(name) PBD_NAME(pbd_kernel_##name)
/* The symbol of a kernel's entry in another object: pbd_emu_UNIT_NAME_float. */
#define PBD_ENTRY(place, name) PBD_NAME(PBD_PASTE(PBD_PASTE(pbd_##place, PBD_UNIT), name))

#if defined(__CUDACC__)

/* nvcc: the __global__ function and its launch, with n * lanes threads in blocks of PBD_BLOCK. */
#define PBD_GPU_KERNEL(name, ARGS, lanes, CALL)                                                                        \
    static __global__ void __launch_bounds__(PBD_BLOCK, 1) PBD_NAME(pbd_global_##name)(const ARGS args, size_t n) {    \
        const ARGS *a = &args;                                                                                         \
        size_t i = ((size_t)blockIdx.x * PBD_BLOCK + threadIdx.x) / (lanes);                                           \
        if (i < n) CALL;                                                                                               \
    }                                                                                                                  \
    extern "C" int PBD_ENTRY(cuda, name)(const void *args, size_t n, void *stream) {                                   \
        size_t blocks = (n * (lanes) + PBD_BLOCK - 1) / PBD_BLOCK;                                                     \
        PBD_NAME(pbd_global_##name)<<<(unsigned)blocks, PBD_BLOCK, 0, (cudaStream_t)stream>>>(*(const ARGS *)args, n); \
        return (int)cudaGetLastError();                                                                                \
    }
#define PBD_ITEM_ENTRY(name, ARGS) PBD_GPU_KERNEL(name, ARGS, 1, name(a, i))
#define PBD_TILE_ENTRY(name, ARGS) PBD_GPU_KERNEL(name, ARGS, PBD_LANES, name(a, i))
#define PBD_BATCH_ENTRY(name, ARGS) PBD_GPU_KERNEL(name, ARGS, 1, name(a, i, 1))
#define PBD_BATCHES_ENTRY PBD_BATCH_ENTRY
#define PBD_KERNEL_TABLE(...)
#define PBD_KERNEL_LAUNCH(name, ARGS)
#define PBD_KERNEL_LAUNCH_OVER(name, ARGS)

#elif defined(PBD_EMULATE)

/* The emulation: the part of one thread. */
#define PBD_EMU_KERNEL(name, ARGS, lanes, CALL)                              \
    void PBD_ENTRY(emu, name)(const void *args, size_t n);                   \
    void PBD_ENTRY(emu, name)(const void *args, size_t n) {                  \
        const ARGS *a = (const ARGS *)args;                                  \
        size_t i = ((size_t)blockIdx.x * PBD_BLOCK + threadIdx.x) / (lanes); \
        if (i < n) CALL;                                                     \
    }
#define PBD_ITEM_ENTRY(name, ARGS) PBD_EMU_KERNEL(name, ARGS, 1, name(a, i))
#define PBD_TILE_ENTRY(name, ARGS) PBD_EMU_KERNEL(name, ARGS, PBD_LANES, name(a, i))
#define PBD_BATCH_ENTRY(name, ARGS) PBD_EMU_KERNEL(name, ARGS, 1, name(a, i, 1))
#define PBD_BATCHES_ENTRY PBD_BATCH_ENTRY
#define PBD_KERNEL_TABLE(...)
#define PBD_KERNEL_LAUNCH(name, ARGS)
#define PBD_KERNEL_LAUNCH_OVER(name, ARGS)

#else

/* The CPU, and the table of the three entries. The arguments are copied to a local so that the compiler can keep them
 * in registers. The last, partial batch runs the same body with a smaller count. Chunks start at multiples of 64
 * (cpu.c), so the items of a batch do not depend on the number of threads. */
#if PBD_HAVE_CUDA
#define PBD_CUDA_ENTRY(name) PBD_ENTRY(cuda, name)
#define PBD_DECLARE_CUDA(name) int PBD_CUDA_ENTRY(name)(const void *args, size_t n, void *stream);
#else
#define PBD_CUDA_ENTRY(name) NULL
#define PBD_DECLARE_CUDA(name)
#endif

/* Without the builtin (clang), equal arguments with padding may differ in bytes: such launches may then not become a
 * graph. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
#define PBD_CLEAR_PADDING(args) __builtin_clear_padding(args)
#endif
#endif
#if !defined(PBD_CLEAR_PADDING)
#define PBD_CLEAR_PADDING(args) ((void)(args))
#endif

#define PBD_KERNEL_TABLE(name, ARGS, shape, bytes, flops, entry_bytes, entry_flops)         \
    void PBD_ENTRY(emu, name)(const void *args, size_t n);                                  \
    PBD_DECLARE_CUDA(name)                                                                  \
    static void PBD_NAME(pbd_clear_##name)(void *args) { PBD_CLEAR_PADDING((ARGS *)args); } \
    static const pbd_kernel PBD_KERNEL(name) = {#name,                                      \
                                                shape,                                      \
                                                sizeof(ARGS),                               \
                                                PBD_NAME(pbd_cpu_##name),                   \
                                                PBD_ENTRY(emu, name),                       \
                                                PBD_CUDA_ENTRY(name),                       \
                                                bytes,                                      \
                                                flops,                                      \
                                                entry_bytes,                                \
                                                entry_flops,                                \
                                                PBD_NAME(pbd_clear_##name)};

/* The typed launches that PBD_RUN calls. */
#define PBD_KERNEL_LAUNCH(name, ARGS)                                                            \
    PBD_FN pbd_status PBD_NAME(pbd_launch_##name)(pbd_exec * exec, size_t n, const ARGS *args) { \
        return pbd_run(exec, &PBD_KERNEL(name), n, n, 0, 0, args);                               \
    }
#define PBD_KERNEL_LAUNCH_OVER(name, ARGS)                                                                      \
    PBD_FN pbd_status PBD_NAME(pbd_launch_##name)(pbd_exec * exec, size_t n, pbd_work work, const ARGS *args) { \
        return pbd_run(exec, &PBD_KERNEL(name), n, work.items, work.entries, work.more_flops, args);            \
    }
#define PBD_RUN(exec, name, ...) PBD_NAME(pbd_launch_##name)(exec, __VA_ARGS__)

#define PBD_LOOP_ENTRY(name, ARGS)                                                     \
    static void PBD_NAME(pbd_cpu_##name)(const void *args, size_t begin, size_t end) { \
        const ARGS a = *(const ARGS *)args;                                            \
        for (size_t i = begin; i < end; i++) name(&a, i);                              \
    }
#define PBD_ITEM_ENTRY(name, ARGS) PBD_LOOP_ENTRY(name, ARGS)
#define PBD_TILE_ENTRY(name, ARGS) PBD_LOOP_ENTRY(name, ARGS)
#define PBD_STRIDED_ENTRY(name, ARGS, most)                                            \
    static void PBD_NAME(pbd_cpu_##name)(const void *args, size_t begin, size_t end) { \
        const ARGS a = *(const ARGS *)args;                                            \
        size_t i = begin;                                                              \
        for (; i + (most) <= end; i += (most)) name(&a, i, (most));                    \
        if (i < end) name(&a, i, (int)(end - i));                                      \
    }
#define PBD_BATCH_ENTRY(name, ARGS) PBD_STRIDED_ENTRY(name, ARGS, PBD_BATCH)
#define PBD_BATCHES_ENTRY(name, ARGS) PBD_STRIDED_ENTRY(name, ARGS, 2 * PBD_BATCH)

#endif

#define PBD_SHAPE_BATCHES PBD_SHAPE_BATCH

/* Defines a kernel's entry, table row and launch, and opens its body. */
#define PBD_DEFINE(shape, launch, head, name, ARGS, ...)                                         \
    PBD_FN void name head;                                                                       \
    PBD_##shape##_ENTRY(name, ARGS) PBD_KERNEL_TABLE(name, ARGS, PBD_SHAPE_##shape, __VA_ARGS__) \
        PBD_KERNEL_##launch(name, ARGS) PBD_FN void name head
#define PBD_ITEM(name, ARGS, i, bytes, flops) \
    PBD_DEFINE(ITEM, LAUNCH, (const ARGS *a, size_t i), name, ARGS, bytes, flops, 0, 0)
#define PBD_TILE(name, ARGS, i, bytes, flops) \
    PBD_DEFINE(TILE, LAUNCH, (const ARGS *a, size_t i), name, ARGS, bytes, flops, 0, 0)
#define PBD_BATCH_OF(name, ARGS, first, count, bytes, flops) \
    PBD_DEFINE(BATCH, LAUNCH, (const ARGS *a, size_t first, int count), name, ARGS, bytes, flops, 0, 0)
#define PBD_BATCHES_OF(name, ARGS, first, count, bytes, flops) \
    PBD_DEFINE(BATCHES, LAUNCH, (const ARGS *a, size_t first, int count), name, ARGS, bytes, flops, 0, 0)
#define PBD_ITEM_OVER(name, ARGS, i, ...) \
    PBD_DEFINE(ITEM, LAUNCH_OVER, (const ARGS *a, size_t i), name, ARGS, __VA_ARGS__)
#define PBD_TILE_OVER(name, ARGS, i, ...) \
    PBD_DEFINE(TILE, LAUNCH_OVER, (const ARGS *a, size_t i), name, ARGS, __VA_ARGS__)
#define PBD_BATCH_OVER(name, ARGS, first, count, ...) \
    PBD_DEFINE(BATCH, LAUNCH_OVER, (const ARGS *a, size_t first, int count), name, ARGS, __VA_ARGS__)

#endif
