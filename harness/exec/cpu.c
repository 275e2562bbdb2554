/* The cpu backend: device memory is host memory, items go to OpenMP threads in fixed chunks.
 *
 * Which items stand in which chunk, and so in which SIMD batch, does not depend on the number of threads, and a kernel
 * writes only what its item owns: answers are bitwise equal for any number of threads. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/exec.h"

enum {
    CHUNK = 64,           /* PBD_CHUNK of kernel.h */
    SMALL_LAUNCH = 4096   /* items below which waking the threads costs more than the work */
};

#if defined(__SANITIZE_THREAD__)
/* libgomp is not instrumented: tell ThreadSanitizer of the fork and the join, which is all the order there is. What the
 * compiler itself writes and reads around the fork (the captured variables) lies outside the two, so the function with
 * the parallel region is left out; the kernels it calls are not. */
void __tsan_acquire(void *);
void __tsan_release(void *);
#define TSAN_LEFT_OUT __attribute__((no_sanitize("thread")))
#define TSAN_ACQUIRE(address) __tsan_acquire(address)
#define TSAN_RELEASE(address) __tsan_release(address)
#else
#define TSAN_LEFT_OUT
#define TSAN_ACQUIRE(address) ((void)(address))
#define TSAN_RELEASE(address) ((void)(address))
#endif

struct pbd_exec {
    int threads;
    pbd_exec_totals totals;
};

/* In front of each allocation: its size, for the count of memory. Keeps the alignment of 64. */
typedef union allocation {
    size_t bytes;
    char room[64];
} allocation;

pbd_status pbd_exec_create(int backend, int threads, pbd_exec **out) {
    *out = NULL;
    if (backend != PBD_CPU) return pbd_error(PBD_NOT_SUPPORTED, "only the cpu backend is in this build");
    pbd_exec *exec = calloc(1, sizeof *exec);
    if (!exec) return pbd_error(PBD_FAILED, "out of memory for the cpu backend");
    exec->threads = threads > 0 ? threads : omp_get_num_procs();
    *out = exec;
    return pbd_ok();
}

void pbd_exec_destroy(pbd_exec *exec) { free(exec); }
int pbd_exec_threads(const pbd_exec *exec) { return exec->threads; }
pbd_exec_totals pbd_exec_read_totals(const pbd_exec *exec) { return exec->totals; }

void pbd_exec_reset_totals(pbd_exec *exec) {
    exec->totals.launches = exec->totals.items = 0;
    exec->totals.bytes = exec->totals.flops = 0;
}

pbd_status pbd_alloc(pbd_exec *exec, size_t bytes, void **out) {
    size_t total = sizeof(allocation) + (bytes + 63) / 64 * 64;
    allocation *memory = total >= bytes ? aligned_alloc(64, total) : NULL;
    if (!memory) return pbd_error(PBD_FAILED, "out of memory: a buffer of %zu bytes cannot be had", bytes);
    memset(memory, 0, total);
    memory->bytes = bytes;
    exec->totals.allocated += bytes;
    if (exec->totals.allocated > exec->totals.peak) exec->totals.peak = exec->totals.allocated;
    *out = memory + 1;
    return pbd_ok();
}

void pbd_free(pbd_exec *exec, void *memory) {
    if (!memory) return;
    allocation *start = (allocation *)memory - 1;
    exec->totals.allocated -= start->bytes;
    free(start);
}

pbd_status pbd_upload(pbd_exec *exec, void *device, const void *host, size_t bytes) {
    (void)exec;
    if (bytes) memcpy(device, host, bytes);
    return pbd_ok();
}

pbd_status pbd_download(pbd_exec *exec, void *host, const void *device, size_t bytes) {
    (void)exec;
    if (bytes) memcpy(host, device, bytes);
    return pbd_ok();
}

TSAN_LEFT_OUT static void run_threads(int threads, const pbd_kernel *kernel, size_t n, const void *args) {
    size_t chunks = (n + CHUNK - 1) / CHUNK;
    char fork_point, join_point;
    TSAN_RELEASE(&fork_point);
#pragma omp parallel num_threads(threads)
    {
        TSAN_ACQUIRE(&fork_point);
        size_t thread = (size_t)omp_get_thread_num(), team = (size_t)omp_get_num_threads();
        size_t begin = chunks * thread / team * CHUNK, end = chunks * (thread + 1) / team * CHUNK;
        if (end > n) end = n;
        if (begin < end) kernel->cpu(args, begin, end);
        TSAN_RELEASE(&join_point);
    }
    TSAN_ACQUIRE(&join_point);
}

pbd_status pbd_run(pbd_exec *exec, const pbd_kernel *kernel, size_t n, const void *args) {
    if (n == 0) return pbd_ok();
    if (exec->threads == 1 || n < SMALL_LAUNCH)
        kernel->cpu(args, 0, n);
    else
        run_threads(exec->threads, kernel, n, args);
    exec->totals.launches++;
    exec->totals.items += n;
    exec->totals.bytes += kernel->bytes * (double)n;
    exec->totals.flops += kernel->flops * (double)n;
    return pbd_ok();
}
