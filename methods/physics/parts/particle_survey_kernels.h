/* Kernels of particle_survey.h. `place` is the index in the order of the grid's cells, `row` that of the method. */
#ifndef PBD_PARTICLE_SURVEY_KERNELS_H
#define PBD_PARTICLE_SURVEY_KERNELS_H

#include "harness/exec/atomic.h"
#include "harness/exec/kernel.h"
#include "methods/physics/matter/tension.h"
#include "methods/physics/space/grid_search.h"
#include "methods/physics/space/sph_kernel.h"

/* Places that are summed up together; on a GPU each is an item of its own. */
enum { SURVEY_SPAN = PBD_BATCH > 1 ? 32 : 1 };

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

typedef struct survey_rows_args {
    const real *x; /* the first number of row 0 */
    size_t stride; /* numbers from one row to the next */
    const uint32_t *number;
    const real *mass; /* by number, kg */
    real *out;        /* rows of four: position and mass */
} survey_rows_args;

PBD_ITEM(survey_rows, survey_rows_args, i, 8 * sizeof(real) + 4, 0) {
    const real *x = a->x + a->stride * i;
    for (size_t d = 0; d < 3; d++) a->out[4 * i + d] = x[d];
    a->out[4 * i + 3] = a->mass[a->number ? a->number[i] : i];
}

typedef struct survey_motion_args {
    const real *v; /* the first number of row 0; NULL: at rest */
    size_t stride;
    const uint32_t *row; /* by place */
    const real *mass;    /* by place */
    real *out;           /* by place, rows of four: velocity and mass */
} survey_motion_args;

PBD_ITEM(survey_motion, survey_motion_args, k, 8 * sizeof(real) + 4, 0) {
    for (size_t d = 0; d < 3; d++) a->out[4 * k + d] = a->v ? a->v[a->stride * a->row[k] + d] : 0;
    a->out[4 * k + 3] = a->mass[k];
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

/* The numbers of an item: the first SURVEY_LARGEST by maximum, the others by addition. */
enum {
    SURVEY_CLOSE,   /* 1 less the distance to the nearest neighbour over the spacing; -infinity without one */
    SURVEY_DENSITY, /* kg/m^3 */
    SURVEY_SQUARE,  /* of the speed, m^2/s^2 */
    SURVEY_LARGEST,
    SURVEY_CLOSENESS = SURVEY_LARGEST, /* sum of the first, and of its squares: their variance keeps its digits */
    SURVEY_SQUARES,
    SURVEY_LONE,     /* particles without neighbours */
    SURVEY_RELATIVE, /* J: kinetic energy relative to the neighbours' mean velocity */
    SURVEY_KINETIC,  /* J */
    SURVEY_NUMBERS
};

typedef struct survey_args {
    grid_view grid;
    const uint32_t *key; /* by place: of its cell */
    size_t count;
    const real *motion; /* by place, rows of four: velocity and mass */
    real square;        /* of the support radius, m^2 */
    real link;          /* of the link distance, m^2 */
    real sigma, per_spacing;
    uint32_t *parent; /* by place: union-find of the components, joined by atomic.h; NULL: not wanted */
    real *out;        /* SURVEY_NUMBERS for each item */
} survey_args;

/* The root of a set is its lowest place. Paths are halved on the way. */
PBD_FN uint32_t survey_root_of(uint32_t *parent, uint32_t place) {
    uint32_t next = atomic_read(parent + place);
    while (next != place) {
        const uint32_t after = atomic_read(parent + next);
        if (after == next) return next;
        atomic_min(parent + place, after);
        place = after;
        next = atomic_read(parent + place);
    }
    return place;
}

/* If another thread gave the higher root a parent first, the lower of the two parents stays, and the sets of both are
 * joined next. */
PBD_FN void survey_join(uint32_t *parent, uint32_t i, uint32_t j) {
    for (;;) {
        i = survey_root_of(parent, i);
        j = survey_root_of(parent, j);
        if (i == j) return;
        const uint32_t high = i > j ? i : j, low = i > j ? j : i, before = atomic_min(parent + high, low);
        if (before == high) return;
        i = before;
        j = low;
    }
}

/* Neighbours found and not yet added; a list is added when the next batch might not fit. On a GPU it is one neighbour
 * in registers, so the compiler must see that its index is 0. */
enum { SURVEY_LIST = PBD_BATCH > 1 ? 256 : 1 };

typedef struct survey_list {
    uint32_t place[SURVEY_LIST];
    real square[SURVEY_LIST]; /* of the distance, m^2 */
} survey_list;

/* Sums over the neighbours of a place. */
typedef struct survey_sums {
    vreal nearest; /* smallest squared distance, m^2 */
    vreal weight;  /* of W */
    vreal mean[4]; /* of W times velocity and mass */
} survey_sums;

PBD_FN survey_sums survey_no_sums(void) {
    const vreal zero = vreal_set(0);
    const survey_sums sum = {vreal_set((real)INFINITY), zero, {zero, zero, zero, zero}};
    return sum;
}

/* Joins `self` with the places of the list that are lower and near. Most have its parent already. */
PBD_FN void survey_join_near(const survey_args *a, uint32_t self, const survey_list *list, uint32_t count) {
    uint32_t own = atomic_read(a->parent + self);
    for (uint32_t k = 0; k < count; k += PBD_BATCH) {
        const uint32_t at = PBD_BATCH > 1 ? k : 0;
        uint32_t near = batch_less(batch_load(list->square, at, PBD_BATCH), vreal_set(a->link));
        for (; near; near &= near - 1) {
            const uint32_t other = list->place[at + (PBD_BATCH > 1 ? (uint32_t)lowest_bit(near) : 0)];
            if (other > self || atomic_read(a->parent + other) == own) continue;
            survey_join(a->parent, self, other);
            own = atomic_read(a->parent + self);
        }
    }
}

PBD_FN void survey_add_list(const survey_args *a, uint32_t self, survey_list *list, uint32_t count, survey_sums *sum) {
    for (uint32_t k = count; k % PBD_BATCH != 0; k++) list->place[k] = self, list->square[k] = (real)INFINITY;
    for (uint32_t k = 0; k < count; k += PBD_BATCH) {
        const uint32_t at = PBD_BATCH > 1 ? k : 0;
        const vreal square = batch_load(list->square, at, PBD_BATCH);
        const vreal w = vsph_kernel_scaled(SPH_WENDLAND_C2, a->sigma, 1 / a->square, square).w;
        vreal motion[4];
        batch_load_rows(a->motion, list->place + at, 1, PBD_BATCH, motion);
        sum->nearest = vreal_min(sum->nearest, square);
        sum->weight += w;
        for (int d = 0; d < 4; d++) sum->mean[d] += w * motion[d];
    }
    if (a->parent) survey_join_near(a, self, list, count);
}

/* Appends the neighbours among the places from `first` on, PBD_BATCH at most, that are before `end`, to a list of
 * `count`. Returns how many there are then. */
PBD_FN uint32_t survey_find(const survey_args *a, uint32_t self, vec3 x, uint32_t first, uint32_t end,
                            survey_list *list, uint32_t count) {
    const vreal square = grid_squares(&a->grid, x, first);
    const uint32_t near = batch_less(square, vreal_set(a->square)) & grid_lanes(first, end, self);
    const uint32_t at = PBD_BATCH > 1 ? count : 0;
    append_lanes(list->square + at, square, near);
    return at + (uint32_t)append_places(list->place + at, first, near);
}

/* Sums over the neighbours of a place, range by range of the cells around it. */
PBD_FN survey_sums survey_around_place(const survey_args *a, uint32_t self, vec3 x) {
    survey_sums sum = survey_no_sums();
    survey_list list;
    uint32_t count = 0;
    const grid_cell cell = grid_cell_of(a->grid.bits, a->grid.inverse_cell, x);
    const int step = grid_stretch_step(&a->grid, cell);
    for (int s = 0; s < GRID_STRETCHES; s += step) {
        const grid_stretch places = grid_stretch_of(&a->grid, cell, s);
        for (uint32_t first = places.begin; first < places.end; first += PBD_BATCH) {
            count = survey_find(a, self, x, first, places.end, &list, count);
            if (count + PBD_BATCH <= SURVEY_LIST) continue;
            survey_add_list(a, self, &list, count, &sum);
            count = 0;
        }
    }
    survey_add_list(a, self, &list, count, &sum);
    return sum;
}

#if PBD_BATCH > 1

/* On a processor the candidates around a cell are gathered once for all places in it, which takes 0.83 of the time of
 * the form above (100,000 grains). The order of sums is the same. A cell with more candidates is left to that form. */
enum { SURVEY_CANDIDATES = 512 };

typedef struct survey_candidates {
    uint32_t count; /* 0: there are too many */
    uint32_t own;   /* the number of a candidate less its place, in the range with the cell's own places */
    real x[3][SURVEY_CANDIDATES + 2 * PBD_BATCH]; /* after the last, PBD_BATCH at infinity */
    uint32_t place[SURVEY_CANDIDATES + 2 * PBD_BATCH];
} survey_candidates;

PBD_FN void survey_gather(const survey_args *a, uint32_t self, survey_candidates *c) {
    const vreal far = vreal_set((real)INFINITY);
    const grid_cell cell = grid_cell_of(a->grid.bits, a->grid.inverse_cell, grid_position(&a->grid, self));
    const int step = grid_stretch_step(&a->grid, cell);
    uint32_t count = 0;
    c->count = 0;
    for (int s = 0; s < GRID_STRETCHES; s += step) {
        const grid_stretch places = grid_stretch_of(&a->grid, cell, s);
        if (count + (places.end - places.begin) > SURVEY_CANDIDATES) return;
        if (self >= places.begin && self < places.end) c->own = count - places.begin;
        for (uint32_t first = places.begin; first < places.end; first += PBD_BATCH) {
            const uint32_t left = places.end - first;
            batch_store(c->x[0], count, PBD_BATCH, batch_load(a->grid.x, first, PBD_BATCH));
            batch_store(c->x[1], count, PBD_BATCH, batch_load(a->grid.y, first, PBD_BATCH));
            batch_store(c->x[2], count, PBD_BATCH, batch_load(a->grid.z, first, PBD_BATCH));
            for (uint32_t l = 0; l < PBD_BATCH; l++) c->place[count + l] = first + l;
            count += left < PBD_BATCH ? left : PBD_BATCH;
        }
    }
    for (int d = 0; d < 3; d++) batch_store(c->x[d], count, PBD_BATCH, far);
    c->count = count;
}

PBD_FN survey_sums survey_among(const survey_args *a, uint32_t self, vec3 x, const survey_candidates *c) {
    survey_sums sum = survey_no_sums();
    survey_list list;
    uint32_t count = 0;
    for (uint32_t first = 0; first < c->count; first += PBD_BATCH) {
        const vreal dx = batch_load(c->x[0], first, PBD_BATCH) - x.x, dy = batch_load(c->x[1], first, PBD_BATCH) - x.y,
                    dz = batch_load(c->x[2], first, PBD_BATCH) - x.z, square = dx * dx + dy * dy + dz * dz;
        const uint32_t own = c->own + self - first;
        uint32_t near = batch_less(square, vreal_set(a->square));
        if (own < PBD_BATCH) near &= ~(1u << own);
        append_lanes(list.square + count, square, near);
        count += (uint32_t)append_bits(list.place + count, PBD_BATCH, c->place + first, near);
        if (count + PBD_BATCH <= SURVEY_LIST) continue;
        survey_add_list(a, self, &list, count, &sum);
        count = 0;
    }
    survey_add_list(a, self, &list, count, &sum);
    return sum;
}

#else

typedef struct survey_candidates {
    uint32_t count;
} survey_candidates;

PBD_FN void survey_gather(const survey_args *a, uint32_t self, survey_candidates *c) {
    (void)a, (void)self;
    c->count = 0;
}

PBD_FN survey_sums survey_among(const survey_args *a, uint32_t self, vec3 x, const survey_candidates *c) {
    (void)c;
    return survey_around_place(a, self, x);
}

#endif

PBD_FN void survey_add_motion(const real *own, const survey_sums *sum, real *out) {
    const real weight = batch_total(sum->weight);
    real square = 0, off = 0;
    for (int d = 0; d < 3; d++) {
        const real from = weight > 0 ? own[d] - batch_total(sum->mean[d]) / weight : 0;
        square += own[d] * own[d];
        off += from * from;
    }
    out[SURVEY_KINETIC] += (real)0.5 * own[3] * square;
    out[SURVEY_RELATIVE] += (real)0.5 * own[3] * off;
    if (square > out[SURVEY_SQUARE] || square != square) out[SURVEY_SQUARE] = square;
}

PBD_FN void survey_add_place(const survey_args *a, uint32_t self, const survey_candidates *c, real *out) {
    const vec3 x = grid_position(&a->grid, self);
    const survey_sums sum = c->count > 0 ? survey_among(a, self, x, c) : survey_around_place(a, self, x);
    const real nearest = batch_least(sum.nearest), close = 1 - real_sqrt(nearest) * a->per_spacing;
    real own[4];
    row_load(a->motion + 4 * (size_t)self, own);
    survey_add_motion(own, &sum, out);
    out[SURVEY_DENSITY] = real_max(a->sigma * own[3] + batch_total(sum.mean[3]), out[SURVEY_DENSITY]);
    if (nearest == (real)INFINITY) {
        out[SURVEY_LONE] += 1;
    } else {
        out[SURVEY_CLOSE] = real_max(close, out[SURVEY_CLOSE]);
        out[SURVEY_CLOSENESS] += close;
        out[SURVEY_SQUARES] += close * close;
    }
}

/* Work: places, and candidates as in grid_search_work. */
PBD_ITEM_OVER(survey_around, survey_args, i, 7 * sizeof(real) + 9 * 8 + 4, 60, 4 * sizeof(real), 20) {
    const size_t begin = SURVEY_SPAN * i, end = begin + SURVEY_SPAN < a->count ? begin + SURVEY_SPAN : a->count;
    real out[SURVEY_NUMBERS] = {-(real)INFINITY, 0, 0, 0, 0, 0, 0, 0};
    if (begin >= a->count) return;
    survey_candidates near;
    for (size_t k = begin; k < end; k++) {
        if (k == begin || a->key[k] != a->key[k - 1]) survey_gather(a, (uint32_t)k, &near);
        survey_add_place(a, (uint32_t)k, &near, out);
    }
    for (size_t d = 0; d < SURVEY_NUMBERS; d++) a->out[SURVEY_NUMBERS * i + d] = out[d];
}

/* ---- Components -------------------------------------------------------------------------------------------------- */

typedef struct survey_pieces_args {
    uint32_t *parent, *lowest; /* by place; lowest: of a root, the lowest number in its set */
    const uint32_t *row;       /* by place */
    const uint32_t *number;    /* by row; NULL: the same */
    uint32_t *piece;           /* by number: the lowest number of its set */
} survey_pieces_args;

PBD_FN uint32_t survey_number(const survey_pieces_args *a, size_t place) {
    return a->number ? a->number[a->row[place]] : a->row[place];
}

PBD_ITEM(survey_part, survey_pieces_args, k, 8, 0) {
    a->parent[k] = (uint32_t)k;
    a->lowest[k] = ~0u;
}

PBD_ITEM(survey_find_lowest, survey_pieces_args, k, 16, 0) {
    const uint32_t root = survey_root_of(a->parent, (uint32_t)k), number = survey_number(a, k);
    atomic_min(a->parent + k, root);
    if (number < atomic_read(a->lowest + root)) atomic_min(a->lowest + root, number);
}

PBD_ITEM(survey_name, survey_pieces_args, k, 20, 0) { a->piece[survey_number(a, k)] = a->lowest[a->parent[k]]; }

/* ---- Tension ----------------------------------------------------------------------------------------------------- */

typedef struct survey_tension_args {
    tension_of of;
    size_t count;
    real *out; /* for each item: the largest, the sum */
} survey_tension_args;

PBD_ITEM(survey_tension, survey_tension_args, i, 9 * sizeof(real), 400) {
    const size_t begin = TENSION_SPAN * i, end = begin + TENSION_SPAN < a->count ? begin + TENSION_SPAN : a->count;
    if (begin >= a->count) return;
    const tension_sum sum = tension_over(&a->of, begin, end);
    a->out[2 * i] = sum.largest;
    a->out[2 * i + 1] = sum.total;
}

#endif
