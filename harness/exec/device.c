/* The part of an exec that is the same for every backend: dispatch, totals, repeats. */
#include "harness/exec/exec.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/backend.h"
#include "harness/exec/clock.h"

struct pbd_exec {
    const pbd_backend_ops *ops;
    void *self;
    int threads;
    pbd_exec_totals totals;
    double timer_wall, timer_cpu; /* clocks when the timer began, s */
    /* Allocations and their sizes, for the totals. They are few and long-lived, so a list suffices. */
    pbd_block *block;
    size_t blocks;
    void *scratch; /* device memory of sort and scan; grows */
    size_t scratch_bytes;
    size_t memory;   /* limit of allocations, bytes; 0: none */
    bool one_by_one; /* repeats are not joined */
    bool waits;      /* the host waits after each launch */
    bool lays_out_for_gpu;
    pbd_repeat *repeating; /* receives deferred launches, or NULL */
    const pbd_launch_watch *watch;
    bool watching; /* the watch is running: its own launches are not passed to it */
};

/* Launches; their arguments are stored consecutively in `args`. */
typedef struct launch_list {
    struct deferred {
        const pbd_kernel *kernel;
        size_t n, at;
    } * item;
    size_t count, room;
    char *args;
    size_t bytes, args_room;
} launch_list;

struct pbd_repeat {
    launch_list now, last;
    void *joined; /* of `last` */
    bool failed;  /* joining failed */
};

#if !PBD_HAVE_CUDA
const char *pbd_cuda_missing(void) {
    return "this build has no CUDA: no CUDA toolkit (nvcc) was found when it was built";
}
const char *pbd_cuda_device(void) { return ""; }
const char *pbd_cuda_bus(void) { return ""; }
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

/* Reads "96M" and the like. */
static pbd_status read_memory_limit(size_t *out) {
    static const char name[] = "PBDBENCH_DEVICE_MEMORY", units[] = "kMG";
    const char *text = getenv(name);
    *out = 0;
    if (!text || !*text) return pbd_ok();
    char *end = NULL;
    const unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (*text < '0' || *text > '9' || (*end && (!unit || end[1])) || number == 0 || number > SIZE_MAX >> shift)
        return pbd_error(PBD_BAD_INPUT, "%s=%s is not a size: a number of bytes above 0, or one with k, M or G", name,
                         text);
    *out = (size_t)number << shift;
    return pbd_ok();
}

static bool graphs_are_off(void) {
    const char *text = getenv("PBDBENCH_GRAPHS");
    return text && strcmp(text, "off") == 0;
}

static pbd_status read_waits(bool *out) {
    const char *text = getenv("PBDBENCH_LAUNCH");
    *out = text && strcmp(text, "sync") == 0;
    if (!text || !*text || *out) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "PBDBENCH_LAUNCH=%.40s: 'sync' is all it can be", text);
}

pbd_status pbd_exec_create(int backend, int threads, pbd_exec **out) {
    *out = NULL;
    const pbd_backend_ops *ops = NULL;
    size_t memory;
    bool waits;
    PBD_TRY(ops_of(backend, &ops));
    PBD_TRY(read_waits(&waits));
    PBD_TRY(read_memory_limit(&memory));
    pbd_exec *exec = calloc(1, sizeof *exec);
    if (!exec) return pbd_error(PBD_FAILED, "out of memory for a backend");
    exec->ops = ops;
    exec->memory = memory;
    exec->one_by_one = waits || graphs_are_off();
    exec->waits = waits;
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
bool pbd_exec_is_gpu(const pbd_exec *exec) { return exec->lays_out_for_gpu || exec->ops != &pbd_cpu_ops; }
void pbd_exec_lay_out_for_gpu(pbd_exec *exec) { exec->lays_out_for_gpu = true; }
pbd_exec_totals pbd_exec_read_totals(const pbd_exec *exec) { return exec->totals; }

void pbd_exec_restore_totals(pbd_exec *exec, const pbd_exec_totals *before) {
    const pbd_exec_totals now = exec->totals;
    exec->totals = *before;
    exec->totals.allocated = now.allocated;
    exec->totals.peak = before->peak > now.allocated ? before->peak : now.allocated;
}

void pbd_exec_reset_totals(pbd_exec *exec) {
    exec->totals = (pbd_exec_totals){.allocated = exec->totals.allocated, .peak = exec->totals.peak};
}

/* ---- Repeats ----------------------------------------------------------------------------------------------------- */

enum { MOST_DEFERRED = 1 << 14 }; /* launches of a repeat */

static void list_free(launch_list *l) {
    free(l->item);
    free(l->args);
    *l = (launch_list){0};
}

/* False when the list is full or out of memory. */
static bool list_append(launch_list *l, const pbd_kernel *kernel, size_t n, const void *args) {
    const size_t bytes = (kernel->args_bytes + 15) / 16 * 16;
    if (l->count == MOST_DEFERRED) return false;
    if (l->count == l->room) {
        const size_t room = l->room ? 2 * l->room : 64;
        struct deferred *grown = realloc(l->item, room * sizeof *grown);
        if (!grown) return false;
        l->item = grown;
        l->room = room;
    }
    if (l->bytes + bytes > l->args_room) {
        const size_t room = 2 * l->args_room + bytes;
        char *grown = realloc(l->args, room);
        if (!grown) return false;
        l->args = grown;
        l->args_room = room;
    }
    if (bytes > 0) { /* else the list may have no memory for arguments */
        memset(l->args + l->bytes, 0, bytes);
        memcpy(l->args + l->bytes, args, kernel->args_bytes);
        if (kernel->clear_padding) kernel->clear_padding(l->args + l->bytes);
    }
    l->item[l->count++] = (struct deferred){kernel, n, l->bytes};
    l->bytes += bytes;
    return true;
}

static bool lists_are_equal(const launch_list *a, const launch_list *b) {
    if (a->count != b->count || a->bytes != b->bytes) return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->item[i].kernel != b->item[i].kernel || a->item[i].n != b->item[i].n) return false;
    return a->bytes == 0 || memcmp(a->args, b->args, a->bytes) == 0;
}

static pbd_status run_list(pbd_exec *exec, const launch_list *l) {
    for (size_t i = 0; i < l->count; i++)
        PBD_TRY(exec->ops->run(exec->self, l->item[i].kernel, l->item[i].n, l->args + l->item[i].at, 0));
    return pbd_ok();
}

static pbd_status settle(pbd_exec *exec) {
    if (!exec->watch || exec->watching) return pbd_ok();
    exec->watching = true;
    const pbd_status status = exec->watch->settle(exec->watch->self);
    exec->watching = false;
    return status;
}

/* Runs the deferred launches and stops deferring. */
static pbd_status flush(pbd_exec *exec) {
    pbd_repeat *r = exec->repeating;
    PBD_TRY(settle(exec));
    if (!r) return pbd_ok();
    exec->repeating = NULL;
    const pbd_status status = run_list(exec, &r->now);
    r->now.count = r->now.bytes = 0;
    return status;
}

/* Joins the list in the backend (a CUDA graph). After a failure its launches are made one by one. */
static void join_list(pbd_exec *exec, pbd_repeat *r) {
    pbd_launch *launch = malloc((r->now.count + 1) * sizeof *launch);
    for (size_t i = 0; i < r->now.count && launch; i++)
        launch[i] = (pbd_launch){r->now.item[i].kernel, r->now.item[i].n, r->now.args + r->now.item[i].at};
    r->failed = !launch || exec->ops->join(exec->self, launch, r->now.count, &r->joined).code != PBD_OK;
    if (r->failed) r->joined = NULL;
    free(launch);
}

pbd_status pbd_repeat_begin(pbd_exec *exec, pbd_repeat **repeat) {
    if (!exec->ops->join || exec->one_by_one || exec->watch) return pbd_ok();
    PBD_TRY(flush(exec));
    if (!*repeat) *repeat = calloc(1, sizeof **repeat);
    exec->repeating = *repeat; /* NULL if out of memory: nothing is deferred */
    return pbd_ok();
}

static void part(pbd_exec *exec, pbd_repeat *r) {
    if (r->joined) exec->ops->part(exec->self, r->joined);
    r->joined = NULL;
}

pbd_status pbd_repeat_end(pbd_exec *exec) {
    pbd_repeat *r = exec->repeating;
    if (!r) return pbd_ok();
    exec->repeating = NULL;
    const bool again = r->now.count > 0 && lists_are_equal(&r->now, &r->last);
    if (!again) {
        part(exec, r);
        r->failed = false;
    } else if (!r->joined && !r->failed) {
        join_list(exec, r);
    }
    const pbd_status status = r->joined ? exec->ops->replay(exec->self, r->joined) : run_list(exec, &r->now);
    if (r->joined && status.code == PBD_OK) exec->totals.replayed += r->now.count;
    const launch_list kept = r->last;
    r->last = r->now;
    r->now = kept;
    r->now.count = r->now.bytes = 0;
    return status;
}

void pbd_repeat_free(pbd_exec *exec, pbd_repeat *r) {
    if (!r) return;
    if (exec->repeating == r) exec->repeating = NULL;
    part(exec, r);
    list_free(&r->now);
    list_free(&r->last);
    free(r);
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

pbd_status pbd_exec_wait(pbd_exec *exec) {
    PBD_TRY(flush(exec));
    exec->totals.waits++;
    return exec->ops->wait(exec->self);
}

pbd_status pbd_exec_timer_begin(pbd_exec *exec) {
    PBD_TRY(flush(exec));
    PBD_TRY(exec->ops->wait(exec->self));
    if (exec->ops->timer_begin) PBD_TRY(exec->ops->timer_begin(exec->self));
    exec->timer_cpu = pbd_cpu_seconds();
    exec->timer_wall = pbd_wall_seconds();
    return pbd_ok();
}

pbd_status pbd_exec_timer_end(pbd_exec *exec, pbd_exec_time *out) {
    double seconds = 0;
    PBD_TRY(flush(exec));
    if (exec->ops->timer_end)
        PBD_TRY(exec->ops->timer_end(exec->self, &seconds));
    else
        PBD_TRY(exec->ops->wait(exec->self));
    double wall = pbd_wall_seconds() - exec->timer_wall;
    out->cpu_s = pbd_cpu_seconds() - exec->timer_cpu;
    out->wall_s = exec->ops->timer_end ? seconds : wall;
    return pbd_ok();
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Returns the error that a device with `memory` bytes would give. */
static pbd_status check_memory(const pbd_exec *exec, size_t bytes) {
    const size_t given = exec->totals.allocated;
    if (exec->memory == 0 || (given <= exec->memory && bytes <= exec->memory - given)) return pbd_ok();
    return pbd_error(PBD_FAILED,
                     "out of device memory: a buffer of %zu bytes is needed, %zu of %zu are free (the limit is "
                     "PBDBENCH_DEVICE_MEMORY)",
                     bytes, given < exec->memory ? exec->memory - given : 0, exec->memory);
}

pbd_status pbd_alloc(pbd_exec *exec, size_t bytes, void **out) {
    *out = NULL;
    PBD_TRY(flush(exec));
    PBD_TRY(check_memory(exec, bytes));
    pbd_block *grown = realloc(exec->block, (exec->blocks + 1) * sizeof *grown);
    if (!grown) return pbd_error(PBD_FAILED, "out of memory for a buffer of %zu bytes", bytes);
    exec->block = grown;
    PBD_TRY(exec->ops->alloc(exec->self, bytes, out));
    exec->block[exec->blocks++] = (pbd_block){*out, bytes};
    exec->totals.allocations++;
    exec->totals.allocated += bytes;
    if (exec->totals.allocated > exec->totals.peak) exec->totals.peak = exec->totals.allocated;
    return pbd_ok();
}

void pbd_free(pbd_exec *exec, void *memory) {
    if (!memory) return;
    flush(exec); /* an error of a launch is reported again by the next call that returns a status */
    for (size_t i = 0; i < exec->blocks; i++)
        if (exec->block[i].memory == memory) {
            exec->totals.allocated -= exec->block[i].bytes;
            exec->block[i] = exec->block[--exec->blocks];
            break;
        }
    exec->ops->release(exec->self, memory);
}

pbd_status pbd_upload(pbd_exec *exec, void *device, const void *host, size_t bytes) {
    if (bytes == 0) return pbd_ok();
    PBD_TRY(flush(exec));
    exec->totals.waits++;
    return exec->ops->upload(exec->self, device, host, bytes);
}

pbd_status pbd_download(pbd_exec *exec, void *host, const void *device, size_t bytes) {
    if (bytes == 0) return pbd_ok();
    PBD_TRY(flush(exec));
    exec->totals.waits++;
    return exec->ops->download(exec->self, host, device, bytes);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

void pbd_exec_watch(pbd_exec *exec, const pbd_launch_watch *watch) { exec->watch = watch; }

const pbd_block *pbd_exec_blocks(const pbd_exec *exec, size_t *count) {
    *count = exec->blocks;
    return exec->block;
}

/* With PBDBENCH_LAUNCH=sync, waits, so that an error is that of the last launch. */
static pbd_status wait_for(pbd_exec *exec, const char *name, size_t n) {
    if (!exec->waits) return pbd_ok();
    const pbd_status status = exec->ops->wait(exec->self);
    return status.code == PBD_OK ? status : pbd_error(status.code, "%s over %zu items: %s", name, n, status.text);
}

static pbd_status launch_or_defer(pbd_exec *exec, const pbd_kernel *kernel, size_t n, const void *args, double work) {
    if (exec->repeating && list_append(&exec->repeating->now, kernel, n, args)) return pbd_ok();
    if (exec->repeating || exec->watch) PBD_TRY(flush(exec));
    PBD_TRY(exec->ops->run(exec->self, kernel, n, args, work));
    return wait_for(exec, kernel->name, n);
}

static pbd_status show(pbd_exec *exec, const pbd_kernel *kernel, size_t n, pbd_work work, const void *args) {
    exec->watching = true;
    const pbd_status status = exec->watch->launch(exec->watch->self, kernel, n, work, args);
    exec->watching = false;
    return status;
}

pbd_status pbd_run(pbd_exec *exec, const pbd_kernel *kernel, size_t n, size_t items, size_t entries, double more_flops,
                   const void *args) {
    if (n == 0) return pbd_ok();
    if (exec->watch && !exec->watching) return show(exec, kernel, n, (pbd_work){items, entries, more_flops}, args);
    const double bytes = kernel->bytes * (double)items + kernel->entry_bytes * (double)entries;
    const double flops = kernel->flops * (double)items + kernel->entry_flops * (double)entries + more_flops;
    PBD_TRY(launch_or_defer(exec, kernel, n, args, bytes + flops));
    exec->totals.launches++;
    exec->totals.items += items;
    exec->totals.entries += entries;
    exec->totals.bytes += bytes;
    exec->totals.flops += flops;
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
    PBD_TRY(flush(exec));
    PBD_TRY(exec->ops->sort_pairs(exec->self, keys, values, n, bits, NULL, &bytes));
    PBD_TRY(grow_scratch(exec, bytes));
    PBD_TRY(exec->ops->sort_pairs(exec->self, keys, values, n, bits, exec->scratch, &bytes));
    PBD_TRY(wait_for(exec, "a sort", n));
    count_pass(exec, n, 4 * sizeof(uint32_t));
    return pbd_ok();
}

pbd_status pbd_scan(pbd_exec *exec, uint32_t *values, size_t n, uint64_t *total) {
    if (total) *total = 0;
    if (n >= INT32_MAX) return pbd_error(PBD_FAILED, "a sum over %zu numbers: 2147483646 at most", n);
    size_t bytes = 0;
    PBD_TRY(flush(exec));
    if (total) exec->totals.waits++;
    PBD_TRY(exec->ops->scan(exec->self, values, n, total, NULL, &bytes));
    PBD_TRY(grow_scratch(exec, bytes));
    PBD_TRY(exec->ops->scan(exec->self, values, n, total, exec->scratch, &bytes));
    PBD_TRY(wait_for(exec, "a scan", n));
    count_pass(exec, n, 2 * sizeof(uint32_t));
    return pbd_ok();
}
