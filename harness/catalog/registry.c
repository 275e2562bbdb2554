/* The registries, made from methods.def, cases.def and plug-ins, and look-up by name. */
#include "harness/catalog/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/exec/backend.h"
#include "harness/files/nearest.h"

#define METHOD(name) extern const pbd_method name##_float, name##_double;
#include "methods/methods.def"
#undef METHOD
static const pbd_method_entry methods[] = {
#define METHOD(name) {{&name##_float, &name##_double}, NULL},
#include "methods/methods.def"
#undef METHOD
};

#define CASE(name) extern const pbd_case pbd_case_##name;
#include "cases/cases.def"
#undef CASE
static const pbd_case *const cases[] = {
#define CASE(name) &pbd_case_##name,
#include "cases/cases.def"
#undef CASE
};

/* Cases with their shared rows after their own. */
enum { MOST_PARAMS = 64 };
static struct {
    pbd_case c;
    pbd_param row[MOST_PARAMS + 1];
    char preset[200];
} whole[sizeof cases / sizeof *cases];

static const char *const backend_names[PBD_BACKEND_COUNT] = {"cpu", "emu", "cuda"};

enum { METHODS = sizeof methods / sizeof *methods, CASES = sizeof cases / sizeof *cases };

static struct {
    const pbd_method_entry **entry;
    size_t count;
} loaded; /* methods of plug-ins */

static struct {
    pbd_missing_method *item;
    size_t count;
} missing;

size_t pbd_method_count(void) { return METHODS + loaded.count; }

const pbd_method_entry *pbd_method_at(size_t index) {
    return index < METHODS ? &methods[index] : loaded.entry[index - METHODS];
}

pbd_status pbd_add_methods(const pbd_method_entry *entry, size_t count) {
    const pbd_method_entry **grown = realloc(loaded.entry, (loaded.count + count) * sizeof *grown);
    if (!grown) return pbd_no_memory();
    loaded.entry = grown;
    for (size_t i = 0; i < count; i++) grown[loaded.count + i] = &entry[i];
    loaded.count += count;
    return pbd_ok();
}

pbd_status pbd_add_missing_method(const char *name, const char *path, const char *reason) {
    pbd_missing_method *grown = realloc(missing.item, (missing.count + 1) * sizeof *grown);
    if (!grown) return pbd_no_memory();
    missing.item = grown;
    pbd_missing_method *m = &grown[missing.count];
    *m = (pbd_missing_method){strdup(name), strdup(path), strdup(reason)};
    if (m->name && m->path && m->reason) {
        missing.count++;
        return pbd_ok();
    }
    free(m->name);
    free(m->path);
    free(m->reason);
    return pbd_no_memory();
}

size_t pbd_missing_methods(const pbd_missing_method **out) {
    *out = missing.item;
    return missing.count;
}

/* A table that is too long, or a preset of an undeclared parameter, is a mistake of the case's author. */
static void complain_of_case(const char *name, const char *what) {
    fprintf(stderr, "case %s: %s\n", name, what);
    abort();
}

static pbd_param *row_named(pbd_param *row, const char *name) {
    while (row->name && strcmp(row->name, name) != 0) row++;
    return row;
}

static void append_rows(const pbd_case *c, const pbd_param *from, pbd_param *rows) {
    for (; from && from->name; from++) {
        pbd_param *row = row_named(rows, from->name);
        if (row == rows + MOST_PARAMS) complain_of_case(c->name, "more parameters than MOST_PARAMS of registry.c");
        if (!row->name) *row = *from;
    }
}

static void set_presets(const pbd_case *c, char *words, pbd_param *rows) {
    for (char *save = NULL, *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *value = strchr(word, '=');
        if (value) *value++ = '\0';
        pbd_param *row = row_named(rows, word);
        if (!value || !row->name) complain_of_case(c->name, "`presets` is not words key=value of its parameters");
        row->preset = value;
    }
}

size_t pbd_case_count(void) { return CASES; }

const pbd_case *pbd_case_at(size_t index) {
    const pbd_case *c = cases[index];
    if (!c->shared) return c;
    if (whole[index].c.name) return &whole[index].c;
    append_rows(c, c->params, whole[index].row);
    append_rows(c, c->shared(), whole[index].row);
    if (strlen(c->presets ? c->presets : "") >= sizeof whole[index].preset)
        complain_of_case(c->name, "`presets` is too long");
    snprintf(whole[index].preset, sizeof whole[index].preset, "%s", c->presets ? c->presets : "");
    set_presets(c, whole[index].preset, whole[index].row);
    whole[index].c = *c;
    whole[index].c.params = whole[index].row;
    return &whole[index].c;
}

pbd_backend_entry pbd_backend_at(pbd_backend backend) {
    static const char *const summaries[PBD_BACKEND_COUNT] = {
        "OpenMP threads and SIMD", "CUDA threads emulated on the host, every launch checked for races", "NVIDIA GPUs"};
    const char *reason = backend == PBD_BACKEND_CUDA ? pbd_cuda_missing() : "";
    return (pbd_backend_entry){backend_names[backend], summaries[backend], !*reason, reason};
}

const char *pbd_precision_name(pbd_precision precision) { return precision == PBD_PRECISION_F32 ? "f32" : "f64"; }

pbd_status pbd_find_method(const char *name, const pbd_method_entry **out) {
    pbd_arena a PBD_ARENA;
    const size_t count = pbd_method_count();
    const char **names = pbd_new(&a, const char *, count);
    *out = NULL;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < count; i++) {
        names[i] = pbd_method_at(i)->by_precision[PBD_PRECISION_F64]->name;
        if (strcmp(name, names[i]) != 0) continue;
        *out = pbd_method_at(i);
        return pbd_ok();
    }
    for (size_t i = 0; i < missing.count; i++)
        if (strcmp(name, missing.item[i].name) == 0) return pbd_error(PBD_NOT_SUPPORTED, "%s", missing.item[i].reason);
    return pbd_unknown("method", name, names, count, "pbdbench list methods");
}

pbd_status pbd_find_case(const char *name, const pbd_case **out) {
    const char *names[CASES];
    for (size_t i = 0; i < CASES; i++) {
        names[i] = cases[i]->name;
        if (strcmp(name, cases[i]->name) != 0) continue;
        *out = pbd_case_at(i);
        return pbd_ok();
    }
    return pbd_unknown("case", name, names, CASES, "pbdbench list cases");
}

const char *pbd_method_law(const pbd_method *method) {
    return method->bytes >= offsetof(pbd_method, law) + sizeof method->law ? method->law : NULL;
}

static bool knows_choose(const pbd_method *method) {
    return method->bytes >= offsetof(pbd_method, choose) + sizeof method->choose;
}

bool pbd_has_choose(const pbd_method *method) { return knows_choose(method) && method->choose; }

/* ELASTICITY and `choose` were introduced together. */
unsigned pbd_method_takes(const pbd_method *method) {
    return knows_choose(method) ? method->takes : method->takes | PBD_TAKES_ELASTICITY;
}

unsigned pbd_missing_needs(const pbd_method *method, const pbd_case *c) {
    unsigned provided = c->provides;
    if (provided & (PBD_NEEDS_TETS | PBD_NEEDS_TRIANGLES)) provided |= PBD_NEEDS_TETS_OR_TRIANGLES;
    return method->needs & ~provided;
}

pbd_status pbd_name_backend(const char *name, pbd_backend *out) {
    for (int i = 0; i < PBD_BACKEND_COUNT; i++) {
        if (strcmp(name, backend_names[i]) != 0) continue;
        *out = (pbd_backend)i;
        return pbd_ok();
    }
    if (strcmp(name, "gpu") == 0)
        return pbd_error(PBD_BAD_INPUT, "unknown backend 'gpu'; GPUs of NVIDIA are 'cuda': `pbdbench list backends`");
    return pbd_unknown("backend", name, backend_names, PBD_BACKEND_COUNT, "pbdbench list backends");
}

pbd_status pbd_check_backend(pbd_backend backend) {
    const pbd_backend_entry entry = pbd_backend_at(backend);
    if (entry.available) return pbd_ok();
    return pbd_error(PBD_NOT_SUPPORTED, "backend %s is not available: %s", entry.name, entry.reason);
}

pbd_status pbd_find_backend(const char *name, pbd_backend *out) {
    PBD_TRY(pbd_name_backend(name, out));
    return pbd_check_backend(*out);
}

pbd_status pbd_find_precision(const char *name, pbd_precision *out) {
    static const char *const names[] = {"f32", "f64"};
    for (int i = 0; i < 2; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (pbd_precision)i;
            return pbd_ok();
        }
    return pbd_error(PBD_BAD_INPUT, "unknown precision '%.60s': 'f32' or 'f64'", name);
}
