#include "harness/engine/engine_message.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "harness/files/nearest.h"
#include "harness/files/numbers.h"

#define WRONG(...) return pbd_error(PBD_FAILED, __VA_ARGS__)

/* ---- Head and JSON ----------------------------------------------------------------------------------------------- */

static void write_number(unsigned char *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t read_number(const unsigned char *at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (uint64_t)at[i] << 8 * i;
    return value;
}

void pbd_engine_head_write(unsigned char head[PBD_ENGINE_HEAD], size_t json, uint64_t bytes) {
    write_number(head, PBD_ENGINE_MAGIC, 4);
    write_number(head + 4, json, 4);
    write_number(head + 8, bytes, 8);
}

pbd_status pbd_engine_head_read(const unsigned char head[PBD_ENGINE_HEAD], size_t *json, uint64_t *bytes) {
    const unsigned magic = (unsigned)read_number(head, 4);
    *json = (size_t)read_number(head + 4, 4);
    *bytes = read_number(head + 8, 8);
    if (magic != PBD_ENGINE_MAGIC)
        WRONG(
            "its answer is no message of the protocol: it begins with %08x and not with %08x; what it prints must go "
            "to standard output, not to descriptor 3",
            magic, PBD_ENGINE_MAGIC);
    if (*json > PBD_ENGINE_MOST_JSON)
        WRONG("its answer claims %zu bytes of JSON: at most %d are read", *json, PBD_ENGINE_MOST_JSON);
    return pbd_ok();
}

pbd_status pbd_engine_json_read(const char *text, size_t bytes, json_t **out) {
    json_error_t error;
    *out = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
    if (!*out) WRONG("its answer is not valid JSON: %.120s (byte %d)", error.text, error.position);
    if (json_is_object(*out)) return pbd_ok();
    json_decref(*out);
    *out = NULL;
    WRONG("its answer is not a JSON object");
}

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

pbd_status pbd_engine_answer_check(const json_t *answer) {
    static const struct {
        const char *name;
        pbd_code code;
    } codes[] = {{"bad_input", PBD_BAD_INPUT},     {"not_supported", PBD_NOT_SUPPORTED},
                 {"failed", PBD_FAILED},           {"diverged", PBD_DIVERGED},
                 {"interrupted", PBD_INTERRUPTED}, {"no_equilibrium", PBD_NO_EQUILIBRIUM}};
    const json_t *ok = json_object_get(answer, "ok");
    const char *code = text_of(answer, "code"), *says = text_of(answer, "says");
    if (json_is_true(ok)) return pbd_ok();
    if (!json_is_false(ok)) WRONG("its answer has no \"ok\": true or false");
    for (size_t i = 0; code && i < sizeof codes / sizeof *codes; i++)
        if (strcmp(code, codes[i].name) == 0)
            return pbd_error(codes[i].code, "%.300s", says && *says ? says : "it gives no reason");
    return pbd_error(PBD_FAILED, "%.300s", says && *says ? says : "it gives no reason");
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

/* The only row of "arrays", if it is [name, type, shape]. */
static const json_t *only_array(const json_t *answer, const char *name) {
    const json_t *all = json_object_get(answer, "arrays"), *row = json_array_get(all, 0);
    const char *its = json_string_value(json_array_get(row, 0));
    const bool fine = json_array_size(all) == 1 && json_array_size(row) == 3 && its && strcmp(its, name) == 0;
    return fine ? row : NULL;
}

static bool has_shape(const json_t *shape, size_t rows, size_t width) {
    const size_t dimensions = json_array_size(shape);
    const json_int_t first = json_integer_value(json_array_get(shape, 0));
    if (dimensions == 1) return width == 1 && first == (json_int_t)rows;
    return dimensions == 2 && first == (json_int_t)rows &&
           json_integer_value(json_array_get(shape, 1)) == (json_int_t)width;
}

pbd_status pbd_engine_array_check(const json_t *answer, const char *name, size_t rows, size_t width, uint64_t bytes,
                                  bool *single) {
    const json_t *row = only_array(answer, name);
    const char *type = json_string_value(json_array_get(row, 1));
    if (!row) WRONG("its answer must hold one array, %s", name);
    if (!type || (strcmp(type, "<f8") != 0 && strcmp(type, "<f4") != 0))
        WRONG("array %s is of type '%.20s': <f8 or <f4 is read", name, type ? type : "");
    *single = strcmp(type, "<f4") == 0;
    if (!has_shape(json_array_get(row, 2), rows, width))
        WRONG("array %s has another shape than [%zu, %zu]", name, rows, width);
    const uint64_t wanted = (uint64_t)rows * width * (*single ? 4 : 8);
    if (bytes != wanted)
        WRONG("array %s needs %llu bytes, and the message has %llu", name, (unsigned long long)wanted,
              (unsigned long long)bytes);
    return pbd_ok();
}

pbd_status pbd_engine_blob_check(const json_t *answer, uint64_t bytes, size_t *size) {
    const json_t *row = only_array(answer, "state");
    const char *type = json_string_value(json_array_get(row, 1));
    if (!row || !type || strcmp(type, "|u1") != 0) WRONG("its answer must hold one array, state, of type |u1");
    if (bytes > PBD_ENGINE_MOST_STATE)
        WRONG("its state claims %llu bytes: at most %d are kept", (unsigned long long)bytes, PBD_ENGINE_MOST_STATE);
    if (!has_shape(json_array_get(row, 2), (size_t)bytes, 1))
        WRONG("array state has another shape than its message has bytes: [%llu]", (unsigned long long)bytes);
    *size = (size_t)bytes;
    return pbd_ok();
}

/* ---- Hello ------------------------------------------------------------------------------------------------------- */

#define REFUSED(...) return pbd_error(PBD_BAD_INPUT, __VA_ARGS__)
enum { LONGEST_TEXT = 200, MOST_NAMES = 40 };

static pbd_status take_line(const json_t *answer, const char *key, const char *otherwise, const char **out) {
    const json_t *value = json_object_get(answer, key);
    *out = json_string_value(value);
    if (!value && otherwise) *out = otherwise;
    if (!*out || !**out) REFUSED("its hello has no \"%s\", a text", key);
    if (strlen(*out) > LONGEST_TEXT) REFUSED("\"%s\" of its hello is longer than %d bytes", key, LONGEST_TEXT);
    for (const char *c = *out; *c; c++)
        if (iscntrl((unsigned char)*c)) REFUSED("\"%s\" of its hello is not one line", key);
    return pbd_ok();
}

typedef struct named_bit {
    const char *name;
    unsigned bit;
} named_bit;

/* Reads a list of names as a mask. */
static pbd_status take_mask(const json_t *answer, const char *key, const named_bit *known, size_t count,
                            unsigned *out) {
    const json_t *list = json_object_get(answer, key);
    const char *names[MOST_NAMES];
    if (list && !json_is_array(list)) REFUSED("\"%s\" of its hello is not a list of names", key);
    for (size_t i = 0; i < count; i++) names[i] = known[i].name;
    *out = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        size_t k = 0;
        while (k < count && (!name || strcmp(name, names[k]) != 0)) k++;
        if (k == count) {
            char kind[60];
            snprintf(kind, sizeof kind, "entry of \"%s\" in its hello:", key);
            return pbd_unknown(kind, name ? name : "", names, count, "examples/engines/README.md");
        }
        *out |= known[k].bit;
    }
    return pbd_ok();
}

static pbd_status take_masks(const json_t *answer, pbd_arena *memory, pbd_engine_hello *out) {
    static const named_bit needs[] = {
        {"particles", PBD_NEEDS_PARTICLES}, {"hexes", PBD_NEEDS_HEXES},
        {"tets", PBD_NEEDS_TETS},           {"triangles", PBD_NEEDS_TRIANGLES},
        {"samples", PBD_NEEDS_SAMPLES},     {"tets_or_triangles", PBD_NEEDS_TETS_OR_TRIANGLES}};
#define FIELD(NAME, name, width) {#name, 1u << PBD_##NAME},
    static const named_bit fields[] = {PBD_ENGINE_FIELDS(FIELD)};
#define TAKES(NAME, sentence, asked) {#NAME, PBD_TAKES_##NAME},
    static const named_bit rows[] = {
#include "methods/takes.def"
    };
#undef TAKES
    enum { TAKEN = sizeof rows / sizeof *rows };
    named_bit takes[TAKEN];
    for (size_t i = 0; i < TAKEN; i++) {
        char *low = pbd_new_text(memory, rows[i].name);
        for (char *c = low; c && *c; c++) *c = (char)tolower((unsigned char)*c);
        takes[i] = (named_bit){low, rows[i].bit};
    }
    PBD_TRY(pbd_arena_check(memory));
    PBD_TRY(take_mask(answer, "needs", needs, sizeof needs / sizeof *needs, &out->needs));
    PBD_TRY(take_mask(answer, "takes", takes, TAKEN, &out->takes));
    PBD_TRY(take_mask(answer, "fields", fields, sizeof fields / sizeof *fields, &out->fields));
    if (!(out->fields & 1u << PBD_POSITIONS))
        REFUSED("\"fields\" of its hello lacks \"positions\": every engine reads them");
    return pbd_ok();
}

static pbd_status take_laws(const json_t *answer, pbd_arena *memory, pbd_engine_hello *out) {
    const json_t *list = json_object_get(answer, "laws");
    if (!list) return pbd_ok();
    const size_t count = json_array_size(list);
    const char **law = pbd_new(memory, const char *, count + 1);
    PBD_TRY(pbd_arena_check(memory));
    for (size_t i = 0; i < count; i++)
        if (!(law[i] = json_string_value(json_array_get(list, i))))
            REFUSED("\"laws\" of its hello is not a list of names");
    out->law = law;
    return pbd_ok();
}

static pbd_status take_choices(const json_t *row, pbd_arena *memory, pbd_param *p) {
    const json_t *list = json_object_get(row, "choices");
    const char **choice = pbd_new(memory, const char *, json_array_size(list) + 1);
    PBD_TRY(pbd_arena_check(memory));
    for (size_t i = 0; i < json_array_size(list); i++) {
        choice[i] = json_string_value(json_array_get(list, i));
        if (!choice[i] || !*choice[i]) REFUSED("parameter %.60s of its hello: choices are texts", p->name);
    }
    p->choices = choice;
    return pbd_ok();
}

static pbd_status take_preset(const json_t *row, pbd_arena *memory, pbd_param *p) {
    const json_t *value = json_object_get(row, "default");
    char number[PBD_NUMBER_SIZE];
    if (json_is_string(value)) p->preset = json_string_value(value);
    if (json_is_number(value)) {
        pbd_spell_number(json_number_value(value), number);
        p->preset = pbd_new_text(memory, number);
    }
    if (!p->preset || !*p->preset) REFUSED("parameter %.60s of its hello has no default", p->name);
    return pbd_arena_check(memory);
}

static pbd_status take_bound(const json_t *row, const char *key, double otherwise, const char *name, double *out) {
    const json_t *value = json_object_get(row, key);
    if (value && !json_is_number(value)) REFUSED("parameter %.60s of its hello: \"%s\" is not a number", name, key);
    *out = value ? json_number_value(value) : otherwise;
    return pbd_ok();
}

static pbd_status take_param(const json_t *row, pbd_arena *memory, pbd_param *p) {
    const char *kind = text_of(row, "kind"), *unit = text_of(row, "unit");
    static const char *const kinds[] = {"real", "integer", "choice"};
    size_t k = 0;
    p->name = text_of(row, "name");
    if (!p->name || !*p->name) REFUSED("a parameter of its hello has no name");
    while (k < 3 && (!kind || strcmp(kind, kinds[k]) != 0)) k++;
    if (k == 3) REFUSED("parameter %.60s of its hello has no kind: real, integer or choice", p->name);
    p->kind = k == 0 ? PBD_REAL : k == 1 ? PBD_INTEGER : PBD_CHOICE;
    p->unit = unit ? unit : "";
    p->doc = text_of(row, "doc");
    PBD_TRY(take_bound(row, "min", p->kind == PBD_INTEGER ? -1e9 : -HUGE_VAL, p->name, &p->min));
    PBD_TRY(take_bound(row, "max", p->kind == PBD_INTEGER ? 1e9 : HUGE_VAL, p->name, &p->max));
    if (json_is_true(json_object_get(row, "above_min"))) p->open |= PBD_OPEN_MIN;
    if (json_is_true(json_object_get(row, "below_max"))) p->open |= PBD_OPEN_MAX;
    if (p->kind == PBD_CHOICE) PBD_TRY(take_choices(row, memory, p));
    return take_preset(row, memory, p);
}

static pbd_status take_params(const json_t *answer, pbd_arena *memory, pbd_engine_hello *out) {
    const json_t *list = json_object_get(answer, "params");
    if (list && !json_is_array(list)) REFUSED("\"params\" of its hello is not a list");
    out->params = json_array_size(list);
    if (out->params > PBD_ENGINE_MOST_PARAMS)
        REFUSED("its hello has %zu parameters: at most %d are read", out->params, PBD_ENGINE_MOST_PARAMS);
    out->param = pbd_new(memory, pbd_param, out->params + 1);
    PBD_TRY(pbd_arena_check(memory));
    for (size_t i = 0; i < out->params; i++) PBD_TRY(take_param(json_array_get(list, i), memory, &out->param[i]));
    return pbd_ok();
}

static pbd_status take_words(const json_t *answer, pbd_engine_hello *out) {
    const char *precision, *steps;
    PBD_TRY(take_line(answer, "engine", NULL, &out->engine));
    PBD_TRY(take_line(answer, "version", NULL, &out->version));
    PBD_TRY(take_line(answer, "device", NULL, &out->device));
    PBD_TRY(take_line(answer, "integrator", "not said", &out->integrator));
    PBD_TRY(take_line(answer, "masses", "given", &out->masses));
    PBD_TRY(take_line(answer, "precision", NULL, &precision));
    PBD_TRY(take_line(answer, "steps", "fixed", &steps));
    if (strcmp(precision, "f32") != 0 && strcmp(precision, "f64") != 0)
        REFUSED("\"precision\" of its hello is '%.20s': f32 or f64", precision);
    if (strcmp(steps, "fixed") != 0 && strcmp(steps, "adaptive") != 0)
        REFUSED("\"steps\" of its hello is '%.20s': fixed or adaptive", steps);
    if (strcmp(out->masses, "given") != 0 && strcmp(out->masses, "density") != 0)
        REFUSED("\"masses\" of its hello is '%.20s': given or density", out->masses);
    out->precisions = strcmp(precision, "f32") == 0 ? PBD_F32 : PBD_F64;
    out->adaptive = strcmp(steps, "adaptive") == 0;
    out->saves = json_is_true(json_object_get(answer, "saves"));
    return pbd_ok();
}

pbd_status pbd_engine_hello_read(const json_t *answer, pbd_arena *memory, pbd_engine_hello *out) {
    const json_t *protocol = json_object_get(answer, "protocol");
    *out = (pbd_engine_hello){0};
    if (!json_is_integer(protocol)) REFUSED("its hello has no \"protocol\", a whole number");
    if (json_integer_value(protocol) != PBD_ENGINE_PROTOCOL)
        REFUSED("it speaks protocol %" JSON_INTEGER_FORMAT
                ", this program speaks %d: use the package of examples/engines that "
                "came with this program",
                json_integer_value(protocol), PBD_ENGINE_PROTOCOL);
    PBD_TRY(take_words(answer, out));
    PBD_TRY(take_masks(answer, memory, out));
    PBD_TRY(take_laws(answer, memory, out));
    return take_params(answer, memory, out);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static pbd_status take_seconds(const json_t *answer, const char *key, double otherwise, double *out) {
    const json_t *value = json_object_get(answer, key);
    *out = value ? json_number_value(value) : otherwise;
    if (value && (!json_is_number(value) || !isfinite(*out) || *out < 0))
        WRONG("\"%s\" of its answer is not a time of 0 s or more", key);
    return pbd_ok();
}

pbd_status pbd_engine_times_read(const json_t *answer, double wanted, bool adaptive, pbd_engine_times *out) {
    PBD_TRY(take_seconds(answer, "wall", (double)NAN, &out->wall));
    PBD_TRY(take_seconds(answer, "cpu", (double)NAN, &out->cpu));
    PBD_TRY(take_seconds(answer, "advanced", wanted, &out->advanced));
    if (isnan(out->wall)) WRONG("its answer to step has no \"wall\", the seconds that the steps took");
    if (!adaptive && fabs(out->advanced - wanted) > 1e-6 * wanted)
        WRONG("it advanced %g s where %g s were asked for", out->advanced, wanted);
    return pbd_ok();
}

/* Names are stored and used in queries. */
static bool is_name(const char *name) {
    return islower((unsigned char)*name) && strlen(name) <= 40 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static pbd_status report_numbers(const json_t *all, pbd_recorder *recorder) {
    const char *name;
    json_t *row;
    json_object_foreach((json_t *)(uintptr_t)all, name, row) {
        const json_t *value = json_array_get(row, 0);
        const char *unit = json_string_value(json_array_get(row, 1));
        if (!is_name(name) || !json_is_number(value) || !unit || strlen(unit) > 20)
            WRONG("metric '%.40s' of its answer is not \"name\": [number, \"unit\"]", name);
        pbd_metric(recorder, name, unit, PBD_STATE, json_number_value(value));
    }
    return pbd_ok();
}

static pbd_status report_counts(const json_t *all, pbd_recorder *recorder) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)all, name, value) {
        if (!is_name(name) || !json_is_integer(value) || json_integer_value(value) < 0)
            WRONG("count '%.40s' of its answer is not \"name\": whole number from 0 up", name);
        pbd_count(recorder, name, (uint64_t)json_integer_value(value));
    }
    return pbd_ok();
}

static pbd_status report_warnings(const json_t *all, pbd_recorder *recorder) {
    const char *name;
    json_t *says;
    json_object_foreach((json_t *)(uintptr_t)all, name, says) {
        if (!is_name(name) || !json_is_string(says))
            WRONG("warning '%.40s' of its answer is not \"name\": \"sentence\"", name);
        pbd_warning(recorder, name, "%.300s", json_string_value(says));
    }
    return pbd_ok();
}

pbd_status pbd_engine_report(const json_t *answer, pbd_recorder *recorder) {
    PBD_TRY(report_counts(json_object_get(answer, "counts"), recorder));
    PBD_TRY(report_numbers(json_object_get(answer, "metrics"), recorder));
    return report_warnings(json_object_get(answer, "warnings"), recorder);
}
