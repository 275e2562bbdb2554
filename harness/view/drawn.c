#include "harness/view/drawn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/numbers.h"

static const drawn_field known[] = {{DRAWN_STRAIN, "strain", "Strain", "", 0, 0},
                                    {DRAWN_SPEED, "speed", "Speed", "m/s", 0, 0},
                                    {DRAWN_PRESSURE, "pressure", "Pressure", "Pa", 0, 0}};

/* ---- Points ------------------------------------------------------------------------------------------------------ */

typedef struct placed {
    uint64_t code; /* spheres before vertices, then along a curve that fills space (Morton 1966) */
    uint32_t particle;
} placed;

static int by_code(const void *a, const void *b) {
    const placed *p = a, *q = b;
    return p->code < q->code ? -1 : p->code > q->code ? 1 : (p->particle > q->particle) - (p->particle < q->particle);
}

/* The lowest ten bits, with two empty ones before each. */
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
    for (size_t i = 0; i < a->scene->particles.count; i++) mark[i] = a->radius > 0;
    for (size_t k = 0; k < 3 * a->outside.triangles; k++) mark[a->outside.triangle[k]] = 2;
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
    r->triangle = pbd_new(&r->owned, uint32_t, 3 * r->album.outside.triangles);
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
    r->triangles = r->album.outside.triangles;
    for (size_t k = 0; k < 3 * r->triangles; k++) r->triangle[k] = point[r->album.outside.triangle[k]];
    return pbd_ok();
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static bool has_field(const drawn_run *r, drawn_kind kind) {
    const pbd_scene *scene = r->scene;
    if (kind == DRAWN_SPEED) return pbd_spool_has(r->spool, PBD_VELOCITIES);
    if (kind == DRAWN_PRESSURE) return pbd_spool_has(r->spool, PBD_PRESSURES) && pbd_holds(scene, PBD_FLUID);
    const bool is_body = pbd_holds(scene, PBD_CONTINUUM) || pbd_holds(scene, PBD_CLOTH);
    return is_body && (r->album.body.node || scene->particles.spacing > 0);
}

/* Of the state whose positions are in r->position; of all particles. */
static pbd_status read_field(drawn_run *r, size_t state, drawn_kind kind, const double **value) {
    const size_t particles = r->scene->particles.count;
    *value = r->value;
    if (kind == DRAWN_PRESSURE) return pbd_spool_read(r->spool, state, PBD_PRESSURES, r->value);
    if (kind == DRAWN_STRAIN) {
        PBD_TRY(pbd_album_strain(&r->album, r->position));
        *value = r->album.at_particle;
        return pbd_ok();
    }
    PBD_TRY(pbd_spool_read(r->spool, state, PBD_VELOCITIES, r->vector));
    for (size_t i = 0; i < particles; i++)
        r->value[i] = sqrt(r->vector[3 * i] * r->vector[3 * i] + r->vector[3 * i + 1] * r->vector[3 * i + 1] +
                           r->vector[3 * i + 2] * r->vector[3 * i + 2]);
    return pbd_ok();
}

/* ---- Ranges ------------------------------------------------------------------------------------------------------ */

enum { STATES_SEEN = 25, VALUES_SEEN = 4000 };

/* Some of the values of some of the states. */
typedef struct seen_values {
    double *value;
    size_t count;
} seen_values;

static pbd_status see_fields(drawn_run *r, size_t state, seen_values seen[DRAWN_MOST_FIELDS]) {
    const size_t stride = r->points / VALUES_SEEN + 1;
    for (size_t k = 0; k < r->fields; k++) {
        const double *value;
        PBD_TRY(read_field(r, state, r->field[k].kind, &value));
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

static void choose_range(drawn_field *field, seen_values *seen) {
    field->low = 0;
    field->high = 1;
    if (seen->count == 0) return;
    qsort(seen->value, seen->count, sizeof *seen->value, pbd_ascending);
    const size_t few = (seen->count - 1) / 100;
    const double low = seen->value[few], high = seen->value[seen->count - 1 - few];
    if (high > 1e-12) field->high = round_up(high);
    if (low < -1e-12) field->low = -round_up(-low);
}

/* The box of all states; or, where a few particles fly off, of the others. */
static void choose_box(drawn_run *r, const double low[3], const double high[3]) {
    const pbd_album *a = &r->album;
    double all = 0, most = 0;
    for (int d = 0; d < 3; d++) {
        all = fmax(all, high[d] - low[d]);
        most = fmax(most, a->high[d] - a->low[d]);
    }
    r->size = all <= 4 * most ? all : 2 * most;
    for (int d = 0; d < 3; d++) r->low[d] = all <= 4 * most ? low[d] : 0.5 * (a->low[d] + a->high[d]) - most;
    if (!(r->size > 0)) r->size = 1; /* one point, or nothing that is finite */
    for (int d = 0; d < 3; d++)
        if (!isfinite(r->low[d])) r->low[d] = 0;
}

static pbd_status look_at_states(drawn_run *r, seen_values seen[DRAWN_MOST_FIELDS]) {
    const size_t states = pbd_spool_states(r->spool), stride = states / STATES_SEEN + 1;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t s = 0; s < states; s++) {
        PBD_TRY(pbd_spool_read(r->spool, s, PBD_POSITIONS, r->position));
        PBD_TRY(pbd_album_see(&r->album, r->position));
        for (size_t i = 0; i < 3 * r->points; i++) {
            const double x = r->position[3 * r->particle[i / 3] + i % 3];
            if (!isfinite(x)) continue;
            low[i % 3] = fmin(low[i % 3], x);
            high[i % 3] = fmax(high[i % 3], x);
        }
        if (s % stride == 0 || s + 1 == states) PBD_TRY(see_fields(r, s, seen));
    }
    choose_box(r, low, high);
    for (size_t k = 0; k < r->fields; k++) choose_range(&r->field[k], &seen[k]);
    return pbd_ok();
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static pbd_status see_run(drawn_run *r) {
    pbd_arena a PBD_ARENA;
    seen_values seen[DRAWN_MOST_FIELDS] = {0};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (has_field(r, known[k].kind)) r->field[r->fields++] = known[k];
    for (size_t k = 0; k < r->fields; k++) seen[k].value = pbd_new(&a, double, (STATES_SEEN + 2) * (VALUES_SEEN + 1));
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(look_at_states(r, seen));
    pbd_album_look(&r->album, 0);
    return pbd_ok();
}

pbd_status pbd_drawn_open(const pbd_scene *scene, const pbd_method *method, pbd_spool *spool, drawn_run *out) {
    enum { ANY_WIDTH = 800 };
    const size_t particles = scene->particles.count;
    *out = (drawn_run){.scene = scene, .spool = spool};
    PBD_TRY(pbd_album_open(scene, method, PBD_COLOUR_MATTER, 0, ANY_WIDTH, &out->album));
    out->position = pbd_new(&out->owned, double, 3 * particles);
    out->vector = pbd_new(&out->owned, double, 3 * particles);
    out->value = pbd_new(&out->owned, double, particles);
    PBD_TRY(pbd_arena_check(&out->owned));
    PBD_TRY(choose_points(out));
    return see_run(out);
}

void pbd_drawn_close(drawn_run *r) {
    pbd_album_close(&r->album);
    pbd_arena_free(&r->owned);
}

/* ---- Packing ----------------------------------------------------------------------------------------------------- */

static unsigned char byte_of(const drawn_field *field, double value) {
    const double at = (value - field->low) / (field->high - field->low);
    return isfinite(value) ? (unsigned char)lround(255 * fmin(fmax(at, 0), 1)) : 255;
}

pbd_status pbd_drawn_pack(drawn_run *r, size_t state, pbd_packer *packer) {
    PBD_TRY(pbd_spool_read(r->spool, state, PBD_POSITIONS, r->position));
    for (size_t k = 0; k < r->fields; k++) {
        const double *value;
        PBD_TRY(read_field(r, state, r->field[k].kind, &value));
        for (size_t i = 0; i < r->points; i++)
            packer->field[k * r->points + i] = byte_of(&r->field[k], value[r->particle[i]]);
    }
    for (size_t i = 0; i < 3 * r->points; i++) r->vector[i] = r->position[3 * r->particle[i / 3] + i % 3];
    return pbd_pack_state(packer, r->vector);
}
