/* The cpu backend: device memory is host memory, items go to OpenMP threads in fixed chunks.
 *
 * The assignment of items to chunks, and so to SIMD batches, does not depend on the number of threads, and a kernel
 * writes only data of its own item: results are bitwise equal for any number of threads. */
#include <omp.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/backend.h"
#include "harness/exec/clock.h"
#include "harness/exec/host_sort.h"
#include "harness/exec/huge_pages.h"

enum {
    CHUNK = 64,         /* PBD_CHUNK of kernel.h */
    PIECES = 16,        /* per thread, of a launch with uneven items */
    WHOLE_BATCHES = 16, /* items: a launch of many is cut at multiples of this */
/* A launch of at least so many bytes plus operations uses the threads without being timed first (kernel_time). Under
 * ThreadSanitizer every launch uses them, since the scenes of tests are small. Tests that compare numbers of threads
 * set PBDBENCH_SMALL_LAUNCH=0. */
#if defined(__SANITIZE_THREAD__)
    SMALL_LAUNCH = 0,
#else
    SMALL_LAUNCH = 400000,
#endif
    TIMED_LAUNCHES = 4,
    MOST_TIMED = 256 /* kernels */
};

/* A small launch uses the threads if it takes this many times as long as an empty one on all threads, in which no data
 * moves between cores. On two threads: with 2.5, Jacobi of pbd_distance was 29 % slower than on one; with 16, xpbi with
 * 300 particles lost a quarter of its gain. */
#define STARTS 8

#if defined(__SANITIZE_THREAD__)
/* libgomp is not instrumented: fork and join, the only synchronisation, are annotated for ThreadSanitizer. The
 * compiler's own accesses to captured variables lie outside the annotations, so the function with the parallel region
 * is excluded from instrumentation; the kernels it calls are not. */
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

/* Declared work is a minimum: a byte or operation takes 0.08 ns in tetrahedra of strain_energy and 0.37 ns in chains of
 * xpbi over neighbours. Therefore the first small launches of each kernel run on one thread and are timed. */
typedef struct kernel_time {
    const pbd_kernel *kernel;
    double per_work; /* s, the shortest */
    int launches;    /* timed so far */
} kernel_time;

/* The pieces of a launch that a thread takes first. */
typedef struct own_pieces {
    alignas(64) atomic_size_t next;
    size_t end;
} own_pieces;

typedef struct cpu {
    int threads;
    own_pieces *own;              /* of each thread */
    double small;                 /* SMALL_LAUNCH, or PBDBENCH_SMALL_LAUNCH */
    double start;                 /* s: to start the threads; for two, 6e-7 if they spin, 9e-6 if they sleep */
    kernel_time time[MOST_TIMED]; /* hash table by the kernel's address */
} cpu;

static void cpu_release(void *self, void *memory) {
    (void)self;
    free(memory);
}

static pbd_status cpu_copy(void *self, void *to, const void *from, size_t bytes) {
    (void)self;
    memcpy(to, from, bytes);
    return pbd_ok();
}

static pbd_status cpu_wait(void *self) {
    (void)self;
    return pbd_ok();
}

static bool is_uneven(const pbd_kernel *kernel) { return kernel->entry_bytes > 0; }

/* Items of a tile kernel are few and expensive (a particle with its neighbours, a cell with its particles): one per
 * chunk. Other kernels get chunks of whole batches and cache lines. */
static size_t chunk_of(const pbd_kernel *kernel) { return kernel->shape == PBD_SHAPE_TILE ? 1 : CHUNK; }

TSAN_LEFT_OUT static void run_threads(int threads, pbd_host_body body, size_t n, size_t chunk, const void *args) {
    size_t chunks = (n + chunk - 1) / chunk;
    char fork_point, join_point;
    TSAN_RELEASE(&fork_point);
#pragma omp parallel num_threads(threads)
    {
        TSAN_ACQUIRE(&fork_point);
        size_t thread = (size_t)omp_get_thread_num(), team = (size_t)omp_get_num_threads();
        size_t begin = chunks * thread / team * chunk, end = chunks * (thread + 1) / team * chunk;
        if (end > n) end = n;
        if (begin < end) body(args, begin, end);
        TSAN_RELEASE(&join_point);
    }
    TSAN_ACQUIRE(&join_point);
}

/* For kernels whose items traverse lists: their cost differs, and cells of a colour are sorted by it, so that equal
 * halves would leave one thread waiting for the other. A thread takes the pieces of its own share, which are the same
 * in each launch, so that their data stay in its cache; then those that others have not begun. */
TSAN_LEFT_OUT static void share_pieces(const cpu *c, pbd_host_body body, size_t n, size_t chunk, const void *args) {
    const size_t unit = chunk == 1 && n > PIECES * WHOLE_BATCHES ? WHOLE_BATCHES : chunk, threads = (size_t)c->threads;
    const size_t even = n / (PIECES * threads) + 1, piece = (even + unit - 1) / unit * unit;
    const size_t pieces = (n + piece - 1) / piece;
    char fork_point, join_point;
    for (size_t t = 0; t < threads; t++) {
        atomic_store_explicit(&c->own[t].next, pieces * t / threads, memory_order_relaxed);
        c->own[t].end = pieces * (t + 1) / threads;
    }
    TSAN_RELEASE(&fork_point);
#pragma omp parallel num_threads(c->threads)
    {
        TSAN_ACQUIRE(&fork_point);
        for (size_t t = 0; t < threads; t++) {
            own_pieces *of = &c->own[((size_t)omp_get_thread_num() + t) % threads];
            for (;;) {
                const size_t k = atomic_fetch_add_explicit(&of->next, 1, memory_order_relaxed);
                if (k >= of->end) break;
                body(args, k * piece, (k + 1) * piece < n ? (k + 1) * piece : n);
            }
        }
        TSAN_RELEASE(&join_point);
    }
    TSAN_ACQUIRE(&join_point);
}

/* Memory that is cleared; pieces are huge pages. */
typedef struct clearing {
    char *memory;
    size_t bytes;
} clearing;

enum { CLEARED = 2 << 20 }; /* bytes of a piece */

static void clear_pieces(const void *args, size_t begin, size_t end) {
    const clearing *c = args;
    const size_t from = begin * CLEARED, to = end * CLEARED < c->bytes ? end * CLEARED : c->bytes;
    memset(c->memory + from, 0, to - from);
}

/* Large memory is cleared by all threads. Most of the time goes to the system, which supplies and clears each page when
 * it is first written. */
static pbd_status cpu_alloc(void *self, size_t bytes, void **out) {
    const cpu *c = self;
    size_t total = (bytes + 63) / 64 * 64 + 64;
    void *memory = total > bytes ? aligned_alloc(64, total) : NULL;
    if (!memory) return pbd_error(PBD_FAILED, "out of memory: a buffer of %zu bytes cannot be had", bytes);
    const size_t pieces = (total + CLEARED - 1) / CLEARED;
    const clearing all = {memory, total};
    pbd_advise_huge(memory, total);
    if (c->threads > 1 && pieces > 1)
        run_threads(c->threads, clear_pieces, pieces, 1, &all);
    else
        memset(memory, 0, total);
    *out = memory;
    return pbd_ok();
}

static void do_nothing(const void *args, size_t begin, size_t end) { (void)args, (void)begin, (void)end; }

/* s: to start the threads; the median of several starts, after one that creates them. */
static double time_start(int threads) {
    enum { TIMES = 7 };
    double took[TIMES];
    for (int i = -1; i < TIMES; i++) {
        const double begin = pbd_wall_seconds();
        run_threads(threads, do_nothing, (size_t)threads, 1, NULL);
        const double one = pbd_wall_seconds() - begin;
        int at = i;
        for (; at > 0 && took[at - 1] > one; at--) took[at] = took[at - 1];
        if (i >= 0) took[at] = one;
    }
    return took[TIMES / 2];
}

static pbd_status cpu_open(int threads, void **self) {
    cpu *c = calloc(1, sizeof *c);
    own_pieces *own = aligned_alloc(alignof(own_pieces), (size_t)threads * sizeof *own);
    if (!c || !own) {
        free(c);
        free(own);
        return pbd_error(PBD_FAILED, "out of memory for the cpu backend");
    }
    c->own = own;
    const char *given = getenv("PBDBENCH_SMALL_LAUNCH");
    c->threads = threads;
    c->small = given ? strtod(given, NULL) : SMALL_LAUNCH;
    if (threads > 1 && c->small > 0) c->start = time_start(threads);
    *self = c;
    return pbd_ok();
}

/* NULL: the table is full. */
static kernel_time *time_of(cpu *c, const pbd_kernel *kernel) {
    const size_t begin = (uintptr_t)kernel / sizeof *kernel;
    for (size_t i = 0; i < MOST_TIMED; i++) {
        kernel_time *t = &c->time[(begin + i) % MOST_TIMED];
        if (!t->kernel) t->kernel = kernel;
        if (t->kernel == kernel) return t;
    }
    return NULL;
}

static void run_timed(kernel_time *t, size_t n, const void *args, double work) {
    const double begin = pbd_wall_seconds();
    t->kernel->cpu(args, 0, n);
    const double per_work = (pbd_wall_seconds() - begin) / work;
    if (t->launches == 0 || per_work < t->per_work) t->per_work = per_work;
    t->launches++;
}

static pbd_status cpu_run(void *self, const pbd_kernel *kernel, size_t n, const void *args, double work) {
    cpu *c = self;
    const size_t chunk = chunk_of(kernel);
    const bool large = work >= c->small;
    kernel_time *t = c->threads == 1 || n <= chunk || large ? NULL : time_of(c, kernel);
    if (t && t->launches < TIMED_LAUNCHES && work > 0)
        run_timed(t, n, args, work);
    else if (c->threads == 1 || n <= chunk || !(large || (t && t->per_work * work >= STARTS * c->start)))
        kernel->cpu(args, 0, n);
    else if (is_uneven(kernel))
        share_pieces(c, kernel->cpu, n, chunk, args);
    else
        run_threads(c->threads, kernel->cpu, n, chunk, args);
    return pbd_ok();
}

static void run_parts(int threads, pbd_host_body body, size_t parts, const void *args) {
    if (parts > 1)
        run_threads(threads, body, parts, 1, args);
    else
        body(args, 0, parts);
}

static pbd_status cpu_sort_pairs(void *self, uint32_t *keys, uint32_t *values, size_t n, int bits, void *scratch,
                                 size_t *bytes) {
    const cpu *c = self;
    *bytes = pbd_host_sort_bytes(n, c->threads);
    if (scratch) pbd_host_sort_pairs(keys, values, n, bits, scratch, c->threads, run_parts);
    return pbd_ok();
}

static pbd_status cpu_scan(void *self, uint32_t *values, size_t n, uint64_t *total, void *scratch, size_t *bytes) {
    const cpu *c = self;
    *bytes = pbd_host_scan_bytes(c->threads);
    if (!scratch) return pbd_ok();
    const uint64_t sum = pbd_host_scan(values, n, scratch, c->threads, run_parts);
    if (total) *total = sum;
    return pbd_ok();
}

static void cpu_close(void *self) {
    cpu *c = self;
    free(c->own);
    free(c);
}

const pbd_backend_ops pbd_cpu_ops = {cpu_open, cpu_close, cpu_alloc,      cpu_release, cpu_copy,
                                     cpu_copy, cpu_run,   cpu_sort_pairs, cpu_scan,    cpu_wait,
                                     NULL,     NULL,      NULL,           NULL,        NULL};
