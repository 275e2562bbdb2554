/* A block of sand with a notch in its underside falls to the floor and breaks, or holds together as if it were elastic:
 * the paper's comparison with flow that is evaluated only once per step. */
#include <math.h>

#include "cases/scenes/granular_drop.h"

static const pbd_param params[] = {
    {"size", "m", PBD_REAL, "0.2", 0, 1e6, PBD_OPEN_MIN, NULL, "length of the block; half as deep and half as high"},
    {"notch", "", PBD_REAL, "0.3", 0, 0.9, 0, NULL, "width of the notch, over the length"},
    {"notch_height", "", PBD_REAL, "0.5", 0, 0.95, 0, NULL, "of the notch, over that of the block"},
    PBD_SAMPLING_PARAMS("1500"),
    PBD_PARTICLE_MATERIAL_PARAMS("1e5", "0.3", "1600", "hencky"),
    PBD_GRANULAR_FLOOR_PARAMS("0.6"),
    PBD_DROP_PARAMS("0.02", "1", "0.4"),
    {0}};

typedef struct notched {
    double half[3], middle; /* m: half the edges of the block; height of its middle */
    double notch[2];        /* m: half the width, and height, of the notch along y */
} notched;

static double to_box(const double off[3]) {
    double square = 0, most = -INFINITY;
    for (int d = 0; d < 3; d++) {
        square += fmax(off[d], 0) * fmax(off[d], 0);
        most = fmax(most, off[d]);
    }
    return sqrt(square) + fmin(most, 0);
}

/* In the block and not in the notch, which is open at its foot. */
static double distance(const solid *body, const double x[3]) {
    const notched *b = body->of;
    const double block[3] = {fabs(x[0]) - b->half[0], fabs(x[1]) - b->half[1], fabs(x[2] - b->middle) - b->half[2]};
    const double notch[3] = {fabs(x[0]) - b->notch[0], x[2] - b->notch[1], -INFINITY};
    return fmax(to_box(block), -to_box(notch));
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    const double size = pbd_real(values, "size"), width = pbd_real(values, "notch") * size;
    const double height = 0.5 * size, cut = pbd_real(values, "notch_height") * height;
    const notched b = {{0.5 * size, 0.25 * size, 0.5 * height}, 0.5 * height, {0.5 * width, cut}};
    const solid body = {.low = {-b.half[0], -b.half[1], 0},
                        .high = {b.half[0], b.half[1], height},
                        .volume = 0.5 * size * (size * height - width * cut),
                        .distance = distance,
                        .of = &b};
    return granular_drop_build(values, &body, size, false, setup);
}

const pbd_case pbd_case_notched_block = {
    .name = "notched_block",
    .summary = "a notched block of sand falls to the floor: resistance to tension",
    .source = "yu2024 Figure 9",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .shared = flow_params,
    .presets = "flow=drucker_prager",
    PARTICLE_DETAIL(granular_drop_detail),
    .build = build,
    .measure = granular_drop_measure,
    .observe = granular_drop_observe,
};
