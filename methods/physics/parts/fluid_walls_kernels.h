/* Walls of position-based fluid (fluid_kernels.h): colliders mirror the liquid, so that it rests against a wall as
 * against itself. For a pair at the distances d_i and d_j from a wall the squared distance of j's image from i is
 *
 *     |x_i - x_j|^2 + 4 d_i d_j
 *
 * This is exact for a plane and symmetric for any shape, so that forces of walls are gradients of the constraints too.
 * Two adjacent walls give a third image, three give seven. */
#ifndef PBD_FLUID_WALLS_KERNELS_H
#define PBD_FLUID_WALLS_KERNELS_H

#include "harness/exec/kernel.h"
#include "methods/physics/math/scalar.h"
#include "methods/physics/surface/collider_pose.h"

enum {
    FLUID_WALLS = 16, /* most colliders that mirror; others only push */
    FLUID_CORNER = 3  /* most mirrors of one particle */
};

/* ---- Distances --------------------------------------------------------------------------------------------------- */

/* Distances by wall and row. An additional wall, far from every particle, pads the lists of particles with fewer than
 * FLUID_CORNER near walls. */
typedef struct fluid_walls {
    int count;        /* 0: no walls */
    size_t stride;    /* rows + 1 */
    real *distance;   /* >= 0, m */
    real *normal;     /* rows: outward unit vector; with `moving`, the displacement of the wall's surface along it, m */
    uint32_t *corner; /* FLUID_CORNER by row: the nearest walls within `reach`, nearest first */
    real reach;       /* that of the lists, m */
} fluid_walls;

typedef struct fluid_measure_args {
    const collider_pose *collider;
    const real *p, *role;
    fluid_walls walls;
    int moving; /* nonzero: walls may move, and their work is summed */
} fluid_measure_args;

PBD_FN void fluid_note_wall(uint32_t *corner, const real *distance, size_t stride, uint32_t wall) {
    for (int k = 0; k < FLUID_CORNER; k++)
        if (distance[wall * stride] < distance[corner[k] * stride]) {
            const uint32_t kept = corner[k];
            corner[k] = wall;
            wall = kept;
        }
}

PBD_FN vec3 fluid_surface_goes(const collider_pose *c, collider_gap gap, vec3 x) {
    return gap.distance < MESH_FAR ? collider_carried(c, vec3_sub(x, vec3_scale(gap.distance, gap.normal)))
                                   : vec3_make(0, 0, 0);
}

/* Work: rows, and the walls of each. */
PBD_ITEM_OVER(fluid_measure_walls, fluid_measure_args, i, 5 * sizeof(real) + 12, 0, 4 * sizeof(real), 40) {
    const fluid_walls *w = &a->walls;
    uint32_t *corner = w->corner + FLUID_CORNER * i;
    w->distance[(size_t)w->count * w->stride + i] = (real)1e15;
    for (int k = 0; k < FLUID_CORNER; k++) corner[k] = (uint32_t)w->count;
    for (int c = 0; c < w->count && a->role[i] >= 0; c++) {
        const size_t at = (size_t)c * w->stride + i;
        const collider_gap gap = collider_gap_near(a->collider + c, load3(a->p, i), w->reach);
        w->distance[at] = real_max(gap.distance, 0);
        w->normal[4 * at] = gap.normal.x;
        w->normal[4 * at + 1] = gap.normal.y;
        w->normal[4 * at + 2] = gap.normal.z;
        if (a->moving)
            w->normal[4 * at + 3] = vec3_dot(gap.normal, fluid_surface_goes(a->collider + c, gap, load3(a->p, i)));
        if (gap.distance < w->reach) fluid_note_wall(corner, w->distance + i, w->stride, (uint32_t)c);
    }
}

/* ---- Images ------------------------------------------------------------------------------------------------------ */

/* The walls near each particle of a batch; the neighbours' distances from them are looked up. Loops over these arrays
 * have a constant trip count: indices unknown to the compiler would put the arrays into a GPU's slow memory. */
typedef struct fluid_mirrors {
    int count; /* largest number of walls of a lane */
    uint32_t wall[FLUID_CORNER][PBD_BATCH];
    vreal distance[FLUID_CORNER];
    vvec3 normal[FLUID_CORNER];
    vreal other[FLUID_CORNER];
} fluid_mirrors;

PBD_FN vreal fluid_distances(const fluid_walls *walls, const uint32_t wall[PBD_BATCH], const uint32_t *row, int count) {
    real lane[PBD_BATCH];
    if (count == PBD_BATCH)
        for (int l = 0; l < PBD_BATCH; l++) lane[l] = walls->distance[wall[l] * walls->stride + row[l]];
    else
        for (int l = 0; l < PBD_BATCH; l++)
            lane[l] = walls->distance[wall[l] * walls->stride + row[l < count ? l : count - 1]];
    return batch_load(lane, 0, PBD_BATCH);
}

PBD_FN fluid_mirrors fluid_mirrors_of(const fluid_walls *walls, const uint32_t *own, int count) {
    fluid_mirrors out;
    out.count = 0;
    for (int c = 0; c < FLUID_CORNER && walls->count > 0; c++) {
        real normal[3][PBD_BATCH];
        uint32_t least = (uint32_t)walls->count;
        for (int l = 0; l < PBD_BATCH; l++) {
            const size_t row = own[l < count ? l : count - 1];
            const uint32_t wall = walls->corner[FLUID_CORNER * row + (size_t)c];
            const real *n = walls->normal + 4 * (wall * walls->stride + row);
            out.wall[c][l] = wall;
            least = wall < least ? wall : least;
            for (int d = 0; d < 3; d++) normal[d][l] = n[d];
        }
        if (least == (uint32_t)walls->count) break;
        out.distance[c] = out.other[c] = fluid_distances(walls, out.wall[c], own, count);
        out.normal[c] = vvec3_make(batch_load(normal[0], 0, PBD_BATCH), batch_load(normal[1], 0, PBD_BATCH),
                                   batch_load(normal[2], 0, PBD_BATCH));
        out.count = c + 1;
    }
    return out;
}

PBD_FN void fluid_visit_mirrors(const fluid_walls *walls, fluid_mirrors *m, const uint32_t *at, int count) {
    for (int c = 0; c < FLUID_CORNER; c++)
        if (c < m->count) m->other[c] = fluid_distances(walls, m->wall[c], at, count);
}

/* The squared distance of a pair's image in the mirrors of `set`, a bit mask. */
PBD_FN vreal fluid_image_square(const fluid_mirrors *m, int set, vreal square) {
    for (int c = 0; c < FLUID_CORNER; c++)
        if (set >> c & 1) square += 4 * m->distance[c] * m->other[c];
    return square;
}

/* Half of the gradient of that squared distance with respect to the own position; `d`: the same without mirrors. */
PBD_FN vvec3 fluid_image_arm(const fluid_mirrors *m, int set, vvec3 d) {
    for (int c = 0; c < FLUID_CORNER; c++)
        if (set >> c & 1) d = vvec3_add(d, vvec3_scale(2 * m->other[c], m->normal[c]));
    return d;
}

/* Adds to `by`, for each mirror of `set`, half of what the mirror contributes to an image's term of `move`. This
 * contribution is along the mirror's normal, and is the force of its wall. */
PBD_FN void fluid_note_mirrors(const fluid_mirrors *m, int set, vreal push, vreal by[FLUID_CORNER]) {
    for (int c = 0; c < FLUID_CORNER; c++)
        if (set >> c & 1) by[c] += push * m->other[c];
}

#endif
