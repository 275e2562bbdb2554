/* The registries, made from methods.def and cases.def and by plug-ins, and the search for a name. */
#include "harness/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/backend.h"

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

static const char *const backend_names[PBD_BACKEND_COUNT] = {"cpu", "emu", "cuda"};

enum { METHODS = sizeof methods / sizeof *methods, CASES = sizeof cases / sizeof *cases, LONGEST_WORD = 64 };

static struct {
    const pbd_method_entry **entry;
    size_t count;
} loaded; /* by plug-ins */

size_t pbd_method_count(void) { return METHODS + loaded.count; }

const pbd_method_entry *pbd_method_at(size_t index) {
    return index < METHODS ? &methods[index] : loaded.entry[index - METHODS];
}

pbd_status pbd_add_methods(const pbd_method_entry *entry, size_t count) {
    const pbd_method_entry **grown = realloc(loaded.entry, (loaded.count + count) * sizeof *grown);
    if (!grown) return pbd_error(PBD_FAILED, "out of memory for the methods of a plug-in");
    loaded.entry = grown;
    for (size_t i = 0; i < count; i++) grown[loaded.count + i] = &entry[i];
    loaded.count += count;
    return pbd_ok();
}

size_t pbd_case_count(void) { return CASES; }
const pbd_case *pbd_case_at(size_t index) { return cases[index]; }

pbd_backend_entry pbd_backend_at(pbd_backend backend) {
    static const char *const summaries[PBD_BACKEND_COUNT] = {
        "OpenMP threads and SIMD", "CUDA threads emulated on the host, every launch checked for races", "NVIDIA GPUs"};
    const char *reason = backend == PBD_BACKEND_CUDA ? pbd_cuda_missing() : "";
    return (pbd_backend_entry){backend_names[backend], summaries[backend], !*reason, reason};
}

const char *pbd_precision_name(pbd_precision precision) { return precision == PBD_PRECISION_F32 ? "f32" : "f64"; }

/* Levenshtein's distance; words longer than LONGEST_WORD are nobody's slip. */
static size_t edit_distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b), row[LONGEST_WORD + 1];
    if (n > LONGEST_WORD || m > LONGEST_WORD) return LONGEST_WORD;
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[m];
}

const char *pbd_nearest(const char *word, const char *const *names, size_t count) {
    const char *best = NULL;
    size_t best_distance = strlen(word) / 2 + 2; /* farther than half the word is another word */
    for (size_t i = 0; i < count; i++) {
        size_t distance = edit_distance(word, names[i]);
        /* A name of which the word is a part (`torsion` for cube_torsion) is nearer than letters tell. */
        if (strlen(word) >= 3 && strstr(names[i], word)) distance = 1;
        if (distance < best_distance) {
            best_distance = distance;
            best = names[i];
        }
    }
    return best;
}

pbd_status pbd_unknown(const char *kind, const char *word, const char *const *names, size_t count, const char *hint) {
    const char *nearest = pbd_nearest(word, names, count);
    if (nearest)
        return pbd_error(PBD_BAD_INPUT, "unknown %s '%.60s'; did you mean '%s'? `%s` shows them all", kind, word,
                         nearest, hint);
    return pbd_error(PBD_BAD_INPUT, "unknown %s '%.60s'; `%s` shows them all", kind, word, hint);
}

pbd_status pbd_find_method(const char *name, const pbd_method_entry **out) {
    const size_t count = pbd_method_count();
    const char **names = malloc(count * sizeof *names);
    if (!names) return pbd_error(PBD_FAILED, "out of memory for the names of methods");
    *out = NULL;
    for (size_t i = 0; i < count && !*out; i++) {
        names[i] = pbd_method_at(i)->by_precision[PBD_PRECISION_F64]->name;
        if (strcmp(name, names[i]) == 0) *out = pbd_method_at(i);
    }
    pbd_status status = *out ? pbd_ok() : pbd_unknown("method", name, names, count, "pbdbench list methods");
    free(names);
    return status;
}

pbd_status pbd_find_case(const char *name, const pbd_case **out) {
    const char *names[CASES];
    for (size_t i = 0; i < CASES; i++) {
        names[i] = cases[i]->name;
        if (strcmp(name, cases[i]->name) != 0) continue;
        *out = cases[i];
        return pbd_ok();
    }
    return pbd_unknown("case", name, names, CASES, "pbdbench list cases");
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
    return pbd_unknown("precision", name, names, 2, "pbdbench run --help");
}
