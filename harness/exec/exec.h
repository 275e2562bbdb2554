/* An exec runs kernels: device memory, copies, launches, timing. Methods use a backend only through this interface. A
 * method allocates and uploads its arrays once, launches kernels by PBD_RUN (kernel.h) in every step, and downloads
 * results when they are read. */
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
    /* The part of one emulated CUDA thread (threadIdx, blockIdx) in a launch over n items. */
    void (*emu)(const void *args, size_t n);
    /* Launches over n items on the stream; a cudaError_t. NULL in a build without CUDA. */
    int (*cuda)(const void *args, size_t n, void *stream);
    double bytes, flops;               /* minimum per item; reports compare it with the machine's limits */
    double entry_bytes, entry_flops;   /* minimum per entry of the lists that items traverse */
    void (*clear_padding)(void *args); /* so that equal arguments have equal bytes; NULL: they have no padding */
} pbd_kernel;

/* Totals of launches, for counters and reports. */
typedef struct pbd_exec_totals {
    uint64_t launches, items, entries;
    uint64_t replayed;    /* launches that ran as part of a repeat */
    uint64_t allocations; /* requests for device memory */
    uint64_t waits;       /* host waits for the device: copies, totals of scans, pbd_exec_wait */
    double bytes, flops;
    size_t allocated, peak; /* device memory now and at most, bytes */
} pbd_exec_totals;

/* backend: PBD_CPU, PBD_EMU or PBD_CUDA. threads: of the cpu backend, 0: all cores. PBD_NOT_SUPPORTED names what is
 * missing (build, driver, device).
 *
 * Reads three environment variables. PBDBENCH_DEVICE_MEMORY (bytes, with suffix k, M or G) limits device memory, as on
 * a smaller device. PBDBENCH_GRAPHS=off: repeats are launched one by one. PBDBENCH_LAUNCH=sync: likewise, and the host
 * waits after each launch, so that an error names its kernel. */
pbd_status pbd_exec_create(int backend, int threads, pbd_exec **out);
void pbd_exec_destroy(pbd_exec *exec); /* NULL-safe */
int pbd_exec_threads(const pbd_exec *exec);
/* Whether it is cuda, or emu, which stands for it. For decisions that are made once, when a method is created. */
bool pbd_exec_is_gpu(const pbd_exec *exec);
/* From now on pbd_exec_is_gpu is true: methods launch what they would launch on a GPU, to list it without one. */
void pbd_exec_lay_out_for_gpu(pbd_exec *exec);
pbd_exec_totals pbd_exec_read_totals(const pbd_exec *exec);
/* Sets all totals except memory to 0, at the start of a timed section. */
void pbd_exec_reset_totals(pbd_exec *exec);
/* Restores totals that were read before work that is not the method's. Memory that is still allocated stays counted. */
void pbd_exec_restore_totals(pbd_exec *exec, const pbd_exec_totals *before);
/* Waits until all launches are done; returns an error of any of them. */
pbd_status pbd_exec_wait(pbd_exec *exec);

/* Time of a sequence of launches, s. wall_s: on a GPU by events, so that host time before the first kernel does not
 * count; otherwise by the monotonic clock. cpu_s: CPU time of the process, all threads. */
typedef struct pbd_exec_time {
    double wall_s, cpu_s;
} pbd_exec_time;

/* Both wait for earlier launches first. Do not nest. */
pbd_status pbd_exec_timer_begin(pbd_exec *exec);
pbd_status pbd_exec_timer_end(pbd_exec *exec, pbd_exec_time *out);

/* Device memory, zeroed, aligned to 64 bytes. pbd_free is NULL-safe. */
pbd_status pbd_alloc(pbd_exec *exec, size_t bytes, void **out);
void pbd_free(pbd_exec *exec, void *memory);
pbd_status pbd_upload(pbd_exec *exec, void *device, const void *host, size_t bytes);
pbd_status pbd_download(pbd_exec *exec, void *host, const void *device, size_t bytes);

/* The work from which the cost of a launch is computed. Items without lists: n items, no entries. Slices of particles:
 * the particles in them, and their neighbours as entries. */
typedef struct pbd_work {
    size_t items, entries;
    double more_flops; /* in addition to those of items and entries: of images at walls */
} pbd_work;

/* Runs `kernel` over n items; `items`, `entries` and `more_flops` are those of pbd_work. The result does not depend on
 * the number of threads. `args` is copied. Small launches are frequent: a struct here costs a failed store forwarding
 * in each. */
pbd_status pbd_run(pbd_exec *exec, const pbd_kernel *kernel, size_t n, size_t items, size_t entries, double more_flops,
                   const void *args);

/* A hook that receives each launch instead of the backend, to count, time or repeat it (harness/bench/kernel_trial.c).
 * `launch` runs it by pbd_run, immediately or when `settle` is called, which happens before any other use of the
 * device. While a hook is set, repeats are launched one by one. NULL: no hook. `watch` is borrowed. */
typedef struct pbd_launch_watch {
    pbd_status (*launch)(void *self, const pbd_kernel *kernel, size_t n, pbd_work work, const void *args);
    pbd_status (*settle)(void *self);
    void *self;
} pbd_launch_watch;
void pbd_exec_watch(pbd_exec *exec, const pbd_launch_watch *watch);

/* The current allocations; valid until the next pbd_alloc or pbd_free. */
typedef struct pbd_block {
    void *memory;
    size_t bytes;
} pbd_block;
const pbd_block *pbd_exec_blocks(const pbd_exec *exec, size_t *count);

/* A sequence of launches that is repeated with the same arguments, such as that of a step or of its iterations. Between
 * begin and end launches are deferred. At the end they run: on a GPU as one CUDA graph if launches and arguments are
 * the same as last time. Copies, allocations and waits in between are allowed: they first run the deferred launches,
 * and the rest of the sequence is not deferred. The cpu backend defers nothing. *repeat starts as NULL; do not nest. */
typedef struct pbd_repeat pbd_repeat;
pbd_status pbd_repeat_begin(pbd_exec *exec, pbd_repeat **repeat);
pbd_status pbd_repeat_end(pbd_exec *exec);
void pbd_repeat_free(pbd_exec *exec, pbd_repeat *repeat); /* NULL-safe */

/* Stable sort of pairs on the device by the lowest `bits` bits of their keys (0 to 32). `exec` keeps the scratch
 * memory. */
pbd_status pbd_sort_pairs(pbd_exec *exec, uint32_t *keys, uint32_t *values, size_t n, int bits);
/* Exclusive scan on the device: values[0 .. n) becomes the sum of the values before each, values[n] the total. *total
 * is the total in 64 bits; if it exceeds 32 bits, the values are invalid. Waits, unless total is NULL. */
pbd_status pbd_scan(pbd_exec *exec, uint32_t *values, size_t n, uint64_t *total);

#ifdef __cplusplus
}
#endif
#endif
