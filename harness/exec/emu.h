/* CUDA threads emulated on the host, so that a machine without a GPU runs the kernels' own indexing, tiles, shared
 * memory and barriers.
 *
 * Blocks run one after another; the threads of a block are fibres that change at barriers and exchanges (pthreads under
 * ThreadSanitizer, which then sees what no barrier orders). Kernels without barriers run thread after thread.
 *
 * Two checks make races visible without a sanitizer. A launch runs twice, once with blocks and threads in ascending and
 * once in descending order, each time from the same memory and with shared memory poisoned: a kernel whose answer
 * depends on the order has a race. And a word that two blocks of one launch change (two threads, where a kernel has no
 * barriers and memory is small) is an error in itself. Above 8 MiB of device memory launches are not checked.
 */
#ifndef PBD_EMU_H
#define PBD_EMU_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pbd_emu_index {
    unsigned x;
} pbd_emu_index;

/* Of the running thread, under CUDA's names. A plug-in asks the program for them. */
#if defined(PBD_IN_PLUGIN)
#define threadIdx (*pbd_emu_thread_index())
#define blockIdx (*pbd_emu_block_index())
#else
extern _Thread_local pbd_emu_index threadIdx, blockIdx;
#endif
pbd_emu_index *pbd_emu_thread_index(void);
pbd_emu_index *pbd_emu_block_index(void);

/* __syncthreads(). All threads of the block that are still running must come here. */
void pbd_emu_barrier(void);
/* The block's next piece of shared memory: every thread asks for the same pieces in the same order. */
void *pbd_emu_shared(size_t bytes);
/* Adds up `count` values over the PBD_GPU_LANES lanes of the caller's tile, in the order of a butterfly of shuffles. */
void pbd_emu_tile_sums(void *values, int count, bool is_double);

#endif
