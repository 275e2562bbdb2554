#include "harness/catalog/plugin.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "harness/catalog/plugin_host.h"
#include "harness/catalog/plugin_table.h"
#include "harness/exec/arena.h"
#include "harness/process/apart.h"

struct pbd_plugin {
    char *path, *label;
    char hash[33];
    pbd_engine *engine; /* NULL: a library */
    void *library;      /* stays open: its methods are in the registry */
    pbd_method *copy;   /* copies of its methods, two per entry, of the size in this program */
    pbd_method_entry *entry;
    size_t methods;
};

static size_t loaded; /* plug-ins of this process; the registry has their methods */

size_t pbd_plugin_count(void) { return loaded; }
const char *pbd_plugin_path(const pbd_plugin *plugin) { return plugin->path; }
const char *pbd_plugin_label(const pbd_plugin *plugin) { return plugin->label; }
const char *pbd_plugin_hash(const pbd_plugin *plugin) { return plugin->hash; }
size_t pbd_plugin_methods(const pbd_plugin *plugin) { return plugin->methods; }
const pbd_method_entry *pbd_plugin_method_at(const pbd_plugin *plugin, size_t index) { return &plugin->entry[index]; }
const pbd_engine *pbd_plugin_engine(const pbd_plugin *plugin) { return plugin->engine; }

static void free_plugin(pbd_plugin *p) {
    if (!p) return;
    if (p->library) dlclose(p->library);
    pbd_engine_close(p->engine);
    free(p->entry);
    free(p->copy);
    free(p->label);
    free(p->path);
    free(p);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static pbd_status hash_file(const char *path, char hash[33]) {
    FILE *file PBD_CLEANUP(pbd_close_file) = fopen(path, "rb");
    XXH3_state_t *state = file ? XXH3_createState() : NULL;
    if (!state) return pbd_error(PBD_BAD_INPUT, "'%.200s' cannot be read: %s", path, strerror(errno));
    char part[8192];
    XXH3_128bits_reset(state);
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;) XXH3_128bits_update(state, part, got);
    const bool failed = ferror(file) != 0;
    const XXH128_hash_t all = XXH3_128bits_digest(state);
    snprintf(hash, 33, "%016llx%016llx", (unsigned long long)all.high64, (unsigned long long)all.low64);
    XXH3_freeState(state);
    return failed ? pbd_error(PBD_BAD_INPUT, "'%.200s' cannot be read", path) : pbd_ok();
}

/* dlopen does not look for a name without a slash in the current folder. */
static pbd_status find_file(const char *path, char **out) {
    struct stat found;
    *out = NULL;
    if (stat(path, &found) != 0)
        return pbd_error(PBD_BAD_INPUT, "plug-in '%.200s' cannot be found: %s", path, strerror(errno));
    if (!S_ISREG(found.st_mode))
        return pbd_error(PBD_BAD_INPUT, "plug-in '%.200s' is not a file: give the path of the shared library", path);
    *out = realpath(path, NULL);
    return *out ? pbd_ok() : pbd_error(PBD_BAD_INPUT, "plug-in '%.200s' cannot be found: %s", path, strerror(errno));
}

static pbd_status open_library(const char *path, void **out) {
    *out = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*out) return pbd_ok();
    const char *why = dlerror();
    if (why && strstr(why, "undefined symbol: "))
        return pbd_error(PBD_BAD_INPUT,
                         "%.250s: link methods/plugin_calls.c, and compile kernels once more with -DPBD_EMULATE=1 "
                         "(pbdbench_add_plugin does both)",
                         why);
    return pbd_error(PBD_BAD_INPUT, "'%.150s' cannot be loaded: %.200s", path, why ? why : "");
}

/* ---- What is in it ----------------------------------------------------------------------------------------------- */

static pbd_status check_names(const pbd_plugin_table *table) {
    for (size_t i = 0; i < table->methods; i++) {
        const pbd_method *m = table->method[i].f64 ? table->method[i].f64 : table->method[i].f32;
        for (size_t k = 0; k < pbd_method_count(); k++) {
            const pbd_method_entry *other = pbd_method_at(k);
            if (strcmp(other->by_precision[PBD_PRECISION_F64]->name, m->name) != 0) continue;
            return pbd_error(PBD_BAD_INPUT, "method %s exists already, from %.150s: rename it", m->name,
                             other->plugin ? other->plugin->path : "this program itself");
        }
        for (size_t k = 0; k < i; k++) {
            const pbd_method *other = table->method[k].f64 ? table->method[k].f64 : table->method[k].f32;
            if (strcmp(other->name, m->name) == 0)
                return pbd_error(PBD_BAD_INPUT, "plug-in %s lists method %s twice", table->name, m->name);
        }
    }
    return pbd_ok();
}

static pbd_status take_table(pbd_plugin *p, const pbd_plugin_table *table) {
    p->entry = calloc(table->methods, sizeof *p->entry);
    p->copy = calloc(2 * table->methods, sizeof *p->copy);
    if (!p->entry || !p->copy || asprintf(&p->label, "%s %s", table->name, table->version) < 0) {
        p->label = NULL;
        return pbd_no_memory();
    }
    p->methods = table->methods;
    for (size_t i = 0; i < p->methods; i++) {
        const pbd_plugin_method *both = &table->method[i];
        const pbd_method *f32 = both->f32 ? both->f32 : both->f64, *f64 = both->f64 ? both->f64 : both->f32;
        memcpy(&p->copy[2 * i], f32, f32->bytes);
        memcpy(&p->copy[2 * i + 1], f64, f64->bytes);
        p->entry[i] = (pbd_method_entry){{&p->copy[2 * i], &p->copy[2 * i + 1]}, p};
    }
    return pbd_ok();
}

static bool is_engine(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

/* An engine's method is checked like those of libraries. */
static pbd_status take_engine(pbd_plugin *p) {
    const pbd_method *m = pbd_engine_method(p->engine);
    const pbd_plugin_method both = {m->precisions & PBD_F32 ? m : NULL, m->precisions & PBD_F64 ? m : NULL};
    const pbd_plugin_table table = {.name = m->name, .method = &both, .methods = 1};
    PBD_TRY(pbd_check_plugin_method(&both, m->name));
    PBD_TRY(check_names(&table));
    p->entry = calloc(1, sizeof *p->entry);
    p->label = strdup(pbd_engine_label(p->engine));
    if (!p->entry || !p->label) return pbd_no_memory();
    memcpy(p->hash, pbd_engine_hash(p->engine), sizeof p->hash);
    p->entry[0] = (pbd_method_entry){{m, m}, p};
    p->methods = 1;
    return pbd_ok();
}

static pbd_status open_engine(pbd_plugin *p) {
    PBD_TRY(pbd_engine_open(p->path, &p->engine));
    const pbd_status status = take_engine(p);
    return status.code == PBD_OK ? status : pbd_error(status.code, "engine '%.120s': %.250s", p->path, status.text);
}

static pbd_status open_plugin(pbd_plugin *p) {
    if (is_engine(p->path)) return open_engine(p);
    PBD_TRY(hash_file(p->path, p->hash));
    PBD_TRY(open_library(p->path, &p->library));
    const pbd_plugin_table *table = dlsym(p->library, "pbd_plugin");
    if (!table)
        return pbd_error(PBD_BAD_INPUT,
                         "'%.200s' is not a plug-in: it has no symbol pbd_plugin; PBD_PLUGIN(NAME, VERSION) of "
                         "methods/plugin.h makes it, in the compilation with -DREAL=double",
                         p->path);
    pbd_status status = pbd_check_plugin_table(table);
    if (status.code == PBD_OK) status = check_names(table);
    if (status.code != PBD_OK) return pbd_error(PBD_BAD_INPUT, "plug-in '%.120s': %.250s", p->path, status.text);
    table->take_host(pbd_plugin_host());
    return take_table(p, table);
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

static void release_plugin(pbd_plugin **p) { free_plugin(*p); }

static pbd_status load(const char *path, pbd_plugin **out) {
    pbd_plugin *p PBD_CLEANUP(release_plugin) = calloc(1, sizeof *p);
    *out = NULL;
    if (!p) return pbd_no_memory();
    PBD_TRY(find_file(path, &p->path));
    PBD_TRY(open_plugin(p));
    *out = p;
    p = NULL;
    return pbd_ok();
}

enum { LOADING_SECONDS = 20 }; /* far more than any library needs to be opened */

/* Loads the plug-in in a child, where constructors and tables with invalid pointers may crash. The alarm ends a
 * constructor that never returns. */
static void load_here(void *context, pbd_place *place, FILE *answer) {
    pbd_plugin *plugin;
    place->slot = "its loading";
    signal(SIGALRM, SIG_DFL);
    alarm(LOADING_SECONDS);
    const pbd_status status = load(context, &plugin);
    fprintf(answer, "%d %s", (int)status.code, status.text);
}

static pbd_status try_load(const char *path) {
    char copy[PATH_MAX], who[200], *text;
    pbd_apart apart PBD_CLEANUP(pbd_apart_free) = {0};
    snprintf(copy, sizeof copy, "%s", path);
    snprintf(who, sizeof who, "plug-in '%.150s'", path);
    PBD_TRY(pbd_apart_run(load_here, copy, PBD_STDOUT_TO_STDERR, &apart));
    if (apart.code == -SIGALRM)
        return pbd_error(PBD_BAD_INPUT, "%s was still being loaded after %d s: one of its constructors does not return",
                         who, LOADING_SECONDS);
    if (!apart.answered) {
        pbd_status status = pbd_apart_status(&apart, who);
        if (status.code == PBD_FAILED) status.code = PBD_BAD_INPUT;
        return status;
    }
    const pbd_code code = (pbd_code)strtol(apart.answer, &text, 10);
    return code == PBD_OK ? pbd_ok() : pbd_error(code, "%s", *text == ' ' ? text + 1 : text);
}

/* The plug-in already loaded from this file; NULL: none. */
static const pbd_plugin *loaded_from(const char *path) {
    char whole[PATH_MAX];
    if (!realpath(path, whole)) return NULL;
    for (size_t i = 0; i < pbd_method_count(); i++) {
        const pbd_plugin *p = pbd_method_at(i)->plugin;
        if (p && strcmp(p->path, whole) == 0) return p;
    }
    return NULL;
}

pbd_status pbd_plugin_load(const char *path, const pbd_plugin **out) {
    pbd_plugin *plugin PBD_CLEANUP(release_plugin) = NULL;
    *out = loaded_from(path);
    if (*out) return pbd_ok();
    if (!is_engine(path)) PBD_TRY(try_load(path)); /* an engine is in a process of its own */
    PBD_TRY(load(path, &plugin));
    PBD_TRY(pbd_add_methods(plugin->entry, plugin->methods));
    loaded++;
    *out = plugin;
    plugin = NULL;
    return pbd_ok();
}

pbd_status pbd_plugins_load(const pbd_texts *files) {
    const pbd_plugin *plugin;
    const char *variable = getenv("PBDBENCH_PLUGINS");
    pbd_arena a PBD_ARENA;
    char *list = pbd_new_text(&a, variable ? variable : ""), *rest = NULL;
    PBD_TRY(pbd_arena_check(&a));
    for (char *file = strtok_r(list, ":", &rest); file; file = strtok_r(NULL, ":", &rest))
        PBD_TRY(pbd_plugin_load(file, &plugin));
    for (size_t i = 0; i < files->count; i++) PBD_TRY(pbd_plugin_load(files->item[i], &plugin));
    return pbd_ok();
}

/* ---- Engines ----------------------------------------------------------------------------------------------------- */

/* A folder stands for its engine.yaml. */
static pbd_status load_engine(const char *path) {
    const pbd_plugin *plugin;
    struct stat found;
    pbd_arena a PBD_ARENA;
    const bool folder = stat(path, &found) == 0 && S_ISDIR(found.st_mode);
    const char *file = folder ? pbd_new_format(&a, "%s/engine.yaml", path) : path;
    PBD_TRY(pbd_arena_check(&a));
    if (!folder && !is_engine(path))
        return pbd_error(PBD_BAD_INPUT, "engine '%.200s' is not a YAML file: give its engine.yaml", path);
    return pbd_plugin_load(file, &plugin);
}

/* The name by which a user would ask for an engine: that of its folder or file. The caller frees. */
static char *name_of_engine(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strcspn(name, ".");
    if (slash && strcmp(name, "engine.yaml") == 0) {
        const char *begin = slash;
        while (begin > path && begin[-1] != '/') begin--;
        name = begin;
        length = (size_t)(slash - begin);
    }
    return strndup(name, length);
}

static pbd_status note_missing(const char *path, const char *reason) {
    const char *name PBD_CLEANUP(pbd_free_memory) = name_of_engine(path);
    return name ? pbd_add_missing_method(name, path, reason) : pbd_no_memory();
}

static pbd_status try_engine(const char *path) {
    const pbd_status status = load_engine(path);
    return status.code == PBD_OK ? status : note_missing(path, status.text);
}

static int is_shown(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static pbd_status search_folder(const char *folder) {
    struct dirent **entry;
    const int count = scandir(folder, &entry, is_shown, alphasort);
    pbd_status status = pbd_ok();
    if (count < 0) return note_missing(folder, "PBDBENCH_ENGINES names this folder, and it cannot be read");
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        struct stat found;
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        const bool file = is_engine(path);
        if (!file) snprintf(path, sizeof path, "%s/%s/engine.yaml", folder, entry[i]->d_name);
        if (status.code == PBD_OK && stat(path, &found) == 0 && S_ISREG(found.st_mode)) status = try_engine(path);
        free(entry[i]);
    }
    free(entry);
    return status;
}

pbd_status pbd_engines_load(const pbd_texts *files) {
    const char *variable = getenv("PBDBENCH_ENGINES");
    pbd_arena a PBD_ARENA;
    char *list = pbd_new_text(&a, variable ? variable : ""), *rest = NULL;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < files->count; i++) PBD_TRY(load_engine(files->item[i]));
    for (char *path = strtok_r(list, ":", &rest); path; path = strtok_r(NULL, ":", &rest))
        PBD_TRY(is_engine(path) ? try_engine(path) : search_folder(path));
    return pbd_ok();
}
