/* Kernels of position-based fluid (Macklin and Mueller 2013); overview: fluid.h.
 *
 * Rows are those of the calling solver: x (position, m; volume, m^3) and v (velocity, m/s; inverse mass, 1/kg), in any
 * order, with an empty row, the placeholder, after the last. `id` is the index in the scene; arrays that persist
 * between steps are stored by it.
 *
 * With S = sum V_j W over a cubic lattice of the rest density, a particle of liquid has the constraint
 *
 *     C_i = (V_i W(0) + sum_j V_j W_ij)/S - 1,   dC_i/dx_j = -V_j (dW/dr)/r (x_i - x_j)/S
 *
 * where j runs over liquid and continuum. Multipliers that push are >= 0: x_i moves by -w_i times the sum of
 * d(multiplier) dC/dx_i over its own constraint and its neighbours'. The contribution of a pair is (l_j V_i + l_i V_j)
 * slope (x_i - x_j)/S, antisymmetric in i and j: momentum and, about these positions, angular momentum are conserved to
 * rounding. Images beyond walls: fluid_walls_kernels.h. */
#ifndef PBD_FLUID_KERNELS_H
#define PBD_FLUID_KERNELS_H

#include "methods/physics/math/scalar.h"
#include "methods/physics/parts/fluid_walls_kernels.h"
#include "methods/physics/space/neighbours_kernels.h"
#include "methods/physics/space/particle_slice.h"

enum {
    FLUID_LANES = PARTICLE_SLICE, /* particles per slice of the lists */
    FLUID_KEPT = 64,              /* neighbours that a count stores; the default support has 52 on a lattice */
    FLUID_WINDOW = 64,            /* consecutive particles of the grid that are sorted by the length of their lists */
    FLUID_BLOCK = 16
};

/* Roles of rows. */
#define FLUID_LIQUID ((real)1)
#define FLUID_SOLID ((real)0)
#define FLUID_NONE ((real)-1) /* no interaction with liquid */

/* ---- Smoothing kernels ------------------------------------------------------------------------------------------- */

typedef enum fluid_kernel {
    FLUID_CUBIC_SPLINE,
    FLUID_WENDLAND_C2,
    FLUID_SPIKY,
    FLUID_POLY6_SPIKY /* as in the paper: poly6 for densities, spiky for gradients, which are then not those of C */
} fluid_kernel;

typedef struct fluid_shape {
    int kernel;
    real support;        /* support radius, m */
    real per_square;     /* 1/support^2 */
    real density, slope; /* normalisation of W and of the slope */
} fluid_shape;

typedef struct fluid_value {
    vreal w, slope; /* W; (dW/dr)/r */
} fluid_value;

/* Values at a squared distance; 0 at and beyond the support. The spiky kernel's undefined slope at 0 is set to 0. */
PBD_FN fluid_value fluid_kernel_at(const fluid_shape *k, vreal square) {
    const vreal zero = vreal_set(0), q = vreal_sqrt(square * k->per_square), left = vreal_max(1 - q, zero);
    const vreal second = left * left, per_q = vreal_where(q > 0, 1 / vreal_max(q, vreal_set(REAL_MIN)), zero);
    fluid_value out;
    if (k->kernel == FLUID_CUBIC_SPLINE) {
        const vmask inner = (vmask)(q < (real)0.5);
        out.w = k->density * vreal_where(inner, 1 - 6 * q * q * left, 2 * second * left);
        out.slope = k->slope * vreal_where(inner, 18 * q - 12, -6 * second * per_q);
    } else if (k->kernel == FLUID_WENDLAND_C2) {
        out.w = k->density * second * second * (1 + 4 * q);
        out.slope = k->slope * -20 * second * left;
    } else {
        const vreal round = vreal_max(1 - q * q, zero);
        out.w = k->density * (k->kernel == FLUID_SPIKY ? second * left : round * round * round);
        out.slope = k->slope * -3 * second * per_q;
    }
    return out;
}

/* Whether a lane is nearer than the support. Most images are not, and contribute nothing. */
PBD_FN int fluid_is_near(const fluid_shape *k, vreal square) {
    return batch_bits((vmask)(square * k->per_square < 1)) != 0;
}

/* ---- Predicted positions ----------------------------------------------------------------------------------------- */

typedef struct fluid_place_args {
    const real *x, *v;
    const uint32_t *id;    /* NULL: rows are in the scene's order */
    const uint8_t *matter; /* by id; NULL: all are liquid */
    real *p;               /* rows: predicted position; volume, 0 for FLUID_NONE */
    real *role, *gain;     /* FLUID_*; w V^2. Each has one more entry, for the placeholder */
    size_t rows;
    real dt;
} fluid_place_args;

PBD_FN size_t fluid_id(const uint32_t *id, size_t row) { return id ? id[row] : row; }

PBD_ITEM(fluid_place, fluid_place_args, i, 14 * sizeof(real), 10) {
    const int placeholder = i == a->rows;
    const uint8_t matter = placeholder || !a->matter ? (uint8_t)PBD_FLUID : a->matter[fluid_id(a->id, i)];
    const int seen = !placeholder && (matter == PBD_FLUID || matter == PBD_CONTINUUM);
    const real *x = a->x + 4 * i, *v = a->v + 4 * i;
    const real volume = seen ? x[3] : 0;
    for (size_t d = 0; d < 3; d++) a->p[4 * i + d] = placeholder ? 0 : x[d] + a->dt * v[d];
    a->p[4 * i + 3] = volume;
    a->role[i] = !seen ? FLUID_NONE : matter == PBD_FLUID ? FLUID_LIQUID : FLUID_SOLID;
    a->gain[i] = placeholder ? 0 : v[3] * volume * volume;
}

/* ---- Neighbour search -------------------------------------------------------------------------------------------- */

/* Lists are stored in slices: row r of a slice has the r-th neighbour of each of its FLUID_LANES places. The places of
 * the grid are sorted within windows by the number of neighbours with an image within reach, then by that of all
 * neighbours, so that lists of a slice are about equally long. Short lists are padded with the placeholder. Pairs
 * without liquid are omitted. The neighbours with an image within reach come first, so that the others are not tested
 * for images. */
typedef struct fluid_lists {
    const uint32_t *own;      /* row of each place */
    const uint32_t *slice;    /* first row of each slice; one more at the end */
    const uint32_t *mirrored; /* by place: the number of neighbours with an image within reach */
    const uint32_t *list;
} fluid_lists;

typedef struct fluid_search_args {
    grid_view grid; /* its fourth column: roles */
    const real *p;  /* rows */
    fluid_walls walls;
    real square;
    size_t rows;
    uint32_t *length, *key;   /* by place in the grid */
    uint32_t *kept;           /* FLUID_KEPT by place in the grid */
    uint32_t *from;           /* by place: its place in the grid */
    uint32_t *own, *mirrored; /* of fluid_lists */
    uint32_t *slice, *list;
} fluid_search_args;

/* Finds the neighbours of place `self`. Writes them to `list`, `stride` apart; with a stride of 1 while they `fit`.
 * Returns their number. */
PBD_FN uint32_t fluid_search(const fluid_search_args *a, uint32_t self, uint32_t *list, uint32_t stride, uint32_t fit) {
    const grid_view *g = &a->grid;
    const real role = g->w[self];
    const vec3 x = grid_position(g, self);
    const grid_cell cell = grid_cell_of(g->bits, g->inverse_cell, x);
    const int step = grid_stretch_step(g, cell);
    const vreal least = vreal_set(role > 0 ? FLUID_SOLID : FLUID_LIQUID); /* smallest role of a neighbour */
    uint32_t found = 0;
    if (role < 0) return 0;
    for (int s = 0; s < GRID_STRETCHES; s += step) {
        const grid_stretch places = grid_stretch_of(g, cell, s);
        for (uint32_t at = places.begin; at < places.end; at += PBD_BATCH) {
            const vmask meets =
                (vmask)(grid_squares(g, x, at) < a->square) & (vmask)(batch_load(g->w, at, PBD_BATCH) >= least);
            uint32_t near = batch_bits(meets) & grid_lanes(at, places.end, self);
            const uint32_t more = (uint32_t)count_bits(near);
            if (stride == 1 && found + more <= fit) append_bits(list + found, fit - found, g->particle + at, near);
            for (uint32_t to = found; stride > 1 && near; near &= near - 1, to++)
                list[to * stride] = g->particle[at + (uint32_t)lowest_bit(near)];
            found += more;
        }
    }
    return found;
}

/* Moves the neighbours of row `i` with an image within reach to the front of a list, whose entries are `stride`
 * apart. Returns their number. An image in several mirrors is farther than in one of them. */
PBD_FN uint32_t fluid_put_mirrored_first(const fluid_search_args *a, size_t i, uint32_t *list, size_t stride,
                                         size_t length) {
    const fluid_walls *w = &a->walls;
    const uint32_t *corner = w->corner + FLUID_CORNER * i;
    uint32_t front = 0;
    if (w->count == 0 || corner[0] == (uint32_t)w->count) return 0;
    const real *first = w->distance + corner[0] * w->stride, *second = w->distance + corner[1] * w->stride;
    const real *third = w->distance + corner[2] * w->stride;
    const vec3 x = load3(a->p, i);
    for (size_t r = 0; r < length; r++) {
        const uint32_t j = list[stride * r];
        const vec3 d = vec3_sub(x, load3(a->p, j));
        const real left = (real)0.25 * (a->square - vec3_dot(d, d));
        int near = first[i] * first[j] < left;
        if (!near && corner[1] != (uint32_t)w->count) near = second[i] * second[j] < left || third[i] * third[j] < left;
        if (!near) continue;
        list[stride * r] = list[stride * front];
        list[stride * front++] = j;
    }
    return front;
}

/* The key sorts places: the number of neighbours with an image within reach, then that of all. The former counts as 0
 * for a list that is not kept. */
PBD_ITEM_OVER(fluid_count, fluid_search_args, k, 4 * sizeof(real) + 9 * 8 + 8, 30, 4 * sizeof(real), 9) {
    uint32_t *kept = a->kept + FLUID_KEPT * k, mirrored = 0;
    const uint32_t length = fluid_search(a, (uint32_t)k, kept, 1, FLUID_KEPT);
    if (length <= FLUID_KEPT) mirrored = fluid_put_mirrored_first(a, a->grid.particle[k], kept, 1, length);
    a->length[k] = length;
    a->key[k] = mirrored << 16 | (length < 0xffff ? length : 0xffff);
}

/* Sorts each window of places in descending order of their keys; equal keys keep their order. */
PBD_ITEM(fluid_order, fluid_search_args, k, 4 * 4, FLUID_WINDOW) {
    const size_t begin = k - k % FLUID_WINDOW, end = begin + FLUID_WINDOW < a->rows ? begin + FLUID_WINDOW : a->rows;
    const uint32_t key = a->key[k];
    uint32_t before = 0;
    for (size_t j = begin; j < k; j++) before += a->key[j] >= key;
    for (size_t j = k + 1; j < end; j++) before += a->key[j] > key;
    a->from[begin + before] = (uint32_t)k;
    a->own[begin + before] = a->grid.particle[k];
    a->mirrored[begin + before] = key >> 16;
}

PBD_ITEM(fluid_measure_slices, fluid_search_args, s, 8 * FLUID_LANES + 4, FLUID_LANES) {
    uint32_t most = 0;
    for (size_t k = FLUID_LANES * s; k < FLUID_LANES * (s + 1) && k < a->rows; k++)
        most = a->length[a->from[k]] > most ? a->length[a->from[k]] : most;
    a->slice[s] = most;
}

PBD_ITEM_OVER(fluid_fill, fluid_search_args, k, 20, 0, 12, 0) {
    const size_t s = k / FLUID_LANES, rows = a->slice[s + 1] - a->slice[s], from = k < a->rows ? a->from[k] : 0;
    const uint32_t length = k < a->rows ? a->length[from] : 0, *kept = a->kept + FLUID_KEPT * from;
    uint32_t *to = a->list + FLUID_LANES * (size_t)a->slice[s] + k % FLUID_LANES;
    if (length > FLUID_KEPT) {
        fluid_search(a, (uint32_t)from, to, FLUID_LANES, length);
        a->mirrored[k] = fluid_put_mirrored_first(a, a->own[k], to, FLUID_LANES, length);
    } else
        for (size_t r = 0; r < length; r++) to[FLUID_LANES * r] = kept[r];
    for (size_t r = length; r < rows; r++) to[FLUID_LANES * r] = (uint32_t)a->rows;
}

/* ---- Constraints ------------------------------------------------------------------------------------------------- */

enum {
    FLUID_SOLVE,   /* updates multipliers */
    FLUID_REPEAT,  /* warm start: applies the multipliers of the previous step */
    FLUID_EVALUATE /* only evaluates C */
};

typedef struct fluid_solve_args {
    fluid_lists lists;
    fluid_shape shape;
    const uint32_t *id;
    const real *p, *v, *role, *gain;
    fluid_walls walls;
    real *multiplier;    /* by id, kg m^2 */
    const real *allowed; /* by id: C below which nothing pushes */
    real *change;        /* by row: change of the multiplier in this pass */
    real *excess;        /* by row: C; 0 unless liquid */
    real *images;        /* by row: of neighbours, within the support; FLUID_EVALUATE writes them */
    real inverse_sum;    /* 1/S */
    real relaxation;
    real softening;  /* added to the denominator, 1/(kg m^2) */
    real compliance; /* compliance/dt^2; a particle's is this over its volume */
    real keep;       /* FLUID_REPEAT: factor of the multipliers */
    int both;        /* liquid also resists expansion: C = 0 */
    int printed;     /* each pass ignores earlier multipliers */
    int task;
} fluid_solve_args;

/* Stores C of a row and, depending on `task`, its new multiplier and the change. */
PBD_FN void fluid_set_multiplier(const fluid_solve_args *a, size_t row, real excess, real weight, real volume) {
    const int liquid = a->role[row] > 0;
    a->excess[row] = liquid ? excess : 0;
    if (a->task == FLUID_EVALUATE) return;
    real *multiplier = a->multiplier + fluid_id(a->id, row), old = *multiplier;
    if (!liquid || !(weight > 0)) {
        *multiplier = a->change[row] = 0;
        return;
    }
    if (a->task == FLUID_REPEAT) {
        *multiplier = a->change[row] = a->keep * old;
        return;
    }
    const real soft = a->compliance / volume, from = a->printed ? 0 : old;
    excess -= a->allowed[fluid_id(a->id, row)];
    real now = from + a->relaxation * (excess - soft * from) / (weight + soft + a->softening);
    if (!a->both) now = real_max(now, 0);
    a->change[row] = now - from;
    *multiplier = a->printed ? old + now : now;
}

/* Sums of a constraint over neighbours and their images. */
typedef struct fluid_sums {
    vreal sum, spread, images;
    vvec3 gradient;
} fluid_sums;

PBD_FN void fluid_add(fluid_sums *s, const fluid_shape *shape, vreal square, vvec3 d, vreal volume, vreal gain) {
    const fluid_value k = fluid_kernel_at(shape, square);
    s->sum += volume * k.w;
    s->gradient = vvec3_add(s->gradient, vvec3_scale(volume * k.slope, d));
    s->spread += gain * k.slope * k.slope * square;
}

/* The neighbours of each of `count` places from `first` that may have an image within reach; the end of their rows. */
PBD_FN vreal fluid_mirrored_of(const fluid_lists *lists, size_t first, int count, size_t *end) {
    real lane[PBD_BATCH];
    uint32_t most = 0;
    for (int l = 0; l < PBD_BATCH; l++) {
        const uint32_t mirrored = l < count ? lists->mirrored[first + l] : 0;
        lane[l] = (real)mirrored;
        most = mirrored > most ? mirrored : most;
    }
    *end = lists->slice[first / FLUID_LANES] + most;
    return batch_load(lane, 0, PBD_BATCH);
}

/* The squared distance of a neighbour's image; beyond the support unless `listed`, so that what a particle feels does
 * not depend on the others of its batch. */
PBD_FN vreal fluid_listed_square(const fluid_mirrors *m, const fluid_shape *shape, int set, vreal near, vmask listed) {
    return vreal_where(listed, fluid_image_square(m, set, near), vreal_set(4 * shape->support * shape->support));
}

/* Operations of a neighbour and of an image of one within the support, counted in machine code (gcc 12, AVX2, f32). */
enum { FLUID_SOLVE_NEIGHBOUR = 45, FLUID_SOLVE_IMAGE = 50, FLUID_MOVE_NEIGHBOUR = 42, FLUID_MOVE_IMAGE = 42 };

PBD_BATCH_OVER(fluid_solve, fluid_solve_args, first, count, 14 * sizeof(real) + 8, 60, 5 * sizeof(real) + 4,
               FLUID_SOLVE_NEIGHBOUR) {
    const size_t slice = first / FLUID_LANES, lane = first % FLUID_LANES;
    const uint32_t *own = a->lists.own + first;
    const fluid_shape shape = a->shape;
    const fluid_walls walls = a->walls;
    const real inverse = a->inverse_sum;
    const vreal zero = vreal_set(0), one = vreal_set(1);
    const vvec3 zero3 = vvec3_make(zero, zero, zero);
    vreal x[4], v[4];
    int any = 0;
    for (int l = 0; l < count; l++) any |= a->role[own[l]] > 0;
    if (!any) {
        for (int l = 0; l < count; l++) a->change[own[l]] = a->excess[own[l]] = a->images[own[l]] = 0;
        return;
    }
    batch_load_rows(a->p, own, 1, count, x);
    batch_load_rows(a->v, own, 1, count, v);
    fluid_mirrors mirrors = fluid_mirrors_of(&walls, own, count);
    const int sets = 1 << mirrors.count;
    fluid_sums s = {zero, zero, zero, zero3};
    for (int set = 0; set < sets; set++) { /* the particle itself, and its images, which count as neighbours */
        const vreal square = fluid_image_square(&mirrors, set, zero);
        fluid_add(&s, &shape, square, fluid_image_arm(&mirrors, set, zero3), x[3], v[3] * x[3] * x[3]);
    }
    const size_t begin = a->lists.slice[slice], end = a->lists.slice[slice + 1];
    size_t mirrored;
    const vreal of_lane = fluid_mirrored_of(&a->lists, first, count, &mirrored);
    for (size_t row = begin; row < end; row++) {
        const uint32_t *at = a->lists.list + FLUID_LANES * row + lane;
        vreal b[4];
        batch_load_rows(a->p, at, 1, count, b);
        const vreal gain = batch_gather(a->gain, at, count);
        const vvec3 pair = vvec3_make(x[0] - b[0], x[1] - b[1], x[2] - b[2]);
        const vreal near = vvec3_dot(pair, pair);
        fluid_add(&s, &shape, near, pair, b[3], gain);
        if (row >= mirrored) continue;
        const vmask listed = (vmask)(of_lane > (real)(row - begin));
        fluid_visit_mirrors(&walls, &mirrors, at, count);
        for (int set = 1; set < sets; set++) {
            const vreal square = fluid_listed_square(&mirrors, &shape, set, near, listed);
            if (!fluid_is_near(&shape, square)) continue;
            fluid_add(&s, &shape, square, fluid_image_arm(&mirrors, set, pair), b[3], gain);
            s.images += vreal_where((vmask)(square * shape.per_square < 1) & (vmask)(b[3] > 0), one, zero);
        }
    }
    for (int l = 0; l < count; l++) {
        const vec3 g = vec3_make(inverse * batch_lane(s.gradient.x, l), inverse * batch_lane(s.gradient.y, l),
                                 inverse * batch_lane(s.gradient.z, l));
        const real weight = batch_lane(v[3], l) * vec3_dot(g, g) + inverse * inverse * batch_lane(s.spread, l);
        if (a->task == FLUID_EVALUATE) a->images[own[l]] = batch_lane(s.images, l);
        fluid_set_multiplier(a, own[l], inverse * batch_lane(s.sum, l) - 1, weight, batch_lane(x[3], l));
    }
}

typedef struct fluid_allowed_args {
    const uint32_t *id;
    const real *excess;
    real *allowed; /* by id */
    real keep;     /* factor of `allowed`; negative: sets it to the present excess */
} fluid_allowed_args;

/* Initial excess density decays gradually: correcting it at once would throw the liquid apart. */
PBD_ITEM(fluid_set_allowed, fluid_allowed_args, i, 2 * sizeof(real), 1) {
    real *allowed = a->allowed + fluid_id(a->id, i);
    *allowed = a->keep < 0 ? real_max(a->excess[i], 0) : a->keep * *allowed;
}

typedef struct fluid_forget_args {
    real *multiplier;
} fluid_forget_args;

PBD_ITEM(fluid_clear_multipliers, fluid_forget_args, i, sizeof(real), 0) { a->multiplier[i] = 0; }

typedef struct fluid_move_args {
    fluid_lists lists;
    fluid_shape shape;
    const uint32_t *id;
    const real *p, *role, *change;
    fluid_walls walls;
    real *v;
    real *exchange;     /* by id, 3 each: impulse between liquid and continuum, N s; NULL: not needed */
    collider_sums sums; /* by row */
    real inverse_sum, inverse_dt;
    real crowd;   /* multiplier of artificial pressure; 0: off */
    real crowd_w; /* 1/W at the distance where it has that value */
    int crowd_power;
} fluid_move_args;

/* Adds the impulses of the walls on the particle of lane `l`, and the work that they do as their surfaces move. They
 * dissipate nothing. */
PBD_FN void fluid_sum_walls(const fluid_move_args *a, const fluid_mirrors *m, const vreal by[FLUID_CORNER], int l,
                            size_t row, real impulse) {
    double *sums = a->sums.row + COLLIDER_SUMS * row;
    for (int c = 0; c < FLUID_CORNER; c++) {
        if (c >= m->count) break;
        const real *n = a->walls.normal + 4 * (m->wall[c][l] * a->walls.stride + row);
        const double pressed = 2 * (double)impulse * (double)batch_lane(by[c], l);
        sums[COLLIDER_WORK] += pressed * (double)n[3] * a->sums.inverse_dt;
        for (int d = 0; d < 3; d++) sums[COLLIDER_IMPULSE + d] += pressed * (double)n[d];
    }
}

/* The multiplier of artificial pressure, times (W crowd_w)^power. */
PBD_FN vreal fluid_crowding(const fluid_move_args *a, vreal w) {
    const vreal ratio = a->crowd_w * w;
    vreal out = vreal_set(a->crowd);
    for (int k = 0; k < a->crowd_power; k++) out *= ratio;
    return out;
}

PBD_BATCH_OVER(fluid_move, fluid_move_args, first, count, 13 * sizeof(real) + 4, 20, 5 * sizeof(real) + 4,
               FLUID_MOVE_NEIGHBOUR) {
    const size_t slice = first / FLUID_LANES, lane = first % FLUID_LANES;
    const size_t begin = a->lists.slice[slice], end = a->lists.slice[slice + 1];
    size_t mirrored;
    const vreal of_lane = fluid_mirrored_of(&a->lists, first, count, &mirrored);
    const uint32_t *own = a->lists.own + first;
    const fluid_shape shape = a->shape;
    const fluid_walls walls = a->walls;
    const vreal zero = vreal_set(0), l = batch_gather(a->change, own, count), role = batch_gather(a->role, own, count);
    const vvec3 zero3 = vvec3_make(zero, zero, zero);
    vreal x[4], v[4], by_wall[FLUID_CORNER] = {zero, zero, zero};
    vvec3 move = zero3, other = zero3;
    fluid_mirrors mirrors = fluid_mirrors_of(&walls, own, count);
    if (begin == end && mirrors.count == 0) return;
    batch_load_rows(a->p, own, 1, count, x);
    const int sets = 1 << mirrors.count;
    for (int set = 1; set < sets; set++) {
        const vreal square = fluid_image_square(&mirrors, set, zero);
        const vreal push = 2 * l * x[3] * fluid_kernel_at(&shape, square).slope;
        move = vvec3_add(move, vvec3_scale(push, fluid_image_arm(&mirrors, set, zero3)));
        if (a->sums.row) fluid_note_mirrors(&mirrors, set, push, by_wall);
    }
    for (size_t row = begin; row < end; row++) {
        const uint32_t *at = a->lists.list + FLUID_LANES * row + lane;
        vreal b[4];
        batch_load_rows(a->p, at, 1, count, b);
        const vvec3 pair = vvec3_make(x[0] - b[0], x[1] - b[1], x[2] - b[2]);
        const vreal near = vvec3_dot(pair, pair);
        const fluid_value k = fluid_kernel_at(&shape, near);
        const vreal shared = batch_gather(a->change, at, count) * x[3] + l * b[3];
        vreal push = shared;
        if (a->crowd > 0) push += (real)0.5 * (x[3] + b[3]) * vreal_where(b[3] > 0, fluid_crowding(a, k.w), zero);
        const vvec3 by = vvec3_scale(push * k.slope, pair);
        move = vvec3_add(move, by);
        if (a->exchange) {
            const vreal stranger = vreal_where(batch_gather(a->role, at, count) == role, zero, vreal_set(1));
            other = vvec3_add(other, vvec3_scale(stranger, by)); /* the placeholder contributes 0 */
        }
        if (row >= mirrored) continue;
        const vmask listed = (vmask)(of_lane > (real)(row - begin));
        fluid_visit_mirrors(&walls, &mirrors, at, count);
        for (int set = 1; set < sets; set++) {
            const vreal square = fluid_listed_square(&mirrors, &shape, set, near, listed);
            if (!fluid_is_near(&shape, square)) continue;
            const vreal image = shared * fluid_kernel_at(&shape, square).slope;
            move = vvec3_add(move, vvec3_scale(image, fluid_image_arm(&mirrors, set, pair)));
            if (a->sums.row) fluid_note_mirrors(&mirrors, set, image, by_wall);
        }
    }
    batch_load_rows(a->v, own, 1, count, v);
    for (int i = 0; i < count; i++) {
        const size_t to = own[i];
        const real w = batch_lane(v[3], i), impulse = -a->inverse_dt * a->inverse_sum, scale = w * impulse;
        if (!(a->role[to] >= 0) || !(w > 0)) continue;
        a->v[4 * to] = batch_lane(v[0], i) + scale * batch_lane(move.x, i);
        a->v[4 * to + 1] = batch_lane(v[1], i) + scale * batch_lane(move.y, i);
        a->v[4 * to + 2] = batch_lane(v[2], i) + scale * batch_lane(move.z, i);
        if (a->sums.row) fluid_sum_walls(a, &mirrors, by_wall, i, to, impulse);
        if (!a->exchange) continue;
        real *e = a->exchange + 3 * fluid_id(a->id, to);
        e[0] += impulse * batch_lane(other.x, i);
        e[1] += impulse * batch_lane(other.y, i);
        e[2] += impulse * batch_lane(other.z, i);
    }
}

/* ---- Velocities -------------------------------------------------------------------------------------------------- */

typedef struct fluid_smooth_args {
    fluid_lists lists;
    fluid_shape shape;
    const real *p, *role, *v;
    real *smooth; /* rows: smoothed velocities of liquid */
    real *curl;   /* rows: curl of velocity and its length; NULL: not needed */
    real share;   /* c of XSPH */
} fluid_smooth_args;

/* XSPH between particles of liquid, with symmetric weights (m_i V_j + m_j V_i)/2. */
PBD_BATCH_OVER(fluid_smooth, fluid_smooth_args, first, count, 13 * sizeof(real) + 4, 20, 9 * sizeof(real) + 4, 50) {
    const size_t slice = first / FLUID_LANES, lane = first % FLUID_LANES;
    const uint32_t *own = a->lists.own + first;
    const fluid_shape shape = a->shape;
    const vreal zero = vreal_set(0), tiny = vreal_set(REAL_MIN);
    vreal x[4], v[4];
    vvec3 sum = vvec3_make(zero, zero, zero), curl = sum;
    batch_load_rows(a->p, own, 1, count, x);
    batch_load_rows(a->v, own, 1, count, v);
    for (size_t row = a->lists.slice[slice], end = a->lists.slice[slice + 1]; row < end; row++) {
        const uint32_t *at = a->lists.list + FLUID_LANES * row + lane;
        vreal b[4], u[4];
        batch_load_rows(a->p, at, 1, count, b);
        batch_load_rows(a->v, at, 1, count, u);
        const vvec3 d = vvec3_make(x[0] - b[0], x[1] - b[1], x[2] - b[2]);
        const vvec3 slip = vvec3_make(u[0] - v[0], u[1] - v[1], u[2] - v[2]);
        const fluid_value k = fluid_kernel_at(&shape, vvec3_dot(d, d));
        const vreal liquid = vreal_where(batch_gather(a->role, at, count) > 0, vreal_set(1), zero);
        const vreal ratio = vreal_where((u[3] > 0) & (v[3] > 0), v[3] / vreal_max(u[3], tiny), vreal_set(1));
        sum = vvec3_add(sum, vvec3_scale(liquid * k.w * (real)0.5 * (b[3] + x[3] * ratio), slip));
        curl = vvec3_add(curl, vvec3_scale(liquid * b[3] * k.slope, vvec3_cross(d, slip)));
    }
    for (int i = 0; i < count; i++) {
        const size_t to = own[i];
        real *out = a->smooth + 4 * to;
        const real share = a->role[to] > 0 && batch_lane(v[3], i) > 0 ? a->share : 0;
        out[0] = batch_lane(v[0], i) + share * batch_lane(sum.x, i);
        out[1] = batch_lane(v[1], i) + share * batch_lane(sum.y, i);
        out[2] = batch_lane(v[2], i) + share * batch_lane(sum.z, i);
        out[3] = batch_lane(v[3], i);
        if (!a->curl) continue;
        const vec3 c = vec3_make(batch_lane(curl.x, i), batch_lane(curl.y, i), batch_lane(curl.z, i));
        a->curl[4 * to] = c.x;
        a->curl[4 * to + 1] = c.y;
        a->curl[4 * to + 2] = c.z;
        a->curl[4 * to + 3] = real_sqrt(vec3_dot(c, c));
    }
}

typedef struct fluid_confine_args {
    fluid_lists lists;
    fluid_shape shape;
    const real *p, *role, *curl;
    real *smooth;
    real speed; /* change of velocity per step, divided by the curl */
} fluid_confine_args;

/* Vorticity confinement: along n x curl, n the direction of grad |curl|. Does not conserve momentum, as in the
 * paper. */
PBD_BATCH_OVER(fluid_confine, fluid_confine_args, first, count, 16 * sizeof(real) + 4, 30, 9 * sizeof(real) + 4, 45) {
    const size_t slice = first / FLUID_LANES, lane = first % FLUID_LANES;
    const uint32_t *own = a->lists.own + first;
    const fluid_shape shape = a->shape;
    const vreal zero = vreal_set(0);
    vreal x[4], w[4];
    vvec3 sum = vvec3_make(zero, zero, zero);
    batch_load_rows(a->p, own, 1, count, x);
    batch_load_rows(a->curl, own, 1, count, w);
    for (size_t row = a->lists.slice[slice], end = a->lists.slice[slice + 1]; row < end; row++) {
        const uint32_t *at = a->lists.list + FLUID_LANES * row + lane;
        vreal b[4], u[4];
        batch_load_rows(a->p, at, 1, count, b);
        batch_load_rows(a->curl, at, 1, count, u);
        const vvec3 d = vvec3_make(x[0] - b[0], x[1] - b[1], x[2] - b[2]);
        const vreal liquid = vreal_where(batch_gather(a->role, at, count) > 0, vreal_set(1), zero);
        const fluid_value k = fluid_kernel_at(&shape, vvec3_dot(d, d));
        sum = vvec3_add(sum, vvec3_scale(liquid * b[3] * k.slope * (u[3] - w[3]), d));
    }
    const vreal length = vreal_sqrt(vvec3_dot(sum, sum));
    const vreal scale = a->speed * vreal_where(length > 0, 1 / vreal_max(length, vreal_set(REAL_MIN)), zero);
    const vvec3 push = vvec3_scale(scale, vvec3_cross(sum, vvec3_make(w[0], w[1], w[2])));
    for (int i = 0; i < count; i++) {
        const size_t to = own[i];
        if (!(a->role[to] > 0) || !(a->smooth[4 * to + 3] > 0)) continue;
        a->smooth[4 * to] += batch_lane(push.x, i);
        a->smooth[4 * to + 1] += batch_lane(push.y, i);
        a->smooth[4 * to + 2] += batch_lane(push.z, i);
    }
}

typedef struct fluid_store_args {
    const real *role, *smooth;
    real *v;
} fluid_store_args;

PBD_ITEM(fluid_store_smoothed, fluid_store_args, i, 7 * sizeof(real), 0) {
    for (size_t d = 0; d < 3 && a->role[i] > 0; d++) a->v[4 * i + d] = a->smooth[4 * i + d];
}

/* ---- Reductions by block ----------------------------------------------------------------------------------------- */

/* C: maximum, sum of max(C, 0), sum; number of liquid particles; exchange of liquid, of continuum, sum of magnitudes;
 * neighbours; images of neighbours. */
enum { FLUID_MEASURED = 13 };

typedef struct fluid_reduce_args {
    const uint32_t *id;
    const real *role, *excess, *exchange; /* exchange may be NULL */
    const real *images;                   /* by row */
    const uint32_t *length;               /* length of the list, by place in the grid */
    size_t rows;
    real *out;
} fluid_reduce_args;

PBD_ITEM(fluid_reduce, fluid_reduce_args, block, FLUID_BLOCK *(6 * sizeof(real) + 4), FLUID_BLOCK * 13) {
    const size_t begin = block * FLUID_BLOCK, end = begin + FLUID_BLOCK < a->rows ? begin + FLUID_BLOCK : a->rows;
    real *out = a->out + FLUID_MEASURED * block;
    for (int k = 0; k < FLUID_MEASURED; k++) out[k] = k == 0 ? (real)-1 : 0;
    for (size_t i = begin; i < end; i++) {
        const int liquid = a->role[i] > 0;
        const real c = a->excess[i];
        out[11] += (real)a->length[i];
        out[12] += a->images[i];
        if (liquid) {
            out[0] = c > out[0] || c != c ? c : out[0];
            out[1] += c > 0 ? c : 0;
            out[2] += c;
            out[3] += 1;
        }
        if (!a->exchange || a->role[i] < 0) continue;
        const real *e = a->exchange + 3 * fluid_id(a->id, i);
        for (int d = 0; d < 3; d++) out[(liquid ? 4 : 7) + d] += e[d];
        if (!liquid) out[10] += real_sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    }
}

#endif
