/* The part of an exec that is the same for every backend: dispatch and totals. */
#include "harness/exec/exec.h"

#include <omp.h>
#include <stdlib.h>
#include <time.h>

#include "harness/exec/backend.h"

struct pbd_exec {
    const pbd_backend_ops *ops;
    void *self;
    int threads;
    pbd_exec_totals totals;
    double timer_wall, timer_cpu; /* clocks when the timer began, s */
    /* Sizes of what is allocated, for the totals: few and long-lived, so a list is enough. */
    struct block {
        void *memory;
        size_t bytes;
    } * block;
    size_t blocks;
    void *scratch; /* device: what sort and scan need besides; grows */
    size_t scratch_bytes;
};

#if !PBD_HAVE_CUDA
const char *pbd_cuda_missing(void) {
    return "this build has no CUDA: no CUDA toolkit (nvcc) was found when it was made";
}
const char *pbd_cuda_device(void) { return ""; }
#endif

static pbd_status ops_of(int backend, const pbd_backend_ops **ops) {
    if (backend == PBD_CPU)
        *ops = &pbd_cpu_ops;
    else if (backend == PBD_EMU)
        *ops = &pbd_emu_ops;
    else if (*pbd_cuda_missing())
        return pbd_error(PBD_NOT_SUPPORTED, "backend cuda is not available: %s", pbd_cuda_missing());
#if PBD_HAVE_CUDA
    else
        *ops = &pbd_cuda_ops;
#endif
    return pbd_ok();
}

pbd_status pbd_exec_create(int backend, int threads, pbd_exec **out) {
    *out = NULL;
    const pbd_backend_ops *ops = NULL;
    PBD_TRY(ops_of(backend, &ops));
    pbd_exec *exec = calloc(1, sizeof *exec);
    if (!exec) return pbd_error(PBD_FAILED, "out of memory for a backend");
    exec->ops = ops;
    exec->threads = threads > 0 ? threads : omp_get_num_procs();
    pbd_status status = ops->open(exec->threads, &exec->self);
    if (status.code != PBD_OK)
        free(exec);
    else
        *out = exec;
    return status;
}

void pbd_exec_destroy(pbd_exec *exec) {
    if (!exec) return;
    pbd_free(exec, exec->scratch);
    exec->ops->close(exec->self);
    free(exec->block);
    free(exec);
}

int pbd_exec_threads(const pbd_exec *exec) { return exec->threads; }
pbd_exec_totals pbd_exec_read_totals(const pbd_exec *exec) { return exec->totals; }
pbd_status pbd_exec_wait(pbd_exec *exec) { return exec->ops->wait(exec->self); }

void pbd_exec_reset_totals(pbd_exec *exec) {
    exec->totals.launches = exec->totals.items = 0;
    exec->totals.bytes = exec->totals.flops = 0;
}

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

pbd_status pbd_exec_timer_begin(pbd_exec *exec) {
    PBD_TRY(exec->ops->wait(exec->self));
    if (exec->ops->timer_begin) PBD_TRY(exec->ops->timer_begin(exec->self));
    exec->timer_cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    exec->timer_wall = seconds_of(CLOCK_MONOTONIC);
    return pbd_ok();
}

pbd_status pbd_exec_timer_end(pbd_exec *exec, pbd_exec_time *out) {
    double seconds = 0;
    if (exec->ops->timer_end)
        PBD_TRY(exec->ops->timer_end(exec->self, &seconds));
    else
        PBD_TRY(exec->ops->wait(exec->self));
    double wall = seconds_of(CLOCK_MONOTONIC) - exec->timer_wall;
    out->cpu_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - exec->timer_cpu;
    out->wall_s = exec->ops->timer_end ? seconds : wall;
    return pbd_ok();
}

pbd_status pbd_alloc(pbd_exec *exec, size_t bytes, void **out) {
    *out = NULL;
    struct block *grown = realloc(exec->block, (exec->blocks + 1) * sizeof *grown);
    if (!grown) return pbd_error(PBD_FAILED, "out of memory for a buffer of %zu bytes", bytes);
    exec->block = grown;
    PBD_TRY(exec->ops->alloc(exec->self, bytes, out));
    exec->block[exec->blocks++] = (struct block){*out, bytes};
    exec->totals.allocated += bytes;
    if (exec->totals.allocated > exec->totals.peak) exec->totals.peak = exec->totals.allocated;
    return pbd_ok();
}

void pbd_free(pbd_exec *exec, void *memory) {
    if (!memory) return;
    for (size_t i = 0; i < exec->blocks; i++)
        if (exec->block[i].memory == memory) {
            exec->totals.allocated -= exec->block[i].bytes;
            exec->block[i] = exec->block[--exec->blocks];
            break;
        }
    exec->ops->release(exec->self, memory);
}

pbd_status pbd_upload(pbd_exec *exec, void *device, const void *host, size_t bytes) {
    return bytes ? exec->ops->upload(exec->self, device, host, bytes) : pbd_ok();
}

pbd_status pbd_download(pbd_exec *exec, void *host, const void *device, size_t bytes) {
    return bytes ? exec->ops->download(exec->self, host, device, bytes) : pbd_ok();
}

pbd_status pbd_run(pbd_exec *exec, const pbd_kernel *kernel, size_t n, const void *args) {
    if (n == 0) return pbd_ok();
    PBD_TRY(exec->ops->run(exec->self, kernel, n, args));
    exec->totals.launches++;
    exec->totals.items += n;
    exec->totals.bytes += kernel->bytes * (double)n;
    exec->totals.flops += kernel->flops * (double)n;
    return pbd_ok();
}

/* ---- Sort and scan ----------------------------------------------------------------------------------------------- */

static pbd_status grow_scratch(pbd_exec *exec, size_t bytes) {
    if (bytes <= exec->scratch_bytes) return pbd_ok();
    pbd_free(exec, exec->scratch);
    exec->scratch = NULL;
    exec->scratch_bytes = 0;
    PBD_TRY(pbd_alloc(exec, bytes + bytes / 4, &exec->scratch));
    exec->scratch_bytes = bytes + bytes / 4;
    return pbd_ok();
}

static void count_pass(pbd_exec *exec, size_t n, double bytes) {
    exec->totals.launches++;
    exec->totals.items += n;
    exec->totals.bytes += bytes * (double)n;
}

pbd_status pbd_sort_pairs(pbd_exec *exec, uint32_t *keys, uint32_t *values, size_t n, int bits) {
    if (bits < 0 || bits > 32) return pbd_error(PBD_BAD_INPUT, "a sort by %d bits of keys of 32", bits);
    if (n >= INT32_MAX) return pbd_error(PBD_FAILED, "a sort of %zu pairs: 2147483646 at most", n);
    if (n < 2 || bits == 0) return pbd_ok();
    size_t bytes = 0;
    PBD_TRY(exec->ops->sort_pairs(exec->self, keys, values, n, bits, NULL, &bytes));
    PBD_TRY(grow_scratch(exec, bytes));
    PBD_TRY(exec->ops->sort_pairs(exec->self, keys, values, n, bits, exec->scratch, &bytes));
    count_pass(exec, n, 4 * sizeof(uint32_t));
    return pbd_ok();
}

pbd_status pbd_scan(pbd_exec *exec, uint32_t *values, size_t n, uint64_t *total) {
    *total = 0;
    if (n >= INT32_MAX) return pbd_error(PBD_FAILED, "a sum over %zu numbers: 2147483646 at most", n);
    size_t bytes = 0;
    PBD_TRY(exec->ops->scan(exec->self, values, n, total, NULL, &bytes));
    PBD_TRY(grow_scratch(exec, bytes));
    PBD_TRY(exec->ops->scan(exec->self, values, n, total, exec->scratch, &bytes));
    count_pass(exec, n, 2 * sizeof(uint32_t));
    return pbd_ok();
}
