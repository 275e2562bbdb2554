/* Writes a plan as a manifest, and reads shards of it. */
#include "harness/sweep/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "harness/catalog/plugin.h"
#include "harness/exec/arena.h"
#include "harness/machine/environment.h"
#include "harness/store/rows.h"

enum { FORMAT = 1 }; /* version of the file format */

static const char file_name[] = "manifest.jsonl";

pbd_sweep_path pbd_sweep_file(const char *folder, const char *relative) {
    pbd_sweep_path path;
    snprintf(path.text, sizeof path.text, "%s/%s", folder, relative);
    return path;
}

static void hash_text(const char *text, size_t bytes, char hash[33]) {
    XXH128_hash_t h = XXH3_128bits(text, bytes);
    snprintf(hash, 33, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
}

/* ---- Files that are whole or not there --------------------------------------------------------------------------- */

static bool write_all(int file, const char *text, size_t bytes) {
    while (bytes > 0) {
        const ssize_t put = write(file, text, bytes);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        text += put;
        bytes -= (size_t)put;
    }
    return fsync(file) == 0;
}

pbd_status pbd_write_whole(const char *path, const char *text, size_t bytes) {
    pbd_sweep_path part;
    snprintf(part.text, sizeof part.text, "%s.%d", path, (int)getpid());
    const int file = open(part.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool fine = file >= 0 && write_all(file, text, bytes);
    if (file >= 0 && close(file) != 0) fine = false;
    if (fine && rename(part.text, path) == 0) return pbd_ok();
    const int why = errno;
    unlink(part.text);
    return pbd_error(PBD_BAD_INPUT, "'%.140s' cannot be written: %s", path, strerror(why));
}

/* ---- From a plan to lines ---------------------------------------------------------------------------------------- */

static int by_cell(const void *left, const void *right) {
    const pbd_plan_item *a = *(const pbd_plan_item *const *)left, *b = *(const pbd_plan_item *const *)right;
    int order = strcmp(a->cell_id, b->cell_id);
    if (order == 0) order = (a->seed > b->seed) - (a->seed < b->seed);
    if (order == 0) order = (a->repeat > b->repeat) - (a->repeat < b->repeat);
    return order ? order : (a > b) - (a < b);
}

static bool is_one_cell(const pbd_plan_item *a, const pbd_plan_item *b) {
    return a->seed == b->seed && strcmp(a->cell_id, b->cell_id) == 0;
}

/* Appends `key=value` for each parameter; a parameter that case and method share is written once. */
static bool append_values(json_t *set, const pbd_values *values, const pbd_values *but) {
    for (size_t i = 0; i < values->count; i++) {
        const char *name = values->item[i].param->name;
        bool known = false;
        for (size_t k = 0; but && k < but->count; k++) known = known || strcmp(but->item[k].param->name, name) == 0;
        if (!known && json_array_append_new(set, json_sprintf("%s=%s", name, pbd_value_text(&values->item[i]))) != 0)
            return false;
    }
    return true;
}

static json_t *cell_json(const pbd_plan_item *item, int repeats) {
    const pbd_cell *cell = &item->cell;
    json_t *set = json_array();
    const bool fine =
        append_values(set, &cell->case_values, NULL) && append_values(set, &cell->method_values, &cell->case_values);
    json_t *object =
        json_pack("{ss so so si si ss ss ss ss si so}", "cell_id", item->cell_id, "label", pbd_text_json(item->label),
                  "seed", pbd_count_json(item->seed), "repeats", repeats, "warmups", item->warmups, "case",
                  cell->c->name, "method", pbd_cell_method(cell)->name, "backend", pbd_backend_at(cell->backend).name,
                  "precision", pbd_precision_name(cell->precision), "threads", cell->threads, "set", set);
    if (fine) return object;
    json_decref(object);
    return NULL;
}

static pbd_status write_line(FILE *out, json_t *object) {
    const bool fine = object && json_dumpf(object, out, JSON_COMPACT | JSON_SORT_KEYS) == 0 && fputc('\n', out) != EOF;
    json_decref(object);
    return fine ? pbd_ok() : pbd_no_memory();
}

/* The cells of the sorted items, each with all of its repeats. */
static pbd_status write_cells(FILE *out, const pbd_plan_item *const *sorted, size_t count) {
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && is_one_cell(sorted[i], sorted[next]);) next++;
        PBD_TRY(write_line(out, cell_json(sorted[i], sorted[next - 1]->repeat + 1)));
    }
    return pbd_ok();
}

static json_t *plugins_json(void) {
    json_t *list = json_array();
    for (size_t i = 0; i < pbd_method_count(); i++) {
        const pbd_plugin *plugin = pbd_method_at(i)->plugin;
        char path[PATH_MAX];
        if (!plugin || (i > 0 && pbd_method_at(i - 1)->plugin == plugin)) continue;
        if (!realpath(pbd_plugin_path(plugin), path)) snprintf(path, sizeof path, "%s", pbd_plugin_path(plugin));
        json_array_append_new(list, json_pack("{ss ss}", "path", path, "hash", pbd_plugin_hash(plugin)));
    }
    return list;
}

static json_t *header_json(const pbd_plan_item *const *sorted, size_t count, const char *name, size_t shard_cells) {
    size_t cells = 0, runs = 0;
    int threads = 1;
    for (size_t i = 0; i < count; i++) {
        const bool last = i + 1 == count || !is_one_cell(sorted[i], sorted[i + 1]);
        cells += last;
        if (last) runs += (size_t)sorted[i]->repeat + 1;
        if (sorted[i]->cell.threads > threads) threads = sorted[i]->cell.threads;
    }
    return json_pack("{si so ss ss sI sI sI si so}", "pbdbench_sweep", FORMAT, "name", pbd_text_json(name), "source",
                     pbd_this_build()->source, "version", pbd_this_build()->version, "cells", (json_int_t)cells, "runs",
                     (json_int_t)runs, "shard_cells", (json_int_t)shard_cells, "threads", threads, "plugins",
                     plugins_json());
}

/* The last line holds the hash of all others. */
static pbd_status seal(char **text, size_t *bytes) {
    char hash[33], *sealed = NULL;
    hash_text(*text, *bytes, hash);
    const int length = asprintf(&sealed, "%s{\"hash\":\"%s\"}\n", *text, hash);
    if (length < 0) return pbd_no_memory();
    free(*text);
    *text = sealed;
    *bytes = (size_t)length;
    return pbd_ok();
}

static pbd_status write_plan(FILE *out, const pbd_plan *plan, const char *name, size_t shard_cells) {
    pbd_arena a PBD_ARENA;
    const pbd_plan_item **sorted = pbd_new(&a, const pbd_plan_item *, plan->count);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < plan->count; i++) sorted[i] = &plan->item[i];
    qsort(sorted, plan->count, sizeof *sorted, by_cell);
    PBD_TRY(write_line(out, header_json(sorted, plan->count, name, shard_cells)));
    return write_cells(out, sorted, plan->count);
}

/* Closes the memory stream of *text and appends the hash. */
static pbd_status close_and_seal(FILE *out, pbd_status written, char **text, size_t *bytes) {
    if (fclose(out) != 0) return pbd_no_memory();
    PBD_TRY(written);
    return seal(text, bytes);
}

/* ---- The folder -------------------------------------------------------------------------------------------------- */

/* Creates its parents too. */
static pbd_status make_folder(const char *path) {
    char above[PATH_MAX];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(above, sizeof above, "%.*s", (int)(slash - path), path);
        mkdir(above, 0777);
    }
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "the folder '%.140s' cannot be made: %s", path, strerror(errno));
}

/* Whether something of the plan was submitted or made. */
static bool has_begun(const char *folder) {
    if (access(pbd_sweep_file(folder, "submitted.json").text, F_OK) == 0) return true;
    bool found = false;
    DIR *shards = opendir(pbd_sweep_file(folder, "shards").text);
    for (const struct dirent *entry; shards && (entry = readdir(shards));) found = found || entry->d_name[0] != '.';
    if (shards) closedir(shards);
    return found;
}

/* NULL if it cannot be read. */
static char *read_text(const char *path, size_t *bytes) {
    FILE *file PBD_CLEANUP(pbd_close_file) = fopen(path, "rb");
    struct stat about;
    *bytes = 0;
    if (!file || fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode)) return NULL;
    char *text = malloc((size_t)about.st_size + 1);
    if (!text) return NULL;
    *bytes = fread(text, 1, (size_t)about.st_size, file);
    text[*bytes] = '\0';
    return text;
}

static bool is_same(const char *path, const char *text, size_t bytes) {
    size_t old_bytes;
    const char *old PBD_CLEANUP(pbd_free_memory) = read_text(path, &old_bytes);
    return old && old_bytes == bytes && memcmp(old, text, bytes) == 0;
}

static pbd_status keep(const char *folder, const char *text, size_t bytes) {
    const pbd_sweep_path path = pbd_sweep_file(folder, file_name);
    if (is_same(path.text, text, bytes)) return pbd_ok();
    if (has_begun(folder))
        return pbd_error(PBD_BAD_INPUT,
                         "'%.140s' holds another sweep, which was submitted or run in part: choose another folder with "
                         "--dir, or remove that one",
                         folder);
    PBD_TRY(make_folder(folder));
    PBD_TRY(make_folder(pbd_sweep_file(folder, "shards").text));
    PBD_TRY(make_folder(pbd_sweep_file(folder, "jobs").text));
    return pbd_write_whole(path.text, text, bytes);
}

/* They stand in double quotes in lines of job scripts that sbatch parses by its own rules. */
static pbd_status check_script_word(const char *what, const char *word) {
    for (const char *c = word; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f || *c == '"' || *c == '\\')
            return pbd_error(PBD_BAD_INPUT,
                             "%s holds a control character, a quote or a backslash, and job scripts hold it: rename it",
                             what);
    return pbd_ok();
}

pbd_status pbd_manifest_check_words(const char *name, const char *folder) {
    PBD_TRY(check_script_word("the name of the sweep's file", name));
    return check_script_word("the path of the sweep's folder", folder);
}

pbd_status pbd_manifest_freeze(const pbd_plan *plan, const char *path, size_t shard_cells, const char *folder) {
    pbd_arena a PBD_ARENA;
    char *text PBD_CLEANUP(pbd_free_memory) = NULL, *copy = pbd_new_text(&a, path);
    size_t bytes = 0;
    PBD_TRY(pbd_arena_check(&a));
    char *name = basename(copy), *dot = strrchr(name, '.');
    if (dot && dot != name) *dot = '\0';
    PBD_TRY(pbd_manifest_check_words(name, folder));
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return pbd_no_memory();
    PBD_TRY(close_and_seal(out, write_plan(out, plan, name, shard_cells), &text, &bytes));
    return keep(folder, text, bytes);
}

pbd_status pbd_manifest_regroup(pbd_manifest **manifest, size_t shard_cells) {
    pbd_manifest *old = *manifest;
    if (shard_cells == old->shard_cells) return pbd_ok();
    char *text PBD_CLEANUP(pbd_free_memory) = NULL, folder[PATH_MAX];
    size_t bytes = 0;
    snprintf(folder, sizeof folder, "%s", old->folder);
    json_object_set_new(old->header, "shard_cells", json_integer((json_int_t)shard_cells));
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return pbd_no_memory();
    const pbd_status written = write_line(out, json_incref(old->header));
    fwrite(old->text + old->start[0], 1, old->start[old->cells] - old->start[0], out);
    PBD_TRY(close_and_seal(out, written, &text, &bytes));
    PBD_TRY(keep(folder, text, bytes));
    pbd_manifest_free(old);
    *manifest = NULL;
    return pbd_manifest_open(folder, manifest);
}

/* ---- Reading it -------------------------------------------------------------------------------------------------- */

static pbd_status changed(const pbd_manifest *m, const char *how) {
    return pbd_error(PBD_BAD_INPUT,
                     "the manifest in '%.140s' was changed after planning (%s): plan the sweep again, into another "
                     "folder if shards were made",
                     m->folder, how);
}

/* Finds the offset of each line; `start` receives cells + 1 offsets, without that of the header. */
static pbd_status find_lines(pbd_manifest *m, size_t bytes) {
    size_t lines = 0, used = 0;
    for (size_t i = 0; i < bytes; i++) lines += m->text[i] == '\n';
    if (bytes == 0 || m->text[bytes - 1] != '\n' || lines < 3 || strlen(m->text) != bytes)
        return changed(m, "it is cut short");
    m->start = calloc(lines, sizeof *m->start);
    if (!m->start) return pbd_no_memory();
    for (size_t i = 0; i + 1 < bytes; i++)
        if (m->text[i] == '\n') m->start[used++] = i + 1;
    m->cells = used - 1;
    return pbd_ok();
}

static pbd_status check_seal(pbd_manifest *m) {
    char says[33] = "";
    hash_text(m->text, m->start[m->cells], m->hash);
    if (sscanf(m->text + m->start[m->cells], "{\"hash\":\"%32[0-9a-f]\"}", says) != 1)
        return changed(m, "its hash is missing");
    if (strcmp(says, m->hash) == 0) return pbd_ok();
    char how[120];
    snprintf(how, sizeof how, "its hash is %s, and was %s", m->hash, says);
    return changed(m, how);
}

static pbd_status read_header(pbd_manifest *m) {
    json_int_t cells = 0, runs = 0, shard_cells = 0;
    int format = 0;
    m->header = json_loadb(m->text, m->start[0], 0, NULL);
    if (json_unpack(m->header, "{si ss sI sI sI si}", "pbdbench_sweep", &format, "name", &m->name, "cells", &cells,
                    "runs", &runs, "shard_cells", &shard_cells, "threads", &m->threads) != 0 ||
        (size_t)cells != m->cells || shard_cells < 1 || runs < cells)
        return changed(m, "its first line is not a planned one");
    if (format != FORMAT)
        return pbd_error(PBD_BAD_INPUT, "the manifest in '%.140s' is of version %d, and this pbdbench reads version %d",
                         m->folder, format, FORMAT);
    m->runs = (size_t)runs;
    m->shard_cells = (size_t)shard_cells;
    m->shards = (m->cells + m->shard_cells - 1) / m->shard_cells;
    return pbd_ok();
}

static pbd_status load_plugins(const pbd_manifest *m) {
    const json_t *list = json_object_get(m->header, "plugins");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *path = NULL, *hash = NULL;
        const pbd_plugin *plugin = NULL;
        if (json_unpack(json_array_get(list, i), "{ss ss}", "path", &path, "hash", &hash) != 0)
            return changed(m, "its plug-ins");
        PBD_TRY(pbd_plugin_load(path, &plugin));
        if (strcmp(pbd_plugin_hash(plugin), hash) != 0)
            return pbd_error(PBD_BAD_INPUT,
                             "the plug-in '%.140s' (%.12s) differs from that of the plan (%.12s): plan "
                             "again into another folder",
                             path, pbd_plugin_hash(plugin), hash);
    }
    return pbd_ok();
}

pbd_status pbd_manifest_prepare(const pbd_manifest *m) {
    const char *source = json_string_value(json_object_get(m->header, "source"));
    if (!source) return changed(m, "it does not name its build");
    if (strcmp(source, pbd_this_build()->source) != 0)
        return pbd_error(PBD_BAD_INPUT,
                         "the sweep in '%.140s' was planned by a pbdbench of other sources (%.12s; this one: %.12s): "
                         "use the one that planned it, or plan again into another folder",
                         m->folder, source, pbd_this_build()->source);
    return load_plugins(m);
}

static pbd_status read_manifest(pbd_manifest *m) {
    const pbd_sweep_path path = pbd_sweep_file(m->folder, file_name);
    size_t bytes;
    m->text = read_text(path.text, &bytes);
    if (!m->text)
        return pbd_error(PBD_BAD_INPUT,
                         "there is no sweep in '%.140s' (%s: %s): `pbdbench sweep plan FILE.yaml` plans one, and --dir "
                         "sets its folder",
                         m->folder, file_name, strerror(errno));
    PBD_TRY(find_lines(m, bytes));
    PBD_TRY(check_seal(m));
    return read_header(m);
}

pbd_status pbd_manifest_open(const char *folder, pbd_manifest **out) {
    *out = NULL;
    pbd_manifest *m PBD_CLEANUP(pbd_manifest_release) = calloc(1, sizeof *m);
    if (!m) return pbd_no_memory();
    if (!realpath(folder, m->folder)) snprintf(m->folder, sizeof m->folder, "%s", folder);
    PBD_TRY(read_manifest(m));
    *out = m;
    m = NULL;
    return pbd_ok();
}

void pbd_manifest_free(pbd_manifest *m) {
    if (!m) return;
    json_decref(m->header);
    free(m->start);
    free(m->text);
    free(m);
}

/* ---- From lines to a plan ---------------------------------------------------------------------------------------- */

pbd_status pbd_manifest_check_shard(const pbd_manifest *m, long long number) {
    if (number >= 0 && (unsigned long long)number < m->shards) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "there is no shard %lld: the sweep in '%.140s' has shards [0, %zu]", number,
                     m->folder, m->shards - 1);
}

static pbd_status label_items(pbd_plan *plan, size_t from, const char *text) {
    for (size_t i = from; i < plan->count; i++) {
        char *label = strdup(text);
        if (!label) return pbd_no_memory();
        free(plan->item[i].label);
        plan->item[i].label = label;
    }
    return pbd_ok();
}

static pbd_status add_line(const pbd_manifest *m, size_t cell, pbd_plan *plan) {
    pbd_arena a PBD_ARENA;
    pbd_settings settings PBD_CLEANUP(pbd_settings_free) = {0};
    pbd_request r = {0};
    const char *cell_id, *label;
    const json_t *seed, *set;
    const size_t before = plan->count;
    json_auto_t *line = json_loadb(m->text + m->start[cell], m->start[cell + 1] - m->start[cell], 0, NULL);
    if (json_unpack(line, "{ss ss so si si ss ss ss ss si so}", "cell_id", &cell_id, "label", &label, "seed", &seed,
                    "repeats", &r.repeats, "warmups", &r.warmups, "case", &r.case_name, "method", &r.method_name,
                    "backend", &r.backend, "precision", &r.precision, "threads", &r.threads, "set", &set) != 0)
        return pbd_error(PBD_BAD_INPUT, "it is no cell");
    const char **word = pbd_new(&a, const char *, json_array_size(set));
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < json_array_size(set); i++) {
        word[i] = json_string_value(json_array_get(set, i));
        if (!word[i]) word[i] = "";
    }
    PBD_TRY(pbd_settings_parse(word, json_array_size(set), &settings));
    r.seed = pbd_json_count(seed);
    r.setting = settings.item;
    r.settings = settings.count;
    PBD_TRY(pbd_plan_add(plan, &r, 0));
    if (strcmp(plan->item[before].cell_id, cell_id) != 0)
        return pbd_error(PBD_BAD_INPUT, "it is cell %.12s to this pbdbench, and was planned as %.12s",
                         plan->item[before].cell_id, cell_id);
    return label_items(plan, before, label);
}

pbd_status pbd_manifest_plan(const pbd_manifest *m, size_t shard, pbd_plan *plan) {
    const size_t first = shard * m->shard_cells, end = first + m->shard_cells;
    for (size_t cell = first; cell < end && cell < m->cells; cell++) {
        const pbd_status status = add_line(m, cell, plan);
        if (status.code != PBD_OK)
            return pbd_error(status.code, "'%.200s', line %zu: %.300s", pbd_sweep_file(m->folder, file_name).text,
                             cell + 2, status.text);
    }
    return pbd_ok();
}
