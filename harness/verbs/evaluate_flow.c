/* eval flow: applies a flow rule to rows of a trial F. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/catalog/values.h"
#include "harness/files/texts.h"
#include "harness/verbs/cli.h"
#include "harness/verbs/evaluate.h"

#define REAL double
#include "methods/physics/matter/flow_material.h"

/* The rule's own parameters begin at KEY_OWN. */
enum { KEY_E, KEY_NU, KEY_OWN, KEYS = KEY_OWN + PBD_MOST_FLOW_VALUES };
static const pbd_param modulus = {
    "E", "Pa", PBD_REAL, "1", 0, INFINITY, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Young's modulus"};
static const pbd_param ratio = {
    "nu", "", PBD_REAL, "0.3", -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Poisson's ratio"};

const char pbd_eval_rule_words[] =
#define FLOW(name, hardening, form) "|" #name
#include "methods/physics/matter/flow.def"
#undef FLOW
    ;

typedef struct flow_evaluation {
    flow_rule rule;
    double state; /* hardening state before the flow */
    bool stateful;
} flow_evaluation;

/* Lists E, nu and the rule's own parameters, with their defaults in `eval`. */
static void list_params(const flow_entry *rule, pbd_param params[KEYS + 1]) {
    size_t count = 0;
    params[count++] = modulus;
    params[count++] = ratio;
    for (const flow_parameter *p = rule->parameter; p->param.name; p++) {
        params[count] = p->param;
        if (p->role == FLOW_ASKED || p->role == FLOW_STEP) params[count].preset = "";
        count++;
    }
    params[count] = (pbd_param){0};
}

/* Reports a parameter of another rule by that rule's name, rather than as unknown. */
static pbd_status refuse_foreign(const flow_entry *rule, const pbd_texts *sets) {
    for (size_t i = 0; i < sets->count; i++)
        for (const flow_entry *other = flow_table; other->name; other++)
            for (const flow_parameter *p = other->parameter; p->param.name; p++) {
                const char *name = p->param.name;
                const size_t length = strlen(name);
                if (strncmp(sets->item[i], name, length) != 0 || sets->item[i][length] != '=' ||
                    flow_place(rule->name, name) >= 0)
                    continue;
                return pbd_error(PBD_BAD_INPUT, "%s is a parameter of %s, not of %s; remove it", name, other->name,
                                 rule->name);
            }
    return pbd_ok();
}

static pbd_status make_rule(const flow_entry *rule, const pbd_texts *sets, flow_evaluation *out) {
    pbd_param params[KEYS + 1];
    double value[KEYS], dt = 0;
    bool given[KEYS];
    char where[40];
    snprintf(where, sizeof where, "eval flow --rule %s", rule->name);
    list_params(rule, params);
    PBD_TRY(refuse_foreign(rule, sets));
    PBD_TRY(pbd_eval_settings(params, sets, where, value, given));
    for (size_t k = 0; params[k].name; k++)
        if (!*params[k].preset && !given[k])
            return pbd_error(PBD_BAD_INPUT, "%s needs %s: -s %s=..., %s%s%s", where, params[k].name, params[k].name,
                             params[k].doc, *params[k].unit ? ", " : "", params[k].unit);
    pbd_material material = {.E = value[KEY_E], .nu = value[KEY_NU], .flow = rule->name};
    for (size_t k = 0; rule->parameter[k].param.name; k++) {
        material.flow_value[k] = value[KEY_OWN + k];
        if (rule->parameter[k].role == FLOW_STEP) dt = value[KEY_OWN + k];
    }
    out->rule = flow_rule_of(&material, dt);
    out->stateful = flow_has_state(out->rule.kind);
    out->state = flow_first_state(&material);
    return pbd_ok();
}

static void print_flow(const void *evaluation, const double *f) {
    const flow_evaluation *e = evaluation;
    const flowed_matrix to = flow_matrix(
        &e->rule, mat3_make(vec3_make(f[0], f[3], f[6]), vec3_make(f[1], f[4], f[7]), vec3_make(f[2], f[5], f[8])),
        e->state);
    const double row[10] = {to.f.x.x, to.f.y.x, to.f.z.x, to.f.x.y, to.f.y.y,
                            to.f.z.y, to.f.x.z, to.f.y.z, to.f.z.z, to.state};
    pbd_eval_print_row(row, e->stateful ? 10 : 9);
}

pbd_status pbd_eval_flow(const pbd_eval_options *o) {
    flow_evaluation e;
    const int rule = flow_number(o->rule); /* the table of options has checked it */
    if (rule < 0) return pbd_error(PBD_BAD_INPUT, "eval flow needs a rule: --rule %s", PBD_EVAL_RULES);
    PBD_TRY(make_rule(&flow_table[rule], &o->sets, &e));
    return pbd_eval_rows(9, print_flow, &e);
}

void pbd_eval_flow_help(void) {
    for (const flow_entry *rule = flow_table; rule->name; rule++) {
        pbd_param params[KEYS + 1];
        char title[140];
        snprintf(title, sizeof title, "Parameters of flow --rule %s, beside E and nu%s", rule->name,
                 flow_has_state((int)(rule - flow_table)) ? "; its answers end with a hardening state" : "");
        list_params(rule, params);
        pbd_print_params(title, params + KEY_OWN);
    }
}
