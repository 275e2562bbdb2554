/* Where kernels run: memory of the device and launches. Methods see nothing else of a backend. */
#ifndef PBD_EXEC_H
#define PBD_EXEC_H

#include "methods/method.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The three shapes of a kernel; see kernel.h for how one is written. */
typedef enum pbd_shape { PBD_SHAPE_ITEM, PBD_SHAPE_TILE, PBD_SHAPE_BATCH } pbd_shape;

typedef struct pbd_kernel {
    const char *name;
    pbd_shape shape;
    size_t args_bytes;
    /* Runs items [begin, end) with the arguments at `args`. */
    void (*cpu)(const void *args, size_t begin, size_t end);
    /* What one emulated CUDA thread runs of a launch over n items. */
    void (*emu)(const void *args, size_t n);
    /* Launches over n items on the stream; a cudaError_t. NULL in a build without CUDA. */
    int (*cuda)(const void *args, size_t n, void *stream);
    double bytes, flops;             /* that an item must move and do at least: what reports compare with the limits */
    double entry_bytes, entry_flops; /* likewise for each entry of the lists that its items walk over */
} pbd_kernel;

/* What ran, per exec: for counters and reports. */
typedef struct pbd_exec_totals {
    uint64_t launches, items, entries;
    uint64_t replayed;    /* of the launches: as part of a repeat */
    uint64_t allocations; /* requests for device memory */
    uint64_t waits;       /* of the host for the device: copies, totals of scans, pbd_exec_wait */
    double bytes, flops;
    size_t allocated, peak; /* bytes of device memory now and at most */
} pbd_exec_totals;

/* backend: PBD_CPU, PBD_EMU or PBD_CUDA; threads is for the cpu backend, 0: all cores. PBD_NOT_SUPPORTED says what is
 * missing (build, driver, device).
 *
 * Three variables of the environment are read here. PBDBENCH_DEVICE_MEMORY, bytes with k, M or G behind them: more than
 * that is not given out, as on a smaller device. PBDBENCH_GRAPHS=off: repeats are launched one by one.
 * PBDBENCH_WAIT=launch: the same, and the host waits after each launch, so that a fault names its kernel. */
pbd_status pbd_exec_create(int backend, int threads, pbd_exec **out);
void pbd_exec_destroy(pbd_exec *exec); /* NULL-safe */
int pbd_exec_threads(const pbd_exec *exec);
pbd_exec_totals pbd_exec_read_totals(const pbd_exec *exec);
/* Forgets all but the memory: a timed section starts from 0. */
void pbd_exec_reset_totals(pbd_exec *exec);
/* Waits until all launches are done; reports an error that one of them met. */
pbd_status pbd_exec_wait(pbd_exec *exec);

/* What a stretch of launches took, s: on a GPU `wall_s` is by its own events, so that launches and idle host time
 * before the first kernel do not count; elsewhere by the monotonic clock. `cpu_s` is the process's, all threads. */
typedef struct pbd_exec_time {
    double wall_s, cpu_s;
} pbd_exec_time;

/* Starts the clock, after waiting for earlier launches; and stops it, after waiting for those since. Do not nest. */
pbd_status pbd_exec_timer_begin(pbd_exec *exec);
pbd_status pbd_exec_timer_end(pbd_exec *exec, pbd_exec_time *out);

/* Device memory, zeroed, aligned to 64 bytes. pbd_free is NULL-safe. */
pbd_status pbd_alloc(pbd_exec *exec, size_t bytes, void **out);
void pbd_free(pbd_exec *exec, void *memory);
pbd_status pbd_upload(pbd_exec *exec, void *device, const void *host, size_t bytes);
pbd_status pbd_download(pbd_exec *exec, void *host, const void *device, size_t bytes);

/* What the cost of a launch is counted by: n items that walk over no lists have n items and no entries; slices of
 * particles have the particles that are in them, and their neighbours. */
typedef struct pbd_work {
    size_t items, entries;
} pbd_work;

/* Runs `kernel` over n items; the answer does not depend on the number of threads. `args` is copied. */
pbd_status pbd_run(pbd_exec *exec, const pbd_kernel *kernel, size_t n, pbd_work work, const void *args);

/* Who sees each launch in its place, to count, time or repeat it (harness/bench/kernel_trial.c). `launch` runs it by
 * pbd_run, now or when `settle` is called, which is before anything else that the device is asked to do. Repeats are
 * launched one by one meanwhile. NULL: nobody. `watch` is borrowed. */
typedef struct pbd_launch_watch {
    pbd_status (*launch)(void *self, const pbd_kernel *kernel, size_t n, pbd_work work, const void *args);
    pbd_status (*settle)(void *self);
    void *self;
} pbd_launch_watch;
void pbd_exec_watch(pbd_exec *exec, const pbd_launch_watch *watch);

/* All that pbd_alloc has given out and pbd_free not taken back; good until the next of either. */
typedef struct pbd_block {
    void *memory;
    size_t bytes;
} pbd_block;
const pbd_block *pbd_exec_blocks(const pbd_exec *exec, size_t *count);

/* Launches that come again and again with the same arguments, such as those of a step. Between begin and end launches
 * are deferred; at the end they run, on a GPU as one CUDA graph where the last time was the same to the byte. What
 * reads, writes, allocates or waits in between is no error: what was deferred runs first, and it was no repeat this
 * time. On the cpu nothing is deferred. Begins with *repeat NULL; do not nest. */
typedef struct pbd_repeat pbd_repeat;
pbd_status pbd_repeat_begin(pbd_exec *exec, pbd_repeat **repeat);
pbd_status pbd_repeat_end(pbd_exec *exec);
void pbd_repeat_free(pbd_exec *exec, pbd_repeat *repeat); /* NULL-safe */

/* Sorts pairs on the device by the lowest `bits` bits of their keys (0 to 32); equal keys keep their order, so that
 * there is one answer. What it needs besides is kept by `exec` until it is destroyed. */
pbd_status pbd_sort_pairs(pbd_exec *exec, uint32_t *keys, uint32_t *values, size_t n, int bits);
/* Turns values[0 .. n) on the device into the sum of all before each, and values[n] into the sum of all. *total is that
 * sum in full: where it does not fit 32 bits the values are of no use. Waits, but not when total is NULL. */
pbd_status pbd_scan(pbd_exec *exec, uint32_t *values, size_t n, uint64_t *total);

#ifdef __cplusplus
}
#endif
#endif
