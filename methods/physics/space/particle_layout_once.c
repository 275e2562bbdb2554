#include "methods/physics/space/particle_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/physics/space/colouring.h"
#define REAL double
#include "methods/physics/space/shape_kernels.h"

/* ---- Particles --------------------------------------------------------------------------------------------------- */

static pbd_status take_particles(const pbd_scene *scene, particle_layout *out) {
    const size_t n = out->particles;
    pbd_arena a PBD_ARENA;
    bool *held = pbd_new(&a, bool, n);
    out->particle = pbd_new(&out->particle_memory, uint32_t, n);
    out->rest = pbd_new(&out->rest_memory, double, 3 * n);
    out->volume = pbd_new(&out->rest_memory, double, n);
    out->inverse = pbd_new(&out->rest_memory, double, n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_arena_check(&out->particle_memory));
    PBD_TRY(pbd_arena_check(&out->rest_memory));
    PBD_TRY(rest_space_order(n, scene->particles.positions, 2 * scene->particles.spacing, out->particle));
    for (size_t i = 0; i < scene->particles.fixed; i++) held[scene->particles.fixed_particle[i]] = true;
    for (size_t i = 0; i < n; i++) {
        const uint32_t p = out->particle[i];
        memcpy(out->rest + 3 * i, scene->particles.positions + 3 * (size_t)p, 3 * sizeof(double));
        out->volume[i] = scene->particles.volumes ? scene->particles.volumes[p]
                                                  : scene->particles.masses[p] / pbd_material_of(scene, p)->density;
        out->inverse[i] = held[p] ? 0 : 1 / scene->particles.masses[p];
        if (!(out->volume[i] > 0 && isfinite(out->volume[i])))
            return pbd_error(PBD_BAD_INPUT, "particle %u stands for a volume of %g m^3: it must be above 0", p,
                             out->volume[i]);
    }
    return pbd_ok();
}

static pbd_status find_neighbours(const pbd_scene *scene, double radius, particle_layout *out) {
    const uint32_t *from = scene->particles.body;
    pbd_arena a PBD_ARENA;
    uint32_t *body = from ? pbd_new(&a, uint32_t, out->particles) : NULL;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < out->particles && from; i++) body[i] = from[out->particle[i]];
    return rest_neighbours_find(out->particles, out->rest, body, radius, &out->near);
}

/* ---- Slices ------------------------------------------------------------------------------------------------------ */

static size_t list_length(const particle_layout *l, size_t place) {
    return l->near.first[place + 1] - l->near.first[place];
}

/* Numbers the slots stage by stage. order: places, sorted by stage; first: stages + 1 offsets into it. */
static pbd_status place_slots(const uint32_t *order, const size_t *first, particle_layout *out) {
    pbd_arena *a = &out->slot_memory;
    out->stage_slot = pbd_new(a, size_t, out->stages + 1);
    out->stage_count = pbd_new(a, size_t, out->stages);
    out->stage_near = pbd_new(a, size_t, out->stages);
    PBD_TRY(pbd_arena_check(a));
    for (size_t s = 0; s < out->stages; s++) {
        const size_t count = first[s + 1] - first[s];
        out->stage_count[s] = count;
        for (size_t k = first[s]; k < first[s + 1]; k++) out->stage_near[s] += list_length(out, order[k]);
        out->stage_slot[s + 1] = out->stage_slot[s] + (count + PARTICLE_SLICE - 1) / PARTICLE_SLICE * PARTICLE_SLICE;
    }
    out->slots = out->stage_slot[out->stages];
    out->own = pbd_new(a, uint32_t, out->slots);
    PBD_TRY(pbd_arena_check(a));
    for (size_t s = 0; s < out->stages; s++) /* padding repeats the stage's last particle */
        for (size_t slot = out->stage_slot[s]; slot < out->stage_slot[s + 1]; slot++) {
            const size_t k = slot - out->stage_slot[s], count = out->stage_count[s];
            out->own[slot] = order[first[s] + (k < count ? k : count - 1)];
        }
    return pbd_ok();
}

static pbd_status order_slots(particle_layout *out) {
    const size_t n = out->particles, whole[2] = {0, n};
    size_t *first = NULL;
    pbd_arena a PBD_ARENA;
    uint32_t *order = pbd_new(&a, uint32_t, n);
    PBD_TRY(pbd_arena_check(&a));
    out->colours = 1;
    out->stages = 1;
    out->pairs = out->near.first[n];
    for (size_t i = 0; i < n && out->jacobi; i++) order[i] = (uint32_t)i;
    if (out->jacobi) return place_slots(order, whole, out);
    PBD_TRY(pbd_colour_lists(n, out->near.first, out->near.particle, n, true, &a, order, &first, &out->colours));
    PBD_TRY(pbd_block_colours(n, out->block, order, first, out->colours, &a, &first, &out->stages));
    return place_slots(order, first, out);
}

static bool is_constraint(const particle_layout *l, size_t stage, size_t slot) {
    return slot - l->stage_slot[stage] < l->stage_count[stage];
}

static pbd_status count_rows(particle_layout *out) {
    const size_t slices = out->slots / PARTICLE_SLICE;
    out->slice = pbd_new(&out->row_memory, uint32_t, slices + 1);
    PBD_TRY(pbd_arena_check(&out->row_memory));
    size_t rows = 0;
    for (size_t s = 0; s < slices; s++) {
        size_t longest = 0;
        for (size_t lane = 0; lane < PARTICLE_SLICE; lane++) {
            const size_t length = list_length(out, out->own[s * PARTICLE_SLICE + lane]);
            if (length > longest) longest = length;
        }
        out->slice[s] = (uint32_t)rows;
        rows += longest;
    }
    if (rows * 3 * PARTICLE_SLICE >= UINT32_MAX)
        return pbd_error(PBD_BAD_INPUT, "%zu rows of neighbours exceed the limit: use a smaller radius", rows);
    out->slice[slices] = (uint32_t)rows;
    out->rows = rows;
    return pbd_ok();
}

/* Writes the rows of a slot. gradient: those of its particle's neighbours. The rows of its slice begin at `neighbour`
 * and `to`; `to` must be zeroed. */
static void fill_slot(const particle_layout *l, const double *gradient, size_t slot, bool constraint,
                      uint32_t *neighbour, double *to) {
    const size_t i = l->own[slot], lane = slot % PARTICLE_SLICE, slice = slot / PARTICLE_SLICE;
    const size_t rows = l->slice[slice + 1] - l->slice[slice], length = constraint ? list_length(l, i) : 0;
    for (size_t row = 0; row < rows; row++) {
        const bool there = row < length;
        neighbour[row * PARTICLE_SLICE + lane] = there ? l->near.particle[l->near.first[i] + row] : (uint32_t)i;
        for (size_t d = 0; d < 3 && there; d++) to[(row * 3 + d) * PARTICLE_SLICE + lane] = gradient[3 * row + d];
    }
}

/* Jacobi only. back: by place j, the next unused entry of its list. Lists are ascending and symmetric, and slots are
 * filled in the order of places, so the entries of j's list are used in order. */
static void fill_reverse(particle_layout *l, const double *gradient, size_t slot, size_t *back) {
    const size_t i = l->own[slot], lane = slot % PARTICLE_SLICE, begin = l->slice[slot / PARTICLE_SLICE];
    for (size_t k = 0; k < list_length(l, i); k++) {
        const size_t other = back[l->near.particle[l->near.first[i] + k]]++;
        for (size_t d = 0; d < 3; d++)
            l->reverse[((begin + k) * 3 + d) * PARTICLE_SLICE + lane] = gradient[3 * other + d];
    }
}

static void fill_sums(particle_layout *l, const double *gradient, size_t slot, bool constraint) {
    static const int row[6] = {0, 1, 2, 0, 1, 2}, column[6] = {0, 1, 2, 1, 2, 0};
    const size_t i = l->own[slot];
    double sum[3] = {0}, weight[6] = {0};
    for (size_t k = 0; k < list_length(l, i); k++) {
        const double *b = gradient + 3 * k, w = l->inverse[l->near.particle[l->near.first[i] + k]];
        for (int d = 0; d < 3; d++) sum[d] += b[d];
        for (int e = 0; e < 6; e++) weight[e] += w * b[row[e]] * b[column[e]];
    }
    for (int d = 0; d < 3; d++) l->sum[(size_t)d * l->slots + slot] = sum[d];
    for (int e = 0; e < 6; e++)
        l->weight[(size_t)e * l->slots + slot] = weight[e] + l->inverse[i] * sum[row[e]] * sum[column[e]];
    l->slot_volume[slot] = constraint ? l->volume[i] : 0;
}

static pbd_status room_for_sums(particle_layout *out) {
    pbd_arena *a = &out->row_memory;
    out->sum = pbd_new(a, double, 3 * out->slots);
    out->weight = pbd_new(a, double, 6 * out->slots);
    out->slot_volume = pbd_new(a, double, out->slots);
    return pbd_arena_check(a);
}

static pbd_status room_for_offsets(particle_layout *out) {
    if (!out->offset) out->offset = pbd_new(&out->row_memory, double, 9 * out->slots);
    return pbd_arena_check(&out->row_memory);
}

static void put_offset(particle_layout *l, const double offset[9], size_t slot) {
    for (size_t e = 0; e < 9; e++) l->offset[e * l->slots + slot] = offset[e];
}

static pbd_status fill_slots(const shape_gradients *shape, particle_layout *out) {
    const size_t entries = out->rows * PARTICLE_SLICE;
    pbd_arena scratch PBD_ARENA, *a = &out->row_memory;
    size_t *back = out->jacobi ? pbd_new(&scratch, size_t, out->particles) : NULL;
    out->neighbour = pbd_new(a, uint32_t, entries);
    out->gradient = pbd_new(a, double, 3 * entries);
    out->reverse = out->jacobi ? pbd_new(a, double, 3 * entries) : NULL;
    PBD_TRY(pbd_arena_check(&scratch));
    PBD_TRY(room_for_sums(out));
    if (shape->has_offset) PBD_TRY(room_for_offsets(out));
    if (back) memcpy(back, out->near.first, out->particles * sizeof *back);
    for (size_t k = 0; k < out->stages; k++)
        for (size_t s = out->stage_slot[k]; s < out->stage_slot[k + 1]; s++) {
            const double *gradient = shape->gradient + 3 * out->near.first[out->own[s]];
            const size_t row = PARTICLE_SLICE * (size_t)out->slice[s / PARTICLE_SLICE];
            fill_slot(out, gradient, s, is_constraint(out, k, s), out->neighbour + row, out->gradient + 3 * row);
            if (back && is_constraint(out, k, s)) fill_reverse(out, shape->gradient, s, back);
            fill_sums(out, gradient, s, is_constraint(out, k, s));
            if (out->offset) put_offset(out, shape->offset + 9 * (size_t)out->own[s], s);
        }
    return pbd_ok();
}

/* ---- Rows that are handed over ----------------------------------------------------------------------------------- */

enum { TAKEN_ROWS = 2048 };

typedef struct row_buffer {
    size_t first, rows; /* row of the layout at which the buffer begins; rows filled */
    uint32_t *neighbour;
    double *gradient;
} row_buffer;

static size_t longest_list(const particle_layout *l) {
    size_t most = 0;
    for (size_t i = 0; i < l->particles; i++) most = list_length(l, i) > most ? list_length(l, i) : most;
    return most;
}

static pbd_status hand_over(const particle_rows *to, row_buffer *buffer) {
    if (buffer->rows > 0) PBD_TRY(to->take(to->self, buffer->first, buffer->rows, buffer->neighbour, buffer->gradient));
    memset(buffer->gradient, 0, 3 * PARTICLE_SLICE * buffer->rows * sizeof *buffer->gradient);
    buffer->first += buffer->rows;
    buffer->rows = 0;
    return pbd_ok();
}

/* Makes a slot whose rows begin at row `at` of the buffer. */
static pbd_status make_slot(const shape_choice *choice, size_t slot, bool constraint, size_t at, shape_one *one,
                            row_buffer *buffer, particle_layout *out) {
    const size_t i = out->own[slot], row = PARTICLE_SLICE * at;
    shape_one_make(&out->near, out->rest, out->volume, choice, i, one);
    fill_slot(out, one->gradient, slot, constraint, buffer->neighbour + row, buffer->gradient + 3 * row);
    fill_sums(out, one->gradient, slot, constraint);
    out->few += constraint && list_length(out, i) < 4;
    out->deficient += constraint && one->lost > 0;
    if (!one->has_offset) return pbd_ok();
    PBD_TRY(room_for_offsets(out));
    put_offset(out, one->offset, slot);
    return pbd_ok();
}

/* As fill_slots, but computes the gradients of one particle at a time. */
static pbd_status pass_slots(const shape_choice *choice, const particle_rows *to, particle_layout *out) {
    const size_t most = longest_list(out), room = TAKEN_ROWS + most;
    shape_one one;
    pbd_arena a PBD_ARENA;
    row_buffer buffer = {.neighbour = pbd_new(&a, uint32_t, PARTICLE_SLICE * room),
                         .gradient = pbd_new(&a, double, 3 * PARTICLE_SLICE * room)};
    PBD_TRY(shape_one_create(&a, most, &one));
    PBD_TRY(room_for_sums(out));
    out->few = out->deficient = 0;
    for (size_t k = 0; k < out->stages; k++)
        for (size_t s = out->stage_slot[k]; s < out->stage_slot[k + 1]; s++) {
            const size_t slice = s / PARTICLE_SLICE, at = out->slice[slice] - buffer.first;
            PBD_TRY(make_slot(choice, s, is_constraint(out, k, s), at, &one, &buffer, out));
            buffer.rows = out->slice[slice + 1] - buffer.first;
            const bool whole = (s + 1) % PARTICLE_SLICE == 0;
            if (whole && buffer.rows >= TAKEN_ROWS) PBD_TRY(hand_over(to, &buffer));
        }
    return hand_over(to, &buffer);
}

/* ---- Bound of the overshoot of summed projections ---------------------------------------------------------------- */

/* Projection i removes the component of a displacement along its normalised gradient n_i. Jacobi adds all of them and
 * diverges if the largest eigenvalue of the sum exceeds 2. The direction of P in n_i = sqrt(w) P b / sqrt(tr P K P^T)
 * is not known in advance. For every P, however, n_i n_i^T is bounded by the quadratic form A -> A K_i^-1 A^T of the
 * displacement gradient A (Cauchy-Schwarz), which is the same for each coordinate. The largest eigenvalue of the sum of
 * these forms, found by power iteration, is a bound for every state of the body. */
enum { POWER_ITERATIONS = 40, POWER_AGAIN = 6 };
static const double LOST_WEIGHT = 1e-9;

typedef struct power {
    const particle_layout *layout;
    const double *gradient;
    const double *inverse_weight; /* places x 9 */
    const double *root;           /* places: square root of the inverse mass */
    double *from, *to;            /* places */
} power;

static void invert_weight(const particle_layout *l, const double *gradient, size_t i, double *out) {
    mat3 k = mat3_scale(0, mat3_identity());
    vec3 sum = vec3_make(0, 0, 0);
    for (size_t n = l->near.first[i]; n < l->near.first[i + 1]; n++) {
        const vec3 b = vec3_make(gradient[3 * n], gradient[3 * n + 1], gradient[3 * n + 2]);
        sum = vec3_add(sum, b);
        k = mat3_add(k, mat3_scale(l->inverse[l->near.particle[n]], mat3_outer(b, b)));
    }
    k = mat3_add(k, mat3_scale(l->inverse[i], mat3_outer(sum, sum)));
    const svd3 f = mat3_svd(k);
    const double s[3] = {f.s.x, f.s.y, f.s.z};
    double inverse[3];
    for (int d = 0; d < 3; d++) inverse[d] = fabs(s[d]) > LOST_WEIGHT * s[0] ? 1 / s[d] : 0;
    svd3 turned = f;
    turned.u = f.v;
    turned.v = f.u;
    const mat3 m = svd3_with(turned, vec3_make(inverse[0], inverse[1], inverse[2]));
    const double entries[9] = {m.x.x, m.y.x, m.z.x, m.x.y, m.y.y, m.z.y, m.x.z, m.y.z, m.z.z};
    memcpy(out, entries, sizeof entries);
}

static void power_step(const power *p) {
    const particle_layout *l = p->layout;
    const double *root = p->root, *from = p->from;
    double *to = p->to;
    memset(to, 0, l->particles * sizeof *to);
    for (size_t i = 0; i < l->particles; i++) {
        const double here = root[i] * from[i], *inverse = p->inverse_weight + 9 * i;
        double a[3] = {0}, t[3], own = to[i];
        for (size_t k = l->near.first[i]; k < l->near.first[i + 1]; k++) {
            const size_t j = l->near.particle[k];
            const double difference = root[j] * from[j] - here;
            for (size_t d = 0; d < 3; d++) a[d] += difference * p->gradient[3 * k + d];
        }
        for (int d = 0; d < 3; d++)
            t[d] = inverse[3 * d] * a[0] + inverse[3 * d + 1] * a[1] + inverse[3 * d + 2] * a[2];
        for (size_t k = l->near.first[i]; k < l->near.first[i + 1]; k++) {
            const size_t j = l->near.particle[k];
            const double *b = p->gradient + 3 * k, along = t[0] * b[0] + t[1] * b[1] + t[2] * b[2];
            to[j] += root[j] * along;
            own -= root[i] * along; /* no particle is its own neighbour */
        }
        to[i] = own;
    }
}

static pbd_status start_power(particle_layout *out) {
    out->power = calloc(out->particles, sizeof *out->power);
    if (!out->power) return pbd_error(PBD_FAILED, "out of memory for %zu particles", out->particles);
    for (size_t i = 0; i < out->particles; i++) /* not symmetric on a lattice; by particle, not by place */
        out->power[i] = (out->particle[i] * UINT64_C(2654435761) >> 7 & 1) ? 1 : -1;
    return pbd_ok();
}

/* Keeps the matrices of particles whose neighbours are the same as in `known`. */
static pbd_status invert_weights(const double *gradient, const shape_known *known, particle_layout *out) {
    const bool there = out->inverse_weight;
    if (!there) out->inverse_weight = calloc(9 * out->particles, sizeof *out->inverse_weight);
    if (!out->inverse_weight) return pbd_error(PBD_FAILED, "out of memory for %zu particles", out->particles);
    for (size_t i = 0; i < out->particles; i++)
        if (!there || !known || !shape_is_known(known, &out->near, i))
            invert_weight(out, gradient, i, out->inverse_weight + 9 * i);
    return pbd_ok();
}

/* After a cut the result changes little: the iteration starts from the last vector. */
static pbd_status find_largest(const double *gradient, particle_layout *out) {
    const size_t n = out->particles;
    const int steps = out->power ? POWER_AGAIN : POWER_ITERATIONS;
    pbd_arena a PBD_ARENA;
    double *work = pbd_new(&a, double, 2 * n);
    PBD_TRY(pbd_arena_check(&a));
    if (!out->power) PBD_TRY(start_power(out));
    for (size_t i = 0; i < n; i++) work[i] = sqrt(out->inverse[i]);
    const power p = {.layout = out,
                     .gradient = gradient,
                     .inverse_weight = out->inverse_weight,
                     .root = work,
                     .from = out->power,
                     .to = work + n};
    out->largest = 1;
    for (int step = 0; step < steps; step++) {
        power_step(&p);
        double square = 0, old = 0;
        for (size_t i = 0; i < n; i++) square += p.to[i] * p.to[i], old += p.from[i] * p.from[i];
        if (!(square > 0)) break;
        out->largest = fmax(1, sqrt(square / old));
        for (size_t i = 0; i < n; i++) p.from[i] = p.to[i] / sqrt(square);
    }
    return pbd_ok();
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static void forget_rows(particle_layout *l) {
    pbd_arena_free(&l->row_memory);
    l->slice = l->neighbour = NULL;
    l->gradient = l->reverse = l->sum = l->weight = l->offset = l->slot_volume = NULL;
}

static void forget_made(particle_layout *l) {
    rest_neighbours_free(&l->made);
    shape_gradients_free(&l->shape);
    free(l->inverse_weight);
    l->inverse_weight = NULL;
}

/* Moves the gradients into the layout, which then owns them, and copies their neighbour lists. */
static pbd_status keep_made(const shape_gradients *shape, particle_layout *l) {
    const rest_neighbours *near = &l->near;
    const size_t n = near->particles, pairs = near->first[n];
    rest_neighbours_free(&l->made);
    shape_gradients_free(&l->shape);
    l->shape = *shape;
    l->made.particles = n;
    l->made.first = malloc((n + 1) * sizeof *near->first);
    l->made.particle = malloc((pairs + 1) * sizeof *near->particle);
    if (!l->made.first || !l->made.particle)
        return pbd_error(PBD_FAILED, "out of memory for %zu pairs of neighbours", pairs);
    memcpy(l->made.first, near->first, (n + 1) * sizeof *near->first);
    memcpy(l->made.particle, near->particle, pairs * sizeof *near->particle);
    return pbd_ok();
}

static pbd_status make_slots(const shape_gradients *shape, const shape_known *known, particle_layout *out) {
    PBD_TRY(order_slots(out));
    PBD_TRY(count_rows(out));
    PBD_TRY(fill_slots(shape, out));
    if (!out->jacobi) return pbd_ok();
    PBD_TRY(invert_weights(shape->gradient, known, out));
    return find_largest(shape->gradient, out);
}

pbd_status particle_layout_remake(particle_layout *layout, const shape_choice *choice) {
    shape_gradients shape;
    const shape_known before = {&layout->made, &layout->shape}, *known = layout->made.particle ? &before : NULL;
    pbd_arena_free(&layout->slot_memory);
    forget_rows(layout);
    PBD_TRY(shape_gradients_make(&layout->near, layout->rest, layout->volume, choice, known, &shape));
    layout->few = shape.few;
    layout->deficient = shape.deficient;
    const pbd_status status = make_slots(&shape, known, layout);
    if (status.code == PBD_OK && layout->keeps) return keep_made(&shape, layout);
    shape_gradients_free(&shape);
    forget_made(layout);
    return status;
}

pbd_status particle_layout_make(const pbd_scene *scene, const shape_choice *choice, bool jacobi, size_t block,
                                const particle_rows *rows, particle_layout *out) {
    *out = (particle_layout){
        .particles = scene->particles.count, .jacobi = jacobi, .block = block, .keeps = scene->blades.count > 0};
    if (!(scene->particles.spacing > 0) || scene->particles.count == 0)
        return pbd_error(PBD_BAD_INPUT, "the scene's particles do not sample a body: no spacing is given");
    PBD_TRY(take_particles(scene, out));
    PBD_TRY(find_neighbours(scene, choice->radius, out));
    if (!rows || jacobi || out->keeps) return particle_layout_remake(out, choice);
    PBD_TRY(order_slots(out));
    PBD_TRY(count_rows(out));
    PBD_TRY(rows->open(rows->self, out));
    return pass_slots(choice, rows, out);
}

/* Writes the entry of the pair of places i and j. */
static void put_pair(const particle_layout *l, const shape_args *args, particle_pair_weight weight, size_t i, size_t j,
                     double *out) {
    const double rest[8] = {l->rest[3 * i], l->rest[3 * i + 1], l->rest[3 * i + 2], l->volume[i],
                            l->rest[3 * j], l->rest[3 * j + 1], l->rest[3 * j + 2], l->volume[j]};
    shape_args both = *args;
    both.rest = rest;
    const shape_pair p = shape_pair_at(&both, load3(rest, 0), 1);
    const double square = vec3_dot(p.y, p.y), w = weight == PARTICLE_PAIR_VALUE ? p.w : vec3_dot(p.gradient, p.y);
    const double entry[4] = {p.y.x, p.y.y, p.y.z, square > 0 ? w / square : 0};
    for (size_t e = 0; e < 4; e++) out[e * PARTICLE_SLICE] = entry[e];
}

void particle_layout_pairs(const particle_layout *l, const shape_choice *choice, particle_pair_weight weight,
                           double *out) {
    const shape_args args = {.support = choice->radius, .kernel = choice->kernel};
    memset(out, 0, 4 * l->rows * PARTICLE_SLICE * sizeof *out);
    for (size_t s = 0; s < l->stages; s++)
        for (size_t slot = l->stage_slot[s]; slot < l->stage_slot[s] + l->stage_count[s]; slot++) {
            const size_t i = l->own[slot], row = l->slice[slot / PARTICLE_SLICE];
            double *to = out + 4 * row * PARTICLE_SLICE + slot % PARTICLE_SLICE;
            for (size_t k = 0; k < list_length(l, i); k++)
                put_pair(l, &args, weight, i, l->near.particle[l->near.first[i] + k], to + 4 * k * PARTICLE_SLICE);
        }
}

void particle_layout_uploaded(particle_layout *l) {
    forget_rows(l);
    if (l->keeps) return;
    pbd_arena_free(&l->rest_memory);
    l->rest = l->volume = l->inverse = NULL;
    free(l->power);
    l->power = NULL;
    rest_neighbours_free(&l->near);
}

void particle_layout_free(particle_layout *l) {
    particle_layout_uploaded(l);
    pbd_arena_free(&l->particle_memory);
    pbd_arena_free(&l->slot_memory);
    pbd_arena_free(&l->rest_memory);
    forget_made(l);
    free(l->power);
    rest_neighbours_free(&l->near);
    *l = (particle_layout){0};
}
