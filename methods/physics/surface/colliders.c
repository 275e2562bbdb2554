#include "methods/physics/surface/colliders.h"

#include <math.h>
#include <string.h>

/* ---- Motion ------------------------------------------------------------------------------------------------------ */

/* For how long it has been moving at `time`. */
static double moving_time(const pbd_collider *c, double time) {
    const double end = c->end > 0 ? fmin(time, c->end) : time;
    return end > c->begin ? end - c->begin : 0;
}

/* Turns v by the angle |w| about w (Rodrigues). */
static void turn(const double w[3], double v[3]) {
    const double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    if (!(angle > 0)) return;
    const double k[3] = {w[0] / angle, w[1] / angle, w[2] / angle}, c = cos(angle), s = sin(angle);
    const double along = (k[0] * v[0] + k[1] * v[1] + k[2] * v[2]) * (1 - c);
    const double across[3] = {k[1] * v[2] - k[2] * v[1], k[2] * v[0] - k[0] * v[2], k[0] * v[1] - k[1] * v[0]};
    for (int d = 0; d < 3; d++) v[d] = c * v[d] + s * across[d] + along * k[d];
}

void collider_at(const pbd_collider *c, double time, double centre[3], double axis[3][3]) {
    const double moved = moving_time(c, time), angle[3] = {moved * c->spin[0], moved * c->spin[1], moved * c->spin[2]};
    for (int d = 0; d < 3; d++) centre[d] = c->centre[d] + moved * c->velocity[d];
    memcpy(axis, c->axis, sizeof c->axis);
    for (int k = 0; k < 3; k++) turn(angle, axis[k]);
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static const char *const shapes[PBD_COLLIDER_SHAPES] = {"plane",    "box",       "sphere",           "capsule",
                                                        "cylinder", "hourglass", "perforated plate", "mesh"};

static bool finite_numbers(const double *x, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static pbd_status check_size(const pbd_collider *c, size_t number, const char *name) {
    static const struct {
        const char *name;
        int entry;
        bool may_be_zero;
    } sizes[PBD_COLLIDER_SHAPES][4] = {
        [PBD_BOX] = {{"half-width along x", 0, false},
                     {"half-width along y", 1, false},
                     {"half-width along z", 2, false}},
        [PBD_SPHERE] = {{"radius", 0, false}},
        [PBD_CAPSULE] = {{"radius", 0, false}, {"half-length", 2, true}},
        [PBD_CYLINDER] = {{"radius", 0, false}, {"half-length", 2, false}},
        [PBD_HOURGLASS] = {{"radius in the middle", 0, true},
                           {"radius at the ends", 1, true},
                           {"half-length", 2, false}},
        [PBD_PERFORATED_PLATE] = {
            {"radius of holes", 0, false}, {"half-distance of holes", 1, false}, {"half-width", 2, false}}};
    for (int k = 0; sizes[c->shape][k].name; k++) {
        const double size = c->half[sizes[c->shape][k].entry];
        if (size > 0 || (size == 0 && sizes[c->shape][k].may_be_zero)) continue;
        return pbd_error(PBD_BAD_INPUT, "collider %zu, a %s, has the %s %g m: it must be %s 0", number, name,
                         sizes[c->shape][k].name, size, sizes[c->shape][k].may_be_zero ? "at least" : "above");
    }
    if (c->shape == PBD_PERFORATED_PLATE && !(c->half[0] < c->half[1]))
        return pbd_error(PBD_BAD_INPUT,
                         "collider %zu, a %s, has holes of radius %g m, %g m apart: nothing remains of the plate",
                         number, name, c->half[0], 2 * c->half[1]);
    if (c->shape == PBD_HOURGLASS && !(c->half[0] > 0 || c->half[1] > 0))
        return pbd_error(PBD_BAD_INPUT,
                         "collider %zu, a %s, has the radius 0 m in the middle and at the ends: one must "
                         "be above 0",
                         number, name);
    return pbd_ok();
}

/* Unit vectors at right angles, and right-handed. */
static pbd_status check_frame(const pbd_collider *c, size_t number, const char *name) {
    const double(*a)[3] = c->axis;
    double worst = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double dot = a[i][0] * a[j][0] + a[i][1] * a[j][1] + a[i][2] * a[j][2];
            worst = fmax(worst, fabs(dot - (i == j)));
        }
    const double turned = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) +
                          a[0][1] * (a[1][2] * a[2][0] - a[1][0] * a[2][2]) +
                          a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
    if (worst < 1e-6 && turned > 0) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT,
                     "collider %zu, a %s, has an invalid frame: its axes (%g, %g, %g), (%g, %g, %g), (%g, %g, %g) must "
                     "be orthonormal and right-handed",
                     number, name, a[0][0], a[0][1], a[0][2], a[1][0], a[1][1], a[1][2], a[2][0], a[2][1], a[2][2]);
}

static pbd_status check_collider(const pbd_collider *c, size_t number) {
    if ((unsigned)c->shape >= PBD_COLLIDER_SHAPES)
        return pbd_error(PBD_BAD_INPUT, "collider %zu has the unknown shape %d: must be 0 to %d", number, (int)c->shape,
                         PBD_COLLIDER_SHAPES - 1);
    const char *name = shapes[c->shape];
    if (!finite_numbers(c->centre, 3) || !finite_numbers(&c->axis[0][0], 9) || !finite_numbers(c->half, 3) ||
        !finite_numbers(c->velocity, 3) || !finite_numbers(c->spin, 3) || !isfinite(c->begin) || !isfinite(c->end))
        return pbd_error(PBD_BAD_INPUT, "collider %zu, a %s, has non-finite numbers", number, name);
    if (!(c->friction >= 0 && isfinite(c->friction)))
        return pbd_error(PBD_BAD_INPUT, "collider %zu, a %s, has friction=%g: must be at least 0", number, name,
                         c->friction);
    if (c->end > 0 && c->end < c->begin)
        return pbd_error(PBD_BAD_INPUT, "collider %zu, a %s, stops moving at %g s, before it starts at %g s", number,
                         name, c->end, c->begin);
    PBD_TRY(check_size(c, number, name));
    return check_frame(c, number, name);
}

pbd_status colliders_check(const pbd_scene *scene) {
    for (size_t i = 0; i < scene->colliders; i++) {
        const pbd_collider *c = &scene->collider[i];
        PBD_TRY(check_collider(c, i));
        if (c->shape == PBD_MESH && c->mesh >= scene->collider_meshes)
            return pbd_error(PBD_BAD_INPUT, "collider %zu is mesh %zu of a scene that has %zu", i, c->mesh,
                             scene->collider_meshes);
    }
    return pbd_ok();
}
