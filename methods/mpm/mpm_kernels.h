/* Kernels of mpm. README.md has the equations.
 *
 * Particles have fixed places in memory: MPM_ROWS rows of four reals each, two cache lines in f32. Each substep sorts
 * them by cell of the background grid. On a GPU the data for the grid are copied to columns in that order, and each
 * node gathers from the 27 cells around it; on a processor each particle is added to its 27 nodes. Neither needs
 * atomics, and results do not depend on threads.
 *
 * Lengths on the grid are in cells: y = (x - origin)/spacing, the cell is floor(y), and node i is at i - 1/2, so that a
 * particle in cell b interacts with nodes b, b + 1 and b + 2 along each axis. Cells and nodes have the same
 * numbering. */
#ifndef PBD_MPM_KERNELS_H
#define PBD_MPM_KERNELS_H

#include "harness/exec/batch.h"
#include "harness/exec/kernel.h"
#include "harness/exec/tile.h"
#include "methods/mpm/mpm_stress_kernels.h"
#include "methods/mpm/quad.h"
#include "methods/physics/space/grid_search.h"
#include "methods/physics/surface/collider_pose.h"

/* Columns, by place in the order of cells. */
enum { MPM_Y = 0, MPM_MASS = 3, MPM_MOMENTUM = 4, MPM_MOMENTS = 7, MPM_HELD = 16, MPM_COLUMNS = 17 };

enum { MPM_SEGMENT = 8, MPM_MEASURE_BLOCK = 16, MPM_MEASURED = 8 };
/* How many particles ahead a row is prefetched: of those in order of memory, and of those in order of cells. */
enum { MPM_AHEAD = 16, MPM_NEXT = 8 };

typedef struct mpm_box {
    real origin[3]; /* m */
    real inverse;   /* 1/m: 1/cell size */
    int nodes[3];   /* the first a multiple of MPM_SEGMENT */
} mpm_box;

PBD_FN real mpm_cells_from(const mpm_box *b, int d, real x) { return (x - b->origin[d]) * b->inverse; }

/* ---- Bounding box and largest speed ------------------------------------------------------------------------------ */

typedef struct mpm_measure_args {
    const real *rows;
    size_t count;
    real *seen; /* MPM_MEASURED by block: smallest x, y, z, largest x, y, z, largest squared speed, number of non-finite
                   particles */
} mpm_measure_args;

PBD_ITEM(mpm_measure, mpm_measure_args, block, MPM_MEASURE_BLOCK * 8 * sizeof(real), MPM_MEASURE_BLOCK * 14) {
    const size_t end = (block + 1) * MPM_MEASURE_BLOCK < a->count ? (block + 1) * MPM_MEASURE_BLOCK : a->count;
    const real far = (real)1e18;
    real low[3] = {far, far, far}, high[3] = {-far, -far, -far}, fastest = 0, not_finite = 0;
    for (size_t i = block * MPM_MEASURE_BLOCK; i < end; i++) {
        const real *x = a->rows + 4 * MPM_ROWS * i, *v = x + 4 * MPM_MOTION;
        batch_prefetch(x + 4 * MPM_ROWS * MPM_AHEAD);
        const real square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        int fine = square < far;
        for (int d = 0; d < 3; d++) {
            fine &= x[d] > -far && x[d] < far;
            low[d] = real_min(x[d], low[d]);
            high[d] = real_max(x[d], high[d]);
        }
        fastest = real_max(square, fastest);
        not_finite += (real)!fine;
    }
    real *out = a->seen + MPM_MEASURED * block;
    for (int d = 0; d < 3; d++) {
        out[d] = low[d];
        out[3 + d] = high[d];
    }
    out[6] = fastest;
    out[7] = not_finite;
}

/* ---- Sorting by cell --------------------------------------------------------------------------------------------- */

typedef struct mpm_keys_args {
    const real *rows;
    uint32_t *key, *slot;
    mpm_box box;
} mpm_keys_args;

PBD_ITEM(mpm_keys, mpm_keys_args, i, 4 * sizeof(real) + 8, 12) {
    const real *x = a->rows + 4 * MPM_ROWS * i;
    batch_prefetch(x + 4 * MPM_ROWS * MPM_AHEAD);
    uint32_t cell[3];
    for (int d = 0; d < 3; d++) {
        const real at = real_floor(mpm_cells_from(&a->box, d, x[d]));
        cell[d] = at >= 0 && at < (real)a->box.nodes[d] ? (uint32_t)at : 0;
    }
    const uint32_t nx = (uint32_t)a->box.nodes[0], ny = (uint32_t)a->box.nodes[1];
    a->key[i] = cell[0] + nx * (cell[1] + ny * cell[2]);
    a->slot[i] = (uint32_t)i;
}

PBD_BATCH_OF(mpm_cells, grid_cells_args, first, count, 8, 20) { grid_find_firsts(a, first, count); }

typedef struct mpm_spread_args {
    const real *rows;
    const real *load; /* accelerations by particle, rows of 4; NULL: only gravity */
    const uint32_t *slot;
    real *column; /* MPM_COLUMNS of `stride` each */
    size_t stride;
    mpm_box box;
    real dt;
    int holds; /* there are held particles */
} mpm_spread_args;

PBD_FN void mpm_index(const uint32_t *slot, int count, uint32_t index[PBD_BATCH]) {
    for (int l = 0; l < PBD_BATCH; l++) index[l] = MPM_ROWS * slot[l < count ? l : count - 1];
}

PBD_BATCH_OF(mpm_spread, mpm_spread_args, k, count, (20 + 16) * sizeof(real) + 4, 9) {
    uint32_t index[PBD_BATCH];
    vreal place[4], motion[4], affine[12];
    mpm_index(a->slot + k, count, index);
    mpm_load(a->rows, MPM_PLACE, 1, index, count, place);
    mpm_load(a->rows, MPM_MOTION, 1, index, count, motion);
    mpm_load(a->rows, MPM_AFFINE, 3, index, count, affine);
    if (a->load) {
        vreal load[4];
        batch_load_rows(a->load, a->slot + k, 1, count, load);
        for (int d = 0; d < 3; d++) motion[d] += a->dt * load[d];
    }
    real *out = a->column + k;
    for (int d = 0; d < 3; d++) {
        const vreal y = (place[d] - a->box.origin[d]) * a->box.inverse;
        batch_store(out + (size_t)(MPM_Y + d) * a->stride, 0, count, y);
        batch_store(out + (size_t)(MPM_MOMENTUM + d) * a->stride, 0, count, place[3] * motion[d]);
    }
    batch_store(out + MPM_MASS * a->stride, 0, count, place[3]);
    for (int e = 0; e < 9; e++) batch_store(out + (size_t)(MPM_MOMENTS + e) * a->stride, 0, count, affine[e]);
    if (a->holds)
        batch_store(out + MPM_HELD * a->stride, 0, count, vreal_where(affine[MPM_INVERSE] > 0, vreal_set(0), place[3]));
}

/* ---- Particles to grid ------------------------------------------------------------------------------------------- */

typedef struct mpm_grid_args {
    const real *column;
    size_t stride;
    const uint32_t *first;
    real *node;  /* rows: momentum, then velocity; mass */
    real *held;  /* by node: mass of held particles, plus MPM_HOLDS times that of those nearest to it; NULL: none */
    int *active; /* by segment: whether particles are near */
    mpm_box box;
    /* For move_grid. */
    const collider_pose *collider;
    int colliders, walls;
    collider_sums sums; /* by node */
    real dt, keep;      /* keep: damping factor of velocities */
    real gravity[3];
} mpm_grid_args;

enum { MPM_WALLS_COULOMB, MPM_WALLS_STICKY, MPM_WALLS_SLIP };

/* The quadratic B-spline: 3/4 - d^2 up to 1/2, (3/2 - d)^2/2 up to 3/2, without branches. */
PBD_FN vreal mpm_spline(vreal d) {
    const vreal zero = vreal_set(0), size = vreal_abs(d);
    const vreal outer = vreal_max((real)1.5 - size, zero), inner = vreal_max((real)0.5 - size, zero);
    return (real)0.5 * outer * outer - (real)1.5 * inner * inner;
}

PBD_FN vreal batch_lanes(void) { /* 0, 1, 2... */
#if PBD_BATCH == 1
    return 0;
#else
    vreal out = vreal_set(0);
    for (int l = 0; l < PBD_BATCH; l++) out[l] = (real)l;
    return out;
#endif
}

/* Larger than any mass ratio, so that the node nearest to a held particle is always fixed. */
#define MPM_HOLDS 1e6

typedef struct mpm_sums {
    vreal momentum[3], mass, held;
} mpm_sums;

/* Adds the contributions of particles [begin, end) to the node at `at`, in cells. */
PBD_FN void mpm_gather(const mpm_grid_args *a, const real at[3], uint32_t begin, uint32_t end, mpm_sums *s) {
    for (uint32_t k = begin + (uint32_t)PBD_LANE * PBD_BATCH; k < end; k += PBD_LANES * PBD_BATCH) {
        const real *c = a->column + k;
        const size_t n = a->stride;
        const vreal dx = at[0] - batch_load(c + MPM_Y * n, 0, PBD_BATCH);
        const vreal dy = at[1] - batch_load(c + (MPM_Y + 1) * n, 0, PBD_BATCH);
        const vreal dz = at[2] - batch_load(c + (MPM_Y + 2) * n, 0, PBD_BATCH);
        vreal w = mpm_spline(dx) * mpm_spline(dy) * mpm_spline(dz);
        w = vreal_where(batch_lanes() < (real)(end - k), w, vreal_set(0));
        for (size_t d = 0; d < 3; d++) {
            const vreal p = batch_load(c + (MPM_MOMENTUM + d) * n, 0, PBD_BATCH) +
                            dx * batch_load(c + (MPM_MOMENTS + d) * n, 0, PBD_BATCH) +
                            dy * batch_load(c + (MPM_MOMENTS + 3 + d) * n, 0, PBD_BATCH) +
                            dz * batch_load(c + (MPM_MOMENTS + 6 + d) * n, 0, PBD_BATCH);
            s->momentum[d] += w * p;
        }
        s->mass += w * batch_load(c + MPM_MASS * n, 0, PBD_BATCH);
        if (!a->held) continue;
        const vreal half = vreal_set((real)0.5),
                    mine = vreal_where(w > 0, batch_load(c + MPM_HELD * n, 0, PBD_BATCH), 0 * half);
        const vmask nearest = (vreal_abs(dx) <= half) & (vreal_abs(dy) <= half) & (vreal_abs(dz) <= half);
        s->held += mine * vreal_where(nearest, vreal_set((real)MPM_HOLDS), w);
    }
}

/* MPM_SEGMENT consecutive nodes along x, and the rows of cells from which they gather. */
typedef struct mpm_segment {
    int x, y, z;   /* of its first node */
    uint32_t rows; /* bit 3 dz + dy: there are particles in the row of cells dy - 2, dz - 2 away. An array would be in a
                      GPU's slow memory */
} mpm_segment;

/* The first cell of row `bit`; a row outside of the box has no bit. */
PBD_FN uint32_t mpm_row_of(const mpm_grid_args *a, const mpm_segment *s, int bit) {
    const uint32_t y = (uint32_t)(s->y - 2 + bit % 3), z = (uint32_t)(s->z - 2 + bit / 3);
    return (uint32_t)a->box.nodes[0] * (y + (uint32_t)a->box.nodes[1] * z);
}

PBD_FN mpm_segment mpm_segment_of(const mpm_grid_args *a, size_t number) {
    const size_t across = (size_t)a->box.nodes[0] / MPM_SEGMENT, line = number / across;
    mpm_segment s;
    s.x = (int)(number - line * across) * MPM_SEGMENT;
    s.z = (int)(line / (size_t)a->box.nodes[1]);
    s.y = (int)(line - (size_t)s.z * (size_t)a->box.nodes[1]);
    s.rows = 0;
    const uint32_t from = s.x >= 2 ? (uint32_t)s.x - 2 : 0;
    for (int bit = 0; bit < 9; bit++) {
        if (s.y - 2 + bit % 3 < 0 || s.z - 2 + bit / 3 < 0) continue;
        const uint32_t row = mpm_row_of(a, &s, bit);
        if (a->first[row + from] < a->first[row + (uint32_t)s.x + MPM_SEGMENT]) s.rows |= 1u << bit;
    }
    return s;
}

PBD_FN size_t mpm_node_of(const mpm_box *b, int x, int y, int z) {
    return (size_t)x + (size_t)b->nodes[0] * ((size_t)y + (size_t)b->nodes[1] * (size_t)z);
}

/* Work: all segments, and particles, each gathered by 27 nodes. A particle's columns count once, since they are in the
 * cache for the other nodes. */
PBD_TILE_OVER(particles_to_grid, mpm_grid_args, number, 4 * MPM_SEGMENT * sizeof(real) + 76, 0, 16 * sizeof(real),
              27 * 42) {
    const mpm_segment s = mpm_segment_of(a, number);
    if (PBD_LANE == 0) a->active[number] = s.rows > 0;
    if (s.rows == 0) return; /* uniform over the tile; its nodes are not read */
    for (int x = s.x; x < s.x + MPM_SEGMENT; x++) {
        const real at[3] = {(real)x - (real)0.5, (real)s.y - (real)0.5, (real)s.z - (real)0.5};
        const vreal zero = vreal_set(0);
        mpm_sums sums = {{zero, zero, zero}, zero, zero};
        for (uint32_t left = s.rows; left; left &= left - 1) {
            const uint32_t *first = a->first + mpm_row_of(a, &s, lowest_bit(left));
            mpm_gather(a, at, first[x >= 2 ? x - 2 : 0], first[x + 1], &sums);
        }
        real total[5] = {batch_total(sums.momentum[0]), batch_total(sums.momentum[1]), batch_total(sums.momentum[2]),
                         batch_total(sums.mass), a->held ? batch_total(sums.held) : 0};
        tile_sums(total, 5);
        if (PBD_LANE != 0) continue;
        const size_t node = mpm_node_of(&a->box, x, s.y, s.z);
        for (size_t d = 0; d < 4; d++) a->node[4 * node + d] = total[d];
        if (a->held) a->held[node] = total[4];
    }
}

/* ---- Particles to grid, on a processor --------------------------------------------------------------------------- */

/* A processor takes each particle once, and adds to the 27 nodes around it. The particles of a line of cells along x
 * add to three lines of nodes along y and along z. Lines of one of nine colours share no node, so no two threads write
 * to the same node, and results do not depend on threads. */
enum { MPM_LINE_STEP = 3, MPM_COLOURS = MPM_LINE_STEP * MPM_LINE_STEP };

typedef struct mpm_add_args {
    mpm_grid_args grid;
    const real *rows, *load; /* load: as in mpm_spread_args */
    const uint32_t *slot;
    int y, z, across; /* the first line of this colour, in cells; its lines along y */
} mpm_add_args;

/* Sets the nodes near particles to 0. */
PBD_TILE(mpm_clear, mpm_grid_args, number, 4 * MPM_SEGMENT * sizeof(real) + 76, 0) {
    const mpm_segment s = mpm_segment_of(a, number);
    if (PBD_LANE == 0) a->active[number] = s.rows > 0;
    if (s.rows == 0) return;
    for (int x = s.x + PBD_LANE; x < s.x + MPM_SEGMENT; x += PBD_LANES) {
        const size_t node = mpm_node_of(&a->box, x, s.y, s.z);
        quad_store(a->node + 4 * node, quad_all(0));
        if (a->held) a->held[node] = 0;
    }
}

/* Weights of the three nodes along each axis, and the distance of the first, in cells; entries 0 .. 2: x, y, z. */
typedef struct mpm_near {
    quad w[3], d;
    size_t node; /* the first of the 27 */
} mpm_near;

PBD_FN mpm_near mpm_near_of(const mpm_box *b, const real *place) {
    mpm_near out;
    const quad origin = quad_with(quad_with(quad_with(quad_all(0), 0, b->origin[0]), 1, b->origin[1]), 2, b->origin[2]);
    const quad at = quad_mul(quad_plus(quad_load(place), -1, origin), quad_all(b->inverse)), cell = quad_floor(at),
               f = quad_plus(at, -1, cell), g = quad_plus(quad_all(1), -1, f),
               middle = quad_plus(f, -1, quad_all((real)0.5));
    out.w[0] = quad_mul(quad_mul(quad_all((real)0.5), g), g);
    out.w[1] = quad_plus(quad_all((real)0.75), -1, quad_mul(middle, middle));
    out.w[2] = quad_mul(quad_mul(quad_all((real)0.5), f), f);
    out.d = quad_plus(quad_all((real)-0.5), -1, f);
    out.node = mpm_node_of(b, (int)quad_get(cell, 0), (int)quad_get(cell, 1), (int)quad_get(cell, 2));
    return out;
}

/* As mpm_gather's sum of held mass, of one held particle. */
PBD_FN void mpm_add_held(const mpm_grid_args *g, const mpm_near *n, real mass) {
    const real half = (real)0.5;
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++) {
                const real w = quad_get(n->w[i], 0) * quad_get(n->w[j], 1) * quad_get(n->w[k], 2);
                const int nearest = real_abs(quad_get(n->d, 0) + (real)i) <= half &&
                                    real_abs(quad_get(n->d, 1) + (real)j) <= half &&
                                    real_abs(quad_get(n->d, 2) + (real)k) <= half;
                if (w > 0) g->held[n->node + mpm_node_of(&g->box, i, j, k)] += mass * (nearest ? (real)MPM_HOLDS : w);
            }
}

PBD_FN void mpm_add(const mpm_add_args *a, uint32_t particle) {
    const mpm_grid_args *g = &a->grid;
    const real *row = a->rows + 4 * MPM_ROWS * (size_t)particle, *affine = row + 4 * MPM_AFFINE;
    const real mass = row[3];
    const mpm_near n = mpm_near_of(&g->box, row);
    quad v = quad_load(row + 4 * MPM_MOTION);
    if (a->load) v = quad_plus(v, g->dt, quad_load(a->load + 4 * (size_t)particle));
    /* The momentum at a node, and the mass, which has no slope. */
    const quad x = quad_with(quad_load(affine), 3, 0), y = quad_with(quad_load(affine + 3), 3, 0),
               z = quad_with(quad_load(affine + 6), 3, 0);
    quad layer = quad_mul(quad_all(mass), quad_with(v, 3, 1));
    layer = quad_plus(layer, quad_get(n.d, 0), x);
    layer = quad_plus(layer, quad_get(n.d, 1), y);
    layer = quad_plus(layer, quad_get(n.d, 2), z);
    const quad across[3] = {quad_all(quad_get(n.w[0], 0)), quad_all(quad_get(n.w[1], 0)),
                            quad_all(quad_get(n.w[2], 0))};
    const size_t next_line = 4 * mpm_node_of(&g->box, 0, 1, 0), next_layer = 4 * mpm_node_of(&g->box, 0, 0, 1);
    real *first = g->node + 4 * n.node;
    for (int k = 0; k < 3; k++) {
        quad line = layer;
        for (int j = 0; j < 3; j++) {
            const quad w = quad_all(quad_get(n.w[j], 1) * quad_get(n.w[k], 2)), slope = quad_mul(w, x);
            real *node = first + (size_t)j * next_line;
            quad at = quad_mul(w, line);
            for (int i = 0; i < 3; i++) {
                quad_store(node + 4 * i, quad_add(quad_load(node + 4 * i), quad_mul(across[i], at)));
                at = quad_add(at, slope);
            }
            line = quad_add(line, y);
        }
        layer = quad_add(layer, z);
        first += next_layer;
    }
    if (g->held && !(affine[MPM_INVERSE] > 0)) mpm_add_held(g, &n, mass);
}

/* Work: the lines of a colour, and particles. */
PBD_TILE_OVER(mpm_add_lines, mpm_add_args, item, 8, 0, 20 * sizeof(real) + 4, 27 * 15 + 80) {
    const mpm_box *b = &a->grid.box;
    const size_t y = (size_t)a->y + MPM_LINE_STEP * (item % (size_t)a->across),
                 z = (size_t)a->z + MPM_LINE_STEP * (item / (size_t)a->across),
                 line = mpm_node_of(b, 0, (int)y, (int)z);
    if (PBD_LANE != 0) return;
    const uint32_t end = a->grid.first[line + (size_t)b->nodes[0]];
    for (uint32_t k = a->grid.first[line]; k < end; k++) {
        if (k + MPM_NEXT < end) {
            const real *next = a->rows + 4 * MPM_ROWS * (size_t)a->slot[k + MPM_NEXT];
            batch_prefetch(next);
            batch_prefetch(next + 4 * MPM_AFFINE);
            batch_prefetch(next + 4 * (MPM_AFFINE + 2));
        }
        mpm_add(a, a->slot[k]);
    }
}

/* ---- On the grid ------------------------------------------------------------------------------------------------- */

/* Returns the velocity after contact of matter on or inside a collider, with the velocity v; `own`: velocity of the
 * collider's surface. */
PBD_FN vec3 mpm_stopped(const collider_pose *c, int walls, vec3 own, vec3 normal, vec3 v) {
    if (walls == MPM_WALLS_STICKY) return own;
    const vec3 slip = vec3_sub(v, own);
    const real along = vec3_dot(slip, normal);
    if (!(along < 0)) return v;
    v = vec3_sub(v, vec3_scale(along, normal));
    if (walls == MPM_WALLS_SLIP) return v;
    return vec3_sub(v, friction_of(slip, normal, -c->friction * along));
}

/* Returns the velocity after contact of a node at x with the velocity v. */
PBD_FN vec3 mpm_at_wall(const mpm_grid_args *a, const collider_pose *c, vec3 x, vec3 v) {
    const real on = (real)1e-3 / a->box.inverse;
    /* a mesh is searched only as far as particles penetrate in a step */
    const collider_gap gap = collider_gap_near(c, x, (real)2.5 / a->box.inverse);
    if (!(gap.distance < on)) return v;
    return mpm_stopped(c, a->walls, vec3_scale(1 / a->dt, collider_carried(c, x)), gap.normal, v);
}

/* Sums the action of a collider on a node or particle at x, whose velocity it changed from v to now. */
PBD_FN void mpm_note_wall(const collider_sums *sums, real dt, const collider_pose *c, size_t row, real inverse_mass,
                          vec3 x, vec3 v, vec3 now) {
    if (!sums->row || (now.x == v.x && now.y == v.y && now.z == v.z)) return;
    collider_sum(sums, row, inverse_mass, vec3_scale(dt, vec3_sub(now, v)), vec3_scale(dt, v), collider_carried(c, x));
}

PBD_FN void mpm_move_node(const mpm_grid_args *a, int nx, int ny, int nz) {
    const size_t node = mpm_node_of(&a->box, nx, ny, nz);
    real *row = a->node + 4 * node;
    const real mass = row[3], inverse = mass > 0 ? 1 / mass : 0;
    vec3 v = vec3_make(row[0] * inverse + a->dt * a->gravity[0], row[1] * inverse + a->dt * a->gravity[1],
                       row[2] * inverse + a->dt * a->gravity[2]);
    v = vec3_scale(a->keep, v);
    const real size = 1 / a->box.inverse;
    const vec3 x =
        vec3_make(a->box.origin[0] + ((real)nx - (real)0.5) * size, a->box.origin[1] + ((real)ny - (real)0.5) * size,
                  a->box.origin[2] + ((real)nz - (real)0.5) * size);
    const int still = !(mass > 0) || (a->held && a->held[node] > (real)0.4999 * mass);
    for (int c = 0; c < a->colliders; c++) {
        const vec3 now = mpm_at_wall(a, a->collider + c, x, v);
        if (!still) mpm_note_wall(&a->sums, a->dt, a->collider + c, node, inverse, x, v, now);
        v = now;
    }
    row[0] = still ? 0 : v.x;
    row[1] = still ? 0 : v.y;
    row[2] = still ? 0 : v.z;
}

/* Velocities from momenta, gravity, supports and colliders. */
PBD_TILE(move_grid, mpm_grid_args, number, MPM_SEGMENT * 8 * sizeof(real), MPM_SEGMENT * 20) {
    const size_t across = (size_t)a->box.nodes[0] / MPM_SEGMENT, line = number / across;
    const int x = (int)(number - line * across) * MPM_SEGMENT, z = (int)(line / (size_t)a->box.nodes[1]);
    const int y = (int)(line - (size_t)z * (size_t)a->box.nodes[1]);
    if (!a->active[number]) return;
    for (int n = PBD_LANE; n < MPM_SEGMENT; n += PBD_LANES) mpm_move_node(a, x + n, y, z);
}

/* ---- Grid to particles ------------------------------------------------------------------------------------------- */

typedef struct mpm_g2p_args {
    const uint32_t *key, *slot; /* by place: cell, which is also its first of 27 nodes; particle */
    const real *node;
    real *rows;
    size_t count; /* of particles */
    mpm_box box;
    real dt, rate; /* rate: 4 dt/dx */
} mpm_g2p_args;

/* Weights and distances, in cells, of the three nodes along one axis; f in [0, 1): position within the cell. */
typedef struct mpm_axis {
    vreal w[3], d[3];
} mpm_axis;

PBD_FN mpm_axis mpm_axis_of(vreal at) {
    const vreal f = at - vreal_floor(at);
    mpm_axis out;
    out.d[0] = (real)-0.5 - f;
    out.d[1] = (real)0.5 - f;
    out.d[2] = (real)1.5 - f;
    out.w[0] = (real)0.5 * (1 - f) * (1 - f);
    out.w[1] = (real)0.75 - out.d[1] * out.d[1];
    out.w[2] = (real)0.5 * f * f;
    return out;
}

/* sum w v, and B = sum w v d^T. */
typedef struct mpm_gathered {
    vvec3 v;
    vmat3 b;
} mpm_gathered;

PBD_FN mpm_gathered mpm_from_grid(const mpm_g2p_args *a, size_t k, int count, const vreal *place) {
    const mpm_axis x = mpm_axis_of((place[0] - a->box.origin[0]) * a->box.inverse),
                   y = mpm_axis_of((place[1] - a->box.origin[1]) * a->box.inverse),
                   z = mpm_axis_of((place[2] - a->box.origin[2]) * a->box.inverse);
    const vreal zero = vreal_set(0);
    const vvec3 none = vvec3_make(zero, zero, zero);
    mpm_gathered out = {none, {none, none, none}};
    for (int j = 0; j < 9; j++) {
        const vreal w = y.w[j % 3] * z.w[j / 3];
        const real *row = a->node + 4 * mpm_node_of(&a->box, 0, j % 3, j / 3);
        vvec3 sum = none, moment = none; /* over the three along x */
        for (int i = 0; i < 3; i++) {
            vreal node[4];
            batch_load_rows(row + 4 * i, a->key + k, 1, count, node);
            const vvec3 part = vvec3_scale(x.w[i], vvec3_make(node[0], node[1], node[2]));
            sum = vvec3_add(sum, part);
            moment = vvec3_add(moment, vvec3_scale(x.d[i], part));
        }
        sum = vvec3_scale(w, sum);
        out.v = vvec3_add(out.v, sum);
        out.b.x = vvec3_add(out.b.x, vvec3_scale(w, moment));
        out.b.y = vvec3_add(out.b.y, vvec3_scale(y.d[j % 3], sum));
        out.b.z = vvec3_add(out.b.z, vvec3_scale(z.d[j / 3], sum));
    }
    return out;
}

/* New velocities, positions and trial deformation gradients; held particles do not move. */
PBD_BATCH_OF(grid_to_particles, mpm_g2p_args, k, count, (32 + 32) * sizeof(real) + 8, 660) {
    uint32_t index[PBD_BATCH];
    vreal place[4], motion[4], affine[12], stretch[12];
    mpm_index(a->slot + k, count, index);
    mpm_load(a->rows, MPM_PLACE, 1, index, count, place);
    if (k + 3 * PBD_BATCH <= a->count) {
        uint32_t next[PBD_BATCH];
        mpm_index(a->slot + k + 2 * PBD_BATCH, PBD_BATCH, next);
        for (size_t e = 0; e < 4 * MPM_ROWS; e += 64 / sizeof(real)) /* each line of the cache */
            batch_prefetch_rows(a->rows + e, next, PBD_BATCH);
    }
    const mpm_gathered g = mpm_from_grid(a, k, count, place);
    mpm_load(a->rows, MPM_MOTION, 1, index, count, motion);
    mpm_load(a->rows, MPM_AFFINE + 2, 1, index, count, affine + 8);
    mpm_load(a->rows, MPM_STRETCH, 3, index, count, stretch);
    const vreal zero = vreal_set(0), free = vreal_where(affine[MPM_INVERSE] > 0, vreal_set(1), zero);
    const vreal v[3] = {free * g.v.x, free * g.v.y, free * g.v.z};
    for (int d = 0; d < 3; d++) {
        motion[d] = v[d];
        place[d] += a->dt * v[d];
    }
    mpm_entries(vmat3_scale(4 * free * place[3], g.b), affine);
    const vmat3 f = mpm_matrix(stretch);
    mpm_entries(vmat3_add(f, vmat3_scale(vreal_set(a->rate), vmat3_mul(g.b, f))), stretch);
    mpm_store(a->rows, MPM_PLACE, 1, index, count, place);
    mpm_store(a->rows, MPM_MOTION, 1, index, count, motion);
    mpm_store(a->rows, MPM_AFFINE, 3, index, count, affine);
    mpm_store(a->rows, MPM_STRETCH, 3, index, count, stretch);
}

/* ---- Colliders --------------------------------------------------------------------------------------------------- */

typedef struct mpm_walls_args {
    real *rows;
    const collider_pose *collider;
    int colliders, walls;
    collider_sums sums; /* by particle */
    real dt;
} mpm_walls_args;

/* Projects particles that are beyond a surface in spite of the contact at grid nodes, as at a wall thinner than a cell,
 * and corrects their velocities as those of nodes. */
PBD_ITEM(push_from_walls, mpm_walls_args, i, 8 * sizeof(real), 40) {
    real *row = a->rows + 4 * MPM_ROWS * i, *motion = row + 4 * MPM_MOTION;
    const real inverse_mass = row[4 * MPM_AFFINE + MPM_INVERSE];
    batch_prefetch(row + 4 * MPM_ROWS * MPM_AHEAD);
    batch_prefetch(row + 4 * (MPM_ROWS * MPM_AHEAD + 4));
    if (!(inverse_mass > 0)) return;
    for (int c = 0; c < a->colliders; c++) {
        real room;
        const collider_pose *wall = a->collider + c;
        const vec3 x = vec3_make(row[0], row[1], row[2]), v = vec3_make(motion[0], motion[1], motion[2]);
        const collider_gap gap = collider_gap_after(wall, i, x, x, 0, &room);
        if (!(gap.distance < 0)) continue;
        const vec3 on = vec3_sub(x, vec3_scale(gap.distance, gap.normal));
        const vec3 now = mpm_stopped(wall, a->walls, vec3_scale(1 / a->dt, collider_carried(wall, on)), gap.normal, v);
        mpm_note_wall(&a->sums, a->dt, wall, i, inverse_mass, on, v, now);
        row[0] = on.x;
        row[1] = on.y;
        row[2] = on.z;
        motion[0] = now.x;
        motion[1] = now.y;
        motion[2] = now.z;
    }
}

#endif
