/* Collision of particles with one collider over a substep, in kernels: signed distance and normal, by the formula of
 * its shape (collider_shapes.h) or from its mesh (mesh_collider.h); the response of a particle in contact; and the work
 * that the collider does. */
#ifndef PBD_COLLIDER_POSE_H
#define PBD_COLLIDER_POSE_H

#include "methods/method.h"
#include "methods/physics/surface/mesh_collider.h"

/* Poses at the start and the end of the substep. Frames have the unit vectors x, y, z as rows. */
typedef struct collider_pose {
    real axis[9], centre[3];               /* at the end of the substep */
    real axis_before[9], centre_before[3]; /* at its start */
    real half[3];
    real friction;
    int shape, container;
    collider_mesh mesh; /* of PBD_MESH */
} collider_pose;

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

/* Signed distance, positive on the admissible side: inside a container, outside any other collider. Meshes are searched
 * within `reach`; beyond it the distance is MESH_FAR. */
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

/* As collider_gap_at, for particle i with `radius`, which was at `start` at the start of the substep. For meshes, the
 * path from there to x is tested (*room: mesh_gap_after), and beyond `radius` the distance is only a lower bound. */
PBD_FN collider_gap collider_gap_after(const collider_pose *c, size_t i, vec3 start, vec3 x, real radius, real *room) {
    *room = 0;
    if (c->shape != PBD_MESH) return collider_gap_at(c, x);
    const vec3 from = to_frame(c->axis_before, c->centre_before, start), to = to_frame(c->axis, c->centre, x);
    real *anchor = c->mesh.anchor ? c->mesh.anchor + MESH_ANCHOR * i : 0;
    collider_gap gap = mesh_gap_after(&c->mesh, c->container, anchor, from, to, radius, room);
    gap.normal = turn_from_frame(c->axis, gap.normal);
    return gap;
}

/* Penetration depth of particle i at x, m; negative outside. Never positive for a sheet, which has no inside. */
PBD_FN real collider_depth(const collider_pose *c, size_t i, vec3 x) {
    real room;
    if (c->shape != PBD_MESH) return -collider_gap_at(c, x).distance;
    if (!c->mesh.normal) return -MESH_FAR;
    const vec3 at = to_frame(c->axis, c->centre, x);
    real *anchor = c->mesh.anchor ? c->mesh.anchor + MESH_ANCHOR * i : 0;
    return -mesh_gap_after(&c->mesh, c->container, anchor, at, at, 0, &room).distance - c->mesh.thickness;
}

/* The displacement over the substep of the collider's point that is now at x. */
PBD_FN vec3 collider_carried(const collider_pose *c, vec3 x) {
    const vec3 before = turn_from_frame(c->axis_before, to_frame(c->axis, c->centre, x));
    return vec3_make(x.x - c->centre_before[0] - before.x, x.y - c->centre_before[1] - before.y,
                     x.z - c->centre_before[2] - before.z);
}

/* Coulomb friction for a step: the correction that removes the tangential part of `slip`, limited to the length `most`
 * (friction coefficient times corrected depth). Mueller et al. 2007, Macklin et al. 2014 section 6.1. */
PBD_FN vec3 friction_of(vec3 slip, vec3 normal, real most) {
    const vec3 along = vec3_sub(slip, vec3_scale(vec3_dot(slip, normal), normal));
    const real length = real_sqrt(vec3_dot(along, along));
    return vec3_scale(length > most ? most / length : (real)1, along);
}

/* ---- Work -------------------------------------------------------------------------------------------------------- */

/* Entries of a row of sums, which exist if a collider of the scene moves (colliders.h): the work of colliders, J; the
 * part of it that contact dissipated, J; the impulse of colliders on particles, N s. */
enum { COLLIDER_WORK, COLLIDER_DISSIPATED, COLLIDER_IMPULSE, COLLIDER_SUMS = COLLIDER_IMPULSE + 3 };

typedef struct collider_sums {
    double *row;       /* device, rows x COLLIDER_SUMS; NULL: nothing is summed */
    double inverse_dt; /* 1/s */
} collider_sums;

/* Adds a contact that changed a particle's displacement over the substep from `before` to `before` + `change`, on a
 * surface whose displacement is `surface`. The impulse J = m change/dt does work at the surface's velocity u. The
 * particle's kinetic energy changes by J times the mean of its velocities before and after; the rest of J u is
 * dissipated. Not inlined, so that the contact itself is rounded as in code without sums. */
PBD_FN_NOINLINE void collider_sum(const collider_sums *sums, size_t i, real inverse_mass, vec3 change, vec3 before,
                                  vec3 surface) {
    const double impulse = sums->inverse_dt / (double)inverse_mass, rate = impulse * sums->inverse_dt;
    const double by[3] = {(double)change.x, (double)change.y, (double)change.z};
    const double of[3] = {(double)surface.x, (double)surface.y, (double)surface.z};
    const double from[3] = {(double)before.x, (double)before.y, (double)before.z};
    double *row = sums->row + COLLIDER_SUMS * i;
    for (int d = 0; d < 3; d++) {
        row[COLLIDER_WORK] += rate * by[d] * of[d];
        row[COLLIDER_DISSIPATED] += rate * by[d] * (of[d] - from[d] - 0.5 * by[d]);
        row[COLLIDER_IMPULSE + d] += impulse * by[d];
    }
}

/* ---- Contact response -------------------------------------------------------------------------------------------- */

/* The current position of the collider's point that was at x at the start of the substep. */
PBD_FN vec3 collider_brought(const collider_pose *c, vec3 x) {
    const vec3 off = turn_from_frame(c->axis, to_frame(c->axis_before, c->centre_before, x));
    return vec3_make(c->centre[0] + off.x, c->centre[1] + off.y, c->centre[2] + off.z);
}

/* A particle in contact. */
typedef struct collider_contact {
    size_t row;
    real inverse_mass, radius; /* 1/kg, above 0; m */
    vec3 start;                /* its position at the start of the substep */
    collider_sums sums;
} collider_contact;

/* Adds to the sums a push from `before` to `after` by the collider's point that is now at `surface`. */
PBD_FN void collider_note(const collider_pose *c, const collider_contact *of, vec3 before, vec3 after, vec3 surface) {
    if (of->sums.row)
        collider_sum(&of->sums, of->row, of->inverse_mass, vec3_sub(after, before), vec3_sub(before, of->start),
                     collider_carried(c, surface));
}

/* For methods that solve for velocities: contact starts from the predicted position `start` + dt v, so the rounding of
 * that position changes the velocity. Adds that change to the sums. */
PBD_FN_NOINLINE void collider_sum_rounding(const collider_contact *of, vec3 predicted, real dt, vec3 v) {
    const vec3 exact = vec3_scale(dt, v);
    collider_sum(&of->sums, of->row, of->inverse_mass, vec3_sub(vec3_sub(predicted, of->start), exact), exact,
                 vec3_make(0, 0, 0));
}

enum { MESH_ROUNDS = 4 };

/* Resolves the contact of a particle at *p: moves it out by its depth, then back along the surface by friction. Returns
 * whether it touched. For a mesh the correction is repeated, since it may lead through another triangle; a particle
 * that is still on the wrong side then returns to its start, carried along with the collider, so that none passes
 * through. */
PBD_FN int collider_push(const collider_pose *c, const collider_contact *of, vec3 *p) {
    const int mesh = c->shape == PBD_MESH;
    for (int round = 0; round <= (mesh ? MESH_ROUNDS : 0); round++) {
        real room;
        const vec3 before = *p;
        const collider_gap gap = collider_gap_after(c, of->row, of->start, before, of->radius, &room);
        const real depth = of->radius - gap.distance;
        if (!(depth > (round > 0 ? c->mesh.rounding : 0))) return round > 0;
        if (round == MESH_ROUNDS) {
            if (!(room < 0)) return 1;
            *p = collider_brought(c, of->start);
            collider_note(c, of, before, *p, *p);
            return 1;
        }
        *p = vec3_add(*p, vec3_scale(depth, gap.normal));
        const vec3 surface = vec3_sub(*p, vec3_scale(of->radius, gap.normal));
        if (c->friction > 0) {
            const vec3 carried = collider_carried(c, surface);
            const vec3 slip = vec3_sub(vec3_sub(*p, of->start), carried);
            *p = vec3_sub(*p, friction_of(slip, gap.normal, c->friction * depth));
        }
        collider_note(c, of, before, *p, surface);
        if (mesh_distance(before, *p) < room) return 1;
    }
    return 1;
}

/* Applies all colliders, meshes last, so that no other shape pushes a particle through a mesh. Returns whether any
 * touched. */
PBD_FN int collider_push_all(const collider_pose *collider, int colliders, const collider_contact *of, vec3 *p) {
    int touched = 0;
    for (int k = 0; k < 2 * colliders; k++) {
        const collider_pose *c = collider + (k < colliders ? k : k - colliders);
        if ((c->shape == PBD_MESH) == (k >= colliders)) touched |= collider_push(c, of, p);
    }
    return touched;
}

#endif
