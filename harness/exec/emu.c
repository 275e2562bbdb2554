#include "harness/exec/emu.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "harness/exec/backend.h"
#include "harness/exec/host_sort.h"

#if defined(__SANITIZE_THREAD__)
#define EMU_PTHREADS 1
#include <pthread.h>
#else
#define EMU_PTHREADS 0
#endif

enum {
    BLOCK = 128, /* PBD_BLOCK and PBD_GPU_LANES of lanes.h */
    LANES = 8,
    TILES = BLOCK / LANES,
    MOST_VALUES = 64,        /* per exchange */
    MOST_FETCHES = 64,       /* of a thread at a time */
    MOST_FETCHED = 16,       /* bytes */
    SHARED_BYTES = 48 << 10, /* as on a GPU by default */
    STACK_BYTES = 64 << 10,
    POISON = 0xff,             /* a NaN in every precision */
    LINE = 64,                 /* memory is compared by lines, then by words of four bytes */
    LARGEST_CHECKED = 8 << 20, /* launches are checked up to this many bytes of device memory */
    MOST_COMPARED =
        256 << 20 /* up to this many bytes compared per launch, writers are distinguished by thread, not by block */
};

_Thread_local pbd_emu_index threadIdx, blockIdx;

pbd_emu_index *pbd_emu_thread_index(void) { return &threadIdx; }
pbd_emu_index *pbd_emu_block_index(void) { return &blockIdx; }

/* ---- Memory: all allocations are recorded, so that the results of launches can be compared ----------------------- */

typedef struct region {
    char *memory, *before, *backward; /* now; at the start of the launch; after the descending run */
    uint32_t *writer;                 /* per word: 1 + the thread or block that changed it in this launch */
    size_t bytes;                     /* a multiple of LINE */
    size_t *line, lines;              /* where the lines begin that the descending run changed; their number */
    bool unordered;                   /* written by atomic.h in this launch */
} region;

typedef struct emu {
    region *region;
    size_t regions, total;
} emu;

static pbd_status emu_open(int threads, void **self) {
    (void)threads;
    *self = calloc(1, sizeof(emu));
    return *self ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for the emulation");
}

static void free_region(region *r) {
    free(r->memory);
    free(r->before);
    free(r->backward);
    free(r->writer);
    free(r->line);
}

static void emu_close(void *self) {
    emu *e = self;
    for (size_t i = 0; i < e->regions; i++) free_region(&e->region[i]);
    free(e->region);
    free(e);
}

static pbd_status emu_alloc(void *self, size_t bytes, void **out) {
    emu *e = self;
    size_t size = (bytes + LINE - 1) / LINE * LINE + LINE;
    region r = {.bytes = size};
    region *grown = realloc(e->region, (e->regions + 1) * sizeof *grown);
    if (grown) e->region = grown;
    r.memory = aligned_alloc(LINE, size);
    r.before = malloc(size);
    r.backward = malloc(size);
    r.writer = malloc(size);
    r.line = malloc(size / LINE * sizeof *r.line);
    if (!grown || !r.memory || !r.before || !r.backward || !r.writer || !r.line) {
        free_region(&r);
        return pbd_error(PBD_FAILED, "out of memory: a buffer of %zu bytes cannot be had", bytes);
    }
    memset(r.memory, 0, size);
    e->region[e->regions++] = r;
    e->total += size;
    *out = r.memory;
    return pbd_ok();
}

static void emu_release(void *self, void *memory) {
    emu *e = self;
    for (size_t i = 0; i < e->regions; i++)
        if (e->region[i].memory == memory) {
            e->total -= e->region[i].bytes;
            free_region(&e->region[i]);
            e->region[i] = e->region[--e->regions];
            return;
        }
}

static pbd_status emu_copy(void *self, void *to, const void *from, size_t bytes) {
    (void)self;
    memcpy(to, from, bytes);
    return pbd_ok();
}

static pbd_status emu_wait(void *self) {
    (void)self;
    return pbd_ok();
}

/* ---- The running block ------------------------------------------------------------------------------------------- */

/* A copy to shared memory that is not complete, and what its source held when it began. */
typedef struct fetch {
    void *to;
    const void *from;
    size_t bytes;
    char began[MOST_FETCHED];
} fetch;

/* One block runs at a time in the whole program; its memory is kept between launches. */
static struct {
    emu *emu;
    const pbd_kernel *kernel;
    const void *args;
    size_t n;
    unsigned block;
    bool descending;
    char *shared; /* SHARED_BYTES */
    double slot[TILES][LANES][MOST_VALUES];
    fetch fetch[BLOCK][MOST_FETCHES];
    unsigned fetches[BLOCK];
#if EMU_PTHREADS
    pthread_barrier_t all, tile[TILES];
#else
    ucontext_t scheduler, fibre[BLOCK];
    char *stack; /* BLOCK x STACK_BYTES */
    unsigned current;
    enum { RUNNABLE, AT_BARRIER, AT_EXCHANGE, DONE } state[BLOCK];
#endif
} run;
static _Thread_local size_t shared_used;

static void run_thread(void) {
    shared_used = 0;
    run.fetches[threadIdx.x] = 0;
    run.kernel->emu(run.args, run.n);
}

void *pbd_emu_shared(size_t bytes) {
    size_t at = shared_used;
    shared_used += (bytes + 15) / 16 * 16;
    if (shared_used > SHARED_BYTES) abort(); /* a programming error, which nvcc would report at compile time */
    return run.shared + at;
}

#if EMU_PTHREADS

void pbd_emu_barrier(void) { pthread_barrier_wait(&run.all); }
static void tile_barrier(void) { pthread_barrier_wait(&run.tile[threadIdx.x / LANES]); }

static void *thread_main(void *index) {
    threadIdx.x = (unsigned)(uintptr_t)index;
    blockIdx.x = run.block;
    run_thread();
    return NULL;
}

static pbd_status run_block(void) {
    pthread_t thread[BLOCK];
    pthread_barrier_init(&run.all, NULL, BLOCK);
    for (int t = 0; t < TILES; t++) pthread_barrier_init(&run.tile[t], NULL, LANES);
    unsigned started = 0;
    while (started < BLOCK && pthread_create(&thread[started], NULL, thread_main, (void *)(uintptr_t)started) == 0)
        started++;
    if (started < BLOCK) abort(); /* the running threads would wait forever at a barrier */
    for (unsigned t = 0; t < BLOCK; t++) pthread_join(thread[t], NULL);
    pthread_barrier_destroy(&run.all);
    for (int t = 0; t < TILES; t++) pthread_barrier_destroy(&run.tile[t]);
    return pbd_ok();
}

#else

/* Switches from the running fibre to the scheduler, which resumes it when all fibres it waits for have arrived. */
static void pause_fibre(int state) {
    unsigned me = run.current;
    size_t used = shared_used;
    run.state[me] = state;
    swapcontext(&run.fibre[me], &run.scheduler);
    threadIdx.x = me;
    shared_used = used;
}

void pbd_emu_barrier(void) { pause_fibre(AT_BARRIER); }
static void tile_barrier(void) { pause_fibre(AT_EXCHANGE); }

static void fibre_main(void) {
    run_thread();
    run.state[run.current] = DONE;
}

static void resume(unsigned t) {
    run.current = t;
    threadIdx.x = t;
    run.state[t] = RUNNABLE;
    swapcontext(&run.scheduler, &run.fibre[t]);
}

/* Runs the threads of [first, first + count) that are in `state`, in the order of this run. */
static unsigned resume_all(unsigned first, unsigned count, int state) {
    unsigned resumed = 0;
    for (unsigned k = 0; k < count; k++) {
        unsigned t = first + (run.descending ? count - 1 - k : k);
        if ((int)run.state[t] != state) continue;
        resume(t);
        resumed++;
    }
    return resumed;
}

static unsigned count_in(unsigned first, unsigned count, int state) {
    unsigned found = 0;
    for (unsigned t = first; t < first + count; t++) found += (int)run.state[t] == state;
    return found;
}

/* A separate function because compilers assume that getcontext may return twice. */
static __attribute__((noinline)) void make_fibre(ucontext_t *fibre, char *stack) {
    getcontext(fibre);
    fibre->uc_stack.ss_sp = stack;
    fibre->uc_stack.ss_size = STACK_BYTES;
    fibre->uc_link = &run.scheduler;
    makecontext(fibre, fibre_main, 0);
}

/* Completes exchanges of whole tiles until every thread is done or at a barrier, then releases the barrier. */
static pbd_status run_block(void) {
    for (unsigned t = 0; t < BLOCK; t++) {
        make_fibre(&run.fibre[t], run.stack + (size_t)t * STACK_BYTES);
        run.state[t] = RUNNABLE;
    }
    resume_all(0, BLOCK, RUNNABLE);
    for (;;) {
        bool moved = false;
        for (unsigned k = 0; k < TILES; k++) {
            unsigned tile = (run.descending ? TILES - 1 - k : k) * LANES, waiting = count_in(tile, LANES, AT_EXCHANGE);
            if (waiting == 0) continue;
            if (waiting < LANES && waiting + count_in(tile, LANES, AT_BARRIER) + count_in(tile, LANES, DONE) == LANES)
                return pbd_error(PBD_FAILED,
                                 "kernel %s: %u of the %d lanes of a tile reached an exchange, the others did not",
                                 run.kernel->name, waiting, LANES);
            resume_all(tile, LANES, AT_EXCHANGE);
            moved = true;
        }
        if (moved) continue;
        unsigned waiting = count_in(0, BLOCK, AT_BARRIER), done = count_in(0, BLOCK, DONE);
        if (waiting == 0) return pbd_ok();
        if (waiting + done < BLOCK) continue;
        resume_all(0, BLOCK, AT_BARRIER);
    }
}

#endif

/* Each lane publishes its values and adds its partner's, in the order of a butterfly of shuffles. */
#define BUTTERFLY(TYPE)                                                                    \
    do {                                                                                   \
        TYPE *v = (TYPE *)values;                                                          \
        for (unsigned other = LANES / 2; other > 0; other /= 2) {                          \
            for (int i = 0; i < count; i++) run.slot[tile][lane][i] = (double)v[i];        \
            tile_barrier();                                                                \
            for (int i = 0; i < count; i++) v[i] += (TYPE)run.slot[tile][lane ^ other][i]; \
            tile_barrier();                                                                \
        }                                                                                  \
    } while (0)

void pbd_emu_tile_sums(void *values, int count, bool is_double) {
    unsigned tile = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    if (count > MOST_VALUES) abort(); /* a programming error in the kernel */
    if (is_double)
        BUTTERFLY(double);
    else
        BUTTERFLY(float);
}

void pbd_emu_fetch(void *to, const void *from, size_t bytes) {
    const unsigned t = threadIdx.x;
    if (run.fetches[t] == MOST_FETCHES || bytes > MOST_FETCHED) abort(); /* a programming error in the kernel */
    fetch *f = &run.fetch[t][run.fetches[t]++];
    *f = (fetch){.to = to, .from = from, .bytes = bytes};
    memcpy(f->began, from, bytes);
    memset(to, POISON, bytes);
}

/* A GPU may read the source at any time before this. The descending run has read it at once, the ascending one reads it
 * now: if it has changed, their results differ. */
void pbd_emu_fetch_wait(void) {
    const unsigned t = threadIdx.x;
    for (unsigned k = 0; k < run.fetches[t]; k++) {
        const fetch *f = &run.fetch[t][k];
        memcpy(f->to, run.descending ? f->began : f->from, f->bytes);
    }
    run.fetches[t] = 0;
}

/* Under ThreadSanitizer several threads may set the flag at once. */
void pbd_emu_unordered(const void *address) {
    for (size_t i = 0; i < run.emu->regions; i++) {
        region *r = &run.emu->region[i];
        if ((const char *)address < r->memory || (const char *)address >= r->memory + r->bytes) continue;
        __atomic_store_n(&r->unordered, true, __ATOMIC_RELAXED);
        return;
    }
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

/* Loads instead of memcmp: sanitizers check each of its calls, which would dominate the time for a few bytes. */
static uint64_t word8(const char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint32_t word4(const char *at) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static bool is_same_line(const char *a, const char *b) {
    uint64_t differs = 0;
    for (size_t at = 0; at < LINE; at += 8) differs |= word8(a + at) ^ word8(b + at);
    return differs == 0;
}

static pbd_status mark_line(region *r, size_t line, uint32_t writer, const char *unit) {
    for (size_t at = line; at < line + LINE; at += 4) {
        if (word4(r->memory + at) == word4(r->before + at)) continue;
        uint32_t *before = &r->writer[at / 4];
        if (*before != 0 && *before != writer + 1)
            return pbd_error(PBD_FAILED,
                             "kernel %s: %s %u and %u of one launch write the same word (byte %zu of a buffer of %zu): "
                             "wrong colours?",
                             run.kernel->name, unit, *before - 1, writer, at, r->bytes);
        *before = writer + 1;
    }
    return pbd_ok();
}

/* Marks the words that `writer` changed since `before` was last updated, and updates it. PBD_FAILED: another writer of
 * this launch changed the same word. Only lines that the descending run changed are looked at: if this run changes
 * another one, the results differ at the end of the launch. */
static pbd_status mark_writes(region *r, uint32_t writer, const char *unit) {
    for (size_t k = 0; k < r->lines; k++) {
        const size_t line = r->line[k];
        if (is_same_line(r->memory + line, r->before + line)) continue;
        PBD_TRY(mark_line(r, line, writer, unit));
        memcpy(r->before + line, r->memory + line, LINE);
    }
    return pbd_ok();
}

static pbd_status mark_all(emu *e, uint32_t writer, const char *unit) {
    for (size_t i = 0; i < e->regions; i++) PBD_TRY(mark_writes(&e->region[i], writer, unit));
    return pbd_ok();
}

/* Item and batch kernels have no barriers: their threads run one after another, without fibres. */
static pbd_status run_simple_block(emu *e, bool mark) {
    for (unsigned k = 0; k < BLOCK; k++) {
        threadIdx.x = run.descending ? BLOCK - 1 - k : k;
        run_thread();
        if (mark) PBD_TRY(mark_all(e, run.block * BLOCK + threadIdx.x, "threads"));
    }
    return pbd_ok();
}

static pbd_status run_blocks(emu *e, unsigned blocks, bool mark) {
    /* Under ThreadSanitizer small launches of every shape run each thread as a pthread, so that races are detected. */
    bool tile = run.kernel->shape == PBD_SHAPE_TILE, watched = EMU_PTHREADS && run.n <= 2 * BLOCK;
    bool simple = !tile && !watched, by_thread = simple && e->total * run.n <= MOST_COMPARED;
    for (unsigned k = 0; k < blocks; k++) {
        run.block = blockIdx.x = run.descending ? blocks - 1 - k : k;
        memset(run.shared, POISON, SHARED_BYTES);
        PBD_TRY(simple ? run_simple_block(e, mark && by_thread) : run_block());
        if (mark && !by_thread) PBD_TRY(mark_all(e, run.block, "blocks"));
    }
    return pbd_ok();
}

/* The descending run; restores the memory afterwards. */
static pbd_status run_backward(emu *e, unsigned blocks) {
    for (size_t i = 0; i < e->regions; i++) memcpy(e->region[i].before, e->region[i].memory, e->region[i].bytes);
    run.descending = true;
    const pbd_status status = run_blocks(e, blocks, false);
    run.descending = false;
    for (size_t i = 0; i < e->regions; i++) {
        region *r = &e->region[i];
        memcpy(r->backward, r->memory, r->bytes);
        r->lines = 0;
        if (memcmp(r->memory, r->before, r->bytes) == 0) continue;
        for (size_t line = 0; line < r->bytes && !r->unordered; line += LINE)
            if (!is_same_line(r->memory + line, r->before + line)) r->line[r->lines++] = line;
        memcpy(r->memory, r->before, r->bytes);
        memset(r->writer, 0, r->bytes);
    }
    return status;
}

/* Runs in descending, then in ascending order from the same memory: the results must be bitwise equal. */
static pbd_status run_checked(emu *e, unsigned blocks) {
    for (size_t i = 0; i < e->regions; i++) e->region[i].unordered = false;
    PBD_TRY(run_backward(e, blocks));
    PBD_TRY(run_blocks(e, blocks, true));
    for (size_t i = 0; i < e->regions; i++) {
        const region *r = &e->region[i];
        if (r->unordered || memcmp(r->memory, r->backward, r->bytes) == 0) continue;
        size_t at = 0;
        while (word4(r->memory + at) == word4(r->backward + at)) at += 4;
        return pbd_error(PBD_FAILED,
                         "kernel %s: the result depends on the order of its threads (byte %zu of a buffer of %zu): a "
                         "missing barrier, or wrong colours",
                         run.kernel->name, at, r->bytes);
    }
    return pbd_ok();
}

static pbd_status emu_run(void *self, const pbd_kernel *kernel, size_t n, const void *args, double work) {
    (void)work;
    emu *e = self;
    if (!run.shared) run.shared = aligned_alloc(LINE, SHARED_BYTES);
#if !EMU_PTHREADS
    if (!run.stack) run.stack = aligned_alloc(4096, (size_t)BLOCK * STACK_BYTES);
    if (!run.stack) return pbd_error(PBD_FAILED, "out of memory for the emulation's fibres");
#endif
    if (!run.shared) return pbd_error(PBD_FAILED, "out of memory for the emulation");
    run.emu = e;
    run.kernel = kernel;
    run.args = args;
    run.n = n;
    run.descending = false;
    size_t threads = n * (kernel->shape == PBD_SHAPE_TILE ? LANES : 1);
    unsigned blocks = (unsigned)((threads + BLOCK - 1) / BLOCK);
    return e->total <= LARGEST_CHECKED ? run_checked(e, blocks) : run_blocks(e, blocks, false);
}

static void run_alone(int threads, pbd_host_body body, size_t parts, const void *args) {
    (void)threads;
    body(args, 0, parts);
}

static pbd_status emu_sort_pairs(void *self, uint32_t *keys, uint32_t *values, size_t n, int bits, void *scratch,
                                 size_t *bytes) {
    (void)self;
    *bytes = pbd_host_sort_bytes(n, 1);
    if (scratch) pbd_host_sort_pairs(keys, values, n, bits, scratch, 1, run_alone);
    return pbd_ok();
}

static pbd_status emu_scan(void *self, uint32_t *values, size_t n, uint64_t *total, void *scratch, size_t *bytes) {
    (void)self;
    *bytes = pbd_host_scan_bytes(1);
    if (!scratch) return pbd_ok();
    const uint64_t sum = pbd_host_scan(values, n, scratch, 1, run_alone);
    if (total) *total = sum;
    return pbd_ok();
}

/* ---- Repeats: a copy of the list with its arguments, as a CUDA graph has them ------------------------------------ */

typedef struct joined_list {
    size_t count;
    pbd_launch *launch;
    char *args;
} joined_list;

static void emu_part(void *self, void *joined) {
    (void)self;
    joined_list *j = joined;
    free(j->launch);
    free(j->args);
    free(j);
}

static pbd_status emu_join(void *self, const pbd_launch *launch, size_t count, void **joined) {
    size_t bytes = 0, at = 0;
    for (size_t i = 0; i < count; i++) bytes += (launch[i].kernel->args_bytes + 15) / 16 * 16;
    joined_list *j = calloc(1, sizeof *j);
    if (!j) return pbd_error(PBD_FAILED, "out of memory for a list of launches");
    j->count = count;
    j->launch = malloc((count + 1) * sizeof *j->launch);
    j->args = malloc(bytes + 1);
    if (!j->launch || !j->args) {
        emu_part(self, j);
        return pbd_error(PBD_FAILED, "out of memory for a list of %zu launches", count);
    }
    for (size_t i = 0; i < count; i++) {
        j->launch[i] = (pbd_launch){launch[i].kernel, launch[i].n, j->args + at};
        memcpy(j->args + at, launch[i].args, launch[i].kernel->args_bytes);
        at += (launch[i].kernel->args_bytes + 15) / 16 * 16;
    }
    *joined = j;
    return pbd_ok();
}

static pbd_status emu_replay(void *self, void *joined) {
    const joined_list *j = joined;
    for (size_t i = 0; i < j->count; i++)
        PBD_TRY(emu_run(self, j->launch[i].kernel, j->launch[i].n, j->launch[i].args, 0));
    return pbd_ok();
}

const pbd_backend_ops pbd_emu_ops = {emu_open, emu_close, emu_alloc,      emu_release, emu_copy,
                                     emu_copy, emu_run,   emu_sort_pairs, emu_scan,    emu_wait,
                                     NULL,     NULL,      emu_join,       emu_replay,  emu_part};
