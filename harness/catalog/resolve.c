/* Resolves settings against the parameters of a case and a method. */
#include "harness/catalog/resolve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/renamed.h"
#include "harness/exec/arena.h"
#include "harness/files/nearest.h"

static size_t params_of(const pbd_param *params) {
    size_t n = 0;
    while (params && params[n].name) n++;
    return n;
}

static bool is_chosen_later(const pbd_value *value) {
    return pbd_param_is_auto(value->param) && strcmp(value->text, "auto") == 0;
}

static pbd_status check_given(const pbd_values *values, const char *where) {
    for (size_t i = 0; i < values->count; i++) {
        const pbd_param *param = values->item[i].param;
        if (pbd_param_is_asked(param) && !values->item[i].words)
            return pbd_error(PBD_BAD_INPUT, "%s needs %s: -s %s=..., %s", where, param->name, param->name, param->doc);
    }
    return pbd_ok();
}

/* Values at their defaults, owned by the caller. A default out of its range is a programming error. */
static pbd_status preset_values(const pbd_param *params, const char *where, pbd_values *out) {
    size_t n = params_of(params);
    pbd_value *item = calloc(n ? n : 1, sizeof *item);
    if (!item) return pbd_no_memory();
    out->item = item;
    out->count = n;
    for (size_t i = 0; i < n; i++) {
        item[i].param = &params[i];
        if (pbd_param_is_asked(&params[i])) continue; /* check_given checks that it was given */
        pbd_status status = pbd_parse_value(&params[i], params[i].preset, where, &item[i]);
        if (status.code != PBD_OK) {
            pbd_values_free(out);
            return pbd_error(PBD_FAILED, "the default is wrong: %.300s", status.text);
        }
    }
    return pbd_ok();
}

/* Sets the value of a declared parameter; *known is then true. */
static pbd_status assign(const pbd_values *values, const pbd_setting *setting, const char *where, bool *known) {
    for (size_t i = 0; i < values->count; i++) {
        const pbd_param *param = values->item[i].param;
        if (strcmp(param->name, setting->key) != 0) continue;
        *known = true;
        pbd_value parsed = {0}, *ours = (pbd_value *)(uintptr_t)&values->item[i]; /* made by preset_values */
        PBD_TRY(pbd_parse_value(param, setting->value, where, &parsed));
        pbd_value_free(ours);
        *ours = parsed;
    }
    return pbd_ok();
}

/* A parameter of both has the same value in both. Its default is the case's. */
static pbd_status share_presets(const pbd_case *c, const pbd_method *m, const pbd_values *method_values) {
    bool known;
    for (const pbd_param *p = c->params; p && p->name; p++)
        if (!pbd_param_is_asked(p)) PBD_TRY(assign(method_values, &(pbd_setting){p->name, p->preset}, m->name, &known));
    return pbd_ok();
}

/* The only law that the method supports takes the place of the case's default. */
static pbd_status share_law(const pbd_case *c, const pbd_method *m, const pbd_values *case_values) {
    bool known = false;
    const char *law = pbd_method_law(m);
    for (const pbd_param *p = c->params; law && p && p->name; p++)
        for (size_t k = 0; strcmp(p->name, "material") == 0 && p->choices && p->choices[k]; k++)
            known = known || strcmp(p->choices[k], law) == 0;
    return known ? assign(case_values, &(pbd_setting){"material", law}, c->name, &known) : pbd_ok();
}

static pbd_status choose_one(const pbd_method *m, const pbd_scene *scene, const pbd_values *values,
                             const pbd_param *param) {
    const double x = m->choose(scene, values, param->name);
    char text[48];
    bool known;
    if (!isfinite(x))
        return pbd_error(PBD_BAD_INPUT, "method %s chooses no %s for this scene: set %s", m->name, param->name,
                         param->name);
    snprintf(text, sizeof text, "%.17g", x);
    return assign(values, &(pbd_setting){param->name, param->kind == PBD_CHOICE ? param->choices[(int)x] : text},
                  m->name, &known);
}

static pbd_status choose_in(const pbd_method *m, const pbd_scene *scene, const pbd_values *values) {
    for (size_t k = 0; k < values->count; k++)
        if (is_chosen_later(&values->item[k])) PBD_TRY(choose_one(m, scene, values, values->item[k].param));
    return pbd_ok();
}

/* The scene for which the method chooses. NULL: the case's, which is built for this, and again by the run. */
typedef struct choice {
    const pbd_scene *scene;
    pbd_built_scene *built;
} choice;

/* Replaces `auto` by what the method chooses. A scene that cannot be built is refused by the run. */
static pbd_status choose(const pbd_case *c, const pbd_values *case_values, const pbd_method *m,
                         const pbd_values *method_values, choice where) {
    size_t k = 0;
    while (k < method_values->count && !is_chosen_later(&method_values->item[k])) k++;
    if (k == method_values->count) return pbd_ok();
    if (where.scene) return choose_in(m, where.scene, method_values);
    pbd_setup *setup;
    const pbd_status status = pbd_built_scene_get(where.built, c, case_values, &setup);
    return status.code == PBD_FAILED ? status : choose_in(m, &setup->scene, method_values);
}

static pbd_status unknown_key(const char *key, const pbd_case *c, const pbd_method *m) {
    const char *today = pbd_name_today(c->name, m->name, key);
    if (today) return pbd_error(PBD_BAD_INPUT, "the parameter '%.60s' is called '%s' now: %s=VALUE", key, today, today);
    pbd_arena a PBD_ARENA;
    size_t nc = params_of(c->params), nm = params_of(m->params);
    const char **names = pbd_new(&a, const char *, nc + nm);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < nc; i++) names[i] = c->params[i].name;
    for (size_t i = 0; i < nm; i++) names[nc + i] = m->params[i].name;
    const bool searched = strlen(key) >= 4 && !pbd_nearest(key, names, nc + nm);
    for (size_t i = 0; i < nc + nm && searched; i++) {
        const pbd_param *p = i < nc ? &c->params[i] : &m->params[i - nc];
        if (p->doc && strcasestr(p->doc, key))
            return pbd_error(PBD_BAD_INPUT, "unknown parameter '%.60s'; is '%s' meant: %.100s?", key, p->name, p->doc);
    }
    char kind[200], hint[200];
    snprintf(kind, sizeof kind, "parameter of case %s and method %s", c->name, m->name);
    snprintf(hint, sizeof hint, "pbdbench run %s -m %s --help", c->name, m->name);
    return pbd_unknown(kind, key, names, nc + nm, hint);
}

static const pbd_value *number_named(const pbd_values *values, const char *name) {
    for (size_t i = 0; i < values->count; i++)
        if (values->item[i].param->kind == PBD_REAL && strcmp(values->item[i].param->name, name) == 0)
            return &values->item[i];
    return NULL;
}

/* A number of the method may be given as the name of a number of the case, as in dt=step. NULL: it is not. */
static const pbd_value *followed(const pbd_values *case_values, const pbd_values *method_values,
                                 const pbd_setting *setting) {
    const pbd_value *own = number_named(method_values, setting->key), *of = number_named(case_values, setting->value);
    return own && of && strcmp(own->param->unit, of->param->unit) == 0 ? of : NULL;
}

/* Such settings are applied after the others, unless a later setting has the same key. */
static pbd_status follow(const pbd_setting *settings, size_t count, const char *where, const pbd_values *case_values,
                         const pbd_values *method_values) {
    for (size_t i = 0; i < count; i++) {
        const pbd_value *of = followed(case_values, method_values, &settings[i]);
        bool known;
        for (size_t k = i + 1; k < count && of; k++)
            if (strcmp(settings[k].key, settings[i].key) == 0) of = NULL;
        if (!of) continue;
        PBD_TRY(assign(method_values, &(pbd_setting){settings[i].key, of->text}, where, &known));
    }
    return pbd_ok();
}

static pbd_status resolve(const pbd_case *c, const pbd_method *m, choice where, const pbd_setting *settings,
                          size_t count, pbd_values *case_values, pbd_values *method_values) {
    PBD_TRY(preset_values(c->params, c->name, case_values));
    PBD_TRY(preset_values(m->params, m->name, method_values));
    PBD_TRY(share_presets(c, m, method_values));
    PBD_TRY(share_law(c, m, case_values));
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        if (followed(case_values, method_values, &settings[i])) continue;
        PBD_TRY(assign(case_values, &settings[i], c->name, &known));
        PBD_TRY(assign(method_values, &settings[i], m->name, &known));
        if (!known) return unknown_key(settings[i].key, c, m);
    }
    PBD_TRY(follow(settings, count, m->name, case_values, method_values));
    PBD_TRY(check_given(case_values, c->name));
    PBD_TRY(check_given(method_values, m->name));
    return choose(c, case_values, m, method_values, where);
}

pbd_status pbd_resolve(const pbd_case *c, const pbd_method *m, const pbd_setting *settings, size_t count,
                       pbd_values *case_values, pbd_values *method_values) {
    pbd_built_scene built PBD_CLEANUP(pbd_built_scene_free) = {0};
    return pbd_resolve_built(&built, c, m, settings, count, case_values, method_values);
}

static pbd_status resolve_all(const pbd_case *c, const pbd_method *m, choice where, const pbd_setting *settings,
                              size_t count, pbd_values *case_values, pbd_values *method_values) {
    *case_values = *method_values = (pbd_values){0};
    const pbd_status status = resolve(c, m, where, settings, count, case_values, method_values);
    if (status.code != PBD_OK) {
        pbd_values_free(case_values);
        pbd_values_free(method_values);
    }
    return status;
}

pbd_status pbd_resolve_built(pbd_built_scene *built, const pbd_case *c, const pbd_method *m,
                             const pbd_setting *settings, size_t count, pbd_values *case_values,
                             pbd_values *method_values) {
    return resolve_all(c, m, (choice){NULL, built}, settings, count, case_values, method_values);
}

pbd_status pbd_resolve_in(const pbd_scene *scene, const pbd_case *c, const pbd_method *m, const pbd_setting *settings,
                          size_t count, pbd_values *case_values, pbd_values *method_values) {
    return resolve_all(c, m, (choice){scene, NULL}, settings, count, case_values, method_values);
}
