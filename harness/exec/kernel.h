/* How a kernel is written: once, as a body that is valid C17 and C++17, compiled for each place where it runs.
 *
 * A body is a function `PBD_FN void NAME(const ARGS *a, size_t i)` (item and tile) or
 * `PBD_FN void NAME(const ARGS *a, size_t first, int count)` (batch). ARGS is a plain struct of numbers and device
 * pointers. A body writes only what its own item owns: the caller's colouring or gather form sees to that.
 *
 *   item    one constraint or particle per lane
 *   tile    one particle per tile, lanes over its neighbours: `for (k = begin + PBD_LANE; k < end; k += PBD_LANES)`,
 *           then tile_sum (tile.h); the lane with PBD_LANE == 0 writes. One lane on the CPU.
 *   batch   `count` <= PBD_BATCH independent constraints of one colour from `first` on, held in arrays of PBD_BATCH and
 *           worked through in short loops without branches, which the compiler turns into SIMD. On a GPU PBD_BATCH is 1.
 *
 * One line after the body makes it launchable: PBD_ITEM_KERNEL(NAME, ARGS, bytes, flops), and likewise for the others;
 * bytes and flops are what one item must move and do. The kernel is then PBD_KERNEL(NAME), of this precision.
 */
#ifndef PBD_KERNEL_H
#define PBD_KERNEL_H

#include "harness/exec/exec.h"
#include "methods/physics/real.h"

/* Constraints per SIMD batch: two AVX-512 vectors of f32, four of f64. */
#define PBD_BATCH 16

/* The arguments are copied to a local so that the compiler can hold them in registers. Remainders of a batch take the
 * same road with a smaller count; chunks start at multiples of PBD_CHUNK, so which items form a batch never depends on
 * the number of threads. */
#define PBD_CHUNK 64

#define PBD_KERNEL(name) PBD_NAME(pbd_kernel_##name)

#define PBD_ITEM_KERNEL_OF_SHAPE(name, ARGS, shape, bytes, flops)                            \
    static void PBD_NAME(pbd_cpu_##name)(const void *args, size_t begin, size_t end) {       \
        const ARGS a = *(const ARGS *)args;                                                  \
        for (size_t i = begin; i < end; i++) name(&a, i);                                    \
    }                                                                                        \
    static const pbd_kernel PBD_KERNEL(name) = {#name, shape, sizeof(ARGS), PBD_NAME(pbd_cpu_##name), bytes, flops};

#define PBD_ITEM_KERNEL(name, ARGS, bytes, flops) PBD_ITEM_KERNEL_OF_SHAPE(name, ARGS, PBD_SHAPE_ITEM, bytes, flops)
#define PBD_TILE_KERNEL(name, ARGS, bytes, flops) PBD_ITEM_KERNEL_OF_SHAPE(name, ARGS, PBD_SHAPE_TILE, bytes, flops)

#define PBD_BATCH_KERNEL(name, ARGS, bytes, flops)                                              \
    static void PBD_NAME(pbd_cpu_##name)(const void *args, size_t begin, size_t end) {          \
        const ARGS a = *(const ARGS *)args;                                                     \
        size_t i = begin;                                                                       \
        for (; i + PBD_BATCH <= end; i += PBD_BATCH) name(&a, i, PBD_BATCH);                    \
        if (i < end) name(&a, i, (int)(end - i));                                               \
    }                                                                                           \
    static const pbd_kernel PBD_KERNEL(name) = {#name, PBD_SHAPE_BATCH, sizeof(ARGS),           \
                                                PBD_NAME(pbd_cpu_##name), bytes, flops};

#endif
