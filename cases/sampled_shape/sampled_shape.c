/* A body made here, filled with particles. */
#include <math.h>

#include "cases/scenes/sampled.h"

static const pbd_param params[] = {
    {"shape", "", PBD_CHOICE, "torus", 0, 0, 0, body_shape_names, "which body; bunny, cow, armadillo are stand-ins"},
    {"size", "m", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "the largest edge of the box around it"},
    PBD_SAMPLED_PARAMS,
    {0}};

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    shapes s;
    const double stay[3] = {0, 0, 0};
    body_shape_make((body_shape)pbd_choice(values, "shape"), &s);
    shapes_place(&s, pbd_real(values, "size"), stay);
    const solid body = shapes_solid(&s);
    return sampled_build(values, &body, setup);
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
