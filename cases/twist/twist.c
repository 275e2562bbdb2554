/* A bar with one end rotated by n revolutions about its axis and both ends held: large rotations with large shear. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/beam.h"

static const double TURN = 6.283185307179586477;

static const pbd_param params[] = {PBD_BEAM_PARAMS("1e5", "100"),
                                   PBD_BEAM_SAMPLING_PARAMS,
                                   {"revolutions", "", PBD_REAL, "1", -1000, 1000, 0, NULL, "of the end at x = length"},
                                   PBD_MOTION_PARAMS("static", "2"),
                                   {0}};

typedef struct twist_detail {
    beam_size size;
    double angle;        /* rad, of the turned end */
    double saint_venant; /* J, for small angles */
} twist_detail;

static void turn_about_x(double angle, double x[3]) {
    const double c = cos(angle), s = sin(angle), y = x[1], z = x[2];
    x[1] = c * y - s * z;
    x[2] = s * y + c * z;
}

/* Saint-Venant's torsion of a square section of edge a: torque = G J angle / length with J = 0.140577 a^4
 * (Timoshenko and Goodier, section 109); ends that cannot warp make it a little stiffer. */
static double saint_venant_energy(const pbd_material *m, const beam_size *size, double angle) {
    const double a2 = size->width * size->width, shear_modulus = m->E / (2 * (1 + m->nu));
    return shear_modulus * 0.140577 * a2 * a2 * angle * angle / (2 * size->length);
}

/* Angle of the helix at x. Layers beyond its ends rotate with them. */
static double angle_at(const beam_size *size, double angle, double x) {
    const double past = 1e-9 * size->length;
    return x < -past ? 0 : x > size->length + past ? angle : angle * x / size->length;
}

/* The whole bar starts as a helix: a start from which a solver can continue, with the held ends in their final place.
 * Positions determine the rotation of a layer only up to whole revolutions; elements cannot follow far below that. */
static pbd_status turn_start(const beam_size *size, double angle, pbd_scene *scene) {
    PBD_TRY(body_start_at_rest(scene));
    for (size_t i = 0; i < scene->particles.count; i++)
        turn_about_x(angle_at(size, angle, scene->particles.positions[3 * i]), scene->particles.start + 3 * i);
    const double step = 360 * angle / TURN / size->along;
    if (fabs(step) < 90 && body_strain_at(scene, scene->particles.start).inverted == 0) return pbd_ok();
    return pbd_error(
        PBD_BAD_INPUT,
        "revolutions=%g turns each of the %d layers of cubes by %.3g degrees, which inverts elements before "
        "anything moves: more cells, or fewer revolutions",
        angle / TURN, size->along, step);
}

static pbd_status fill(const pbd_values *values, const beam_size *size, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    twist_detail *detail = setup->detail;
    detail->size = *size;
    detail->angle = TURN * pbd_real(values, "revolutions");
    detail->saint_venant = saint_venant_energy(scene->material, size, detail->angle);
    body_set_motion(values, scene);
    PBD_TRY(turn_start(size, detail->angle, scene));
    return beam_hold_ends(scene, size);
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    beam_size size;
    PBD_TRY(beam_build_sampled(values, true, scene, &size));
    return fill(values, &size, setup);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* The position of every particle relative to its layer, rotated back by the layer's share of the angle: along x from
 * the layer's mean, and across from the axis of the bar. */
static void unwind(const twist_detail *detail, const double *x, size_t layer, double *out) {
    double mean[3];
    for (int i = 0; i <= detail->size.along; i++) {
        beam_layer_mean(&detail->size, x, i, mean);
        for (size_t p = beam_particle(&detail->size, i, 0, 0), end = p + layer; p < end; p++) {
            out[3 * p] = x[3 * p] - mean[0];
            out[3 * p + 1] = x[3 * p + 1];
            out[3 * p + 2] = x[3 * p + 2];
            turn_about_x(-detail->angle * i / detail->size.along, out + 3 * p);
        }
    }
}

/* In a helix every layer is the previous one, rotated and shifted. Over the middle half of the bar, away from the ends
 * that cannot warp: the root mean square distance of the unwound particles from their mean over the layers, over the
 * width. */
static double helix_deviation(const twist_detail *detail, const double *all, size_t layer) {
    const size_t first = (size_t)detail->size.along / 4, last = (size_t)detail->size.along - first;
    const double *unwound = all + 3 * (size_t)beam_particle(&detail->size, 0, 0, 0);
    const double layers = (double)(last - first + 1);
    double off = 0;
    for (size_t c = 0; c < 3 * layer; c++) { /* coordinates of a layer */
        double mean = 0;
        for (size_t i = first; i <= last; i++) mean += unwound[3 * layer * i + c] / layers;
        for (size_t i = first; i <= last; i++) off += pow(unwound[3 * layer * i + c] - mean, 2);
    }
    return sqrt(off / (double)layer / layers) / detail->size.width;
}

static pbd_status record_helix(const pbd_setup *setup, const double *x, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const twist_detail *detail = setup->detail;
    const size_t layer = beam_layer(&detail->size);
    pbd_arena arena PBD_ARENA;
    double *unwound = pbd_new(&arena, double, 3 * scene->particles.count);
    PBD_TRY(pbd_arena_check(&arena));
    unwind(detail, x, layer, unwound);
    pbd_metric(recorder, "helix_deviation", "1", PBD_ERROR, helix_deviation(detail, unwound, layer));
    return pbd_ok();
}

/* The largest distance of a layer's middle from the axis, over the width: a bar that buckles leaves it. */
static double axis_deviation(const twist_detail *detail, const double *x) {
    double largest = 0, mean[3];
    for (int i = 0; i <= detail->size.along; i++) {
        beam_layer_mean(&detail->size, x, i, mean);
        const double off = hypot(mean[1], mean[2]) / detail->size.width;
        if (!(off <= largest)) largest = off;
    }
    return largest;
}

/* Likewise for scattered particles: by the mean displacement, rotated back, of those within half a spacing of a layer's
 * place. */
static double scattered_axis_deviation(const pbd_scene *scene, const twist_detail *detail, const double *x) {
    const beam_size *size = &detail->size;
    double largest = 0;
    for (int i = 0; i <= size->along; i++) {
        const double middle = size->length * i / size->along;
        double mean[2] = {0}, count = 0;
        for (size_t p = 0; p < scene->particles.count; p++) {
            const double *rest = scene->particles.positions + 3 * p;
            double at[3] = {x[3 * p], x[3 * p + 1], x[3 * p + 2]};
            if (fabs(rest[0] - middle) > 0.5 * scene->particles.spacing) continue;
            turn_about_x(-angle_at(size, detail->angle, rest[0]), at);
            for (int d = 0; d < 2; d++) mean[d] += at[d + 1] - rest[d + 1];
            count++;
        }
        const double off = count > 0 ? hypot(mean[0], mean[1]) / count / size->width : 0;
        if (!(off <= largest)) largest = off;
    }
    return largest;
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const twist_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    const bool scattered = detail->size.scattered;
    body_record_strain(scene, x, recorder);
    if (!scattered) PBD_TRY(record_helix(setup, x, recorder));
    pbd_metric(recorder, "axis_deviation", "1", PBD_STATE,
               scattered ? scattered_axis_deviation(scene, detail, x) : axis_deviation(detail, x));
    const double energy = body_strain_at(scene, x).energy;
    if (scene->tets.count > 0 && detail->saint_venant > 0 && isfinite(energy))
        pbd_metric(recorder, "saint_venant_ratio", "1", PBD_STATE, energy / detail->saint_venant);
    return pbd_ok();
}

const pbd_case pbd_case_twist = {
    .name = "twist",
    .summary = "a bar one end of which is turned by n revolutions, both ends held, against Saint-Venant and symmetry",
    .source = "Timoshenko and Goodier 1951, section 109",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_HEXES | PBD_NEEDS_TETS | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(twist_detail),
    .build = build,
    .measure = measure,
};
