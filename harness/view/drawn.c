#include "harness/view/drawn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/numbers.h"

/* ---- Corners ----------------------------------------------------------------------------------------------------- */

static void normal_at_rest(const pbd_scene *scene, const uint32_t *node, double normal[3]) {
    const double *p[3];
    double length = 0;
    for (int k = 0; k < 3; k++) p[k] = scene->particles.positions + 3 * node[k];
    for (int d = 0; d < 3; d++) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        normal[d] = (p[1][e] - p[0][e]) * (p[2][f] - p[0][f]) - (p[1][f] - p[0][f]) * (p[2][e] - p[0][e]);
        length += normal[d] * normal[d];
    }
    for (int d = 0; d < 3 && length > 0; d++) normal[d] /= sqrt(length);
}

/* The corners at each point, as a linked list, and the normal of the triangle for which each was made. */
typedef struct corner_lists {
    uint32_t *first, *next; /* by point; by corner; UINT32_MAX: none */
    double *normal;         /* corners x 3 */
} corner_lists;

static uint32_t corner_at(drawn_run *r, corner_lists *lists, uint32_t point, const double normal[3]) {
    static const double COSINE = 0.766;
    for (uint32_t c = lists->first[point]; c != UINT32_MAX; c = lists->next[c]) {
        const double *other = lists->normal + 3 * (size_t)c;
        if (other[0] * normal[0] + other[1] * normal[1] + other[2] * normal[2] > COSINE) return c;
    }
    const uint32_t made = (uint32_t)r->corners++;
    memcpy(lists->normal + 3 * (size_t)made, normal, 3 * sizeof *normal);
    lists->next[made] = lists->first[point];
    lists->first[point] = made;
    r->corner[made] = point;
    return made;
}

/* Splits points into corners, so that edges of the body at rest stay sharp. `point`: the point of each particle. */
static pbd_status split_corners(drawn_run *r, const uint32_t *point) {
    const surface *outside = &r->album.matter.outside;
    pbd_arena a PBD_ARENA;
    corner_lists lists = {pbd_new(&a, uint32_t, r->points), pbd_new(&a, uint32_t, 3 * outside->triangles),
                          pbd_new(&a, double, 9 * outside->triangles)};
    r->triangle = pbd_new(&r->owned, uint32_t, 3 * outside->triangles);
    r->corner = pbd_new(&r->owned, uint32_t, 3 * outside->triangles);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_arena_check(&r->owned));
    for (size_t i = 0; i < r->points; i++) lists.first[i] = UINT32_MAX;
    r->triangles = outside->triangles;
    for (size_t t = 0; t < r->triangles; t++) {
        const uint32_t *node = outside->triangle + 3 * t;
        double normal[3];
        normal_at_rest(r->scene, node, normal);
        for (size_t k = 0; k < 3; k++) r->triangle[3 * t + k] = corner_at(r, &lists, point[node[k]], normal);
    }
    return pbd_ok();
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

typedef struct placed {
    uint64_t code; /* for sorting: spheres before vertices, then along a space-filling curve (Morton 1966) */
    uint32_t particle;
} placed;

static int by_code(const void *a, const void *b) {
    const placed *p = a, *q = b;
    return p->code < q->code ? -1 : p->code > q->code ? 1 : (p->particle > q->particle) - (p->particle < q->particle);
}

/* Spreads the lowest ten bits, with two zero bits between them. */
static uint64_t spread(uint64_t x) {
    uint64_t out = 0;
    for (int bit = 0; bit < 10; bit++) out |= (x >> bit & 1) << (3 * bit);
    return out;
}

static uint64_t code_of(const pbd_scene *scene, const double low[3], double size, size_t i) {
    uint64_t code = 0;
    for (size_t d = 0; d < 3; d++) {
        const double at = (scene->particles.positions[3 * i + d] - low[d]) / size;
        code |= spread((uint64_t)(1023 * fmin(fmax(at, 0), 1))) << d;
    }
    return code;
}

/* 0: not drawn; 1: a sphere; 2: a corner of triangles. */
static pbd_status mark_particles(const pbd_album *a, unsigned char *mark) {
    for (size_t i = 0; i < a->scene->particles.count; i++) mark[i] = a->matter.radius > 0;
    for (size_t k = 0; k < 3 * a->matter.outside.triangles; k++) mark[a->matter.outside.triangle[k]] = 2;
    return pbd_ok();
}

static pbd_status choose_points(drawn_run *r) {
    const pbd_scene *scene = r->scene;
    const size_t particles = scene->particles.count;
    pbd_arena a PBD_ARENA;
    unsigned char *mark = pbd_new(&a, unsigned char, particles);
    placed *place = pbd_new(&a, placed, particles);
    uint32_t *point = pbd_new(&a, uint32_t, particles);
    r->particle = pbd_new(&r->owned, uint32_t, particles);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_arena_check(&r->owned));
    PBD_TRY(mark_particles(&r->album, mark));
    double low[3] = {INFINITY, INFINITY, INFINITY};
    for (size_t i = 0; i < 3 * particles; i++) low[i % 3] = fmin(low[i % 3], scene->particles.positions[i]);
    for (size_t i = 0; i < particles; i++) {
        if (mark[i] == 0) continue;
        r->spheres += mark[i] == 1;
        place[r->points++] =
            (placed){(uint64_t)(mark[i] - 1) << 32 | code_of(scene, low, scene->extent, i), (uint32_t)i};
    }
    qsort(place, r->points, sizeof *place, by_code);
    for (size_t k = 0; k < r->points; k++) point[r->particle[k] = place[k].particle] = (uint32_t)k;
    return split_corners(r, point);
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

/* Pressure is shown only for liquid, strain only for a continuum or cloth. */
static bool is_worth_showing(const drawn_run *r, pbd_colour colour) {
    if (colour == PBD_COLOUR_PRESSURE) return pbd_holds(r->scene, PBD_FLUID);
    return colour != PBD_COLOUR_STRAIN || pbd_holds(r->scene, PBD_CONTINUUM) || pbd_holds(r->scene, PBD_CLOTH);
}

/* Chooses the wanted field, and the usual ones that r->state provides. */
static void choose_fields(drawn_run *r, pbd_colour wanted) {
    static const pbd_colour usual[] = {PBD_COLOUR_STRAIN, PBD_COLOUR_SPEED, PBD_COLOUR_PRESSURE};
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) {
        pbd_colour colour;
        const bool can = pbd_colour_choose(r->scene, &r->album.body, usual[k], &r->state, &colour).code == PBD_OK;
        if (usual[k] == wanted || (can && is_worth_showing(r, colour))) r->field[r->fields++].colour = usual[k];
        if (usual[k] == wanted) wanted = PBD_COLOUR_AUTO;
    }
    if (pbd_colour_has_scale(wanted)) r->field[r->fields++].colour = wanted;
}

static pbd_status read_part(drawn_run *r, size_t state, pbd_field field, size_t width, double **row,
                            const double **seen) {
    *seen = NULL;
    if (!pbd_spool_has(r->spool, field)) return pbd_ok();
    if (!*row) *row = pbd_new(&r->owned, double, width * r->scene->particles.count);
    PBD_TRY(pbd_arena_check(&r->owned));
    *seen = *row;
    return pbd_spool_read(r->spool, state, field, *row);
}

/* Reads a state into r->state. */
static pbd_status read_state(drawn_run *r, size_t state) {
    pbd_seen_state *s = &r->state;
    s->time = pbd_spool_time(r->spool, state);
    PBD_TRY(read_part(r, state, PBD_POSITIONS, 3, &r->position, &s->position));
    PBD_TRY(read_part(r, state, PBD_VELOCITIES, 3, &r->velocity, &s->velocity));
    PBD_TRY(read_part(r, state, PBD_DEFORMATION_GRADIENTS, 9, &r->gradient, &s->gradient));
    return read_part(r, state, PBD_PRESSURES, 1, &r->pressure, &s->pressure);
}

/* The values of a field in r->state, for all particles. */
static pbd_status read_field(drawn_run *r, pbd_colour colour, const double **value) {
    *value = colour == PBD_COLOUR_STRAIN ? r->album.at_particle : r->value;
    if (colour == PBD_COLOUR_STRAIN) return pbd_album_strain(&r->album, r->state.position);
    return pbd_colour_values(r->scene, &r->album.body, colour, &r->state, r->value);
}

/* ---- Ranges ------------------------------------------------------------------------------------------------------ */

enum { STATES_SEEN = 25, VALUES_SEEN = 4000 };

/* A sample of the values in a sample of the states. */
typedef struct seen_values {
    double *value;
    size_t count;
} seen_values;

static pbd_status see_fields(drawn_run *r, seen_values seen[DRAWN_MOST_FIELDS]) {
    const size_t stride = r->points / VALUES_SEEN + 1;
    for (size_t k = 0; k < r->fields; k++) {
        const double *value;
        PBD_TRY(read_field(r, r->field[k].colour, &value));
        for (size_t i = 0; i < r->points; i += stride)
            if (isfinite(value[r->particle[i]])) seen[k].value[seen[k].count++] = value[r->particle[i]];
    }
    return pbd_ok();
}

/* 1, 2 or 5 times a power of ten, not below x. */
static double round_up(double x) {
    const double ten = pow(10, floor(log10(x)));
    const double first = x / ten;
    return (first <= 1 ? 1 : first <= 2 ? 2 : first <= 5 ? 5 : 10) * ten;
}

/* The range begins at 0, or its ends are multiples of a twentieth of the rounded range. */
static void choose_range(drawn_field *field, seen_values *seen) {
    field->low = 0;
    field->high = 1;
    if (seen->count == 0) return;
    qsort(seen->value, seen->count, sizeof *seen->value, pbd_ascending);
    const size_t few = (seen->count - 1) / 100;
    const double low = seen->value[few], high = seen->value[seen->count - 1 - few];
    if (pbd_colour_from_zero(field->colour)) {
        if (high > 1e-12) field->high = round_up(high);
        return;
    }
    const double step = round_up(fmax(high - low, fmax(1e-6 * fabs(high), 1e-12))) / 20;
    field->low = step * floor(low / step);
    field->high = step * ceil(high / step);
}

/* Sets the bounding box of all states, or a box without the particles that fly off if they are few. */
static void choose_box(drawn_run *r, const double low[3], const double high[3]) {
    const pbd_album *a = &r->album;
    double all = 0, most = 0;
    for (int d = 0; d < 3; d++) {
        all = fmax(all, high[d] - low[d]);
        most = fmax(most, a->high[d] - a->low[d]);
    }
    r->size = all <= 4 * most ? all : 2 * most;
    for (int d = 0; d < 3; d++) r->low[d] = all <= 4 * most ? low[d] : 0.5 * (a->low[d] + a->high[d]) - most;
    if (!(r->size > 0)) r->size = 1; /* a single point, or nothing finite */
    for (int d = 0; d < 3; d++)
        if (!isfinite(r->low[d])) r->low[d] = 0;
}

static pbd_status look_at_states(drawn_run *r, seen_values seen[DRAWN_MOST_FIELDS]) {
    const size_t states = pbd_spool_states(r->spool), stride = states / STATES_SEEN + 1;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t s = 0; s < states; s++) {
        PBD_TRY(read_state(r, s));
        PBD_TRY(pbd_album_see(&r->album, &r->state));
        for (size_t i = 0; i < 3 * r->points; i++) {
            const double x = r->state.position[3 * r->particle[i / 3] + i % 3];
            if (!isfinite(x)) continue;
            low[i % 3] = fmin(low[i % 3], x);
            high[i % 3] = fmax(high[i % 3], x);
        }
        if (s % stride == 0 || s + 1 == states) PBD_TRY(see_fields(r, seen));
    }
    choose_box(r, low, high);
    for (size_t k = 0; k < r->fields; k++) choose_range(&r->field[k], &seen[k]);
    return pbd_ok();
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static pbd_status see_run(drawn_run *r, pbd_colour colour) {
    pbd_arena a PBD_ARENA;
    seen_values seen[DRAWN_MOST_FIELDS] = {0};
    choose_fields(r, colour);
    for (size_t k = 0; k < r->fields; k++) seen[k].value = pbd_new(&a, double, (STATES_SEEN + 2) * (VALUES_SEEN + 1));
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(look_at_states(r, seen));
    pbd_album_look(&r->album, 0);
    return pbd_ok();
}

/* Draws particles rather than surfaces made of them, since the points of a page are particles with their fields. */
pbd_status pbd_drawn_open(const pbd_scene *scene, const pbd_method *method, pbd_spool *spool, pbd_colour colour,
                          drawn_run *out) {
    const pbd_album_plan plan = {.colour = PBD_COLOUR_MATTER, .draw = PBD_DRAW_PARTICLES, .width = 800};
    *out = (drawn_run){.scene = scene, .spool = spool};
    out->value = pbd_new(&out->owned, double, 3 * scene->particles.count);
    PBD_TRY(pbd_arena_check(&out->owned));
    PBD_TRY(read_state(out, 0));
    PBD_TRY(pbd_album_open(scene, method, &plan, &out->state, &out->album));
    PBD_TRY(pbd_colour_choose(scene, &out->album.body, colour, &out->state, &colour));
    PBD_TRY(choose_points(out));
    return see_run(out, colour);
}

void pbd_drawn_close(drawn_run *r) {
    pbd_album_close(&r->album);
    pbd_arena_free(&r->owned);
}

/* ---- Packing ----------------------------------------------------------------------------------------------------- */

/* A particle without a value, such as the pressure of sand, gets the lightest colour. */
static unsigned char byte_of(const drawn_field *field, double value) {
    const double at = (value - field->low) / (field->high - field->low);
    return isnan(at) ? 0 : (unsigned char)lround(255 * fmin(fmax(at, 0), 1));
}

pbd_status pbd_drawn_pack(drawn_run *r, size_t state, pbd_packer *packer) {
    PBD_TRY(read_state(r, state));
    for (size_t k = 0; k < r->fields; k++) {
        const double *value;
        PBD_TRY(read_field(r, r->field[k].colour, &value));
        for (size_t i = 0; i < r->points; i++)
            packer->field[k * r->points + i] = byte_of(&r->field[k], value[r->particle[i]]);
    }
    for (size_t i = 0; i < 3 * r->points; i++) r->value[i] = r->state.position[3 * r->particle[i / 3] + i % 3];
    return pbd_pack_state(packer, r->value);
}
