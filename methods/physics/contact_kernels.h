/* Kernels of contact: between particles, and of particles with colliders. contact.h says what they make up. */
#ifndef PBD_CONTACT_KERNELS_H
#define PBD_CONTACT_KERNELS_H

#include "harness/exec/kernel.h"
#include "methods/physics/collider_shapes.h"
#include "methods/physics/grid_search.h"

PBD_FN vec3 contact_row(const real *rows, size_t i) { return vec3_make(rows[4 * i], rows[4 * i + 1], rows[4 * i + 2]); }

/* ---- Who may meet whom ------------------------------------------------------------------------------------------- */

/* A search writes down at once what it finds, up to so many. */
enum { CONTACTS_KEPT = 24 };

typedef struct contact_search_args {
    grid_view grid;   /* its fourth column: radii */
    const real *rest; /* rows by particle: place at rest, and the number of its body */
    const real *body; /* by place, and PBD_BATCH more: that number */
    real margin;
    real self_square; /* m^2: of one body are pairs that were farther apart at rest; below 0: none are */
    int between;
    uint32_t *first; /* by slot: how many, then (after a scan) where they begin */
    uint32_t *kept;  /* CONTACTS_KEPT by place: what the count came by; of use where there were no more */
    uint32_t *list;  /* particles, ascending */
} contact_search_args;

/* Two of one body: were they far enough apart at rest? */
PBD_FN int contact_far_at_rest(const contact_search_args *a, uint32_t i, uint32_t j) {
    const real *one = a->rest + 4 * (size_t)i, *other = a->rest + 4 * (size_t)j;
    const real x = one[0] - other[0], y = one[1] - other[1], z = one[2] - other[2];
    return x * x + y * y + z * z > a->self_square;
}

/* Goes through those near place k whom it may meet; writes down, in ascending order, those that fit. Returns how many
 * there are. */
PBD_FN uint32_t contact_candidates(const contact_search_args *a, uint32_t k, uint32_t *list, uint32_t fit) {
    const grid_view *g = &a->grid;
    const vec3 x = grid_position(g, k);
    const real reach = g->w[k] + a->margin;
    const uint32_t particle = g->particle[k];
    const grid_cell cell = grid_cell_of(g->bits, g->inverse_cell, x);
    const int step = grid_stretch_step(g, cell);
    uint32_t found = 0;
    for (int s = 0; s < GRID_STRETCHES; s += step) {
        const grid_stretch places = grid_stretch_of(g, cell, s);
        for (uint32_t at = places.begin; at < places.end; at += PBD_BATCH) {
            const vreal sum = batch_load(g->w, at, PBD_BATCH) + reach;
            uint32_t near = batch_bits(grid_squares(g, x, at) < sum * sum) & grid_lanes(at, places.end, k);
            const uint32_t own = batch_bits(batch_load(a->body, at, PBD_BATCH) == a->body[k]);
            near &= (a->between ? ~own : 0) | (a->self_square >= 0 ? own : 0);
            for (; near; near &= near - 1) {
                const int lane = lowest_bit(near);
                const uint32_t other = g->particle[at + (uint32_t)lane];
                if ((own >> lane & 1) && !contact_far_at_rest(a, particle, other)) continue;
                uint32_t to = found++;
                if (to >= fit) continue;
                for (; to > 0 && list[to - 1] > other; to--) list[to] = list[to - 1];
                list[to] = other;
            }
        }
    }
    return found;
}

typedef struct contact_bodies_args {
    const uint32_t *particle; /* by place */
    const real *rest;
    real *body;
} contact_bodies_args;

PBD_FN void place_bodies(const contact_bodies_args *a, size_t k) {
    a->body[k] = a->rest[4 * (size_t)a->particle[k] + 3];
}
PBD_ITEM_KERNEL(place_bodies, contact_bodies_args, 2 * sizeof(real) + 4, 0)

PBD_FN void count_contacts(const contact_search_args *a, size_t k) {
    a->first[a->grid.slot[k]] = contact_candidates(a, (uint32_t)k, a->kept + CONTACTS_KEPT * k, CONTACTS_KEPT);
}
PBD_ITEM_KERNEL(count_contacts, contact_search_args, 100 * 4 * sizeof(real), 100 * 11)

PBD_FN void fill_contacts(const contact_search_args *a, size_t k) {
    const uint32_t *first = a->first + a->grid.slot[k];
    const uint32_t count = first[1] - first[0], *kept = a->kept + CONTACTS_KEPT * k;
    uint32_t *list = a->list + first[0];
    if (count > CONTACTS_KEPT)
        contact_candidates(a, (uint32_t)k, list, count);
    else
        for (uint32_t i = 0; i < count; i++) list[i] = kept[i];
}
PBD_ITEM_KERNEL(fill_contacts, contact_search_args, 4 * 8 + 8, 0)

/* ---- One pass of Eq. 12 ------------------------------------------------------------------------------------------ */

typedef struct contact_pass_args {
    const uint32_t *member; /* by slot: the particle */
    const uint32_t *first, *list;
    const real *radius; /* by particle, m */
    const real *x;      /* rows by particle, where the substep began */
    real *p;            /* where they are now; the fourth is the inverse mass */
    real *crowd; /* by particle, 2: how much overlapping pairs add up at most, and how many; NULL: sums as printed */
    real *push;  /* rows by slot, m */
    real friction, relaxation;
} contact_pass_args;

/* How deep particles i and j are in each other, below 0: apart; and the unit vector from j to i. */
typedef struct contact_pair {
    real depth;
    vec3 normal;
} contact_pair;

/* Two particles at one place part along x, the one of the higher number forwards: as good as any other way, and the
 * same from both sides. */
PBD_FN contact_pair contact_pair_of(const real *p, const real *radius, uint32_t i, uint32_t j) {
    const vec3 off = vec3_sub(contact_row(p, i), contact_row(p, j));
    const real square = vec3_dot(off, off), length = real_sqrt(square);
    contact_pair pair;
    pair.depth = radius[i] + radius[j] - length;
    pair.normal = length > 0 ? vec3_scale(1 / length, off) : vec3_make(i > j ? (real)1 : (real)-1, 0, 0);
    return pair;
}

/* depth > 0 without a root: most candidates are no contact. */
PBD_FN int contact_overlaps(const real *p, const real *radius, uint32_t i, uint32_t j) {
    const vec3 off = vec3_sub(contact_row(p, i), contact_row(p, j));
    const real sum = radius[i] + radius[j];
    return vec3_dot(off, off) < sum * sum;
}

/* At least the largest eigenvalue of a symmetric matrix (xx yy zz xy yz zx) that has none below 0, and at most 1.15
 * times it: the eighth root of the sum of all eighth powers. */
PBD_FN real contact_largest(const real given[6]) {
    real m[6];
    for (int k = 0; k < 6; k++) m[k] = given[k];
    for (int twice = 0; twice < 2; twice++) {
        const real xx = m[0], yy = m[1], zz = m[2], xy = m[3], yz = m[4], zx = m[5];
        m[0] = xx * xx + xy * xy + zx * zx;
        m[1] = xy * xy + yy * yy + yz * yz;
        m[2] = zx * zx + yz * yz + zz * zz;
        m[3] = xx * xy + xy * yy + zx * yz;
        m[4] = xy * zx + yy * yz + yz * zz;
        m[5] = zx * xx + yz * xy + zz * zx;
    }
    const real square = m[0] * m[0] + m[1] * m[1] + m[2] * m[2] + 2 * (m[3] * m[3] + m[4] * m[4] + m[5] * m[5]);
    return real_sqrt(real_sqrt(real_sqrt(square)));
}

/* A crowd's pushes add up to at most the largest eigenvalue of sum n n^T over its pairs (find_pushes). */
PBD_FN void measure_crowds(const contact_pass_args *a, size_t slot) {
    const uint32_t i = a->member[slot];
    real sum[6] = {0, 0, 0, 0, 0, 0}, count = 0;
    for (uint32_t k = a->first[slot]; k < a->first[slot + 1]; k++) {
        const uint32_t j = a->list[k];
        if (!contact_overlaps(a->p, a->radius, i, j)) continue;
        const vec3 n = contact_pair_of(a->p, a->radius, i, j).normal;
        sum[0] += n.x * n.x;
        sum[1] += n.y * n.y;
        sum[2] += n.z * n.z;
        sum[3] += n.x * n.y;
        sum[4] += n.y * n.z;
        sum[5] += n.z * n.x;
        count += 1;
    }
    a->crowd[2 * (size_t)i] = count > 0 ? contact_largest(sum) : 0;
    a->crowd[2 * (size_t)i + 1] = count;
}
PBD_ITEM_KERNEL(measure_crowds, contact_pass_args, 4 * (4 * sizeof(real) + 4), 4 * 20)

PBD_FN real contact_larger(const real *crowd, uint32_t i, uint32_t j, int entry) {
    return real_most(crowd[2 * (size_t)i + (size_t)entry], crowd[2 * (size_t)j + (size_t)entry]);
}

/* What each particle is to be moved by, from both sides of every pair the same numbers, so that m times them sum to
 * zero. Where many pairs meet, plain sums overshoot. With shares s_e of the pairs e, one pass of these projections has
 * no eigenvalue above the largest of sum s_e n n^T over the pairs of any one particle, whatever the masses: since
 * (sqrt(w_i) a - sqrt(w_j) b)^2 <= (w_i + w_j)(a^2 + b^2). So s_e = relaxation/(the larger of the two particles'
 * largest eigenvalues of sum n n^T), 1 at most, cannot diverge for a relaxation below 2. One number for each pair: one
 * for each particle would lose momentum. Friction acts across n, where all pairs of a particle may pull one way: there
 * the share is 1/(the larger of their numbers of pairs). */
PBD_FN void find_pushes(const contact_pass_args *a, size_t slot) {
    const uint32_t i = a->member[slot];
    const real w = a->p[4 * (size_t)i + 3];
    const vec3 moved = vec3_sub(contact_row(a->p, i), contact_row(a->x, i));
    vec3 sum = vec3_make(0, 0, 0);
    const int alone = a->crowd && !(a->crowd[2 * (size_t)i + 1] > 0); /* most are: no second look */
    for (uint32_t k = a->first[slot]; k < a->first[slot + 1] && !alone; k++) {
        const uint32_t j = a->list[k];
        const real both = w + a->p[4 * (size_t)j + 3];
        if (!contact_overlaps(a->p, a->radius, i, j) || !(both > 0)) continue;
        const contact_pair pair = contact_pair_of(a->p, a->radius, i, j);
        real share = 1, across = 1;
        if (a->crowd) {
            share = real_least(1, a->relaxation / real_most(1, contact_larger(a->crowd, i, j, 0)));
            across = real_least(share, 1 / real_most(1, contact_larger(a->crowd, i, j, 1)));
        }
        vec3 away = vec3_scale(share * pair.depth, pair.normal);
        if (a->friction > 0) {
            const vec3 slip = vec3_sub(moved, vec3_sub(contact_row(a->p, j), contact_row(a->x, j)));
            away = vec3_sub(away, friction_of(vec3_scale(across, slip), pair.normal, a->friction * share * pair.depth));
        }
        sum = vec3_add(sum, vec3_scale(w / both, away));
    }
    real *push = a->push + 4 * slot;
    push[0] = sum.x;
    push[1] = sum.y;
    push[2] = sum.z;
}
PBD_ITEM_KERNEL(find_pushes, contact_pass_args, 4 * (8 * sizeof(real) + 8), 4 * 45)

PBD_FN void apply_pushes(const contact_pass_args *a, size_t slot) {
    real *p = a->p + 4 * (size_t)a->member[slot];
    for (size_t d = 0; d < 3; d++) p[d] += a->push[4 * slot + d];
}
PBD_ITEM_KERNEL(apply_pushes, contact_pass_args, 12 * sizeof(real), 3)

/* ---- Colliders --------------------------------------------------------------------------------------------------- */

typedef struct collide_args {
    const collider_pose *collider;
    int colliders;
    const real *radius; /* by particle; NULL: points */
    const real *x;
    real *p;
} collide_args;

/* Out of each collider in turn, then back along its surface by friction. */
PBD_FN void collide(const collide_args *a, size_t i) {
    real *row = a->p + 4 * i;
    if (!(row[3] > 0)) return; /* held */
    const real radius = a->radius ? a->radius[i] : 0;
    const vec3 start = contact_row(a->x, i);
    vec3 p = contact_row(a->p, i);
    for (int c = 0; c < a->colliders; c++) {
        const collider_pose *collider = a->collider + c;
        const collider_gap gap = collider_gap_at(collider, p);
        const real depth = radius - gap.distance;
        if (!(depth > 0)) continue;
        p = vec3_add(p, vec3_scale(depth, gap.normal));
        if (!(collider->friction > 0)) continue;
        const vec3 carried = collider_carried(collider, vec3_sub(p, vec3_scale(radius, gap.normal)));
        const vec3 slip = vec3_sub(vec3_sub(p, start), carried);
        p = vec3_sub(p, friction_of(slip, gap.normal, collider->friction * depth));
    }
    row[0] = p.x;
    row[1] = p.y;
    row[2] = p.z;
}
PBD_ITEM_KERNEL(collide, collide_args, 12 * sizeof(real), 60)

/* ---- What is measured after a substep ---------------------------------------------------------------------------- */

/* Each number is the worst that its particle ever saw, but for `pairs`, which is of now. */
typedef struct contact_watch_args {
    contact_pass_args pass; /* its x and p are not looked at */
    const real *rest, *p;
    uint32_t *pairs; /* by slot: pairs that touch, to a hundredth of their distance */
    real *depth;     /* by slot: of a pair, m */
    real *near;      /* by slot: minus the distance of a pair of one body, m */
} contact_watch_args;

PBD_FN void watch_pairs(const contact_watch_args *a, size_t slot) {
    const contact_pass_args *pass = &a->pass;
    const uint32_t i = pass->member[slot];
    uint32_t pairs = 0;
    real depth = a->depth[slot], near = a->near[slot];
    for (uint32_t k = pass->first[slot]; k < pass->first[slot + 1]; k++) {
        const uint32_t j = pass->list[k];
        if (!(a->p[4 * (size_t)i + 3] + a->p[4 * (size_t)j + 3] > 0)) continue; /* both held: nothing to be done */
        const real now = contact_pair_of(a->p, pass->radius, i, j).depth;
        const real minus_distance = now - pass->radius[i] - pass->radius[j];
        pairs += now > (real)-0.01 * (pass->radius[i] + pass->radius[j]);
        depth = now > depth ? now : depth;
        near =
            a->rest[4 * (size_t)i + 3] == a->rest[4 * (size_t)j + 3] && minus_distance > near ? minus_distance : near;
    }
    a->pairs[slot] = pairs;
    a->depth[slot] = depth;
    a->near[slot] = near;
}
PBD_ITEM_KERNEL(watch_pairs, contact_watch_args, 4 * (5 * sizeof(real) + 4), 4 * 15)

typedef struct wall_watch_args {
    const collider_pose *collider;
    int colliders;
    const real *p;
    real *beyond; /* by particle: how far its centre was inside a collider, m; below 0: never */
} wall_watch_args;

PBD_FN void watch_walls(const wall_watch_args *a, size_t i) {
    if (!(a->p[4 * i + 3] > 0)) return;
    real most = a->beyond[i];
    for (int c = 0; c < a->colliders; c++) {
        const real now = -collider_gap_at(a->collider + c, contact_row(a->p, i)).distance;
        most = now > most ? now : most;
    }
    a->beyond[i] = most;
}
PBD_ITEM_KERNEL(watch_walls, wall_watch_args, 6 * sizeof(real), 30)

/* By block of CONTACT_BLOCK slots or particles, so that the host reads little. */
enum { CONTACT_BLOCK = 256, CONTACT_SUMS = 4 };

typedef struct contact_sum_args {
    const uint32_t *pairs;
    const real *depth, *near, *beyond; /* NULL: none */
    size_t slots, particles;
    real tolerance; /* m: beyond a collider by more */
    real *out;      /* CONTACT_SUMS by block: pairs (each twice), largest depth, largest -distance, particles beyond */
} contact_sum_args;

PBD_FN void sum_contacts(const contact_sum_args *a, size_t block) {
    real pairs = 0, depth = 0, near = -(real)1e30, beyond = 0;
    const size_t first = block * CONTACT_BLOCK;
    for (size_t s = first; a->pairs && s < first + CONTACT_BLOCK && s < a->slots; s++) {
        pairs += (real)a->pairs[s];
        depth = a->depth[s] > depth ? a->depth[s] : depth;
        near = a->near[s] > near ? a->near[s] : near;
    }
    for (size_t i = first; a->beyond && i < first + CONTACT_BLOCK && i < a->particles; i++)
        beyond += (real)(a->beyond[i] > a->tolerance);
    real *out = a->out + CONTACT_SUMS * block;
    out[0] = pairs;
    out[1] = depth;
    out[2] = near;
    out[3] = beyond;
}
PBD_ITEM_KERNEL(sum_contacts, contact_sum_args, CONTACT_BLOCK *(3 * sizeof(real) + 4), CONTACT_BLOCK * 4)

#endif
