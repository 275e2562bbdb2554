/* Kernels one by one: which ones a step launches, and one of them checked and timed alone.
 *
 * A trial takes the first uninterrupted series of launches of a kernel in a step (one launch, or a sweep over colours)
 * with the arguments and the device memory that they have there. The series runs twice from that memory: where the cell
 * runs, and in its plain form on a copy, one item a thread without SIMD, as the emulation of CUDA runs it (of a cell on
 * the emulation: as the CPU runs it). When the two agree the series is timed, again and again from the same memory. */
#ifndef PBD_KERNEL_TRIAL_H
#define PBD_KERNEL_TRIAL_H

#include "harness/bench/limits/limits.h"
#include "harness/plan/plan.h"

/* What a kernel's launches in one step, or the series of a trial, are together. */
typedef struct pbd_kernel_use {
    char name[64];
    const char *shape; /* item, tile, batch */
    uint64_t launches, items, entries;
    uint64_t lanes;         /* of an item on a GPU */
    uint64_t threads;       /* on a GPU: items and their lanes, of all launches */
    uint64_t fewest_blocks; /* of a launch on a GPU */
    double bytes, flops;
    double flops_per_item, flops_per_entry, bytes_per_entry;
    double more_flops; /* in `flops`, beside those of items and entries */
    double seconds;    /* wall */
} pbd_kernel_use;

/* All kernels of the fastest of `steps` >= 1 steps after `warmup` others, the one that takes the most time first; after
 * each launch the device is synchronised. for_gpu: those that a step would launch on a GPU, run by the cell's backend.
 * allocated: device memory after these steps, bytes; may be NULL. The caller frees *out. */
pbd_status pbd_kernel_list(const pbd_plan_item *item, long warmup, long steps, bool for_gpu, pbd_kernel_use **out,
                           size_t *count, size_t *allocated);

typedef struct pbd_kernel_trial {
    /* What is asked. */
    const char *kernel;
    long warmup, repetitions;
    double bound; /* 0: 1e-3 in f32, 1e-10 in f64 */
    /* What is found. */
    pbd_kernel_use use; /* its seconds: the median of the samples */
    /* The largest difference between the two results of a buffer, over the largest number that the series writes to it.
     * Every fourth number has a separate scale: rows of four are a vector and a mass or a volume. Whole numbers are
     * equal, or the difference is infinite. */
    double difference;
    /* Numbers that change; and those that one form changes and the other does not: places that fill up slices, which
     * SIMD computes and nothing reads. PBD_FAILED when these are more. */
    size_t written, unmatched;
    double *sample; /* s, by repetition; the caller frees it */
    double cpu;     /* s, of all */
} pbd_kernel_trial;

/* PBD_BAD_INPUT when a step launches no such kernel, PBD_FAILED when the results differ by more than the bound. */
pbd_status pbd_kernel_try(const pbd_plan_item *item, pbd_kernel_trial *trial);

#endif
