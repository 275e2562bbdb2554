/* eval flow: the flow rules on rows of a trial F. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/evaluate.h"
#include "harness/values.h"

#define REAL double
#include "methods/physics/flow_parameters.h"

/* Those of flow_parameters.h that the rule knows, after these. */
enum { KEY_E, KEY_NU, KEY_OWN, KEYS = KEY_OWN + 2 + FLOW_PARAMETERS };
static const pbd_param modulus = {
    "E", "Pa", PBD_REAL, "1", 0, INFINITY, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Young's modulus"};
static const pbd_param ratio = {
    "nu", "", PBD_REAL, "0.3", -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Poisson's ratio"};
static const pbd_param step = {"dt", "s", PBD_REAL, "", 0, INFINITY, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "time step"};
static const pbd_param gain = {"state", "", PBD_REAL, "0", 0, 1000, 0, NULL, "log of volume gained before"};
static const pbd_param snow = {
    "state", "", PBD_REAL, "1", 0, INFINITY, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "plastic volume change before"};

typedef struct flow_evaluation {
    flow_rule rule;
    double state; /* before */
    bool stateful;
} flow_evaluation;

static pbd_status find_rule(const char *name, flow_kind *out) {
    if (!name)
        return pbd_error(PBD_BAD_INPUT,
                         "eval flow needs a rule: --rule von_mises, drucker_prager, nacc, herschel_bulkley or snow");
    int kind = 0;
    while (strcmp(flow_names[kind], name) != 0) kind++; /* the table of options has checked it */
    *out = (flow_kind)kind;
    return pbd_ok();
}

/* A parameter of other rules deserves more than «unknown». */
static pbd_status refuse_foreign(flow_kind kind, const pbd_texts *sets) {
    for (size_t i = 0; i < sets->count; i++)
        for (int k = 0; k < FLOW_PARAMETERS; k++) {
            const char *name = flow_parameters[k].param.name;
            const size_t length = strlen(name);
            if (flow_knows(kind, k) || strncmp(sets->item[i], name, length) != 0 || sets->item[i][length] != '=')
                continue;
            int owner = 0;
            while (!flow_knows((flow_kind)owner, k)) owner++;
            return pbd_error(PBD_BAD_INPUT, "%s is a parameter of %s, not of %s; leave it out", name, flow_names[owner],
                             flow_names[kind]);
        }
    return pbd_ok();
}

static pbd_status make_rule(flow_kind kind, const pbd_texts *sets, flow_evaluation *out) {
    pbd_param params[KEYS + 1] = {{0}};
    int parameter[KEYS] = {0}; /* of flow_parameters.h */
    double value[KEYS], own[FLOW_PARAMETERS] = {0}, dt = 0;
    bool given[KEYS];
    char where[40];
    size_t count = 0;
    snprintf(where, sizeof where, "eval flow --rule %s", flow_names[kind]);
    params[count++] = modulus;
    params[count++] = ratio;
    if (kind == FLOW_HERSCHEL_BULKLEY) params[count++] = step;
    if (kind == FLOW_DRUCKER_PRAGER) params[count++] = gain;
    if (kind == FLOW_SNOW) params[count++] = snow;
    const size_t first = count;
    for (int k = 0; k < FLOW_PARAMETERS; k++)
        if (flow_knows(kind, k)) {
            parameter[count] = k;
            params[count] = flow_parameters[k].param;
            params[count++].preset = flow_preset(kind, k);
        }

    PBD_TRY(refuse_foreign(kind, sets));
    PBD_TRY(pbd_eval_settings(params, sets, where, value, given));
    for (size_t k = 0; k < count; k++)
        if (!*params[k].preset && !given[k])
            return pbd_error(PBD_BAD_INPUT, "%s needs %s: -s %s=..., %s%s%s", where, params[k].name, params[k].name,
                             params[k].doc, *params[k].unit ? ", " : "", params[k].unit);
    for (size_t k = first; k < count; k++) own[parameter[k]] = value[k];
    if (kind == FLOW_HERSCHEL_BULKLEY) dt = value[KEY_OWN];
    out->rule = flow_rule_of(kind, value[KEY_E], value[KEY_NU], dt, own);
    out->stateful = kind == FLOW_DRUCKER_PRAGER || kind == FLOW_SNOW || kind == FLOW_NACC;
    out->state = kind == FLOW_NACC ? own[FLOW_ALPHA0] : value[KEY_OWN];
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
    flow_kind kind = FLOW_VON_MISES;
    flow_evaluation e;
    PBD_TRY(find_rule(o->rule, &kind));
    PBD_TRY(make_rule(kind, &o->sets, &e));
    return pbd_eval_rows(9, print_flow, &e);
}
