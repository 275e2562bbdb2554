#include "harness/picture/collider_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/picture/collider_mesh.h"

#define REAL double
#include "methods/physics/surface/colliders.h"

static const double UPRIGHT = 0.05; /* a plane whose unit normal has at most this vertical component is a wall */

static pbd_status add_line(pbd_lines *l, const double from[3], const double to[3]) {
    if (l->count == l->capacity) {
        const size_t capacity = 2 * l->capacity + 64;
        double *grown = realloc(l->end, 6 * capacity * sizeof *grown);
        if (!grown) return pbd_error(PBD_FAILED, "out of memory for lines of a picture");
        l->end = grown;
        l->capacity = capacity;
    }
    memcpy(l->end + 6 * l->count, from, 3 * sizeof *from);
    memcpy(l->end + 6 * l->count + 3, to, 3 * sizeof *to);
    l->count++;
    return pbd_ok();
}

/* ---- Outlines ---------------------------------------------------------------------------------------------------- */

typedef struct placed {
    pbd_lines *lines;
    double centre[3], axis[3][3];
} placed;

static placed placed_at(const pbd_collider *c, double time) {
    placed p = {0};
    collider_at(c, time, p.centre, p.axis);
    return p;
}

static void place(const placed *p, const double own[3], double out[3]) {
    for (int d = 0; d < 3; d++)
        out[d] = p->centre[d] + own[0] * p->axis[0][d] + own[1] * p->axis[1][d] + own[2] * p->axis[2][d];
}

static pbd_status add_placed(void *to, const double from[3], const double end[3]) {
    const placed *p = to;
    double line[2][3];
    place(p, from, line[0]);
    place(p, end, line[1]);
    return add_line(p->lines, line[0], line[1]);
}

static pbd_status add_collider(pbd_lines *l, const pbd_scene *scene, const pbd_collider *c, double time) {
    placed p = placed_at(c, time);
    p.lines = l;
    return collider_outline(scene, c, &(collider_pen){add_placed, &p});
}

/* ---- Walls and ground -------------------------------------------------------------------------------------------- */

const pbd_collider *pbd_ground_of(const pbd_scene *scene) {
    const pbd_collider *ground = NULL;
    for (size_t i = 0; i < scene->colliders.count; i++) {
        const pbd_collider *c = &scene->colliders.item[i];
        if (c->shape != PBD_PLANE || c->axis[2][2] < 1 - 1e-6) continue;
        if (!ground || c->centre[2] > ground->centre[2]) ground = c;
    }
    return ground;
}

static bool is_wall(const pbd_collider *c) { return c->shape == PBD_PLANE && fabs(c->axis[2][2]) <= UPRIGHT; }

static double above(const placed *p, const double x[3]) {
    double sum = 0;
    for (int d = 0; d < 3; d++) sum += (x[d] - p->centre[d]) * p->axis[2][d];
    return sum;
}

/* Clips the segment to the upper side of a plane; false when nothing is left. */
static bool cut(double from[3], double to[3], double from_above, double to_above) {
    if (from_above < 0 && to_above < 0) return false;
    if (from_above * to_above >= 0) return true;
    const double share = from_above / (from_above - to_above);
    double *low = from_above < 0 ? from : to;
    for (int d = 0; d < 3; d++) low[d] = from[d] + share * (to[d] - from[d]);
    return true;
}

/* A rectangle that stands on the line where a wall meets the level low[2], cut by the other walls and the box. */
static pbd_status add_wall(pbd_lines *l, const pbd_scene *scene, size_t wall, double time, const double low[3],
                           const double high[3]) {
    const placed p = placed_at(&scene->colliders.item[wall], time);
    const double *n = p.axis[2], size = high[0] - low[0] + high[1] - low[1], level = hypot(n[0], n[1]);
    const double height = low[2] + fmin(high[2] - low[2], 0.35 * size);
    const double shift = ((p.centre[2] - low[2]) * n[2]) / (level * level);
    double middle[3] = {p.centre[0] + shift * n[0], p.centre[1] + shift * n[1], low[2]}, from[3], to[3];
    for (int d = 0; d < 3; d++) {
        const double along = d == 0 ? -n[1] : d == 1 ? n[0] : 0;
        from[d] = middle[d] - 2 * size * along / level;
        to[d] = middle[d] + 2 * size * along / level;
    }
    for (int d = 0; d < 2; d++) {
        const double slack = 1e-9 * size;
        if (!cut(from, to, from[d] - low[d] + slack, to[d] - low[d] + slack)) return pbd_ok();
        if (!cut(from, to, high[d] - from[d] + slack, high[d] - to[d] + slack)) return pbd_ok();
    }
    for (size_t i = 0; i < scene->colliders.count; i++) {
        if (i == wall || !is_wall(&scene->colliders.item[i])) continue;
        const placed other = placed_at(&scene->colliders.item[i], time);
        if (!cut(from, to, above(&other, from), above(&other, to))) return pbd_ok();
    }
    const double from_top[3] = {from[0], from[1], height}, to_top[3] = {to[0], to[1], height};
    PBD_TRY(add_line(l, from, to));
    PBD_TRY(add_line(l, from_top, to_top));
    PBD_TRY(add_line(l, from, from_top));
    return add_line(l, to, to_top);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* A blade's outline, from its begin to its end. */
static pbd_status add_blade(pbd_lines *l, const pbd_blade *b, double time) {
    double corner[4][3];
    if (time < b->begin || time > b->end) return pbd_ok();
    for (int k = 0; k < 4; k++)
        for (int d = 0; d < 3; d++)
            corner[k][d] = b->corner[d] + (time - b->begin) * b->velocity[d] + (k == 1 || k == 2 ? b->edge[0][d] : 0) +
                           (k >= 2 ? b->edge[1][d] : 0);
    for (int k = 0; k < 4; k++) PBD_TRY(add_line(l, corner[k], corner[(k + 1) % 4]));
    return pbd_ok();
}

pbd_status pbd_collider_lines(const pbd_scene *scene, double time, const double low[3], const double high[3],
                              bool solids, pbd_lines *lines) {
    *lines = (pbd_lines){0};
    for (size_t i = 0; i < scene->colliders.count; i++) {
        if (is_wall(&scene->colliders.item[i])) PBD_TRY(add_wall(lines, scene, i, time, low, high));
        if (solids || !collider_is_solid(&scene->colliders.item[i]))
            PBD_TRY(add_collider(lines, scene, &scene->colliders.item[i], time));
    }
    for (size_t i = 0; i < scene->blades.count; i++) PBD_TRY(add_blade(lines, &scene->blades.item[i], time));
    return pbd_ok();
}

void pbd_grow_by_colliders(const pbd_scene *scene, double low[3], double high[3]) {
    const pbd_collider *ground = pbd_ground_of(scene);
    if (ground) low[2] = ground->centre[2];
    for (size_t i = 0; i < scene->colliders.count; i++) {
        const pbd_collider *c = &scene->colliders.item[i];
        double half[3];
        collider_extent(scene, c, half);
        for (int when = 0; when < 2; when++) {
            const placed p = placed_at(c, when ? scene->duration : 0);
            for (int d = 0; d < 3; d++) {
                double reach = 0;
                for (int a = 0; a < 3; a++) reach += fabs(p.axis[a][d]) * half[a];
                /* of planes, only walls normal to x or y */
                if (c->shape == PBD_PLANE && (d == 2 || fabs(p.axis[2][d]) < 1 - 1e-6)) continue;
                low[d] = fmin(low[d], p.centre[d] - reach);
                high[d] = fmax(high[d], p.centre[d] + reach);
            }
        }
    }
}
