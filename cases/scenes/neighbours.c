#include "cases/scenes/neighbours.h"

#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"
#include "harness/exec/team.h"

#define REAL double
#include "methods/physics/parts/particle_survey.h"

/* ---- On the host ------------------------------------------------------------------------------------------------- */

typedef struct launch {
    const pbd_kernel *kernel;
    const void *args;
} launch;

static void run_items(void *context, size_t begin, size_t end) {
    const launch *l = context;
    l->kernel->cpu(l->args, begin, end);
}

/* By pbd_team_run, whose threads end: after OpenMP's the process could not fork. Pieces begin at multiples of 64. */
static pbd_status run_in_team(void *self, const pbd_kernel *kernel, size_t n, pbd_work work, const void *args) {
    enum { PIECES = 64, UNIT = 64 };
    const double small = 4e6, cost = (double)work.items * (kernel->bytes + kernel->flops) +
                                     (double)work.entries * (kernel->entry_bytes + kernel->entry_flops);
    launch l = {kernel, args};
    (void)self;
    pbd_team_run(n, cost < small ? n + 1 : (n / PIECES / UNIT + 1) * UNIT, run_items, &l);
    return pbd_ok();
}

static pbd_status settle(void *self) {
    (void)self;
    return pbd_ok();
}

pbd_status survey_places(const double *x, const double *v, size_t count, const pbd_survey *asked, pbd_surveyed *out) {
    const pbd_launch_watch team = {.launch = run_in_team, .settle = settle};
    pbd_exec *exec = NULL;
    *out = (pbd_surveyed){0};
    PBD_TRY(pbd_exec_create(PBD_CPU, 1, &exec));
    pbd_exec_watch(exec, &team);
    const pbd_status status = particle_survey(
        &(survey_source){.exec = exec, .particles = count, .x = x, .v = v, .x_stride = 3, .v_stride = 3}, asked, out);
    pbd_exec_watch(exec, NULL);
    pbd_exec_destroy(exec);
    return status.code == PBD_NOT_SUPPORTED ? pbd_error(PBD_FAILED, "%s", status.text) : status;
}

/* ---- How evenly particles lie ------------------------------------------------------------------------------------ */

evenness evenness_of(const pbd_surveyed *s, double spacing) {
    return (evenness){s->mean / spacing, s->deviation / spacing, s->least / spacing, s->density, s->lone};
}

static pbd_status survey(const pbd_scene *scene, const double *x, const double *v, double support, pbd_surveyed *out) {
    const pbd_survey asked = {.support = support,
                              .spacing = scene->particles.spacing,
                              .masses = scene->particles.masses,
                              .motion = v != NULL};
    return survey_places(x, v, scene->particles.count, &asked, out);
}

pbd_status granular_evenness(const pbd_scene *scene, const double *x, evenness *out) {
    pbd_surveyed all;
    const pbd_status status = survey(scene, x, NULL, 2 * scene->particles.spacing, &all);
    *out = evenness_of(&all, scene->particles.spacing);
    return status;
}

pbd_status granular_relative_energy(const pbd_scene *scene, const double *x, const double *v, double *out) {
    pbd_surveyed all;
    const pbd_status status = survey(scene, x, v, 2 * scene->particles.spacing, &all);
    *out = all.relative;
    return status;
}

pbd_status granular_density(const pbd_scene *scene, const double *x, double support, double *out) {
    pbd_surveyed all;
    const pbd_status status = survey(scene, x, NULL, support, &all);
    *out = all.density;
    return status;
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

void granular_free_pieces(pieces *p) {
    free(p->of);
    *p = (pieces){0};
}

pbd_status granular_count_pieces(size_t count, size_t least, pieces *out) {
    pbd_arena a PBD_ARENA;
    uint32_t *size = pbd_new(&a, uint32_t, count);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < count; i++) size[out->of[i]]++;
    for (size_t i = 0; i < count; i++) {
        out->pieces += size[i] >= least && size[i] > 0;
        out->crumbs += size[i] > 0 && size[i] < least;
        if (size[i] > out->largest) out->largest = size[i], out->main = (uint32_t)i;
    }
    return pbd_ok();
}

static pbd_status find_pieces(const double *x, size_t count, double link, size_t least, pieces *out) {
    pbd_surveyed all;
    PBD_TRY_NEW(out->of, count);
    const pbd_survey asked = {.support = link, .spacing = link, .link = link, .piece = out->of};
    PBD_TRY(survey_places(x, NULL, count, &asked, &all));
    return granular_count_pieces(count, least, out);
}

pbd_status granular_pieces(const double *x, size_t count, double link, size_t least, pieces *out) {
    *out = (pieces){0};
    const pbd_status status = find_pieces(x, count, link, least, out);
    if (status.code != PBD_OK) granular_free_pieces(out);
    return status;
}
