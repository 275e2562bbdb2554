#include "harness/catalog/renamed.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

typedef struct renaming {
    const char *owner, *former, *today;
} renaming;

static const renaming renamings[] = {
#define RENAMED(OWNER, FORMER, TODAY) {#OWNER, #FORMER, #TODAY},
#define ADDED(OWNER, NAME, VALUE)
#include "harness/catalog/renamed.def"
#undef RENAMED
#undef ADDED
};
enum { RENAMINGS = sizeof renamings / sizeof *renamings };

static const struct {
    const char *owner, *name, *value;
} additions[] = {
#define RENAMED(OWNER, FORMER, TODAY)
#define ADDED(OWNER, NAME, VALUE) {#OWNER, #NAME, VALUE},
#include "harness/catalog/renamed.def"
#undef RENAMED
#undef ADDED
};
enum { ADDITIONS = sizeof additions / sizeof *additions };

static bool is_owner(const char *owner, const char *case_name, const char *method) {
    return strcmp(owner, case_name) == 0 || strcmp(owner, method) == 0;
}

static bool owns(const renaming *r, const char *case_name, const char *method) {
    return is_owner(r->owner, case_name, method);
}

bool pbd_has_renamed(const char *case_name, const char *method) {
    for (size_t i = 0; i < RENAMINGS; i++)
        if (owns(&renamings[i], case_name, method)) return true;
    for (size_t i = 0; i < ADDITIONS; i++)
        if (is_owner(additions[i].owner, case_name, method)) return true;
    return false;
}

/* The list is in order of time, so that a parameter renamed twice goes through both renamings. */
const char *pbd_name_today(const char *case_name, const char *method, const char *name) {
    const char *today = NULL;
    for (size_t i = 0; i < RENAMINGS; i++)
        if (owns(&renamings[i], case_name, method) && strcmp(renamings[i].former, today ? today : name) == 0)
            today = renamings[i].today;
    return today;
}

const char *pbd_name_before(const char *case_name, const char *method, const char *name) {
    for (size_t i = RENAMINGS; i-- > 0;)
        if (owns(&renamings[i], case_name, method) && strcmp(renamings[i].today, name) == 0) return renamings[i].former;
    return NULL;
}

/* ---- Objects of parameters --------------------------------------------------------------------------------------- */

typedef struct member {
    const char *key, *value; /* the value as it is spelt, `bytes` long */
    size_t bytes;
} member;

/* The end of the text or number that begins at `at`. */
static char *end_of_value(char *at) {
    if (*at != '"') return at + strcspn(at, ",}");
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

/* Reads the members of {"key":value,...} and terminates each key with a NUL. Returns their number; 0 for anything else.
 */
static size_t read_members(char *text, member *out) {
    size_t count = 0;
    if (*text++ != '{') return 0;
    while (*text == '"') {
        char *key = text + 1, *end = strchr(key, '"');
        if (!end || end[1] != ':') return 0;
        *end = '\0';
        text = end_of_value(end + 2);
        out[count++] = (member){key, end + 2, (size_t)(text - end) - 2};
        if (*text == ',') text++;
    }
    return strcmp(text, "}") == 0 ? count : 0;
}

static int by_key(const void *a, const void *b) { return strcmp(((const member *)a)->key, ((const member *)b)->key); }

static size_t count_of(const char *text, char c) {
    size_t count = 0;
    for (; *text; text++) count += *text == c;
    return count;
}

static char *write_members(const member *item, size_t count) {
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return NULL;
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%c\"%s\":%.*s", i ? ',' : '{', item[i].key, (int)item[i].bytes, item[i].value);
    fputc('}', out);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

/* Adds members for parameters that were added later; returns the new number of members. */
static size_t add_members(const char *case_name, const char *method, member *item, size_t count) {
    for (size_t i = 0; i < ADDITIONS; i++) {
        bool there = !is_owner(additions[i].owner, case_name, method);
        for (size_t k = 0; k < count && !there; k++) there = strcmp(item[k].key, additions[i].name) == 0;
        if (!there) item[count++] = (member){additions[i].name, additions[i].value, strlen(additions[i].value)};
    }
    return count;
}

char *pbd_params_today(const char *case_name, const char *method, const char *params) {
    if (!pbd_has_renamed(case_name, method)) return strdup(params);
    pbd_arena a PBD_ARENA;
    char *copy = pbd_new_text(&a, params);
    member *item = pbd_new(&a, member, count_of(params, ':') + ADDITIONS);
    if (!copy || !item) return NULL;
    const size_t count = read_members(copy, item);
    bool renamed = false;
    for (size_t i = 0; i < count; i++) {
        const char *today = pbd_name_today(case_name, method, item[i].key);
        renamed = renamed || today;
        if (today) item[i].key = today;
    }
    const size_t all = count > 0 ? add_members(case_name, method, item, count) : 0;
    if (all > 0) qsort(item, all, sizeof *item, by_key);
    return renamed || all > count ? write_members(item, all) : strdup(params);
}
