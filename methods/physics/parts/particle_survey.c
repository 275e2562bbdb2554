#include "methods/physics/parts/particle_survey.h"

#include <math.h>

#include "harness/exec/arena.h"
#include "harness/exec/team.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/parts/particle_survey_kernels.h"
#include "methods/physics/space/neighbours.h"

typedef struct surveying {
    const survey_source *at;
    const pbd_survey *asked;
    grid grid; /* its particles are rows */
    size_t items;
    /* Device. */
    real *mass; /* by number */
    real *rows; /* of four: position and mass; after the sort, by place: velocity and mass */
    uint32_t *parent, *lowest, *number;
    uint32_t *piece; /* on a GPU; otherwise the caller's memory is the device's */
    real *sums;
} surveying;

static size_t items_of(const survey_source *at, size_t span) {
    return pbd_exec_is_gpu(at->exec) ? at->particles : (at->particles + span - 1) / span;
}

static bool is_moving(const surveying *s) { return s->asked->motion && s->at->v; }

static size_t arrays_of(surveying *s, device_array *row) {
    const size_t n = s->at->particles;
    const bool parted = s->asked->piece != NULL, apart = pbd_exec_is_gpu(s->at->exec);
    const device_array rows[] = {DEVICE_ARRAY(s->mass, n),
                                 DEVICE_ARRAY(s->rows, 4 * n),
                                 DEVICE_ARRAY(s->parent, parted ? n : 0),
                                 DEVICE_ARRAY(s->lowest, parted ? n : 0),
                                 DEVICE_ARRAY(s->piece, parted && apart ? n : 0),
                                 DEVICE_ARRAY(s->number, s->at->number_on_host ? n : 0),
                                 DEVICE_ARRAY(s->sums, SURVEY_NUMBERS * s->items)};
    return DEVICE_ROWS(row, rows);
}

typedef struct rounding {
    const double *from;
    real *to;
} rounding;

static void round_part(void *context, size_t begin, size_t end) {
    const rounding *r = context;
    for (size_t i = begin; i < end; i++) r->to[i] = (real)r->from[i];
}

enum { PART = 65536 }; /* numbers that a thread of the host takes at a time */

static pbd_status upload_masses(const surveying *s) {
    const size_t n = s->at->particles;
    pbd_arena a PBD_ARENA;
    rounding r = {s->asked->masses, s->mass};
    if (!r.from) return pbd_ok(); /* device memory is zero at first */
    if (pbd_exec_is_gpu(s->at->exec)) {
        r.to = pbd_new(&a, real, n);
        PBD_TRY(pbd_arena_check(&a));
    }
    pbd_team_run(n, PART, round_part, &r);
    return r.to == s->mass ? pbd_ok() : pbd_upload(s->at->exec, s->mass, r.to, n * sizeof *r.to);
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

static pbd_status sort(surveying *s) {
    const survey_source *at = s->at;
    const survey_rows_args rows = {.x = at->x,
                                   .stride = at->x_stride,
                                   .number = at->number_on_host ? s->number : at->number,
                                   .mass = s->mass,
                                   .out = s->rows};
    PBD_TRY(PBD_RUN(at->exec, survey_rows, at->particles, &rows));
    PBD_TRY(grid_build(&s->grid, s->rows, NULL));
    const survey_motion_args motion = {.v = is_moving(s) ? at->v : NULL,
                                       .stride = at->v_stride,
                                       .row = s->grid.particle,
                                       .mass = s->grid.column[3],
                                       .out = s->rows};
    return PBD_RUN(at->exec, survey_motion, at->particles, &motion);
}

static pbd_status sum_neighbours(surveying *s, pbd_surveyed *out) {
    const pbd_survey *asked = s->asked;
    const real support = (real)asked->support, link = (real)asked->link;
    const double n = (double)s->at->particles, across = 3 * asked->support / asked->spacing;
    double sum[SURVEY_NUMBERS] = {-INFINITY};
    const survey_args args = {.grid = grid_view_of(&s->grid),
                              .key = s->grid.key,
                              .count = s->at->particles,
                              .motion = s->rows,
                              .square = support * support,
                              .link = link * link,
                              .sigma = sph_kernel_factor(SPH_WENDLAND_C2, 3, support),
                              .per_spacing = (real)(1 / asked->spacing),
                              .parent = s->parent,
                              .out = s->sums};
    /* Candidates: 27 cells with a particle for each cube of the spacing. */
    const pbd_work work = {.items = s->at->particles, .entries = (size_t)(n * across * across * across)};
    PBD_TRY(PBD_RUN(s->at->exec, survey_around, s->items, work, &args));
    PBD_TRY(device_blocks_take(s->at->exec, s->sums, s->items, SURVEY_NUMBERS, SURVEY_LARGEST, sum));
    const double with = n - sum[SURVEY_LONE], mean = sum[SURVEY_CLOSENESS] / with;
    out->lone = (size_t)sum[SURVEY_LONE];
    out->mean = with > 0 ? asked->spacing * (1 - mean) : (double)NAN;
    out->deviation = with > 0 ? asked->spacing * sqrt(fmax(sum[SURVEY_SQUARES] / with - mean * mean, 0)) : (double)NAN;
    out->least = with > 0 ? asked->spacing * (1 - sum[SURVEY_CLOSE]) : (double)NAN;
    out->density = sum[SURVEY_DENSITY];
    out->moving = is_moving(s);
    out->relative = sum[SURVEY_RELATIVE];
    out->energy = sum[SURVEY_KINETIC];
    out->fastest = sqrt(sum[SURVEY_SQUARE]);
    return pbd_ok();
}

/* ---- Components and tension -------------------------------------------------------------------------------------- */

static survey_pieces_args pieces_of(const surveying *s) {
    return (survey_pieces_args){.parent = s->parent,
                                .lowest = s->lowest,
                                .row = s->grid.particle,
                                .number = s->at->number_on_host ? s->number : s->at->number,
                                .piece = s->piece};
}

static pbd_status part(const surveying *s) {
    const survey_pieces_args args = pieces_of(s);
    return s->parent ? PBD_RUN(s->at->exec, survey_part, s->at->particles, &args) : pbd_ok();
}

static pbd_status name_pieces(const surveying *s) {
    const size_t n = s->at->particles;
    survey_pieces_args args = pieces_of(s);
    if (!s->parent) return pbd_ok();
    if (!s->piece) args.piece = s->asked->piece;
    PBD_TRY(PBD_RUN(s->at->exec, survey_find_lowest, n, &args));
    PBD_TRY(PBD_RUN(s->at->exec, survey_name, n, &args));
    return s->piece ? pbd_download(s->at->exec, s->asked->piece, s->piece, n * sizeof *s->piece) : pbd_ok();
}

static pbd_status sum_tension(const surveying *s, pbd_surveyed *out) {
    const survey_source *at = s->at;
    const size_t items = items_of(at, TENSION_SPAN);
    if (!at->F || !(s->asked->mu > 0)) return pbd_ok();
    double sum[2] = {0};
    survey_tension_args args = {
        .of = {.F = at->F, .stride = at->F_stride, .mu = (real)s->asked->mu, .lambda = (real)s->asked->lambda},
        .count = at->particles,
        .out = s->sums};
    for (size_t d = 0; d < 9; d++) args.of.column[d] = (uint32_t)(at->F_column ? at->F_column[d] : d);
    PBD_TRY(PBD_RUN(at->exec, survey_tension, items, &args));
    PBD_TRY(device_blocks_take(at->exec, s->sums, items, 2, 1, sum));
    out->strained = true;
    out->tension = sum[0];
    out->mean_tension = sum[1] / (double)at->particles;
    return pbd_ok();
}

static pbd_status allocate(surveying *s) {
    device_array row[DEVICE_MOST_ARRAYS];
    PBD_TRY(grid_create(&s->grid, s->at->exec, s->at->particles, NULL, s->asked->support, false));
    return device_arrays_allocate(s->at->exec, row, arrays_of(s, row));
}

static pbd_status survey(surveying *s, pbd_surveyed *out) {
    const survey_source *at = s->at;
    const pbd_status room = allocate(s);
    if (room.code == PBD_FAILED) return pbd_error(PBD_NOT_SUPPORTED, "too little memory for a survey: %s", room.text);
    PBD_TRY(room);
    if (at->number_on_host) PBD_TRY(pbd_upload(at->exec, s->number, at->number, at->particles * sizeof *s->number));
    PBD_TRY(upload_masses(s));
    PBD_TRY(sort(s));
    PBD_TRY(part(s));
    PBD_TRY(sum_neighbours(s, out));
    PBD_TRY(name_pieces(s));
    return sum_tension(s, out);
}

pbd_status particle_survey(const survey_source *at, const pbd_survey *asked, pbd_surveyed *out) {
    surveying s = {.at = at, .asked = asked, .items = items_of(at, SURVEY_SPAN)};
    device_array row[DEVICE_MOST_ARRAYS];
    *out = (pbd_surveyed){0};
    const pbd_status status = survey(&s, out);
    device_arrays_free(at->exec, row, arrays_of(&s, row));
    grid_free(&s.grid);
    return status;
}
