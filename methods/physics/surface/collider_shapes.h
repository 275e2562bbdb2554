/* How far a point is from a rigid thing, and which way out: by closed formulas that hold everywhere, inside too; or,
 * where it is a mesh, by mesh_collider.h. And what becomes of a particle that meets one. */
#ifndef PBD_COLLIDER_SHAPES_H
#define PBD_COLLIDER_SHAPES_H

#include <math.h>

#include "methods/method.h"
#include "methods/physics/surface/mesh_collider.h"

/* A collider over one substep. Frames: unit vectors x, y, z, each a row. */
typedef struct collider_pose {
    real axis[9], centre[3];               /* at its end */
    real axis_before[9], centre_before[3]; /* at its start */
    real half[3];
    real friction;
    int shape, container;
    collider_mesh mesh; /* of PBD_MESH */
} collider_pose;

PBD_FN real real_least(real a, real b) { return a < b ? a : b; }
PBD_FN real real_most(real a, real b) { return a > b ? a : b; }
PBD_FN real real_size(real a) { return a < 0 ? -a : a; }
PBD_FN real real_sign(real a) { return a < 0 ? (real)-1 : (real)1; }
PBD_FN real real_round(real a) {
    return sizeof(real) == sizeof(float) ? (real)floorf((float)a + 0.5F) : (real)floor((double)a + 0.5);
}
PBD_FN real real_clamp(real a, real size) { return real_most(-size, real_least(a, size)); }

/* From a point, a line's stretch, a ball's middle: rounded by `radius`. */
PBD_FN collider_gap gap_from_middle(vec3 off, real radius, vec3 fallback) {
    const real length = real_sqrt(vec3_dot(off, off));
    collider_gap gap;
    gap.distance = length - radius;
    gap.normal = length > 0 ? vec3_scale(1 / length, off) : fallback;
    return gap;
}

/* `q`: how far beyond each pair of faces, below 0 between them; `sign`: on which side. Outside, the nearest point is on
 * the faces that it is beyond; inside, on the face that is nearest. */
PBD_FN collider_gap gap_of_faces(vec3 q, vec3 sign) {
    const vec3 beyond = vec3_make(real_most(q.x, 0), real_most(q.y, 0), real_most(q.z, 0));
    const real length = real_sqrt(vec3_dot(beyond, beyond)), nearest = real_most(q.x, real_most(q.y, q.z));
    const int x = q.x >= nearest, y = !x && q.y >= nearest, z = !x && !y;
    const vec3 face = vec3_make((real)x, (real)y, (real)z);
    const vec3 out = length > 0 ? vec3_scale(1 / length, beyond) : face;
    collider_gap gap;
    gap.distance = length > 0 ? length : nearest;
    gap.normal = vec3_make(sign.x * out.x, sign.y * out.y, sign.z * out.z);
    return gap;
}

/* By a figure in the half plane of (distance from the axis, z), to space; x as it was given. */
PBD_FN collider_gap gap_about_axis(vec3 x, real distance, real outward, real up) {
    const real radial = real_sqrt(x.x * x.x + x.y * x.y);
    const vec3 away = radial > 0 ? vec3_make(x.x / radial, x.y / radial, 0) : vec3_make(1, 0, 0);
    collider_gap gap;
    gap.distance = distance;
    gap.normal = vec3_make(outward * away.x, outward * away.y, up);
    return gap;
}

/* Its half of the half plane, z >= 0: the slope from (half[0], 0) to (half[1], half[2]), and the end at half[2]. */
PBD_FN collider_gap hourglass_gap(const real half[3], vec3 x) {
    const real radial = real_sqrt(x.x * x.x + x.y * x.y), z = real_size(x.z), widening = half[1] - half[0];
    const real slope = real_sqrt(widening * widening + half[2] * half[2]);
    const real along = ((radial - half[0]) * widening + z * half[2]) / (slope * slope);
    const real at = real_most(0, real_least(1, along));
    const real side_r = radial - half[0] - at * widening, side_z = z - at * half[2];
    const real end_r = real_most(radial - half[1], 0), end_z = z - half[2];
    const real to_side = side_r * side_r + side_z * side_z, to_end = end_r * end_r + end_z * end_z;
    const int is_end = to_end < to_side;
    const int inside = z < half[2] && radial * half[2] < half[0] * half[2] + widening * z;
    const real length = real_sqrt(is_end ? to_end : to_side), sign = inside ? (real)-1 : (real)1;
    real outward = is_end ? 0 : half[2] / slope, up = is_end ? (real)1 : -widening / slope;
    if (length > 0) {
        outward = sign * (is_end ? end_r : side_r) / length;
        up = sign * (is_end ? end_z : side_z) / length;
    }
    return gap_about_axis(x, sign * length, outward, up * real_sign(x.z));
}

/* From the axis of the nearest hole. */
PBD_FN collider_gap perforated_plate_gap(const real half[3], vec3 x) {
    const real apart = 2 * half[1];
    const vec3 off = vec3_make(x.x - apart * real_round(x.x / apart), x.y - apart * real_round(x.y / apart), x.z);
    const real radial = real_sqrt(off.x * off.x + off.y * off.y);
    const collider_gap gap = gap_of_faces(vec3_make(half[0] - radial, -half[0] - half[2], real_size(x.z) - half[2]),
                                          vec3_make(-1, 1, real_sign(x.z)));
    return gap_about_axis(off, gap.distance, gap.normal.x, gap.normal.z);
}

/* In the collider's frame. */
PBD_FN collider_gap shape_gap(int kind, const real half[3], vec3 x) {
    if (kind == PBD_SPHERE) return gap_from_middle(x, half[0], vec3_make(0, 0, 1));
    if (kind == PBD_CAPSULE)
        return gap_from_middle(vec3_make(x.x, x.y, x.z - real_clamp(x.z, half[2])), half[0], vec3_make(1, 0, 0));
    if (kind == PBD_BOX)
        return gap_of_faces(vec3_make(real_size(x.x) - half[0], real_size(x.y) - half[1], real_size(x.z) - half[2]),
                            vec3_make(real_sign(x.x), real_sign(x.y), real_sign(x.z)));
    if (kind == PBD_CYLINDER) { /* a rectangle in (distance from the axis, z) */
        const real radial = real_sqrt(x.x * x.x + x.y * x.y);
        const collider_gap gap = gap_of_faces(vec3_make(radial - half[0], -half[0] - half[2], real_size(x.z) - half[2]),
                                              vec3_make(1, 1, real_sign(x.z)));
        return gap_about_axis(x, gap.distance, gap.normal.x, gap.normal.z);
    }
    if (kind == PBD_HOURGLASS) return hourglass_gap(half, x);
    if (kind == PBD_PERFORATED_PLATE) return perforated_plate_gap(half, x);
    collider_gap plane;
    plane.distance = x.z;
    plane.normal = vec3_make(0, 0, 1);
    return plane;
}

PBD_FN vec3 to_frame(const real axis[9], const real centre[3], vec3 x) {
    const vec3 off = vec3_make(x.x - centre[0], x.y - centre[1], x.z - centre[2]);
    return vec3_make(axis[0] * off.x + axis[1] * off.y + axis[2] * off.z,
                     axis[3] * off.x + axis[4] * off.y + axis[5] * off.z,
                     axis[6] * off.x + axis[7] * off.y + axis[8] * off.z);
}

PBD_FN vec3 turn_from_frame(const real axis[9], vec3 x) {
    return vec3_make(axis[0] * x.x + axis[3] * x.y + axis[6] * x.z, axis[1] * x.x + axis[4] * x.y + axis[7] * x.z,
                     axis[2] * x.x + axis[5] * x.y + axis[8] * x.z);
}

/* From the side where particles may be: inside a container, outside of anything else. Below 0 on the wrong one. Of a
 * mesh, as far as `reach`: beyond it, far away. */
PBD_FN collider_gap collider_gap_near(const collider_pose *c, vec3 x, real reach) {
    const vec3 at = to_frame(c->axis, c->centre, x);
    if (c->shape == PBD_MESH) {
        collider_gap gap = mesh_gap_near(&c->mesh, c->container, at, reach);
        gap.normal = turn_from_frame(c->axis, gap.normal);
        return gap;
    }
    collider_gap gap = shape_gap(c->shape, c->half, at);
    const real side = c->container ? (real)-1 : (real)1;
    gap.distance *= side;
    gap.normal = vec3_scale(side, turn_from_frame(c->axis, gap.normal));
    return gap;
}

PBD_FN collider_gap collider_gap_at(const collider_pose *c, vec3 x) { return collider_gap_near(c, x, MESH_FAR); }

/* The same for particle i of the radius `radius`, which was at `start` when the substep began. Of a mesh: what lies in
 * between counts (*room: mesh_gap_after), and who is farther off than its radius may be told any such distance. */
PBD_FN collider_gap collider_gap_after(const collider_pose *c, size_t i, vec3 start, vec3 x, real radius, real *room) {
    *room = 0;
    if (c->shape != PBD_MESH) return collider_gap_at(c, x);
    const vec3 from = to_frame(c->axis_before, c->centre_before, start), to = to_frame(c->axis, c->centre, x);
    real *anchor = c->mesh.anchor ? c->mesh.anchor + MESH_ANCHOR * i : 0;
    collider_gap gap = mesh_gap_after(&c->mesh, c->container, anchor, from, to, radius, room);
    gap.normal = turn_from_frame(c->axis, gap.normal);
    return gap;
}

/* How far beyond the surface particle i is at x, m; below 0: it is where it may be. Nobody is beyond a sheet. */
PBD_FN real collider_depth(const collider_pose *c, size_t i, vec3 x) {
    real room;
    if (c->shape != PBD_MESH) return -collider_gap_at(c, x).distance;
    if (!c->mesh.normal) return -MESH_FAR;
    const vec3 at = to_frame(c->axis, c->centre, x);
    real *anchor = c->mesh.anchor ? c->mesh.anchor + MESH_ANCHOR * i : 0;
    return -mesh_gap_after(&c->mesh, c->container, anchor, at, at, 0, &room).distance - c->mesh.thickness;
}

/* How far the point of the collider that is at x now has moved since the substep began. */
PBD_FN vec3 collider_carried(const collider_pose *c, vec3 x) {
    const vec3 before = turn_from_frame(c->axis_before, to_frame(c->axis, c->centre, x));
    return vec3_make(x.x - c->centre_before[0] - before.x, x.y - c->centre_before[1] - before.y,
                     x.z - c->centre_before[2] - before.z);
}

/* Coulomb's law for a step: of a motion along the surface, friction takes back all, or what `most` (its coefficient
 * times the depth that was pushed out) allows. Source: Mueller et al. 2007, Macklin et al. 2014 section 6.1. */
PBD_FN vec3 friction_of(vec3 slip, vec3 normal, real most) {
    const vec3 along = vec3_sub(slip, vec3_scale(vec3_dot(slip, normal), normal));
    const real length = real_sqrt(vec3_dot(along, along));
    return vec3_scale(length > most ? most / length : (real)1, along);
}

/* ---- Meeting one ------------------------------------------------------------------------------------------------- */

/* Where the point of the collider is now that was at x when the substep began. */
PBD_FN vec3 collider_brought(const collider_pose *c, vec3 x) {
    const vec3 off = turn_from_frame(c->axis, to_frame(c->axis_before, c->centre_before, x));
    return vec3_make(c->centre[0] + off.x, c->centre[1] + off.y, c->centre[2] + off.z);
}

enum { MESH_ROUNDS = 4 };

/* What a collider makes of particle i at *p, which was at `start` when the substep began: out by what it is too deep,
 * then back along the surface by friction. Whether it touched. A mesh is asked again where a way out of one triangle
 * may lead through another; who is still beyond it then goes back to where it came from, as seen by the collider:
 * nobody passes. */
PBD_FN int collider_push(const collider_pose *c, size_t i, real radius, vec3 start, vec3 *p) {
    const int mesh = c->shape == PBD_MESH;
    for (int round = 0; round <= (mesh ? MESH_ROUNDS : 0); round++) {
        real room;
        const vec3 before = *p;
        const collider_gap gap = collider_gap_after(c, i, start, before, radius, &room);
        const real depth = radius - gap.distance;
        if (!(depth > (round > 0 ? c->mesh.rounding : 0))) return round > 0;
        if (round == MESH_ROUNDS) {
            if (room < 0) *p = collider_brought(c, start);
            return 1;
        }
        *p = vec3_add(*p, vec3_scale(depth, gap.normal));
        if (c->friction > 0) {
            const vec3 carried = collider_carried(c, vec3_sub(*p, vec3_scale(radius, gap.normal)));
            const vec3 slip = vec3_sub(vec3_sub(*p, start), carried);
            *p = vec3_sub(*p, friction_of(slip, gap.normal, c->friction * depth));
        }
        if (mesh_distance(before, *p) < room) return 1;
    }
    return 1;
}

/* All of them; meshes last, so that nobody is pushed through one by another shape. */
PBD_FN int collider_push_all(const collider_pose *collider, int colliders, size_t i, real radius, vec3 start, vec3 *p) {
    int touched = 0;
    for (int k = 0; k < 2 * colliders; k++) {
        const collider_pose *c = collider + (k < colliders ? k : k - colliders);
        if ((c->shape == PBD_MESH) == (k >= colliders)) touched |= collider_push(c, i, radius, start, p);
    }
    return touched;
}

#endif
