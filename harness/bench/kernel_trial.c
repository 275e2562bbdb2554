#include "harness/bench/kernel_trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench/stage.h"
#include "harness/exec/arena.h"
#include "harness/files/numbers.h"
#include "harness/process/interrupt.h"

enum { GPU_BLOCK = 128, GPU_LANES = 8 }; /* PBD_BLOCK and PBD_GPU_LANES of harness/exec/lanes.h */

static void add_use(pbd_kernel_use *use, const pbd_kernel *kernel, size_t n, pbd_work work) {
    use->lanes = kernel->shape == PBD_SHAPE_TILE ? GPU_LANES : 1;
    const uint64_t threads = (uint64_t)n * use->lanes;
    const uint64_t blocks = (threads + GPU_BLOCK - 1) / GPU_BLOCK;
    if (use->launches == 0 || blocks < use->fewest_blocks) use->fewest_blocks = blocks;
    use->launches++;
    use->threads += threads;
    use->flops_per_item = kernel->flops;
    use->flops_per_entry = kernel->entry_flops;
    use->bytes_per_entry = kernel->entry_bytes;
    use->items += work.items;
    use->entries += work.entries;
    use->bytes += kernel->bytes * (double)work.items + kernel->entry_bytes * (double)work.entries;
    use->flops += kernel->flops * (double)work.items + kernel->entry_flops * (double)work.entries + work.more_flops;
    use->more_flops += work.more_flops;
}

static void name_use(pbd_kernel_use *use, const pbd_kernel *kernel) {
    static const char *const shapes[] = {"item", "tile", "batch"};
    snprintf(use->name, sizeof use->name, "%s", kernel->name);
    use->shape = shapes[kernel->shape];
}

/* ---- The observed step ------------------------------------------------------------------------------------------ */

static pbd_status advance(pbd_stage *s) {
    const pbd_method *m = pbd_stage_method(s);
    if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "interrupted");
    return m->step ? m->step(s->state, s->dt) : m->solve(s->state);
}

/* A method without steps is observed in its first solve. */
static pbd_status warm_up(pbd_stage *s, long steps) {
    if (!pbd_stage_method(s)->step) return pbd_ok();
    for (long i = 0; i < steps; i++) PBD_TRY(advance(s));
    return pbd_stage_check(s, steps);
}

static pbd_status step_watched(pbd_stage *s, const pbd_launch_watch *watch) {
    pbd_exec_watch(s->exec, watch);
    pbd_status status = advance(s);
    pbd_exec_watch(s->exec, NULL);
    return status.code == PBD_OK ? watch->settle(watch->self) : status;
}

/* ---- All kernels of a step --------------------------------------------------------------------------------------- */

typedef struct kernel_list {
    pbd_exec *exec;
    pbd_kernel_use *use;
    size_t count;
} kernel_list;

static void free_list(kernel_list *l) {
    free(l->use);
    *l = (kernel_list){.exec = l->exec};
}

static double seconds_of(const kernel_list *l) {
    double sum = 0;
    for (size_t i = 0; i < l->count; i++) sum += l->use[i].seconds;
    return sum;
}

static pbd_kernel_use *find_use(kernel_list *l, const pbd_kernel *kernel) {
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->use[i].name, kernel->name) == 0) return &l->use[i];
    pbd_kernel_use *grown = realloc(l->use, (l->count + 1) * sizeof *grown);
    if (!grown) return NULL;
    l->use = grown;
    grown[l->count] = (pbd_kernel_use){0};
    name_use(&grown[l->count], kernel);
    return &grown[l->count++];
}

static pbd_status list_launch(void *self, const pbd_kernel *kernel, size_t n, pbd_work work, const void *args) {
    kernel_list *l = self;
    pbd_kernel_use *use = find_use(l, kernel);
    pbd_exec_time took;
    if (!use) return pbd_error(PBD_FAILED, "out of memory for a list of kernels");
    PBD_TRY(pbd_exec_timer_begin(l->exec));
    PBD_TRY(pbd_run(l->exec, kernel, n, work.items, work.entries, work.more_flops, args));
    PBD_TRY(pbd_exec_timer_end(l->exec, &took));
    add_use(use, kernel, n, work);
    use->seconds += took.wall_s;
    return pbd_ok();
}

static pbd_status list_settle(void *self) {
    (void)self;
    return pbd_ok();
}

static int by_time(const void *a, const void *b) {
    const pbd_kernel_use *x = a, *y = b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

pbd_status pbd_kernel_list(const pbd_plan_item *item, long warmup, long steps, bool for_gpu, pbd_kernel_use **out,
                           size_t *count, size_t *allocated) {
    pbd_stage stage PBD_CLEANUP(pbd_stage_close) = {0};
    kernel_list list PBD_CLEANUP(free_list) = {0}, fastest PBD_CLEANUP(free_list) = {0};
    const pbd_launch_watch watch = {list_launch, list_settle, &list};
    PBD_TRY(pbd_stage_open(&item->cell, for_gpu, &stage));
    list.exec = stage.exec;
    PBD_TRY(warm_up(&stage, warmup));
    for (long step = 0; step < steps; step++) {
        free_list(&list);
        PBD_TRY(step_watched(&stage, &watch));
        if (list.count == 0)
            return pbd_error(PBD_NOT_SUPPORTED, "method %s launches no kernels", pbd_cell_method(&item->cell)->name);
        if (step > 0 && seconds_of(&list) >= seconds_of(&fastest)) continue;
        const kernel_list slower = fastest;
        fastest = list;
        list = slower;
        list.exec = stage.exec;
    }
    qsort(fastest.use, fastest.count, sizeof *fastest.use, by_time);
    *out = fastest.use;
    *count = fastest.count;
    if (allocated) *allocated = pbd_exec_read_totals(stage.exec).allocated;
    fastest.use = NULL; /* the caller's */
    return pbd_ok();
}

/* ---- A trial ----------------------------------------------------------------------------------------------------- */

typedef struct held_launch {
    const pbd_kernel *kernel;
    size_t n;
    pbd_work work;
    void *args;
} held_launch;

static pbd_status run_held(pbd_exec *exec, const held_launch *h, const void *args) {
    return pbd_run(exec, h->kernel, h->n, h->work.items, h->work.entries, h->work.more_flops, args);
}

/* A buffer of the device, and its copy where the plain form runs. */
typedef struct mirrored {
    pbd_block block;
    void *copy;   /* in `plain`'s memory */
    void *before; /* on the host: what it was; freed where the series changes nothing */
} mirrored;

typedef struct trial {
    pbd_arena owned;
    pbd_kernel_trial *asked;
    pbd_exec *exec, *plain;
    size_t word; /* bytes of a real */
    held_launch *held;
    size_t launches;
    bool done;
    pbd_status status; /* of the trial: pbd_free, which may begin it, has none */
    mirrored *block;
    size_t blocks;
} trial;

static void trial_free(trial *t) {
    for (size_t i = 0; i < t->blocks && t->block; i++) {
        free(t->block[i].before);
        if (t->plain) pbd_free(t->plain, t->block[i].copy);
    }
    pbd_exec_destroy(t->plain);
    pbd_arena_free(&t->owned);
}

static pbd_status hold(trial *t, const pbd_kernel *kernel, size_t n, pbd_work work, const void *args) {
    void *copy = pbd_arena_take(&t->owned, kernel->args_bytes, 1);
    if (!pbd_arena_more(&t->owned, &t->held, t->launches, sizeof *t->held)) return pbd_arena_check(&t->owned);
    memcpy(copy, args, kernel->args_bytes);
    t->held[t->launches++] = (held_launch){kernel, n, work, copy};
    add_use(&t->asked->use, kernel, n, work);
    name_use(&t->asked->use, kernel);
    return pbd_ok();
}

static pbd_status run_series(const trial *t) {
    for (size_t i = 0; i < t->launches; i++) PBD_TRY(run_held(t->exec, &t->held[i], t->held[i].args));
    return pbd_ok();
}

/* ---- The plain form, on a copy of memory ---- */

static pbd_status mirror(trial *t) {
    const pbd_block *block = pbd_exec_blocks(t->exec, &t->blocks);
    t->block = pbd_new(&t->owned, mirrored, t->blocks);
    PBD_TRY(pbd_arena_check(&t->owned));
    for (size_t i = 0; i < t->blocks; i++) t->block[i].block = block[i];
    for (size_t i = 0; i < t->blocks; i++) {
        mirrored *m = &t->block[i];
        m->before = malloc(m->block.bytes + 1);
        if (!m->before) return pbd_no_memory();
        PBD_TRY(pbd_alloc(t->plain, m->block.bytes, &m->copy));
        PBD_TRY(pbd_download(t->exec, m->before, m->block.memory, m->block.bytes));
    }
    return pbd_ok();
}

/* Pointers into the device's memory among the aligned words at `words` become pointers into the copy. */
static void translate(const trial *t, void *words, size_t bytes) {
    for (size_t at = 0; at + sizeof(uintptr_t) <= bytes; at += sizeof(uintptr_t)) {
        uintptr_t word;
        memcpy(&word, (char *)words + at, sizeof word);
        for (size_t i = 0; i < t->blocks; i++) {
            const uintptr_t begin = (uintptr_t)t->block[i].block.memory;
            if (word < begin || word > begin + t->block[i].block.bytes) continue;
            word = (uintptr_t)t->block[i].copy + (word - begin);
            memcpy((char *)words + at, &word, sizeof word);
            break;
        }
    }
}

/* Arrays of structs with pointers in them (colliders that are meshes) are short; in long ones numbers might look like
 * pointers. */
enum { MOST_POINTERS = 1 << 16 };

static pbd_status fill_copies(trial *t) {
    for (size_t i = 0; i < t->blocks; i++) {
        mirrored *m = &t->block[i];
        const size_t bytes = m->block.bytes;
        if (bytes > MOST_POINTERS) {
            PBD_TRY(pbd_upload(t->plain, m->copy, m->before, bytes));
            continue;
        }
        pbd_arena a PBD_ARENA;
        void *translated = pbd_arena_take(&a, bytes, 1);
        PBD_TRY(pbd_arena_check(&a));
        memcpy(translated, m->before, bytes);
        translate(t, translated, bytes);
        PBD_TRY(pbd_upload(t->plain, m->copy, translated, bytes));
    }
    return pbd_ok();
}

static pbd_status run_plain(trial *t) {
    PBD_TRY(fill_copies(t));
    for (size_t i = 0; i < t->launches; i++) {
        const held_launch *h = &t->held[i];
        pbd_arena a PBD_ARENA;
        void *args = pbd_arena_take(&a, h->kernel->args_bytes, 1);
        PBD_TRY(pbd_arena_check(&a));
        memcpy(args, h->args, h->kernel->args_bytes);
        translate(t, args, h->kernel->args_bytes);
        PBD_TRY(run_held(t->plain, h, args));
    }
    return pbd_exec_wait(t->plain);
}

/* ---- Comparing ---- */

/* Rows of four are a vector and a number of another kind (mass, volume): each has its own size. */
enum { KINDS = 2 };

static int kind_of(size_t i) { return i % 4 == 3; }

static double real_at(const char *bytes, size_t i, size_t word) {
    float f;
    double d;
    if (word == sizeof d) {
        memcpy(&d, bytes + i * word, word);
        return d;
    }
    memcpy(&f, bytes + i * word, word);
    return (double)f;
}

/* Of whole numbers, which read as reals are tiny or NaN (UINT32_MAX), each is right or wrong. */
static bool is_whole(const char *bytes, size_t words, size_t word) {
    const double tiny = word == sizeof(double) ? 1e-250 : 1e-30;
    for (size_t i = 0; i < words; i++)
        if (fabs(real_at(bytes, i, word)) > tiny) return false;
    return true;
}

/* One buffer: as it was, and as either form leaves it. */
typedef struct results {
    const char *before, *one, *other;
    size_t bytes, word;
} results;

static bool is_written(const results *r, const char *after, size_t i) {
    return memcmp(after + i * r->word, r->before + i * r->word, r->word) != 0;
}

/* The largest number that both write. */
static void scales_of(const results *r, double most[KINDS]) {
    for (size_t i = 0; i < r->bytes / r->word; i++) {
        const double a = fabs(real_at(r->one, i, r->word)), b = fabs(real_at(r->other, i, r->word));
        if (is_written(r, r->one, i) && is_written(r, r->other, i))
            most[kind_of(i)] = fmax(most[kind_of(i)], fmax(a, b));
    }
}

/* What one form alone changes by more than rounding is counted, not compared. */
static void compare_reals(pbd_kernel_trial *t, const results *r) {
    double most[KINDS] = {0};
    scales_of(r, most);
    for (size_t i = 0; i < r->bytes / r->word; i++) {
        const bool one = is_written(r, r->one, i), other = is_written(r, r->other, i);
        if (memcmp(r->one + i * r->word, r->other + i * r->word, r->word) == 0) {
            t->written += one;
            continue;
        }
        const double by = fabs(real_at(r->one, i, r->word) - real_at(r->other, i, r->word)), scale = most[kind_of(i)];
        const double relative = isfinite(by) && scale > 0 ? by / scale : INFINITY;
        if (one != other && !(relative <= t->bound)) {
            t->unmatched++;
            continue;
        }
        t->written++;
        t->difference = fmax(t->difference, relative);
    }
}

static void compare_results(pbd_kernel_trial *t, const results *r) {
    const size_t words = r->bytes / r->word;
    const bool whole = is_whole(r->one, words, r->word) && is_whole(r->other, words, r->word);
    const size_t rest = whole ? 0 : words * r->word; /* whole numbers are compared as bytes */
    if (!whole) compare_reals(t, r);
    for (size_t i = 0; i < words && whole; i++) t->written += is_written(r, r->one, i);
    if (memcmp(r->one + rest, r->other + rest, r->bytes - rest) != 0) t->difference = INFINITY;
}

/* A buffer of the device as the copy would have it. */
static void translate_short(const trial *t, char *bytes, size_t count) {
    if (count <= MOST_POINTERS) translate(t, bytes, count);
}

/* Both results of one buffer against each other. What it was is kept for the repetitions where it has changed. */
static pbd_status compare_block(trial *t, mirrored *m, char *was, char *one, char *other) {
    const size_t bytes = m->block.bytes;
    PBD_TRY(pbd_download(t->exec, one, m->block.memory, bytes));
    PBD_TRY(pbd_download(t->plain, other, m->copy, bytes));
    const bool changed = memcmp(one, m->before, bytes) != 0;
    memcpy(was, m->before, bytes);
    translate_short(t, was, bytes);
    translate_short(t, one, bytes);
    compare_results(t->asked, &(results){was, one, other, bytes, t->word});
    if (changed) return pbd_ok();
    free(m->before);
    m->before = NULL;
    return pbd_ok();
}

static pbd_status compare(trial *t) {
    size_t most = 0;
    for (size_t i = 0; i < t->blocks; i++) most = t->block[i].block.bytes > most ? t->block[i].block.bytes : most;
    char *three PBD_CLEANUP(pbd_free_memory) = malloc(3 * most + 1); /* large, and need not be zeroed */
    if (!three) return pbd_no_memory();
    for (size_t i = 0; i < t->blocks; i++)
        PBD_TRY(compare_block(t, &t->block[i], three, three + most, three + 2 * most));
    if (t->asked->difference <= t->asked->bound) return pbd_ok();
    return pbd_error(
        PBD_FAILED,
        "kernel %s differs from its plain form by %.3g of the largest number that it writes, where %.3g is "
        "the bound: not timed",
        t->asked->kernel, t->asked->difference, t->asked->bound);
}

/* ---- Timing ---- */

/* What the series changes, as it was before. */
static pbd_status restore(const trial *t) {
    for (size_t i = 0; i < t->blocks; i++)
        if (t->block[i].before)
            PBD_TRY(pbd_upload(t->exec, t->block[i].block.memory, t->block[i].before, t->block[i].block.bytes));
    return pbd_ok();
}

static pbd_status time_once(const trial *t, pbd_exec_time *took) {
    if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "interrupted");
    PBD_TRY(restore(t));
    PBD_TRY(pbd_exec_timer_begin(t->exec));
    PBD_TRY(run_series(t));
    return pbd_exec_timer_end(t->exec, took);
}

static pbd_status time_series(trial *t) {
    pbd_kernel_trial *asked = t->asked;
    const size_t count = (size_t)asked->repetitions;
    pbd_exec_time took;
    asked->sample = malloc(2 * count * sizeof *asked->sample);
    if (!asked->sample) return pbd_no_memory();
    PBD_TRY(time_once(t, &took)); /* the first includes cold caches */
    for (size_t i = 0; i < count; i++) {
        PBD_TRY(time_once(t, &took));
        asked->sample[i] = took.wall_s;
        asked->cpu += took.cpu_s;
    }
    double *sorted = asked->sample + count;
    memcpy(sorted, asked->sample, count * sizeof *sorted);
    asked->use.seconds = pbd_median(sorted, count);
    return pbd_ok();
}

/* ---- All of it ---- */

static pbd_status try_series(trial *t) {
    PBD_TRY(mirror(t));
    PBD_TRY(run_plain(t));
    PBD_TRY(run_series(t));
    PBD_TRY(compare(t));
    return time_series(t);
}

static pbd_status trial_settle(void *self) {
    trial *t = self;
    if (t->launches > 0 && !t->done) {
        t->done = true;
        t->status = try_series(t);
    }
    return t->status;
}

/* Launches of the kernel are deferred until another call comes; the trial leaves memory as they would. */
static pbd_status trial_launch(void *self, const pbd_kernel *kernel, size_t n, pbd_work work, const void *args) {
    trial *t = self;
    if (!t->done && strcmp(kernel->name, t->asked->kernel) == 0) return hold(t, kernel, n, work, args);
    PBD_TRY(trial_settle(t));
    return pbd_run(t->exec, kernel, n, work.items, work.entries, work.more_flops, args);
}

pbd_status pbd_kernel_try(const pbd_plan_item *item, pbd_kernel_trial *asked) {
    const pbd_cell *cell = &item->cell;
    const bool single = cell->precision == PBD_PRECISION_F32;
    pbd_stage stage PBD_CLEANUP(pbd_stage_close) = {0};
    trial t PBD_CLEANUP(trial_free) = {
        .asked = asked, .word = single ? sizeof(float) : sizeof(double), .status = pbd_ok()};
    const pbd_launch_watch watch = {trial_launch, trial_settle, &t};
    if (!(asked->bound > 0)) asked->bound = single ? 1e-3 : 1e-10;
    PBD_TRY(pbd_stage_open(cell, false, &stage));
    t.exec = stage.exec;
    PBD_TRY(pbd_exec_create(cell->backend == PBD_BACKEND_EMU ? PBD_CPU : PBD_EMU, 1, &t.plain));
    PBD_TRY(warm_up(&stage, asked->warmup));
    const pbd_status status = step_watched(&stage, &watch);
    PBD_TRY(t.status);
    PBD_TRY(status);
    if (t.done) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "a step of %s on %s launches no kernel '%s': `--kernel list` lists its kernels",
                     pbd_cell_method(cell)->name, cell->c->name, asked->kernel);
}
