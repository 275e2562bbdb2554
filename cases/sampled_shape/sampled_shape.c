/* A built-in body, filled with particles. */
#include <math.h>

#include "cases/scenes/named_body.h"
#include "cases/scenes/sampled.h"
#include "harness/exec/arena.h"

static const pbd_param params[] = {
    {"shape", "", PBD_CHOICE, "torus", 0, 0, 0, body_shape_names, "which body; bunny, cow, armadillo are stand-ins"},
    PBD_BODY_PARAM("shape=bunny, cow or armadillo"),
    {"size", "m", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "the largest edge of the box around it"},
    PBD_SAMPLED_PARAMS,
    {0}};

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    named_body body PBD_CLEANUP(named_body_free) = {0};
    PBD_TRY(named_body_make(values, (body_shape)pbd_choice(values, "shape"), pbd_real(values, "size"), setup, &body));
    PBD_TRY(sampled_build(values, &body.solid, setup));
    const placement here = placement_at(0, 0, 0);
    return named_body_skin(&body, &here, &setup->scene);
}

const pbd_case pbd_case_sampled_shape = {
    .name = "sampled_shape",
    .summary = "a sphere, torus, bunny... filled with particles: it hangs, or falls to a floor",
    .source = "",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    PARTICLE_DETAIL(sampled_detail),
    .build = build,
    .measure = sampled_measure,
    .observe = sampled_observe,
};
