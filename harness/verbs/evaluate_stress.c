/* eval stress: evaluates an elastic law for rows of F, or of stretches of a bar. */
#include <math.h>
#include <string.h>

#include "harness/verbs/evaluate.h"

#define REAL double
#include "methods/physics/matter/law_table.h"
#include "methods/physics/matter/uniaxial.h"

const char pbd_eval_law_words[] =
#define LAW(name, form, domain) "|" #name
#include "methods/physics/matter/laws.def"
#undef LAW
    ;

enum { KEY_E, KEY_NU, KEY_JOIN, KEY_THRESHOLD, KEYS };
static const pbd_param params[KEYS + 1] = {
    [KEY_E] = {"E", "Pa", PBD_REAL, "1", 0, INFINITY, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Young's modulus"},
    [KEY_NU] = {"nu", "", PBD_REAL, "0.3", -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Poisson's ratio"},
    [KEY_JOIN] = {"join", "", PBD_CHOICE, "none", 0, 0, 0, join_names,
                  "continuation of the law under compression and inversion"},
    [KEY_THRESHOLD] = {"threshold", "", PBD_REAL, "0.57735026918962576", 0, 1, PBD_OPEN_MAX, NULL,
                       "singular value below which the join acts"},
};

static pbd_status make_material(const pbd_eval_options *o, hyperelastic *out) {
    double value[KEYS];
    bool given[KEYS];
    int law;
    if (!o->material) return pbd_error(PBD_BAD_INPUT, "eval stress needs a law: --material %s", PBD_EVAL_LAWS);
    PBD_TRY(law_find(o->material, &law));
    PBD_TRY(pbd_eval_settings(params, &o->sets, "eval stress", value, given));

    const pbd_join join = (pbd_join)(int)value[KEY_JOIN];
    if (join != PBD_JOIN_NONE && join != PBD_JOIN_CLAMP && law_domain_of(law) == LAW_WHOLE)
        return pbd_error(PBD_BAD_INPUT, "%s is defined for every F and needs no join; remove join=%s", law_names[law],
                         join_names[join]);
    if (join == PBD_JOIN_NONE && given[KEY_THRESHOLD])
        return pbd_error(PBD_BAD_INPUT, "threshold requires a join: -s join=printed, continuous, shifted or clamp");
    const double threshold = given[KEY_THRESHOLD] ? value[KEY_THRESHOLD] : hyperelastic_threshold(law, join);
    if (threshold <= 0 && join != PBD_JOIN_NONE && join != PBD_JOIN_PRINTED && law_domain_of(law) == LAW_UPRIGHT)
        return pbd_error(PBD_BAD_INPUT,
                         "%s has no stress at a singular value of 0: join=%s needs a threshold in (0, 1)",
                         law_names[law], join_names[join]);
    *out = hyperelastic_make(law, join, value[KEY_E], value[KEY_NU], threshold);
    if (!isfinite(out->lambda) || !isfinite(out->mu))
        return pbd_error(
            PBD_BAD_INPUT,
            "E=%g Pa with nu=%g gives Lame's moduli beyond the largest double: use a larger unit of stress",
            value[KEY_E], value[KEY_NU]);
    return pbd_ok();
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void print_stress(const void *material, const double *f) {
    const hyperelastic m = *(const hyperelastic *)material;
    const stressed s =
        stress(m, mat3_make(vec3_make(f[0], f[3], f[6]), vec3_make(f[1], f[4], f[7]), vec3_make(f[2], f[5], f[8])));
    const double row[10] = {s.p.x.x, s.p.y.x, s.p.z.x, s.p.x.y, s.p.y.y, s.p.z.y, s.p.x.z, s.p.y.z, s.p.z.z, s.psi};
    pbd_eval_print_row(row, 10);
}

static void print_uniaxial(const void *material, const double *stretch) {
    const uniaxial u = uniaxial_solve(*(const hyperelastic *)material, *stretch);
    const double row[3] = {*stretch, u.lateral, u.nominal};
    pbd_eval_print_row(row, 3);
}

pbd_status pbd_eval_stress(const pbd_eval_options *o) {
    hyperelastic m;
    PBD_TRY(make_material(o, &m));
    return pbd_eval_rows(o->uniaxial ? 1 : 9, o->uniaxial ? print_uniaxial : print_stress, &m);
}
