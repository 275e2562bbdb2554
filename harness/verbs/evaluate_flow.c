/* eval flow: the flow rules on rows of a trial F. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/catalog/values.h"
#include "harness/verbs/evaluate.h"

#define REAL double
#include "harness/files/texts.h"
#include "methods/physics/matter/flow_material.h"

/* Those of flow_parameters.h that the rule knows, after these. */
enum { KEY_E, KEY_NU, KEY_OWN, KEYS = KEY_OWN + 2 + PBD_FLOW_PARAMETERS };
static const pbd_param modulus = {
    "E", "Pa", PBD_REAL, "1", 0, INFINITY, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Young's modulus"};
static const pbd_param ratio = {
    "nu", "", PBD_REAL, "0.3", -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Poisson's ratio"};
static const pbd_param step = {"dt", "s", PBD_REAL, "", 0, INFINITY, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "time step"};
static const pbd_param gain = {"state", "", PBD_REAL, "0", 0, 1000, 0, NULL, "log of the volume gained so far"};
static const pbd_param snow = {
    "state", "", PBD_REAL, "1", 0, INFINITY, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "plastic volume change so far"};

typedef struct flow_evaluation {
    flow_rule rule;
    double state; /* before */
    bool stateful;
} flow_evaluation;

static pbd_status find_rule(const char *name, pbd_flow *out) {
    if (!name)
        return pbd_error(PBD_BAD_INPUT,
                         "eval flow needs a rule: --rule von_mises, drucker_prager, nacc, herschel_bulkley or snow");
    int rule = PBD_FLOW_VON_MISES;
    while (strcmp(flow_choices[rule], name) != 0) rule++; /* the table of options has checked it */
    *out = (pbd_flow)rule;
    return pbd_ok();
}

/* A parameter of other rules deserves more than «unknown». */
static pbd_status refuse_foreign(pbd_flow rule, const pbd_texts *sets) {
    for (size_t i = 0; i < sets->count; i++)
        for (int k = 0; k < PBD_FLOW_PARAMETERS; k++) {
            const char *name = flow_parameters[k].param.name;
            const size_t length = strlen(name);
            if (flow_knows(rule, k) || strncmp(sets->item[i], name, length) != 0 || sets->item[i][length] != '=')
                continue;
            int owner = PBD_FLOW_VON_MISES;
            while (!flow_knows((pbd_flow)owner, k)) owner++;
            return pbd_error(PBD_BAD_INPUT, "%s is a parameter of %s, not of %s; remove it", name, flow_choices[owner],
                             flow_choices[rule]);
        }
    return pbd_ok();
}

static pbd_status make_rule(pbd_flow rule, const pbd_texts *sets, flow_evaluation *out) {
    pbd_param params[KEYS + 1] = {{0}};
    int parameter[KEYS] = {0}; /* of flow_parameters.h */
    double value[KEYS], dt = 0;
    bool given[KEYS];
    char where[40];
    size_t count = 0;
    snprintf(where, sizeof where, "eval flow --rule %s", flow_choices[rule]);
    params[count++] = modulus;
    params[count++] = ratio;
    if (rule == PBD_FLOW_HERSCHEL_BULKLEY) params[count++] = step;
    if (rule == PBD_FLOW_DRUCKER_PRAGER) params[count++] = gain;
    if (rule == PBD_FLOW_SNOW) params[count++] = snow;
    const size_t first = count;
    for (int k = 0; k < PBD_FLOW_PARAMETERS; k++)
        if (flow_knows(rule, k)) {
            parameter[count] = k;
            params[count] = flow_parameters[k].param;
            params[count++].preset = flow_preset(rule, k);
        }

    PBD_TRY(refuse_foreign(rule, sets));
    PBD_TRY(pbd_eval_settings(params, sets, where, value, given));
    for (size_t k = 0; k < count; k++)
        if (!*params[k].preset && !given[k])
            return pbd_error(PBD_BAD_INPUT, "%s needs %s: -s %s=..., %s%s%s", where, params[k].name, params[k].name,
                             params[k].doc, *params[k].unit ? ", " : "", params[k].unit);
    pbd_material material = {.E = value[KEY_E], .nu = value[KEY_NU], .flow = rule};
    for (size_t k = first; k < count; k++) material.flow_value[parameter[k]] = value[k];
    if (rule == PBD_FLOW_HERSCHEL_BULKLEY) dt = value[KEY_OWN];
    out->rule = flow_rule_of(&material, dt);
    out->stateful = rule == PBD_FLOW_DRUCKER_PRAGER || rule == PBD_FLOW_SNOW || rule == PBD_FLOW_NACC;
    out->state = rule == PBD_FLOW_NACC ? flow_first_state(&material) : value[KEY_OWN];
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
    pbd_flow rule = PBD_FLOW_VON_MISES;
    flow_evaluation e;
    PBD_TRY(find_rule(o->rule, &rule));
    PBD_TRY(make_rule(rule, &o->sets, &e));
    return pbd_eval_rows(9, print_flow, &e);
}
