#include "methods/physics/parts/particle_survey.h"

#include <math.h>

#include "harness/exec/arena.h"
#include "harness/exec/team.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/parts/particle_survey_kernels.h"
#include "methods/physics/space/neighbours.h"

typedef struct surveying {
    const survey_of *at;
    const pbd_survey *asked;
    grid grid; /* its particles are rows */
    size_t items;
    /* Device. */
    real *mass; /* by number */
    real *rows; /* of four: position and mass; after the sort, by place: velocity and mass */
    uint32_t *parent, *lowest, *piece, *number;
    real *sums;
} surveying;

static size_t items_of(const survey_of *at, size_t span) {
    return pbd_exec_is_gpu(at->exec) ? at->particles : (at->particles + span - 1) / span;
}

static bool is_moving(const surveying *l) { return l->asked->motion && l->at->v; }

static size_t arrays_of(surveying *l, device_array *row) {
    const size_t n = l->at->particles;
    const bool parted = l->asked->piece != NULL, gpu = pbd_exec_is_gpu(l->at->exec); /* otherwise the host's memory */
    const device_array rows[] = {DEVICE_ARRAY(l->mass, n),
                                 DEVICE_ARRAY(l->rows, 4 * n),
                                 DEVICE_ARRAY(l->parent, parted ? n : 0),
                                 DEVICE_ARRAY(l->lowest, parted ? n : 0),
                                 DEVICE_ARRAY(l->piece, parted && gpu ? n : 0),
                                 DEVICE_ARRAY(l->number, l->at->number_on_host ? n : 0),
                                 DEVICE_ARRAY(l->sums, SURVEY_NUMBERS * l->items)};
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

static pbd_status upload_masses(const surveying *l) {
    const size_t n = l->at->particles;
    pbd_arena a PBD_ARENA;
    rounding r = {l->asked->masses, l->mass};
    if (!r.from) return pbd_ok(); /* device memory is zero at first */
    if (pbd_exec_is_gpu(l->at->exec)) {
        r.to = pbd_new(&a, real, n);
        PBD_TRY(pbd_arena_check(&a));
    }
    pbd_team_run(n, PART, round_part, &r);
    return r.to == l->mass ? pbd_ok() : pbd_upload(l->at->exec, l->mass, r.to, n * sizeof *r.to);
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

static pbd_status sort(surveying *l) {
    const survey_of *at = l->at;
    const survey_rows_args rows = {.x = at->x,
                                   .stride = at->x_stride,
                                   .number = at->number_on_host ? l->number : at->number,
                                   .mass = l->mass,
                                   .out = l->rows};
    PBD_TRY(PBD_RUN(at->exec, survey_rows, at->particles, &rows));
    PBD_TRY(grid_build(&l->grid, l->rows, NULL));
    const survey_motion_args motion = {.v = is_moving(l) ? at->v : NULL,
                                       .stride = at->v_stride,
                                       .row = l->grid.particle,
                                       .mass = l->grid.column[3],
                                       .out = l->rows};
    return PBD_RUN(at->exec, survey_motion, at->particles, &motion);
}

static pbd_status sum_neighbours(surveying *l, pbd_surveyed *out) {
    const pbd_survey *asked = l->asked;
    const real support = (real)asked->support, link = (real)asked->link;
    const double n = (double)l->at->particles, across = 3 * asked->support / asked->spacing;
    double sum[SURVEY_NUMBERS] = {-INFINITY};
    const survey_args args = {.grid = grid_view_of(&l->grid),
                              .key = l->grid.key,
                              .count = l->at->particles,
                              .motion = l->rows,
                              .square = support * support,
                              .link = link * link,
                              .sigma = sph_kernel_factor(SPH_WENDLAND_C2, 3, support),
                              .per_spacing = (real)(1 / asked->spacing),
                              .parent = l->parent,
                              .out = l->sums};
    const pbd_work work = {.items = l->at->particles, .entries = (size_t)(n * across * across * across)};
    PBD_TRY(PBD_RUN(l->at->exec, survey_around, l->items, work, &args));
    PBD_TRY(device_blocks_take(l->at->exec, l->sums, l->items, SURVEY_NUMBERS, SURVEY_LARGEST, sum));
    const double with = n - sum[SURVEY_LONE], mean = sum[SURVEY_CLOSENESS] / with;
    out->lone = (size_t)sum[SURVEY_LONE];
    out->mean = with > 0 ? asked->spacing * (1 - mean) : (double)NAN;
    out->deviation = with > 0 ? asked->spacing * sqrt(fmax(sum[SURVEY_SQUARES] / with - mean * mean, 0)) : (double)NAN;
    out->least = with > 0 ? asked->spacing * (1 - sum[SURVEY_CLOSE]) : (double)NAN;
    out->density = sum[SURVEY_DENSITY];
    out->moving = is_moving(l);
    out->relative = sum[SURVEY_RELATIVE];
    out->energy = sum[SURVEY_KINETIC];
    out->fastest = sqrt(sum[SURVEY_SQUARE]);
    return pbd_ok();
}

/* ---- Components and tension -------------------------------------------------------------------------------------- */

static survey_pieces_args pieces_of(const surveying *l) {
    return (survey_pieces_args){.parent = l->parent,
                                .lowest = l->lowest,
                                .row = l->grid.particle,
                                .number = l->at->number_on_host ? l->number : l->at->number,
                                .piece = l->piece};
}

static pbd_status part(const surveying *l) {
    const survey_pieces_args args = pieces_of(l);
    return l->parent ? PBD_RUN(l->at->exec, survey_part, l->at->particles, &args) : pbd_ok();
}

static pbd_status name_pieces(const surveying *l) {
    const size_t n = l->at->particles;
    survey_pieces_args args = pieces_of(l);
    if (!l->parent) return pbd_ok();
    if (!l->piece) args.piece = l->asked->piece;
    PBD_TRY(PBD_RUN(l->at->exec, survey_find_lowest, n, &args));
    PBD_TRY(PBD_RUN(l->at->exec, survey_name, n, &args));
    return l->piece ? pbd_download(l->at->exec, l->asked->piece, l->piece, n * sizeof *l->piece) : pbd_ok();
}

static pbd_status sum_tension(const surveying *l, pbd_surveyed *out) {
    const survey_of *at = l->at;
    const size_t items = items_of(at, TENSION_SPAN);
    if (!at->F || !(l->asked->mu > 0)) return pbd_ok();
    double sum[2] = {0};
    const survey_tension_args args = {.of = {.F = at->F,
                                             .stride = at->F_stride,
                                             .across = at->F_across,
                                             .down = 1,
                                             .mu = (real)l->asked->mu,
                                             .lambda = (real)l->asked->lambda},
                                      .count = at->particles,
                                      .out = l->sums};
    PBD_TRY(PBD_RUN(at->exec, survey_tension, items, &args));
    PBD_TRY(device_blocks_take(at->exec, l->sums, items, 2, 1, sum));
    out->strained = true;
    out->tension = sum[0];
    out->mean_tension = sum[1] / (double)at->particles;
    return pbd_ok();
}

static pbd_status allocate(surveying *l) {
    device_array row[DEVICE_MOST_ARRAYS];
    PBD_TRY(grid_create(&l->grid, l->at->exec, l->at->particles, NULL, l->asked->support, false));
    return device_arrays_allocate(l->at->exec, row, arrays_of(l, row));
}

static pbd_status survey(surveying *l, pbd_surveyed *out) {
    const survey_of *at = l->at;
    const pbd_status room = allocate(l);
    if (room.code == PBD_FAILED) return pbd_error(PBD_NOT_SUPPORTED, "too little memory for a survey: %s", room.text);
    PBD_TRY(room);
    if (at->number_on_host) PBD_TRY(pbd_upload(at->exec, l->number, at->number, at->particles * sizeof *l->number));
    PBD_TRY(upload_masses(l));
    PBD_TRY(sort(l));
    PBD_TRY(part(l));
    PBD_TRY(sum_neighbours(l, out));
    PBD_TRY(name_pieces(l));
    return sum_tension(l, out);
}

pbd_status particle_survey(const survey_of *at, const pbd_survey *asked, pbd_surveyed *out) {
    surveying l = {.at = at, .asked = asked, .items = items_of(at, SURVEY_SPAN)};
    device_array row[DEVICE_MOST_ARRAYS];
    *out = (pbd_surveyed){0};
    const pbd_status status = survey(&l, out);
    device_arrays_free(at->exec, row, arrays_of(&l, row));
    grid_free(&l.grid);
    return status;
}
