#include "harness/picture/collider_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CIRCLE = 48, HOLES = 2 };
static const double PI = 3.14159265358979323846;
static const double UPRIGHT = 0.05; /* the sine up to which a normal counts as level */

/* ---- Where a collider is ----------------------------------------------------------------------------------------- */

typedef struct pose {
    double centre[3], axis[3][3];
} pose;

static double time_moved(const pbd_collider *c, double time) {
    const double end = c->end > 0 ? fmin(time, c->end) : time;
    return fmax(end - c->begin, 0);
}

/* Turned by `angle` about a unit vector. */
static void turn(const double k[3], double angle, double v[3]) {
    const double c = cos(angle), s = sin(angle), along = k[0] * v[0] + k[1] * v[1] + k[2] * v[2];
    const double old[3] = {v[0], v[1], v[2]};
    for (int d = 0; d < 3; d++)
        v[d] = c * old[d] + s * (k[(d + 1) % 3] * old[(d + 2) % 3] - k[(d + 2) % 3] * old[(d + 1) % 3]) +
               (1 - c) * along * k[d];
}

static pose pose_at(const pbd_collider *c, double time) {
    const double moved = time_moved(c, time);
    const double rate = sqrt(c->spin[0] * c->spin[0] + c->spin[1] * c->spin[1] + c->spin[2] * c->spin[2]);
    pose p;
    memcpy(p.axis, c->axis, sizeof p.axis);
    for (int d = 0; d < 3; d++) p.centre[d] = c->centre[d] + moved * c->velocity[d];
    const double k[3] = {c->spin[0] / rate, c->spin[1] / rate, c->spin[2] / rate};
    for (int a = 0; a < 3 && rate > 0; a++) turn(k, rate * moved, p.axis[a]);
    return p;
}

static void place(const pose *p, double x, double y, double z, double out[3]) {
    for (int d = 0; d < 3; d++) out[d] = p->centre[d] + x * p->axis[0][d] + y * p->axis[1][d] + z * p->axis[2][d];
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

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

static pbd_status add_box(pbd_lines *l, const pose *p, const double half[3]) {
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 4; side++) {
            double at[3], from[3], to[3];
            at[d] = half[d];
            at[(d + 1) % 3] = side % 2 ? half[(d + 1) % 3] : -half[(d + 1) % 3];
            at[(d + 2) % 3] = side / 2 ? half[(d + 2) % 3] : -half[(d + 2) % 3];
            place(p, at[0], at[1], at[2], to);
            at[d] = -half[d];
            place(p, at[0], at[1], at[2], from);
            PBD_TRY(add_line(l, from, to));
        }
    return pbd_ok();
}

/* About `axis`, at a height along it; an arc of so many of CIRCLE parts from the first axis after it. */
static pbd_status add_arc(pbd_lines *l, const pose *p, int axis, double height, double radius, int first, int parts) {
    double last[3] = {0};
    for (int i = 0; i <= parts; i++) {
        const double angle = 2 * PI * (first + i) / CIRCLE;
        double at[3], here[3];
        at[axis] = height;
        at[(axis + 1) % 3] = radius * cos(angle);
        at[(axis + 2) % 3] = radius * sin(angle);
        place(p, at[0], at[1], at[2], here);
        if (i > 0) PBD_TRY(add_line(l, last, here));
        memcpy(last, here, sizeof last);
    }
    return pbd_ok();
}

static pbd_status add_sides(pbd_lines *l, const pose *p, double radius, double half) {
    for (int side = 0; side < 4; side++) {
        double from[3], to[3];
        const double x = radius * cos(0.5 * PI * side), y = radius * sin(0.5 * PI * side);
        place(p, x, y, -half, from);
        place(p, x, y, half, to);
        PBD_TRY(add_line(l, from, to));
    }
    PBD_TRY(add_arc(l, p, 2, -half, radius, 0, CIRCLE));
    return add_arc(l, p, 2, half, radius, 0, CIRCLE);
}

/* Four slopes from the middle to the ends, and the circles between them. */
static pbd_status add_hourglass(pbd_lines *l, const pose *p, const double half[3]) {
    for (int side = 0; side < 4; side++)
        for (int end = -1; end <= 1; end += 2) {
            const double c = cos(0.5 * PI * side), s = sin(0.5 * PI * side);
            double from[3], to[3];
            place(p, half[0] * c, half[0] * s, 0, from);
            place(p, half[1] * c, half[1] * s, end * half[2], to);
            PBD_TRY(add_line(l, from, to));
        }
    for (int end = -1; end <= 1; end++) PBD_TRY(add_arc(l, p, 2, end * half[2], half[end ? 1 : 0], 0, CIRCLE));
    return pbd_ok();
}

/* The plate has no end: the holes around its middle, on both faces. */
static pbd_status add_holes(pbd_lines *l, const pose *p, const double half[3]) {
    for (int i = -HOLES; i <= HOLES; i++)
        for (int j = -HOLES; j <= HOLES; j++) {
            pose hole = *p;
            place(p, 2 * half[1] * i, 2 * half[1] * j, 0, hole.centre);
            for (int face = -1; face <= 1; face += 2) PBD_TRY(add_arc(l, &hole, 2, face * half[2], half[0], 0, CIRCLE));
        }
    return pbd_ok();
}

/* The ends of a capsule: half circles in the planes of its axis, as a whole circle moved apart. */
static pbd_status add_caps(pbd_lines *l, const pose *p, double radius, double half) {
    for (int end = -1; end <= 1; end += 2) {
        pose moved = *p;
        place(p, 0, 0, end * half, moved.centre);
        /* About x: from y to z; about y: from z to x. */
        PBD_TRY(add_arc(l, &moved, 0, 0, radius, end > 0 ? 0 : CIRCLE / 2, CIRCLE / 2));
        PBD_TRY(add_arc(l, &moved, 1, 0, radius, end > 0 ? -CIRCLE / 4 : CIRCLE / 4, CIRCLE / 2));
    }
    return pbd_ok();
}

enum { DRAWN_WHOLE = 200 }; /* triangles: of larger meshes cuts are drawn */

static void corner_of(const pbd_collider_mesh *m, const pose *p, size_t t, size_t k, double out[3]) {
    const double *x = m->vertex + 3 * (size_t)m->triangle[3 * t + k % 3];
    place(p, x[0], x[1], x[2], out);
}

/* Where the plane x_axis = level of its frame cuts the mesh. */
static pbd_status add_cut(pbd_lines *l, const pbd_collider_mesh *m, const pose *p, int axis, double level) {
    for (size_t t = 0; t < m->triangles; t++) {
        double end[2][3];
        int ends = 0;
        for (size_t k = 0; k < 3 && ends < 2; k++) {
            const double *a = m->vertex + 3 * (size_t)m->triangle[3 * t + k];
            const double *b = m->vertex + 3 * (size_t)m->triangle[3 * t + (k + 1) % 3];
            if ((a[axis] < level) == (b[axis] < level)) continue;
            const double share = (level - a[axis]) / (b[axis] - a[axis]);
            place(p, a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2]),
                  end[ends++]);
        }
        if (ends == 2) PBD_TRY(add_line(l, end[0], end[1]));
    }
    return pbd_ok();
}

static void box_of_mesh(const pbd_collider_mesh *m, double low[3], double high[3]) {
    for (int d = 0; d < 3; d++) low[d] = INFINITY, high[d] = -INFINITY;
    for (size_t i = 0; i < 3 * m->vertices; i++) {
        low[i % 3] = fmin(low[i % 3], m->vertex[i]);
        high[i % 3] = fmax(high[i % 3], m->vertex[i]);
    }
}

/* Small ones by all their edges; others by where planes cut them: two upright ones, and four levels. */
static pbd_status add_mesh(pbd_lines *l, const pbd_scene *scene, const pbd_collider *c, const pose *p) {
    if (c->mesh >= scene->collider_meshes) return pbd_ok();
    const pbd_collider_mesh *m = &scene->collider_mesh[c->mesh];
    for (size_t i = 0; i < 3 * m->triangles && m->triangles <= DRAWN_WHOLE; i++) {
        double from[3], to[3];
        corner_of(m, p, i / 3, i % 3, from);
        corner_of(m, p, i / 3, i % 3 + 1, to);
        PBD_TRY(add_line(l, from, to));
    }
    if (m->triangles <= DRAWN_WHOLE) return pbd_ok();
    double low[3], high[3];
    box_of_mesh(m, low, high);
    for (int axis = 0; axis < 2; axis++) PBD_TRY(add_cut(l, m, p, axis, 0.5 * (low[axis] + high[axis])));
    for (int k = 0; k < 4; k++) PBD_TRY(add_cut(l, m, p, 2, low[2] + (0.02 + 0.32 * k) * (high[2] - low[2])));
    return pbd_ok();
}

/* ---- Walls and ground -------------------------------------------------------------------------------------------- */

const pbd_collider *pbd_ground_of(const pbd_scene *scene) {
    const pbd_collider *ground = NULL;
    for (size_t i = 0; i < scene->colliders; i++) {
        const pbd_collider *c = &scene->collider[i];
        if (c->shape != PBD_PLANE || c->axis[2][2] < 1 - 1e-6) continue;
        if (!ground || c->centre[2] > ground->centre[2]) ground = c;
    }
    return ground;
}

static bool is_wall(const pbd_collider *c) { return c->shape == PBD_PLANE && fabs(c->axis[2][2]) <= UPRIGHT; }

static double above(const pose *p, const double x[3]) {
    double sum = 0;
    for (int d = 0; d < 3; d++) sum += (x[d] - p->centre[d]) * p->axis[2][d];
    return sum;
}

/* Cuts the stretch to where it is on the upper side of a plane; false when nothing is left. */
static bool cut(double from[3], double to[3], double from_above, double to_above) {
    if (from_above < 0 && to_above < 0) return false;
    if (from_above * to_above >= 0) return true;
    const double share = from_above / (from_above - to_above);
    double *low = from_above < 0 ? from : to;
    for (int d = 0; d < 3; d++) low[d] = from[d] + share * (to[d] - from[d]);
    return true;
}

/* The line where a wall meets the level low[2], cut by the other walls and the box; and its ends, upward. */
static pbd_status add_wall(pbd_lines *l, const pbd_scene *scene, size_t wall, double time, const double low[3],
                           const double high[3]) {
    const pose p = pose_at(&scene->collider[wall], time);
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
    for (size_t i = 0; i < scene->colliders; i++) {
        if (i == wall || !is_wall(&scene->collider[i])) continue;
        const pose other = pose_at(&scene->collider[i], time);
        if (!cut(from, to, above(&other, from), above(&other, to))) return pbd_ok();
    }
    const double from_top[3] = {from[0], from[1], height}, to_top[3] = {to[0], to[1], height};
    PBD_TRY(add_line(l, from, to));
    PBD_TRY(add_line(l, from_top, to_top));
    PBD_TRY(add_line(l, from, from_top));
    return add_line(l, to, to_top);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static pbd_status add_collider(pbd_lines *l, const pbd_scene *scene, const pbd_collider *c, double time) {
    const pose p = pose_at(c, time);
    const double r = c->half[0];
    switch (c->shape) {
        case PBD_BOX:
            return add_box(l, &p, c->half);
        case PBD_SPHERE:
            for (int axis = 0; axis < 3; axis++) PBD_TRY(add_arc(l, &p, axis, 0, r, 0, CIRCLE));
            return pbd_ok();
        case PBD_CAPSULE:
            PBD_TRY(add_caps(l, &p, r, c->half[2]));
            return add_sides(l, &p, r, c->half[2]);
        case PBD_CYLINDER:
            return add_sides(l, &p, r, c->half[2]);
        case PBD_HOURGLASS:
            return add_hourglass(l, &p, c->half);
        case PBD_PERFORATED_PLATE:
            return add_holes(l, &p, c->half);
        case PBD_MESH:
            return add_mesh(l, scene, c, &p);
        default:
            return pbd_ok();
    }
}

/* A blade while it is there. */
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
                              pbd_lines *lines) {
    *lines = (pbd_lines){0};
    for (size_t i = 0; i < scene->colliders; i++) {
        if (is_wall(&scene->collider[i])) PBD_TRY(add_wall(lines, scene, i, time, low, high));
        PBD_TRY(add_collider(lines, scene, &scene->collider[i], time));
    }
    for (size_t i = 0; i < scene->blades; i++) PBD_TRY(add_blade(lines, &scene->blade[i], time));
    return pbd_ok();
}

/* How far it reaches along its own axes. Planes and plates have no end: their middle counts. */
static void half_box_of(const pbd_scene *scene, const pbd_collider *c, double half[3]) {
    const double widest = c->shape == PBD_HOURGLASS ? fmax(c->half[0], c->half[1]) : c->half[0];
    for (int a = 0; a < 3; a++) half[a] = c->shape == PBD_BOX ? c->half[a] : widest;
    if (c->shape == PBD_CYLINDER || c->shape == PBD_HOURGLASS) half[2] = c->half[2];
    if (c->shape == PBD_CAPSULE) half[2] = c->half[2] + c->half[0];
    if (c->shape == PBD_PERFORATED_PLATE) half[0] = half[1] = 0, half[2] = c->half[2];
    if (c->shape == PBD_PLANE) half[0] = half[1] = half[2] = 0;
    if (c->shape != PBD_MESH || c->mesh >= scene->collider_meshes) return;
    double low[3], high[3];
    box_of_mesh(&scene->collider_mesh[c->mesh], low, high);
    for (int d = 0; d < 3; d++) half[d] = fmax(fabs(low[d]), fabs(high[d]));
}

void pbd_grow_by_colliders(const pbd_scene *scene, double low[3], double high[3]) {
    const pbd_collider *ground = pbd_ground_of(scene);
    if (ground) low[2] = ground->centre[2];
    for (size_t i = 0; i < scene->colliders; i++) {
        const pbd_collider *c = &scene->collider[i];
        double half[3];
        half_box_of(scene, c, half);
        for (int when = 0; when < 2; when++) {
            const pose p = pose_at(c, when ? scene->duration : 0);
            for (int d = 0; d < 3; d++) {
                double reach = 0;
                for (int a = 0; a < 3; a++) reach += fabs(p.axis[a][d]) * half[a];
                /* of planes, level walls along an axis of the world */
                if (c->shape == PBD_PLANE && (d == 2 || fabs(p.axis[2][d]) < 1 - 1e-6)) continue;
                low[d] = fmin(low[d], p.centre[d] - reach);
                high[d] = fmax(high[d], p.centre[d] + reach);
            }
        }
    }
}
