#include "harness/plan/plan.h"

#include <jansson.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "harness/catalog/conditions.h"
#include "harness/catalog/resolve.h"
#include "harness/exec/arena.h"

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static int compare_values(const void *a, const void *b) {
    return strcmp((*(const pbd_value *const *)a)->param->name, (*(const pbd_value *const *)b)->param->name);
}

/* The canonical spelling of a number is valid JSON and is written as it is, so that 0.3 stays 0.3. */
static void write_json_value(FILE *out, const pbd_value *value) {
    if (value->param->kind == PBD_REAL || value->param->kind == PBD_INTEGER) {
        fputs(value->text, out);
        return;
    }
    json_auto_t *word = json_string(pbd_value_text(value));
    json_dumpf(word, out, JSON_ENCODE_ANY);
}

/* All parameters of case and method as one JSON object with sorted keys: what the store keeps and hashes. Written from
 * each value's canonical spelling. */
static char *params_json(const pbd_cell *cell) {
    pbd_arena a PBD_ARENA;
    size_t count = 0, size = 0;
    const pbd_value **sorted = pbd_new(&a, const pbd_value *, cell->case_values.count + cell->method_values.count);
    char *text = NULL;
    FILE *out = sorted ? open_memstream(&text, &size) : NULL;
    if (!out) return NULL;
    for (size_t i = 0; i < cell->case_values.count; i++) sorted[count++] = &cell->case_values.item[i];
    for (size_t i = 0; i < cell->method_values.count; i++) sorted[count++] = &cell->method_values.item[i];
    qsort(sorted, count, sizeof *sorted, compare_values);
    fputc('{', out);
    for (size_t i = 0; i < count; i++) {
        /* A key of both case and method has the same value in both. */
        if (i > 0 && compare_values(&sorted[i], &sorted[i - 1]) == 0) continue;
        fprintf(out, "%s\"%s\":", i ? "," : "", sorted[i]->param->name);
        write_json_value(out, sorted[i]);
    }
    fputc('}', out);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

/* Hash of everything that determines the result and its cost. */
static pbd_status identify_cell(const pbd_cell *cell, char cell_id[33]) {
    pbd_arena a PBD_ARENA;
    const char *params PBD_CLEANUP(pbd_free_memory) = params_json(cell);
    if (!params) return pbd_no_memory();
    const char *text =
        pbd_new_format(&a, "%s|%s|%s|%s|%s|%d", cell->c->name, pbd_cell_method(cell)->name, params,
                       pbd_backend_at(cell->backend).name, pbd_precision_name(cell->precision), cell->threads);
    PBD_TRY(pbd_arena_check(&a));
    XXH128_hash_t hash = XXH3_128bits(text, strlen(text));
    snprintf(cell_id, 33, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
    return pbd_ok();
}

static pbd_status check_cell(const pbd_cell *cell) {
    const pbd_method *m = pbd_cell_method(cell);
    static const char *const needed[] = {
        "particles", "hexahedra", "tetrahedra", "triangles", "tetrahedra or triangles", "particles that sample a body"};
    const unsigned missing = pbd_missing_needs(m, cell->c);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (missing & 1u << i)
            return pbd_error(PBD_NOT_SUPPORTED, "method %s needs %s, which case %s does not have", m->name, needed[i],
                             cell->c->name);
    if (!(m->precisions & 1u << cell->precision))
        return pbd_error(PBD_NOT_SUPPORTED, "method %s does not run in %s; use -p %s", m->name,
                         pbd_precision_name(cell->precision), pbd_precision_name((pbd_precision)!cell->precision));
    if (!(m->backends & 1u << cell->backend))
        return pbd_error(PBD_NOT_SUPPORTED,
                         "method %s does not run on backend %s, only on %s%s (its README.md says why)", m->name,
                         pbd_backend_at(cell->backend).name, m->backends & PBD_CPU ? "cpu" : "emu",
                         m->backends & PBD_CPU && m->backends & PBD_EMU ? " and emu" : "");
    return pbd_ok();
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

static void free_item(pbd_plan_item *item) {
    pbd_values_free(&item->cell.case_values);
    pbd_values_free(&item->cell.method_values);
    free(item->snapshot_folder);
    free(item->label);
    free(item->chosen);
}

void pbd_plan_free(pbd_plan *plan) {
    for (size_t i = 0; i < plan->count; i++) free_item(&plan->item[i]);
    free(plan->item);
    *plan = (pbd_plan){0};
}

void pbd_plan_cut(pbd_plan *plan, size_t count) {
    while (plan->count > count) free_item(&plan->item[--plan->count]);
}

static pbd_status append_item(pbd_plan *plan, const pbd_plan_item *item) {
    if (plan->count == plan->capacity) {
        size_t capacity = plan->capacity ? 2 * plan->capacity : 32;
        pbd_plan_item *grown = realloc(plan->item, capacity * sizeof *grown);
        if (!grown) return pbd_no_memory();
        plan->item = grown;
        plan->capacity = capacity;
    }
    plan->item[plan->count++] = *item;
    return pbd_ok();
}

/* «cube_shear pbd_distance nu=0.2 solver=jacobi»: the axes distinguish the runs of a request. */
static char *label_of(const pbd_request *request, const size_t *index) {
    char text[400];
    int used = snprintf(text, sizeof text, "%s %s", request->case_name, request->method_name);
    for (size_t a = 0; a < request->axes && used > 0 && (size_t)used < sizeof text; a++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %s=%s", request->axis[a].key,
                         request->axis[a].values[index[a]]);
    return strdup(text);
}

static bool is_given(const pbd_setting *settings, size_t count, const char *key) {
    for (size_t k = 0; k < count; k++)
        if (strcmp(settings[k].key, key) == 0) return true;
    return false;
}

/* The law that the method has set in place of the case's default; NULL: none. */
static const char *law_instead(const pbd_cell *cell, const pbd_setting *settings, size_t count) {
    const char *law = pbd_method_law(pbd_cell_method(cell));
    for (const pbd_param *p = cell->c->params; law && p && p->name; p++)
        if (strcmp(p->name, "material") == 0 && strcmp(p->preset, law) != 0 && !is_given(settings, count, p->name))
            return law;
    return NULL;
}

/* Whether a parameter is `auto`, by default or as last set; a default of the case overrides that of the method. */
static bool is_chosen(const pbd_cell *cell, const pbd_setting *settings, size_t count, const pbd_param *param) {
    if (!pbd_param_is_auto(param)) return false;
    for (size_t k = count; k-- > 0;)
        if (strcmp(settings[k].key, param->name) == 0) return strcmp(settings[k].value, "auto") == 0;
    return !pbd_value_named(&cell->case_values, param->name);
}

/* " dt=0.0017 kernel=rest": what the method chose. */
static char *chosen_text(const pbd_cell *cell, const pbd_setting *settings, size_t count) {
    char text[400] = "";
    for (size_t k = 0; k < cell->method_values.count; k++) {
        const pbd_value *value = &cell->method_values.item[k];
        if (is_chosen(cell, settings, count, value->param))
            snprintf(text + strlen(text), sizeof text - strlen(text), " %s=%s", value->param->name,
                     pbd_value_text(value));
    }
    return strdup(text);
}

/* Builds the item of one point of the axes (repeat 0). */
static pbd_status make_item(const pbd_request *request, const size_t *index, pbd_built_scene *built,
                            pbd_setting *settings, pbd_plan_item *item) {
    pbd_cell *cell = &item->cell;
    PBD_TRY(pbd_find_case(request->case_name, &cell->c));
    PBD_TRY(pbd_find_method(request->method_name, &cell->method));
    PBD_TRY(pbd_find_precision(request->precision ? request->precision : "f64", &cell->precision));
    PBD_TRY(pbd_name_backend(request->backend ? request->backend : "cpu", &cell->backend));
    if (!request->elsewhere) PBD_TRY(pbd_check_backend(cell->backend));
    cell->threads = request->threads > 0 ? request->threads : omp_get_num_procs();
    PBD_TRY(check_cell(cell));
    if ((request->warmups > 0 || request->seconds > 0) &&
        (!pbd_cell_method(cell)->save || !pbd_cell_method(cell)->load))
        return pbd_error(PBD_NOT_SUPPORTED, "method %s cannot save its state: warm-ups and --time are unsupported",
                         pbd_cell_method(cell)->name);
    for (size_t i = 0; i < request->settings; i++) settings[i] = request->setting[i];
    for (size_t a = 0; a < request->axes; a++)
        settings[request->settings + a] = (pbd_setting){request->axis[a].key, request->axis[a].values[index[a]]};
    PBD_TRY(pbd_resolve_built(built, cell->c, pbd_cell_method(cell), settings, request->settings + request->axes,
                              &cell->case_values, &cell->method_values));
    item->law_instead = law_instead(cell, settings, request->settings + request->axes);
    item->chosen = chosen_text(cell, settings, request->settings + request->axes);
    item->seed = request->seed;
    item->warmups = request->warmups;
    item->seconds = request->seconds;
    item->turns = request->turns;
    item->snapshots = request->snapshots;
    item->film = request->film;
    item->spool = request->spool;
    item->label = label_of(request, index);
    if (!item->label || !item->chosen) return pbd_no_memory();
    return identify_cell(cell, item->cell_id);
}

/* FOLDER/cantilever-xpbd-1f2e3d4c: by the cell, so that a run made again finds its own folder. */
static pbd_status name_snapshots(pbd_plan_item *item) {
    if (item->repeat > 0) item->snapshots.count = 0, item->film.path = NULL, item->spool.file = 0;
    if (item->snapshots.count == 0) return pbd_ok();
    if (asprintf(&item->snapshot_folder, "%s/%s-%s-%.8s", item->snapshots.folder, item->cell.c->name,
                 pbd_cell_method(&item->cell)->name, item->cell_id) < 0)
        item->snapshot_folder = NULL;
    item->snapshots.folder = item->snapshot_folder;
    return item->snapshot_folder ? pbd_ok() : pbd_no_memory();
}

/* Each repeat of a cell has its own copy of the values. */
static pbd_status add_repeat(pbd_plan *plan, const pbd_plan_item *first, int repeat) {
    pbd_plan_item item PBD_CLEANUP(free_item) = *first;
    item.cell.case_values = item.cell.method_values = (pbd_values){0};
    item.label = strdup(first->label);
    item.chosen = strdup(first->chosen);
    item.repeat = repeat;
    item.snapshot_folder = NULL;
    if (!item.label || !item.chosen) return pbd_no_memory();
    PBD_TRY(pbd_values_copy(&first->cell.case_values, &item.cell.case_values));
    PBD_TRY(pbd_values_copy(&first->cell.method_values, &item.cell.method_values));
    PBD_TRY(name_snapshots(&item));
    PBD_TRY(append_item(plan, &item));
    item = (pbd_plan_item){0}; /* now owned by the plan */
    return pbd_ok();
}

/* ---- Parameters that are not read -------------------------------------------------------------------------------- */

/* For a key of both case and method, the case's value, whose default counts. */
static const pbd_value *value_of(const pbd_cell *cell, const char *key) {
    const pbd_value *value = pbd_value_named(&cell->case_values, key);
    return value ? value : pbd_value_named(&cell->method_values, key);
}

static bool is_at_default(const pbd_value *value) {
    pbd_value preset PBD_CLEANUP(pbd_value_free) = {0};
    return !pbd_param_is_asked(value->param) &&
           pbd_parse_value(value->param, value->param->preset, "", &preset).code == PBD_OK &&
           strcmp(pbd_value_text(&preset), pbd_value_text(value)) == 0;
}

static bool reads(const pbd_cell *cell, const char *key) {
    return pbd_is_read(key, &cell->case_values, &cell->method_values);
}

/* Refuses a key that no cell from `first` on reads. */
static pbd_status check_read(const pbd_plan *plan, size_t first, const char *key) {
    const pbd_cell *unread = NULL;
    for (size_t i = first; i < plan->count; i++) {
        const pbd_cell *cell = &plan->item[i].cell;
        if (reads(cell, key)) return pbd_ok();
        if (!unread && !is_at_default(value_of(cell, key))) unread = cell;
    }
    if (!unread) return pbd_ok();
    char text[300];
    pbd_unread_text(key, &unread->case_values, &unread->method_values, text, sizeof text);
    return pbd_error(PBD_BAD_INPUT, "%s: set that, or remove %s", text, key);
}

/* The command of a stored run names every parameter (run_command.h), unlike one written by hand. */
static bool is_complete(const pbd_request *request, const pbd_cell *cell) {
    const pbd_values *const values[] = {&cell->case_values, &cell->method_values};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < values[k]->count; i++)
            if (!is_given(request->setting, request->settings, values[k]->item[i].param->name)) return false;
    return true;
}

static pbd_status check_all_read(const pbd_plan *plan, const pbd_request *request, size_t first) {
    if (is_complete(request, &plan->item[first].cell)) return pbd_ok();
    for (size_t k = 0; k < request->settings; k++) PBD_TRY(check_read(plan, first, request->setting[k].key));
    for (size_t k = 0; k < request->axes; k++) PBD_TRY(check_read(plan, first, request->axis[k].key));
    return pbd_ok();
}

/* A point of the axes, and a hash that distinguishes its cell from those of other points. */
typedef struct point_key {
    size_t point;
    XXH128_hash_t hash;
} point_key;

static int by_hash(const void *left, const void *right) {
    const point_key *a = left, *b = right;
    const int order = XXH128_cmp(&a->hash, &b->hash);
    return order ? order : (a->point > b->point) - (a->point < b->point);
}

/* Hashes the values of the axes that are read at this point; if all are, the point itself. */
static pbd_status hash_point(const pbd_request *request, const pbd_cell *cell, size_t point, XXH128_hash_t *out) {
    char *text PBD_CLEANUP(pbd_free_memory) = NULL;
    size_t bytes = 0, unread = 0;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream) return pbd_no_memory();
    for (size_t a = 0; a < request->axes; a++) {
        const char *key = request->axis[a].key;
        const bool read = reads(cell, key);
        fprintf(stream, "%s%c", read ? pbd_value_text(value_of(cell, key)) : "", '\0');
        unread += !read;
    }
    if (fclose(stream) != 0) return pbd_no_memory();
    *out = unread ? XXH3_128bits(text, bytes) : XXH3_128bits(&point, sizeof point);
    return pbd_ok();
}

/* Keeps the first of all points with the same hash. */
static pbd_status fold_points(pbd_plan *plan, const pbd_request *request, size_t before) {
    const size_t repeats = request->repeats > 0 ? (size_t)request->repeats : 1;
    const size_t points = (plan->count - before) / repeats;
    pbd_arena a PBD_ARENA;
    point_key *key = pbd_new(&a, point_key, points);
    bool *same = pbd_new(&a, bool, points);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t p = 0; p < points; p++) {
        key[p].point = p;
        PBD_TRY(hash_point(request, &plan->item[before + p * repeats].cell, p, &key[p].hash));
    }
    qsort(key, points, sizeof *key, by_hash);
    for (size_t p = 1; p < points; p++) same[key[p].point] = XXH128_isEqual(key[p].hash, key[p - 1].hash) != 0;
    size_t kept = before;
    for (size_t i = before; i < plan->count; i++) {
        if (same[(i - before) / repeats])
            free_item(&plan->item[i]);
        else
            plan->item[kept++] = plan->item[i];
    }
    plan->folded += (plan->count - kept) / repeats;
    plan->count = kept;
    return pbd_ok();
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

/* More runs than this in one request are a mistake; they would fill the memory before the first is made. */
enum { LARGEST_PLAN = 1000000 };

static pbd_status add_points(pbd_plan *plan, const pbd_request *request, size_t group, size_t *index,
                             pbd_setting *settings) {
    size_t points = request->repeats > 0 ? (size_t)request->repeats : 1;
    for (size_t a = 0; a < request->axes; a++) {
        points *= request->axis[a].count; /* no overflow: at most 10^6 times 10^5 */
        if (points > LARGEST_PLAN)
            return pbd_error(PBD_BAD_INPUT,
                             "the axes of %s make more than %d runs: use coarser axes, or several sweeps",
                             request->case_name, LARGEST_PLAN);
    }
    points /= request->repeats > 0 ? (size_t)request->repeats : 1;
    pbd_built_scene own PBD_CLEANUP(pbd_built_scene_free) = {0};
    for (size_t point = 0; point < points; point++) {
        size_t rest = point; /* the last axis varies fastest */
        for (size_t a = request->axes; a-- > 0; rest /= request->axis[a].count)
            index[a] = rest % request->axis[a].count;
        pbd_plan_item item PBD_CLEANUP(free_item) = {.group = group};
        PBD_TRY(make_item(request, index, plan->built ? plan->built : &own, settings, &item));
        for (int repeat = 0; repeat < (request->repeats > 0 ? request->repeats : 1); repeat++)
            PBD_TRY(add_repeat(plan, &item, repeat));
    }
    return pbd_ok();
}

pbd_status pbd_plan_add(pbd_plan *plan, const pbd_request *request, size_t group) {
    pbd_arena a PBD_ARENA;
    size_t before = plan->count;
    size_t *index = pbd_new(&a, size_t, request->axes);
    pbd_setting *settings = pbd_new(&a, pbd_setting, request->settings + request->axes);
    PBD_TRY(pbd_arena_check(&a));
    pbd_status status = add_points(plan, request, group, index, settings);
    if (status.code == PBD_OK && request->all_read) status = check_all_read(plan, request, before);
    if (status.code == PBD_OK && request->all_read && request->axes > 0) status = fold_points(plan, request, before);
    if (status.code != PBD_OK) pbd_plan_cut(plan, before);
    return status;
}

/* ---- The record of a run ----------------------------------------------------------------------------------------- */

static void now_text(char out[32]) {
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t used = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out + used, 32 - used, ".%03ldZ", now.tv_nsec / 1000000);
}

pbd_status pbd_describe_run(const pbd_plan_item *item, pbd_result *out) {
    const pbd_cell *cell = &item->cell;
    *out = (pbd_result){.threads = cell->threads, .repeat = item->repeat, .warmups = item->warmups, .seed = item->seed};
    memcpy(out->cell_id, item->cell_id, sizeof out->cell_id);
    now_text(out->started_at);
    out->case_name = strdup(cell->c->name);
    out->method_name = strdup(pbd_cell_method(cell)->name);
    out->params = params_json(cell);
    out->backend = strdup(pbd_backend_at(cell->backend).name);
    out->precision = strdup(pbd_precision_name(cell->precision));
    if (out->case_name && out->method_name && out->params && out->backend && out->precision) return pbd_ok();
    return pbd_no_memory();
}

void pbd_tell_refusal(const pbd_progress *progress, const pbd_plan_item *item, size_t total) {
    fflush(stdout);
    if (progress->on) fputs("\r\033[K", stderr);
    if (total > 1) fprintf(stderr, "pbdbench: run refused: %s: %s\n", item->label, item->refusal.text);
    if (total <= 1) fprintf(stderr, "pbdbench: %s\n", item->refusal.text);
}
