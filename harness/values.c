/* Parameters: parsing, ranges, resolution against case and method, axes. */
#include "harness/values.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More points than this on one axis is a slip (a step in the wrong unit), not a wish. */
enum { LONGEST_AXIS = 100000 };

static size_t params_of(const pbd_param *params) {
    size_t n = 0;
    while (params && params[n].name) n++;
    return n;
}

static const pbd_value *value_named(const pbd_values *values, const char *name) {
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->item[i].param->name, name) == 0) return &values->item[i];
    fprintf(stderr, "pbdbench: programming error: parameter '%s' was asked for but never declared\n", name);
    abort();
}

double pbd_real(const pbd_values *values, const char *name) { return value_named(values, name)->number; }
long pbd_integer(const pbd_values *values, const char *name) { return (long)value_named(values, name)->number; }
int pbd_choice(const pbd_values *values, const char *name) { return (int)value_named(values, name)->number; }
const char *pbd_text(const pbd_values *values, const char *name) { return value_named(values, name)->text; }

/* «[0, 0.5)», «(0, inf)»: how a range is told to a person. */
static void range_text(const pbd_param *p, char *out, size_t size) {
    snprintf(out, size, "%c%g, %g%c", p->open & PBD_OPEN_MIN ? '(' : '[', p->min, p->max,
             p->open & PBD_OPEN_MAX || isinf(p->max) ? ')' : ']');
}

static bool in_range(const pbd_param *p, double x) {
    bool above = p->open & PBD_OPEN_MIN ? x > p->min : x >= p->min;
    bool below = p->open & PBD_OPEN_MAX ? x < p->max : x <= p->max;
    return above && below; /* false for NaN */
}

static pbd_status parse_choice(const pbd_param *param, const char *text, const char *where, pbd_value *out) {
    size_t count = 0;
    while (param->choices[count]) count++;
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, param->choices[i]) == 0) {
            out->number = (double)i;
            snprintf(out->text, sizeof out->text, "%s", param->choices[i]);
            return pbd_ok();
        }
    char all[200] = "";
    for (size_t i = 0; i < count; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? "|" : "", param->choices[i]);
    const char *nearest = pbd_nearest(text, param->choices, count);
    if (nearest)
        return pbd_error(PBD_BAD_INPUT, "%s: %s='%.40s' is none of %s; did you mean '%s'?", where, param->name, text,
                         all, nearest);
    return pbd_error(PBD_BAD_INPUT, "%s: %s='%.40s' is none of %s", where, param->name, text, all);
}

pbd_status pbd_parse_value(const pbd_param *param, const char *text, const char *where, pbd_value *out) {
    out->param = param;
    if (param->kind == PBD_CHOICE) return parse_choice(param, text, where, out);
    char range[80], *end;
    range_text(param, range, sizeof range);
    errno = 0;
    double x = strtod(text, &end);
    const char *kind = param->kind == PBD_INTEGER ? "a whole number" : "a number";
    if (end == text || *end != '\0')
        return pbd_error(PBD_BAD_INPUT, "%s: %s='%.40s' is not %s; the range is %s%s%s", where, param->name, text, kind,
                         range, *param->unit ? " " : "", param->unit);
    if (!isfinite(x) || !in_range(param, x))
        return pbd_error(PBD_BAD_INPUT, "%s: %s=%.40s is out of range; it must lie in %s%s%s", where, param->name, text,
                         range, *param->unit ? " " : "", param->unit);
    if (param->kind == PBD_INTEGER && x != floor(x))
        return pbd_error(PBD_BAD_INPUT, "%s: %s=%.40s is not a whole number; the range is %s", where, param->name, text,
                         range);
    out->number = x == 0 ? 0 : x; /* -0 is 0: one spelling, one hash */
    /* The shortest spelling of six digits or more that reads back to the same number is the canonical one: 0.3, 200000,
     * 1e-08. Whole numbers are spelt out. */
    for (int digits = 6; digits <= 17; digits++) {
        if (param->kind == PBD_INTEGER)
            snprintf(out->text, sizeof out->text, "%.0f", out->number);
        else
            snprintf(out->text, sizeof out->text, "%.*g", digits, out->number);
        if (strtod(out->text, NULL) == out->number) break;
    }
    return pbd_ok();
}

/* Values at their defaults, in an array of the caller's. A default out of its own range is a programming error. */
static pbd_status preset_values(const pbd_param *params, const char *where, pbd_values *out) {
    size_t n = params_of(params);
    pbd_value *item = calloc(n ? n : 1, sizeof *item);
    if (!item) return pbd_error(PBD_FAILED, "out of memory while reading parameters of %s", where);
    out->item = item;
    out->count = n;
    for (size_t i = 0; i < n; i++) {
        pbd_status status = pbd_parse_value(&params[i], params[i].preset, where, &item[i]);
        if (status.code != PBD_OK) {
            pbd_values_free(out);
            return pbd_error(PBD_FAILED, "the default is wrong: %.300s", status.text);
        }
    }
    return pbd_ok();
}

/* Sets one value where it is known; *known tells whether it was. */
static pbd_status assign(const pbd_values *values, const pbd_setting *setting, const char *where, bool *known) {
    for (size_t i = 0; i < values->count; i++) {
        const pbd_param *param = values->item[i].param;
        if (strcmp(param->name, setting->key) != 0) continue;
        *known = true;
        pbd_value parsed = {0};
        PBD_TRY(pbd_parse_value(param, setting->value, where, &parsed));
        memcpy((void *)(uintptr_t)&values->item[i], &parsed, sizeof parsed); /* ours: made by preset_values */
    }
    return pbd_ok();
}

/* A key that both know has one value in both, also where nobody gives it: the case's default, since it is the case that
 * asks. */
static pbd_status share_presets(const pbd_case *c, const pbd_method *m, const pbd_values *method_values) {
    bool known;
    for (const pbd_param *p = c->params; p && p->name; p++)
        PBD_TRY(assign(method_values, &(pbd_setting){p->name, p->preset}, m->name, &known));
    return pbd_ok();
}

static pbd_status unknown_key(const char *key, const pbd_case *c, const pbd_method *m) {
    size_t nc = params_of(c->params), nm = params_of(m->params);
    const char **names = malloc((nc + nm + 1) * sizeof *names);
    if (!names) return pbd_error(PBD_FAILED, "out of memory");
    for (size_t i = 0; i < nc; i++) names[i] = c->params[i].name;
    for (size_t i = 0; i < nm; i++) names[nc + i] = m->params[i].name;
    char kind[200], hint[200];
    snprintf(kind, sizeof kind, "parameter of case %s and method %s", c->name, m->name);
    snprintf(hint, sizeof hint, "pbdbench run %s -m %s --help", c->name, m->name);
    pbd_status status = pbd_unknown(kind, key, names, nc + nm, hint);
    free(names);
    return status;
}

pbd_status pbd_resolve(const pbd_case *c, const pbd_method *m, const pbd_setting *settings, size_t count,
                       pbd_values *case_values, pbd_values *method_values) {
    *case_values = *method_values = (pbd_values){0};
    pbd_status status = preset_values(c->params, c->name, case_values);
    if (status.code == PBD_OK) status = preset_values(m->params, m->name, method_values);
    if (status.code == PBD_OK) status = share_presets(c, m, method_values);
    for (size_t i = 0; i < count && status.code == PBD_OK; i++) {
        bool known = false;
        status = assign(case_values, &settings[i], c->name, &known);
        if (status.code == PBD_OK) status = assign(method_values, &settings[i], m->name, &known);
        if (status.code == PBD_OK && !known) status = unknown_key(settings[i].key, c, m);
    }
    if (status.code != PBD_OK) {
        pbd_values_free(case_values);
        pbd_values_free(method_values);
    }
    return status;
}

void pbd_values_free(pbd_values *values) {
    free((void *)(uintptr_t)values->item);
    *values = (pbd_values){0};
}

pbd_status pbd_setting_parse(const char *text, pbd_setting *out) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) return pbd_error(PBD_BAD_INPUT, "'%.60s' is not of the form key=value", text);
    char *copy = strdup(text);
    if (!copy) return pbd_error(PBD_FAILED, "out of memory for '%.60s'", text);
    copy[equals - text] = '\0';
    *out = (pbd_setting){copy, copy + (equals - text) + 1};
    return pbd_ok();
}

void pbd_setting_free(pbd_setting *setting) {
    free((void *)(uintptr_t)setting->key); /* the value lies in the same copy */
    *setting = (pbd_setting){0};
}

/* lo:hi:step into spelt numbers. Each is lo + i step, not a running sum, and rounded to 12 digits: 0.1 stays 0.1. */
static pbd_status range_values(const char *text, const char *numbers, pbd_axis *out) {
    double lo, hi, step;
    char tail;
    if (sscanf(numbers, "%lf:%lf:%lf%c", &lo, &hi, &step, &tail) != 3 || !isfinite(lo) || !isfinite(hi) ||
        !isfinite(step))
        return pbd_error(PBD_BAD_INPUT, "axis '%.60s' is not of the form key=lo:hi:step", text);
    if (step <= 0 || hi < lo)
        return pbd_error(PBD_BAD_INPUT, "axis '%.60s' needs lo <= hi and step > 0; it has %g, %g and %g", text, lo, hi,
                         step);
    double steps = floor((hi - lo) / step * (1 + 1e-12) + 1e-9);
    if (steps >= LONGEST_AXIS)
        return pbd_error(PBD_BAD_INPUT, "axis '%.60s' has %.3g points; at most %d are allowed", text, steps + 1,
                         LONGEST_AXIS);
    size_t count = (size_t)steps + 1;
    out->values = calloc(count, sizeof *out->values);
    if (!out->values) return pbd_error(PBD_FAILED, "out of memory for axis '%.60s'", text);
    for (size_t i = 0; i < count; i++) {
        char spelt[40];
        snprintf(spelt, sizeof spelt, "%.12g", lo + (double)i * step);
        if (!(out->values[i] = strdup(spelt))) return pbd_error(PBD_FAILED, "out of memory for axis '%.60s'", text);
        out->count++;
    }
    return pbd_ok();
}

static pbd_status list_values(const char *text, const char *list, pbd_axis *out) {
    size_t count = 1;
    for (const char *p = list; *p; p++) count += *p == ',';
    out->values = calloc(count, sizeof *out->values);
    if (!out->values) return pbd_error(PBD_FAILED, "out of memory for axis '%.60s'", text);
    for (const char *p = list;; p++) {
        size_t length = strcspn(p, ",");
        if (length == 0) return pbd_error(PBD_BAD_INPUT, "axis '%.60s' has an empty value", text);
        if (!(out->values[out->count] = strndup(p, length)))
            return pbd_error(PBD_FAILED, "out of memory for axis '%.60s'", text);
        out->count++;
        p += length;
        if (*p == '\0') return pbd_ok();
    }
}

pbd_status pbd_axis_parse(const char *text, pbd_axis *out) {
    *out = (pbd_axis){0};
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return pbd_error(PBD_BAD_INPUT, "axis '%.60s' is not of the form key=lo:hi:step or key=a,b,c", text);
    out->key = strndup(text, (size_t)(equals - text));
    pbd_status status = !out->key                 ? pbd_error(PBD_FAILED, "out of memory for axis '%.60s'", text)
                        : strchr(equals + 1, ':') ? range_values(text, equals + 1, out)
                                                  : list_values(text, equals + 1, out);
    if (status.code != PBD_OK) pbd_axis_free(out);
    return status;
}

void pbd_axis_free(pbd_axis *axis) {
    for (size_t i = 0; i < axis->count; i++) free(axis->values[i]);
    free(axis->values);
    free(axis->key);
    *axis = (pbd_axis){0};
}
