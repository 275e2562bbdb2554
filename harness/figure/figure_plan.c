/* From the groups of a file to a plan, and the plan of many figures to runs without doing one twice. */
#include "harness/figure/figure_plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/plugin.h"
#include "harness/exec/arena.h"
#include "harness/files/folded.h"
#include "harness/files/paths.h"
#include "harness/run/run_plan.h"

/* Limit for one group: more is probably a mistake in an axis, and would fill the memory before the first run. */
enum { MOST_RUNS = 100000 };

/* ---- A group as a request ---------------------------------------------------------------------------------------- */

/* The settings and axes of a group after --quick or --full is applied, and their parsed forms. The strings belong to
 * the file. */
typedef struct group_words {
    pbd_arena owned;
    const char **set, **axis;
    size_t sets, axes;
    pbd_setting *setting;
    pbd_axis *parsed;
} group_words;

static bool same_key(const char *a, const char *b) {
    size_t n = strcspn(a, "=");
    return n == strcspn(b, "=") && strncmp(a, b, n) == 0;
}

static void remove_word(const char **words, size_t *count, size_t i) {
    memmove(&words[i], &words[i + 1], (*count - i - 1) * sizeof *words);
    (*count)--;
}

/* A "key=value" of --quick or --full replaces the axis or setting with that key. A single value is a setting, unless
 * the key was an axis. */
static void replace_word(group_words *w, const char *word) {
    for (size_t i = 0; i < w->axes; i++)
        if (same_key(w->axis[i], word)) {
            w->axis[i] = word;
            return;
        }
    for (size_t i = 0; i < w->sets; i++)
        if (same_key(w->set[i], word)) remove_word(w->set, &w->sets, i--);
    if (strpbrk(word, ":,"))
        w->axis[w->axes++] = word;
    else
        w->set[w->sets++] = word;
}

static pbd_status choose_words(const pbd_group *g, pbd_scale scale, group_words *w) {
    char *const *other = scale == PBD_SCALE_QUICK ? g->quick : g->full;
    const size_t extra = scale == PBD_SCALE_QUICK ? g->quick_count : scale == PBD_SCALE_FULL ? g->full_count : 0;
    w->set = pbd_new(&w->owned, const char *, g->set_count + extra);
    w->axis = pbd_new(&w->owned, const char *, g->axes_count + extra);
    w->setting = pbd_new(&w->owned, pbd_setting, g->set_count + extra);
    w->parsed = pbd_new(&w->owned, pbd_axis, g->axes_count + extra);
    PBD_TRY(pbd_arena_check(&w->owned));
    for (unsigned i = 0; i < g->set_count; i++) w->set[w->sets++] = g->set[i];
    for (unsigned i = 0; i < g->axes_count; i++) w->axis[w->axes++] = g->axes[i];
    for (size_t i = 0; i < extra; i++) replace_word(w, other[i]);
    return pbd_ok();
}

static pbd_status parse_words(group_words *w) {
    for (size_t i = 0; i < w->sets; i++) PBD_TRY(pbd_setting_parse(w->set[i], &w->setting[i]));
    for (size_t i = 0; i < w->axes; i++) PBD_TRY(pbd_axis_parse(w->axis[i], &w->parsed[i]));
    return pbd_ok();
}

static pbd_status check_axes(const pbd_group *g, const group_words *w) {
    double runs = g->repeats ? g->repeats : 1;
    for (size_t i = 0; i < w->axes; i++) {
        runs *= (double)w->parsed[i].count;
        for (size_t k = 0; k < i; k++)
            if (strcmp(w->parsed[i].key, w->parsed[k].key) == 0)
                return pbd_error(PBD_BAD_INPUT, "axis '%.60s' is given twice", w->parsed[i].key);
    }
    if (runs <= MOST_RUNS) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "axes and repeats make %.10g runs; at most %d are allowed", runs, MOST_RUNS);
}

static void free_words(group_words *w) {
    for (size_t i = 0; w->setting && i < w->sets; i++) pbd_setting_free(&w->setting[i]);
    for (size_t i = 0; w->parsed && i < w->axes; i++) pbd_axis_free(&w->parsed[i]);
    pbd_arena_free(&w->owned);
}

/* With --quick no times are judged, and all runs are small. */
static bool runs_alone(const pbd_figure_file *file, const pbd_group *g, pbd_scale scale) {
    return scale != PBD_SCALE_QUICK && (g->timed || file->memory_mib > PBD_MOST_MEMORY_BESIDE);
}

static pbd_status plan_group(const pbd_figure_file *file, unsigned i, pbd_scale scale, size_t group, pbd_plan *plan) {
    const pbd_group *g = &file->runs[i];
    const bool is_figure = file->figure != NULL; /* the purpose of a sweep is its runs */
    group_words w PBD_CLEANUP(free_words) = {0};
    PBD_TRY(choose_words(g, scale, &w));
    PBD_TRY(parse_words(&w));
    PBD_TRY(check_axes(g, &w));
    const pbd_request request = {.case_name = g->case_name,
                                 .method_name = g->method,
                                 .backend = g->backend,
                                 .elsewhere = is_figure,
                                 .all_read = !is_figure, /* figures keep their cells, and rows for each */
                                 .precision = g->precision,
                                 .threads = (int)g->threads,
                                 .repeats = (int)g->repeats,
                                 .warmups = (int)g->warmups,
                                 .seed = g->seed ? g->seed : 1, /* as `run` without --seed */
                                 .setting = w.setting,
                                 .settings = w.sets,
                                 .axis = w.parsed,
                                 .axes = w.axes};
    const size_t before = plan->count;
    PBD_TRY(pbd_plan_add(plan, &request, group));
    for (size_t k = before; k < plan->count; k++) plan->item[k].alone = runs_alone(file, g, scale);
    return pbd_ok();
}

/* Loads the engine of a group. A figure goes on without one that cannot be used, and says why. */
static pbd_status find_engine(pbd_group *g, bool is_figure) {
    pbd_arena a PBD_ARENA;
    const pbd_plugin *plugin;
    g->missing[0] = '\0';
    if (!g->engine) return pbd_ok();
    const char *path = *g->engine == '/' ? g->engine : pbd_new_format(&a, "%s/%s", pbd_root(), g->engine);
    PBD_TRY(pbd_arena_check(&a));
    const pbd_status status = pbd_plugin_load(path, &plugin);
    if (status.code == PBD_OK || status.code == PBD_INTERRUPTED || !is_figure) return status;
    snprintf(g->missing, sizeof g->missing, "%.290s", status.text);
    return pbd_ok();
}

/* Times with more threads than processors would be meaningless. */
static void find_cores(pbd_group *g, bool is_figure) {
    const int there = omp_get_num_procs();
    if (!is_figure || *g->missing || (unsigned)there >= g->cores) return;
    snprintf(g->missing, sizeof g->missing, "it needs %u processors, and the program may use %d here", g->cores, there);
}

static pbd_status plan_groups(pbd_figure_file *file, pbd_scale scale, size_t first_group, pbd_plan *plan) {
    for (unsigned i = 0; i < file->runs_count; i++) {
        const bool is_figure = file->figure != NULL; /* the purpose of a sweep is its runs */
        pbd_status status = find_engine(&file->runs[i], is_figure);
        find_cores(&file->runs[i], is_figure);
        if (status.code == PBD_OK && !*file->runs[i].missing)
            status = plan_group(file, i, scale, first_group + i, plan);
        if (status.code != PBD_OK)
            return pbd_error(status.code, "%s: runs[%u] '%s': %s", file->shown_as, i, file->runs[i].name, status.text);
    }
    return pbd_ok();
}

/* Neighbouring groups are often methods on one scene, which is built once for what they choose. */
pbd_status pbd_figure_plan(pbd_figure_file *file, pbd_scale scale, size_t first_group, pbd_plan *plan) {
    pbd_built_scene built PBD_CLEANUP(pbd_built_scene_free) = {0};
    plan->built = &built;
    const pbd_status status = plan_groups(file, scale, first_group, plan);
    plan->built = NULL;
    return status;
}

/* ---- As a sweep -------------------------------------------------------------------------------------------------- */

static void write_words(FILE *out, const char *key, const char *const *words, size_t count) {
    if (count == 0) return;
    fprintf(out, "    %s: [", key);
    for (size_t i = 0; i < count; i++) fprintf(out, "%s\"%s\"", i ? ", " : "", words[i]);
    fputs("]\n", out);
}

static void write_count(FILE *out, const char *key, uint64_t value) {
    if (value) fprintf(out, "    %s: %" PRIu64 "\n", key, value);
}

/* At most 40 characters, a-z, 0-9 and _: the figure's name is cut off at its end if necessary. */
static void write_name(FILE *out, const char *figure, const char *group) {
    const size_t most = 39 - (strlen(group) < 39 ? strlen(group) : 39);
    for (size_t i = 0; figure[i] && i < most; i++) fputc(isalnum((unsigned char)figure[i]) ? figure[i] : '_', out);
    fprintf(out, "_%s\n", group);
}

pbd_status pbd_figure_write_sweep(const pbd_figure_file *file, pbd_scale scale, FILE *out) {
    for (unsigned i = 0; i < file->runs_count; i++) {
        const pbd_group *g = &file->runs[i];
        group_words w PBD_CLEANUP(free_words) = {0};
        pbd_backend backend = PBD_BACKEND_CPU;
        if (scale == PBD_SCALE_FULL && g->full_count == 0) continue;
        if (g->backend) PBD_TRY(pbd_name_backend(g->backend, &backend));
        const pbd_status here = pbd_check_backend(backend);
        if (here.code != PBD_OK) { /* `sweep` would refuse the whole file */
            fprintf(out, "  # %s of %s is left out: %s\n", g->name, file->figure, here.text);
            continue;
        }
        PBD_TRY(choose_words(g, scale, &w));
        fputs("  - name: ", out);
        write_name(out, file->figure, g->name);
        fprintf(out, "    case: %s\n    method: %s\n", g->case_name, g->method);
        if (g->engine) fprintf(out, "    engine: %s\n", g->engine);
        if (g->backend) fprintf(out, "    backend: %s\n", g->backend);
        if (g->precision) fprintf(out, "    precision: %s\n", g->precision);
        write_count(out, "threads", g->threads);
        write_count(out, "repeats", g->repeats);
        write_count(out, "warmups", g->warmups);
        write_count(out, "seed", g->seed);
        write_words(out, "set", w.set, w.sets);
        write_words(out, "axes", w.axis, w.axes);
    }
    return pbd_ok();
}

/* ---- Items that ask for the same run ----------------------------------------------------------------------------- */

static int by_identity(const void *left, const void *right) {
    const pbd_plan_item *a = *(pbd_plan_item *const *)left, *b = *(pbd_plan_item *const *)right;
    int order = strcmp(a->cell_id, b->cell_id);
    if (order == 0) order = (a->seed > b->seed) - (a->seed < b->seed);
    if (order == 0) order = (a->repeat > b->repeat) - (a->repeat < b->repeat);
    return order;
}

static int by_identity_then_place(const void *left, const void *right) {
    const pbd_plan_item *a = *(pbd_plan_item *const *)left, *b = *(pbd_plan_item *const *)right;
    int order = by_identity(left, right);
    return order ? order : (a > b) - (a < b);
}

/* first[i] is the index of the first item, in [0, i], that asks for the same run as item i. NULL without memory. */
static size_t *first_alike(pbd_arena *a, const pbd_plan *plan) {
    size_t *first = pbd_new(a, size_t, plan->count);
    const pbd_plan_item **sorted = pbd_new(a, const pbd_plan_item *, plan->count);
    if (!sorted) return NULL;
    for (size_t i = 0; i < plan->count; i++) sorted[i] = &plan->item[i];
    qsort(sorted, plan->count, sizeof *sorted, by_identity_then_place);
    for (size_t i = 0, head = 0; i < plan->count; i++) {
        if (by_identity(&sorted[head], &sorted[i]) != 0) head = i;
        first[sorted[i] - plan->item] = (size_t)(sorted[head] - plan->item);
    }
    return first;
}

static int by_round(const void *left, const void *right) {
    const pbd_plan_item *a = *(pbd_plan_item *const *)left, *b = *(pbd_plan_item *const *)right;
    const int order = (a->repeat > b->repeat) - (a->repeat < b->repeat);
    return order ? order : (a > b) - (a < b);
}

/* The plan without repetitions, and where each item is in it. Round by round: the first repeat of every cell, then the
 * second, so that cells take turns and a machine that changes slowly changes for all of them. Shallow copies: the plan
 * still owns what the items hold. */
static pbd_status fold_alike(pbd_arena *a, const pbd_plan *plan, const size_t *first, pbd_plan *once, size_t *place) {
    *once = (pbd_plan){.item = pbd_new(a, pbd_plan_item, plan->count + 1), .capacity = plan->count + 1};
    const pbd_plan_item **turn = pbd_new(a, const pbd_plan_item *, plan->count + 1);
    PBD_TRY(pbd_arena_check(a));
    for (size_t k = 0; k < plan->count; k++) turn[k] = &plan->item[k];
    qsort(turn, plan->count, sizeof *turn, by_round);
    for (size_t k = 0; k < plan->count; k++) {
        const size_t i = (size_t)(turn[k] - plan->item);
        place[i] = first[i] == i ? once->count : place[first[i]];
        if (first[i] == i)
            once->item[once->count++] = plan->item[i];
        else
            once->item[place[i]].alone |= plan->item[i].alone;
    }
    return pbd_ok();
}

static void unfold_alike(pbd_plan *plan, const size_t *first, const pbd_plan *once, const size_t *place) {
    for (size_t i = 0; i < plan->count; i++) {
        if (first[i] == i)
            plan->item[i] = once->item[place[i]];
        else
            memcpy(plan->item[i].run_id, once->item[place[i]].run_id, sizeof plan->item[i].run_id);
    }
}

/* In this process, or by workers where there are any. */
static pbd_status execute_once(pbd_plan *plan, pbd_store *store, const pbd_workers *workers, bool again,
                               pbd_plan_observer observer, void *context) {
    pbd_arena a PBD_ARENA;
    pbd_plan once;
    const size_t *first = first_alike(&a, plan);
    size_t *place = pbd_new(&a, size_t, plan->count + 1);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(fold_alike(&a, plan, first, &once, place));
    const pbd_status status = workers ? pbd_plan_execute_beside(&once, workers, again, observer, context)
                                      : pbd_plan_execute(&once, store, again, observer, context);
    unfold_alike(plan, first, &once, place);
    return status;
}

pbd_status pbd_plan_execute_once(pbd_plan *plan, pbd_store *store, bool again, pbd_plan_observer observer,
                                 void *context) {
    return execute_once(plan, store, NULL, again, observer, context);
}

pbd_status pbd_plan_execute_once_beside(pbd_plan *plan, const pbd_workers *workers, bool again,
                                        pbd_plan_observer observer, void *context) {
    return execute_once(plan, NULL, workers, again, observer, context);
}

pbd_status pbd_plan_look_up(pbd_plan *plan, pbd_store *store) {
    for (size_t i = 0; store && i < plan->count; i++) {
        pbd_plan_item *item = &plan->item[i];
        bool found = false;
        const char *method = pbd_cell_method(&item->cell)->name;
        PBD_TRY(pbd_store_find(store, method, item->cell_id, item->seed, item->repeat, &found, item->run_id));
        if (!found && item->limit > 0)
            PBD_TRY(pbd_store_find_stopped(store, method, item->cell_id, item->seed, item->repeat, item->limit, &found,
                                           item->run_id));
        if (!found) item->run_id[0] = '\0';
    }
    return pbd_ok();
}

static bool in_groups(const pbd_plan_item *item, size_t first, size_t last) {
    return item->group >= first && item->group < last;
}

bool pbd_out_of_reach(const pbd_plan_item *item) {
    return !item->run_id[0] && !pbd_backend_at(item->cell.backend).available;
}

void pbd_figure_leave_out(pbd_figure_file *file, const pbd_plan *plan, size_t first_group) {
    for (unsigned i = 0; i < file->runs_count; i++) file->runs[i].left_out = *file->runs[i].missing ? 1 : 0;
    for (size_t i = 0; i < plan->count; i++)
        if (in_groups(&plan->item[i], first_group, first_group + file->runs_count) && pbd_out_of_reach(&plan->item[i]))
            file->runs[plan->item[i].group - first_group].left_out++;
}

void pbd_left_out_text(const pbd_group *group, char out[500]) {
    pbd_backend backend;
    out[0] = '\0';
    if (*group->missing) snprintf(out, 500, "group '%s' is skipped: %s", group->name, group->missing);
    if (*group->missing || group->left_out == 0 || pbd_name_backend(group->backend, &backend).code != PBD_OK) return;
    snprintf(out, 500, "group '%s' is skipped (%zu run%s): %s", group->name, group->left_out,
             group->left_out == 1 ? "" : "s", pbd_check_backend(backend).text);
}

pbd_status pbd_plan_count(const pbd_plan *plan, size_t first, size_t last, pbd_plan_tally *out) {
    *out = (pbd_plan_tally){0};
    pbd_arena a PBD_ARENA;
    pbd_plan part = {.item = pbd_new(&a, pbd_plan_item, plan->count)};
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < plan->count; i++)
        if (in_groups(&plan->item[i], first, last)) part.item[part.count++] = plan->item[i];
    const size_t *alike = first_alike(&a, &part);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < part.count; i++) {
        if (alike[i] != i) continue;
        out->runs++;
        if (!part.item[i].run_id[0]) out->missing++;
        if (pbd_out_of_reach(&part.item[i])) out->left_out++;
    }
    return pbd_ok();
}

pbd_status pbd_plan_seconds(const pbd_plan *plan, size_t first, size_t last, const double *each, double *seconds,
                            double *alone) {
    pbd_arena a PBD_ARENA;
    pbd_plan part = {.item = pbd_new(&a, pbd_plan_item, plan->count)};
    double *of = pbd_new(&a, double, plan->count);
    bool *lone = pbd_new(&a, bool, plan->count);
    *seconds = *alone = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < plan->count; i++) {
        const pbd_plan_item *item = &plan->item[i];
        if (!in_groups(item, first, last) || item->run_id[0] || pbd_out_of_reach(item)) continue;
        of[part.count] = each[i];
        part.item[part.count++] = *item;
    }
    const size_t *alike = first_alike(&a, &part);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < part.count; i++) lone[alike[i]] |= !pbd_may_be_beside(&part.item[i]);
    for (size_t i = 0; i < part.count; i++) {
        if (alike[i] != i || isnan(of[i])) continue;
        *seconds += of[i];
        if (lone[i]) *alone += of[i];
    }
    return pbd_ok();
}

void pbd_plan_print_missing(const pbd_plan *plan, size_t first, size_t last, size_t most) {
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const pbd_plan_item *item = &plan->item[i];
        if (!in_groups(item, first, last) || item->run_id[0] || pbd_out_of_reach(item)) continue;
        if (shown++ < most)
            pbd_print_line(4, "%s", item->label);
        else
            more++;
    }
    if (more) printf("    ... and %zu more\n", more);
}
