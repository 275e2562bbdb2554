/* CUDA threads emulated on the host, so that a machine without a GPU tests the kernels' indexing, tiles, shared memory
 * and barriers.
 *
 * Blocks run one after another. The threads of a block are fibres that switch at barriers and exchanges; under
 * ThreadSanitizer they are pthreads, so that it detects accesses that no barrier orders. Threads of kernels without
 * barriers run one after another.
 *
 * Two checks detect races without a sanitizer. First, a launch runs twice, with blocks and threads in descending and in
 * ascending order, from the same memory and with poisoned shared memory: a kernel whose result depends on the order
 * has a race. Second, a word that two blocks of one launch change (two threads, for kernels without barriers and small
 * memory) is an error. Launches are not checked above 8 MiB of device memory, nor are the buffers that a launch writes
 * to by atomic.h.
 */
#ifndef PBD_EMU_H
#define PBD_EMU_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pbd_emu_index {
    unsigned x;
} pbd_emu_index;

/* Of the running thread, under CUDA's names. In a plug-in they are read through functions of the program. */
#if defined(PBD_IN_PLUGIN)
#define threadIdx (*pbd_emu_thread_index())
#define blockIdx (*pbd_emu_block_index())
#else
extern _Thread_local pbd_emu_index threadIdx, blockIdx;
#endif
pbd_emu_index *pbd_emu_thread_index(void);
pbd_emu_index *pbd_emu_block_index(void);

/* __syncthreads(): all running threads of the block must call it. */
void pbd_emu_barrier(void);
/* Allocates the block's next piece of shared memory: every thread makes the same calls in the same order. */
void *pbd_emu_shared(size_t bytes);
/* Sums `count` values over the PBD_GPU_LANES lanes of the caller's tile, in the order of a butterfly of shuffles. */
void pbd_emu_tile_sums(void *values, int count, bool is_double);
/* lane_fetch and lane_fetch_wait of tile.h. Until it is complete, a copy's target holds NaN. */
void pbd_emu_fetch(void *to, const void *from, size_t bytes);
void pbd_emu_fetch_wait(void);
/* The buffer of this address is not compared after the running launch, since its words are written by atomic.h. */
void pbd_emu_unordered(const void *address);

#endif
