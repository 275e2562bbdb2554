/* Kernels of pbf over single particles: loads, colliders, motion, and reductions. The liquid is in
 * methods/physics/parts/fluid_kernels.h. */
#ifndef PBD_PBF_KERNELS_H
#define PBD_PBF_KERNELS_H

#include "harness/exec/kernel.h"
#include "methods/physics/surface/collider_pose.h"

typedef struct pbf_push_args {
    real *v;          /* rows: velocity, m/s; inverse mass, 1/kg, 0: held */
    const real *load; /* rows: acceleration by forces, m/s^2; radius for colliders, m */
    vec3 gravity;
    real dt;
    int forced; /* forces act */
} pbf_push_args;

PBD_ITEM(pbf_push, pbf_push_args, i, 8 * sizeof(real), 6) {
    real *v = a->v + 4 * i;
    if (!(v[3] > 0)) return;
    const vec3 load = a->forced ? vec3_add(a->gravity, load3(a->load, i)) : a->gravity;
    v[0] += a->dt * load.x;
    v[1] += a->dt * load.y;
    v[2] += a->dt * load.z;
}

typedef struct pbf_collide_args {
    const collider_pose *collider;
    int colliders;
    const real *x, *load;
    real *v;
    collider_sums sums;
    real dt;
} pbf_collide_args;

/* Corrects the velocity of a particle that would end beyond a collider, so that it ends on the surface, with friction
 * relative to the surface's motion. Work: particles, and the colliders of each. */
PBD_ITEM_OVER(pbf_collide, pbf_collide_args, i, 16 * sizeof(real), 20, 0, 40) {
    real *v = a->v + 4 * i;
    if (!(v[3] > 0)) return;
    const vec3 start = load3(a->x, i);
    const real radius = a->load[4 * i + 3];
    vec3 p = vec3_add(start, vec3_scale(a->dt, load3(a->v, i)));
    const collider_contact of = {i, v[3], radius, start, a->sums};
    const vec3 predicted = p;
    if (!collider_push_all(a->collider, a->colliders, &of, &p)) return; /* bitwise unchanged */
    if (a->sums.row) collider_sum_rounding(&of, predicted, a->dt, load3(a->v, i));
    v[0] = (p.x - start.x) / a->dt;
    v[1] = (p.y - start.y) / a->dt;
    v[2] = (p.z - start.z) / a->dt;
}

typedef struct pbf_drift_args {
    real *x;
    const real *v;
    real dt;
} pbf_drift_args;

PBD_ITEM(pbf_drift, pbf_drift_args, i, 10 * sizeof(real), 6) {
    for (size_t d = 0; d < 3; d++) a->x[4 * i + d] += a->dt * a->v[4 * i + d];
}

enum { PBF_BLOCK = 16 };

typedef struct pbf_measure_args {
    const real *v;
    size_t particles;
    real *out; /* by block: the largest v^2; NaN if any */
} pbf_measure_args;

PBD_ITEM(pbf_measure, pbf_measure_args, block, PBF_BLOCK * 4 * sizeof(real), PBF_BLOCK * 6) {
    const size_t begin = block * PBF_BLOCK, end = begin + PBF_BLOCK < a->particles ? begin + PBF_BLOCK : a->particles;
    real most = 0;
    for (size_t i = begin; i < end; i++) {
        const vec3 v = load3(a->v, i);
        const real square = vec3_dot(v, v);
        most = square > most || square != square ? square : most;
    }
    a->out[block] = most;
}

#endif
