#include "methods/physics/surface/colliders.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

#include "methods/physics/surface/mesh_surface.h"

/* ---- Motion ------------------------------------------------------------------------------------------------------ */

/* For how long the collider has been moving at `time`, s. */
static double moving_time(const pbd_collider *c, double time) {
    const double end = c->end > 0 ? fmin(time, c->end) : time;
    return end > c->begin ? end - c->begin : 0;
}

/* Rotates v by the angle |w| about w (Rodrigues). */
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

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

typedef enum least_size { ABOVE_0, AT_LEAST_0 } least_size;

typedef struct collider_solid {
    const double *half;
    const pbd_collider_mesh *mesh; /* of PBD_MESH */
} collider_solid;

/* Defined by each file of shapes/. Functions may be NULL: there is nothing to check or draw, or no extent. */
typedef struct collider_shape {
    const char *name;
    struct {
        const char *name;
        int entry; /* index into half[] */
        least_size least;
    } size[4]; /* the sizes that it uses, m; ends with a NULL name */
    pbd_status (*check)(const double half[3], const char *who);
    void (*extent)(const collider_solid *s, double extent[3]);
    pbd_status (*outline)(const collider_solid *s, const collider_pen *pen);
} collider_shape;

/* Draws an arc about `axis`. first: its start, measured from the axis after `axis`; first and turns are in
 * revolutions. */
static pbd_status draw_arc(const collider_pen *pen, int axis, const double centre[3], double radius, double first,
                           double turns) {
    const int parts = (int)lround(48 * turns);
    double last[3] = {0};
    for (int i = 0; i <= parts; i++) {
        const double angle = 6.283185307179586 * (first + turns * i / parts);
        double at[3] = {centre[0], centre[1], centre[2]};
        at[(axis + 1) % 3] += radius * cos(angle);
        at[(axis + 2) % 3] += radius * sin(angle);
        if (i > 0) PBD_TRY(pen->line(pen->to, last, at));
        memcpy(last, at, sizeof last);
    }
    return pbd_ok();
}

static pbd_status draw_circle(const collider_pen *pen, int axis, const double centre[3], double radius) {
    return draw_arc(pen, axis, centre, radius, 0, 1);
}

/* The point on a circle about z that is `quarters` quarter revolutions from the x axis. */
static void on_circle(int quarters, double radius, double z, double out[3]) {
    out[0] = quarters % 2 ? 0 : radius * (1 - quarters);
    out[1] = quarters % 2 ? radius * (2 - quarters) : 0;
    out[2] = z;
}

/* Draws a cylinder about z, |z| <= half. */
static pbd_status draw_tube(const collider_pen *pen, double radius, double half) {
    for (int quarter = 0; quarter < 4; quarter++) {
        double from[3], to[3];
        on_circle(quarter, radius, -half, from);
        on_circle(quarter, radius, half, to);
        PBD_TRY(pen->line(pen->to, from, to));
    }
    for (int end = -1; end <= 1; end += 2) PBD_TRY(draw_circle(pen, 2, (double[3]){0, 0, end * half}, radius));
    return pbd_ok();
}

#include "methods/physics/surface/shapes/shapes.def"

static const collider_shape *const shapes[PBD_COLLIDER_SHAPES] = {
#define COLLIDER_SHAPE(NAME, name) [PBD_##NAME] = &name##_shape,
#include "methods/physics/surface/shapes/shapes.def"
#undef COLLIDER_SHAPE
};

static bool is_known(const pbd_scene *scene, const pbd_collider *c) {
    return (unsigned)c->shape < PBD_COLLIDER_SHAPES && (c->shape != PBD_MESH || c->mesh < scene->colliders.meshes);
}

static collider_solid solid_of(const pbd_scene *scene, const pbd_collider *c) {
    return (collider_solid){c->half, c->shape == PBD_MESH ? &scene->colliders.mesh[c->mesh] : NULL};
}

pbd_status collider_outline(const pbd_scene *scene, const pbd_collider *c, const collider_pen *pen) {
    if (!is_known(scene, c)) return pbd_ok();
    const collider_solid solid = solid_of(scene, c);
    return shapes[c->shape]->outline ? shapes[c->shape]->outline(&solid, pen) : pbd_ok();
}

void collider_extent(const pbd_scene *scene, const pbd_collider *c, double extent[3]) {
    memset(extent, 0, 3 * sizeof *extent);
    if (!is_known(scene, c)) return;
    const collider_solid solid = solid_of(scene, c);
    if (shapes[c->shape]->extent) shapes[c->shape]->extent(&solid, extent);
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static bool finite_numbers(const double *x, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static pbd_status check_size(const pbd_collider *c, const char *who) {
    const collider_shape *s = shapes[c->shape];
    for (int k = 0; s->size[k].name; k++) {
        const double size = c->half[s->size[k].entry];
        if (size > 0 || (size == 0 && s->size[k].least == AT_LEAST_0)) continue;
        return pbd_error(PBD_BAD_INPUT, "%s has the %s %g m: it must be %s 0", who, s->size[k].name, size,
                         s->size[k].least == AT_LEAST_0 ? "at least" : "above");
    }
    return s->check ? s->check(c->half, who) : pbd_ok();
}

/* Checks that the frame is orthonormal and right-handed. */
static pbd_status check_frame(const pbd_collider *c, const char *who) {
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
                     "%s has an invalid frame: its axes (%g, %g, %g), (%g, %g, %g), (%g, %g, %g) must be "
                     "orthonormal and right-handed",
                     who, a[0][0], a[0][1], a[0][2], a[1][0], a[1][1], a[1][2], a[2][0], a[2][1], a[2][2]);
}

static pbd_status check_collider(const pbd_collider *c, size_t number) {
    char who[64];
    if ((unsigned)c->shape >= PBD_COLLIDER_SHAPES)
        return pbd_error(PBD_BAD_INPUT, "collider %zu has the unknown shape %d: must be 0 to %d", number, (int)c->shape,
                         PBD_COLLIDER_SHAPES - 1);
    snprintf(who, sizeof who, "collider %zu, a %s,", number, shapes[c->shape]->name);
    if (!finite_numbers(c->centre, 3) || !finite_numbers(&c->axis[0][0], 9) || !finite_numbers(c->half, 3) ||
        !finite_numbers(c->velocity, 3) || !finite_numbers(c->spin, 3) || !isfinite(c->begin) || !isfinite(c->end))
        return pbd_error(PBD_BAD_INPUT, "%s has non-finite numbers", who);
    if (!(c->friction >= 0 && isfinite(c->friction)))
        return pbd_error(PBD_BAD_INPUT, "%s has friction=%g: must be at least 0", who, c->friction);
    if (c->end > 0 && c->end < c->begin)
        return pbd_error(PBD_BAD_INPUT, "%s stops moving at %g s, before it starts at %g s", who, c->end, c->begin);
    PBD_TRY(check_size(c, who));
    return check_frame(c, who);
}

pbd_status colliders_check(const pbd_scene *scene) {
    for (size_t i = 0; i < scene->colliders.count; i++) {
        const pbd_collider *c = &scene->colliders.item[i];
        PBD_TRY(check_collider(c, i));
        if (c->shape == PBD_MESH && c->mesh >= scene->colliders.meshes)
            return pbd_error(PBD_BAD_INPUT, "collider %zu is mesh %zu of a scene that has %zu", i, c->mesh,
                             scene->colliders.meshes);
    }
    return pbd_ok();
}

/* ---- Poses ------------------------------------------------------------------------------------------------------- */

collider_pose collider_pose_over(const pbd_collider *from, double time, double dt) {
    double centre[3], axis[3][3];
    collider_pose out = {.friction = (real)from->friction, .shape = (int)from->shape, .container = from->container};
    for (int d = 0; d < 3; d++) out.half[d] = (real)from->half[d];
    collider_at(from, time, centre, axis);
    for (int d = 0; d < 3; d++) out.centre_before[d] = (real)centre[d];
    for (int k = 0; k < 9; k++) out.axis_before[k] = (real)axis[k / 3][k % 3];
    collider_at(from, time + dt, centre, axis);
    for (int d = 0; d < 3; d++) out.centre[d] = (real)centre[d];
    for (int k = 0; k < 9; k++) out.axis[k] = (real)axis[k / 3][k % 3];
    return out;
}

void collider_poses_free(collider_poses *c) {
    pbd_free(c->exec, c->device);
    for (size_t i = 0; c->placed && i < c->count; i++) {
        placed_mesh *m = &c->placed[i];
        void *device[] = {m->vertex, m->corner, m->normal, m->anchor};
        for (size_t k = 0; k < sizeof device / sizeof *device; k++) pbd_free(c->exec, device[k]);
        mesh_tree_free(&m->tree);
    }
    pbd_free(c->exec, c->sums);
    free(c->placed);
    free(c->collider);
    free(c->pose);
    free(c->sent);
    *c = (collider_poses){0};
}

static pbd_status upload(pbd_exec *exec, const void *host, size_t bytes, void **device) {
    PBD_TRY(pbd_alloc(exec, bytes, device));
    return pbd_upload(exec, *device, host, bytes);
}

/* Uploads `count` rows of `each` doubles as rows of `wide` reals. */
static pbd_status upload_reals(pbd_exec *exec, const double *host, size_t count, size_t each, size_t wide,
                               void **device) {
    pbd_arena a PBD_ARENA;
    real *rows = pbd_new(&a, real, count * wide);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < count * each; i++) rows[i / each * wide + i % each] = (real)host[i];
    return upload(exec, rows, count * wide * sizeof *rows, device);
}

static pbd_status place_mesh(placed_mesh *m, const mesh_surface *s, double thickness, size_t particles,
                             pbd_exec *exec) {
    PBD_TRY(mesh_tree_create(&m->tree, exec, s->triangles));
    PBD_TRY(upload_reals(exec, s->vertex, s->vertices, 3, 4, &m->vertex));
    PBD_TRY(upload(exec, s->triangle, 3 * s->triangles * sizeof *s->triangle, &m->corner));
    if (s->normal)
        PBD_TRY(upload_reals(exec, s->normal, s->triangles, 3 * MESH_FEATURES, 3 * MESH_FEATURES, &m->normal));
    PBD_TRY(pbd_alloc(exec, (MESH_ANCHOR * particles + 1) * sizeof(real), &m->anchor));
    const mesh_rows rows = {.vertex = m->vertex, .corner = m->corner};
    PBD_TRY(mesh_tree_build(&m->tree, &rows));
    m->mesh = (collider_mesh){.view = mesh_tree_view(&m->tree, &rows),
                              .normal = m->normal,
                              .anchor = m->anchor,
                              .thickness = (real)thickness,
                              .rounding = (real)(32 * REAL_EPSILON * s->size)};
    return pbd_ok();
}

static pbd_status make_mesh(collider_poses *c, size_t i, const pbd_scene *scene, pbd_recorder *recorder) {
    const pbd_collider_mesh *mesh = &scene->colliders.mesh[c->collider[i].mesh];
    mesh_surface s PBD_CLEANUP(mesh_surface_free) = {0};
    PBD_TRY(mesh_surface_make(mesh, i, c->collider[i].container, &s));
    if (recorder && s.collapsed + s.slivers > 0)
        pbd_warning(
            recorder, "degenerate_triangles",
            "collider %zu, a mesh of %zu triangles: %zu have two coincident corners and are ignored, %zu have no area",
            i, mesh->triangles, s.collapsed, s.slivers);
    if (recorder) pbd_count(recorder, "collider_triangles", s.triangles);
    c->sheets |= !s.normal;
    return place_mesh(&c->placed[i], &s, mesh->thickness, scene->particles.count, c->exec);
}

pbd_status collider_poses_create(collider_poses *c, const pbd_scene *scene, pbd_exec *exec, pbd_recorder *recorder) {
    const size_t n = scene->colliders.count;
    *c = (collider_poses){.exec = exec, .count = n};
    PBD_TRY(colliders_check(scene));
    if (n == 0) return pbd_ok();
    c->wanted = scene->pour.until != NULL;
    c->collider = malloc(n * sizeof *c->collider);
    c->placed = calloc(n, sizeof *c->placed);
    c->pose = calloc(n, sizeof *c->pose);
    c->sent = calloc(n, sizeof *c->sent);
    if (!c->collider || !c->placed || !c->pose || !c->sent)
        return pbd_error(PBD_FAILED, "out of memory for %zu colliders", n);
    memcpy(c->collider, scene->colliders.item, n * sizeof *c->collider);
    for (size_t i = 0; i < n; i++) {
        c->moves |= pbd_collider_moves(&c->collider[i]);
        if (c->collider[i].shape != PBD_MESH) continue;
        c->meshes = true;
        PBD_TRY(make_mesh(c, i, scene, recorder));
    }
    return pbd_alloc(exec, n * sizeof *c->device, (void **)&c->device);
}

const char *collider_poses_phase(const collider_poses *c, const char *otherwise) {
    return c->meshes ? "collision_detection" : otherwise;
}

pbd_status collider_poses_move(collider_poses *c, double time, double dt) {
    const size_t bytes = c->count * sizeof *c->pose;
    c->inverse_dt = dt > 0 ? 1 / dt : 0;
    if (c->count == 0) return pbd_ok();
    for (size_t i = 0; i < c->count; i++) {
        c->pose[i] = collider_pose_over(&c->collider[i], time, dt);
        c->pose[i].mesh = c->placed[i].mesh;
    }
    if (memcmp(c->pose, c->sent, bytes) == 0) return pbd_ok();
    memcpy(c->sent, c->pose, bytes);
    return pbd_upload(c->exec, c->device, c->pose, bytes);
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

/* Adds all rows, in their order, to `out`. */
static pbd_status add_rows(const collider_poses *c, double out[COLLIDER_SUMS]) {
    const size_t count = COLLIDER_SUMS * c->summed;
    pbd_arena a PBD_ARENA;
    double *rows = pbd_new(&a, double, count);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_download(c->exec, rows, c->sums, count * sizeof *rows));
    for (size_t k = 0; k < count; k++) out[k % COLLIDER_SUMS] += rows[k];
    return pbd_ok();
}

pbd_status collider_sums_room(collider_poses *c, size_t rows) {
    if (!(c->moves || c->wanted) || rows <= c->summed) return pbd_ok();
    if (c->sums) PBD_TRY(add_rows(c, c->before));
    pbd_free(c->exec, c->sums);
    c->sums = NULL;
    c->summed = 0;
    PBD_TRY(pbd_alloc(c->exec, rows * COLLIDER_SUMS * sizeof *c->sums, (void **)&c->sums));
    c->summed = rows;
    return pbd_ok();
}

collider_sums collider_sums_of(const collider_poses *c) { return (collider_sums){c->sums, c->inverse_dt}; }

void collider_sums_add(collider_poses *c, const double sums[COLLIDER_SUMS]) {
    for (int k = 0; k < COLLIDER_SUMS; k++) c->before[k] += sums[k];
}

void collider_sums_leave_out(collider_poses *c) {
    pbd_free(c->exec, c->sums);
    c->sums = NULL;
    c->summed = 0;
}

pbd_status collider_sums_clear(collider_poses *c) {
    pbd_arena a PBD_ARENA;
    const double *zero = pbd_new(&a, double, COLLIDER_SUMS * c->summed);
    PBD_TRY(pbd_arena_check(&a));
    memset(c->before, 0, sizeof c->before);
    return c->sums ? pbd_upload(c->exec, c->sums, zero, COLLIDER_SUMS * c->summed * sizeof *zero) : pbd_ok();
}

pbd_status collider_sums_read(const collider_poses *c, double out[COLLIDER_SUMS]) {
    if (!c->sums)
        return pbd_error(PBD_NOT_SUPPORTED, "no collider of the scene moves, or the method does not sum their work");
    memcpy(out, c->before, sizeof c->before);
    return add_rows(c, out);
}
