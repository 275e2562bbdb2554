/* A block stretched or compressed homogeneously along x: the exact answer is one deformation gradient, so that every
 * error is the method's own.
 *
 * confined: every particle of the surface is held where diag(stretch, 1, 1) puts it. free: the two end faces are held
 * where diag(stretch, lateral, lateral) puts them, with the lateral stretch that leaves the sides without load, so that
 * the whole block deforms evenly as well: a patch test under large strain. Inner particles begin at rest, stretched
 * along x only. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#define REAL double
#include "cases/scenes/beam.h"
#include "methods/physics/matter/law_material.h"
#include "methods/physics/matter/uniaxial.h"

static const char *const sides_names[] = {"confined", "free", NULL};
static const char *const modes[] = {"static", "dynamic", NULL};

static const pbd_param params[] = {
    PBD_BEAM_PARAMS("1000", "100"),
    {"stretch", "", PBD_REAL, "1.2", -10, 10, 0, NULL, "along x; below 0: inverted"},
    {"sides", "", PBD_CHOICE, "confined", 0, 0, 0, sides_names, "the faces across"},
    {"mode", "", PBD_CHOICE, "static", 0, 0, 0, modes,
     "static: the method solves for rest; dynamic: it moves for `duration`"},
    {"duration", "s", PBD_REAL, "2", 0, 1e4, PBD_OPEN_MIN, NULL, "mode=dynamic: simulated time"},
    {0}};

typedef struct uniaxial_detail {
    beam_size size;
    double stretch;
    bool known;              /* the plain law has a solution here */
    double lateral, nominal; /* of the plain law */
} uniaxial_detail;

static void find_answer(const pbd_material *m, bool free_sides, uniaxial_detail *out) {
    const hyperelastic law = law_plain(m);
    out->lateral = 1;
    if (free_sides) {
        const uniaxial u = uniaxial_solve(law, out->stretch);
        out->known = u.found;
        if (u.found) out->lateral = u.lateral;
        out->nominal = u.nominal;
    } else {
        out->nominal = uniaxial_stress(law, out->stretch, 1).p.x.x;
        out->known = isfinite(out->nominal);
    }
}

static bool is_held(const beam_size *size, bool free_sides, int i, int j, int k) {
    if (i == 0 || i == size->along) return true;
    return !free_sides && (j == 0 || j == size->across || k == 0 || k == size->across);
}

static pbd_status place(pbd_scene *scene, const uniaxial_detail *d, bool free_sides) {
    PBD_TRY_NEW(scene->particles.start, 3 * scene->particles.count);
    PBD_TRY_NEW(scene->particles.fixed_particle, scene->particles.count);
    for (int i = 0; i <= d->size.along; i++)
        for (int j = 0; j <= d->size.across; j++)
            for (int k = 0; k <= d->size.across; k++) {
                const uint32_t p = beam_particle(&d->size, i, j, k);
                const bool held = is_held(&d->size, free_sides, i, j, k);
                const double *x = scene->particles.positions + 3 * p, across = held ? d->lateral : 1;
                double *y = scene->particles.start + 3 * p;
                y[0] = d->stretch * x[0];
                y[1] = across * x[1];
                y[2] = across * x[2];
                if (held) scene->particles.fixed_particle[scene->particles.fixed++] = p;
            }
    return pbd_ok();
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    beam_size size;
    PBD_TRY(beam_build(values, scene, &size));
    uniaxial_detail *d = setup->detail;
    const bool free_sides = pbd_choice(values, "sides") == 1;
    d->size = size;
    d->stretch = pbd_real(values, "stretch");
    find_answer(scene->material, free_sides, d);
    PBD_TRY(place(scene, d, free_sides));
    if (pbd_choice(values, "mode") == 1) scene->duration = pbd_real(values, "duration");
    return pbd_ok();
}

/* The largest distance from where the even deformation puts a particle, in widths. */
static double unevenness(const pbd_scene *scene, const uniaxial_detail *d, const double *x) {
    double most = 0;
    for (size_t p = 0; p < scene->particles.count; p++) {
        const double *rest = scene->particles.positions + 3 * p, *at = x + 3 * p;
        const double dx = at[0] - d->stretch * rest[0], dy = at[1] - d->lateral * rest[1],
                     dz = at[2] - d->lateral * rest[2];
        most = fmax(most, sqrt(dx * dx + dy * dy + dz * dz));
    }
    return most / d->size.width;
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const uniaxial_detail *d = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double stress[9];
    PBD_TRY(body_positions(scene, method, state, &x));
    const uint32_t a = beam_particle(&d->size, d->size.along / 2, 0, 0),
                   b = beam_particle(&d->size, d->size.along / 2, d->size.across, 0);
    pbd_metric(recorder, "lateral_stretch", "1", PBD_STATE, (x[3 * b + 1] - x[3 * a + 1]) / d->size.width);
    if (d->known) pbd_metric(recorder, "unevenness", "1", PBD_ERROR, unevenness(scene, d, x));
    const pbd_status status = method->read(state, PBD_MEAN_STRESS, stress);
    if (status.code == PBD_NOT_SUPPORTED) return pbd_ok();
    PBD_TRY(status);
    pbd_metric(recorder, "nominal_stress", "Pa", PBD_STATE, stress[0]);
    pbd_metric(recorder, "stress_ratio", "1", PBD_STATE, stress[0] / scene->material->E);
    if (d->known)
        pbd_metric(recorder, "stress_error", "1", PBD_ERROR, fabs(stress[0] - d->nominal) / scene->material->E);
    return pbd_ok();
}

const pbd_case pbd_case_uniaxial = {
    .name = "uniaxial",
    .summary = "a block stretched or compressed evenly, with free or confined sides, against its law",
    .source = "cao2023 Fig. 2; methods/physics/matter/uniaxial.h",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_HEXES | PBD_NEEDS_TETS | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(uniaxial_detail),
    .build = build,
    .measure = measure,
};
