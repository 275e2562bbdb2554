#include "harness/catalog/plugin_table.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "harness/catalog/conditions.h"
#include "harness/catalog/values.h"

#define WRONG(...) return pbd_error(PBD_BAD_INPUT, __VA_ARGS__)

enum { LONGEST_NAME = 40 };

/* Names are used in commands, SQL and files: lower-case letters, digits and underscores, a letter first. */
static bool is_name(const char *name) {
    const size_t length = strlen(name);
    return length > 0 && length <= LONGEST_NAME && islower((unsigned char)*name) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

/* Names of parameters follow physics: E, nu, k_edge. */
static bool is_param_name(const char *name) {
    const size_t length = strlen(name);
    return length > 0 && length <= LONGEST_NAME && isalpha((unsigned char)*name) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == length;
}

static bool is_one_line(const char *text) { return text && *text && !strchr(text, '\n'); }

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

static pbd_status check_param(const pbd_param *p, const char *method) {
    char where[80];
    snprintf(where, sizeof where, "method %.60s", method);
    if (!is_param_name(p->name))
        WRONG("%s: '%.60s' cannot name a parameter: letters, digits and underscores, at most %d", where, p->name,
              LONGEST_NAME);
    if (!p->unit) WRONG("%s: parameter %s has no unit: use \"\" for a dimensionless number", where, p->name);
    if (!p->preset) WRONG("%s: parameter %s has no default", where, p->name);
    if (!is_one_line(p->doc)) WRONG("%s: parameter %s has no description: set `doc` to one line", where, p->name);
    const bool number = p->kind == PBD_REAL || p->kind == PBD_INTEGER;
    if (!number && p->kind != PBD_CHOICE && p->kind != PBD_TEXT && p->kind != PBD_FILE)
        WRONG("%s: parameter %s is of an unknown kind (%d)", where, p->name, (int)p->kind);
    if (p->kind == PBD_CHOICE && (!p->choices || !p->choices[0]))
        WRONG("%s: parameter %s has no choices: `choices` is a list of names that ends with NULL", where, p->name);
    if (number && !(p->min <= p->max))
        WRONG("%s: the range [%g, %g] of parameter %s is empty", where, p->min, p->max, p->name);
    if (pbd_param_is_asked(p)) return pbd_ok();
    pbd_value value;
    const pbd_status status = pbd_parse_value(p, p->preset, where, &value);
    pbd_value_free(&value);
    if (status.code != PBD_OK) WRONG("the default is wrong: %.300s", status.text);
    return pbd_ok();
}

/* A condition may name parameters of the method, or of a case. */
static pbd_status check_condition(const pbd_param *p, const pbd_param *params, const char *method) {
    const pbd_status status = pbd_condition_check(p, NULL, params);
    for (size_t i = 0; i < pbd_case_count(); i++)
        if (pbd_condition_check(p, pbd_case_at(i)->params, params).code == PBD_OK) return pbd_ok();
    if (status.code != PBD_OK) WRONG("method %s: %.300s", method, status.text);
    return status;
}

enum { MOST_PARAMS = 1000 }; /* a longer list probably lacks its end */

static pbd_status check_params(const pbd_param *params, const char *method) {
    if (!params) WRONG("method %s has no list of parameters; without parameters it is {0} alone", method);
    for (size_t i = 0; params[i].name; i++) {
        if (i == MOST_PARAMS) WRONG("method %s: the list of parameters has no end: it must end with {0}", method);
        PBD_TRY(check_param(&params[i], method));
        for (size_t k = 0; k < i; k++)
            if (strcmp(params[k].name, params[i].name) == 0)
                WRONG("method %s lists parameter %s twice", method, params[i].name);
    }
    for (const pbd_param *p = params; p->name; p++) PBD_TRY(check_condition(p, params, method));
    return pbd_ok();
}

/* ---- Methods ----------------------------------------------------------------------------------------------------- */

static pbd_status check_slots(const pbd_method *m) {
    const struct {
        const char *name;
        bool there;
    } slots[] = {{"create", m->create != NULL}, {"read", m->read != NULL}, {"destroy", m->destroy != NULL}};
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (!slots[i].there) WRONG("method %s lacks its `%s`, which every method has", m->name, slots[i].name);
    if (!m->step && !m->solve) WRONG("method %s has neither `step` nor `solve`: one is required", m->name);
    if (!m->save != !m->load)
        WRONG("method %s has `%s` without `%s`: both or neither", m->name, m->save ? "save" : "load",
              m->save ? "load" : "save");
    return pbd_ok();
}

static pbd_status check_masks(const pbd_method *m) {
    const unsigned needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_HEXES | PBD_NEEDS_TETS | PBD_NEEDS_TRIANGLES |
                           PBD_NEEDS_TETS_OR_TRIANGLES | PBD_NEEDS_SAMPLES;
    if (m->needs & ~needs) WRONG("method %s has unknown bits: needs = %#x", m->name, m->needs);
#define TAKES(NAME, sentence, asked) | PBD_TAKES_##NAME
    const unsigned takes = 0
#include "methods/takes.def"
#undef TAKES
        ;
    if (m->takes & ~takes) WRONG("method %s has unknown bits: takes = %#x", m->name, m->takes);
    if (!m->backends) WRONG("method %s runs on no backend: backends = 0, use PBD_CPU", m->name);
    if (m->backends & ~(unsigned)(PBD_CPU | PBD_EMU | PBD_CUDA))
        WRONG("method %s names an unknown backend: backends = %#x", m->name, m->backends);
    if (!m->precisions) WRONG("method %s runs in no precision: precisions = 0, use PBD_F64", m->name);
    if (m->precisions & ~(unsigned)(PBD_F32 | PBD_F64))
        WRONG("method %s declares an unknown precision: precisions = %#x", m->name, m->precisions);
    return pbd_ok();
}

static pbd_status check_method(const pbd_method *m, const char *plugin) {
    if (m->bytes > sizeof(pbd_method) || m->bytes < offsetof(pbd_method, params))
        WRONG("a method of plug-in %s says that it has %u bytes, this program knows %zu: .bytes = sizeof(pbd_method)",
              plugin, m->bytes, sizeof(pbd_method));
    if (!m->name) WRONG("a method of plug-in %s has no name", plugin);
    if (!is_name(m->name))
        WRONG("'%.60s' cannot name a method: small letters, digits and underscores, at most %d", m->name, LONGEST_NAME);
    if (!is_one_line(m->summary)) WRONG("method %s has no `summary`: set it to one line", m->name);
    if (!m->source) WRONG("method %s has no `source`: set it, to \"\" if there is nothing to cite", m->name);
    PBD_TRY(check_slots(m));
    PBD_TRY(check_masks(m));
    PBD_TRY(check_params(m->params, m->name));
    for (const pbd_param *p = m->params; p->name; p++)
        if (pbd_param_is_auto(p) && !pbd_has_choose(m))
            WRONG("method %s has %s=auto by default, but no `choose` that chooses it", m->name, p->name);
    return pbd_ok();
}

/* Help, hashes and the store treat both compilations as one method. */
static pbd_status check_pair(const pbd_method *a, const pbd_method *b) {
    if (strcmp(a->name, b->name) != 0)
        WRONG("%s and %s are listed as one method in two precisions, but their names differ", a->name, b->name);
    if (a->precisions != b->precisions || a->backends != b->backends || a->needs != b->needs || a->takes != b->takes)
        WRONG("method %s differs between f32 and f64: precisions, backends, needs and takes must be equal", a->name);
    for (size_t i = 0;; i++) {
        if (!a->params[i].name && !b->params[i].name) return pbd_ok();
        if (!a->params[i].name || !b->params[i].name || strcmp(a->params[i].name, b->params[i].name) != 0)
            WRONG("method %s has other parameters in f32 than in f64", a->name);
    }
}

pbd_status pbd_check_plugin_method(const pbd_plugin_method *both, const char *plugin) {
    if (!both->f32 && !both->f64)
        WRONG("a method of plug-in %s exists in no precision: compile its source with -DREAL=float and -DREAL=double",
              plugin);
    if (both->f32) PBD_TRY(check_method(both->f32, plugin));
    if (both->f64) PBD_TRY(check_method(both->f64, plugin));
    const pbd_method *m = both->f64 ? both->f64 : both->f32;
    const struct {
        const pbd_method *there;
        unsigned mask;
        const char *name, *type;
    } precisions[] = {{both->f32, PBD_F32, "f32", "float"}, {both->f64, PBD_F64, "f64", "double"}};
    for (int p = 0; p < 2; p++)
        if (!precisions[p].there && m->precisions & precisions[p].mask)
            WRONG("method %s declares %s, but was not compiled for it: -DREAL=%s is missing", m->name,
                  precisions[p].name, precisions[p].type);
    return both->f32 && both->f64 ? check_pair(both->f32, both->f64) : pbd_ok();
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* Sizes must be equal. A struct passed by pointer may be smaller: the plug-in then does not know its last members. */
static pbd_status check_size(const pbd_struct_size *theirs) {
    static const pbd_struct_size growing[] = {PBD_GROWING(PBD_SIZE_OF){NULL, 0}};
    static const pbd_struct_size fixed[] = {PBD_FIXED(PBD_SIZE_OF){NULL, 0}};
    for (const pbd_struct_size *ours = growing; ours->name; ours++)
        if (strcmp(ours->name, theirs->name) == 0 && theirs->bytes > ours->bytes)
            WRONG("it was built for a newer program: it knows %s as %zu bytes, this program as %zu", ours->name,
                  theirs->bytes, ours->bytes);
    for (const pbd_struct_size *ours = fixed; ours->name; ours++)
        if (strcmp(ours->name, theirs->name) == 0 && theirs->bytes != ours->bytes)
            WRONG("it knows %s as %zu bytes, this program as %zu: rebuild it against this one", ours->name,
                  theirs->bytes, ours->bytes);
    return pbd_ok();
}

static pbd_status check_contract(const pbd_plugin_table *t) {
    if (t->abi != PBD_PLUGIN_ABI)
        WRONG("its table of plug-in is of version %u, this program reads %u: rebuild it against this one", t->abi,
              PBD_PLUGIN_ABI);
    if (t->method_abi != PBD_METHOD_ABI)
        WRONG("it was built for contract %u (PBD_METHOD_ABI), this program has %u: rebuild it against this one",
              t->method_abi, PBD_METHOD_ABI);
    if (!t->sizes || !t->take_host)
        WRONG("its table has no sizes of structs or takes no functions: PBD_PLUGIN and PBD_PLUGIN_TABLE fill both in");
    for (const pbd_struct_size *s = t->sizes; s->name; s++) PBD_TRY(check_size(s));
    return pbd_ok();
}

pbd_status pbd_check_plugin_table(const pbd_plugin_table *t) {
    PBD_TRY(check_contract(t));
    if (!t->name || !is_name(t->name))
        WRONG("it has no name, or '%.60s' is not valid: small letters, digits and underscores", t->name ? t->name : "");
    if (!is_one_line(t->version) || strlen(t->version) > LONGEST_NAME)
        WRONG("plug-in %s has no version: set a short text, such as \"0.1\"", t->name);
    if (!t->method || t->methods == 0) WRONG("plug-in %s has no methods", t->name);
    for (size_t i = 0; i < t->methods; i++) PBD_TRY(pbd_check_plugin_method(&t->method[i], t->name));
    return pbd_ok();
}
