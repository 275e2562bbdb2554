/* Rest is detected from the path of the watched particles' mean, sampled about sixteen times per window, so that a
 * swinging body is recognised even if a window is a whole number of its periods. Motion below the precision of
 * positions is ignored. */
#include "harness/run/settle.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

enum { LOOKS = 16, MOST_LOOKS = 2 * LOOKS + 1 };
static const double RUNAWAY = 1e4; /* in sizes of the body */

typedef struct watch {
    const pbd_settle *settle;
    const pbd_scene *scene;
    const pbd_method *method;
    const void *state;
    double *x;                  /* particles x 3, m */
    double path[MOST_LOOKS][3]; /* m: the mean's last displacements, a ring buffer */
    long looks, wanted;         /* samples so far, and to fill a window */
    double motion, distance;    /* m: motion over the last window; from the place at rest */
} watch;

/* Reads the positions; PBD_DIVERGED when one is not finite or too far away. */
static pbd_status read_body(watch *w, long step) {
    const pbd_scene *s = w->scene;
    PBD_TRY(w->method->read(w->state, PBD_POSITIONS, w->x));
    for (size_t i = 0; i < 3 * s->particles.count; i++)
        if (!(fabs(w->x[i] - s->particles.positions[i]) <= RUNAWAY * s->extent))
            return pbd_error(PBD_DIVERGED, "after %ld steps particle %zu is at %g %g %g m", step, i / 3,
                             w->x[i / 3 * 3], w->x[i / 3 * 3 + 1], w->x[i / 3 * 3 + 2]);
    return pbd_ok();
}

static pbd_status look(watch *w, long step) {
    PBD_TRY(read_body(w, step));
    const pbd_settle *settle = w->settle;
    double *mean = w->path[w->looks++ % w->wanted];
    memset(mean, 0, 3 * sizeof *mean);
    for (size_t i = 0; i < 3 * settle->watched; i++) {
        const size_t at = 3 * (size_t)settle->watch[i / 3] + i % 3;
        mean[i % 3] += (w->x[at] - w->scene->particles.positions[at]) / (double)settle->watched;
    }
    w->distance = sqrt(mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]);
    double squares = 0;
    for (int d = 0; d < 3; d++) {
        double low = INFINITY, high = -INFINITY;
        for (long k = 0; k < w->looks && k < w->wanted; k++) {
            low = fmin(low, w->path[k][d]);
            high = fmax(high, w->path[k][d]);
        }
        squares += (high - low) * (high - low);
    }
    w->motion = sqrt(squares);
    return pbd_ok();
}

/* ---- Inverted elements ------------------------------------------------------------------------------------------- */

/* Six times the volume that three edges from a corner span. */
static double spanned(const double *x, uint32_t at, uint32_t a, uint32_t b, uint32_t c) {
    double d[3][3];
    const uint32_t end[3] = {a, b, c};
    for (int e = 0; e < 3; e++)
        for (uint32_t i = 0; i < 3; i++) d[e][i] = x[3 * end[e] + i] - x[3 * at + i];
    return d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) - d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
           d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
}

/* The neighbours of each corner of a hexahedron, so that they span a positive volume. */
static const int neighbours[8][3] = {{1, 3, 4}, {2, 0, 5}, {3, 1, 6}, {0, 2, 7},
                                     {7, 5, 0}, {4, 6, 1}, {5, 7, 2}, {6, 4, 3}};

static pbd_status check_hexes(const pbd_scene *s, const double *x) {
    for (size_t e = 0; e < s->hexes.count; e++)
        for (int c = 0; c < 8; c++) {
            const uint32_t *v = s->hexes.corner + 8 * e;
            const int *n = neighbours[c];
            if (!(spanned(x, v[c], v[n[0]], v[n[1]], v[n[2]]) > 0))
                return pbd_error(PBD_NO_EQUILIBRIUM, "it is at rest, but hexahedron %zu is inverted at a corner", e);
        }
    return pbd_ok();
}

static pbd_status check_tets(const pbd_scene *s, const double *x) {
    for (size_t e = 0; e < s->tets.count; e++) {
        const uint32_t *v = s->tets.corner + 4 * e;
        if (!(spanned(x, v[3], v[0], v[1], v[2]) > 0))
            return pbd_error(PBD_NO_EQUILIBRIUM, "it is at rest, but tetrahedron %zu is inverted", e);
    }
    return pbd_ok();
}

/* Checks det F at the particles, for a method that samples the body, whatever elements the scene has. */
static pbd_status check_particles(const watch *w) {
    double *F = malloc((9 * w->scene->particles.count + 1) * sizeof *F);
    if (!F) return pbd_error(PBD_FAILED, "out of memory for reading %zu particles", w->scene->particles.count);
    pbd_status status = w->method->read(w->state, PBD_DEFORMATION_GRADIENTS, F);
    for (size_t i = 0; i < w->scene->particles.count && status.code == PBD_OK; i++) {
        const double *f = F + 9 * i;
        const double det = f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6]) +
                           f[2] * (f[3] * f[7] - f[4] * f[6]);
        if (!(det > 0))
            status = pbd_error(PBD_NO_EQUILIBRIUM, "it is at rest, but the body is inverted at particle %zu", i);
    }
    free(F);
    return status;
}

/* Checks for inversion what the method works on: particles, or elements, else the scene's elements. */
static pbd_status check_shape(const watch *w) {
    if (w->method->needs & PBD_NEEDS_SAMPLES) return check_particles(w);
    const bool by_tets =
        (w->method->needs & (PBD_NEEDS_TETS | PBD_NEEDS_TETS_OR_TRIANGLES)) || w->scene->hexes.count == 0;
    return (by_tets ? check_tets : check_hexes)(w->scene, w->x);
}

/* ---- Moving ------------------------------------------------------------------------------------------------------ */

static pbd_status move_until_rest(const pbd_settling *body, watch *w, pbd_recorder *recorder, long *steps) {
    const pbd_settle *settle = w->settle;
    const long stride = settle->window > LOOKS ? settle->window / LOOKS : 1;
    const double resolved = (body->precision == PBD_PRECISION_F32 ? FLT_EPSILON : DBL_EPSILON) * w->scene->extent;
    w->wanted = (settle->window + stride - 1) / stride + 1;
    PBD_TRY(look(w, 0));
    if (body->observe) PBD_TRY(body->observe(body->context, 0, body->dt));
    while (*steps < settle->most_steps) {
        if (pbd_stop_requested(recorder)) return pbd_error(PBD_INTERRUPTED, "stopped after %ld steps", *steps);
        PBD_TRY(body->method->step(body->state, body->dt));
        ++*steps;
        if (body->observe) PBD_TRY(body->observe(body->context, *steps, body->dt));
        if (*steps % stride != 0 && *steps < settle->most_steps) continue;
        PBD_TRY(look(w, *steps));
        if (w->looks >= w->wanted && w->motion <= settle->tolerance * w->distance + resolved) return check_shape(w);
    }
    return pbd_error(PBD_NOT_SETTLED,
                     "after %ld steps (%.3g s) it still moves by %.2g of its distance from rest in %ld steps; %g is "
                     "required: use more damping, or more steps",
                     *steps, (double)*steps * body->dt, w->motion / w->distance, settle->window, settle->tolerance);
}

pbd_status pbd_settle_body(const pbd_settling *body, pbd_recorder *recorder) {
    watch w = {
        .settle = &body->setup->settle, .scene = &body->setup->scene, .method = body->method, .state = body->state};
    long steps = 0;
    pbd_arena a PBD_ARENA;
    w.x = pbd_new(&a, double, 3 * w.scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    const pbd_status status = move_until_rest(body, &w, recorder, &steps);
    pbd_count(recorder, "settle_steps", (uint64_t)steps);
    pbd_metric(recorder, "simulated_time", "s", PBD_STATE, (double)steps * body->dt);
    if (w.distance > 0) pbd_metric(recorder, "settle_motion", "1", PBD_FLAW, w.motion / w.distance);
    return status;
}
