/* Kernels of contact between particles, and of particles with colliders. Order of launches: contact.h.
 *
 * A search writes candidate pairs into slices of 16 particles. A pass stores the overlapping pairs, bounds the sum of
 * pushes of each particle, then gathers pushes and friction into p. The colliders follow, one after another. */
#ifndef PBD_CONTACT_KERNELS_H
#define PBD_CONTACT_KERNELS_H

#include "harness/exec/kernel.h"
#include "methods/physics/space/grid_search.h"
#include "methods/physics/surface/collider_pose.h"

PBD_FN vec3 contact_row(const real *rows, size_t i) { return vec3_make(rows[4 * i], rows[4 * i + 1], rows[4 * i + 2]); }

/* ---- Candidate search -------------------------------------------------------------------------------------------- */

/* The counting kernel stores up to this many candidates of each particle. */
enum { CONTACTS_KEPT = 24 };

/* Particles per slice, a multiple of every PBD_BATCH. Row r of a slice has the r-th candidate of each of its particles,
 * so that a batch handles one candidate of each. */
enum { CONTACT_SLICE = 16 };

/* Slices are as long as their longest list. To reduce padding, particles are sorted by their number of candidates,
 * within windows of spatial neighbours to keep memory locality. */
enum { CONTACT_WINDOW_BITS = 10, CONTACT_COUNT_BITS = 6 };

typedef struct contact_search_args {
    grid_view grid;     /* its fourth column: radii */
    const real *rest;   /* rows by particle: rest position; number of the body */
    const real *radius; /* by particle, m */
    const real *body;   /* number of the body, by place, padded by PBD_BATCH */
    real margin;
    real self_square; /* m^2: particles of one body are pairs if farther apart at rest; negative: never */
    int between;
    size_t members;
    uint32_t *count;       /* number of candidates, by place */
    uint32_t *kept;        /* CONTACTS_KEPT by place: candidates stored while counting; complete if they fit */
    uint32_t *key, *order; /* by line of the lists: sort key; place */
    uint32_t *slice;       /* by slice: number of rows; after a scan, first row */
    uint32_t *own;         /* particle, by line */
    uint32_t *list;        /* rows x CONTACT_SLICE: particles, ascending; padded with the own particle */
    real *reach;           /* likewise the sums of two radii, m; 0 in the padding */
} contact_search_args;

/* Given the mask `lanes` of places from `at` on, all of the same body as place k, returns the mask of those far enough
 * from k at rest. */
PBD_FN uint32_t far_at_rest(const contact_search_args *a, uint32_t k, uint32_t at, uint32_t lanes) {
    const real *one = a->rest + 4 * (size_t)a->grid.particle[k];
    uint32_t out = 0;
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t lane = (uint32_t)lowest_bit(lanes);
        const real *other = a->rest + 4 * (size_t)a->grid.particle[at + lane];
        const real x = one[0] - other[0], y = one[1] - other[1], z = one[2] - other[2];
        if (x * x + y * y + z * z > a->self_square) out |= 1u << lane;
    }
    return out;
}

/* The ranges of places that particles of one body in one cell must search, cached for the following particles in the
 * order of cells. Ranges that contain only particles of this body are skipped, unless self-contact is on. */
typedef struct contact_around {
    grid_cell cell;
    real body;
    int stretches; /* negative: not computed yet */
#if PBD_BATCH > 1  /* on a GPU each thread has one particle, and the array would only be in slow memory */
    grid_stretch stretch[GRID_STRETCHES];
#endif
} contact_around;

PBD_FN contact_around around_nothing(void) {
    contact_around out;
    out.cell.at[0] = out.cell.at[1] = out.cell.at[2] = 0;
    out.body = 0;
    out.stretches = -1;
    return out;
}

/* Whether a range has a particle of another body. */
PBD_FN int holds_others(const real *of, real body, grid_stretch places) {
    for (uint32_t at = places.begin; at < places.end; at += PBD_BATCH)
        if (batch_bits(batch_load(of, at, PBD_BATCH) != body) & grid_lanes(at, places.end, places.end)) return 1;
    return 0;
}

PBD_FN void look_around_cell(const contact_search_args *a, uint32_t k, contact_around *around) {
    const grid_view *g = &a->grid;
    const grid_cell cell = grid_cell_of(g->bits, g->inverse_cell, grid_position(g, k));
    const int same =
        cell.at[0] == around->cell.at[0] && cell.at[1] == around->cell.at[1] && cell.at[2] == around->cell.at[2];
    if (around->stretches >= 0 && same && around->body == a->body[k]) return;
    around->cell = cell;
    around->body = a->body[k];
    around->stretches = 0;
#if PBD_BATCH > 1
    for (int s = 0; s < GRID_STRETCHES; s += grid_stretch_step(g, cell)) {
        const grid_stretch places = grid_stretch_of(g, cell, s);
        if (places.begin < places.end && (a->self_square >= 0 || holds_others(a->body, around->body, places)))
            around->stretch[around->stretches++] = places;
    }
#else
    around->stretches = GRID_STRETCHES;
#endif
}

PBD_FN grid_stretch contact_stretch(const contact_search_args *a, const contact_around *around, int s) {
#if PBD_BATCH > 1
    (void)a;
    return around->stretch[s];
#else
    return grid_stretch_of(&a->grid, around->cell, s);
#endif
}

PBD_FN void append_apart(uint32_t *list, uint32_t stride, const uint32_t *from, uint32_t bits) {
    for (; bits; bits &= bits - 1, list += stride) *list = from[lowest_bit(bits)];
}

/* Finds the candidates of place k; writes them to `list`, `stride` apart, while they fit. Returns their number. */
PBD_FN uint32_t contact_candidates(const contact_search_args *a, const contact_around *around, uint32_t k,
                                   uint32_t *list, uint32_t stride, uint32_t fit) {
    const grid_view *g = &a->grid;
    const vec3 x = grid_position(g, k);
    const real radius = g->w[k];
    uint32_t found = 0;
    for (int s = 0; s < around->stretches; s++) {
        const grid_stretch places = contact_stretch(a, around, s);
        for (uint32_t at = places.begin; at < places.end; at += PBD_BATCH) {
            const vreal sum = batch_load(g->w, at, PBD_BATCH) + radius + a->margin; /* symmetric in both */
            const uint32_t near = batch_bits(grid_squares(g, x, at) < sum * sum) & grid_lanes(at, places.end, k);
            const uint32_t own = near & batch_bits(batch_load(a->body, at, PBD_BATCH) == around->body);
            uint32_t meets = a->between ? near & ~own : 0;
            if (a->self_square >= 0 && own) meets |= far_at_rest(a, k, at, own);
            const uint32_t more = (uint32_t)count_bits(meets);
            if (found + more <= fit && stride == 1) append_bits(list + found, fit - found, g->particle + at, meets);
            if (found + more <= fit && stride > 1) append_apart(list + found * stride, stride, g->particle + at, meets);
            found += more;
        }
    }
    return found;
}

typedef struct contact_bodies_args {
    const uint32_t *particle; /* by place */
    const real *rest;
    real *body;
} contact_bodies_args;

PBD_ITEM(place_bodies, contact_bodies_args, k, 2 * sizeof(real) + 4, 0) {
    a->body[k] = a->rest[4 * (size_t)a->particle[k] + 3];
}

PBD_BATCH_OVER(count_contacts, contact_search_args, first, count, 5 * sizeof(real) + 9 * 8 + 12, 30, 5 * sizeof(real),
               11) {
    const uint32_t most = (1u << CONTACT_COUNT_BITS) - 1;
    contact_around around = around_nothing();
    for (uint32_t k = (uint32_t)first; k < first + (size_t)count; k++) {
        look_around_cell(a, k, &around);
        const uint32_t found = contact_candidates(a, &around, k, a->kept + CONTACTS_KEPT * (size_t)k, 1, CONTACTS_KEPT);
        a->count[k] = found;
        a->key[k] = k >> CONTACT_WINDOW_BITS << CONTACT_COUNT_BITS | (most - (found < most ? found : most));
        a->order[k] = k;
    }
}

PBD_ITEM(count_contact_rows, contact_search_args, slice, 8 * CONTACT_SLICE + 4, CONTACT_SLICE) {
    uint32_t rows = 0;
    for (size_t line = slice * CONTACT_SLICE; line < (slice + 1) * CONTACT_SLICE && line < a->members; line++) {
        const uint32_t count = a->count[a->order[line]];
        rows = count > rows ? count : rows;
    }
    a->slice[slice] = rows;
}

PBD_FN void search_again(const contact_search_args *a, uint32_t k, uint32_t *list, uint32_t count) {
    contact_around around = around_nothing();
    look_around_cell(a, k, &around);
    contact_candidates(a, &around, k, list, CONTACT_SLICE, count);
}

#define CONTACT_NOBODY UINT32_MAX

/* Copies the candidates of a line to its slice's rows, unsorted. Padding lines have no candidates; their particle is
 * that of place 0. */
PBD_FN void bring_contacts(const contact_search_args *a, size_t line, uint32_t *list, uint32_t rows) {
    const uint32_t k = line < a->members ? a->order[line] : 0, count = line < a->members ? a->count[k] : 0;
    const uint32_t *kept = a->kept + CONTACTS_KEPT * (size_t)k;
    a->own[line] = a->grid.particle[k];
    if (count > CONTACTS_KEPT) search_again(a, k, list, count);
    for (uint32_t r = 0; r < count && count <= CONTACTS_KEPT; r++) list[r * CONTACT_SLICE] = kept[r];
    for (uint32_t r = count; r < rows; r++) list[r * CONTACT_SLICE] = CONTACT_NOBODY;
}

/* Sorts each lane's candidates, ascending, by insertion in all lanes at once. */
PBD_FN void sort_contacts(uint32_t *list, uint32_t rows) {
    for (uint32_t r = 1; r < rows; r++)
        for (uint32_t q = r; q > 0; q--) {
            uint32_t *low = list + (q - 1) * CONTACT_SLICE, *high = list + q * CONTACT_SLICE;
            uint32_t turned = 0;
            for (int l = 0; l < PBD_BATCH; l++) {
                const uint32_t one = low[l], other = high[l];
                turned |= (uint32_t)(other < one);
                low[l] = other < one ? other : one;
                high[l] = other < one ? one : other;
            }
            if (!turned) break;
        }
}

/* Work of this and the next kernels: particles and candidates. */
PBD_BATCH_OVER(fill_contacts, contact_search_args, first, count, 12, 0, 2 * sizeof(real) + 12, 10) {
    const size_t slice = first / CONTACT_SLICE;
    const uint32_t begin = a->slice[slice], rows = a->slice[slice + 1] - begin, *own = a->own + first;
    const size_t at = (size_t)begin * CONTACT_SLICE + first % CONTACT_SLICE;
    for (size_t l = 0; l < (size_t)count; l++) bring_contacts(a, first + l, a->list + at + l, rows);
    sort_contacts(a->list + at, rows);
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t *list = a->list + at + (size_t)r * CONTACT_SLICE;
        real *reach = a->reach + at + (size_t)r * CONTACT_SLICE;
        for (int l = 0; l < PBD_BATCH; l++) {
            const int there = list[l] != CONTACT_NOBODY;
            list[l] = there ? list[l] : own[l];
            reach[l] = there ? a->radius[own[l]] + a->radius[list[l]] : 0;
        }
    }
}

/* ---- One pass of Eq. 12 ------------------------------------------------------------------------------------------ */

typedef struct contact_pass_args {
    const uint32_t *slice, *own, *list; /* these and reach: as in contact_search_args */
    const real *reach;
    const real *x; /* rows by particle, at the start of the substep */
    real *p;       /* present positions; the fourth is the inverse mass */
    /* Written by find_touching: overlapping candidates, in the rows of the lists, and their number, by line. */
    uint32_t *touching, *touches;
    const real *radius; /* by particle, m */
    real *crowd;        /* rows by particle: bound of the sum of its pushes, their number, and its radius */
    int shared;         /* 0: contact_sum=printed */
    real *push;         /* 3 by line, `stride` apart, m */
    size_t stride;
    real friction, relaxation;
} contact_pass_args;

/* Pairs of a batch of particles i with one candidate j of each: penetration depth (negative: apart), and unit vector
 * from j to i. */
typedef struct contact_pairs {
    vreal depth;
    vvec3 normal;
} contact_pairs;

PBD_FN vvec3 contact_place(const vreal row[4]) { return vvec3_make(row[0], row[1], row[2]); }

/* Two particles at the same position separate along x, the one with the higher number in the positive direction, so
 * that both sides of the pair agree. */
PBD_FN contact_pairs contact_pairs_of(vvec3 off, vreal reach, const uint32_t *i, const uint32_t *j) {
    const vreal square = vvec3_dot(off, off), length = vreal_sqrt(square), zero = vreal_set(0);
    const vmask together = length <= zero;
    contact_pairs pairs;
    pairs.depth = reach - length;
    pairs.normal = vvec3_scale(1 / vreal_where(together, vreal_set(1), length), off);
    if (!batch_bits(together)) return pairs;
    real along[PBD_BATCH];
    for (int l = 0; l < PBD_BATCH; l++) along[l] = i[l] > j[l] ? (real)1 : (real)-1;
    pairs.normal.x = vreal_where(together, batch_load(along, 0, PBD_BATCH), pairs.normal.x);
    return pairs;
}

/* An upper bound of the largest eigenvalue of a positive semidefinite matrix (xx yy zz xy yz zx), at most 1.15 times
 * it: the eighth root of the sum of the eighth powers of all eigenvalues. */
PBD_FN vreal contact_largest(const vreal given[6]) {
    vreal m[6];
    for (int k = 0; k < 6; k++) m[k] = given[k];
    for (int twice = 0; twice < 2; twice++) {
        const vreal xx = m[0], yy = m[1], zz = m[2], xy = m[3], yz = m[4], zx = m[5];
        m[0] = xx * xx + xy * xy + zx * zx;
        m[1] = xy * xy + yy * yy + yz * yz;
        m[2] = zx * zx + yz * yz + zz * zz;
        m[3] = xx * xy + xy * yy + zx * yz;
        m[4] = xy * zx + yy * yz + yz * zz;
        m[5] = zx * xx + yz * xy + zz * zx;
    }
    const vreal square = m[0] * m[0] + m[1] * m[1] + m[2] * m[2] + 2 * (m[3] * m[3] + m[4] * m[4] + m[5] * m[5]);
    return vreal_sqrt(vreal_sqrt(vreal_sqrt(square)));
}

/* Adds n n^T of the overlapping pairs to the six components. */
PBD_FN void add_to_crowds(vreal sum[6], vmask overlap, const contact_pairs *pairs) {
    const vvec3 n = pairs->normal;
    const vreal zero = vreal_set(0);
    const vreal entry[6] = {n.x * n.x, n.y * n.y, n.z * n.z, n.x * n.y, n.y * n.z, n.z * n.x};
    for (int e = 0; e < 6; e++) sum[e] += vreal_where(overlap, entry[e], zero);
}

PBD_FN void store_crowds(const contact_pass_args *a, size_t first, int count, const uint32_t *touches,
                         const vreal sum[6]) {
    real radius[PBD_BATCH], number[PBD_BATCH];
    for (size_t l = 0; l < PBD_BATCH; l++) radius[l] = a->radius[a->own[first + l]];
    for (size_t l = 0; l < PBD_BATCH; l++) number[l] = (real)touches[l];
    const vreal row[4] = {contact_largest(sum), batch_load(number, 0, PBD_BATCH), batch_load(radius, 0, PBD_BATCH),
                          vreal_set(0)};
    batch_store_rows(a->crowd, a->own + first, 1, count, row);
}

/* Stores which candidates overlap (most do not), their number and, unless sums are as printed, the bound of a
 * particle's sum of pushes: the largest eigenvalue of sum n n^T over its pairs (find_pushes). */
PBD_BATCH_OVER(find_touching, contact_pass_args, first, count, 9 * sizeof(real) + 8, 40, 5 * sizeof(real) + 4, 10) {
    const size_t slice = first / CONTACT_SLICE, lane = first % CONTACT_SLICE;
    const uint32_t begin = a->slice[slice], end = a->slice[slice + 1];
    const vreal zero = vreal_set(0);
    uint32_t touches[PBD_BATCH] = {0};
    vreal own[4], sum[6] = {zero, zero, zero, zero, zero, zero};
    if (begin < end) batch_load_rows(a->p, a->own + first, 1, PBD_BATCH, own);
    for (uint32_t row = begin; row < end; row++) {
        const size_t at = (size_t)row * CONTACT_SLICE + lane;
        vreal x[4];
        batch_load_rows(a->p, a->list + at, 1, PBD_BATCH, x);
        const vvec3 off = vvec3_sub(contact_place(own), contact_place(x));
        const vreal reach = batch_load(a->reach, at, PBD_BATCH);
        const vmask overlap = vvec3_dot(off, off) < reach * reach;
        uint32_t bits = batch_bits(overlap);
        if (!bits) continue;
        const contact_pairs pairs = contact_pairs_of(off, reach, a->own + first, a->list + at);
        if (a->shared) add_to_crowds(sum, overlap, &pairs);
        for (; bits; bits &= bits - 1) {
            const size_t l = (size_t)lowest_bit(bits);
            a->touching[(size_t)(begin + touches[l]++) * CONTACT_SLICE + lane + l] = a->list[at + l];
        }
    }
    for (int l = 0; l < count; l++) a->touches[first + (size_t)l] = touches[l];
    if (begin < end) store_crowds(a, first, count, touches, sum);
}

/* friction_of of collider_pose.h, for a batch. */
PBD_FN vvec3 contact_friction(vvec3 slip, vvec3 normal, vreal most) {
    const vvec3 along = vvec3_sub(slip, vvec3_scale(vvec3_dot(slip, normal), normal));
    const vreal length = vreal_sqrt(vvec3_dot(along, along)), one = vreal_set(1);
    const vmask slides = length > most;
    return vvec3_scale(vreal_where(slides, most / vreal_where(slides, length, one), one), along);
}

/* The correction of each particle. Both sides of a pair compute the same numbers, so that momentum is conserved. Plain
 * sums overshoot where a particle has many pairs. With a factor s_e for each pair e, the eigenvalues of one pass are
 * bounded by the largest eigenvalue of sum s_e n n^T over the pairs of any particle, for any masses, since (sqrt(w_i) a
 * - sqrt(w_j) b)^2 <= (w_i + w_j)(a^2 + b^2). Hence s_e = min(1, relaxation/lambda), with lambda the larger of the two
 * particles' largest eigenvalues of sum n n^T, converges for relaxation < 2. A factor per particle would not conserve
 * momentum. Friction acts across n, where all pairs of a particle may have the same direction: its factor is at most
 * 1/(the larger of the two numbers of pairs).
 *
 * Work: particles, and touching pairs, each from both sides. */
PBD_BATCH_OVER(find_pushes, contact_pass_args, first, count, 4, 0, 8 * sizeof(real) + 4, 45) {
    const size_t rows = (size_t)a->slice[first / CONTACT_SLICE] * CONTACT_SLICE + first % CONTACT_SLICE;
    const uint32_t *i = a->own + first;
    const vreal zero = vreal_set(0), one = vreal_set(1);
    uint32_t most = 0;
    for (size_t l = 0; l < PBD_BATCH; l++) most = a->touches[first + l] > most ? a->touches[first + l] : most;
    if (most == 0) return;
    vreal own[4], start[4], crowd[4];
    vvec3 sum = vvec3_make(zero, zero, zero);
    batch_load_rows(a->p, i, 1, PBD_BATCH, own);
    batch_load_rows(a->x, i, 1, PBD_BATCH, start);
    batch_load_rows(a->crowd, i, 1, PBD_BATCH, crowd);
    const vvec3 moved = vvec3_sub(contact_place(own), contact_place(start));
    for (uint32_t r = 0; r < most; r++) {
        uint32_t j[PBD_BATCH];
        vreal row[4], other[4], share = one, across = one;
        for (size_t l = 0; l < PBD_BATCH; l++)
            j[l] = r < a->touches[first + l] ? a->touching[rows + r * CONTACT_SLICE + l] : i[l];
        const vmask there = crowd[1] > (real)r;
        batch_load_rows(a->p, j, 1, PBD_BATCH, row);
        batch_load_rows(a->crowd, j, 1, PBD_BATCH, other);
        vvec3 off = vvec3_sub(contact_place(own), contact_place(row));
        off.x = vreal_where(there, off.x, one);
        const contact_pairs pair = contact_pairs_of(off, crowd[2] + other[2], i, j);
        if (a->shared) {
            share = vreal_min(one, a->relaxation / vreal_max(one, vreal_max(crowd[0], other[0])));
            across = vreal_min(share, one / vreal_max(one, vreal_max(crowd[1], other[1])));
        }
        const vreal push = vreal_where(there, share * pair.depth, zero);
        vvec3 away = vvec3_scale(push, pair.normal);
        if (a->friction > 0) {
            batch_load_rows(a->x, j, 1, PBD_BATCH, other);
            const vvec3 slip = vvec3_sub(moved, vvec3_sub(contact_place(row), contact_place(other)));
            away = vvec3_sub(away, contact_friction(vvec3_scale(across, slip), pair.normal, a->friction * push));
        }
        const vreal both = own[3] + row[3];
        const vmask free = both > zero;
        sum = vvec3_add(sum, vvec3_scale(vreal_where(free, own[3] / vreal_where(free, both, one), zero), away));
    }
    batch_store(a->push, first, count, sum.x);
    batch_store(a->push + a->stride, first, count, sum.y);
    batch_store(a->push + 2 * a->stride, first, count, sum.z);
}

PBD_ITEM(apply_pushes, contact_pass_args, line, 8, 0) {
    if (a->touches[line] == 0) return;
    real *p = a->p + 4 * (size_t)a->own[line];
    for (size_t d = 0; d < 3; d++) p[d] += a->push[d * a->stride + line];
}

/* ---- Colliders --------------------------------------------------------------------------------------------------- */

typedef struct collide_args {
    const collider_pose *collider;
    int colliders;
    const real *radius; /* by particle; NULL: points */
    const real *x;
    real *p;
    collider_sums sums;
} collide_args;

/* Pushes particle i out of each collider in turn, then back along its surface by friction. */
PBD_FN void collide(const collide_args *a, size_t i) {
    real *row = a->p + 4 * i;
    if (!(row[3] > 0)) return; /* held */
    const real radius = a->radius ? a->radius[i] : 0;
    const collider_contact of = {i, row[3], radius, contact_row(a->x, i), a->sums};
    vec3 p = contact_row(a->p, i);
    collider_push_all(a->collider, a->colliders, &of, &p);
    row[0] = p.x;
    row[1] = p.y;
    row[2] = p.z;
}

/* Most particles are far from every collider. A batch is first tested as a whole, with a margin for rounding; only if a
 * lane may be nearer than its reach are its particles handled one at a time, with bitwise the same result. */
PBD_FN vvec3 batch_to_frame(const collider_pose *c, vvec3 off) {
    const real *axis = c->axis;
    return vvec3_make(axis[0] * off.x + axis[1] * off.y + axis[2] * off.z,
                      axis[3] * off.x + axis[4] * off.y + axis[5] * off.z,
                      axis[6] * off.x + axis[7] * off.y + axis[8] * off.z);
}

PBD_FN uint32_t near_collider(const collider_pose *c, vvec3 x, vreal reach) {
    if (c->shape == PBD_MESH) return ~0u; /* mesh_collider.h has its own test */
    const vvec3 off = vvec3_make(x.x - c->centre[0], x.y - c->centre[1], x.z - c->centre[2]);
    const vreal gap = vshape_gap(c->shape, c->half, batch_to_frame(c, off)).distance;
    const vreal lengths = vreal_abs(off.x) + vreal_abs(off.y) + vreal_abs(off.z) + vreal_abs(reach) +
                          (c->half[0] + c->half[1] + c->half[2]);
    const vreal slack = (real)(64 * REAL_EPSILON) * lengths;
    return batch_bits((c->container ? -gap : gap) < reach + slack);
}

PBD_FN uint32_t near_colliders(const collider_pose *collider, int colliders, const real *p, size_t first, int count,
                               vreal reach) {
    uint32_t at[PBD_BATCH], near = 0;
    vreal row[4];
    for (int l = 0; l < PBD_BATCH; l++) at[l] = (uint32_t)first + (uint32_t)(l < count ? l : count - 1);
    batch_load_rows(p, at, 1, PBD_BATCH, row);
    for (int c = 0; c < colliders; c++) near |= near_collider(collider + c, contact_place(row), reach);
    return near & grid_lanes(0, (uint32_t)count, (uint32_t)count);
}

PBD_BATCH_OF(collide_batch, collide_args, first, count, 8 * sizeof(real), 20) {
    const vreal radius = a->radius ? batch_load(a->radius, first, count) : vreal_set(0);
    uint32_t near = near_colliders(a->collider, a->colliders, a->p, first, count, radius);
    for (; near; near &= near - 1) collide(a, first + (size_t)lowest_bit(near));
}

/* ---- Measurements after a substep -------------------------------------------------------------------------------- */

/* Values are the worst so far of each particle, except `pairs`, which is for this substep. */
typedef struct contact_measure_args {
    contact_pass_args pass; /* its x and p are not used */
    const real *rest, *p;
    int within;      /* nonzero: pairs of one body are measured too */
    uint32_t *pairs; /* by line: touching pairs, within a hundredth of their distance */
    real *depth;     /* by particle: penetration of a pair, m */
    real *near;      /* by particle: minus the distance of a pair of one body, m */
} contact_measure_args;

/* Raises values[own] to `now` where that is larger. */
PBD_FN void keep_most(real *values, const uint32_t *own, int count, vreal now) {
    real lane[PBD_BATCH];
    batch_store(lane, 0, PBD_BATCH, now);
    for (int l = 0; l < count; l++)
        if (lane[l] > values[own[l]]) values[own[l]] = lane[l];
}

PBD_BATCH_OVER(measure_pairs, contact_measure_args, first, count, 6 * sizeof(real) + 8, 6, 5 * sizeof(real) + 4, 15) {
    const contact_pass_args *pass = &a->pass;
    const size_t slice = first / CONTACT_SLICE, lane = first % CONTACT_SLICE;
    const uint32_t begin = pass->slice[slice], end = pass->slice[slice + 1], *i = pass->own + first;
    const vreal zero = vreal_set(0), one = vreal_set(1);
    vreal own[4], rest[4] = {zero, zero, zero, zero}, pairs = zero, depth = zero, near = vreal_set(-(real)1e30);
    real number[PBD_BATCH];
    if (begin < end) batch_load_rows(a->p, i, 1, PBD_BATCH, own);
    if (begin < end && a->within) batch_load_rows(a->rest, i, 1, PBD_BATCH, rest);
    for (uint32_t row = begin; row < end; row++) {
        const size_t at = (size_t)row * CONTACT_SLICE + lane;
        const vreal reach = batch_load(pass->reach, at, PBD_BATCH);
        vreal x[4], other[4];
        batch_load_rows(a->p, pass->list + at, 1, PBD_BATCH, x);
        const vvec3 off = vvec3_sub(contact_place(own), contact_place(x));
        const vreal length = vreal_sqrt(vvec3_dot(off, off)), now = reach - length;
        const vmask there = (reach > zero) & (own[3] + x[3] > zero); /* not if both are held */
        pairs += vreal_where(there & (now > (real)-0.01 * reach), one, zero);
        depth = vreal_where(there & (now > depth), now, depth);
        if (!a->within) continue;
        batch_load_rows(a->rest, pass->list + at, 1, PBD_BATCH, other);
        near = vreal_where(there & (rest[3] == other[3]) & (-length > near), -length, near);
    }
    batch_store(number, 0, PBD_BATCH, pairs);
    for (int l = 0; l < count; l++) a->pairs[first + (size_t)l] = (uint32_t)number[l];
    if (begin == end) return;
    keep_most(a->depth, i, count, depth);
    if (a->within) keep_most(a->near, i, count, near);
}

typedef struct wall_measure_args {
    const collider_pose *collider;
    int colliders;
    const real *p;
    real *beyond; /* by particle: largest penetration of its centre, m; negative: never */
} wall_measure_args;

PBD_FN void measure_walls(const wall_measure_args *a, size_t i) {
    if (!(a->p[4 * i + 3] > 0)) return;
    real most = a->beyond[i];
    for (int c = 0; c < a->colliders; c++) {
        const real now = collider_depth(a->collider + c, i, contact_row(a->p, i));
        most = now > most ? now : most;
    }
    a->beyond[i] = most;
}

PBD_BATCH_OF(measure_walls_batch, wall_measure_args, first, count, 6 * sizeof(real), 20) {
    const vreal beyond = batch_load(a->beyond, first, count);
    uint32_t near = near_colliders(a->collider, a->colliders, a->p, first, count, -beyond);
    for (; near; near &= near - 1) measure_walls(a, first + (size_t)lowest_bit(near));
}

/* Reduces blocks of CONTACT_BLOCK lines or particles. */
enum { CONTACT_BLOCK = 16, CONTACT_SUMS = 5 };

typedef struct contact_sum_args {
    const uint32_t *pairs;             /* by line */
    const uint32_t *count;             /* candidates, by place */
    const real *depth, *near, *beyond; /* by particle; NULL: none */
    size_t lines, particles;
    real tolerance; /* m: penetrations below it do not count */
    /* CONTACT_SUMS by block: largest depth, largest -distance, pairs (each twice), particles beyond, candidates. */
    real *out;
} contact_sum_args;

PBD_ITEM(sum_contacts, contact_sum_args, block, CONTACT_BLOCK *(3 * sizeof(real) + 8), CONTACT_BLOCK * 5) {
    real pairs = 0, depth = 0, near = -(real)1e30, beyond = 0, candidates = 0;
    const size_t first = block * CONTACT_BLOCK;
    for (size_t s = first; a->pairs && s < first + CONTACT_BLOCK && s < a->lines; s++) {
        pairs += (real)a->pairs[s];
        candidates += (real)a->count[s];
    }
    for (size_t i = first; i < first + CONTACT_BLOCK && i < a->particles; i++) {
        if (a->pairs) depth = a->depth[i] > depth ? a->depth[i] : depth;
        if (a->pairs) near = a->near[i] > near ? a->near[i] : near;
        if (a->beyond) beyond += (real)(a->beyond[i] > a->tolerance);
    }
    real *out = a->out + CONTACT_SUMS * block;
    out[0] = depth;
    out[1] = near;
    out[2] = pairs;
    out[3] = beyond;
    out[4] = candidates;
}

#endif
